//! The rules of frame streams: numbering, one start and one end, pairing, text emitted once, checkpoints before their tools.
//!
//! A stream may begin with a gap that represents all frames that are no longer kept. Then it is unknown what was opened before.

use super::checkpoints::Checkpoints;
use super::values;
use super::wire::Version;
use crate::verify::{Basis, Begin, Finding, Ids, Numbering, OneEnd, Pairs, Rule, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("resume.repeat"),
    Rule::of_event("id.alias"),
    Rule::of_event("id.repeat"),
    Rule::of_event("id.task"),
    Rule::of_event("start.missing"),
    Rule::of_event("start.repeat"),
    Rule::of_event("start.forbidden"),
    Rule::of_event("task.stream"),
    Rule::between_events("pair.opened_twice"),
    Rule::between_events("pair.not_open"),
    Rule::between_events("pair.left_open"),
    Rule::between_events("text.differs"),
    Rule::of_event("checkpoint.late"),
    Rule::of_event("path.absolute"),
    Rule::of_event("chunk.base64"),
    Rule::of_event("provider_event.raw"),
    Rule::of_event("provider_event.data"),
    Rule::of_event("type.legacy"),
    Rule::of_event("end.repeat"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.missing"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::of_event("tool_result.no_error_details"),
    Rule::of_event("message.empty_content"),
    Rule::of_event("metric.zero_tokens"),
];

pub(super) struct FrameRules {
    version: Version,
    streams: HashMap<(String, String), Stream>,
    ids: Ids,
    begin: Begin,
}

/// The kind of a stream, which determines its beginning and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// It begins with `session_started` and ends with `session_ended`.
    Run,
    /// `tool_task_*` report its lifecycle; it has neither of the two.
    Task,
    /// It has neither of the two.
    Thread,
    /// Its beginning is missing, so its kind is unknown: in v1 only the first frame shows it.
    Unknown,
}

impl Scope {
    /// v2 has the kind in each frame; in v1 it follows from the first frame.
    fn of(version: Version, frame: &Value) -> Self {
        let text = |key: &str| frame.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = text("type");
        let is_task = kind.starts_with("tool_task_");
        match (version, text("stream_kind")) {
            (Version::V1, _) if kind == "session_started" || kind == "session_ended" => Self::Run,
            (Version::V2, "session") if !is_task => Self::Run,
            (Version::V1, _) | (Version::V2, "session") if is_task => Self::Task,
            (Version::V2, "task") => Self::Task,
            _ => Self::Thread,
        }
    }
}

struct Stream {
    version: Version,
    numbering: Numbering,
    ends: OneEnd,
    scope: Scope,
    tools: Pairs,
    approvals: Pairs,
    subagents: Pairs,
    turns: Pairs,
    begun: bool,
    /// The task's first frame was seen.
    spawned: bool,
    is_cut: bool,
    proposed: HashSet<String>,
    spoken: HashSet<String>,
    /// Running commands.
    commands: HashSet<String>,
    /// Calls that have ended.
    over: HashSet<String>,
    /// The deltas of each open block, by kind, parent, message and index.
    blocks: HashMap<(bool, String, String, u64), String>,
    checkpoints: Checkpoints,
}

impl FrameRules {
    pub(super) fn new(version: Version) -> Self {
        Self { version, streams: HashMap::new(), ids: Ids::default(), begin: Begin::default() }
    }
}

impl Stream {
    fn new(version: Version, scope: Scope) -> Self {
        Self {
            version,
            numbering: Numbering::default(),
            ends: OneEnd::default(),
            scope,
            tools: Pairs::new("tool call", "/tool_id"),
            approvals: Pairs::new("approval", "/approval_id"),
            subagents: Pairs::new("subagent", "/subagent_id"),
            turns: Pairs::new("turn", "/turn_index"),
            begun: false,
            spawned: false,
            is_cut: false,
            proposed: HashSet::new(),
            spoken: HashSet::new(),
            commands: HashSet::new(),
            over: HashSet::new(),
            blocks: HashMap::new(),
            checkpoints: Checkpoints::default(),
        }
    }

