//! One run of the protocol. A stream of another writer may have several, one after the other.

use super::CURSOR;
use super::owners::Owners;
use crate::verify::{Basis, Begin, Finding, Numbering, Pairs};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The phase of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Before,
    Open,
    Finished,
    Failed,
}

/// A call of a run.
#[derive(Debug, Default)]
struct Call {
    is_complete: bool,
    has_result: bool,
    /// The last run waits for an answer. The next one may open the call again.
    goes_on: bool,
    args: Args,
}

/// What is known of a call's arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Args {
    #[default]
    None,
    /// One piece, which is empty JSON.
    Empty,
    Some,
}

/// One stream of events.
pub(super) struct Run {
    numbering: Numbering,
    /// The client named a number, so the stream has numbers.
    is_numbered: bool,
    phase: Phase,
    /// The beginning is missing, so it is unknown what was opened there.
    is_cut: bool,
    work: Work,
    /// The approvals that were asked for.
    approvals: HashSet<String>,
}

/// What one run has opened.
struct Work {
    run_id: Option<String>,
    texts: Pairs,
    reasonings: Pairs,
    spans: Pairs,
    calls_open: Pairs,
    steps: Pairs,
    subagents: Pairs,
    /// Subagents that were started, with those that are done.
    started: HashSet<String>,
    calls: HashMap<String, Call>,
    messages: Owners,
    thoughts: Owners,
    call_owners: Owners,
    activities: Owners,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            run_id: None,
            texts: Pairs::new("text message", "/messageId"),
            reasonings: Pairs::new("reasoning message", "/messageId"),
            spans: Pairs::new("span of reasoning", "/messageId"),
            calls_open: Pairs::new("call", "/toolCallId"),
            steps: Pairs::new("step", "/stepName"),
            subagents: Pairs::new("subagent", "/subagentRunId"),
            started: HashSet::new(),
            calls: HashMap::new(),
            messages: Owners::default(),
            thoughts: Owners::default(),
            call_owners: Owners::default(),
            activities: Owners::default(),
        }
    }
}

impl Work {
    /// Everything that must be closed at the end.
    fn pairs(&mut self) -> [&mut Pairs; 6] {
        let Self { texts, reasonings, spans, calls_open, steps, subagents, .. } = self;
        [texts, reasonings, spans, calls_open, steps, subagents]
    }
}

/// The fields that the value of framegate's own `CUSTOM` events has, by their name.
const VALUES: &[(&str, &[&str])] = &[
    ("approval_requested", &["approvalId", "toolName", "args"]),
    ("approval_resolved", &["approvalId", "decision"]),
    ("notice", &["level", "message"]),
    ("usage", &["inputTokens", "outputTokens", "totalTokens"]),
    ("file_changed", &["path", "kind"]),
    ("checkpoint_created", &["checkpointId", "label", "files", "createdAtMs", "auto"]),
    ("checkpoint_rewound", &["checkpointId", "label", "files"]),
    ("checkpoint_failed", &["action", "error"]),
    ("plan", &["plan"]),
];

/// Changes the basis of the findings that `check` adds.
fn on(basis: Basis, findings: &mut Vec<Finding>, check: impl FnOnce(&mut Vec<Finding>)) {
    let before = findings.len();
    check(findings);
    let found: Vec<Finding> = findings.drain(before..).map(|finding| finding.on(basis)).collect();
    findings.extend(found);
}

/// A message that the client knows already is opened again: what follows is appended to it.
fn reused(is_known: bool, pointer: &'static str, findings: &mut Vec<Finding>) {
    if is_known {
        let message = "an earlier item has this id: the client appends to it";
        findings.push(Finding::error("id.reused", pointer, message).on(Basis::Usual));
    }
}

