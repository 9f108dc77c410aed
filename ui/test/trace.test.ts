import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame, TraceItem, TracePage } from "../src/api/source";
import { BLOCK, TraceBlocks } from "../src/model/trace-blocks";
import { ancestors, compact, CUT, jsonLines } from "../src/model/trace-json";
import { marksOf, pointerIn, type MarkKind } from "../src/model/trace-marks";
import { FindingScan, nextFound } from "../src/model/trace-scan";

function item(seq: number, more: Partial<TraceItem> = {}): TraceItem {
  return { frame: { seq, type: "log_emitted", level: "info", message: "" } as unknown as Frame, record: null, events: [], findings: [], ...more };
}

/** Pages of a run with `count` frames, and the requests that were made. */
function pages(count: number, items = (seq: number) => item(seq), most = 1_000) {
  const asked: [number, number][] = [];
  const load = async (after: number, limit: number, signal: AbortSignal): Promise<TracePage> => {
    asked.push([after, limit]);
    await new Promise((resolve) => setTimeout(resolve, 1));
    signal.throwIfAborted();
    const end = Math.min(count, after + 1 + Math.min(limit, most));
    const data = Array.from({ length: Math.max(0, end - after - 1) }, (_, index) => items(after + 1 + index));
    return { contract: "sse.v1", data, has_more: end < count, next_after: end - 1 };
  };
  return { asked, load };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 60));

test("blocks are read where they are visible, in both directions", async () => {
  const { asked, load } = pages(1_000);
  const arrived: [number, number][] = [];
  const blocks = new TraceBlocks(load, (first, last) => arrived.push([first, last]));
  blocks.total = 1_000;
  blocks.want([500, 510]);
  assert.equal(blocks.state(500).state, "loading");
  await settled();
  assert.equal(blocks.item(500)?.frame.seq, 500);
  blocks.want([498]);
  await settled();
  assert.equal(blocks.item(450)?.frame.seq, 450);
  assert.deepEqual(asked, [[499, BLOCK], [449, BLOCK]]);
  assert.deepEqual(arrived, [[500, 549], [450, 499]]);
});

test("a page that is shorter than asked for is continued", async () => {
  const { asked, load } = pages(200, item, 20);
  const blocks = new TraceBlocks(load, () => {});
  blocks.total = 200;
  blocks.want([0]);
  await settled();
  assert.deepEqual(asked, [[-1, 50], [19, 30], [39, 10]]);
  assert.equal(blocks.item(49)?.frame.seq, 49);
});

test("the last block of a live run grows; frames that are no longer kept are missing", async () => {
  const { load } = pages(130, (seq) => item(seq + 7));
  const blocks = new TraceBlocks(load, () => {});
  blocks.total = 10;
  blocks.want([9]);
  await settled();
  assert.equal(blocks.state(0).state, "missing");
  assert.equal(blocks.state(20).state, "loading");
  blocks.total = 30;
  blocks.want([9, 25]);
  await settled();
  assert.equal(blocks.state(25).state, "loaded");
});

test("a failure is a state, until it is tried again", async () => {
  let fails = true;
  const { load } = pages(10);
  const blocks = new TraceBlocks((after, limit, signal) => (fails ? Promise.reject(new Error("no")) : load(after, limit, signal)), () => {});
  blocks.total = 10;
  blocks.want([3]);
  await settled();
  const state = blocks.state(3);
  assert.equal(state.state === "failed" && String(state.error), "Error: no");
  fails = false;
  blocks.retry();
  await settled();
  assert.equal(blocks.state(3).state, "loaded");
});

