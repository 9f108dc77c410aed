//! The notice for a run that is no longer kept: `gap.events_pruned`. Retention removes whole runs, so the gap begins at
//! sequence 0. It ends at the last event that is known from reading the run.

use super::envelope::SharedFields;
use super::ids::RunBits;
use crate::contracts::wire::rfc3339_millis;
use crate::dropped::Dropped;
use crate::encode::Events;
use serde_json::json;

pub(super) fn notice(dropped: &Dropped<'_>, out: &mut Events) {
    let sequence = dropped.events;
    let occurred_at = rfc3339_millis(dropped.at_ms);
    let data = json!({
        "first_pruned_sequence": 0, "last_pruned_sequence": sequence.saturating_sub(1), "pruned_at": &occurred_at,
        "reason": dropped.message(),
    });
    let event_id = RunBits::new(dropped.stream.id).event_id(dropped.at_ms, sequence);
    SharedFields::new(dropped.stream).write(&event_id, sequence, &occurred_at, "gap.events_pruned", &data, out);
}
