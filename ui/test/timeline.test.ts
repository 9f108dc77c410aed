import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../src/api/source";
import { MAX_BARS, oneLine, ROWS, summaryOfArgs, Timeline } from "../src/model/timeline";
import { around, elapsed, isWithin, lines, moved, shapes, ticks, within, zoomed } from "../src/model/timeline-view";

/** Frames of a run: each entry is a time, a type and its fields. */
function frames(...entries: [ms: number, type: string, fields?: Record<string, unknown>][]): Frame[] {
  return entries.map(([ms, type, fields], seq) => ({ timestamp_ms: ms, seq, type, ...fields }) as unknown as Frame);
}

function read(list: Frame[]): Timeline {
  const timeline = new Timeline();
  for (const frame of list) timeline.push(frame);
  return timeline;
}

const shell = (tool_id: string, command: string) => ({ tool_id, call_id: tool_id, name: "Bash", kind: "shell", args: { command }, timeout_ms: null });

test("a tool is one bar from the call to its end, with what the runner measured", () => {
  const timeline = read(
    frames(
      [1_000, "session_started", { input: "Fix it" }],
      [1_001, "turn_started", { turn_index: 0, model: "m" }],
      [1_010, "tool_input_delta", { tool_id: "a", call_id: "a", name: "Bash", delta: "{" }],
      [1_020, "tool_call_proposed", shell("a", "ls")],
      [1_030, "tool_started", shell("a", "ls")],
      [1_090, "tool_ended", { tool_id: "a", call_id: "a", exit_code: 2, duration_ms: 55, artifacts: null }],
      [1_100, "turn_ended", { turn_index: 0, stop_reason: "tool_use", duration_ms: 99 }],
    ),
  );
  const [tool] = timeline.bars.filter((bar) => bar.row === "tool");
  assert.equal(timeline.bars.filter((bar) => bar.row === "tool").length, 1);
  assert.deepEqual([tool?.start, tool?.end, tool?.outcome, tool?.measuredMs], [{ ms: 1_020, seq: 3 }, { ms: 1_090, seq: 5 }, "failed", 55]);
  assert.equal(tool?.detail, "ls · exit code 2");
  const input = timeline.bars.find((bar) => bar.what === "arguments");
  assert.deepEqual([input?.start.ms, input?.end?.ms, input?.toolId], [1_010, 1_020, "a"]);
  assert.equal(timeline.bars.find((bar) => bar.row === "turn")?.end?.seq, 6);
});

test("tools at the same time have lanes of their own, which are used again", () => {
  const timeline = read(
    frames(
      [0, "tool_started", shell("a", "1")],
      [1, "tool_started", shell("b", "2")],
      [2, "tool_ended", { tool_id: "a", exit_code: 0, duration_ms: 2 }],
      [3, "tool_started", shell("c", "3")],
      [4, "tool_failed", { tool_id: "c", error: "denied" }],
      [4, "tool_ended", { tool_id: "b", exit_code: 0, duration_ms: 3 }],
    ),
  );
  assert.deepEqual(timeline.bars.map((bar) => [bar.toolId, bar.lane, bar.outcome]), [["a", 0, "ok"], ["b", 1, "ok"], ["c", 0, "failed"]]);
});

