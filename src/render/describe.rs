//! What a call is about, in a few words: the command, the file, the pattern.
//!
//! Input: a tool's kind and arguments. Output: bounded text, as the runner spells it. Never: a runner's table of tool names.

use framegate_translators::frame::{ApprovalRequested, FileChangeKind, RawJson, SharedStr, ToolKind};
use framegate_translators::json::{Json, Object};
use std::borrow::Cow;

/// The maximum number of characters of a command.
const COMMAND_CHARS: usize = 2000;

/// The maximum number of characters of any other subject.
const SUBJECT_CHARS: usize = 300;

/// How many paths of one call are named.
const PATHS: usize = 3;

/// How many bytes of a patch are held.
const PATCH_BYTES: usize = 64 << 10;

/// How many questions of one approval, and how many choices of a question, are shown.
const QUESTIONS: usize = 10;
const CHOICES: usize = 9;

/// The keys of a file's path.
const PATH: [&str; 5] = ["file_path", "filePath", "path", "notebook_path", "target_file"];

/// The keys of the text that an edit replaces, and of its replacement.
const OLD: [&str; 4] = ["old_string", "oldString", "old_str", "oldText"];
const NEW: [&str; 4] = ["new_string", "newString", "new_str", "newText"];

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// The path, in the runner's spelling.
    pub(crate) path: String,
    /// What happened to it.
    pub(crate) kind: FileChangeKind,
    /// The beginning of a unified diff; `None` if there is none.
    pub(crate) diff: Option<String>,
    /// How many bytes of the diff were left out.
    pub(crate) left_out: u64,
}

impl Change {
    /// A change with as much of its diff as may be held.
    pub(crate) fn new(path: &str, kind: FileChangeKind, diff: Option<&str>) -> Self {
        let kept = diff.map(|diff| diff.get(..diff.floor_char_boundary(PATCH_BYTES)).unwrap_or_default());
        let left_out = diff.map_or(0, str::len) - kept.map_or(0, str::len);
        Self { path: cut(path, SUBJECT_CHARS), kind, diff: kept.map(str::to_owned), left_out: left_out as u64 }
    }
}

/// A question that waits for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// Its id, as the runner spells it.
    pub(crate) approval_id: SharedStr,
    /// The name of the tool.
    pub(crate) tool: SharedStr,
    /// What the tool would do.
    pub(crate) subject: String,
    /// Why the runner asks.
    pub(crate) reason: Option<String>,
    /// The questions to the user in it; empty if only an approval is wanted.
    pub(crate) asked: Vec<Asked>,
}

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The text.
    pub(crate) text: String,
    /// The labels of the choices, at most nine; empty if a text is wanted.
    pub(crate) choices: Vec<String>,
    /// How many choices were left out.
    pub(crate) left_out: usize,
    /// Whether several may be chosen.
    pub(crate) takes_several: bool,
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn first<'a>(args: &Object<'a>, keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter().find_map(|key| args.str(key)).filter(|text| !text.trim().is_empty())
}

/// What a call is about; empty if nothing is known.
pub(crate) fn subject(kind: Option<ToolKind>, args: &RawJson) -> String {
    let args = Json::new(args);
    let Some(object) = args.object() else {
        return args.str().map_or_else(String::new, |text| cut(text.trim(), SUBJECT_CHARS));
    };
    if matches!(kind, Some(ToolKind::Shell) | None)
        && let Some(command) = command(&object)
    {
        return command;
    }
    let found = match kind {
        Some(ToolKind::Search) => search(&object),
        Some(ToolKind::Fetch) => first(&object, &["url", "uri", "query"]).map(Cow::into_owned),
        Some(ToolKind::Subagent) => first(&object, &["description", "prompt", "task", "message"]).map(Cow::into_owned),
        Some(ToolKind::Mcp) => None,
        _ => first(&object, &PATH).map(Cow::into_owned).or_else(|| files(&object)),
    };
    let text = match found {
        Some(text) => text,
        None if object.is_empty() => String::new(),
        None => args.text().to_owned(),
    };
    cut(text.trim(), SUBJECT_CHARS)
}

/// The command of a shell, which is a text or a list of words.
fn command(args: &Object<'_>) -> Option<String> {
    let command = args.get("command").or_else(|| args.get("cmd"))?;
    let text = match command.str() {
        Some(script) => script.into_owned(),
        None => command.items().into_iter().filter_map(Json::str).collect::<Vec<_>>().join(" "),
    };
    Some(cut(text.trim(), COMMAND_CHARS)).filter(|text| !text.is_empty())
}

fn search(args: &Object<'_>) -> Option<String> {
    let pattern = first(args, &["pattern", "query", "q"])?;
    Some(match first(args, &PATH) {
        Some(path) => format!("{pattern} in {path}"),
        None => pattern.into_owned(),
    })
}

/// The paths in a list of files.
fn files(args: &Object<'_>) -> Option<String> {
    let all = args.items("files");
    let paths: Vec<String> = all
        .iter()
        .filter_map(|file| file.str().or_else(|| file.object()?.str("path")).map(Cow::into_owned))
        .take(PATHS)
        .collect();
    let more = all.len().saturating_sub(paths.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!paths.is_empty()).then(|| paths.join(", ") + &more)
}

