//! The stand-in for a withheld event: `gap.events_pruned` for the one missing sequence, even at the beginning of a run.
//! `run.cancelled` is replaced by another `run.cancelled`; the other ends are replaced by `run.failed` with the code
//! `event_withheld`.

use super::envelope::SharedFields;
use super::ids::RunBits;
use crate::contracts::wire::rfc3339_millis;
use crate::encode::Events;
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::{Value, json};

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let message = withheld.message();
    let frame = withheld.frame;
    let sequence = withheld.number().unwrap_or_default();
    // Held output has an earlier time than the frame that released it.
    let occurred_at = withheld.text(&["occurred_at"]).unwrap_or_else(|| rfc3339_millis(frame.timestamp_ms));
    let event_id = withheld.text(&["event_id"]);
    let event_id = event_id.unwrap_or_else(|| RunBits::new(frame.stream.id).event_id(frame.timestamp_ms, sequence));
    let (kind, data): (_, Value) = match withheld.event.kind {
        "run.cancelled" => ("run.cancelled", json!({"by": "framegate", "reason": message})),
        "run.finished" | "run.failed" => ("run.failed", json!({"code": CODE, "message": message, "retriable": false})),
        _ => (
            "gap.events_pruned",
            json!({
                "first_pruned_sequence": sequence, "last_pruned_sequence": sequence, "pruned_at": &occurred_at,
                "reason": message,
            }),
        ),
    };
    SharedFields::new(&frame.stream).write(&event_id, sequence, &occurred_at, kind, &data, out);
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    event.pointer("/data/reason").and_then(Value::as_str).is_some_and(|reason| reason.starts_with(NOTICE))
}
