//! The rules of `agent-manager.v1` streams.

use crate::verify::{Finding, Ids, Numbering, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::HashMap;

#[derive(Default)]
pub(super) struct AgentManagerRules {
    runs: HashMap<String, Run>,
    ids: Ids,
}

#[derive(Default)]
struct Run {
    numbering: Numbering,
    /// The last `newStatus`.
    status: Option<String>,
    ended: bool,
    begun: bool,
    /// The front is gone: what was called in it is not known.
    is_cut: bool,
    /// Calls without a result yet, by tool name: a result names its tool, a call has no id.
    calls: HashMap<String, u64>,
}

impl Verifier for AgentManagerRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let run = self.runs.entry(text("/runId").to_owned()).or_default();
        self.ids.take("id", event.get("id").and_then(Value::as_str), findings);
        if !std::mem::replace(&mut run.begun, true) && text("/data/message").starts_with(super::encode::PRUNED) {
            run.is_cut = true;
            run.numbering.go_on_from(event.get("sequence").and_then(Value::as_u64).unwrap_or_default());
        }
        run.numbering.take("sequence", event.get("sequence").and_then(Value::as_u64), findings);
        if run.ended {
            let message = "an event behind the end: nothing follows the status complete, failed or cancelled";
            findings.push(Finding::error("end.not_last", "", message));
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
                        let message = "a result without a tool_call of that name before it";
                        findings.push(Finding::error("pair.not_open", "/data/toolName", message));
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
            "status" => {
                let (old, new) = (text("/data/oldStatus"), text("/data/newStatus"));
                if run.status.as_deref().is_some_and(|status| status != old) {
                    let message = "oldStatus is not the newStatus of the status before";
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
            let message = "the run has no end: its last event is a status complete, failed or cancelled";
            findings.push(Finding::error("end.missing", "", message));
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("runId").and_then(Value::as_str).unwrap_or_default()
    }

    fn tells_of_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("sequence")
    }
}
