// The timeline of a run: what happened when, as bars.
//
// In: the run that is looked at. Out: a picture that can be zoomed and moved, details of the bar under the pointer or with the focus, and
// the same as a table. A bar leads to its place in the conversation.
import { useMemo, useRef, useState } from "preact/hooks";
import { useApp } from "../../app/context";
import { type Key, useKeys } from "../../app/keys";
import { go, paths, type Query } from "../../app/router";
import { plural } from "../../components/format";
import { useNow } from "../../components/hooks";
import { Empty, Loading } from "../../components/states";
import { type Bar, MAX_BARS, type Timeline } from "../../model/timeline";
import { around, type Axis, type Span, moved, within, zoomed } from "../../model/timeline-view";
import { useRunSession } from "../../state/run-session";
import { RunFrame } from "../run/header";
import { Chart, type Shown } from "./chart";
import { Details } from "./details";
import { Overview } from "./overview";
import { BarTable } from "./table";
import "../../components/controls.css";
import "./timeline.css";

/** How often an open bar grows. */
const GROW_MS = 500;

export function TimelineView({ runId, query }: { runId: string; query: Query }) {
  const { source } = useApp();
  const session = useRunSession(source, runId);
  const version = session.version.value;
  const { timeline } = session;
  return (
    <RunFrame session={session}>
      {timeline.first === undefined ? (
        session.connection.value.state === "ended" ? (
          <Empty title="This run has no frames" />
        ) : (
          <Loading what="the run" />
        )
      ) : (
        <Picture runId={runId} timeline={timeline} version={version} query={query} isLive={timeline.ended === undefined && session.connection.value.state !== "ended"} />
      )}
    </RunFrame>
  );
}

interface PictureProps {
  runId: string;
  timeline: Timeline;
  /** Changes with the timeline, which is changed in place. */
  version: number;
  query: Query;
  isLive: boolean;
}

function Picture({ runId, timeline, version, query, isLive }: PictureProps) {
  const origin = timeline.first!;
  const last = timeline.last!;
  // A recording that was read at once may have one time for all frames: then only their order says something.
  const hasTimes = last.ms > origin.ms || isLive;
  const axis: Axis = query["axis"] === "order" || (!hasTimes && query["axis"] !== "time") ? "order" : "time";
  const isTable = query["as"] === "table";
  const show = (next: { axis?: Axis; isTable?: boolean }) => {
    const wanted = { axis: next.axis ?? query["axis"], as: (next.isTable ?? isTable) ? "table" : undefined };
    go(paths.timeline(runId, wanted), { replace: true });
  };

  const now = useEnd(timeline, axis, isLive);
  const whole: Span = { from: 0, to: Math.max(now, axis === "time" ? 1 : last.seq - origin.seq + 1) };
  // Without a span of its own, the picture shows the whole run, however long it gets.
  const [own, setOwn] = useState<{ axis: Axis; span: Span }>();
  const span = own !== undefined && own.axis === axis ? within(own.span, whole) : whole;
  const setSpan = (next: Span) => {
    const isWhole = next.from <= whole.from && next.to >= whole.to;
    setOwn(isWhole ? undefined : { axis, span: next });
  };
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [hovered, setHovered] = useState<Shown>();
  const [focused, setFocused] = useState<Shown>();
  const shown = hovered ?? focused;

  const actions = useRef({ zoom: (_factor: number) => {}, move: (_share: number) => {}, fit: () => {}, toBar: () => {} });
  const middle = (span.from + span.to) / 2;
  const centre = focused === undefined ? middle : Math.min(Math.max(placeOf(focused.bar, axis, timeline), span.from), span.to);
  actions.current = {
    zoom: (factor) => setSpan(zoomed(span, whole, factor, centre)),
    move: (share) => setSpan(moved(span, whole, share)),
    fit: () => setOwn(undefined),
    toBar: () => focused && setSpan(around(focused.bar, axis, origin, now, whole)),
  };
  const keys = useMemo<Key[]>(
    () => [
      { keys: "+", does: "Zoom in", run: () => actions.current.zoom(0.5) },
      { keys: "-", does: "Zoom out", run: () => actions.current.zoom(2) },
      { keys: "0", does: "Show the whole run", run: () => actions.current.fit() },
      { keys: "z", does: "Zoom to the bar with the focus", run: () => actions.current.toBar() },
      { keys: "a", does: "Move to earlier", run: () => actions.current.move(-0.25) },
      { keys: "d", does: "Move to later", run: () => actions.current.move(0.25) },
    ],
    [],
  );
  useKeys("Timeline", keys);

  return (
    <div class="timeline">
      <div class="timeline-bar" role="toolbar" aria-label="Timeline">
        <div class="segmented" role="group" aria-label="Axis">
          <Choice isOn={axis === "time"} onClick={() => show({ axis: "time" })} label="Time" />
          <Choice isOn={axis === "order"} onClick={() => show({ axis: "order" })} label="Order" />
        </div>
        <div class="segmented" role="group" aria-label="Form">
          <Choice isOn={!isTable} onClick={() => show({ isTable: false })} label="Bars" />
          <Choice isOn={isTable} onClick={() => show({ isTable: true })} label="Table" />
        </div>
        {!isTable && (
          <div class="timeline-zoom" role="group" aria-label="Zoom">
            <button type="button" class="button button-icon" aria-label="Zoom out" title="Zoom out (-)" onClick={() => actions.current.zoom(2)}>
              −
            </button>
            <button type="button" class="button button-icon" aria-label="Zoom in" title="Zoom in (+)" onClick={() => actions.current.zoom(0.5)}>
              +
            </button>
            <button type="button" class="button" title="Show the whole run (0)" disabled={own === undefined} onClick={() => setOwn(undefined)}>
              Whole run
            </button>
          </div>
        )}
        {!isTable && <Legend />}
      </div>
      <Notes timeline={timeline} axis={axis} hasTimes={hasTimes} />
      {timeline.bars.length === 0 ? (
        <Empty title="Nothing to show yet" />
      ) : isTable ? (
        <BarTable runId={runId} timeline={timeline} version={version} now={now} axis={axis} />
      ) : (
        <>
          <Overview timeline={timeline} version={version} axis={axis} whole={whole} span={span} now={now} onSpan={setSpan} />
          <Chart
            runId={runId}
            timeline={timeline}
            axis={axis}
            whole={whole}
            span={span}
            now={now}
            folded={folded}
            onFold={(id) => setFolded(toggled(folded, id))}
            onSpan={setSpan}
            focused={focused}
            onHover={setHovered}
            onFocus={setFocused}
          />
          <Details runId={runId} shown={shown} timeline={timeline} axis={axis} now={now} onZoom={(bar) => setSpan(around(bar, axis, origin, now, whole))} />
        </>
      )}
    </div>
  );
}

