//! Changed files.
//!
//! Input: the content `diff` of a tool: both texts (version 1), or the operations with a patch (version 2). Output: paths and
//! unified diffs. Never: more than [`MAX_DIFF`] bytes of diff; a comparison that takes more than linear time.

use crate::frame::FileChangeKind;
use crate::json::{Json, Object};
use std::fmt::Write;

/// The maximum size of a diff in bytes. A longer diff is left out; the record still contains it.
const MAX_DIFF: usize = 1 << 20;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) kind: FileChangeKind,
    pub(super) diff: Option<String>,
}

/// The changes of a content item.
pub(super) fn changes(item: &Object<'_>) -> Vec<Change> {
    if let Some(path) = item.str("path") {
        let old = item.some("oldText").and_then(Json::str);
        let new = item.str("newText").unwrap_or_default();
        // Some agents say it in words; others have an empty text in the place of a file that is not there.
        let said = item.object("_meta").and_then(|meta| meta.str("kind"));
        let is_new = match said.as_deref() {
            Some(word) => word == "add",
            None => old.as_deref().is_none_or(str::is_empty) && (old.is_none() || !new.is_empty()),
        };
        let old = old.filter(|old| !is_new || !old.is_empty());
        let kind = match said.as_deref() {
            _ if is_new => FileChangeKind::Add,
            Some("delete") => FileChangeKind::Delete,
            _ => FileChangeKind::Modify,
        };
        let diff = unified(&path, old.as_deref(), &new);
        return vec![Change { path: path.into_owned(), kind, diff }];
    }
    let changes: Vec<Object<'_>> = item.items("changes").into_iter().filter_map(Json::object).collect();
    let patch = item.object("patch").and_then(|patch| patch.str("text"));
    let mut parts = patch.as_deref().map(parts_of).unwrap_or_default();
    let is_one = changes.len() == 1;
    let read = |change: Object<'_>| {
        let path = change.str("path")?.into_owned();
        let kind = match change.str("operation").as_deref() {
            Some("add" | "copy") => FileChangeKind::Add,
            Some("delete") => FileChangeKind::Delete,
            Some("move") => FileChangeKind::Move,
            _ => FileChangeKind::Modify,
        };
        let whole = patch.as_deref().filter(|patch| is_one && patch.len() <= MAX_DIFF).map(str::to_owned);
        let diff = whole.or_else(|| {
            let at = parts.iter().position(|part| part.lines().take(8).any(|line| names(line, &path)))?;
            Some(parts.swap_remove(at).to_owned()).filter(|part| part.len() <= MAX_DIFF)
        });
        Some(Change { path, kind, diff })
    };
    changes.into_iter().filter_map(read).collect()
}

/// The maximum number of files of one patch whose parts are distinguished.
const MOST_PARTS: usize = 256;

/// The parts of a patch, one for each file.
fn parts_of(patch: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = patch.match_indices("diff --git ").map(|(at, _)| at).collect();
    starts.retain(|&at| at == 0 || patch.as_bytes().get(at - 1) == Some(&b'\n'));
    if starts.len() > MOST_PARTS {
        return Vec::new();
    }
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts.iter().zip(ends).filter_map(|(&start, end)| patch.get(start..end)).collect()
}

/// Whether a line of a patch's header names the file.
fn names(line: &str, path: &str) -> bool {
    let header = ["+++ ", "--- ", "rename to "].iter().find_map(|start| line.strip_prefix(start));
    header.is_some_and(|name| name == path || name.strip_prefix(['a', 'b']) == Some(path))
}

