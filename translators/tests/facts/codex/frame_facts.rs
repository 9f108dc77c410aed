//! The contents of a recording's frames, by kind.

use framegate_translators::frame::{Body, EndReason, Frame, StreamKind, Usage, UsageScope};
use serde_json::Value;
use std::collections::HashMap;
use uuid::Uuid;

/// The outcome of a tool's call.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Ended(i32),
    Failed(String),
}

#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) call_id: String,
    pub(crate) name: String,
    pub(crate) args: Value,
    /// Standard output in order, and how much of it arrived in pieces.
    pub(crate) out: String,
    pub(crate) streamed: usize,
    pub(crate) err: String,
    pub(crate) files: Vec<(String, &'static str)>,
    pub(crate) outcome: Option<Outcome>,
}

/// The output of one side: the main thread, or a subagent.
#[derive(Debug, Default)]
pub(crate) struct ThreadFacts {
    pub(crate) texts: Vec<(String, String)>,
    pub(crate) reasoning: Vec<(String, String)>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) by_id: HashMap<Uuid, usize>,
}

impl ThreadFacts {
    fn tool(&mut self, id: &Uuid) -> &mut Tool {
        &mut self.tools[self.by_id[id]]
    }

    fn frame(&mut self, body: &Body) {
        match body {
            Body::OutputTextCompleted(block) => self.texts.push((block.message_id.to_string(), block.text.clone())),
            Body::ReasoningCompleted { block, .. } => {
                self.reasoning.push((block.message_id.to_string(), block.text.clone()));
            }
            Body::ToolStarted { call, .. } => {
                self.by_id.insert(call.tool.id, self.tools.len());
                self.tools.push(Tool {
                    call_id: call.tool.call_id.to_string(),
                    name: call.name.to_string(),
                    args: serde_json::from_str(call.args.get()).unwrap(),
                    out: String::new(),
                    streamed: 0,
                    err: String::new(),
                    files: Vec::new(),
                    outcome: None,
                });
            }
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                let tool = self.tool(&tool.id);
                tool.streamed += chunk.len();
                tool.out.push_str(chunk);
            }
            Body::ToolStdoutFront { tool, chunk } => self.tool(&tool.id).out.insert_str(0, chunk),
            Body::ToolStderr { tool, chunk } => self.tool(&tool.id).err.push_str(chunk),
            Body::FileChanged(change) => {
                let kind = change.kind.as_str();
                self.tool(&change.tool_id.unwrap()).files.push((change.path.clone(), kind));
            }
            Body::ToolEnded { tool, exit_code, .. } => self.tool(&tool.id).outcome = Some(Outcome::Ended(*exit_code)),
            Body::ToolFailed { tool, error } => self.tool(&tool.id).outcome = Some(Outcome::Failed(error.clone())),
            _ => {}
        }
    }
}

/// The contents of a recording's frames.
#[derive(Default)]
pub(crate) struct FrameFacts {
    pub(crate) main: ThreadFacts,
    pub(crate) child: ThreadFacts,
    pub(crate) bodies: Vec<Body>,
    pub(crate) sessions: Vec<String>,
    pub(crate) ends: Vec<(EndReason, Option<String>, String)>,
    pub(crate) records: usize,
    /// The errors on records that were not understood.
    pub(crate) errors: Vec<String>,
    /// The lines with the metadata of threads.
    pub(crate) metas: Vec<Value>,
    pub(crate) run_usage: Vec<Usage>,
    pub(crate) turn_usage: Vec<Usage>,
}

pub(crate) fn collect_facts(frames: &[Frame]) -> FrameFacts {
    let mut seen = FrameFacts::default();
    for frame in frames {
        if let Body::ProviderEvent(record) = &frame.body {
            seen.records += 1;
            seen.errors.extend(record.errors.iter().cloned());
            let data = record.data.as_ref().map(|data| serde_json::from_str::<Value>(data).unwrap());
            seen.metas.extend(data.filter(|data| data["type"] == "session_meta"));
        }
        if frame.stream.kind != StreamKind::Session {
            continue;
        }
        match &frame.body {
            Body::SessionStarted { .. } => seen.sessions.push(frame.stream.session.name.to_string()),
            Body::SessionEnded(end) => {
                let message = end.message.clone().unwrap_or_default();
                seen.ends.push((end.reason, end.final_text.clone(), message));
            }
            Body::UsageReported(usage) if !frame.is_subagent() => match usage.scope {
                // The manifest's figures are those of the main thread.
                UsageScope::Run => seen.run_usage.push(match &usage.main_thread {
                    Some(part) => Usage::of(UsageScope::Run, None, part),
                    None => (**usage).clone(),
                }),
                UsageScope::Turn => seen.turn_usage.push((**usage).clone()),
            },
            _ => {}
        }
        if frame.is_subagent() { &mut seen.child } else { &mut seen.main }.frame(&frame.body);
        if !frame.is_subagent() {
            seen.bodies.push(frame.body.clone());
        }
    }
    seen
}
