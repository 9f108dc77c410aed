//! Where the texts of a run end, for redaction before records are decoded.
//!
//! Input: a record without text. Output: whether it ends the text before it. Never: an end that [`stream`](super::stream) does not have.

use crate::redact::{Ends, Successive, string_at};

/// The messages of a run. Those of a session's file have ids.
pub(super) const MESSAGES: Successive =
    Successive { conversation: &[], parent: &[], name: "id", kinds: &[&["role"], &["type"]], ends };

fn ends(record: &str) -> Ends {
    match string_at(record, &["type"]) {
        Some("init" | "tool_use" | "tool_result" | "error" | "result") => Ends::All,
        _ => Ends::Nothing,
    }
}
