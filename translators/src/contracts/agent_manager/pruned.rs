//! What is said of a run that is not kept any more: `error` with the code `events_pruned`.

use crate::contracts::wire::rfc3339_millis;
use crate::encode::Events;
use crate::pruned::{CODE, Pruned};
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let data = json!({"code": CODE, "message": pruned.message(), "retryable": false});
    super::encode::write(&pruned.stream.id, pruned.events, "error", &rfc3339_millis(pruned.at_ms), &data, out);
}
