//! A reader that accepts events which surely keep their schema, straight from their text.
//!
//! In: a JSON Schema, once; then texts. Out: `true` where the text is surely valid. Never: `true` for an event that the
//! schema refuses. `false` says nothing: the caller asks the full validator then, and gets the reasons too.
//!
//! It knows the keywords that our schemas use. A schema with any other keyword has no [`Shape`], so all of its events go to
//! the full validator.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A schema, ready to be read along with a text.
#[derive(Debug)]
pub struct Shape {
    /// Any value at all.
    any: bool,
    null: bool,
    bool: bool,
    integer: bool,
    number: bool,
    minimum: Option<f64>,
    maximum: Option<f64>,
    string: Option<StringShape>,
    array: Option<ArrayShape>,
    object: Option<Box<ObjectShape>>,
}

#[derive(Debug, Default)]
struct StringShape {
    one_of: Option<Vec<String>>,
    format: Option<Format>,
    min_length: usize,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Uuid,
    DateTime,
}

#[derive(Debug)]
struct ArrayShape {
    items: Option<Box<Shape>>,
    min_items: usize,
}

#[derive(Debug)]
struct ObjectShape {
    properties: Vec<(String, Shape)>,
    /// For each property, whether it must be there; as bits.
    required: u64,
    /// Whether properties beyond those are allowed.
    open: bool,
}

/// Keywords that say nothing about validity.
const ANNOTATIONS: &[&str] = &["$schema", "$id", "$comment", "title", "description", "examples", "default"];

impl Shape {
    /// Reads a schema; `None` where it uses what this reader does not know.
    pub fn compile(schema: &Value) -> Option<Self> {
        let map = match schema {
            Value::Bool(true) => return Some(Self::anything()),
            Value::Object(map) => map,
            _ => return None,
        };
        let keywords = || map.keys().map(String::as_str).filter(|key| !ANNOTATIONS.contains(key));
        if keywords().next().is_none() {
            return Some(Self::anything());
        }
        let known = [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "minItems",
            "enum",
            "const",
            "format",
            "minimum",
            "maximum",
            "minLength",
        ];
        if keywords().any(|key| !known.contains(&key)) {
            return None;
        }
        let words = words_of(map)?;
        let mut shape = Self { any: false, ..Self::nothing() };
        let types: Vec<&str> = match map.get("type") {
            Some(Value::String(word)) => vec![word],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            None if words.is_some() => vec!["string"],
            _ => return None,
        };
        for word in types {
            match word {
                "null" => shape.null = words.is_none() || words.as_ref().is_some_and(|words| words.contains(&None)),
                "boolean" if words.is_none() => shape.bool = true,
                "integer" if words.is_none() => shape.integer = true,
                "number" if words.is_none() => shape.number = true,
                "string" => {
                    shape.string = Some(StringShape {
                        one_of: words.clone().map(|words| words.into_iter().flatten().collect()),
                        format: match map.get("format").map(Value::as_str) {
                            None => None,
                            Some(Some("uuid")) => Some(Format::Uuid),
                            Some(Some("date-time")) => Some(Format::DateTime),
                            Some(_) => return None,
                        },
                        min_length: usize::try_from(map.get("minLength").map_or(Some(0), Value::as_u64)?).ok()?,
                    });
                }
                "array" if words.is_none() => {
                    let items = match map.get("items") {
                        None => None,
                        Some(items) => Some(Box::new(Self::compile(items)?)).filter(|items| !items.any),
                    };
                    let min_items = usize::try_from(map.get("minItems").map_or(Some(0), Value::as_u64)?).ok()?;
                    shape.array = Some(ArrayShape { items, min_items });
                }
                "object" if words.is_none() => shape.object = Some(Box::new(ObjectShape::compile(map)?)),
                _ => return None,
            }
        }
        shape.minimum = map.get("minimum").map(Value::as_f64).map_or(Some(None), |bound| bound.map(Some))?;
        shape.maximum = map.get("maximum").map(Value::as_f64).map_or(Some(None), |bound| bound.map(Some))?;
        Some(shape)
    }

    /// Whether the text is surely one valid event.
    pub fn accepts(&self, text: &[u8]) -> bool {
        let mut de = serde_json::Deserializer::from_slice(text);
        Check(self).deserialize(&mut de).is_ok() && de.end().is_ok()
    }

