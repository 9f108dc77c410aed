//! The records that the scripted agent writes.
//!
//! Input: what the script says and does. Output: records that the schemas of `stream-json` accept. Never: a figure that was not counted; an id
//! that is used twice.

use super::super::dialogue::QUESTIONS;
use super::script::Call;
use crate::derived::numbered;
use serde_json::{Value, json};
use uuid::Uuid;

/// The name of the model in records.
const MODEL: &str = "demo";
/// The HTTP status of the failure that prompts can ask for.
const OVERLOADED: u16 = 529;

/// Words that were read and written, which stand for tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) read: u64,
    pub(super) written: u64,
}

impl Words {
    fn usage(self) -> Value {
        json!({"input_tokens": self.read, "output_tokens": self.written})
    }
}

/// The outcome of a turn.
#[derive(Debug)]
pub(super) enum Ending {
    /// It ended with this answer.
    Answered(String),
    /// The pretended provider failed.
    Failed,
    /// The host interrupted it, perhaps during a call.
    Interrupted { in_call: bool },
}

/// A turn's figures for its result.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) words: Words,
    /// The sum of all pauses.
    pub(super) paused_ms: u64,
    /// The records in the user's role, and one.
    pub(super) turns: u64,
    pub(super) denials: Vec<Call>,
}

/// A block of a message.
#[derive(Clone, Debug)]
pub(super) enum Block {
    Thinking(String),
    Text(String),
    Call(Call),
}

impl Block {
    /// What is said piece by piece.
    pub(super) fn content(&self) -> String {
        match self {
            Self::Thinking(text) | Self::Text(text) => text.clone(),
            Self::Call(call) => call.input.to_string(),
        }
    }

    /// The same block with this content, as far as it was said; `None` for a call, which is nothing before it is whole.
    pub(super) fn cut(&self, said: &str) -> Option<Self> {
        match self {
            Self::Thinking(_) => Some(Self::Thinking(said.to_owned())),
            Self::Text(_) => Some(Self::Text(said.to_owned())),
            Self::Call(_) => None,
        }
    }

    fn whole(&self) -> Value {
        match self {
            Self::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": ""}),
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Call(call) => json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}),
        }
    }

    fn empty(&self) -> Value {
        match self {
            Self::Thinking(_) => Self::Thinking(String::new()).whole(),
            Self::Text(_) => Self::Text(String::new()).whole(),
            Self::Call(call) => json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}}),
        }
    }

    fn delta(&self, piece: &str) -> Value {
        match self {
            Self::Thinking(_) => json!({"type": "thinking_delta", "thinking": piece}),
            Self::Text(_) => json!({"type": "text_delta", "text": piece}),
            Self::Call(_) => json!({"type": "input_json_delta", "partial_json": piece}),
        }
    }
}

/// Writes the records of one process.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) session: String,
    cwd: String,
    seed: Uuid,
    ids: u64,
    results: u64,
}

impl Records {
    pub(super) fn new(session: Option<String>, cwd: String, seed: Uuid) -> Self {
        let session = session.unwrap_or_else(|| seed.to_string());
        Self { session, cwd, seed, ids: 0, results: 0 }
    }

    /// The next id.
    pub(super) fn id(&mut self) -> Uuid {
        self.ids += 1;
        numbered(&self.seed, "demo/", self.ids)
    }

    /// Adds the fields that every record of a session has.
    fn of_session(&mut self, mut record: Value) -> Value {
        let id = self.id().to_string();
        if let Some(fields) = record.as_object_mut() {
            fields.insert("session_id".to_owned(), self.session.clone().into());
            fields.insert("uuid".to_owned(), id.into());
        }
        record
    }

    pub(super) fn init(&mut self, mode: &str) -> Value {
        self.of_session(json!({
            "type": "system", "subtype": "init", "cwd": self.cwd, "model": MODEL, "permissionMode": mode,
            "apiKeySource": "none", "claude_code_version": concat!("framegate ", env!("CARGO_PKG_VERSION")),
            "output_style": "default", "tools": [QUESTIONS, "Bash", "Edit", "Read", "TodoWrite"], "mcp_servers": [],
            "slash_commands": [], "agents": [], "skills": [], "plugins": [],
        }))
    }

