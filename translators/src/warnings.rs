//! The five warnings of `spec/agent-manager.md`, detected on frames, so that they apply to every contract.
//!
//! Input: the frames of one run. Output: warnings, each at most once for one call, result, message or metric. Never: a changed
//! or withheld event. Warnings only help to detect parsing problems.

use crate::frame::{Body, Frame, ToolCall, ToolKind, is_own_exit_code};
use crate::hash::HashSet;
use uuid::Uuid;

/// The kinds of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Warning {
    /// A tool call whose name is empty or `unknown_tool`.
    ToolCallName,
    /// A tool call with empty input.
    ToolCallInput,
    /// A failed tool result with neither output nor error. The exit code of a command counts as an error.
    ToolResultDetails,
    /// A message with empty content.
    MessageContent,
    /// A metric with zero tokens.
    MetricTokens,
}

impl Warning {
    /// All warnings, in the document's order.
    pub const ALL: [Self; 5] =
        [Self::ToolCallName, Self::ToolCallInput, Self::ToolResultDetails, Self::MessageContent, Self::MetricTokens];

    /// The stable code, used in logs, metrics, run status and findings.
    pub fn code(self) -> &'static str {
        match self {
            Self::ToolCallName => "tool_call.empty_name",
            Self::ToolCallInput => "tool_call.empty_input",
            Self::ToolResultDetails => "tool_result.no_error_details",
            Self::MessageContent => "message.empty_content",
            Self::MetricTokens => "metric.zero_tokens",
        }
    }

    /// The message for a person.
    pub fn message(self) -> &'static str {
        match self {
            Self::ToolCallName => "tool call with an empty or unknown tool name",
            Self::ToolCallInput => "tool call with empty input",
            Self::ToolResultDetails => "failed tool result with no error details",
            Self::MessageContent => "message with empty content",
            Self::MetricTokens => "metric with zero tokens",
        }
    }
}

/// Whether a tool's name is missing or a placeholder.
pub fn is_unnamed(tool_name: &str) -> bool {
    matches!(tool_name, "" | "unknown_tool")
}

/// Watches one run.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Calls that were proposed but not started, so that one call is not reported twice.
    proposed: HashSet<Uuid>,
    /// Running calls that have produced output.
    spoken: HashSet<Uuid>,
    /// Running commands.
    commands: HashSet<Uuid>,
}

impl Watch {
    /// Checks the next frame. A call may cause two warnings.
    pub fn frame(&mut self, frame: &Frame) -> impl Iterator<Item = Warning> + use<> {
        let mut found = [None; 2];
        match &frame.body {
            Body::ToolCallProposed(call) => {
                self.proposed.insert(call.tool.id);
                found = of_call(call);
            }
            Body::ToolStarted { call, .. } => {
                if call.kind == ToolKind::Shell {
                    self.commands.insert(call.tool.id);
                }
                if !self.proposed.remove(&call.tool.id) {
                    found = of_call(call);
                }
            }
            Body::ToolStdout { tool, chunk }
            | Body::ToolStdoutTail { tool, chunk }
            | Body::ToolStdoutFront { tool, chunk }
            | Body::ToolStderr { tool, chunk }
                if !chunk.is_empty() =>
            {
                self.spoken.insert(tool.id);
            }
            Body::ToolEnded { tool, exit_code, .. } => {
                let spoke = self.spoken.remove(&tool.id);
                let kind = if self.commands.remove(&tool.id) { ToolKind::Shell } else { ToolKind::Other };
                let is_silent = *exit_code != 0 && !spoke && !is_own_exit_code(kind, *exit_code);
                found = [is_silent.then_some(Warning::ToolResultDetails), None];
            }
            Body::ToolFailed { tool, error } => {
                let spoke = self.spoken.remove(&tool.id);
                self.commands.remove(&tool.id);
                found = [(error.is_empty() && !spoke).then_some(Warning::ToolResultDetails), None];
            }
            Body::OutputTextCompleted(block) => {
                found = [block.text.is_empty().then_some(Warning::MessageContent), None];
            }
            Body::UserMessage(message) => {
                let empty = message.text.is_empty() && message.attachments.is_empty();
                found = [empty.then_some(Warning::MessageContent), None];
            }
            Body::UsageReported(usage) => {
                let zero = usage.input_tokens == 0 && usage.output_tokens == 0;
                found = [zero.then_some(Warning::MetricTokens), None];
            }
            _ => {}
        }
        found.into_iter().flatten()
    }
}

fn of_call(call: &ToolCall) -> [Option<Warning>; 2] {
    [
        is_unnamed(&call.name).then_some(Warning::ToolCallName),
        is_empty_input(call.args.get()).then_some(Warning::ToolCallInput),
    ]
}

/// Whether the JSON text is empty: `{}` or `""`, with any white space, or `null`.
fn is_empty_input(args: &str) -> bool {
    let mut marks = args.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let (first, second, third) = (marks.next(), marks.next(), marks.next());
    matches!((first, second, third), (Some(b'{'), Some(b'}'), None) | (Some(b'"'), Some(b'"'), None)) || args == "null"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Provider, Session, SharedStr, Stream, StreamKind, Tool};
    use std::sync::Arc;

    #[test]
    fn empty_input_is_recognised_from_its_text() {
        for (args, expected) in
            [("{}", true), ("{ }", true), ("\"\"", true), ("null", true), ("{\"a\":1}", false), ("\"x\"", false)]
        {
            assert_eq!(is_empty_input(args), expected, "{args}");
        }
    }

    #[test]
    fn the_exit_code_of_a_command_counts_as_details() {
        let session = Arc::new(Session { id: Uuid::nil(), name: SharedStr::from("s") });
        let provider = Provider { name: "test", title: "Test" };
        let stream =
            Arc::new(Stream { kind: StreamKind::Session, id: Uuid::nil(), session, origin_run: None, provider });
        let frame = |body| Frame {
            stream: stream.clone(),
            seq: 0,
            timestamp_ms: 0,
            parent_tool_id: None,
            given_id: None,
            body,
        };
        let tool = Tool { id: Uuid::nil(), call_id: SharedStr::from("c") };
        for (kind, exit_code, expected) in
            [(ToolKind::Shell, 1, 0), (ToolKind::Read, 1, 1), (ToolKind::Read, 2, 0), (ToolKind::Read, 0, 0)]
        {
            let mut watch = Watch::default();
            let args = crate::json::to_raw(&serde_json::json!({"a": 1}));
            let call = ToolCall { tool: tool.clone(), name: SharedStr::from("x"), kind, args };
            let started = Body::ToolStarted { call: Box::new(call), timeout_ms: None };
            assert_eq!(watch.frame(&frame(started)).count(), 0);
            let ended = Body::ToolEnded { tool: tool.clone(), exit_code, duration_ms: 0, artifacts: None };
            assert_eq!(watch.frame(&frame(ended)).count(), expected, "{kind:?} {exit_code}");
        }
    }
}
