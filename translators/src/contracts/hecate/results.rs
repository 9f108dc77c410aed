//! The result of a call: as an event of its kind, and in one line.
//!
//! Input: a call that is over, with the beginning of its output. Output: `tool.shell.exited`, `tool.glob.completed` and similar
//! events; the terminal event's summary. Never: a count or a match that the output does not show.

use super::envelope::EventSink;
use super::kinds::{Kind, path_of};
use super::tools::{Outcome, RunningCall};
use crate::encode::{Key, Null, ObjectWriter, Value, data};
use crate::frame::PlanEntry;
use crate::json::Object;

/// Maximum length of a summary, in bytes.
const SUMMARY_BYTES: usize = 200;

/// Maximum length of a failed call's error message, in bytes.
const COMPLAINT_BYTES: usize = 2000;

data! {
    struct Exited<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        exit_code: i32,
        signal: Null,
        stdout_bytes: u64,
        stderr_bytes: u64,
        truncated: bool,
    }

    struct SearchResults<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        pattern: &'a str,
        matches: Option<Matches<'a>>,
        match_count: Option<usize>,
        truncated: Option<bool>,
    }

    struct SearchMatch<'a> {
        path: &'a str,
        line: Option<u64>,
        text: Option<&'a str>,
    }

    struct Read<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        path: &'a str,
    }

    struct Response<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        duration_ms: Option<u64>,
    }

    struct Todos<'a> {
        tool_call_id: &'a str,
        tool_name: &'a str,
        todos: Vec<Todo<'a>>,
    }

    struct Todo<'a> {
        content: &'a str,
        status: &'a str,
    }
}

/// The matches of a search.
enum Matches<'a> {
    Paths(Vec<&'a str>),
    Places(Vec<SearchMatch<'a>>),
}

impl Value for Matches<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        match self {
            Self::Paths(paths) => paths.field(key, map),
            Self::Places(places) => places.field(key, map),
        }
    }
}

/// Emits the last event specific to the kind.
pub(super) fn emit(running: &RunningCall, outcome: Outcome<'_>, duration_ms: Option<u64>, sink: &mut EventSink<'_>) {
    let (tool_call_id, tool_name) = (&*running.call_id, &*running.name);
    let Outcome::Exited(exit_code) = outcome else { return };
    if running.kind == Kind::Shell {
        let exited = Exited {
            tool_call_id,
            tool_name,
            exit_code,
            signal: Null,
            stdout_bytes: running.stdout.bytes,
            stderr_bytes: running.stderr.bytes,
            truncated: running.is_cut,
        };
        return sink.emit("tool.shell.exited", &exited);
    }
    if exit_code != 0 {
        return;
    }
    let args = running.args();
    let response = Response { tool_call_id, tool_name, duration_ms };
    match running.kind {
        Kind::Glob | Kind::Grep => {
            let Some(pattern) = args.str("pattern") else { return };
            if running.kind == Kind::Glob {
                let paths: Vec<&str> = shown(running).lines().filter(|line| is_path(line)).collect();
                let count = paths.len();
                sink.emit("tool.glob.completed", &search_results(running, &pattern, count, Matches::Paths(paths)));
            } else {
                let places: Vec<SearchMatch<'_>> = shown(running).lines().filter_map(search_match).collect();
                let count = places.len();
                sink.emit("tool.grep.completed", &search_results(running, &pattern, count, Matches::Places(places)));
            }
        }
        Kind::FileRead => {
            if let Some(path) = path_of(&args) {
                sink.emit("tool.file_read.completed", &Read { tool_call_id, tool_name, path: &path });
            }
        }
        Kind::Http if args.str("url").is_some() => sink.emit("tool.http.response", &response),
        Kind::WebFetch if args.str("url").is_some() => sink.emit("tool.web_fetch.response", &response),
        Kind::WebSearch if args.str("query").is_some() => sink.emit("tool.web_search.response", &response),
        _ => {}
    }
}

