//! The rules of `chat-completions.v1` streams.
//!
//! Input: chunks and errors. Output: findings. Never: a rule about `tool_calls`, which framegate does not write.

use crate::verify::{Basis, Begin, Finding, Rule, Verifier};
use serde_json::Value;
use std::collections::HashMap;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("start.missing"),
    Rule::of_event("start.repeat"),
    Rule::of_event("created.changed"),
    Rule::of_event("model.changed"),
    Rule::of_event("end.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("usage.early"),
    Rule::of_event("usage.repeat"),
];

/// How far an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Before,
    Open,
    /// It has a `finish_reason`; only the usage may follow.
    Finished,
    /// An error was the last event.
    Failed,
}

#[derive(Debug, Default)]
struct Answer {
    phase: Phase,
    has_usage: bool,
    /// The beginning of the answer is missing.
    is_cut: bool,
    created: Option<Value>,
    model: Option<Value>,
}

/// The answers of a file, by their id. An error without an id ends the answer of the chunk before it.
#[derive(Debug, Default)]
pub(super) struct ChatRules {
    answers: HashMap<String, Answer>,
    last: String,
    begin: Begin<()>,
}

impl ChatRules {
    fn answer(&mut self, id: &str) -> &mut Answer {
        if !self.answers.contains_key(id) {
            let is_cut = self.begin.next_stream() != Begin::AtStart;
            let phase = if is_cut { Phase::Open } else { Phase::Before };
            self.answers.insert(id.to_owned(), Answer { phase, is_cut, ..Answer::default() });
        }
        id.clone_into(&mut self.last);
        self.answers.entry(id.to_owned()).or_default()
    }
}

impl Answer {
    fn chunk(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        for (key, rule, first) in
            [("created", "created.changed", &mut self.created), ("model", "model.changed", &mut self.model)]
        {
            let Some(now) = event.get(key) else { continue };
            if first.get_or_insert_with(|| now.clone()) != now {
                let message = format!("{key} changed: all chunks of an answer have the same");
                let basis = if key == "model" { Basis::Usual } else { Basis::Document };
                findings.push(Finding::error(rule, format!("/{key}"), message).on(basis));
            }
        }
        let Some(choices) = event.get("choices").and_then(Value::as_array) else { return };
        match choices.first() {
            None => self.usage(findings),
            Some(choice) => self.choice(choice, findings),
        }
    }

    /// A chunk without choices, which has the usage. It comes after the finish_reason, or right before an error.
    fn usage(&mut self, findings: &mut Vec<Finding>) {
        if self.phase == Phase::Failed {
            findings.push(Finding::error("end.not_last", "/usage", "usage after an error"));
        }
        if std::mem::replace(&mut self.has_usage, true) {
            let message = "second usage: an answer has at most one chunk without choices";
            findings.push(Finding::error("usage.repeat", "/usage", message));
        }
    }

    fn choice(&mut self, choice: &Value, findings: &mut Vec<Finding>) {
        let has_role = choice.pointer("/delta/role").is_some_and(Value::is_string);
        let is_finish = choice.get("finish_reason").is_some_and(Value::is_string);
        match self.phase {
            Phase::Before if !has_role => {
                let message = "the first chunk must have the role in its delta";
                findings.push(Finding::error("start.missing", "/choices/0/delta", message).on(Basis::Usual));
            }
            Phase::Open if has_role => {
                let message = "second role: only the first chunk has one";
                findings.push(Finding::error("start.repeat", "/choices/0/delta/role", message).on(Basis::Ours));
            }
            Phase::Finished | Phase::Failed if is_finish => {
                let message = "second finish_reason: an answer ends once";
                findings.push(Finding::error("end.repeat", "/choices/0/finish_reason", message));
            }
            Phase::Finished | Phase::Failed => {
                let message = "chunk after the end: only the usage may follow the finish_reason, and nothing an error";
                findings.push(Finding::error("end.not_last", "/choices/0", message));
            }
            Phase::Before | Phase::Open => {}
        }
        if self.has_usage && matches!(self.phase, Phase::Before | Phase::Open) {
            let message = "the usage came before this chunk: it must come after the finish_reason";
            findings.push(Finding::error("usage.early", "/choices/0", message));
        }
        if is_finish {
            self.phase = Phase::Finished;
        } else if self.phase == Phase::Before {
            self.phase = Phase::Open;
        }
    }

    fn error(&mut self, findings: &mut Vec<Finding>) {
        if matches!(self.phase, Phase::Finished | Phase::Failed) {
            findings.push(Finding::error("end.repeat", "", "error after the end: an answer ends once"));
        }
        self.phase = Phase::Failed;
    }
}

impl Verifier for ChatRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        match event.get("object").and_then(Value::as_str) {
            Some(super::CHUNK) => {
                let id = event.get("id").and_then(Value::as_str).unwrap_or_default();
                self.answer(id).chunk(event, findings);
            }
            Some(super::ERROR) => {
                let last = std::mem::take(&mut self.last);
                self.answer(event.get("id").and_then(Value::as_str).unwrap_or(&last)).error(findings);
            }
            _ => {}
        }
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = match Begin::numbered(after)? {
            Begin::AtStart => Begin::AtStart,
            Begin::Anywhere | Begin::After(_) => Begin::Anywhere,
        };
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for answer in self.answers.values() {
            // The finish_reason may be in the missing part, before the usage.
            let may_have_ended = answer.is_cut && answer.has_usage;
            if matches!(answer.phase, Phase::Before | Phase::Open) && !may_have_ended {
                let message = "the answer has no end: a finish_reason or an error must be last";
                findings.push(Finding::error("end.missing", "", message));
            }
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }
}
