// Puts records that were not valid into a thread, where they arrived.
//
// In: frames of records, in order, each once; items of a thread. Out: the same items with new ones between them. Records with nothing between
// them are one item. Never: more than MOST items; the last one then says that there are more.
import type { InvalidItem, Item } from "./items";
import { field, number, text, texts } from "./read";

/** Items of this kind in a thread. */
export const MOST = 5_000;
const PREVIEW = 200;

/** Whether a frame is that of a record that was not valid, or too large. */
export function isInvalidRecord(frame: unknown): boolean {
  return field(frame, "type") === "provider_event" && field(frame, "status") === "invalid_json";
}

/** Changes `items`. The result: whether one was added, and not only a count changed. */
export function insertInvalid(items: Item[], records: readonly unknown[]): boolean {
  let known = 0;
  for (const item of items) if (item.kind === "invalid") known += 1;
  const before = known;
  const merged: Item[] = [];
  let at = 0;
  for (const record of records) {
    const seq = number(record, "seq");
    if (seq === undefined || !isInvalidRecord(record)) continue;
    for (let next = items[at]; next !== undefined && next.seq <= seq; next = items[at]) {
      merged.push(next);
      at += 1;
    }
    const last = merged.at(-1);
    if (last?.kind === "invalid") {
      last.count += 1;
      last.version += 1;
    } else if (known < MOST) {
      merged.push(newItem(record, seq, known + 1 === MOST));
      known += 1;
    }
  }
  for (; at < items.length; at += 1) merged.push(items[at] as Item);
  if (known === before) return false;
  items.length = 0;
  for (const item of merged) items.push(item);
  return true;
}

/** The last item that says something of the run itself. */
export function lastValid(items: readonly Item[]): Item | undefined {
  let index = items.length - 1;
  while (items[index]?.kind === "invalid") index -= 1;
  return items[index];
}

function newItem(record: unknown, seq: number, isLast: boolean): InvalidItem {
  return {
    kind: "invalid",
    id: `${seq}.invalid`,
    seq,
    at: number(record, "timestamp_ms") ?? 0,
    version: 0,
    count: 1,
    reason: texts(record, "errors")[0] ?? "",
    preview: (text(record, "raw") ?? "").slice(0, PREVIEW),
    isLast,
  };
}
