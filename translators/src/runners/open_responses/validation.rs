//! What is wrong with a record, by the schemas that this project wrote from the published facts (2026-04-24).
//!
//! In: a record and its event type. Out: faults on the record's frame: `errors` for the event, `response_errors` for the
//! response object in it. Never: a record refused, a value of the record in a fault.

use super::event::Event;
use crate::decode::Record;
use crate::json::{Json, Kind};
use crate::ledger::Ledger;
use crate::schema::{Breach, SchemaFile, Schemas};
use std::sync::OnceLock;

/// Where schemas stand from this folder.
macro_rules! file {
    ($kind:expr, $path:expr) => {
        SchemaFile { kind: $kind, text: include_str!(concat!("../../../../schemas/runners/open-responses/", $path)) }
    };
}

macro_rules! events {
    ($($kind:literal),+ $(,)?) => { &[$(file!($kind, concat!("events/", $kind, ".schema.json"))),+] };
}

/// The response object and what it is made of.
pub(super) const RESPONSE: SchemaFile = file!("response", "response.schema.json");

/// The published event types.
pub(super) const PUBLISHED: &[SchemaFile] = events!(
    "error",
    "response.completed",
    "response.content_part.added",
    "response.content_part.done",
    "response.created",
    "response.failed",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.in_progress",
    "response.incomplete",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.annotation.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.queued",
    "response.reasoning.delta",
    "response.reasoning.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.refusal.delta",
    "response.refusal.done",
);

/// The types that others send beside them.
pub(super) const WIDER: &[SchemaFile] = events!(
    "image_edit.completed",
    "image_edit.partial_image",
    "image_generation.completed",
    "image_generation.partial_image",
    "response.apply_patch_call_operation_diff.delta",
    "response.apply_patch_call_operation_diff.done",
    "response.audio.delta",
    "response.audio.done",
    "response.audio.transcript.delta",
    "response.audio.transcript.done",
    "response.code_interpreter_call.completed",
    "response.code_interpreter_call.in_progress",
    "response.code_interpreter_call.interpreting",
    "response.code_interpreter_call_code.delta",
    "response.code_interpreter_call_code.done",
    "response.compaction.compacting",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.file_search_call.completed",
    "response.file_search_call.in_progress",
    "response.file_search_call.searching",
    "response.image_generation_call.completed",
    "response.image_generation_call.generating",
    "response.image_generation_call.in_progress",
    "response.image_generation_call.partial_image",
    "response.mcp_call.completed",
    "response.mcp_call.failed",
    "response.mcp_call.in_progress",
    "response.mcp_call_arguments.delta",
    "response.mcp_call_arguments.done",
    "response.mcp_list_tools.completed",
    "response.mcp_list_tools.failed",
    "response.mcp_list_tools.in_progress",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "response.shell_call_command.added",
    "response.shell_call_command.delta",
    "response.shell_call_command.done",
    "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done",
    "response.web_search_call.completed",
    "response.web_search_call.in_progress",
    "response.web_search_call.searching",
);

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
