//! The rules of `open-responses.v1` streams.
//!
//! The prose of Open Responses, and what makes the `openai` packages fail, are rules of the document. What they read although the response
//! is then incomplete or contradicts itself is usual. Numbers need only increase; that they have no gaps is framegate's own.

mod items;

use super::withheld;
use crate::verify::{Basis, Begin, Finding, Numbering, OneEnd, Rule, Verifier};
use items::ItemRules;
use serde_json::Value;
use std::collections::HashMap;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("resume.repeat"),
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("start.missing"),
    Rule::of_event("start.repeat"),
    Rule::of_event("end.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("response.changed"),
    Rule::of_event("status.differs"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::between_events("part.opened_twice"),
    Rule::between_events("part.not_open"),
    Rule::between_events("part.left_open"),
    Rule::between_events("item.order"),
    Rule::between_events("item.changed"),
    Rule::of_event("item.incomplete"),
    Rule::between_events("text.differs"),
    Rule::between_events("arguments.differs"),
    Rule::between_events("output.differs"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
];

const FIRST: &str = "response.created";
const LAST: &str = "response.completed, response.incomplete or response.failed";

/// The responses of a file, by their ids.
#[derive(Default)]
pub(super) struct OpenResponsesRules {
    responses: HashMap<String, Response>,
    /// The response of the last event, to which an event belongs that names none.
    last: String,
    begin: Begin,
}

struct Response {
    id: Option<String>,
    numbering: Numbering,
    ends: OneEnd,
    /// An `error` may be the last event.
    has_error: bool,
    items: ItemRules,
}

/// The response that an event names.
fn response_of(event: &Value) -> Option<&str> {
    let named = ["/response_id", "/response/id"].into_iter().find_map(|pointer| event.pointer(pointer));
    named.and_then(Value::as_str)
}

/// The status that a response has in a lifecycle event.
fn status_of(kind: &str) -> Option<&'static str> {
    match kind {
        "response.in_progress" => Some("in_progress"),
        "response.completed" => Some("completed"),
        "response.incomplete" => Some("incomplete"),
        "response.failed" => Some("failed"),
        "response.queued" => Some("queued"),
        _ => None,
    }
}

impl Response {
    /// A response whose first event here has that type and number.
    fn new(kind: &str, number: Option<u64>, begin: &Begin) -> Self {
        let mut response = Self {
            id: None,
            numbering: Numbering::monotonic(),
            ends: OneEnd::default(),
            has_error: false,
            items: ItemRules::default(),
        };
        match begin {
            Begin::AtStart => return response,
            Begin::Anywhere if kind == FIRST => return response,
            Begin::Anywhere => response.numbering.go_on_from(number.unwrap_or_default()),
            Begin::After(after) => response.numbering.resume_after(*after),
        }
        response.ends.cut();
        response.items.cut();
        response
    }

    fn event(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        self.numbering.take("sequence_number", event.get("sequence_number").and_then(Value::as_u64), findings);
        let is_terminal = matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        // A response in the background is queued first, if its stream is resumed.
        let is_first = kind == FIRST || (kind == "response.queued" && !self.ends.has_begun());
        if kind == "error" {
            self.has_error = true;
        } else {
            self.ends.take(is_first, is_terminal, FIRST, LAST, findings);
        }
        let Some(response) = event.get("response") else { return self.items.event(kind, event, findings) };
        let id = response.get("id").and_then(Value::as_str);
        if self.id.is_some() && self.id.as_deref() != id {
            let message = "the id of the response changed: it must be the same in all events";
            findings.push(Finding::error("response.changed", "/response/id", message));
        }
        self.id = self.id.take().or_else(|| id.map(str::to_owned));
        let status = response.get("status").and_then(Value::as_str);
        let expected = status_of(kind);
        if expected.is_some() && status.is_some() && expected != status {
            let message = format!("the status of the response contradicts {kind}");
            findings.push(Finding::error("status.differs", "/response/status", message));
        }
        if is_terminal {
            self.items.terminal(response, findings);
        }
    }
}

impl Verifier for OpenResponsesRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let named = response_of(event).unwrap_or(&self.last);
        // A response that begins under another name is another one; in any other event, the name has changed.
        let is_new = kind == FIRST || event.get("response_id").is_some() || self.responses.is_empty();
        let name = if is_new || self.responses.contains_key(named) { named } else { &self.last }.to_owned();
        let begin = &mut self.begin;
        let number = event.get("sequence_number").and_then(Value::as_u64);
        let response =
            self.responses.entry(name.clone()).or_insert_with(|| Response::new(kind, number, &begin.next_stream()));
        response.event(kind, event, findings);
        self.last = name;
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for response in self.responses.values().filter(|response| !response.has_error) {
            response.ends.end(LAST, findings);
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        response_of(event).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("sequence_number")
    }
}

/// A finding that is usual.
fn usual(rule: &'static str, pointer: &str, message: &str) -> Finding {
    Finding::error(rule, pointer, message).on(Basis::Usual)
}
