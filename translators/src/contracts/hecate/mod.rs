//! `hecate.v1`: run events as `spec/hecate-v1.md` defines them.
//!
//! Input: the frames of a run. Output: enveloped events, numbered from 0 without gaps. The first one is `run.started`, and
//! exactly one of `run.finished`, `run.failed` and `run.cancelled` is the last. Never: a number that the runner did not report;
//! thinking, artifact groups or the user's messages unless they are enabled; an event for a stream that is not a run.
//!
//! How frames map to this vocabulary:
//!
//! - **Ids.** See [`ids`]: `run_`, `chat_` and `task_` are our UUIDs in Crockford's base 32, so each can be converted back. A
//!   conversation is one task. Call and approval ids are the runner's own, as the document requires.
//! - **`run.queued`** is left out. A run becomes visible when it starts; no model is known then, and the type requires one.
//!   `run.started` names the runner as its worker. Its lease is nominal, because the type requires one.
//! - **`provider`** is the runner. Errors that it reports are `error.upstream`.
//! - **Turns.** `input_tokens` includes cached tokens; `cached_input_tokens` is a part of it. A turn that failed gets
//!   `turn.failed` instead of `turn.completed`; an attempt that the runner repeats within the turn is `error.upstream`.
//!   `cost.tick` follows each turn with known figures, and the runner's own total if that arrives later. If a runner reports
//!   only the total of a run with a single turn, the total is reported as that turn's.
//! - **Blocks** are counted within a turn, text and thinking together, across messages.
//! - **Tools.** A proposal, `tool.invoked`, `tool.started`, the kind's own events, and one terminal event: `tool.completed`,
//!   `tool.failed`, `tool.cancelled` if a person refused, `tool.timed_out` if the runner reports a timeout. `tool.shell.*` is
//!   only for shells; the result of other tools is one line in the terminal event's `summary`. A plan that changes outside any
//!   call is emitted as a separate `todo_write` call.
//! - **Subagents** are an experimental fan-out: their text, thinking, proposals and plans are left out. Their tool calls and
//!   approvals are included with `parent_tool_call_id`, because they are actions and questions of the run.
//! - **The end.** `assistant.final_answer` precedes `run.finished` if there is a final text. `gap.run_disconnected` precedes
//!   `run.cancelled` if the runner never reported how the run ended.
//! - **Left out**, because the vocabulary has no event for them: logs, status, compaction, records, streamed tool input,
//!   `redacted_keys`.

mod approvals;
mod blocks;
mod budget;
mod dropped;
mod edits;
mod encode;
mod envelope;
mod errors;
pub mod ids;
mod kinds;
mod results;
mod rules;
mod shell;
mod tools;
mod turns;
mod withheld;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The contract.
pub const V1: Contract = Contract {
    name: "hecate.v1",
    about: "typed run events for agent front ends: turns, tools, approvals, cost",
    document: Some("Hecate typed event stream v1 (RFC)"),
    sse: SseStyle::Bare,
    type_key: "type",
    schemas: schemas!("hecate/v1": "run.queued",
        "run.started",
        "run.finished",
        "run.failed",
        "run.cancelled",
        "run.resumed_from_event",
        "run.checkpoint_saved",
        "turn.started",
        "turn.completed",
        "turn.failed",
        "assistant.text_delta",
        "assistant.text_complete",
        "assistant.thinking_delta",
        "assistant.thinking_complete",
        "assistant.tool_call_proposed",
        "assistant.final_answer",
        "user.message",
        "user.attachment",
        "tool.invoked",
        "tool.started",
        "tool.completed",
        "tool.failed",
        "tool.cancelled",
        "tool.timed_out",
        "tool.shell.command",
        "tool.shell.output_chunk",
        "tool.shell.exited",
        "tool.edit.proposed",
        "tool.edit.applied",
        "tool.edit.reverted",
        "tool.multi_edit.proposed",
        "tool.multi_edit.applied",
        "tool.multi_edit.reverted",
        "tool.file_write.proposed",
        "tool.file.patch",
        "tool.file.applied",
        "tool.file.reverted",
        "tool.glob.completed",
        "tool.grep.completed",
        "tool.file_read.completed",
        "tool.todo_write.updated",
        "tool.http.requested",
        "tool.http.response",
        "tool.web_fetch.requested",
        "tool.web_fetch.response",
        "tool.web_search.requested",
        "tool.web_search.response",
        "approval.requested",
        "approval.resolved",
        "approval.timed_out",
        "artifact.created",
        "artifact.referenced",
        "artifact.updated",
        "cost.tick",
        "cost.budget_warning",
        "cost.budget_exceeded",
        "policy.tool_blocked",
        "policy.model_rewrote",
        "error.tool_unavailable",
        "error.model_capability_missing",
        "error.upstream",
        "gap.events_pruned",
        "gap.run_disconnected",
    ),
    document_schema: document_schema!("hecate/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::HecateRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "gap.events_pruned",
    announces_pruning: true,
    has_user_messages: true,
    artifact_id: Some(|id| ids::uuid_of("art_", id).map(|id| id.as_u128())),
    log: None,
};
