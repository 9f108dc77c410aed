//! What the frames say, run by run.

use framegate_translators::frame::{Body, Decision, Frame, SessionEnded, StreamKind, Usage, UsageScope};
use serde_json::Value;
use std::collections::HashMap;
use uuid::Uuid;

#[derive(Debug, Default)]
pub struct Run {
    pub input: String,
    pub texts: Vec<String>,
    pub thoughts: Vec<String>,
    pub tools: Vec<ToolFacts>,
    /// Paths and diffs.
    pub changes: Vec<(String, String)>,
    pub asked: usize,
    pub decisions: Vec<(Decision, Option<String>)>,
    pub errors: Vec<String>,
    pub stop_reason: Option<String>,
    pub usage: Option<Usage>,
    pub end: Option<SessionEnded>,
}

#[derive(Debug)]
pub struct ToolFacts {
    pub call_id: String,
    pub name: String,
    pub args: Value,
    pub output: String,
    pub end: Option<ToolEnd>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum ToolEnd {
    Exit(i32),
    Failed(String),
}

impl Run {
    fn tool(&mut self, call_id: &str) -> &mut ToolFacts {
        self.tools.iter_mut().find(|tool| tool.call_id == call_id).expect("the tool started")
    }

    fn add(&mut self, body: &Body) {
        match body {
            Body::SessionStarted { input } => self.input.clone_from(input),
            Body::OutputTextCompleted(block) => self.texts.push(block.text.clone()),
            Body::ReasoningCompleted { block, .. } => self.thoughts.push(block.text.clone()),
            Body::ToolStarted { call, .. } => self.tools.push(ToolFacts {
                call_id: call.tool.call_id.to_string(),
                name: call.name.to_string(),
                args: serde_json::from_str(call.args.get()).unwrap(),
                output: String::new(),
                end: None,
            }),
            Body::ToolStdout { tool, chunk } => self.tool(&tool.call_id).output.push_str(chunk),
            Body::ToolEnded { tool, exit_code, .. } => {
                let end = self.tool(&tool.call_id).end.replace(ToolEnd::Exit(*exit_code));
                assert!(end.is_none(), "a second end");
            }
            Body::ToolFailed { tool, error } => {
                let end = self.tool(&tool.call_id).end.replace(ToolEnd::Failed(error.clone()));
                assert!(end.is_none(), "a second end");
            }
            Body::FileChanged(change) => {
                self.changes.push((change.path.clone(), change.diff.clone().unwrap_or_default()));
            }
            Body::ApprovalRequested(_) => self.asked += 1,
            Body::ApprovalResolved(answer) => {
                self.decisions.push((answer.decision, answer.scope.as_ref().map(ToString::to_string)));
            }
            Body::ErrorReported(error) => self.errors.push(error.message.clone()),
            Body::TurnEnded { stop_reason, .. } => self.stop_reason = stop_reason.as_ref().map(ToString::to_string),
            Body::UsageReported(usage) if usage.scope == UsageScope::Run => self.usage = Some((**usage).clone()),
            Body::SessionEnded(end) => self.end = Some((**end).clone()),
            _ => {}
        }
    }
}

/// The runs, in the order in which they began.
pub fn runs_of(frames: &[Frame]) -> Vec<Run> {
    let mut order: Vec<Uuid> = Vec::new();
    let mut runs: HashMap<Uuid, Run> = HashMap::new();
    for frame in frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session) {
        let run = runs.entry(frame.stream.id).or_insert_with(|| {
            order.push(frame.stream.id);
            Run::default()
        });
        assert!(run.end.is_none(), "a frame after the end");
        run.add(&frame.body);
    }
    order.iter().map(|id| runs.remove(id).unwrap()).collect()
}

/// The texts of threads.
pub fn thread_texts(frames: &[Frame]) -> Vec<String> {
    let in_thread = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Thread);
    in_thread
        .filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some(block.text.clone()),
            _ => None,
        })
        .collect()
}
