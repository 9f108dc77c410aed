import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAnsi } from "../src/components/ansi-text";
import { changedPart, compare, counts, pairs, parseUnified } from "../src/components/diff-text";
import { highlight, type Node } from "../src/components/highlight";
import { decodeEntities, pieces, safeLink } from "../src/components/markdown-text";
import { visible } from "../src/components/visible";

const plain = (text: string) => parseAnsi(text).map((span) => span.text).join("");

test("colours of a terminal become classes, and nothing else of its control sequences is left", () => {
  assert.deepEqual(parseAnsi("a\u001b[1;31mb\u001b[0mc"), [
    { text: "a", classes: "" },
    { text: "b", classes: "ansi-bold ansi-1" },
    { text: "c", classes: "" },
  ]);
  assert.equal(plain("\u001b]0;title\u0007x\u001b[2J\u001b[10;10Hy\u001b(Bz\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\"), "xyzlink");
  assert.equal(plain("bell\u0007 nul\u0000 c1\u009b31m"), "bell nul c131m");
  assert.deepEqual(parseAnsi("\u001b[38;2;255;0;0mred\u001b[48;5;21mblue"), [
    { text: "red", classes: "ansi-9" },
    { text: "blue", classes: "ansi-bg-12" },
  ]);
  assert.equal(plain("\u001b]never ended"), "");
  assert.equal(plain("\u001b"), "");
});

test("a carriage return starts its line again", () => {
  assert.equal(plain("10%\r20%\r100%\ndone"), "100%\ndone");
  assert.equal(plain("a\r\nb\r\n"), "a\nb\n");
  assert.equal(plain("kept\r"), "kept");
  assert.equal(plain("one\n\u001b[32m50%\u001b[0m\r\u001b[32m99%\u001b[0m"), "one\n99%");
});

test("a text of many sequences is parsed in time that grows with its length", () => {
  const start = performance.now();
  parseAnsi("\u001b[".repeat(100_000) + "\u001b]".repeat(100_000) + "\u001b[1;2;3;4;5m x\r".repeat(50_000));
  assert.ok(performance.now() - start < 3_000);
});

test("characters that hide are written out", () => {
  assert.equal(visible("rm \u202e/*\u2066"), "rm ‹U+202E›/*‹U+2066›");
  assert.equal(visible("tab\tline\nesc\u001b nul\u0000 del\u007f"), "tab\tline\nesc␛ nul␀ del␡");
  assert.equal(visible("עברית العربية\u200f"), "עברית العربية\u200f");
});

test("markdown is cut between its parts, never within a fence or a list", () => {
  const text = "A\nb\n\nC\n\n```js\nx\n\ny\n```\n\n- one\n\n- two\n\n  more\n\nEnd\n";
  assert.deepEqual(pieces(text), ["A\nb\n\n", "C\n\n", "```js\nx\n\ny\n```\n\n- one\n\n- two\n\n  more\n\n", "End\n"]);
  for (const sample of [text, "", "\n\n\n", "```\nnever closed\n\nx", "~~~\n```\n\na\n~~~\n\nb", "a\n\n\n\nb"]) assert.equal(pieces(sample).join(""), sample);
});

test("what was cut stays as it is while the text grows", () => {
  const text = "One\n\nTwo\n\n```\ncode\n\nmore\n```\n\nThree\n\n1. a\n\n2. b\n\nFour";
  for (let length = 1; length < text.length; length += 1) {
    const before = pieces(text.slice(0, length));
    const after = pieces(text);
    // The last two may still grow together: `1` may become `1.`
    const stable = Math.max(0, before.length - 2);
    assert.deepEqual(after.slice(0, stable), before.slice(0, stable), `after ${length} characters`);
  }
});

test("links lead to the web and to mail only", () => {
  for (const bad of ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "#/runs", "/v1/runs", "//evil.example", "blob:x", "java\nscript:alert(1)", "http:evil", ""]) {
    assert.equal(safeLink(bad), undefined, bad);
  }
  assert.equal(safeLink("https://example.com/a b"), "https://example.com/a%20b");
  assert.equal(safeLink("MAILTO:ann@example.com"), "mailto:ann@example.com");
  assert.equal(safeLink(decodeEntities("javascript&#58;alert(1)")), undefined);
  assert.equal(safeLink(`https://example.com/${"x".repeat(5_000)}`), undefined);
});

test("character references are decoded once", () => {
  assert.equal(decodeEntities("a &lt;b&gt; &amp;amp; &#x41;&#66; &nope; &#0; &#xD800; &constructor;"), "a <b> &amp; AB &nope; \ufffd \ufffd &constructor;");
});

test("a unified diff has lines with their numbers", () => {
  const lines = parseUnified("--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ here\n same\n-old\n+new\n+more\n--- not a header\n\\ No newline at end of file\n");
  assert.deepEqual(lines.map(({ kind, before, after }) => [kind, before, after]), [
    ["hunk", undefined, undefined],
    ["same", 3, 3],
    ["delete", 4, undefined],
    ["add", undefined, 4],
    ["add", undefined, 5],
    ["delete", 5, undefined],
    ["note", undefined, undefined],
  ]);
  assert.deepEqual(counts(lines), { added: 2, deleted: 2 });
  assert.deepEqual(parseUnified("no diff at all"), [{ kind: "note", text: "no diff at all", before: undefined, after: undefined }]);
});

test("two texts are compared line by line", () => {
  const lines = compare("a\nb\nc\nd", "a\nx\nc\nd\ne");
  assert.deepEqual(lines.map(({ kind, text }) => `${kind} ${text}`), ["same a", "delete b", "add x", "same c", "same d", "add e"]);
  const rebuilt = (kind: string) => lines.filter((line) => line.kind === "same" || line.kind === kind).map((line) => line.text).join("\n");
  assert.equal(rebuilt("delete"), "a\nb\nc\nd");
  assert.equal(rebuilt("add"), "a\nx\nc\nd\ne");
  const long = Array.from({ length: 2_000 }, (_, index) => `line ${index}`).join("\n");
  const start = performance.now();
  assert.equal(counts(compare(long, long.replaceAll("line", "row"))).added, 2_000);
  assert.ok(performance.now() - start < 2_000);
  assert.deepEqual(compare("", "a"), [{ kind: "add", text: "a", before: undefined, after: 1 }]);
});

test("deleted lines are beside the lines that replace them", () => {
  const rows = pairs(compare("a\nb\nc", "a\nx\ny\nc"));
  assert.deepEqual(rows.map(({ left, right }) => [left?.text, right?.text]), [["a", "a"], ["b", "x"], [undefined, "y"], ["c", "c"]]);
  assert.deepEqual(changedPart("const a = 1;", "const b = 1;"), { start: 6, end: 5 });
  assert.equal(changedPart("completely", "different!"), undefined);
});

test("colours of code keep its text", () => {
  const textOf = (node: Node | string): string => (typeof node === "string" ? node : node.children.map(textOf).join(""));
  const code = 'export function f(a: string): number {\n  return `<b>${a}</b>`.length; // "x"\n}\n';
  const tree = highlight(code, "ts");
  assert.ok(tree !== undefined);
  assert.equal(textOf(tree), code);
  assert.equal(highlight("x", "no such language"), undefined);
  assert.equal(highlight("x", "constructor"), undefined);
  const deep = "${".repeat(500);
  const odd = highlight(`\`${deep}`, "js");
  assert.equal(odd === undefined ? `\`${deep}` : textOf(odd), `\`${deep}`);
});
