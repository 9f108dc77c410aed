//! What is wrong with a record, by the schemas that this project wrote from the published facts (2026-04-24).
//!
//! In: a record and its event type. Out: faults on the record's frame: `errors` for the event, `response_errors` for the
//! response object in it. Never: a record refused, a value of the record in a fault.

use super::event::Event;
use super::schemas::{PUBLISHED, RESPONSE, WIDER};
use crate::decode::Record;
use crate::json::{Json, Kind};
use crate::ledger::Ledger;
use crate::schema::{Breach, Schemas};
use std::sync::OnceLock;

/// The fault of an event type that only others send.
pub(super) const NOT_PUBLISHED: &str = "the event type is not in the published set";

/// So many breaches of one object are told one by one.
const TOLD: usize = 40;

struct Compiled {
    published: Schemas,
    wider: Schemas,
    response: Schemas,
}

/// The compiled schemas. That all of them are schemas is tested.
fn compiled() -> Option<&'static Compiled> {
    static COMPILED: OnceLock<Option<Compiled>> = OnceLock::new();
    COMPILED.get_or_init(|| compile().ok()).as_ref()
}

fn compile() -> Result<Compiled, String> {
    Ok(Compiled {
        published: Schemas::compile_with(PUBLISHED, &[RESPONSE])?,
        wider: Schemas::compile(WIDER)?,
        response: Schemas::compile(&[RESPONSE])?,
    })
}

/// Finds what is wrong with a record and puts it on the record's frame, which must not be out yet.
pub(super) fn check(record: &Record<'_>, kind: Option<&str>, event: Event, ledger: &mut Ledger) {
    if let (Some(name), Some(said)) = (record.event_name, record.fields.str("type"))
        && name != said
    {
        ledger.fault(format!("event name '{}' does not match type '{}'", short(name), short(&said)));
    }
    match (event, kind) {
        (Event::Untyped, _) => ledger.fault("the event does not say its type"),
        (Event::Unknown, _) => ledger.fault("unknown event type"),
        (Event::Extension, _) | (_, None) => {}
        (_, Some(kind)) => known(record.json, kind, ledger),
    }
    if matches!(event, Event::Created | Event::Progress | Event::Terminal)
        && let Some(object) = record.fields.get("response").filter(|object| object.kind() == Kind::Object)
    {
        response(object, ledger);
    }
}

/// Checks a response object.
pub(super) fn response(object: Json<'_>, ledger: &mut Ledger) {
    let Some(schemas) = compiled() else { return };
    let checked = schemas.response.check_text(RESPONSE.kind, object.text());
    tell(checked.err().unwrap_or_default(), |fault| ledger.response_fault(fault));
}

fn known(object: Json<'_>, kind: &str, ledger: &mut Ledger) {
    let Some(schemas) = compiled() else { return };
    let text = object.text();
    let checked = if schemas.published.knows(kind) {
        schemas.published.check_text(kind, text)
    } else {
        ledger.fault(NOT_PUBLISHED);
        schemas.wider.check_text(kind, text)
    };
    tell(checked.err().unwrap_or_default(), |fault| ledger.fault(fault));
}

fn tell(breaches: Vec<Breach>, mut fault: impl FnMut(String)) {
    let more = breaches.len().saturating_sub(TOLD);
    for breach in breaches.into_iter().take(TOLD) {
        match breach.pointer.as_str() {
            "" => fault(breach.message),
            pointer => fault(format!("{pointer}: {}", breach.message)),
        }
    }
    if more > 0 {
        fault(format!("and {more} more"));
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
        compile().map(drop).unwrap();
        assert_eq!((PUBLISHED.len(), WIDER.len()), (24, 43));
        for file in PUBLISHED.iter().chain(WIDER) {
            assert!(!matches!(Event::of(file.kind), Event::Unknown | Event::Extension), "{}", file.kind);
        }
        for kind in ["response.mcp_call.searching", "ping", "keepalive", ":x", "x:", "response.", ""] {
            assert_eq!(Event::of(kind), Event::Unknown, "{kind}");
        }
        assert_eq!(Event::of("acme:telemetry"), Event::Extension);
    }
}
