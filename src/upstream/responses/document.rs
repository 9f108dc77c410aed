//! An answer that is one JSON document.
//!
//! In: its chunks. Out: the response that it is, where that is one that is over. Never: more of it held than a record may have.

use bytes::Bytes;
use serde::Deserialize;
use std::borrow::Cow;

/// A JSON answer, as far as it is kept.
pub(super) struct Document {
    pub(super) chunks: Vec<Bytes>,
    bytes: usize,
    limit: usize,
}

impl Document {
    pub(super) fn new(limit: usize) -> Self {
        Self { chunks: Vec::new(), bytes: 0, limit }
    }

    /// Takes more of it; nothing is kept of one that is too large.
    pub(super) fn push(&mut self, chunk: Bytes) {
        self.bytes = self.bytes.saturating_add(chunk.len());
        if self.bytes <= self.limit {
            self.chunks.push(chunk);
        } else {
            self.chunks.clear();
        }
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.bytes > self.limit
    }

    /// The response that it is, where that is over: one that goes on in the background has no run yet.
    pub(super) fn response(&self) -> Option<Vec<u8>> {
        #[derive(Deserialize)]
        struct Said<'a> {
            #[serde(borrow)]
            object: Option<Cow<'a, str>>,
            #[serde(borrow)]
            status: Option<Cow<'a, str>>,
        }
        let bytes = self.chunks.concat();
        let said: Said<'_> = serde_json::from_slice(&bytes).ok()?;
        let is_under_way = matches!(said.status.as_deref(), Some("queued" | "in_progress"));
        let is_response = said.object.as_deref() == Some("response");
        (is_response && !is_under_way).then_some(bytes)
    }
}
