// What is wrong or remarkable about a frame, its record and its events.
//
// In: an item of a trace. Out: its marks, each with the place (record, frame, or an event), a short word, a message and a JSON pointer if
// the place within is known. Never: the same mark twice, though a record and a finding may both report it.
import type { TraceItem } from "../api/source";

export type MarkKind =
  | "violation" | "withheld" | "warning" | "drift" | "redaction" | "invalid_record" | "oversized_record" | "unknown_record" | "gap";

export type Side = "record" | "frame" | "event";

export interface Mark {
  kind: MarkKind;
  side: Side;
  /** Position of the event in the item; only for events. */
  event?: number;
  /** The rule or code. */
  code: string;
  message: string;
  /** JSON pointer into the record, frame or event. */
  path?: string;
  /** Of a violation of a rule that only warns. */
  isMinor?: boolean;
  /** How often the same was found at the same place. */
  count: number;
}

/** The kinds in the order in which they are listed, and their names. */
export const MARK_NAMES: Readonly<Record<MarkKind, string>> = {
  violation: "Schema violation",
  withheld: "Withheld event",
  invalid_record: "Invalid record",
  oversized_record: "Too large record",
  unknown_record: "Unknown record",
  gap: "Gap",
  warning: "Warning",
  drift: "Drift",
  redaction: "Redaction",
};

export const MARK_KINDS = Object.keys(MARK_NAMES) as MarkKind[];

/** How bad it is: of a shape and a colour. */
export function severity({ kind, isMinor }: Pick<Mark, "kind" | "isMinor">): "error" | "warning" | "info" {
  if (isMinor === true) return "warning";
  if (kind === "redaction") return "info";
  return kind === "violation" || kind === "withheld" || kind === "invalid_record" || kind === "oversized_record" ? "error" : "warning";
}

/** The most marks of one item; `marksOf` gives the first ones. */
const MAX_MARKS = 200;

export function marksOf(item: TraceItem): Mark[] {
  const marks: Mark[] = [];
  const seen = new Map<string, Mark>();
  const add = (found: Omit<Mark, "count">) => {
    const key = `${found.kind} ${found.side} ${found.event ?? ""} ${found.path ?? ""} ${found.message}`;
    const same = seen.get(key);
    if (same !== undefined) same.count += 1;
    if (same !== undefined || marks.length >= MAX_MARKS) return;
    const mark = { ...found, count: 1 };
    seen.set(key, mark);
    marks.push(mark);
  };
  const isRecord = item.frame.type === "provider_event";
  for (const finding of item.findings) {
    const side: Side = isRecord || (finding.kind !== "warning" && finding.kind !== "gap") ? "record" : "frame";
    const { kind, code, message, path } = finding;
    add({ kind, side, code, message, ...(path === undefined ? {} : { path }) });
  }
  if (item.frame.type === "provider_event") {
    const { frame } = item;
    const reported = new Set(item.findings.map((finding) => finding.kind));
    const isReported = reported.has("invalid_record") || reported.has("oversized_record");
    if (frame.status === "invalid_json" && !isReported) {
      add({ kind: "invalid_record", side: "record", code: "invalid_json", message: frame.errors[0] ?? "The record is not JSON." });
    }
    if (frame.status !== "invalid_json" && !reported.has("drift") && !reported.has("unknown_record")) {
      for (const message of [...frame.errors, ...frame.response_errors]) add({ kind: "drift", side: "record", code: "record", message });
    }
    if (!reported.has("redaction")) {
      for (const path of frame.redacted_paths ?? []) {
        add({ kind: "redaction", side: "record", code: "redacted", message: "A secret was removed here.", path });
      }
    }
  }
  if (item.frame.type === "gap_detected" && !item.findings.some((finding) => finding.kind === "gap")) {
    add({ kind: "gap", side: "frame", code: "gap_detected", message: item.frame.reason });
  }
  item.events.forEach((event, index) => {
    if (event.withheld) {
      add({ kind: "withheld", side: "event", event: index, code: "withheld", message: withheld(event.withheld_type) });
    }
    for (const { rule, severity: weight, path, message } of event.violations) {
      // The pointer leads into the event that was withheld, which is not here.
      const place = path === "" || event.withheld ? {} : { path };
      add({ kind: "violation", side: "event", event: index, code: rule, message, ...place, ...(weight === "warning" ? { isMinor: true } : {}) });
    }
  });
  // The worst first: a row names only that.
  const rank = (mark: Mark) => MARK_KINDS.indexOf(mark.kind) + (mark.isMinor === true ? MARK_KINDS.length : 0);
  return marks.sort((one, other) => rank(one) - rank(other));
}

function withheld(type: string | undefined): string {
  return `The gate withholds ${type === undefined ? "an event" : `an event of the type ${type}`}; this one stands in for it.`;
}

/** Where a pointer of a mark leads in the record that is shown: `redacted_paths` point into the frame, whose `data` the record is. */
export function pointerIn(shown: "data" | "raw" | "frame" | "event", path: string): string {
  if (shown === "data" && (path === "/data" || path.startsWith("/data/"))) return path.slice("/data".length);
  if (shown === "raw") return "";
  return path;
}
