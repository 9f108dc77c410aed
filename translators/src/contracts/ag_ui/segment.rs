//! A run of the protocol that ends at a question, and the one that goes on after the answer.
//!
//! The protocol has no waiting run: its client answers a question with the next run of the thread. One run of a runner is then several
//! runs of the protocol, its segments. Whatever is open at the end of a segment is closed there and opened again in the next one, under
//! the same id, so that the client adds to the messages that it has.
//!
//! Input: the events of a run, in order. Output: the events that end a segment, and those that begin the next one. Never: a segment that
//! `verifyEvents` of `@ag-ui/client` refuses; a question that was answered.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a client calls a thread and its run.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// The thread.
    pub thread: &'n str,
    /// The run.
    pub run: &'n str,
}

/// What a run has open after the events so far.
#[derive(Debug, Default)]
pub struct Segment {
    /// `RUN_STARTED`.
    start: Option<Value>,
    /// What is open, in the order in which it was opened.
    open: Vec<Item>,
    questions: Vec<Question>,
    /// The time of the newest event.
    time_ms: Value,
    /// `RUN_FINISHED` or `RUN_ERROR`.
    end: Option<Value>,
}

/// Something that has a beginning and an end.
#[derive(Debug)]
struct Item {
    kind: &'static Kind,
    id: String,
    subagent: Option<String>,
    opener: Box<RawValue>,
}

/// The events of one kind of item.
#[derive(Debug)]
struct Kind {
    opens: &'static str,
    closes: &'static [&'static str],
    id: for<'s> fn(&'s Seen<'_>) -> Option<&'s str>,
    id_key: &'static str,
}

/// All kinds. The first of `closes` ends an item that is interrupted.
const KINDS: &[Kind] = &[
    Kind { opens: "STEP_STARTED", closes: &["STEP_FINISHED"], id: |seen| seen.step.as_deref(), id_key: "stepName" },
    Kind {
        opens: "SUBAGENT_STARTED",
        closes: &["SUBAGENT_FINISHED", "SUBAGENT_ERROR"],
        id: |seen| seen.subagent.as_deref(),
        id_key: "subagentRunId",
    },
    Kind {
        opens: "TEXT_MESSAGE_START",
        closes: &["TEXT_MESSAGE_END"],
        id: |seen| seen.message.as_deref(),
        id_key: "messageId",
    },
    Kind {
        opens: "REASONING_START",
        closes: &["REASONING_END"],
        id: |seen| seen.message.as_deref(),
        id_key: "messageId",
    },
    Kind {
        opens: "REASONING_MESSAGE_START",
        closes: &["REASONING_MESSAGE_END"],
        id: |seen| seen.message.as_deref(),
        id_key: "messageId",
    },
    Kind {
        opens: "TOOL_CALL_START",
        closes: &["TOOL_CALL_END"],
        id: |seen| seen.call.as_deref(),
        id_key: "toolCallId",
    },
];

/// A question that has no answer.
#[derive(Debug)]
struct Question {
    id: String,
    subagent: Option<String>,
    value: Value,
}

/// An event, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Seen<'e> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'e, str>,
    #[serde(default)]
    timestamp: Value,
    #[serde(rename = "messageId", borrow, default)]
    message: Option<Cow<'e, str>>,
    #[serde(rename = "toolCallId", borrow, default)]
    call: Option<Cow<'e, str>>,
    #[serde(rename = "stepName", borrow, default)]
    step: Option<Cow<'e, str>>,
    #[serde(rename = "subagentRunId", borrow, default)]
    subagent: Option<Cow<'e, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'e, str>>,
    #[serde(borrow, default)]
    value: Option<&'e RawValue>,
}

impl Segment {
    /// Takes the next event of the contract, as JSON. Something else is ignored.
    pub fn event(&mut self, event: &[u8]) {
        let Ok(text) = std::str::from_utf8(event) else { return };
        let Ok(seen) = serde_json::from_str::<Seen<'_>>(text) else { return };
        if seen.timestamp.is_u64() {
            self.time_ms.clone_from(&seen.timestamp);
        }
        match &*seen.kind {
            "RUN_STARTED" => self.start = serde_json::from_str(text).ok(),
            "RUN_FINISHED" | "RUN_ERROR" => {
                self.open.clear();
                self.questions.clear();
                self.end = serde_json::from_str(text).ok();
            }
            "CUSTOM" => self.custom(&seen),
            kind => {
                if let Some(opened) = KINDS.iter().find(|known| known.opens == kind) {
                    self.opened(opened, &seen, text);
                } else if let Some(closed) = KINDS.iter().find(|known| known.closes.contains(&kind)) {
                    let id = (closed.id)(&seen);
                    let is_it = |item: &Item| item.kind.opens == closed.opens && Some(&*item.id) == id;
                    self.open.retain(|item| !is_it(item));
                }
            }
        }
    }

    fn opened(&mut self, kind: &'static Kind, seen: &Seen<'_>, text: &str) {
        let Some(id) = (kind.id)(seen).map(str::to_owned) else { return };
        let Ok(opener) = RawValue::from_string(text.to_owned()) else { return };
        self.open.push(Item { kind, id, subagent: seen.subagent.as_deref().map(str::to_owned), opener });
    }

