//! A reader that accepts events which surely keep their schema, straight from their text.
//!
//! In: a JSON Schema, once; then texts that are JSON (we wrote them). Out: `true` where the text is surely valid. Never:
//! `true` for an event that the schema refuses. `false` says nothing: the caller asks the full validator then, and gets the reasons too.
//!
//! It knows the keywords that our schemas use. A schema with any other keyword has no [`Shape`], so all of its events go to
//! the full validator.

mod format;
mod variants;

use crate::json::scan::{Quoted, Scan};
use crate::json::{Json, Kind, Object};
use format::{Format, is_ulid};
use std::borrow::Cow;
use std::ops::Range;
use variants::Variants;

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
    /// What properties beyond those may be.
    rest: Rest,
    /// What else holds for objects of one type.
    variants: Option<Variants>,
}

#[derive(Debug)]
enum Rest {
    Closed,
    Open,
    Each(Box<Shape>),
}

/// Definitions that refer to each other are followed so deep.
const MAX_REFS: usize = 12;

/// The document that a schema stands in.
#[derive(Clone, Copy)]
struct Document<'d> {
    definitions: &'d Object<'d>,
    /// Other documents that may be referred to: `$id` and definitions.
    others: &'d [(String, Object<'d>)],
    left: usize,
}

/// Keywords that say nothing about validity.
const ANNOTATIONS: &[&str] =
    &["$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default", "deprecated"];

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
    "allOf",
    "if",
    "then",
];

/// What follows the prefix in the one kind of `pattern` that this reader knows: `^run_[…]{26}$`.
const ULID_PATTERN: &str = "_[0-9A-HJKMNP-TV-Z]{26}$";

impl Shape {
    /// Reads a schema; `None` where it uses what this reader does not know.
    ///
    /// It is read as text, since a DOM would lose the order of the properties.
    pub fn compile(schema: Json<'_>) -> Option<Self> {
        Self::compile_with(schema, &[])
    }

