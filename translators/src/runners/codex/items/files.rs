//! File changes: applied patches.
//!
//! Input: changes as a list of paths, a list with diffs, a map from paths, or the text of a patch. Output: one `file_change`
//! call, and a `file_changed` frame for each file once the patch is applied. Never: a file reported as changed by a failed
//! patch, because the runner does not say which part of it was applied.

use super::super::snake;
use super::super::thread_context::ThreadContext;
use super::{Item, Status};
use crate::frame::{FileChangeKind, FileChanged, OutputStream, RawJson, ToolKind};
use crate::json::{Json, Kind, to_raw};
use std::borrow::Cow;
use std::fmt::Write;

/// One file of a patch.
pub(in super::super) struct Change<'a> {
    path: Cow<'a, str>,
    kind: FileChangeKind,
    /// The new path of a moved file.
    move_path: Option<Cow<'a, str>>,
    /// The hunks of an update, or the content of an added or deleted file.
    body: Option<Cow<'a, str>>,
}

pub(super) fn file_change(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    let changes = item.get("changes", "changes").map(changes_of).unwrap_or_default();
    let status = item.fields.str("status").map(|status| snake(&status));
    begin_edit(context, &item.id, &changes, status.as_deref().unwrap_or("in_progress"));
    if !done {
        return;
    }
    let stdout = item.str("stdout", "stdout").unwrap_or_default();
    let stderr = item.str("stderr", "stderr").unwrap_or_default();
    end_edit(context, &item.id, &changes, item.status().unwrap_or(Status::Completed), &stdout, &stderr);
}

