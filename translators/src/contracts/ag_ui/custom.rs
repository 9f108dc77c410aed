//! `CUSTOM` events: what a run does besides text, calls and subagents.

use super::data::{Custom, Entry, Snapshot, State};
use super::encode::AgUiRun;
use crate::encode::{Data, Events, Word, data};
use crate::frame::{ApprovalRequested, ApprovalResolved, Body, FileChanged, Frame, PlanEntry, SkillEvent, Usage};
use serde_json::value::RawValue;
use uuid::Uuid;

data! {
    struct Asked<'a> {
        approval_id: &'a str => "approvalId",
        tool_call_id: Option<Uuid> => "toolCallId",
        tool_name: &'a str => "toolName",
        args: &'a RawValue,
        reason: Option<&'a str>,
    }

    struct Answered<'a> {
        approval_id: &'a str => "approvalId",
        decision: Word,
        by: Option<&'a str>,
        reason: Option<&'a str>,
        scope: Option<&'a str>,
    }

    /// The value of a notice.
    pub(super) struct Notice<'a> {
        pub(super) level: Word,
        pub(super) code: Option<&'a str>,
        pub(super) message: &'a str,
    }

    struct FileChange<'a> {
        path: &'a str,
        kind: Word,
        tool_call_id: Option<Uuid> => "toolCallId",
        diff: Option<&'a str>,
        artifact_id: Option<&'a str> => "artifactId",
    }

    struct CheckpointCreated<'a> {
        checkpoint_id: &'a Uuid => "checkpointId",
        label: &'a str,
        files: &'a [String],
        created_at_ms: u64 => "createdAtMs",
        auto: bool,
        tool_name: Option<&'a str> => "toolName",
    }

    struct CheckpointRewound<'a> {
        checkpoint_id: &'a Uuid => "checkpointId",
        label: &'a str,
        files: &'a [String],
    }

    struct CheckpointFailed<'a> {
        action: Word,
        error: &'a str,
    }

    struct Compacted<'a> {
        trigger: Option<&'a str>,
        tokens_before: Option<u64> => "tokensBefore",
        tokens_after: Option<u64> => "tokensAfter",
        summary: Option<&'a str>,
    }
}

fn entry(entry: &PlanEntry) -> Entry<'_> {
    Entry { content: &entry.content, status: &entry.status, priority: entry.priority.as_deref() }
}

impl AgUiRun {
    fn custom(&mut self, name: &'static str, value: &dyn Data, frame: &Frame, out: &mut Events) {
        let subagent = self.subagents.thread(frame).subagent;
        self.writer.event("CUSTOM", &Custom { subagent, name, value }, out);
    }

    fn notice(&mut self, level: &'static str, code: Option<&str>, message: &str, frame: &Frame, out: &mut Events) {
        self.custom("notice", &Notice { level: Word(level), code, message }, frame, out);
    }

    /// The whole plan: the state of the run, or a `CUSTOM` event for a subagent.
    pub(super) fn plan(&mut self, plan: &[PlanEntry], frame: &Frame, out: &mut Events) {
        let state = State { plan: plan.iter().map(entry).collect() };
        if frame.is_subagent() {
            self.custom("plan", &state, frame, out);
        } else {
            self.writer.event("STATE_SNAPSHOT", &Snapshot { snapshot: state }, out);
        }
    }

    /// The usage so far.
    pub(super) fn usage(&mut self, usage: &Usage, out: &mut Events) {
        if let Some(sum) = self.spent.add(usage) {
            self.writer.event("CUSTOM", &Custom { subagent: None, name: "usage", value: &sum }, out);
        }
    }

    pub(super) fn asked(&mut self, request: &ApprovalRequested, frame: &Frame, out: &mut Events) {
        self.calls.ask(request);
        let value = Asked {
            approval_id: &request.approval_id,
            tool_call_id: request.tool_id,
            tool_name: &request.tool_name,
            args: &request.args,
            reason: request.reason.as_deref(),
        };
        self.custom("approval_requested", &value, frame, out);
    }

    /// The answer to a question. The call itself is over when the runner says so.
    pub(super) fn answered(&mut self, answer: &ApprovalResolved, frame: &Frame, out: &mut Events) {
        self.calls.answer(answer);
        let value = Answered {
            approval_id: &answer.approval_id,
            decision: Word(answer.decision.as_str()),
            by: answer.by.as_deref(),
            reason: answer.reason.as_deref(),
            scope: answer.scope.as_deref(),
        };
        self.custom("approval_resolved", &value, frame, out);
    }

    fn file_change(&mut self, change: &FileChanged, frame: &Frame, out: &mut Events) {
        let value = FileChange {
            path: &change.path,
            kind: Word(change.kind.as_str()),
            tool_call_id: change.tool_id,
            diff: change.diff.as_deref(),
            artifact_id: change.artifact_id.as_deref(),
        };
        self.custom("file_changed", &value, frame, out);
    }

    /// Handles a frame that is about no call and no text.
    pub(super) fn other(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::FileChanged(change) => self.file_change(change, frame, out),
            Body::CheckpointCreated { checkpoint_id, label, created_at_ms, files, auto, tool_name } => {
                let (created_at_ms, auto, tool_name) = (*created_at_ms, *auto, tool_name.as_deref());
                let value = CheckpointCreated { checkpoint_id, label, files, created_at_ms, auto, tool_name };
                self.custom("checkpoint_created", &value, frame, out);
            }
            Body::CheckpointRewound { checkpoint_id, label, files } => {
                let value = CheckpointRewound { checkpoint_id, label, files };
                self.custom("checkpoint_rewound", &value, frame, out);
            }
            Body::CheckpointFailed { action, error } => {
                let value = CheckpointFailed { action: Word(action.as_str()), error };
                self.custom("checkpoint_failed", &value, frame, out);
            }
            Body::HistoryCompacted { trigger, tokens_before, tokens_after, summary } => {
                let value = Compacted {
                    trigger: trigger.as_deref(),
                    tokens_before: *tokens_before,
                    tokens_after: *tokens_after,
                    summary: summary.as_deref(),
                };
                self.custom("history_compacted", &value, frame, out);
            }
            Body::LogEmitted { level, message } => self.notice(level.as_str(), None, message, frame, out),
            Body::ErrorReported(error) => {
                let level = if error.retryable { "warn" } else { "error" };
                self.notice(level, Some(&error.code), &error.message, frame, out);
            }
            Body::GapDetected { reason, .. } => {
                let message = format!("events are missing: {reason}");
                self.notice("warn", Some("gap_detected"), &message, frame, out);
            }
            Body::Skill(skill) => {
                if let SkillEvent::Warning { detail, .. } = &**skill {
                    self.notice("warn", Some("skill_warning"), detail, frame, out);
                }
            }
            _ => {}
        }
    }
}
