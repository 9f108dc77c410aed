// What a run did, as bars over time.
//
// In: the frames of one run in order of `seq`, as they arrive (`frames.v2`; `provider_event` and text deltas may be missing). Out: the
// threads of the run (the main thread, and one for each subagent below the thread that started it), each with rows of bars: turns, what
// the model writes, tools, waits, and points in time. Bars of one lane never overlap, neither in time nor in `seq`, because a lane is
// given to a bar when it begins and is free again when the bar ends. A lane of a bar never changes, so a live run only appends.
// Never: a bar that ends before it begins; more than MAX_BARS bars (`omitted` counts the rest).
import type { Frame } from "../api/source";

/** The kinds of rows of a thread, from top to bottom. */
export const ROWS = ["turn", "model", "tool", "wait", "task", "point"] as const;
export type RowKind = (typeof ROWS)[number];

/** How a bar ended, as far as that is known. */
export type Outcome = "open" | "ok" | "failed" | "refused" | "cut";

export interface Bar {
  /** Position among all bars of the run, in the order in which they begin. */
  readonly index: number;
  readonly row: RowKind;
  readonly lane: number;
  /** What it is, in one word: `turn`, `reasoning`, `text`, `arguments`, `approval`, the kind of a tool, the type of a frame. */
  readonly what: string;
  /** The name to show: a tool's name, a model. */
  label: string;
  /** More about it: a command, a message, a reason. Short. */
  detail: string;
  readonly start: Place;
  /** Absent while the bar is open. */
  end?: Place;
  outcome: Outcome;
  readonly thread: Thread;
  /** The tool call that the bar shows or belongs to. */
  readonly toolId?: string;
  /** The thread of the subagent that the tool call started. */
  child?: Thread;
  /** What the runner measured itself, in milliseconds. */
  measuredMs?: number;
}

/** A place in the run: a frame and its time (Unix epoch milliseconds). */
export interface Place {
  readonly ms: number;
  readonly seq: number;
}

export interface Row {
  readonly kind: RowKind;
  /** Bars of each lane, in order. */
  readonly lanes: Bar[][];
}

export interface Thread {
  /** Empty for the main thread, else the tool call that started the subagent. */
  readonly id: string;
  /** 0 for the main thread. */
  readonly depth: number;
  title: string;
  readonly rows: Map<RowKind, Row>;
  readonly children: Thread[];
  start: Place;
  end?: Place;
  outcome: Outcome;
}

/** The greatest number of bars of a timeline. */
export const MAX_BARS = 200_000;
/** The greatest depth of subagents that gets threads of its own; deeper ones share the deepest. */
const MAX_DEPTH = 32;
const MAX_DETAIL = 200;

type Open = { bar: Bar; release: () => void };

export class Timeline {
  readonly bars: Bar[] = [];
  readonly main: Thread;
  /** The number of bars that were left out. */
  omitted = 0;
  /** The number of frames whose fields could not be read. */
  unreadable = 0;
  /** The last frame that was read. */
  last: Place | undefined;
  /** The first frame that was read. */
  first: Place | undefined;
  /** How the run ended; absent while it goes on. */
  ended: "completed" | "failed" | "interrupted" | undefined;
  /** Frames of the run that are missing because they are no longer kept, or lost. */
  gaps = 0;
  readonly #threads = new Map<string, Thread>();
  readonly #open = new Map<string, Open>();
  /** Free lanes of each row, as indexes into `lanes`. */
  readonly #busy = new Map<Row, boolean[]>();
  /** The thread of each subagent, by its id. */
  readonly #subagents = new Map<string, Thread>();

  constructor() {
    this.main = newThread("", 0, "Main thread", { ms: 0, seq: 0 });
    this.#threads.set("", this.main);
  }

  /** Adds the next frame. A frame that was added before is ignored. */
  push(frame: Frame): void {
    if (this.last !== undefined && frame.seq <= this.last.seq) return;
    const at: Place = { ms: Math.max(frame.timestamp_ms, this.last?.ms ?? 0), seq: frame.seq };
    if (this.first === undefined) {
      this.first = at;
      this.main.start = at;
    }
    this.last = at;
    try {
      this.#read(frame, at);
    } catch {
      // A field of another type than the schema's, as an edited file may have.
      this.unreadable += 1;
    }
  }

