//! The full validator's messages for violations of a schema, built once.
//!
//! Input: a schema's keywords. Output: a message for each, and the checks of the keywords that apply to values of every type.
//! Never: a value in a message.

use super::found::{Found, Place};
use crate::json::scan::Quoted;
use crate::json::{Json, Object};
use std::fmt::Write;

/// For an `enum` with more values than this, the message lists the first ones and a count of the others.
const NAMED: usize = 3;

/// The types of values, in the order in which a message lists them.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
pub(super) const NULL: u8 = 1;
pub(super) const BOOLEAN: u8 = 1 << 1;
pub(super) const INTEGER: u8 = 1 << 2;
pub(super) const NUMBER: u8 = 1 << 3;
pub(super) const STRING: u8 = 1 << 4;
pub(super) const ARRAY: u8 = 1 << 5;
pub(super) const OBJECT: u8 = 1 << 6;
/// All types.
pub(super) const TYPES_KNOWN: u8 = (1 << 7) - 1;

/// The messages for violations of a schema.
#[derive(Debug)]
pub(super) struct Told {
    types: Option<Types>,
    pub(super) words: Option<Words>,
    /// For a string that `pattern` rejects.
    pub(super) misspelt: Option<String>,
    /// For a string shorter than `minLength`.
    pub(super) too_short: String,
    /// For an array with fewer items than `minItems`.
    pub(super) too_few: String,
    /// For a number below `minimum`.
    pub(super) too_small: String,
    /// For a number above `maximum`.
    pub(super) too_large: String,
    /// The schema has `allOf`; its conditions are all true for a value that is not an object.
    pub(super) has_branches: bool,
}

/// `type`.
#[derive(Debug)]
struct Types {
    allowed: u8,
    message: String,
}

/// `enum` or `const`.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<String>,
    null: bool,
    keyword: &'static str,
    message: String,
}

impl Told {
    /// Builds the messages of a schema; `None` if it has keywords for types that it does not allow.
    pub(super) fn of(map: &Object<'_>) -> Option<Self> {
        // The full validator reports each branch.
        if map.get("anyOf").is_some() {
            return None;
        }
        let types = map.get("type").map(Types::of);
        let words = Words::of(map)?;
        let reached = match (&types, &words) {
            (Some(types), _) => types.as_ref()?.allowed,
            (None, Some(_)) => 0,
            (None, None) => OBJECT,
        };
        let has = |keywords: &[&str]| keywords.iter().any(|keyword| map.get(keyword).is_some());
        let all_are_reached = [
            (OBJECT, &["properties", "required", "additionalProperties", "if", "then"][..]),
            (ARRAY, &["items", "minItems"]),
            (STRING, &["pattern", "format", "minLength"]),
            (NUMBER | INTEGER, &["minimum", "maximum"]),
        ]
        .into_iter()
        .all(|(kind, keywords)| reached & kind != 0 || !has(keywords));
        let misspelt = map.str("pattern").map(|pattern| format!("value does not match \"{pattern}\""));
        let has_branches = map.get("allOf").is_some();
        let least = |keyword: &str, compared: &str, unit: &str| {
            let least = map.get(keyword).and_then(Json::u64).unwrap_or_default();
            format!("value {compared} than {least} {unit}{}", if least == 1 { "" } else { "s" })
        };
        // The bound in the full validator's spelling, which may differ from the schema's.
        let bound = |keyword: &str, compared: &str| {
            let bound =
                map.get(keyword).map_or(Ok(serde_json::Value::Null), |bound| serde_json::from_str(bound.text()));
            bound.map(|bound| format!("value is {compared} than the {keyword} of {bound}")).ok()
        };
        let this = Self {
            types: types.flatten(),
            words,
            misspelt,
            too_short: least("minLength", "is shorter", "character"),
            too_few: least("minItems", "has less", "item"),
            too_small: bound("minimum", "less")?,
            too_large: bound("maximum", "greater")?,
            has_branches,
        };
        all_are_reached.then_some(this)
    }

    /// The subset of `types` for which `type`, `enum` and `const` accept every value.
    pub(super) fn all_of(&self, types: u8) -> u8 {
        let allowed = self.types.as_ref().map_or(TYPES_KNOWN, |types| types.allowed);
        let said = match &self.words {
            None => TYPES_KNOWN,
            Some(words) if words.null => NULL,
            Some(_) => 0,
        };
        types & allowed & said
    }

    /// Checks the keywords that apply to values of every type.
    pub(super) fn basics<'s>(
        &'s self,
        kind: u8,
        text: Option<Quoted<'_>>,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        if let Some(types) = &self.types
            && types.allowed & kind == 0
        {
            found.push(place, "type", &*types.message)?;
        }
        let Some(words) = &self.words else { return Some(()) };
        let fits = match text {
            Some(text) if text.escaped => return None,
            Some(text) => words.words.iter().any(|word| word == text.inner),
            None => words.null && kind == NULL,
        };
        if fits { Some(()) } else { found.push(place, words.keyword, &*words.message) }
    }
}

impl Types {
    fn of(list: Json<'_>) -> Option<Self> {
        let names = match list.str() {
            Some(one) => vec![one],
            None => list.items().into_iter().map(Json::str).collect::<Option<_>>()?,
        };
        let allowed = names
            .iter()
            .try_fold(0, |bits, name| TYPES.iter().position(|known| known == name).map(|at| bits | 1 << at))?;
        let mut named = TYPES.iter().enumerate().filter(|(at, _)| allowed & 1 << at != 0).map(|(_, name)| name);
        let mut message = format!("value is not of type{} ", if names.len() == 1 { "" } else { "s" });
        write!(message, "\"{}\"", named.next()?).ok()?;
        named.try_for_each(|name| write!(message, ", \"{name}\"")).ok()?;
        Some(Self { allowed, message })
    }
}

impl Words {
    /// `Some(None)` if neither keyword is present, `None` if a value is neither a string nor null.
    #[allow(clippy::option_option, reason = "absent, unreadable and present differ")]
    fn of(map: &Object<'_>) -> Option<Option<Self>> {
        let (keyword, values) = match (map.get("enum"), map.get("const")) {
            (None, None) => return Some(None),
            (Some(list), None) => ("enum", list.items()),
            (None, Some(value)) => ("const", vec![value]),
            (Some(_), Some(_)) => return None,
        };
        let mut this = Self { words: Vec::new(), null: false, keyword, message: String::new() };
        let mut shown = Vec::new();
        for value in values {
            match value.str() {
                Some(word) => {
                    shown.push(serde_json::to_string(&word).ok()?);
                    this.words.push(word.into_owned());
                }
                None if value.is_null() => {
                    shown.push("null".to_owned());
                    this.null = true;
                }
                None => return None,
            }
        }
        this.message =
            if keyword == "const" { format!("{} was expected", shown.first()?) } else { not_one_of(&shown)? };
        Some(Some(this))
    }
}

/// The message for a missing required property.
pub(super) fn missing(name: &str) -> Option<String> {
    serde_json::to_string(name).ok().map(|name| format!("{name} is a required property"))
}

fn not_one_of(shown: &[String]) -> Option<String> {
    let others = shown.len().checked_sub(NAMED).filter(|more| *more > 0).map(|more| more + 1);
    Some(match (shown, others) {
        ([first, second, ..], Some(others)) => {
            format!("value is not one of {first}, {second} or {others} other candidates")
        }
        ([one], None) => format!("value is not one of {one}"),
        ([all @ .., last], None) => format!("value is not one of {} or {last}", all.join(", ")),
        _ => return None,
    })
}
