//! The output and the outcome of tools.
//!
//! Input: the item of a hosted call, or the item with a call's output. Output: text for each stream, and a verdict. Never: an
//! image, whichever field contains it.

use super::call;
use super::item::ItemKind;
use super::run::Run;
use crate::frame::OutputStream;
use crate::json::{Json, Kind, Object};
use crate::normalizer::Normalizer;

/// The outcome of a tool.
pub(super) struct Outcome {
    /// Its output.
    pub(super) chunks: Vec<(OutputStream, String)>,
    /// The exit code if it ran (1 if it failed without one), or the error if it did not run to its end.
    pub(super) verdict: Result<i32, String>,
}

impl Outcome {
    /// The tool ran without output.
    pub(super) fn silent(exit_code: i32) -> Self {
        Self { chunks: Vec::new(), verdict: Ok(exit_code) }
    }

    /// The tool did not run to its end.
    pub(super) fn failed(error: impl Into<String>) -> Self {
        Self { chunks: Vec::new(), verdict: Err(error.into()) }
    }
}

/// The outcome of a hosted call, from its own item; `None` if another item contains it.
pub(super) fn of_call(kind: ItemKind, fields: &Object<'_>) -> Option<Outcome> {
    let failed = fields.str("status").is_some_and(|status| status == "failed");
    let mut outcome = Outcome::silent(i32::from(failed));
    let mut push = |text: String| outcome.chunks.push((OutputStream::Stdout, text));
    match kind {
        ItemKind::Mcp => {
            if let Some(output) = fields.str("output") {
                push(output.into_owned());
            }
            if let Some(error) = fields.some("error") {
                mcp_error(error, &mut outcome);
            }
        }
        ItemKind::CodeInterpreter => {
            for output in fields.items("outputs").into_iter().filter_map(Json::object) {
                if let Some(logs) = output.str("logs") {
                    push(logs.into_owned());
                }
            }
        }
        ItemKind::FileSearch => {
            if let Some(results) = fields.some("results").filter(|results| results.text().len() > 2) {
                push(results.to_raw().get().to_owned());
            }
        }
        ItemKind::ImageGeneration => {
            if let Some(prompt) = fields.str("revised_prompt") {
                push(prompt.into_owned());
            }
        }
        ItemKind::WebSearch => {}
        // The output of a shell or tool search is a separate item.
        _ => return None,
    }
    Some(outcome)
}

/// Applies an MCP error. If the tool itself failed, it ran and reported an error. If the server could not be reached, the tool
/// never ran.
fn mcp_error(error: Json<'_>, outcome: &mut Outcome) {
    let Some(fields) = error.object() else {
        let text = error.str().map_or_else(|| error.text().to_owned(), |text| text.into_owned());
        outcome.chunks.push((OutputStream::Stderr, text));
        outcome.verdict = Ok(1);
        return;
    };
    let text = fields.str("message").map_or_else(|| texts(fields.get("content")), |text| text.into_owned());
    // An error without a message still has a type and a code.
    let text = if text.trim().is_empty() { error_words(&fields) } else { text };
    if fields.str("type").is_some_and(|kind| kind == "mcp_protocol_error" || kind == "http_error") {
        outcome.verdict = Err(text);
    } else {
        outcome.chunks.push((OutputStream::Stderr, text));
        outcome.verdict = Ok(1);
    }
}

/// A description of an error without a message: its type and code.
fn error_words(fields: &Object<'_>) -> String {
    let kind = fields.str("type").filter(|kind| !kind.is_empty());
    let code =
        fields.some("code").map(|code| code.str().map_or_else(|| code.text().to_owned(), |code| code.into_owned()));
    let kind = kind.as_deref().unwrap_or("the MCP server failed");
    code.filter(|code| !code.is_empty()).map_or_else(|| kind.to_owned(), |code| format!("{kind} ({code})"))
}

/// Handles an event with a delta of a command's output, or with all of it. Each stream is reported as it arrives.
pub(super) fn of_command(run: &mut Run, at: usize, fields: &Object<'_>, normalizer: &mut Normalizer) {
    let Some(call) = call_of(run, at, false) else { return };
    let command = fields.u64("command_index").unwrap_or_default();
    if let Some(delta) = fields.get("delta") {
        for (stream, chunk) in streams(delta) {
            if let Some(item) = run.items.get_mut(at) {
                *item.output_emitted.entry((command, stream == OutputStream::Stderr)).or_default() += chunk.len();
            }
            call::output_delta(run, call, stream, chunk, normalizer);
        }
    }
    for (nth, entry) in fields.items("output").into_iter().enumerate() {
        rest(run, at, call, command.saturating_add(nth as u64), entry, normalizer);
    }
}

/// Handles the whole output of a call, which means that the call ran and is over.
pub(super) fn whole(run: &mut Run, at: usize, fields: &Object<'_>, normalizer: &mut Normalizer) {
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
                rest(run, at, call, nth as u64, entry, normalizer);
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
        outcome.chunks.push((OutputStream::Stdout, tools.to_raw().get().to_owned()));
    } else {
        outcome.chunks.push((OutputStream::Stdout, texts(output)));
    }
    if let Some(call) = call {
        call::start(run, call, normalizer);
        call::end(run, call, outcome, normalizer);
    }
}

/// Reports what a command's whole output adds to its deltas.
fn rest(run: &mut Run, at: usize, call: usize, command: u64, entry: Json<'_>, normalizer: &mut Normalizer) {
    for (stream, whole) in streams(entry) {
        let Some(item) = run.items.get_mut(at) else { return };
        let emitted = item.output_emitted.entry((command, stream == OutputStream::Stderr)).or_default();
        let Some(chunk) = whole.get(*emitted..).map(str::to_owned) else { continue };
        *emitted = whole.len();
        call::output_delta(run, call, stream, chunk, normalizer);
    }
}

/// The call that an output item belongs to. A tool search has no call id, so its output belongs to the newest one.
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

/// The text of an output: a string, or the joined text parts of a list.
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
