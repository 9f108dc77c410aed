//! A stream that broke off, and how it is closed: what a proxy does with the runs that it was keeping when it was killed.
//!
//! In: the frames of one stream, as the log has them. Out: the frames that close what they left open, numbered from where
//! the stream stopped. Never: a time before that of the stream's last frame (also where the clock was set back meanwhile),
//! a frame behind a stream's end.

use super::{Block, Ledger, Open, RunEnd};
use crate::encode::state;
use crate::frame::{Body, Frame, Stream, StreamKind};
use crate::json::Utf16Text;
use crate::pipeline::is_last;
use crate::sequence::Identity;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The code of a run that was open when the proxy stopped.
pub const PROXY_RESTARTED: &str = "proxy_restarted";

/// The version of the state that is saved.
const STATE: u32 = 1;

/// What the frames of one stream left open.
#[derive(Debug)]
pub struct Reopened {
    stream: Arc<Stream>,
    left: Left,
}

/// What does not depend on which stream it is.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Left {
    open: Open,
    next_seq: u64,
    last_ms: u64,
    ended: bool,
}

impl Reopened {
    /// Nothing is open yet.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self { stream, left: Left::default() }
    }

    /// Takes the stream's next frame.
    pub fn frame(&mut self, frame: &Frame) {
        let left = &mut self.left;
        left.next_seq = frame.seq + 1;
        left.last_ms = left.last_ms.max(frame.timestamp_ms);
        left.ended |= is_last(frame);
        let (open, parent) = (&mut left.open, frame.parent_tool_id);
        match &frame.body {
            Body::TurnStarted { turn_index, .. } => open.resume_turn(*turn_index, frame.timestamp_ms),
            Body::TurnEnded { .. } => {
                open.end_turn(frame.timestamp_ms);
            }
            Body::OutputTextDelta(delta) => {
                let block = Block::text(&delta.message_id, delta.block_index);
                open.blocks.delta(parent, block, whole(&delta.delta));
            }
            Body::ReasoningDelta(delta) => {
                let block = Block::reasoning(&delta.message_id, delta.block_index);
                open.blocks.delta(parent, block, whole(&delta.delta));
            }
            Body::OutputTextCompleted(whole) => {
                open.blocks.forget(parent, Block::text(&whole.message_id, whole.block_index));
                if parent.is_none() {
                    open.final_text = Some(whole.text.clone());
                }
            }
            Body::ReasoningCompleted { block, .. } => {
                open.blocks.forget(parent, Block::reasoning(&block.message_id, block.block_index));
            }
            Body::ToolStarted { call, .. } => {
                open.start_tool(call, parent, frame.timestamp_ms);
            }
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => {
                open.end_tool(tool, frame.timestamp_ms);
            }
            Body::ApprovalRequested(request) => {
                open.ask(&request.approval_id, parent);
            }
            Body::ApprovalResolved(answer) => {
                open.answer(&answer.approval_id);
            }
            Body::SubagentStarted { subagent_id, .. } => {
                open.begin_subagent(subagent_id, parent);
            }
            Body::SubagentEnded { subagent_id, .. } => {
                open.end_subagent(subagent_id);
            }
            _ => {}
        }
    }

    /// Whether the stream came to its end by itself.
    pub fn is_over(&self) -> bool {
        self.left.ended
    }

    /// What it holds of the frames so far, for [`Reopened::restore`], also in another process.
    pub fn save(&self) -> Vec<u8> {
        // Words, numbers and lists: that has a JSON form.
        state::save(STATE, &self.left).unwrap_or_default()
    }

    /// Stands behind the frames that another one had taken when it gave these bytes; `None` where another version gave them.
    pub fn restore(stream: Arc<Stream>, saved: &[u8]) -> Option<Self> {
        Some(Self { stream, left: state::restore(STATE, saved)? })
    }

    /// Closes what is open, and the run or task itself, at `now_ms` (Unix epoch milliseconds) or at the time of the last
    /// frame, whichever is later. Nothing comes of a stream that is over, or of a thread in which nothing is open.
    pub fn close(self, now_ms: u64) -> Vec<Frame> {
        let Left { open, next_seq, last_ms, ended } = self.left;
        if ended {
            return Vec::new();
        }
        let identity = Identity { run_id: self.stream.id, session_id: None };
        let mut ledger = Ledger::new(self.stream.provider, identity);
        ledger.time_ms = now_ms.max(last_ms);
        let kind = self.stream.kind;
        let key = ledger.sequencer.resume(self.stream, next_seq, last_ms);
        ledger.open.insert(key, open);
        let why = "the proxy stopped before the run ended";
        match kind {
            StreamKind::Session => {
                ledger.runs.push(key);
                ledger.end_run(key, RunEnd::interrupted(PROXY_RESTARTED, why));
            }
            StreamKind::Task => {
                ledger.close_all(key, why);
                ledger.end_task(key, "the proxy stopped before the task did");
            }
            StreamKind::Thread | StreamKind::Artifact => ledger.close_all(key, why),
        }
        ledger.take().collect()
    }
}

/// A piece that was said: no half of a pair is in it.
fn whole(text: &str) -> Utf16Text {
    Utf16Text { low: None, text: text.to_owned(), high: None }
}
