import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Conversation } from "../src/model/conversation";
import type { Item, Thread, ToolItem } from "../src/model/items";
import { contains } from "../src/model/search";

type AnyFrame = Record<string, unknown> & { seq: number; type: string };

// `npm test` runs in the folder of the page.
const FIXTURES = "test/fixtures";
const RECORDINGS = "../tests/fixtures";

function read(path: string): AnyFrame[] {
  return parse(readFileSync(path, "utf8"));
}

function parse(text: string): AnyFrame[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AnyFrame);
}

function fold(frames: readonly unknown[]): Conversation {
  const conversation = new Conversation();
  conversation.apply(frames);
  return conversation;
}

function* allItems(conversation: Conversation): Generator<Item> {
  const threads: Thread[] = [conversation.main];
  for (const tool of conversation.tools.values()) if (tool.thread !== undefined) threads.push(tool.thread);
  for (const thread of threads) yield* thread.items;
}

/** All that a conversation says, without what depends on how the frames arrived. */
function picture(conversation: Conversation): unknown {
  const of = (thread: Thread): unknown =>
    thread.items.map((item) => {
      const { version: _, ...rest } = item;
      if (rest.kind !== "tool") return rest;
      const { output, thread: own, ...more } = rest;
      return { ...more, output: output.text(), omitted: output.omitted, thread: own === undefined ? undefined : of(own) };
    });
  return { main: of(conversation.main), usage: conversation.usage, open: conversation.openApprovals, lastSeq: conversation.lastSeq };
}

function frame(seq: number, type: string, more: object = {}): AnyFrame {
  return { id: `f${seq}`, stream_kind: "session", stream_id: "s", session_id: "s", seq, timestamp_ms: 1_000 + seq, type, ...more };
}

/** What holds for every recording of a run that ended. */
function check(name: string, frames: AnyFrame[]): void {
  const conversation = fold(frames);
  assert.equal(conversation.unknownFrames, 0, `${name}: all types are known`);

  // Each whole text that frames report is the text of an item.
  for (const [type, kind] of [["output_text_completed", "text"], ["reasoning_completed", "reasoning"]] as const) {
    const reported = frames.filter((one) => one.type === type && one["text"] !== "").map((one) => String(one["text"]));
    const shown = [...allItems(conversation)].flatMap((item) => (item.kind === kind ? [item.text] : [])).filter((text) => text !== "");
    assert.deepEqual(shown.sort(), reported.sort(), `${name}: ${type}`);
  }
  // What a tool printed is there once, in order.
  for (const [toolId, tool] of conversation.tools) {
    const pieces: string[] = [];
    for (const one of frames.filter((two) => two["tool_id"] === toolId && (two.type === "tool_stdout" || two.type === "tool_stderr"))) {
      if (one["position"] === "front") pieces.unshift(String(one["chunk"]));
      else pieces.push(String(one["chunk"]));
    }
    if (tool.output.omitted === 0) assert.equal(tool.output.text(), pieces.join(""), `${name}: output of ${toolId}`);
  }
  const ended = frames.find((one) => one.type === "session_ended");
  if (ended !== undefined && frames[0]?.type === "session_started") {
    assert.equal(conversation.end?.reason, ended["reason"], name);
    for (const tool of conversation.tools.values()) {
      // A call that the client of the model is to run never starts here.
      const wasStarted = frames.some((one) => one.type === "tool_started" && one["tool_id"] === tool.toolId);
      assert.ok(!wasStarted || ["ended", "failed"].includes(tool.state), `${name}: ${tool.name} is ${tool.state} after the end`);
    }
    assert.deepEqual(conversation.openApprovals, [], `${name}: no question stays open`);
    const items = [...allItems(conversation)];
    assert.ok(items.every((item) => item.kind !== "text" || item.isDone), `${name}: every text is done`);
  }

  // Frame by frame, in pieces of any size, and with repetitions: the same conversation.
  const whole = JSON.stringify(picture(conversation));
  for (const size of [1, 3, 17]) {
    const pieces = new Conversation();
    for (let at = 0; at < frames.length; at += size) pieces.apply(frames.slice(Math.max(0, at - 2), at + size));
    assert.equal(JSON.stringify(picture(pieces)), whole, `${name}: in pieces of ${size}`);
  }
}

