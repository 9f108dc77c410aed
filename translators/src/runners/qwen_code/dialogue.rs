//! The host's half of the control protocol: `qwen --input-format stream-json`.
//!
//! Input: what the host wants to send, and the records of standard output. Output: lines for standard input. The command line sets
//! the session, the model and the mode. Never: a request of the runner left unanswered, even if this host does not support it; an
//! approval with an input of the host's own, which the runner would ignore.

use super::super::control_lines::{ControlLines, with_field};
use super::super::elicitation::object_of;
use crate::decode::Record;
use crate::frame::{Decision, RawJson};
use crate::host::{Answer, Dialogue, HostMessage, OpenQuestion, Opening, Outgoing, PendingQuestions, SendError};
use crate::json::{Json, Object, to_raw};
use serde_json::json;
use std::collections::BTreeMap;

/// How long the runner waits for an answer, in milliseconds: the longest time that it accepts. Its own default is a minute.
const PATIENCE_MS: u64 = 600_000;

/// The text that the model reads if a refusal has no reason.
const REFUSED: &str = "The user does not want this to be done.";

/// The tool whose answer is sent as its permission.
const QUESTIONS: &str = "ask_user_question";

#[derive(Debug, Default)]
pub(super) struct Control {
    lines: ControlLines,
    /// Open questions, by the id of their request.
    questions: PendingQuestions<Question>,
    refusal: Option<String>,
}

/// A permission request.
#[derive(Debug)]
struct Question {
    input: RawJson,
    /// Whether it asks for choices or texts instead of a permission.
    wants_answers: bool,
}

impl Dialogue for Control {
    fn open(&mut self, opening: &Opening) {
        let request = json!({"subtype": "initialize", "timeout": {"canUseTool": PATIENCE_MS}});
        self.lines.open(&request, json!(opening.prompt));
    }

    fn receive(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        match fields.str("type").as_deref() {
            Some("control_request") => self.asked_for(fields),
            Some("control_cancel_request") => {
                self.questions.remove(&fields.str("request_id").unwrap_or_default());
            }
            Some("control_response") => {
                let response = fields.object("response").unwrap_or_default();
                if ControlLines::is_opening(&response) {
                    self.opened(&response);
                }
            }
            // The turn is over, so its questions are closed.
            Some("result") => self.questions.retain(|_| false),
            _ => {}
        }
    }

    fn send(&mut self, _session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        match message {
            HostMessage::Prompt(text) => self.lines.prompt(json!(text)),
            HostMessage::Interrupt => self.lines.interrupt(),
            HostMessage::Answer { approval_id, answer } => {
                self.lines.answer(&mut self.questions, approval_id, |question| question.response(answer))?;
                if answer.decision == Decision::Cancelled {
                    self.lines.interrupt();
                }
            }
            HostMessage::Close => self.lines.close(),
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        self.lines.take()
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        let question = self.questions.get(approval_id)?;
        Some(OpenQuestion {
            args: Some(question.input.clone()),
            wants_answers: question.wants_answers,
            unanswerable: None,
        })
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

impl Control {
    /// The runner answered the first request.
    fn opened(&mut self, response: &Object<'_>) {
        if response.str("subtype").as_deref() == Some("error") {
            self.refusal = Some(response.str("error").unwrap_or_default().into_owned());
            return;
        }
        self.lines.opened();
    }

    fn asked_for(&mut self, fields: &Object<'_>) {
        let request = fields.object("request").unwrap_or_default();
        let Some(request_id) = fields.str("request_id").filter(|id| !id.is_empty()) else { return };
        match request.str("subtype").as_deref() {
            // The decoder names the question the same way: by its request.
            Some("can_use_tool") => self.questions.insert(&request_id, Question::read(&request)),
            subtype => self.lines.refuse(&request_id, subtype),
        }
    }
}

impl Question {
    fn read(request: &Object<'_>) -> Self {
        let input = request.get("input").filter(|input| input.object().is_some());
        Self {
            input: input.map_or_else(crate::json::empty_object, Json::to_raw_as_it_came),
            wants_answers: request.str("tool_name").as_deref() == Some(QUESTIONS),
        }
    }

    fn response(&self, answer: &Answer) -> Result<RawJson, SendError> {
        if answer.decision != Decision::Approved {
            let message = answer.reason.as_deref().filter(|reason| !reason.is_empty()).unwrap_or(REFUSED);
            return Ok(to_raw(&json!({"behavior": "deny", "message": message})));
        }
        if !matches!(answer.scope.as_deref(), None | Some("once")) {
            return Err(SendError::Unsupported("this runner asks for each call: a call can only be allowed once"));
        }
        if !self.wants_answers {
            return Ok(to_raw(&json!({"behavior": "allow"})));
        }
        // The runner finds the question of an answer by its position.
        let answers: BTreeMap<String, String> =
            answer.answers.iter().enumerate().map(|(at, words)| (at.to_string(), words.join(", "))).collect();
        let input = with_field(&self.input, "answers", &to_raw(&answers));
        Ok(object_of([("behavior", "\"allow\""), ("updatedInput", input.get())].into_iter()))
    }
}
