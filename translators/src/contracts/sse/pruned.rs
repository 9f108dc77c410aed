//! What is said of a run that is not kept any more: `tool_result` of the tool `framegate` with `success: false`, as for an
//! event that is withheld.

use super::encode::{Envelope, event_id};
use super::withheld::TOOL_NAME;
use crate::contracts::wire::rfc3339_seconds;
use crate::encode::{EventId, Events};
use crate::pruned::Pruned;
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let event_id = event_id(&pruned.stream.id, pruned.events);
    let envelope = Envelope {
        event_id: &event_id,
        session_id: pruned.stream.session.id.to_string(),
        run_id: pruned.stream.id.to_string(),
        r#type: "tool_result",
        ts: rfc3339_seconds(pruned.at_ms),
        payload: json!({"tool_name": TOOL_NAME, "success": false, "result": pruned.message()}),
    };
    out.json("tool_result", EventId::Text(event_id.clone()), &envelope);
}
