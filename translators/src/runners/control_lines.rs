//! The host's lines in the control protocol on the standard input of a runner: numbered requests, answers to the runner's requests,
//! and prompts, one JSON object a line.
//!
//! Input: what a dialogue wants to say. Output: the lines, in order. Never: a line that is not complete, or a prompt before the runner
//! has answered the first request.

use super::elicitation::object_of;
use crate::frame::{RawJson, SharedStr};
use crate::host::{Outgoing, PendingQuestions, SendError};
use crate::json::{Json, Object, to_raw};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The id of the first request, which opens the protocol.
const FIRST: &str = "req_1";

/// The lines that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct ControlLines {
    out: Vec<Outgoing>,
    requests: u64,
    /// Prompts that wait for the answer to the first request.
    waiting: Option<Vec<Value>>,
}

/// An answer whose text is passed through unchanged.
#[derive(Serialize)]
struct Success<'a> {
    subtype: &'static str,
    request_id: &'a str,
    response: &'a RawValue,
}

#[derive(Serialize)]
struct Response<'t, T> {
    r#type: &'static str,
    response: &'t T,
}

impl ControlLines {
    /// Takes the lines.
    pub(super) fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    /// Sends the first request, and `prompt` once the runner has answered it.
    pub(super) fn open(&mut self, request: &Value, prompt: Value) {
        self.request(request);
        self.waiting = Some(vec![prompt]);
    }

    /// Whether an answer of the runner is the one to the first request.
    pub(super) fn is_opening(response: &Object<'_>) -> bool {
        response.str("request_id").as_deref() == Some(FIRST)
    }

    /// The runner has answered the first request. Prompts before its answer may be lost.
    pub(super) fn opened(&mut self) {
        for prompt in self.waiting.take().unwrap_or_default() {
            self.say(&prompt);
        }
    }

    /// Sends a prompt as soon as the runner takes prompts; `content` is a text or a list of blocks.
    pub(super) fn prompt(&mut self, content: Value) {
        match &mut self.waiting {
            Some(waiting) => waiting.push(content),
            None => self.say(&content),
        }
    }

    fn say(&mut self, content: &Value) {
        self.line(&json!({
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "session_id": "",
        }));
    }

    /// Sends a request with the next number.
    fn request(&mut self, request: &Value) {
        self.requests += 1;
        let request_id = format!("req_{}", self.requests);
        self.line(&json!({"type": "control_request", "request_id": request_id, "request": request}));
    }

    /// Asks the runner to stop its turn.
    pub(super) fn interrupt(&mut self) {
        self.request(&json!({"subtype": "interrupt"}));
    }

    /// Answers an open question with what `response` makes of it, which closes the question.
    ///
    /// # Errors
    /// [`SendError::UnknownQuestion`], or the error of `response`; the question then stays open.
    pub(super) fn answer<Q>(
        &mut self,
        open: &mut PendingQuestions<Q>,
        request_id: &SharedStr,
        response: impl FnOnce(&Q) -> Result<RawJson, SendError>,
    ) -> Result<(), SendError> {
        let no_question = || SendError::UnknownQuestion(request_id.clone());
        let response = response(open.get(request_id).ok_or_else(no_question)?)?;
        open.remove(request_id);
        self.respond(&Success { subtype: "success", request_id, response: &response });
        Ok(())
    }

    /// Answers a request of the runner that this host does not support.
    pub(super) fn refuse(&mut self, request_id: &str, subtype: Option<&str>) {
        let error = format!("this host does not support {} requests", subtype.unwrap_or("nameless"));
        self.respond(&json!({"subtype": "error", "request_id": request_id, "error": error}));
    }

    /// No more lines follow.
    pub(super) fn close(&mut self) {
        self.out.push(Outgoing::EndOfInput);
    }

    fn respond<T: Serialize>(&mut self, response: &T) {
        self.line(&Response { r#type: "control_response", response });
    }

    fn line<T: Serialize>(&mut self, value: &T) {
        let mut line = to_raw(value).get().as_bytes().to_vec();
        line.push(b'\n');
        self.out.push(Outgoing::Input(line));
    }
}

/// An object with one field set and the others unchanged.
pub(super) fn with_field(object: &RawJson, key: &str, value: &RawJson) -> RawJson {
    let fields = Json::new(object).object().unwrap_or_default();
    let others = fields.iter().filter(|(name, _)| *name != key).map(|(name, other)| (name, other.text()));
    object_of(others.chain([(key, value.get())]))
}
