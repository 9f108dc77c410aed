//! A background task: `system` messages about its start and its end, in its session.
//!
//! Input: the frames of a task. Output: `task_started`, `task_updated`, `task_notification`. Never: its output, which the CLI keeps in a
//! file.

use super::line::Text;
use super::system::system;
use super::writer::Writer;
use crate::encode::{Events, StreamEncoder, Value, key};
use crate::frame::{Body, Frame, Stream, TaskEvent, TaskStatus};
use serde::{Deserialize, Serialize};

/// The encoder of one task.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskMessages {
    writer: Writer,
    description: String,
}

impl StreamEncoder for TaskMessages {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let Body::Task(event) = &frame.body else { return };
        let id = &frame.stream.id;
        match &**event {
            TaskEvent::Spawned { tool_name, title, .. } => {
                self.description = title.clone().unwrap_or_else(|| tool_name.to_string());
                system(&mut self.writer, "task_started", out, |map| {
                    map.id(key!("task_id"), id);
                    Text(&self.description).field(key!("description"), map);
                    map.entry(key!("is_backgrounded"), &true);
                    map.word(key!("task_type"), "background");
                });
            }
            TaskEvent::Status { status, exit_code, ended_at_ms, error, .. } => {
                let (patched, notified) = match status {
                    TaskStatus::Queued | TaskStatus::Running => return,
                    TaskStatus::Exited => ("completed", "completed"),
                    TaskStatus::Failed => ("failed", "failed"),
                    TaskStatus::Cancelled => ("killed", "stopped"),
                };
                system(&mut self.writer, "task_updated", out, |map| {
                    map.id(key!("task_id"), id);
                    map.object(key!("patch"), |map| {
                        map.word(key!("status"), patched);
                        map.entry(key!("end_time"), &ended_at_ms.unwrap_or(frame.timestamp_ms));
                        error.as_deref().map(Text).field(key!("error"), map);
                    });
                });
                let code = exit_code.map(|code| format!(" (exit code {code})")).unwrap_or_default();
                let summary = format!("{} {patched}{code}", self.description);
                system(&mut self.writer, "task_notification", out, |map| {
                    map.id(key!("task_id"), id);
                    map.word(key!("status"), notified);
                    map.word(key!("output_file"), "");
                    Text(summary.trim_start()).field(key!("summary"), map);
                });
            }
            TaskEvent::OutputDelta { .. }
            | TaskEvent::CancelRequested { .. }
            | TaskEvent::Cancelled { .. }
            | TaskEvent::StdinWritten { .. }
            | TaskEvent::Resized { .. }
            | TaskEvent::Signalled { .. } => {}
        }
    }

    fn held_bytes(&self) -> usize {
        self.description.len()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { writer: state.writer.named_as(&self.writer), ..state }
    }
}

impl TaskMessages {
    pub(super) fn new(stream: &Stream) -> Self {
        Self { writer: Writer::new(stream), description: String::new() }
    }
}
