// Reads the beginning of a JSON object, as far as it was written: the arguments of a tool while the model writes them.
//
// In: a text that an object begins with. Out: an object with all that is certain: whole values, the beginnings of texts, lists and objects.
// A number or a word that may go on is left out, and so is half an escape. Never: an exception; an object for a text that is no such
// beginning; a property of a prototype.

const DEEPEST = 64;

/** `undefined` if the text is not the beginning of an object. */
export function partialObject(text: string): Readonly<Record<string, unknown>> | undefined {
  const reader = new Reader(text);
  try {
    reader.skip();
    if (text[reader.at] !== "{") return undefined;
    const object = reader.object(0);
    reader.skip();
    return reader.at < text.length ? undefined : object;
  } catch {
    return undefined;
  }
}

/** What is not there yet. */
const NOTHING = Symbol("nothing");

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  skip(): void {
    while (/[ \t\r\n]/.test(this.#text[this.at] ?? "")) this.at += 1;
  }

  object(depth: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#items("}", depth, () => {
      if (this.#text[this.at] !== '"') throw new SyntaxError("a key is a text");
      const { value: key, isWhole } = this.#string();
      this.skip();
      if (!isWhole || this.#isEnd()) return;
      this.#expect(":");
      this.skip();
      const value = this.#value(depth + 1);
      if (value !== NOTHING) entries.push([key, value]);
    });
    return Object.fromEntries(entries);
  }

  #array(depth: number): unknown[] {
    const values: unknown[] = [];
    this.#items("]", depth, () => {
      const value = this.#value(depth + 1);
      if (value !== NOTHING) values.push(value);
    });
    return values;
  }

  /** What is between brackets, with commas: `one` reads an item. */
  #items(close: string, depth: number, one: () => void): void {
    if (depth > DEEPEST) throw new SyntaxError("too deep");
    this.at += 1;
    this.skip();
    if (this.#takes(close)) return;
    while (!this.#isEnd()) {
      one();
      this.skip();
      if (this.#isEnd() || this.#takes(close)) return;
      this.#expect(",");
      this.skip();
    }
  }

  #value(depth: number): unknown {
    switch (this.#text[this.at]) {
      case undefined:
        return NOTHING;
      case "{":
        return this.object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string().value;
      default:
        return this.#word();
    }
  }

  #string(): { value: string; isWhole: boolean } {
    const begin = this.at + 1;
    let end = begin;
    for (; end < this.#text.length && this.#text[end] !== '"'; end += 1) {
      if (this.#text[end] !== "\\") continue;
      const length = this.#text[end + 1] === "u" ? 6 : 2;
      // Half an escape says nothing yet.
      if (end + length > this.#text.length) break;
      end += length - 1;
    }
    const isWhole = this.#text[end] === '"';
    this.at = isWhole ? end + 1 : this.#text.length;
    const written = this.#text.slice(begin, end);
    const value = written.includes("\\") ? (JSON.parse(`"${written.replace(/[\0-\x1f]/g, escaped)}"`) as string) : written;
    // Nor does half a character.
    return { value: isWhole ? value : value.replace(/[\ud800-\udbff]$/, ""), isWhole };
  }

  /** A number, `true`, `false` or `null`. */
  #word(): unknown {
    const [word = ""] = /^[-+.\w]*/.exec(this.#text.slice(this.at, this.at + 400)) ?? [];
    if (word === "") throw new SyntaxError("no value");
    this.at += word.length;
    return this.#isEnd() ? NOTHING : JSON.parse(word);
  }

  #isEnd(): boolean {
    return this.at >= this.#text.length;
  }

  #takes(mark: string): boolean {
    if (this.#text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  #expect(mark: string): void {
    if (!this.#takes(mark)) throw new SyntaxError(`no ${mark}`);
  }
}

/** Some writers do not escape line ends. */
function escaped(control: string): string {
  return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