    pub(super) fn requesting(&mut self) -> Value {
        self.of_session(json!({"type": "system", "subtype": "status", "status": "requesting"}))
    }

    fn stream_event(&mut self, event: Value) -> Value {
        let mut record = json!({"type": "stream_event", "parent_tool_use_id": null});
        if let Some(fields) = record.as_object_mut() {
            fields.insert("event".to_owned(), event);
        }
        self.of_session(record)
    }

    pub(super) fn message_start(&mut self, id: &str, words: Words) -> Value {
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": MODEL, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": words.usage()});
        self.stream_event(json!({"type": "message_start", "message": message}))
    }

    pub(super) fn block_start(&mut self, index: u32, block: &Block) -> Value {
        let event = json!({"type": "content_block_start", "index": index, "content_block": block.empty()});
        self.stream_event(event)
    }

    pub(super) fn delta(&mut self, index: u32, block: &Block, piece: &str) -> Value {
        let event = json!({"type": "content_block_delta", "index": index, "delta": block.delta(piece)});
        self.stream_event(event)
    }

    pub(super) fn block_stop(&mut self, index: u32) -> Value {
        self.stream_event(json!({"type": "content_block_stop", "index": index}))
    }

    /// The whole block, which precedes its end.
    pub(super) fn assistant(&mut self, id: &str, block: &Block, words: Words, is_cut: bool) -> Value {
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": MODEL,
            "content": [block.whole()], "stop_reason": null, "stop_sequence": null, "usage": words.usage()});
        let mut record = json!({"type": "assistant", "message": message, "parent_tool_use_id": null});
        if let Some(fields) = record.as_object_mut().filter(|_| is_cut) {
            fields.insert("aborted".to_owned(), true.into());
        }
        self.of_session(record)
    }

    /// The end of a message; without a reason, it was interrupted.
    pub(super) fn message_end(&mut self, reason: Option<&str>, words: Words) -> [Value; 2] {
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        let end = json!({"type": "message_delta", "delta": delta, "usage": words.usage()});
        [self.stream_event(end), self.stream_event(json!({"type": "message_stop"}))]
    }

    /// A permission request. It offers a rule for the tool, which lasts as long as the process, unless a person must answer each time.
    pub(super) fn ask(&self, request_id: &str, call: &Call, reason: &str) -> Value {
        if call.name == QUESTIONS {
            return json!({"type": "control_request", "request_id": request_id, "request": {
                "subtype": "can_use_tool", "tool_name": call.name, "display_name": call.name, "input": call.input,
                "tool_use_id": call.id, "requires_user_interaction": true,
            }});
        }
        let rule = json!({"type": "addRules", "rules": [{"toolName": call.name}], "behavior": "allow",
            "destination": "session"});
        json!({"type": "control_request", "request_id": request_id, "request": {
            "subtype": "can_use_tool", "tool_name": call.name, "display_name": call.name, "input": call.input,
            "description": reason, "permission_suggestions": [rule], "tool_use_id": call.id,
        }})
    }

    pub(super) fn cancel(&self, request_id: &str) -> Value {
        json!({"type": "control_cancel_request", "request_id": request_id})
    }

    pub(super) fn respond(&self, request_id: &str, response: &Value) -> Value {
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": request_id,
            "response": response}})
    }

    pub(super) fn refuse(&self, request_id: &str, error: &str) -> Value {
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": error}})
    }

    /// The result of a call that ran.
    pub(super) fn tool_result(&mut self, call: &Call, text: &str, result: &Value, was_asked: bool) -> Value {
        let source = if was_asked { "user_temporary" } else { "config" };
        let meta = json!([{"id": call.id, "permission_decision": {"decision": "accept", "source": source}}]);
        self.user(&json!([{"tool_use_id": call.id, "type": "tool_result", "content": text}]), Some((result, &meta)))
    }

    /// The result of a call that did not run: it was refused, or interrupted.
    pub(super) fn tool_refused(&mut self, call: &Call, text: &str, is_interruption: bool) -> Value {
        let (decision, kind) = match is_interruption {
            true => ("cancelled", "interrupted"),
            false => ("reject", "user-rejected"),
        };
        let meta = json!([{"id": call.id, "non_execution_kind": kind,
            "permission_decision": {"decision": decision, "source": "user_reject"}}]);
        let content = json!([{"type": "tool_result", "content": text, "is_error": true, "tool_use_id": call.id}]);
        self.user(&content, Some((&json!(format!("Error: {text}")), &meta)))
    }

    /// The runner's note about an interruption.
    pub(super) fn interruption(&mut self, in_call: bool) -> Value {
        let text = if in_call { "[Request interrupted by user for tool use]" } else { "[Request interrupted by user]" };
        self.user(&json!([{"type": "text", "text": text}]), None)
    }

    fn user(&mut self, content: &Value, tool: Option<(&Value, &Value)>) -> Value {
        let message = json!({"role": "user", "content": content});
        let mut record = json!({"type": "user", "message": message, "parent_tool_use_id": null});
        if let (Some(fields), Some((result, meta))) = (record.as_object_mut(), tool) {
            fields.insert("tool_use_result".to_owned(), result.clone());
            fields.insert("tool_result_meta".to_owned(), meta.clone());
        }
        self.of_session(record)
    }

    /// A retry of the pretended request.
    pub(super) fn retry(&mut self, delay_ms: u64) -> Value {
        self.of_session(json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1,
            "retry_delay_ms": delay_ms, "error_status": OVERLOADED, "error": "overloaded"}))
    }

    /// The text of the pretended failure.
    pub(super) fn failure_text() -> String {
        format!("API Error: {OVERLOADED} Overloaded. (The prompt asks the demo to fail; no provider was asked.)")
    }

    /// The runner's message about a failure.
    pub(super) fn failure(&mut self) -> Value {
        let id = self.id().to_string();
        let content = json!([{"type": "text", "text": Self::failure_text()}]);
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": "<synthetic>",
            "content": content, "stop_reason": "stop_sequence", "stop_sequence": "", "usage": Words::default().usage()});
        self.of_session(json!({"type": "assistant", "message": message, "parent_tool_use_id": null,
            "error": "overloaded", "is_api_error_message": true, "api_error_status": OVERLOADED,
            "api_error_type": "overloaded_error"}))
    }

    /// The end of a turn. The cost is 0, because nothing was asked of a provider.
    pub(super) fn result(&mut self, ending: &Ending, figures: &Figures) -> Value {
        let denial = |call: &Call| json!({"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input});
        let denials: Vec<Value> = figures.denials.iter().map(denial).collect();
        let own = match ending {
            Ending::Answered(text) => json!({"subtype": "success", "is_error": false, "result": text,
                "stop_reason": "end_turn", "terminal_reason": "completed"}),
            Ending::Failed => json!({"subtype": "success", "is_error": true, "result": Self::failure_text(),
                "stop_reason": "stop_sequence", "terminal_reason": "api_error", "api_error_status": OVERLOADED,
                "api_error_type": "overloaded_error"}),
            Ending::Interrupted { in_call } => json!({"subtype": "error_during_execution", "is_error": true,
                "errors": [], "stop_reason": null,
                "terminal_reason": if *in_call { "aborted_tools" } else { "aborted_streaming" }}),
        };
        let mut record = json!({"type": "result", "duration_ms": figures.paused_ms, "duration_api_ms": 0,
            "num_turns": figures.turns, "total_cost_usd": 0, "usage": figures.words.usage(), "modelUsage": {},
            "permission_denials": denials, "result_index": self.results});
        if let (Some(fields), Value::Object(own)) = (record.as_object_mut(), own) {
            fields.extend(own);
        }
        self.results += 1;
        self.of_session(record)
    }
}
