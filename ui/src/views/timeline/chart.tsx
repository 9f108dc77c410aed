// The bars of a timeline, with the scale.
//
// In: the timeline and the visible part of the axis. Out: an SVG for each lane near the visible part of the page, with the bars that are
// visible on the axis. Pointer: dragging moves, the wheel with Ctrl or pinching zooms, a click on a group zooms into it. Keys: arrows go
// from bar to bar, Enter follows its link.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { go, paths } from "../../app/router";
import { plural } from "../../components/format";
import { Icon } from "../../components/icon";
import { useMedia } from "../../components/hooks";
import { visible } from "../../components/visible";
import { type Bar, ROWS, type RowKind, type Timeline } from "../../model/timeline";
import { type Axis, endOf, isWithin, type Line, lines, moved, place, type Shape, shapes, type Span, ticks, visibleLines, within, zoomed } from "../../model/timeline-view";
import { detailOf, kindOf, labelOf, nameOf } from "./words";

export interface Shown {
  bar: Bar;
  /** The number of bars of a group that begins with this one. */
  count: number;
  failed: number;
}

export interface ChartProps {
  runId: string;
  timeline: Timeline;
  axis: Axis;
  whole: Span;
  span: Span;
  now: number;
  folded: ReadonlySet<string>;
  onFold(threadId: string): void;
  onSpan(span: Span): void;
  focused: Shown | undefined;
  onHover(shown: Shown | undefined): void;
  onFocus(shown: Shown | undefined): void;
}

const LINE = 26;
const BAR = 20;
const NAMES: Readonly<Record<RowKind, string>> = { turn: "Turns", model: "Model", tool: "Tools", wait: "Waits", task: "Tasks", point: "Events" };

