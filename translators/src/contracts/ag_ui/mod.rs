//! `ag-ui.v1`: events of the Agent User Interaction protocol, AG-UI 1.0. Each run of the runner is one run of the protocol.
//!
//! Input: the frames of a run or of a background task. Output: events that `verifyEvents` of `@ag-ui/client` accepts and its
//! reducer folds into messages, activities and state. Never: an event after `RUN_FINISHED` or `RUN_ERROR`, anything left open at the
//! end, an id that an earlier message has, a field that the protocol does not define, or `null` for an optional field.
//!
//! How frames map to events:
//!
//! - **The run.** `threadId` is the session's id, `runId` the run's id. The prompt is left out, because the client that sent it has it.
//!   A user's message in the middle of the run is a text message with the role `user`.
//! - **Steps** are the turns of the main thread.
//! - **Text and reasoning.** A block is one message with a fresh id, because the reducer appends text to a message that it knows. A
//!   span of reasoning has one message and the same id. The provider's signed or encrypted item follows as
//!   `REASONING_ENCRYPTED_VALUE`.
//! - **Tools.** `toolCallId` is the id that framegate gives the call: a runner may use its own id again, in the same run or in a later
//!   one. The runner's id is `callId` in the metadata. Arguments are streamed if the runner streams them; those of a tool that takes
//!   free text are that text, not JSON. The text of a result is the standard output, then the standard error; exit code and duration
//!   are in its metadata. Live output is an activity, see the module `output`. A tool that failed, was refused or has no result at the end has `failure` in the metadata of its result; a call that the
//!   runner leaves to its client has no result and is in `pendingToolCallIds`.
//! - **Approvals** are `CUSTOM` events: the run stays open while the runner waits.
//! - **Subagents.** Each invocation has a fresh `subagentRunId`, and everything that it does carries that id. A frame of a subagent
//!   whose start is unknown carries the id of the call that started it.
//! - **The plan** is the state `{plan: […]}`. A subagent's plan is a `CUSTOM` event: the state belongs to the run.
//! - **`CUSTOM`** also has the usage so far, notices, changed files, checkpoints and compactions of the history.
//! - **The end.** A run that completed or was interrupted ends with `RUN_FINISHED`, a failed one with `RUN_ERROR`. Both have the usage;
//!   the protocol has no money, so `costUsd` is in the metadata.
//! - **Background tasks** are runs of their own with one activity.
//!
//! The protocol has no cursor, and its client removes unknown fields. framegate therefore adds `runId` and `seq` to the `metadata` of
//! each event: `seq` is the number of the event, and also the `id:` of its server-sent event, which the client ignores.

mod blocks;
mod calls;
mod conversation;
mod custom;
mod data;
mod dropped;
mod encode;
mod ending;
mod output;
mod rules;
mod segment;
mod subagents;
mod task;
#[cfg(test)]
mod tests;
mod tools;
mod usage;
mod withheld;
mod writer;

use super::{Contract, SseStyle};
use crate::schema::schemas;
pub use conversation::Conversation;
pub use segment::{Names, Segment};

/// The contract.
pub const V1: Contract = Contract {
    name: "ag-ui.v1",
    about: "AG-UI 1.0 events: text, reasoning, tools with live output, subagents, plan, usage",
    document: Some("AG-UI protocol 1.0"),
    sse: SseStyle::Bare,
    type_key: "type",
    log: None,
    schemas: schemas!("ag-ui/v1": "RUN_STARTED",
        "STEP_STARTED",
        "STEP_FINISHED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_ENCRYPTED_VALUE",
        "REASONING_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "ACTIVITY_SNAPSHOT",
        "ACTIVITY_DELTA",
        "SUBAGENT_STARTED",
        "SUBAGENT_FINISHED",
        "SUBAGENT_ERROR",
        "STATE_SNAPSHOT",
        "CUSTOM",
        "RUN_FINISHED",
        "RUN_ERROR",
    ),
    document_schema: document_schema!("ag-ui/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::AgUiRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "RUN_ERROR",
    announces_pruning: false,
    has_user_messages: false,
    artifact_id: None,
};
