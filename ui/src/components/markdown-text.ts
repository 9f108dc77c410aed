// Cuts markdown into pieces that can be parsed one by one: a long answer that grows is parsed at its end only, and no piece is so long that
// parsing it takes long.
//
// In: markdown. Out: pieces that give the text when joined. A cut is at a blank line outside of a fenced block, where the next line begins
// something new: not a list, not a quotation, nothing indented.

/** A piece beyond this is shown as it is. */
export const LONGEST_PIECE = 24_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CONTINUES = /^(?:\s|[-*+>|]|\d{1,9}[.)]|\[[^\]]*\]:)/;

export function pieces(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let fence: string | undefined;
  let wasBlank = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(next, at + 200));
    const isBlank = line.trim() === "";
    if (fence === undefined && wasBlank && !isBlank && !CONTINUES.test(line)) {
      found.push(text.slice(start, at));
      start = at;
    }
    const [, mark] = FENCE.exec(line) ?? [];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = undefined;
    }
    wasBlank = isBlank;
    at = next;
  }
  if (start < text.length) found.push(text.slice(start));
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", hellip: "…", mdash: "—", ndash: "–",
  laquo: "«", raquo: "»", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", bull: "•", middot: "·", times: "×", divide: "÷", deg: "°",
  larr: "←", rarr: "→", uarr: "↑", darr: "↓", euro: "€", sect: "§", para: "¶", plusmn: "±", le: "≤", ge: "≥", ne: "≠", check: "✓",
}; // prettier-ignore

/** Character references as the characters that they stand for; unknown ones as they are. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? "", 16);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** An address that a link may lead to; `undefined` for any other. */
export function safeLink(address: string): string | undefined {
  const trimmed = address.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(trimmed) || trimmed.length > 4_096) return undefined;
  try {
    const { protocol, href } = new URL(trimmed);
    return ["http:", "https:", "mailto:"].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}
