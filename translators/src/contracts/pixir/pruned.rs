//! What is said of a run that is not kept any more: the ephemeral `status` `gap`, as for an event that is withheld.

use super::writer::{self, Envelope};
use crate::contracts::wire::rfc3339_micros;
use crate::encode::{EventId, Events};
use crate::pruned::Pruned;
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let session_id = &pruned.stream.id;
    let envelope = Envelope {
        id: writer::id(session_id, pruned.frames.end),
        session_id,
        seq: None,
        ts: rfc3339_micros(pruned.at_ms),
        r#type: "status",
        data: &json!({"status": "gap", "reason": pruned.message()}),
    };
    out.json("status", EventId::None, &envelope);
}
