import assert from "node:assert/strict";
import { test } from "node:test";
import { partialObject } from "../src/model/partial-json";
import { foldTool, kindOfName, newCall, shownArgs } from "../src/model/tools";
import type { ToolItem } from "../src/model/items";

const OBJECTS: Record<string, unknown>[] = [
  { command: 'echo "a\\b" && printf \'%s\\n\' "\u{1f600} ü \u0007"', timeout: 12_000, nested: { list: [1, -2.5e3, true, null, "x"], empty: {}, none: [] } },
  { file_path: "/tmp/a.rs", content: "fn main() {\n\t\"\u2028\"\n}\n", edits: [{ old_string: "a", new_string: "" }, { old_string: "b" }] },
  JSON.parse('{"__proto__": {"isAdmin": true}, "constructor": "x", "": "empty"}'),
  {},
];

/** Whether a value may become another one as its text goes on. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (Array.isArray(part)) return Array.isArray(whole) && part.every((item, index) => isBeginning(item, whole[index]));
  if (typeof part !== "object" || part === null) return part === whole;
  return Object.entries(part).every(([key, value]) => Object.hasOwn(whole as object, key) && isBeginning(value, (whole as Record<string, unknown>)[key]));
}

test("each beginning of an object gives a beginning of its values, and the whole text all of them", () => {
  for (const whole of OBJECTS) {
    for (const text of [JSON.stringify(whole), JSON.stringify(whole, undefined, 2), JSON.stringify(whole).replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)]) {
      let size = -1;
      for (let end = text.indexOf("{") + 1; end <= text.length; end += 1) {
        const part = partialObject(text.slice(0, end));
        assert.ok(part !== undefined && isBeginning(part, whole), `${text.slice(0, end)} gives ${JSON.stringify(part)}`);
        const length = JSON.stringify(part).length;
        assert.ok(length >= size, "what was there stays");
        size = length;
      }
      assert.deepEqual(partialObject(text), whole);
    }
  }
});

test("a text that grows is there as far as it was written", () => {
  assert.deepEqual(partialObject('{"command": "git sta'), { command: "git sta" });
  assert.deepEqual(partialObject('{"command": "one\\ntwo\\u00'), { command: "one\ntwo" });
  assert.deepEqual(partialObject('{"command": "a\\\\'), { command: "a\\" });
  assert.deepEqual(partialObject('{"command": "\\ud83d'), { command: "" });
  assert.deepEqual(partialObject('{"a": 12'), {});
  assert.deepEqual(partialObject('{"a": 12,'), { a: 12 });
  assert.deepEqual(partialObject('{"com'), {});
  assert.deepEqual(partialObject(' {"a": "line\nbreak\\t'), { a: "line\nbreak\t" });
});

test("what is no beginning of an object is nothing, and nothing is polluted", () => {
  for (const text of ["", " ", "x", "[1", '"a"', '{"a" "b"', "{a", '{"a":}', '{"a":1}x', '{"a":tru,', '{"a":"\\q', "{,", '{"a":1 2', '{"a":[1}']) assert.equal(partialObject(text), undefined, text);
  assert.equal(partialObject(`{"a":${"[".repeat(100_000)}`), undefined);
  const part = partialObject('{"__proto__": {"isAdmin": true}, "x": "');
  assert.equal((part as { isAdmin?: boolean }).isAdmin, undefined);
  assert.equal(Object.hasOwn(part ?? {}, "__proto__"), true);
});

test("a long text is read in a time that grows with its length only", () => {
  const begun = performance.now();
  const line = 'a line of \\"text\\"\\n';
  const part = partialObject(`{"content": "${line.repeat(100_000)}`);
  assert.equal((part?.["content"] as string).length, 100_000 * 17);
  assert.ok(performance.now() - begun < 1_000);
});

test("a call that is written is of the kind that its name says, and its arguments can be read", () => {
  const tool = { kind: "tool", id: "0", seq: 0, at: 0, version: 0, ...newCall("t") } as ToolItem;
  for (const delta of ['{"comm', 'and": "cargo te', "st --lo"]) {
    foldTool(tool, "tool_input_delta", { name: "Bash", delta }, 1);
    tool.version += 1;
  }
  assert.equal(tool.state, "writing");
  assert.equal(tool.toolKind, "shell");
  assert.deepEqual(shownArgs(tool), { command: "cargo test --lo" });
  foldTool(tool, "tool_input_delta", { name: "Bash", delta: 'cked"}' }, 1);
  assert.deepEqual(shownArgs(tool), { command: "cargo test --locked" });
  foldTool(tool, "tool_call_proposed", { name: "Bash", kind: "other", args: { command: "x" } }, 2);
  assert.equal(tool.toolKind, "other");
  assert.deepEqual(shownArgs(tool), { command: "x" });
});

test("arguments that are no JSON are shown as they are", () => {
  const tool = { kind: "tool", id: "0", seq: 0, at: 0, version: 0, ...newCall("t") } as ToolItem;
  foldTool(tool, "tool_input_delta", { name: "apply_patch", delta: "*** Begin Patch" }, 1);
  assert.equal(shownArgs(tool), "*** Begin Patch");
  assert.equal(tool.toolKind, "edit");
});

test("names of tools in the forms of all runners", () => {
  const kinds = { Bash: "shell", exec_command: "shell", Read: "read", read_file: "read", MultiEdit: "edit", apply_patch: "edit", Write: "write", Grep: "search", webfetch: "fetch", TodoWrite: "plan", Task: "subagent", mcp__files__read: "mcp", anything: "other", constructor: "other", "": "other" };
  for (const [name, kind] of Object.entries(kinds)) assert.equal(kindOfName(name), kind, name);
});
