//! What a stream's finished frames leave open in it.
//!
//! Input: the frames of one stream, in order: read from the log, or written by another proxy. Output: the changed state of the
//! stream. Never: a frame.

use super::Block;
use super::stream_state::StreamState;
use crate::frame::{Body, Frame};
use crate::json::Utf16Text;

impl StreamState {
    /// Follows the stream's next frame.
    pub(super) fn note(&mut self, frame: &Frame) {
        let parent = frame.parent_tool_id;
        match &frame.body {
            Body::TurnStarted { turn_index, .. } => self.resume_turn(*turn_index, frame.timestamp_ms),
            Body::TurnEnded { .. } => {
                self.end_turn(frame.timestamp_ms);
            }
            Body::OutputTextDelta(delta) => {
                let block = Block::text(&delta.message_id, delta.block_index);
                self.blocks.delta(parent, block, whole(&delta.delta));
            }
            Body::ReasoningDelta(delta) => {
                let block = Block::reasoning(&delta.message_id, delta.block_index);
                self.blocks.delta(parent, block, whole(&delta.delta));
            }
            Body::OutputTextCompleted(whole) => {
                self.blocks.forget(parent, Block::text(&whole.message_id, whole.block_index));
                if parent.is_none() {
                    self.final_text = Some(whole.text.clone());
                }
            }
            Body::ReasoningCompleted { block, .. } => {
                self.blocks.forget(parent, Block::reasoning(&block.message_id, block.block_index));
            }
            Body::ToolStarted { call, .. } => {
                self.start_tool(call, parent, frame.timestamp_ms, frame.seq);
            }
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => {
                self.end_tool(tool, frame.timestamp_ms);
            }
            Body::ApprovalRequested(request) => {
                self.ask(&request.approval_id, parent);
            }
            Body::ApprovalResolved(answer) => {
                self.answer(&answer.approval_id, answer.decision);
            }
            Body::SubagentStarted { subagent_id, .. } => {
                self.begin_subagent(subagent_id, parent);
            }
            Body::SubagentEnded { subagent_id, .. } => {
                self.end_subagent(subagent_id);
            }
            Body::UsageReported(usage) => self.spent.note(parent, usage),
            _ => {}
        }
    }
}

/// A piece from a frame: it contains no half of a surrogate pair.
fn whole(text: &str) -> Utf16Text {
    Utf16Text { low: None, text: text.to_owned(), high: None }
}
