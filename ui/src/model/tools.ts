// Folds the frames of one tool call into its item.
import type { ToolItem, ToolKind, ToolState } from "./items";
import { Output, type OutputStream } from "./output";
import { partialObject } from "./partial-json";
import { artifactRefs, toolKind } from "./parts";
import { field, type Fields, isObject, number, text } from "./read";

const ENDED: readonly ToolState[] = ["ended", "failed"];

const NAMES: Readonly<Partial<Record<ToolKind, readonly string[]>>> = {
  shell: ["bash", "shell", "exec_command", "run_command", "local_shell"],
  read: ["read", "read_file", "notebookread", "view_image"],
  write: ["write", "write_file"],
  edit: ["edit", "edit_file", "multiedit", "notebookedit", "apply_patch", "patch"],
  search: ["grep", "glob", "ls", "list", "search", "websearch", "web_search", "file_search", "toolsearch"],
  fetch: ["fetch", "webfetch", "web_fetch"],
  plan: ["todowrite", "todoread", "update_plan", "taskcreate", "taskupdate"],
  subagent: ["agent", "task"],
};

/** The kind that a tool's name suggests; the frames of a call that was written say it themselves. */
export function kindOfName(name: string): ToolKind {
  if (name.startsWith("mcp__")) return "mcp";
  const lower = name.toLowerCase();
  return (Object.keys(NAMES) as ToolKind[]).find((kind) => NAMES[kind]?.includes(lower)) ?? "other";
}

const partial = new WeakMap<ToolItem, { text: string; args: ToolItem["args"] }>();

/** The arguments as they can be shown: of a call that is still written, those that are there already. */
export function shownArgs(tool: ToolItem): ToolItem["args"] {
  if (tool.state !== "writing" || typeof tool.args !== "string") return tool.args;
  let known = partial.get(tool);
  if (known?.text !== tool.args) {
    known = { text: tool.args, args: partialObject(tool.args) ?? tool.args };
    partial.set(tool, known);
  }
  return known.args;
}

/** A call of which nothing is known but its id. */
export function newCall(toolId: string): Omit<ToolItem, "kind" | "id" | "seq" | "at" | "version"> {
  return {
    toolId,
    callId: undefined,
    name: "",
    toolKind: "other",
    state: "unknown",
    args: "",
    output: new Output(),
    startedAt: undefined,
    endedAt: undefined,
    timeoutMs: undefined,
    exitCode: undefined,
    durationMs: undefined,
    error: undefined,
    changes: [],
    artifacts: [],
    outputBytes: undefined,
    approvals: [],
    subagents: [],
    thread: undefined,
  };
}

/** Takes over a frame at a time in Unix epoch milliseconds. The result: the artifacts that the frame names. */
export function foldTool(tool: ToolItem, type: string, frame: Fields, at: number): string[] {
  tool.callId ??= text(frame, "call_id");
  const name = text(frame, "name");
  if (name !== undefined && name !== "") tool.name = name;
  switch (type) {
    case "tool_input_delta":
      if (tool.state === "unknown") {
        tool.state = "writing";
        // The frames that name the kind come when all is written.
        if (tool.thread === undefined) tool.toolKind = kindOfName(tool.name);
      }
      if (tool.state === "writing" && typeof tool.args === "string") tool.args += text(frame, "delta") ?? "";
      return [];
    case "tool_call_proposed":
    case "tool_started": {
      // Calls that have a thread are those of subagents, whatever the frame says.
      if (tool.thread === undefined) tool.toolKind = toolKind(frame);
      const args = field(frame, "args");
      if (isObject(args) || typeof args === "string") tool.args = args;
      if (ENDED.includes(tool.state)) return [];
      if (type === "tool_call_proposed" && tool.state !== "running") tool.state = "proposed";
      if (type === "tool_started") {
        tool.state = "running";
        tool.startedAt ??= at;
        tool.timeoutMs = number(frame, "timeout_ms");
      }
      return [];
    }
    case "tool_stdout":
    case "tool_stderr": {
      const stream: OutputStream = type === "tool_stdout" ? "stdout" : "stderr";
      const chunk = text(frame, "chunk") ?? "";
      if (frame["position"] === "front") tool.output.prepend(stream, chunk);
      else tool.output.append(stream, chunk);
      return [];
    }
    case "tool_ended": {
      tool.state = "ended";
      tool.endedAt = at;
      tool.exitCode = number(frame, "exit_code");
      tool.durationMs = number(frame, "duration_ms");
      const refs = artifactRefs(frame);
      tool.artifacts.push(...refs.artifacts);
      tool.outputBytes = refs.outputBytes;
      return refs.artifacts.map((artifact) => artifact.artifactId);
    }
    case "tool_failed":
      tool.state = "failed";
      tool.endedAt = at;
      tool.error = text(frame, "error") ?? "";
      return [];
    default:
      return [];
  }
}
