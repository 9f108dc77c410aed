// A diff: in one column or in two, as the reader prefers.
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { changedPart, type DiffLine, type DiffPair, pairs } from "./diff-text";
import { memo } from "./memo";
import { visible } from "./visible";

const KEY = "framegate.diff";
/** More lines than these are shown on request. */
const FIRST = 200;

/** Whether diffs have two columns: one choice for all of them. */
const isSplit = signal(read());

export const Diff = memo(function Diff({ lines }: { lines: readonly DiffLine[] }) {
  const [most, setMost] = useState(FIRST);
  const rows = useMemo(() => pairs(lines), [lines]);
  const marks = useMemo(() => marksOf(rows), [rows]);
  const split = isSplit.value;
  const count = split ? rows.length : lines.length;
  return (
    <div class="diff">
      <div class={`diff-scroll ${split ? "diff-split" : "diff-unified"}`} tabIndex={0} role="region" aria-label="Diff">
        <table>
          <tbody>{split ? rows.slice(0, most).map((row, at) => pairRow(row, marks, at)) : lines.slice(0, most).map((line, at) => lineRow(line, marks, at))}</tbody>
        </table>
      </div>
      {count > most && (
        <button type="button" class="button button-small diff-more" onClick={() => setMost(most * 5)}>
          Show {Math.min(count - most, most * 4).toLocaleString("en")} of {(count - most).toLocaleString("en")} more lines
        </button>
      )}
    </div>
  );
});

export function DiffToggle() {
  return (
    <button type="button" class="button button-plain button-small" aria-pressed={isSplit.value} onClick={toggle} title="Show diffs side by side">
      {isSplit.value ? "Unified" : "Side by side"}
    </button>
  );
}

type Marks = ReadonlyMap<DiffLine, { start: number; end: number }>;

function marksOf(rows: readonly DiffPair[]): Marks {
  const marks = new Map<DiffLine, { start: number; end: number }>();
  for (const { left, right } of rows) {
    if (left === undefined || right === undefined || left === right) continue;
    const part = changedPart(left.text, right.text);
    if (part !== undefined) {
      marks.set(left, part);
      marks.set(right, part);
    }
  }
  return marks;
}

const SIGNS: Record<DiffLine["kind"], string> = { same: " ", add: "+", delete: "-", hunk: "", note: "" };

function content(line: DiffLine, marks: Marks) {
  const part = marks.get(line);
  if (part === undefined) return visible(line.text);
  const { text } = line;
  const end = text.length - part.end;
  return (
    <>
      {visible(text.slice(0, part.start))}
      <mark>{visible(text.slice(part.start, end))}</mark>
      {visible(text.slice(end))}
    </>
  );
}

function lineRow(line: DiffLine, marks: Marks, key: number) {
  if (line.kind === "hunk" || line.kind === "note") {
    return (
      <tr key={key} class={`diff-${line.kind}`}>
        <td colSpan={4}>{visible(line.text)}</td>
      </tr>
    );
  }
  return (
    <tr key={key} class={`diff-${line.kind}`}>
      <td class="diff-number">{line.before}</td>
      <td class="diff-number">{line.after}</td>
      <td class="diff-sign">{SIGNS[line.kind]}</td>
      <td class="diff-text">{content(line, marks)}</td>
    </tr>
  );
}

function pairRow({ left, right }: DiffPair, marks: Marks, key: number) {
  if (left !== undefined && left === right && (left.kind === "hunk" || left.kind === "note")) {
    return (
      <tr key={key} class={`diff-${left.kind}`}>
        <td colSpan={4}>{visible(left.text)}</td>
      </tr>
    );
  }
  return (
    <tr key={key}>
      <td class="diff-number">{left?.before}</td>
      <td class={`diff-text diff-${left?.kind ?? "none"}`}>{left && content(left, marks)}</td>
      <td class="diff-number">{right?.after}</td>
      <td class={`diff-text diff-${right?.kind ?? "none"}`}>{right && content(right, marks)}</td>
    </tr>
  );
}

function toggle(): void {
  isSplit.value = !isSplit.value;
  try {
    localStorage.setItem(KEY, isSplit.value ? "split" : "unified");
  } catch {
    // The choice then lasts until the page is closed.
  }
}

function read(): boolean {
  try {
    return localStorage.getItem(KEY) === "split";
  } catch {
    return false;
  }
}