/// The change that an edit's arguments describe, for runners that report none.
pub(crate) fn change(kind: ToolKind, args: &RawJson) -> Option<Change> {
    let args = Json::new(args).object().filter(|_| kind == ToolKind::Edit)?;
    let path = first(&args, &PATH)?;
    let pair = |args: &Object<'_>| {
        let text = |keys: &[&str; 4]| keys.iter().find_map(|key| args.str(key));
        let (old, new) = (text(&OLD)?, text(&NEW)?);
        let lines = |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        Some(lines('-', &old) + &lines('+', &new))
    };
    let diff = match args.get("edits") {
        Some(edits) => {
            edits.items().into_iter().map(|edit| pair(&edit.object()?)).collect::<Option<Vec<_>>>()?.join("@@\n")
        }
        None => pair(&args)?,
    };
    (!diff.is_empty()).then(|| Change::new(&path, FileChangeKind::Modify, Some(&diff)))
}

/// What a runner asks.
pub(crate) fn question(request: &ApprovalRequested) -> Question {
    let asked: Vec<Asked> = Json::new(&request.args)
        .object()
        .map(|args| args.items("questions"))
        .unwrap_or_default()
        .into_iter()
        .take(QUESTIONS)
        .filter_map(|question| asked(&question.object()?))
        .collect();
    Question {
        approval_id: request.approval_id.clone(),
        tool: request.tool_name.clone(),
        subject: if asked.is_empty() { subject(None, &request.args) } else { String::new() },
        reason: request
            .reason
            .as_deref()
            .filter(|reason| !reason.trim().is_empty())
            .map(|reason| cut(reason, SUBJECT_CHARS)),
        asked,
    }
}

fn asked(question: &Object<'_>) -> Option<Asked> {
    let text = first(question, &["question", "header", "id"])?;
    let options = question.items("options");
    let label = |option: &Json<'_>| option.str().or_else(|| option.object()?.str("label")).map(Cow::into_owned);
    let choices: Vec<String> = options.iter().filter_map(label).take(CHOICES).collect();
    let is_true = |key: &str| question.bool(key).unwrap_or_default();
    Some(Asked {
        text: cut(&text, SUBJECT_CHARS),
        left_out: options.len().saturating_sub(choices.len()),
        choices,
        takes_several: is_true("multiSelect") || is_true("multiple"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;
    use std::sync::Arc;

    fn raw(text: &str) -> RawJson {
        Arc::from(RawValue::from_string(text.to_owned()).unwrap())
    }

    #[test]
    fn a_subject_is_what_a_reader_looks_for() {
        for (kind, args, expected) in [
            (Some(ToolKind::Shell), r#"{"command":" ls -l\ncd x "}"#, "ls -l\ncd x"),
            (Some(ToolKind::Shell), r#"{"command":["bash","-lc","ls"]}"#, "bash -lc ls"),
            (Some(ToolKind::Read), r#"{"file_path":"/a"}"#, "/a"),
            (
                Some(ToolKind::Edit),
                r#"{"files":[{"path":"a"},{"path":"b"},{"path":"c"},{"path":"d"}]}"#,
                "a, b, c and 1 more",
            ),
            (Some(ToolKind::Search), r#"{"pattern":"x","path":"src"}"#, "x in src"),
            (Some(ToolKind::Fetch), r#"{"url":"http://a"}"#, "http://a"),
            (Some(ToolKind::Subagent), r#"{"description":"look","prompt":"p"}"#, "look"),
            (Some(ToolKind::Mcp), r#"{"path":"x"}"#, r#"{"path":"x"}"#),
            (Some(ToolKind::Other), "{}", ""),
            (Some(ToolKind::Other), r#""half \ud800 pair""#, "half \u{fffd} pair"),
            (None, r#"{"command":"ls"}"#, "ls"),
        ] {
            assert_eq!(subject(kind, &raw(args)), expected);
        }
        let long = raw(&format!(r#"{{"url":"{}"}}"#, "é".repeat(1000)));
        assert_eq!(subject(Some(ToolKind::Fetch), &long).chars().count(), SUBJECT_CHARS + 1);
    }

    #[test]
    fn an_edit_without_a_report_is_described_by_its_arguments() {
        let args = raw(r#"{"file_path":"a","old_string":"1\n2","new_string":"3"}"#);
        let change = change(ToolKind::Edit, &args).unwrap();
        assert_eq!((change.path.as_str(), change.diff.as_deref()), ("a", Some("-1\n-2\n+3\n")));
        assert_eq!(super::change(ToolKind::Read, &args), None);
        let long = Change::new("a", FileChangeKind::Add, Some(&"+é\n".repeat(50_000)));
        assert_eq!(long.left_out as usize + long.diff.unwrap().len(), 200_000);
    }

    #[test]
    fn a_question_has_its_choices() {
        let args = r#"{"questions":[{"question":"Which?","multiSelect":true,"options":[{"label":"A"},{"label":"B"}]},{"id":"why"}]}"#;
        let request = ApprovalRequested {
            approval_id: "1".into(),
            tool_id: None,
            tool_name: "Ask".into(),
            args: raw(args),
            reason: None,
        };
        let asked = question(&request).asked;
        assert_eq!((asked[0].choices.len(), asked[0].takes_several, asked[1].choices.len()), (2, true, 0));
        let plain = ApprovalRequested { args: raw(r#"{"command":"ls"}"#), reason: Some(" ".into()), ..request };
        assert_eq!((question(&plain).subject, question(&plain).reason), ("ls".to_owned(), None));
    }
}
