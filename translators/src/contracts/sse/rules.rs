//! The rules of `sse.v1` streams.

use super::order::Order;
use crate::verify::{Basis, Begin, Finding, OneEnd, Pairs, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::HashMap;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("resume.repeat"),
    Rule::of_event("id.changed"),
    Rule::of_event("id.order"),
    Rule::of_event("start.missing"),
    Rule::of_event("start.repeat"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::of_event("end.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
];

#[derive(Default)]
pub(super) struct SseRules {
    runs: HashMap<String, Run>,
    begin: Begin<String>,
}

struct Run {
    session_id: String,
    order: Order,
    ends: OneEnd,
    approvals: Pairs,
}

const FIRST: &str = "run_started";
const LAST: &str = "run_completed, run_failed or run_interrupted";

impl Run {
    /// A run whose first event here has that type.
    fn new(session_id: &str, kind: &str, begin: Begin<String>) -> Self {
        let mut run = Self {
            session_id: session_id.to_owned(),
            order: Order::default(),
            ends: OneEnd::default(),
            approvals: Pairs::new("approval", "/payload/approval_id"),
        };
        let is_cut = match begin {
            Begin::AtStart => false,
            Begin::Anywhere => kind != FIRST,
            Begin::After(cursor) => {
                run.order = Order::after(cursor);
                true
            }
        };
        if is_cut {
            run.ends.cut();
            run.approvals.cut();
        }
        run
    }
}

impl Verifier for SseRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let payload = |key: &str| event.pointer(&format!("/payload/{key}"));
        let (kind, event_id) = (text("type"), text("event_id"));
        let begin = &mut self.begin;
        let run = self
            .runs
            .entry(text("run_id").to_owned())
            .or_insert_with(|| Run::new(text("session_id"), kind, begin.next_stream()));
        if run.session_id != text("session_id") {
            let message = "session_id changed: it must be the same for the whole stream";
            findings.push(Finding::error("id.changed", "/session_id", message));
        }
        findings.extend(run.order.take(event_id));
        let is_last = matches!(kind, "run_completed" | "run_failed" | "run_interrupted");
        run.ends.take(kind == FIRST, is_last, FIRST, LAST, findings);
        let approval_id = payload("approval_id").and_then(Value::as_str).unwrap_or_default();
        let tool_name = payload("tool_name").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call_proposed" => {
                run.approvals.open(approval_id, findings);
                if is_unnamed(tool_name) {
                    findings.push(Finding::of(Warning::ToolCallName, "/payload/tool_name"));
                }
                if payload("args").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty) {
                    findings.push(Finding::of(Warning::ToolCallInput, "/payload/args"));
                }
            }
            "tool_call_approved" | "tool_call_rejected" => run.approvals.close(approval_id, findings),
            "tool_result" => {
                let failed = payload("success").and_then(Value::as_bool) == Some(false);
                if failed && payload("result").and_then(Value::as_str) == Some("") {
                    findings.push(Finding::of(Warning::ToolResultDetails, "/payload/result"));
                }
            }
            // Only a completed run has waited for every decision.
            _ if is_last => {
                run.approvals.end(if kind == "run_completed" { Basis::Document } else { Basis::Ours }, findings);
            }
            _ => {}
        }
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = after.map_or(Begin::Anywhere, |after| Begin::After(after.to_owned()));
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for run in self.runs.values() {
            run.ends.end(LAST, findings);
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("run_id").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("event_id")
    }

    fn has_text_cursors(&self) -> bool {
        true
    }
}
