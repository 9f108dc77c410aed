//! Writes one JSON object, field by field, straight to bytes.

use serde::Serialize;
use std::ops::Range;

/// An object that is being written. Keys are ours and need no escapes.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    /// Where the last raw value stands in the buffer.
    verbatim: Range<usize>,
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, first: true, verbatim: 0..0 }
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

    /// Writes a field whose value is JSON text already.
    pub(crate) fn raw(&mut self, key: &'static str, json: &str) {
        self.key(key);
        let start = self.out.len();
        self.out.extend_from_slice(json.as_bytes());
        self.verbatim = start..self.out.len();
    }

    /// Writes a field whose value is a list of objects.
    pub(crate) fn list<T>(&mut self, key: &'static str, items: &[T], fields: impl Fn(&mut ObjectWriter<'_>, &T)) {
        self.key(key);
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            let mut object = ObjectWriter::begin(self.out);
            fields(&mut object, item);
            object.end();
        }
        self.out.push(b']');
    }

    /// Ends the object; gives where its last raw value stands in the buffer.
    pub(crate) fn end(self) -> Range<usize> {
        self.out.push(b'}');
        self.verbatim
    }

    fn key(&mut self, key: &'static str) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
    }
}