  #read(frame: Frame, at: Place): void {
    const thread = this.#thread(frame.parent_tool_id, at);
    switch (frame.type) {
      case "session_started":
        if (frame.input !== "") this.#point(thread, "prompt", "Prompt", frame.input, at);
        break;
      case "session_ended":
        this.ended = frame.reason;
        this.#endAll(at);
        this.main.end = at;
        this.main.outcome = frame.reason === "completed" ? "ok" : frame.reason === "failed" ? "failed" : "cut";
        break;
      case "turn_started":
        this.#begin(`turn ${thread.id} ${frame.turn_index}`, thread, "turn", "turn", `Turn ${frame.turn_index + 1}`, frame.model ?? "", at);
        break;
      case "turn_ended":
        this.#end(`turn ${thread.id} ${frame.turn_index}`, at, "ok", frame.stop_reason ?? undefined, frame.duration_ms ?? undefined);
        break;
      case "user_message":
        this.#point(thread, "user message", "User message", frame.text, at);
        break;
      case "reasoning_delta":
        this.#begin(`reasoning ${frame.message_id} ${frame.block_index}`, thread, "model", "reasoning", "Reasoning", "", at);
        break;
      case "output_text_delta":
        this.#begin(`text ${frame.message_id} ${frame.block_index}`, thread, "model", "text", "Text", frame.delta, at);
        break;
      case "reasoning_completed":
        this.#begin(`reasoning ${frame.message_id} ${frame.block_index}`, thread, "model", "reasoning", "Reasoning", "", at);
        this.#end(`reasoning ${frame.message_id} ${frame.block_index}`, at, "ok", frame.text);
        break;
      case "output_text_completed":
        this.#begin(`text ${frame.message_id} ${frame.block_index}`, thread, "model", "text", "Text", "", at);
        this.#end(`text ${frame.message_id} ${frame.block_index}`, at, "ok", frame.text);
        break;
      case "tool_input_delta":
        this.#begin(`arguments ${frame.tool_id}`, thread, "model", "arguments", frame.name || "tool", "arguments", at, frame.tool_id);
        break;
      case "tool_call_proposed":
        this.#end(`arguments ${frame.tool_id}`, at, "ok");
        this.#beginTool(frame, thread, at);
        break;
      case "tool_started":
        this.#end(`arguments ${frame.tool_id}`, at, "ok");
        this.#beginTool(frame, thread, at);
        break;
      case "tool_ended":
        this.#endTool(frame.tool_id, at, frame.exit_code === 0 ? "ok" : "failed", frame.exit_code === 0 ? undefined : `exit code ${frame.exit_code}`, frame.duration_ms);
        break;
      case "tool_failed":
        this.#endTool(frame.tool_id, at, "failed", frame.error);
        break;
      case "approval_requested":
        this.#begin(
          `approval ${frame.approval_id}`, thread, "wait", "approval", `Approval: ${frame.tool_name}`,
          frame.reason ?? summaryOfArgs(frame.args), at, frame.tool_id ?? undefined,
        );
        break;
      case "approval_resolved": {
        const outcome: Outcome = frame.decision === "approved" ? "ok" : frame.decision === "rejected" ? "refused" : "cut";
        const by = frame.by === null ? "" : ` by ${frame.by}`;
        this.#end(`approval ${frame.approval_id}`, at, outcome, `${frame.decision.replace("_", " ")}${by}`);
        break;
      }
      case "subagent_started":
        this.#startSubagent(frame, at);
        break;
      case "subagent_ended":
        this.#endSubagent(frame.subagent_id, frame.status, at);
        break;
      case "tool_task_spawned":
        this.#begin(`task ${frame.task_id}`, thread, "task", "background task", frame.tool_name, frame.title ?? summaryOfArgs(frame.args), at);
        break;
      case "tool_task_status":
        if (frame.status === "exited" || frame.status === "cancelled" || frame.status === "failed") {
          const failed = frame.status === "failed" || (frame.exit_code ?? 0) !== 0;
          const outcome: Outcome = frame.status === "cancelled" ? "cut" : failed ? "failed" : "ok";
          this.#end(`task ${frame.task_id}`, at, outcome, frame.error ?? undefined);
        }
        break;
      case "tool_task_cancelled":
        this.#end(`task ${frame.task_id}`, at, "cut", frame.reason);
        break;
      case "error_reported": {
        const attempt = frame.attempt === null ? "" : ` (attempt ${frame.attempt}${frame.max_attempts === null ? "" : ` of ${frame.max_attempts}`})`;
        this.#point(thread, "error", `Error: ${frame.code}${attempt}`, frame.message, at, "failed");
        break;
      }
      case "log_emitted":
        if (frame.level === "warn" || frame.level === "error") this.#point(thread, frame.level, frame.level === "warn" ? "Warning" : "Error", frame.message, at, frame.level === "error" ? "failed" : "ok");
        break;
      case "gap_detected":
        this.gaps += frame.first_seq !== null && frame.last_seq !== null ? frame.last_seq - frame.first_seq + 1 : 1;
        this.#point(thread, "gap", "Gap", frame.reason, at, "cut");
        break;
      case "history_compacted":
        this.#point(thread, "compaction", "History compacted", frame.summary ?? frame.trigger ?? "", at);
        break;
      case "file_changed":
        this.#point(thread, "file change", `File: ${frame.kind}`, frame.path, at);
        break;
      case "plan_updated": {
        const done = frame.entries.filter((entry) => entry.status === "completed").length;
        this.#point(thread, "plan", "Plan", `${done} of ${frame.entries.length} done`, at);
        break;
      }
      case "checkpoint_created":
      case "checkpoint_rewound":
        this.#point(thread, "checkpoint", frame.type === "checkpoint_created" ? "Checkpoint" : "Checkpoint restored", frame.label, at);
        break;
      case "checkpoint_failed":
        this.#point(thread, "checkpoint", "Checkpoint failed", frame.error, at, "failed");
        break;
      default:
        break;
    }
  }

  #beginTool(frame: { tool_id: string; name: string; kind: string; args: object | string; type: string; call_id: string }, thread: Thread, at: Place): void {
    const bar = this.#begin(`tool ${frame.tool_id}`, thread, "tool", frame.kind, frame.name || "tool", summaryOfArgs(frame.args), at, frame.tool_id);
    const child = this.#threads.get(frame.tool_id);
    if (bar && child) bar.child = child;
  }

  #endTool(toolId: string, at: Place, outcome: Outcome, detail: string | undefined, measuredMs?: number): void {
    this.#end(`arguments ${toolId}`, at, "ok");
    this.#end(`tool ${toolId}`, at, outcome, detail, measuredMs);
    const thread = this.#threads.get(toolId);
    if (thread && thread.end === undefined) {
      thread.end = at;
      thread.outcome = outcome;
    }
  }

  #startSubagent(frame: { subagent_id: string; tool_id: string | null; agent: string | null; task: string | null; parent_tool_id?: string }, at: Place): void {
    // A subagent without a call of its own is a thread under its id.
    const key = frame.tool_id ?? `subagent ${frame.subagent_id}`;
    const thread = this.#thread(key, at, frame.parent_tool_id);
    thread.title = frame.agent ?? thread.title;
    this.#subagents.set(frame.subagent_id, thread);
    if (frame.task !== null) this.#point(thread, "task", "Task", frame.task, at);
  }

  #endSubagent(id: string, status: string, at: Place): void {
    const thread = this.#subagents.get(id);
    if (thread === undefined) return;
    thread.end = at;
    thread.outcome = status === "completed" ? "ok" : status === "failed" ? "failed" : "cut";
  }

  /** The thread of a subagent; it is created when its first frame arrives. */
  #thread(id: string | undefined, at: Place, startedIn?: string): Thread {
    if (id === undefined || id === "") return this.main;
    const known = this.#threads.get(id);
    if (known) return known;
    const call = this.#open.get(`tool ${id}`)?.bar;
    const parent = call?.thread ?? this.#threads.get(startedIn ?? "") ?? this.main;
    if (parent.depth >= MAX_DEPTH) return parent;
    const thread = newThread(id, parent.depth + 1, call ? call.label : "Subagent", at);
    if (call) call.child = thread;
    parent.children.push(thread);
    this.#threads.set(id, thread);
    return thread;
  }

  #begin(key: string, thread: Thread, row: RowKind, what: string, label: string, detail: string, at: Place, toolId?: string): Bar | undefined {
    const already = this.#open.get(key);
    if (already) return already.bar;
    const made = this.#add(thread, row, what, label, detail, at, toolId);
    if (made) this.#open.set(key, made);
    return made?.bar;
  }

  #end(key: string, at: Place, outcome: Outcome, detail?: string, measuredMs?: number): void {
    const open = this.#open.get(key);
    if (!open) return;
    this.#open.delete(key);
    open.bar.end = at;
    open.bar.outcome = outcome;
    if (detail !== undefined && detail !== "") open.bar.detail = joined(open.bar, detail);
    if (measuredMs !== undefined) open.bar.measuredMs = measuredMs;
    open.release();
  }

  #endAll(at: Place): void {
    for (const key of [...this.#open.keys()]) this.#end(key, at, "cut");
    for (const thread of this.#threads.values()) {
      if (thread !== this.main && thread.end === undefined) {
        thread.end = at;
        thread.outcome = "cut";
      }
    }
  }

  #point(thread: Thread, what: string, label: string, detail: string, at: Place, outcome: Outcome = "ok"): void {
    const made = this.#add(thread, "point", what, label, detail, at);
    if (!made) return;
    made.bar.end = at;
    made.bar.outcome = outcome;
    made.release();
  }

  #add(thread: Thread, kind: RowKind, what: string, label: string, detail: string, at: Place, toolId?: string): Open | undefined {
    if (this.bars.length >= MAX_BARS) {
      this.omitted += 1;
      return undefined;
    }
    let row = thread.rows.get(kind);
    if (!row) {
      row = { kind, lanes: [] };
      thread.rows.set(kind, row);
      this.#busy.set(row, []);
    }
    const busy = this.#busy.get(row) ?? [];
    const free = busy.indexOf(false);
    const lane = free === -1 ? busy.length : free;
    busy[lane] = true;
    const bar: Bar = {
      index: this.bars.length, row: kind, lane, what, label: oneLine(label), detail: oneLine(detail), start: at, outcome: "open", thread,
      ...(toolId === undefined ? {} : { toolId }),
    };
    (row.lanes[lane] ??= []).push(bar);
    this.bars.push(bar);
    return { bar, release: () => void (busy[lane] = false) };
  }
}

