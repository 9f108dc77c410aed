//! Data parts: what a run does besides text and calls.

use super::data::{Checkpoint, CheckpointData, Entry, FileChange, FileChangeData, Notice, NoticeData, Plan, PlanData};
use super::encode::UiMessage;
use super::writer::Writer;
use crate::encode::{Events, Word};
use crate::frame::{Body, FileChanged, Frame, PlanEntry, SkillEvent};

/// A checkpoint with nothing known about it.
const CHECKPOINT: CheckpointData<'static> = CheckpointData {
    status: Word("failed"),
    checkpoint_id: None,
    label: None,
    files: None,
    created_at_ms: None,
    auto: None,
    tool_name: None,
    action: None,
    error: None,
};

/// Emits a notice, which the SDK passes on without making it a part of the message.
fn notice(writer: &mut Writer, level: &'static str, code: Option<&str>, message: &str, out: &mut Events) {
    let data = NoticeData { level: Word(level), code, message };
    writer.chunk("data-notice", &Notice { data, transient: true }, out);
}

impl UiMessage {
    /// The whole plan, which replaces the plan before.
    pub(super) fn plan(&mut self, entries: &[PlanEntry], out: &mut Events) {
        let entries = entries
            .iter()
            .map(|entry| Entry { content: &entry.content, status: &entry.status, priority: entry.priority.as_deref() })
            .collect();
        self.writer.chunk("data-plan", &Plan { id: Word("plan"), data: PlanData { entries } }, out);
    }

    /// Handles a frame that is about no call and no text.
    pub(super) fn data_part(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::FileChanged(change) => self.file_change(change, out),
            Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
                let data = CheckpointData {
                    status: Word("created"),
                    checkpoint_id: Some(checkpoint_id),
                    label: Some(label),
                    files: Some(files),
                    created_at_ms: Some(*created_at_ms),
                    auto: Some(*auto),
                    tool_name: tool_name.as_deref(),
                    ..CHECKPOINT
                };
                self.writer.chunk("data-checkpoint", &Checkpoint { id: Some(checkpoint_id), data }, out);
            }
            Body::CheckpointRewound { checkpoint_id, label, files } => {
                let data = CheckpointData {
                    status: Word("rewound"),
                    checkpoint_id: Some(checkpoint_id),
                    label: Some(label),
                    files: Some(files),
                    ..CHECKPOINT
                };
                self.writer.chunk("data-checkpoint", &Checkpoint { id: Some(checkpoint_id), data }, out);
            }
            Body::CheckpointFailed { action, error } => {
                let data = CheckpointData { action: Some(Word(action.as_str())), error: Some(error), ..CHECKPOINT };
                self.writer.chunk("data-checkpoint", &Checkpoint { id: None, data }, out);
            }
            Body::LogEmitted { level, message } => notice(&mut self.writer, level.as_str(), None, message, out),
            Body::ErrorReported(error) => {
                let level = if error.retryable { "warn" } else { "error" };
                notice(&mut self.writer, level, Some(&error.code), &error.message, out);
            }
            Body::HistoryCompacted { trigger, .. } if !frame.is_subagent() => {
                let how = trigger.as_deref().map(|trigger| format!(" ({trigger})")).unwrap_or_default();
                let message = format!("a part of the history was replaced by a summary{how}");
                notice(&mut self.writer, "info", Some("history_compacted"), &message, out);
            }
            Body::GapDetected { reason, .. } => {
                let message = format!("events are missing: {reason}");
                notice(&mut self.writer, "warn", Some("gap_detected"), &message, out);
            }
            Body::Skill(skill) => {
                if let SkillEvent::Warning { detail, .. } = &**skill {
                    notice(&mut self.writer, "warn", Some("skill_warning"), detail, out);
                }
            }
            _ => {}
        }
    }

    fn file_change(&mut self, change: &FileChanged, out: &mut Events) {
        let tool_call_id = self.call_id(change.tool_id);
        let data = FileChangeData {
            path: &change.path,
            kind: Word(change.kind.as_str()),
            tool_call_id: tool_call_id.as_deref(),
            diff: change.diff.as_deref(),
            artifact_id: change.artifact_id.as_deref(),
        };
        self.writer.chunk("data-file-change", &FileChange { data }, out);
    }
}
