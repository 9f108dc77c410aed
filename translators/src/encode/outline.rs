//! The outline of an event: its keys in order, and of what kind each value is, as the one who writes it knows.
//!
//! In: the calls of an [`ObjectWriter`](super::ObjectWriter). Out: one [`Field`] for each field, and for each field of the
//! objects in it. Never: a kind that the value
//! is not of; what a writer does not know is [`Kind::Unknown`]. Many events have one outline, so what a schema says of an
//! outline need not be found out for each of them.

use crate::frame::Faults;
use serde_json::value::RawValue;
use uuid::Uuid;

/// One field of an event.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its key.
    pub key: &'static str,
    /// What its value is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// An integer, 0 or more.
    Unsigned,
    /// An integer of 32 bits.
    Integer,
    /// A number.
    Number,
    /// A number, 0 or more.
    Amount,
    /// A string that is a UUID in its usual spelling.
    Uuid,
    /// A string that is this prefix and a ULID.
    Ulid(&'static str),
    /// A string that is a time in UTC, as RFC 3339 writes it.
    Time,
    /// The empty string.
    EmptyText,
    /// A string that is not empty.
    Text,
    /// This string, which has no escapes.
    Word(&'static str),
    /// An array of no items.
    EmptyArray,
    /// An array of strings, one at least.
    Texts,
    /// An object of which nothing more is known.
    Object,
    /// An object: its fields follow, up to [`Kind::End`].
    Fields,
    /// An array of objects, one at least: as [`Kind::Fields`], each sort that there is follows, up to [`Kind::End`].
    Items,
    /// The end of an object's fields, or of an array's objects. It has no key.
    End,
    /// Some other value, or one that nobody has looked at.
    Unknown,
}

/// Outlines are compared where their words and keys stand, not letter by letter: two that are equal surely say the same.
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

/// A value whose kind its type tells.
pub(crate) trait Outlined {
    /// What it is.
    fn kind(&self) -> Kind;
}

impl<T: Outlined> Outlined for Option<T> {
    fn kind(&self) -> Kind {
        self.as_ref().map_or(Kind::Null, Outlined::kind)
    }
}

impl<T: Outlined + ?Sized> Outlined for &T {
    fn kind(&self) -> Kind {
        (**self).kind()
    }
}

macro_rules! outlined {
    ($($type:ty: $kind:ident),+ $(,)?) => {
        $(impl Outlined for $type {
            fn kind(&self) -> Kind {
                Kind::$kind
            }
        })+
    };
}

outlined!(bool: Bool, u16: Unsigned, u32: Unsigned, u64: Unsigned, usize: Unsigned, i32: Integer, Uuid: Uuid);

impl Outlined for f64 {
    /// A float that is none that JSON has is written as null.
    fn kind(&self) -> Kind {
        match self {
            number if !number.is_finite() => Kind::Null,
            number if *number >= 0.0 => Kind::Amount,
            _ => Kind::Number,
        }
    }
}

impl Outlined for str {
    fn kind(&self) -> Kind {
        if self.is_empty() { Kind::EmptyText } else { Kind::Text }
    }
}

impl Outlined for String {
    fn kind(&self) -> Kind {
        self.as_str().kind()
    }
}

impl<T: AsRef<str>> Outlined for Vec<T> {
    fn kind(&self) -> Kind {
        self.as_slice().kind()
    }
}

impl<T: AsRef<str>> Outlined for [T] {
    fn kind(&self) -> Kind {
        if self.is_empty() { Kind::EmptyArray } else { Kind::Texts }
    }
}

impl Outlined for Faults {
    fn kind(&self) -> Kind {
        (**self).kind()
    }
}

impl Outlined for RawValue {
    fn kind(&self) -> Kind {
        of_json(self.get())
    }
}

/// What JSON text is.
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
