//! Edits and other stored objects: the event groups that depend on artifacts.
//!
//! Input: changed files and written artifacts, if experimental groups are enabled. Output: `artifact.created`, `tool.edit.*`,
//! `tool.multi_edit.*`, `tool.file_write.proposed`. Never: content.
//!
//! Runners report a change when it is already made. So its proposal and its application are emitted together. The proposal has
//! `auto_apply` unless a person was asked.

use super::envelope::EventSink;
use super::ids;
use crate::contracts::wire::rfc3339_millis;
use crate::encode::{Time, data};
use crate::frame::{ArtifactWritten, FileChangeKind, FileChanged};
use serde::{Deserialize, Serialize};

/// A changed file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    path: String,
    kind: FileChangeKind,
    artifact_id: String,
    /// The size of the patch; `None` if unknown.
    patch_bytes: Option<u64>,
    summary: String,
}

impl Edit {
    /// `nth` distinguishes changes of one file without a stored patch; `stored` is the size of the stored patch.
    pub(super) fn new(change: &FileChanged, nth: u64, stored: Option<u64>) -> Self {
        let artifact_id = match &change.artifact_id {
            Some(artifact_id) => ids::artifact_id(artifact_id),
            None => ids::artifact_id(&format!("{:?}/{}/{nth}", change.tool_id, change.path)),
        };
        let patch_bytes = stored.or_else(|| change.diff.as_ref().map(|diff| diff.len() as u64));
        Self { path: change.path.clone(), kind: change.kind, artifact_id, patch_bytes, summary: summary(change) }
    }
}

data! {
    struct Created<'a> {
        artifact_id: &'a str,
        kind: &'a str,
        size_bytes: Option<u64>,
        summary: Option<String>,
        created_by_event_id: Option<String>,
    }

    struct Proposed<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        path: &'a str,
        patch_artifact_id: &'a str,
        summary: &'a str,
        auto_apply: bool,
    }

    struct Applied<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        patch_artifact_id: &'a str,
        applied_at: Time,
    }

    struct BatchProposed<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        paths: Vec<&'a str>,
        patch_artifact_ids: &'a [&'a str],
        summary: String,
        auto_apply: bool,
    }

    struct BatchApplied<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        patch_artifact_ids: &'a [&'a str],
        applied_at: Time,
    }
}

/// Emits what a call changed.
pub(super) fn emit(edits: &[Edit], tool_call_id: &str, tool_name: &str, auto_apply: bool, sink: &mut EventSink<'_>) {
    for edit in edits {
        created(edit, sink);
    }
    let now_ms = sink.now_ms;
    let applied_at = || Time(rfc3339_millis(now_ms));
    match edits {
        [] => {}
        [edit] => {
            let is_new = edit.kind == FileChangeKind::Add;
            let event = if is_new { "tool.file_write.proposed" } else { "tool.edit.proposed" };
            let proposed = Proposed {
                tool_call_id,
                tool_name,
                path: &edit.path,
                patch_artifact_id: &edit.artifact_id,
                summary: &edit.summary,
                auto_apply,
            };
            sink.emit(event, &proposed);
            let patch_artifact_id = &edit.artifact_id;
            sink.emit(
                "tool.edit.applied",
                &Applied { tool_call_id, tool_name, patch_artifact_id, applied_at: applied_at() },
            );
        }
        batch => {
            let ids: Vec<&str> = batch.iter().map(|edit| &*edit.artifact_id).collect();
            let proposed = BatchProposed {
                tool_call_id,
                tool_name,
                paths: batch.iter().map(|edit| &*edit.path).collect(),
                patch_artifact_ids: &ids,
                summary: format!("{} files", batch.len()),
                auto_apply,
            };
            sink.emit("tool.multi_edit.proposed", &proposed);
            let applied = BatchApplied { tool_call_id, tool_name, patch_artifact_ids: &ids, applied_at: applied_at() };
            sink.emit("tool.multi_edit.applied", &applied);
        }
    }
}

/// A patch was stored.
pub(super) fn created(edit: &Edit, sink: &mut EventSink<'_>) {
    if edit.patch_bytes.is_none() {
        return;
    }
    let created = Created {
        artifact_id: &edit.artifact_id,
        kind: "patch",
        size_bytes: edit.patch_bytes,
        summary: Some(format!("{}: {}", edit.path, edit.summary)),
        created_by_event_id: sink.last_event_id(),
    };
    sink.emit("artifact.created", &created);
}

/// A stored object was written.
pub(super) fn written(artifact: &ArtifactWritten, sink: &mut EventSink<'_>) {
    let created = Created {
        artifact_id: &ids::artifact_id(&artifact.artifact_id),
        kind: if artifact.kind.is_empty() { "tool_result_blob" } else { &artifact.kind },
        size_bytes: Some(artifact.bytes),
        summary: None,
        created_by_event_id: sink.last_event_id(),
    };
    sink.emit("artifact.created", &created);
}

/// `1 hunk, +1/-1`, or what happened to the file if there is no diff.
fn summary(change: &FileChanged) -> String {
    let what = match change.kind {
        FileChangeKind::Add => "new file",
        FileChangeKind::Modify => "modified",
        FileChangeKind::Delete => "deleted",
        FileChangeKind::Move => "moved",
    };
    let Some(diff) = &change.diff else { return what.to_owned() };
    let count = |mark: &str, heading: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(heading)).count()
    };
    let (hunks, added, removed) = (count("@@", "\0"), count("+", "+++ "), count("-", "--- "));
    match change.kind {
        FileChangeKind::Add => format!("new file, {added} {}", if added == 1 { "line" } else { "lines" }),
        _ => format!("{hunks} {}, +{added}/-{removed}", if hunks == 1 { "hunk" } else { "hunks" }),
    }
}
