import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatsRow } from "../src/api/source";
import { barRows, dayStart, dollars, duration, figure, keyOf, meanDuration, since, sortedRows, zoneName } from "../src/model/stats";

function row(more: Partial<StatsRow>): StatsRow {
  return { runs: 1, completed: 1, failed: 0, interrupted: 0, open: 0, duration_ms: 10, tool_calls: 0, failed_tool_calls: 0, warnings: 0, ...more };
}

test("bars are in the order of days, or with the greatest first; what was not reported is no 0", () => {
  const cost = figure("cost_usd");
  const days = [row({ day: "2026-11-25", cost_usd: 1 }), row({ day: "2026-11-24", cost_usd: 4 })];
  assert.deepEqual(barRows(days, ["day"], cost).bars.map(({ label, share }) => [label, share]), [["2026-11-24", 1], ["2026-11-25", 0.25]]);
  const runners = [row({ runner: "a" }), row({ runner: "b", cost_usd: 2 })];
  assert.deepEqual(barRows(runners, ["runner"], cost).bars.map(({ label, text, share }) => [label, text, share]), [["b", "$2.00", 1], ["a", "not reported", 0]]);
});

test("a long chart shows the latest days, and says how many it leaves out", () => {
  const days = Array.from({ length: 70 }, (_, index) => row({ day: `2026-${String(1 + Math.floor(index / 28)).padStart(2, "0")}-${String(1 + (index % 28)).padStart(2, "0")}` }));
  const { bars, omitted } = barRows(days, ["day"], figure("runs"), 60);
  assert.deepEqual([bars.length, omitted, bars.at(-1)?.label], [60, 10, "2026-03-14"]);
});

test("a table sorts by a figure or a group; rows without the figure are last", () => {
  const rows = [row({ runner: "b" }), row({ runner: "c", cost_usd: 1 }), row({ runner: "a", cost_usd: 3 })];
  const names = (column: string, isAscending: boolean) => sortedRows(rows, ["runner"], column, isAscending).map(({ runner }) => runner);
  assert.deepEqual(names("cost_usd", true), ["c", "a", "b"]);
  assert.deepEqual(names("cost_usd", false), ["a", "c", "b"]);
  assert.deepEqual(names("runner", true), ["a", "b", "c"]);
});

test("the mean is that of the runs that have ended; a row of a tool has none", () => {
  assert.equal(meanDuration(row({ runs: 5, completed: 2, failed: 1, interrupted: 1, open: 1, duration_ms: 400 })), 100);
  const { duration_ms, ...tool } = row({ tool: "Bash" });
  assert.deepEqual([duration_ms, meanDuration(tool)], [10, undefined]);
  assert.equal(meanDuration(row({ runs: 1, completed: 0, open: 1 })), undefined);
});

test("runs without a key, and the rest, have names", () => {
  assert.deepEqual([keyOf(row({}), "model"), keyOf(row({ rest: true }), "model"), keyOf(row({ model: "m" }), "model")], ["none", "all others", "m"]);
});

test("periods begin with a day of the time zone", () => {
  const now = Date.parse("2026-11-25T00:30:00Z");
  assert.equal(since(1, now, 0), Date.parse("2026-11-25T00:00:00Z"));
  assert.equal(since(1, now, -60), Date.parse("2026-11-24T01:00:00Z"));
  assert.equal(since(7, now, 120), Date.parse("2026-11-18T22:00:00Z"));
  assert.equal(since(undefined, now, 0), undefined);
  assert.equal(dayStart("2026-11-25", 60), Date.parse("2026-11-24T23:00:00Z"));
  assert.equal(dayStart("2026-13-99", 0), undefined);
  assert.equal(dayStart("soon", 0), undefined);
  assert.deepEqual([zoneName(0), zoneName(-210), zoneName(330)], ["+00:00", "-03:30", "+05:30"]);
});

test("small amounts keep their digits", () => {
  assert.deepEqual([dollars(0), dollars(0.0012), dollars(1234.5)], ["$0.00", "$0.0012", "$1,234.50"]);
  assert.deepEqual([duration(350), duration(12_400), duration(3_900_000)], ["350 ms", "12 s", "1 h 5 min"]);
});
