//! What a client shows of a call before it has a result: title, kind, places, and the change that an edit proposes.
//!
//! Input: a call's name, kind and arguments. Output: the protocol's words. Never: a runner's table of tool names, an empty title, or
//! a relative path, which the protocol forbids.

use super::content::Item;
use super::data::Location;
use crate::encode::Word;
use crate::frame::ToolKind;
use crate::json::{Json, Object};
use std::borrow::Cow;

/// The maximum length of a title, in characters.
const TITLE_CHARS: usize = 160;

/// The title of a call of which nothing is known.
const UNNAMED: &str = "tool";

/// The keys of a file's path.
const PATHS: [&str; 4] = ["file_path", "filePath", "path", "notebook_path"];

/// The keys of the text that an edit replaces, and of its replacement.
const OLD: [&str; 4] = ["old_string", "oldString", "old_str", "oldText"];
const NEW: [&str; 4] = ["new_string", "newString", "new_str", "newText"];

/// The protocol's kind of a tool.
pub(super) fn kind(kind: ToolKind) -> Word {
    Word(match kind {
        ToolKind::Shell => "execute",
        ToolKind::Read => "read",
        ToolKind::Write | ToolKind::Edit => "edit",
        ToolKind::Search => "search",
        ToolKind::Fetch => "fetch",
        ToolKind::Plan | ToolKind::Subagent => "think",
        ToolKind::Mcp | ToolKind::Other => "other",
    })
}

/// Whether a path is absolute, on any system.
pub(super) fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().first_chunk::<3>();
    path.starts_with('/')
        || path.starts_with(r"\\")
        || drive.is_some_and(|[letter, colon, slash]| {
            letter.is_ascii_alphabetic() && *colon == b':' && matches!(slash, b'\\' | b'/')
        })
}

/// The arguments of a call, read once.
pub(super) struct Described<'a> {
    name: &'a str,
    kind: Option<ToolKind>,
    args: Object<'a>,
}

fn first<'a>(args: &Object<'a>, keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter().find_map(|key| args.str(key))
}

/// The first line of a text, shortened.
pub(super) fn line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let is_cut = lines.next().is_some() || first.chars().count() > TITLE_CHARS;
    let shown = first.chars().take(TITLE_CHARS).map(|c| if c.is_control() { ' ' } else { c });
    shown.chain(is_cut.then_some('…')).collect()
}

impl<'a> Described<'a> {
    /// Reads the arguments. The kind is `None` if the runner did not report it.
    pub(super) fn new(name: &'a str, kind: Option<ToolKind>, args: &'a str) -> Self {
        Self { name, kind, args: Json::parse(args).ok().and_then(Json::object).unwrap_or_default() }
    }

