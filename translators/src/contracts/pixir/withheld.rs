//! The stand-in for a withheld event.
//!
//! An ephemeral event is replaced by `status` `gap`, the terminal marker by another terminal marker. A canonical event needs a
//! canonical stand-in, or the log has a gap. For a `tool_result` it is a `tool_result` with an error, so that the call still
//! has a result. For every other type it is an `assistant_message` without text and with the error in its metadata, as for a
//! failed run.

use super::writer;
use crate::contracts::wire::rfc3339_micros;
use crate::encode::Events;
use crate::frame::EndReason;
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::{Value, json};

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let message = withheld.message();
    let seq = withheld.number();
    let end = withheld.end().filter(|_| withheld.event.kind == "status");
    let (kind, data): (_, Value) = match (seq, end) {
        (None, Some(reason)) => {
            let status = match reason {
                EndReason::Completed => "done",
                EndReason::Failed => "error",
                EndReason::Interrupted => "interrupted",
            };
            ("status", json!({"status": status, "reason": message}))
        }
        (None, None) => ("status", json!({"status": "gap", "reason": message})),
        (Some(_), _) if withheld.event.kind == "tool_result" => {
            let call_id = withheld.text(&["data", "call_id"]).unwrap_or_default();
            let error = json!({"kind": CODE, "message": message});
            ("tool_result", json!({"call_id": call_id, "ok": false, "error": error}))
        }
        (Some(_), _) => {
            let metadata = json!({"partial": true, "error_kind": CODE, "error_message": message});
            ("assistant_message", json!({"text": "", "metadata": metadata}))
        }
    };
    let frame = withheld.frame;
    // Only the encoder counts events without a number, so the stand-in reuses the withheld event's id. If that is empty, derive
    // one from the frame's number.
    let known = withheld.text(&["id"]).filter(|id| !id.is_empty());
    let id = known.unwrap_or_else(|| writer::id(&frame.stream.id, frame.seq));
    let shared = writer::shared_fields(&frame.stream.id);
    let place = (seq, withheld.event.id.clone());
    writer::write_at(&id, &shared, place, &rfc3339_micros(frame.timestamp_ms), kind, &data, out);
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    text("/data/metadata/error_kind") == CODE
        || text("/data/error/kind") == CODE
        || text("/data/reason").starts_with(NOTICE)
}
