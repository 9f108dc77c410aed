//! `agent-manager.v1`: run events as `spec/agent-manager.md` defines them.
//!
//! Input: the frames of a run. Output: seven event types. The first event is a `status` from `starting` to `running`, the last
//! a `status` to `complete`, `failed` or `cancelled`. Never: a delta (messages are whole), or a subagent's text.

mod dropped;
mod encode;
mod rules;
mod withheld;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The contract.
pub(super) const V1: Contract = Contract {
    name: "agent-manager.v1",
    about: "run events for managers and audits: messages, tool calls, metrics, status",
    document: Some("Agent-Manager Event Schemas"),
    sse: SseStyle::Open,
    type_key: "eventType",
    log: None,
    schemas: schemas!("agent-manager/v1": "tool_call", "tool_result", "message", "metric", "status", "log", "error"),
    document_schema: document_schema!("agent-manager/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::AgentManagerRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "error",
    announces_pruning: true,
    has_user_messages: false,
    artifact_id: None,
};
