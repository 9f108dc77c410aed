//! The stand-in for a withheld frame.
//!
//! `frames.v2`: `gap_detected` for the one missing sequence. `frames.v1` has no frame for a gap, so there it is a
//! `provider_event` named `framegate.event_withheld` with the reason in `errors`. In both versions, `session_started`,
//! `session_ended` and the status that ends a task are replaced by a frame of the same type without the fields that could be
//! invalid.

use super::wire::{self, Version};
use crate::encode::Events;
use crate::frame::{Body, Frame, ProviderEvent, ProviderStatus, RecordErrors, SessionEnded, SharedStr, TaskEvent};
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::Value;
use uuid::Uuid;

/// An `event_name` that no runner uses.
const EVENT_NAME: &str = "framegate.event_withheld";

pub(super) fn v1(withheld: &Withheld<'_>, out: &mut Events) {
    let lost = || {
        Body::ProviderEvent(Box::new(ProviderEvent {
            status: ProviderStatus::Event,
            event_name: Some(SharedStr::from(EVENT_NAME)),
            data: Some(format!("{{\"code\":\"{CODE}\",\"withheld\":\"{}\"}}", withheld.event.kind).into()),
            raw: None,
            block: None,
            sse: false,
            errors: vec![withheld.message()].into(),
            response_errors: RecordErrors::NONE,
            ends_run: None,
            redacted_paths: Vec::new(),
            drift: Vec::new(),
        }))
    };
    write(withheld, Version::V1, lost, out);
}

pub(super) fn v2(withheld: &Withheld<'_>, out: &mut Events) {
    let lost = || Body::GapDetected {
        first_seq: Some(withheld.frame.seq),
        last_seq: Some(withheld.frame.seq),
        reason: withheld.message(),
    };
    write(withheld, Version::V2, lost, out);
}

fn write(withheld: &Withheld<'_>, version: Version, lost: impl Fn() -> Body, out: &mut Events) {
    let body = match &withheld.frame.body {
        Body::SessionStarted { .. } => Body::SessionStarted { input: String::new() },
        Body::SessionEnded(end) => Body::SessionEnded(Box::new(SessionEnded {
            reason: end.reason,
            final_text: None,
            error_code: Some(SharedStr::from(CODE)),
            message: Some(withheld.message()),
        })),
        Body::Task(task) => match **task {
            TaskEvent::Status { task_id, status, .. } if status.is_terminal() => {
                Body::Task(Box::new(TaskEvent::Status {
                    task_id,
                    status,
                    exit_code: None,
                    started_at_ms: None,
                    ended_at_ms: None,
                    artifacts: None,
                    error: Some(withheld.message()),
                }))
            }
            _ => lost(),
        },
        _ => lost(),
    };
    let frame = Frame { body, ..withheld.frame.clone() };
    let shared = wire::Shared::new(&frame.stream, version);
    let seq = withheld.number().unwrap_or(frame.seq);
    // In v1, the event may be output that was held and that this frame releases. Its id is that of an earlier frame.
    let own_id = withheld.text(&["id"]).and_then(|id| Uuid::try_parse(&id).ok()).unwrap_or_else(|| frame.id());
    out.object(frame.body.kind(), withheld.event.id.clone(), |map| {
        wire::write_as(map, &own_id, &frame, &shared, seq, version);
    });
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    text("event_name") == EVENT_NAME || text("type") == "gap_detected" && text("reason").starts_with(NOTICE)
}
