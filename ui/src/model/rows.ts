// The rows of a conversation: the items of a thread, and those of its subagents below the calls that started them.
//
// In: a conversation, and what the reader folded. Out: one flat list, so that a list that draws only what is visible can show it. Without
// subagents an update costs as much as there are new items, with subagents as much as there are rows. Subagents below `DEEPEST` are not
// opened: their cards lead to a view of their own.
import type { Conversation } from "./conversation";
import type { Item, Thread, ToolItem } from "./items";

export interface Row {
  readonly item: Item;
  /** How many subagents it is below the thread that is shown. */
  readonly depth: number;
  /** The thread that it belongs to. */
  readonly thread: Thread;
}

/** Subagents within subagents that are shown in place. */
export const DEEPEST = 3;

export interface RowOptions {
  /** The thread that is shown. */
  root: Thread;
  /** Whether the reader closed the thread of this call. */
  isClosed(tool: ToolItem): boolean;
  /** Items that the reader does not want to see. */
  isHidden(item: Item): boolean;
}

export class Rows {
  #rows: Row[] = [];
  #layout = 0;
  #taken = 0;
  #structure = -1;
  #insertions = 0;
  #root: Thread | undefined;

  get list(): readonly Row[] {
    return this.#rows;
  }

  /** Changes if rows went away or came between others; while it is the same, rows were only added at the end. */
  get layout(): number {
    return this.#layout;
  }

  /** Takes over what was added. `isReset`: the options mean something else than before. */
  update(conversation: Conversation, options: RowOptions, isReset: boolean): void {
    const isSame = !isReset && this.#root === options.root;
    if (isSame && conversation.structure === this.#structure) return;
    this.#structure = conversation.structure;
    const isInserted = conversation.insertions !== this.#insertions;
    this.#insertions = conversation.insertions;
    if (isSame && !isInserted && conversation.threadCount === 0) return this.#append(options);
    const before = this.#rows;
    this.#rows = [];
    this.#root = options.root;
    this.#walk(options.root, 0, options);
    this.#taken = options.root.items.length;
    const isAppended = before.length <= this.#rows.length && before.every((row, index) => this.#rows[index]?.item === row.item);
    if (!isAppended || !isSame) this.#layout += 1;
  }

  #append({ root, isHidden }: RowOptions): void {
    for (; this.#taken < root.items.length; this.#taken += 1) {
      const item = root.items[this.#taken];
      if (item !== undefined && !isHidden(item)) this.#rows.push({ item, depth: 0, thread: root });
    }
  }

  #walk(thread: Thread, depth: number, options: RowOptions): void {
    for (const item of thread.items) {
      if (options.isHidden(item)) continue;
      this.#rows.push({ item, depth, thread });
      if (item.kind !== "tool" || item.thread === undefined) continue;
      if (depth < DEEPEST && !options.isClosed(item)) this.#walk(item.thread, depth + 1, options);
    }
  }
}
