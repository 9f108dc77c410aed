//! Event data declared as structs: each field is written under its own name, in the order of declaration.
//!
//! Input: structs declared by [`data!`]. Output: calls of an [`ObjectWriter`]. Never: a `null` for a field that is `None`; such
//! a field is left out.

use super::{Key, ObjectWriter};
use serde_json::value::RawValue;
use uuid::Uuid;

/// An object's fields.
pub(crate) trait Data {
    /// Writes the fields.
    fn fields(&self, map: &mut ObjectWriter<'_>);
}

/// The value of a field.
pub(crate) trait Value {
    /// Writes the field.
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>);
}

/// A fixed string that needs no escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) &'static str);

/// A time in UTC in RFC 3339 format.
#[derive(Clone, Debug)]
pub(crate) struct Time<T = String>(pub(crate) T);

/// An id of a prefix and a ULID. The text includes the prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ulid<'a>(pub(crate) &'static str, pub(crate) &'a str);

/// `null`, if a document requires it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Null;

/// An object whose fields are written directly into the enclosing object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flat<T>(pub(crate) T);

/// Declares structs with their [`Data`]. If the key differs from the field's name, it follows the type: `tool_name: &'a str =>
/// "toolName"`.
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
            fn field(&self, key: &'static $crate::encode::Key, map: &mut $crate::encode::ObjectWriter<'_>) {
                map.object(key, |map| $crate::encode::Data::fields(self, map));
            }
        }
    )+};
    (@key $field:ident) => { $crate::encode::key!(@$field) };
    (@key $field:ident $key:literal) => { $crate::encode::key!($key) };
}

pub(crate) use data;

impl<T: Value + ?Sized> Value for &T {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        (**self).field(key, map);
    }
}

impl<T: Value> Value for Option<T> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        if let Some(value) = self {
            value.field(key, map);
        }
    }
}

impl Value for str {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.text(key, self);
    }
}

impl Value for String {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.text(key, self);
    }
}

impl Value for Word {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.word(key, self.0);
    }
}

impl<T: AsRef<str>> Value for Time<T> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.time(key, self.0.as_ref());
    }
}

impl Value for Ulid<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.ulid(key, self.0, self.1);
    }
}

impl Value for Null {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.raw(key, "null");
    }
}

impl Value for RawValue {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.raw(key, self.get());
    }
}

impl Value for serde_json::Value {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.raw(key, &self.to_string());
    }
}

impl<T: Data> Value for Flat<T> {
    fn field(&self, _: &'static Key, map: &mut ObjectWriter<'_>) {
        self.0.fields(map);
    }
}

impl<T: Data> Value for Vec<T> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        self.as_slice().field(key, map);
    }
}

impl<T: Data> Value for [T] {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        map.list(key, self, |map, item| item.fields(map));
    }
}

macro_rules! entries {
    ($($type:ty),+ $(,)?) => {
        $(impl Value for $type {
            fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
                map.entry(key, self);
            }
        })+
    };
}

entries!(bool, u16, u32, u64, usize, i32, f64, Uuid, [&str], [String], Vec<&str>, Vec<String>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{EventId, EventShape, Events, Kind};

    data! {
        struct Whole<'a> {
            first_name: Option<&'a str> => "firstName",
            flat: Flat<Part>,
            parts: Vec<Part>,
            none: Option<Vec<Part>>,
            word: Word,
            null: Null,
            part: Part,
        }

        struct Part {
            count: u32,
            cost: Option<f64>,
        }
    }

    fn written(whole: &Whole<'_>) -> (String, Vec<(&'static str, &'static str)>) {
        let mut events = Events::default();
        events.object("whole", EventId::None, |map| whole.fields(map));
        let event = events.iter().next().unwrap();
        assert_eq!(event.shape.fingerprint(), EventShape::new(event.shape.fields).fingerprint());
        let name = |kind: Kind| match kind {
            Kind::Null => "null",
            Kind::Unsigned => "unsigned",
            Kind::Number => "number",
            Kind::Amount => "amount",
            Kind::Text => "text",
            Kind::Word(word) => word,
            Kind::EmptyArray => "[]",
            Kind::Fields => "{",
            Kind::Items => "[",
            Kind::End => "end",
            _ => "other",
        };
        let shape = event.shape.fields.iter().map(|field| (field.key.name(), name(field.kind))).collect();
        (String::from_utf8(event.payload.to_vec()).unwrap(), shape)
    }

    #[test]
    fn fields_keep_their_order_and_equal_objects_are_shaped_once() {
        let part = |cost| Part { count: 1, cost };
        let mut whole = Whole {
            first_name: None,
            flat: Flat(part(None)),
            parts: Vec::new(),
            none: None,
            word: Word("w"),
            null: Null,
            part: part(Some(-0.5)),
        };
        let (text, shape) = written(&whole);
        assert_eq!(text, r#"{"count":1,"parts":[],"word":"w","null":null,"part":{"count":1,"cost":-0.5}}"#);
        let end =
            [("word", "w"), ("null", "null"), ("part", "{"), ("count", "unsigned"), ("cost", "number"), ("", "end")];
        assert_eq!(shape, [&[("count", "unsigned"), ("parts", "[]")][..], &end].concat());

        whole.first_name = Some("a \"b\"");
        whole.parts = vec![part(None), part(None), part(Some(f64::NAN)), part(Some(1.5))];
        let (text, shape) = written(&whole);
        let parts = r#"[{"count":1},{"count":1},{"count":1,"cost":null},{"count":1,"cost":1.5}]"#;
        assert!(text.starts_with(&format!(r#"{{"firstName":"a \"b\"","count":1,"parts":{parts},"word""#)), "{text}");
        let sort = |cost: &'static str| [("", "{"), ("count", "unsigned"), ("cost", cost), ("", "end")];
        let front = [
            ("firstName", "text"),
            ("count", "unsigned"),
            ("parts", "["),
            ("", "{"),
            ("count", "unsigned"),
            ("", "end"),
        ];
        assert_eq!(shape, [&front[..], &sort("null"), &sort("amount"), &[("", "end")], &end].concat());
    }
}