export function Chart(props: ChartProps) {
  const { runId, timeline, axis, whole, span, now, folded, onFold, onSpan, focused, onHover, onFocus } = props;
  const isNarrow = useMedia("(max-width: 600px)");
  const gutter = isNarrow ? 76 : 150;
  const { ref, top, width: fullWidth, height } = useScroller();
  const width = Math.max(50, fullWidth - gutter - 8);
  const { lines: all, hidden } = useMemo(
    () => lines(timeline.main, ROWS, folded, (thread) => isWithin(thread, axis, timeline.first!, span)),
    [timeline, timeline.bars.length, timeline.last?.seq, folded, axis, span.from, span.to],
  );
  const { first, last } = visibleLines(all.length, LINE, top, top + height);
  const origin = timeline.first!;
  usePan(ref, { span, whole, width, gutter, onSpan });

  const open = (shape: Shape) => {
    if (shape.count > 1) return onSpan(within(groupSpan(shape, axis, timeline, now), whole));
    go(hrefOf(runId, shape.bar));
  };
  const onKey = (event: KeyboardEvent) => {
    const next = focused && neighbour(focused.bar, event.key, all, axis, timeline);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    onFocus({ bar: next, count: 1, failed: 0 });
    const from = place(axis, next.start, origin);
    const to = endOf(axis, next, origin, now);
    const length = span.to - span.from;
    if (from > span.to || to < span.from) onSpan(within({ from: from - length / 3, to: from + (2 * length) / 3 }, whole));
    const line = all.findIndex((known) => known.kind === "lane" && known.bars.includes(next));
    const element = ref.current;
    if (element && line >= 0) {
      if (line * LINE < element.scrollTop) element.scrollTop = line * LINE;
      else if ((line + 2) * LINE > element.scrollTop + element.clientHeight) element.scrollTop = (line + 2) * LINE - element.clientHeight;
    }
  };
  useFocusedBar(ref, focused);

  const scale = ticks(axis, span, width, isNarrow ? 64 : 90);
  let hasTabStop = false;
  return (
    <div class="chart" aria-label="Bars of the run. Arrow keys go from bar to bar; the table has the same as text." role="group" onKeyDown={onKey}>
      <svg class="chart-scale" width={fullWidth} height={22} aria-hidden="true">
        {scale.map(({ at, x, label }) => (
          <text key={at} x={gutter + x + 3} y={15}>
            {label}
          </text>
        ))}
      </svg>
      <div ref={ref} class="chart-scroller">
        <div class="chart-space" style={{ height: `${all.length * LINE}px` }}>
          <svg class="chart-grid" width={fullWidth} height={Math.max(height, all.length * LINE)} aria-hidden="true">
            {scale.map(({ at, x }) => (
              <line key={at} x1={gutter + x} x2={gutter + x} y1={0} y2="100%" />
            ))}
          </svg>
          {all.slice(first, last).map((line, index) => {
            const y = (first + index) * LINE;
            const depth = Math.min(line.thread.depth, isNarrow ? 2 : 6);
            if (line.kind === "thread") {
              return (
                <button
                  key={`thread ${line.thread.id}`}
                  type="button"
                  class="chart-thread"
                  style={{ top: `${y}px`, paddingLeft: `${8 + depth * 10}px` }}
                  aria-expanded={!line.isFolded}
                  onClick={() => onFold(line.thread.id)}
                >
                  <Icon name="chevron" class={line.isFolded ? "" : "is-turned"} />
                  <span class="truncate" dir="auto">
                    {visible(line.thread.title)}
                  </span>
                  {line.thread.outcome === "failed" && <span class="chart-failed">failed</span>}
                  {line.thread.outcome === "open" && line.thread.depth > 0 && <span class="soft small">goes on</span>}
                </button>
              );
            }
            const drawn = shapes(line.bars, axis, origin, span, width, now);
            return (
              <div key={`${line.thread.id} ${line.row} ${line.lane}`} class="chart-line" style={{ top: `${y}px` }}>
                <span class="chart-name truncate" style={{ width: `${gutter}px`, paddingLeft: `${8 + depth * 10}px` }}>
                  {line.isFirst ? NAMES[line.row as RowKind] : ""}
                </span>
                <svg class="chart-lane" width={width} height={LINE}>
                  {drawn.map((shape) => {
                    const isFocused = focused !== undefined && shape.bar.index <= focused.bar.index && focused.bar.index <= shape.lastBar.index;
                    const isTabStop = isFocused || (focused === undefined && !hasTabStop);
                    if (isTabStop) hasTabStop = true;
                    return (
                      <BarShape
                        key={shape.bar.index}
                        shape={shape}
                        isFocused={isFocused}
                        isTabStop={isTabStop}
                        label={labelOf(shape, axis, timeline, now)}
                        onOpen={() => open(shape)}
                        onHover={(isOver) => onHover(isOver ? shownOf(shape) : undefined)}
                        onFocus={() => onFocus(isFocused && focused ? { ...shownOf(shape), bar: focused.bar } : shownOf(shape))}
                      />
                    );
                  })}
                </svg>
              </div>
            );
          })}
        </div>
        {hidden > 0 && <p class="chart-hidden small soft">{plural(hidden, "subagent")} outside of the visible part</p>}
      </div>
    </div>
  );
}

function shownOf({ bar, count, failed }: Shape): Shown {
  return { bar, count, failed };
}

interface BarShapeProps {
  shape: Shape;
  isFocused: boolean;
  isTabStop: boolean;
  label: string;
  onOpen(): void;
  onHover(isOver: boolean): void;
  onFocus(): void;
}