    fn anything() -> Self {
        Self { any: true, ..Self::nothing() }
    }

    fn nothing() -> Self {
        Self {
            any: false,
            null: false,
            bool: false,
            integer: false,
            number: false,
            minimum: None,
            maximum: None,
            string: None,
            array: None,
            object: None,
        }
    }

    /// Whether the value need not be looked into: any object, with nothing said of its properties.
    fn is_any_object_or_null(&self) -> bool {
        let open = |object: &ObjectShape| object.open && object.properties.is_empty();
        self.object.as_deref().is_some_and(open)
    }

    fn within(&self, number: f64) -> bool {
        self.minimum.is_none_or(|bound| number >= bound) && self.maximum.is_none_or(|bound| number <= bound)
    }
}

/// The words of `enum` or `const`, where all are strings or null; `Some(None)` where there is neither keyword.
#[allow(clippy::option_option, reason = "absent, unreadable and present differ")]
fn words_of(map: &Map<String, Value>) -> Option<Option<Vec<Option<String>>>> {
    let word = |value: &Value| match value {
        Value::String(word) => Some(Some(word.clone())),
        Value::Null => Some(None),
        _ => None,
    };
    match (map.get("enum"), map.get("const")) {
        (None, None) => Some(None),
        (Some(Value::Array(list)), None) => Some(Some(list.iter().map(word).collect::<Option<_>>()?)),
        (None, Some(value)) => Some(Some(vec![word(value)?])),
        _ => None,
    }
}

impl ObjectShape {
    fn compile(map: &Map<String, Value>) -> Option<Self> {
        let mut properties = Vec::new();
        if let Some(list) = map.get("properties") {
            for (name, schema) in list.as_object()? {
                properties.push((name.clone(), Shape::compile(schema)?));
            }
        }
        if properties.len() > 64 {
            return None;
        }
        let mut required = 0u64;
        if let Some(list) = map.get("required") {
            for name in list.as_array()? {
                let name = name.as_str()?;
                let at = properties.iter().position(|(known, _)| known == name)?;
                required |= 1 << at;
            }
        }
        let open = match map.get("additionalProperties") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => return None,
        };
        Some(Self { properties, required, open })
    }
}

#[derive(Clone, Copy)]
struct Check<'s>(&'s Shape);

impl<'de> DeserializeSeed<'de> for Check<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<(), D::Error> {
        if self.0.any {
            return de.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        if self.0.is_any_object_or_null() {
            // The raw text tells the type from its first byte, and skipping it is many times faster than visiting it.
            let raw = <&serde_json::value::RawValue as serde::Deserialize>::deserialize(de)?;
            let fits = match raw.get().as_bytes().first() {
                Some(b'{') => true,
                Some(b'n') => self.0.null,
                _ => false,
            };
            return if fits { Ok(()) } else { Err(D::Error::custom("type")) };
        }
        de.deserialize_any(self)
    }
}

fn fits<E: Error>(fits: bool) -> Result<(), E> {
    if fits { Ok(()) } else { Err(E::custom("breach")) }
}

impl<'de> Visitor<'de> for Check<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the schema says")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        fits(self.0.null)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        fits(self.0.bool)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        fits((self.0.integer || self.0.number) && self.0.within(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        fits((self.0.integer || self.0.number) && self.0.within(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        fits(self.0.number && self.0.within(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        fits(self.0.string.as_ref().is_some_and(|shape| shape.accepts(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some(shape) = &self.0.array else { return fits(false) };
        let mut count = 0;
        match &shape.items {
            Some(items) => {
                while seq.next_element_seed(Check(items))?.is_some() {
                    count += 1;
                }
            }
            None => {
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
            }
        }
        fits(count >= shape.min_items)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some(shape) = self.0.object.as_deref() else { return fits(false) };
        let mut seen = 0u64;
        while let Some(at) = map.next_key_seed(Property(shape))? {
            match at.and_then(|at| shape.properties.get(at).map(|(_, property)| (at, property))) {
                Some((at, property)) => {
                    // Of a repeated key every value is checked, the full validator would see the last one only.
                    map.next_value_seed(Check(property))?;
                    seen |= 1 << at;
                }
                None => {
                    fits::<A::Error>(shape.open)?;
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        fits(seen & shape.required == shape.required)
    }
}

/// Finds a key among the properties.
struct Property<'s>(&'s ObjectShape);

