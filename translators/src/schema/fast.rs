//! A reader that accepts events which surely keep their schema, straight from their text.
//!
//! In: a JSON Schema, once; then texts that are JSON (we wrote them). Out: `true` where the text is surely valid. Never:
//! `true` for an event that the schema refuses. `false` says nothing: the caller asks the full validator then, and gets the reasons too.
//!
//! It knows the keywords that our schemas use. A schema with any other keyword has no [`Shape`], so all of its events go to
//! the full validator.

use crate::json::scan::{Quoted, Scan};
use crate::json::{Json, Kind, Object};
use std::borrow::Cow;
use std::ops::Range;

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
    /// The prefix of an id that is a ULID, with its `_`.
    ulid: Option<String>,
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
    /// Each property's key as we write it: `"key":`.
    keys: Vec<String>,
    /// For each property, whether it must be there; as bits.
    required: u64,
    /// Whether properties beyond those are allowed.
    open: bool,
}

/// Keywords that say nothing about validity.
const ANNOTATIONS: &[&str] = &["$schema", "$id", "$comment", "title", "description", "examples", "default"];

/// Keywords that this reader knows.
const KEYWORDS: &[&str] = &[
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
    "pattern",
];

/// What follows the prefix in the one kind of `pattern` that this reader knows: `^run_[…]{26}$`.
const ULID_PATTERN: &str = "_[0-9A-HJKMNP-TV-Z]{26}$";

impl Shape {
    /// Reads a schema; `None` where it uses what this reader does not know.
    ///
    /// It is read as text, since a DOM would lose the order of the properties.
    pub fn compile(schema: Json<'_>) -> Option<Self> {
        if schema.bool() == Some(true) {
            return Some(Self::anything());
        }
        let map = schema.object()?;
        let keywords = || map.iter().map(|(key, _)| key).filter(|key| !ANNOTATIONS.contains(key));
        if keywords().next().is_none() {
            return Some(Self::anything());
        }
        if keywords().any(|key| !KEYWORDS.contains(&key)) {
            return None;
        }
        let words = words_of(&map)?;
        let mut shape = Self::nothing();
        let types: Vec<Cow<'_, str>> = match map.get("type") {
            Some(word) if word.kind() == Kind::String => vec![word.str()?],
            Some(list) => list.items().into_iter().map(Json::str).collect::<Option<_>>()?,
            None if words.is_some() => vec![Cow::Borrowed("string")],
            None => return None,
        };
        for word in types {
            match &*word {
                "null" => shape.null = words.as_ref().is_none_or(|words| words.contains(&None)),
                "boolean" if words.is_none() => shape.bool = true,
                "integer" if words.is_none() => shape.integer = true,
                "number" if words.is_none() => shape.number = true,
                "string" => {
                    shape.string = Some(StringShape {
                        one_of: words.clone().map(|words| words.into_iter().flatten().collect()),
                        format: match map.str("format").as_deref() {
                            None => None,
                            Some("uuid") => Some(Format::Uuid),
                            Some("date-time") => Some(Format::DateTime),
                            Some(_) => return None,
                        },
                        ulid: match map.str("pattern") {
                            None => None,
                            Some(pattern) => Some(ulid_prefix(&pattern)?),
                        },
                        min_length: count_of(&map, "minLength")?,
                    });
                }
                "array" if words.is_none() => {
                    let items = match map.get("items") {
                        None => None,
                        Some(items) => Some(Box::new(Self::compile(items)?)).filter(|items| !items.any),
                    };
                    shape.array = Some(ArrayShape { items, min_items: count_of(&map, "minItems")? });
                }
                "object" if words.is_none() => shape.object = Some(Box::new(ObjectShape::compile(&map)?)),
                _ => return None,
            }
        }
        shape.minimum = bound_of(&map, "minimum")?;
        shape.maximum = bound_of(&map, "maximum")?;
        Some(shape)
    }

    /// Whether the text, which is JSON, is surely a valid event. The values at `known` are known to be whole.
    pub fn accepts(&self, text: &str, known: &[Range<usize>]) -> bool {
        let mut scan = Scan::knowing(text, known);
        self.reads(&mut scan) && scan.peek().is_none()
    }

    fn reads(&self, scan: &mut Scan<'_>) -> bool {
        if self.any {
            return scan.value().is_some();
        }
        match scan.peek() {
            Some(b'"') => match (&self.string, scan.string()) {
                (Some(shape), Some(text)) => shape.accepts(text),
                _ => false,
            },
            Some(b'{') => self.object.as_deref().is_some_and(|shape| shape.reads(scan)),
            Some(b'[') => self.array.as_ref().is_some_and(|shape| shape.reads(scan)),
            Some(b'n') => self.null && scan.value() == Some("null"),
            Some(b't' | b'f') => self.bool && matches!(scan.value(), Some("true" | "false")),
            Some(_) => scan.value().is_some_and(|number| self.is_number(number)),
            None => false,
        }
    }

    fn is_number(&self, text: &str) -> bool {
        // What is spelled as a float may be an integer; the full validator knows.
        let is_integer = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let wanted = self.number || (self.integer && is_integer);
        let bounded = self.minimum.is_some() || self.maximum.is_some();
        wanted && (!bounded || text.parse().is_ok_and(|number: f64| self.within(number)))
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

    fn within(&self, number: f64) -> bool {
        self.minimum.is_none_or(|bound| number >= bound) && self.maximum.is_none_or(|bound| number <= bound)
    }
}

