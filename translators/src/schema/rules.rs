//! A fast validator that accepts certainly valid events directly from their text.
//!
//! Input: a JSON Schema, once; then JSON text that framegate wrote. Output: `true` if the text is certainly valid. Never:
//! `true` for an event that the schema rejects. `false` means unknown: the caller then asks the full validator, which also
//! gives the reasons.
//!
//! It knows the keywords that our schemas use. A schema with any other keyword has no [`Rules`], so all of its events go to the
//! full validator. If only a property has such a schema, the events with that property do.

mod by_type;
mod compile;
mod format;
mod variants;

use crate::json::scan::{Quoted, Scan};
use by_type::ByType;
pub use compile::Documents;
pub(super) use format::Format;
use format::{Spelling, is_ulid};
use std::ops::Range;
use variants::Variants;

/// The types of values, as a bit set.
pub(super) const NULL: u8 = 1;
pub(super) const BOOLEAN: u8 = 1 << 1;
pub(super) const INTEGER: u8 = 1 << 2;
/// Numbers that are not integers.
pub(super) const FRACTION: u8 = 1 << 3;
pub(super) const STRING: u8 = 1 << 4;
pub(super) const ARRAY: u8 = 1 << 5;
pub(super) const OBJECT: u8 = 1 << 6;
pub(super) const ALL_TYPES: u8 = (1 << 7) - 1;

/// A schema, compiled for reading along with a text.
#[derive(Debug)]
pub struct Rules {
    /// Every value is valid.
    pub(super) any: bool,
    pub(super) null: bool,
    pub(super) bool: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) string: Option<StringRules>,
    pub(super) array: Option<ArrayRules>,
    pub(super) object: Option<Box<ObjectRules>>,
    /// Rules by type of value, replacing all the fields above.
    pub(super) by_type: Option<ByType>,
    /// Bit set of types: all values of such a type have the same violations, if any.
    pub(super) same_for_all: u8,
}

#[derive(Clone, Debug, Default)]
pub(super) struct StringRules {
    pub(super) one_of: Option<Vec<String>>,
    pub(super) spelling: Option<Spelling>,
    pub(super) format: Option<Format>,
    /// The prefix of an id that is a ULID, including its `_`.
    pub(super) ulid: Option<String>,
    pub(super) min_length: usize,
}

#[derive(Debug)]
pub(super) struct ArrayRules {
    pub(super) items: Option<Box<Rules>>,
    pub(super) min_items: usize,
}

#[derive(Debug)]
pub(super) struct ObjectRules {
    pub(super) properties: Vec<(String, Rules)>,
    /// Each property's key as we write it: `"key":`.
    pub(super) keys: Vec<String>,
    /// Bit set of the required properties.
    pub(super) required: u64,
    /// What other properties are allowed.
    pub(super) rest: Rest,
    /// Additional rules for objects of one type.
    pub(super) variants: Option<Variants>,
}

#[derive(Debug)]
pub(super) enum Rest {
    Closed,
    Open,
    Each(Box<Rules>),
}

impl Rules {
    /// Whether the JSON text is certainly a valid event. The values at `known` are known to be complete.
    pub fn accepts(&self, text: &str, known: &[Range<usize>]) -> bool {
        let mut scan = Scan::knowing(text, known);
        self.reads(&mut scan) && scan.peek().is_none()
    }

    fn reads(&self, scan: &mut Scan<'_>) -> bool {
        if self.any {
            return scan.value().is_some();
        }
        if let Some(by_type) = &self.by_type {
            return by_type.read(scan);
        }
        match scan.peek() {
            Some(b'"') => match (&self.string, scan.string()) {
                (Some(rules), Some(text)) => rules.accepts(text),
                _ => false,
            },
            Some(b'{') => self.object.as_deref().is_some_and(|rules| rules.reads(scan)),
            Some(b'[') => self.array.as_ref().is_some_and(|rules| rules.reads(scan)),
            Some(b'n') => self.null && scan.value() == Some("null"),
            Some(b't' | b'f') => self.bool && matches!(scan.value(), Some("true" | "false")),
            Some(_) => scan.value().is_some_and(|number| self.is_number(number)),
            None => false,
        }
    }

    /// Bit set of the types whose values are all valid.
    pub(super) fn valid_types(&self) -> u8 {
        if self.any {
            return ALL_TYPES;
        }
        if let Some(by_type) = &self.by_type {
            return by_type.iter().fold(0, |all, (types, rules)| all | (types & rules.valid_types()));
        }
        let accepted = [
            (NULL, self.null),
            (BOOLEAN, self.bool),
            (INTEGER, self.integer || self.number),
            (FRACTION, self.number),
            (STRING, self.string.is_some()),
            (ARRAY, self.array.is_some()),
            (OBJECT, self.object.is_some()),
        ];
        let accepted = accepted.iter().filter(|(_, is)| *is).fold(0, |all, (of, _)| all | of);
        accepted & self.same_for_all
    }

