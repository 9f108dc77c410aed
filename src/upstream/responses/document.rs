//! A response body that is one JSON document.
//!
//! Input: its chunks. Output: what it says about a response. Never: more of it held than the size limit of a record.

use bytes::Bytes;
use serde::Deserialize;
use std::borrow::Cow;

/// A JSON body, kept up to its size limit.
pub(super) struct Document {
    pub(super) chunks: Vec<Bytes>,
    bytes: usize,
    limit: usize,
}

/// What a document contains.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A response that has ended.
    Over {
        id: String,
        /// Whether it was requested with `background`.
        is_background: bool,
        bytes: Vec<u8>,
    },
    /// A response that continues at the upstream.
    UnderWay { id: String },
    /// Something else.
    Other,
}

impl Document {
    pub(super) fn new(limit: usize) -> Self {
        Self { chunks: Vec::new(), bytes: 0, limit }
    }

    /// Adds a chunk. Discards everything once the document is too large.
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

    /// What the document contains.
    pub(super) fn state(&self) -> State {
        #[derive(Deserialize)]
        struct Fields<'a> {
            #[serde(borrow)]
            object: Option<Cow<'a, str>>,
            #[serde(borrow, default)]
            id: Option<Cow<'a, str>>,
            #[serde(borrow)]
            status: Option<Cow<'a, str>>,
            #[serde(default)]
            background: Option<bool>,
        }
        let bytes = self.chunks.concat();
        let Ok(fields) = serde_json::from_slice::<Fields<'_>>(&bytes) else { return State::Other };
        if fields.object.as_deref() != Some("response") {
            return State::Other;
        }
        let id = fields.id.as_deref().unwrap_or_default().to_owned();
        if matches!(fields.status.as_deref(), Some("queued" | "in_progress")) {
            return State::UnderWay { id };
        }
        let is_background = fields.background == Some(true);
        State::Over { id, is_background, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> State {
        let mut document = Document::new(1024);
        for piece in text.as_bytes().chunks(7) {
            document.push(Bytes::copy_from_slice(piece));
        }
        document.state()
    }

    #[test]
    fn a_document_shows_whether_a_response_continues() {
        let over = |text: &str, is_background| State::Over { id: "r".to_owned(), is_background, bytes: text.into() };
        let text = r#"{"id":"r","object":"response","status":"completed"}"#;
        assert_eq!(state(text), over(text, false));
        let text = r#"{"id":"r","object":"response","status":"cancelled","background":true}"#;
        assert_eq!(state(text), over(text, true));
        for status in ["queued", "in_progress"] {
            let text = format!(r#"{{"id":"r","object":"response","status":"{status}","background":true}}"#);
            assert_eq!(state(&text), State::UnderWay { id: "r".to_owned() });
        }
        for text in [r#"{"object":"list"}"#, "[]", "{", r#"{"error":{"message":"no"}}"#] {
            assert_eq!(state(text), State::Other, "{text}");
        }
    }

    #[test]
    fn a_document_over_the_limit_is_discarded() {
        let mut document = Document::new(4);
        document.push(Bytes::from_static(b"{}  "));
        assert!(!document.is_too_large());
        document.push(Bytes::from_static(b" "));
        assert!(document.is_too_large() && document.chunks.is_empty());
    }
}
