//! Recognition of the records of GitHub Copilot CLI.
//!
//! Both surfaces have the same envelope: `type`, `data`, `id`, `timestamp` and `parentId`. What the session file does not keep is
//! marked as `ephemeral`, and some events are in the session file only. Other events decide nothing about the surface.

use crate::decode::Record;
use crate::json::{Kind, Object};

/// A record of `--output-format json`.
pub(super) fn json(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if fields.str("type").as_deref() == Some("result") {
        let usage = fields.object("usage")?;
        let is_own = fields.i64("exitCode").is_some() && usage.get("premiumRequests").is_some();
        return is_own.then_some("a result with exitCode and premiumRequests");
    }
    (is_event(fields) && fields.bool("ephemeral") == Some(true)).then_some("an ephemeral event")
}

/// A line of a session file.
pub(super) fn session(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if !is_event(fields) || fields.bool("ephemeral") == Some(true) {
        return None;
    }
    let data = fields.object("data")?;
    match &*fields.str("type")? {
        "session.start" => data.get("copilotVersion").map(|_| "session.start with copilotVersion"),
        "session.resume"
        | "session.shutdown"
        | "session.usage_record"
        | "session.model_change"
        | "system.message"
        | "permission.requested"
        | "permission.completed"
        | "session.compaction_start"
        | "session.compaction_complete"
        | "session.binary_asset" => Some("an event that only session files have"),
        _ => None,
    }
}

/// Whether a record has the envelope of an event.
fn is_event(fields: &Object<'_>) -> bool {
    let has = |key: &str, kind: Kind| fields.get(key).is_some_and(|value| value.kind() == kind);
    has("type", Kind::String)
        && has("data", Kind::Object)
        && has("id", Kind::String)
        && has("timestamp", Kind::String)
        && fields.get("parentId").is_some()
}
