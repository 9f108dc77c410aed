// The conversation of a run, or of one subagent in it.
//
// It follows the end of a run that is in progress until the reader scrolls up. What arrives meanwhile is counted at the button that leads
// back.
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { useApp } from "../../app/context";
import { type Key, useKeys } from "../../app/keys";
import { paths, type Query } from "../../app/router";
import { plural, whole } from "../../components/format";
import { Icon } from "../../components/icon";
import { Empty, Loading } from "../../components/states";
import { toast } from "../../components/toast";
import { VirtualList, type VirtualListControl } from "../../components/virtual-list";
import type { Item, ToolItem } from "../../model/items";
import { type Row, Rows } from "../../model/rows";
import { useRunSession } from "../../state/run-session";
import { RunFrame } from "../run/header";
import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { Conversing, type ConversationContext } from "./context";
import "./conversation.css";
import { InterruptButton } from "./interrupt";
import { ItemView, labelOf } from "./items/item";
import { useMarks } from "./marks";
import { type Found, Search } from "./search";
import { isDetailed, setDetailed } from "./settings";
import { targetOf, useTarget } from "./target";

export interface ConversationViewProps {
  runId: string;
  /** A call: if it started a subagent, only that is shown; else it is brought into view. */
  toolId?: string;
  /** `at`: the frame that is brought into view. */
  query: Query;
}

