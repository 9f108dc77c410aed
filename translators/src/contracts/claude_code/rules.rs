//! The rules of `claude-code.v1` streams.
//!
//! What breaks a reader of the SDK or of the API's stream is a rule of the document. What the CLI itself does in rare cases, such as a
//! stream without `result` after a kill, is usual. Control messages name no session: they belong to that of the message before them.

mod streamed;

use super::withheld;
use crate::verify::{Basis, Begin, Finding, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use streamed::Streamed;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("init.missing"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::between_events("call.repeat"),
    Rule::between_events("call.unknown"),
    Rule::between_events("call.over"),
    Rule::between_events("message.opened_twice"),
    Rule::between_events("message.not_open"),
    Rule::between_events("message.left_open"),
    Rule::between_events("block.order"),
    Rule::between_events("block.not_open"),
    Rule::between_events("block.left_open"),
    Rule::between_events("block.differs"),
    Rule::between_events("question.repeat"),
    Rule::between_events("question.unknown"),
    Rule::between_events("question.left_open"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
];

/// The sessions of a file.
#[derive(Default)]
pub(super) struct ClaudeCodeRules {
    sessions: HashMap<String, Session>,
    last: String,
    begin: Begin<()>,
}

/// One session, which may have several runs.
#[derive(Default)]
struct Session {
    /// The runs that have begun and not ended.
    open_runs: u64,
    ended_runs: u64,
    /// The beginning is missing, so it is unknown what was opened there.
    is_cut: bool,
    /// Known calls, and whether they are over.
    calls: HashMap<String, bool>,
    questions: HashSet<String>,
    streamed: Streamed,
}

fn text<'e>(event: &'e Value, pointer: &str) -> &'e str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

impl Session {
    fn new(is_cut: bool) -> Self {
        Self { is_cut, streamed: Streamed::new(is_cut), ..Self::default() }
    }

    /// A message that belongs to a run.
    fn within_run(&mut self, findings: &mut Vec<Finding>) {
        if self.open_runs > 0 {
            return;
        }
        if self.ended_runs > 0 {
            let message = "message after the result: no message of a run may follow it";
            findings.push(Finding::error("end.not_last", "", message).on(Basis::Usual));
            return;
        }
        if !self.is_cut {
            let message = "the first message of a run must be system init";
            findings.push(Finding::error("init.missing", "", message).on(Basis::Usual));
        }
        // A result must still follow, and the same is not said again.
        self.open_runs += 1;
    }

    fn assistant(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        self.within_run(findings);
        let blocks = event.pointer("/message/content").and_then(Value::as_array);
        for (at, block) in blocks.into_iter().flatten().enumerate() {
            let place = format!("/message/content/{at}");
            match text(block, "/type") {
                "tool_use" | "server_tool_use" | "mcp_tool_use" => self.tool_use(block, &place, findings),
                kind if kind.ends_with("_tool_result") => self.over(text(block, "/tool_use_id"), &place, findings),
                _ => {}
            }
            self.streamed.block(text(event, "/message/id"), block, &place, findings);
        }
    }

    fn tool_use(&mut self, block: &Value, place: &str, findings: &mut Vec<Finding>) {
        // Runs that overlap may use the same ids.
        if self.calls.insert(text(block, "/id").to_owned(), false) == Some(false) && self.open_runs < 2 {
            let message = "an open call has this id already";
            findings.push(Finding::error("call.repeat", format!("{place}/id"), message).on(Basis::Usual));
        }
        if is_unnamed(text(block, "/name")) {
            findings.push(Finding::of(Warning::ToolCallName, format!("{place}/name")));
        }
        if block.get("input").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty) {
            findings.push(Finding::of(Warning::ToolCallInput, format!("{place}/input")));
        }
    }

    /// A call has its result.
    fn over(&mut self, call: &str, place: &str, findings: &mut Vec<Finding>) {
        let place = format!("{place}/tool_use_id");
        match self.calls.insert(call.to_owned(), true) {
            Some(true) => {
                let message = "the call is over: a call has one result";
                findings.push(Finding::error("call.over", place, message).on(Basis::Usual));
            }
            None if !self.is_cut => {
                let message = "no tool_use has this id";
                findings.push(Finding::error("call.unknown", place, message));
            }
            Some(false) | None => {}
        }
    }

    fn user(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let blocks = event.pointer("/message/content").and_then(Value::as_array);
        for (at, block) in blocks.into_iter().flatten().enumerate() {
            if text(block, "/type") != "tool_result" {
                continue;
            }
            self.within_run(findings);
            let place = format!("/message/content/{at}");
            self.over(text(block, "/tool_use_id"), &place, findings);
            let is_empty = match block.get("content") {
                None | Some(Value::Null) => true,
                Some(Value::String(text)) => text.is_empty(),
                Some(Value::Array(parts)) => parts.is_empty(),
                Some(_) => false,
            };
            if is_empty && block.get("is_error").and_then(Value::as_bool) == Some(true) {
                findings.push(Finding::of(Warning::ToolResultDetails, format!("{place}/content")));
            }
        }
    }

    fn asked(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        // Requests of other kinds are between the CLI and its host.
        if text(event, "/request/subtype") != "can_use_tool" {
            return;
        }
        if !self.questions.insert(text(event, "/request_id").to_owned()) {
            let message = "an open question has this request_id already";
            findings.push(Finding::error("question.repeat", "/request_id", message).on(Basis::Usual));
        }
    }

    fn withdrew_unknown(&self, findings: &mut Vec<Finding>) {
        if !self.is_cut {
            let message = "no open control_request has this request_id";
            findings.push(Finding::error("question.unknown", "/request_id", message).on(Basis::Usual));
        }
    }

    /// Returns the questions that are open although no run of the session is.
    fn result(&mut self, findings: &mut Vec<Finding>) -> HashSet<String> {
        self.within_run(findings);
        self.open_runs = self.open_runs.saturating_sub(1);
        self.ended_runs += 1;
        // The runs of a session may overlap. Only the last result closes everything.
        if self.open_runs > 0 {
            return HashSet::new();
        }
        self.streamed.end(findings);
        // A call that the runner leaves to its client has no result.
        self.calls.values_mut().for_each(|is_over| *is_over = true);
        std::mem::take(&mut self.questions)
    }
}

