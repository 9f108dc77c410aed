//! `claude-code.v1`: the messages that `claude -p --output-format stream-json --verbose` writes.
//!
//! Input: the frames of a run or of a background task. Output: one message for each event, as the Claude Agent SDK and other
//! programs around `claude -p` read them. Never: a message before `system` `init` or after `result`, more than one `result`, a
//! `tool_result` of an unknown call, or a raw U+2028 or U+2029 in a line (some readers take them for line ends).
//!
//! How frames map to messages:
//!
//! - **The session.** `session_id` is the session's id. `uuid` is derived from the run and the number of the message, so that a
//!   replay equals the live stream. `init` comes with the first turn, because it names the model.
//! - **Turns** of the main thread are model messages. Each finished block is an `assistant` message of its own, with the id of its
//!   model message. Text after a tool's result begins a new model message.
//! - **Partial messages** (`stream_event`) are the contract's experimental group. A block's `assistant` message comes right before
//!   its `content_block_stop`. Usage is in `message_delta`, because `assistant` messages are written before it is known. Only the
//!   main thread is streamed.
//! - **Tools.** A call is a `tool_use` block with the runner's own id and name, its result a `tool_result` in a `user` message: the
//!   output, then the standard error. A tool that never ran is an error, with the reason in `tool_result_meta`.
//! - **Approvals.** A question is a `control_request` `can_use_tool`, whose `request_id` is the approval's id. A decision withdraws it
//!   with `control_cancel_request`: the reader did not answer on this stream.
//! - **Subagents.** What they say and call has `parent_tool_use_id`. Their start and end are the tasks of type `local_agent`.
//! - **The user's messages** are written if the reader asks for them, as `--replay-user-messages` does.
//! - **The end.** `result` has the last text and the usage of the run. A failed run has the subtype `success` with `is_error`, as
//!   errors of the provider have; the limits of turns, budget and output have their own subtypes. An interrupted run has
//!   `error_during_execution`.
//! - **Background tasks** are `task_started`, `task_updated` and `task_notification`, without `init` and `result`.
//! - **Notices** (logs, gaps, other errors) are `informational`. Retries are `api_retry`, compactions `compact_boundary` and `status`.
//!   Plans, file changes, checkpoints and live output have no message: the calls show them.

mod approvals;
mod blocks;
mod calls;
mod data;
mod dropped;
mod encode;
mod ending;
mod line;
mod rules;
mod system;
mod task;
#[cfg(test)]
mod tests;
mod tools;
mod turns;
mod usage;
mod withheld;
mod words;
mod writer;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The release of Claude Code whose messages the contract writes.
pub const RELEASE: &str = "2.1.330";

/// The contract.
pub const V1: Contract = Contract {
    name: "claude-code.v1",
    about: "messages of claude -p --output-format stream-json, for the Claude Agent SDK",
    document: Some("Claude Code stream-json (Claude Agent SDK 0.3)"),
    sse: SseStyle::Bare,
    type_key: "type",
    log: None,
    schemas: schemas!("claude-code/v1": "system",
        "assistant",
        "user",
        "stream_event",
        "control_request",
        "control_cancel_request",
        "result",
    ),
    document_schema: document_schema!("claude-code/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::ClaudeCodeRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "result",
    announces_pruning: false,
    has_user_messages: true,
    artifact_id: None,
};
