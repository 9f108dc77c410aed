//! How long runs took, by their own times.

use framegate_translators::frame::{Body, Frame, StreamKind};

/// The time from the first frame to the last one of each run that ended, in milliseconds.
pub fn durations(frames: &[Frame]) -> Vec<u64> {
    let ends = frames
        .iter()
        .filter(|frame| frame.stream.kind == StreamKind::Session && matches!(frame.body, Body::SessionEnded(_)));
    let begin = |end: &Frame| frames.iter().find(|frame| frame.stream.id == end.stream.id).unwrap().timestamp_ms;
    ends.map(|end| end.timestamp_ms - begin(end)).collect()
}
