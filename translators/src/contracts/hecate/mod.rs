//! `hecate.v1`: run events as `spec/hecate-v1.md` has them.
//!
//! In: the frames of a run. Out: enveloped events, numbered from 0 without a gap; the first is `run.started`, exactly one
//! of `run.finished`, `run.failed` and `run.cancelled` is the last. Never: a number that the runner did not say, thinking
//! or artifact groups unless they are asked for, an event of a stream that is no run.
//!
//! How frames are told in this vocabulary:
//!
//! - **Ids.** See [`ids`]: `run_`, `chat_` and `task_` spell our UUIDs in Crockford's base 32, so each can be read back.
//!   A conversation is one task. Call and approval ids are the runner's own, as the document asks.
//! - **`run.queued`** is left out. A run is seen once it works; at that time no model is known, and the type demands one.
//!   `run.started` names the runner as its worker; its lease is a nominal one, since the type demands it.
//! - **`provider`** is the runner that speaks to us. What it says went wrong is `error.upstream`.
//! - **Turns.** `input_tokens` counts cached tokens too, of which `cached_input_tokens` is a part. A turn that failed is
//!   `turn.failed` instead of `turn.completed`. `cost.tick` follows each turn of which figures are known, and the runner's
//!   own total where it comes later. A runner that only tells a run's total of a single turn tells that turn's.
//! - **Blocks** are counted within a turn, text and thinking together, whichever message they stand in.
//! - **Tools.** Proposal, `tool.invoked`, `tool.started`, the kind's own events, one terminal event: `tool.completed`,
//!   `tool.failed`, `tool.cancelled` where a person refused, `tool.timed_out` where the runner says so. `tool.shell.*`
//!   is for shells alone; what other tools give is in the terminal event's `summary`, in one line. A plan that changes
//!   outside any call is told as a `todo_write` call of its own.
//! - **Subagents** are an experimental fan-out: their text, thinking, proposals and plans are left out. Their tool calls
//!   and approvals are told, since the run did and asked these, with `parent_tool_call_id`.
//! - **The end.** `assistant.final_answer` comes before `run.finished` where there was a last text;
//!   `gap.run_disconnected` before `run.cancelled` where the runner never said how the run ended.
//! - **Left out** for want of a word: logs, status, compaction, records, streamed tool input, `redacted_keys`.

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
use crate::schema::SchemaFile;

macro_rules! schemas {
    ($($kind:literal),+ $(,)?) => {
        &[$(SchemaFile {
            kind: $kind,
            text: include_str!(concat!("../../../../schemas/hecate/v1/", $kind, ".schema.json")),
        }),+]
    };
}

/// The contract.
pub const V1: Contract = Contract {
    name: "hecate.v1",
    about: "typed run events for agent front ends: turns, tools, approvals, cost",
    document: Some("Hecate typed event stream v1 (RFC)"),
    sse: SseStyle::Bare,
    type_key: "type",
    schemas: schemas!(
        "run.queued",
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
    encoder: encode::new,
    verifier: || Box::new(rules::HecateRules::default()),
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    log: None,
};
