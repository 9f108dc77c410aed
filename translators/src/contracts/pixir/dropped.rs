//! The notice for a run that is no longer kept: the ephemeral `status` `gap`, as for a withheld event.

use super::writer;
use crate::contracts::wire::rfc3339_micros;
use crate::dropped::Dropped;
use crate::encode::Events;
use serde_json::json;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let session_id = &dropped.stream.id;
    let data = json!({"status": "gap", "reason": dropped.message()});
    let (id, shared) = (writer::id(session_id, dropped.frames.end), writer::shared_fields(session_id));
    writer::write(&id, &shared, None, &rfc3339_micros(dropped.at_ms), "status", &data, out);
}