    /// Reads a schema that may refer to definitions of others, by the end of their `$id`.
    pub fn compile_with(schema: Json<'_>, others: &[Json<'_>]) -> Option<Self> {
        let id_of = |of: Json<'_>| of.object().and_then(|map| map.str("$id").map(Cow::into_owned)).unwrap_or_default();
        let own = definitions_of(schema);
        let others: Vec<_> = others.iter().map(|&other| (id_of(other), definitions_of(other))).collect();
        Self::within_document(schema, Document { definitions: &own, others: &others, left: MAX_REFS })
    }

    fn within_document(schema: Json<'_>, document: Document<'_>) -> Option<Self> {
        if schema.bool() == Some(true) {
            return Some(Self::anything());
        }
        let map = schema.object()?;
        let keywords = || map.iter().map(|(key, _)| key).filter(|key| !ANNOTATIONS.contains(key));
        if keywords().next().is_none() {
            return Some(Self::anything());
        }
        if let Some(reference) = map.str("$ref") {
            // A definition that holds itself has no end, and neither would its shape.
            let left = document.left.checked_sub(1)?;
            let (file, name) = reference.split_once("#/$defs/")?;
            let definitions = match file.rsplit('/').next() {
                None | Some("") => document.definitions,
                Some(file) => &document.others.iter().find(|(id, _)| id.rsplit('/').next() == Some(file))?.1,
            };
            let document = Document { definitions, left, ..document };
            let alone = keywords().count() == 1;
            return if alone { Self::within_document(definitions.get(name)?, document) } else { None };
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
            // Whatever is no object would be valid too; the full validator knows.
            None if map.get("properties").is_some() || map.get("required").is_some() => vec![Cow::Borrowed("object")],
            None => return None,
        };
        for word in types {
            match &*word {
                "null" => shape.null = words.as_ref().is_none_or(|words| words.contains(&None)),
                "boolean" if words.is_none() => shape.bool = true,
                "integer" if words.is_none() => shape.integer = true,
                "number" if words.is_none() => shape.number = true,
                "string" => {
                    let pattern = map.str("pattern");
                    let listed = pattern.as_deref().and_then(words_of_pattern);
                    let ulid = pattern.as_deref().filter(|_| listed.is_none()).map(ulid_prefix);
                    if listed.is_some() && words.is_some() {
                        return None;
                    }
                    let one_of = words.clone().map(|words| words.into_iter().flatten().collect());
                    shape.string = Some(StringShape {
                        one_of: one_of.or(listed),
                        format: match map.str("format").as_deref() {
                            None => None,
                            Some("uuid") => Some(Format::Uuid),
                            Some("date-time") => Some(Format::DateTime),
                            Some(_) => return None,
                        },
                        ulid: match ulid {
                            None => None,
                            Some(prefix) => Some(prefix?),
                        },
                        min_length: count_of(&map, "minLength")?,
                    });
                }
                "array" if words.is_none() => {
                    let items = match map.get("items") {
                        None => None,
                        Some(items) => {
                            Some(Box::new(Self::within_document(items, document)?)).filter(|items| !items.any)
                        }
                    };
                    shape.array = Some(ArrayShape { items, min_items: count_of(&map, "minItems")? });
                }
                "object" if map.get("if").is_some() => shape.object = Some(object_where_it_is_one(&map, document)?),
                "object" if words.is_none() => shape.object = Some(Box::new(ObjectShape::compile(&map, document)?)),
                _ => return None,
            }
        }
        let of_objects = ["allOf", "if", "then"];
        if of_objects.iter().any(|keyword| map.get(keyword).is_some()) && shape.object.is_none() {
            return None;
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

/// What an object is by `"if": {"type": "object"}, "then": …`, which is how a schema says what an object or null is.
fn object_where_it_is_one(map: &Object<'_>, document: Document<'_>) -> Option<Box<ObjectShape>> {
    let when = map.object("if")?;
    let is_simple = when.len() == 1 && when.str("type").as_deref() == Some("object");
    let elsewhere = ["properties", "required", "additionalProperties", "allOf", "enum", "const"];
    if !is_simple || elsewhere.iter().any(|keyword| map.get(keyword).is_some()) {
        return None;
    }
    Shape::within_document(map.get("then")?, document)?.object
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

fn definitions_of(schema: Json<'_>) -> Object<'_> {
    schema.object().and_then(|map| map.object("$defs")).unwrap_or_default()
}

/// The plain words of a pattern `^(word|word|…)$`. What else it lets through is left to the full validator.
fn words_of_pattern(pattern: &str) -> Option<Vec<String>> {
    let list = pattern.strip_prefix("^(")?.strip_suffix(")$")?;
    let is_word = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') && !word.is_empty();
    Some(list.split('|').filter(is_word).map(str::to_owned).collect())
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
        let start = *scan;
        self.reads_fields(scan) && self.variants.as_ref().is_none_or(|variants| variants.read(start))
    }

    fn reads_fields(&self, scan: &mut Scan<'_>) -> bool {
        if matches!(self.rest, Rest::Open) && self.properties.is_empty() {
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
                    let fits = match &self.rest {
                        Rest::Closed => false,
                        Rest::Open => scan.value().is_some(),
                        Rest::Each(shape) => shape.reads(scan),
                    };
                    if !fits {
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

    fn compile(map: &Object<'_>, document: Document<'_>) -> Option<Self> {
        let mut properties = Vec::new();
        for (name, schema) in map.object("properties").unwrap_or_default().iter() {
            properties.push((name.to_owned(), Shape::within_document(schema, document)?));
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
        let rest = match map.get("additionalProperties") {
            None => Rest::Open,
            Some(allowed) if allowed.bool() == Some(false) => Rest::Closed,
            Some(allowed) => match Shape::within_document(allowed, document)? {
                shape if shape.any => Rest::Open,
                shape => Rest::Each(Box::new(shape)),
            },
        };
        let keys = properties.iter().map(|(name, _)| format!("\"{name}\":")).collect();
        let variants = match map.get("allOf") {
            None => None,
            Some(list) => Some(Variants::compile(list, document)?),
        };
        Some(Self { properties, keys, required, rest, variants })
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
                "i": {"type": "string", "pattern": "^run_[0-9A-HJKMNP-TV-Z]{26}$"},
                "p": {"type": "string", "pattern": "^(message|function_call)$"}
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
            (json!({"a": 1, "u": uuid, "p": "function_call"}), true),
            (json!({"a": 1, "u": uuid, "p": "function"}), false),
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
        for schema in [
            r#"{"type":"string","pattern":"^x"}"#,
            r#"{"oneOf":[]}"#,
            r#"{"type":"array","items":{"not":{}}}"#,
            r#"{"type":"object","allOf":[{"required":["a"]}]}"#,
            r#"{"type":"string","allOf":[]}"#,
            r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}}}"##,
            r#"{"$ref":"other.json"}"#,
            r#"{"type":["object","null"],"if":{"type":"object"}}"#,
            r#"{"type":["object","null"],"if":{"type":"null"},"then":{"type":"object"}}"#,
            r#"{"type":"object","properties":{},"if":{"type":"object"},"then":{"type":"object"}}"#,
            r#"{"type":"string","if":{"type":"object"},"then":{"type":"object"}}"#,
            r#"{"type":"object","allOf":[{"if":{"properties":{"a":{"const":"x"}}},"then":{},"else":{}}]}"#,
            r#"{"type":"object","allOf":[{"if":{"properties":{"a":{"const":"x"}}},"then":{}},{"if":{"properties":{"b":{"const":"x"}}},"then":{}}]}"#,
        ] {
            assert!(Shape::compile(Json::parse(schema).unwrap()).is_none(), "{schema}");
        }
    }
}