impl<'de> DeserializeSeed<'de> for Property<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, de: D) -> Result<Self::Value, D::Error> {
        de.deserialize_str(self)
    }
}

impl Visitor<'_> for Property<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.properties.iter().position(|(name, _)| name == key))
    }
}

impl StringShape {
    fn accepts(&self, text: &str) -> bool {
        self.one_of.as_ref().is_none_or(|words| words.iter().any(|word| word == text))
            && self.format.is_none_or(|format| format.accepts(text))
            && (self.min_length == 0 || text.chars().take(self.min_length).count() == self.min_length)
    }
}

impl Format {
    /// The spellings that we write; other valid ones are left to the full validator.
    fn accepts(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Self::Uuid => {
                bytes.len() == 36
                    && bytes.iter().enumerate().all(|(at, byte)| match at {
                        8 | 13 | 18 | 23 => *byte == b'-',
                        _ => byte.is_ascii_hexdigit(),
                    })
            }
            Self::DateTime => date_time(bytes),
        }
    }
}

/// `YYYY-MM-DDThh:mm:ss[.fff]Z`, days up to 28 and seconds up to 59.
fn date_time(bytes: &[u8]) -> bool {
    let Some((whole, fraction)) = bytes.split_at_checked(19) else { return false };
    let shape = whole.iter().zip(b"dddd-dd-ddTdd:dd:dd").all(|(byte, expected)| match expected {
        b'd' => byte.is_ascii_digit(),
        _ => byte == expected,
    });
    let two = |at: usize| {
        whole.get(at..at + 2).and_then(|pair| std::str::from_utf8(pair).ok()?.parse::<u8>().ok()).unwrap_or(99)
    };
    let fraction = fraction.strip_suffix(b"Z").is_some_and(|digits| match digits {
        [] => true,
        [b'.', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    });
    shape
        && fraction
        && (1..=12).contains(&two(5))
        && (1..=28).contains(&two(8))
        && two(11) < 24
        && two(14) < 60
        && two(17) < 60
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_it_accepts_the_full_validator_accepts() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["a", "u"],
            "properties": {
                "a": {"type": "integer", "minimum": 0},
                "u": {"type": "string", "format": "uuid"},
                "t": {"type": ["string", "null"], "format": "date-time"},
                "w": {"enum": ["x", "y"]},
                "d": {"type": ["object", "null"]},
                "l": {"type": "array", "items": {"type": "string", "minLength": 1}}
            }
        });
        let shape = Shape::compile(&schema).unwrap();
        let full = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
        let uuid = "00000000-0000-5000-8000-000000000000";
        for (event, expected) in [
            (json!({"a": 1, "u": uuid}), true),
            (json!({"a": 1, "u": uuid, "t": null, "w": "x", "d": {"any": [1]}, "l": ["q"]}), true),
            (json!({"a": 1, "u": uuid, "t": "2026-02-14T21:03:00.123Z", "d": null}), true),
            (json!({"a": -1, "u": uuid}), false),
            (json!({"a": 1}), false),
            (json!({"a": 1, "u": "x"}), false),
            (json!({"a": 1, "u": uuid, "z": 1}), false),
            (json!({"a": 1, "u": uuid, "w": "z"}), false),
            (json!({"a": 1, "u": uuid, "d": []}), false),
            (json!({"a": 1, "u": uuid, "l": [""]}), false),
            (json!({"a": 1, "u": uuid, "t": "2026-13-14T21:03:00Z"}), false),
            (json!([]), false),
        ] {
            let text = event.to_string();
            assert_eq!(shape.accepts(text.as_bytes()), expected, "{text}");
            assert_eq!(full.is_valid(&event), expected, "{text}");
        }
        assert!(!shape.accepts(b"{\"a\":1"));
    }

    #[test]
    fn a_schema_with_an_unknown_keyword_has_no_shape() {
        assert!(Shape::compile(&json!({"type": "string", "pattern": "^x"})).is_none());
        assert!(Shape::compile(&json!({"oneOf": []})).is_none());
    }
}
