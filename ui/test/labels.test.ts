import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLabels } from "../src/views/start/labels";

test("labels are pairs with commas between them", () => {
  assert.deepEqual(parseLabels("team:web, ticket: ABC:7 ,"), { team: "web", ticket: "ABC:7" });
  assert.deepEqual(parseLabels("  "), {});
});

test("what is no label is named", () => {
  for (const [text, part] of [["team", "team"], [":x", ":x"], ["a:", "a:"], ["a b:c", "a b"], ["a:1,a:2", "twice"]] as const) {
    const found = parseLabels(text);
    assert.ok(typeof found === "string" && found.includes(part), `${text}: ${JSON.stringify(found)}`);
  }
});
