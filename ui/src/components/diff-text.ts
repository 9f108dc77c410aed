// Differences between texts: unified diffs as lines with numbers, and two texts as such lines.

export interface DiffLine {
  kind: "same" | "add" | "delete" | "hunk" | "note";
  text: string;
  /** Line numbers, from 1. */
  before: number | undefined;
  after: number | undefined;
}

/** A row of two columns. */
export interface DiffPair {
  left: DiffLine | undefined;
  right: DiffLine | undefined;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parseUnified(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before: number | undefined;
  let after: number | undefined;
  const all = diff.split("\n");
  if (all.at(-1) === "") all.pop();
  for (const line of all) {
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      lines.push({ kind: "hunk", text: line, before: undefined, after: undefined });
    } else if (line.startsWith("+") && (before !== undefined || !line.startsWith("+++"))) {
      lines.push({ kind: "add", text: line.slice(1), before: undefined, after });
      if (after !== undefined) after += 1;
    } else if (line.startsWith("-") && (before !== undefined || !line.startsWith("---"))) {
      lines.push({ kind: "delete", text: line.slice(1), before, after: undefined });
      if (before !== undefined) before += 1;
    } else if (line.startsWith("\\") || before === undefined) {
      if (!/^(?:---|\+\+\+|index |diff )/.test(line)) lines.push({ kind: "note", text: line, before: undefined, after: undefined });
    } else {
      lines.push({ kind: "same", text: line.slice(1), before, after });
      before += 1;
      if (after !== undefined) after += 1;
    }
  }
  return lines;
}

/** Beyond this many comparisons, what lies between the common beginning and end counts as replaced. */
const MOST_COMPARISONS = 400_000;

/** The difference of two texts, line by line. */
export function compare(before: string, after: string): DiffLine[] {
  const left = before === "" ? [] : before.split("\n");
  const right = after === "" ? [] : after.split("\n");
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  const lines: DiffLine[] = [];
  const add = (kind: "same" | "add" | "delete", text: string, from: number | undefined, to: number | undefined) =>
    lines.push({ kind, text, before: from === undefined ? undefined : from + 1, after: to === undefined ? undefined : to + 1 });
  for (let at = 0; at < start; at += 1) add("same", left[at] ?? "", at, at);
  const [rows, columns] = [left.length - start - end, right.length - start - end];
  if (rows * columns > MOST_COMPARISONS) {
    for (let at = 0; at < rows; at += 1) add("delete", left[start + at] ?? "", start + at, undefined);
    for (let at = 0; at < columns; at += 1) add("add", right[start + at] ?? "", undefined, start + at);
  } else {
    // The longest common subsequence, from the end.
    const width = columns + 1;
    const length = new Uint32Array((rows + 1) * width);
    for (let row = rows - 1; row >= 0; row -= 1) {
      for (let column = columns - 1; column >= 0; column -= 1) {
        length[row * width + column] =
          left[start + row] === right[start + column]
            ? (length[(row + 1) * width + column + 1] ?? 0) + 1
            : Math.max(length[(row + 1) * width + column] ?? 0, length[row * width + column + 1] ?? 0);
      }
    }
    let row = 0;
    let column = 0;
    while (row < rows || column < columns) {
      if (row < rows && column < columns && left[start + row] === right[start + column]) {
        add("same", left[start + row] ?? "", start + row, start + column);
        row += 1;
        column += 1;
      } else if (row < rows && (column === columns || (length[(row + 1) * width + column] ?? 0) >= (length[row * width + column + 1] ?? 0))) {
        add("delete", left[start + row] ?? "", start + row, undefined);
        row += 1;
      } else {
        add("add", right[start + column] ?? "", undefined, start + column);
        column += 1;
      }
    }
  }
  for (let at = end; at > 0; at -= 1) add("same", left[left.length - at] ?? "", left.length - at, right.length - at);
  return lines;
}

/** Deleted lines beside the added ones that follow them. */
export function pairs(lines: readonly DiffLine[]): DiffPair[] {
  const found: DiffPair[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line === undefined) break;
    if (line.kind !== "delete" && line.kind !== "add") {
      found.push({ left: line, right: line });
      at += 1;
      continue;
    }
    let middle = at;
    while (lines[middle]?.kind === "delete") middle += 1;
    let end = middle;
    while (lines[end]?.kind === "add") end += 1;
    const height = Math.max(middle - at, end - middle);
    for (let row = 0; row < height; row += 1) {
      found.push({
        left: at + row < middle ? lines[at + row] : undefined,
        right: middle + row < end ? lines[middle + row] : undefined,
      });
    }
    at = end;
  }
  return found;
}

/** How many lines were added and deleted. */
export function counts(lines: readonly DiffLine[]): { added: number; deleted: number } {
  let added = 0;
  let deleted = 0;
  for (const { kind } of lines) {
    if (kind === "add") added += 1;
    if (kind === "delete") deleted += 1;
  }
  return { added, deleted };
}

/** The part in which two lines differ: where it begins, and how much of each end is the same. */
export function changedPart(before: string, after: string): { start: number; end: number } | undefined {
  const shortest = Math.min(before.length, after.length);
  if (shortest === 0 || shortest > 2_000) return undefined;
  let start = 0;
  while (start < shortest && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shortest - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  // Lines that have little in common are replaced, not changed.
  return start + end < shortest / 3 ? undefined : { start, end };
}
