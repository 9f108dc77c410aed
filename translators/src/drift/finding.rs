//! What is told of drift: how much of it, where it was seen first, and what may be done.

use std::collections::BTreeMap;

/// How the output differs from what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// A record, or an object in it, of a type that is not known.
    UnknownType,
    /// A field that is not known.
    UnknownField,
    /// A field that was always there is not.
    MissingField,
    /// A value of another JSON type.
    ChangedType,
    /// A word or a number that is not among those that are known.
    UnknownValue,
    /// The record is not JSON.
    NotJson,
}

impl DriftKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::UnknownType,
        Self::UnknownField,
        Self::MissingField,
        Self::ChangedType,
        Self::UnknownValue,
        Self::NotJson,
    ];

    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownType => "unknown_type",
            Self::UnknownField => "unknown_field",
            Self::MissingField => "missing_field",
            Self::ChangedType => "changed_type",
            Self::UnknownValue => "unknown_value",
            Self::NotJson => "not_json",
        }
    }

    /// The name of the rule that it breaks.
    pub fn rule(self) -> &'static str {
        match self {
            Self::UnknownType => "drift.unknown_type",
            Self::UnknownField => "drift.unknown_field",
            Self::MissingField => "drift.missing_field",
            Self::ChangedType => "drift.changed_type",
            Self::UnknownValue => "drift.unknown_value",
            Self::NotJson => "drift.not_json",
        }
    }
}

/// One way in which output drifts, and the place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriftKey {
    /// The way.
    pub kind: DriftKind,
    /// The kind of the record; "" where it says none.
    pub record_kind: String,
    /// The place in the record, as a JSON pointer with `*` for the items of an array and the keys of a map.
    pub pointer: String,
    /// The word that is not known, where it is one.
    pub word: Option<String>,
}

impl DriftKey {
    /// The record as a whole drifts.
    pub(super) fn of_record(kind: DriftKind, record_kind: Option<&str>) -> Self {
        let record_kind = record_kind.map(short).unwrap_or_default();
        Self { kind, record_kind, pointer: String::new(), word: None }
    }
}

/// Where something was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number of the record, counted from 1, as people count lines.
    pub record: u64,
    /// Where the record begins, in bytes from the start of the input.
    pub offset: u64,
}

#[derive(Debug)]
pub(super) struct Seen {
    pub(super) count: u64,
    pub(super) first: Position,
    pub(super) expected: String,
}

/// Drift in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriftFinding {
    /// What, and where.
    pub key: DriftKey,
    /// How often.
    pub count: u64,
    /// Where first.
    pub first: Position,
    /// What is wrong.
    pub message: String,
    /// What may be done about it.
    pub suggestion: String,
}

/// The first letters of a name.
pub(super) fn short(name: &str) -> String {
    name.chars().take(64).collect()
}

/// Everything that was seen, the earliest first.
pub(super) fn all(seen: &BTreeMap<DriftKey, Seen>) -> Vec<DriftFinding> {
    let mut findings: Vec<DriftFinding> = seen.iter().map(|(key, one)| finding(key, one, seen)).collect();
    findings.sort_by(|one, other| one.first.cmp(&other.first).then_with(|| one.key.cmp(&other.key)));
    findings
}

fn finding(key: &DriftKey, one: &Seen, seen: &BTreeMap<DriftKey, Seen>) -> DriftFinding {
    let name = key.pointer.rsplit('/').next().unwrap_or_default();
    let message = match (key.kind, &key.word) {
        (DriftKind::UnknownField, _) => format!("unknown field {name:?}"),
        (DriftKind::MissingField, _) => format!("the field {name:?} is missing"),
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
        (DriftKind::UnknownField, Some(old)) => format!("was it {old:?} before? Then read both names"),
        (DriftKind::MissingField, Some(new)) => format!("is it {new:?} now? Then read both names"),
        (DriftKind::UnknownField, None) => {
            "see whether it says something that clients should get; then add it".to_owned()
        }
        (DriftKind::MissingField, None) => {
            "if it may be absent, take it out of the schema's required fields".to_owned()
        }
        (DriftKind::UnknownType, _) if key.record_kind.is_empty() => {
            "see whether it is of another runner or surface".to_owned()
        }
        (DriftKind::UnknownType, _) => {
            "it is kept, but nothing is translated from it; teach the decoder, then add it".to_owned()
        }
        (DriftKind::ChangedType, _) => {
            "what reads the old type finds nothing there; read both, then allow both".to_owned()
        }
        (DriftKind::UnknownValue, _) => "see what it means to the decoder; then add it to the known ones".to_owned(),
        (DriftKind::NotJson, _) => "see whether something else writes to the same stream".to_owned(),
    };
    DriftFinding { key: key.clone(), count: one.count, first: one.first, message, suggestion }
}

/// The field that probably is the same under another name: the only one of its kind beside it that came and went with it,
/// or one whose name is the same but for its spelling.
fn partner<'s>(key: &DriftKey, one: &Seen, seen: &'s BTreeMap<DriftKey, Seen>) -> Option<&'s str> {
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
