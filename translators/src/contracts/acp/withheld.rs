//! The stand-in for a withheld message.
//!
//! A message that later ones refer to is replaced by one of its type without its content, and so is one that ends something: a
//! call, a question, its withdrawal, the answer. Every other message is replaced by a `session_info_update`. All have the
//! notice in framegate's own data.

use super::data::{self, AboutNotice, Failure, Notice, Question};
use super::ending::INTERNAL_ERROR;
use super::writer::{Envelope, Nothing};
use crate::encode::{Events, Word};
use crate::frame::EndReason;
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::Value;
use uuid::Uuid;

/// The title of a call whose announcement is withheld.
const TITLE: &str = "framegate";

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let message = withheld.message();
    let notice = Notice { severity: Word("error"), title: &message, description: None, code: Some(CODE) };
    let (about, seq) = (AboutNotice { notice }, withheld.number().unwrap_or_default());
    let envelope = Envelope::new(&withheld.frame.stream);
    let kind = withheld.event.kind;
    let call = |path: &[&str]| withheld.text(path).and_then(|id| Uuid::parse_str(&id).ok());
    match kind {
        "tool_call" | "tool_call_update" => {
            let status = withheld.text(&["params", "update", "status"]);
            let status = ["completed", "failed"].into_iter().find(|known| status.as_deref() == Some(known)).map(Word);
            let title = (kind == "tool_call").then_some(TITLE);
            if let Some(id) =
                call(&["params", "update", "toolCallId"]).filter(|_| title.or(status.map(|w| w.0)).is_some())
            {
                let data = data::Call { title, status, ..data::call(id) };
                return envelope.update(seq, kind, &data, &about, out);
            }
        }
        "request_permission" => {
            let ids = withheld.text(&["id"]).zip(call(&["params", "toolCall", "toolCallId"]));
            if let Some((id, call)) = ids {
                let tool_call = data::Call { title: Some(TITLE), ..data::call(call) };
                let question = Question { tool_call, options: super::questions::choices() };
                return envelope.ask(seq, &id, &question, &about, out);
            }
        }
        "cancel_request" => {
            if let Some(id) = withheld.text(&["params", "requestId"]) {
                return envelope.cancel(seq, &id, &about, out);
            }
        }
        "result" => {
            let cancelled = withheld.end() == Some(EndReason::Interrupted);
            let stop_reason = Word(if cancelled { "cancelled" } else { "end_turn" });
            return envelope.result(seq, &data::Answer { stop_reason, usage: None }, &about, out);
        }
        "error" => {
            let failure = Failure { code: Some(CODE), usage: None };
            return envelope.error(seq, INTERNAL_ERROR, &message, &failure, &about, out);
        }
        _ => {}
    }
    envelope.update(seq, "session_info_update", &Nothing, &about, out);
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let own = super::rules::own(event).and_then(|own| own.get("notice"));
    let text = |key: &str| own.and_then(|notice| notice.get(key)).and_then(Value::as_str).unwrap_or_default();
    text("code") == CODE && text("title").starts_with(NOTICE)
}
