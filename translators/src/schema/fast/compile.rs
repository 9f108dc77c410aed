//! How a schema becomes a [`Shape`].
//!
//! In: a JSON Schema and the documents that it refers to. Out: its shape. Never: a shape that reads a keyword which the
//! reader does not know, or one where the reader does not expect it: a property with such a schema is never accepted.

use super::by_type::ByType;
use super::fields::Head;
use super::format::{Format, Spelling};
use super::told::{Told, missing};
use super::variants::Variants;
use super::{ArrayShape, ObjectShape, Rest, Shape, StringShape};
use crate::json::{Json, Kind, Object};
use std::borrow::Cow;

/// Definitions that refer to each other are followed so deep.
const MAX_REFS: usize = 12;

/// The document that a schema stands in.
#[derive(Clone, Copy)]
pub(super) struct Document<'d> {
    own: &'d Read<'d>,
    /// Others that may be referred to.
    others: &'d [Read<'d>],
    left: usize,
}

/// Documents that schemas may refer to, read once for all of them.
#[derive(Default)]
pub struct Documents<'d>(Vec<Read<'d>>);

impl<'d> Documents<'d> {
    /// These, each by its `$id`.
    pub fn of(documents: impl IntoIterator<Item = Json<'d>>) -> Self {
        Self(documents.into_iter().map(Read::of).collect())
    }
}

/// A document as far as it may be referred to.
struct Read<'d> {
    /// Its `$id`; "" where it has none.
    id: String,
    schema: Json<'d>,
    definitions: Object<'d>,
}

impl<'d> Read<'d> {
    fn of(schema: Json<'d>) -> Self {
        let map = schema.object().unwrap_or_default();
        let id = map.str("$id").map(Cow::into_owned).unwrap_or_default();
        Self { id, schema, definitions: map.object("$defs").unwrap_or_default() }
    }
}

impl<'d> Document<'d> {
    /// What a reference means, and the document that it stands in; `None` where that is not sure.
    fn find(self, reference: &str) -> Option<(Json<'d>, Self)> {
        // A definition that holds itself has no end, and neither would its shape.
        let left = self.left.checked_sub(1)?;
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = match file {
            "" => self.own,
            file => self.others.iter().find(|other| is_meant(&other.id, &self.own.id, file))?,
        };
        let schema = match fragment {
            "" => own.schema,
            fragment => own.definitions.get(fragment.strip_prefix("/$defs/")?)?,
        };
        Some((schema, Self { own, left, ..self }))
    }
}

