import assert from "node:assert/strict";
import { test } from "node:test";
import { ExactNumber, kept, parseExact } from "../src/api/exact";
import { compact, jsonLines } from "../src/model/trace-json";

test("a number that JavaScript would spell in another way is kept", () => {
  assert.equal(String(kept(12345678901234567000, "12345678901234567890")), "12345678901234567890");
  assert.equal(String(kept(1, "1.0")), "1.0");
  assert.equal(kept(1.5, "1.5"), 1.5);
  assert.equal(kept(7, undefined), 7);
  assert.equal(kept("1.0", '"1.0"'), "1.0");
});

test("it is shown as it is spelled", () => {
  const value = { id: new ExactNumber("12345678901234567890"), list: [new ExactNumber("1.0")] };
  const { lines } = jsonLines(value, { toggled: new Set(), whole: new Set(), foldDepth: 9, maxLines: 99 });
  assert.deepEqual(lines.filter(({ kind }) => kind === "number").map(({ text }) => text), ["12345678901234567890", "1.0"]);
  assert.equal(compact({ n: new ExactNumber("1e2") }), "n: 1e2");
});

test("what needs no exactness is read as usual", () => {
  assert.deepEqual(parseExact('{"a":[1,2.5,"x",null,true]}'), { a: [1, 2.5, "x", null, true] });
});