test("subagents are threads below the thread of their call", () => {
  const timeline = read(
    frames(
      [0, "session_started", { input: "" }],
      [1, "tool_started", { ...shell("task", ""), name: "Agent", kind: "subagent", args: { prompt: "look" } }],
      [2, "subagent_started", { subagent_id: "s", tool_id: "task", agent: "explorer", task: "look", depth: 1 }],
      [3, "tool_started", { ...shell("inner", "grep"), parent_tool_id: "task" }],
      [4, "tool_started", { ...shell("deep", ""), parent_tool_id: "inner" }],
      [5, "tool_ended", { tool_id: "deep", exit_code: 0, duration_ms: 1, parent_tool_id: "inner" }],
      [6, "tool_ended", { tool_id: "inner", exit_code: 0, duration_ms: 3, parent_tool_id: "task" }],
      [7, "subagent_ended", { subagent_id: "s", status: "failed", summary: null }],
      [8, "tool_ended", { tool_id: "task", exit_code: 0, duration_ms: 7 }],
      [9, "session_ended", { reason: "completed", final_text: null, error_code: null, message: null }],
    ),
  );
  const [child] = timeline.main.children;
  assert.equal(timeline.main.children.length, 1);
  assert.deepEqual([child?.title, child?.depth, child?.outcome, child?.end?.seq], ["explorer", 1, "failed", 7]);
  assert.deepEqual(child?.children.map((thread) => [thread.id, thread.depth]), [["inner", 2]]);
  assert.equal(timeline.bars.find((bar) => bar.toolId === "task")?.child, child);
  assert.deepEqual(
    lines(timeline.main, ROWS, new Set()).lines.map((line) => (line.kind === "thread" ? `= ${line.thread.title}` : line.row)),
    ["= Main thread", "tool", "= explorer", "tool", "point", "= Bash", "tool"],
  );
  assert.deepEqual(lines(timeline.main, ROWS, new Set([""])).lines.length, 1);
  const late = lines(timeline.main, ROWS, new Set(), (thread) => isWithin(thread, "time", timeline.first!, { from: 8, to: 9 }));
  assert.deepEqual([late.lines.length, late.hidden], [2, 1]);
});

test("the end of the run closes what is open, and frames that come again change nothing", () => {
  const list = frames(
    [5, "session_started", { input: "" }],
    [6, "approval_requested", { approval_id: "q", tool_id: null, tool_name: "Bash", args: {}, reason: "why" }],
    [7, "tool_started", shell("a", "sleep")],
    [9, "session_ended", { reason: "interrupted", final_text: null, error_code: null, message: null }],
  );
  const timeline = read([...list, ...list]);
  assert.deepEqual(timeline.bars.map((bar) => [bar.row, bar.outcome, bar.end?.ms]), [["wait", "cut", 9], ["tool", "cut", 9]]);
  assert.equal(timeline.ended, "interrupted");
  assert.equal(timeline.main.outcome, "cut");
});

test("an approval is a wait with the decision", () => {
  const timeline = read(
    frames(
      [0, "approval_requested", { approval_id: "q", tool_id: "a", tool_name: "Bash", args: { command: "rm" }, reason: null }],
      [4, "approval_resolved", { approval_id: "q", decision: "rejected", by: "ann", reason: null, scope: null }],
    ),
  );
  assert.deepEqual([timeline.bars[0]?.outcome, timeline.bars[0]?.detail, timeline.bars[0]?.toolId], ["refused", "rm · rejected by ann", "a"]);
});

test("time that runs backwards is held, so that no bar ends before it begins", () => {
  const timeline = read(frames([10, "tool_started", shell("a", "")], [4, "tool_ended", { tool_id: "a", exit_code: 0, duration_ms: 0 }]));
  assert.equal(timeline.bars[0]?.end?.ms, 10);
});

test("bars over the limit are counted", () => {
  const timeline = new Timeline();
  for (let seq = 0; seq < MAX_BARS + 3; seq++) timeline.push({ seq, timestamp_ms: seq, type: "user_message", text: "", attachments: [], message_id: "" } as unknown as Frame);
  assert.deepEqual([timeline.bars.length, timeline.omitted], [MAX_BARS, 3]);
});

function lane(...bars: [start: number, end: number | undefined, outcome?: string][]) {
  const timeline = new Timeline();
  let seq = 0;
  for (const [index, [start, end, outcome]] of bars.entries()) {
    timeline.push({ seq: seq++, timestamp_ms: start, type: "tool_started", ...shell(`t${index}`, "") } as unknown as Frame);
    if (end === undefined) continue;
    const exit_code = outcome === "failed" ? 1 : 0;
    timeline.push({ seq: seq++, timestamp_ms: end, type: "tool_ended", tool_id: `t${index}`, exit_code, duration_ms: 0 } as unknown as Frame);
  }
  return { bars: timeline.bars, origin: { ms: 0, seq: 0 } };
}

test("bars that are too narrow are drawn together, with the number that failed", () => {
  const { bars, origin } = lane([0, 100], [100, 100], [100, 101, "failed"], [102, 102], [600, 600], [700, 900]);
  const drawn = shapes(bars, "time", origin, { from: 0, to: 1_000 }, 1_000, 1_000);
  assert.deepEqual(drawn.map(({ x, width, count, failed }) => [x, width, count, failed]), [[0, 100, 1, 0], [100, 4, 3, 1], [600, 4, 1, 0], [700, 200, 1, 0]]);
});

