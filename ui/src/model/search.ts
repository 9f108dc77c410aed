// Finds items by what they say.
import type { Item } from "./items";
import { commandOf, summaryOf } from "./summary";

/** The texts of an item, joined. */
export function textOf(item: Item): string {
  switch (item.kind) {
    case "prompt":
    case "text":
    case "reasoning":
      return item.text;
    case "tool": {
      const { verb, subject } = summaryOf(item);
      const args = typeof item.args === "string" ? item.args : JSON.stringify(item.args);
      const info = item.subagents.map((subagent) => `${subagent.task ?? ""}\n${subagent.summary ?? ""}`);
      const changes = item.changes.map((change) => `${change.path}\n${change.diff ?? ""}`);
      return [item.name, verb, subject, commandOf(item.args), args, item.output.text(), item.error ?? "", ...info, ...changes].join("\n");
    }
    case "approval": {
      const { toolName, args, reason } = item.approval;
      return [toolName, typeof args === "string" ? args : JSON.stringify(args), reason ?? ""].join("\n");
    }
    case "plan":
      return item.entries.map((entry) => entry.content).join("\n");
    case "error":
      return `${item.code}\n${item.message}`;
    case "notice":
      return `${item.title}\n${item.detail ?? ""}`;
    case "artifact":
      return `${item.artifact.kind}\n${item.preview ?? ""}`;
    case "gap":
      return item.reason;
    case "invalid":
      return `${item.reason}\n${item.preview}`;
    case "turn":
      return item.turn.model ?? "";
    case "end":
      return `${item.reason}\n${item.errorCode ?? ""}\n${item.message ?? ""}`;
  }
}

/** Whether an item contains the words, in any case. `needle` is in lower case. */
export function contains(item: Item, needle: string): boolean {
  return needle !== "" && textOf(item).toLowerCase().includes(needle);
}
