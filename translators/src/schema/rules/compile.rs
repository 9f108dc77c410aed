//! Compiles a schema into [`Rules`].
//!
//! Input: a JSON Schema and the documents that it refers to. Output: its rules. Never: rules that ignore a keyword, because
//! the reader does not know it or does not expect it there. A property with such a schema is never accepted.

use super::by_type::ByType;
use super::format::{Format, Spelling};
use super::variants::Variants;
use super::{ALL_TYPES, ARRAY, ArrayRules, FRACTION, INTEGER, OBJECT, ObjectRules, Rest, Rules, STRING, StringRules};
use crate::json::{Json, Kind, Object};
use std::borrow::Cow;

/// Maximum depth of references between definitions.
const MAX_REFS: usize = 12;

/// The document that contains a schema.
#[derive(Clone, Copy)]
pub(super) struct Document<'d> {
    own: &'d Read<'d>,
    /// Other documents that it may refer to.
    others: &'d [Read<'d>],
    left: usize,
}

/// Documents that schemas may refer to, parsed once for all of them.
#[derive(Default)]
pub struct Documents<'d>(Vec<Read<'d>>);

impl<'d> Documents<'d> {
    /// Indexes these documents by their `$id`.
    pub fn of(documents: impl IntoIterator<Item = Json<'d>>) -> Self {
        Self(documents.into_iter().map(Read::of).collect())
    }
}

/// The parts of a document that references need.
struct Read<'d> {
    /// Its `$id`; "" if it has none.
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
    /// The target of a reference and its document; `None` if that is uncertain.
    fn find(self, reference: &str) -> Option<(Json<'d>, Self)> {
        // The rules of a recursive definition would be infinite.
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

/// Whether a relative reference in the document with `$id` `base` resolves to `id`.
fn is_meant(id: &str, base: &str, mut reference: &str) -> bool {
    let folder = |of: &str| of.rfind('/').map_or(0, |end| end);
    let mut base = &base[..folder(base)];
    while let Some(rest) = reference.strip_prefix("../") {
        (base, reference) = (&base[..folder(base)], rest);
    }
    id.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')) == Some(reference)
}

/// Keywords without effect on validity.
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
    "anyOf",
    "if",
    "then",
];

/// The rest of the only `pattern` for ids that this reader knows, after the prefix: `^run_[…]{26}$`.
const ULID_PATTERN: &str = "_[0-9A-HJKMNP-TV-Z]{26}$";

impl Rules {
    /// Compiles a schema; `None` if it uses something that this reader does not know.
    ///
    /// It is read as text, because a DOM would lose the order of the properties.
    pub fn compile(schema: Json<'_>) -> Option<Self> {
        Self::compile_with(schema, &Documents::default())
    }

    /// Compiles a schema that may refer to others and to their definitions by `$id`.
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
        let mut rules = Self::nothing();
        if map.get("allOf").is_some() && keywords().count() == 2 {
            rules.by_type = ByType::compile(&map, document);
            if let Some(by_type) = &rules.by_type {
                let all = by_type.iter();
                rules.same_for_all = all.fold(ALL_TYPES, |same, (types, rules)| same & (!types | rules.same_for_all));
                return Some(rules);
            }
        }
        let words = words_of(&map)?;
        let bare = map.get("anyOf");
        if bare.is_some() && keywords().count() > 1 {
            return None;
        }
        let types: Vec<Cow<'_, str>> = match map.get("type") {
            None if bare.is_some() => bare?.items().into_iter().map(bare_type).collect::<Option<_>>()?,
            Some(word) if word.kind() == Kind::String => vec![word.str()?],
            Some(list) => list.items().into_iter().map(Json::str).collect::<Option<_>>()?,
            None if words.is_some() => vec![Cow::Borrowed("string"), Cow::Borrowed("null")],
            // Values that are not objects would be valid too; the full validator handles those.
            None if map.get("properties").is_some() || map.get("required").is_some() => vec![Cow::Borrowed("object")],
            None => return None,
        };
        // For a value that is not an object, every condition of `allOf` is true.
        if map.get("allOf").is_some() && types != ["object"] {
            return None;
        }
        for word in types {
            match &*word {
                "null" => rules.null = words.as_ref().is_none_or(|words| words.contains(&None)),
                "boolean" if words.is_none() => rules.bool = true,
                "integer" if words.is_none() => rules.integer = true,
                "number" if words.is_none() => rules.number = true,
                "string" => {
                    let pattern = map.str("pattern");
                    let spelling = pattern.as_deref().and_then(Spelling::of);
                    let ulid = pattern.as_deref().filter(|_| spelling.is_none()).map(ulid_prefix);
                    rules.string = Some(StringRules {
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
                    rules.array = Some(ArrayRules { items, min_items: count_of(&map, "minItems")? });
                }
                "object" if map.get("if").is_some() => rules.object = Some(object_where_it_is_one(&map, document)?),
                "object" if words.is_none() => rules.object = Some(Box::new(ObjectRules::compile(&map, document)?)),
                _ => return None,
            }
        }
        let of_objects = ["allOf", "if", "then"];
        if of_objects.iter().any(|keyword| map.get(keyword).is_some()) && rules.object.is_none() {
            return None;
        }
        rules.minimum = bound_of(&map, "minimum")?;
        rules.maximum = bound_of(&map, "maximum")?;
        rules.same_for_all = same_for_all(&map, &rules);
        Some(rules)
    }

    fn anything() -> Self {
        Self { any: true, same_for_all: ALL_TYPES, ..Self::nothing() }
    }

    /// Accepts nothing, although the schema may: the full validator decides.
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
            same_for_all: 0,
        }
    }
}

