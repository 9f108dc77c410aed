//! What is said of a run that is not kept any more: the ephemeral `status` `gap`, as for an event that is withheld.

use super::writer;
use crate::contracts::wire::rfc3339_micros;
use crate::encode::Events;
use crate::pruned::Pruned;
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let session_id = &pruned.stream.id;
    let data = json!({"status": "gap", "reason": pruned.message()});
    let (id, shared) = (writer::id(session_id, pruned.frames.end), writer::shared_fields(session_id));
    writer::write(&id, &shared, None, &rfc3339_micros(pruned.at_ms), "status", &data, out);
}
