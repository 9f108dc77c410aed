//! What is appended, in the form in which it is kept.
//!
//! In: frames, where they were made: the one thread that writes does not turn them to JSON. Out: rows. Never: a frame in two
//! rows, rows of two streams in one part.

use super::streams_of;
use super::writer::ROW_BYTES;
use crate::log::{StreamId, Summary};
use framegate_translators::frame::stored;
use framegate_translators::frame::{Frame, Stream};
use framegate_translators::pipeline::is_last;
use std::ops::Range;
use std::sync::Arc;
use uuid::Uuid;

/// Frames of one append, in their stored form.
pub(super) struct Append {
    pub(super) streams: Vec<Part>,
    pub(super) bodies: Vec<u8>,
    pub(super) summaries: Vec<Summary>,
    pub(super) bytes: u64,
    /// It ends a run: it always finds room.
    pub(super) closing: bool,
}

/// Frames of one stream, one behind the other.
pub(super) struct Part {
    pub(super) id: StreamId,
    pub(super) stream: Arc<Stream>,
    pub(super) rows: Vec<FrameRow>,
    pub(super) ended: bool,
}

pub(super) struct FrameRow {
    pub(super) seq: u64,
    pub(super) time_ms: u64,
    pub(super) kind: &'static str,
    pub(super) parent: Option<Uuid>,
    pub(super) body: Range<usize>,
}

impl Append {
    pub(super) fn new(frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Self {
        let mut bodies = Vec::new();
        let row = |frame: &Arc<Frame>, bodies: &mut Vec<u8>| {
            let start = bodies.len();
            stored::write_body(&frame.body, bodies);
            FrameRow {
                seq: frame.seq,
                time_ms: frame.timestamp_ms,
                kind: frame.body.kind(),
                parent: frame.parent_tool_id,
                body: start..bodies.len(),
            }
        };
        let streams: Vec<Part> = streams_of(frames)
            .filter_map(|(id, group)| {
                let stream = group.first()?.stream.clone();
                let rows = group.iter().map(|frame| row(frame, &mut bodies)).collect();
                Some(Part { id, stream, rows, ended: group.last().is_some_and(|last| is_last(last)) })
            })
            .collect();
        let bytes = bodies.len() as u64 + ROW_BYTES * frames.len() as u64;
        let closing = frames.iter().any(|frame| is_last(frame));
        Self { streams, bodies, summaries, bytes, closing }
    }
}
