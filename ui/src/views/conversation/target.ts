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
  // Before the first item there is only what the conversation does not show.
  return found ?? (rows.length > 0 ? 0 : undefined);
}

export interface TargetOptions {
  rows: readonly Row[];
  lastSeq: number;
  /** Changes when rows may have been added. */
  version: number;
  /** Whether all of the run was read. */
  isComplete: boolean;
  show(index: number): void;
  /** Called if the run has no such place. */
  onMissing(): void;
}

/** Shows the row of a place, once. */
export function useTarget(target: Target | undefined, { rows, lastSeq, version, isComplete, show, onMissing }: TargetOptions): void {
  const reached = useRef<Target | undefined>(undefined);
  useEffect(() => {
    if (target === undefined || reached.current === target) return;
    const index = rowOf(target, rows, lastSeq);
    if (index === undefined && !isComplete) return;
    reached.current = target;
    if (index === undefined) onMissing();
    else show(index);
  }, [target, rows, version, isComplete]);
}