function BarShape({ shape, isFocused, isTabStop, label, onOpen, onHover, onFocus }: BarShapeProps) {
  const { x, width, bar, count, failed } = shape;
  const isFailed = count > 1 ? failed === count : bar.outcome === "failed" || bar.outcome === "refused";
  const kind = isFailed ? "failed" : kindOf(bar);
  const top = (LINE - BAR) / 2;
  const isPoint = bar.row === "point" && count === 1;
  const drawnWidth = Math.max(1, width - 1);
  return (
    <g
      role="link"
      tabIndex={isTabStop ? 0 : -1}
      aria-label={label}
      data-bar={bar.index}
      data-last={shape.lastBar.index}
      data-row={bar.row}
      data-frame={bar.start.seq}
      class={`bar ${isFocused ? "is-focused" : ""} ${bar.outcome === "open" ? "is-open" : ""}`}
      onClick={(event) => {
        // A finger cannot point without a click: its first tap shows the details.
        if ((event as unknown as PointerEvent).pointerType === "touch" && !isFocused && count === 1) onFocus();
        else onOpen();
      }}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
      onFocus={onFocus}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        onOpen();
      }}
    >
      {isPoint ? (
        <path class={`bar-shape bar-${kind}`} d={`M${x} ${LINE / 2 - 6}l6 6l-6 6l-6 -6z`} />
      ) : (
        <rect class={`bar-shape ${count > 1 ? "bar-group " : ""}bar-${kind}`} x={x} y={top} width={drawnWidth} height={BAR} rx={Math.min(3, drawnWidth / 2)} />
      )}
      {count === 1 && !isPoint && drawnWidth >= 28 && (
        <svg x={Math.max(x, 0) + 5} y={top} width={Math.max(0, drawnWidth - 8 + Math.min(x, 0))} height={BAR}>
          <text class={`bar-label bar-label-${kind}`} x={0} y={14}>
            {isFailed ? "✕ " : ""}
            {bar.row === "model" && bar.what !== "arguments" && bar.detail !== "" ? detailOf(bar) : nameOf(bar)}
            {bar.row === "tool" && bar.detail !== "" ? `  ${detailOf(bar)}` : ""}
          </text>
        </svg>
      )}
      {count > 1 && failed > 0 && !isFailed && <rect class="bar-some-failed" x={x} y={top + BAR - 6} width={drawnWidth} height={6} />}
      {/* Narrow bars are easier to hit. */}
      {width < 10 && <rect class="bar-target" x={x - 3} y={0} width={width + 6} height={LINE} />}
    </g>
  );
}

/** Where a bar leads in the conversation: to its tool call, or to what its first frame said. */
export function hrefOf(runId: string, bar: Bar): string {
  return bar.toolId !== undefined ? paths.tool(runId, bar.toolId) : paths.conversation(runId, { at: String(bar.start.seq) });
}

function groupSpan({ bar, lastBar }: Shape, axis: Axis, timeline: Timeline, now: number): Span {
  const origin = timeline.first!;
  const from = place(axis, bar.start, origin);
  const to = endOf(axis, lastBar, origin, now);
  const margin = Math.max((to - from) * 0.1, 0.5);
  return { from: from - margin, to: to + margin };
}

/** The bar to which an arrow key leads. */
function neighbour(bar: Bar, key: string, all: readonly Line[], axis: Axis, timeline: Timeline): Bar | undefined {
  const at = all.findIndex((line) => line.kind === "lane" && line.thread === bar.thread && line.row === bar.row && line.lane === bar.lane);
  const line = all[at];
  if (line?.kind !== "lane") return undefined;
  if (key === "ArrowRight" || key === "ArrowLeft") {
    const index = line.bars.indexOf(bar);
    return line.bars[index + (key === "ArrowRight" ? 1 : -1)];
  }
  if (key === "Home") return line.bars[0];
  if (key === "End") return line.bars.at(-1);
  const step = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (step === 0) return undefined;
  const origin = timeline.first!;
  const from = place(axis, bar.start, origin);
  for (let next = at + step; next >= 0 && next < all.length; next += step) {
    const other = all[next]!;
    if (other.kind !== "lane" || other.bars.length === 0) continue;
    // The last bar that begins no later, or else the first one.
    let found = other.bars[0]!;
    for (const candidate of other.bars) {
      if (place(axis, candidate.start, origin) > from) break;
      found = candidate;
    }
    return found;
  }
  return undefined;
}

