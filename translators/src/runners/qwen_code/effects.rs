//! What a successful call changed: files, and the plan.
//!
//! Input: the arguments and the result of a successful call; session files also have the runner's own diff. Output: changed files
//! and the whole plan. Never: a diff computed here, or a plan of unbounded size.

use super::calls::Call;
use super::decoder::Qwen;
use crate::frame::{Body, FileChangeKind, FileChanged, PlanEntry, SharedStr, ToolKind};
use crate::json::{Json, Object};
use crate::normalizer::Normalizer;

/// The maximum number of entries of a plan; further ones are left out.
const MOST_ENTRIES: usize = 1000;

/// The maximum size of a diff in bytes. A longer diff is left out; the record still contains it.
const MOST_DIFF: usize = 1 << 20;

impl Qwen {
    /// Reports what a successful call changed. A stream has no diff.
    pub(super) fn effects(&mut self, call: &Call, text: &str, normalizer: &mut Normalizer) {
        let args = Object::parse(call.args.get()).unwrap_or_default();
        match call.kind {
            ToolKind::Write | ToolKind::Edit => {
                // The record of a session file reports the change itself, with its diff.
                let is_reported = self.runs.run(call.target.stream).is_some_and(|run| run.file.is_some());
                let path = args.str("file_path").or_else(|| args.str("notebook_path"));
                if let Some(path) = path.filter(|_| !is_reported) {
                    let kind = kind_of_change(call.kind, &args, text);
                    let change = FileChanged {
                        tool_id: Some(call.tool.id),
                        path: path.into_owned(),
                        kind,
                        diff: None,
                        artifact_id: None,
                    };
                    normalizer.push(call.target, Body::FileChanged(Box::new(change)));
                }
            }
            ToolKind::Plan => {
                let todos = args.items("todos").into_iter().take(MOST_ENTRIES).filter_map(Json::object);
                let entries = todos.filter_map(|todo| {
                    Some(PlanEntry {
                        content: todo.str("content")?.into_owned(),
                        status: SharedStr::from(todo.str("status").as_deref().unwrap_or("pending")),
                        priority: todo.str("priority").map(|priority| SharedStr::from(&*priority)),
                    })
                });
                normalizer.push(call.target, Body::PlanUpdated { entries: entries.collect() });
            }
            _ => {}
        }
    }
}

/// The change that a result of a session file describes; `None` if it describes none.
pub(super) fn described(call: &Call, display: &Object<'_>, text: &str) -> Option<FileChanged> {
    let diff = display.str("fileDiff")?;
    let args = Object::parse(call.args.get()).unwrap_or_default();
    let path = args.str("file_path").or_else(|| display.str("filePath")).or_else(|| display.str("fileName"))?;
    let is_new = display.some("originalContent").is_none() && display.get("newContent").is_some();
    let kind = if is_new { FileChangeKind::Add } else { kind_of_change(call.kind, &args, text) };
    Some(FileChanged {
        tool_id: Some(call.tool.id),
        path: path.into_owned(),
        kind,
        diff: Some(diff.into_owned()).filter(|diff| !diff.is_empty() && diff.len() <= MOST_DIFF),
        artifact_id: None,
    })
}

fn kind_of_change(tool: ToolKind, args: &Object<'_>, text: &str) -> FileChangeKind {
    let is_new = match tool {
        ToolKind::Write => text.starts_with("Successfully created"),
        // An edit of nothing creates the file.
        _ => text.starts_with("Created new file") || args.str("old_string").is_some_and(|old| old.is_empty()),
    };
    if is_new { FileChangeKind::Add } else { FileChangeKind::Modify }
}
