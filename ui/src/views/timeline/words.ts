// What bars are called and how they are coloured.
import { visible } from "../../components/visible";
import type { Bar, Outcome, Timeline } from "../../model/timeline";
import { type Axis, elapsed, type Shape } from "../../model/timeline-view";

export function nameOf(bar: Bar): string {
  return visible(bar.label);
}

export function detailOf(bar: Bar): string {
  return visible(bar.detail);
}

/** The class of a bar's colour. */
export function kindOf(bar: Bar): string {
  if (bar.row === "model") return bar.what === "text" ? "text" : bar.what === "reasoning" ? "reasoning" : "arguments";
  return bar.row;
}

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  open: "goes on",
  ok: "ended",
  failed: "failed",
  refused: "refused",
  cut: "did not end by itself",
};

export function outcomeOf(bar: Bar): string {
  if (bar.row === "point") return bar.outcome === "failed" ? "failed" : "";
  if (bar.row === "wait" && bar.outcome === "ok") return "approved";
  return OUTCOMES[bar.outcome];
}

/** Where a bar begins, on the axis. */
export function startOf(bar: Bar, axis: Axis, timeline: Timeline): string {
  return axis === "time" ? elapsed(bar.start.ms - timeline.first!.ms, 1) : `frame ${bar.start.seq}`;
}

/** How long a bar is: in milliseconds also on the axis of order. */
export function lengthOf(bar: Bar, timeline: Timeline, now: number, axis: Axis): string {
  if (bar.row === "point") return "";
  if (bar.end !== undefined) return elapsed(bar.end.ms - bar.start.ms, 1);
  return axis === "time" ? elapsed(Math.max(0, now - (bar.start.ms - timeline.first!.ms)), 100) : "";
}

/** A bar or a group in words. */
export function labelOf(shape: Shape, axis: Axis, timeline: Timeline, now: number): string {
  const { bar, count, failed } = shape;
  if (count > 1) return `${count} bars from ${startOf(bar, axis, timeline)}${failed > 0 ? `, ${failed} failed` : ""}; opens them`;
  const parts = [nameOf(bar), detailOf(bar), `at ${startOf(bar, axis, timeline)}`, lengthOf(bar, timeline, now, axis), outcomeOf(bar)];
  return parts.filter((part) => part !== "").join(", ");
}
