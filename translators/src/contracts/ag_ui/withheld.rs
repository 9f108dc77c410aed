//! The stand-in for a withheld event.
//!
//! An event that opens or closes something is replaced by one of its type without its content, so that the client can read on. So are
//! a result, the start of an activity and the end of a run. Every other event is replaced by a `CUSTOM` notice.

use super::custom::Notice;
use super::data::{
    CallEnd, CallResult, CallStart, Custom, Message, MessageStart, Outcome, Piece, RunError, RunFinished, RunStarted,
    Step, SubagentError, SubagentFinished, SubagentStarted,
};
use super::encode::PROTOCOL_VERSION;
use super::writer;
use crate::encode::{Data, Events, Word, data};
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::Value;
use uuid::Uuid;

data! {
    /// The metadata of a stand-in.
    struct Noticed<'a> {
        notice: &'a str,
        failure: Option<Word>,
    }

    struct Activity<'a> {
        subagent: Option<Uuid> => "subagentRunId",
        message_id: Uuid => "messageId",
        activity_type: &'a str => "activityType",
        content: NoOutput<'a>,
    }

    struct NoOutput<'a> {
        output: Vec<Piece<'a>>,
    }
}

/// The name of a tool or a subagent whose start is withheld.
const NAME: &str = "framegate";

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let message = withheld.message();
    let stream = &withheld.frame.stream;
    let place = (&stream.id, withheld.number().unwrap_or_default(), withheld.frame.timestamp_ms);
    let kind = withheld.event.kind;
    let text = |path: &[&str]| withheld.text(path);
    let id = |key: &str| text(&[key]).and_then(|id| id.parse::<Uuid>().ok());
    let subagent = id("subagentRunId");
    let about = Noticed { notice: &message, failure: None };
    let mut write = |data: &dyn Data| writer::write(place, kind, data, &about, out);
    match (kind, id("messageId"), id("toolCallId"), subagent) {
        ("RUN_STARTED", ..) => {
            let (thread_id, run_id, protocol_version) = (&stream.session.id, &stream.id, PROTOCOL_VERSION);
            write(&RunStarted { thread_id, run_id, protocol_version, parent_run_id: None });
        }
        ("RUN_FINISHED", ..) => {
            let is_cancelled = text(&["outcome", "type"]).as_deref() == Some("cancelled");
            // The client executes these calls. Their ids are made by the encoder.
            let pending = withheld.texts(&["outcome", "pendingToolCallIds"]).unwrap_or_default();
            let pending: Vec<String> = pending.into_iter().filter(|id| id.parse::<Uuid>().is_ok()).collect();
            let pending = Some(pending.as_slice()).filter(|pending| !pending.is_empty() && !is_cancelled);
            let outcome = Outcome { kind: Word(if is_cancelled { "cancelled" } else { "success" }), pending };
            write(&RunFinished { thread_id: &stream.session.id, run_id: &stream.id, outcome, usage: None });
        }
        ("RUN_ERROR", ..) => write(&RunError { message: &message, code: Some(CODE), usage: None }),
        ("STEP_STARTED" | "STEP_FINISHED", ..) => {
            write(&Step { step_name: &text(&["stepName"]).unwrap_or_default() });
        }
        ("TEXT_MESSAGE_START", Some(message_id), ..) => {
            let is_user = text(&["role"]).as_deref() == Some("user");
            write(&MessageStart { subagent, message_id, role: Word(if is_user { "user" } else { "assistant" }) });
        }
        ("REASONING_MESSAGE_START", Some(message_id), ..) => {
            write(&MessageStart { subagent, message_id, role: Word("reasoning") });
        }
        ("TEXT_MESSAGE_END" | "REASONING_START" | "REASONING_MESSAGE_END" | "REASONING_END", Some(message_id), ..) => {
            write(&Message { subagent, message_id });
        }
        ("TOOL_CALL_START", _, Some(tool_call_id), _) => {
            write(&CallStart { subagent, tool_call_id, tool_call_name: NAME, parent_message_id: None });
        }
        ("TOOL_CALL_END", _, Some(tool_call_id), _) => write(&CallEnd { subagent, tool_call_id }),
        ("TOOL_CALL_RESULT", Some(message_id), Some(tool_call_id), _) => {
            let data = CallResult { subagent, message_id, tool_call_id, content: &message, role: Word("tool") };
            let about = Noticed { notice: &message, failure: Some(Word("failed")) };
            writer::write(place, kind, &data, &about, out);
        }
        ("ACTIVITY_SNAPSHOT", Some(message_id), ..) => {
            let activity_type = text(&["activityType"]).unwrap_or_default();
            let content = NoOutput { output: Vec::new() };
            write(&Activity { subagent, message_id, activity_type: &activity_type, content });
        }
        ("SUBAGENT_STARTED", _, _, Some(subagent)) => write(&SubagentStarted {
            subagent,
            name: NAME,
            description: None,
            parent_subagent: None,
            parent_tool_call_id: None,
        }),
        ("SUBAGENT_FINISHED", _, _, Some(subagent)) => {
            let outcome = Outcome { kind: Word("success"), pending: None };
            write(&SubagentFinished { subagent, result: None, outcome });
        }
        ("SUBAGENT_ERROR", _, _, Some(subagent)) => write(&SubagentError { subagent, message: &message, code: CODE }),
        _ => {
            let value = Notice { level: Word("error"), code: Some(CODE), message: &message };
            writer::write(place, "CUSTOM", &Custom { subagent, name: "notice", value: &value }, &about, out);
        }
    }
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let notice = event.pointer("/metadata/notice").and_then(Value::as_str).unwrap_or_default();
    notice.starts_with(NOTICE)
}
