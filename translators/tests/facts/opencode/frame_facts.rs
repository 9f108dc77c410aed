//! The contents of a session's frames, by kind.

use framegate_translators::frame::{Body, Frame, Tool, Usage};
use serde_json::Value;
use std::collections::HashMap;
use uuid::Uuid;

/// The contents of the frames of one session.
#[derive(Default)]
pub(crate) struct FrameFacts {
    pub(crate) texts: Vec<String>,
    pub(crate) reasoning: Vec<String>,
    pub(crate) stop_reasons: Vec<String>,
    pub(crate) turns: usize,
    pub(crate) usage: Vec<Usage>,
    pub(crate) order: Vec<String>,
    pub(crate) tools: HashMap<String, Call>,
    pub(crate) compactions: Vec<Option<String>>,
    pub(crate) user: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Value,
    pub(crate) proposals: usize,
    pub(crate) output: String,
    pub(crate) errors: String,
    pub(crate) exit_code: Option<i32>,
    pub(crate) failed: Option<String>,
}

pub(crate) fn collect_facts<'f>(frames: impl Iterator<Item = &'f Frame>) -> FrameFacts {
    let mut actual = FrameFacts::default();
    let mut ids: HashMap<Uuid, String> = HashMap::new();
    for frame in frames {
        let call_of = |tool: &Tool| tool.call_id.to_string();
        match &frame.body {
            Body::OutputTextCompleted(block) => actual.texts.push(block.text.clone()),
            Body::ReasoningCompleted { block, .. } => actual.reasoning.push(block.text.clone()),
            Body::TurnStarted { .. } => actual.turns += 1,
            Body::TurnEnded { stop_reason, .. } => {
                actual.stop_reasons.extend(stop_reason.as_deref().map(str::to_owned))
            }
            Body::UsageReported(usage) => actual.usage.push((**usage).clone()),
            Body::UserMessage(message) => actual.user.push(message.text.clone()),
            Body::HistoryCompacted { summary, .. } => actual.compactions.push(summary.clone()),
            Body::ToolCallProposed(call) => {
                actual.tools.entry(call_of(&call.tool)).or_default().proposals += 1;
            }
            Body::ToolStarted { call, .. } => {
                let known = ids.insert(call.tool.id, call_of(&call.tool));
                assert!(known.is_none(), "one start for each call");
                let own = actual.tools.entry(call_of(&call.tool)).or_default();
                own.name = call.name.to_string();
                own.args = serde_json::from_str(call.args.get()).unwrap();
            }
            Body::ToolStdout { tool, chunk } => actual.tools.get_mut(&call_of(tool)).unwrap().output.push_str(chunk),
            Body::ToolStderr { tool, chunk } => actual.tools.get_mut(&call_of(tool)).unwrap().errors.push_str(chunk),
            Body::ToolEnded { tool, exit_code, .. } => {
                actual.tools.get_mut(&call_of(tool)).unwrap().exit_code = Some(*exit_code);
                actual.order.push(call_of(tool));
            }
            Body::ToolFailed { tool, error } => {
                actual.tools.get_mut(&call_of(tool)).unwrap().failed = Some(error.clone());
                actual.order.push(call_of(tool));
            }
            _ => {}
        }
    }
    actual
}
