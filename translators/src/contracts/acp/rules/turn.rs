//! The messages of one run, or all messages of another agent.

use super::{NUMBER, own};
use crate::verify::{Basis, Begin, Finding, Numbering};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// A call, as far as it matters here.
#[derive(Debug, Default)]
struct Call {
    is_over: bool,
    has_content: bool,
}

/// One stream of messages.
pub(super) struct Stream {
    /// The id that framegate adds; empty for another agent.
    run: String,
    numbering: Numbering,
    /// The client named a number, so the stream has numbers.
    is_numbered: bool,
    /// The beginning is missing, so it is unknown what was announced there.
    is_cut: bool,
    session: Option<String>,
    /// By the session and the call.
    calls: HashMap<(String, String), Call>,
    /// The questions that wait.
    questions: HashSet<String>,
    /// The kind of chunk that each message has.
    messages: HashMap<String, String>,
    /// The sessions whose prompt the client cancelled.
    cancelled: HashSet<String>,
    /// The client's prompts are part of the stream.
    shows_prompts: bool,
    is_task: bool,
    is_over: bool,
}

/// Kinds of updates about the session, which may come at any time.
const ABOUT_SESSION: &[&str] = &[
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "notice",
    "session_info_update",
    "usage_update",
];

fn text<'e>(event: &'e Value, pointer: &str) -> &'e str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The id of a request, whose type matters.
fn id_of(value: Option<&Value>) -> String {
    value.map(Value::to_string).unwrap_or_default()
}

fn is_empty(content: Option<&Value>) -> bool {
    content.and_then(Value::as_array).is_none_or(Vec::is_empty)
}

impl Stream {
    /// A stream whose first event here has that number.
    pub(super) fn new(run: &str, seq: Option<u64>, begin: &Begin) -> Self {
        let mut stream = Self {
            run: run.to_owned(),
            numbering: Numbering::default(),
            is_numbered: false,
            is_cut: false,
            session: None,
            calls: HashMap::new(),
            questions: HashSet::new(),
            messages: HashMap::new(),
            cancelled: HashSet::new(),
            shows_prompts: false,
            is_task: false,
            is_over: false,
        };
        match begin {
            Begin::AtStart => return stream,
            Begin::Anywhere if seq == Some(0) => return stream,
            Begin::Anywhere => stream.numbering.go_on_from(seq.unwrap_or_default()),
            Begin::After(after) => {
                stream.is_numbered = true;
                stream.numbering.resume_after(*after);
            }
        }
        stream.is_cut = true;
        stream
    }

    pub(super) fn event(&mut self, kind: &str, seq: Option<u64>, event: &Value, findings: &mut Vec<Finding>) {
        let before = findings.len();
        self.numbering.take(NUMBER, seq, findings);
        if !self.is_numbered {
            let found: Vec<Finding> = findings.drain(before..).map(|finding| finding.on(Basis::Ours)).collect();
            findings.extend(found);
        }
        self.place(kind, event, findings);
        match kind {
            "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk" => self.chunk(kind, event, findings),
            "tool_call" => self.tool_call(event, findings),
            "tool_call_update" => self.tool_call_update(event, findings),
            "request_permission" => self.ask(event, findings),
            "cancel_request" => self.withdraw(event, findings),
            "prompt" => (self.shows_prompts, self.is_over) = (true, false),
            "cancel" => drop(self.cancelled.insert(text(event, "/params/sessionId").to_owned())),
            "result" if event.pointer("/result/outcome").is_some() => {
                self.questions.remove(&id_of(event.get("id")));
            }
            "result" if event.pointer("/result/stopReason").is_some() => self.answer(event, findings),
            "error" => self.answer(event, findings),
            _ => {}
        }
    }

    /// The place of a message in its stream.
    fn place(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        if self.is_over && kind != "prompt" {
            let shows = self.shows_prompts && !ABOUT_SESSION.contains(&kind) && event.get("params").is_some();
            let basis = if shows { Basis::Document } else { Basis::Ours };
            let message = "message after the answer: nothing of a turn may follow it";
            findings.push(Finding::error("end.not_last", "", message).on(basis));
        }
        let session = text(event, "/params/sessionId");
        match &self.session {
            _ if session.is_empty() => {}
            None => self.session = Some(session.to_owned()),
            Some(first) if first != session => {
                let message = "another session: a run belongs to one";
                findings.push(Finding::error("session.differs", "/params/sessionId", message).on(Basis::Ours));
            }
            Some(_) => {}
        }
    }

    fn chunk(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let id = text(event, "/params/update/messageId");
        if id.is_empty() {
            return;
        }
        let first = self.messages.entry(id.to_owned()).or_insert_with(|| kind.to_owned());
        if first != kind {
            let message = format!("this message has chunks of the kind {first}: clients join the chunks of one id");
            findings.push(Finding::error("message.shared", "/params/update/messageId", message).on(Basis::Usual));
        }
    }

    fn call(&self, event: &Value, id: &str) -> (String, String) {
        (text(event, "/params/sessionId").to_owned(), id.to_owned())
    }

    fn warnings(event: &Value, findings: &mut Vec<Finding>) {
        let is_empty = match event.pointer("/params/update/rawInput") {
            Some(Value::Null) => true,
            Some(Value::Object(fields)) => fields.is_empty(),
            Some(Value::String(text)) => text.is_empty(),
            _ => false,
        };
        if is_empty {
            findings.push(Finding::of(Warning::ToolCallInput, "/params/update/rawInput"));
        }
    }

