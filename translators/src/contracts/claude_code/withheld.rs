//! The stand-in for a withheld message.
//!
//! A message to which later ones refer is replaced by one of its type without its content: `init`, a call, a result, a question, the
//! beginning and the end of what is streamed, and the `result` of the run. Every other message is replaced by an `informational` line.

use super::data::{AssistantMessage, Content, Delta, StreamEvent, ToolResult};
use super::ending::{Outcome, write_result};
use super::line::{Raw, Text};
use super::system::{informational, init};
use super::words::outcome;
use super::writer::{Envelope, Writer};
use crate::encode::{Data, Events, Value, Word, key};
use crate::frame::{Body, EndReason, Figures};
use crate::gate::{CODE, NOTICE, Withheld};
use crate::json::{Json, Object};
use serde_json::Value as Any;

/// The name of a tool whose call is withheld.
const TOOL_NAME: &str = "framegate";

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let Some(number) = withheld.number() else { return };
    let message = withheld.message();
    let mut writer = Writer::at(&withheld.frame.stream, number);
    let text = std::str::from_utf8(withheld.event.payload).unwrap_or_default();
    let event = Json::parse(text).ok().and_then(Json::object).unwrap_or_default();
    let parent = event.str("parent_tool_use_id");
    let timed = Envelope::Timed(parent.as_deref(), withheld.frame.timestamp_ms);
    let provider = withheld.frame.stream.provider.name;
    let empty = crate::json::empty_object();
    match withheld.event.kind {
        "system" if event.str("subtype").as_deref() == Some("init") => {
            return init(&mut writer, provider, Some(&message), out);
        }
        "assistant" => {
            if let Some((message_id, call)) = call_of(&event) {
                let input = Raw(&empty);
                let content = Content::ToolUse { id: &call, name: TOOL_NAME, input };
                let data = AssistantMessage { id: &message_id, model: provider, content, stop_reason: None };
                return writer.message("assistant", timed, out, |map| {
                    data.field(key!("message"), map);
                    Text(&message).field(key!("resume_reason"), map);
                });
            }
        }
        "user" => {
            if let Some(call) = result_of(&event) {
                let result = || ToolResult {
                    kind: Word("tool_result"),
                    tool_use_id: Text(&call),
                    content: Text(&message),
                    is_error: Some(true),
                };
                return writer.message("user", timed, out, |map| {
                    map.object(key!("message"), |map| {
                        map.word(key!("role"), "user");
                        map.list(key!("content"), &[result()], |map, result| result.fields(map));
                    });
                });
            }
        }
        "stream_event" => {
            let id = event.str("api_message_id").unwrap_or_default();
            let inner = event.object("event").unwrap_or_default();
            if let Some(kept) = without_content(&inner, &id, provider) {
                return writer.message("stream_event", Envelope::Thread(None), out, |map| {
                    map.object(key!("event"), |map| kept.fields(map));
                    Text(&id).field(key!("api_message_id"), map);
                    Text(&message).field(key!("resume_reason"), map);
                });
            }
        }
        "control_request" => {
            if let Some(id) = event.str("request_id") {
                return writer.message("control_request", Envelope::None, out, |map| {
                    Text(&id).field(key!("request_id"), map);
                    map.object(key!("request"), |map| {
                        map.word(key!("subtype"), "can_use_tool");
                        map.word(key!("tool_name"), TOOL_NAME);
                        map.raw(key!("input"), "{}");
                        Text(&id).field(key!("tool_use_id"), map);
                        Text(&message).field(key!("decision_reason"), map);
                    });
                });
            }
        }
        "result" => {
            if let Body::SessionEnded(end) = &withheld.frame.body {
                let (subtype, terminal_reason) = outcome(end, false);
                let is_error = end.reason != EndReason::Completed;
                let terminal_reason = Some(terminal_reason);
                let errors = vec![&*message];
                let outcome =
                    Outcome { subtype, terminal_reason, is_error, result: &message, errors, ..Outcome::default() };
                return write_result(&mut writer, &outcome, out);
            }
        }
        _ => {}
    }
    informational(&mut writer, "warning", Some(CODE), &message, out);
}

/// The ids of an `assistant` message and of the call in it.
fn call_of(event: &Object<'_>) -> Option<(String, String)> {
    let message = event.object("message")?;
    let block = message.items("content").first()?.object()?;
    block.str("name")?;
    Some((message.str("id")?.into_owned(), block.str("id")?.into_owned()))
}

/// The call that has its result in a `user` message.
fn result_of(event: &Object<'_>) -> Option<String> {
    let block = event.object("message")?.items("content").first()?.object()?;
    block.str("tool_use_id").map(std::borrow::Cow::into_owned)
}

/// A stream event that opens or closes something, without its content.
fn without_content<'a>(event: &Object<'_>, id: &'a str, model: &'a str) -> Option<StreamEvent<'a>> {
    static NOTHING: Figures = Figures {
        input_tokens: 0,
        output_tokens: 0,
        cache_read_tokens: None,
        cache_creation_tokens: None,
        cache_creation_1h_tokens: None,
        reasoning_tokens: None,
        cost_usd: None,
    };
    let index = || event.u64("index").and_then(|index| u32::try_from(index).ok()).unwrap_or_default();
    Some(match &*event.str("type")? {
        "message_start" => StreamEvent::MessageStart { id, model },
        "content_block_start" => StreamEvent::BlockStart { index: index(), content: Content::Text("") },
        "content_block_delta" => StreamEvent::BlockDelta { index: index(), delta: Delta::Text("") },
        "content_block_stop" => StreamEvent::BlockStop { index: index() },
        "message_delta" => StreamEvent::MessageDelta { stop_reason: "end_turn", figures: &NOTHING },
        "message_stop" => StreamEvent::MessageStop,
        _ => return None,
    })
}

/// Whether a message is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Any) -> bool {
    let text = |pointer: &str| event.pointer(pointer).and_then(Any::as_str).unwrap_or_default();
    let places = [
        "/plugin_errors/0/message",
        "/content",
        "/resume_reason",
        "/message/content/0/content",
        "/request/decision_reason",
        "/result",
        "/errors/0",
    ];
    places.iter().any(|place| text(place).starts_with(NOTICE))
}
