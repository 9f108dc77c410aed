//! The data of events, declared as structs: each field is written under its own name, in the order of the declaration.
//!
//! In: structs declared by [`data!`]. Out: calls of an [`ObjectWriter`]. Never: a `null` for a field that is
//! `None`: it is left out.

use super::ObjectWriter;
use serde_json::value::RawValue;
use uuid::Uuid;

/// An object's fields.
pub(crate) trait Data {
    /// Writes them.
    fn fields(&self, map: &mut ObjectWriter<'_>);
}

/// What a field may hold.
pub(crate) trait Value {
    /// Writes the field.
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>);
}

/// A word of ours, which needs no escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) &'static str);

/// A time in UTC, as RFC 3339 writes it.
#[derive(Clone, Debug)]
pub(crate) struct Time<T = String>(pub(crate) T);

/// An id: a prefix and a ULID, whose text this is, prefix and all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ulid<'a>(pub(crate) &'static str, pub(crate) &'a str);

/// `null`, where a document wants it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Null;

/// An object whose fields stand among those of the object that it is in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flat<T>(pub(crate) T);

/// Declares structs with their [`Data`]. A field whose key is no name of Rust's, or another one, says it: `tool_name:
/// &'a str => "toolName"`.
macro_rules! data {
    ($(
        $(#[$about:meta])*
        $seen:vis struct $name:ident $(<$life:lifetime>)? {
            $($(#[$about_field:meta])* $seen_field:vis $field:ident: $type:ty $(=> $key:literal)?),+ $(,)?
        }
    )+) => {$(
        $(#[$about])*
        $seen struct $name $(<$life>)? {
            $($(#[$about_field])* $seen_field $field: $type),+
        }

        impl $(<$life>)? $crate::encode::Data for $name $(<$life>)? {
            fn fields(&self, map: &mut $crate::encode::ObjectWriter<'_>) {
                $($crate::encode::Value::field(&self.$field, $crate::encode::data!(@key $field $($key)?), map);)+
            }
        }

        impl $(<$life>)? $crate::encode::Value for $name $(<$life>)? {
            fn field(&self, key: &'static str, map: &mut $crate::encode::ObjectWriter<'_>) {
                map.object(key, |map| $crate::encode::Data::fields(self, map));
            }
        }
    )+};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

pub(crate) use data;

impl<T: Value + ?Sized> Value for &T {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        (**self).field(key, map);
    }
}

impl<T: Value> Value for Option<T> {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        if let Some(value) = self {
            value.field(key, map);
        }
    }
}

impl Value for str {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.text(key, self);
    }
}

impl Value for String {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.text(key, self);
    }
}

impl Value for Word {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.word(key, self.0);
    }
}

impl<T: AsRef<str>> Value for Time<T> {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.time(key, self.0.as_ref());
    }
}

impl Value for Ulid<'_> {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.ulid(key, self.0, self.1);
    }
}

impl Value for Null {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.raw(key, "null");
    }
}

impl Value for RawValue {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.raw(key, self.get());
    }
}

impl Value for serde_json::Value {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.raw(key, &self.to_string());
    }
}

impl<T: Data> Value for Flat<T> {
    fn field(&self, _: &'static str, map: &mut ObjectWriter<'_>) {
        self.0.fields(map);
    }
}

impl<T: Data> Value for Vec<T> {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        self.as_slice().field(key, map);
    }
}

impl<T: Data> Value for [T] {
    fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
        map.list(key, self, |map, item| item.fields(map));
    }
}

macro_rules! entries {
    ($($type:ty),+ $(,)?) => {
        $(impl Value for $type {
            fn field(&self, key: &'static str, map: &mut ObjectWriter<'_>) {
                map.entry(key, self);
            }
        })+
    };
}

entries!(bool, u16, u32, u64, usize, i32, f64, Uuid, [&str], [String], Vec<&str>, Vec<String>);