impl ClaudeCodeRules {
    /// Handles questions that a session's last result leaves open. A question names no session, so it may be of another one that has an open run. A
    /// host answers on the CLI's standard input, which the stream does not show.
    fn left_open(&mut self, left: HashSet<String>, findings: &mut Vec<Finding>) {
        let others = self.sessions.iter_mut().filter(|(_, session)| session.open_runs > 0);
        if let Some((_, other)) = others.min_by(|(one, _), (other, _)| one.cmp(other)) {
            other.questions.extend(left);
            return;
        }
        for _ in left {
            let message = "a control_request is not withdrawn at the result";
            findings.push(Finding::error("question.left_open", "", message).on(Basis::Ours));
        }
    }

    /// Removes the question; `false` if it is unknown. The message names no session: that of the message before it is meant, or
    /// another one that asks the question.
    fn withdrawn(&mut self, event: &Value) -> bool {
        let request_id = text(event, "/request_id");
        if let Some(last) = self.sessions.get_mut(&self.last)
            && last.questions.remove(request_id)
        {
            return true;
        }
        let asking = self.sessions.iter_mut().filter(|(_, session)| session.questions.contains(request_id));
        let first = asking.min_by(|(one, _), (other, _)| one.cmp(other));
        first.is_some_and(|(_, session)| session.questions.remove(request_id))
    }
}

impl Verifier for ClaudeCodeRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let id = self.stream(event);
        if !id.is_empty() {
            id.clone_into(&mut self.last);
        }
        let kind = text(event, "/type");
        if kind == "control_cancel_request" && self.withdrawn(event) {
            return;
        }
        let begin = &mut self.begin;
        let session = self
            .sessions
            .entry(self.last.clone())
            .or_insert_with(|| Session::new(begin.next_stream() != Begin::AtStart));
        match kind {
            "system" if text(event, "/subtype") == "init" => session.open_runs += 1,
            "assistant" => session.assistant(event, findings),
            "user" => session.user(event, findings),
            "stream_event" => {
                session.within_run(findings);
                session.streamed.event(event, findings);
            }
            "control_request" => session.asked(event, findings),
            "control_cancel_request" => session.withdrew_unknown(findings),
            "result" => {
                let left = session.result(findings);
                self.left_open(left, findings);
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
        for session in self.sessions.values() {
            for _ in 0..session.open_runs {
                let message = "a run has no result, which must be its last message";
                findings.push(Finding::error("end.missing", "", message).on(Basis::Usual));
            }
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("session_id").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        withheld::is_notice(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rules_of(events: &[Value]) -> Vec<(usize, &'static str)> {
        let mut rules = ClaudeCodeRules::default();
        let mut found = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let mut findings = Vec::new();
            rules.event(event, &mut findings);
            found.extend(findings.into_iter().map(|finding| (at, finding.rule)));
        }
        found
    }

    #[test]
    fn a_question_that_two_sessions_ask_is_withdrawn_in_the_one_that_spoke_last() {
        let init = |session: &str| json!({"type": "system", "subtype": "init", "session_id": session});
        let ask = || json!({"type": "control_request", "request_id": "q", "request": {"subtype": "can_use_tool"}});
        let withdraw = || json!({"type": "control_cancel_request", "request_id": "q"});
        let result = |session: &str| json!({"type": "result", "session_id": session});
        for (one, other) in [("a", "b"), ("b", "a")] {
            let events = [
                init(one),
                ask(),
                init(other),
                ask(),
                withdraw(),
                result(other),
                // Its session has not spoken since.
                withdraw(),
                result(one),
            ];
            assert_eq!(rules_of(&events), []);
        }
    }

    #[test]
    fn a_question_is_withdrawn_whichever_session_spoke_last() {
        let init = |session: &str| json!({"type": "system", "subtype": "init", "session_id": session});
        let events = [
            init("a"),
            init("b"),
            json!({"type": "control_request", "request_id": "q", "request": {"subtype": "can_use_tool"}}),
            json!({"type": "result", "session_id": "a"}),
            json!({"type": "control_cancel_request", "request_id": "q"}),
            json!({"type": "control_cancel_request", "request_id": "q"}),
            json!({"type": "result", "session_id": "b"}),
        ];
        assert_eq!(rules_of(&events), [(5, "question.unknown")]);
    }
}
