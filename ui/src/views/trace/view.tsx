// Records, frames and events side by side.
//
// In: the run that is looked at, a contract, and a frame from the address. Out: a row for each frame, with the record that it came from on
// the left (or the events of a second contract) and the events that it gave on the right; what is wrong with any of them; and the selected
// one in full. Only the rows near the visible part are read and drawn.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ExportSource } from "../../api/export";
import type { Source } from "../../api/source";
import { useApp } from "../../app/context";
import { type Key, useKeys } from "../../app/keys";
import { go, paths, type Query } from "../../app/router";
import { plural } from "../../components/format";
import { Empty, Failure, Loading, messageOf } from "../../components/states";
import { toast } from "../../components/toast";
import { visible } from "../../components/visible";
import { VirtualList, type VirtualListControl } from "../../components/virtual-list";
import { MARK_KINDS, type MarkKind } from "../../model/trace-marks";
import { nextFound } from "../../model/trace-scan";
import { type RunSession, useRunSession } from "../../state/run-session";
import { RunFrame } from "../run/header";
import { Inspector } from "./inspector";
import { type Place, TraceRow } from "./row";
import { Tools } from "./tools";
import { recordOf, useTrace } from "./use-trace";
import "../../components/controls.css";
import "./trace.css";

const DEFAULT_CONTRACT = "sse.v1";
/** Runs up to this many frames are searched for findings without being asked. */
const SEARCHED_AT_ONCE = 4_000;
/** The guess for the height of a row that was not drawn yet, in pixels. */
const ROW = 28;

export function TraceView({ runId, query }: { runId: string; query: Query }) {
  const { source } = useApp();
  const session = useRunSession(source, runId);
  return (
    <RunFrame session={session}>
      <Body source={source} session={session} query={query} />
    </RunFrame>
  );
}

/** The address of a frame: the same view, at the frame. */
export function FrameView({ runId, seq, query }: { runId: string; seq: number; query: Query }) {
  return <TraceView runId={runId} query={{ ...query, frame: String(seq) }} />;
}

function Body({ source, session, query }: { source: Source; session: RunSession; query: Query }) {
  void session.version.value;
  const contracts = useContracts(source, session.runId);
  const total = Math.max(session.status.value?.frames ?? 0, session.conversation.lastSeq + 1);
  if (contracts.error !== undefined) return <Failure error={contracts.error} />;
  if (contracts.names === undefined) return <Loading what="the contracts" />;
  if (total === 0) return session.connection.value.state === "ended" ? <Empty title="This run has no frames" /> : <Loading what="the run" />;
  const fallback = contracts.names.includes(DEFAULT_CONTRACT) ? DEFAULT_CONTRACT : (contracts.names[0] ?? "");
  const wanted = query["contract"] ?? fallback;
  const contract = contracts.names.includes(wanted) ? wanted : fallback;
  const beside = query["beside"] ?? "";
  const second = contracts.names.includes(beside) ? beside : "";
  const missing = [
    ...(wanted === contract || contract === "" ? [] : [{ name: wanted, instead: `${contract} is shown.` }]),
    ...(beside === second ? [] : [{ name: beside, instead: "the runner's records are on the left." }]),
  ];
  return <TraceTable source={source} runId={session.runId} query={query} total={total} contracts={contracts.names} missing={missing} contract={contract} second={second} />;
}

/** The contracts whose events can be shown: of an exported file, the one that it has. */
function useContracts(source: Source, runId: string): { names?: readonly string[]; error?: unknown } {
  const [state, setState] = useState<{ names?: readonly string[]; error?: unknown }>({});
  useEffect(() => {
    if (source instanceof ExportSource) {
      const only = source.traceContract(runId);
      setState({ names: only === undefined ? [] : [only] });
      return;
    }
    const controller = new AbortController();
    source.catalogue({ signal: controller.signal }).then(
      ({ contracts }) => setState({ names: contracts.map(({ name }) => name).filter((name) => name !== "raw") }),
      (error: unknown) => !controller.signal.aborted && setState({ error }),
    );
    return () => controller.abort();
  }, [source, runId]);
  return state;
}

interface TableProps {
  source: Source;
  runId: string;
  query: Query;
  total: number;
  contracts: readonly string[];
  /** Contracts of the address that cannot be shown, and what is shown instead. */
  missing: readonly { name: string; instead: string }[];
  contract: string;
  second: string;
}

