// SHA-256 (FIPS 180-4), piece by piece. The digest of `crypto.subtle` needs the whole text at once, and an artifact is checked while it
// streams by.

/** The first 32 bits of the fractional parts of a root of the first primes. */
function rootsOfPrimes(count: number, root: number): Uint32Array {
  const out = new Uint32Array(count);
  for (let candidate = 2, found = 0; found < count; candidate++) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= candidate; factor++) if (candidate % factor === 0) isPrime = false;
    if (isPrime) out[found++] = fraction(candidate, root);
  }
  return out;
}

/** The exact fraction: the root of `value · 2^(32 · root)` as an integer, without its whole part. */
function fraction(value: number, root: number): number {
  const shifted = BigInt(value) << BigInt(32 * root);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** BigInt(root) <= shifted) low = middle;
    else high = middle;
  }
  return Number(low & 0xffff_ffffn);
}

const K = rootsOfPrimes(64, 3);
const START = rootsOfPrimes(8, 2);

export class Sha256 {
  readonly #state = Uint32Array.from(START);
  readonly #block = new Uint8Array(64);
  readonly #view = new DataView(this.#block.buffer);
  readonly #words = new Uint32Array(64);
  #filled = 0;
  #length = 0;

  update(bytes: Uint8Array): void {
    this.#length += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const piece = bytes.subarray(at, at + 64 - this.#filled);
      this.#block.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      if (this.#filled === 64) this.#compress();
    }
  }

  /** The digest in lower-case hex; the last call. */
  hex(): string {
    const bits = BigInt(this.#length) * 8n;
    this.#block[this.#filled++] = 0x80;
    if (this.#filled > 56) {
      this.#block.fill(0, this.#filled);
      this.#compress();
    }
    this.#block.fill(0, this.#filled);
    this.#view.setBigUint64(56, bits);
    this.#compress();
    return Array.from(this.#state, (word) => word.toString(16).padStart(8, "0")).join("");
  }

  #compress(): void {
    const w = this.#words;
    for (let t = 0; t < 16; t++) w[t] = this.#view.getUint32(4 * t);
    for (let t = 16; t < 64; t++) {
      const x = w[t - 15]!;
      const y = w[t - 2]!;
      const small0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
      const small1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
      w[t] = w[t - 16]! + small0 + w[t - 7]! + small1;
    }
    let [a, b, c, d, e, f, g, h] = this.#state as unknown as [number, number, number, number, number, number, number, number];
    for (let t = 0; t < 64; t++) {
      const big1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const one = (h + big1 + ((e & f) ^ (~e & g)) + K[t]! + w[t]!) | 0;
      const big0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const two = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, at) => (this.#state[at] = this.#state[at]! + value));
    this.#filled = 0;
  }
}

function rotated(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}
