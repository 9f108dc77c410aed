//! The end of a response: its last snapshot, its usage, its verdict.
//!
//! Input: the response object of the terminal event, if any. Output: whatever is still unreported, one usage report, the end of
//! the turn and of the run. Never: usage counted twice (nothing after the first terminal event is part of the run).

use super::super::stops::Stop;
use super::call::{self, Completeness};
use super::error::ResponseError;
use super::run::Run;
use super::{item::ItemKind, text};
use crate::frame::{ErrorScope, SharedStr, Usage, UsageScope};
use crate::json::{Json, Object};
use crate::normalizer::{Covers, Normalizer, RunEnd};

/// The response's final status.
pub(super) fn status<'w>(kind: Option<&'w str>, response: Option<&Object<'_>>) -> &'w str {
    let status_word = response.and_then(|response| response.str("status"));
    // A proxy may end a truncated response with `response.completed`. The response object is more reliable.
    match status_word.as_deref() {
        Some("completed") => "completed",
        Some("failed") => "failed",
        Some("incomplete") => "incomplete",
        Some("cancelled" | "canceled") => "cancelled",
        _ => kind.and_then(|kind| kind.strip_prefix("response.")).unwrap_or("completed"),
    }
}

/// Handles a terminal event: reports what is unreported and ends the run.
pub(super) fn terminal(mut run: Run, status: &str, response: Option<&Object<'_>>, normalizer: &mut Normalizer) {
    let completeness = if status == "completed" { Completeness::AtEnd } else { Completeness::CutShort };
    if let Some(response) = response {
        snapshot(&mut run, response.get("output"), completeness, normalizer);
    }
    let finished = status == "completed" || status == "incomplete";
    close(&mut run, !finished, normalizer);
    if let Some(usage) = response.and_then(|response| usage(&run, response)) {
        normalizer.run_used(run.stream, usage, Covers::MainThread);
    }
    let (end, stop_reason) = verdict(&run, status, response, normalizer);
    normalizer.turn_ended(run.stream, Some(stop_reason));
    let final_text = run.final_text.take().map(|(_, text)| text).filter(|_| finished);
    normalizer.end_run(run.stream, RunEnd { final_text, ..end });
}

/// Ends the run when the upstream breaks off after an error.
pub(super) fn broken(mut run: Run, error: ResponseError, normalizer: &mut Normalizer) {
    close(&mut run, true, normalizer);
    normalizer.turn_ended(run.stream, Some(SharedStr::from("failed")));
    normalizer.end_run(run.stream, RunEnd::failed(error.code, error.message));
}

/// Reports calls whose item never arrived, and closes open blocks, so that they end before the turn.
pub(super) fn close(run: &mut Run, cut: bool, normalizer: &mut Normalizer) {
    for at in 0..run.items.len() {
        call::flush(run, at, normalizer);
        let speaks = |kind| matches!(kind, ItemKind::Message | ItemKind::Reasoning);
        if run.items.get(at).is_some_and(|item| !item.finished && speaks(item.kind)) {
            text::close(run, at, cut, normalizer);
        }
    }
}

/// Handles the final output: each item reports what is still unreported of it.
fn snapshot(run: &mut Run, output: Option<Json<'_>>, completeness: Completeness, normalizer: &mut Normalizer) {
    let (objects, fields): (Vec<_>, Vec<_>) =
        output.into_iter().flat_map(Json::objects).map(|(_, object, fields)| (object, fields)).unzip();
    let places = run.items.of_output(&fields, normalizer.time_ms());
    for ((object, fields), at) in objects.into_iter().zip(&fields).zip(places) {
        super::dispatch::whole_item(run, at, object, fields, completeness, normalizer);
    }
}

fn verdict(run: &Run, status: &str, response: Option<&Object<'_>>, normalizer: &mut Normalizer) -> (RunEnd, SharedStr) {
    match status {
        "failed" => {
            let reported = response.and_then(|response| response.some("error")).map(ResponseError::of);
            // An earlier event often contains the same error.
            if let Some(error) = reported.as_ref().filter(|&error| run.error.as_ref() != Some(error)) {
                normalizer.push(run.target(), error.frame(ErrorScope::Run));
            }
            let error = reported.or_else(|| run.error.clone());
            let (code, message) = error.map_or_else(
                || (SharedStr::from("failed"), "the response failed".to_owned()),
                |error| (error.code, error.message),
            );
            (RunEnd::failed(code, message), SharedStr::from("failed"))
        }
        "incomplete" => {
            let details = response.and_then(|response| response.object("incomplete_details"));
            let reason = details.and_then(|details| details.str("reason")).filter(|reason| !reason.is_empty());
            incomplete(reason.as_deref())
        }
        "cancelled" => (RunEnd::interrupted("cancelled", "the response was cancelled"), SharedStr::from("cancelled")),
        _ => (RunEnd::completed(), SharedStr::from("completed")),
    }
}

/// How an incomplete response ends: by the common rule if its reason is known. A response calls itself incomplete if a limit
/// ended it, so without a known reason it counts as completed with the output so far.
fn incomplete(reason: Option<&str>) -> (RunEnd, SharedStr) {
    let Some(reason) = reason else {
        let end = RunEnd { message: Some("the response is incomplete".to_owned()), ..RunEnd::completed() };
        return (RunEnd { error_code: Some(SharedStr::from("incomplete")), ..end }, SharedStr::from("incomplete"));
    };
    let message = format!("the response is incomplete: {reason}");
    let is_stopped = ["cancel", "abort", "interrupt"].iter().any(|word| reason.contains(word));
    let end = match Stop::of(reason) {
        Some(stop) => stop.end(reason, Some(&message)),
        None if is_stopped => RunEnd::interrupted(reason, message),
        None => RunEnd { error_code: Some(SharedStr::from(reason)), message: Some(message), ..RunEnd::completed() },
    };
    let stop_reason = end.error_code.clone().unwrap_or_else(|| SharedStr::from(reason));
    (end, stop_reason)
}

/// The response's usage. Its input tokens include cache reads and writes; those of a frame do not. One gateway uses the field
/// names of the older chat interface.
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
        model: model.map(|model| SharedStr::from(&*model)).or_else(|| run.model.clone()),
        input_tokens: input.unwrap_or_default().saturating_sub(cached),
        output_tokens: output.unwrap_or_default(),
        cache_read_tokens,
        cache_creation_tokens,
        cache_creation_1h_tokens: None,
        reasoning_tokens: written.and_then(|written| written.u64("reasoning_tokens")),
        cost_usd: usage.f64("cost"),
        main_thread: None,
        running: None,
        by_model: Vec::new(),
    })
}
