// What a conversation consists of: items in threads. The main thread is the runner's; each subagent has its own, below the tool call that
// started it.
//
// Items are changed in place, and `version` counts the changes: a component that remembers the version draws only what changed.
import type { Output } from "./output";
import type { Usage } from "./usage";

interface Base {
  /** Unique within the conversation, and the same for every way in which the frames arrive. */
  readonly id: string;
  /** The `seq` of the first frame. */
  readonly seq: number;
  /** Unix epoch milliseconds of the first frame. */
  readonly at: number;
  /** Counts changes. */
  version: number;
}

export interface Attachment {
  kind: string;
  mime: string | undefined;
  artifactId: string | undefined;
  name: string | undefined;
  bytes: number | undefined;
}

/** What a person, or a program in a person's place, said. */
export interface PromptItem extends Base {
  readonly kind: "prompt";
  text: string;
  attachments: Attachment[];
}

/** A block of the assistant's text. */
export interface TextItem extends Base {
  readonly kind: "text";
  text: string;
  isDone: boolean;
}

export interface ReasoningItem extends Base {
  readonly kind: "reasoning";
  text: string;
  isDone: boolean;
  /** Unix epoch milliseconds of its end. */
  endedAt: number | undefined;
  /** Whether the provider gave it in an encrypted or signed form as well. */
  isOpaque: boolean;
}

export type ToolKind = "shell" | "read" | "write" | "edit" | "search" | "fetch" | "mcp" | "plan" | "subagent" | "other";

export type ToolState =
  /** Its arguments arrive. */
  | "writing"
  /** It has not started: it may wait for an answer. */
  | "proposed"
  | "running"
  | "ended"
  /** It never ran, was refused, or was cut off. */
  | "failed"
  /** Frames name it, and none started it. */
  | "unknown";

export interface FileChange {
  path: string;
  change: string;
  /** A unified diff. */
  diff: string | undefined;
  artifactId: string | undefined;
}

export interface ArtifactRef {
  artifactId: string;
  kind: string;
  mime: string | undefined;
  bytes: number | undefined;
  /** Whether the artifact is cut too. */
  isTruncated: boolean;
}

export interface SubagentInfo {
  subagentId: string;
  agent: string | undefined;
  task: string | undefined;
  status: string | undefined;
  summary: string | undefined;
  endedAt: number | undefined;
}

/** A tool call; with `thread`, one that a subagent works on. */
export interface ToolItem extends Base {
  readonly kind: "tool";
  readonly toolId: string;
  callId: string | undefined;
  name: string;
  toolKind: ToolKind;
  state: ToolState;
  /** The arguments; a text where the model's arguments are not a JSON object, or not complete yet. */
  args: Readonly<Record<string, unknown>> | string;
  output: Output;
  /** Unix epoch milliseconds. */
  startedAt: number | undefined;
  endedAt: number | undefined;
  timeoutMs: number | undefined;
  exitCode: number | undefined;
  durationMs: number | undefined;
  /** Why it failed. */
  error: string | undefined;
  changes: FileChange[];
  artifacts: ArtifactRef[];
  /** Bytes of the whole output, if it was stored as an artifact. */
  outputBytes: number | undefined;
  approvals: Approval[];
  subagents: SubagentInfo[];
  thread: Thread | undefined;
}

/** A question that the runner waits or waited for. */
export interface Approval {
  readonly approvalId: string;
  readonly seq: number;
  readonly at: number;
  readonly toolId: string | undefined;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>> | string;
  readonly reason: string | undefined;
  /** `undefined` as long as it is open. */
  decision: Decision | undefined;
}

export interface Decision {
  /** `approved`, `rejected`, `timed_out` or `cancelled`. */
  decision: string;
  by: string | undefined;
  reason: string | undefined;
  scope: string | undefined;
  at: number;
}

/** A question that belongs to no tool call that the conversation knows. */
export interface ApprovalItem extends Base {
  readonly kind: "approval";
  readonly approval: Approval;
}

export interface PlanEntry {
  content: string;
  /** `pending`, `in_progress`, `completed`, or the runner's own word. */
  status: string;
  priority: string | undefined;
}

export interface PlanItem extends Base {
  readonly kind: "plan";
  entries: PlanEntry[];
}

export interface ErrorItem extends Base {
  readonly kind: "error";
  scope: string;
  code: string;
  message: string;
  isRetryable: boolean;
  attempt: number | undefined;
  maxAttempts: number | undefined;
  httpStatus: number | undefined;
}

/** Something on the margin: a log line, a compaction, a checkpoint, a skill. */
export interface NoticeItem extends Base {
  readonly kind: "notice";
  readonly topic: "log" | "status" | "compaction" | "checkpoint" | "skill" | "task";
  readonly level: "debug" | "info" | "warn" | "error";
  title: string;
  /** More, folded. */
  detail: string | undefined;
}

/** A file that the run stored, and that no tool names. */
export interface ArtifactItem extends Base {
  readonly kind: "artifact";
  readonly artifact: ArtifactRef;
  readonly preview: string | undefined;
}

/** A part of the stream that is lost. */
export interface GapItem extends Base {
  readonly kind: "gap";
  readonly firstSeq: number | undefined;
  readonly lastSeq: number | undefined;
  readonly reason: string;
}

/** Records of the runner, one after another, that were not valid or too large: nothing came of them. */
export interface InvalidItem extends Base {
  readonly kind: "invalid";
  /** How many there are here. */
  count: number;
  /** What is wrong with the first one; empty if that is unknown. */
  readonly reason: string;
  /** Its beginning. */
  readonly preview: string;
  /** Whether later ones have no item. */
  readonly isLast: boolean;
}

/** The end of a model call: what it used. */
export interface TurnItem extends Base {
  readonly kind: "turn";
  readonly turn: Turn;
}

export interface EndItem extends Base {
  readonly kind: "end";
  /** `completed`, `failed` or `interrupted`. */
  readonly reason: string;
  readonly errorCode: string | undefined;
  readonly message: string | undefined;
  readonly finalText: string | undefined;
}

export type Item =
  | PromptItem
  | TextItem
  | ReasoningItem
  | ToolItem
  | ApprovalItem
  | PlanItem
  | ErrorItem
  | NoticeItem
  | ArtifactItem
  | GapItem
  | InvalidItem
  | TurnItem
  | EndItem;

/** A model call. */
export interface Turn {
  readonly index: number;
  readonly seq: number;
  readonly startedAt: number;
  /** The call in whose name a subagent made it; `undefined` on the main thread. */
  readonly parentToolId: string | undefined;
  model: string | undefined;
  endedAt: number | undefined;
  durationMs: number | undefined;
  stopReason: string | undefined;
  usage: Usage;
}

/** Items in order of their first frames. */
export interface Thread {
  /** The tool call that it belongs to; `undefined` for the main thread. */
  readonly toolId: string | undefined;
  readonly items: Item[];
}
