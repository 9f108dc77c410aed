//! The rules of `ag-ui.v1` streams.
//!
//! What `verifyEvents` of `@ag-ui/client` refuses is a rule of the document. What the client accepts, although its messages are then
//! wrong or open forever, is usual. The numbers and a few promises are framegate's own.

mod owners;
mod run;

use super::withheld;
use crate::verify::{Basis, Begin, Finding, Rule, Verifier};
use run::Run;
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
    Rule::of_event("end.not_last"),
    Rule::of_event("end.other_run"),
    Rule::of_event("end.missing"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::between_events("id.reused"),
    Rule::between_events("owner.differs"),
    Rule::between_events("subagent.repeat"),
    Rule::between_events("subagent.unknown_parent"),
    Rule::between_events("call.unknown"),
    Rule::between_events("call.incomplete"),
    Rule::between_events("call.over"),
    Rule::between_events("call.left_open"),
    Rule::between_events("activity.unknown"),
    Rule::between_events("approval.unknown"),
    Rule::of_event("custom.incomplete"),
    Rule::of_event("tool_call.empty_name"),
    Rule::between_events("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
];

/// The key of an event's number.
const CURSOR: &str = "metadata.seq";

#[derive(Default)]
pub(super) struct AgUiRules {
    /// By the id that framegate adds; a stream of another writer has none.
    runs: HashMap<String, Run>,
    begin: Begin,
}

fn run_of(event: &Value) -> &str {
    event.pointer("/metadata/runId").and_then(Value::as_str).unwrap_or_default()
}

impl Verifier for AgUiRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        let seq = event.pointer("/metadata/seq").and_then(Value::as_u64);
        let begin = &mut self.begin;
        let run =
            self.runs.entry(run_of(event).to_owned()).or_insert_with(|| Run::new(kind, seq, &begin.next_stream()));
        run.event(kind, seq, event, findings);
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for _ in self.runs.values().filter(|run| !run.is_over()) {
            let message = "the run has no end: its last event must be RUN_FINISHED or RUN_ERROR";
            findings.push(Finding::error("end.missing", "", message).on(Basis::Usual));
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        run_of(event)
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some(CURSOR)
    }
}
