// The whole run in a strip, with the visible part marked. Dragging chooses another part; a click moves to a place.
import { useMemo, useRef, useState } from "preact/hooks";
import { useSize } from "../../components/hooks";
import type { Row, RowKind, Thread, Timeline } from "../../model/timeline";
import { type Axis, shapes, type Span, ticks, within } from "../../model/timeline-view";
import { kindOf } from "./words";

const ROW_KINDS: readonly RowKind[] = ["turn", "tool", "wait"];
const ROW = 8;
const HEIGHT = ROW_KINDS.length * ROW + 8;

export interface OverviewProps {
  timeline: Timeline;
  /** Changes with the timeline, which is changed in place. */
  version: number;
  axis: Axis;
  whole: Span;
  span: Span;
  now: number;
  onSpan(span: Span): void;
}

export function Overview({ timeline, version, axis, whole, span, now, onSpan }: OverviewProps) {
  const { ref, width } = useSize<HTMLDivElement>();
  const [drag, setDrag] = useState<{ from: number; to: number }>();
  const begin = useRef<number | undefined>(undefined);
  const length = whole.to - whole.from;
  const toAxis = (event: PointerEvent) => {
    const box = ref.current!.getBoundingClientRect();
    return whole.from + (Math.min(Math.max(event.clientX - box.left, 0), box.width) / Math.max(1, box.width)) * length;
  };
  const x = (at: number) => ((at - whole.from) / length) * width;
  // The strip changes with the run, not with the part that is visible.
  const picture = useMemo(() => <Strip timeline={timeline} version={version} axis={axis} whole={whole} width={width} now={now} />, [timeline, version, axis, whole.from, whole.to, width, now]);
  const isPart = span.from > whole.from || span.to < whole.to;
  return (
    <div
      ref={ref}
      class="overview"
      aria-hidden="true"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        begin.current = toAxis(event);
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (begin.current === undefined) return;
        const at = toAxis(event);
        setDrag({ from: Math.min(begin.current, at), to: Math.max(begin.current, at) });
      }}
      onPointerUp={(event) => {
        const from = begin.current;
        begin.current = undefined;
        setDrag(undefined);
        if (from === undefined) return;
        const at = toAxis(event);
        const chosen = { from: Math.min(from, at), to: Math.max(from, at) };
        if (x(chosen.to) - x(chosen.from) >= 4) return onSpan(within(chosen, whole));
        const half = (span.to - span.from) / 2;
        if (isPart) onSpan(within({ from: at - half, to: at + half }, whole));
      }}
      onPointerCancel={() => {
        begin.current = undefined;
        setDrag(undefined);
      }}
      onDblClick={() => onSpan(whole)}
    >
      <svg width={width} height={HEIGHT}>
        {picture}
        {isPart && (
          <>
            <rect class="overview-shade" x={0} y={0} width={x(span.from)} height={HEIGHT} />
            <rect class="overview-shade" x={x(span.to)} y={0} width={Math.max(0, width - x(span.to))} height={HEIGHT} />
            <rect class="overview-window" x={x(span.from) + 0.5} y={0.5} width={Math.max(2, x(span.to) - x(span.from) - 1)} height={HEIGHT - 1} />
          </>
        )}
        {drag !== undefined && <rect class="overview-drag" x={x(drag.from)} y={0} width={x(drag.to) - x(drag.from)} height={HEIGHT} />}
      </svg>
    </div>
  );
}

type StripProps = Pick<OverviewProps, "timeline" | "version" | "axis" | "whole" | "now"> & { width: number };

function Strip({ timeline, axis, whole, width, now }: StripProps) {
  if (width === 0) return null;
  return (
    <>
      {ticks(axis, whole, width, 120).map(({ at, x: left }) => (
        <line key={at} class="overview-tick" x1={left} x2={left} y1={0} y2={HEIGHT} />
      ))}
      {rowsOf(timeline.main).flatMap(({ kind, row, thread }) =>
        row.lanes.flatMap((lane, number) =>
          shapes(lane, axis, timeline.first!, whole, width, now).map((shape) => (
            <rect
              key={`${thread.id} ${kind} ${number} ${shape.bar.index}`}
              class={`bar-shape bar-${shape.failed > 0 ? "failed" : kindOf(shape.bar)}`}
              x={shape.x}
              y={4 + ROW_KINDS.indexOf(kind) * ROW}
              width={Math.max(1, shape.width - 0.5)}
              height={ROW - 2}
            />
          )),
        ),
      )}
    </>
  );
}

/** The rows of a few threads: the strip shows the shape of the run, not all of it. */
const MAX_ROWS = 60;

function rowsOf(main: Thread): { kind: RowKind; row: Row; thread: Thread }[] {
  const out: { kind: RowKind; row: Row; thread: Thread }[] = [];
  const stack = [main];
  for (let thread = stack.pop(); thread !== undefined && out.length < MAX_ROWS; thread = stack.pop()) {
    for (const kind of ROW_KINDS) {
      const row = thread.rows.get(kind);
      if (row) out.push({ kind, row, thread });
    }
    stack.push(...thread.children);
  }
  return out;
}
