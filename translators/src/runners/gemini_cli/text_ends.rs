//! What a record does to the texts of a run, for redaction before records are decoded.
//!
//! Input: a record. Output: the text that it continues, or the end of the text before it. Never: an end that [`stream`](super::stream)
//! does not have.

use super::chat;
use crate::json::Object;
use crate::redact::{Effect, Said, Successive, identity};

/// The messages of a run.
pub(super) const MESSAGES: Successive = Successive { effect, conversations: None };

fn effect(record: &Object<'_>) -> Effect {
    let (stream, file) = (identity("stream"), identity("file"));
    let kind = record.str("type").unwrap_or_default();
    if chat::is_entry(record) {
        // An entry of a session's file is a whole message, and may be written again.
        let text = identity(record.get("id").map(|id| id.text()));
        return Effect::Says(Said { conversation: file, also_ends: None, text, is_named: true, is_last: true });
    }
    let role = record.str("role").unwrap_or_default();
    match (&*kind, &*role) {
        ("message", "user" | "assistant") => {
            let is_last = &*role == "user" || record.bool("delta") != Some(true);
            Effect::Says(Said {
                conversation: stream,
                also_ends: None,
                text: identity(&*role),
                is_named: false,
                is_last,
            })
        }
        ("init" | "tool_use" | "tool_result" | "error" | "result", _) => {
            Effect::Ends { conversation: stream, named_too: true }
        }
        _ => Effect::Nothing,
    }
}
