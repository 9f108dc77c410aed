//! What is said of a run that is not kept any more: `gap.events_pruned`. Retention takes whole runs, so it begins with
//! sequence 0; up to which one it goes is known as far as somebody read the run.

use super::envelope::Envelope;
use super::ids::{self, RunBits};
use crate::contracts::wire::rfc3339_millis;
use crate::encode::{EventId, Events};
use crate::pruned::Pruned;
use serde_json::json;

pub(super) fn notice(pruned: &Pruned<'_>, out: &mut Events) {
    let (run, session, sequence) = (pruned.stream.id, pruned.stream.session.id, pruned.events);
    let occurred_at = rfc3339_millis(pruned.at_ms);
    let data = json!({
        "first_pruned_sequence": 0, "last_pruned_sequence": sequence.saturating_sub(1), "pruned_at": &occurred_at,
        "reason": pruned.message(),
    });
    let envelope = Envelope {
        schema_version: "1",
        event_id: RunBits::new(run).event_id(pruned.at_ms, sequence),
        run_id: &ids::run_id(run),
        task_id: &ids::task_id(session),
        session_id: &ids::session_id(session),
        sequence,
        occurred_at,
        r#type: "gap.events_pruned",
        data: &data,
    };
    out.json("gap.events_pruned", EventId::Number(sequence), &envelope);
}