function placeOf(bar: Bar, axis: Axis, timeline: Timeline): number {
  return axis === "time" ? bar.start.ms - timeline.first!.ms : bar.start.seq - timeline.first!.seq;
}

function toggled(folded: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(folded);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Where the axis ends. While the run goes on, time passes since its last frame; the clocks of the proxy and the browser may differ. */
function useEnd(timeline: Timeline, axis: Axis, isLive: boolean): number {
  const last = timeline.last!;
  const seen = useRef({ seq: -1, at: 0 });
  if (seen.current.seq !== last.seq) seen.current = { seq: last.seq, at: performance.now() };
  useNow(GROW_MS, isLive && axis === "time");
  if (axis === "order") return last.seq - timeline.first!.seq + 1;
  const since = isLive ? performance.now() - seen.current.at : 0;
  return last.ms - timeline.first!.ms + since;
}

function Choice({ isOn, onClick, label }: { isOn: boolean; onClick(): void; label: string }) {
  return (
    <button type="button" class={isOn ? "is-on" : ""} aria-pressed={isOn} onClick={onClick}>
      {label}
    </button>
  );
}

const LEGEND: readonly { name: string; kind: string }[] = [
  { name: "turn", kind: "turn" },
  { name: "reasoning", kind: "reasoning" },
  { name: "text", kind: "text" },
  { name: "tool", kind: "tool" },
  { name: "wait", kind: "wait" },
  { name: "failed", kind: "failed" },
];

function Legend() {
  return (
    <ul class="timeline-legend small soft" aria-label="Colours">
      {LEGEND.map(({ name, kind }) => (
        <li key={name}>
          <svg width="14" height="10" aria-hidden="true">
            <rect class={`bar-shape bar-${kind}`} x="0.5" y="0.5" width="13" height="9" rx="2" />
            {kind === "failed" && <path class="bar-cross" d="M4.5 2.5l5 5M9.5 2.5l-5 5" />}
          </svg>
          {name}
        </li>
      ))}
    </ul>
  );
}

function Notes({ timeline, axis, hasTimes }: { timeline: Timeline; axis: Axis; hasTimes: boolean }) {
  const notes: string[] = [];
  if (!hasTimes) notes.push("All frames of this run have the same time, so bars show their order.");
  else if (axis === "order") notes.push("The axis counts frames, not time.");
  if (timeline.omitted > 0) notes.push(`${plural(timeline.omitted, "bar")} after the first ${MAX_BARS.toLocaleString("en")} are left out.`);
  if (timeline.gaps > 0) notes.push("A part of the run is missing: see the gaps.");
  if (timeline.unreadable > 0) notes.push(`${plural(timeline.unreadable, "frame")} could not be read.`);
  if (notes.length === 0) return null;
  return <p class="timeline-notes small soft">{notes.join(" ")}</p>;
}
