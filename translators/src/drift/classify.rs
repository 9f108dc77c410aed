//! Interprets a schema violation as drift of the runner's output.
//!
//! Input: one of the validator's errors. Output: the kinds of drift in it, each with its place. Never: a place that depends on
//! the data: an array index or a map key becomes `*`.

use super::finding::{DriftKey, short};
use crate::frame::DriftKind;
use crate::schema::ValidationError;
use framegate_validator::{TypeKind, ValidationErrorKind as Broken};
use serde_json::Value;

/// Fields that name an object's kind: an unknown word there means an unknown kind.
const DISCRIMINATORS: &[&str] = &["type", "subtype", "kind", "method", "object"];

/// The relevant errors: if an object lacks its type, the errors of all its alternatives are dropped.
pub(super) fn relevant(mut errors: Vec<ValidationError<'_>>) -> Vec<ValidationError<'_>> {
    let is_untyped = |error: &ValidationError<'_>| match error.kind() {
        Broken::Required { property } => property.as_str().is_some_and(|name| DISCRIMINATORS.contains(&name)),
        _ => false,
    };
    let untyped: Vec<(String, String)> = errors
        .iter()
        .filter(|error| is_untyped(error))
        .filter_map(|error| {
            let union = error.evaluation_path().as_str().strip_suffix("required")?;
            Some((error.instance_path().as_str().to_owned(), format!("{union}allOf/")))
        })
        .collect();
    errors.retain(|error| {
        let (place, way) = (error.instance_path().as_str(), error.evaluation_path().as_str());
        !untyped.iter().any(|(object, union)| place.starts_with(object) && way.starts_with(union))
    });
    errors
}

/// Reports each drift.
pub(super) fn each(error: &ValidationError<'_>, record_kind: &str, sink: &mut dyn FnMut(DriftKey, String)) {
    let place = place(error);
    let mut report = |kind, pointer: String, word, expected| {
        sink(DriftKey { kind, record_kind: short(record_kind), pointer, word }, expected);
    };
    match error.kind() {
        Broken::AdditionalProperties { unexpected } | Broken::UnevaluatedProperties { unexpected } => {
            for name in unexpected {
                report(DriftKind::UnknownField, below(&place, name), None, "the schema has no such field".to_owned());
            }
        }
        Broken::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            report(DriftKind::MissingField, below(&place, name), None, "the schema requires the field".to_owned());
        }
        Broken::Type { kind } => {
            let expected = match kind {
                TypeKind::Single(one) => one.to_string(),
                TypeKind::Multiple(several) => {
                    several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            report(DriftKind::ChangedType, place, None, format!("{} instead of {expected}", type_of(error.instance())));
        }
        Broken::AnyOf { context } | Broken::OneOfNotValid { context } => match nearest(error, context) {
            Some(branch) => branch.iter().for_each(|error| each(error, record_kind, sink)),
            None => {
                let expected = format!("{} is not one of the known types", type_of(error.instance()));
                report(DriftKind::ChangedType, place, None, expected);
            }
        },
        // The schema forbids this field.
        Broken::FalseSchema => report(DriftKind::UnknownField, place, None, "the schema has no such field".to_owned()),
        _ => {
            let is_kind = place.rsplit('/').next().is_some_and(|name| DISCRIMINATORS.contains(&name));
            let kind = if is_kind { DriftKind::UnknownType } else { DriftKind::UnknownValue };
            let expected = match error.kind() {
                Broken::Enum { options } => known_words(options),
                Broken::Constant { expected_value } => known_words(expected_value),
                Broken::Pattern { .. } => "it does not match the known pattern".to_owned(),
                kind => format!("it violates the schema's {:?}", kind.keyword()),
            };
            report(kind, place, word(error.instance()), expected);
        }
    }
}

/// The alternative that the value was probably meant to match: among those whose type fits, the one with the fewest errors.
fn nearest<'e, 'v>(
    error: &ValidationError<'_>,
    context: &'e [Vec<ValidationError<'v>>],
) -> Option<&'e [ValidationError<'v>]> {
    let here = error.instance_path();
    let fits = |branch: &&Vec<ValidationError<'_>>| {
        !branch.iter().any(|error| matches!(error.kind(), Broken::Type { .. }) && error.instance_path() == here)
    };
    context.iter().filter(fits).min_by_key(|branch| branch.len()).map(Vec::as_slice)
}

/// Lists the known words, up to a limit.
fn known_words(options: &Value) -> String {
    let all: Vec<String> = match options {
        Value::Array(list) => list.iter().map(ToString::to_string).collect(),
        one => vec![one.to_string()],
    };
    let shown = all.iter().take(12).cloned().collect::<Vec<_>>().join(", ");
    match all.len().checked_sub(12) {
        Some(more) if more > 0 => format!("known values: {shown} and {more} more"),
        _ => format!("known values: {shown}"),
    }
}

/// A value that may be reported: only a short word, like a name of a kind or state.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | ':' | '/');
    ((1..=64).contains(&text.len()) && text.chars().all(is_plain)).then(|| text.to_owned())
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn below(place: &str, name: &str) -> String {
    format!("{place}/{}", short(name).replace('~', "~0").replace('/', "~1"))
}

/// The place as the schema names it.
///
/// The path through the schema distinguishes fields, which have names there, from items and map keys, which have none.
fn place(error: &ValidationError<'_>) -> String {
    let depth = error.instance_path().as_str().matches('/').count();
    let (mut place, mut at) = (String::new(), 0);
    let mut way = error.evaluation_path().as_str().split('/').skip(1);
    while at < depth {
        match way.next() {
            None => break,
            Some("properties") => {
                place.push('/');
                place.push_str(way.next().unwrap_or_default());
                at += 1;
            }
            Some("items" | "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" | "contains") => {
                place.push_str("/*");
                at += 1;
            }
            Some("prefixItems" | "patternProperties") => {
                way.next();
                place.push_str("/*");
                at += 1;
            }
            Some("allOf" | "anyOf" | "oneOf" | "dependentSchemas") => {
                way.next();
            }
            Some(_) => {}
        }
    }
    if at == depth { place } else { without_indices(error.instance_path().as_str()) }
}

fn without_indices(pointer: &str) -> String {
    let is_index = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    pointer.split('/').map(|part| if is_index(part) { "*" } else { part }).collect::<Vec<_>>().join("/")
}
