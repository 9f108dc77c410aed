//! Plans, models, and what the protocol tells only some clients: notices, compactions, checkpoints.

use super::data::{
    AboutCheckpoint, AboutCompaction, AboutNotice, Checkpoint, Compaction, ConfigOption, ConfigOptions, ConfigValue,
    Entry, Notice, Plan,
};
use super::encode::AcpRun;
use super::writer::Writer;
use crate::encode::{Events, Word};
use crate::frame::{Body, Frame, LogLevel, PlanEntry, SharedStr, SkillEvent};

/// The text of a plan's entry without one: clients show each entry.
const NO_TEXT: &str = "(no text)";

/// The title of a notice without a text.
const UNTITLED: &str = "notice";

/// A checkpoint with nothing known about it.
const CHECKPOINT: Checkpoint<'static> = Checkpoint {
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

fn notice(writer: &mut Writer, severity: &'static str, code: Option<&str>, title: &str, out: &mut Events) {
    let title = if title.is_empty() { code.unwrap_or(UNTITLED) } else { title };
    let title = if title.is_empty() { UNTITLED } else { title };
    let notice = Notice { severity: Word(severity), title, description: None, code };
    writer.own(&AboutNotice { notice }, out);
}

/// The protocol's word for the state of a plan's entry. What was given up is not open any more.
fn plan_status(status: &str) -> Word {
    Word(match status {
        "in_progress" => "in_progress",
        "completed" | "cancelled" => "completed",
        _ => "pending",
    })
}

fn plan_priority(priority: Option<&str>) -> Word {
    Word(match priority {
        Some("high") => "high",
        Some("low") => "low",
        _ => "medium",
    })
}

impl AcpRun {
    /// The whole plan, which replaces the plan before.
    pub(super) fn plan(&mut self, entries: &[PlanEntry], out: &mut Events) {
        let entry = |entry: &'_ PlanEntry| (plan_priority(entry.priority.as_deref()), plan_status(&entry.status));
        let entries = entries
            .iter()
            .map(|of| {
                let (priority, status) = entry(of);
                let content = if of.content.is_empty() { NO_TEXT } else { &of.content };
                Entry { content, priority, status }
            })
            .collect();
        self.writer.update("plan", &Plan { entries }, out);
    }

    /// A model call begins. The model is a configuration of the session with one value, since the others are not known.
    pub(super) fn model(&mut self, model: &SharedStr, out: &mut Events) {
        if model.is_empty() || self.model.as_ref() == Some(model) {
            return;
        }
        self.model = Some(model.clone());
        let option = ConfigOption {
            id: Word("model"),
            name: Word("Model"),
            category: Word("model"),
            kind: Word("select"),
            current_value: model,
            options: vec![ConfigValue { value: model, name: model }],
        };
        self.writer.update("config_option_update", &ConfigOptions { config_options: vec![option] }, out);
    }

    /// Handles a frame that is about no call and no text.
    pub(super) fn own_data(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::LogEmitted { level, message } => {
                let severity = match level {
                    LogLevel::Debug | LogLevel::Info => "info",
                    LogLevel::Warn => "warning",
                    LogLevel::Error => "error",
                };
                notice(&mut self.writer, severity, None, message, out);
            }
            Body::ErrorReported(error) => {
                let severity = if error.retryable { "warning" } else { "error" };
                notice(&mut self.writer, severity, Some(&error.code), &error.message, out);
            }
            Body::GapDetected { reason, .. } => {
                let title = format!("events are missing: {reason}");
                notice(&mut self.writer, "warning", Some("gap_detected"), &title, out);
            }
            Body::Skill(skill) => {
                if let SkillEvent::Warning { detail, .. } = &**skill {
                    notice(&mut self.writer, "warning", Some("skill_warning"), detail, out);
                }
            }
            Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } if !frame.is_subagent() => {
                let compaction = Compaction {
                    compaction_id: self.writer.fresh_id(),
                    trigger: trigger.as_deref(),
                    tokens_before: *tokens_before,
                    tokens_after: *tokens_after,
                    summary: summary.as_deref(),
                };
                self.writer.own(&AboutCompaction { compaction }, out);
            }
            Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
                let checkpoint = Checkpoint {
                    status: Word("created"),
                    checkpoint_id: Some(checkpoint_id),
                    label: Some(label),
                    files: Some(files),
                    created_at_ms: Some(*created_at_ms),
                    auto: Some(*auto),
                    tool_name: tool_name.as_deref(),
                    ..CHECKPOINT
                };
                self.writer.own(&AboutCheckpoint { checkpoint }, out);
            }
            Body::CheckpointRewound { checkpoint_id, label, files } => {
                let checkpoint = Checkpoint {
                    status: Word("rewound"),
                    checkpoint_id: Some(checkpoint_id),
                    label: Some(label),
                    files: Some(files),
                    ..CHECKPOINT
                };
                self.writer.own(&AboutCheckpoint { checkpoint }, out);
            }
            Body::CheckpointFailed { action, error } => {
                let checkpoint = Checkpoint { action: Some(Word(action.as_str())), error: Some(error), ..CHECKPOINT };
                self.writer.own(&AboutCheckpoint { checkpoint }, out);
            }
            _ => {}
        }
    }
}
