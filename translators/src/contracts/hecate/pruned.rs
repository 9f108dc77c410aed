//! What is said of a run that is not kept any more: `gap.events_pruned`. Retention takes whole runs, so it begins with
//! sequence 0; up to which one it goes is known as far as somebody read the run.

use super::envelope::Shared;
use super::ids::RunBits;
use crate::contracts::wire::rfc3339_millis;
use crate::encode::Events;
use crate::pruned::Pruned;
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let sequence = pruned.events;
    let occurred_at = rfc3339_millis(pruned.at_ms);
    let data = json!({
        "first_pruned_sequence": 0, "last_pruned_sequence": sequence.saturating_sub(1), "pruned_at": &occurred_at,
        "reason": pruned.message(),
    });
    let event_id = RunBits::new(pruned.stream.id).event_id(pruned.at_ms, sequence);
    Shared::new(pruned.stream).write(&event_id, sequence, &occurred_at, "gap.events_pruned", &data, out);
}
