// What a client of the declarations relies on: the type key tells the events apart, and each one has its own fields.

import type { AgentManagerV1Event } from "../../schemas/types/agent-manager.v1";
import type { FramesV2Event, FramesV2Events, FramesV2EventType } from "../../schemas/types/frames.v2";
import type { HecateV1Event } from "../../schemas/types/hecate.v1";
import type { SseV1Event } from "../../schemas/types/sse.v1";

export function textOf(event: HecateV1Event): string {
  switch (event.type) {
    case "assistant.text_delta":
      return event.data.delta;
    case "run.started":
      // @ts-expect-error only text has a delta; what else `data` holds is unknown
      return event.data.delta;
    default:
      return "";
  }
}

// Every type has to be handled, or this does not compile.
export function isTheEnd(event: SseV1Event): boolean {
  switch (event.type) {
    case "run_completed":
    case "run_failed":
    case "run_interrupted":
      return true;
    case "run_started":
    case "assistant_delta":
    case "tool_call_proposed":
    case "tool_call_approved":
    case "tool_call_rejected":
    case "tool_result":
      return false;
  }
}

// @ts-expect-error one type is not handled
export function isText(event: SseV1Event): boolean {
  switch (event.type) {
    case "assistant_delta":
      return true;
  }
}

export function metricOf(event: AgentManagerV1Event): string | undefined {
  // @ts-expect-error the type stands under eventType here
  void event.type;
  return event.eventType === "metric" ? event.eventType : undefined;
}

export const handlers: { [T in FramesV2EventType]?: (event: FramesV2Events[T]) => string } = {
  tool_started: (event) => event.name,
  output_text_delta: (event) => event.delta,
  // @ts-expect-error a tool's output is a chunk
  tool_stdout: (event) => event.delta,
};

export function positions(events: FramesV2Event[]): number[] {
  return events.map((event) => event.seq);
}

// @ts-expect-error no such type
export const unknownType: FramesV2EventType = "no_such_type";
