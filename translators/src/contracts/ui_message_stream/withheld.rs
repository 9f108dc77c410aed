//! The stand-in for a withheld chunk.
//!
//! A chunk that later chunks refer to is replaced by one of its type without its content, and so is a chunk that closes something,
//! so that the SDK can read on. The final result of a call is replaced by `tool-output-error`, every other chunk by a transient
//! `data-notice`.

use super::data::{
    Abort, ApprovalRequest, ApprovalResponse, EXECUTED, ErrorText, Executed, Notice, NoticeData, OutputError,
};
use super::writer;
use crate::encode::{Data, Events, Flat, Word, data};
use crate::frame::EndReason;
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::Value;
use uuid::Uuid;

data! {
    struct Start<'a> {
        message_id: &'a Uuid => "messageId",
        metadata: Noticed<'a> => "messageMetadata",
    }

    struct Finish<'a> {
        finish_reason: Word => "finishReason",
        metadata: Noticed<'a> => "messageMetadata",
    }

    struct Noticed<'a> {
        notice: &'a str,
    }

    struct Part<'a> {
        id: &'a str,
        provider_metadata: ProviderMetadata<'a> => "providerMetadata",
    }

    struct ProviderMetadata<'a> {
        framegate: Noticed<'a>,
    }

    struct InputStart<'a> {
        tool_call_id: &'a str => "toolCallId",
        tool_name: &'a str => "toolName",
        executed: Flat<Executed>,
        tool_metadata: Noticed<'a> => "toolMetadata",
    }

    struct InputAvailable<'a> {
        tool_call_id: &'a str => "toolCallId",
        tool_name: &'a str => "toolName",
        input: Value,
        executed: Flat<Executed>,
        tool_metadata: Noticed<'a> => "toolMetadata",
    }
}

/// The name of a tool whose call is withheld.
const TOOL_NAME: &str = "framegate";

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let message = withheld.message();
    let stream = &withheld.frame.stream.id;
    let notice = || Noticed { notice: &message };
    let seq = withheld.number().unwrap_or_default();
    let mut write = |kind, data: &dyn Data| writer::write(stream, seq, kind, &Dynamic(data), out);
    let kind = withheld.event.kind;
    let (id, call, approval) = (withheld.text(&["id"]), withheld.text(&["toolCallId"]), withheld.text(&["approvalId"]));
    match (kind, id, call, approval) {
        ("start", ..) => write(kind, &Start { message_id: stream, metadata: notice() }),
        ("finish", ..) => {
            let failed = withheld.end() == Some(EndReason::Failed);
            let finish_reason = Word(if failed { "error" } else { "other" });
            write(kind, &Finish { finish_reason, metadata: notice() });
        }
        ("abort", ..) => write(kind, &Abort { reason: Some(&message) }),
        ("error", ..) => write(kind, &ErrorText { error_text: &message }),
        ("text-start" | "text-end" | "reasoning-start" | "reasoning-end", Some(id), ..) => {
            write(kind, &Part { id: &id, provider_metadata: ProviderMetadata { framegate: notice() } });
        }
        ("tool-input-start", _, Some(call), _) => {
            let (executed, tool_metadata) = (EXECUTED, notice());
            write(kind, &InputStart { tool_call_id: &call, tool_name: TOOL_NAME, executed, tool_metadata });
        }
        ("tool-input-available", _, Some(call), _) => {
            let (executed, tool_metadata, input) = (EXECUTED, notice(), Value::Object(serde_json::Map::new()));
            write(kind, &InputAvailable { tool_call_id: &call, tool_name: TOOL_NAME, input, executed, tool_metadata });
        }
        ("tool-approval-request", _, Some(call), Some(approval)) => {
            let reason = Some(&*message);
            write(kind, &ApprovalRequest { approval_id: &approval, tool_call_id: &call, reason });
        }
        ("tool-approval-response", _, _, Some(approval)) => {
            let approved = of_event(withheld, "approved");
            let reason = Some(&*message);
            write(kind, &ApprovalResponse { approval_id: &approval, approved, reason });
        }
        ("tool-output-available" | "tool-output-error" | "tool-output-denied", _, Some(call), _)
            if !of_event(withheld, "preliminary") =>
        {
            let data = OutputError { tool_call_id: &call, error_text: &message, executed: EXECUTED };
            write("tool-output-error", &data);
        }
        _ => {
            let data = NoticeData { level: Word("error"), code: Some(CODE), message: &message };
            write("data-notice", &Notice { data, transient: true });
        }
    }
}

/// Data of any kind.
struct Dynamic<'d>(&'d dyn Data);

impl Data for Dynamic<'_> {
    fn fields(&self, map: &mut crate::encode::ObjectWriter<'_>) {
        self.0.fields(map);
    }
}

/// Whether a field of the withheld chunk is `true`.
fn of_event(withheld: &Withheld<'_>, key: &str) -> bool {
    let chunk = crate::json::value(withheld.event.payload).unwrap_or_default();
    chunk.get(key).and_then(Value::as_bool) == Some(true)
}

/// Whether a chunk is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let places = [
        "/providerMetadata/framegate/notice",
        "/toolMetadata/notice",
        "/messageMetadata/notice",
        "/errorText",
        "/reason",
    ];
    text("/data/code") == CODE || places.iter().any(|place| text(place).starts_with(NOTICE))
}
