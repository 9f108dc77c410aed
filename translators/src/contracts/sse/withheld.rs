//! The stand-in for a withheld event: a `tool_result` of the tool `framegate` with `success: false`, the contract's only event
//! for an error during a run. `run_started` and `run_interrupted` are replaced by an event of the same type. The other ends are
//! replaced by `run_failed` with the code `EVENT_WITHHELD`; the actual outcome is in the run's status.

use crate::contracts::wire::rfc3339_seconds;
use crate::encode::{EventId, Events};
use crate::gate::{NOTICE, Withheld};
use serde_json::{Value, json};

/// A tool name that no runner uses.
pub(super) const TOOL_NAME: &str = "framegate";

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let (kind, payload): (_, Value) = match withheld.event.kind {
        "run_started" => ("run_started", json!({"status": "running"})),
        "run_interrupted" => ("run_interrupted", json!({"status": "interrupted"})),
        "run_completed" | "run_failed" => {
            ("run_failed", json!({"status": "failed", "error_code": "EVENT_WITHHELD", "message": withheld.message()}))
        }
        _ => ("tool_result", json!({"tool_name": TOOL_NAME, "success": false, "result": withheld.message()})),
    };
    let frame = withheld.frame;
    let EventId::Text(event_id) = withheld.event.id else { return };
    let shared = super::encode::shared_fields(&frame.stream);
    super::encode::write(event_id, &shared, kind, &rfc3339_seconds(frame.timestamp_ms), &payload, out);
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    text("/payload/tool_name") == TOOL_NAME && text("/payload/result").starts_with(NOTICE)
}
