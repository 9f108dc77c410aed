// Records, frames and events on one line.
import type { Frame, TraceEvent } from "../../api/source";
import { visible } from "../../components/visible";
import { compact } from "../../model/trace-json";
import { oneLine, summaryOfArgs } from "../../model/timeline";

type Provider = Extract<Frame, { type: "provider_event" }>;

/** Members whose type says more about a record than its own. */
const INNER = ["event", "item", "payload", "part", "msg"];

/** What kind of record it is, in the runner's words, and its beginning. */
export function recordLine(frame: Provider): { name: string; text: string } {
  if (frame.status === "done") return { name: "end of the stream", text: frame.raw ?? "" };
  const { data } = frame;
  if (data === null) return { name: "not JSON", text: visible(oneLine(frame.raw ?? "")) };
  const inner = INNER.map((name) => data[name]).filter((part) => typeof part === "object" && part !== null) as Record<string, unknown>[];
  const words = [data["type"], data["subtype"], data["method"], ...inner.map((part) => part["type"]), frame.event_name];
  const [first, second] = words.filter((word) => typeof word === "string" && word !== "") as string[];
  const name = first === undefined ? "record" : second === undefined || second === first ? first : `${first} ${second}`;
  return { name: visible(oneLine(name, 60)), text: visible(oneLine(compact(data, 240), 240)) };
}

export function frameText(frame: Frame): string {
  return visible(describe(frame));
}

function describe(frame: Frame): string {
  switch (frame.type) {
    case "session_started":
      return oneLine(frame.input);
    case "session_ended":
      return oneLine([frame.reason, frame.error_code, frame.message ?? frame.final_text].filter((part) => part).join(" · "));
    case "turn_started":
      return `${frame.turn_index}${frame.model === null ? "" : ` · ${frame.model}`}`;
    case "turn_ended":
      return `${frame.turn_index}${frame.stop_reason === null ? "" : ` · ${frame.stop_reason}`}`;
    case "output_text_delta":
    case "reasoning_delta":
    case "tool_input_delta":
      return JSON.stringify(oneLineKeepingEnds(frame.delta));
    case "output_text_completed":
    case "reasoning_completed":
    case "user_message":
      return oneLine(frame.text);
    case "tool_call_proposed":
    case "tool_started":
      return oneLine(`${frame.name} · ${summaryOfArgs(frame.args)}`);
    case "tool_stdout":
    case "tool_stderr":
      return JSON.stringify(oneLineKeepingEnds(frame.chunk));
    case "tool_ended":
      return `exit code ${frame.exit_code} · ${frame.duration_ms} ms`;
    case "tool_failed":
      return oneLine(frame.error);
    case "provider_event":
      return frame.status === "event" ? (frame.event_name ?? "") : frame.status;
    case "approval_requested":
      return oneLine(`${frame.tool_name} · ${frame.reason ?? summaryOfArgs(frame.args)}`);
    case "approval_resolved":
      return `${frame.decision}${frame.by === null ? "" : ` by ${frame.by}`}`;
    case "error_reported":
      return oneLine(`${frame.code} · ${frame.message}`);
    case "log_emitted":
      return oneLine(`${frame.level} · ${frame.message}`);
    case "gap_detected":
      return oneLine(frame.reason);
    default:
      return compact(frame, 200);
  }
}

/** A piece of text as it is, bounded: its white space matters. */
function oneLineKeepingEnds(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

export function eventText(event: TraceEvent): string {
  return visible(oneLine(compact(event.event, 240), 240));
}
