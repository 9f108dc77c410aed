//! The rules of `ui-message-stream.v1` streams.
//!
//! What makes the SDK's reader fail, or lose what it has read, is a rule of the document. What it ignores, although the message is
//! then incomplete or open forever, is usual. The numbers are framegate's own.

use super::withheld;
use crate::verify::{Basis, Begin, Finding, Numbering, Pairs, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("resume.repeat"),
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("start.missing"),
    Rule::of_event("start.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::between_events("step.opened_twice"),
    Rule::between_events("step.not_open"),
    Rule::between_events("step.left_open"),
    Rule::between_events("input.not_started"),
    Rule::between_events("call.unknown"),
    Rule::between_events("call.over"),
    Rule::between_events("call.left_open"),
    Rule::between_events("approval.unknown"),
    Rule::of_event("call.of_client"),
    Rule::of_event("notice.kept"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
];

#[derive(Default)]
pub(super) struct UiMessageStreamRules {
    messages: HashMap<String, Message>,
    begin: Begin,
}

/// One message.
struct Message {
    id: Option<String>,
    numbering: Numbering,
    /// The client named a number, so the stream has numbers.
    is_numbered: bool,
    begun: bool,
    ended: bool,
    /// The beginning is missing, so it is unknown what was opened there.
    is_cut: bool,
    texts: Pairs,
    reasonings: Pairs,
    in_step: bool,
    /// Calls whose input is streamed.
    inputs: HashSet<String>,
    /// Known calls, and whether they are over.
    calls: HashMap<String, bool>,
    approvals: HashSet<String>,
}

impl Default for Message {
    fn default() -> Self {
        Self {
            id: None,
            numbering: Numbering::default(),
            is_numbered: false,
            begun: false,
            ended: false,
            is_cut: false,
            texts: Pairs::new("text part", "/id"),
            reasonings: Pairs::new("reasoning part", "/id"),
            in_step: false,
            inputs: HashSet::new(),
            calls: HashMap::new(),
            approvals: HashSet::new(),
        }
    }
}

/// Changes the basis of the findings that `check` adds.
fn on(basis: Basis, findings: &mut Vec<Finding>, check: impl FnOnce(&mut Vec<Finding>)) {
    let before = findings.len();
    check(findings);
    let found: Vec<Finding> = findings.drain(before..).map(|finding| finding.on(basis)).collect();
    findings.extend(found);
}

impl Message {
    /// A message whose first chunk here has that type and number.
    fn new(kind: &str, seq: Option<u64>, begin: &Begin) -> Self {
        let mut message = Self::default();
        match begin {
            Begin::AtStart => return message,
            Begin::Anywhere if kind == "start" => return message,
            Begin::Anywhere => message.numbering.go_on_from(seq.unwrap_or_default()),
            Begin::After(after) => {
                message.is_numbered = true;
                message.numbering.resume_after(*after);
            }
        }
        message.is_cut = true;
        message.begun = true;
        message.in_step = true;
        message.texts.cut();
        message.reasonings.cut();
        message
    }

    /// The number of a chunk.
    fn number(&mut self, seq: Option<u64>, findings: &mut Vec<Finding>) {
        let basis = if self.is_numbered { Basis::Document } else { Basis::Ours };
        on(basis, findings, |findings| self.numbering.take("seq", seq, findings));
    }

    /// The place of a chunk in its message.
    fn place(&mut self, kind: &str, id: Option<&str>, findings: &mut Vec<Finding>) {
        let is_start = kind == "start";
        if is_start && self.begun {
            let other = id.is_some() && id != self.id.as_deref();
            let (basis, what) = if other && !self.is_cut {
                (Basis::Document, "the reader drops everything before a start with another messageId")
            } else {
                (Basis::Usual, "a message has one start")
            };
            findings.push(Finding::error("start.repeat", "", format!("second start: {what}")).on(basis));
            if other {
                let numbering = std::mem::take(&mut self.numbering);
                *self = Self { numbering, ..Self::default() };
            }
        } else if self.ended {
            let message = "chunk after the end: no chunk may follow finish or abort";
            findings.push(Finding::error("end.not_last", "", message).on(Basis::Usual));
        } else if !self.begun && !is_start {
            let message = "the first chunk must be start";
            findings.push(Finding::error("start.missing", "", message).on(Basis::Usual));
        }
        self.begun = true;
        if is_start {
            self.id = id.map(str::to_owned);
        }
    }

    /// A chunk refers to a call.
    fn known(&self, call: &str, findings: &mut Vec<Finding>) {
        if !self.calls.contains_key(call) && !self.is_cut {
            let message = "no tool-input-start or tool-input-available has this toolCallId";
            findings.push(Finding::error("call.unknown", "/toolCallId", message));
        }
    }

    /// A result of a call, which may be preliminary.
    fn result(&mut self, call: &str, is_final: bool, findings: &mut Vec<Finding>) {
        self.known(call, findings);
        if self.calls.get(call) == Some(&true) {
            let message = "the call is over: a call has one final result";
            findings.push(Finding::error("call.over", "/toolCallId", message).on(Basis::Usual));
        }
        self.inputs.remove(call);
        self.calls.insert(call.to_owned(), is_final);
    }

    fn step(&mut self, is_start: bool, findings: &mut Vec<Finding>) {
        if is_start == self.in_step && !self.is_cut {
            let (rule, message) = if is_start {
                ("step.opened_twice", "start-step before the finish-step of the previous step")
            } else {
                ("step.not_open", "finish-step without a start-step before it")
            };
            findings.push(Finding::error(rule, "", message).on(Basis::Usual));
        }
        self.in_step = is_start;
    }

    /// The message is over.
    fn end(&mut self, findings: &mut Vec<Finding>) {
        self.ended = true;
        self.texts.end(Basis::Usual, findings);
        self.reasonings.end(Basis::Usual, findings);
        if self.in_step && !self.is_cut {
            let message = "the last step has no finish-step";
            findings.push(Finding::error("step.left_open", "", message).on(Basis::Usual));
        }
        for _ in self.calls.values().filter(|is_over| !**is_over) {
            let message = "a call has no result at the end";
            findings.push(Finding::error("call.left_open", "", message).on(Basis::Ours));
        }
        self.calls.values_mut().for_each(|is_over| *is_over = true);
    }

    /// What framegate writes in each chunk of a type.
    fn constants(kind: &str, chunk: &Value, findings: &mut Vec<Finding>) {
        let is_true = |key: &str| chunk.get(key).and_then(Value::as_bool) == Some(true);
        let of_tool =
            ["tool-input-start", "tool-input-available", "tool-output-available", "tool-output-error"].contains(&kind);
        if of_tool && !(is_true("dynamic") && is_true("providerExecuted")) {
            let message = "dynamic and providerExecuted must be true: the client must not run the tool";
            findings.push(Finding::error("call.of_client", "", message).on(Basis::Ours));
        }
        if kind == "data-notice" && !is_true("transient") {
            let message = "transient must be true: a notice is no part of the message";
            findings.push(Finding::error("notice.kept", "", message).on(Basis::Ours));
        }
    }

    fn chunk(&mut self, kind: &str, chunk: &Value, findings: &mut Vec<Finding>) {
        Self::constants(kind, chunk, findings);
        let text = |key: &str| chunk.get(key).and_then(Value::as_str).unwrap_or_default();
        let (id, call) = (text("id"), text("toolCallId"));
        match kind {
            "text-start" => on(Basis::Usual, findings, |findings| self.texts.open(id, findings)),
            "text-delta" => self.texts.within(id, findings),
            "text-end" => self.texts.close(id, findings),
            "reasoning-start" => on(Basis::Usual, findings, |findings| self.reasonings.open(id, findings)),
            "reasoning-delta" => self.reasonings.within(id, findings),
            "reasoning-end" => self.reasonings.close(id, findings),
            "start-step" => self.step(true, findings),
            "finish-step" => self.step(false, findings),
            "reset-step" => {
                (self.texts, self.reasonings) = (Self::default().texts, Self::default().reasonings);
                self.inputs.clear();
            }
            "tool-input-start" => {
                self.inputs.insert(call.to_owned());
                self.calls.insert(call.to_owned(), false);
            }
            "tool-input-delta" if !self.inputs.contains(call) && !self.is_cut => {
                let message = "no tool-input-start has this toolCallId";
                findings.push(Finding::error("input.not_started", "/toolCallId", message));
            }
            "tool-input-available" => {
                self.inputs.remove(call);
                self.calls.insert(call.to_owned(), false);
                if is_unnamed(text("toolName")) {
                    findings.push(Finding::of(Warning::ToolCallName, "/toolName"));
                }
                let is_empty = match chunk.get("input") {
                    None | Some(Value::Null) => true,
                    Some(Value::Object(fields)) => fields.is_empty(),
                    Some(Value::String(text)) => text.is_empty(),
                    Some(_) => false,
                };
                if is_empty {
                    findings.push(Finding::of(Warning::ToolCallInput, "/input"));
                }
            }
            "tool-input-error" => {
                self.inputs.remove(call);
                self.calls.insert(call.to_owned(), true);
            }
            "tool-output-available" => {
                let is_preliminary = chunk.get("preliminary").and_then(Value::as_bool) == Some(true);
                self.result(call, !is_preliminary, findings);
            }
            "tool-output-error" => {
                self.result(call, true, findings);
                if text("errorText").is_empty() {
                    findings.push(Finding::of(Warning::ToolResultDetails, "/errorText"));
                }
            }
            "tool-output-denied" => self.result(call, true, findings),
            "tool-approval-request" => {
                self.known(call, findings);
                self.approvals.insert(text("approvalId").to_owned());
            }
            "tool-approval-response" if !self.approvals.contains(text("approvalId")) && !self.is_cut => {
                let message = "no tool-approval-request has this approvalId";
                findings.push(Finding::error("approval.unknown", "/approvalId", message));
            }
            "finish" | "abort" => self.end(findings),
            _ => {}
        }
    }
}

impl Verifier for UiMessageStreamRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str);
        let (kind, seq) = (text("type").unwrap_or_default(), event.get("seq").and_then(Value::as_u64));
        let begin = &mut self.begin;
        let message = self
            .messages
            .entry(text("runId").unwrap_or_default().to_owned())
            .or_insert_with(|| Message::new(kind, seq, &begin.next_stream()));
        message.number(seq, findings);
        message.place(kind, text("messageId"), findings);
        message.chunk(kind, event, findings);
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for _ in self.messages.values().filter(|message| !message.ended) {
            let message = "the message has no end: its last chunk must be finish or abort";
            findings.push(Finding::error("end.missing", "", message).on(Basis::Usual));
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("runId").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("seq")
    }
}
