// The place in a conversation to which an address leads: a tool call, or a frame.
//
// In: the place, and the rows as they are read. Out: one call with its row, as soon as that was read. After that the reader moves.
import { useEffect, useRef } from "preact/hooks";
import type { Row } from "../../model/rows";

export type Target = { toolId: string } | { seq: number };

export function targetOf(toolId: string | undefined, at: string | undefined): Target | undefined {
  if (toolId !== undefined) return { toolId };
  return at !== undefined && /^\d{1,15}$/.test(at) ? { seq: Number(at) } : undefined;
}

/** The row of a place; undefined if it is not there, or was not read yet. */
export function rowOf(target: Target, rows: readonly Row[], lastSeq: number): number | undefined {
  if ("toolId" in target) {
    const index = rows.findIndex(({ item }) => item.kind === "tool" && item.toolId === target.toolId);
    return index < 0 ? undefined : index;
  }
  if (lastSeq < target.seq) return undefined;
  // The item that began last before the frame: it shows what the frame said.
  let found: number | undefined;
  for (const [index, { item }] of rows.entries()) {
    if (item.seq > target.seq || item.kind === "turn") continue;
    if (found === undefined || item.seq >= rows[found]!.item.seq) found = index;
  }
  return found;
}

/** Calls `show` with the row of a place, once. `version` changes when rows may have been added. */
export function useTarget(target: Target | undefined, rows: readonly Row[], lastSeq: number, version: number, show: (index: number) => void): void {
  const reached = useRef<Target | undefined>(undefined);
  useEffect(() => {
    if (target === undefined || reached.current === target) return;
    const index = rowOf(target, rows, lastSeq);
    if (index === undefined) return;
    reached.current = target;
    show(index);
  }, [target, rows, version]);
}
