//! Collects a tool's output for contracts that emit it when the tool is over.

use crate::artifacts::OutputRef;
use crate::frame::{Body, SharedStr, ToolKind, is_own_exit_code};
use crate::hash::HashMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Maximum bytes of a tool's output in one event; the rest is replaced by a note.
const MAX_OUTPUT: usize = 1 << 20;

/// The running tools.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolOutputs {
    running: HashMap<Uuid, Running>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Running {
    name: SharedStr,
    call_id: SharedStr,
    kind: ToolKind,
    output: String,
    errors: String,
    left_out: u64,
    /// The artifact with the whole output; known only at the end.
    #[serde(skip)]
    stored: Option<OutputRef>,
}

/// The output of a tool.
#[derive(Clone, Debug)]
pub(crate) struct ToolOutput {
    /// The tool's name.
    pub(crate) name: SharedStr,
    /// The runner's own id for the call.
    pub(crate) call_id: SharedStr,
    /// Standard output, then standard error.
    pub(crate) output: String,
    /// What went wrong; `None` if nothing did, "" if nothing is known about it.
    pub(crate) error: Option<String>,
    /// Whether the tool succeeded.
    pub(crate) success: bool,
}

impl ToolOutputs {
    /// How much output is held, in bytes.
    pub(crate) fn held_bytes(&self) -> usize {
        self.running.values().map(|running| running.output.len() + running.errors.len()).sum()
    }

    /// Processes a frame; returns the tool's output if the frame ends the tool.
    pub(crate) fn frame(&mut self, body: &Body) -> Option<ToolOutput> {
        match body {
            Body::ToolStarted { call, .. } => {
                let running = Running {
                    name: call.name.clone(),
                    call_id: call.tool.call_id.clone(),
                    kind: call.kind,
                    output: String::new(),
                    errors: String::new(),
                    left_out: 0,
                    stored: None,
                };
                self.running.insert(call.tool.id, running);
                None
            }
            Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                let running = self.running.get_mut(&tool.id)?;
                running.left_out += append(&mut running.output, chunk);
                None
            }
            Body::ToolStdoutFront { tool, chunk } => {
                let running = self.running.get_mut(&tool.id)?;
                let rest = std::mem::take(&mut running.output);
                running.left_out += append(&mut running.output, chunk);
                running.left_out += append(&mut running.output, &rest);
                None
            }
            Body::ToolStderr { tool, chunk } => {
                let running = self.running.get_mut(&tool.id)?;
                running.left_out += append(&mut running.errors, chunk);
                None
            }
            Body::ToolEnded { tool, exit_code, artifacts, .. } => {
                let mut running = self.running.remove(&tool.id)?;
                running.stored = OutputRef::of(artifacts.as_ref());
                let success = *exit_code == 0;
                let error = (!success).then(|| match (running.errors.is_empty(), running.output.is_empty()) {
                    (false, _) => running.errors.clone(),
                    (true, false) => running.output.clone(),
                    (true, true) if is_own_exit_code(running.kind, *exit_code) => {
                        format!("exited with code {exit_code}")
                    }
                    (true, true) => String::new(),
                });
                Some(running.into_output(success, error))
            }
            Body::ToolFailed { tool, error } => {
                let running = self.running.remove(&tool.id)?;
                Some(running.into_output(false, Some(error.clone())))
            }
            _ => None,
        }
    }
}

impl Running {
    fn into_output(self, success: bool, error: Option<String>) -> ToolOutput {
        let mut output = self.output;
        output.push_str(&self.errors);
        if let Some(stored) = &self.stored {
            let more = (stored.stdout_bytes + stored.stderr_bytes).saturating_sub(output.len() as u64);
            output.push_str(&format!("\n[{more} more bytes in artifact {}]", stored.artifact_id));
        } else if self.left_out > 0 {
            output.push_str(&format!("\n[{} more bytes]", self.left_out));
        }
        ToolOutput { name: self.name, call_id: self.call_id, output, error, success }
    }
}

/// Appends as many whole characters as there is room for; returns the number of omitted bytes.
fn append(held: &mut String, chunk: &str) -> u64 {
    let room = MAX_OUTPUT.saturating_sub(held.len());
    let cut = chunk.floor_char_boundary(room.min(chunk.len()));
    let (kept, rest) = chunk.split_at(cut);
    held.push_str(kept);
    rest.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Tool, ToolCall, ToolKind};

    #[test]
    fn a_late_beginning_is_put_first() {
        let tool = Tool { id: Uuid::nil(), call_id: SharedStr::from("c") };
        let call = ToolCall {
            tool: tool.clone(),
            name: SharedStr::from("bash"),
            kind: ToolKind::Shell,
            args: crate::json::empty_object(),
        };
        let chunk = |chunk: &str| chunk.to_owned();
        let mut outputs = ToolOutputs::default();
        outputs.frame(&Body::ToolStarted { call: Box::new(call), timeout_ms: None });
        outputs.frame(&Body::ToolStdout { tool: tool.clone(), chunk: chunk("b") });
        outputs.frame(&Body::ToolStdout { tool: tool.clone(), chunk: chunk("c") });
        outputs.frame(&Body::ToolStdoutFront { tool: tool.clone(), chunk: chunk("a") });
        let end = Body::ToolEnded { tool, exit_code: 0, duration_ms: 0, artifacts: None };
        assert_eq!(outputs.frame(&end).unwrap().output, "abc");
    }

    #[test]
    fn only_an_exit_code_of_the_runner_is_an_error_text() {
        for (kind, exit_code, error) in [
            (ToolKind::Shell, 1, "exited with code 1"),
            (ToolKind::Other, 2, "exited with code 2"),
            (ToolKind::Other, 1, ""),
        ] {
            let tool = Tool { id: Uuid::nil(), call_id: SharedStr::from("c") };
            let args = crate::json::empty_object();
            let call = ToolCall { tool: tool.clone(), name: SharedStr::from("x"), kind, args };
            let mut outputs = ToolOutputs::default();
            outputs.frame(&Body::ToolStarted { call: Box::new(call), timeout_ms: None });
            let end = Body::ToolEnded { tool, exit_code, duration_ms: 0, artifacts: None };
            assert_eq!(outputs.frame(&end).unwrap().error.as_deref(), Some(error), "{kind:?} {exit_code}");
        }
    }
}
