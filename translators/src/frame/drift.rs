//! The kinds of drift: how a record can differ from its runner's known schemas. A record's frame has the kinds that it shows.

use serde::{Deserialize, Serialize};

/// How the output differs from the known schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriftKind {
    /// A record, or an object in it, has an unknown type.
    UnknownType,
    /// An unknown field.
    UnknownField,
    /// A field that was always present is missing.
    MissingField,
    /// A value has another JSON type.
    ChangedType,
    /// A word or number is not among the known ones.
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

    /// The kind's stable name.
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

    /// The name of the violated rule.
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
