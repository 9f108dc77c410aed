//! Comments and documents are written in plain English: a list of idioms that readers stumbled over does not come back.

#![allow(clippy::unwrap_used, clippy::panic, clippy::string_slice, clippy::indexing_slicing, reason = "test code")]

use std::fs;
use std::path::{Path, PathBuf};

/// Phrases, with a plain alternative.
const BANNED: &[(&str, &str)] = &[
    ("whoever", "name the component, or \"a client that\""),
    ("nobody", "\"no client\", \"no reader\""),
    ("somebody", "name the component"),
    ("to be had", "\"available\""),
    ("is told", "\"receives\", \"is notified\""),
    ("are told", "\"receive\", \"are notified\""),
    ("was told", "\"received\""),
    ("were told", "\"received\""),
    ("as it likes", "\"without a limit\""),
    ("what is gone", "name what was removed"),
    ("lets go", "\"releases\", \"emits\""),
    ("gives back", "\"returns\""),
    ("stands behind", "\"follows\""),
    ("stand behind", "\"follow\""),
    ("stands beside", "\"is next to\""),
    ("which never is", "\"cannot happen\""),
    ("each one's", "\"of each\""),
    ("has words for", "\"can express\""),
];

/// Folders with code and documents of our own.
const FOLDERS: &[&str] = &["src", "translators", "tests", "benches", "docs", "packaging", "httpdate"];
/// Folders of others, and of what tests write.
const SKIPPED: &[&str] = &["fixtures", "node_modules", "python_modules", "target", "snapshots", "proptest-regressions"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                files(&path, found);
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The prose in a line: all of it in a document, the comment in code.
fn prose(line: &str, is_code: bool) -> &str {
    if !is_code {
        return line;
    }
    let begins = line.trim_start().starts_with("//");
    let comment = if begins { line.find("//") } else { line.find(" // ") };
    comment.map_or("", |at| &line[at..])
}

#[test]
fn comments_and_documents_avoid_banned_phrases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("README.md"), root.join("ARCHITECTURE.md")];
    FOLDERS.iter().for_each(|folder| files(&root.join(folder), &mut paths));
    assert!(paths.len() > 500, "{} files are read", paths.len());
    let mut found = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let is_code = path.extension().is_some_and(|extension| extension == "rs");
        for (number, line) in (1..).zip(text.lines()) {
            // Names in code font are not prose.
            let line: String = prose(line, is_code).split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
            for (phrase, better) in BANNED {
                let is_word = |at: usize| {
                    let ends = |char: Option<char>| char.is_none_or(|char| !char.is_alphanumeric());
                    ends(line[..at].chars().next_back()) && ends(line[at + phrase.len()..].chars().next())
                };
                if line.match_indices(phrase).any(|(at, _)| is_word(at)) {
                    let place = path.strip_prefix(root).unwrap().display();
                    found.push(format!("{place}:{number}: {phrase:?}: rather {better}"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} idioms:\n{}", found.len(), found.join("\n"));
}
