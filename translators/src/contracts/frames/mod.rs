//! `frames.v1` and `frames.v2`: the canonical frames themselves, in the form of `spec/frames.md`.
//!
//! Input: frames. Output: the same frames as JSON, of every stream. v1 has the types that the document lists for v1 and the
//! `tool_task_*` types of task streams, with separate numbering; its `session_id` is the id of the stream, which may be a run,
//! a task or a thread. v2 has every type. Never: a record that is in no stream, or a field that is not in the document, except
//! the extension types and fields of v2.

mod checkpoints;
mod dropped;
mod rules;
mod tails;
mod values;
mod wire;
mod withheld;

use super::{Contract, SseStyle};
use crate::encode::{Encoder, EncoderOptions, EventId, Events, Pruned, StreamEncoder, encoder};
use crate::frame::{Body, Frame, ProviderEvent, ProviderStatus, RecordErrors, SharedStr, Stream};
use crate::frame_schemas;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tails::Tails;
use wire::{Shared, Version};

/// `frames.v1`.
pub(super) const V1: Contract = Contract {
    name: "frames.v1",
    about: "canonical frames with a session-scoped envelope, limited to the types of phase 1",
    document: Some("Event Frames (Phase 1)"),
    sse: SseStyle::Open,
    type_key: "type",
    log: None,
    schemas: frame_schemas::V1,
    document_schema: document_schema!("frames/v1"),
    encoder: new_v1,
    verifier: || Box::new(rules::FrameRules::new(Version::V1)),
    rules: rules::RULES,
    withheld: withheld::v1,
    dropped: dropped::v1,
    notice_type: "provider_event",
    announces_pruning: true,
    has_user_messages: false,
    artifact_id: None,
};

/// `frames.v2`.
pub(super) const V2: Contract = Contract {
    name: "frames.v2",
    about: "canonical frames with a stream-scoped envelope, all types",
    document: Some("Event Frames (Phase 1), its planned v2 and extension types"),
    sse: SseStyle::Open,
    type_key: "type",
    log: None,
    schemas: frame_schemas::V2,
    document_schema: document_schema!("frames/v2"),
    encoder: new_v2,
    verifier: || Box::new(rules::FrameRules::new(Version::V2)),
    rules: rules::RULES,
    withheld: withheld::v2,
    dropped: dropped::v2,
    notice_type: "gap_detected",
    announces_pruning: true,
    has_user_messages: false,
    artifact_id: None,
};

/// The `event_name` of the v1 event that replaces frames that are no longer kept.
const PRUNED: &str = "framegate.events_pruned";

fn new_v1(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    Some(encoder(FramesV1 { next_seq: 0, tails: Tails::default(), shared: Shared::new(stream, Version::V1) }))
}

fn new_v2(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    Some(encoder(FramesV2 { shared: Shared::new(stream, Version::V2) }))
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "V1State", into = "V1State")]
struct FramesV1 {
    next_seq: u64,
    /// Output that is held until its beginning is known.
    tails: Tails,
    /// What its frames share.
    shared: Shared,
}

/// The state of [`FramesV1`]. Usually no output is held.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum V1State {
    Plain(u64),
    WithTails(u64, Tails),
}

impl From<FramesV1> for V1State {
    fn from(encoder: FramesV1) -> Self {
        match encoder.tails.is_empty() {
            true => Self::Plain(encoder.next_seq),
            false => Self::WithTails(encoder.next_seq, encoder.tails),
        }
    }
}

impl From<V1State> for FramesV1 {
    fn from(state: V1State) -> Self {
        let (next_seq, tails) = match state {
            V1State::Plain(next_seq) => (next_seq, Tails::default()),
            V1State::WithTails(next_seq, tails) => (next_seq, tails),
        };
        Self { next_seq, tails, shared: Shared::default() }
    }
}

impl FramesV1 {
    fn write(&mut self, frame: &Frame, out: &mut Events) {
        let seq = self.next_seq;
        self.next_seq += 1;
        out.object(frame.body.kind(), EventId::Number(seq), |map| {
            wire::write(map, frame, &self.shared, seq, Version::V1)
        });
    }
}

impl StreamEncoder for FramesV1 {
    // Earlier versions wrote 2 where output was held.
    const STATE: &[u32] = &[1, 2];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        if let Some(whole) = self.tails.before(frame) {
            self.write(&whole, out);
        }
        if !self.tails.holds(frame) && in_v1(frame) {
            self.write(frame, out);
        }
    }

    fn held_bytes(&self) -> usize {
        self.tails.bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { shared: self.shared.clone(), ..state }
    }

    /// v1 has no frame for a gap, so this is a `provider_event` with a name that no runner uses.
    fn pruned(&self, pruned: &Pruned<'_>, out: &mut Events) {
        let Some(last) = self.next_seq.checked_sub(1) else { return };
        let frame = pruned.frame(Body::ProviderEvent(Box::new(ProviderEvent {
            status: ProviderStatus::Event,
            event_name: Some(SharedStr::from(PRUNED)),
            data: Some(format!("{{\"first_seq\":0,\"last_seq\":{last}}}").into()),
            raw: None,
            block: None,
            sse: false,
            errors: vec![format!("frames 0 to {last} are not kept any more ({})", Pruned::REASON)].into(),
            response_errors: RecordErrors::NONE,
            ends_run: None,
            redacted_paths: Vec::new(),
            drift: Vec::new(),
        })));
        out.object(frame.body.kind(), EventId::Number(last), |map| {
            wire::write(map, &frame, &self.shared, last, Version::V1)
        });
    }
}

/// v1 has no frames for subagents. Their text is not the answer, so it is left out; their tools did run, so they are included.
fn in_v1(frame: &Frame) -> bool {
    match frame.body {
        Body::OutputTextDelta(_) => !frame.is_subagent(),
        Body::SessionStarted { .. }
        | Body::SessionEnded(_)
        | Body::ToolStarted { .. }
        | Body::ToolStdout { .. }
        | Body::ToolStdoutTail { .. }
        | Body::ToolStderr { .. }
        | Body::ToolEnded { .. }
        | Body::ToolFailed { .. }
        | Body::ProviderEvent(_)
        | Body::CheckpointCreated { .. }
        | Body::CheckpointRewound { .. }
        | Body::CheckpointFailed { .. }
        // These are in separate streams, in the envelope of v1.
        | Body::Task(_) => true,
        _ => false,
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct FramesV2 {
    /// What its frames share.
    #[serde(skip)]
    shared: Shared,
}

impl StreamEncoder for FramesV2 {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let seq = frame.seq;
        out.object(frame.body.kind(), EventId::Number(seq), |map| {
            wire::write(map, frame, &self.shared, seq, Version::V2)
        });
    }

    fn resumed(&self, _: Self) -> Self {
        self.clone()
    }

    fn first_event_of(&self, frame: u64) -> Option<u64> {
        Some(frame)
    }

    fn pruned(&self, pruned: &Pruned<'_>, out: &mut Events) {
        let Some(last) = pruned.frames.checked_sub(1) else { return };
        let reason = Pruned::REASON.to_owned();
        self.clone().frame(&pruned.frame(Body::GapDetected { first_seq: Some(0), last_seq: Some(last), reason }), out);
    }
}