impl Run {
    /// A stream whose first event here has that type and number.
    pub(super) fn new(kind: &str, seq: Option<u64>, begin: &Begin) -> Self {
        let mut run = Self {
            numbering: Numbering::default(),
            is_numbered: false,
            phase: Phase::Before,
            is_cut: false,
            work: Work::default(),
            approvals: HashSet::new(),
        };
        match begin {
            Begin::AtStart => return run,
            Begin::Anywhere if kind == "RUN_STARTED" => return run,
            Begin::Anywhere => run.numbering.go_on_from(seq.unwrap_or_default()),
            Begin::After(after) => {
                run.is_numbered = true;
                run.numbering.resume_after(*after);
            }
        }
        run.is_cut = true;
        run.phase = Phase::Open;
        run.work.pairs().into_iter().for_each(Pairs::cut);
        run
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Finished | Phase::Failed)
    }

    pub(super) fn event(&mut self, kind: &str, seq: Option<u64>, event: &Value, findings: &mut Vec<Finding>) {
        let basis = if self.is_numbered { Basis::Document } else { Basis::Ours };
        on(basis, findings, |findings| self.numbering.take(CURSOR, seq, findings));
        self.place(kind, event, findings);
        let subagent = event.get("subagentRunId").and_then(Value::as_str);
        self.messages(kind, event, subagent, findings);
        self.calls(kind, event, subagent, findings);
        self.work(kind, event, subagent, findings);
        self.end(kind, event, findings);
    }

    /// The place of an event in its stream.
    fn place(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let (is_start, is_error) = (kind == "RUN_STARTED", kind == "RUN_ERROR");
        match self.phase {
            Phase::Before if !is_start && !is_error => {
                findings.push(Finding::error("start.missing", "", "the first event must be RUN_STARTED or RUN_ERROR"));
            }
            Phase::Open if is_start && !self.is_cut => {
                let message = "second RUN_STARTED before the end of the run";
                findings.push(Finding::error("start.repeat", "", message));
            }
            Phase::Finished if !is_start && !is_error => {
                let message = "event after RUN_FINISHED: only RUN_ERROR or a new RUN_STARTED may follow";
                findings.push(Finding::error("end.not_last", "", message));
            }
            Phase::Failed if !is_start => {
                let message = "event after RUN_ERROR: only a new RUN_STARTED may follow";
                findings.push(Finding::error("end.not_last", "", message));
            }
            // The events of one of framegate's streams are those of one run.
            Phase::Finished | Phase::Failed => {
                let message = "event after the end: a stream has one run";
                findings.push(Finding::error("end.not_last", "", message).on(Basis::Ours));
            }
            Phase::Before | Phase::Open => {}
        }
        if is_start && self.phase != Phase::Open {
            // The calls that wait for an answer go on.
            let calls = std::mem::take(&mut self.work.calls);
            (self.work, self.is_cut) = (Work { calls, ..Work::default() }, false);
        }
        if self.phase == Phase::Before || is_start {
            self.phase = Phase::Open;
        }
        if is_start {
            self.work.run_id = event.get("runId").and_then(Value::as_str).map(str::to_owned);
        }
    }

    fn messages(&mut self, kind: &str, event: &Value, subagent: Option<&str>, findings: &mut Vec<Finding>) {
        let id = event.get("messageId").and_then(Value::as_str).unwrap_or_default();
        let Work { texts, reasonings, spans, messages, thoughts, activities, .. } = &mut self.work;
        match kind {
            "TEXT_MESSAGE_START" => {
                reused(messages.has(id) && !texts.is_open(id), "/messageId", findings);
                texts.open(id, findings);
                messages.open(id, subagent, findings);
            }
            "TEXT_MESSAGE_CONTENT" => {
                texts.within(id, findings);
                messages.within(id, subagent, findings);
            }
            "TEXT_MESSAGE_END" => {
                texts.close(id, findings);
                messages.within(id, subagent, findings);
            }
            "REASONING_START" => {
                reused(thoughts.has(id) && !spans.is_open(id) && !reasonings.is_open(id), "/messageId", findings);
                spans.open(id, findings);
                thoughts.open(id, subagent, findings);
            }
            "REASONING_MESSAGE_START" => {
                reused(thoughts.has(id) && !spans.is_open(id) && !reasonings.is_open(id), "/messageId", findings);
                reasonings.open(id, findings);
                thoughts.open(id, subagent, findings);
            }
            "REASONING_MESSAGE_CONTENT" => {
                reasonings.within(id, findings);
                thoughts.within(id, subagent, findings);
            }
            "REASONING_MESSAGE_END" => {
                reasonings.close(id, findings);
                thoughts.within(id, subagent, findings);
            }
            "REASONING_END" => {
                spans.close(id, findings);
                thoughts.within(id, subagent, findings);
            }
            "ACTIVITY_SNAPSHOT" => {
                let replaces = event.get("replace").and_then(Value::as_bool) != Some(false);
                if replaces || !activities.has(id) {
                    activities.set(id, subagent);
                }
            }
            "ACTIVITY_DELTA" => {
                if !activities.has(id) && !self.is_cut {
                    let message = "no ACTIVITY_SNAPSHOT has this messageId: the client ignores the change";
                    findings.push(Finding::error("activity.unknown", "/messageId", message).on(Basis::Usual));
                }
                activities.within(id, subagent, findings);
            }
            "REASONING_ENCRYPTED_VALUE" => self.encrypted(event, subagent, findings),
            "MESSAGES_SNAPSHOT" => self.restated(event.get("messages")),
            "RUN_STARTED" => self.restated(event.pointer("/input/messages")),
            _ => {}
        }
    }

    /// Messages that the client takes over, with their owners.
    fn restated(&mut self, messages: Option<&Value>) {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        for message in messages.and_then(Value::as_array).into_iter().flatten() {
            let (Some(id), owner) = (text(message, "id"), text(message, "subagentRunId")) else { continue };
            let owners = match text(message, "role").as_deref() {
                Some("reasoning") => &mut self.work.thoughts,
                Some("activity") => &mut self.work.activities,
                _ => &mut self.work.messages,
            };
            owners.set(&id, owner.as_deref());
            let calls = message.get("toolCalls").and_then(Value::as_array).into_iter().flatten();
            for call in calls.filter_map(|call| text(call, "id")) {
                self.work.call_owners.set(&call, owner.as_deref());
            }
        }
    }

    /// An encrypted value belongs to a call, to a message, or to a message of reasoning.
    fn encrypted(&self, event: &Value, subagent: Option<&str>, findings: &mut Vec<Finding>) {
        let id = event.get("entityId").and_then(Value::as_str).unwrap_or_default();
        let is_call = event.get("subtype").and_then(Value::as_str) == Some("tool-call");
        let Work { messages, thoughts, call_owners, .. } = &self.work;
        let owners = if is_call {
            call_owners
        } else if messages.has(id) {
            messages
        } else {
            thoughts
        };
        owners.within(id, subagent, findings);
    }

    fn calls(&mut self, kind: &str, event: &Value, subagent: Option<&str>, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = text("toolCallId");
        let Work { calls_open, calls, call_owners, messages, .. } = &mut self.work;
        match kind {
            "TOOL_CALL_START" => {
                let earlier = calls.remove(id);
                let goes_on = earlier.as_ref().is_some_and(|call| call.goes_on);
                reused(earlier.is_some() && !goes_on && !calls_open.is_open(id), "/toolCallId", findings);
                calls_open.open(id, findings);
                let args = earlier.filter(|_| goes_on).map(|call| call.args).unwrap_or_default();
                calls.insert(id.to_owned(), Call { args, ..Call::default() });
                // A call belongs to the owner of the message that has it.
                let parent = event.get("parentMessageId").and_then(Value::as_str);
                let of_message = parent.and_then(|parent| messages.get(parent)).map(|owner| owner.map(str::to_owned));
                if let Some(parent) = parent {
                    messages.within(parent, subagent, findings);
                }
                let owner = subagent.map(str::to_owned).or(of_message.flatten());
                call_owners.open(id, owner.as_deref(), findings);
                if is_unnamed(text("toolCallName")) {
                    findings.push(Finding::of(Warning::ToolCallName, "/toolCallName"));
                }
            }
            "TOOL_CALL_ARGS" => {
                calls_open.within(id, findings);
                call_owners.within(id, subagent, findings);
                if let Some(call) = calls.get_mut(id) {
                    let is_empty = matches!(text("delta").trim(), "" | "{}" | "null" | "\"\"");
                    let is_first = call.args == Args::None;
                    call.args = if is_empty && is_first { Args::Empty } else { Args::Some };
                }
            }
            "TOOL_CALL_END" => {
                calls_open.close(id, findings);
                call_owners.within(id, subagent, findings);
                if let Some(call) = calls.get_mut(id) {
                    call.is_complete = true;
                    if call.args != Args::Some {
                        findings.push(Finding::of(Warning::ToolCallInput, "/toolCallId"));
                    }
                }
            }
            "TOOL_CALL_RESULT" => {
                messages.set(text("messageId"), subagent);
                self.result(id, event, findings);
            }
            _ => {}
        }
    }

    fn result(&mut self, id: &str, event: &Value, findings: &mut Vec<Finding>) {
        let mut usual = |rule, message: &str| {
            findings.push(Finding::error(rule, "/toolCallId", message).on(Basis::Usual));
        };
        match self.work.calls.get_mut(id) {
            None if self.is_cut => {}
            None => usual("call.unknown", "no TOOL_CALL_START has this toolCallId"),
            Some(call) if call.has_result => usual("call.over", "the call is over: a call has one result"),
            Some(call) => {
                call.has_result = true;
                if !call.is_complete {
                    usual("call.incomplete", "the call's arguments are not complete: TOOL_CALL_END comes first");
                }
            }
        }
        let failed = event.pointer("/metadata/failure").is_some()
            || event.pointer("/metadata/exitCode").and_then(Value::as_i64).is_some_and(|code| code != 0);
        let is_empty = event.get("content").and_then(Value::as_str) == Some("");
        if failed && is_empty {
            findings.push(Finding::of(Warning::ToolResultDetails, "/content"));
        }
    }

    /// Steps, subagents and questions.
    fn work(&mut self, kind: &str, event: &Value, subagent: Option<&str>, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        // The main thread and each subagent have steps of their own.
        let step = || format!("{subagent:?} {}", text("stepName"));
        let id = subagent.unwrap_or_default();
        let Work { steps, subagents, started, .. } = &mut self.work;
        match kind {
            "STEP_STARTED" => steps.open(&step(), findings),
            "STEP_FINISHED" => steps.close(&step(), findings),
            "SUBAGENT_STARTED" => {
                if started.contains(id) && !subagents.is_open(id) {
                    let message = "this subagent is done: another invocation has another subagentRunId";
                    findings.push(Finding::error("subagent.repeat", "/subagentRunId", message));
                }
                subagents.open(id, findings);
                started.insert(id.to_owned());
                let parent = text("parentSubagentRunId");
                if !parent.is_empty() && !started.contains(parent) && !self.is_cut {
                    let message = "no SUBAGENT_STARTED has this subagentRunId";
                    findings.push(Finding::error("subagent.unknown_parent", "/parentSubagentRunId", message));
                }
            }
            "SUBAGENT_FINISHED" | "SUBAGENT_ERROR" => subagents.close(id, findings),
            "CUSTOM" => self.custom(text("name"), event, findings),
            _ => {}
        }
    }

    fn custom(&mut self, name: &str, event: &Value, findings: &mut Vec<Finding>) {
        let value = |key: &str| event.get("value").and_then(|value| value.get(key));
        let fields = VALUES.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, fields)| fields);
        if let Some(missing) = fields.iter().find(|key| value(key).is_none()) {
            let message = format!("the value of {name} must have {missing}");
            findings.push(Finding::error("custom.incomplete", "/value", message).on(Basis::Ours));
        }
        let approval = value("approvalId").and_then(Value::as_str).unwrap_or_default();
        match name {
            "approval_requested" => drop(self.approvals.insert(approval.to_owned())),
            "approval_resolved" if !self.approvals.contains(approval) && !self.is_cut => {
                let message = "no approval_requested has this approvalId";
                findings.push(Finding::error("approval.unknown", "/value/approvalId", message).on(Basis::Ours));
            }
            _ => {}
        }
    }

    fn end(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let failed = match kind {
            "RUN_FINISHED" => false,
            "RUN_ERROR" => true,
            _ => return,
        };
        // The client lets a failed run leave everything open.
        let basis = if failed { Basis::Ours } else { Basis::Document };
        self.work.pairs().into_iter().for_each(|pairs| pairs.end(basis, findings));
        let run_id = event.get("runId").and_then(Value::as_str);
        if !failed && self.work.run_id.as_deref().is_some_and(|started| Some(started) != run_id) {
            let message = "RUN_FINISHED must have the runId of RUN_STARTED";
            findings.push(Finding::error("end.other_run", "/runId", message).on(Basis::Usual));
        }
        self.phase = if failed { Phase::Failed } else { Phase::Finished };
        if event.pointer("/outcome/type").and_then(Value::as_str) == Some("interrupt") {
            self.work.calls.retain(|_, call| !call.has_result);
            return self.work.calls.values_mut().for_each(|call| call.goes_on = true);
        }
        let pending = event.pointer("/outcome/pendingToolCallIds").and_then(Value::as_array);
        let is_pending = |id: &str| pending.is_some_and(|pending| pending.iter().any(|one| one.as_str() == Some(id)));
        let open = self.work.calls.iter().filter(|(id, call)| !call.has_result && !is_pending(id)).count();
        for _ in 0..open {
            let message = "a call has no result at the end and is not in pendingToolCallIds";
            findings.push(Finding::error("call.left_open", "", message).on(Basis::Ours));
        }
        self.work.calls.clear();
    }
}
