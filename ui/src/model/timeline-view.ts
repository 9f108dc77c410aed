// What of a timeline is drawn.
//
// In: lanes of bars, the part of the axis that is visible, and its width. Out: the shapes of a lane (bars, and groups of bars that are
// too narrow to be drawn alone), the ticks of the scale, and the next part of the axis after a zoom or a move. The axis counts
// milliseconds since the first frame, or frames (`seq`). Everything here takes time for what is visible, not for the whole run, except
// that a group counts its bars.
import type { Bar, Place, Thread } from "./timeline";

export type Axis = "time" | "order";

/** A part of the axis; `to` is greater than `from`. */
export interface Span {
  from: number;
  to: number;
}

/** What is drawn in a lane: one bar, or several that are narrower than MIN_PX. */
export interface Shape {
  x: number;
  width: number;
  /** The first bar. */
  bar: Bar;
  /** The number of bars; more than one for a group. */
  count: number;
  /** The last bar of a group. */
  lastBar: Bar;
  /** How many bars of a group failed or were refused. */
  failed: number;
}

/** A bar that is narrower is drawn with this width, or in a group with its neighbours. */
export const MIN_PX = 4;
/** A group that is this wide takes no more bars: a long group would hide where in it something failed. */
const GROUP_PX = 10;

export function place(axis: Axis, at: Place, origin: Place): number {
  return axis === "time" ? at.ms - origin.ms : at.seq - origin.seq;
}

/** The end of a bar: of an open one, `now`. */
export function endOf(axis: Axis, bar: Bar, origin: Place, now: number): number {
  if (bar.end === undefined) return Math.max(now, place(axis, bar.start, origin));
  return place(axis, bar.end, origin);
}

/** The shapes of one lane between `span.from` and `span.to`, on `width` pixels. */
export function shapes(lane: readonly Bar[], axis: Axis, origin: Place, span: Span, width: number, now: number): Shape[] {
  const scale = width / (span.to - span.from);
  const out: Shape[] = [];
  let group: Shape | undefined;
  for (let index = firstVisible(lane, axis, origin, span.from, now); index < lane.length; index++) {
    const bar = lane[index]!;
    const start = place(axis, bar.start, origin);
    if (start > span.to) break;
    const x = (start - span.from) * scale;
    const right = (endOf(axis, bar, origin, now) - span.from) * scale;
    const isFailed = bar.outcome === "failed" || bar.outcome === "refused" ? 1 : 0;
    if (right - x >= MIN_PX) {
      // A group never hides the beginning of a bar that is wide enough to be drawn.
      if (group && group.x + group.width > x) group.width = Math.max(1, x - group.x);
      group = undefined;
      const left = Math.max(x, -MIN_PX);
      out.push({ x: left, width: Math.min(right, width + MIN_PX) - left, bar, count: 1, lastBar: bar, failed: isFailed });
    } else if (group && x < group.x + Math.min(group.width + 1, GROUP_PX)) {
      group.count += 1;
      group.failed += isFailed;
      group.lastBar = bar;
      group.width = Math.max(group.width, right - group.x);
    } else {
      // Where the group before reaches over the bar, it ends there.
      if (group && group.x + group.width > x) group.width = x - group.x;
      group = { x, width: MIN_PX, bar, count: 1, lastBar: bar, failed: isFailed };
      out.push(group);
    }
  }
  return out;
}

