//! An append in its stored form.
//!
//! Input: frames. They are converted to JSON by the caller, not by the writer thread. Output: rows, and the texts that later
//! appends may refer to. Never: a frame in two rows, or rows of two streams in one part.

use super::checksum::checksum;
use super::dedup::{Dedup, Hole};
use super::known_texts::{Known, KnownTexts};
use super::streams_of;
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
    /// Whether the append ends a run. Then it may use the log's reserve.
    pub(super) closing: bool,
}

/// Consecutive frames of one stream.
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
    /// The complete body.
    pub(super) body: Range<usize>,
    /// The part of it that is stored elsewhere.
    pub(super) hole: Option<Hole>,
    /// Checksum of the complete body.
    pub(super) checksum: u32,
}

impl FrameRow {
    /// The number of bytes to store.
    pub(super) fn bytes(&self) -> u64 {
        (self.body.len() - self.hole.as_ref().map_or(0, |hole| hole.part.len())) as u64 + ROW_BYTES
    }
}

impl Append {
    pub(super) fn new(frames: &[Arc<Frame>], summaries: Vec<Summary>, texts: &KnownTexts) -> Self {
        let (mut bodies, mut dedup) = (Vec::new(), Dedup::new(texts));
        let row = |id: StreamId, frame: &Arc<Frame>, dedup: &mut Dedup<'_>, bodies: &mut Vec<u8>| {
            let start = bodies.len();
            stored::write_content(frame, bodies);
            let (body, is_record) = (start..bodies.len(), matches!(frame.body, Body::ProviderEvent(_)));
            let whole = bodies.get(start..).unwrap_or_default();
            let checksum = checksum(frame.seq, frame.timestamp_ms, frame.parent_tool_id, whole);
            FrameRow {
                seq: frame.seq,
                time_ms: frame.timestamp_ms,
                kind: frame.body.kind(),
                parent: frame.parent_tool_id,
                checksum,
                hole: dedup.next(id, frame.seq, body.clone(), is_record, bodies),
                body,
            }
        };
        let streams: Vec<Part> = streams_of(frames)
            .filter_map(|(id, group)| {
                let stream = group.first()?.stream.clone();
                let rows = group.iter().map(|frame| row(id, frame, &mut dedup, &mut bodies)).collect();
                let ended = group.last().is_some_and(|last| is_last(last));
                if ended {
                    dedup.is_over(id);
                }
                Some(Part { id, stream, rows, ended })
            })
            .collect();
        let texts = dedup.into_known(&bodies);
        let bytes = streams.iter().flat_map(|part| &part.rows).map(FrameRow::bytes).sum();
        let closing = frames.iter().any(|frame| is_last(frame));
        Self { streams, bodies, summaries, texts, bytes, closing }
    }
}
