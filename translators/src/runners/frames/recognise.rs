//! Recognition of frames by their envelope, which no runner has; and the kind of a frame, which is its type.
//!
//! Input: a record. Output: the reason why it must be a frame; its kind. Never: a look at the fields of a type.

use crate::decode::Record;
use crate::frame_schemas;
use std::borrow::Cow;

/// A frame with the envelope of v2.
pub(super) fn v2(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let has_stream = fields.str("stream_kind").is_some() && fields.str("stream_id").is_some();
    (has_stream && is_frame(record)).then_some("stream_kind, stream_id and seq")
}

/// A frame with the envelope of v1.
pub(super) fn v1(record: &Record<'_>) -> Option<&'static str> {
    let is_v1 = record.fields.get("stream_id").is_none() && record.fields.str("session_id").is_some();
    let is_known = record.fields.str("type").is_some_and(|kind| frame_schemas::V1.iter().any(|file| file.kind == kind));
    (is_v1 && is_known && is_frame(record)).then_some("session_id, seq and timestamp_ms")
}

fn is_frame(record: &Record<'_>) -> bool {
    let fields = &record.fields;
    fields.str("id").is_some()
        && fields.str("type").is_some()
        && fields.u64("seq").is_some()
        && fields.u64("timestamp_ms").is_some()
}

/// The type of a frame.
pub(super) fn kind_of<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    record.fields.str("type").filter(|kind| !kind.is_empty())
}