test("only what is visible is drawn, and an open bar grows", () => {
  const { bars, origin } = lane([0, 10], [20, 30], [40, undefined]);
  const at = (now: number) => shapes(bars, "time", origin, { from: 25, to: 125 }, 1_000, now);
  assert.deepEqual(at(60).map(({ bar }) => bar.toolId), ["t1", "t2"]);
  assert.deepEqual(at(60).map(({ x, width }) => [x, x + width]), [[-4, 50], [150, 350]]);
  assert.deepEqual(at(100).at(-1)?.width, 600);
});

test("a long lane has at most one shape for each few pixels", () => {
  const { bars, origin } = lane(...Array.from({ length: 20_000 }, (_, index): [number, number] => [index * 10, index * 10 + 5]));
  const drawn = shapes(bars, "time", origin, { from: 0, to: 200_000 }, 800, 200_000);
  assert.ok(drawn.length <= 100, `${drawn.length} shapes`);
  for (const [index, shape] of drawn.entries()) assert.ok(index === 0 || drawn[index - 1]!.x + drawn[index - 1]!.width <= shape.x, `shape ${index} is covered`);
  assert.equal(drawn.reduce((sum, { count }) => sum + count, 0), 20_000);
  const close = shapes(bars, "time", origin, { from: 1_000, to: 1_100 }, 800, 200_000);
  assert.deepEqual(close.map(({ count }) => count), Array(11).fill(1));
});

test("the axis of order has places where all times are equal", () => {
  const { bars, origin } = lane([7, 7], [7, 7]);
  const drawn = shapes(bars, "order", origin, { from: 0, to: 4 }, 400, 4);
  assert.deepEqual(drawn.map(({ x, width }) => [x, width]), [[0, 100], [200, 100]]);
});

test("zooming keeps the point under the pointer, and stays within the run", () => {
  const whole = { from: 0, to: 1_000 };
  const near = zoomed(whole, whole, 0.5, 250);
  assert.deepEqual(near, { from: 125, to: 625 });
  assert.deepEqual(zoomed(near, whole, 100, 250), whole);
  const narrow = zoomed({ from: 10, to: 12 }, whole, 0.001, 11);
  assert.equal(narrow.to - narrow.from, 1);
  assert.deepEqual(moved(near, whole, 5), { from: 500, to: 1_000 });
  assert.deepEqual(moved(near, whole, -5), { from: 0, to: 500 });
  assert.deepEqual(within({ from: -50, to: 20 }, whole), { from: 0, to: 70 });
});

test("the scale has round steps", () => {
  assert.deepEqual(ticks("time", { from: 0, to: 10_000 }, 900).map(({ label }) => label), ["0 s", "1 s", "2 s", "3 s", "4 s", "5 s", "6 s", "7 s", "8 s", "9 s", "10 s"]);
  assert.deepEqual(ticks("order", { from: 3, to: 23 }, 450).map(({ label }) => label), ["#5", "#10", "#15", "#20"]);
  assert.deepEqual(ticks("time", { from: 0, to: 0 }, 900), []);
});

test("times are as exact as the scale", () => {
  assert.deepEqual([elapsed(0), elapsed(350), elapsed(1_250, 10), elapsed(61_500, 100), elapsed(3_661_000, 1_000), elapsed(-5)], ["0 ms", "350 ms", "1.25 s", "1:01.5", "1:01:01", "-5 ms"]);
});

test("the part around a bar has a margin", () => {
  const { bars, origin } = lane([100, 200]);
  assert.deepEqual(around(bars[0]!, "time", origin, 0, { from: 0, to: 1_000 }), { from: 80, to: 220 });
});

test("texts are on one line and bounded", () => {
  assert.equal(oneLine("a\n\t b"), "a b");
  assert.equal(oneLine("x".repeat(10_000_000)).length, 200);
  assert.equal(summaryOfArgs({ description: "d", command: ["git", "log"] }), "git log");
  assert.equal(summaryOfArgs({ n: 1, other: "text" }), "text");
  assert.equal(summaryOfArgs("free"), "free");
});