    /// The first frame of a stream: at its start, after a gap, or where a client resumed it.
    fn begin(&mut self, begin: &Begin, gap: Option<u64>, kind: &str, seq: Option<u64>) {
        match (begin, gap) {
            (Begin::After(after), _) => {
                self.cut();
                self.numbering.resume_after(*after);
            }
            (_, Some(seq)) => {
                self.cut();
                self.numbering.go_on_from(seq);
            }
            (Begin::Anywhere, None) if kind != "session_started" => {
                self.cut();
                self.numbering.go_on_from(seq.unwrap_or_default());
            }
            _ => {}
        }
    }

    /// The beginning of the stream is missing.
    fn cut(&mut self) {
        self.is_cut = true;
        if self.version == Version::V1 {
            self.scope = Scope::Unknown;
        }
        self.ends.cut();
        self.checkpoints.cut();
        for pairs in [&mut self.tools, &mut self.approvals, &mut self.subagents, &mut self.turns] {
            pairs.cut();
        }
    }

    /// Checks the frame's position relative to the stream's start and end.
    fn place(&mut self, kind: &str, frame: &Value, findings: &mut Vec<Finding>) {
        let (is_first, is_last) = (kind == "session_started", kind == "session_ended");
        match self.scope {
            Scope::Run | Scope::Unknown => {
                self.ends.take(is_first, is_last, "session_started", "session_ended", findings);
            }
            Scope::Thread if is_last && self.version == Version::V1 => {
                let message = "the first event must be session_started, because this stream has session_ended";
                findings.push(Finding::error("start.missing", "", message));
            }
            Scope::Task | Scope::Thread if is_first || is_last => {
                let message =
                    "session_started and session_ended belong in a run's stream; this is a task or thread stream";
                findings.push(Finding::error("start.forbidden", "/type", message));
            }
            Scope::Task | Scope::Thread => {}
        }
        let is_task = kind.starts_with("tool_task_");
        let task_id = frame.get("task_id").and_then(Value::as_str);
        let stream_id = frame.get(stream_key(self.version)).and_then(Value::as_str);
        if is_task && task_id.is_some() && stream_id.is_some() && task_id != stream_id {
            let message = format!("{} of a task stream must be the task's id", stream_key(self.version));
            findings.push(Finding::error("id.task", format!("/{}", stream_key(self.version)), message));
        }
        match self.scope {
            Scope::Run if is_task => {
                let message = "a task event in a run's stream: each task has its own stream";
                findings.push(Finding::error("task.stream", "/type", message));
            }
            // The stream's first frame was withheld, or was not a task frame.
            Scope::Thread if is_task => self.scope = Scope::Task,
            _ => {}
        }
        if kind == "tool_task_spawned" && std::mem::replace(&mut self.spawned, true) {
            findings.push(Finding::error("start.repeat", "", "second tool_task_spawned: a task starts only once"));
        }
    }

    /// Whether a tool call neither runs nor has ended.
    fn is_unknown(&self, tool_id: &str) -> bool {
        !self.is_cut && !self.tools.is_open(tool_id) && !self.over.contains(tool_id)
    }

