//! A report of drift: how often, where it was seen first, and a suggestion.

use crate::frame::DriftKind;
use std::collections::BTreeMap;

/// One kind of drift and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriftKey {
    /// The kind of drift.
    pub kind: DriftKind,
    /// The kind of the record; "" if it has none.
    pub record_kind: String,
    /// The place in the record, as a JSON pointer with `*` for the items of an array and the keys of a map.
    pub pointer: String,
    /// The unknown word, if the value is one.
    pub word: Option<String>,
}

impl DriftKey {
    /// Drift of the record as a whole.
    pub(super) fn of_record(kind: DriftKind, record_kind: Option<&str>) -> Self {
        let record_kind = record_kind.map(short).unwrap_or_default();
        Self { kind, record_kind, pointer: String::new(), word: None }
    }
}

/// Where something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The record's number, from 1.
    pub record: u64,
    /// Where the record begins, in bytes from the start of the input.
    pub offset: u64,
}

#[derive(Debug)]
pub(super) struct Occurrences {
    pub(super) count: u64,
    pub(super) first: Position,
    pub(super) expected: String,
}

/// Drift in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftFinding {
    /// The kind of drift and its place.
    pub key: DriftKey,
    /// How often it occurred.
    pub count: u64,
    /// Where it occurred first.
    pub first: Position,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
}

/// The first characters of a name.
pub(super) fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

/// All drift, the earliest first.
pub(super) fn all(seen: &BTreeMap<DriftKey, Occurrences>) -> Vec<DriftFinding> {
    let mut findings: Vec<DriftFinding> = seen.iter().map(|(key, one)| finding(key, one, seen)).collect();
    findings.sort_by(|one, other| one.first.cmp(&other.first).then_with(|| one.key.cmp(&other.key)));
    findings
}

fn finding(key: &DriftKey, one: &Occurrences, seen: &BTreeMap<DriftKey, Occurrences>) -> DriftFinding {
    let name = key.pointer.rsplit('/').next().unwrap_or_default();
    let message = match (key.kind, &key.word) {
        (DriftKind::UnknownField, _) => format!("unknown field {name:?}"),
        (DriftKind::MissingField, _) => format!("missing field {name:?}"),
        (DriftKind::ChangedType, _) => one.expected.clone(),
        (DriftKind::UnknownType, None) if key.pointer.is_empty() => one.expected.clone(),
        (DriftKind::UnknownType, Some(word)) => format!("unknown type {word:?}; {}", one.expected),
        (DriftKind::UnknownValue, Some(word)) => format!("unknown value {word:?}; {}", one.expected),
        (DriftKind::UnknownType, None) => format!("unknown type; {}", one.expected),
        (DriftKind::UnknownValue, None) => format!("unknown value; {}", one.expected),
        (DriftKind::NotJson, _) => one.expected.clone(),
    };
    let partner = partner(key, one, seen);
    let suggestion = match (key.kind, partner) {
        (DriftKind::UnknownField, Some(old)) => format!("if this is {old:?} under a new name, read both names"),
        (DriftKind::MissingField, Some(new)) => format!("if the field is now called {new:?}, read both names"),
        (DriftKind::UnknownField, None) => "check whether clients need it, then add it to the schema".to_owned(),
        (DriftKind::MissingField, None) => "if it is optional, remove it from the schema's required fields".to_owned(),
        (DriftKind::UnknownType, _) if key.record_kind.is_empty() => {
            "check whether the record is from another runner or surface".to_owned()
        }
        (DriftKind::UnknownType, _) if key.pointer.is_empty() => {
            "it is kept but not translated; extend the decoder, then add it to the schema".to_owned()
        }
        // Decoders also read what implementations of an open standard add to it, which its schema does not have.
        (DriftKind::UnknownType, _) => "check whether the decoder reads it, then add it to the schema".to_owned(),
        (DriftKind::ChangedType, _) => {
            "the decoder expects the old type and ignores this value; read both types, then allow both in the schema"
                .to_owned()
        }
        (DriftKind::UnknownValue, _) => "check how the decoder treats it, then add it to the known values".to_owned(),
        (DriftKind::NotJson, _) => "check whether another program writes to the same stream".to_owned(),
    };
    DriftFinding { key: key.clone(), count: one.count, first: one.first, message, suggestion }
}

/// The field that probably is the same one under another name. It must first appear in the same record and object, with the
/// opposite drift. If there are several, it is the one whose name differs only in spelling.
fn partner<'s>(key: &DriftKey, one: &Occurrences, seen: &'s BTreeMap<DriftKey, Occurrences>) -> Option<&'s str> {
    let wanted = match key.kind {
        DriftKind::UnknownField => DriftKind::MissingField,
        DriftKind::MissingField => DriftKind::UnknownField,
        _ => return None,
    };
    let (parent, name) = key.pointer.rsplit_once('/')?;
    let beside = seen.iter().filter_map(|(other, its)| {
        let (its_parent, its_name) = other.pointer.rsplit_once('/')?;
        let fits = other.kind == wanted && other.record_kind == key.record_kind && its_parent == parent;
        (fits && its.first == one.first).then_some(its_name)
    });
    let names: Vec<&str> = beside.collect();
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let spelled = names.iter().find(|other| plain(other) == plain(name));
    match names.as_slice() {
        [only] => Some(only),
        _ => spelled.copied(),
    }
}
