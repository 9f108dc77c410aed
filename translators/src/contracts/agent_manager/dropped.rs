//! The notice for a run that is no longer kept: `error` with the code `events_pruned`.

use crate::contracts::wire::rfc3339_millis;
use crate::dropped::{CODE, Dropped};
use crate::encode::Events;
use serde_json::json;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let data = json!({"code": CODE, "message": dropped.message(), "retryable": false});
    super::encode::write(&dropped.stream.id, dropped.events, "error", &rfc3339_millis(dropped.at_ms), &data, out);
}
