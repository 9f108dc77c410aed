// Collects what arrives, and hands it on once per animation frame: a run of many frames is drawn as often as the screen is, not as often as
// frames arrive. A hidden page has no animation frames; a timer stands in.
const HIDDEN_MS = 250;

export class Batches<T> {
  readonly #deliver: (items: T[]) => void;
  #items: T[] = [];
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deliver: (items: T[]) => void) {
    this.#deliver = deliver;
  }

  add(items: readonly T[]): void {
    for (const item of items) this.#items.push(item);
    if (this.#timer !== undefined) return;
    this.#frame = requestAnimationFrame(() => this.flush());
    this.#timer = setTimeout(() => this.flush(), HIDDEN_MS);
  }

  /** Hands on what waits, now. */
  flush(): void {
    this.stop();
    const items = this.#items;
    if (items.length === 0) return;
    this.#items = [];
    this.#deliver(items);
  }

  /** Ends the timers; what waits stays. */
  stop(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = this.#timer = undefined;
  }
}
