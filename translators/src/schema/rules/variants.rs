//! Rules by an object's type field: `allOf` of branches whose `if` compares the type with a text and whose `then` is a schema.
//!
//! Input: such a list, once; then objects. Output: whether an object certainly conforms to the rules for its type. Never: a
//! verdict if its type is uncertain.

use super::Rules;
use super::compile::Document;
use crate::json::scan::{Scan, mark};
use crate::json::{Fields, Json, Object};

#[derive(Debug)]
pub(in super::super) struct Variants {
    /// The field with the type.
    key: String,
    branches: Vec<Branch>,
}

#[derive(Debug)]
struct Branch {
    text: String,
    /// The condition also requires the field to be present.
    needs_presence: bool,
    then: Rules,
}

/// The type field of an object.
enum Discriminator<'a> {
    Absent,
    Text(&'a str),
    /// The value is not a string, so it matches no branch.
    NotText,
}

impl Variants {
    /// Compiles the list; `None` for any other use of `allOf`.
    pub(super) fn compile(list: Json<'_>, document: Document<'_>) -> Option<Self> {
        let mut this = Self { key: String::new(), branches: Vec::new() };
        for branch in list.items() {
            let branch = branch.object()?;
            let (key, text, needs_presence) = condition(&branch.object("if")?)?;
            if branch.len() != 2 || !(this.key.is_empty() || this.key == key) {
                return None;
            }
            this.key = key;
            let then = Rules::within_document(branch.get("then")?, document)?;
            this.branches.push(Branch { text, needs_presence, then });
        }
        (!this.key.is_empty()).then_some(this)
    }

    /// Whether the object at this place conforms to the rules for its type.
    pub(super) fn read(&self, object: Scan<'_>) -> bool {
        let Some(discriminator) = self.discriminator(object) else { return false };
        self.matching(&discriminator).all(|then| then.reads(&mut object.clone()))
    }

    /// The field with the type.
    pub(in super::super) fn key(&self) -> &str {
        &self.key
    }

    /// The rules for objects whose type is that word.
    pub(in super::super) fn of_word<'s>(&'s self, word: &'s str) -> impl Iterator<Item = &'s Rules> {
        self.branches.iter().filter(move |branch| branch.text == word).map(|branch| &branch.then)
    }

    /// The rules of all branches.
    pub(super) fn branches(&self) -> impl Iterator<Item = &Rules> {
        self.branches.iter().map(|branch| &branch.then)
    }

    /// The rules of one branch.
    pub(in super::super) fn branch(&self, at: usize) -> Option<&Rules> {
        self.branches.get(at).map(|branch| &branch.then)
    }

    /// The branches that apply to a parsed object; `None` if that is uncertain.
    pub(in super::super) fn branches_in(&self, fields: Fields<'_, '_>) -> Option<Vec<usize>> {
        let discriminator = self.discriminator_in(fields)?;
        let holds = self.branches.iter().enumerate().filter(|(_, branch)| branch.holds(&discriminator));
        Some(holds.map(|(at, _)| at).collect())
    }

    fn discriminator_in<'a>(&self, fields: Fields<'_, 'a>) -> Option<Discriminator<'a>> {
        let mut types = fields.iter().filter(|(key, ..)| **key == *self.key);
        Some(match (types.next(), types.next()) {
            (_, Some(_)) => return None,
            (None, None) => Discriminator::Absent,
            (Some((_, value, _)), None) => match value.quoted() {
                Some(text) if mark(text.as_bytes()).is_some() => return None,
                Some(text) => Discriminator::Text(text),
                None => Discriminator::NotText,
            },
        })
    }

    fn matching<'s>(&'s self, discriminator: &Discriminator<'_>) -> impl Iterator<Item = &'s Rules> {
        self.branches.iter().filter(move |branch| branch.holds(discriminator)).map(|branch| &branch.then)
    }

    /// `None` if uncertain: a repeated type field (the last one counts), or an escape in a key or text.
    fn discriminator<'a>(&self, object: Scan<'a>) -> Option<Discriminator<'a>> {
        let mut fields = object;
        let mut discriminator = Discriminator::Absent;
        while let Some(key) = fields.key() {
            if key.escaped {
                return None;
            }
            if key.inner != self.key {
                fields.value()?;
            } else if !matches!(discriminator, Discriminator::Absent) {
                return None;
            } else if fields.peek() == Some(b'"') {
                discriminator = Discriminator::Text(fields.string().filter(|text| !text.escaped)?.inner);
            } else {
                fields.value()?;
                discriminator = Discriminator::NotText;
            }
        }
        Some(discriminator)
    }
}

