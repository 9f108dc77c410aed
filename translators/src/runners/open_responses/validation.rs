//! What is wrong with a record, by the schemas that this project wrote from the published facts (2026-04-24).
//!
//! In: a record and its event type. Out: faults on the record's frame: `errors` for the event, `response_errors` for the
//! response object in it. Never: a record refused, a value of the record in a fault.

use super::event::Event;
use super::schemas::{PUBLISHED, RESPONSE, WIDER};
use crate::decode::Record;
use crate::frame::Faults;
use crate::hash::HashMap;
use crate::json::{Fields, Json, Kind};
use crate::ledger::Ledger;
use crate::schema::{SchemaFile, Schemas};
use std::sync::{LazyLock, OnceLock};

/// The fault of an event type that only others send.
pub(super) const NOT_PUBLISHED: &str = "the event type is not in the published set";

/// So many breaches of one object are told one by one.
const TOLD: usize = 40;

/// What is known of an event type. Its schema is compiled when the first event of it comes.
struct Known {
    file: &'static SchemaFile,
    is_published: bool,
    schemas: OnceLock<Option<Schemas>>,
}

impl Known {
    /// The compiled schema. That all of them are schemas is tested.
    fn schemas(&self) -> Option<&Schemas> {
        let compile = || {
            let schemas = Schemas::compile_with(std::slice::from_ref(self.file), &[RESPONSE]).ok()?;
            let holds_item = matches!(Event::of(self.file.kind), Event::ItemAdded | Event::ItemDone);
            Some(if holds_item { schemas.with_layouts(ITEM_LAYOUTS) } else { schemas })
        };
        self.schemas.get_or_init(compile).as_ref()
    }
}

/// What is known of an event type; `None` where nothing is.
fn known(kind: &str) -> Option<&'static Known> {
    static KNOWN: LazyLock<HashMap<&'static str, Known>> = LazyLock::new(|| {
        let known = |file: &'static SchemaFile, is_published| {
            (file.kind, Known { file, is_published, schemas: OnceLock::new() })
        };
        let published = PUBLISHED.iter().map(|file| known(file, true));
        published.chain(WIDER.iter().map(|file| known(file, false))).collect()
    });
    KNOWN.get(kind)
}

/// So many layouts of response objects are remembered: every server has several.
const LAYOUTS: usize = 128;

/// And so many of an event with an item in it: there are many sorts of items.
const ITEM_LAYOUTS: usize = 64;

/// The compiled schema of the response object.
fn response_schema() -> Option<&'static Schemas> {
    static COMPILED: OnceLock<Option<Schemas>> = OnceLock::new();
    let compile = || Schemas::compile(&[RESPONSE]).ok().map(|schemas| schemas.with_layouts(LAYOUTS));
    COMPILED.get_or_init(compile).as_ref()
}

/// The response object that was checked last, and what was said of it: the events at a response's beginning say the same
/// object over again.
#[derive(Debug, Default)]
pub(super) struct Checked {
    object: String,
    faults: Faults,
}

/// A larger object than this is checked again rather than remembered.
const REMEMBERED_BYTES: usize = 64 << 10;

/// Finds what is wrong with a record and puts it on the record's frame, which must not be out yet.
/// `said` is the `type` in the record, `kind` the type that it is checked as.
pub(super) fn check(
    record: &Record<'_>,
    said: Option<&str>,
    kind: Option<&str>,
    event: Event,
    checked: &mut Checked,
    ledger: &mut Ledger,
) {
    if let (Some(name), Some(said)) = (record.event_name, said)
        && name != said
    {
        ledger.fault(format!("event name '{}' does not match type '{}'", short(name), short(said)));
    }
    match (event, kind) {
        (Event::Untyped, _) => ledger.fault("the event does not say its type"),
        (Event::Unknown, _) => ledger.fault("unknown event type"),
        (Event::Extension, _) | (_, None) => {}
        (_, Some(kind)) => check_event(record, kind, ledger),
    }
    if matches!(event, Event::Created | Event::Progress | Event::Terminal)
        && let Some((object, fields)) = record.fields.fields().get("response")
        && object.kind() == Kind::Object
    {
        match fields {
            Some(fields) => checked.response(object, fields, event, ledger),
            None => checked.response(object, object.object().unwrap_or_default().fields(), event, ledger),
        }
    }
}

/// Checks a record that is a response object.
pub(super) fn response(record: &Record<'_>, ledger: &mut Ledger) {
    Checked::default().response(record.json, record.fields.fields(), Event::Terminal, ledger);
}

impl Checked {
    fn response(&mut self, object: Json<'_>, fields: Fields<'_, '_>, event: Event, ledger: &mut Ledger) {
        let Some(schemas) = response_schema() else { return };
        if self.object.is_empty() || self.object != object.text() {
            self.faults = schemas.check_fields(RESPONSE.kind, object, fields, &|breaches| told(None, breaches));
            self.object.clear();
            // The response that ends is not told again.
            if event != Event::Terminal && object.text().len() <= REMEMBERED_BYTES {
                self.object.push_str(object.text());
            }
        }
        ledger.response_faults(&self.faults);
    }
}

fn check_event(record: &Record<'_>, kind: &str, ledger: &mut Ledger) {
    let known = known(kind);
    let first = known.is_none_or(|known| !known.is_published).then_some(NOT_PUBLISHED);
    match known.and_then(Known::schemas) {
        Some(schemas) => {
            let fields = record.fields.fields();
            ledger.faults(&schemas.check_fields(kind, record.json, fields, &|breaches| told(first, breaches)));
        }
        None => first.into_iter().for_each(|fault| ledger.fault(fault)),
    }
}

/// What is said of one object's breaches, behind what is said first.
fn told(first: Option<&str>, mut breaches: &mut dyn Iterator<Item = (&str, &str)>) -> Faults {
    let mut told: Vec<String> = first.map(str::to_owned).into_iter().collect();
    let said = (&mut breaches).take(TOLD).map(|(pointer, message)| match pointer {
        "" => message.to_owned(),
        pointer => [pointer, ": ", message].concat(),
    });
    told.extend(said);
    let more = breaches.count();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.into()
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
    fn every_schema_is_one_and_every_event_is_known() {
        assert!(response_schema().is_some());
        assert_eq!((PUBLISHED.len(), WIDER.len()), (24, 43));
        for file in PUBLISHED.iter().chain(WIDER) {
            assert!(!matches!(Event::of(file.kind), Event::Unknown | Event::Extension), "{}", file.kind);
            assert!(known(file.kind).and_then(Known::schemas).is_some(), "{}", file.kind);
        }
        for kind in ["response.mcp_call.searching", "ping", "keepalive", ":x", "x:", "response.", ""] {
            assert_eq!(Event::of(kind), Event::Unknown, "{kind}");
        }
        assert_eq!(Event::of("acme:telemetry"), Event::Extension);
    }
}
