// The trace of a run, of which only some blocks are in memory.
//
// In: which rows are visible, and pages of `GET /v1/runs/{id}/trace`. Out: the items of these rows as they arrive. Frames are numbered
// without a gap, so any block can be read on its own, forwards and backwards. At most KEPT_BLOCKS blocks are kept and PARALLEL requests
// are open; requests for blocks that are out of sight are given up. Never: a row that stays empty without a state that says why.
import type { TraceItem, TracePage } from "../api/source";

export const BLOCK = 50;
const KEPT_BLOCKS = 60;
const PARALLEL = 2;

/** The number of an item's frame. */
export function seqOf(item: TraceItem): number {
  return item.seq ?? item.frame.seq;
}

export type LoadPage = (after: number, limit: number, signal: AbortSignal) => Promise<TracePage>;

export type ItemState = { state: "loaded"; item: TraceItem } | { state: "loading" } | { state: "missing" } | { state: "failed"; error: unknown };

interface Block {
  items: Map<number, TraceItem>;
  /** The number of frames that the run had when the block was read. */
  readUpTo: number;
  /** When it was used last, as a count. */
  used: number;
}

export class TraceBlocks {
  /** The number of frames that the run has. */
  total = 0;
  readonly #load: LoadPage;
  readonly #onChange: (first: number, last: number) => void;
  readonly #blocks = new Map<number, Block>();
  readonly #pending = new Map<number, AbortController>();
  readonly #failed = new Map<number, unknown>();
  #wanted: number[] = [];
  #uses = 0;
  #isClosed = false;

  /** `onChange` is called with the first and the last `seq` of what arrived. */
  constructor(load: LoadPage, onChange: (first: number, last: number) => void) {
    this.#load = load;
    this.#onChange = onChange;
  }

  state(seq: number): ItemState {
    const number = Math.floor(seq / BLOCK);
    const block = this.#blocks.get(number);
    const item = block?.items.get(seq);
    if (item) return { state: "loaded", item };
    if (block && seq < block.readUpTo) return { state: "missing" };
    if (this.#failed.has(number)) return { state: "failed", error: this.#failed.get(number) };
    return { state: "loading" };
  }

  item(seq: number): TraceItem | undefined {
    return this.#blocks.get(Math.floor(seq / BLOCK))?.items.get(seq);
  }

  /** All items that are in memory. */
  *items(): Generator<TraceItem> {
    for (const block of this.#blocks.values()) yield* block.items.values();
  }

  /** Says which frames are visible: those of these numbers, and the blocks beside them if `around` is set. */
  want(seqs: Iterable<number>): void {
    const wanted = new Set<number>();
    for (const seq of seqs) if (seq >= 0 && seq < this.total) wanted.add(Math.floor(seq / BLOCK));
    this.#wanted = [...wanted];
    for (const [number, controller] of this.#pending) if (!wanted.has(number)) controller.abort();
    for (const number of wanted) {
      const block = this.#blocks.get(number);
      if (block) block.used = ++this.#uses;
    }
    this.#next();
  }

  /** Why the first of the blocks that failed could not be read; undefined if none failed. */
  get failure(): unknown {
    return this.#failed.values().next().value;
  }

  /** Reads again what failed. */
  retry(): void {
    this.#failed.clear();
    this.#next();
  }

  close(): void {
    this.#isClosed = true;
    for (const controller of this.#pending.values()) controller.abort();
  }

  #next(): void {
    for (const number of this.#wanted) {
      if (this.#isClosed || this.#pending.size >= PARALLEL) return;
      if (this.#pending.has(number) || this.#failed.has(number)) continue;
      const block = this.#blocks.get(number);
      const end = Math.min((number + 1) * BLOCK, this.total);
      if (block === undefined || block.readUpTo < end) void this.#read(number, end);
    }
  }

  async #read(number: number, end: number): Promise<void> {
    const controller = new AbortController();
    this.#pending.set(number, controller);
    const first = number * BLOCK;
    const known = this.#blocks.get(number);
    const items = new Map(known?.items);
    let outcome: { error: unknown } | undefined;
    try {
      for (let after = Math.max(first, known?.readUpTo ?? 0) - 1; after < end - 1; ) {
        const page = await this.#load(after, end - 1 - after, controller.signal);
        for (const item of page.data) if (seqOf(item) < end) items.set(seqOf(item), item);
        if (!page.has_more || page.next_after === null || page.next_after <= after) break;
        after = page.next_after;
      }
    } catch (error) {
      outcome = { error };
    }
    this.#pending.delete(number);
    if (this.#isClosed) return;
    if (outcome === undefined) {
      this.#blocks.set(number, { items, readUpTo: end, used: ++this.#uses });
      this.#forget();
    } else if (!controller.signal.aborted) {
      this.#failed.set(number, outcome.error);
    }
    if (outcome === undefined || !controller.signal.aborted) this.#onChange(first, end - 1);
    this.#next();
  }

  #forget(): void {
    if (this.#blocks.size <= KEPT_BLOCKS) return;
    const wanted = new Set(this.#wanted);
    const oldest = [...this.#blocks].filter(([number]) => !wanted.has(number)).sort(([, a], [, b]) => a.used - b.used);
    for (const [number] of oldest.slice(0, this.#blocks.size - KEPT_BLOCKS)) this.#blocks.delete(number);
  }
}
