// A frame, its record and its events in full.
import type { TraceEvent, TraceItem } from "../../api/source";
import { paths } from "../../app/router";
import { CopyButton } from "../../components/code";
import { Icon } from "../../components/icon";
import { jsonText } from "../../components/json";
import { visible } from "../../components/visible";
import { type Mark, MARK_NAMES, marksOf, pointerIn, severity } from "../../model/trace-marks";
import { JsonView, RawText } from "./json-view";

export interface InspectorProps {
  runId: string;
  item: TraceItem;
  /** The item with the record; absent if there is none, or it was not read. */
  record: TraceItem | undefined;
  isRecordMissing: boolean;
  contract: string;
  /** The item of the second contract, in place of the record. */
  second: TraceItem | undefined;
  secondContract: string;
  onClose(): void;
}

export function Inspector(props: InspectorProps) {
  const { runId, item, record, isRecordMissing, contract, second, secondContract, onClose } = props;
  const marks = marksOf(item);
  const { frame } = item;
  const toolId = "tool_id" in frame && typeof frame.tool_id === "string" ? frame.tool_id : undefined;
  return (
    <section class="inspector" aria-label={`Frame ${frame.seq}`}>
      <header class="inspector-head">
        <h2>
          Frame {frame.seq} <span class="mono soft">{frame.type}</span>
        </h2>
        <a class="small" href={toolId === undefined ? paths.conversation(runId, { at: String(frame.seq) }) : paths.tool(runId, toolId)}>
          In the conversation
        </a>
        <button type="button" class="button button-plain button-icon button-small" aria-label="Close the details" title="Close (Escape)" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="inspector-columns">
        <div class="inspector-column">
          {secondContract !== "" ? (
            <Events item={second} contract={secondContract} />
          ) : record !== undefined && record.frame.type === "provider_event" ? (
            <RecordColumn item={record} frame={record.frame} />
          ) : (
            <>
              <h3>Record</h3>
              <p class="soft small">{isRecordMissing ? "Loading…" : item.record === null ? "This frame came from no record." : `It came from record ${item.record}, which is not stored.`}</p>
            </>
          )}
        </div>
        <div class="inspector-column">
          <Head title="Frame" copy={() => jsonText(frame)} />
          <Marks marks={marks.filter(({ side }) => side === "frame")} />
          <JsonView
            value={frame}
            label={`Frame ${frame.seq}`}
            folded={["/data"]}
            marks={marks.filter((mark) => mark.side === "frame" && mark.path !== undefined).map((mark) => ({ ...mark, at: mark.path! }))}
          />
        </div>
        <div class="inspector-column">
          <Events item={item} contract={contract} />
        </div>
      </div>
    </section>
  );
}

function RecordColumn({ item, frame }: { item: TraceItem; frame: Extract<TraceItem["frame"], { type: "provider_event" }> }) {
  const marks = marksOf(item).filter(({ side }) => side === "record");
  const placed = marks.filter(({ path }) => path !== undefined).map((mark) => ({ ...mark, at: pointerIn(frame.data === null ? "raw" : "data", mark.path!) }));
  return (
    <>
      <Head title={`Record ${item.record ?? ""}`} copy={() => frame.raw ?? jsonText(frame.data)} />
      <Marks marks={marks} />
      {frame.data !== null && <JsonView value={frame.data} label="The record" marks={placed} />}
      {frame.data === null && frame.raw !== null && <RawText text={frame.raw} label="The record as text" />}
      {frame.data !== null && frame.raw !== null && (
        <details class="inspector-raw">
          <summary class="small">The record's exact text</summary>
          <RawText text={frame.raw} label="The record as text" />
        </details>
      )}
      {frame.data === null && frame.raw === null && <p class="soft small">The record has no content.</p>}
    </>
  );
}

function Events({ item, contract }: { item: TraceItem | undefined; contract: string }) {
  if (contract === "") {
    return (
      <>
        <h3>Events</h3>
        <p class="soft small">This file has no events of a contract.</p>
      </>
    );
  }
  if (item === undefined) {
    return (
      <>
        <h3>{contract}</h3>
        <p class="soft small">Loading…</p>
      </>
    );
  }
  const marks = marksOf(item);
  if (item.events.length === 0) {
    return (
      <>
        <h3>{contract}</h3>
        <p class="soft small">This frame gives no event in {contract}.</p>
      </>
    );
  }
  return (
    <>
      {item.events.map((event: TraceEvent, index) => {
        const its = marks.filter((mark) => mark.side === "event" && mark.event === index);
        return (
          <div key={index} class="inspector-event">
            <Head title={event.type} note={event.cursor === null ? contract : `${contract} · ${event.cursor}`} copy={() => jsonText(event.event)} />
            <Marks marks={its} />
            <JsonView value={event.event} label={`Event ${event.cursor ?? event.type}`} marks={its.filter(({ path }) => path !== undefined).map((mark) => ({ ...mark, at: mark.path! }))} />
          </div>
        );
      })}
    </>
  );
}

function Head({ title, note, copy }: { title: string; note?: string; copy: () => string }) {
  return (
    <div class="inspector-title">
      <h3 class="truncate" title={visible(title)}>
        {visible(title)}
      </h3>
      {note !== undefined && <span class="small faint truncate mono">{note}</span>}
      <CopyButton text={copy} what={title.toLowerCase()} />
    </div>
  );
}

function Marks({ marks }: { marks: readonly Mark[] }) {
  if (marks.length === 0) return null;
  return (
    <ul class="findings small">
      {marks.map((mark, index) => (
        <li key={index} class={`finding finding-${severity(mark)}`}>
          <strong>
            {MARK_NAMES[mark.kind]} <span class="mono">{mark.code}</span>
            {mark.count > 1 && ` ×${mark.count}`}
          </strong>
          <span dir="auto">{visible(mark.message)}</span>
          {mark.path !== undefined && mark.path !== "" && <code>{mark.path}</code>}
        </li>
      ))}
    </ul>
  );
}