function TraceTable({ source, runId, query, total, contracts, missing, contract, second }: TableProps) {
  const experimental = query["experimental"] === "1";
  const userMessages = query["user_messages"] === "1";
  const trace = useTrace(source, runId, { contract, second, experimental, userMessages }, total);
  const { blocks, others, scan } = trace;
  const isFiltered = query["only"] === "findings";
  const [kinds, setKinds] = useState<ReadonlySet<MarkKind>>(new Set(MARK_KINDS));

  const show = (change: Record<string, string | undefined>) => {
    const { contract: _, frame: __, ...rest } = query;
    go(paths.trace(runId, { contract, frame: query["frame"], ...rest, ...change }), { replace: true });
  };

  // The frame of the address is selected.
  const selected = query["frame"] !== undefined && /^\d{1,15}$/.test(query["frame"]) ? Number(query["frame"]) : undefined;
  const select = (seq: number | undefined) => show({ frame: seq === undefined ? undefined : String(seq) });

  const found = scan.found.length;
  const all = useRef<number[]>([]);
  while (all.current.length < total) all.current.push(all.current.length);
  const rows = useMemo(() => {
    if (!isFiltered) return all.current;
    return scan.found.filter((one) => one.kinds.some((kind) => kinds.has(kind))).map(({ seq }) => seq);
  }, [isFiltered, total, found, kinds, scan]);
  const layout = `${contract} ${second} ${isFiltered} ${isFiltered ? [...kinds].join() : ""}`;

  const list = useRef<VirtualListControl>(null);
  const [active, setActive] = useState<Place>({ seq: selected ?? 0, side: "frame", event: 0 });
  const [hot, setHot] = useState<Place>();
  const wantsFocus = useRef(false);

  const reveal = (seq: number, align: "center" | "nearest") => {
    const index = isFiltered ? rows.indexOf(seq) : seq;
    if (index >= 0 && index < rows.length) list.current?.scrollTo(index, align);
  };
  // The address leads to its frame once; after that the reader moves.
  const revealed = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (selected === undefined || revealed.current === selected || rows.length === 0) return;
    const isFirst = revealed.current === undefined;
    revealed.current = selected;
    reveal(selected, isFirst ? "center" : "nearest");
  }, [selected, rows.length]);

  // The details take a part of the list's place: what is selected stays in view.
  const hasDetails = selected !== undefined && blocks.item(selected) !== undefined;
  useEffect(() => {
    if (!hasDetails || selected === undefined) return;
    const frame = requestAnimationFrame(() => reveal(selected, "nearest"));
    return () => cancelAnimationFrame(frame);
  }, [hasDetails]);

  // Findings
  const wantsAll = isFiltered || total <= SEARCHED_AT_ONCE;
  const isStale = scan.state === "idle" || (scan.state === "done" && scan.searched < total);
  useEffect(() => {
    if (wantsAll && isStale) void scan.run();
  }, [scan, wantsAll, isStale, total]);
  const step = useRef<1 | -1 | undefined>(undefined);
  const goTo = (direction: 1 | -1) => {
    step.current = direction;
    if (isStale) void scan.run();
    follow();
  };
  const follow = () => {
    const direction = step.current;
    if (direction === undefined) return;
    const from = selected ?? (direction === 1 ? active.seq - 1 : active.seq + 1);
    const next = nextFound(scan.found, kinds, from, direction);
    // While the search goes on, the finding before a frame may not be known yet.
    if (direction === -1 && scan.state === "running" && scan.searched < from) return;
    if (next === undefined && scan.state === "running") return;
    step.current = undefined;
    if (next === undefined) return toast(direction === 1 ? "There is no finding after this frame." : "There is no finding before this frame.");
    wantsFocus.current = true;
    revealed.current = next;
    setActive({ seq: next, side: "frame", event: 0 });
    select(next);
    reveal(next, "center");
  };
  useEffect(follow);

  const actions = useRef({ goTo, close: () => {} });
  actions.current = { goTo, close: () => select(undefined) };
  const keys = useMemo<Key[]>(
    () => [
      { keys: "n", does: "Next finding", run: () => actions.current.goTo(1) },
      { keys: "p", does: "Previous finding", run: () => actions.current.goTo(-1) },
      { keys: "Escape", does: "Close the details", run: () => actions.current.close() },
    ],
    [],
  );
  useKeys("Frames", keys);

  // Arrow keys go from place to place.
  const onKeyDown = (event: KeyboardEvent) => {
    const index = isFiltered ? rows.indexOf(active.seq) : active.seq;
    const item = blocks.item(active.seq);
    const sides = ["left", "frame", "right"] as const;
    const move = (to: Place) => {
      event.preventDefault();
      wantsFocus.current = true;
      setActive(to);
      reveal(to.seq, "nearest");
    };
    const row = (at: number) => {
      const seq = rows[Math.min(rows.length - 1, Math.max(0, at))];
      if (seq !== undefined) move({ seq, side: "frame", event: 0 });
    };
    const events = active.side === "right" ? (item?.events.length ?? 0) : active.side === "left" && others ? (others.item(active.seq)?.events.length ?? 0) : 1;
    if (event.key === "ArrowDown" || event.key === "j") {
      if (active.event + 1 < events) move({ ...active, event: active.event + 1 });
      else row(index + 1);
    } else if (event.key === "ArrowUp" || event.key === "k") {
      if (active.event > 0) move({ ...active, event: active.event - 1 });
      else row(index - 1);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const side = sides[sides.indexOf(active.side) + (event.key === "ArrowRight" ? 1 : -1)];
      if (side === undefined) return;
      const exists = side === "frame" || (side === "right" ? (item?.events.length ?? 0) > 0 : others ? (others.item(active.seq)?.events.length ?? 0) > 0 : item?.frame.type === "provider_event");
      if (exists) move({ seq: active.seq, side, event: 0 });
    } else if (event.key === "Home") row(0);
    else if (event.key === "End") row(rows.length - 1);
    else if (event.key === "PageDown") row(index + 15);
    else if (event.key === "PageUp") row(index - 15);
  };
  useEffect(() => {
    if (!wantsFocus.current) return;
    const element = list.current?.element()?.querySelector<HTMLElement>(`[data-place="${active.seq} ${active.side} ${active.event}"]`);
    if (!element) return;
    wantsFocus.current = false;
    element.focus({ preventScroll: true });
  });

  const item = selected === undefined ? undefined : blocks.item(selected);
  const record = item && recordOf(blocks, item);
  const needed = [selected, record?.missing].filter((seq) => seq !== undefined);
  useEffect(() => trace.need(needed));

  const failure = blocks.failure ?? others?.failure;
  return (
    <div class={`trace ${item ? "has-inspector" : ""}`}>
      <Tools
        contracts={contracts}
        contract={contract}
        second={second}
        experimental={experimental}
        userMessages={userMessages}
        isFiltered={isFiltered}
        kinds={kinds}
        scan={scan}
        total={total}
        onShow={show}
        onKinds={setKinds}
        onStep={goTo}
        onFrame={(seq) => {
          const to = Math.min(total - 1, seq);
          setActive({ seq: to, side: "frame", event: 0 });
          wantsFocus.current = true;
          revealed.current = to;
          select(to);
          reveal(to, "center");
        }}
        onSearch={() => void scan.run()}
      />
      {missing.map(({ name, instead }) => (
        <p key={name} class="trace-note small" role="status">
          {whyMissing(source, name)}; {instead}
        </p>
      ))}
      {selected !== undefined && selected >= total && (
        <p class="trace-note small" role="status">
          There is no frame {selected}: the run has {plural(total, "frame")}{total > 0 && `, the last one is ${total - 1}`}.
        </p>
      )}
      {failure !== undefined && (
        <p class="trace-failure problem" role="alert">
          Some frames could not be read: {messageOf(failure)}
          <button type="button" class="button button-small" onClick={trace.retry}>
            Try again
          </button>
        </p>
      )}
      {rows.length === 0 ? (
        <NoFindings isRunning={scan.state === "running"} searched={scan.searched} total={total} hasOthers={found > 0} onAll={() => show({ only: undefined })} />
      ) : (
        <div class="trace-grid" role="grid" aria-label="Records, frames and events" aria-rowcount={rows.length} onKeyDown={onKeyDown}>
          <div class="trace-row trace-head" role="row">
            <span role="columnheader">{second === "" ? "Record" : second}</span>
            <span role="columnheader">Frame</span>
            <span role="columnheader">{contract === "" ? "Events" : contract}</span>
          </div>
          <VirtualList<number>
            control={list}
            class="trace-list"
            label="Frames"
            role="rowgroup"
            rowRole="presentation"
            items={rows}
            layout={layout}
            keyOf={String}
            guess={() => ROW}
            render={(seq) => (
              <TraceRow
                seq={seq}
                state={blocks.state(seq)}
                second={others?.state(seq)}
                hot={hot}
                hotItem={hot && blocks.item(hot.seq)}
                active={active}
                isSelected={seq === selected}
                onVisible={trace.show}
                onHot={setHot}
                onActive={setActive}
                onSelect={(place) => {
                  setActive(place);
                  revealed.current = place.seq;
                  select(selected === place.seq ? undefined : place.seq);
                }}
              />
            )}
          />
        </div>
      )}
      {item && (
        <Inspector
          runId={runId}
          item={item}
          record={record?.item}
          isRecordMissing={record?.missing !== undefined}
          contract={contract}
          second={others?.item(item.frame.seq)}
          secondContract={second}
          onClose={() => select(undefined)}
        />
      )}
    </div>
  );
}

function whyMissing(source: Source, contract: string): string {
  if (contract === "raw") return "The contract raw has no events, only the runner's records";
  return `${source.kind === "export" ? "This file has no events of" : "There is no contract"} ${visible(contract)}`;
}

function NoFindings({ isRunning, searched, total, hasOthers, onAll }: { isRunning: boolean; searched: number; total: number; hasOthers: boolean; onAll(): void }) {
  if (isRunning) return <Loading what={`findings: ${searched.toLocaleString("en")} of ${total.toLocaleString("en")} frames were searched`} />;
  return (
    <Empty title={hasOthers ? "No finding of the chosen kinds" : "No findings"}>
      <p>{hasOthers ? "The run has findings of other kinds." : "Every record was understood, and every event satisfies the schema of its contract."}</p>
      <button type="button" class="button" onClick={onAll}>
        Show all frames
      </button>
    </Empty>
  );
}
