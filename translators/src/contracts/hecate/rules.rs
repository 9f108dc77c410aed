//! The rules of `hecate.v1` streams.
//!
//! A stream may begin behind pruned events: then `gap.events_pruned` is its first event, and what was opened before it is
//! nobody's fault.

use crate::verify::{Finding, Ids, Numbering, Pairs, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

#[derive(Default)]
pub(super) struct HecateRules {
    runs: HashMap<String, Run>,
    ids: Ids,
}

struct Run {
    numbering: Numbering,
    task_id: Option<String>,
    session_id: Option<String>,
    last_id: String,
    begun: bool,
    ended: bool,
    /// Where the numbers may go on behind the pruned events that the stream begins with.
    behind_gap: Option<u64>,
    /// The stream begins behind pruned events.
    is_cut: bool,
    turns: HashSet<u64>,
    /// The deltas of each open block, by voice, turn and index.
    blocks: HashMap<(bool, u64, u64), String>,
    tools: Pairs,
    /// Calls that were invoked and are not over.
    running: HashSet<String>,
    /// Calls that were proposed and not invoked: one call is warned of once.
    proposed: HashSet<String>,
    over: HashSet<String>,
    /// How much each stream of a running call has said.
    offsets: HashMap<String, [Option<u64>; 2]>,
    approvals: Pairs,
}

const FIRST: &str = "run.queued, run.started or run.resumed_from_event";
const LAST: &str = "run.finished, run.failed or run.cancelled";

/// Names of earlier drafts, and what took their place.
const LEGACY: &[(&str, &str)] = &[
    ("run.completed", "run.finished"),
    ("run.claimed", "run.started"),
    ("run.running", "run.started"),
    ("run.resumed", "run.resumed_from_event"),
    ("run.resume_requested", "run.resumed_from_event"),
    ("approval.approved", "approval.resolved"),
    ("approval.rejected", "approval.resolved"),
];

impl Run {
    fn new(event: &Value) -> Self {
        let text = |key: &str| event.get(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            numbering: Numbering::default(),
            task_id: text("task_id"),
            session_id: text("session_id"),
            last_id: String::new(),
            begun: false,
            ended: false,
            behind_gap: None,
            is_cut: false,
            turns: HashSet::new(),
            blocks: HashMap::new(),
            tools: Pairs::new("tool call", "/data/tool_call_id"),
            running: HashSet::new(),
            proposed: HashSet::new(),
            over: HashSet::new(),
            offsets: HashMap::new(),
            approvals: Pairs::new("approval", "/data/approval_id"),
        }
    }

    /// Ids that stand in every event, and the order of events.
    fn envelope(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str);
        for (key, known, pointer) in
            [("task_id", &self.task_id, "/task_id"), ("session_id", &self.session_id, "/session_id")]
        {
            if known.as_deref() != text(key) {
                let message = format!("{key} changed: it is the same for the whole run");
                findings.push(Finding::error("id.changed", pointer, message));
            }
        }
        let event_id = text("event_id").unwrap_or_default();
        if event_id < self.last_id.as_str() {
            let message = "event_id does not sort behind the one before: ids go up within a run, as strings";
            findings.push(Finding::error("id.order", "/event_id", message));
        }
        event_id.clone_into(&mut self.last_id);
        let sequence = event.get("sequence").and_then(Value::as_u64);
        if !self.begun && kind == "gap.events_pruned" {
            self.is_cut = true;
            self.numbering.go_on_from(sequence.unwrap_or_default());
            let last = event.pointer("/data/last_pruned_sequence").and_then(Value::as_u64);
            self.behind_gap = last.map(|last| last.saturating_add(1));
        } else if let Some(next) = self.behind_gap.take().filter(|next| sequence == Some(*next)) {
            self.numbering.go_on_from(next);
        }
        self.numbering.take("sequence", sequence, findings);
        self.order(kind, findings);
        if let Some((_, now)) = LEGACY.iter().find(|(legacy, _)| *legacy == kind) {
            let message = format!("a name of an earlier draft: it is {now} now");
            findings.push(Finding::error("type.legacy", "/type", message));
        }
    }

    fn order(&mut self, kind: &str, findings: &mut Vec<Finding>) {
        let is_first = matches!(kind, "run.queued" | "run.started" | "run.resumed_from_event");
        let is_last = matches!(kind, "run.finished" | "run.failed" | "run.cancelled");
        if self.ended && is_last {
            findings.push(Finding::error("end.repeat", "", format!("a second end: a run has exactly one {LAST}")));
        } else if self.ended && !kind.starts_with("gap.") {
            let message = format!("an event behind the end: only gap.* follows {LAST}");
            findings.push(Finding::error("end.not_last", "", message));
        } else if !self.begun && !is_first && !self.is_cut {
            let message = format!("the first event is {FIRST}, or gap.events_pruned in front of what is kept");
            findings.push(Finding::error("start.missing", "", message));
        } else if self.begun && matches!(kind, "run.queued" | "run.resumed_from_event") {
            let message = format!("a second beginning: {kind} is the first event only");
            findings.push(Finding::error("start.repeat", "", message));
        }
        self.begun = true;
        self.ended |= is_last;
    }

    fn data(&mut self, kind: &str, data: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| data.get(key).and_then(Value::as_u64);
        match kind {
            "turn.started" => drop(self.turns.insert(number("turn_index").unwrap_or_default())),
            "turn.completed" | "turn.failed" => {
                let turn = number("turn_index").unwrap_or_default();
                let stays = data.get("will_retry").and_then(Value::as_bool) == Some(true);
                let was_open = if stays { self.turns.contains(&turn) } else { self.turns.remove(&turn) };
                if !was_open && !self.is_cut {
                    let message = "this turn is not open here: it begins with turn.started";
                    findings.push(Finding::error("turn.not_open", "/data/turn_index", message));
                }
                if number("input_tokens") == Some(0) && number("output_tokens") == Some(0) {
                    findings.push(Finding::of(Warning::MetricTokens, "/data"));
                }
            }
            "assistant.text_delta" | "assistant.thinking_delta" => {
                self.blocks.entry(block_key(kind, data)).or_default().push_str(text("delta"));
            }
            "assistant.text_complete" | "assistant.thinking_complete" => {
                // A runtime without deltas completes blocks all the same.
                let said = self.blocks.remove(&block_key(kind, data));
                if !self.is_cut && said.is_some_and(|said| said != text("text")) {
                    let message = "the text is not the concatenation of the block's deltas";
                    findings.push(Finding::error("text.differs", "/data/text", message));
                }
                if kind == "assistant.text_complete" && text("text").is_empty() {
                    findings.push(Finding::of(Warning::MessageContent, "/data/text"));
                }
            }
            "user.message" if text("text").is_empty() => {
                findings.push(Finding::of(Warning::MessageContent, "/data/text"));
            }
            "assistant.tool_call_proposed" => {
                self.proposed.insert(text("tool_call_id").to_owned());
                warn_of_name(data, findings);
                if data.get("input").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty) {
                    findings.push(Finding::of(Warning::ToolCallInput, "/data/input"));
                }
            }
            "approval.requested" => self.approvals.open(text("approval_id"), findings),
            "approval.resolved" | "approval.timed_out" if !self.is_cut => {
                self.approvals.close(text("approval_id"), findings);
            }
            "run.finished" | "run.failed" | "run.cancelled" => self.close(kind, findings),
            _ if kind.starts_with("tool.") => self.tool(kind, data, findings),
            _ => {}
        }
    }

    fn tool(&mut self, kind: &str, data: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let call = text("tool_call_id");
        match kind {
            "tool.invoked" => {
                if !self.proposed.remove(call) {
                    warn_of_name(data, findings);
                }
                if self.over.contains(call) {
                    let message = "this tool call is over: it has one terminal event";
                    findings.push(Finding::error("tool.over", "/data/tool_call_id", message));
                }
                self.tools.open(call, findings);
                self.running.insert(call.to_owned());
            }
            "tool.completed" | "tool.failed" | "tool.cancelled" | "tool.timed_out" => {
                self.terminal(kind, call, data, findings);
            }
            "tool.shell.output_chunk" => {
                self.within(call, findings);
                self.chunk(call, data, findings);
            }
            // What is done with a patch may be done long after its call.
            _ if is_patch(kind) => {}
            _ => self.within(call, findings),
        }
    }

    fn within(&self, call: &str, findings: &mut Vec<Finding>) {
        if !self.is_cut {
            self.tools.within(call, findings);
        }
    }

    fn terminal(&mut self, kind: &str, call: &str, data: &Value, findings: &mut Vec<Finding>) {
        let was_running = self.running.remove(call);
        if was_running || !self.is_cut {
            self.tools.close(call, findings);
        }
        self.over.insert(call.to_owned());
        let spoke = self.offsets.remove(call).is_some();
        let is_silent = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default().is_empty();
        if kind == "tool.failed" && !spoke && is_silent("message") {
            findings.push(Finding::of(Warning::ToolResultDetails, "/data"));
        }
    }

    fn chunk(&mut self, call: &str, data: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some(offset) = data.get("byte_offset").and_then(Value::as_u64) else { return };
        let is_cut = self.is_cut && !self.running.contains(call);
        let [stdout, stderr] = self.offsets.entry(call.to_owned()).or_default();
        let next = if text("stream") == "stderr" { stderr } else { stdout };
        // Of a call that began among pruned events nobody knows how far it had come.
        let due = next.unwrap_or(if is_cut { offset } else { 0 });
        if offset != due {
            let message = format!("byte_offset is {offset} where {due} was due: it counts the stream's bytes so far");
            findings.push(Finding::error("output.offset", "/data/byte_offset", message));
        }
        *next = Some(offset.saturating_add(text("data").len() as u64));
    }

    fn close(&mut self, kind: &str, findings: &mut Vec<Finding>) {
        self.tools.end(findings);
        self.approvals.end(findings);
        // A run that broke off may break off within a turn or a text.
        let open = self.turns.drain().count() + self.blocks.drain().count();
        if kind == "run.finished" && open > 0 && !self.is_cut {
            let message = format!("{open} turn(s) or text block(s) still open: a run that went well completed them");
            findings.push(Finding::error("turn.left_open", "", message));
        }
    }
}

