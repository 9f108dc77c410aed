//! How a response ends: its last snapshot, its usage, its verdict.
//!
//! In: the terminal event's response object, or the lack of one. Out: what is still unsaid, one usage figure, the turn's
//! and the run's end. Never: usage counted twice (what follows the first terminal event is no part of the run).

use super::call::{self, Told};
use super::error::Fault;
use super::run::Run;
use super::{item::ItemKind, text};
use crate::frame::{Body, EndReason, ErrorScope, Name, Usage, UsageScope};
use crate::json::{Json, Object};
use crate::ledger::{Ledger, RunEnd};

/// The response's own word for how it stands, where it is one that ends it.
pub(super) fn status<'w>(kind: Option<&'w str>, response: Option<&Object<'_>>) -> &'w str {
    let said = response.and_then(|response| response.str("status"));
    // A proxy may end a response that was cut off as `response.completed`: the object knows better.
    match said.as_deref() {
        Some("completed") => "completed",
        Some("failed") => "failed",
        Some("incomplete") => "incomplete",
        Some("cancelled" | "canceled") => "cancelled",
        _ => kind.and_then(|kind| kind.strip_prefix("response.")).unwrap_or("completed"),
    }
}

/// A terminal event came: says what is unsaid and ends the run.
pub(super) fn terminal(mut run: Run, status: &str, response: Option<&Object<'_>>, ledger: &mut Ledger) {
    let told = if status == "completed" { Told::AtEnd } else { Told::CutShort };
    if let Some(response) = response {
        snapshot(&mut run, response.get("output"), told, ledger);
    }
    let finished = status == "completed" || status == "incomplete";
    close(&mut run, !finished, ledger);
    if let Some(usage) = response.and_then(|response| usage(&run, response)) {
        ledger.push(run.place(), Body::UsageReported(Box::new(usage)));
    }
    let (end, stop_reason) = verdict(&run, status, response, ledger);
    ledger.turn_ended(run.stream, Some(stop_reason));
    let final_text = run.final_text.take().map(|(_, text)| text).filter(|_| finished);
    ledger.end_run(run.stream, RunEnd { final_text, ..end });
}

/// The upstream broke off after an error.
pub(super) fn broken(mut run: Run, fault: Fault, ledger: &mut Ledger) {
    close(&mut run, true, ledger);
    ledger.turn_ended(run.stream, Some(Name::from("failed")));
    ledger.end_run(run.stream, RunEnd::failed(fault.code, fault.message));
}

/// Says what waits for an item that never came, and closes what is open, so that it is closed before the turn is.
pub(super) fn close(run: &mut Run, cut: bool, ledger: &mut Ledger) {
    for at in 0..run.items.len() {
        call::flush(run, at, ledger);
        let speaks = |kind| matches!(kind, ItemKind::Message | ItemKind::Reasoning);
        if run.items.get(at).is_some_and(|item| !item.finished && speaks(item.kind)) {
            text::close(run, at, cut, ledger);
        }
    }
}

/// The whole output, told again: each item says what of it is unsaid.
fn snapshot(run: &mut Run, output: Option<Json<'_>>, told: Told, ledger: &mut Ledger) {
    let (objects, fields): (Vec<_>, Vec<_>) =
        output.into_iter().flat_map(Json::objects).map(|(_, object, fields)| (object, fields)).unzip();
    let places = run.items.of_output(&fields, ledger.time_ms());
    for ((object, fields), at) in objects.into_iter().zip(&fields).zip(places) {
        super::dispatch::whole_item(run, at, object, fields, told, ledger);
    }
}

fn verdict(run: &Run, status: &str, response: Option<&Object<'_>>, ledger: &mut Ledger) -> (RunEnd, Name) {
    match status {
        "failed" => {
            let told = response.and_then(|response| response.some("error")).map(Fault::of);
            // The same error has often been told in an event before.
            if let Some(fault) = told.as_ref().filter(|&fault| run.error.as_ref() != Some(fault)) {
                ledger.push(run.place(), fault.frame(ErrorScope::Run));
            }
            let fault = told.or_else(|| run.error.clone());
            let (code, message) = fault.map_or_else(
                || (Name::from("failed"), "the response failed".to_owned()),
                |fault| (fault.code, fault.message),
            );
            (RunEnd::failed(code, message), Name::from("failed"))
        }
        "incomplete" => {
            let details = response.and_then(|response| response.object("incomplete_details"));
            let reason = details.and_then(|details| details.str("reason")).filter(|reason| !reason.is_empty());
            let code = Name::from(reason.as_deref().unwrap_or("incomplete"));
            let message = match reason {
                Some(reason) => format!("the response is incomplete: {reason}"),
                None => "the response is incomplete".to_owned(),
            };
            (RunEnd { reason: EndReason::Interrupted, ..RunEnd::failed(code.clone(), message) }, code)
        }
        "cancelled" => (RunEnd::interrupted("cancelled", "the response was cancelled"), Name::from("cancelled")),
        _ => (RunEnd::completed(), Name::from("completed")),
    }
}

/// The response's usage. Its input counts what was read from the cache and written to it; a frame's does not. One gateway
/// writes the names of the older chat interface.
fn usage(run: &Run, response: &Object<'_>) -> Option<Usage> {
    let usage = response.object("usage")?;
    let either = |name: &str, chat: &str| usage.u64(name).or_else(|| usage.u64(chat));
    let input = either("input_tokens", "prompt_tokens");
    let output = either("output_tokens", "completion_tokens");
    if input.is_none() && output.is_none() {
        return None;
    }
    let details = |name: &str, chat: &str| usage.object(name).or_else(|| usage.object(chat));
    let read = details("input_tokens_details", "prompt_tokens_details");
    let written = details("output_tokens_details", "completion_tokens_details");
    let cache_read_tokens = read.as_ref().and_then(|read| read.u64("cached_tokens"));
    let cache_creation_tokens = read.as_ref().and_then(|read| read.u64("cache_write_tokens"));
    let cached = cache_read_tokens.unwrap_or_default().saturating_add(cache_creation_tokens.unwrap_or_default());
    let model = response.str("model").filter(|model| !model.is_empty());
    Some(Usage {
        scope: UsageScope::Run,
        model: model.map(|model| Name::from(&*model)).or_else(|| run.model.clone()),
        input_tokens: input.unwrap_or_default().saturating_sub(cached),
        output_tokens: output.unwrap_or_default(),
        cache_read_tokens,
        cache_creation_tokens,
        reasoning_tokens: written.and_then(|written| written.u64("reasoning_tokens")),
        cost_usd: usage.f64("cost"),
    })
}
