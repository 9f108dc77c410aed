// Characters that cannot be seen or that change the order of what is around them, written out: a command must not look like another one.

const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
// Tabs and line ends are laid out.
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
const ANY = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/;

/** The text, with `‹U+202E›` in place of a character that reorders, and `␛` and the like for controls. Marks that languages need (LRM, RLM) stay. */
export function visible(text: string): string {
  if (!ANY.test(text)) return text;
  return reordering(text).replace(CONTROL, (letter) => (letter === "\u007f" ? "␡" : String.fromCharCode(0x2400 + letter.charCodeAt(0))));
}

/** The same for characters that reorder only: those of a terminal's text have been read already. */
export function reordering(text: string): string {
  return text.replace(REORDERING, (letter) => `‹U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}
