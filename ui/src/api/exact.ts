// Numbers as they are spelled.
//
// JavaScript reads `12345678901234567890` as 12345678901234567000 and `1.0` as 1. A record is shown as it came, so a number that would be
// spelled in another way is kept as an `ExactNumber`. Where the browser does not give the source of a number, it is read as usual.

export class ExactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }

  toString(): string {
    return this.source;
  }

  /** For `JSON.stringify`: the same spelling, where the browser can write it. */
  toJSON(): unknown {
    const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;
    return raw === undefined ? Number(this.source) : raw(this.source);
  }
}

/** A value of a JSON text; `source` is its spelling, if that is known. */
export function kept(value: unknown, source: string | undefined): unknown {
  return typeof value === "number" && source !== undefined && String(value) !== source ? new ExactNumber(source) : value;
}

/** `JSON.parse` that keeps the spelling of numbers. */
export function parseExact(text: string): unknown {
  const reviver = (_key: string, value: unknown, context?: { source?: string }) => kept(value, context?.source);
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown);
}