fn is_patch(kind: &str) -> bool {
    ["tool.edit.", "tool.multi_edit.", "tool.file_write.", "tool.file."].iter().any(|group| kind.starts_with(group))
}

fn block_key(kind: &str, data: &Value) -> (bool, u64, u64) {
    let number = |key: &str| data.get(key).and_then(Value::as_u64).unwrap_or_default();
    (kind.contains("thinking"), number("turn_index"), number("block_index"))
}

fn warn_of_name(data: &Value, findings: &mut Vec<Finding>) {
    if is_unnamed(data.get("tool_name").and_then(Value::as_str).unwrap_or_default()) {
        findings.push(Finding::of(Warning::ToolCallName, "/data/tool_name"));
    }
}

impl Verifier for HecateRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = text("type");
        self.ids.take("event_id", event.get("event_id").and_then(Value::as_str), findings);
        let run = self.runs.entry(text("run_id").to_owned()).or_insert_with(|| Run::new(event));
        run.envelope(kind, event, findings);
        if let Some(data) = event.get("data") {
            run.data(kind, data, findings);
        }
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for _ in self.runs.values().filter(|run| !run.ended) {
            let message = format!("the run has no end: it ends with {LAST}");
            findings.push(Finding::error("end.missing", "", message));
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("run_id").and_then(Value::as_str).unwrap_or_default()
    }

    fn tells_of_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("sequence")
    }
}
