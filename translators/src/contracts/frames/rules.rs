//! The rules of frame streams: numbering, one start and one end, pairing, text said once.
//!
//! A stream may begin with the gap that stands for all frames that are not kept any more; then what was opened before it is not
//! known.

use super::wire::Version;
use crate::verify::{Finding, Ids, Numbering, OneEnd, Pairs, Verifier};
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

pub(super) struct FrameRules {
    version: Version,
    streams: HashMap<(String, String), Stream>,
    ids: Ids,
}

struct Stream {
    numbering: Numbering,
    ends: OneEnd,
    /// Runs have a start and an end; task and thread streams do not.
    is_run: bool,
    tools: Pairs,
    approvals: Pairs,
    subagents: Pairs,
    turns: Pairs,
    begun: bool,
    is_cut: bool,
    proposed: HashSet<String>,
    spoken: HashSet<String>,
    /// The deltas of each open block, by kind, parent, message and index.
    blocks: HashMap<(bool, String, String, u64), String>,
}

impl FrameRules {
    pub(super) fn new(version: Version) -> Self {
        Self { version, streams: HashMap::new(), ids: Ids::default() }
    }
}

impl Stream {
    fn new(is_run: bool) -> Self {
        Self {
            numbering: Numbering::default(),
            ends: OneEnd::default(),
            is_run,
            tools: Pairs::new("tool call", "/tool_id"),
            approvals: Pairs::new("approval", "/approval_id"),
            subagents: Pairs::new("subagent", "/subagent_id"),
            turns: Pairs::new("turn", "/turn_index"),
            begun: false,
            is_cut: false,
            proposed: HashSet::new(),
            spoken: HashSet::new(),
            blocks: HashMap::new(),
        }
    }

    /// The first frame is the gap in front of what is kept.
    fn cut(&mut self, seq: u64) {
        self.is_cut = true;
        self.numbering.go_on_from(seq);
        self.ends.cut();
        for pairs in [&mut self.tools, &mut self.approvals, &mut self.subagents, &mut self.turns] {
            pairs.cut();
        }
    }

    fn frame(&mut self, kind: &str, frame: &Value, findings: &mut Vec<Finding>) {
        let text = |key: &str| frame.get(key).and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call_proposed" => {
                self.proposed.insert(text("tool_id").to_owned());
                warn_of_call(frame, findings);
            }
            "tool_started" => {
                self.tools.open(text("tool_id"), findings);
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
            "tool_ended" | "tool_failed" => {
                self.tools.close(text("tool_id"), findings);
                let spoke = self.spoken.remove(text("tool_id"));
                let silent = match kind {
                    "tool_ended" => frame.get("exit_code").and_then(Value::as_i64).is_some_and(|code| code != 0),
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
                let said = self.blocks.entry(block_key(kind, frame)).or_default();
                said.push_str(text("delta"));
            }
            "output_text_completed" | "reasoning_completed" => {
                let said = self.blocks.remove(&block_key(kind, frame)).unwrap_or_default();
                let is_whole = said == text("text") || (self.is_cut && text("text").ends_with(&said));
                if !is_whole {
                    let message = "the text is not the concatenation of the block's deltas";
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
                if !self.blocks.is_empty() {
                    let message =
                        format!("{} block(s) still open: each is completed before the end", self.blocks.len());
                    findings.push(Finding::error("pair.left_open", "", message));
                }
                for pairs in [&mut self.tools, &mut self.approvals, &mut self.subagents, &mut self.turns] {
                    pairs.end(findings);
                }
            }
            _ => {}
        }
    }
}

/// The number of a frame that stands for all frames up to itself; `None` of any other.
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
        findings.push(Finding::error("provider_event.raw", "/raw", "a record that is not JSON is kept in raw"));
    }
    if frame.get("status").and_then(Value::as_str) == Some("event") && absent("data") && absent("raw") {
        findings.push(Finding::error("provider_event.data", "/data", "the record is kept in data, or in raw"));
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
        let (stream_kind, stream_id) = match self.version {
            Version::V1 => ("session", text("session_id")),
            Version::V2 => (text("stream_kind"), text("stream_id")),
        };
        self.ids.take("id", event.get("id").and_then(Value::as_str), findings);
        let is_run = stream_kind == "session" && !kind.starts_with("tool_task_");
        let key = (stream_kind.to_owned(), stream_id.to_owned());
        let stream = self.streams.entry(key).or_insert_with(|| Stream::new(is_run));
        if let (false, Some(seq)) = (std::mem::replace(&mut stream.begun, true), gap(self.version, event)) {
            stream.cut(seq);
        }
        stream.numbering.take("seq", event.get("seq").and_then(Value::as_u64), findings);
        if stream.is_run {
            let (is_first, is_last) = (kind == "session_started", kind == "session_ended");
            stream.ends.take(is_first, is_last, "session_started", "session_ended", findings);
        } else if matches!(kind, "session_started" | "session_ended") {
            let message = "only the stream of a run starts and ends; this is a task or thread stream";
            findings.push(Finding::error("start.forbidden", "/type", message));
        }
        if self.version == Version::V2 && text("session_id") != text("stream_id") {
            findings.push(Finding::error("id.alias", "/session_id", "session_id is an alias of stream_id"));
        }
        stream.frame(kind, event, findings);
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        for stream in self.streams.values().filter(|stream| stream.is_run) {
            stream.ends.end("session_ended", findings);
        }
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        let key = if self.version == Version::V1 { "session_id" } else { "stream_id" };
        event.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn tells_of_withheld(&self, event: &Value) -> bool {
        super::withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some("seq")
    }
}