impl Branch {
    fn holds(&self, discriminator: &Discriminator<'_>) -> bool {
        match discriminator {
            Discriminator::Absent => !self.needs_presence,
            Discriminator::Text(text) => self.text == *text,
            Discriminator::NotText => false,
        }
    }
}

/// `{"properties": {KEY: {"const": WORD}}}`, with or without `"required": [KEY]`.
fn condition(when: &Object<'_>) -> Option<(String, String, bool)> {
    let properties = when.object("properties")?;
    let (key, schema) = properties.iter().next().filter(|_| properties.len() == 1)?;
    let schema = schema.object().filter(|schema| schema.len() == 1)?;
    let text = schema.str("const")?;
    let requires_it = || {
        let required = when.items("required");
        required.len() == 1 && required.iter().all(|name| name.str().as_deref() == Some(key))
    };
    let needs_presence = when.len() == 2;
    (when.len() == 1 || (needs_presence && requires_it())).then(|| (key.to_owned(), text.into_owned(), needs_presence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn definitions_maps_and_variants_are_followed() {
        let schema = json!({
            "type": "object", "required": ["type", "parts"], "additionalProperties": false,
            "properties": {
                "type": {"const": "m"}, "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
                "by": {"type": "object", "additionalProperties": {"$ref": "#/$defs/count"}},
                "maybe": {"type": ["object", "null"], "if": {"type": "object"}, "then": {"$ref": "#/$defs/count"}}
            },
            "$defs": {
                "count": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}},
                "part": {
                    "type": "object", "required": ["type"], "properties": {"type": {"enum": ["a", "b", "c"]}},
                    "allOf": [
                        {"if": {"properties": {"type": {"const": "a"}}}, "then": {"$ref": "#/$defs/a"}},
                        {"if": {"required": ["type"], "properties": {"type": {"const": "b"}}}, "then": {"required": ["x"], "properties": {"x": {"type": "null"}}}}
                    ]
                },
                "a": {"type": "object", "additionalProperties": false, "properties": {"type": {"const": "a"}, "in": {"type": "array", "items": {"type": "string"}}}}
            }
        });
        let text = schema.to_string();
        let rules = Rules::compile(Json::parse(&text).unwrap()).unwrap();
        let full = jsonschema::draft202012::options().build(&schema).unwrap();
        for (part, expected) in [
            (json!({"type": "a", "in": ["x"]}), true),
            (json!({"in": ["x"], "type": "a"}), true),
            (json!({"type": "a", "in": [1]}), false),
            (json!({"type": "a", "more": 1}), false),
            (json!({"type": "b", "x": null, "more": 1}), true),
            (json!({"type": "b"}), false),
            (json!({"type": "c", "any": 1}), true),
            (json!({"type": "d"}), false),
            (json!({}), false),
            (json!(1), false),
        ] {
            let event = json!({"type": "m", "parts": [{"type": "c"}, part], "by": {"k": {"n": 1}}});
            assert_eq!(rules.accepts(&event.to_string(), &[]), expected, "{event}");
            assert_eq!(full.is_valid(&event), expected, "{event}");
        }
        for (maybe, expected) in [(json!(null), true), (json!({"n": 1}), true), (json!({}), false), (json!("x"), false)]
        {
            let event = json!({"type": "m", "parts": [], "maybe": maybe});
            assert_eq!(rules.accepts(&event.to_string(), &[]), expected, "{event}");
            assert_eq!(full.is_valid(&event), expected, "{event}");
        }
        for (by, expected) in [(json!({}), true), (json!({"k": {"n": "1"}}), false), (json!({"k": 1}), false)] {
            let event = json!({"type": "m", "parts": [], "by": by});
            assert_eq!(rules.accepts(&event.to_string(), &[]), expected, "{event}");
            assert_eq!(full.is_valid(&event), expected, "{event}");
        }
    }

    #[test]
    fn an_object_with_a_repeated_type_is_left_to_the_full_validator() {
        let schema = r#"{"type":"object","properties":{"type":{"enum":["a","b"]}},"allOf":[{"if":{"properties":{"type":{"const":"a"}}},"then":{"properties":{"x":{"type":"null"}}}}]}"#;
        let rules = Rules::compile(Json::parse(schema).unwrap()).unwrap();
        assert!(rules.accepts(r#"{"type":"b","x":1}"#, &[]));
        // The full validator uses the last one.
        assert!(!rules.accepts(r#"{"type":"b","type":"a","x":1}"#, &[]));
        assert!(!rules.accepts(r#"{"type":"a","type":"b","x":1}"#, &[]));
    }
}
