//! Recognition of pi's records.

use super::entry;
use crate::decode::Record;
use crate::json::{Kind, Object};

/// A record of pi.
pub(super) fn of_pi(record: &Record<'_>) -> Option<&'static str> {
    entry_of_file(record).or_else(|| stream(record))
}

/// A record of the JSON or RPC mode.
fn stream(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    match &*fields.str("type")? {
        // Session files begin with it too.
        "session" => {
            let is_head = fields.u64("version").is_some() && fields.str("id").is_some() && fields.str("cwd").is_some();
            is_head.then_some("a session with a version, an id and a cwd")
        }
        "message_start" | "message_end" => {
            let message = fields.object("message").filter(|message| message.str("role").is_some())?;
            let known = matches!(&*message.str("role")?, "system" | "user" | "assistant" | "toolResult");
            (known && message.get("content").is_some()).then_some("a message of a role")
        }
        "message_update" => fields.object("assistantMessageEvent").map(|_| "a message update with its event"),
        "tool_execution_start" | "tool_execution_update" | "tool_execution_end" => (fields.str("toolCallId").is_some()
            && fields.str("toolName").is_some())
        .then_some("the execution of a call"),
        "agent_end" => is_list(fields, "messages").then_some("the end of an agent run, with its messages"),
        "turn_end" => {
            (fields.object("message").is_some() && is_list(fields, "toolResults")).then_some("the end of a turn")
        }
        "auto_retry_start" => fields.u64("maxAttempts").map(|_| "a retry"),
        "extension_ui_request" => fields.str("method").map(|_| "a request of an extension"),
        "response" => {
            let is_answer = fields.str("command").is_some() && fields.bool("success").is_some();
            is_answer.then_some("the answer to a command")
        }
        _ => None,
    }
}

/// A line of a session file.
fn entry_of_file(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    if !entry::is_entry(fields) || fields.str("timestamp").is_none() {
        return None;
    }
    match &*fields.str("type")? {
        "message" => fields.object("message")?.str("role").map(|_| "an entry with a message"),
        "model_change" => fields.str("modelId").map(|_| "an entry with a model"),
        "thinking_level_change" => fields.str("thinkingLevel").map(|_| "an entry with a thinking level"),
        _ => None,
    }
}

fn is_list(fields: &Object<'_>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| value.kind() == Kind::Array)
}
