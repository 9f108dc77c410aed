import assert from "node:assert/strict";
import { test } from "node:test";
import type { Connection, Run, RunPage } from "../src/api/source";
import { filterFrom, findingCount, listRows, matches, NO_FILTER, orderFrom, sorted, toQuery, tokensOf } from "../src/views/runs/model";
import { RunStore } from "../src/views/runs/store";

function run(run_id: string, more: Partial<Run> = {}): Run {
  return {
    run_id, session_id: "s1", runner: "codex", state: "completed", started_at_ms: 1_000, updated_at_ms: 2_000, ended_at_ms: 2_000, frames: 5, records: 3,
    invalid_records: 0, records_with_errors: 0, tool_calls: 0, approvals: [], pending_approvals: [], usage: {}, validation_failures: {}, warnings: {}, ...more,
  };
}

test("all words of a search must occur, in any text of a run", () => {
  const one = run("a", { title: "Fix the Login form", model: "gpt-x" });
  assert.ok(matches(one, { ...NO_FILTER, text: "login GPT" }));
  assert.ok(!matches(one, { ...NO_FILTER, text: "login claude" }));
  assert.ok(matches(one, { ...NO_FILTER, text: "  " }));
});

test("filters", () => {
  const waiting = run("a", { state: "waiting_approval", pending_approvals: ["q"], warnings: { w: 2 }, validation_failures: { "sse.v1": 1 } });
  assert.equal(findingCount(waiting), 3);
  assert.ok(matches(waiting, { ...NO_FILTER, isWaiting: true, hasFindings: true, state: "waiting_approval", runner: "codex" }));
  for (const filter of [{ isWaiting: true }, { hasFindings: true }, { state: "failed" as const }, { runner: "opencode" }]) {
    assert.ok(!matches(run("b"), { ...NO_FILTER, ...filter }), JSON.stringify(filter));
  }
});

test("runs without a figure come last in both directions", () => {
  const runs = [run("none"), run("cheap", { usage: { cost_usd: 0.1 } }), run("dear", { usage: { cost_usd: 2 } })];
  const ids = (isAscending: boolean) => sorted(runs, { key: "cost", isAscending }, 0).map(({ run_id }) => run_id);
  assert.deepEqual(ids(true), ["cheap", "dear", "none"]);
  assert.deepEqual(ids(false), ["dear", "cheap", "none"]);
  assert.equal(tokensOf(run("a")), undefined);
  assert.equal(tokensOf(run("a", { usage: { input_tokens: 1, cache_read_tokens: 5 } })), 6);
});

test("runs are grouped under their sessions, in the order of the first run of each", () => {
  const runs = [run("3", { session_id: "b", started_at_ms: 3 }), run("2", { started_at_ms: 2 }), run("1", { session_id: "b", started_at_ms: 1, title: "first" })];
  const shape = (folded: string[]) => listRows(runs, true, new Set(folded)).map((row) => (row.kind === "run" ? row.run.run_id : `${row.name}:${row.runs}`));
  assert.deepEqual(shape([]), ["first:2", "3", "1", "2"]);
  assert.deepEqual(shape(["b"]), ["first:2", "2"]);
});

test("a filter survives in an address", () => {
  const filter = { state: "failed" as const, runner: "codex", hasFindings: true, isWaiting: true, text: "a&b" };
  const order = { key: "cost" as const, isAscending: true };
  const query = toQuery(filter, order, true);
  assert.deepEqual([filterFrom(query), orderFrom(query), query["group"]], [filter, order, "session"]);
  assert.deepEqual(toQuery(NO_FILTER, orderFrom({}), false), {});
  assert.equal(filterFrom({ state: "<script>" }).state, "");
});

/** A proxy with these runs. */
class Proxy {
  requests: string[] = [];
  note: (change: { stream_id: string }) => void = () => {};
  connect: (connection: Connection) => void = () => {};
  constructor(public list: Run[]) {}
  async runs({ limit = 100, skip = 0 }): Promise<RunPage> {
    this.requests.push(`list ${skip}`);
    const data = this.list.slice(skip, skip + limit);
    return { object: "list", data, next_skip: skip + limit < this.list.length ? skip + limit : null };
  }
  async run(id: string): Promise<Run> {
    this.requests.push(id);
    const found = this.list.find(({ run_id }) => run_id === id);
    if (!found) throw Object.assign(new Error("no run"), { status: 404 });
    return found;
  }
  async watchRuns(note: (change: { stream_id: string }) => void, connect: (connection: Connection) => void): Promise<void> {
    this.note = note;
    this.connect = connect;
  }
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("the list is read in pages, and changed runs are read once for many changes", async () => {
  const proxy = new Proxy(Array.from({ length: 450 }, (_, index) => run(`r${index}`, { started_at_ms: 1_000 - index })));
  const store = new RunStore(proxy, () => {});
  store.open();
  await wait(20);
  assert.deepEqual(proxy.requests, ["list 0", "list 200", "list 400"]);
  assert.deepEqual([store.runs.size, store.isComplete, store.isCut], [450, true, false]);
  proxy.requests = [];
  proxy.list[3] = run("r3", { frames: 9, tool_calls: 4 });
  for (let times = 0; times < 100; times++) proxy.note({ stream_id: "r3" });
  proxy.note({ stream_id: "a session" });
  await wait(900);
  assert.deepEqual(proxy.requests, ["r3", "a session"]);
  assert.equal(store.runs.get("r3")?.tool_calls, 4);
  store.close();
});

test("after a lost connection the list is read again, with the runs that were open", async () => {
  const ended = Array.from({ length: 250 }, (_, index) => run(`r${index}`, { started_at_ms: 1_000 - index }));
  const open = run("open", { state: "running", started_at_ms: 1 });
  delete open.ended_at_ms;
  const proxy = new Proxy([...ended, open]);
  const store = new RunStore(proxy, () => {});
  store.open();
  await wait(10);
  proxy.connect({ state: "live" });
  proxy.requests = [];
  proxy.connect({ state: "reconnecting", failures: 1, reason: "gone" });
  proxy.list.unshift(run("new", { started_at_ms: 2_000 }));
  proxy.connect({ state: "connecting" });
  proxy.connect({ state: "live" });
  await wait(900);
  assert.deepEqual(proxy.requests, ["list 0", "open"]);
  assert.ok(store.runs.has("new"));
  proxy.requests = [];
  proxy.connect({ state: "live" });
  await wait(20);
  assert.deepEqual(proxy.requests, []);
  store.close();
});

test("a list that was closed goes on with what it has", async () => {
  const proxy = new Proxy([run("a"), run("b")]);
  const store = new RunStore(proxy, () => {});
  store.open();
  await wait(10);
  store.close();
  proxy.requests = [];
  proxy.list.unshift(run("c", { started_at_ms: 5_000 }));
  store.open();
  assert.equal(store.runs.size, 2);
  proxy.connect({ state: "live" });
  await wait(20);
  assert.deepEqual([proxy.requests, store.runs.size], [["list 0"], 3]);
  store.close();
});

test("an answer that was overtaken changes nothing", async () => {
  const proxy = new Proxy([run("a", { frames: 9 })]);
  const store = new RunStore(proxy, () => {});
  store.open();
  await wait(10);
  proxy.list = [run("a", { frames: 4, tool_calls: 1 })];
  proxy.note({ stream_id: "a" });
  await wait(900);
  assert.equal(store.runs.get("a")?.frames, 9);
  store.close();
});
