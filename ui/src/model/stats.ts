// Statistics as tables and bars.
//
// In: the answer of `GET /v1/stats`. Out: the columns of a table with the text of each cell, the rows of a chart, and a period as `since`
// and `until`. A figure that no run reported is an empty cell, never 0.
import type { StatsFigures, StatsGroup, StatsRow } from "../api/source";
import { elapsed } from "./timeline-view";

export const GROUPS: readonly { group: StatsGroup; name: string }[] = [
  { group: "day", name: "Day" },
  { group: "runner", name: "Runner" },
  { group: "model", name: "Model" },
  { group: "session", name: "Session" },
  { group: "label", name: "Label" },
  { group: "tool", name: "Tool" },
];

export interface Figure {
  /** The field of the API, or a figure that is computed from fields. */
  key: string;
  name: string;
  value(row: StatsFigures): number | undefined;
  text(value: number): string;
}

const count = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });
const field = (key: keyof StatsFigures, name: string, text: (value: number) => string = count): Figure => ({ key, name, value: (row) => row[key], text });

/** The figures in the order of the columns. */
export const FIGURES: readonly Figure[] = [
  field("runs", "Runs"),
  field("completed", "Completed"),
  field("failed", "Failed"),
  field("interrupted", "Interrupted"),
  field("open", "Open"),
  { key: "mean_duration_ms", name: "Mean duration", value: (row) => meanDuration(row), text: (value) => duration(value) },
  field("duration_ms", "Duration", (value) => duration(value)),
  field("input_tokens", "Input tokens"),
  field("cache_read_tokens", "Cache reads"),
  field("cache_creation_tokens", "Cache writes"),
  field("output_tokens", "Output tokens"),
  field("reasoning_tokens", "Reasoning tokens"),
  field("cost_usd", "Cost", (value) => dollars(value)),
  field("runs_with_cost", "Runs with cost"),
  field("turns", "Turns"),
  field("tool_calls", "Tool calls"),
  field("failed_tool_calls", "Failed tool calls"),
  field("tool_duration_ms", "Tool time", (value) => duration(value)),
  field("warnings", "Warnings"),
];

/** The mean duration of the runs that have ended. */
export function meanDuration(row: StatsFigures): number | undefined {
  const ended = row.completed + row.failed + row.interrupted;
  return ended > 0 && row.duration_ms !== undefined ? row.duration_ms / ended : undefined;
}

export function figure(key: string): Figure {
  return FIGURES.find((known) => known.key === key) ?? FIGURES[0]!;
}

export function duration(ms: number): string {
  if (ms < 60_000) return elapsed(ms, ms < 10_000 ? 100 : 1_000);
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60).toLocaleString("en-US")} h ${minutes % 60} min`;
}

/** US dollars: with more digits for small amounts, so that a cost is not shown as nothing. */
export function dollars(value: number): string {
  const digits = value !== 0 && Math.abs(value) < 0.01 ? 4 : 2;
  return `$${value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** The key of a group in a row: its value, or what stands for none, as of runs that named no model. */
export function keyOf(row: StatsRow, group: StatsGroup): string {
  return row[group] ?? (row.rest === true ? "all others" : "none");
}

export interface BarRow {
  label: string;
  value: number | undefined;
  text: string;
  /** The length of the bar as a share of the longest one, from 0 to 1. */
  share: number;
}

/** Bars for a figure, one for each row: days in order, anything else with the greatest first. */
export function barRows(rows: readonly StatsRow[], by: readonly StatsGroup[], chosen: Figure, most = 60): { bars: BarRow[]; omitted: number } {
  const all = rows.map((row) => ({ label: by.map((group) => keyOf(row, group)).join(" · ") || "All runs", value: chosen.value(row) }));
  if (by[0] === "day") all.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  else all.sort((a, b) => (b.value ?? -1) - (a.value ?? -1));
  const shown = by[0] === "day" ? all.slice(-most) : all.slice(0, most);
  const greatest = Math.max(0, ...shown.map(({ value }) => value ?? 0));
  const bars = shown.map(({ label, value }) => ({
    label,
    value,
    text: value === undefined ? "not reported" : chosen.text(value),
    share: value === undefined || greatest === 0 ? 0 : Math.max(0, value) / greatest,
  }));
  return { bars, omitted: all.length - shown.length };
}

export const PERIODS = [
  { key: "1d", name: "Today", days: 1 },
  { key: "7d", name: "7 days", days: 7 },
  { key: "30d", name: "30 days", days: 30 },
  { key: "90d", name: "90 days", days: 90 },
  { key: "all", name: "All", days: undefined },
] as const;

/** The beginning of a period of whole days that ends today, in the time zone of `offsetMinutes` (minutes east of UTC). */
export function since(days: number | undefined, now: number, offsetMinutes: number): number | undefined {
  if (days === undefined) return undefined;
  const dayMs = 86_400_000;
  const offset = offsetMinutes * 60_000;
  const today = Math.floor((now + offset) / dayMs) * dayMs - offset;
  return today - (days - 1) * dayMs;
}

/** A date of a form (`2026-11-25`) as the beginning of that day; undefined if it is none. */
export function dayStart(date: string, offsetMinutes: number): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return undefined;
  const utc = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(utc) ? undefined : utc - offsetMinutes * 60_000;
}

/** `+01:00` for 60. */
export function zoneName(offsetMinutes: number): string {
  const minutes = Math.abs(offsetMinutes);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${offsetMinutes < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A sort of the table; rows without the figure come last. */
export function sortedRows(rows: readonly StatsRow[], by: readonly StatsGroup[], column: string, isAscending: boolean): StatsRow[] {
  const direction = isAscending ? 1 : -1;
  const group = by.find((known) => known === column);
  if (group !== undefined) return [...rows].sort((a, b) => (keyOf(a, group) < keyOf(b, group) ? -1 : keyOf(a, group) > keyOf(b, group) ? 1 : 0) * direction);
  const chosen = figure(column);
  return [...rows].sort((a, b) => {
    const [left, right] = [chosen.value(a), chosen.value(b)];
    if (left === undefined || right === undefined) return left === right ? 0 : left === undefined ? 1 : -1;
    return (left - right) * direction;
  });
}
