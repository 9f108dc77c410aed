// Characters that change the order of what is around them, written out: a command must not look like another one.

const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;

/** The text, with `‹U+202E›` in place of such a character. Marks that languages need (LRM, RLM) stay. */
export function visible(text: string): string {
  REORDERING.lastIndex = 0;
  if (!REORDERING.test(text)) return text;
  return text.replace(REORDERING, (letter) => `‹U+${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}
