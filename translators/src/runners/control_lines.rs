//! The host's lines in the control protocol on the standard input of a runner: numbered requests, answers to the runner's requests,
//! and prompts, one JSON object a line.
//!
//! Input: what a dialogue wants to say. Output: the lines, in order. Never: a line that is not complete.

use super::elicitation::object_of;
use crate::frame::RawJson;
use crate::host::Outgoing;
use crate::json::{Json, to_raw};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The id of the first request, which opens the protocol.
pub(super) const FIRST: &str = "req_1";

/// The lines that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct ControlLines {
    out: Vec<Outgoing>,
    requests: u64,
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

    /// Sends a prompt; `content` is a text or a list of blocks.
    pub(super) fn prompt(&mut self, content: &Value) {
        self.line(&json!({
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": null,
            "session_id": "",
        }));
    }

    /// Sends a request with the next number.
    pub(super) fn request(&mut self, request: &Value) {
        self.requests += 1;
        let request_id = format!("req_{}", self.requests);
        self.line(&json!({"type": "control_request", "request_id": request_id, "request": request}));
    }

    /// Answers a request of the runner.
    pub(super) fn succeed(&mut self, request_id: &str, response: &RawValue) {
        self.respond(&Success { subtype: "success", request_id, response });
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
