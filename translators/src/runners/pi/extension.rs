//! What extensions ask and tell people.
//!
//! Input: `extension_ui_request` records, and the progress of calls. Output: questions and their answers, and log lines. The client answers
//! on standard input, so the decision is inferred from what happens to the call that waits. Never: a request that wants no answer reported
//! as a question; an approval that no progress of a call shows.

use super::decoder::Pi;
use super::outcome::Verdict;
use super::tools::kind_of;
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, LogLevel, RawJson, SharedStr, ToolKind};
use crate::host::SETTLED;
use crate::json::{Json, Object, to_raw};
use crate::normalizer::{Normalizer, Target};
use serde_json::json;
use uuid::Uuid;

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

/// A question of an extension that no record answers.
#[derive(Debug)]
pub(super) struct Question {
    approval_id: SharedStr,
    /// The call that waits for the answer: the only one that had begun, and showed no progress.
    call_id: SharedStr,
}

/// What a call does.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallProgress<'t> {
    /// It shows that it runs.
    Runs,
    /// It is over, with this verdict and text.
    Over(Verdict, &'t str),
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
        let approval_id = SharedStr::from(&*fields.str("id").unwrap_or_default());
        let call = self.call_in_question();
        let target = Target::main(self.runs.stream(normalizer));
        let message = fields.str("message").or_else(|| fields.str("title")).filter(|text| !text.is_empty());
        let ask = ApprovalRequested {
            approval_id: approval_id.clone(),
            tool_id: call.as_ref().map(|(_, tool)| *tool),
            tool_name: SharedStr::from(TOOL),
            args: asked.args(fields),
            reason: message.map(String::from),
        };
        normalizer.approval_requested(target, ask);
        let most = normalizer.most_open();
        if let (Some(run), Some((call_id, _))) = (self.runs.open.as_mut(), call)
            && run.questions.len() < most
        {
            run.questions.push(Question { approval_id, call_id });
        }
    }

    /// The call that an extension asks about, if only one can be meant: a tool of the runner itself that waits to run.
    fn call_in_question(&self) -> Option<(SharedStr, Uuid)> {
        let mut running = self.runs.open.as_ref()?.calls.iter().filter(|(_, call)| call.is_started);
        let (id, call) = running.next().filter(|_| running.next().is_none())?;
        (!call.shows_progress && kind_of(&call.name) != ToolKind::Other).then(|| (id.clone(), call.tool.id))
    }

    /// Resolves the questions about a call, as far as its progress shows the answer. The host may have answered them before. Returns
    /// whether it did not approve one of them.
    pub(super) fn answered(&mut self, call_id: &str, progress: CallProgress<'_>, normalizer: &mut Normalizer) -> bool {
        let Some(run) = self.runs.open.as_mut().filter(|run| !run.questions.is_empty()) else { return false };
        let (stream, settled) = (run.key, Some(SETTLED.to_owned()));
        let (decision, reason) = match progress {
            CallProgress::Runs | CallProgress::Over(Verdict::Ended(0), _) => (Decision::Approved, None),
            CallProgress::Over(Verdict::Refused, text) => (Decision::Rejected, Some(text.to_owned())),
            CallProgress::Over(Verdict::Aborted, text) => (Decision::Cancelled, Some(text.to_owned())),
            // The tool failed, or was refused in words that only the extension knows.
            CallProgress::Over(Verdict::Ended(_) | Verdict::Failed, _) => (Decision::Cancelled, settled),
        };
        let (about, others) = std::mem::take(&mut run.questions).into_iter().partition(|ask| *ask.call_id == *call_id);
        run.questions = others;
        let about: Vec<Question> = about;
        let mut was_refused = false;
        for Question { approval_id, .. } in about {
            was_refused |= normalizer.approval_refused(stream, &approval_id);
            let answer = ApprovalResolved { approval_id, decision, by: None, reason: reason.clone(), scope: None };
            normalizer.approval_resolved(stream, answer);
        }
        was_refused
    }
}
