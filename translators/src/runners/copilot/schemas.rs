//! The known records of each surface: one schema per kind, and the kind of a record, which is its type.
//!
//! Input: a record. Output: its kind. Never: a read of any other part of the record. A kind without a schema is still returned; it shows
//! that the runner has something new.

use crate::decode::Record;
use crate::schema::SchemaFile;
use std::borrow::Cow;

/// The events of `--output-format json`.
pub(super) const JSON: &[SchemaFile] = &[];

/// The lines of a session file.
pub(super) const SESSION: &[SchemaFile] = &[];

/// The kind of a record.
pub(super) fn kind_of<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    record.fields.str("type").filter(|kind| !kind.is_empty())
}
