//! What the frames of a recording contain, in the terms of the facts.

use framegate_translators::frame::{Body, EndReason, ErrorScope, Figures, Frame, UsageScope};
use serde_json::Value;
use std::collections::BTreeMap;

/// A call that ran.
#[derive(Debug, Default)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub args: Value,
    pub output: String,
    pub end: Option<Outcome>,
    pub diffs: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Exit(i32),
    Failed(String),
}

/// How a run ended.
#[derive(Debug)]
pub struct End {
    pub reason: EndReason,
    pub final_text: Option<String>,
    pub message: Option<String>,
}

#[derive(Debug, Default)]
pub struct FrameFacts {
    pub texts: Vec<String>,
    pub reasoning: Vec<String>,
    pub calls: Vec<Call>,
    pub proposed: Vec<String>,
    pub stops: Vec<String>,
    pub prompts: Vec<String>,
    pub sessions: Vec<String>,
    pub ends: Vec<End>,
    /// The sum of the replies, and how many had figures.
    pub replies: Figures,
    pub reply_usages: usize,
    pub by_model: BTreeMap<String, Figures>,
    /// The totals of the runs, and the parts of the main thread.
    pub total: Figures,
    pub main: Figures,
    pub retries: usize,
    pub run_errors: Vec<String>,
    pub compactions: usize,
    /// The errors and unknown parts of records.
    pub errors: Vec<String>,
    pub unknown: Vec<String>,
}

/// Collects from all frames, or from those of the last run.
pub fn collect(frames: &[Frame], only_last: bool) -> FrameFacts {
    let mut seen = FrameFacts::default();
    for frame in frames {
        if only_last && matches!(frame.body, Body::SessionStarted { .. }) {
            seen = FrameFacts::default();
        }
        if let Body::SessionStarted { .. } = &frame.body {
            seen.sessions.push(frame.stream.session.name.to_string());
        }
        seen.note(&frame.body);
    }
    seen
}

impl FrameFacts {
    fn call(&mut self, id: &str) -> &mut Call {
        self.calls.iter_mut().find(|call| call.id == id).unwrap()
    }

    fn note(&mut self, body: &Body) {
        match body {
            Body::ProviderEvent(record) => {
                self.errors.extend(record.errors.iter().cloned());
                self.unknown.extend(record.drift.iter().map(|drift| format!("{drift:?}")));
            }
            Body::SessionEnded(end) => self.ends.push(End {
                reason: end.reason,
                final_text: end.final_text.clone(),
                message: end.message.clone(),
            }),
            Body::TurnEnded { stop_reason, .. } => self.stops.extend(stop_reason.as_deref().map(str::to_owned)),
            Body::UserMessage(message) => self.prompts.push(message.text.clone()),
            Body::OutputTextCompleted(block) => self.texts.push(block.text.clone()),
            Body::ReasoningCompleted { block, .. } => self.reasoning.push(block.text.clone()),
            Body::ToolCallProposed(call) => self.proposed.push(call.tool.call_id.to_string()),
            Body::ToolStarted { call, .. } => self.calls.push(Call {
                id: call.tool.call_id.to_string(),
                name: call.name.to_string(),
                args: serde_json::from_str(call.args.get()).unwrap(),
                ..Call::default()
            }),
            Body::ToolStdout { tool, chunk } => self.call(&tool.call_id).output.push_str(chunk),
            Body::ToolEnded { tool, exit_code, .. } => self.call(&tool.call_id).end = Some(Outcome::Exit(*exit_code)),
            Body::ToolFailed { tool, error } => self.call(&tool.call_id).end = Some(Outcome::Failed(error.clone())),
            Body::FileChanged(change) if change.diff.is_some() => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.end.is_none()) {
                    call.diffs += 1;
                }
            }
            Body::UsageReported(usage) if usage.scope == UsageScope::Turn => {
                self.reply_usages += 1;
                self.replies.add(&usage.figures());
                let model = usage.model.as_deref().unwrap_or_default().to_owned();
                self.by_model.entry(model).or_default().add(&usage.figures());
            }
            Body::UsageReported(usage) => {
                self.total.add(&usage.figures());
                self.main.add(usage.main_thread.as_ref().unwrap());
            }
            Body::ErrorReported(error) if error.scope == ErrorScope::Run => self.run_errors.push(error.message.clone()),
            Body::ErrorReported(_) => self.retries += 1,
            Body::HistoryCompacted { summary, .. } => {
                assert!(summary.is_some());
                self.compactions += 1;
            }
            _ => {}
        }
    }
}
