// A row of the trace: a frame, the record or the other events on its left, and its events on its right.
import { useEffect } from "preact/hooks";
import type { TraceEvent, TraceItem } from "../../api/source";
import { Icon } from "../../components/icon";
import { visible } from "../../components/visible";
import type { ItemState } from "../../model/trace-blocks";
import { type Mark, MARK_NAMES, marksOf, severity } from "../../model/trace-marks";
import { eventText, frameText, recordLine } from "./words";

/** A place in the trace: what has the focus, is under the pointer, or is shown below. */
export interface Place {
  seq: number;
  side: "left" | "frame" | "right";
  /** Position of the event, on a side with events. */
  event: number;
}

export interface RowProps {
  seq: number;
  state: ItemState;
  /** The item of the second contract; absent if the records are shown. */
  second: ItemState | undefined;
  hot: Place | undefined;
  hotItem: TraceItem | undefined;
  active: Place;
  isSelected: boolean;
  onVisible(seq: number): () => void;
  onHot(place: Place | undefined): void;
  onActive(place: Place): void;
  onSelect(place: Place): void;
}

/** More events of one frame are shown only when it is selected. */
const MOST_EVENTS = 12;

export function TraceRow(props: RowProps) {
  const { seq, state, second, isSelected, onVisible } = props;
  useEffect(() => onVisible(seq), [seq, onVisible]);
  const item = state.state === "loaded" ? state.item : undefined;
  if (item === undefined) {
    return (
      <div class="trace-row is-empty" role="row">
        <span class="trace-cell" role="gridcell" />
        <span class="trace-cell faint" role="gridcell">
          <span class="trace-seq">{seq}</span>
          {state.state === "loading" ? "…" : state.state === "missing" ? "not stored" : "could not be read"}
        </span>
        <span class="trace-cell" role="gridcell" />
      </div>
    );
  }
  const marks = marksOf(item);
  const isProvider = item.frame.type === "provider_event";
  const band = item.record === null ? "is-none" : item.record % 2 === 0 ? "is-even" : "is-odd";
  return (
    <div class={`trace-row ${band} ${isSelected ? "is-selected" : ""}`} role="row" aria-selected={isSelected}>
      <div class="trace-cell trace-left" role="gridcell">
        {second !== undefined ? (
          second.state === "loaded" && <Events {...props} side="left" item={second.item} marks={marksOf(second.item)} />
        ) : item.frame.type === "provider_event" ? (
          <Entry {...props} place={{ seq, side: "left", event: 0 }} item={item} marks={marks.filter(({ side }) => side === "record")} label={`Record ${item.record ?? ""}`}>
            <span class="trace-seq">{item.record ?? "–"}</span>
            <RecordLine frame={item.frame} />
          </Entry>
        ) : item.record === null ? (
          <span class="trace-origin faint">from no record</span>
        ) : (
          <span class="trace-thread" aria-hidden="true" />
        )}
      </div>
      <div class="trace-cell trace-frame" role="gridcell">
        <Entry
          {...props}
          place={{ seq, side: "frame", event: 0 }}
          item={item}
          marks={marks.filter(({ side }) => side === "frame" || (side === "record" && !isProvider))}
          label={`Frame ${seq}`}
        >
          <span class="trace-seq">{seq}</span>
          <b class={`trace-name ${isProvider ? "is-plain" : ""}`}>{item.frame.type}</b>
          <span class="trace-text" dir="auto">
            {frameText(item.frame)}
          </span>
        </Entry>
      </div>
      <div class="trace-cell trace-right" role="gridcell">
        <Events {...props} side="right" item={item} marks={marks} />
      </div>
    </div>
  );
}

function RecordLine({ frame }: { frame: Parameters<typeof recordLine>[0] }) {
  const { name, text } = recordLine(frame);
  return (
    <>
      <b class="trace-name">{name}</b>
      <span class="trace-text" dir="auto">
        {text}
      </span>
    </>
  );
}

function Events(props: RowProps & { side: "left" | "right"; item: TraceItem; marks: readonly Mark[] }) {
  const { seq, side, item, marks } = props;
  const shown = item.events.slice(0, MOST_EVENTS);
  return (
    <>
      {shown.map((event: TraceEvent, index) => (
        <Entry
          key={index}
          {...props}
          place={{ seq, side, event: index }}
          marks={marks.filter((mark) => mark.side === "event" && mark.event === index)}
          label={`Event ${event.cursor ?? event.type}`}
        >
          <b class={`trace-name ${event.withheld ? "is-withheld" : ""}`}>{visible(event.type)}</b>
          <span class="trace-text" dir="auto">
            {eventText(event)}
          </span>
        </Entry>
      ))}
      {item.events.length > shown.length && <span class="trace-origin faint">and {item.events.length - shown.length} more</span>}
    </>
  );
}

interface EntryProps extends RowProps {
  place: Place;
  item: TraceItem;
  marks: readonly Mark[];
  label: string;
  children: preact.ComponentChildren;
}

function Entry({ place, item, marks, label, hot, hotItem, active, onHot, onActive, onSelect, children }: EntryProps) {
  const isHot = hot !== undefined && hot.seq === place.seq && hot.side === place.side && hot.event === place.event;
  const isActive = active.seq === place.seq && active.side === place.side && active.event === place.event;
  const isRelated = !isHot && hot !== undefined && hotItem !== undefined && belongs(place, item, hot, hotItem);
  const worst = marks.some((mark) => severity(mark) === "error") ? "error" : marks.some((mark) => severity(mark) === "warning") ? "warning" : "info";
  return (
    <button
      type="button"
      class={`trace-entry ${isHot ? "is-hot" : ""} ${isRelated ? "is-related" : ""}`}
      tabIndex={isActive ? 0 : -1}
      data-place={`${place.seq} ${place.side} ${place.event}`}
      onPointerEnter={() => onHot(place)}
      onPointerLeave={() => onHot(undefined)}
      onFocus={() => {
        onActive(place);
        onHot(place);
      }}
      onBlur={() => onHot(undefined)}
      onClick={() => onSelect(place)}
    >
      <span class="visually-hidden">{`${label}${isRelated ? ", belongs to the marked one" : ""}: `}</span>
      {children}
      {marks.length > 0 && (
        <span class={`trace-mark trace-mark-${worst}`} data-finding={marks.map(({ kind }) => kind).join(" ")} title={marks.map(({ kind, code, message }) => `${MARK_NAMES[kind]} (${code}): ${message}`).join("\n").slice(0, 2_000)}>
          <Icon name={worst === "info" ? "info" : "warn"} />
          {MARK_NAMES[marks[0]!.kind]}
          {marks.length > 1 && ` +${marks.length - 1}`}
        </span>
      )}
    </button>
  );
}

/** Whether a place shows what the marked one came from, or what came of it. */
function belongs(place: Place, item: TraceItem, hot: Place, hotItem: TraceItem): boolean {
  const isSameRecord = item.record !== null && item.record === hotItem.record;
  const isRecord = place.side === "left" && item.frame.type === "provider_event";
  if (hot.side === "left" && hotItem.frame.type === "provider_event") return isSameRecord;
  if (place.seq === hot.seq) return true;
  return isRecord && isSameRecord;
}
