//! The rules of `pixir.v1` streams and logs.
//!
//! A stream has ephemeral events and a terminal `status` behind each turn; a log has neither. Which of both a file is shows
//! from its events.

use super::{is_ephemeral, is_session_id, is_terminal};
use crate::encode::Pruned;
use crate::verify::{Finding, Ids, Numbering, OneEnd, Pairs, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct PixirRules {
    sessions: HashMap<String, Session>,
    ids: Ids,
}

struct Session {
    numbering: Numbering,
    calls: Pairs,
    /// The front is gone: the first number may be any, and what was opened or said before is not known.
    is_cut: bool,
    /// Whether a number came behind the cut.
    is_numbered: bool,
    /// Whether an ephemeral event came: a log has none.
    live: bool,
    ends: OneEnd,
    /// The `text_delta` chunks since the last `assistant_message`.
    said: String,
}

const LAST: &str = "status done, error or interrupted";

impl Session {
    fn new() -> Self {
        Self {
            numbering: Numbering::default(),
            calls: Pairs::new("tool call", "/data/call_id"),
            is_cut: false,
            is_numbered: false,
            live: false,
            ends: OneEnd::default(),
            said: String::new(),
        }
    }

    fn order(&mut self, kind: &str, is_last: bool, findings: &mut Vec<Finding>) {
        self.live |= is_ephemeral(kind);
        // A turn ends, not the session: what a person says next opens another one.
        if kind == "user_message" && self.ends.has_ended() {
            self.ends = OneEnd::default();
        }
        // Any event may be the first one: not every runner tells the prompt.
        let is_first = !self.ends.has_begun();
        self.ends.take(is_first, is_last, kind, LAST, findings);
    }

    fn text(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "text_delta" => self.said.push_str(text("/data/chunk")),
            "assistant_message" => {
                let said = std::mem::take(&mut self.said);
                // A message that was withheld, or that broke off, has its error instead.
                let is_error = !text("/data/metadata/error_kind").is_empty() && text("/data/text").is_empty();
                let is_rest = self.is_cut && text("/data/text").ends_with(&said);
                let is_told = said.is_empty() || is_rest || said == text("/data/text");
                if !is_told && !is_error {
                    let message = "the text is not what the text_delta chunks before it said";
                    findings.push(Finding::error("text.differs", "/data/text", message));
                }
            }
            "status" if is_terminal(text("/data/status")) => {
                let left = !std::mem::take(&mut self.said).is_empty();
                if left && text("/data/status") == "done" {
                    let message = "text_delta chunks that no assistant_message holds: the log would lose them";
                    findings.push(Finding::error("text.not_kept", "", message));
                }
            }
            _ => {}
        }
    }

    fn calls(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let call_id = event.pointer("/data/call_id").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call" => self.calls.open(call_id, findings),
            "tool_result" => self.calls.close(call_id, findings),
            _ => {}
        }
    }
}

impl Verifier for PixirRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let (kind, session_id) = (text("/type"), text("/session_id"));
        let session = self.sessions.entry(session_id.to_owned()).or_insert_with(|| {
            if !is_session_id(session_id) {
                let message = "session_id names the log's file: letters, digits, _, - and ., at most 235 bytes";
                findings.push(Finding::error("id.grammar", "/session_id", message));
            }
            Session::new()
        });
        self.ids.take("id", event.get("id").and_then(Value::as_str), findings);
        let seq = event.get("seq").and_then(Value::as_u64);
        if !session.ends.has_begun() && kind == "status" && text("/data/reason").contains(Pruned::REASON) {
            session.is_cut = true;
            session.calls.cut();
        } else if let (true, Some(seq)) = (session.is_cut && !session.is_numbered, seq) {
            session.numbering.go_on_from(seq);
            session.is_numbered = true;
        }
        session.numbering.take("seq", seq, findings);
        session.order(kind, kind == "status" && is_terminal(text("/data/status")), findings);
        session.text(kind, event, findings);
        session.calls(kind, event, findings);
        resources(event, findings);
        warn(kind, event, findings);
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for session in self.sessions.values_mut() {
            session.calls.end(findings);
            if session.live {
                session.ends.end(LAST, findings);
            }
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("session_id").and_then(Value::as_str).unwrap_or_default()
    }

    fn tells_of_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("seq")
    }
}

/// A resource stands by identity and hash; its content never.
fn resources(event: &Value, findings: &mut Vec<Finding>) {
    let list = event.pointer("/data/resources").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (at, resource) in list.iter().enumerate() {
        let is_content =
            |value: &Value| value.as_str().is_some_and(|text| text.starts_with("data:") || text.len() > MAX_IDENTITY);
        if resource.as_object().is_some_and(|fields| fields.values().any(is_content)) {
            let message = "a resource holds its own content: it stands by identity and hash";
            findings.push(Finding::error("resource.inline", format!("/data/resources/{at}"), message));
        }
    }
}

/// No name, path or hash is longer than this, in bytes.
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
            // A run that failed without a word has its error instead.
            let told = |key: &str| !text(&format!("/data/metadata/{key}")).is_empty();
            let failed = told("terminal_status") || told("error_kind");
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
