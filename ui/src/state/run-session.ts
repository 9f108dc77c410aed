// A run that is looked at: its status, its conversation, and how the connection is doing. Its views share it, so that going from one to
// another reads nothing again.
import { ApiError } from "@framegate/client";
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Connection, Frame, FrameType, Run, Source } from "../api/source";
import { Conversation } from "../model/conversation";
import { Timeline } from "../model/timeline";
import { InvalidRecords } from "./invalid-records";

/** The conversation needs none of these; they are more than half of a run's bytes. */
const WITHOUT: readonly FrameType[] = ["provider_event"];
/** Frames that change what the status says. */
const TELLING = new Set<string>(["session_started", "session_ended", "approval_requested", "approval_resolved", "turn_ended", "gap_detected"]);
/** The pause before the status is read again, so that many changes cost one request. */
const STATUS_MS = 400;
/** How long a session without a view goes on, for a view that comes right after. */
const GRACE_MS = 10_000;

export class RunSession {
  readonly runId: string;
  readonly conversation = new Conversation();
  readonly timeline = new Timeline();
  readonly status = signal<Run | undefined>(undefined);
  readonly connection = signal<Connection>({ state: "connecting" });
  /** Why the run cannot be read, or not any further. */
  readonly error = signal<unknown>(undefined);
  /** Changes with the conversation: the conversation itself is changed in place. */
  readonly version = signal(0);

  readonly #source: Source;
  readonly #invalid: InvalidRecords;
  #controller: AbortController | undefined;
  #statusTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: Source, runId: string) {
    this.#source = source;
    this.runId = runId;
    this.#invalid = new InvalidRecords(
      (after, limit, signal) => source.frames(runId, { after, limit, types: WITHOUT }, { signal }),
      () => this.conversation.lastSeq,
      (frames) => {
        this.conversation.insertInvalid(frames);
        this.version.value += 1;
      },
    );
  }

  start(): void {
    if (this.#controller !== undefined) return;
    this.#controller = new AbortController();
    void this.#read(this.#controller.signal);
  }

  stop(): void {
    this.#controller?.abort();
    this.#controller = undefined;
    this.#invalid.stop();
    clearTimeout(this.#statusTimer);
  }

  /** After an error: goes on after the last frame. */
  retry(): void {
    this.stop();
    this.error.value = undefined;
    this.start();
  }

  /** Reads the status soon. */
  refresh(delay = STATUS_MS): void {
    clearTimeout(this.#statusTimer);
    const signal = this.#controller?.signal;
    if (signal === undefined) return;
    this.#statusTimer = setTimeout(() => {
      this.#source.run(this.runId, { signal }).then(
        (run) => {
          if (signal.aborted) return;
          this.status.value = run;
          this.#invalid.search(run.invalid_records);
        },
        (error: unknown) => {
          if (!signal.aborted && isGone(error)) this.error.value = error;
        },
      );
    }, delay);
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      this.refresh(0);
      await this.#source.follow(this.runId, {
        after: this.conversation.lastSeq,
        without: WITHOUT,
        signal,
        onFrames: (frames) => this.#take(frames),
        onConnection: (connection) => {
          if (signal.aborted) return;
          const isRead = connection.state === "live" && this.connection.value.state !== "live";
          this.connection.value = connection;
          // The status may have come before the frames.
          if (isRead) this.refresh(0);
        },
      });
      this.refresh(0);
    } catch (error) {
      if (!signal.aborted) this.error.value = error;
    }
  }

  #take(frames: Frame[]): void {
    this.conversation.apply(frames);
    for (const frame of frames) this.timeline.push(frame);
    this.version.value += 1;
    if (frames.some((frame) => TELLING.has(frame.type))) this.refresh();
  }
}

/** Whether the run is no longer stored, or never was. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 410);
}

let current: { session: RunSession; source: Source; users: number; timer: ReturnType<typeof setTimeout> | undefined } | undefined;

function acquire(source: Source, runId: string): RunSession {
  if (current === undefined || current.source !== source || current.session.runId !== runId) {
    clearTimeout(current?.timer);
    current?.session.stop();
    current = { session: new RunSession(source, runId), source, users: 0, timer: undefined };
  }
  return current.session;
}

/** The session of a run, which goes on as long as a view uses it, and shortly after. */
export function useRunSession(source: Source, runId: string): RunSession {
  const session = useMemo(() => acquire(source, runId), [source, runId]);
  useEffect(() => {
    const entry = current;
    if (entry?.session !== session) {
      session.start();
      return () => session.stop();
    }
    entry.users += 1;
    clearTimeout(entry.timer);
    // What a view saw fail, as for want of a token, may succeed for the next one.
    if (session.error.value === undefined) session.start();
    else session.retry();
    return () => {
      entry.users -= 1;
      if (entry.users > 0) return;
      entry.timer = setTimeout(() => {
        session.stop();
        if (current === entry) current = undefined;
      }, GRACE_MS);
    };
  }, [session]);
  return session;
}
