//! Automatic checkpoints: "emitted before the tool starts".
//!
//! Input: checkpoints, starts and ends of tools. Output: a finding for a checkpoint whose tool had already started. Never: a
//! guess about a checkpoint that names no tool.

use crate::verify::Finding;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// The number of checkpoints whose tool has not started, by the tool's name.
    waiting: HashMap<String, u64>,
    /// The names of tools that run without a checkpoint, by id.
    running: HashMap<String, String>,
    /// The names of tools that ended without a checkpoint.
    without: HashSet<String>,
    /// Failed checkpoints. They name no tool, so each may belong to the next tool that starts.
    failed: u64,
    /// The beginning of the stream is missing.
    is_cut: bool,
}

impl Checkpoints {
    /// The beginning of the stream is missing.
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// A checkpoint was created, or could not be created.
    pub(super) fn checkpoint(&mut self, frame: &Value, findings: &mut Vec<Finding>) {
        if frame.get("action").and_then(Value::as_str) == Some("create") {
            self.failed += 1;
        }
        let is_auto = frame.get("auto").and_then(Value::as_bool) == Some(true);
        let Some(name) = frame.get("tool_name").and_then(Value::as_str).filter(|_| is_auto) else { return };
        let of_running = self.running.iter().find(|(_, running)| *running == name).map(|(id, _)| id.clone());
        match of_running {
            Some(id) => {
                self.running.remove(&id);
                findings.push(late("/tool_name"));
            }
            None => *self.waiting.entry(name.to_owned()).or_default() += 1,
        }
    }

    /// A tool starts.
    pub(super) fn tool_started(&mut self, id: &str, name: &str) {
        match self.waiting.get_mut(name) {
            Some(waiting) if *waiting > 0 => *waiting -= 1,
            _ if self.failed > 0 => self.failed -= 1,
            _ if self.is_cut => {}
            _ => drop(self.running.insert(id.to_owned(), name.to_owned())),
        }
    }

    /// A tool ends.
    pub(super) fn tool_ended(&mut self, id: &str) {
        self.without.extend(self.running.remove(id));
    }

    /// The run ends. A checkpoint without a following tool was too late if a tool of that name ran without one.
    pub(super) fn end(&mut self, findings: &mut Vec<Finding>) {
        let is_late = |(name, waiting): &(String, u64)| *waiting > 0 && self.without.contains(name);
        if self.waiting.drain().collect::<Vec<_>>().iter().any(is_late) {
            findings.push(late(""));
        }
    }
}

fn late(pointer: &str) -> Finding {
    let message = "an automatic checkpoint came after its tool had started: it must be made before the tool starts";
    Finding::error("checkpoint.late", pointer, message)
}
