//! The kind of a record whose type has several forms: the type and the form, such as `system.init` or `stream_event.message_start`.
//!
//! Input: the fields of a record, and the schemas of the known kinds. Output: the kind. Never: a read of any part of the record but its
//! type and its form. A kind without a schema is still returned; it shows that the runner has something new.

use crate::json::{Json, Kind, Object};
use crate::schema::SchemaFile;
use std::borrow::Cow;

/// The kind of a record of a stream, or of a file with the same types.
pub(super) fn kind_of<'a>(
    fields: &Object<'a>,
    known: impl IntoIterator<Item = &'static SchemaFile>,
) -> Option<Cow<'a, str>> {
    let kind = word(fields.get("type"))?;
    let within = match &*kind {
        "system" | "result" => word(fields.get("subtype")),
        "stream_event" => fields.object("event").and_then(|event| word(event.get("type"))),
        _ => None,
    };
    let Some(within) = within else { return Some(kind) };
    // A known kind is borrowed from the schema list, to avoid an allocation per record.
    let is_it = |known: &str| {
        known.len() == kind.len() + 1 + within.len()
            && known.strip_suffix(&*within).and_then(|known| known.strip_suffix('.')) == Some(&*kind)
    };
    let known = known.into_iter().map(|file| file.kind).find(|known| is_it(known));
    Some(known.map_or_else(|| Cow::Owned(format!("{kind}.{within}")), Cow::Borrowed))
}

/// The kind of the only record of a document: `of_all` for the array of all records, otherwise that of the one record.
pub(super) fn kind_of_document<'a>(
    of_all: &'static str,
    json: Json<'a>,
    fields: &Object<'a>,
    known: impl IntoIterator<Item = &'static SchemaFile>,
) -> Option<Cow<'a, str>> {
    if json.kind() == Kind::Array { Some(Cow::Borrowed(of_all)) } else { kind_of(fields, known) }
}

fn word(value: Option<Json<'_>>) -> Option<Cow<'_, str>> {
    value?.str().filter(|word| !word.is_empty())
}
