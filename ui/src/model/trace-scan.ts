// A search for the findings of a whole run.
//
// In: pages of the trace, from the first frame to the last. Out: the frames with marks, in order, as they are found, and how far the
// search is. It stops at MAX_FOUND and says so. Never: an item kept, only its number and the kinds of its marks.
import { marksOf, type MarkKind } from "./trace-marks";
import { type LoadPage, seqOf } from "./trace-blocks";

const PAGE = 200;
export const MAX_FOUND = 50_000;

export interface Found {
  seq: number;
  kinds: readonly MarkKind[];
}

export class FindingScan {
  readonly found: Found[] = [];
  /** Frames below this number were searched. */
  searched = 0;
  state: "idle" | "running" | "done" | "full" | "failed" = "idle";
  error: unknown;
  /** Whether rules between events were not checked on some pages: only schemas were. */
  isPartial = false;
  readonly #load: LoadPage;
  readonly #onChange: () => void;
  #controller: AbortController | undefined;

  constructor(load: LoadPage, onChange: () => void) {
    this.#load = load;
    this.#onChange = onChange;
  }

  /** Searches from where the last search ended to the last frame. Fulfilled when the search ends, for whatever reason. */
  async run(): Promise<void> {
    if (this.state === "running" || this.state === "full") return;
    const controller = new AbortController();
    this.#controller = controller;
    this.state = "running";
    this.#onChange();
    try {
      for (;;) {
        const page = await this.#load(this.searched - 1, PAGE, controller.signal);
        if (controller.signal.aborted) return;
        for (const item of page.data) {
          if (seqOf(item) < this.searched) continue;
          const kinds = [...new Set(marksOf(item).map((mark) => mark.kind))];
          if (kinds.length > 0) this.found.push({ seq: seqOf(item), kinds });
        }
        if (page.rules_checked === false && page.data.length > 0) this.isPartial = true;
        const last = page.data.at(-1);
        const next = Math.max(page.next_after ?? -1, last === undefined ? -1 : seqOf(last)) + 1;
        const isStuck = next <= this.searched;
        this.searched = Math.max(this.searched, next);
        if (this.found.length >= MAX_FOUND) this.state = "full";
        else if (!page.has_more || isStuck) this.state = "done";
        this.#onChange();
        if (this.state !== "running") return;
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      this.state = "failed";
      this.error = error;
      this.#onChange();
    }
  }

  stop(): void {
    this.#controller?.abort();
    if (this.state === "running") this.state = "idle";
  }
}

/** The frame of the next (`step` 1) or previous (-1) finding of these kinds, from a frame; undefined if there is none in that direction. */
export function nextFound(found: readonly Found[], kinds: ReadonlySet<MarkKind>, from: number, step: 1 | -1): number | undefined {
  const inOrder = step === 1 ? found : [...found].reverse();
  return inOrder.find(({ seq, kinds: its }) => (step === 1 ? seq > from : seq < from) && its.some((kind) => kinds.has(kind)))?.seq;
}