/// Starts a patch.
pub(in super::super) fn begin_edit(
    context: &mut ThreadContext<'_>,
    call_id: &str,
    changes: &[Change<'_>],
    status: &str,
) {
    if context.turn.edits.contains_key(call_id) {
        return;
    }
    let args = edit_args(changes, status);
    context.turn.edits.insert(call_id.into(), args.clone());
    context.begin(call_id, "file_change", ToolKind::Edit, || args);
}

/// Ends a patch, whether it was applied or not.
pub(in super::super) fn end_edit(
    context: &mut ThreadContext<'_>,
    call_id: &str,
    changes: &[Change<'_>],
    status: Status,
    stdout: &str,
    stderr: &str,
) {
    context.turn.edits.remove(call_id);
    if !context.runs(call_id) {
        return;
    }
    if status == Status::Completed {
        let tool_id = Some(context.tool(call_id).id);
        for change in changes {
            let (path, kind) = (change.path.clone().into_owned(), change.kind);
            context.file_changed(FileChanged { tool_id, path, kind, diff: change.diff(), artifact_id: None });
        }
    }
    context.output(call_id, OutputStream::Stdout, stdout);
    context.output(call_id, OutputStream::Stderr, stderr);
    match status {
        Status::Declined => context.fail(call_id, "declined"),
        Status::Interrupted => context.fail(call_id, "interrupted"),
        Status::Failed => context.end(call_id, 1, None),
        Status::Completed | Status::Running => context.end(call_id, 0, None),
    }
}

/// The arguments of a patch.
pub(in super::super) fn edit_args(changes: &[Change<'_>], status: &str) -> RawJson {
    let files: Vec<serde_json::Value> = changes
        .iter()
        .map(|change| {
            let mut file = serde_json::json!({ "path": change.path, "kind": change.kind.as_str() });
            if let (Some(file), Some(path)) = (file.as_object_mut(), &change.move_path) {
                file.insert("move_path".to_owned(), path.as_ref().into());
            }
            file
        })
        .collect();
    to_raw(&serde_json::json!({ "files": files, "status": status }))
}

/// Reads changes from a list of `{path, kind, diff?}` or from a map keyed by path.
pub(in super::super) fn changes_of(changes: Json<'_>) -> Vec<Change<'_>> {
    let mut files = Vec::new();
    if changes.kind() == Kind::Object {
        for (path, change) in changes.object().unwrap_or_default().iter() {
            let mut fields = change.object().unwrap_or_default();
            let mut word = fields.str("type").unwrap_or_default();
            // In older versions, the word is the only key.
            let tagged = fields.iter().next().and_then(|(tag, inner)| Some((tag.to_owned(), inner.object()?)));
            if let (true, Some((tag, inner))) = (word.is_empty(), tagged) {
                (word, fields) = (Cow::Owned(tag), inner);
            }
            let move_path = fields.str("move_path");
            files.push(Change {
                path: Cow::Owned(path.to_owned()),
                kind: kind_of(&word, move_path.is_some()),
                move_path,
                body: fields.str("unified_diff").or_else(|| fields.str("content")),
            });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        return files;
    }
    for change in changes.items() {
        let Some(fields) = change.object() else { continue };
        let kind = fields.get("kind");
        let detail = kind.and_then(Json::object).unwrap_or_default();
        let move_path = detail.str("move_path").or_else(|| detail.str("movePath"));
        let word = kind.and_then(Json::str).or_else(|| detail.str("type")).unwrap_or_default();
        files.push(Change {
            path: fields.str("path").unwrap_or_default(),
            kind: kind_of(&word, move_path.is_some()),
            move_path,
            body: fields.str("diff"),
        });
    }
    files
}

fn kind_of(word: &str, moved: bool) -> FileChangeKind {
    match word {
        "add" | "create" => FileChangeKind::Add,
        "delete" | "remove" => FileChangeKind::Delete,
        _ if moved || word == "move" || word == "rename" => FileChangeKind::Move,
        _ => FileChangeKind::Modify,
    }
}

/// Reads the headers of a patch as written by the model. Relative paths are resolved against `cwd`, because items have absolute
/// paths.
pub(in super::super) fn patch_changes(patch: &str, cwd: &str) -> Vec<Change<'static>> {
    let absolute = |path: &str| {
        let path = path.trim();
        let is_absolute = path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
        Cow::Owned(if is_absolute || cwd.is_empty() {
            path.to_owned()
        } else {
            format!("{}/{path}", cwd.trim_end_matches('/'))
        })
    };
    let mut files: Vec<Change<'static>> = Vec::new();
    for line in patch.lines() {
        let Some(header) = line.strip_prefix("*** ") else { continue };
        let (kind, path) = if let Some(path) = header.strip_prefix("Add File: ") {
            (FileChangeKind::Add, path)
        } else if let Some(path) = header.strip_prefix("Delete File: ") {
            (FileChangeKind::Delete, path)
        } else if let Some(path) = header.strip_prefix("Update File: ") {
            (FileChangeKind::Modify, path)
        } else {
            if let (Some(path), Some(file)) = (header.strip_prefix("Move to: "), files.last_mut()) {
                file.kind = FileChangeKind::Move;
                file.move_path = Some(absolute(path));
            }
            continue;
        };
        files.push(Change { path: absolute(path), kind, move_path: None, body: None });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

impl Change<'_> {
    /// A unified diff with its file header; `None` if the surface does not report the content.
    fn diff(&self) -> Option<String> {
        let body = self.body.as_deref()?;
        let path = &self.path;
        let mut diff = String::with_capacity(body.len() + 2 * path.len() + 64);
        let written = match self.kind {
            // A body that is already a diff is kept as it is.
            FileChangeKind::Add if !body.starts_with("@@") => {
                write!(diff, "--- /dev/null\n+++ {path}\n").and_then(|()| whole_file(&mut diff, body, '+'))
            }
            FileChangeKind::Delete if !body.starts_with("@@") => {
                write!(diff, "--- {path}\n+++ /dev/null\n").and_then(|()| whole_file(&mut diff, body, '-'))
            }
            _ => {
                let to = self.move_path.as_ref().unwrap_or(path);
                let moved = match &self.move_path {
                    Some(to) => write!(diff, "rename from {path}\nrename to {to}\n"),
                    None => Ok(()),
                };
                moved.and_then(|()| write!(diff, "--- {path}\n+++ {to}\n{body}"))
            }
        };
        written.ok().map(|()| diff)
    }
}

/// Writes a hunk that adds or deletes a whole file.
fn whole_file(diff: &mut String, content: &str, sign: char) -> std::fmt::Result {
    let lines = content.lines().count();
    match (lines, sign) {
        (0, _) => return Ok(()),
        (lines, '+') => writeln!(diff, "@@ -0,0 +1,{lines} @@")?,
        (lines, _) => writeln!(diff, "@@ -1,{lines} +0,0 @@")?,
    }
    for line in content.split_inclusive('\n') {
        diff.push(sign);
        diff.push_str(line);
    }
    if !content.ends_with('\n') {
        diff.push_str("\n\\ No newline at end of file\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_formats_of_a_change_are_equivalent() {
        let read = |text: &str| -> Vec<_> {
            changes_of(Json::parse(text).unwrap())
                .into_iter()
                .map(|change| (change.path.to_string(), change.kind, change.move_path.map(Cow::into_owned)))
                .collect()
        };
        let (a, b) = ("/w/a".to_owned(), Some("/w/b".to_owned()));
        assert_eq!(read(r#"[{"path":"/w/a","kind":"update"}]"#), [(a.clone(), FileChangeKind::Modify, None)]);
        let moved = [(a, FileChangeKind::Move, b)];
        assert_eq!(read(r#"[{"path":"/w/a","kind":{"type":"update","move_path":"/w/b"},"diff":""}]"#), moved);
        assert_eq!(read(r#"{"/w/a":{"type":"update","unified_diff":"","move_path":"/w/b"}}"#), moved);
        let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch\n";
        let patch: Vec<_> = patch_changes(patch, "/w")
            .into_iter()
            .map(|change| (change.path.to_string(), change.kind, change.move_path.map(Cow::into_owned)))
            .collect();
        assert_eq!(patch, moved);
    }

    #[test]
    fn diffs_have_headers() {
        let diff = |text: &str| changes_of(Json::parse(text).unwrap()).pop().unwrap().diff();
        assert_eq!(
            diff(r#"{"/a":{"type":"add","content":"x\ny"}}"#).unwrap(),
            "--- /dev/null\n+++ /a\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"
        );
        assert_eq!(
            diff(r#"{"/a":{"type":"delete","content":"x\n"}}"#).unwrap(),
            "--- /a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n"
        );
        assert_eq!(
            diff(r#"[{"path":"/a","kind":{"type":"update","move_path":"/b"},"diff":"@@ -1 +1 @@\n-x\n+y\n"}]"#)
                .unwrap(),
            "rename from /a\nrename to /b\n--- /a\n+++ /b\n@@ -1 +1 @@\n-x\n+y\n"
        );
        assert_eq!(diff(r#"[{"path":"/a","kind":"add"}]"#), None);
    }
}
