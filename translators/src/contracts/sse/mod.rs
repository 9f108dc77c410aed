//! `sse.v1`: run streaming as `spec/sse-v1.md` defines it.
//!
//! Input: the frames of a run. Output: nine event types. Never: a subagent's text, reasoning or usage (the contract has no
//! events for them), or an event after the terminal one.
//!
//! `event_id` is `evt_`, the run's id, and a zero-padded counter. It sorts as a string and is the same on every replay.

mod dropped;
mod encode;
mod order;
mod rules;
mod withheld;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The contract.
pub const V1: Contract = Contract {
    name: "sse.v1",
    about: "run streaming for chat UIs: text, approvals, tool results",
    document: Some("SSE Event Contract v1"),
    sse: SseStyle::Named,
    type_key: "type",
    log: None,
    schemas: schemas!("sse/v1": "run_started",
        "assistant_delta",
        "tool_call_proposed",
        "tool_call_approved",
        "tool_call_rejected",
        "tool_result",
        "run_interrupted",
        "run_completed",
        "run_failed",
    ),
    document_schema: document_schema!("sse/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::SseRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "tool_result",
    announces_pruning: false,
    has_user_messages: false,
    artifact_id: None,
};
