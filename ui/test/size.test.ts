import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

/** What a browser loads, in bytes with gzip. */
const BUDGET = 250 * 1024;

test("the page stays small", () => {
  // `npm test` runs in the folder of the page.
  const size = ["index.html", "app.js", "app.css"].reduce((sum, name) => sum + gzipSync(readFileSync(`dist/${name}`)).length, 0);
  assert.ok(size < BUDGET, `${size} bytes`);
});
