import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../src/api/source";
import { Conversation } from "../src/model/conversation";
import { MOST } from "../src/model/invalid";
import { Rows } from "../src/model/rows";
import { InvalidRecords } from "../src/state/invalid-records";

const record = (seq: number, status = "invalid_json") =>
  ({ seq, timestamp_ms: seq, type: "provider_event", status, raw: `raw ${seq}`, errors: [`not JSON (${seq})`] }) as unknown as Frame;
const log = (seq: number) => ({ seq, timestamp_ms: seq, type: "log_emitted", level: "info", message: `log ${seq}` });
const places = (conversation: Conversation) => conversation.main.items.map((item) => (item.kind === "invalid" ? `${item.seq}x${item.count}` : `${item.seq}`));

test("records that are not valid are between the items where they arrived, those in a row as one", () => {
  const conversation = new Conversation();
  conversation.apply([log(3), log(7), log(9)]);
  conversation.insertInvalid([record(1), record(2, "event"), record(4), record(5), record(8)]);
  conversation.insertInvalid([record(10), record(11)]);
  conversation.apply([log(12)]);
  assert.deepEqual(places(conversation), ["1x1", "3", "4x2", "7", "8x1", "9", "10x2", "12"]);
  const item = conversation.main.items[2];
  assert.ok(item?.kind === "invalid" && item.reason === "not JSON (4)" && item.preview === "raw 4");
});

test("a row that comes between others changes the layout, and only then", () => {
  const conversation = new Conversation();
  const rows = new Rows();
  const options = { root: conversation.main, isClosed: () => false, isHidden: () => false };
  const update = () => {
    rows.update(conversation, options, false);
    return rows.layout;
  };
  conversation.apply([log(0), log(4)]);
  const before = update();
  conversation.insertInvalid([record(2)]);
  const after = update();
  assert.notEqual(after, before);
  assert.deepEqual(rows.list.map(({ item }) => item.seq), [0, 2, 4]); // prettier-ignore
  conversation.insertInvalid([record(3)]);
  conversation.apply([log(5)]);
  assert.equal(update(), after);
  assert.deepEqual(rows.list.map(({ item }) => item.seq), [0, 2, 4, 5]); // prettier-ignore
});

test("a repeated prompt and a plan are recognised although records between are not valid", () => {
  const conversation = new Conversation();
  const plan = (seq: number, content: string) => ({ seq, type: "plan_updated", entries: [{ content, status: "pending" }] });
  conversation.apply([{ seq: 0, type: "session_started", input: "do it" }]);
  conversation.insertInvalid([record(0)]);
  conversation.apply([{ seq: 2, type: "user_message", text: "do it" }, plan(3, "one")]);
  conversation.insertInvalid([record(3)]);
  conversation.apply([plan(5, "two")]);
  assert.deepEqual(conversation.main.items.map(({ kind }) => kind), ["prompt", "invalid", "plan", "invalid"]); // prettier-ignore
  assert.equal(conversation.plan?.entries[0]?.content, "two");
});

test("there is a limit, and the last item says so", () => {
  const conversation = new Conversation();
  const count = MOST + 1_000;
  conversation.apply(Array.from({ length: count }, (_, index) => log(2 * index + 1)));
  for (let at = 0; at < count; at += 500) conversation.insertInvalid(Array.from({ length: 500 }, (_, index) => record(2 * (at + index))));
  const found = conversation.main.items.filter((item) => item.kind === "invalid");
  assert.equal(found.length, MOST);
  assert.deepEqual(found.map((item) => item.isLast).filter(Boolean).length, 1);
  assert.ok(found.at(-1)?.isLast);
});

function searching(records: Frame[], lastSeq: () => number) {
  const found: number[] = [];
  const requests: number[] = [];
  const search = new InvalidRecords(
    async (after, limit) => {
      requests.push(after);
      return records.filter(({ seq }) => seq > after).slice(0, limit);
    },
    lastSeq,
    (frames) => found.push(...frames.map(({ seq }) => seq)),
  );
  return { search, found, requests };
}

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test("the search reads nothing without need, and ends when all are found", async () => {
  const records = Array.from({ length: 3_000 }, (_, seq) => record(seq, seq === 700 || seq === 710 ? "invalid_json" : "event"));
  const { search, found, requests } = searching(records, () => 5_000);
  search.search(0);
  await settled();
  assert.deepEqual(requests, []);
  search.search(2);
  search.search(2);
  await settled();
  assert.deepEqual(found, [700, 710]);
  assert.deepEqual(requests, [-1, 499]);
});

test("the search does not run ahead of the conversation, and goes on with it", async () => {
  const records = Array.from({ length: 100 }, (_, seq) => record(seq, seq % 10 === 0 ? "invalid_json" : "event"));
  let last = 35;
  const { search, found } = searching(records, () => last);
  search.search(10);
  await settled();
  assert.deepEqual(found, [0, 10, 20, 30]);
  last = 1_000;
  search.search(10);
  await settled();
  assert.deepEqual(found, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
});

test("the search ends with the run, although the status counts more than are stored", async () => {
  const { search, found, requests } = searching([record(50, "event"), record(60)], () => 70);
  search.search(9);
  await settled();
  assert.deepEqual(found, [60]);
  assert.deepEqual(requests, [-1, 60]);
});

test("a search that failed or was stopped goes on later", async () => {
  let isFailing = true;
  const found: number[] = [];
  const search = new InvalidRecords(
    async (after) => {
      if (isFailing) throw new Error("no connection");
      return [record(3)].filter(({ seq }) => seq > after);
    },
    () => 10,
    (frames) => found.push(...frames.map(({ seq }) => seq)),
  );
  search.search(1);
  await settled();
  isFailing = false;
  search.search(1);
  search.stop();
  await settled();
  assert.deepEqual(found, []);
  search.search(1);
  await settled();
  assert.deepEqual(found, [3]);
});