    fn custom(&mut self, seen: &Seen<'_>) {
        let is_question = match seen.name.as_deref() {
            Some("approval_requested") => true,
            Some("approval_resolved") => false,
            _ => return,
        };
        let Some(value) = seen.value.and_then(shallow) else { return };
        let Some(id) = value.get("approvalId").and_then(Value::as_str).map(str::to_owned) else { return };
        self.questions.retain(|question| question.id != id);
        if is_question {
            self.questions.push(Question { id, subagent: seen.subagent.as_deref().map(str::to_owned), value });
        }
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The run's own last event, under the client's names.
    #[must_use]
    pub fn ending(&self, names: Names<'_>) -> Option<Value> {
        let mut end = self.end.clone()?;
        if end.get("runId").is_some()
            && let Some(fields) = end.as_object_mut()
        {
            fields.insert("threadId".to_owned(), names.thread.into());
            fields.insert("runId".to_owned(), names.run.into());
        }
        Some(end)
    }

    /// Whether a question has no answer.
    #[must_use]
    pub fn asks(&self) -> bool {
        !self.questions.is_empty()
    }

    /// The events that end the segment: ends of everything open, and `RUN_FINISHED` with the open questions, or with success if there
    /// are none.
    #[must_use]
    pub fn closing(&self, names: Names<'_>) -> Vec<Value> {
        // A subagent ends after what it does, and a step of the run after the subagents.
        let last = |item: &&Item| match item.kind.opens {
            "STEP_STARTED" => 2,
            "SUBAGENT_STARTED" => 1,
            _ => 0,
        };
        let mut items: Vec<&Item> = self.open.iter().rev().collect();
        items.sort_by_key(last);
        let mut events: Vec<Value> = items.into_iter().map(|item| self.close(item)).collect();
        let outcome = if self.questions.is_empty() {
            json!({"type": "success"})
        } else {
            json!({"type": "interrupt", "interrupts": self.questions.iter().map(Question::interrupt).collect::<Vec<_>>()})
        };
        events.push(json!({
            "type": "RUN_FINISHED", "timestamp": self.time_ms, "threadId": names.thread, "runId": names.run, "outcome": outcome,
            "metadata": self.metadata(),
        }));
        events
    }

    fn close(&self, item: &Item) -> Value {
        let mut event = Map::new();
        event.insert("type".to_owned(), item.kind.closes.first().copied().into());
        event.insert("timestamp".to_owned(), self.time_ms.clone());
        if let Some(subagent) = &item.subagent {
            event.insert("subagentRunId".to_owned(), subagent.as_str().into());
        }
        event.insert(item.kind.id_key.to_owned(), item.id.as_str().into());
        if item.kind.opens == "SUBAGENT_STARTED" {
            let own = |question: &&Question| question.subagent.as_ref() == Some(&item.id);
            let ids: Vec<&str> = self.questions.iter().filter(own).map(|question| question.id.as_str()).collect();
            let outcome = if ids.is_empty() {
                json!({"type": "suspended"})
            } else {
                json!({"type": "suspended", "interruptIds": ids})
            };
            event.insert("outcome".to_owned(), outcome);
        }
        event.insert("metadata".to_owned(), self.metadata());
        Value::Object(event)
    }

    /// The metadata of an event that the runner's run does not have: it has no number.
    fn metadata(&self) -> Value {
        json!({"runId": self.start.as_ref().and_then(|start| start.pointer("/metadata/runId"))})
    }

    /// The events that begin the next segment: `RUN_STARTED` with the client's names, and the beginnings of everything open.
    #[must_use]
    pub fn opening(&self, names: Names<'_>) -> Vec<Value> {
        let mut start = self.start.clone().unwrap_or_else(|| json!({"type": "RUN_STARTED"}));
        if let Some(start) = start.as_object_mut() {
            start.insert("threadId".to_owned(), names.thread.into());
            start.insert("runId".to_owned(), names.run.into());
        }
        let openers = self.open.iter().filter_map(|item| serde_json::from_str(item.opener.get()).ok());
        std::iter::once(start).chain(openers).collect()
    }
}

/// A question's fields. Arguments that are nested too deeply to be read are a text that says so: the question is asked all the same.
fn shallow(value: &RawValue) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(value.get()) {
        return Some(value);
    }
    let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(value.get()).ok()?;
    let read = |raw: &RawValue| serde_json::from_str(raw.get()).unwrap_or_else(|_| LEFT_OUT.into());
    Some(Value::Object(fields.into_iter().map(|(key, raw)| (key, read(&raw))).collect()))
}

/// What stands for arguments that are nested too deeply.
const LEFT_OUT: &str = "(left out: nested too deeply)";

impl Question {
    /// The question as the protocol asks it. The answer's form is that of `POST /v1/runs/{run_id}/approvals/{approval_id}`.
    fn interrupt(&self) -> Value {
        let text = |key: &str| self.value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut interrupt = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                interrupt.insert(key.to_owned(), value);
            }
        };
        set("subagentRunId", self.subagent.as_deref().map(Value::from));
        set("id", Some(self.id.as_str().into()));
        set("reason", Some("tool_approval".into()));
        let message =
            text("reason").map(str::to_owned).or_else(|| text("toolName").map(|name| format!("Allow {name}?")));
        set("message", message.map(Value::from));
        set("toolCallId", text("toolCallId").map(Value::from));
        set("responseSchema", Some(answer_schema()));
        let about = json!({"toolName": self.value.get("toolName"), "args": self.value.get("args")});
        set("metadata", Some(about));
        Value::Object(interrupt)
    }
}

/// What a client may answer.
fn answer_schema() -> Value {
    json!({
        "type": "object",
        "required": ["decision"],
        "properties": {
            "decision": {"enum": ["approved", "rejected"]},
            "reason": {"type": "string"},
            "scope": {"type": "string"},
            "answers": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}},
        },
    })
}
