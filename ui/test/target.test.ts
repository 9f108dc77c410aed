import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../src/model/rows";
import { rowOf, targetOf } from "../src/views/conversation/target";

const row = (kind: string, seq: number, more = {}) => ({ item: { kind, seq, ...more }, depth: 0 }) as unknown as Row;
const rows = [row("prompt", 0), row("turn", 2), row("tool", 5, { toolId: "a" }), row("text", 9), row("tool", 7, { toolId: "b" })];

test("a call is brought into view by its id", () => {
  assert.equal(rowOf({ toolId: "b" }, rows, 20), 4);
  assert.equal(rowOf({ toolId: "unknown" }, rows, 20), undefined);
});

test("a frame is brought into view by the item that began last before it, once it was read", () => {
  assert.equal(rowOf({ seq: 8 }, rows, 20), 4);
  assert.equal(rowOf({ seq: 3 }, rows, 20), 0);
  assert.equal(rowOf({ seq: 100 }, rows, 20), undefined);
  assert.equal(rowOf({ seq: 20 }, rows, 20), 3);
  assert.equal(rowOf({ seq: 1 }, rows.slice(2), 20), 0);
  assert.equal(rowOf({ seq: 1 }, [], 20), undefined);
});

test("only numbers are frames", () => {
  assert.deepEqual(targetOf(undefined, "12"), { seq: 12 });
  assert.equal(targetOf(undefined, "1e3"), undefined);
  assert.deepEqual(targetOf("t", "12"), { toolId: "t" });
});
