//! The stand-in for a withheld event: `error` with the code `event_withheld`. The `status` that ends a run is replaced by
//! another `status` whose reason says what was withheld.

use crate::contracts::wire::rfc3339_millis;
use crate::encode::Events;
use crate::frame::EndReason;
use crate::gate::{CODE, Withheld};
use serde_json::{Value, json};

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let message = withheld.message();
    let end = withheld.end().filter(|_| withheld.event.kind == "status");
    let (event_type, data): (_, Value) = match end {
        Some(reason) => {
            let old_status = withheld.text(&["data", "oldStatus"]).unwrap_or_else(|| "running".to_owned());
            let new_status = match reason {
                EndReason::Completed => "complete",
                EndReason::Failed => "failed",
                EndReason::Interrupted => "cancelled",
            };
            ("status", json!({"oldStatus": old_status, "newStatus": new_status, "reason": message}))
        }
        None => ("error", json!({"code": CODE, "message": message, "retryable": false})),
    };
    let frame = withheld.frame;
    let sequence = withheld.number().unwrap_or_default();
    let time = rfc3339_millis(frame.timestamp_ms);
    super::encode::write(&frame.stream.id, sequence, event_type, &time, &data, out);
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    event.pointer("/data/code").and_then(Value::as_str) == Some(CODE)
}