export function ConversationView({ runId, toolId: callId, query }: ConversationViewProps) {
  const { source, can } = useApp();
  const session = useRunSession(source, runId);
  const { conversation } = session;
  const version = session.version.value;
  const run = session.status.value;
  const connection = session.connection.value;
  const toolId = callId !== undefined && conversation.thread(callId) !== undefined ? callId : undefined;

  const folds = useMemo(() => new Map<string, boolean>(), [session]);
  const [threads, setThreads] = useState(0);
  const [isAtEnd, setAtEnd] = useState(true);
  const [selected, setSelected] = useState<string>();
  const [isSearching, setSearching] = useState(false);
  const [found, setFound] = useState<Found>();
  const control = useRef<VirtualListControl>(null);
  const seen = useRef(0);

  // Until the status is known, the run is read from its beginning, as one that has ended.
  const isOpen = run !== undefined && (run.state === "running" || run.state === "waiting_approval");
  const context = useMemo<ConversationContext>(
    () => ({ source, session, canAnswer: can.control, folds, onThreads: () => setThreads((count) => count + 1) }),
    [source, session, can.control, folds],
  );

  const rows = useRows(session.conversation, toolId, folds, threads, version);
  const list = rows.list;
  if (isAtEnd) seen.current = list.length;
  const unseen = list.length - seen.current;

  const listElement = useCallback(() => control.current?.element(), []);
  useMarks(listElement, found?.needle);

  const onAtEnd = useCallback((next: boolean) => setAtEnd(next), []);

  const select = useCallback(
    (index: number) => {
      const row = list[index];
      if (row === undefined) return;
      setSelected(row.item.id);
      control.current?.scrollTo(index, "nearest");
      // The row exists after the list was drawn again.
      requestAnimationFrame(() => requestAnimationFrame(() => focusRow(control.current?.element(), index)));
    },
    [list],
  );

  const target = useMemo(() => targetOf(toolId === undefined ? callId : undefined, query["at"]), [toolId, callId, query]);
  useTarget(target, {
    rows: list,
    lastSeq: conversation.lastSeq,
    version,
    isComplete: connection.state === "ended",
    show: (index) => {
      const row = list[index];
      if (row === undefined) return;
      setSelected(row.item.id);
      control.current?.scrollTo(index, "center");
      requestAnimationFrame(() => requestAnimationFrame(() => focusRow(control.current?.element(), index)));
    },
    onMissing: () => toast(callId === undefined ? "This run has no such frame." : "This run has no such tool call."),
  });

  const move = useCallback(
    (step: 1 | -1, matches: (item: Item) => boolean = () => true) => {
      const current = list.findIndex((row) => row.item.id === selected);
      const from = current >= 0 ? current : (control.current?.first() ?? 0) - (step === 1 ? 1 : 0);
      for (let at = from + step; at >= 0 && at < list.length; at += step) {
        const row = list[at];
        if (row !== undefined && row.item.kind !== "turn" && matches(row.item)) return select(at);
      }
    },
    [list, selected, select],
  );

  const keys = useMemo<Key[]>(
    () => [
      { keys: "j", does: "Next item", run: () => move(1) },
      { keys: "k", does: "Previous item", run: () => move(-1) },
      { keys: "p", does: "Next prompt", run: () => move(1, (item) => item.kind === "prompt") },
      { keys: "e", does: "Next failure", run: () => move(1, isTrouble) },
      { keys: "/", does: "Search in this run", run: () => setSearching(true) },
      { keys: "G", does: "Go to the end, and follow it", run: () => control.current?.scrollToEnd() },
      { keys: "g g", does: "Go to the beginning", run: () => control.current?.scrollTo(0) },
      { keys: "g t", does: "Go to the timeline", run: () => (location.hash = paths.timeline(runId)) },
      { keys: "g f", does: "Go to the frames", run: () => (location.hash = paths.trace(runId)) },
      { keys: "d", does: "Show or hide details", run: () => setDetailed(!isDetailed.value) },
    ],
    [move, runId],
  );
  useKeys("Conversation", keys);

  const render = useCallback(
    (row: Row, index: number) => (
      <article
        class={`item item-${row.item.kind} depth-${row.depth} ${row.item.id === selected ? "item-selected" : ""} ${found?.current === row.item ? "item-found" : ""}`}
        tabIndex={-1}
        data-item={row.item.kind}
        data-frame={row.item.seq}
        aria-label={labelOf(row.item)}
        aria-posinset={index + 1}
        aria-setsize={isOpen ? -1 : list.length}
      >
        <ItemView item={row.item} version={row.item.version} depth={row.depth} />
      </article>
    ),
    [selected, found, isOpen, list],
  );

  const tool = toolId === undefined ? undefined : conversation.tools.get(toolId);
  const isLoading = conversation.frames === 0 && (connection.state === "connecting" || run === undefined);
  const waiting = conversation.end === undefined ? conversation.openApprovals : [];

  return (
    <RunFrame session={session} actions={<Actions isOpen={isOpen} onSearch={() => setSearching(true)} session={session} />}>
      <Conversing.Provider value={context}>
        <div class="conversation">
          {toolId !== undefined && <Trail runId={runId} tool={tool} />}
          {isSearching && (
            <Search
              rows={list}
              version={version}
              onFound={setFound}
              onShow={(index) => {
                const row = list[index];
                if (row !== undefined) setSelected(row.item.id);
                control.current?.scrollTo(index, "center");
              }}
              onClose={() => {
                setSearching(false);
                setFound(undefined);
              }}
            />
          )}
          {isLoading ? (
            <Loading what="the run" />
          ) : list.length === 0 ? (
            <Empty title={conversation.frames > 0 || !isOpen ? "This run has no conversation" : "Nothing has happened yet"}>
              <p>{isOpen ? "What the runner does appears here as it happens." : "All its frames are in the view Frames."}</p>
            </Empty>
          ) : (
            <VirtualList
              items={list}
              layout={rows.layout}
              version={version}
              keyOf={keyOf}
              guess={guess}
              render={render}
              label="Conversation"
              role="feed"
              class="conversation-list"
              follows={isOpen && can.live}
              onAtEnd={onAtEnd}
              control={control}
              footer={<Working isShown={isOpen && conversation.end === undefined && connection.state === "live" && waiting.length === 0 && isAtEnd} />}
            />
          )}
          <div class="conversation-foot">
            {!isAtEnd && list.length > 0 && (unseen > 0 || isOpen) && (
              <button type="button" class="button jump" onClick={() => control.current?.scrollToEnd()}>
                <Icon name="down" />
                {unseen > 0 ? `${whole(unseen)} new` : "Latest"}
              </button>
            )}
            {waiting.length > 0 && (
              <Waiting
                count={waiting.length}
                onShow={() => {
                  const first = waiting[0];
                  const index = list.findIndex(({ item }) => isAbout(item, first?.approvalId));
                  if (index >= 0) select(index);
                }}
              />
            )}
          </div>
          {toolId === undefined && run !== undefined && can.control && <Composer run={run} />}
          <Announcer session={session} />
        </div>
      </Conversing.Provider>
    </RunFrame>
  );
}

