// Folds frames of `frames.v2` into a conversation.
//
// In: frames in order of `seq`, in pieces of any size. Out: threads of items, open questions, usage, tools and turns by id. Each frame costs
// the same, however long the conversation is. A frame that was folded before changes nothing. Never: an exception for a frame of an
// unknown type or with missing or wrong fields; such frames are counted in `unknownFrames` or read as far as they can be.
import type {
  Approval,
  ApprovalItem,
  ArtifactItem,
  ArtifactRef,
  EndItem,
  ErrorItem,
  GapItem,
  Item,
  NoticeItem,
  PlanItem,
  PromptItem,
  ReasoningItem,
  TextItem,
  Thread,
  ToolItem,
  Turn,
  TurnItem,
} from "./items";
import { insertInvalid, lastValid } from "./invalid";
import { approvalOf, attachmentsOf, decisionOf, noticeOf, planOf } from "./parts";
import { boolean, field, type Fields, isObject, number, text } from "./read";
import { foldTool, newCall } from "./tools";
import { isEmpty, sum, type Usage, usageOf } from "./usage";

/** What an item is, without what every item has. */
type Own<T extends Item> = Omit<T, "id" | "seq" | "at" | "version">;

export class Conversation {
  readonly main: Thread = { toolId: undefined, items: [] };
  /** Tool calls by `tool_id`, in order of their first frames. */
  readonly tools = new Map<string, ToolItem>();
  /** Model calls, in order. */
  readonly turns: Turn[] = [];
  readonly approvals = new Map<string, Approval>();
  /** Parts of the stream that are lost. */
  readonly gaps: GapItem[] = [];
  /** The last plan. */
  plan: PlanItem | undefined;
  end: EndItem | undefined;
  /** The last model that a turn named. */
  model: string | undefined;
  /** The run's own total; `undefined` until it reports one. */
  runUsage: Usage | undefined;
  /** The sum of what turns reported. */
  turnUsage: Usage = {};
  /** The `seq` of the last frame; -1 before the first one. */
  lastSeq = -1;
  /** Unix epoch milliseconds of the first and the last frame. */
  startedAt: number | undefined;
  lastAt: number | undefined;
  /** Frames that were folded. */
  frames = 0;
  /** Frames of a type that this page does not know. */
  unknownFrames = 0;
  /** Counts changes of anything. */
  version = 0;
  /** Counts items that were added. */
  structure = 0;
  /** Counts how often items came between others; most are added at the end. */
  insertions = 0;

  readonly #threads = new Map<string, Thread>();
  readonly #blocks = new Map<string, TextItem | ReasoningItem>();
  /** The turn in progress of each thread. */
  readonly #turns = new Map<Thread, { turn: Turn; item: TurnItem | undefined }>();
  /** Files that something names: a call, a change, a prompt. */
  readonly #named = new Set<string>();
  /** Files that nothing named so far: what names one comes after it, in the same turn. */
  readonly #unnamed = new Map<string, { place: Place; artifact: ArtifactRef; preview: string | undefined }>();
  readonly #openApprovals = new Set<Approval>();

  /** Questions that wait for an answer, oldest first. */
  get openApprovals(): readonly Approval[] {
    return [...this.#openApprovals];
  }

  /** The run's own total, or else the sum of its turns. */
  get usage(): Usage {
    return this.runUsage ?? this.turnUsage;
  }

  /** Threads below the main one. */
  get threadCount(): number {
    return this.#threads.size;
  }

  /** The thread of a tool call; the main one without an id. */
  thread(toolId?: string): Thread | undefined {
    return toolId === undefined ? this.main : this.#threads.get(toolId);
  }

  apply(frames: readonly unknown[]): void {
    for (const frame of frames) this.#one(frame);
    if (frames.length > 0) this.version += 1;
  }

  /** Puts records that were not valid between the items of the main thread: frames in order, each once, none after `lastSeq`. */
  insertInvalid(records: readonly unknown[]): void {
    this.version += 1;
    if (!insertInvalid(this.main.items, records)) return;
    this.structure += 1;
    this.insertions += 1;
  }

  #one(frame: unknown): void {
    if (!isObject(frame)) {
      this.unknownFrames += 1;
      return;
    }
    const seq = number(frame, "seq") ?? this.lastSeq + 1;
    // A question that is still open is repeated to a reader that begins after it.
    const isRepeatedQuestion = frame["type"] === "approval_requested" && !this.approvals.has(text(frame, "approval_id") ?? "");
    if (seq <= this.lastSeq && !isRepeatedQuestion) return;
    this.lastSeq = Math.max(this.lastSeq, seq);
    const at = number(frame, "timestamp_ms") ?? this.lastAt ?? 0;
    this.startedAt ??= at;
    this.lastAt = at;
    this.frames += 1;
    this.#fold(frame, { seq, at, thread: this.#threadOf(frame, seq, at) });
  }

