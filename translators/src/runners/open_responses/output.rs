//! What tools put out, and how they ended.
//!
//! In: the item of a hosted call, or the item of a call's output. Out: text for each stream and a verdict. Never: an image,
//! in whatever field it comes.

use super::call;
use super::item::ItemKind;
use super::run::Run;
use crate::frame::OutputStream;
use crate::json::{Json, Kind, Object};
use crate::ledger::Ledger;

/// How a tool ended.
pub(super) struct Outcome {
    /// What it put out.
    pub(super) said: Vec<(OutputStream, String)>,
    /// Its exit code where it ran, 1 where it failed without one; what went wrong where it did not run to its end.
    pub(super) verdict: Result<i32, String>,
}

impl Outcome {
    /// It ran and put out nothing.
    pub(super) fn silent(exit_code: i32) -> Self {
        Self { said: Vec::new(), verdict: Ok(exit_code) }
    }

    /// It did not run to its end.
    pub(super) fn failed(error: impl Into<String>) -> Self {
        Self { said: Vec::new(), verdict: Err(error.into()) }
    }
}

/// How a hosted call ended, by its own item; `None` where another item says it.
pub(super) fn of_call(kind: ItemKind, fields: &Object<'_>) -> Option<Outcome> {
    let failed = fields.str("status").is_some_and(|status| status == "failed");
    let mut outcome = Outcome::silent(i32::from(failed));
    let mut say = |text: String| outcome.said.push((OutputStream::Stdout, text));
    match kind {
        ItemKind::Mcp => {
            if let Some(output) = fields.str("output") {
                say(output.into_owned());
            }
            if let Some(error) = fields.some("error") {
                mcp_error(error, &mut outcome);
            }
        }
        ItemKind::CodeInterpreter => {
            for output in fields.items("outputs").into_iter().filter_map(Json::object) {
                if let Some(logs) = output.str("logs") {
                    say(logs.into_owned());
                }
            }
        }
        ItemKind::FileSearch => {
            if let Some(results) = fields.some("results").filter(|results| results.text().len() > 2) {
                say(results.to_raw().get().to_owned());
            }
        }
        ItemKind::ImageGeneration => {
            if let Some(prompt) = fields.str("revised_prompt") {
                say(prompt.into_owned());
            }
        }
        ItemKind::WebSearch => {}
        // A shell's and a tool search's output is an item of its own.
        _ => return None,
    }
    Some(outcome)
}

/// The tool's own failure is an outcome of a run; a server that could not be reached never ran it.
fn mcp_error(error: Json<'_>, outcome: &mut Outcome) {
    let Some(fields) = error.object() else {
        let text = error.str().map_or_else(|| error.text().to_owned(), |text| text.into_owned());
        outcome.said.push((OutputStream::Stderr, text));
        outcome.verdict = Ok(1);
        return;
    };
    let text = fields.str("message").map_or_else(|| texts(fields.get("content")), |text| text.into_owned());
    if fields.str("type").is_some_and(|kind| kind == "mcp_protocol_error" || kind == "http_error") {
        outcome.verdict = Err(if text.is_empty() { "the MCP server failed".to_owned() } else { text });
    } else {
        outcome.said.push((OutputStream::Stderr, text));
        outcome.verdict = Ok(1);
    }
}

/// A piece of a command's output, or all of it, in an event of its own: its streams are told as they come.
pub(super) fn of_command(run: &mut Run, at: usize, fields: &Object<'_>, ledger: &mut Ledger) {
    let Some(call) = call_of(run, at, false) else { return };
    let command = fields.u64("command_index").unwrap_or_default();
    if let Some(delta) = fields.get("delta") {
        for (stream, chunk) in streams(delta) {
            if let Some(item) = run.items.get_mut(at) {
                *item.output_said.entry((command, stream == OutputStream::Stderr)).or_default() += chunk.len();
            }
            call::said(run, call, stream, chunk, ledger);
        }
    }
    for (nth, entry) in fields.items("output").into_iter().enumerate() {
        rest(run, at, call, command.saturating_add(nth as u64), entry, ledger);
    }
}

/// The output of a call is whole: the call ran, and is over.
pub(super) fn whole(run: &mut Run, at: usize, fields: &Object<'_>, ledger: &mut Ledger) {
    if run.items.get_mut(at).is_none_or(|item| std::mem::replace(&mut item.finished, true)) {
        return;
    }
    let failed = fields.str("status").is_some_and(|status| status == "failed" || status == "incomplete");
    let mut outcome = Outcome::silent(i32::from(failed));
    let output = fields.some("output").or_else(|| fields.some("result"));
    let commands = fields.str("type").is_some_and(|kind| kind == "shell_call_output");
    let search = fields.str("type").is_some_and(|kind| kind == "tool_search_output");
    let call = call_of(run, at, search);
    if commands {
        for (nth, entry) in fields.items("output").into_iter().enumerate() {
            if let Some(call) = call {
                rest(run, at, call, nth as u64, entry, ledger);
            }
            let ended = entry.object().and_then(|entry| entry.object("outcome"));
            match ended.as_ref().and_then(|ended| ended.str("type")).as_deref() {
                Some("timeout") => outcome.verdict = Err("the command took too long".to_owned()),
                Some(_) if outcome.verdict == Ok(0) => {
                    let code = ended.and_then(|ended| ended.i64("exit_code")).and_then(|code| i32::try_from(code).ok());
                    outcome.verdict = Ok(code.unwrap_or_default());
                }
                _ => {}
            }
        }
    } else if let Some(tools) = fields.some("tools") {
        outcome.said.push((OutputStream::Stdout, tools.to_raw().get().to_owned()));
    } else {
        outcome.said.push((OutputStream::Stdout, texts(output)));
    }
    if let Some(call) = call {
        call::start(run, call, ledger);
        call::end(run, call, outcome, ledger);
    }
}

/// What a command's whole output says beyond its pieces.
fn rest(run: &mut Run, at: usize, call: usize, command: u64, entry: Json<'_>, ledger: &mut Ledger) {
    for (stream, whole) in streams(entry) {
        let Some(item) = run.items.get_mut(at) else { return };
        let said = item.output_said.entry((command, stream == OutputStream::Stderr)).or_default();
        let Some(chunk) = whole.get(*said..).map(str::to_owned) else { continue };
        *said = whole.len();
        call::said(run, call, stream, chunk, ledger);
    }
}

/// The call whose output an item is. A tool search has no id: its output follows it.
fn call_of(run: &Run, at: usize, search: bool) -> Option<usize> {
    match &run.items.get(at)?.output_of {
        Some(call_id) => run.items.call(call_id),
        None if search => run.items.newest(ItemKind::ToolSearch),
        None => None,
    }
}

fn streams(value: Json<'_>) -> Vec<(OutputStream, String)> {
    if let Some(text) = value.str() {
        return vec![(OutputStream::Stdout, text.into_owned())];
    }
    let Some(fields) = value.object() else { return Vec::new() };
    let named = [("stdout", OutputStream::Stdout), ("stderr", OutputStream::Stderr)];
    named.into_iter().filter_map(|(key, stream)| Some((stream, fields.str(key)?.into_owned()))).collect()
}

/// The text of an output: a string, or the text parts of a list.
fn texts(value: Option<Json<'_>>) -> String {
    let Some(value) = value else { return String::new() };
    if let Some(text) = value.str() {
        return text.into_owned();
    }
    if value.kind() != Kind::Array {
        return String::new();
    }
    value.items().into_iter().filter_map(|part| part.object()?.str("text").map(std::borrow::Cow::into_owned)).collect()
}
