//! Where the texts of an agent end, for redaction before records are decoded.
//!
//! Input: a record without text. Output: which texts of its session, or of its call, end. Never: an end that [`texts`](super::texts) does not have: the
//! text that a decoder joins is redacted as one.

use crate::redact::{Ends, Successive, string_at};

/// The messages and thoughts of a session.
pub(super) const MESSAGES: Successive = Successive {
    conversation: &["params", "sessionId"],
    parent: &["params", "update"],
    name: "messageId",
    kinds: &[&["sessionUpdate"], &["_meta", "claudeCode", "parentToolUseId"]],
    ends,
};

/// What a call prints to its terminal.
pub(super) const TERMINAL: Successive = Successive {
    conversation: &["params", "update", "toolCallId"],
    parent: &[],
    name: "",
    kinds: &[],
    ends: |record| match string_at(record, &["params", "update", "status"]) {
        Some("completed" | "failed" | "cancelled") => Ends::All,
        _ => Ends::Nothing,
    },
};

fn ends(record: &str) -> Ends {
    match string_at(record, &["method"]) {
        Some("session/update") => of_update(record),
        Some("session/request_permission" | "elicitation/create") => Ends::Nameless,
        Some("session/prompt") => Ends::All,
        Some(_) => Ends::Nothing,
        // The answer to a prompt of version 1. Any other answer may come in the middle of a text.
        None if string_at(record, &["result", "stopReason"]).is_some() => Ends::All,
        None => Ends::Nothing,
    }
}

fn of_update(record: &str) -> Ends {
    match string_at(record, &["params", "update", "sessionUpdate"]) {
        Some("tool_call" | "tool_call_update" | "plan" | "plan_update") => Ends::Nameless,
        Some("user_message") => Ends::Nameless,
        Some("state_update") if string_at(record, &["params", "update", "state"]) == Some("idle") => Ends::All,
        // Reports on the session, such as its usage, may come at any time.
        _ => Ends::Nothing,
    }
}