impl ObjectRules {
    pub(super) fn compile(map: &Object<'_>, document: Document<'_>) -> Option<Self> {
        let mut properties = Vec::new();
        for (name, schema) in map.object("properties").unwrap_or_default().iter() {
            let rules = match Rules::within_document(schema, document) {
                Some(rules) => rules,
                // The full validator decides about objects with such a property; other objects do not need it. (A schema with
                // references may be recursive, so it is not followed.)
                None if !schema.text().contains("\"$ref\"") => Rules::nothing(),
                None => return None,
            };
            properties.push((name.to_owned(), rules));
        }
        if properties.len() > 64 {
            return None;
        }
        let mut required = 0u64;
        for name in map.items("required") {
            let name = name.str()?;
            required |= 1 << properties.iter().position(|(known, _)| *known == name)?;
        }
        let rest = match map.get("additionalProperties") {
            _ if map.get("patternProperties").is_some() => {
                // The rules of `patternProperties` are left to the full validator, so no additional property is accepted.
                are_others(&map.object("patternProperties")?, &properties)?;
                Rest::Each(Box::new(Rules::nothing()))
            }
            None => Rest::Open,
            Some(allowed) if allowed.bool() == Some(false) => Rest::Closed,
            Some(allowed) => match Rules::within_document(allowed, document)? {
                rules if rules.any => Rest::Open,
                rules => Rest::Each(Box::new(rules)),
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

/// The types whose values are all treated alike: no keyword looks at more of them than their type.
fn same_for_all(map: &Object<'_>, rules: &Rules) -> u8 {
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| map.get(keyword).is_some());
    // Every condition is true for a value that is not an object.
    let variants = rules.object.as_ref().and_then(|object| object.variants.as_ref());
    let branches = variants.into_iter().flat_map(Variants::branches);
    let in_branches = branches.fold(ALL_TYPES, |all, branch| all & branch.same_for_all);
    let is_free_object = rules.object.as_deref().is_some_and(ObjectRules::is_free);
    let is_free_array = rules.array.as_ref().is_some_and(|array| array.items.is_none() && array.min_items == 0);
    [
        (
            OBJECT,
            !is_free_object
                && has(&["properties", "required", "additionalProperties", "patternProperties", "if", "allOf"]),
        ),
        (ARRAY, !is_free_array && has(&["items", "minItems"])),
        (STRING, has(&["enum", "const", "pattern", "format", "minLength"])),
        (INTEGER | FRACTION, has(&["minimum", "maximum"])),
    ]
    .into_iter()
    .fold(in_branches, |all, (types, differ)| if differ { all & !types } else { all })
}

/// The rules for objects from `"if": {"type": "object"}, "then": …`, which is how a schema describes "an object or null".
fn object_where_it_is_one(map: &Object<'_>, document: Document<'_>) -> Option<Box<ObjectRules>> {
    let when = map.object("if")?;
    let is_simple = when.len() == 1 && when.str("type").as_deref() == Some("object");
    let elsewhere = ["properties", "required", "additionalProperties", "allOf", "enum", "const"];
    if !is_simple || elsewhere.iter().any(|keyword| map.get(keyword).is_some()) {
        return None;
    }
    Rules::within_document(map.get("then")?, document)?.object
}

/// `None` unless it is certain that none of these patterns matches a known property, because the beginnings differ.
fn are_others(patterns: &Object<'_>, properties: &[(String, Rules)]) -> Option<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    patterns.iter().try_for_each(|(pattern, _)| {
        let (front, behind) = pattern.strip_prefix('^')?.split_once('[')?;
        let is_sure = !front.is_empty() && front.chars().all(is_plain) && !behind.contains('|');
        (is_sure && !properties.iter().any(|(name, _)| name.starts_with(front))).then_some(())
    })
}

/// The values of `enum` or `const`, if all are strings or null; `Some(None)` if neither keyword is present.
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

/// The type of a branch of `anyOf` that contains nothing else.
fn bare_type(branch: Json<'_>) -> Option<Cow<'_, str>> {
    let branch = branch.object()?;
    branch.str("type").filter(|_| branch.len() == 1).map(|name| Cow::Owned(name.into_owned()))
}

/// A count; 0 if the keyword is absent, `None` if its value is not a count.
fn count_of(map: &Object<'_>, keyword: &str) -> Option<usize> {
    map.get(keyword).map_or(Some(0), |count| usize::try_from(count.u64()?).ok())
}

/// The prefix that a pattern for ids requires; `None` if it is another pattern.
fn ulid_prefix(pattern: &str) -> Option<String> {
    let prefix = pattern.strip_prefix('^')?.strip_suffix(ULID_PATTERN)?;
    prefix.bytes().all(|byte| byte.is_ascii_lowercase()).then(|| format!("{prefix}_"))
}

/// A bound; `Some(None)` if the keyword is absent.
#[allow(clippy::option_option, reason = "absent, unreadable and present differ")]
fn bound_of(map: &Object<'_>, keyword: &str) -> Option<Option<f64>> {
    map.get(keyword).map_or(Some(None), |bound| bound.f64().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_within_their_document() {
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
    fn values_with_patterns_are_left_to_the_full_validator() {
        let rules = |pattern: &str| {
            let text = format!(
                r#"{{"type":"object","properties":{{"is_a":{{"type":"string"}}}},"required":["is_a"],
                    "patternProperties":{{"{pattern}":{{"type":"integer"}}}},"additionalProperties":false}}"#
            );
            Rules::compile(Json::parse(&text).unwrap())
        };
        let sure = rules("^at_[a-z]+$").unwrap();
        assert!(sure.accepts(r#"{"is_a":"x"}"#, &[]));
        for object in [r#"{"is_a":"x","at_b":1}"#, r#"{"is_a":"x","at_b":"1"}"#, r#"{"is_a":"x","c":1}"#, "{}"] {
            assert!(!sure.accepts(object, &[]), "{object}");
        }
        for pattern in ["^is_[a-z]+$", "^i[a-z_]+$", "at_[a-z]+$", "^[a-z]+$", "^at_x*[a-z]+$", "^at_[a-z]+$|a", "^at"]
        {
            assert!(rules(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn schemas_may_refer_to_others_and_their_definitions() {
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
            Rules::compile_with(Json::parse(&text).unwrap(), &others)
        };
        for (reference, valid, broken) in [
            ("../word.json", r#"{"a":"x"}"#, r#"{"a":1}"#),
            ("../word.json#/$defs/it", r#"{"a":1}"#, r#"{"a":"x"}"#),
            ("../../word.json#/$defs/it", r#"{"a":"x"}"#, r#"{"a":1}"#),
            ("../../word.json", r#"{"a":{"deep":"x"}}"#, r#"{"a":{"deep":1}}"#),
        ] {
            let rules = schema(reference).unwrap();
            assert!(rules.accepts(valid, &[]) && !rules.accepts(broken, &[]), "{reference}");
        }
        for missing in ["word.json", "../word.json#/$defs/other", "../word.json#/properties/a", "#"] {
            assert!(schema(missing).is_none(), "{missing}");
        }
    }
}