test("few blocks are kept", async () => {
  const { load } = pages(100_000);
  const blocks = new TraceBlocks(load, () => {});
  blocks.total = 100_000;
  for (let seq = 0; seq < 100 * BLOCK; seq += BLOCK) {
    blocks.want([seq]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await settled();
  assert.ok([...blocks.items()].length <= 61 * BLOCK);
});

const kinds = (one: TraceItem) => marksOf(one).map(({ kind, side, path }) => [kind, side, path]);

test("each finding is a mark at its place, once", () => {
  const record = item(1, {
    record: 0,
    frame: { seq: 1, type: "provider_event", status: "invalid_json", data: null, raw: "{", errors: ["not JSON"], response_errors: [] } as unknown as Frame,
    findings: [{ kind: "invalid_record", code: "invalid_json", message: "not JSON" }],
  });
  assert.deepEqual(kinds(record), [["invalid_record", "record", undefined]]);
  assert.deepEqual(kinds({ ...record, findings: [] }), [["invalid_record", "record", undefined]]);
  const redacted = item(2, {
    frame: { seq: 2, type: "provider_event", status: "event", data: {}, raw: null, errors: [], response_errors: [], redacted_paths: ["/data/key"] } as unknown as Frame,
  });
  assert.deepEqual(kinds(redacted), [["redaction", "record", "/data/key"]]);
  const event = item(3, {
    events: [{ cursor: "1", type: "x", event: {}, withheld: true, violations: [{ rule: "schema", path: "/payload", message: "m" }, { rule: "schema", path: "/payload", message: "m" }] }],
  });
  // The pointer of a withheld event leads into what is not here.
  assert.deepEqual(kinds(event), [["violation", "event", undefined], ["withheld", "event", undefined]]);
  const sent = item(3, { events: event.events.map((one) => ({ ...one, withheld: false })) });
  assert.deepEqual(kinds(sent), [["violation", "event", "/payload"]]);
  assert.deepEqual(marksOf(sent).map(({ count }) => count), [2]);
  assert.deepEqual(kinds(item(4)), []);
  const findings = (["redaction", "drift", "invalid_record"] as const).map((kind) => ({ kind, code: kind, message: kind }));
  assert.deepEqual(marksOf(item(5, { findings })).map(({ kind }) => kind), ["invalid_record", "drift", "redaction"], "the worst comes first");
});

test("a pointer into the frame leads into the record", () => {
  assert.equal(pointerIn("data", "/data/a/b"), "/a/b");
  assert.equal(pointerIn("data", "/data"), "");
  assert.equal(pointerIn("data", "/database"), "/database");
  assert.equal(pointerIn("raw", "/data/a"), "");
  assert.equal(pointerIn("event", "/payload"), "/payload");
});

test("the search finds every frame with a mark, and goes on when the run does", async () => {
  let count = 450;
  const marked = (seq: number) => item(seq, seq % 100 === 7 ? { findings: [{ kind: "warning", code: "w", message: "m" }] } : {});
  const load = (after: number, limit: number, signal: AbortSignal) => pages(count, marked).load(after, limit, signal);
  let calls = 0;
  const scan = new FindingScan(load, () => (calls += 1));
  await scan.run();
  assert.deepEqual(scan.found.map(({ seq }) => seq), [7, 107, 207, 307, 407]);
  assert.deepEqual([scan.state, scan.searched], ["done", 450]);
  assert.ok(calls >= 4);
  count = 510;
  await scan.run();
  assert.deepEqual([scan.found.at(-1)?.seq, scan.searched, scan.found.length], [507, 510, 6]);
});

test("next and previous findings are those of the chosen kinds", () => {
  const found = [{ seq: 3, kinds: ["warning"] as MarkKind[] }, { seq: 8, kinds: ["drift"] as MarkKind[] }, { seq: 9, kinds: ["warning", "gap"] as MarkKind[] }];
  const warnings = new Set<MarkKind>(["warning"]);
  assert.equal(nextFound(found, warnings, 3, 1), 9);
  assert.equal(nextFound(found, warnings, 9, -1), 3);
  assert.equal(nextFound(found, warnings, 9, 1), undefined);
});

const options = { toggled: new Set<string>(), whole: new Set<string>(), foldDepth: 10, maxLines: 1_000 };
const textOf = (value: unknown, more: Partial<typeof options> = {}) =>
  jsonLines(value, { ...options, ...more }).lines.map(({ depth, key, text, comma }) => `${"  ".repeat(depth)}${key}${text}${comma ? "," : ""}`).join("\n");

test("an unfolded value is its JSON", () => {
  const value = { a: [1, "x\n", null, true, {}, []], "k\"/~": { b: -0.5 } };
  assert.deepEqual(JSON.parse(textOf(value)), value);
  assert.equal(textOf(value), JSON.stringify(value, null, 2));
  assert.deepEqual(jsonLines(value, options).lines.map(({ pointer }) => pointer).filter((pointer) => pointer.includes("~")), ["/k\"~1~0", "/k\"~1~0/b", "/k\"~1~0"]);
});

test("what is folded is one line, and is opened by its pointer", () => {
  const value = { a: { b: { c: 1 } } };
  assert.equal(textOf(value, { foldDepth: 1 }), '{\n  "a": {…}\n}');
  assert.equal(textOf(value, { foldDepth: 1, toggled: new Set(["/a"]) }), '{\n  "a": {\n    "b": {…}\n  }\n}');
  assert.equal(textOf(value, { toggled: new Set([""]) }), "{…}");
  const many = jsonLines({ list: Array(5_000).fill(0) }, options).lines[1];
  assert.deepEqual([many?.kind, many?.members], ["folded", 5_000]);
});

test("a long text is cut and says how long it is, and lines are limited", () => {
  const long = `${"a".repeat(CUT - 1)}😀 end`;
  const [line] = jsonLines(long, options).lines;
  assert.deepEqual([line?.text.length, line?.cutLength], [CUT + 1, long.length]);
  assert.equal(jsonLines(long, { ...options, whole: new Set([""]) }).lines[0]?.text, JSON.stringify(long));
  const limited = jsonLines({ list: Array(5_000).fill(0) }, { ...options, toggled: new Set(["/list"]), maxLines: 50 });
  assert.deepEqual([limited.lines.length, limited.isCut], [50, true]);
});

test("the ancestors of a pointer", () => {
  assert.deepEqual(ancestors("/a/b/c"), ["", "/a", "/a/b"]);
  assert.deepEqual(ancestors("/a"), [""]);
  assert.deepEqual(ancestors(""), []);
});

test("a summary visits only the beginning of a value", () => {
  assert.equal(compact({ type: "x", run_id: "y", payload: { text: "hi", list: [1, null] } }), 'payload: {text: "hi", list: [1, null]}');
  assert.ok(compact({ payload: "x".repeat(5_000_000) }, 100).length <= 140);
  let deep: unknown = 1;
  for (let level = 0; level < 5_000; level++) deep = [deep];
  assert.ok(compact(deep).length <= 170);
});
