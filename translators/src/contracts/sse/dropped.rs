//! The notice for a run that is no longer kept: a `tool_result` of the tool `framegate` with `success: false`, as for a
//! withheld event.

use super::encode::{self, event_id};
use super::withheld::TOOL_NAME;
use crate::contracts::wire::rfc3339_seconds;
use crate::dropped::Dropped;
use crate::encode::Events;
use serde_json::json;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let payload = json!({"tool_name": TOOL_NAME, "success": false, "result": dropped.message()});
    let (id, time) = (event_id(&dropped.stream.id, dropped.events), rfc3339_seconds(dropped.at_ms));
    encode::write(&id, &encode::shared_fields(dropped.stream), "tool_result", &time, &payload, out);
}