  #fold(frame: Fields, place: Place): void {
    switch (frame["type"]) {
      case "session_started":
        return this.#prompt(frame, text(frame, "input") || text(frame, "prompt"), place);
      case "user_message":
        return this.#prompt(frame, text(frame, "text") ?? "", place);
      case "session_ended":
        return this.#ended(frame, place);
      case "turn_started":
        return this.#turnStarted(frame, place);
      case "turn_ended":
        return this.#turnEnded(frame, place);
      case "usage_reported":
        return this.#used(frame, place);
      case "output_text_delta":
        return this.#piece("text", frame, text(frame, "delta"), place);
      case "output":
        return this.#piece("text", frame, text(frame, "content"), place);
      case "reasoning_delta":
        return this.#piece("reasoning", frame, text(frame, "delta"), place);
      case "output_text_completed":
      case "reasoning_completed":
        return this.#completed(frame["type"] === "reasoning_completed" ? "reasoning" : "text", frame, place);
      case "tool_input_delta":
      case "tool_call_proposed":
      case "tool_started":
      case "tool_stdout":
      case "tool_stderr":
      case "tool_ended":
      case "tool_failed":
        return this.#tool(frame["type"], frame, place);
      case "file_changed":
        return this.#fileChanged(frame, place);
      case "approval_requested":
        return this.#asked(frame, place);
      case "approval_resolved":
        return this.#answered(frame, place);
      case "plan_updated":
        return this.#planned(frame, place);
      case "error_reported":
        return void this.#add<ErrorItem>(place, {
          kind: "error",
          scope: text(frame, "scope") ?? "run",
          code: text(frame, "code") ?? "unknown",
          message: text(frame, "message") ?? "",
          isRetryable: boolean(frame, "retryable") ?? false,
          attempt: number(frame, "attempt"),
          maxAttempts: number(frame, "max_attempts"),
          httpStatus: number(frame, "http_status"),
        });
      case "subagent_started":
        return this.#subagentStarted(frame, place);
      case "subagent_ended":
        return this.#subagentEnded(frame, place);
      case "gap_detected":
        return this.#gap(frame, place);
      case "artifact_written":
        return this.#artifactWritten(frame, place);
      case "tool_task_output_delta":
        return this.#taskOutput(frame, place);
      case "provider_event":
        return;
      default: {
        const notice = noticeOf(frame);
        if (notice === undefined) this.unknownFrames += 1;
        else this.#add<NoticeItem>(place, { kind: "notice", ...notice });
      }
    }
  }

  #prompt(frame: Fields, prompt: string | undefined, { seq, at, thread }: Place): void {
    const attachments = attachmentsOf(frame);
    for (const { artifactId } of attachments) this.#name(artifactId);
    if ((prompt === undefined || prompt === "") && attachments.length === 0) return;
    // Runners repeat the prompt that the run started with.
    const isAside = ({ kind }: Item) => kind === "notice" || kind === "invalid";
    const first = thread.items.find((item) => !isAside(item));
    const isOnly = first?.kind === "prompt" && thread.items.every((item) => item.kind === "prompt" || isAside(item));
    if (isOnly && first.text === prompt && frame["type"] === "user_message") {
      first.attachments = attachments;
      first.version += 1;
      return;
    }
    this.#add<PromptItem>({ seq, at, thread }, { kind: "prompt", text: prompt ?? "", attachments });
  }

  #piece(kind: "text" | "reasoning", frame: Fields, delta: string | undefined, place: Place): void {
    if (delta === undefined || delta === "") return;
    const block = this.#block(kind, frame, place);
    block.text += delta;
    block.version += 1;
  }

  #completed(kind: "text" | "reasoning", frame: Fields, place: Place): void {
    const whole = text(frame, "text");
    const isOpaque = isObject(field(frame, "opaque"));
    if (!whole && !isOpaque && !this.#blocks.has(blockKey(kind, frame, place))) return;
    const block = this.#block(kind, frame, place);
    if (whole !== undefined) block.text = whole;
    block.isDone = true;
    if (block.kind === "reasoning") {
      block.isOpaque = isOpaque;
      block.endedAt = place.at;
    }
    block.version += 1;
    this.#blocks.delete(blockKey(kind, frame, place));
  }

  #block(kind: "text" | "reasoning", frame: Fields, place: Place): TextItem | ReasoningItem {
    const key = blockKey(kind, frame, place);
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const block: TextItem | ReasoningItem =
      kind === "text"
        ? this.#add<TextItem>(place, { kind, text: "", isDone: false })
        : this.#add<ReasoningItem>(place, { kind, text: "", isDone: false, endedAt: undefined, isOpaque: false });
    this.#blocks.set(key, block);
    return block;
  }

  #tool(type: string, frame: Fields, place: Place): void {
    const tool = this.#toolOf(frame, place);
    if (tool === undefined) return;
    tool.version += 1;
    for (const artifactId of foldTool(tool, type, frame, place.at)) this.#name(artifactId);
  }

  /** The tool that a frame names; a new one in the frame's thread if no frame named it before. */
  #toolOf(frame: Fields, place: Place): ToolItem | undefined {
    const toolId = text(frame, "tool_id");
    if (toolId === undefined || toolId === "") return undefined;
    return this.tools.get(toolId) ?? this.#newTool(toolId, place);
  }

  #newTool(toolId: string, place: Place): ToolItem {
    const tool = this.#add<ToolItem>(place, { kind: "tool", ...newCall(toolId) });
    this.tools.set(toolId, tool);
    return tool;
  }

  #fileChanged(frame: Fields, place: Place): void {
    const change = {
      path: text(frame, "path") ?? "",
      change: text(frame, "kind") ?? "modify",
      diff: text(frame, "diff"),
      artifactId: text(frame, "artifact_id"),
    };
    this.#name(change.artifactId);
    let tool = this.#toolOf(frame, place);
    if (tool === undefined) {
      // A change that no call explains looks like a call that is over.
      tool = this.#newTool(`change:${place.seq}`, place);
      tool.name = "file changed";
      tool.toolKind = "edit";
      tool.state = "ended";
      tool.args = { path: change.path };
    }
    tool.changes.push(change);
    tool.version += 1;
  }

  #asked(frame: Fields, place: Place): void {
    const approval = approvalOf(frame, place);
    if (approval === undefined || this.approvals.has(approval.approvalId)) return;
    this.approvals.set(approval.approvalId, approval);
    this.#openApprovals.add(approval);
    const tool = approval.toolId === undefined ? undefined : this.tools.get(approval.toolId);
    if (tool === undefined) {
      this.#add<ApprovalItem>(place, { kind: "approval", approval });
    } else {
      tool.approvals.push(approval);
      tool.version += 1;
    }
  }

  #answered(frame: Fields, place: Place): void {
    const approval = this.approvals.get(text(frame, "approval_id") ?? "");
    if (approval === undefined || approval.decision !== undefined) return;
    approval.decision = decisionOf(frame, place.at);
    this.#openApprovals.delete(approval);
    const tool = approval.toolId === undefined ? undefined : this.tools.get(approval.toolId);
    if (tool?.approvals.includes(approval)) tool.version += 1;
    const item = this.#approvalItems.get(approval);
    if (item !== undefined) item.version += 1;
  }

  #planned(frame: Fields, place: Place): void {
    const entries = planOf(frame);
    const last = lastValid(place.thread.items);
    if (last?.kind === "plan") {
      last.entries = entries;
      last.version += 1;
      this.plan = last;
    } else {
      this.plan = this.#add<PlanItem>(place, { kind: "plan", entries });
    }
  }

  #turnStarted(frame: Fields, { seq, at, thread }: Place): void {
    this.#showUnnamed();
    this.#closeTurn({ seq, at, thread });
    const turn: Turn = {
      index: number(frame, "turn_index") ?? this.turns.length,
      seq,
      startedAt: at,
      parentToolId: thread.toolId,
      model: text(frame, "model"),
      endedAt: undefined,
      durationMs: undefined,
      stopReason: undefined,
      usage: {},
    };
    this.turns.push(turn);
    this.#turns.set(thread, { turn, item: undefined });
    if (turn.model !== undefined && thread === this.main) this.model = turn.model;
  }

  #turnEnded(frame: Fields, place: Place): void {
    this.#showUnnamed();
    const open = this.#turns.get(place.thread);
    if (open === undefined) return;
    const { turn } = open;
    turn.endedAt = place.at;
    turn.durationMs = number(frame, "duration_ms");
    turn.stopReason = text(frame, "stop_reason");
    if (turn.durationMs !== undefined && turn.durationMs > 0) open.item ??= this.#add<TurnItem>(place, { kind: "turn", turn });
    else this.#closeTurn(place);
    if (open.item !== undefined) open.item.version += 1;
  }

  #used(frame: Fields, place: Place): void {
    const usage = usageOf(frame);
    if (frame["scope"] === "run") {
      this.runUsage = usage;
      if (this.end !== undefined) this.end.version += 1;
      return;
    }
    this.turnUsage = sum(this.turnUsage, usage);
    // The figures may come before the end of the turn, or after it.
    const open = this.#turns.get(place.thread);
    if (open === undefined) return;
    open.turn.usage = sum(open.turn.usage, usage);
    open.turn.model ??= text(frame, "model");
    if (open.item !== undefined) open.item.version += 1;
    else if (open.turn.endedAt !== undefined) this.#closeTurn(place);
  }

  /** Shows what a turn used that did not end. */
  #closeTurn(place: Place): void {
    const open = this.#turns.get(place.thread);
    if (open === undefined || open.item !== undefined || isEmpty(open.turn.usage)) return;
    open.item = this.#add<TurnItem>(place, { kind: "turn", turn: open.turn });
  }

  #subagentStarted(frame: Fields, place: Place): void {
    const toolId = text(frame, "tool_id");
    const tool = toolId === undefined || toolId === "" ? this.#newTool(`subagent:${place.seq}`, place) : this.#toolOf(frame, place);
    if (tool === undefined) return;
    tool.subagents.push({
      subagentId: text(frame, "subagent_id") ?? "",
      agent: text(frame, "agent"),
      task: text(frame, "task"),
      status: undefined,
      summary: undefined,
      endedAt: undefined,
    });
    tool.toolKind = "subagent";
    if (tool.state === "unknown") tool.state = "running";
    this.#subagents.set(text(frame, "subagent_id") ?? "", tool);
    tool.version += 1;
  }

  #subagentEnded(frame: Fields, { at }: Place): void {
    const id = text(frame, "subagent_id") ?? "";
    const tool = this.#subagents.get(id);
    const info = tool?.subagents.find((known) => known.subagentId === id && known.status === undefined);
    if (tool === undefined || info === undefined) return;
    info.status = text(frame, "status") ?? "completed";
    info.summary = text(frame, "summary");
    info.endedAt = at;
    // A placeholder ends with its subagent; a call reports its own end.
    if (tool.toolId.startsWith("subagent:")) {
      tool.state = "ended";
      tool.endedAt = at;
    }
    tool.version += 1;
  }

  #gap(frame: Fields, place: Place): void {
    const gap = this.#add<GapItem>(place, {
      kind: "gap",
      firstSeq: number(frame, "first_seq"),
      lastSeq: number(frame, "last_seq"),
      reason: text(frame, "reason") ?? "",
    });
    this.gaps.push(gap);
  }

  #artifactWritten(frame: Fields, place: Place): void {
    const artifactId = text(frame, "artifact_id");
    if (artifactId === undefined) return;
    const kind = text(frame, "kind") ?? "";
    // Outputs and patches appear with the call that they belong to, and that names them when it ends.
    if (this.#named.has(artifactId) || kind === "command_output" || kind === "patch") return;
    const artifact = { artifactId, kind, mime: undefined, bytes: number(frame, "bytes"), isTruncated: false };
    this.#unnamed.set(artifactId, { place, artifact, preview: text(frame, "preview") });
  }

  #name(artifactId: string | undefined): void {
    if (artifactId === undefined) return;
    this.#named.add(artifactId);
    this.#unnamed.delete(artifactId);
  }

  /** Shows the files that nothing named. */
  #showUnnamed(): void {
    for (const [artifactId, { place, artifact, preview }] of this.#unnamed) {
      this.#named.add(artifactId);
      this.#add<ArtifactItem>(place, { kind: "artifact", artifact, preview });
    }
    this.#unnamed.clear();
  }

  /** A task's output, in the stream that is the task's own. */
  #taskOutput(frame: Fields, place: Place): void {
    const toolId = `task:${text(frame, "task_id") ?? ""}`;
    const tool = this.tools.get(toolId) ?? this.#newTool(toolId, place);
    tool.name ||= "background task";
    tool.toolKind = "shell";
    if (tool.state === "unknown") tool.state = "running";
    tool.output.append(frame["stream"] === "stderr" ? "stderr" : "stdout", text(frame, "chunk") ?? "");
    tool.version += 1;
  }

  #ended(frame: Fields, place: Place): void {
    this.#showUnnamed();
    for (const thread of this.#turns.keys()) this.#closeTurn({ ...place, thread });
    this.end = this.#add<EndItem>(
      { ...place, thread: this.main },
      {
        kind: "end",
        reason: text(frame, "reason") ?? "completed",
        errorCode: text(frame, "error_code"),
        message: text(frame, "message"),
        finalText: text(frame, "final_text"),
      },
    );
  }

  readonly #subagents = new Map<string, ToolItem>();
  readonly #approvalItems = new Map<Approval, ApprovalItem>();

  #threadOf(frame: Fields, seq: number, at: number): Thread {
    const parent = text(frame, "parent_tool_id");
    if (parent === undefined || parent === "") return this.main;
    const known = this.#threads.get(parent);
    if (known !== undefined) return known;
    const tool = this.tools.get(parent) ?? this.#newTool(parent, { seq, at, thread: this.main });
    const thread: Thread = { toolId: parent, items: [] };
    tool.thread = thread;
    tool.toolKind = "subagent";
    tool.version += 1;
    this.#threads.set(parent, thread);
    return thread;
  }

  #add<T extends Item>({ seq, at, thread }: Place, own: Own<T>): T {
    this.structure += 1;
    const item = { id: `${seq}.${this.structure}`, seq, at, version: 0, ...own } as unknown as T;
    thread.items.push(item);
    if (item.kind === "approval") this.#approvalItems.set(item.approval, item);
    return item;
  }
}

interface Place {
  seq: number;
  at: number;
  thread: Thread;
}

/** A text block is known by its message and its place there. Older writers name neither; their pieces then go to the block in progress. */
function blockKey(kind: string, frame: Fields, { thread }: Place): string {
  return JSON.stringify([kind, thread.toolId, text(frame, "message_id"), number(frame, "block_index")]);
}
