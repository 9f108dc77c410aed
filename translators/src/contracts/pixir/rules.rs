//! The rules of `pixir.v1` streams and logs.
//!
//! A log contains only canonical events. A stream also has ephemeral ones, and a terminal `status` after each turn. A turn
//! begins with the user's input, or with the first event that belongs to one. Between turns the session continues: statuses,
//! compactions, forks and subagents' actions. A log may stop anywhere.

use super::{is_ephemeral, is_session_id, is_terminal};
use crate::encode::Pruned;
use crate::verify::{Basis, Begin, Finding, Ids, Numbering, Pairs, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("resume.repeat"),
    Rule::of_event("id.grammar"),
    Rule::of_event("id.repeat"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::between_events("text.differs"),
    Rule::between_events("text.not_kept"),
    Rule::of_event("resource.inline"),
    Rule::of_event("end.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
    Rule::of_event("message.empty_content"),
    Rule::of_event("metric.zero_tokens"),
];

#[derive(Default)]
pub(super) struct PixirRules {
    sessions: HashMap<String, Session>,
    ids: Ids,
    begin: Begin,
}

struct Session {
    numbering: Numbering,
    calls: Pairs,
    /// The beginning is missing: the first number may be any, and earlier calls and text are unknown.
    is_cut: bool,
    /// The first number may be any.
    is_free: bool,
    /// Whether an event has arrived.
    begun: bool,
    /// Whether an ephemeral event has arrived; a log has none.
    is_live: bool,
    turn: Turn,
    /// The `text_delta` chunks since the last `assistant_message`, and the offset of those after the last call.
    deltas: String,
    after_call: usize,
}

/// The state of the last turn.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Turn {
    /// There was no turn yet.
    None,
    /// It is open; `is_live` if a part of it is ephemeral.
    Open { is_live: bool },
    /// It ended with that status.
    Over(String),
}

const LAST: &str = "status done, error or interrupted";

impl Session {
    fn new() -> Self {
        Self {
            numbering: Numbering::monotonic(),
            calls: Pairs::new("tool call", "/data/call_id"),
            is_cut: false,
            is_free: false,
            begun: false,
            is_live: false,
            turn: Turn::None,
            deltas: String::new(),
            after_call: 0,
        }
    }

    /// The first event of a stream: at its start, after a gap, or where a client resumed it.
    fn begin(&mut self, begin: &Begin, is_gap: bool, seq: Option<u64>) {
        match begin {
            Begin::After(after) => {
                self.is_cut = true;
                self.numbering.resume_after(*after);
            }
            Begin::Anywhere if seq == Some(0) => {}
            Begin::AtStart if !is_gap => {}
            Begin::Anywhere | Begin::AtStart => (self.is_cut, self.is_free) = (true, true),
        }
        if self.is_cut {
            self.calls.cut();
        }
    }

    fn order(&mut self, kind: &str, status: &str, findings: &mut Vec<Finding>) {
        self.is_live |= is_ephemeral(kind);
        let is_last = kind == "status" && is_terminal(status);
        let is_open = matches!(self.turn, Turn::Open { .. });
        if let (Turn::Over(word), true) = (&self.turn, is_last) {
            let message = format!("second end: a turn must have exactly one {LAST}");
            // A person may interrupt an idle session, but a turn cannot be done twice.
            let basis = if word == status { Basis::Document } else { Basis::Ours };
            findings.push(Finding::error("end.repeat", "", message).on(basis));
        } else if let (Turn::Over(_), false) = (&self.turn, kind == "user_message") {
            let message = format!("event after the end: only the next turn may follow {LAST}");
            let basis = if is_of_turn(kind) { Basis::Document } else { Basis::Ours };
            findings.push(Finding::error("end.not_last", "", message).on(basis));
        }
        let is_thinking = kind == "status" && status == "thinking";
        let is_streamed = is_thinking || matches!(kind, "text_delta" | "reasoning_delta");
        let was_live = self.turn == Turn::Open { is_live: true };
        self.turn = match &self.turn {
            _ if is_last => Turn::Over(status.to_owned()),
            Turn::Over(_) if kind != "user_message" && !is_thinking => return,
            _ if is_open || is_streamed || is_of_turn(kind) || kind == "user_message" => {
                Turn::Open { is_live: is_streamed || (was_live && kind != "user_message") }
            }
            turn => turn.clone(),
        };
    }

    fn text(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "user_message" => self.forget(),
            "text_delta" => self.deltas.push_str(text("/data/chunk")),
            "tool_call" | "tool_result" => self.after_call = self.deltas.len(),
            "assistant_message" => {
                let after_call = self.deltas.get(self.after_call..).unwrap_or_default();
                let (deltas, message) = (self.deltas.as_str(), text("/data/text"));
                // A message that was withheld or broke off has its error instead.
                let is_error = !text("/data/metadata/error_kind").is_empty() && message.is_empty();
                let is_rest = self.is_cut && message.ends_with(deltas);
                if !(deltas.is_empty() || is_rest || is_error || deltas == message) {
                    // Text before a call need not be part of the answer.
                    let basis = if after_call == message { Basis::Ours } else { Basis::Document };
                    let message = "the text differs from the text_delta chunks before it";
                    findings.push(Finding::error("text.differs", "/data/text", message).on(basis));
                }
                self.forget();
            }
            "status" if is_terminal(text("/data/status")) => {
                if !self.deltas.is_empty() && text("/data/status") == "done" {
                    let message = "text_delta chunks without an assistant_message: the log would lose their text";
                    findings.push(Finding::error("text.not_kept", "", message));
                }
                self.forget();
            }
            _ => {}
        }
    }

    /// The text was kept in a message, or dropped.
    fn forget(&mut self) {
        self.deltas.clear();
        self.after_call = 0;
    }

    fn calls(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let call_id = event.pointer("/data/call_id").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call" => self.calls.open(call_id, findings),
            "tool_result" => self.calls.close(call_id, findings),
            _ => {}
        }
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        // The session may still be working.
        self.calls.end(Basis::Ours, findings);
        let basis = match self.turn {
            Turn::Open { is_live: true } => Basis::Document,
            Turn::None | Turn::Open { .. } => Basis::Ours,
            Turn::Over(_) => return,
        };
        if self.is_live {
            let message = format!("the stream has no end: the last event of a turn must be {LAST}");
            findings.push(Finding::error("end.missing", "", message).on(basis));
        }
    }
}

