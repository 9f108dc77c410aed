//! Puts output in order for v1, which cannot express that a piece belongs before earlier ones.
//!
//! Input: pieces of a tool's output whose beginning may be reported last, and that beginning. Output: the whole, before the
//! tool's end. Never: more than [`MOST`] bytes held for one tool. Beyond that, pieces are emitted as they arrive, and a later
//! beginning remains only in its record.

use crate::frame::{Body, Frame, Tool};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// How many bytes of one tool's output are held.
const MOST: usize = 256 << 10;

/// The held output, in the order in which the tools began to write.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Tails {
    held: Vec<HeldTail>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldTail {
    tool: Tool,
    /// The number of the last frame in it, which determines the event's id.
    seq: u64,
    /// The id of that frame, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Uuid>,
    text: String,
    /// There was more than may be held.
    is_open: bool,
}

impl Tails {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.held.iter().map(|held| held.text.len()).sum()
    }

    /// The output to emit before this frame.
    pub(super) fn before(&mut self, frame: &Frame) -> Option<Frame> {
        let held = match &frame.body {
            Body::ToolEnded { tool, .. } | Body::ToolFailed { tool, .. } => self.held.remove(self.find(tool)?),
            Body::ToolStdoutTail { tool, chunk } | Body::ToolStdout { tool, chunk } => {
                let at = self.find(tool)?;
                let held = self.held.get_mut(at).filter(|held| held.text.len() + chunk.len() > MOST)?;
                held.is_open = true;
                HeldTail { text: std::mem::take(&mut held.text), ..held.clone() }
            }
            _ => return None,
        };
        (!held.text.is_empty()).then(|| held.frame(frame))
    }

    /// Whether the frame is held: it is then emitted later, or not at all.
    pub(super) fn holds(&mut self, frame: &Frame) -> bool {
        match &frame.body {
            Body::ToolStdoutTail { tool, chunk } => self.hold(tool, chunk, frame, false),
            Body::ToolStdoutFront { tool, chunk } => self.hold(tool, chunk, frame, true),
            Body::ToolStdout { tool, chunk } if self.find(tool).is_some() => self.hold(tool, chunk, frame, false),
            _ => false,
        }
    }

    fn hold(&mut self, tool: &Tool, chunk: &str, frame: &Frame, is_front: bool) -> bool {
        let at = self.find(tool).unwrap_or_else(|| {
            let (seq, id) = (frame.seq, frame.given_id);
            self.held.push(HeldTail { tool: tool.clone(), seq, id, text: String::new(), is_open: false });
            self.held.len() - 1
        });
        let Some(held) = self.held.get_mut(at) else { return false };
        if held.is_open {
            return is_front;
        }
        (held.seq, held.id) = (frame.seq, frame.given_id);
        held.text.insert_str(if is_front { 0 } else { held.text.len() }, chunk);
        true
    }

    fn find(&self, tool: &Tool) -> Option<usize> {
        self.held.iter().position(|held| held.tool.id == tool.id)
    }
}

impl HeldTail {
    /// The held output as a frame, emitted together with `with`.
    fn frame(self, with: &Frame) -> Frame {
        Frame {
            stream: with.stream.clone(),
            seq: self.seq,
            timestamp_ms: with.timestamp_ms,
            parent_tool_id: with.parent_tool_id,
            given_id: self.id,
            body: Body::ToolStdout { tool: self.tool, chunk: self.text },
        }
    }
}