function newThread(id: string, depth: number, title: string, start: Place): Thread {
  return { id, depth, title, rows: new Map(), children: [], start, outcome: "open" };
}

/** A text block says what it contains; anything else keeps what it said at its beginning, and adds how it ended. */
function joined(bar: Bar, detail: string): string {
  const text = oneLine(detail);
  return bar.row === "model" || bar.detail === "" ? text : oneLine(`${bar.detail} · ${text}`);
}

/** A text on one line, bounded. Only its beginning is read. */
export function oneLine(text: string, max = MAX_DETAIL): string {
  const folded = text.slice(0, max * 4).replace(/\s+/gu, " ").trim();
  return folded.length > max ? `${folded.slice(0, max - 1)}…` : folded;
}

/** What a call is about: its command, path, pattern, or its first text. */
export function summaryOfArgs(args: object | string): string {
  if (typeof args === "string") return oneLine(args);
  const known = args as Record<string, unknown>;
  for (const name of ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"]) {
    const value = known[name];
    if (typeof value === "string" && value !== "") return oneLine(value);
    if (Array.isArray(value) && value.every((part) => typeof part === "string")) return oneLine(value.slice(0, 40).join(" "));
  }
  for (const value of Object.values(known)) if (typeof value === "string" && value !== "") return oneLine(value);
  return "";
}