/// Whether an event can only be part of a turn: what the model emits.
fn is_of_turn(kind: &str) -> bool {
    matches!(kind, "assistant_message" | "reasoning" | "tool_call" | "text_delta" | "reasoning_delta")
}

impl Verifier for PixirRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, session_id) = (text("/type"), text("/session_id"));
        let session = self.sessions.entry(session_id.to_owned()).or_insert_with(|| {
            if !is_session_id(session_id) {
                let message =
                    "session_id cannot name the log's file: use letters, digits, _, - and ., at most 235 bytes";
                findings.push(Finding::error("id.grammar", "/session_id", message));
            }
            Session::new()
        });
        self.ids.take("id", event.get("id").and_then(Value::as_str), findings);
        let seq = event.get("seq").and_then(Value::as_u64);
        if !std::mem::replace(&mut session.begun, true) {
            let is_gap = kind == "status" && text("/data/reason").contains(Pruned::REASON);
            session.begin(&self.begin.next_stream(), is_gap, seq);
        }
        if let Some(seq) = seq.filter(|_| std::mem::take(&mut session.is_free)) {
            session.numbering.go_on_from(seq);
        }
        session.numbering.take("seq", seq, findings);
        session.order(kind, text("/data/status"), findings);
        session.text(kind, event, findings);
        session.calls(kind, event, findings);
        resources(event, findings);
        warn(kind, event, findings);
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for session in self.sessions.values_mut() {
            session.end(findings);
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("session_id").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("seq")
    }
}

/// A resource is identified by name and hash and must not contain its content.
fn resources(event: &Value, findings: &mut Vec<Finding>) {
    let list = event.pointer("/data/resources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (at, resource) in list.iter().enumerate() {
        let is_content =
            |value: &Value| value.as_str().is_some_and(|text| text.starts_with("data:") || text.len() > MAX_IDENTITY);
        let has_content = |fields: &Map<String, Value>| {
            fields.values().any(is_content)
                || CONTENT
                    .iter()
                    .any(|key| fields.get(*key).and_then(Value::as_str).is_some_and(|text| !text.is_empty()))
        };
        let has_nested = |fields: &Map<String, Value>| fields.values().filter_map(Value::as_object).any(has_content);
        if resource.as_object().is_some_and(|fields| has_content(fields) || has_nested(fields)) {
            let message = "a resource contains its own content: it must be identified by name and hash";
            findings.push(Finding::error("resource.inline", format!("/data/resources/{at}"), message));
        }
    }
}

/// Fields in which descriptors of other protocols have the content itself.
const CONTENT: &[&str] = &["data", "base64", "b64", "blob", "bytes", "content", "payload"];

/// Maximum length of a name, path or hash, in bytes.
const MAX_IDENTITY: usize = 8192;

fn warn(kind: &str, event: &Value, findings: &mut Vec<Finding>) {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    match kind {
        "tool_call" => {
            if is_unnamed(text("/data/name")) {
                findings.push(Finding::of(Warning::ToolCallName, "/data/name"));
            }
            let args = event.pointer("/data/args").and_then(Value::as_object);
            if args.is_none_or(serde_json::Map::is_empty) {
                findings.push(Finding::of(Warning::ToolCallInput, "/data/args"));
            }
        }
        "tool_result" => {
            let failed = event.pointer("/data/ok").and_then(Value::as_bool) == Some(false);
            if failed && text("/data/error/message").is_empty() && text("/data/error/details/output").is_empty() {
                findings.push(Finding::of(Warning::ToolResultDetails, "/data/error"));
            }
        }
        "user_message" | "assistant_message" => {
            let resources = event.pointer("/data/resources").and_then(Value::as_array);
            let attached = resources.is_some_and(|list| !list.is_empty());
            // A run that failed without any text has its error instead.
            let has = |key: &str| !text(&format!("/data/metadata/{key}")).is_empty();
            let failed = has("terminal_status") || has("error_kind");
            if text("/data/text").is_empty() && !attached && !failed {
                findings.push(Finding::of(Warning::MessageContent, "/data/text"));
            }
        }
        "provider_usage" => {
            let zero =
                |key: &str| event.pointer(&format!("/data/usage_summary/{key}")).and_then(Value::as_u64) == Some(0);
            if zero("input_tokens") && zero("output_tokens") {
                findings.push(Finding::of(Warning::MetricTokens, "/data/usage_summary"));
            }
        }
        _ => {}
    }
}
