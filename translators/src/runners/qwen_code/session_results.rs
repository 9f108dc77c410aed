//! Results of calls in session files.
//!
//! Input: `tool_result` lines: what the model reads, and what people see. Output: the outcome of the call, with the same text as in
//! the stream; the diff of a changed file; the work of a subagent. Never: base64 in a frame.

use super::decoder::Qwen;
use super::effects::described;
use super::outcome::{Outcome, Verdict};
use super::tasks::TaskEnd;
use crate::frame::Body;
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

impl Qwen {
    pub(super) fn result_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = Target::main(self.file_run(normalizer));
        let result = fields.object("toolCallResult").unwrap_or_default();
        let message = fields.object("message").unwrap_or_default();
        let parts: Vec<_> = message.items("parts").into_iter().filter_map(Json::object).collect();
        let mut answers: Vec<_> = parts.iter().filter_map(|part| part.object("functionResponse")).collect();
        if answers.is_empty() {
            answers.push(Object::default());
        }
        for answer in &answers {
            let id = answer.str("id").or_else(|| result.str("callId")).unwrap_or_default();
            if !id.is_empty() {
                self.entry_returned(target, &id, &result, answer, normalizer);
            }
        }
    }

    fn entry_returned(
        &mut self,
        target: Target,
        id: &str,
        result: &Object<'_>,
        answer: &Object<'_>,
        normalizer: &mut Normalizer,
    ) {
        let response = answer.object("response").unwrap_or_default();
        let display = result.get("resultDisplay");
        let fields = display.and_then(Json::object).unwrap_or_default();
        let mut outcome = outcome(result, display, &fields, &response);
        if let Some(file) = self.runs.run(target.stream).and_then(|run| run.file.as_mut()) {
            file.cancelled = outcome.verdict == Verdict::Cancelled;
        }
        let call = self.runs.run(target.stream).and_then(|run| run.open_call(id, target.parent)).cloned();
        if let Some(call) = call.as_ref().filter(|_| outcome.verdict == Verdict::Ended(0))
            && let Some(change) = described(call, &fields, &outcome.text)
        {
            normalizer.push(call.target, Body::FileChanged(Box::new(change)));
        }
        if fields.str("type").as_deref() == Some("task_execution") {
            self.agent_reported(target, id, &fields, &mut outcome, normalizer);
        }
        self.returned(target, id, outcome, normalizer);
    }

    /// Handles what a subagent's result says beside its text. One in the background becomes a task.
    fn agent_reported(
        &mut self,
        target: Target,
        id: &str,
        display: &Object<'_>,
        outcome: &mut Outcome,
        normalizer: &mut Normalizer,
    ) {
        if display.str("executionMode").as_deref() == Some("background") {
            let name = display.str("subagentName").unwrap_or_default();
            // The runner makes the id of the task from the names of the agent and the call.
            let task_id = format!("{name}-{id}");
            let call_id = self.agent_call(target.stream, id);
            self.agent_begins(target.stream, &call_id, Some(&task_id), normalizer);
            self.agent_outlives(target.stream, &call_id, normalizer);
            return self.file_task_started(id, &task_id, display, normalizer);
        }
        let call_id = self.agent_call(target.stream, id);
        self.agent_begins(target.stream, &call_id, None, normalizer);
        let summary = display.object("executionSummary").unwrap_or_default();
        outcome.duration_ms = summary.u64("totalDurationMs").or(outcome.duration_ms);
    }

    fn file_task_started(&mut self, id: &str, task_id: &str, display: &Object<'_>, normalizer: &mut Normalizer) {
        let title = display.str("taskDescription").map(|title| title.into_owned());
        self.task_begins(task_id, Some(id), title, normalizer);
        // The launch itself may have failed.
        if matches!(display.str("status").as_deref(), Some("failed" | "cancelled")) {
            let status = display.str("status").unwrap_or_default();
            self.task_ends(TaskEnd { task_id, call_id: Some(id), status: &status, summary: None }, normalizer);
        }
    }
}

fn outcome(result: &Object<'_>, display: Option<Json<'_>>, fields: &Object<'_>, response: &Object<'_>) -> Outcome {
    let error = response.str("error").filter(|error| !error.is_empty());
    let status = result.str("status").unwrap_or_default();
    let is_error = error.is_some() || matches!(&*status, "error" | "cancelled");
    // The stream shows what people see, or else what the model reads.
    let shown = display.and_then(Json::str).or_else(|| shown_text(fields)).filter(|text| !text.trim().is_empty());
    let read = response.str("output").or_else(|| response.str("content"));
    let text = error.or(shown).or(read).unwrap_or_default().into_owned();
    let mut outcome = Outcome::of(is_error, text);
    match (&*status, outcome.verdict) {
        ("cancelled", _) => outcome.verdict = Verdict::Cancelled,
        (_, Verdict::Ended(_)) => {
            let code = fields.i64("exitCode").and_then(|code| i32::try_from(code).ok());
            if let Some(code) = code.filter(|code| (*code == 0) != is_error) {
                outcome.verdict = Verdict::Ended(code);
            }
        }
        _ => {}
    }
    if result.str("executionStatus").as_deref() == Some("not_started") && is_error {
        outcome.verdict = if outcome.verdict == Verdict::Cancelled { Verdict::Cancelled } else { Verdict::Refused };
    }
    outcome
}

fn shown_text<'a>(display: &Object<'a>) -> Option<std::borrow::Cow<'a, str>> {
    let is_shown = matches!(display.str("type").as_deref(), Some("shell_result" | "ask_user_question_answers"));
    display.str("text").filter(|_| is_shown)
}