/// Whether a relative reference in the document of that `$id` means the one of this `$id`.
fn is_meant(id: &str, base: &str, mut reference: &str) -> bool {
    let folder = |of: &str| of.rfind('/').map_or(0, |end| end);
    let mut base = &base[..folder(base)];
    while let Some(rest) = reference.strip_prefix("../") {
        (base, reference) = (&base[..folder(base)], rest);
    }
    id.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')) == Some(reference)
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
    "patternProperties",
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
        Self::compile_with(schema, &Documents::default())
    }

    /// Reads a schema that may refer to others and to their definitions, by their `$id`.
    pub fn compile_with<'d>(schema: Json<'d>, others: &Documents<'d>) -> Option<Self> {
        let own = Read::of(schema);
        Self::within_document(schema, Document { own: &own, others: &others.0, left: MAX_REFS })
    }

    pub(super) fn within_document(schema: Json<'_>, document: Document<'_>) -> Option<Self> {
        if schema.bool() == Some(true) {
            return Some(Self::anything());
        }
        let map = schema.object()?;
        let keywords = || map.iter().map(|(key, _)| key).filter(|key| !ANNOTATIONS.contains(key));
        if keywords().next().is_none() {
            return Some(Self::anything());
        }
        if let Some(reference) = map.str("$ref") {
            let (schema, document) = document.find(&reference)?;
            let alone = keywords().count() == 1;
            return if alone { Self::within_document(schema, document) } else { None };
        }
        if keywords().any(|key| !KEYWORDS.contains(&key)) {
            return None;
        }
        let mut shape = Self::nothing();
        if map.get("allOf").is_some() && keywords().count() == 2 {
            shape.by_type = ByType::compile(&map, document);
            if shape.by_type.is_some() {
                shape.told = Told::of(&map).map(Box::new);
                return Some(shape);
            }
        }
        let words = words_of(&map)?;
        let types: Vec<Cow<'_, str>> = match map.get("type") {
            Some(word) if word.kind() == Kind::String => vec![word.str()?],
            Some(list) => list.items().into_iter().map(Json::str).collect::<Option<_>>()?,
            None if words.is_some() => vec![Cow::Borrowed("string"), Cow::Borrowed("null")],
            // Whatever is no object would be valid too; the full validator knows.
            None if map.get("properties").is_some() || map.get("required").is_some() => vec![Cow::Borrowed("object")],
            None => return None,
        };
        // On what is no object, every branch of `allOf` holds.
        if map.get("allOf").is_some() && types != ["object"] {
            return None;
        }
        for word in types {
            match &*word {
                "null" => shape.null = words.as_ref().is_none_or(|words| words.contains(&None)),
                "boolean" if words.is_none() => shape.bool = true,
                "integer" if words.is_none() => shape.integer = true,
                "number" if words.is_none() => shape.number = true,
                "string" => {
                    let pattern = map.str("pattern");
                    let spelling = pattern.as_deref().and_then(Spelling::of);
                    let ulid = pattern.as_deref().filter(|_| spelling.is_none()).map(ulid_prefix);
                    shape.string = Some(StringShape {
                        one_of: words.clone().map(|words| words.into_iter().flatten().collect()),
                        spelling,
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
        shape.told = Told::of(&map).map(Box::new);
        Some(shape)
    }

    fn anything() -> Self {
        Self { any: true, ..Self::nothing() }
    }

    /// No value is surely accepted, and nothing is told of one.
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
            by_type: None,
            told: None,
        }
    }
}

impl ObjectShape {
    pub(super) fn compile(map: &Object<'_>, document: Document<'_>) -> Option<Self> {
        let mut properties = Vec::new();
        for (name, schema) in map.object("properties").unwrap_or_default().iter() {
            let shape = match Shape::within_document(schema, document) {
                Some(shape) => shape,
                // Of an object with such a property, the full validator must say; of others it need not. (What is followed
                // through references may have no end.)
                None if !schema.text().contains("\"$ref\"") => Shape::nothing(),
                None => return None,
            };
            properties.push((name.to_owned(), shape));
        }
        if properties.len() > 64 {
            return None;
        }
        let (mut required, mut required_in_order) = (0u64, Vec::new());
        for name in map.items("required") {
            let name = name.str()?;
            let at = properties.iter().position(|(known, _)| *known == name)?;
            required |= 1 << at;
            required_in_order.push((at, missing(&name)?));
        }
        let rank = |name: &str| properties.iter().filter(|(other, _)| other.as_str() < name).count();
        let ranks = properties.iter().map(|(name, _)| rank(name)).collect();
        let rest = match map.get("additionalProperties") {
            _ if map.get("patternProperties").is_some() => {
                // What is said of others by their spelling is left to the full validator, so none of them is ever accepted.
                are_others(&map.object("patternProperties")?, &properties)?;
                Rest::Each(Box::new(Shape::nothing()))
            }
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
        let heads = properties.iter().map(|(name, shape)| Head::of(name, shape)).collect();
        Some(Self { properties, heads, keys, required, required_in_order, ranks, rest, variants })
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

/// `None` where it is not sure that none of these patterns is for one of the properties: that it begins otherwise.
fn are_others(patterns: &Object<'_>, properties: &[(String, Shape)]) -> Option<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    patterns.iter().try_for_each(|(pattern, _)| {
        let (front, behind) = pattern.strip_prefix('^')?.split_once('[')?;
        let is_sure = !front.is_empty() && front.chars().all(is_plain) && !behind.contains('|');
        (is_sure && !properties.iter().any(|(name, _)| name.starts_with(front))).then_some(())
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_means_the_document_of_its_place() {
        let base = "https://x.test/a/events/one.json";
        for (reference, id) in [
            ("two.json", "https://x.test/a/events/two.json"),
            ("../two.json", "https://x.test/a/two.json"),
            ("../sse/two.json", "https://x.test/a/sse/two.json"),
            ("../../two.json", "https://x.test/two.json"),
        ] {
            assert!(is_meant(id, base, reference), "{reference}");
            assert!(!is_meant("https://x.test/a/other/two.json", base, reference), "{reference}");
            assert!(!is_meant(&id.replace("two", "wo"), base, reference), "{reference}");
        }
        assert!(!is_meant("", "", "two.json"));
    }

    #[test]
    fn what_a_pattern_is_for_is_never_sure() {
        let shape = |pattern: &str| {
            let text = format!(
                r#"{{"type":"object","properties":{{"is_a":{{"type":"string"}}}},"required":["is_a"],
                    "patternProperties":{{"{pattern}":{{"type":"integer"}}}},"additionalProperties":false}}"#
            );
            Shape::compile(Json::parse(&text).unwrap())
        };
        let sure = shape("^at_[a-z]+$").unwrap();
        assert!(sure.accepts(r#"{"is_a":"x"}"#, &[]));
        for object in [r#"{"is_a":"x","at_b":1}"#, r#"{"is_a":"x","at_b":"1"}"#, r#"{"is_a":"x","c":1}"#, "{}"] {
            assert!(!sure.accepts(object, &[]), "{object}");
        }
        assert_eq!(sure.breaches(r#"{"is_a":"x","c":1}"#), None);
        assert_eq!(sure.breaches(r#"{"is_a":"x","at_b":"1"}"#), None);
        for pattern in ["^is_[a-z]+$", "^i[a-z_]+$", "at_[a-z]+$", "^[a-z]+$", "^at_x*[a-z]+$", "^at_[a-z]+$|a", "^at"]
        {
            assert!(shape(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn a_schema_is_made_of_others_and_of_their_definitions() {
        let others = [
            r#"{"$id":"https://x.test/a/word.json","$defs":{"it":{"type":"integer"}},"type":"string"}"#,
            r##"{"$id":"https://x.test/word.json","$defs":{"it":{"$ref":"#/$defs/deep"},"deep":{"type":"string"}},
                "type":"object","properties":{"deep":{"$ref":"#/$defs/deep"}}}"##,
        ]
        .map(|text| Json::parse(text).unwrap());
        let others = Documents::of(others);
        let schema = |reference: &str| {
            let id = "https://x.test/a/events/one.json";
            let text = format!(r#"{{"$id":"{id}","type":"object","properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            Shape::compile_with(Json::parse(&text).unwrap(), &others)
        };
        for (reference, valid, broken) in [
            ("../word.json", r#"{"a":"x"}"#, r#"{"a":1}"#),
            ("../word.json#/$defs/it", r#"{"a":1}"#, r#"{"a":"x"}"#),
            ("../../word.json#/$defs/it", r#"{"a":"x"}"#, r#"{"a":1}"#),
            ("../../word.json", r#"{"a":{"deep":"x"}}"#, r#"{"a":{"deep":1}}"#),
        ] {
            let shape = schema(reference).unwrap();
            assert!(shape.accepts(valid, &[]) && !shape.accepts(broken, &[]), "{reference}");
        }
        for missing in ["word.json", "../word.json#/$defs/other", "../word.json#/properties/a", "#"] {
            assert!(schema(missing).is_none(), "{missing}");
        }
    }
}
