//! What is wrong with a record, by the schemas that this project wrote from the published facts (2026-04-24).
//!
//! In: a record and its event type. Out: faults on the record's frame: `errors` for the event, `response_errors` for the
//! response object in it. Never: a record refused, a value of the record in a fault.

use super::event::Event;
use super::schemas::{PUBLISHED, RESPONSE, WIDER};
use crate::decode::Record;
use crate::json::{Fields, Json, Kind};
use crate::ledger::Ledger;
use crate::schema::{SchemaFile, Schemas};
use std::collections::HashMap;
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
        let compile = || Schemas::compile_with(std::slice::from_ref(self.file), &[RESPONSE]).ok();
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

/// The compiled schema of the response object.
fn response_schema() -> Option<&'static Schemas> {
    static COMPILED: OnceLock<Option<Schemas>> = OnceLock::new();
    COMPILED.get_or_init(|| Schemas::compile(&[RESPONSE]).ok()).as_ref()
}

/// The response object that was checked last, and what was said of it: the events at a response's beginning say the same
/// object over again.
#[derive(Debug, Default)]
pub(super) struct Checked {
    object: String,
    faults: Vec<String>,
}

/// A larger object than this is checked again rather than remembered.
const REMEMBERED_BYTES: usize = 64 << 10;

/// Finds what is wrong with a record and puts it on the record's frame, which must not be out yet.
pub(super) fn check(record: &Record<'_>, kind: Option<&str>, event: Event, checked: &mut Checked, ledger: &mut Ledger) {
    if let (Some(name), Some(said)) = (record.event_name, record.fields.str("type"))
        && name != said
    {
        ledger.fault(format!("event name '{}' does not match type '{}'", short(name), short(&said)));
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
            Some(fields) => checked.response(object, fields, ledger),
            None => checked.response(object, object.object().unwrap_or_default().fields(), ledger),
        }
    }
}

/// Checks a record that is a response object.
pub(super) fn response(record: &Record<'_>, ledger: &mut Ledger) {
    Checked::default().response(record.json, record.fields.fields(), ledger);
}

impl Checked {
    fn response(&mut self, object: Json<'_>, fields: Fields<'_, '_>, ledger: &mut Ledger) {
        let Some(schemas) = response_schema() else { return };
        if self.object.is_empty() || self.object != object.text() {
            let mut faults = Faults::default();
            schemas.check_fields(RESPONSE.kind, object, fields, &mut |pointer, message| {
                faults.add(pointer, message);
            });
            self.faults.clear();
            faults.tell(|fault| self.faults.push(fault));
            self.object.clear();
            if object.text().len() <= REMEMBERED_BYTES {
                self.object.push_str(object.text());
            }
        }
        self.faults.iter().for_each(|fault| ledger.response_fault(fault.as_str()));
    }
}

fn check_event(record: &Record<'_>, kind: &str, ledger: &mut Ledger) {
    let known = known(kind);
    if known.is_none_or(|known| !known.is_published) {
        ledger.fault(NOT_PUBLISHED);
    }
    let Some(schemas) = known.and_then(Known::schemas) else { return };
    let mut faults = Faults::default();
    schemas.check_fields(kind, record.json, record.fields.fields(), &mut |pointer, message| {
        faults.add(pointer, message);
    });
    faults.tell(|fault| ledger.fault(fault));
}

/// What is said of one object's breaches.
#[derive(Default)]
struct Faults {
    told: Vec<String>,
    more: usize,
}

impl Faults {
    fn add(&mut self, pointer: &str, message: &str) {
        if self.told.len() == TOLD {
            self.more += 1;
        } else if pointer.is_empty() {
            self.told.push(message.to_owned());
        } else {
            self.told.push([pointer, ": ", message].concat());
        }
    }

    fn tell(self, mut fault: impl FnMut(String)) {
        self.told.into_iter().for_each(&mut fault);
        if self.more > 0 {
            fault(format!("and {} more", self.more));
        }
    }
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
