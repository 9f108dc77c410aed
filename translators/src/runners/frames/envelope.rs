//! The envelope of a frame, in both versions.
//!
//! Input: the fields of a record. Output: the stream, the number, the time and the id of its frame. v1 does not say what kind of
//! stream it is, so the type and the number of its first frame decide. Never: an id that must be a UUID where the document says
//! only that it is a string; another string has the UUID that is derived from it.

use super::fields::{Fields, Read, Wrong};
use crate::derived::uuid_v5;
use crate::frame::StreamKind;
use crate::sequence::uuid_of;
use std::borrow::Cow;
use uuid::Uuid;

/// The kind of a thread in the newer form of other writers.
const CONTINUITY: &str = "continuity";

/// The last millisecond of the year 9999: later times have no form in RFC 3339.
const LAST_MS: u64 = 253_402_300_799_999;

/// The envelope of one frame.
pub(super) struct Envelope<'a> {
    pub(super) kind: Cow<'a, str>,
    /// The kind of the stream; `None` in v1.
    pub(super) stream_kind: Option<StreamKind>,
    pub(super) stream_id: Uuid,
    pub(super) seq: u64,
    pub(super) timestamp_ms: u64,
    pub(super) id: Uuid,
    pub(super) parent_tool_id: Option<Uuid>,
}

impl<'a> Envelope<'a> {
    pub(super) fn read(fields: Fields<'_, 'a>) -> Read<Self> {
        let stream_kind = fields.nullable_text("stream_kind")?;
        let stream_id = match fields.nullable_text("stream_id")? {
            Some(id) => id,
            None => fields.text("session_id")?,
        };
        let timestamp_ms: u64 = fields.number("timestamp_ms")?;
        if timestamp_ms > LAST_MS {
            return Err(Wrong { key: "timestamp_ms", expected: "a time before the year 10000" });
        }
        let stream_id = uuid_of(&stream_id);
        let id = fields.text("id")?;
        Ok(Self {
            kind: fields.borrowed("type")?,
            stream_kind: stream_kind.as_deref().map(kind_of),
            stream_id,
            seq: fields.number("seq")?,
            timestamp_ms,
            id: Uuid::try_parse(&id).unwrap_or_else(|_| uuid_v5(&stream_id, id.as_bytes())),
            parent_tool_id: fields.in_stream(stream_id).nullable_tool_id("parent_tool_id")?,
        })
    }

    /// The kind of the stream that begins with this frame.
    pub(super) fn kind_of_stream(&self) -> StreamKind {
        self.stream_kind.unwrap_or_else(|| match &*self.kind {
            kind if kind.starts_with("tool_task_") => StreamKind::Task,
            "session_started" => StreamKind::Session,
            // A run whose beginning is missing; only a thread begins with another type.
            _ if self.seq > 0 => StreamKind::Session,
            _ => StreamKind::Thread,
        })
    }
}

fn kind_of(word: &str) -> StreamKind {
    match word {
        CONTINUITY => StreamKind::Thread,
        // The document calls the kinds extensible. What is neither a run nor a task has no end.
        _ => StreamKind::ALL.into_iter().find(|kind| kind.as_str() == word).unwrap_or(StreamKind::Thread),
    }
}
