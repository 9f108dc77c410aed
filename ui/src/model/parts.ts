// Reads the parts of frames that items consist of.
import type { Approval, ArtifactRef, Attachment, Decision, NoticeItem, PlanEntry, ToolKind } from "./items";
import { boolean, field, type Fields, isObject, list, number, text, texts } from "./read";

const KINDS: readonly ToolKind[] = ["shell", "read", "write", "edit", "search", "fetch", "mcp", "plan", "subagent", "other"];

export function toolKind(frame: Fields): ToolKind {
  const kind = text(frame, "kind");
  return KINDS.find((known) => known === kind) ?? "other";
}

export function attachmentsOf(frame: Fields): Attachment[] {
  return list(frame, "attachments").map((item) => ({
    kind: text(item, "kind") ?? "file",
    mime: text(item, "mime"),
    artifactId: text(item, "artifact_id"),
    name: text(item, "name"),
    bytes: number(item, "bytes"),
  }));
}

export function planOf(frame: Fields): PlanEntry[] {
  return list(frame, "entries")
    .filter(isObject)
    .map((entry) => ({
      content: text(entry, "content") ?? "",
      status: text(entry, "status") ?? "pending",
      priority: text(entry, "priority"),
    }));
}

export function approvalOf(frame: Fields, { seq, at }: { seq: number; at: number }): Approval | undefined {
  const approvalId = text(frame, "approval_id");
  if (approvalId === undefined || approvalId === "") return undefined;
  const args = field(frame, "args");
  return {
    approvalId,
    seq,
    at,
    toolId: text(frame, "tool_id"),
    toolName: text(frame, "tool_name") ?? "",
    args: isObject(args) || typeof args === "string" ? args : {},
    reason: text(frame, "reason"),
    decision: undefined,
  };
}

export function decisionOf(frame: Fields, at: number): Decision {
  return {
    decision: text(frame, "decision") ?? "cancelled",
    by: text(frame, "by"),
    reason: text(frame, "reason"),
    scope: text(frame, "scope"),
    at,
  };
}

/** What `tool_ended.artifacts.artifact_refs` names, and the size of the whole output if it is among that. */
export function artifactRefs(frame: Fields): { artifacts: ArtifactRef[]; outputBytes: number | undefined } {
  let outputBytes: number | undefined;
  const artifacts: ArtifactRef[] = [];
  for (const entry of list(field(frame, "artifacts"), "artifact_refs")) {
    const artifactId = text(entry, "artifact_id");
    if (artifactId === undefined) continue;
    const stdout = number(entry, "stdout_bytes");
    const stderr = number(entry, "stderr_bytes");
    if (stdout !== undefined || stderr !== undefined) outputBytes = (stdout ?? 0) + (stderr ?? 0);
    artifacts.push({
      artifactId,
      kind: text(entry, "kind") ?? "",
      mime: text(entry, "mime"),
      bytes: number(entry, "bytes"),
      isTruncated: boolean(entry, "truncated") ?? false,
    });
  }
  return { artifacts, outputBytes };
}

/** What a frame on the margin says; `undefined` for a type that has nothing to say or is unknown. */
export function noticeOf(frame: Fields): Pick<NoticeItem, "topic" | "level" | "title" | "detail"> | undefined {
  const plain = { level: "info", detail: undefined } as const;
  switch (frame["type"]) {
    case "log_emitted": {
      const level = text(frame, "level");
      const known = level === "debug" || level === "warn" || level === "error" ? level : "info";
      return { topic: "log", level: known, title: text(frame, "message") ?? "", detail: undefined };
    }
    case "status_changed": {
      const reason = text(frame, "reason");
      const title = `${text(frame, "old_status") ?? "?"} → ${text(frame, "new_status") ?? "?"}${reason ? `: ${reason}` : ""}`;
      return { ...plain, topic: "status", level: "debug", title };
    }
    case "history_compacted": {
      const [before, after] = [number(frame, "tokens_before"), number(frame, "tokens_after")];
      const tokens = before !== undefined && after !== undefined ? `: ${before.toLocaleString("en")} → ${after.toLocaleString("en")} tokens` : "";
      return { ...plain, topic: "compaction", title: `History compacted${tokens}`, detail: text(frame, "summary") };
    }
    case "checkpoint_created":
      return { ...plain, topic: "checkpoint", title: `Checkpoint ${text(frame, "label") ?? ""}`, detail: texts(frame, "files").join("\n") };
    case "checkpoint_rewound":
      return { ...plain, topic: "checkpoint", title: `Rewound to ${text(frame, "label") ?? ""}`, detail: texts(frame, "files").join("\n") };
    case "checkpoint_failed":
      return { ...plain, topic: "checkpoint", level: "error", title: "Checkpoint failed", detail: text(frame, "error") };
    case "skill_invoked":
      return { ...plain, topic: "skill", title: `Skill ${text(frame, "name") ?? ""}` };
    case "skill_loaded":
      return { ...plain, topic: "skill", level: "debug", title: `Skill ${text(frame, "name") ?? ""} loaded` };
    case "skill_catalog_updated":
      return { ...plain, topic: "skill", level: "debug", title: `${number(frame, "count") ?? 0} skills available` };
    case "skill_warning":
      return { ...plain, topic: "skill", level: "warn", title: text(frame, "detail") ?? "" };
    case "tool_task_spawned":
      return { ...plain, topic: "task", title: `Background task ${text(frame, "title") ?? text(frame, "tool_name") ?? ""} started` };
    case "tool_task_status": {
      const status = text(frame, "status") ?? "?";
      const exit = number(frame, "exit_code");
      const title = `Background task ${status}${exit === undefined ? "" : ` with exit code ${exit}`}`;
      return { topic: "task", level: status === "failed" ? "error" : "info", title, detail: text(frame, "error") };
    }
    case "tool_task_cancel_requested":
      return { ...plain, topic: "task", title: "Background task asked to stop", detail: text(frame, "reason") };
    case "tool_task_cancelled":
      return { ...plain, topic: "task", title: "Background task stopped", detail: text(frame, "reason") };
    case "tool_task_signalled":
      return { ...plain, topic: "task", level: "debug", title: `Signal ${text(frame, "signal") ?? ""} sent` };
    case "tool_task_resized":
    case "tool_task_stdin_written":
      return { ...plain, topic: "task", level: "debug", title: "Terminal input" };
    default:
      return undefined;
  }
}
