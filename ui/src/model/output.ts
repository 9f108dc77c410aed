// What a tool printed: its beginning and its end, within a bound.
//
// In: pieces of standard output and standard error, in order of arrival. Out: pieces, coalesced, and the number of characters left out
// between the beginning and the end. Never: more than `HEAD` + `TAIL` characters, and some slack of one piece, however much arrives.

export type OutputStream = "stdout" | "stderr";

export interface Piece {
  stream: OutputStream;
  text: string;
}

/** Characters that are kept from the beginning. */
export const HEAD = 128 * 1024;
/** Characters that are kept from the end. */
export const TAIL = 256 * 1024;
/** A piece does not grow beyond this, so that dropping one drops little. */
const PIECE = 8 * 1024;

export class Output {
  readonly #head: Piece[] = [];
  #headLength = 0;
  readonly #tail: Piece[] = [];
  /** The first piece of `#tail` that is still kept; pieces before it are dropped now and then. */
  #tailStart = 0;
  #tailLength = 0;
  #total = 0;
  #omitted = 0;

  /** Characters that arrived in total. */
  get total(): number {
    return this.#total;
  }

  /** Characters left out between `head` and `tail`. */
  get omitted(): number {
    return this.#omitted;
  }

  get head(): readonly Piece[] {
    return this.#head;
  }

  get tail(): readonly Piece[] {
    return this.#tailStart === 0 ? this.#tail : this.#tail.slice(this.#tailStart);
  }

  append(stream: OutputStream, text: string): void {
    if (text === "") return;
    this.#total += text.length;
    let rest = text;
    if (this.#tail.length === 0 && this.#headLength < HEAD) {
      const part = cut(rest, HEAD - this.#headLength);
      join(this.#head, stream, part);
      this.#headLength += part.length;
      rest = rest.slice(part.length);
    }
    if (rest === "") return;
    if (rest.length > TAIL) {
      this.#omitted += rest.length - TAIL;
      rest = rest.slice(-TAIL);
    }
    for (let from = 0; from < rest.length; from += PIECE) join(this.#tail, stream, rest.slice(from, from + PIECE), this.#tailStart);
    this.#tailLength += rest.length;
    this.#trim();
  }

  /** A piece that belongs before everything so far. */
  prepend(stream: OutputStream, text: string): void {
    if (text === "") return;
    const pieces = [...this.#head];
    const omitted = this.#omitted;
    const tail = this.tail.slice();
    this.#head.length = this.#tail.length = 0;
    this.#headLength = this.#tailLength = this.#tailStart = this.#omitted = this.#total = 0;
    this.append(stream, text);
    for (const piece of pieces) this.append(piece.stream, piece.text);
    // What lies before a part that was left out cannot be told from it any more: it is counted with it.
    if (omitted > 0) {
      this.#omitted += omitted;
      this.#total += omitted;
      if (this.#tail.length === 0) this.#tail.push({ stream, text: "" });
    }
    for (const piece of tail) this.append(piece.stream, piece.text);
  }

  /** All that is kept, as one text. */
  text(): string {
    const gap = this.#omitted > 0 ? `\n… ${this.#omitted} characters left out …\n` : "";
    return [...this.#head.map((piece) => piece.text), gap, ...this.tail.map((piece) => piece.text)].join("");
  }

  #trim(): void {
    while (this.#tailLength > TAIL) {
      const first = this.#tail[this.#tailStart];
      if (first === undefined) return;
      this.#tailLength -= first.text.length;
      this.#omitted += first.text.length;
      this.#tailStart += 1;
    }
    if (this.#tailStart > 64 && this.#tailStart * 2 > this.#tail.length) {
      this.#tail.splice(0, this.#tailStart);
      this.#tailStart = 0;
    }
  }
}

/** At most so much of the text; never half of a character that takes two units. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

function join(pieces: Piece[], stream: OutputStream, text: string, from = 0): void {
  const last = pieces.length > from ? pieces[pieces.length - 1] : undefined;
  if (last !== undefined && last.stream === stream && last.text.length + text.length <= PIECE) last.text += text;
  else pieces.push({ stream, text });
}