/// The texts as a unified diff with one hunk: from the first to the last line that differs.
fn unified(path: &str, old: Option<&str>, new: &str) -> Option<String> {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.unwrap_or_default().split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(one, two)| one == two).count();
    let head = same(&mut before.iter().zip(&after));
    let most = before.len().min(after.len()) - head;
    let tail = same(&mut before.iter().rev().zip(after.iter().rev())).min(most);
    if head == before.len() && head == after.len() && old.is_some() {
        return None;
    }
    let (start, end) = (head.saturating_sub(CONTEXT), tail.saturating_sub(CONTEXT));
    let part = |lines: &[&str]| (start, lines.len() - end);
    let ((from, to), (_, to_new)) = (part(&before), part(&after));
    let at = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
    let mut diff = match old {
        Some(_) => format!("--- {path}\n"),
        None => "--- /dev/null\n".to_owned(),
    };
    let (old_count, new_count) = (to - from, to_new - from);
    let _ = writeln!(diff, "+++ {path}");
    let _ = writeln!(diff, "@@ -{},{old_count} +{},{new_count} @@", at(from, old_count), at(from, new_count));
    let changed = |lines: &[&str]| lines.len() - tail;
    let sections = [
        (' ', before.get(from..head)),
        ('-', before.get(head..changed(&before))),
        ('+', after.get(head..changed(&after))),
        (' ', before.get(changed(&before)..to)),
    ];
    for (sign, lines) in sections {
        for line in lines.unwrap_or_default() {
            diff.push(sign);
            diff.push_str(line);
            if !line.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
            if diff.len() > MAX_DIFF {
                return None;
            }
        }
    }
    Some(diff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_become_one_hunk() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE\nf\ng\nh\n";
        let hunk = "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n";
        assert_eq!(unified("/x", Some(old), new).unwrap(), format!("--- /x\n+++ /x\n{hunk}"));
        assert_eq!(
            unified("/x", None, "n").unwrap(),
            "--- /dev/null\n+++ /x\n@@ -0,0 +1,1 @@\n+n\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("/x", Some("a\na\n"), "a\n").unwrap(), "--- /x\n+++ /x\n@@ -1,2 +1,1 @@\n a\n-a\n");
        assert_eq!(unified("/x", Some("a"), "a"), None);
    }

    #[test]
    fn a_file_that_was_not_there_is_added() {
        for (fields, kind) in [
            (r#""newText":"n""#, FileChangeKind::Add),
            (r#""oldText":null,"newText":"n""#, FileChangeKind::Add),
            (r#""oldText":"","newText":"n""#, FileChangeKind::Add),
            (r#""oldText":"","newText":"""#, FileChangeKind::Modify),
            (r#""oldText":"o","newText":"""#, FileChangeKind::Modify),
            (r#""oldText":"","newText":"n","_meta":{"kind":"add"}"#, FileChangeKind::Add),
            (r#""oldText":"","newText":"n","_meta":{"kind":"modify"}"#, FileChangeKind::Modify),
            (r#""oldText":"o","newText":"","_meta":{"kind":"delete"}"#, FileChangeKind::Delete),
        ] {
            let item = format!(r#"{{"path":"/x",{fields}}}"#);
            let found = changes(&Object::parse(&item).unwrap());
            assert_eq!(found.iter().map(|change| change.kind).collect::<Vec<_>>(), [kind], "{item}");
            let is_from_nothing = found[0].diff.as_deref().is_some_and(|diff| diff.starts_with("--- /dev/null"));
            assert_eq!(is_from_nothing, kind == FileChangeKind::Add, "{item}");
        }
    }

    #[test]
    fn a_patch_is_cut_into_its_files() {
        let text =
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\ndiff --git a/y b/y\n--- a/y\n+++ /dev/null\n";
        let item = serde_json::json!({"changes": [
            {"operation": "modify", "path": "/x"}, {"operation": "delete", "path": "/y"}, {"operation": "move", "path": "/z"}],
            "patch": {"format": "git_patch", "text": text}});
        let item = item.to_string();
        let found = changes(&Object::parse(&item).unwrap());
        let diffs: Vec<_> = found.iter().map(|change| (change.kind, change.diff.as_deref().map(str::len))).collect();
        let (first, second) = (FileChangeKind::Modify, FileChangeKind::Delete);
        assert_eq!(diffs, [(first, Some(53)), (second, Some(41)), (FileChangeKind::Move, None)]);
    }
}