for (const name of readdirSync(FIXTURES)) {
  test(`a recorded run: ${name}`, () => check(name, read(join(FIXTURES, name))));
}

const framegate = process.env["FRAMEGATE"];
test("every recording of the repository", { skip: framegate === undefined && "FRAMEGATE is not set" }, () => {
  let count = 0;
  for (const runner of readdirSync(RECORDINGS)) {
    for (const file of readdirSync(join(RECORDINGS, runner))) {
      if (!/\.(ndjson|jsonl|sse|json)$/.test(file) || file === "MANIFEST.json") continue;
      const path = join(RECORDINGS, runner, file);
      // Recordings with bad records have frames, and an exit code that says so.
      const { stdout } = spawnSync(String(framegate), ["translate", "--from", "auto", "--to", "frames.v2", path], { encoding: "utf8", maxBuffer: 1 << 28 });
      // A recording may have several runs, and the streams of tasks beside them.
      const streams = new Map<unknown, AnyFrame[]>();
      for (const one of parse(stdout)) streams.set(one["stream_id"], [...(streams.get(one["stream_id"]) ?? []), one]);
      for (const frames of streams.values()) check(path, frames);
      count += streams.size;
    }
  }
  assert.ok(count > 300, `${count} streams`);
});

test("the golden frames have no type that is unknown", () => {
  const frames = read("../schemas/frames/v2/golden.ndjson").map((one, index) => ({ ...one, seq: index }));
  const conversation = fold(frames);
  assert.equal(conversation.unknownFrames, 0);
  assert.equal(conversation.frames, frames.length);
});

test("a subagent has its own thread below the call that started it", () => {
  const conversation = fold(read(join(FIXTURES, "opencode-event-subagent.ndjson")));
  const call = conversation.main.items.find((item): item is ToolItem => item.kind === "tool");
  assert.equal(call?.toolKind, "subagent");
  assert.deepEqual(call?.thread?.items.map((item) => item.kind), ["prompt", "tool", "text"]);
  assert.equal(call?.subagents[0]?.status, "completed");
  assert.equal(conversation.main.items.filter((item) => item.kind === "tool").length, 1);
});

test("a prompt that the runner repeats is shown once", () => {
  const conversation = fold([
    frame(0, "session_started", { input: "Fix it" }),
    frame(1, "log_emitted", { level: "info", message: "hello" }),
    frame(2, "user_message", { message_id: "m", text: "Fix it", attachments: [{ kind: "image", mime: "image/png", artifact_id: "sha256:1", name: null, bytes: 3 }] }),
    frame(3, "user_message", { message_id: "n", text: "And this", attachments: [] }),
  ]);
  const prompts = conversation.main.items.filter((item) => item.kind === "prompt");
  assert.deepEqual(prompts.map((item) => item.text), ["Fix it", "And this"]);
  assert.equal(prompts[0]?.attachments[0]?.artifactId, "sha256:1");
});

test("a question is open until it is answered, and is not doubled when it is repeated", () => {
  const asked = frame(4, "approval_requested", { approval_id: "a", tool_id: "t", tool_name: "Bash", args: { command: "rm x" }, reason: null });
  const conversation = fold([frame(0, "session_started", { input: "x" }), frame(3, "tool_call_proposed", { tool_id: "t", call_id: "c", name: "Bash", kind: "shell", args: {} }), asked]);
  assert.equal(conversation.openApprovals.length, 1);
  assert.equal(conversation.tools.get("t")?.approvals.length, 1);
  conversation.apply([asked]);
  assert.equal(conversation.openApprovals.length, 1);
  const before = conversation.tools.get("t")?.version ?? 0;
  conversation.apply([frame(5, "approval_resolved", { approval_id: "a", decision: "rejected", by: "ann", reason: "no", scope: null })]);
  assert.deepEqual(conversation.openApprovals, []);
  assert.equal(conversation.approvals.get("a")?.decision?.by, "ann");
  assert.ok((conversation.tools.get("t")?.version ?? 0) > before, "the card is drawn again");
});

