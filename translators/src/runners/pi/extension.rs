//! What extensions ask and tell people.
//!
//! Input: `extension_ui_request` records. Output: questions, and log lines. The client answers on standard input, which is not in the
//! output. Never: a request that wants no answer reported as a question.

use super::decoder::Pi;
use crate::frame::{ApprovalRequested, LogLevel, RawJson, SharedStr};
use crate::json::{Json, Object, to_raw};
use crate::normalizer::{Normalizer, Target};
use serde_json::json;

/// The name of the tool in the question of an extension: the runner names none.
pub(super) const TOOL: &str = "extension";

/// A question of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// One of several choices.
    Select,
    /// Yes or no.
    Confirm,
    /// A text.
    Text,
}

impl Asked {
    /// What a request asks for; `None` if it wants no answer.
    pub(super) fn of(request: &Object<'_>) -> Option<Self> {
        match &*request.str("method").unwrap_or_default() {
            "select" => Some(Self::Select),
            "confirm" => Some(Self::Confirm),
            "input" | "editor" => Some(Self::Text),
            _ => None,
        }
    }

    /// The arguments of the question as people see it: a choice or a text in the form that all runners share.
    pub(super) fn args(self, request: &Object<'_>) -> RawJson {
        let text = |key: &str| request.str(key).unwrap_or_default();
        let title = text("title");
        match self {
            Self::Confirm => to_raw(&json!({"title": title, "message": text("message")})),
            Self::Select => {
                let options = request.items("options").into_iter().filter_map(Json::str);
                let options: Vec<_> = options.map(|label| json!({"label": label})).collect();
                to_raw(&json!({"questions": [{"question": title, "options": options, "multiSelect": false}]}))
            }
            Self::Text => to_raw(&json!({"questions": [{"question": title, "options": []}]})),
        }
    }
}

impl Pi {
    pub(super) fn extension_asks(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(asked) = Asked::of(fields) else {
            if fields.str("method").as_deref() == Some("notify") {
                let level = match fields.str("notifyType").as_deref() {
                    Some("error") => LogLevel::Error,
                    Some("warning") => LogLevel::Warn,
                    _ => LogLevel::Info,
                };
                let message = fields.str("message").unwrap_or_default();
                self.log(level, &message, normalizer);
            }
            return;
        };
        let target = Target::main(self.runs.stream(normalizer));
        let message = fields.str("message").or_else(|| fields.str("title")).filter(|text| !text.is_empty());
        let ask = ApprovalRequested {
            approval_id: SharedStr::from(&*fields.str("id").unwrap_or_default()),
            tool_id: None,
            tool_name: SharedStr::from(TOOL),
            args: asked.args(fields),
            reason: message.map(String::from),
        };
        normalizer.approval_requested(target, ask);
    }
}