    fn frame(&mut self, kind: &str, frame: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| frame.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call_proposed" => {
                self.proposed.insert(text("tool_id").to_owned());
                warn_of_call(frame, findings);
            }
            "session_started" if frame.get("input").is_none() => {
                let message = "missing input: older writers called it prompt, or omitted it if it was empty";
                findings.push(Finding::error("type.legacy", "", message).on(Basis::Usual));
            }
            "output" => {
                let message = "type of older writers: it is now called output_text_delta";
                findings.push(Finding::error("type.legacy", "/type", message).on(Basis::Usual));
            }
            "checkpoint_created" | "checkpoint_failed" => {
                self.checkpoints.checkpoint(frame, findings);
                values::relative_paths(frame, findings);
            }
            "checkpoint_rewound" => values::relative_paths(frame, findings),
            "tool_task_stdin_written" => values::base64(text("chunk_b64"), findings),
            "tool_started" => {
                self.checkpoints.tool_started(text("tool_id"), text("name"));
                self.tools.open(text("tool_id"), findings);
                if text("kind") == "shell" {
                    self.commands.insert(text("tool_id").to_owned());
                }
                self.over.remove(text("tool_id"));
                if !self.proposed.remove(text("tool_id")) {
                    warn_of_call(frame, findings);
                }
            }
            "tool_stdout" | "tool_stderr" => {
                self.tools.within(text("tool_id"), findings);
                if !text("chunk").is_empty() {
                    self.spoken.insert(text("tool_id").to_owned());
                }
            }
            // A tool that does not exist fails without a start, but only once.
            "tool_failed" if self.is_unknown(text("tool_id")) => {
                let message = "this tool call is not open: it must begin with tool_started";
                findings.push(Finding::error("pair.not_open", "/tool_id", message).on(Basis::Usual));
                self.over.insert(text("tool_id").to_owned());
            }
            "tool_ended" | "tool_failed" => {
                self.over.insert(text("tool_id").to_owned());
                self.checkpoints.tool_ended(text("tool_id"));
                self.tools.close(text("tool_id"), findings);
                let spoke = self.spoken.remove(text("tool_id"));
                let is_command = self.commands.remove(text("tool_id"));
                let silent = match kind {
                    // Other tools than commands have 1 if their runner gives no exit code. In v1, tools have no kind.
                    "tool_ended" => {
                        let is_own = |code| is_command || code != 1 && self.version == Version::V2;
                        let code = frame.get("exit_code").and_then(Value::as_i64);
                        code.is_some_and(|code| code != 0 && !is_own(code))
                    }
                    _ => text("error").is_empty(),
                };
                if silent && !spoke {
                    findings.push(Finding::of(Warning::ToolResultDetails, ""));
                }
            }
            "approval_requested" => self.approvals.open(text("approval_id"), findings),
            "approval_resolved" => self.approvals.close(text("approval_id"), findings),
            "subagent_started" => self.subagents.open(text("subagent_id"), findings),
            "subagent_ended" => self.subagents.close(text("subagent_id"), findings),
            "turn_started" => self.turns.open(&turn_index(frame), findings),
            "turn_ended" => self.turns.close(&turn_index(frame), findings),
            "output_text_delta" | "reasoning_delta" if frame.get("message_id").is_some() => {
                let deltas = self.blocks.entry(block_key(kind, frame)).or_default();
                deltas.push_str(text("delta"));
            }
            "output_text_completed" | "reasoning_completed" => {
                let deltas = self.blocks.remove(&block_key(kind, frame)).unwrap_or_default();
                let is_whole = deltas == text("text") || (self.is_cut && text("text").ends_with(&deltas));
                if !is_whole {
                    let message = "the text differs from the concatenation of the block's deltas";
                    findings.push(Finding::error("text.differs", "/text", message));
                }
                if kind == "output_text_completed" && text("text").is_empty() {
                    findings.push(Finding::of(Warning::MessageContent, "/text"));
                }
            }
            "user_message" => {
                let attached = frame.get("attachments").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
                if text("text").is_empty() && !attached {
                    findings.push(Finding::of(Warning::MessageContent, "/text"));
                }
            }
            "usage_reported" => {
                let zero = |key: &str| frame.get(key).and_then(Value::as_u64) == Some(0);
                if zero("input_tokens") && zero("output_tokens") {
                    findings.push(Finding::of(Warning::MetricTokens, ""));
                }
            }
            "provider_event" => provider_event(frame, findings),
            "session_ended" => {
                // A run that breaks off may leave things open.
                let basis = if text("reason") == "completed" { Basis::Document } else { Basis::Ours };
                if !self.blocks.is_empty() {
                    let message =
                        format!("{} block(s) still open: each one must be completed before the end", self.blocks.len());
                    findings.push(Finding::error("pair.left_open", "", message).on(basis));
                }
                for pairs in [&mut self.tools, &mut self.approvals, &mut self.subagents, &mut self.turns] {
                    pairs.end(basis, findings);
                }
                self.checkpoints.end(findings);
            }
            _ => {}
        }
    }
}