test("a question from before the frames that are still stored is shown", () => {
  const conversation = new Conversation();
  conversation.apply([frame(50, "gap_detected", { first_seq: 0, last_seq: 49, reason: "pruned" }), frame(51, "output_text_delta", { message_id: "m", block_index: 0, delta: "x" })]);
  conversation.apply([frame(7, "approval_requested", { approval_id: "a", tool_id: null, tool_name: "Bash", args: {}, reason: null })]);
  assert.equal(conversation.openApprovals.length, 1);
  assert.equal(conversation.lastSeq, 51);
});

test("an approval without a call that is known is an item of its own, and changes when it is answered", () => {
  const conversation = fold([frame(0, "approval_requested", { approval_id: "a", tool_id: "unknown", tool_name: "x", args: "not an object", reason: "because" })]);
  const item = conversation.main.items[0];
  assert.equal(item?.kind, "approval");
  const before = item?.version ?? 0;
  conversation.apply([frame(1, "approval_resolved", { approval_id: "a", decision: "timed_out", by: null, reason: null, scope: null })]);
  assert.ok((item?.version ?? 0) > before);
});

test("an output in pieces before others is put together in its order", () => {
  const conversation = fold([
    frame(0, "tool_started", { tool_id: "t", call_id: "c", name: "exec", kind: "shell", args: {}, timeout_ms: null }),
    frame(1, "tool_stdout", { tool_id: "t", call_id: "c", chunk: "two\n" }),
    frame(2, "tool_stdout", { tool_id: "t", call_id: "c", chunk: "one\n", position: "front" }),
    frame(3, "tool_stderr", { tool_id: "t", call_id: "c", chunk: "three\n" }),
  ]);
  const output = conversation.tools.get("t")?.output;
  assert.equal(output?.text(), "one\ntwo\nthree\n");
  assert.deepEqual(output?.head.map((piece) => piece.stream), ["stdout", "stderr"]);
});

test("usage: turns are added until the run has its own total, and nothing that was not reported is 0", () => {
  const conversation = fold([
    frame(0, "turn_started", { turn_index: 0, model: "m1" }),
    frame(1, "usage_reported", { scope: "turn", model: "m1", input_tokens: 10, output_tokens: 2, cache_read_tokens: null, cost_usd: null }),
    frame(2, "turn_ended", { turn_index: 0, stop_reason: "end_turn", duration_ms: 5 }),
    frame(3, "turn_started", { turn_index: 1, model: null }),
    frame(4, "usage_reported", { scope: "turn", model: null, input_tokens: 1, output_tokens: 1, cache_read_tokens: 7 }),
  ]);
  assert.deepEqual(conversation.usage, { input_tokens: 11, output_tokens: 3, cache_read_tokens: 7 });
  assert.deepEqual(conversation.main.items.map((item) => item.kind), ["turn"]);
  conversation.apply([
    frame(5, "usage_reported", { scope: "run", input_tokens: 12, output_tokens: 4, cost_usd: 0.5 }),
    frame(6, "session_ended", { reason: "interrupted", final_text: null, error_code: null, message: null }),
  ]);
  assert.deepEqual(conversation.usage, { input_tokens: 12, output_tokens: 4, cost_usd: 0.5 });
  assert.deepEqual(conversation.main.items.map((item) => item.kind), ["turn", "turn", "end"], "what an unfinished turn used is shown too");
});

