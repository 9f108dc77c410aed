// What a tool call does, in one line.
import type { ToolItem } from "./items";
import { field, isObject, list, text, texts } from "./read";

export interface Summary {
  /** What is done, if the tool's name does not say it well. */
  verb: string;
  /** With what: a command, a path, an address. */
  subject: string;
  /** Whether the subject is code, a path or the like. */
  isCode: boolean;
}

const LONGEST = 400;

type Args = ToolItem["args"];

export function summaryOf(tool: Pick<ToolItem, "toolKind" | "name" | "args" | "changes" | "subagents">): Summary {
  const { args, name } = tool;
  switch (tool.toolKind) {
    case "shell":
      return code("", commandOf(args) || text(args, "description") || "");
    case "read":
      return code("Read", pathOf(args) ?? "");
    case "write":
      return code("Write", pathOf(args) ?? tool.changes[0]?.path ?? "");
    case "edit":
      return code("Edit", tool.changes.map((change) => change.path).join(", ") || pathOf(args) || filesOf(args).join(", "));
    case "search": {
      const what = text(args, "pattern") ?? text(args, "query") ?? texts(args, "queries").join(", ");
      const where = text(args, "path") ?? text(args, "include") ?? text(args, "glob");
      return code("Search", where ? `${what}  in ${where}` : what);
    }
    case "fetch":
      return code("Fetch", text(args, "url") ?? text(args, "query") ?? "");
    case "subagent": {
      const info = tool.subagents[0];
      const task = text(args, "description") ?? info?.task ?? text(args, "task_name") ?? text(args, "prompt") ?? "";
      return { verb: text(args, "subagent_type") ?? info?.agent ?? "Subagent", subject: oneLine(task), isCode: false };
    }
    case "plan":
      return { verb: name || "Plan", subject: oneLine(text(args, "subject") ?? text(args, "description") ?? text(args, "status") ?? ""), isCode: false };
    default:
      return code(mcpName(name), argsLine(args));
  }
}

/** `mcp__server__tool` as `server · tool`. */
function mcpName(name: string): string {
  const [, server, tool] = /^mcp__([^_]+(?:_[^_]+)*)__(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? name || "Tool" : `${server} · ${tool}`;
}

/** The command of a shell call: a text, or words. */
export function commandOf(args: Args): string {
  for (const key of ["command", "cmd", "script"]) {
    const value = field(args, key);
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return value.filter((word) => typeof word === "string").join(" ");
  }
  return "";
}

export function pathOf(args: Args): string | undefined {
  return text(args, "file_path") ?? text(args, "filePath") ?? text(args, "path") ?? text(args, "notebook_path");
}

function filesOf(args: Args): string[] {
  return list(args, "files").flatMap((file) => text(file, "path") ?? []);
}

/** Texts that an edit replaces, as its arguments have them. */
export function editsOf(args: Args): { before: string; after: string }[] {
  const one = (value: unknown) => {
    const before = text(value, "old_string") ?? text(value, "oldString");
    const after = text(value, "new_string") ?? text(value, "newString");
    return before === undefined && after === undefined ? [] : [{ before: before ?? "", after: after ?? "" }];
  };
  const edits = list(args, "edits");
  return edits.length > 0 ? edits.flatMap(one) : one(args);
}

function argsLine(args: Args): string {
  if (typeof args === "string") return oneLine(args);
  const parts: string[] = [];
  for (const [key, value] of Object.entries(args)) {
    if (parts.length === 6) {
      parts.push("…");
      break;
    }
    const shown = typeof value === "string" ? value : isObject(value) || Array.isArray(value) ? "…" : String(value);
    parts.push(`${key}: ${oneLine(shown, 80)}`);
  }
  return parts.join(", ");
}

function code(verb: string, subject: string): Summary {
  return { verb, subject: oneLine(subject), isCode: true };
}

export function oneLine(value: string, longest = LONGEST): string {
  const line = value.slice(0, longest * 2).replace(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

/** Arguments that the one line has already. */
const SAID: Partial<Record<ToolItem["toolKind"], readonly string[]>> = {
  read: ["file_path", "filePath", "path", "notebook_path"],
  search: ["pattern", "query", "path", "include", "glob", "type", "action", "queries"],
  fetch: ["url", "format", "query"],
};

/** Whether the one line says all that the arguments say. */
export function saysAll(tool: Pick<ToolItem, "toolKind" | "name" | "args" | "changes" | "subagents">): boolean {
  const said = SAID[tool.toolKind];
  if (said === undefined || typeof tool.args === "string") return false;
  const { subject } = summaryOf(tool);
  return subject.length < LONGEST - 1 && Object.keys(tool.args).every((key) => said.includes(key));
}

/** How long the call took: by its own account, or by the times of its frames. */
export function durationOf(tool: Pick<ToolItem, "durationMs" | "startedAt" | "endedAt">): number | undefined {
  if (tool.durationMs !== undefined && tool.durationMs > 0) return tool.durationMs;
  if (tool.startedAt !== undefined && tool.endedAt !== undefined) return Math.max(0, tool.endedAt - tool.startedAt);
  return tool.durationMs;
}

/** Whether the call failed: it did not run, or it ran and said so. */
export function isFailed(tool: Pick<ToolItem, "state" | "exitCode">): boolean {
  return tool.state === "failed" || (tool.state === "ended" && tool.exitCode !== undefined && tool.exitCode !== 0);
}

