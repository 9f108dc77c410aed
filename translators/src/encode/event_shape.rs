//! The shape of an event: its keys in order, with the kind of each value as far as the writer knows it.
//!
//! Input: the calls of an [`ObjectWriter`](super::ObjectWriter). Output: one [`Field`] for each field, including those of
//! nested objects. Never: a kind that does not fit the value; if the writer does not know the kind, it is [`Kind::Unknown`].
//! Many events have the same shape, so what a schema says about a shape is determined only once.

use crate::frame::RecordErrors;
use crate::hash::Fingerprint;
use serde_json::value::RawValue;
use uuid::Uuid;

/// A constant key that needs no escapes.
#[derive(Debug)]
pub struct Key {
    name: &'static str,
    /// The text after another field: `,"name":`.
    text: &'static str,
    /// The same text with zeros behind it; all zeros if it is longer.
    block: [u8; BLOCK],
}

/// Nearly all keys with their punctuation are shorter, so that a copy of constant size suffices.
const BLOCK: usize = 32;

impl Key {
    /// A placeholder for values without a key, such as list items.
    pub(crate) const NONE: &'static Self = {
        static NONE: Key = Key { name: "", text: "", block: [0; BLOCK] };
        &NONE
    };

    /// A key, with its text after another field. Use [`key!`].
    pub(crate) const fn new(name: &'static str, text: &'static str) -> Self {
        let mut block = [0; BLOCK];
        if let Some((front, _)) = block.split_at_mut_checked(text.len()) {
            front.copy_from_slice(text.as_bytes());
        }
        Self { name, text, block }
    }

    /// The key's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Appends the text after another field.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if self.text.len() > BLOCK {
            out.extend_from_slice(self.text.as_bytes());
            return;
        }
        // A copy of constant size is cheaper than one of a few bytes.
        out.extend_from_slice(&self.block);
        out.truncate(out.len() - BLOCK + self.text.len());
    }

    /// Appends the text of a first field.
    pub(super) fn write_first(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.text.as_bytes().get(1..).unwrap_or_default());
    }
}

/// Builds a [`Key`] at compile time from a literal, or from an identifier after `@`, so that the key is written in one piece.
macro_rules! key {
    ($name:literal) => {
        const { &$crate::encode::Key::new($name, concat!(",\"", $name, "\":")) }
    };
    (@ $name:ident) => {
        const { &$crate::encode::Key::new(stringify!($name), concat!(",\"", stringify!($name), "\":")) }
    };
}

pub(crate) use key;

/// One field of an event.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The field's key.
    pub key: &'static Key,
    /// The kind of its value.
    pub kind: Kind,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// An integer, 0 or more.
    Unsigned,
    /// A 32-bit integer.
    Integer,
    /// A number.
    Number,
    /// A number, 0 or more.
    Amount,
    /// A string that is a UUID in its canonical spelling.
    Uuid,
    /// A string of this prefix and a ULID.
    Ulid(&'static str),
    /// A string with a time in UTC in RFC 3339 format.
    Time,
    /// The empty string.
    EmptyText,
    /// A string that is not empty.
    Text,
    /// Exactly this string, which has no escapes.
    Word(&'static str),
    /// An empty array.
    EmptyArray,
    /// An array of at least one string, and of strings only.
    Texts,
    /// An object about which nothing more is known.
    Object,
    /// An object: its fields follow, up to [`Kind::End`].
    Fields,
    /// An array of at least one object. The distinct shapes of its items follow, each starting with [`Kind::Fields`], up to
    /// [`Kind::End`].
    Items,
    /// The end of an object's fields, or of an array's objects. It has no key.
    End,
    /// Some other value, or one that was not inspected.
    Unknown,
}

/// Keys and words are compared by address, not by content. Equal shapes therefore certainly consist of the same fields.
impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.key, other.key)
            && std::mem::discriminant(&self.kind) == std::mem::discriminant(&other.kind)
            && match (self.kind, other.kind) {
                (Kind::Word(one), Kind::Word(other)) | (Kind::Ulid(one), Kind::Ulid(other)) => std::ptr::eq(one, other),
                (kind, _) => !matches!(kind, Kind::Unknown),
            }
    }
}

/// The fields of an event, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventShape<'a> {
    /// The fields; empty if they were not recorded.
    pub fields: &'a [Field],
    fingerprint: Fingerprint,
}

