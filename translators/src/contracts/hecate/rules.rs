//! The rules of `hecate.v1` streams.
//!
//! A stream may begin after pruned events. Then its first event is `gap.events_pruned`, and it is unknown what was opened
//! before. Types that the document does not name are opaque: only their envelopes are checked.

use crate::verify::{Basis, Begin, Finding, Ids, Numbering, Pairs, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("resume.repeat"),
    Rule::of_event("id.changed"),
    Rule::of_event("id.order"),
    Rule::of_event("id.repeat"),
    Rule::of_event("start.missing"),
    Rule::of_event("start.repeat"),
    Rule::between_events("turn.not_open"),
    Rule::between_events("turn.left_open"),
    Rule::between_events("text.differs"),
    Rule::between_events("tool.over"),
    Rule::between_events("output.offset"),
    Rule::between_events("approval.early"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::of_event("type.legacy"),
    Rule::of_event("end.status"),
    Rule::of_event("end.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
    Rule::of_event("message.empty_content"),
    Rule::of_event("metric.zero_tokens"),
];

#[derive(Default)]
pub(super) struct HecateRules {
    runs: HashMap<String, Run>,
    ids: Ids,
    begin: Begin,
}

struct Run {
    numbering: Numbering,
    task_id: Option<String>,
    session_id: Option<String>,
    last_id: String,
    begun: bool,
    ended: bool,
    /// The number that may follow the pruned events at the stream's beginning.
    after_gap: Option<u64>,
    /// The beginning of the stream is missing.
    is_cut: bool,
    /// The run waits for a worker: it was resumed, or lost its worker.
    may_queue: bool,
    turns: HashSet<u64>,
    /// The finished turns, and whether each was to be retried.
    turns_over: HashMap<u64, bool>,
    /// The deltas of each open block, by voice, turn and index.
    blocks: HashMap<(bool, u64, u64), String>,
    tools: Pairs,
    /// Calls that were invoked and are not over.
    running: HashSet<String>,
    /// Calls that were proposed but not invoked, so that one call is not reported twice.
    proposed: HashSet<String>,
    /// Calls that were proposed or invoked.
    known: HashSet<String>,
    over: HashSet<String>,
    /// Running commands whose exit code is known.
    exited: HashSet<String>,
    /// How many bytes each stream of a running call has emitted.
    offsets: HashMap<String, [Option<u64>; 2]>,
    /// Running calls with output that was not valid text: its bytes cannot be counted.
    uncounted: HashSet<String>,
    approvals: Pairs,
}

const FIRST: &str = "run.queued, run.started or run.resumed_from_event";
const LAST: &str = "run.finished, run.failed or run.cancelled";

/// Names from earlier drafts, and their replacements.
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
            after_gap: None,
            is_cut: false,
            may_queue: false,
            turns: HashSet::new(),
            turns_over: HashMap::new(),
            blocks: HashMap::new(),
            tools: Pairs::new("tool call", "/data/tool_call_id"),
            running: HashSet::new(),
            proposed: HashSet::new(),
            known: HashSet::new(),
            over: HashSet::new(),
            exited: HashSet::new(),
            offsets: HashMap::new(),
            uncounted: HashSet::new(),
            approvals: Pairs::new("approval", "/data/approval_id"),
        }
    }

    /// Checks the ids in the envelope, and the order of events.
    fn envelope(&mut self, kind: &str, event: &Value, begin: &mut Begin, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str);
        for (key, known, pointer) in
            [("task_id", &self.task_id, "/task_id"), ("session_id", &self.session_id, "/session_id")]
        {
            if known.as_deref() != text(key) {
                let message = format!("{key} changed: it must be the same for the whole run");
                findings.push(Finding::error("id.changed", pointer, message));
            }
        }
        self.id(text("event_id").unwrap_or_default(), findings);
        let sequence = event.get("sequence").and_then(Value::as_u64);
        if !self.begun {
            self.begin(kind, event, &begin.next_stream(), findings);
        } else if let Some(next) = self.after_gap.take().filter(|next| sequence == Some(*next)) {
            self.numbering.go_on_from(next);
        }
        self.numbering.take("sequence", sequence, findings);
        self.order(kind, findings);
        if let Some((_, now)) = LEGACY.iter().find(|(legacy, _)| *legacy == kind) {
            let message = format!("type of an earlier draft: it is now called {now}");
            findings.push(Finding::error("type.legacy", "/type", message).on(Basis::Usual));
        }
    }

    /// The first event of a run: at its start, after pruned events, or where a client resumed it.
    fn begin(&mut self, kind: &str, event: &Value, begin: &Begin, findings: &mut Vec<Finding>) {
        let sequence = event.get("sequence").and_then(Value::as_u64).unwrap_or_default();
        if let Begin::After(after) = begin {
            self.is_cut = true;
            self.numbering.resume_after(*after);
        } else if kind == "gap.events_pruned" {
            self.is_cut = true;
            self.numbering.go_on_from(sequence);
            let last = event.pointer("/data/last_pruned_sequence").and_then(Value::as_u64);
            self.after_gap = last.map(|last| last.saturating_add(1));
        } else if *begin == Begin::Anywhere && !is_first(kind) {
            self.is_cut = true;
            self.numbering.go_on_from(sequence);
        } else if is_first(kind) && sequence > 0 {
            // A server may number the events of all runs together. "New consumers must handle a starting sequence > 0."
            let message = format!("sequence is {sequence}, expected 0: the first number must be 0");
            findings.push(Finding::error("sequence.start", "/sequence", message).on(Basis::Usual));
            self.numbering.go_on_from(sequence);
        }
        if self.is_cut {
            self.tools.cut();
            self.approvals.cut();
        }
    }

    /// An id must sort after the previous one: "sortable by creation". Within a millisecond, only framegate guarantees that.
    fn id(&mut self, event_id: &str, findings: &mut Vec<Finding>) {
        if event_id < self.last_id.as_str() {
            let time = |id: &str| id.get(..TIME_OF_ID).unwrap_or_default().to_owned();
            let basis = if time(event_id) == time(&self.last_id) { Basis::Usual } else { Basis::Document };
            let message = "event_id does not sort after the previous one: ids must increase within a run, as strings";
            findings.push(Finding::error("id.order", "/event_id", message).on(basis));
        }
        event_id.clone_into(&mut self.last_id);
    }

    fn order(&mut self, kind: &str, findings: &mut Vec<Finding>) {
        let is_last = matches!(kind, "run.finished" | "run.failed" | "run.cancelled");
        if self.ended && is_last {
            findings.push(Finding::error("end.repeat", "", format!("second end: a run must have exactly one {LAST}")));
        } else if self.ended && !kind.starts_with("gap.") {
            let message = format!("event after the end: only gap.* may follow {LAST}");
            findings.push(Finding::error("end.not_last", "", message));
        } else if !self.begun && !is_first(kind) && !self.is_cut {
            let message =
                format!("the first event must be {FIRST}, or gap.events_pruned if earlier events were pruned");
            findings.push(Finding::error("start.missing", "", message));
        } else if self.begun && kind == "run.queued" && self.may_queue {
            // A run that is resumed, or taken from a lost worker, is queued again.
        } else if self.begun && matches!(kind, "run.queued" | "run.resumed_from_event") {
            let message = format!("second beginning: only the first event may be {kind}");
            findings.push(Finding::error("start.repeat", "", message));
        }
        self.begun = true;
        self.ended |= is_last;
        self.may_queue = match kind {
            "run.resumed_from_event" | "gap.run_disconnected" => true,
            "run.queued" | "run.started" => false,
            _ => self.may_queue,
        };
    }

    fn data(&mut self, kind: &str, data: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| data.get(key).and_then(Value::as_u64);
        match kind {
            "turn.started" => {
                let turn = number("turn_index").unwrap_or_default();
                self.turns.insert(turn);
                self.turns_over.remove(&turn);
            }
            "turn.completed" | "turn.failed" => {
                let turn = number("turn_index").unwrap_or_default();
                let will_retry = data.get("will_retry").and_then(Value::as_bool) == Some(true);
                let was_retried = self.turns_over.insert(turn, will_retry);
                if !self.turns.remove(&turn) && !self.is_cut {
                    let message = "this turn is not open: it must begin with turn.started and end exactly once";
                    // A turn may fail before its model is called, and may continue after a failure that is retried.
                    let may_be = kind == "turn.failed" && was_retried.is_none() || was_retried == Some(true);
                    let basis = if may_be { Basis::Ours } else { Basis::Document };
                    findings.push(Finding::error("turn.not_open", "/data/turn_index", message).on(basis));
                }
                if number("input_tokens") == Some(0) && number("output_tokens") == Some(0) {
                    findings.push(Finding::of(Warning::MetricTokens, "/data"));
                }
            }
            "assistant.text_delta" | "assistant.thinking_delta" => {
                self.blocks.entry(block_key(kind, data)).or_default().push_str(text("delta"));
            }
            "assistant.text_complete" | "assistant.thinking_complete" => {
                // A runtime without deltas still completes blocks.
                let deltas = self.blocks.remove(&block_key(kind, data));
                let is_rest = |deltas: &str| self.is_cut && text("text").ends_with(deltas);
                if deltas.is_some_and(|deltas| deltas != text("text") && !is_rest(&deltas)) {
                    let message = "the text differs from the concatenation of the block's deltas";
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
                self.known.insert(text("tool_call_id").to_owned());
                warn_of_name(data, findings);
                if data.get("input").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty) {
                    findings.push(Finding::of(Warning::ToolCallInput, "/data/input"));
                }
            }
            "approval.requested" => {
                self.approvals.open(text("approval_id"), findings);
                let call = text("tool_call_id");
                if !call.is_empty() && !self.known.contains(call) && !self.is_cut {
                    let message = "approval for an unknown tool call: the call must be proposed first";
                    findings.push(Finding::error("approval.early", "/data/tool_call_id", message).on(Basis::Ours));
                }
            }
            "approval.resolved" | "approval.timed_out" => self.approvals.close(text("approval_id"), findings),
            "run.finished" | "run.failed" | "run.cancelled" => {
                self.close(kind, findings);
                if kind == "run.finished" && !matches!(text("final_status"), "" | "completed") {
                    let message = "final_status must be completed: run.finished is the end of a run that succeeded";
                    findings.push(Finding::error("end.status", "/data/final_status", message));
                }
            }
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
                    let message = "this tool call has already ended: it must have exactly one terminal event";
                    findings.push(Finding::error("tool.over", "/data/tool_call_id", message));
                }
                self.tools.open(call, findings);
                self.known.insert(call.to_owned());
                self.running.insert(call.to_owned());
            }
            "tool.completed" | "tool.failed" | "tool.cancelled" | "tool.timed_out" => {
                self.terminal(kind, call, data, findings);
            }
            "tool.shell.output_chunk" => {
                self.tools.within(call, findings);
                self.chunk(call, data, findings);
            }
            "tool.started" | "tool.shell.command" => self.tools.within(call, findings),
            "tool.shell.exited" => {
                self.tools.within(call, findings);
                self.exited.insert(call.to_owned());
            }
            // A patch may be handled long after its call. Other types are opaque, or the only event about their call.
            _ if is_patch(kind) || !super::V1.schemas.iter().any(|file| file.kind == kind) => {}
            _ if !self.tools.is_open(call) && !self.is_cut => {
                let message = "this tool call is not open: it must begin with tool.invoked";
                findings.push(Finding::error("pair.not_open", "/data/tool_call_id", message).on(Basis::Ours));
            }
            _ => {}
        }
    }

    fn terminal(&mut self, kind: &str, call: &str, data: &Value, findings: &mut Vec<Finding>) {
        self.running.remove(call);
        self.uncounted.remove(call);
        self.tools.close(call, findings);
        self.over.insert(call.to_owned());
        let spoke = self.offsets.remove(call).is_some();
        let is_silent = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default().is_empty();
        // The exit code of a command says what went wrong.
        let has_exited = self.exited.remove(call);
        if kind == "tool.failed" && !spoke && !has_exited && is_silent("message") {
            findings.push(Finding::of(Warning::ToolResultDetails, "/data"));
        }
    }

    fn chunk(&mut self, call: &str, data: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let Some(offset) = data.get("byte_offset").and_then(Value::as_u64) else { return };
        let is_cut = self.is_cut && !self.running.contains(call);
        // A replacement character differs in length from the bytes that it replaces.
        if text("data").contains('\u{FFFD}') {
            self.uncounted.insert(call.to_owned());
        }
        let basis = if self.uncounted.contains(call) { Basis::Ours } else { Basis::Document };
        let [stdout, stderr] = self.offsets.entry(call.to_owned()).or_default();
        let next = if text("stream") == "stderr" { stderr } else { stdout };
        let size = text("data").len() as u64;
        if text("position") == "front" {
            // The piece belongs before the output so far.
            if offset != 0 {
                let message = format!("byte_offset is {offset}, expected 0: the position of this piece is front");
                findings.push(Finding::error("output.offset", "/data/byte_offset", message));
            }
            *next = next.map(|next| next.saturating_add(size)).or((!is_cut).then_some(size));
            return;
        }
        // If a call began among pruned events, its current offset is unknown.
        let due = next.unwrap_or(if is_cut { offset } else { 0 });
        if offset != due {
            let message =
                format!("byte_offset is {offset}, expected {due}: it must be the number of the stream's bytes so far");
            findings.push(Finding::error("output.offset", "/data/byte_offset", message).on(basis));
        }
        *next = Some(offset.saturating_add(size));
    }

    fn close(&mut self, kind: &str, findings: &mut Vec<Finding>) {
        // A run that broke off may leave things open; in framegate's own output, even such a run closes its calls and
        // questions.
        let basis = if kind == "run.finished" { Basis::Document } else { Basis::Ours };
        self.tools.end(basis, findings);
        self.approvals.end(basis, findings);
        let open = self.turns.drain().count() + self.blocks.drain().count();
        if kind == "run.finished" && open > 0 && !self.is_cut {
            let message = format!("{open} turn(s) or text block(s) still open: a successful run must complete them");
            findings.push(Finding::error("turn.left_open", "", message));
        }
    }
}

fn is_first(kind: &str) -> bool {
    matches!(kind, "run.queued" | "run.started" | "run.resumed_from_event")
}

/// The length of `evt_` and the ten characters of a ULID's time.
const TIME_OF_ID: usize = 14;

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
        run.envelope(kind, event, &mut self.begin, findings);
        if let Some(data) = event.get("data") {
            run.data(kind, data, findings);
        }
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for _ in self.runs.values().filter(|run| !run.ended) {
            let message = format!("the run has no end: its last event must be {LAST}");
            findings.push(Finding::error("end.missing", "", message));
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get("run_id").and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("sequence")
    }
}
