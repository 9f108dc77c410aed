//! What is appended, in the form in which it is kept.
//!
//! In: frames, where they were made: the one thread that writes does not turn them to JSON. Out: rows, and which texts later
//! appends may refer to. Never: a frame in two rows, rows of two streams in one part.

use super::finder::{Finder, Hole};
use super::streams_of;
use super::texts::{Known, Texts};
use super::writer::ROW_BYTES;
use crate::log::{StreamId, Summary};
use framegate_translators::frame::stored;
use framegate_translators::frame::{Body, Frame, Stream};
use framegate_translators::pipeline::is_last;
use std::ops::Range;
use std::sync::Arc;
use uuid::Uuid;

/// Frames of one append, in their stored form.
pub(super) struct Append {
    pub(super) streams: Vec<Part>,
    pub(super) bodies: Vec<u8>,
    pub(super) summaries: Vec<Summary>,
    /// The last long text of each stream that has one, for later appends.
    pub(super) texts: Vec<(StreamId, Option<Known>)>,
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
    /// The whole of it.
    pub(super) body: Range<usize>,
    /// What of it is not kept again.
    pub(super) hole: Option<Hole>,
}

impl FrameRow {
    /// The bytes that are kept of it.
    pub(super) fn bytes(&self) -> u64 {
        (self.body.len() - self.hole.as_ref().map_or(0, |hole| hole.part.len())) as u64 + ROW_BYTES
    }
}

impl Append {
    pub(super) fn new(frames: &[Arc<Frame>], summaries: Vec<Summary>, texts: &Texts) -> Self {
        let (mut bodies, mut finder) = (Vec::new(), Finder::new(texts));
        let row = |id: StreamId, frame: &Arc<Frame>, finder: &mut Finder<'_>, bodies: &mut Vec<u8>| {
            let start = bodies.len();
            stored::write_body(&frame.body, bodies);
            let (body, is_record) = (start..bodies.len(), matches!(frame.body, Body::ProviderEvent(_)));
            FrameRow {
                seq: frame.seq,
                time_ms: frame.timestamp_ms,
                kind: frame.body.kind(),
                parent: frame.parent_tool_id,
                hole: finder.next(id, frame.seq, body.clone(), is_record, bodies),
                body,
            }
        };
        let streams: Vec<Part> = streams_of(frames)
            .filter_map(|(id, group)| {
                let stream = group.first()?.stream.clone();
                let rows = group.iter().map(|frame| row(id, frame, &mut finder, &mut bodies)).collect();
                let ended = group.last().is_some_and(|last| is_last(last));
                if ended {
                    finder.is_over(id);
                }
                Some(Part { id, stream, rows, ended })
            })
            .collect();
        let texts = finder.into_known(&bodies);
        let bytes = streams.iter().flat_map(|part| &part.rows).map(FrameRow::bytes).sum();
        let closing = frames.iter().any(|frame| is_last(frame));
        Self { streams, bodies, summaries, texts, bytes, closing }
    }
}
