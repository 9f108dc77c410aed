//! The stand-in for a withheld event: an event of the same type about the same item, without its content, with the reason as `notice`. An
//! empty piece changes nothing for a reader, and an item without content keeps the place of the item. Only a terminal event has another
//! type: `response.failed`, or `response.incomplete` if the run was interrupted.

use super::encode::Names;
use super::items::{Items, output_text, summary_text};
use super::response::{Resource, Status};
use super::writer::Writer;
use crate::encode::{Data, Events, Key, ObjectWriter, key};
use crate::frame::EndReason;
use crate::gate::{CODE, NOTICE, Withheld};
use crate::json::{Json, Object};
use serde_json::Value;

/// The name of a tool whose call is withheld.
const TOOL_NAME: &str = "framegate";

/// An empty string as JSON.
const EMPTY: &str = "\"\"";

/// Arguments without content, as JSON.
const NO_ARGUMENTS: &str = "\"{}\"";

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let Some(number) = withheld.number() else { return };
    let message = withheld.message();
    let stream = &withheld.frame.stream;
    let text = std::str::from_utf8(withheld.event.payload).unwrap_or_default();
    let event = Json::parse(text).ok().and_then(Json::object).unwrap_or_default();
    let is_terminal = ["response.completed", "response.incomplete", "response.failed"].contains(&withheld.event.kind);
    let interrupted = withheld.end() == Some(EndReason::Interrupted);
    let kind = match withheld.event.kind {
        _ if is_terminal && interrupted => "response.incomplete",
        _ if is_terminal => "response.failed",
        kind => kind,
    };
    let status = match kind {
        "response.failed" => Status { word: "failed", error: Some((CODE, &message)), ..Status::IN_PROGRESS },
        "response.incomplete" => Status { word: "incomplete", incomplete: Some((CODE, None)), ..Status::IN_PROGRESS },
        _ => Status::IN_PROGRESS,
    };
    Writer::new(&stream.id, number).event(kind, out, |map| {
        if let Some(response) = event.object("response") {
            let names = Names { run: stream.id, session: stream.session.id, runner: stream.provider.name };
            let model = response.str("model").unwrap_or_default();
            let resource = Resource {
                names: &names,
                created_at: response.u64("created_at").unwrap_or_default(),
                model: if model.is_empty() { names.runner } else { &model },
                status: &status,
                items: &Items::default(),
                usage: None,
            };
            map.object(key!("response"), |map| resource.fields(map));
        } else if let Some(item) = event.object("item") {
            number_of(&event, key!("output_index"), map);
            map.object(key!("item"), |map| bare_item(&item, stream.provider.name, map));
        } else {
            of_part(&event, map);
        }
        map.text(key!("notice"), &message);
    });
}

/// Copies an index.
fn number_of(event: &Object<'_>, key: &'static Key, map: &mut ObjectWriter<'_>) {
    if let Some(number) = event.u64(key.name()) {
        map.entry(key, &number);
    }
}

/// Copies an id.
fn text_of(object: &Object<'_>, key: &'static Key, map: &mut ObjectWriter<'_>) {
    map.text(key, &object.str(key.name()).unwrap_or_default());
}

/// The fields of an event about a part of an item, or about a call.
fn of_part(event: &Object<'_>, map: &mut ObjectWriter<'_>) {
    text_of(event, key!("item_id"), map);
    for index in [key!("output_index"), key!("content_index"), key!("summary_index")] {
        number_of(event, index, map);
    }
    for (key, text) in [(key!("delta"), EMPTY), (key!("text"), EMPTY), (key!("arguments"), NO_ARGUMENTS)] {
        if event.get(key.name()).is_some() {
            map.raw(key, text);
        }
    }
    if event.get("logprobs").is_some() {
        map.raw(key!("logprobs"), "[]");
    }
    if let Some(part) = event.object("part") {
        map.object(key!("part"), |map| match part.str("type").as_deref() {
            Some("summary_text") => summary_text(EMPTY, map),
            _ => output_text(EMPTY, map),
        });
    }
}

/// An item without its content.
fn bare_item(item: &Object<'_>, runner: &'static str, map: &mut ObjectWriter<'_>) {
    let status = match item.str("status").as_deref() {
        Some("in_progress") => "in_progress",
        Some("failed") => "failed",
        _ => "completed",
    };
    let tool = |map: &mut ObjectWriter<'_>| {
        map.word(key!("server_label"), runner);
        map.word(key!("name"), TOOL_NAME);
        map.raw(key!("arguments"), NO_ARGUMENTS);
    };
    text_of(item, key!("id"), map);
    match item.str("type").as_deref() {
        Some("reasoning") => {
            map.word(key!("type"), "reasoning");
            map.word(key!("status"), status);
            map.raw(key!("summary"), "[]");
        }
        Some("mcp_call") => {
            map.word(key!("type"), "mcp_call");
            map.word(key!("status"), status);
            map.raw(key!("approval_request_id"), "null");
            tool(map);
            map.raw(key!("output"), "null");
            map.raw(key!("error"), "null");
        }
        Some("mcp_approval_request") => {
            map.word(key!("type"), "mcp_approval_request");
            tool(map);
            text_of(item, key!("approval_id"), map);
        }
        Some("mcp_approval_response") => {
            map.word(key!("type"), "mcp_approval_response");
            text_of(item, key!("approval_request_id"), map);
            map.entry(key!("approve"), &item.get("approve").and_then(Json::bool).unwrap_or_default());
            map.raw(key!("reason"), "null");
        }
        _ => {
            map.word(key!("type"), "message");
            map.word(key!("status"), status);
            map.word(key!("role"), "assistant");
            map.raw(key!("content"), "[]");
        }
    }
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    event.get("notice").and_then(Value::as_str).is_some_and(|notice| notice.starts_with(NOTICE))
}
