//! The rules of `agent-manager.v1` streams.
//!
//! The document numbers events and lists five warnings. Other rules are only conventions of its writers: a run ends with a
//! status, nothing follows that, and a result names a tool that was called. A run may be continued, and some runners give
//! results without names.

use crate::verify::{Basis, Begin, Finding, Ids, Numbering, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::HashMap;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("resume.repeat"),
    Rule::of_event("id.repeat"),
    Rule::between_events("status.chain"),
    Rule::between_events("pair.not_open"),
    Rule::of_event("form.other"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
    Rule::of_event("message.empty_content"),
    Rule::of_event("metric.zero_tokens"),
];

#[derive(Default)]
pub(super) struct AgentManagerRules {
    runs: HashMap<String, Run>,
    ids: Ids,
    begin: Begin,
}

#[derive(Default)]
struct Run {
    numbering: Numbering,
    /// The last `newStatus`.
    status: Option<String>,
    ended: bool,
    begun: bool,
    /// The beginning is missing, so it is unknown what was called there.
    is_cut: bool,
    /// Calls without a result yet, counted by tool name. A result names its tool; a call has no id.
    calls: HashMap<String, u64>,
}

impl Run {
    /// The first event of a run: at its start, after events that are no longer kept, or where a client resumed it.
    fn begin(&mut self, begin: &Begin, message: &str, sequence: Option<u64>) {
        let is_first = sequence == Some(0);
        match begin {
            Begin::After(after) => {
                self.is_cut = true;
                self.numbering.resume_after(*after);
            }
            Begin::Anywhere if is_first => {}
            Begin::AtStart if !message.starts_with(super::encode::PRUNED) => {}
            Begin::Anywhere | Begin::AtStart => {
                self.is_cut = true;
                self.numbering.go_on_from(sequence.unwrap_or_default());
            }
        }
    }
}

/// A form that the contract's first writer has, but its document does not: readers of the document do not know it.
fn form(kind: &str, event: &Value, findings: &mut Vec<Finding>) {
    let has = |key: &str| event.get("data").is_some_and(|data| data.get(key).is_some());
    let (is_other, pointer) = match kind {
        "artifact" => (true, "/eventType"),
        "metric" => (has("name"), "/data"),
        "status" => (has("phase"), "/data"),
        "error" => (has("limitType"), "/data"),
        _ => return,
    };
    if is_other {
        let message = "a form that the document does not name: readers may not know it";
        findings.push(Finding::error("form.other", pointer, message).on(Basis::Usual));
    }
}

fn after_end(basis: Basis) -> Finding {
    let message = "event after the end: no event may follow the status complete, failed or cancelled";
    Finding::error("end.not_last", "", message).on(basis)
}

impl Verifier for AgentManagerRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let run = self.runs.entry(text("/runId").to_owned()).or_default();
        self.ids.take("id", event.get("id").and_then(Value::as_str), findings);
        let sequence = event.get("sequence").and_then(Value::as_u64);
        if !std::mem::replace(&mut run.begun, true) {
            run.begin(&self.begin.next_stream(), text("/data/message"), sequence);
        }
        run.numbering.take("sequence", sequence, findings);
        form(text("/eventType"), event, findings);
        let (old, new) = (text("/data/oldStatus"), text("/data/newStatus"));
        // A run that is continued starts again.
        let is_continued = matches!(old, "pending" | "starting");
        if run.ended && is_continued {
            run.ended = false;
            run.status = None;
            findings.push(after_end(Basis::Ours));
        } else if run.ended {
            findings.push(after_end(Basis::Usual));
        }
        match text("/eventType") {
            "tool_call" => {
                *run.calls.entry(text("/data/toolName").to_owned()).or_default() += 1;
                if is_unnamed(text("/data/toolName")) {
                    findings.push(Finding::of(Warning::ToolCallName, "/data/toolName"));
                }
                let input = event.pointer("/data/input").and_then(Value::as_object);
                if input.is_none_or(serde_json::Map::is_empty) {
                    findings.push(Finding::of(Warning::ToolCallInput, "/data/input"));
                }
            }
            "tool_result" => {
                match run.calls.get_mut(text("/data/toolName")) {
                    Some(open) if *open > 0 => *open -= 1,
                    _ if run.is_cut => {}
                    _ => {
                        let message = "tool_result without a preceding tool_call of the same name";
                        let basis = if text("/data/toolName").is_empty() { Basis::Ours } else { Basis::Usual };
                        findings.push(Finding::error("pair.not_open", "/data/toolName", message).on(basis));
                    }
                }
                let failed = event.pointer("/data/success").and_then(Value::as_bool) == Some(false);
                if failed && text("/data/output").is_empty() && text("/data/error").is_empty() {
                    findings.push(Finding::of(Warning::ToolResultDetails, "/data"));
                }
            }
            "message" if text("/data/content").is_empty() => {
                findings.push(Finding::of(Warning::MessageContent, "/data/content"));
            }
            "metric" => {
                let zero = |pointer: &str| event.pointer(pointer).and_then(Value::as_u64) == Some(0);
                if zero("/data/inputTokens") && zero("/data/outputTokens") {
                    findings.push(Finding::of(Warning::MetricTokens, "/data"));
                }
            }
            // Progress within a status does not change the status.
            "status" if !new.is_empty() => {
                if run.status.as_deref().is_some_and(|status| status != old) {
                    let message = "oldStatus differs from the newStatus of the previous status event";
                    findings.push(Finding::error("status.chain", "/data/oldStatus", message));
                }
                run.status = Some(new.to_owned());
                run.ended |= super::encode::is_final(new);
            }
            _ => {}
        }
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for _ in self.runs.values().filter(|run| !run.ended) {
            let message = "the run has no end: its last event must be a status complete, failed or cancelled";
            findings.push(Finding::error("end.missing", "", message).on(Basis::Usual));
        }
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("runId").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("sequence")
    }
}
