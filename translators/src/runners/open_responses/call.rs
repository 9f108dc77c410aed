//! Calls: from the first delta of their input to the proposal, and for hosted tools to their end.
//!
//! Input: deltas of input, item objects, stage events. Output: tool frames. Never: a proposal for a call that was cut off; two
//! proposals of one call; the bytes of an image.
//!
//! The client runs functions, custom tools, local shells, computers and patches. These calls are only proposed. The server runs
//! all others. They are proposed and started once their input is known, and end with their item. The query of a search is known
//! only when the search is over, so the whole call is reported then, with its duration.

use super::item::{Call, ItemKind};
use super::output::{self, Outcome};
use super::run::Run;
use super::tool;
use crate::frame::{Body, LogLevel, OutputStream, RawJson, ToolCall};
use crate::json::{self, Object, Utf16Text};
use crate::normalizer::Normalizer;

/// How complete an item is when it is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Completeness {
    /// The item has just started.
    Begun,
    /// The item's own last event reports it as complete.
    Whole,
    /// The item is part of the last snapshot of a successful response.
    AtEnd,
    /// The item is part of the last snapshot of a response that failed or was cut off; it may be incomplete.
    CutShort,
}

/// Handles a delta of a call's input.
pub(super) fn input(run: &mut Run, at: usize, piece: Utf16Text, normalizer: &mut Normalizer) {
    let target = run.target();
    let Some(tool) = run.tool(at, normalizer) else { return };
    let Some(call) = run.items.get_mut(at).and_then(|item| item.call.as_mut()) else { return };
    if call.input_done || call.proposed.is_some() {
        return;
    }
    let delta = piece.after(&mut call.high);
    if !delta.is_empty() {
        call.input.push_str(&delta);
        let name = call.name.clone();
        normalizer.push(target, Body::ToolInputDelta { tool, name, delta });
    }
}

/// Handles the end of a call's input. A call whose name is still unknown waits for its item.
pub(super) fn input_done(run: &mut Run, at: usize, fields: &Object<'_>, key: &str, normalizer: &mut Normalizer) {
    let Some(item) = run.items.get_mut(at) else { return };
    let kind = item.kind;
    let Some(call) = &mut item.call else { return };
    if let Some(name) = tool::name(kind, fields).filter(|_| call.name.is_empty()) {
        call.name = name;
    }
    if call.proposed.is_none()
        && let Some(whole) = fields.str(key)
    {
        call.input = whole.into_owned();
    }
    call.input_done = true;
    if kind == ItemKind::CodeInterpreter || !call.name.is_empty() {
        // The input is complete, so a missing input means an empty one.
        let args = tool::args(kind, None, &call.input).unwrap_or_else(|| empty(kind));
        propose(run, at, args, normalizer);
        if kind == ItemKind::Mcp || kind == ItemKind::CodeInterpreter {
            start(run, at, normalizer);
        }
    }
}

/// Whether a call's item is already complete when it starts.
pub(super) fn is_whole(fields: &Object<'_>) -> bool {
    let key = match fields.str("type").map(|word| ItemKind::of(&word)) {
        Some(ItemKind::Function) => "arguments",
        Some(ItemKind::Custom) => "input",
        _ => return false,
    };
    fields.str("status").is_some_and(|status| status == "completed")
        && fields.str(key).is_some_and(|input| !input.is_empty())
}

/// Handles a call's item, either at its start or as a whole.
pub(super) fn handle_item(
    run: &mut Run,
    at: usize,
    fields: &Object<'_>,
    how: Completeness,
    normalizer: &mut Normalizer,
) {
    let Some(item) = run.items.get_mut(at) else { return };
    let kind = item.kind;
    let Some(call) = &item.call else { return };
    if how == Completeness::Begun {
        if call.on_server && call.proposed.is_none() {
            // Image calls have no separate input and take long, so they are started at once.
            let begun = match kind {
                ItemKind::ImageGeneration => Some(json::empty_object()),
                ItemKind::WebSearch | ItemKind::FileSearch | ItemKind::ToolSearch => tool::args(kind, Some(fields), ""),
                _ => None,
            };
            if let Some(args) = begun.filter(|args| kind == ItemKind::ImageGeneration || args.get().len() > 2) {
                propose(run, at, args, normalizer);
                start(run, at, normalizer);
            }
        }
        return;
    }
    let input_done = call.input_done;
    if std::mem::replace(&mut item.finished, true) {
        return;
    }
    let status = fields.str("status");
    let cut = match status.as_deref() {
        Some("incomplete") => true,
        Some("completed" | "failed") => false,
        // If the status is missing, the completeness of the input decides.
        _ => how == Completeness::CutShort && !input_done,
    };
    if cut {
        cut_off(run, at, normalizer);
        return;
    }
    let streamed = item.call.as_ref().map_or("", |call| &call.input);
    let args = tool::args(kind, Some(fields), streamed).unwrap_or_else(|| empty(kind));
    propose(run, at, args, normalizer);
    if run.items.get(at).and_then(|item| item.call.as_ref()).is_some_and(|call| call.on_server) {
        start(run, at, normalizer);
        let outcome = output::of_call(kind, fields);
        if let Some(outcome) = outcome {
            end(run, at, outcome, normalizer);
        }
    }
}

