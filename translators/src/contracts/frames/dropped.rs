//! The notice for a run that is no longer kept: in `frames.v2`, `gap_detected` with the missing frames. `frames.v1` has no
//! frame for a gap, so there it is a `provider_event` named `framegate.events_pruned`.

use super::wire::{self, Version};
use crate::dropped::{CODE, Dropped};
use crate::encode::{EventId, Events};
use crate::frame::{Body, Frame, ProviderEvent, ProviderStatus, RecordErrors, SharedStr};

/// An `event_name` that no runner uses.
const EVENT_NAME: &str = "framegate.events_pruned";

pub(super) fn v1(dropped: &Dropped<'_>, out: &mut Events) {
    let body = Body::ProviderEvent(Box::new(ProviderEvent {
        status: ProviderStatus::Event,
        event_name: Some(SharedStr::from(EVENT_NAME)),
        data: Some(format!("{{\"code\":\"{CODE}\"}}").into()),
        raw: None,
        block: None,
        sse: false,
        errors: vec![dropped.message()].into(),
        response_errors: RecordErrors::NONE,
        ends_run: None,
        redacted_paths: Vec::new(),
        drift: Vec::new(),
    }));
    write(dropped, Version::V1, body, dropped.events, out);
}

pub(super) fn v2(dropped: &Dropped<'_>, out: &mut Events) {
    let body = Body::GapDetected {
        first_seq: Some(dropped.frames.start),
        last_seq: Some(dropped.frames.end.saturating_sub(1)),
        reason: dropped.message(),
    };
    write(dropped, Version::V2, body, dropped.frames.end, out);
}

fn write(dropped: &Dropped<'_>, version: Version, body: Body, seq: u64, out: &mut Events) {
    let (stream, timestamp_ms) = (dropped.stream.clone(), dropped.at_ms);
    let frame = Frame { stream, seq, timestamp_ms, parent_tool_id: None, given_id: None, body };
    let shared = wire::Shared::new(&frame.stream, version);
    out.object(frame.body.kind(), EventId::Number(seq), |map| wire::write(map, &frame, &shared, seq, version));
}
