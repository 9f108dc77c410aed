//! Writes one JSON object, field by field, straight to bytes.

use super::escape;
use serde::Serialize;
use std::ops::Range;
use uuid::Uuid;

/// A value that is longer than this, in bytes, has its place noted, so that nobody has to look for its end again.
const LONG: usize = 64;

/// An object that is being written. Keys are ours and need no escapes.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The places of long values in the buffer.
    known: &'a mut Vec<Range<usize>>,
    first: bool,
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>, known: &'a mut Vec<Range<usize>>) -> Self {
        out.push(b'{');
        Self { out, known, first: true }
    }

    /// Writes a field.
    pub(crate) fn entry<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) {
        self.key(key);
        let start = self.out.len();
        // Writing to memory cannot fail, and our values are strings, numbers and raw JSON.
        if serde_json::to_writer(&mut *self.out, value).is_err() {
            self.out.truncate(start);
            self.out.extend_from_slice(b"null");
        }
    }

    /// Writes a field whose value is text.
    pub(crate) fn text(&mut self, key: &'static str, text: &str) {
        self.key(key);
        let start = self.out.len();
        escape::write(text, self.out);
        self.note(start);
    }

    /// Writes a field whose value is text, or null.
    pub(crate) fn text_or_null(&mut self, key: &'static str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.raw(key, "null"),
        }
    }

    /// Writes a field whose value is a word of ours, which needs no escapes.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str) {
        self.key(key);
        self.out.push(b'"');
        self.out.extend_from_slice(word.as_bytes());
        self.out.push(b'"');
    }

    /// Writes a field whose value is an id.
    pub(crate) fn id(&mut self, key: &'static str, id: &Uuid) {
        self.key(key);
        self.out.push(b'"');
        self.out.extend_from_slice(id.as_hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
        self.out.push(b'"');
    }

    /// Writes fields that were written before, and kept: `"key":value`, separated by commas.
    pub(crate) fn kept(&mut self, fields: &[u8]) {
        self.comma();
        self.out.extend_from_slice(fields);
    }

    /// Writes a field whose value is JSON text already.
    pub(crate) fn raw(&mut self, key: &'static str, json: &str) {
        self.key(key);
        let start = self.out.len();
        self.out.extend_from_slice(json.as_bytes());
        self.note(start);
    }

    /// Writes a field whose value is a list of objects.
    pub(crate) fn list<T>(&mut self, key: &'static str, items: &[T], fields: impl Fn(&mut ObjectWriter<'_>, &T)) {
        self.key(key);
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            let mut object = ObjectWriter::begin(self.out, self.known);
            fields(&mut object, item);
            object.end();
        }
        self.out.push(b']');
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    fn key(&mut self, key: &'static str) {
        self.comma();
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn note(&mut self, start: usize) {
        if self.out.len() - start > LONG {
            self.known.push(start..self.out.len());
        }
    }
}