/// Proposes the call.
fn propose(run: &mut Run, at: usize, args: RawJson, normalizer: &mut Normalizer) {
    let target = run.target();
    let Some(tool) = run.tool(at, normalizer) else { return };
    let Some(item) = run.items.get_mut(at) else { return };
    let kind = item.kind;
    let Some(call) = item.call.as_mut().filter(|call| call.proposed.is_none()) else { return };
    if call.name.is_empty()
        && let Some(name) = tool::hosted(kind)
    {
        call.name = name.into();
    }
    call.proposed = Some(args.clone());
    call.input = String::new();
    let proposal = ToolCall { tool, name: call.name.clone(), kind: tool::displayed_as(kind, &call.name), args };
    normalizer.tool_proposed(target, proposal);
}

/// Starts the call.
pub(super) fn start(run: &mut Run, at: usize, normalizer: &mut Normalizer) {
    let target = run.target();
    let Some(tool) = run.tool(at, normalizer) else { return };
    let Some(item) = run.items.get_mut(at) else { return };
    let kind = item.kind;
    let Some(call) = item.call.as_mut().filter(|call| !call.started) else { return };
    let Some(args) = call.proposed.clone() else { return };
    call.started = true;
    let started = ToolCall { tool, name: call.name.clone(), kind: tool::displayed_as(kind, &call.name), args };
    normalizer.tool_started(target, started, None);
}

/// Ends the call. Its duration counts from the first record about it.
pub(super) fn end(run: &mut Run, at: usize, outcome: Outcome, normalizer: &mut Normalizer) {
    let target = run.target();
    let Some(tool) = run.tool(at, normalizer) else { return };
    let Some(call) = run.items.get_mut(at).and_then(|item| item.call.as_mut()) else { return };
    if std::mem::replace(&mut call.ended, true) {
        return;
    }
    for (stream, chunk) in outcome.chunks {
        if !chunk.is_empty() {
            normalizer.tool_output(target, &tool, stream, chunk);
        }
    }
    match outcome.verdict {
        Ok(exit_code) => {
            let took = normalizer.time_ms().saturating_sub(call.since_ms);
            normalizer.tool_ended(target, &tool, exit_code, Some(took), None);
        }
        Err(error) => normalizer.tool_failed(target, &tool, error),
    }
}

/// Reports a delta of a running call's output.
pub(super) fn output_delta(run: &mut Run, at: usize, stream: OutputStream, chunk: String, normalizer: &mut Normalizer) {
    let target = run.target();
    start(run, at, normalizer);
    if let Some(tool) = run.tool(at, normalizer).filter(|_| !chunk.is_empty()) {
        normalizer.tool_output(target, &tool, stream, chunk);
    }
}

/// Settles a call when the response is over. A call with complete input is proposed even if its item never arrived. A call ends
/// as its stage event said. A call that still runs has failed.
pub(super) fn flush(run: &mut Run, at: usize, normalizer: &mut Normalizer) {
    let Some(item) = run.items.get(at) else { return };
    let Some(call) = &item.call else { return };
    let waiting = call.proposed.is_none() && call.input_done;
    let call_runs = call.started && !call.ended;
    let verdict = call.verdict.filter(|_| call.on_server || call.started);
    if waiting || (verdict.is_some() && call.proposed.is_none()) {
        let args = tool::args(item.kind, None, &call.input).unwrap_or_else(|| empty(item.kind));
        propose(run, at, args, normalizer);
    }
    if let Some(verdict) = verdict {
        start(run, at, normalizer);
        end(run, at, Outcome::silent(i32::from(!verdict)), normalizer);
    } else if call_runs {
        end(run, at, Outcome::failed("the run ended before the tool did"), normalizer);
    }
}

fn cut_off(run: &mut Run, at: usize, normalizer: &mut Normalizer) {
    let Some(call) = run.items.get(at).and_then(|item| item.call.as_ref()) else { return };
    if call.started {
        end(run, at, Outcome::failed("the call was cut off"), normalizer);
    } else if call.proposed.is_none() {
        let message = format!("a call of {} was cut off and is not proposed", shown(call));
        normalizer.push(run.target(), Body::LogEmitted { level: LogLevel::Warn, message });
    }
}

fn shown(call: &Call) -> &str {
    if call.name.is_empty() { "a tool" } else { &call.name }
}

/// The arguments of a call without input: an empty string for a custom tool, an empty object otherwise.
fn empty(kind: ItemKind) -> RawJson {
    if kind == ItemKind::Custom { json::to_raw("") } else { json::empty_object() }
}
