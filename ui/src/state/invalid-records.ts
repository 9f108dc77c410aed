// Where a run has records that were not valid, or too large. The stream that a conversation reads has no records, because they are more than
// half of a run's bytes; so these are looked for page by page, and only in a run whose status counts some.
//
// In: the number of such records, whenever the status was read. Out: their frames, in order, each once. Never: a request if all of them were
// found; a frame that the conversation has not reached yet.
import type { Frame } from "../api/source";
import { isInvalidRecord } from "../model/invalid";

const PAGE = 500;

export type LoadRecords = (after: number, limit: number, signal: AbortSignal) => Promise<readonly Frame[]>;

export class InvalidRecords {
  readonly #load: LoadRecords;
  readonly #lastSeq: () => number;
  readonly #onFound: (frames: Frame[]) => void;
  #controller: AbortController | undefined;
  /** The `seq` of the last record that was looked at. */
  #after = -1;
  #found = 0;
  #wanted = 0;

  /** `lastSeq`: how far the conversation is. */
  constructor(load: LoadRecords, lastSeq: () => number, onFound: (frames: Frame[]) => void) {
    this.#load = load;
    this.#lastSeq = lastSeq;
    this.#onFound = onFound;
  }

  /** Goes on with the search if there are more than were found. */
  search(count: number): void {
    this.#wanted = count;
    if (this.#controller !== undefined || this.#found >= count) return;
    const controller = new AbortController();
    this.#controller = controller;
    // An error is that of the stream, which shows it. The next status leads to another search.
    const done = () => {
      if (this.#controller === controller) this.#controller = undefined;
    };
    this.#search(controller.signal).then(done, done);
  }

  stop(): void {
    this.#controller?.abort();
    this.#controller = undefined;
  }

  async #search(signal: AbortSignal): Promise<void> {
    while (this.#found < this.#wanted) {
      const page = await this.#load(this.#after, PAGE, signal);
      if (signal.aborted) return;
      const last = this.#lastSeq();
      const reached = page.filter(({ seq }) => seq > this.#after && seq <= last);
      this.#after = reached.at(-1)?.seq ?? this.#after;
      const frames = reached.filter((frame) => isInvalidRecord(frame));
      this.#found += frames.length;
      if (frames.length > 0) this.#onFound(frames);
      if (reached.length < page.length || reached.length === 0) return;
    }
  }
}
