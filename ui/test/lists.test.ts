import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRoute, paths } from "../src/app/router";
import { Heights } from "../src/components/heights";
import { Conversation } from "../src/model/conversation";
import { HEAD, Output, TAIL } from "../src/model/output";
import { questionsOf } from "../src/model/questions";
import { DEEPEST, Rows } from "../src/model/rows";

/** A generator of numbers that is the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

test("heights: offsets and positions are those of a plain sum", () => {
  const heights = new Heights();
  const next = random(7);
  const expected: number[] = [];
  const key = (index: number) => `k${index}`;
  for (let round = 0; round < 200; round += 1) {
    const count = expected.length + Math.floor(next() * 5);
    while (expected.length < count) expected.push(10 + (expected.length % 7));
    heights.sync(count, key, (index) => 10 + (index % 7), true);
    const at = Math.floor(next() * count);
    if (count > 0) {
      const height = Math.floor(next() * 200);
      heights.measure(at, height);
      expected[at] = height;
    }
    const sums = expected.map((_, index) => expected.slice(0, index).reduce((sum, height) => sum + height, 0));
    const total = expected.reduce((sum, height) => sum + height, 0);
    assert.equal(heights.total, total);
    for (let look = 0; look < 5 && count > 0; look += 1) {
      const index = Math.floor(next() * count);
      assert.equal(heights.offset(index), sums[index]);
      const offset = Math.floor(next() * total);
      const found = heights.indexAt(offset);
      assert.ok((sums[found] ?? 0) <= offset && offset < (sums[found + 1] ?? total) + 1, `offset ${offset} is in row ${found}`);
    }
  }
});

test("heights: measured rows keep their heights when others come between", () => {
  const heights = new Heights();
  let keys = ["a", "b", "c"];
  const sync = (isAppended: boolean) => heights.sync(keys.length, (index) => keys[index] ?? "", () => 10, isAppended);
  sync(true);
  heights.measure(1, 50);
  keys = ["a", "x", "b", "c"];
  sync(false);
  assert.equal(heights.indexOf("b"), 2);
  assert.deepEqual([0, 1, 2, 3].map((index) => heights.height(index)), [10, 10, 50, 10]);
  assert.equal(heights.indexAt(1_000), 3);
  keys = [];
  sync(false);
  assert.equal(heights.total, 0);
  assert.equal(heights.indexAt(5), 0);
});

test("heights: a row is found where it is expected, where it went, and after rows were added", () => {
  const heights = new Heights();
  const sync = (keys: string[], isAppended: boolean) => heights.sync(keys.length, (index) => keys[index] as string, () => 10, isAppended);
  sync(["a", "b", "c"], true);
  assert.equal(heights.indexOf("b", 1), 1);
  assert.equal(heights.indexOf("b", 2), 1);
  assert.equal(heights.indexOf("c"), 2);
  sync(["a", "b", "c", "d"], true);
  assert.equal(heights.indexOf("d"), 3);
  sync(["x", "d", "a"], false);
  assert.equal(heights.indexOf("a", 0), 2);
  assert.equal(heights.indexOf("d", 3), 1);
  assert.equal(heights.indexOf("b", 1), undefined);
});

test("an output keeps its beginning and its end, and counts the rest", () => {
  const output = new Output();
  let all = "";
  for (let index = 0; index < 30_000; index += 1) {
    const line = `line ${index} ${"x".repeat(index % 40)}\n`;
    output.append(index % 9 === 0 ? "stderr" : "stdout", line);
    all += line;
  }
  const head = output.head.map((piece) => piece.text).join("");
  const tail = output.tail.map((piece) => piece.text).join("");
  assert.equal(output.total, all.length);
  assert.equal(head.length + output.omitted + tail.length, all.length);
  assert.ok(all.startsWith(head) && head.length === HEAD);
  assert.ok(all.endsWith(tail) && tail.length <= TAIL && tail.length > TAIL / 2);
});

test("an output of 50 MB in one piece is cut", () => {
  const output = new Output();
  output.append("stdout", `begin${"y".repeat(50_000_000)}end`);
  assert.ok(output.text().length < HEAD + TAIL + 100);
  assert.ok(output.text().startsWith("begin") && output.text().endsWith("end"));
  assert.equal(output.omitted, output.total - HEAD - TAIL);
  output.prepend("stdout", "before");
  assert.ok(output.text().startsWith("beforebegin") && output.text().endsWith("end"));
  assert.equal(output.total, 50_000_014);
  assert.equal(output.head.concat(output.tail).reduce((sum, piece) => sum + piece.text.length, 0) + output.omitted, output.total);
});

function nested(depth: number): Conversation {
  const conversation = new Conversation();
  let seq = 0;
  const base = (parent: number) => ({ id: "x", seq: seq++, timestamp_ms: 1, ...(parent < 0 ? {} : { parent_tool_id: `t${parent}` }) });
  for (let level = 0; level <= depth; level += 1) {
    conversation.apply([
      { ...base(level - 1), type: "tool_started", tool_id: `t${level}`, call_id: "c", name: "Agent", kind: "subagent", args: {} },
      { ...base(level), type: "output_text_delta", message_id: `m${level}`, block_index: 0, delta: "x" },
    ]);
  }
  return conversation;
}

test("rows: subagents follow the calls that started them, down to a depth", () => {
  const conversation = nested(8);
  const rows = new Rows();
  const options = { root: conversation.main, isClosed: () => false, isHidden: () => false };
  rows.update(conversation, options, false);
  assert.equal(Math.max(...rows.list.map((row) => row.depth)), DEEPEST);
  const layout = rows.layout;
  rows.update(conversation, { ...options, isClosed: (tool) => tool.toolId === "t0" }, true);
  assert.equal(rows.list.length, 1);
  assert.notEqual(rows.layout, layout);
});

test("rows: while rows are only added, the layout stays the same", () => {
  const conversation = new Conversation();
  const rows = new Rows();
  const options = { root: conversation.main, isClosed: () => false, isHidden: () => false };
  rows.update(conversation, options, false);
  const { layout } = rows;
  for (let seq = 0; seq < 10; seq += 1) {
    conversation.apply([{ seq, timestamp_ms: 1, type: "log_emitted", level: "info", message: "x" }]);
    rows.update(conversation, options, false);
    assert.equal(rows.list.length, seq + 1);
  }
  assert.equal(rows.layout, layout);
});

test("rows: calls within each other do not go on for ever", () => {
  const conversation = new Conversation();
  conversation.apply([
    { seq: 0, type: "tool_started", tool_id: "a", parent_tool_id: "b", args: {} },
    { seq: 1, type: "tool_started", tool_id: "b", parent_tool_id: "a", args: {} },
    { seq: 2, type: "tool_started", tool_id: "c", parent_tool_id: "c", args: {} },
  ]);
  const rows = new Rows();
  rows.update(conversation, { root: conversation.main, isClosed: () => false, isHidden: () => false }, false);
  assert.ok(rows.list.length < 50);
});

test("questions: choices, texts and the fields of a form, in the order of the answers", () => {
  const [colour, name] = questionsOf({
    questions: [
      { question: "Which color?", header: "Color", options: [{ label: "Red", description: "warm" }, { label: "Blue" }], multiSelect: true },
      { id: "who", question: "Who?", isSecret: true, options: null },
    ],
  });
  assert.deepEqual(colour?.choices.map((choice) => choice.value), ["Red", "Blue"]);
  assert.equal(colour?.isMultiple, true);
  assert.equal(name?.isSecret, true);
  assert.equal(name?.takesText, true);
  const form = questionsOf({
    requestedSchema: {
      properties: { size: { type: "integer", title: "Size" }, ok: { type: "boolean" }, kind: { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }, many: { type: "array", items: { enum: ["x"] } } },
      required: ["size"],
    },
  });
  assert.deepEqual(form.map(({ header, isRequired, input, isMultiple, choices }) => [header, isRequired, input, isMultiple, choices.map((choice) => choice.label)]), [
    ["Size", true, "number", false, []],
    ["ok", false, "text", false, ["Yes", "No"]],
    ["kind", false, "text", false, ["A", "B"]],
    ["many", false, "text", true, ["x"]],
  ]);
  assert.deepEqual(questionsOf({ command: "ls" }), []);
  assert.deepEqual(questionsOf("text"), []);
  assert.deepEqual(questionsOf({ questions: "none", requestedSchema: { properties: [] } }), []);
});

test("routes: addresses lead where they came from", () => {
  const id = "0198/0000 ä";
  assert.deepEqual(parseRoute(paths.frame(id, 7)), { view: "frame", runId: id, seq: 7, query: {} });
  assert.deepEqual(parseRoute(paths.tool(id, "a/b")), { view: "tool", runId: id, toolId: "a/b", query: {} });
  // Half of a surrogate pair has no form in an address.
  assert.deepEqual(parseRoute(paths.tool(id, "a\ud800b")), { view: "tool", runId: id, toolId: "a\ufffdb", query: {} });
  assert.deepEqual(parseRoute(paths.trace(id, { contract: "sse.v1", frame: undefined })), { view: "trace", runId: id, query: { contract: "sse.v1" } });
  assert.deepEqual(parseRoute(""), { view: "runs", query: {} });
  for (const bad of ["#/nowhere", "#/runs/x/frame/abc", "#/runs/x/y/z/w", "#/runs/%E0%A4%A/frame/1e9", "#/stats/x"]) assert.equal(parseRoute(bad).view, "unknown", bad);
});