/** Gives the focus to the bar, or its group, after the arrow keys have moved to it. */
function useFocusedBar(ref: RefObject<HTMLDivElement | null>, focused: Shown | undefined): void {
  const index = focused?.bar.index;
  useEffect(() => {
    const element = ref.current;
    if (index === undefined || element === null || !element.contains(document.activeElement)) return;
    for (const bar of element.querySelectorAll<SVGGElement>("[data-bar]")) {
      if (Number(bar.dataset["bar"]) > index || Number(bar.dataset["last"]) < index || !bar.classList.contains("is-focused")) continue;
      if (document.activeElement !== bar) bar.focus({ preventScroll: true });
      return;
    }
  });
}

function useScroller() {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, width: 600, height: 400 });
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const read = () => setView({ top: element.scrollTop, width: element.clientWidth, height: element.clientHeight });
    read();
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  return { ref, ...view };
}

interface PanProps {
  span: Span;
  whole: Span;
  width: number;
  gutter: number;
  onSpan(span: Span): void;
}

/** A pointer must move this far before it drags; until then it may click. */
const DRAG_PX = 4;

/** Dragging, pinching and the wheel. */
function usePan(ref: RefObject<HTMLDivElement | null>, props: PanProps): void {
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const at = (clientX: number) => {
      const { span, width, gutter } = latest.current;
      const x = clientX - element.getBoundingClientRect().left - gutter;
      return span.from + (Math.min(Math.max(x, 0), width) / width) * (span.to - span.from);
    };
    const onWheel = (event: WheelEvent) => {
      const { span, whole, width, onSpan } = latest.current;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        onSpan(zoomed(span, whole, Math.exp(Math.min(60, Math.max(-60, event.deltaY)) / 100), at(event.clientX)));
        return;
      }
      const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
      event.preventDefault();
      onSpan(moved(span, whole, sideways / width));
    };
    const pointers = new Map<number, number>();
    let isDragging = false;
    let begin: { x: number; span: Span; distance: number; centre: number } | undefined;
    const restart = () => {
      const [first, second] = [...pointers.values()];
      if (first === undefined) begin = undefined;
      else begin = { x: first, span: latest.current.span, distance: second === undefined ? 0 : Math.abs(second - first), centre: second === undefined ? 0 : at((first + second) / 2) };
    };
    const onDown = (event: PointerEvent) => {
      if (event.button !== 0 || (event.target as Element).closest("button")) return;
      pointers.set(event.pointerId, event.clientX);
      if (pointers.size === 1) isDragging = false;
      restart();
    };
    const onMove = (event: PointerEvent) => {
      if (!pointers.has(event.pointerId) || begin === undefined) return;
      pointers.set(event.pointerId, event.clientX);
      const { whole, width, onSpan } = latest.current;
      const [first = 0, second] = [...pointers.values()];
      if (second !== undefined && begin.distance > 10) {
        isDragging = true;
        onSpan(zoomed(begin.span, whole, begin.distance / Math.max(10, Math.abs(second - first)), begin.centre));
        return;
      }
      if (!isDragging && Math.abs(first - begin.x) < DRAG_PX) return;
      if (!isDragging) element.setPointerCapture(event.pointerId);
      isDragging = true;
      onSpan(moved(begin.span, whole, (begin.x - first) / width));
    };
    const onUp = (event: PointerEvent) => {
      pointers.delete(event.pointerId);
      restart();
    };
    // The click that ends a drag opens nothing.
    const onClick = (event: MouseEvent) => {
      if (!isDragging) return;
      isDragging = false;
      event.stopPropagation();
      event.preventDefault();
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    element.addEventListener("pointerdown", onDown);
    element.addEventListener("pointermove", onMove);
    element.addEventListener("pointerup", onUp);
    element.addEventListener("pointercancel", onUp);
    element.addEventListener("click", onClick, { capture: true });
    return () => {
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("pointerdown", onDown);
      element.removeEventListener("pointermove", onMove);
      element.removeEventListener("pointerup", onUp);
      element.removeEventListener("pointercancel", onUp);
      element.removeEventListener("click", onClick, { capture: true });
    };
  }, [ref]);
}