    fn path(&self) -> Option<Cow<'a, str>> {
        first(&self.args, &PATHS).filter(|path| !path.is_empty())
    }

    /// What the call is about, in the order in which it says most.
    fn subject(&self) -> Option<String> {
        let text = |keys: &[&str]| first(&self.args, keys).map(|text| line(&text)).filter(|text| !text.is_empty());
        self.path().map(|path| line(&path)).or_else(|| text(&["url", "pattern", "query", "description", "title"]))
    }

    /// The command of a shell, which is a text or a list of words.
    fn command(&self) -> Option<String> {
        let command = self.args.get("command").or_else(|| self.args.get("cmd"))?;
        let text = match command.str() {
            Some(script) => script.into_owned(),
            None => command.items().into_iter().filter_map(Json::str).collect::<Vec<_>>().join(" "),
        };
        Some(line(&text)).filter(|text| !text.is_empty())
    }

    /// The title: the command of a shell, otherwise the name and what the call is about.
    pub(super) fn title(&self) -> String {
        let is_shell = matches!(self.kind, Some(ToolKind::Shell) | None);
        if let Some(command) = self.command().filter(|_| is_shell) {
            return command;
        }
        let name = line(self.name);
        match (name.is_empty(), self.subject()) {
            (false, Some(subject)) => format!("{name} {subject}"),
            (false, None) => name,
            (true, subject) => subject.unwrap_or_else(|| UNNAMED.to_owned()),
        }
    }

    /// The files that the call is about.
    pub(super) fn paths(&self) -> Vec<Cow<'a, str>> {
        self.path().into_iter().filter(|path| is_absolute(path)).collect()
    }

    /// The change that an edit proposes, if its arguments have both texts.
    pub(super) fn change(&self) -> Vec<Item<'a>> {
        let Some(path) = self.path().filter(|path| is_absolute(path)) else { return Vec::new() };
        let replaced = |args: &Object<'a>| {
            let (old, new) = (first(args, &OLD)?, first(args, &NEW)?);
            Some(Item::Diff { path: path.clone(), old: Some(old), new })
        };
        match self.kind {
            Some(ToolKind::Edit) => match self.args.get("edits") {
                Some(edits) => {
                    let edits: Option<Vec<_>> =
                        edits.items().into_iter().map(|edit| replaced(&edit.object()?)).collect();
                    edits.unwrap_or_default()
                }
                None => replaced(&self.args).into_iter().collect(),
            },
            Some(ToolKind::Write) => {
                let new = first(&self.args, &["content", "file_text"]);
                new.map(|new| Item::Diff { path, old: None, new }).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Places in files.
pub(super) fn locations<'p>(paths: &'p [Cow<'_, str>]) -> Option<Vec<Location<'p>>> {
    let locations: Vec<Location<'p>> = paths.iter().map(|path| Location { path, line: None }).collect();
    (!locations.is_empty()).then_some(locations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_what_the_call_is_about() {
        for (name, kind, args, expected) in [
            ("Bash", Some(ToolKind::Shell), r#"{"command":"ls -l\nrm x"}"#, "ls -l…"),
            ("shell", Some(ToolKind::Shell), r#"{"command":["bash","-lc","ls"]}"#, "bash -lc ls"),
            ("Bash", None, r#"{"command":"ls"}"#, "ls"),
            ("Read", Some(ToolKind::Read), r#"{"file_path":"/a"}"#, "Read /a"),
            ("Grep", Some(ToolKind::Search), r#"{"pattern":"x\ty"}"#, "Grep x y"),
            ("command", Some(ToolKind::Other), r#"{"command":"x"}"#, "command"),
            ("Task", Some(ToolKind::Subagent), r#"{"description":"look around"}"#, "Task look around"),
            ("", Some(ToolKind::Other), r#""text""#, "tool"),
            (" \n", None, "{}", "tool"),
        ] {
            assert_eq!(Described::new(name, kind, args).title(), expected);
        }
        let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(1000));
        assert_eq!(Described::new("", None, &long).title().chars().count(), TITLE_CHARS + 1);
    }

    #[test]
    fn an_edit_is_a_diff_if_both_texts_and_an_absolute_path_are_known() {
        let change = |kind, args: &str| Described::new("x", Some(kind), args).change().len();
        let edit = r#"{"file_path":"/a","old_string":"1","new_string":"2"}"#;
        assert_eq!(change(ToolKind::Edit, edit), 1);
        assert_eq!(change(ToolKind::Read, edit), 0);
        assert_eq!(change(ToolKind::Edit, &edit.replace("/a", "a")), 0);
        assert_eq!(change(ToolKind::Edit, r#"{"path":"C:\\a","edits":[{"oldText":"1","newText":"2"}]}"#), 1);
        assert_eq!(change(ToolKind::Edit, r#"{"path":"/a","edits":[{"oldText":"1"}]}"#), 0);
        assert_eq!(change(ToolKind::Write, r#"{"path":"/a","content":""}"#), 1);
    }

    #[test]
    fn paths_of_every_system_may_be_absolute() {
        for (path, expected) in
            [("/a", true), (r"C:\a", true), ("c:/a", true), (r"\\host\a", true), ("a/b", false), ("C:a", false)]
        {
            assert_eq!(is_absolute(path), expected, "{path}");
        }
    }
}