/** The index of the first bar that ends at `from` or later. */
function firstVisible(lane: readonly Bar[], axis: Axis, origin: Place, from: number, now: number): number {
  let low = 0;
  let high = lane.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (endOf(axis, lane[middle]!, origin, now) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The narrowest part of the axis: a millisecond, or one frame. */
const NARROWEST = 1;

/** The part of the axis after a zoom by `factor` (below 1: closer) around a point, within `whole`. */
export function zoomed(span: Span, whole: Span, factor: number, around: number): Span {
  const longest = whole.to - whole.from;
  const length = Math.min(longest, Math.max(Math.min(NARROWEST, longest), (span.to - span.from) * factor));
  const share = (around - span.from) / (span.to - span.from);
  return within({ from: around - share * length, to: around + (1 - share) * length }, whole);
}

/** The part of the axis moved by a share of its length, within `whole`. */
export function moved(span: Span, whole: Span, share: number): Span {
  const by = (span.to - span.from) * share;
  return within({ from: span.from + by, to: span.to + by }, whole);
}

/** A part of the same length that lies in `whole`, or `whole` if it is not longer. */
export function within(span: Span, whole: Span): Span {
  const length = span.to - span.from;
  if (length >= whole.to - whole.from) return whole;
  const from = Math.min(Math.max(span.from, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** The part of the axis that shows a bar with some space around it. */
export function around(bar: Bar, axis: Axis, origin: Place, now: number, whole: Span): Span {
  const from = place(axis, bar.start, origin);
  const to = endOf(axis, bar, origin, now);
  const margin = Math.max((to - from) * 0.2, (whole.to - whole.from) / 200, NARROWEST);
  return within({ from: from - margin, to: to + margin }, whole);
}

/** Where the scale has ticks: at most one for each `gap` pixels, at round values. */
export function ticks(axis: Axis, span: Span, width: number, gap = 90): { at: number; x: number; label: string }[] {
  const length = span.to - span.from;
  if (!(length > 0) || width <= 0) return [];
  const step = roundStep(axis, (length * gap) / width);
  const out = [];
  for (let at = Math.ceil(span.from / step) * step; at <= span.to && out.length < 200; at += step) {
    out.push({ at, x: ((at - span.from) * width) / length, label: axis === "time" ? elapsed(at, step) : `#${Math.round(at)}` });
  }
  return out;
}

const TIME_STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000,
  3_600_000, 7_200_000, 14_400_000, 28_800_000, 43_200_000, 86_400_000,
];

function roundStep(axis: Axis, least: number): number {
  if (axis === "time") {
    const step = TIME_STEPS.find((candidate) => candidate >= least);
    if (step !== undefined) return step;
    return Math.ceil(least / 86_400_000) * 86_400_000;
  }
  for (let power = 1; ; power *= 10) {
    for (const factor of [1, 2, 5]) if (power * factor >= least) return power * factor;
  }
}

/** A time since the beginning, as exact as `step` needs: `350 ms`, `1.25 s`, `2:05`, `1:00:00`. */
export function elapsed(ms: number, step = 1): string {
  if (ms < 0) return `-${elapsed(-ms, step)}`;
  if (ms < 1_000 && step < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) {
    const digits = step >= 1_000 ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3;
    return `${(ms / 1_000).toFixed(digits)} s`;
  }
  const fraction = step < 1_000 ? (ms % 1_000) / 1_000 : 0;
  const seconds = Math.floor(ms / 1_000);
  const tail = fraction === 0 ? "" : fraction.toFixed(step >= 100 ? 1 : step >= 10 ? 2 : 3).slice(1);
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  const clock = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  return `${clock}:${two(seconds % 60)}${tail}`;
}

/** A line of the picture: a heading of a thread, or a lane of one of its rows. */
export type Line =
  | { kind: "thread"; thread: Thread; isFolded: boolean }
  | { kind: "lane"; thread: Thread; row: string; lane: number; bars: readonly Bar[]; isFirst: boolean };

/**
 * All lines from top to bottom; the threads in `folded` have only their heading. Threads for which `isShown` is false are left out, with
 * the threads below them: `hidden` counts them.
 */
export function lines(
  main: Thread,
  rows: readonly string[],
  folded: ReadonlySet<string>,
  isShown: (thread: Thread) => boolean = () => true,
): { lines: Line[]; hidden: number } {
  const out: Line[] = [];
  let hidden = 0;
  const stack: Thread[] = [main];
  for (let thread = stack.pop(); thread !== undefined; thread = stack.pop()) {
    const isFolded = folded.has(thread.id);
    out.push({ kind: "thread", thread, isFolded });
    if (isFolded) continue;
    for (const kind of rows) {
      const row = thread.rows.get(kind as never);
      row?.lanes.forEach((bars, lane) => out.push({ kind: "lane", thread: thread!, row: kind, lane, bars, isFirst: lane === 0 }));
    }
    for (let index = thread.children.length - 1; index >= 0; index--) {
      const child = thread.children[index]!;
      if (isShown(child)) stack.push(child);
      else hidden += 1;
    }
  }
  return { lines: out, hidden };
}

/** Whether a part of a thread lies in a part of the axis. */
export function isWithin(thread: Thread, axis: Axis, origin: Place, span: Span): boolean {
  if (place(axis, thread.start, origin) > span.to) return false;
  return thread.end === undefined || place(axis, thread.end, origin) >= span.from;
}

/** The lines that a part of the page shows, if each is `height` pixels high. */
export function visibleLines(count: number, height: number, top: number, bottom: number): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / height) - 2);
  return { first, last: Math.min(count, Math.ceil(bottom / height) + 2) };
}