/// Emits the whole plan.
pub(super) fn todos(tool_call_id: &str, tool_name: &str, entries: &[PlanEntry], sink: &mut EventSink<'_>) {
    let todos = entries.iter().map(|entry| Todo { content: &entry.content, status: &entry.status }).collect();
    sink.emit("tool.todo_write.updated", &Todos { tool_call_id, tool_name, todos });
}

/// One line for people; never empty.
pub(super) fn summary(running: &RunningCall, outcome: Outcome<'_>) -> String {
    match outcome {
        Outcome::Exited(code) if running.kind == Kind::Shell => format!("exited with status {code}"),
        Outcome::Exited(code) => {
            let phrase = first_line(&running.stdout.text).or_else(|| first_line(&running.stderr.text));
            phrase.unwrap_or_else(|| verdict(running, code))
        }
        Outcome::Failed(error) => first_line(error).unwrap_or_else(|| "failed".to_owned()),
    }
}

/// The outcome of a call without output, and what the call was about.
fn verdict(running: &RunningCall, code: i32) -> String {
    let args = running.args();
    let phrase = if code == 0 { "completed" } else { "failed" };
    let about = path_of(&args)
        .or_else(|| files_of(&args))
        .or_else(|| ["query", "url", "pattern"].into_iter().find_map(|key| Some(args.str(key)?.into_owned())));
    match about.as_deref().and_then(first_line) {
        Some(about) => format!("{phrase}: {about}"),
        None => phrase.to_owned(),
    }
}

/// The first file of a call that changes several, and the number of the others.
fn files_of(args: &Object<'_>) -> Option<String> {
    let files = args.items("files");
    let first = path_of(&files.first()?.object()?)?;
    Some(if files.len() == 1 { first } else { format!("{first} and {} more", files.len() - 1) })
}

/// The error message of a call that ran and failed; `None` if it gave none.
pub(super) fn complaint(running: &RunningCall) -> Option<&str> {
    let phrase = [&running.stderr.text, &running.stdout.text].into_iter().find(|text| !text.trim().is_empty())?;
    phrase.get(..phrase.floor_char_boundary(COMPLAINT_BYTES.min(phrase.len())))
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let cut = line.floor_char_boundary(SUMMARY_BYTES.min(line.len()));
    let dots = if cut < line.len() { "…" } else { "" };
    Some(format!("{}{dots}", line.get(..cut)?))
}

/// The matches of a search, if the output shows them; output in another form gives no matches.
fn search_results<'a>(
    running: &'a RunningCall,
    pattern: &'a str,
    count: usize,
    matches: Matches<'a>,
) -> SearchResults<'a> {
    let is_shown = count > 0;
    SearchResults {
        tool_call_id: &running.call_id,
        tool_name: &running.name,
        pattern,
        matches: is_shown.then_some(matches),
        match_count: (is_shown && running.stdout.is_whole()).then_some(count),
        truncated: is_shown.then(|| !running.stdout.is_whole()),
    }
}

/// The complete lines of the kept output.
fn shown(running: &RunningCall) -> &str {
    let text = &running.stdout.text;
    if running.stdout.is_whole() { text } else { text.rsplit_once('\n').map_or("", |(lines, _)| lines) }
}

/// Whether a line is a path rather than a sentence.
fn is_path(line: &str) -> bool {
    !line.is_empty() && (line.starts_with('/') || !line.contains(' '))
}

/// `path:line:text`, or a path alone.
fn search_match(line: &str) -> Option<SearchMatch<'_>> {
    let mut parts = line.splitn(3, ':');
    if let (Some(path), Some(number), Some(text)) = (parts.next(), parts.next(), parts.next())
        && let Ok(number) = number.parse()
    {
        return Some(SearchMatch { path, line: Some(number), text: Some(text) });
    }
    (is_path(line) && line.contains(['/', '.']) && !line.contains(':')).then_some(SearchMatch {
        path: line,
        line: None,
        text: None,
    })
}