    fn is_number(&self, text: &str) -> bool {
        let wanted = self.number || (self.integer && is_integer(text));
        let bounded = self.minimum.is_some() || self.maximum.is_some();
        wanted && (!bounded || text.parse().is_ok_and(|number: f64| self.within(number)))
    }

    fn within(&self, number: f64) -> bool {
        self.minimum.is_none_or(|bound| number >= bound) && self.maximum.is_none_or(|bound| number <= bound)
    }
}

/// Whether a number is an integer in any spelling. A number out of range parses as infinity and counts as an integer.
pub(super) fn is_integer(text: &str) -> bool {
    let is_spelled_so = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    is_spelled_so || text.parse().is_ok_and(|number: f64| number.is_infinite() || number.fract() == 0.0)
}

impl ArrayRules {
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

impl ObjectRules {
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
                    Some(key) => self.position(key.inner),
                },
            };
            match at.and_then(|at| self.properties.get(at).map(|(_, property)| (at, property))) {
                // If a key is repeated, every value is checked; the full validator would see only the last one.
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
                        Rest::Each(rules) => rules.reads(scan),
                    };
                    if !fits {
                        return false;
                    }
                }
            }
        }
        scan.take(b'}') && seen & self.required == self.required
    }

    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|(known, _)| known == name)
    }

    /// Whether every object is valid.
    pub(super) fn is_free(&self) -> bool {
        self.properties.is_empty() && self.required == 0 && matches!(self.rest, Rest::Open) && self.variants.is_none()
    }

    /// Consumes the expected key. We write properties in the schema's order, so it is the next property, or the one after it if
    /// that one is left out.
    fn due(&self, scan: &mut Scan<'_>, next: usize) -> Option<usize> {
        (next..next + 2).find(|&at| self.keys.get(at).is_some_and(|key| scan.literal(key.as_bytes())))
    }
}

impl StringRules {
    /// Whether a string is unconstrained except for its minimum length.
    pub(super) fn is_free(&self) -> bool {
        self.one_of.is_none() && self.spelling.is_none() && self.format.is_none() && self.ulid.is_none()
    }

    fn accepts(&self, text: Quoted<'_>) -> bool {
        let is_long_enough = self.min_length == 0 || (self.min_length == 1 && !text.inner.is_empty());
        if self.is_free() && is_long_enough {
            return true;
        }
        // Strings with escapes are left to the full validator.
        let (text, escaped) = (text.inner, text.escaped);
        !escaped && self.accepts_plain(text)
    }

    /// Whether a string without escapes is valid.
    pub(super) fn accepts_plain(&self, text: &str) -> bool {
        self.one_of.as_ref().is_none_or(|words| words.iter().any(|word| word == text))
            && self.spelling.as_ref().is_none_or(|spelling| spelling.accepts(text))
            && self.is_formed(text)
    }

    /// Checks everything except the allowed words and the pattern.
    fn is_formed(&self, text: &str) -> bool {
        self.format.is_none_or(|format| format.accepts(text))
            && self.ulid.as_deref().is_none_or(|prefix| text.strip_prefix(prefix).is_some_and(is_ulid))
            && (self.min_length == 0 || text.chars().take(self.min_length).count() == self.min_length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use serde_json::json;

    #[test]
    fn accepted_texts_are_valid_for_the_full_validator() {
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
        let rules = Rules::compile(Json::parse(&text).unwrap()).unwrap();
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
            assert_eq!(rules.accepts(&text, &[]), expected, "{text}");
            assert_eq!(full.is_valid(&event), expected, "{text}");
        }
    }

    #[test]
    fn a_property_with_an_unknown_keyword_is_left_to_the_full_validator() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"array","uniqueItems":true},"b":{"type":"null"}}}"#;
        let rules = Rules::compile(Json::parse(schema).unwrap()).unwrap();
        assert!(rules.accepts(r#"{"b":null}"#, &[]));
        assert!(!rules.accepts(r#"{"b":1}"#, &[]));
        for event in [r#"{"a":[1,1]}"#, r#"{"a":[1,2]}"#, r#"{"a":[1,1],"b":1}"#] {
            assert!(!rules.accepts(event, &[]));
        }
    }

    #[test]
    fn a_schema_with_an_unknown_keyword_has_no_rules() {
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
            assert!(Rules::compile(Json::parse(schema).unwrap()).is_none(), "{schema}");
        }
    }
}
