//! What a successful call changed: files, and the plan.
//!
//! Input: the arguments and the result of a successful call. Output: changed files with the runner's diff, and the whole plan. Never: a
//! diff computed here; a change reported for a call that only reads, whose result has a diff without changes.

use super::calls::Call;
use super::decoder::Copilot;
use crate::frame::{Body, FileChangeKind, FileChanged, ToolKind};
use crate::json::{Json, Object};
use crate::normalizer::Normalizer;

/// The maximum size of a diff in bytes. A longer diff is left out; the record still contains it.
const MOST_DIFF: usize = 1 << 20;

/// The maximum number of files that one call reports as changed.
const MOST_FILES: usize = 1000;

impl Copilot {
    /// Reports what a successful call changed.
    pub(super) fn effects(&mut self, call: &Call, data: &Object<'_>, normalizer: &mut Normalizer) {
        let args = Object::parse(call.call.args.get()).unwrap_or_default();
        if &*call.call.name == "sql" {
            return self.plan_queried(call, &args, normalizer);
        }
        let edits: Vec<Object<'_>> =
            data.items("fileEdits").into_iter().take(MOST_FILES).filter_map(Json::object).collect();
        let is_writer = matches!(call.call.kind, ToolKind::Write | ToolKind::Edit);
        if edits.is_empty() && !is_writer {
            return;
        }
        let diff = data.object("result").and_then(|result| result.str("detailedContent"));
        let diff = diff.as_deref().map(str::trim_start).filter(|diff| is_writer && diff.starts_with("diff --git "));
        let diff = diff.filter(|diff| edits.len() < 2 && diff.len() <= MOST_DIFF);
        let mut report = |path: &str, kind: FileChangeKind| {
            let change = FileChanged {
                tool_id: Some(call.tool().id),
                path: path.to_owned(),
                kind,
                diff: diff.map(str::to_owned),
                artifact_id: None,
            };
            normalizer.push(call.target, Body::FileChanged(Box::new(change)));
        };
        let by_tool = match call.call.kind {
            ToolKind::Write => FileChangeKind::Add,
            _ => FileChangeKind::Modify,
        };
        for edit in &edits {
            if let Some(path) = edit.str("path").filter(|path| !path.is_empty()) {
                report(&path, kind_of(edit.str("kind").as_deref()).unwrap_or(by_tool));
            }
        }
        // The runner does not always list the files.
        if let Some(path) = args.str("path").filter(|path| !path.is_empty() && edits.is_empty()) {
            report(&path, by_tool);
        }
    }
}

fn kind_of(word: Option<&str>) -> Option<FileChangeKind> {
    match word? {
        "create" | "add" => Some(FileChangeKind::Add),
        "edit" | "update" | "modify" => Some(FileChangeKind::Modify),
        "delete" => Some(FileChangeKind::Delete),
        "move" | "rename" => Some(FileChangeKind::Move),
        _ => None,
    }
}