/// The words of `enum` or `const`, where all are strings or null; `Some(None)` where there is neither keyword.
#[allow(clippy::option_option, reason = "absent, unreadable and present differ")]
fn words_of(map: &Object<'_>) -> Option<Option<Vec<Option<String>>>> {
    let word = |value: Json<'_>| if value.is_null() { Some(None) } else { value.str().map(|text| Some(text.into())) };
    match (map.get("enum"), map.get("const")) {
        (None, None) => Some(None),
        (Some(list), None) => Some(Some(list.items().into_iter().map(word).collect::<Option<_>>()?)),
        (None, Some(value)) => Some(Some(vec![word(value)?])),
        (Some(_), Some(_)) => None,
    }
}

/// A count; 0 where the keyword is absent, `None` where it is no count.
fn count_of(map: &Object<'_>, keyword: &str) -> Option<usize> {
    map.get(keyword).map_or(Some(0), |count| usize::try_from(count.u64()?).ok())
}

/// The prefix that a pattern of ids asks for; `None` where it is another pattern.
fn ulid_prefix(pattern: &str) -> Option<String> {
    let prefix = pattern.strip_prefix('^')?.strip_suffix(ULID_PATTERN)?;
    prefix.bytes().all(|byte| byte.is_ascii_lowercase()).then(|| format!("{prefix}_"))
}

/// A bound; `Some(None)` where the keyword is absent.
#[allow(clippy::option_option, reason = "absent, unreadable and present differ")]
fn bound_of(map: &Object<'_>, keyword: &str) -> Option<Option<f64>> {
    map.get(keyword).map_or(Some(None), |bound| bound.f64().map(Some))
}

impl ArrayShape {
    fn reads(&self, scan: &mut Scan<'_>) -> bool {
        if !scan.take(b'[') {
            return false;
        }
        let mut count = 0;
        while scan.begin_item() {
            let fits = match &self.items {
                Some(items) => items.reads(scan),
                None => scan.value().is_some(),
            };
            if !fits {
                return false;
            }
            count += 1;
        }
        scan.take(b']') && count >= self.min_items
    }
}

impl ObjectShape {
    fn reads(&self, scan: &mut Scan<'_>) -> bool {
        if self.open && self.properties.is_empty() {
            return scan.value().is_some();
        }
        let (mut seen, mut next) = (0u64, 0);
        loop {
            scan.begin_field();
            let at = match self.due(scan, next) {
                Some(at) => Some(at),
                None => match scan.key() {
                    None => break,
                    Some(key) if key.escaped => return false,
                    Some(key) => self.properties.iter().position(|(name, _)| name == key.inner),
                },
            };
            match at.and_then(|at| self.properties.get(at).map(|(_, property)| (at, property))) {
                // Of a repeated key every value is checked; the full validator would see the last one only.
                Some((at, property)) => {
                    if !property.reads(scan) {
                        return false;
                    }
                    seen |= 1 << at;
                    next = at + 1;
                }
                None => {
                    if !self.open || scan.value().is_none() {
                        return false;
                    }
                }
            }
        }
        scan.take(b'}') && seen & self.required == self.required
    }

    /// We write properties in the schema's order: takes the key that is due, or the one behind it where one is left out.
    fn due(&self, scan: &mut Scan<'_>, next: usize) -> Option<usize> {
        (next..next + 2).find(|&at| self.keys.get(at).is_some_and(|key| scan.literal(key.as_bytes())))
    }

