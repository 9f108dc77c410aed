//! What is said of a run that is not kept any more: `error` with the code `events_pruned`.

use super::encode::Envelope;
use crate::contracts::wire::rfc3339_millis;
use crate::encode::{EventId, Events};
use crate::pruned::{CODE, Pruned};
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let envelope = Envelope {
        id: super::encode::event_id(&pruned.stream.id, pruned.events),
        run_id: &pruned.stream.id,
        sequence: pruned.events,
        event_type: "error",
        timestamp: rfc3339_millis(pruned.at_ms),
        data: json!({"code": CODE, "message": pruned.message(), "retryable": false}),
    };
    out.json("error", EventId::Number(pruned.events), &envelope);
}
