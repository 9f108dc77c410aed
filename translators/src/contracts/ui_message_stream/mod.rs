//! `ui-message-stream.v1`: the UI message stream of the AI SDK (`ai` 7), one assistant message for each run.
//!
//! Input: the frames of a run or of a background task. Output: chunks that `readUIMessageStream` and `useChat` fold into one
//! message. Never: a chunk after `finish` or `abort`, a part left open, or `null` for an optional field.
//!
//! How frames map to chunks:
//!
//! - **The message.** Its id is the run's id, so that a replay rebuilds the same message. `start` has the ids of run and session and
//!   the runner in its metadata; the model and the usage follow as `message-metadata`, because they are known later. The prompt is
//!   not part of the assistant's message. A user's message in the middle of the run is a `steering-message`.
//! - **Steps** are the turns of the main thread. Content outside a turn begins a step of its own. A step does not change while a
//!   call's input is streamed, because the SDK would then show the call twice.
//! - **Text and reasoning** have fresh ids. A part is one block of a message. It is closed when the block is complete, and before a
//!   tool, a steering message, the end of a step and the end.
//! - **Tools** are `dynamic` and `providerExecuted`: the client must not run them. A call's id is the runner's own. Its result is
//!   `{stdout, stderr, exit_code, duration_ms, artifacts?, omitted_bytes?}`, also if the tool failed with an exit code; live output
//!   is the same object as `preliminary`, see `live_output`. A tool that never ran is `tool-output-error`, or `tool-output-denied` if it
//!   was refused. So is a call without a result at the end.
//! - **Approvals** belong to their call. A question about no open call, or about one that already waits for an answer, is a call of
//!   its own, which ends with the answer.
//! - **Subagents.** Their calls and questions are included, with the call that started them as `toolMetadata.parentToolCallId`. Their
//!   text, reasoning, plans and streamed input are left out: they are not the assistant's message.
//! - **Data parts.** `data-plan`, `data-checkpoint` and `data-task` have stable ids, so that a later one replaces the earlier one.
//!   `data-file-change` is a part for each change. `data-notice` is transient: logs, compactions, gaps, and errors that the run
//!   survived.
//! - **The end.** `useChat` stops reading at an `error` chunk, so only a failed run has one, directly before its `finish`. An
//!   interrupted run ends with `abort`.
//! - **Background tasks** are messages of their own with one `data-task` part.
//!
//! The SDK's chunks have no cursor. framegate adds `runId` and `seq` to each chunk, which the SDK's schemas allow and its reader
//! ignores: `seq` is the number of the chunk, and also the `id:` of its server-sent event.

mod blocks;
mod calls;
mod data;
mod dropped;
mod encode;
mod ending;
mod metadata;
mod notices;
mod rules;
mod task;
#[cfg(test)]
mod tests;
mod tools;
mod withheld;
mod writer;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The contract.
pub const V1: Contract = Contract {
    name: "ui-message-stream.v1",
    about: "UI message chunks of the AI SDK: one assistant message with text, reasoning, tools, data parts",
    document: Some("AI SDK UI message stream (ai 7)"),
    sse: SseStyle::Bare,
    type_key: "type",
    log: None,
    schemas: schemas!("ui-message-stream/v1": "start",
        "start-step",
        "finish-step",
        "text-start",
        "text-delta",
        "text-end",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-available",
        "tool-approval-request",
        "tool-approval-response",
        "tool-output-available",
        "tool-output-error",
        "tool-output-denied",
        "steering-message",
        "data-plan",
        "data-file-change",
        "data-checkpoint",
        "data-task",
        "data-notice",
        "message-metadata",
        "error",
        "finish",
        "abort",
    ),
    document_schema: document_schema!("ui-message-stream/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::UiMessageStreamRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "error",
    announces_pruning: false,
    has_user_messages: false,
    artifact_id: None,
};