test("frames that are not what they should be are tolerated", () => {
  const odd: unknown[] = [
    null, 7, "text", [], {}, { type: "output_text_delta" }, { type: 9, seq: "x" }, frame(20, "from_the_future", { x: 1 }),
    frame(21, "output_text_delta", { delta: 5 }), frame(22, "tool_stdout", { tool_id: null, chunk: {} }), frame(23, "tool_stdout", { tool_id: "t" }),
    frame(24, "tool_ended", { tool_id: "never started", exit_code: "0", artifacts: { artifact_refs: [null, 1, {}, { artifact_id: "a" }] } }),
    frame(25, "plan_updated", { entries: "none" }), frame(26, "plan_updated", { entries: [null, { content: 1 }] }),
    frame(27, "approval_requested", { approval_id: "", args: [] }), frame(28, "approval_resolved", { approval_id: "unknown" }),
    frame(29, "subagent_started", {}), frame(30, "subagent_ended", { subagent_id: "unknown" }), frame(31, "usage_reported", { scope: "turn", input_tokens: Number.NaN }),
    frame(32, "user_message", { text: null, attachments: {} }), frame(33, "gap_detected"), frame(34, "artifact_written", { kind: 1 }),
    frame(35, "turn_ended", {}), frame(36, "session_ended", {}), frame(37, "file_changed", {}), frame(38, "tool_started", { tool_id: "__proto__", args: null }),
    frame(39, "output_text_delta", { parent_tool_id: "__proto__", delta: "x", message_id: "constructor" }),
    // A call within itself, and two within each other.
    frame(40, "tool_started", { tool_id: "self", parent_tool_id: "self", args: {} }), frame(41, "tool_started", { tool_id: "one", parent_tool_id: "two", args: {} }),
    frame(42, "tool_started", { tool_id: "two", parent_tool_id: "one", args: {} }),
  ]; // prettier-ignore
  const conversation = fold(odd);
  assert.equal(conversation.lastSeq, 42);
  assert.ok(conversation.unknownFrames >= 6);
  for (const item of allItems(conversation)) assert.equal(contains(item, "no item says this"), false);
});

test("a frame costs the same in a long conversation", () => {
  const conversation = new Conversation();
  const part = (from: number, count: number) => Array.from({ length: count }, (_, index) => frame(from + index, "output_text_delta", { message_id: `m${Math.floor((from + index) / 50)}`, block_index: 0, delta: "word " }));
  const time = (from: number) => {
    const frames = part(from, 20_000);
    const start = performance.now();
    conversation.apply(frames);
    return performance.now() - start;
  };
  time(0);
  const early = time(20_000);
  for (let at = 40_000; at < 300_000; at += 20_000) time(at);
  const late = time(300_000);
  assert.ok(late < early * 8 + 50, `${early} ms, later ${late} ms`);
});

test("a file appears once: with what names it, or alone if nothing does", () => {
  const conversation = fold([
    frame(0, "turn_started", { turn_index: 0, model: "m" }),
    frame(1, "tool_started", { tool_id: "t", call_id: "c", name: "Read", kind: "read", args: {}, timeout_ms: null }),
    frame(2, "artifact_written", { artifact_id: "sha256:a", kind: "image", bytes: 3, digest: "sha256:a", preview: null }),
    frame(3, "tool_ended", { tool_id: "t", call_id: "c", exit_code: 0, duration_ms: 1, artifacts: { artifact_refs: [{ artifact_id: "sha256:a", kind: "image", mime: "image/png", bytes: 3 }] } }),
    frame(4, "artifact_written", { artifact_id: "sha256:b", kind: "image", bytes: 3, digest: "sha256:b", preview: null }),
    frame(5, "turn_ended", { turn_index: 0, stop_reason: "end_turn", duration_ms: 0 }),
    frame(6, "artifact_written", { artifact_id: "sha256:c", kind: "image", bytes: 3, digest: "sha256:c", preview: null }),
    frame(7, "user_message", { message_id: "m", text: "Look", attachments: [{ kind: "image", mime: "image/png", artifact_id: "sha256:c", name: null, bytes: 3 }] }),
    frame(8, "session_ended", { reason: "completed", final_text: null, error_code: null, message: null }),
  ]);
  const alone = conversation.main.items.flatMap((item) => (item.kind === "artifact" ? [item.artifact.artifactId] : []));
  assert.deepEqual(alone, ["sha256:b"]);
  assert.equal(conversation.main.items.filter((item) => item.kind === "turn").length, 0, "a turn that used nothing has no line");
});