    fn tool_call(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let id = text(event, "/params/update/toolCallId");
        let key = self.call(event, id);
        if self.calls.contains_key(&key) {
            let message = "second tool_call with this toolCallId: tool_call_update changes a call";
            findings.push(Finding::error("call.repeat", "/params/update/toolCallId", message).on(Basis::Usual));
        }
        self.is_task |= !self.run.is_empty() && id == self.run;
        self.calls.insert(key.clone(), Call::default());
        let name = event.pointer("/params/update/name").and_then(Value::as_str);
        let is_runners = own(event).and_then(|own| own.get("callId")).is_some();
        if name.is_some_and(is_unnamed) || (name.is_none() && is_runners) {
            findings.push(Finding::of(Warning::ToolCallName, "/params/update/name"));
        }
        Self::warnings(event, findings);
        self.status(&key, event, findings);
    }

    fn tool_call_update(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let key = self.call(event, text(event, "/params/update/toolCallId"));
        let status = text(event, "/params/update/status");
        match self.calls.get(&key) {
            None if self.is_cut => {}
            None => unknown("/params/update/toolCallId", findings),
            Some(call) if call.is_over && matches!(status, "pending" | "in_progress") => {
                let message = "the call is over: completed and failed are final";
                findings.push(Finding::error("call.reopened", "/params/update/toolCallId", message));
            }
            Some(call) if call.is_over => {
                let message = "the call is over: its end has everything";
                findings.push(Finding::error("call.over", "/params/update/toolCallId", message).on(Basis::Ours));
            }
            Some(_) => {}
        }
        Self::warnings(event, findings);
        self.status(&key, event, findings);
    }

    /// The state that a message gives a call.
    fn status(&mut self, key: &(String, String), event: &Value, findings: &mut Vec<Finding>) {
        let is_cut = self.is_cut && !self.calls.contains_key(key);
        let call = self.calls.entry(key.clone()).or_default();
        call.has_content |= is_cut || !is_empty(event.pointer("/params/update/content"));
        let status = text(event, "/params/update/status");
        if status == "failed" && !call.is_over && !call.has_content {
            let raw = event.pointer("/params/update/rawOutput/output").is_some();
            let denied = own(event).and_then(|own| own.get("failure")).is_some_and(|failure| failure == "denied");
            if !raw && !denied {
                findings.push(Finding::of(Warning::ToolResultDetails, "/params/update/content"));
            }
        }
        call.is_over |= matches!(status, "completed" | "failed");
        self.is_over |= self.is_task && call.is_over && key.1 == self.run;
    }

    fn ask(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let key = self.call(event, text(event, "/params/toolCall/toolCallId"));
        match self.calls.get(&key) {
            None if self.is_cut => {}
            None => unknown("/params/toolCall/toolCallId", findings),
            Some(call) if call.is_over => {
                let message = "the call is over: a decision about it has no effect";
                findings.push(Finding::error("call.over", "/params/toolCall/toolCallId", message).on(Basis::Usual));
            }
            Some(_) => {}
        }
        if !self.questions.insert(id_of(event.get("id"))) {
            let message = "a request with this id waits for its answer";
            findings.push(Finding::error("question.repeat", "/id", message));
        }
    }

    fn withdraw(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let was_open = self.questions.remove(&id_of(event.pointer("/params/requestId")));
        if !was_open && !self.is_cut {
            let message = "no request with this id waits";
            findings.push(Finding::error("question.unknown", "/params/requestId", message).on(Basis::Usual));
        }
    }

    /// The answer of the prompt.
    fn answer(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        if !self.run.is_empty() && text(event, "/id") != self.run {
            let message = "the id differs from the run's id";
            findings.push(Finding::error("end.other_run", "/id", message).on(Basis::Ours));
        }
        let session = self.session.clone().unwrap_or_default();
        if self.cancelled.remove(&session) && text(event, "/result/stopReason") != "cancelled" {
            let message = "the client cancelled the prompt: its stopReason must be cancelled";
            findings.push(Finding::error("cancel.ignored", "/result/stopReason", message));
        }
        for _ in self.questions.drain() {
            // Another agent's questions may have been answered: answers are the client's messages.
            let message = "a question waits: it is withdrawn before the answer";
            findings.push(Finding::error("question.left_open", "", message).on(Basis::Ours));
        }
        for call in self.calls.values_mut().filter(|call| !call.is_over) {
            call.is_over = true;
            let message = "a call is neither completed nor failed at the end of its turn";
            findings.push(Finding::error("call.left_open", "", message).on(Basis::Usual));
        }
        self.is_over = true;
    }

    /// The file is over.
    pub(super) fn end(&self, findings: &mut Vec<Finding>) {
        if !self.is_over {
            let message = "the stream has no end: its last message must be the answer of the prompt";
            findings.push(Finding::error("end.missing", "", message).on(Basis::Usual));
        }
    }
}

fn unknown(pointer: &'static str, findings: &mut Vec<Finding>) {
    let message = "no tool_call before it has this toolCallId";
    findings.push(Finding::error("call.unknown", pointer, message).on(Basis::Usual));
}
