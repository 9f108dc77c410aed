// What a program that uses the package of clients/typescript relies on: a contract's name decides the type of its events, their type key
// tells them apart, and each one has its own fields. It is compiled, not run.
import {
  type ContractEvents,
  ConflictError,
  contractNames,
  type EventStream,
  Framegate,
  type HecateV1,
  type RunContractEvents,
  type RunState,
  type SseV1Event,
  typeKeys,
} from "framegate-client";

const client = new Framegate({ baseUrl: "http://127.0.0.1:8080", token: async () => "secret" });

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
    default: {
      const none: never = event;
      return none;
    }
  }
}

// @ts-expect-error one type is not handled
export function isText(event: SseV1Event): boolean {
  switch (event.type) {
    case "assistant_delta":
      return true;
  }
}

export async function follow(run: string): Promise<void> {
  for await (const event of client.events(run, { contract: "sse.v1" })) {
    if (event.type === "assistant_delta") event.payload.text.toUpperCase();
    // @ts-expect-error no event of this contract has this type
    if (event.type === "assistant.text_delta") return;
  }
  for await (const event of client.events(run, { contract: "agent-manager.v1", after: 7 })) {
    // @ts-expect-error the type stands under eventType here
    void event.type;
    if (event.eventType === "tool_call") event.data.toolName.toUpperCase();
  }
  for await (const event of client.allEvents({ contract: "hecate.v1", event_type: ["run.finished"] })) {
    const one: HecateV1.RunFinishedEvent | undefined = event.type === "run.finished" ? event : undefined;
    void one?.data;
  }
  for await (const { record, data } of client.events(run, { contract: "raw" })) [record.toFixed(), data?.["type"]];
  // @ts-expect-error feeds have no raw records
  client.allEvents({ contract: "raw" });
  // @ts-expect-error no such contract
  client.events(run, { contract: "sse.v9" });
  // @ts-expect-error the contract decides the type, so it must be named
  client.events(run, {});
}

// A contract that is chosen at run time.
export function read<C extends keyof RunContractEvents>(run: string, contract: C): EventStream<RunContractEvents[C]> {
  return client.events(run, { contract });
}

export const names: readonly (keyof ContractEvents)[] = contractNames;
export const key: "eventType" = typeKeys["agent-manager.v1"];

export async function control(): Promise<RunState> {
  const run = await client.startRun({ upstream: "claude", prompt: "Fix the test" });
  // @ts-expect-error a run needs a prompt
  await client.startRun({ upstream: "claude" });
  // @ts-expect-error no such state
  client.runs({ state: "sleeping" });
  for await (const { run_id, approval_id, tool_name } of client.pendingApprovals({ runner: "claude-code" })) {
    await client.approve(run_id, approval_id, { scope: tool_name === "Read" ? "session" : "once", answers: ["a", ["b", "c"]] });
    // @ts-expect-error no such scope
    await client.approve(run_id, approval_id, { scope: "forever" });
  }
  try {
    await client.interruptRun(run.run_id, { timeoutMs: 1_000 });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    error.problem?.detail.toUpperCase();
  }
  const [artifact] = await client.artifacts(run.run_id);
  if (artifact !== undefined) {
    const bytes: Uint8Array = await (await client.downloadArtifact(artifact)).bytes();
    bytes.at(0);
  }
  return (await client.waitForRun(run.run_id)).state;
}
