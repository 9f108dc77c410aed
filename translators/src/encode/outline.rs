//! The outline of an event: its keys in order, and of what kind each value is, as the one who writes it knows.
//!
//! In: the calls of an [`ObjectWriter`](super::ObjectWriter). Out: one [`Field`] for each field, and for each field of the
//! objects in it. Never: a kind that the value
//! is not of; what a writer does not know is [`Kind::Unknown`]. Many events have one outline, so what a schema says of an
//! outline need not be found out for each of them.

use crate::frame::Faults;
use serde_json::value::RawValue;
use uuid::Uuid;

/// A key of ours, which needs no escapes.
#[derive(Debug)]
pub struct Key {
    name: &'static str,
    /// As it stands behind another field: `,"name":`.
    text: &'static str,
}

impl Key {
    /// What stands for the key where there is none, as in a list.
    pub(crate) const NONE: &'static Self = {
        static NONE: Key = Key { name: "", text: "" };
        &NONE
    };

    /// A key, and the same as it stands behind another field. Use [`key!`].
    pub(crate) const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text }
    }

    /// The key itself.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// As it stands behind another field.
    pub(super) fn text(&self) -> &'static str {
        self.text
    }
}

/// Makes a [`Key`] of a literal, or of an identifier behind `@`, when it is compiled: so it is written in one piece.
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
    /// Its key.
    pub key: &'static Key,
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

/// The fields of an event, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outline<'a> {
    /// The fields; none where nobody took note of them.
    pub fields: &'a [Field],
    /// Two outlines that are equal have the same print, and others mostly have not.
    print: u64,
}

impl<'a> Outline<'a> {
    /// These fields.
    pub fn new(fields: &'a [Field]) -> Self {
        Self { fields, print: fields.iter().fold(0, |print, field| field.onto(print)) }
    }

    /// The fields whose print is known.
    pub(super) fn known(fields: &'a [Field], print: u64) -> Self {
        Self { fields, print }
    }

    /// See [`Outline`].
    pub(crate) fn print(&self) -> u64 {
        self.print
    }
}

impl Field {
    /// The print of this field behind others.
    pub(super) fn onto(&self, print: u64) -> u64 {
        let mine = std::ptr::from_ref(self.key).addr() as u64 ^ self.kind.print();
        (print.rotate_left(23) ^ mine).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Kind {
    fn print(self) -> u64 {
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
