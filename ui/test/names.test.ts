import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

test("the names of all sources are in one style", () => {
  // `npm test` runs in the folder of the page.
  const names = ["src", "test"].flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.parentPath.includes("fixtures")));
  assert.ok(names.length > 100, `${names.length} names`);
  assert.deepEqual(names.map(({ name }) => name).filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(name)), []); // prettier-ignore
});
