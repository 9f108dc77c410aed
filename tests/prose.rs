//! Comments, documents and messages are written in plain English: a list of idioms that readers stumbled over does not come
//! back.

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
const FOLDERS: &[&str] =
    &["src", "translators", "validator", "tests", "benches", "clients", "docs", "packaging", "httpdate", "examples"];
/// Folders whose string literals are checked, except in test code.
const MESSAGES: &[&str] = &["src", "translators/src", "validator/src"];
/// Literals that are stored in frames, and therefore cannot be reworded.
const STORED: &[&str] = &["nobody answered within {} ms"];
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

/// The idioms in a piece of prose, each with its alternative. Names in code font are not prose.
fn idioms(prose: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let prose = prose.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    BANNED.iter().filter(move |(phrase, _)| {
        let ends = |char: Option<char>| char.is_none_or(|char| !char.is_alphanumeric());
        let is_word =
            |at: usize| ends(prose[..at].chars().next_back()) && ends(prose[at + phrase.len()..].chars().next());
        prose.match_indices(phrase).any(|(at, _)| is_word(at))
    })
}

/// Blanks test modules, so that line numbers stay.
fn without_tests(text: &str) -> String {
    let mut code = String::new();
    let mut is_test_only = false;
    let mut is_in_tests = false;
    for line in text.lines() {
        is_in_tests |= is_test_only && line.starts_with("mod ") && line.ends_with('{');
        is_test_only = line == "#[cfg(test)]" || (is_test_only && line.starts_with("#["));
        if !is_in_tests {
            code.push_str(line);
        }
        is_in_tests &= line != "}";
        code.push('\n');
    }
    code
}

/// The length of the comment, the literal or the character at the start of `rest`, and the content of a string literal.
fn token(rest: &str) -> (usize, Option<&str>) {
    let until =
        |text: &str, end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return (until(rest, "\n", 0), None);
    }
    if rest.starts_with("/*") {
        return (until(rest, "*/", 0), None);
    }
    if let Some(content) = rest.strip_prefix('"') {
        let mut is_escaped = false;
        let end = content.find(|char| {
            let ends = char == '"' && !is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            ends
        });
        let end = end.unwrap_or(content.len() - 1);
        return (end + 2, Some(&content[..end]));
    }
    if let Some(raw) = rest.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(content) = raw[hashes..].strip_prefix('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let length = content.find(&end).unwrap_or(content.len() - end.len());
            return (1 + hashes + 1 + length + end.len(), Some(&content[..length]));
        }
    }
    let first = rest.chars().next().map_or(1, char::len_utf8);
    // A character literal, which may be a quotation mark. Otherwise, the apostrophe belongs to a lifetime.
    if let Some(char) = rest.strip_prefix('\'').and_then(|behind| behind.chars().next()) {
        let end = 1 + char.len_utf8();
        if char == '\\' {
            return (until(rest, "'", 3), None);
        }
        if rest[end..].starts_with('\'') {
            return (end + 1, None);
        }
    }
    (first, None)
}

/// The string literals in Rust source, each with its line. A backslash at the end of a line joins it with the next one.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while !rest.is_empty() {
        let (length, content) = token(rest);
        if let Some(content) = content {
            let mut lines = content.split("\\\n");
            let first = lines.next().unwrap_or_default().to_owned();
            found.push((line, lines.fold(first, |joined, next| joined + next.trim_start())));
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

#[test]
fn string_literals_are_separated_from_code_and_comments() {
    let source = concat!(
        "// \"a comment\"\n",
        "fn f<'a>(text: &'a str) { say(\"one \\\"quoted\\\" word\", '\"', '\\'', '\\u{22}', b'\"'); }\n",
        "const RAW: &str = r#\"raw \"text\"\"#; /* \"another comment\" */ let x = \"two \\\n    lines\";\n",
        "let last = br\"raw \\\";\n",
    );
    let expected = [(2, "one \\\"quoted\\\" word"), (3, "raw \"text\""), (3, "two lines"), (5, "raw \\")];
    assert_eq!(literals(source), expected.map(|(line, text)| (line, text.to_owned())));
    let tests = "let a = \"kept\";\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    let b = \"left out\";\n}\nlet c = \"kept too\";\n";
    let kept: Vec<String> = literals(&without_tests(tests)).into_iter().map(|(_, text)| text).collect();
    assert_eq!(kept, ["kept", "kept too"]);
}

#[test]
fn messages_are_plain_english() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    MESSAGES.iter().for_each(|folder| files(&root.join(folder), &mut paths));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.retain(|path| path.file_name().is_some_and(|name| name != "tests.rs"));
    let (mut read, mut stored, mut found) = (0, 0, Vec::new());
    for path in paths {
        let source = without_tests(&fs::read_to_string(&path).unwrap());
        // A single word is a name.
        for (number, text) in literals(&source).into_iter().filter(|(_, text)| text.trim().contains(' ')) {
            read += 1;
            if STORED.contains(&text.as_str()) {
                stored += 1;
                continue;
            }
            let place = path.strip_prefix(root).unwrap().display();
            found
                .extend(idioms(&text).map(|(phrase, better)| format!("{place}:{number}: {phrase:?}: rather {better}")));
        }
    }
    assert!(read > 1500, "{read} literals are read");
    assert_eq!(stored, STORED.len(), "a literal that is stored in frames is not there");
    assert!(found.is_empty(), "{} idioms:\n{}", found.len(), found.join("\n"));
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
            let place = path.strip_prefix(root).unwrap().display();
            let idioms = idioms(prose(line, is_code));
            found.extend(idioms.map(|(phrase, better)| format!("{place}:{number}: {phrase:?}: rather {better}")));
        }
    }
    assert!(found.is_empty(), "{} idioms:\n{}", found.len(), found.join("\n"));
}
