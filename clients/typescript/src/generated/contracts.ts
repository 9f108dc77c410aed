// The contracts, from schemas/. Written by scripts/generate.mjs; do not edit.

import type { AcpV1Event } from "./acp.v1.js";
import type { AgUiV1Event } from "./ag-ui.v1.js";
import type { AgentManagerV1Event } from "./agent-manager.v1.js";
import type { ChatCompletionsV1Event } from "./chat-completions.v1.js";
import type { ClaudeCodeV1Event } from "./claude-code.v1.js";
import type { FramesV1Event } from "./frames.v1.js";
import type { FramesV2Event } from "./frames.v2.js";
import type { HecateV1Event } from "./hecate.v1.js";
import type { OpenResponsesV1Event } from "./open-responses.v1.js";
import type { PixirV1Event } from "./pixir.v1.js";
import type { SseV1Event } from "./sse.v1.js";
import type { UiMessageStreamV1Event } from "./ui-message-stream.v1.js";
import type { RawRecord } from "./api.js";

export type * as AcpV1 from "./acp.v1.js";
export type * as AgUiV1 from "./ag-ui.v1.js";
export type * as AgentManagerV1 from "./agent-manager.v1.js";
export type * as ChatCompletionsV1 from "./chat-completions.v1.js";
export type * as ClaudeCodeV1 from "./claude-code.v1.js";
export type * as FramesV1 from "./frames.v1.js";
export type * as FramesV2 from "./frames.v2.js";
export type * as HecateV1 from "./hecate.v1.js";
export type * as OpenResponsesV1 from "./open-responses.v1.js";
export type * as PixirV1 from "./pixir.v1.js";
export type * as SseV1 from "./sse.v1.js";
export type * as UiMessageStreamV1 from "./ui-message-stream.v1.js";
export type { AcpV1Event, AgUiV1Event, AgentManagerV1Event, ChatCompletionsV1Event, ClaudeCodeV1Event, FramesV1Event, FramesV2Event, HecateV1Event, OpenResponsesV1Event, PixirV1Event, SseV1Event, UiMessageStreamV1Event };

/** Maps each contract to its events. */
export interface ContractEvents {
  "acp.v1": AcpV1Event;
  "ag-ui.v1": AgUiV1Event;
  "agent-manager.v1": AgentManagerV1Event;
  "chat-completions.v1": ChatCompletionsV1Event;
  "claude-code.v1": ClaudeCodeV1Event;
  "frames.v1": FramesV1Event;
  "frames.v2": FramesV2Event;
  "hecate.v1": HecateV1Event;
  "open-responses.v1": OpenResponsesV1Event;
  "pixir.v1": PixirV1Event;
  "sse.v1": SseV1Event;
  "ui-message-stream.v1": UiMessageStreamV1Event;
}

/** The same, with the runner's own records, which only a single run has. */
export interface RunContractEvents extends ContractEvents {
  raw: RawRecord;
}

/** All contracts. */
export const contractNames = [
  "acp.v1",
  "ag-ui.v1",
  "agent-manager.v1",
  "chat-completions.v1",
  "claude-code.v1",
  "frames.v1",
  "frames.v2",
  "hecate.v1",
  "open-responses.v1",
  "pixir.v1",
  "sse.v1",
  "ui-message-stream.v1",
] as const satisfies readonly (keyof ContractEvents)[];

/** The key that tells the types of events apart, for each contract that has one. */
export const typeKeys = {
  "ag-ui.v1": "type",
  "agent-manager.v1": "eventType",
  "chat-completions.v1": "object",
  "claude-code.v1": "type",
  "frames.v1": "type",
  "frames.v2": "type",
  "hecate.v1": "type",
  "open-responses.v1": "type",
  "pixir.v1": "type",
  "sse.v1": "type",
  "ui-message-stream.v1": "type",
} as const satisfies { [C in keyof ContractEvents]?: string };