/// The key of an event's stream id.
fn stream_key(version: Version) -> &'static str {
    if version == Version::V1 { "session_id" } else { "stream_id" }
}

/// The number of a frame that represents all frames up to itself; `None` for any other frame.
fn gap(version: Version, event: &Value) -> Option<u64> {
    let (first, last) = match version {
        Version::V1 if event.get("event_name")?.as_str()? == super::PRUNED => ("/data/first_seq", "/data/last_seq"),
        Version::V2 if event.get("type")?.as_str()? == "gap_detected" => ("/first_seq", "/last_seq"),
        _ => return None,
    };
    let number = |pointer: &str| event.pointer(pointer).and_then(Value::as_u64);
    let seq = event.get("seq")?.as_u64()?;
    (number(first) == Some(0) && number(last) == Some(seq)).then_some(seq)
}

fn provider_event(frame: &Value, findings: &mut Vec<Finding>) {
    let absent = |key: &str| frame.get(key).is_none_or(Value::is_null);
    if frame.get("status").and_then(Value::as_str) == Some("invalid_json") && absent("raw") {
        findings.push(Finding::error(
            "provider_event.raw",
            "/raw",
            "missing raw: a record that is not JSON must be kept there",
        ));
    }
    if frame.get("status").and_then(Value::as_str) == Some("event") && absent("data") && absent("raw") {
        findings.push(Finding::error(
            "provider_event.data",
            "/data",
            "missing record: it must be kept in data or in raw",
        ));
    }
}

fn turn_index(frame: &Value) -> String {
    frame.get("turn_index").map(Value::to_string).unwrap_or_default()
}

fn block_key(kind: &str, frame: &Value) -> (bool, String, String, u64) {
    let text = |key: &str| frame.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let index = frame.get("block_index").and_then(Value::as_u64).unwrap_or_default();
    (kind.starts_with("reasoning"), text("parent_tool_id"), text("message_id"), index)
}

fn warn_of_call(frame: &Value, findings: &mut Vec<Finding>) {
    if is_unnamed(frame.get("name").and_then(Value::as_str).unwrap_or_default()) {
        findings.push(Finding::of(Warning::ToolCallName, "/name"));
    }
    let empty = match frame.get("args") {
        Some(Value::Object(args)) => args.is_empty(),
        Some(Value::String(args)) => args.is_empty(),
        _ => true,
    };
    if empty {
        findings.push(Finding::of(Warning::ToolCallInput, "/args"));
    }
}

impl Verifier for FrameRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = text("type");
        let stream_kind = if self.version == Version::V1 { "" } else { text("stream_kind") };
        self.ids.take("id", event.get("id").and_then(Value::as_str), findings);
        let stream_id = text(stream_key(self.version));
        let key = (stream_kind.to_owned(), stream_id.to_owned());
        let stream =
            self.streams.entry(key).or_insert_with(|| Stream::new(self.version, Scope::of(self.version, event)));
        let seq = event.get("seq").and_then(Value::as_u64);
        if !std::mem::replace(&mut stream.begun, true) {
            stream.begin(&self.begin.next_stream(), gap(self.version, event), kind, seq);
        }
        stream.numbering.take("seq", seq, findings);
        stream.place(kind, event, findings);
        let alias = event.get("session_id").and_then(Value::as_str).unwrap_or(stream_id);
        if self.version == Version::V2 && alias != stream_id {
            let basis = if stream_kind == "session" { Basis::Document } else { Basis::Ours };
            let message = "session_id differs from stream_id, of which it is an alias";
            findings.push(Finding::error("id.alias", "/session_id", message).on(basis));
        }
        stream.frame(kind, event, findings);
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for stream in self.streams.values().filter(|stream| stream.scope == Scope::Run) {
            stream.ends.end("session_ended", findings);
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        event.get(stream_key(self.version)).and_then(Value::as_str).unwrap_or_default()
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("seq")
    }
}
