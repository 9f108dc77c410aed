//! What a record does to the texts of an agent, for redaction before records are decoded.
//!
//! Input: a record. Output: the text that it continues, or the texts that it ends. Never: an end that [`texts`](super::texts) does not have:
//! the text that a decoder joins is redacted as one.

use super::content::piece_of;
use crate::json::Object;
use crate::redact::{Effect, Naming, Said, Successive, identity};
use std::borrow::Cow;

/// The messages and thoughts of a session.
pub(super) const MESSAGES: Successive =
    Successive { effect: messages, conversations: Some(Naming { key: "sessionId", prompt: "session/prompt" }) };

/// The output of a call while it works.
pub(super) const OUTPUT: Successive = Successive { effect: output, conversations: None };

fn messages(record: &Object<'_>) -> Effect {
    let Some(method) = record.str("method") else {
        // The answer to a prompt of version 1. Any other answer may come in the middle of a text, and an error may be the client's
        // answer to a request of the agent that has the id of the prompt.
        let is_of_prompt = record.object("result").is_some_and(|result| result.str("stopReason").is_some());
        return if is_of_prompt { Effect::EndsTurn } else { Effect::Nothing };
    };
    let Some(params) = record.object("params") else { return Effect::Nothing };
    let session = params.str("sessionId").unwrap_or_default();
    let conversation = identity(&*session);
    match &*method {
        "session/update" => match params.object("update") {
            Some(update) => of_update(&session, &update),
            None => Effect::Nothing,
        },
        "session/request_permission" | "elicitation/create" if record.some("id").is_some() => {
            Effect::Ends { conversation, named_too: false }
        }
        _ => Effect::Nothing,
    }
}

fn of_update(session: &str, update: &Object<'_>) -> Effect {
    let conversation = identity(session);
    // What the user says ends no text: an agent may repeat the prompt.
    let of_user = identity((session, "user"));
    let interrupts = Effect::Ends { conversation, named_too: false };
    let kind = update.str("sessionUpdate").unwrap_or_default();
    match &*kind {
        "agent_message_chunk" | "agent_thought_chunk" => {
            let has_text =
                |content: Object<'_>| piece_of(&content).is_some_and(|piece| !piece.into_string().is_empty());
            if !update.object("content").is_some_and(has_text) {
                return Effect::Nothing;
            }
            let name = update.str("messageId").filter(|id| !id.is_empty());
            let parent = || update.object("_meta")?.object("claudeCode")?.str("parentToolUseId");
            let text = identity((&*kind, &name, parent()));
            let is_named = name.is_some();
            Effect::Says(Said { conversation, also_ends: Some(of_user), text, is_named, is_last: false })
        }
        "user_message_chunk" => {
            let text = identity(update.str("messageId"));
            Effect::Says(Said { conversation: of_user, also_ends: None, text, is_named: true, is_last: false })
        }
        "tool_call" | "tool_call_update" if call_of(update).is_some() => interrupts,
        "plan" | "plan_update" => {
            let has_entries = update.get("entries").or_else(|| update.object("plan")?.get("entries")).is_some();
            if has_entries { interrupts } else { Effect::Nothing }
        }
        "state_update" if update.str("state").as_deref() == Some("idle") => {
            Effect::Ends { conversation, named_too: true }
        }
        // Reports on the session, such as its usage, may come at any time.
        _ => Effect::Nothing,
    }
}

fn output(record: &Object<'_>) -> Effect {
    let update = || {
        let params = record.object("params").filter(|_| record.str("method").as_deref() == Some("session/update"))?;
        let update = params.object("update")?;
        let session = params.str("sessionId").unwrap_or_default();
        let conversation = identity((&*session, call_of(&update)?));
        Some((conversation, update))
    };
    let Some((conversation, update)) = update() else { return Effect::Nothing };
    let kind = update.str("sessionUpdate").unwrap_or_default();
    let printed = || update.object("_meta")?.object("terminal_output_delta")?.str("data");
    let is_over = matches!(update.str("status").as_deref(), Some("completed" | "failed" | "cancelled"));
    if &*kind == "tool_call_content_chunk" || printed().is_some() {
        return Effect::Says(Said {
            conversation,
            also_ends: None,
            text: identity(&*kind),
            is_named: true,
            is_last: is_over,
        });
    }
    if is_over { Effect::Ends { conversation, named_too: true } } else { Effect::Nothing }
}

/// The id of the call that an update is about.
fn call_of<'a>(update: &Object<'a>) -> Option<Cow<'a, str>> {
    update.str("toolCallId").filter(|id| !id.is_empty())
}