/** The rows of what is shown; they change in place, and `version` says that they may have. */
function useRows(conversation: ReturnType<typeof useRunSession>["conversation"], toolId: string | undefined, folds: Map<string, boolean>, threads: number, version: number): Rows {
  const rows = useMemo(() => new Rows(), [conversation, toolId]);
  const detailed = isDetailed.value;
  const before = useRef<unknown>(undefined);
  return useMemo(() => {
    const options = `${threads}/${detailed}`;
    const root = conversation.thread(toolId) ?? { toolId, items: [] };
    rows.update(
      conversation,
      { root, isClosed: (tool) => folds.get(`${tool.id}/thread`) ?? false, isHidden: (item) => !detailed && isDetail(item) },
      before.current !== options,
    );
    before.current = options;
    return rows;
  }, [rows, conversation, toolId, folds, threads, detailed, version]);
}

/** What most readers do not want to see. */
function isDetail(item: Item): boolean {
  return item.kind === "notice" && item.level === "debug";
}

function isTrouble(item: Item): boolean {
  return item.kind === "error" || item.kind === "gap" || item.kind === "invalid" || (item.kind === "tool" && (item.state === "failed" || (item.exitCode ?? 0) !== 0));
}

function isAbout(item: Item, approvalId: string | undefined): boolean {
  if (item.kind === "approval") return item.approval.approvalId === approvalId;
  return item.kind === "tool" && item.approvals.some((approval) => approval.approvalId === approvalId);
}

function keyOf({ item }: Row): string {
  return item.id;
}

const GUESSES: Partial<Record<Item["kind"], number>> = { prompt: 110, text: 90, reasoning: 34, turn: 34, notice: 30, invalid: 60, end: 150, tool: 130 };

/** Near enough that the scroll bar does not jump much. */
function guess({ item }: Row): number {
  const base = GUESSES[item.kind] ?? 90;
  if (item.kind === "text" || item.kind === "prompt") return base + Math.min(item.text.length / 90, 400) * 22;
  if (item.kind === "tool" && item.toolKind !== "shell" && item.toolKind !== "edit" && item.toolKind !== "write") return 46;
  return base;
}

function focusRow(list: HTMLElement | null | undefined, index: number): void {
  list?.querySelector<HTMLElement>(`[data-index="${index}"] > article`)?.focus({ preventScroll: true });
}

function Actions({ session, isOpen, onSearch }: { session: ReturnType<typeof useRunSession>; isOpen: boolean; onSearch: () => void }) {
  const { can } = useApp();
  return (
    <>
      {can.control && isOpen && session.status.value !== undefined && <InterruptButton session={session} />}
      <button type="button" class="button button-plain button-icon" onClick={onSearch} aria-label="Search in this run" title="Search (/)">
        <Icon name="search" />
      </button>
      <button
        type="button"
        class="button button-plain button-small details-toggle"
        aria-pressed={isDetailed.value}
        onClick={() => setDetailed(!isDetailed.value)}
        title="Debug messages and changes of state (d)"
      >
        Details
      </button>
    </>
  );
}

function Trail({ runId, tool }: { runId: string; tool: ToolItem | undefined }) {
  const info = tool?.subagents[0];
  return (
    <nav class="trail" aria-label="Where this is">
      <a href={paths.conversation(runId)}>Whole run</a>
      <span aria-hidden="true">›</span>
      <span class="truncate">{info?.task ?? info?.agent ?? tool?.name ?? "Subagent"}</span>
    </nav>
  );
}

function Working({ isShown }: { isShown: boolean }) {
  return (
    <div class={`working ${isShown ? "" : "working-off"}`} aria-hidden="true">
      <span class="dot dot-live" />
      <span class="dot dot-live" />
      <span class="dot dot-live" />
    </div>
  );
}

function Waiting({ count, onShow }: { count: number; onShow: () => void }) {
  return (
    <div class="waiting">
      <Icon name="question" />
      <span>{plural(count, "question")} waiting for an answer</span>
      <button type="button" class="button button-small" onClick={onShow}>
        Show
      </button>
    </div>
  );
}