    fn compile(map: &Object<'_>) -> Option<Self> {
        let mut properties = Vec::new();
        for (name, schema) in map.object("properties").unwrap_or_default().iter() {
            properties.push((name.to_owned(), Shape::compile(schema)?));
        }
        if properties.len() > 64 {
            return None;
        }
        let mut required = 0u64;
        for name in map.items("required") {
            let name = name.str()?;
            let at = properties.iter().position(|(known, _)| *known == name)?;
            required |= 1 << at;
        }
        let open = match map.get("additionalProperties") {
            None => true,
            Some(allowed) => allowed.bool()?,
        };
        let keys = properties.iter().map(|(name, _)| format!("\"{name}\":")).collect();
        Some(Self { properties, keys, required, open })
    }
}

impl StringShape {
    fn accepts(&self, text: Quoted<'_>) -> bool {
        let is_long_enough = self.min_length == 0 || (self.min_length == 1 && !text.inner.is_empty());
        if self.one_of.is_none() && self.format.is_none() && self.ulid.is_none() && is_long_enough {
            return true;
        }
        // Escapes are left to the full validator.
        let (text, escaped) = (text.inner, text.escaped);
        !escaped && self.accepts_plain(text)
    }

    fn accepts_plain(&self, text: &str) -> bool {
        self.one_of.as_ref().is_none_or(|words| words.iter().any(|word| word == text))
            && self.format.is_none_or(|format| format.accepts(text))
            && self.ulid.as_deref().is_none_or(|prefix| text.strip_prefix(prefix).is_some_and(is_ulid))
            && (self.min_length == 0 || text.chars().take(self.min_length).count() == self.min_length)
    }
}

impl Format {
    /// The spellings that we write; other valid ones are left to the full validator.
    fn accepts(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Self::Uuid => {
                // Without a way out of the loop, so that it is one of vectors.
                let is_dashed = [8, 13, 18, 23].iter().all(|&at| bytes.get(at) == Some(&b'-'));
                let count = |is: fn(&u8) -> bool| bytes.iter().map(|byte| usize::from(is(byte))).sum::<usize>();
                bytes.len() == 36 && is_dashed && count(u8::is_ascii_hexdigit) == 32
            }
            Self::DateTime => date_time(bytes),
        }
    }
}

/// 26 characters of Crockford's base 32, upper case.
fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && text.bytes().all(|byte| {
            byte.is_ascii_digit() || (byte.is_ascii_uppercase() && !matches!(byte, b'I' | b'L' | b'O' | b'U'))
        })
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
                "l": {"type": "array", "items": {"type": "string", "minLength": 1}},
                "i": {"type": "string", "pattern": "^run_[0-9A-HJKMNP-TV-Z]{26}$"}
            }
        });
        let text = schema.to_string();
        let shape = Shape::compile(Json::parse(&text).unwrap()).unwrap();
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
            (json!({"a": 1, "u": uuid, "i": "run_0123456789ABCDEFGHJKMNPQRS"}), true),
            (json!({"a": 1, "u": uuid, "i": "run_TVWXYZ00000000000000000000"}), true),
            (json!({"a": 1, "u": uuid, "i": "evt_0123456789ABCDEFGHJKMNPQRS"}), false),
            (json!({"a": 1, "u": uuid, "i": "run_0123456789ABCDEFGHJKMNPQR"}), false),
            (json!({"a": 1, "u": uuid, "i": "run_0123456789ABCDEFGHJKMNPQRST"}), false),
            (json!({"a": 1, "u": uuid, "i": "run_0123456789abcdefghjkmnpqrs"}), false),
            (json!({"a": 1, "u": uuid, "i": "run_I0000000000000000000000000"}), false),
            (json!({"a": 1, "u": uuid, "i": "run_U0000000000000000000000000"}), false),
        ] {
            let text = event.to_string();
            assert_eq!(shape.accepts(&text, &[]), expected, "{text}");
            assert_eq!(full.is_valid(&event), expected, "{text}");
        }
    }

    #[test]
    fn a_schema_with_an_unknown_keyword_has_no_shape() {
        for schema in
            [r#"{"type":"string","pattern":"^x"}"#, r#"{"oneOf":[]}"#, r#"{"type":"array","items":{"not":{}}}"#]
        {
            assert!(Shape::compile(Json::parse(schema).unwrap()).is_none(), "{schema}");
        }
    }
}
