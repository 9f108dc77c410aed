//! File changes made by the tools that write.
//!
//! Input: the arguments and structured result of a successful call. Output: the path, the kind of change, and a unified diff if
//! the runner provides the hunks. Never: a diff computed here.

use crate::frame::{FileChangeKind, FileChanged};
use crate::json::{Json, Object};
use std::fmt::Write;

/// The maximum size of a diff in bytes. A longer diff is left out; the record still contains it.
const MAX_DIFF: usize = 1 << 20;

/// The change that a call made; `None` if it names no file.
pub(super) fn change(name: &str, args: &Object<'_>, result: &Object<'_>, text: &str) -> Option<FileChanged> {
    let own = result.str("filePath").or_else(|| result.str("notebook_path"));
    let path = own.or_else(|| args.str("file_path")).or_else(|| args.str("notebook_path"))?.into_owned();
    let created = match result.str("type").as_deref() {
        Some(kind) => kind == "create",
        None => name == "Write" && text.starts_with("File created"),
    };
    let diff = diff(&path, created, result);
    let kind = if created { FileChangeKind::Add } else { FileChangeKind::Modify };
    Some(FileChanged { tool_id: None, path, kind, diff, artifact_id: None })
}

/// The hunks of `structuredPatch`, or the whole content of a new file, as a unified diff.
fn diff(path: &str, created: bool, result: &Object<'_>) -> Option<String> {
    let hunks = result.items("structuredPatch");
    let new = format!("+++ {path}\n");
    let mut diff = if created { "--- /dev/null\n".to_owned() } else { format!("--- {path}\n") };
    diff.push_str(&new);
    if hunks.is_empty() {
        let content = result.str("content").filter(|content| created && !content.is_empty())?;
        if content.len() > MAX_DIFF {
            return None;
        }
        let _ = writeln!(diff, "@@ -0,0 +1,{} @@", content.lines().count());
        for line in content.split_inclusive('\n') {
            diff.push('+');
            diff.push_str(line);
        }
        if !content.ends_with('\n') {
            diff.push_str("\n\\ No newline at end of file\n");
        }
        return Some(diff);
    }
    for hunk in hunks.into_iter().filter_map(Json::object) {
        let at = |key: &str| hunk.u64(key).unwrap_or_default();
        let (old, new) = ((at("oldStart"), at("oldLines")), (at("newStart"), at("newLines")));
        let _ = writeln!(diff, "@@ -{},{} +{},{} @@", old.0, old.1, new.0, new.1);
        for line in hunk.items("lines") {
            diff.push_str(&line.str().unwrap_or_default());
            diff.push('\n');
        }
        if diff.len() > MAX_DIFF {
            return None;
        }
    }
    Some(diff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, args: &str, result: &str, text: &str) -> FileChanged {
        change(name, &Object::parse(args).unwrap(), &Object::parse(result).unwrap(), text).unwrap()
    }

    #[test]
    fn hunks_become_a_unified_diff() {
        let result = r#"{"filePath":"/a","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[" x","-y","+z"]}]}"#;
        let change = changed("Edit", "{}", result, "");
        assert_eq!(change.kind, FileChangeKind::Modify);
        assert_eq!(change.diff.as_deref(), Some("--- /a\n+++ /a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"));
    }

    #[test]
    fn a_new_file_is_an_addition() {
        let change = changed("Write", r#"{"file_path":"/b"}"#, r#"{"type":"create","content":"one\ntwo"}"#, "");
        assert_eq!((&*change.path, change.kind), ("/b", FileChangeKind::Add));
        let diff = "--- /dev/null\n+++ /b\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n";
        assert_eq!(change.diff.as_deref(), Some(diff));
        let text = "File created successfully at: /b";
        assert_eq!(changed("Write", r#"{"file_path":"/b"}"#, "{}", text).kind, FileChangeKind::Add);
        assert_eq!(changed("Write", r#"{"file_path":"/b"}"#, "{}", "updated").kind, FileChangeKind::Modify);
    }
}
