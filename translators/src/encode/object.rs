//! Writes one JSON object field by field, directly to bytes.

use super::escape;
use super::event_shape::{Field, HasKind, Key, Kind, of_json};
use super::id::quoted;
use crate::hash::Fingerprint;
use serde::Serialize;
use std::ops::Range;
use uuid::Uuid;

/// The range of a value longer than this, in bytes, is recorded, so that its end need not be searched for again.
const LONG: usize = 64;

const END: Field = Field { key: Key::NONE, kind: Kind::End };

/// An object that is being written. The keys are constants and need no escapes.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    notes: &'a mut Notes,
    first: bool,
}

/// Information about the written events, in addition to their text.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The ranges of long values in the buffer.
    pub(super) known: Vec<Range<usize>>,
    pub(super) fields: Vec<Field>,
    /// The fingerprint of the fields of the current event.
    pub(super) fingerprint: Fingerprint,
}

impl Notes {
    // Inlined, because most callers know the kind: what the fingerprint contains of it is a constant then.
    #[inline(always)]
    fn field(&mut self, field: Field) {
        self.fingerprint = field.onto(self.fingerprint);
        self.fields.push(field);
    }
}

/// Fields that many events share, serialised once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreparedFields {
    /// Each field is preceded by a comma.
    text: Vec<u8>,
    fields: Vec<Field>,
    /// What a fingerprint contains of each field.
    words: Vec<u64>,
}

/// The usual numbers of bytes and fields.
const USUAL: (usize, usize) = (160, 4);

impl PreparedFields {
    /// Serialises the fields.
    pub(crate) fn new(fields: impl FnOnce(&mut ObjectWriter<'_>)) -> Self {
        let mut text = Vec::with_capacity(USUAL.0);
        let mut notes = Notes { fields: Vec::with_capacity(USUAL.1), ..Notes::default() };
        fields(&mut ObjectWriter { out: &mut text, notes: &mut notes, first: false });
        let words = notes.fields.iter().map(Field::word).collect();
        Self { text, fields: notes.fields, words }
    }
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn begin(out: &'a mut Vec<u8>, notes: &'a mut Notes) -> Self {
        out.push(b'{');
        Self { out, notes, first: true }
    }

    /// Writes a field.
    pub(crate) fn entry<T: Serialize + HasKind + ?Sized>(&mut self, key: &'static Key, value: &T) {
        self.key(key, value.kind());
        let start = self.out.len();
        // Writing to memory cannot fail, and our values are strings, numbers and raw JSON.
        if serde_json::to_writer(&mut *self.out, value).is_err() {
            self.out.truncate(start);
            self.out.extend_from_slice(b"null");
        }
    }

    /// Writes a text field.
    pub(crate) fn text(&mut self, key: &'static Key, text: &str) {
        self.key(key, text.kind());
        let start = self.out.len();
        escape::write(text, self.out);
        self.note(start);
    }

    /// Writes a text field, or null.
    pub(crate) fn text_or_null(&mut self, key: &'static Key, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.raw(key, "null"),
        }
    }

    /// Writes a field with a fixed string that needs no escapes.
    pub(crate) fn word(&mut self, key: &'static Key, word: &'static str) {
        self.plain(key, Kind::Word(word), word);
    }

    /// Writes a UUID field.
    pub(crate) fn id(&mut self, key: &'static Key, id: &Uuid) {
        self.key(key, Kind::Uuid);
        self.out.extend_from_slice(&quoted(id));
    }

    /// Writes fields that were serialised before.
    pub(crate) fn prepared(&mut self, fields: &PreparedFields) {
        let text = if self.first { fields.text.get(1..).unwrap_or_default() } else { &fields.text };
        self.first &= fields.text.is_empty();
        self.out.extend_from_slice(text);
        self.notes.fields.extend_from_slice(&fields.fields);
        self.notes.fingerprint = fields.words.iter().fold(self.notes.fingerprint, |all, word| all.with(*word));
    }

    /// Writes a field whose value is already JSON text.
    pub(crate) fn raw(&mut self, key: &'static Key, json: &str) {
        self.key(key, of_json(json));
        let start = self.out.len();
        self.out.extend_from_slice(json.as_bytes());
        self.note(start);
    }

    /// Writes an id field; `id` must be the prefix and a ULID.
    pub(crate) fn ulid(&mut self, key: &'static Key, prefix: &'static str, id: &str) {
        self.plain(key, Kind::Ulid(prefix), id);
    }

    /// Writes a time field; `time` must be in the format of `Times`.
    pub(crate) fn time(&mut self, key: &'static Key, time: &str) {
        self.plain(key, Kind::Time, time);
    }

    /// Writes an object field.
    pub(crate) fn object(&mut self, key: &'static Key, fields: impl FnOnce(&mut ObjectWriter<'_>)) {
        self.key(key, Kind::Fields);
        let mut object = ObjectWriter::begin(self.out, self.notes);
        fields(&mut object);
        object.end();
        self.notes.field(END);
    }

    /// Writes a field with a list of objects.
    pub(crate) fn list<T>(&mut self, key: &'static Key, items: &[T], fields: impl Fn(&mut ObjectWriter<'_>, &T)) {
        if items.is_empty() {
            return self.raw(key, "[]");
        }
        self.key(key, Kind::Items);
        // The fields of the previous item. An item of the same shape is not recorded again.
        let mut last = 0..0;
        self.out.push(b'[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(b',');
            }
            let (start, fingerprint) = (self.notes.fields.len(), self.notes.fingerprint);
            self.notes.field(Field { key: Key::NONE, kind: Kind::Fields });
            let mut object = ObjectWriter::begin(self.out, self.notes);
            fields(&mut object, item);
            object.end();
            self.notes.field(END);
            let this = start..self.notes.fields.len();
            if self.notes.fields.get(this.clone()) == self.notes.fields.get(last.clone()) {
                self.notes.fields.truncate(start);
                self.notes.fingerprint = fingerprint;
            } else {
                last = this;
            }
        }
        self.notes.field(END);
        self.out.push(b']');
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }

    #[inline(always)]
    fn key(&mut self, key: &'static Key, kind: Kind) {
        self.notes.field(Field { key, kind });
        if std::mem::take(&mut self.first) { key.write_first(self.out) } else { key.write(self.out) }
    }

    /// Writes text that needs no escapes.
    fn plain(&mut self, key: &'static Key, kind: Kind, text: &str) {
        debug_assert!(!text.contains(|c: char| c < ' ' || matches!(c, '"' | '\\')), "{} needs escapes", key.name());
        self.key(key, kind);
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    fn note(&mut self, start: usize) {
        if self.out.len() - start > LONG {
            self.notes.known.push(start..self.out.len());
        }
    }
}
