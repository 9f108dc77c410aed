//! The errors of a record, found with the schemas that this project wrote from the published facts (2026-04-24).
//!
//! Input: a record and its event type. Output: errors on the record's frame: `errors` for the event, `response_errors` for the
//! response object in it. Never: a rejected record; a value of the record in an error.

use super::event::Event;
use super::schemas::{PUBLISHED, RESPONSE, WIDER};
use crate::decode::Record;
use crate::frame::RecordErrors;
use crate::hash::HashMap;
use crate::json::{Fields, Json, Kind};
use crate::normalizer::Normalizer;
use crate::schema::{Judged, SchemaFile, Schemas, ValidationError, Violation, violations};
use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

/// The error for an event type that is not published but sent by other implementations.
pub(super) const NOT_PUBLISHED: &str = "the event type is not in the published set";

/// The maximum number of violations reported individually per object.
const MAX_REPORTED: usize = 40;

/// A known event type. Its schema is compiled when its first event arrives.
struct EventSchema {
    file: &'static SchemaFile,
    is_published: bool,
    schemas: OnceLock<Option<Schemas<RecordErrors>>>,
}

impl EventSchema {
    /// The compiled schema. A test checks that all of them compile.
    fn schemas(&self) -> Option<&Schemas<RecordErrors>> {
        let compile = || {
            let schemas = Schemas::compile_with(std::slice::from_ref(self.file), &[RESPONSE]).ok()?;
            let holds_item = matches!(Event::of(self.file.kind), Event::ItemAdded | Event::ItemDone);
            Some(schemas.caching(if holds_item { ITEM_SHAPES } else { SHAPES }))
        };
        self.schemas.get_or_init(compile).as_ref()
    }
}

/// The entry of an event type; `None` if it is unknown.
fn schema_of(kind: &str) -> Option<&'static EventSchema> {
    static KNOWN: LazyLock<HashMap<&'static str, EventSchema>> = LazyLock::new(|| {
        let known = |file: &'static SchemaFile, is_published| {
            (file.kind, EventSchema { file, is_published, schemas: OnceLock::new() })
        };
        let published = PUBLISHED.iter().map(|file| known(file, true));
        published.chain(WIDER.iter().map(|file| known(file, false))).collect()
    });
    KNOWN.get(kind)
}

/// How many shapes of each event type are cached.
const SHAPES: usize = 32;

/// How many shapes of an event that contains an item are cached. There are many types of items.
const ITEM_SHAPES: usize = 64;

/// How many shapes of responses are cached. Every server uses several.
const RESPONSE_SHAPES: usize = 128;

/// The compiled schema of the response object.
fn response_schema() -> Option<&'static Schemas<RecordErrors>> {
    static COMPILED: OnceLock<Option<Schemas<RecordErrors>>> = OnceLock::new();
    let compile =
        || Schemas::compile(std::slice::from_ref(&RESPONSE)).ok().map(|schemas| schemas.caching(RESPONSE_SHAPES));
    COMPILED.get_or_init(compile).as_ref()
}

/// The last checked response object and its errors. The first events of a response repeat the same object.
#[derive(Debug, Default)]
pub(super) struct CheckedResponse {
    object: String,
    errors: RecordErrors,
}

/// The maximum size in bytes of a remembered object. Larger objects are checked every time.
const REMEMBERED_BYTES: usize = 64 << 10;

/// Checks a record and adds the errors to its frame, which must not have been emitted yet. `declared` is the `type` in the
/// record, `kind` the type that it is checked as.
pub(super) fn check(
    record: &Record<'_>,
    declared: Option<&str>,
    kind: Option<&str>,
    event: Event,
    checked: &mut CheckedResponse,
    normalizer: &mut Normalizer,
) {
    if let (Some(name), Some(declared)) = (record.event_name, declared)
        && name != declared
    {
        normalizer.add_error(format!("event name '{}' does not match type '{}'", short(name), short(declared)));
    }
    match (event, kind) {
        (Event::Untyped, _) => normalizer.unknown("the event does not say its type"),
        (Event::Unknown, _) => normalizer.unknown("unknown event type"),
        (Event::Extension, _) | (_, None) => {}
        (_, Some(kind)) => check_event(record, kind, normalizer),
    }
    if matches!(event, Event::Created | Event::Progress | Event::Terminal)
        && let Some((object, fields)) = record.fields.fields().get("response")
        && object.kind() == Kind::Object
    {
        match fields {
            Some(fields) => checked.response(object, fields, event, normalizer),
            None => checked.response(object, object.object().unwrap_or_default().fields(), event, normalizer),
        }
    }
}

/// Checks a record that is a response object.
pub(super) fn response(record: &Record<'_>, normalizer: &mut Normalizer) {
    CheckedResponse::default().response(record.json, record.fields.fields(), Event::Terminal, normalizer);
}

impl CheckedResponse {
    fn response(&mut self, object: Json<'_>, fields: Fields<'_, '_>, event: Event, normalizer: &mut Normalizer) {
        let Some(schemas) = response_schema() else { return };
        if self.object.is_empty() || self.object != object.text() {
            let errors = schemas.verdict(RESPONSE.kind, object, fields, |errors| texts(None, errors));
            self.errors = errors.map(Cow::into_owned).unwrap_or_default();
            self.object.clear();
            // A response that has ended is not repeated.
            if event != Event::Terminal && object.text().len() <= REMEMBERED_BYTES {
                self.object.push_str(object.text());
            }
        }
        normalizer.add_response_errors(&self.errors);
    }
}

fn check_event(record: &Record<'_>, kind: &str, normalizer: &mut Normalizer) {
    let schema = schema_of(kind);
    let first = schema.is_none_or(|schema| !schema.is_published).then_some(NOT_PUBLISHED);
    match schema.and_then(EventSchema::schemas) {
        Some(schemas) => {
            let errors = schemas.verdict(kind, record.json, record.fields.fields(), |errors| texts(first, errors));
            normalizer.add_errors(&errors.unwrap_or_default());
        }
        None => first.into_iter().for_each(|error| normalizer.add_error(error)),
    }
}

/// The reported errors: `first`, followed by the violations of one object.
fn texts(first: Option<&str>, errors: Vec<ValidationError<'_>>) -> Judged<RecordErrors> {
    let more = errors.len().saturating_sub(MAX_REPORTED);
    let violations = violations(errors.into_iter().take(MAX_REPORTED)).into_iter();
    let texts = violations.map(|Violation { pointer, message, .. }| match &*pointer {
        "" => message,
        pointer => [pointer, ": ", &message].concat(),
    });
    let more = (more > 0).then(|| format!("and {more} more"));
    Judged { verdict: first.map(str::to_owned).into_iter().chain(texts).chain(more).collect(), is_reusable: true }
}

fn short(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_compiles_and_every_event_is_known() {
        assert!(response_schema().is_some());
        assert_eq!((PUBLISHED.len(), WIDER.len()), (24, 43));
        for file in PUBLISHED.iter().chain(WIDER) {
            assert!(!matches!(Event::of(file.kind), Event::Unknown | Event::Extension), "{}", file.kind);
            assert!(schema_of(file.kind).and_then(EventSchema::schemas).is_some(), "{}", file.kind);
        }
        for kind in ["response.mcp_call.searching", "ping", "keepalive", ":x", "x:", "response.", ""] {
            assert_eq!(Event::of(kind), Event::Unknown, "{kind}");
        }
        assert_eq!(Event::of("acme:telemetry"), Event::Extension);
    }
}