impl<'a> EventShape<'a> {
    /// A shape of these fields.
    pub fn new(fields: &'a [Field]) -> Self {
        Self::with_fingerprint(fields, fields.iter().fold(Fingerprint::default(), |all, field| field.onto(all)))
    }

    /// A shape whose fingerprint is already known.
    pub(super) fn with_fingerprint(fields: &'a [Field], fingerprint: Fingerprint) -> Self {
        Self { fields, fingerprint }
    }

    /// Equal shapes have the same fingerprint, others mostly a different one.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

impl Field {
    /// Extends the fingerprint of the preceding fields by this field.
    #[inline(always)]
    pub(super) fn onto(&self, preceding: Fingerprint) -> Fingerprint {
        preceding.with(self.word())
    }

    /// What a fingerprint contains of it.
    #[inline(always)]
    pub(super) fn word(&self) -> u64 {
        std::ptr::from_ref(self.key).addr() as u64 ^ self.kind.word()
    }
}

impl Kind {
    /// What a fingerprint contains of it.
    #[inline(always)]
    fn word(self) -> u64 {
        let of_text = |text: &'static str| text.as_ptr().addr() as u64;
        match self {
            Self::Null => 1 << 56,
            Self::Bool => 2 << 56,
            Self::Unsigned => 3 << 56,
            Self::Integer => 4 << 56,
            Self::Number => 5 << 56,
            Self::Amount => 6 << 56,
            Self::Uuid => 7 << 56,
            Self::Ulid(prefix) => 8 << 56 ^ of_text(prefix),
            Self::Time => 9 << 56,
            Self::EmptyText => 10 << 56,
            Self::Text => 11 << 56,
            Self::Word(word) => 12 << 56 ^ of_text(word) << 1,
            Self::EmptyArray => 13 << 56,
            Self::Texts => 14 << 56,
            Self::Object => 15 << 56,
            Self::Fields => 16 << 56,
            Self::Items => 17 << 56,
            Self::End => 18 << 56,
            Self::Unknown => 19 << 56,
        }
    }
}

/// A value whose kind follows from its type.
pub(crate) trait HasKind {
    /// The kind of the value.
    fn kind(&self) -> Kind;
}

impl<T: HasKind> HasKind for Option<T> {
    fn kind(&self) -> Kind {
        self.as_ref().map_or(Kind::Null, HasKind::kind)
    }
}

impl<T: HasKind + ?Sized> HasKind for &T {
    fn kind(&self) -> Kind {
        (**self).kind()
    }
}

macro_rules! has_kind {
    ($($type:ty: $kind:ident),+ $(,)?) => {
        $(impl HasKind for $type {
            fn kind(&self) -> Kind {
                Kind::$kind
            }
        })+
    };
}

has_kind!(bool: Bool, u16: Unsigned, u32: Unsigned, u64: Unsigned, usize: Unsigned, i32: Integer, Uuid: Uuid);

impl HasKind for f64 {
    /// JSON has no infinity or NaN, so those are written as null.
    fn kind(&self) -> Kind {
        match self {
            number if !number.is_finite() => Kind::Null,
            number if *number >= 0.0 => Kind::Amount,
            _ => Kind::Number,
        }
    }
}

impl HasKind for str {
    fn kind(&self) -> Kind {
        if self.is_empty() { Kind::EmptyText } else { Kind::Text }
    }
}

impl HasKind for String {
    fn kind(&self) -> Kind {
        self.as_str().kind()
    }
}

impl<T: AsRef<str>> HasKind for Vec<T> {
    fn kind(&self) -> Kind {
        self.as_slice().kind()
    }
}

impl<T: AsRef<str>> HasKind for [T] {
    fn kind(&self) -> Kind {
        if self.is_empty() { Kind::EmptyArray } else { Kind::Texts }
    }
}

impl HasKind for RecordErrors {
    fn kind(&self) -> Kind {
        (**self).kind()
    }
}

impl HasKind for RawValue {
    fn kind(&self) -> Kind {
        of_json(self.get())
    }
}

/// The kind of a value given as JSON text.
pub(crate) fn of_json(text: &str) -> Kind {
    match text.as_bytes() {
        [b'{', ..] => Kind::Object,
        b"null" => Kind::Null,
        b"true" | b"false" => Kind::Bool,
        b"[]" => Kind::EmptyArray,
        b"\"\"" => Kind::EmptyText,
        [b'"', ..] => Kind::Text,
        [b'-' | b'0'..=b'9', ..] => Kind::Number,
        _ => Kind::Unknown,
    }
}
