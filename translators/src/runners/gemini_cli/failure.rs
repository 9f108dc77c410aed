//! Errors: of the API, of the runner, and of a reply that it could not use, with stable codes.
//!
//! Input: `error` records, the `error` of results, and warnings. Output: a code, a message for people, and the HTTP status if the message
//! has one. Never: an error without a message; a status that the server did not send.

use super::super::failure::{Failure, code_of, status_of};
use super::super::stops::Stop;
use crate::frame::{Body, EndReason, ErrorScope};
use crate::json::{Json, Object};
use crate::normalizer::RunEnd;

/// The code of a run that the runner stopped because the model repeated itself.
const LOOP_DETECTED: &str = "loop_detected";

/// The code of a run that a hook stopped.
const STOPPED_BY_HOOK: &str = "stopped_by_hook";

/// The code of a reply that the runner could not use.
const INVALID_STREAM: &str = "invalid_stream";

/// The code of a run that reached its limit of turns.
const MAX_TURNS: &str = "max_turns";

/// The code of a run that someone stopped.
const INTERRUPTED: &str = "interrupted";

/// A reply that the runner could not use, with the reason.
pub(super) fn invalid(message: &str) -> Failure {
    let is_filtered = message.contains("blocked due to") || message.contains("recitation");
    let code = if is_filtered { Stop::Filter.code() } else { INVALID_STREAM };
    Failure::new(code, message, None)
}

/// The `error` of a result, or of a document.
pub(super) fn of_result(error: &Object<'_>) -> Failure {
    let message = error.str("message").unwrap_or_default();
    let kind = error.str("type").unwrap_or_default();
    match &*kind {
        "INVALID_STREAM" => invalid(&message),
        "FatalTurnLimitedError" => Failure::new(MAX_TURNS, &message, None),
        "FatalCancellationError" => Failure::new(INTERRUPTED, &message, None),
        _ => of_message(&kind, &message, status_of(error.u64("code"))),
    }
}

/// An error with this message. `kind` is its code unless the message is an error of the API; "" if there is none.
pub(super) fn of_message(kind: &str, message: &str, status: Option<u16>) -> Failure {
    let Some(inner) = message.trim_start().strip_prefix("[API Error: ") else {
        return Failure::new(kind, message, status);
    };
    let status = server_status(inner).or(status);
    Failure::new(code_of_api(status, inner), message, status)
}

/// The frame that reports the error of a run; `None` if someone stopped the run, which is no error.
pub(super) fn reported(failure: &Failure) -> Option<Body> {
    (&*failure.code != INTERRUPTED).then(|| failure.body(ErrorScope::Run))
}

/// A message that says why the runner stops the run; `None` for every other one.
pub(super) fn of_stop(message: &str) -> Option<Failure> {
    let code = if message.starts_with("Loop detected") {
        LOOP_DETECTED
    } else if message.starts_with("Agent execution blocked") || message.starts_with("Agent execution stopped") {
        STOPPED_BY_HOOK
    } else if message.starts_with("Maximum session turns exceeded") {
        MAX_TURNS
    } else {
        return None;
    };
    Some(Failure::new(code, message, None))
}

/// A hook stopped the run with the result of a call.
pub(super) fn of_hook(message: &str) -> Failure {
    Failure::new(STOPPED_BY_HOOK, message, None)
}

/// How a run ends with this error. A loop, and a stop by a hook, end a run that the runner reports as a success: the run is completed,
/// and the code says why its answer is incomplete.
pub(super) fn run_end(failure: Failure) -> RunEnd {
    if &*failure.code == INTERRUPTED {
        return RunEnd::interrupted(failure.code, failure.message);
    }
    let is_stop = matches!(&*failure.code, LOOP_DETECTED | STOPPED_BY_HOOK);
    let end = failure.run_end();
    if is_stop { RunEnd { reason: EndReason::Completed, ..end } } else { end }
}

/// The status in the server's JSON, which the message contains as text.
fn server_status(inner: &str) -> Option<u16> {
    let body = Object::parse(inner.get(inner.find('{')?..=inner.rfind('}')?)?)?;
    let code = body.get("error").and_then(Json::object)?.u64("code")?;
    status_of(Some(code))
}

fn code_of_api(status: Option<u16>, inner: &str) -> &'static str {
    // The runner keeps only the sentence of an exhausted quota.
    let is_exhausted = inner.contains("Resource has been exhausted") || inner.contains("exhausted your");
    status.and_then(code_of).unwrap_or(if is_exhausted { "rate_limit" } else { "api_error" })
}
