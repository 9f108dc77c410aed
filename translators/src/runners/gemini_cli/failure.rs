//! Errors: of the API, of the runner, and of a reply that it could not use, with stable codes.
//!
//! Input: `error` records, the `error` of results, and warnings. Output: a code, a message for people, and the HTTP status if the message
//! has one. Never: an error without a message; a status that the server did not send.

use super::super::stops::Stop;
use crate::frame::{Body, EndReason, ErrorReported, ErrorScope, SharedStr};
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

/// Something that went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: SharedStr,
    message: String,
    http_status: Option<u16>,
}

/// A reply that the runner could not use, with the reason.
pub(super) fn invalid(message: &str) -> Failure {
    let is_filtered = message.contains("blocked due to") || message.contains("recitation");
    let code = if is_filtered { Stop::Filter.code() } else { INVALID_STREAM };
    Failure::new(code, message, None)
}

impl Failure {
    /// The `error` of a result, or of a document.
    pub(super) fn of_result(error: &Object<'_>) -> Self {
        let message = error.str("message").unwrap_or_default();
        let kind = error.str("type").unwrap_or_default();
        match &*kind {
            "INVALID_STREAM" => return invalid(&message),
            "FatalTurnLimitedError" => return Self::new(MAX_TURNS, &message, None),
            _ => {}
        }
        let status =
            error.u64("code").and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
        let Some(inner) = message.trim_start().strip_prefix("[API Error: ") else {
            let code = if kind.is_empty() { "error" } else { &*kind };
            return Self::new(code, &message, status);
        };
        let status = server_status(inner).or(status);
        Self::new(code_of(status, inner), &message, status)
    }

    /// A message that says why the runner stops the run; `None` for every other one.
    pub(super) fn of_stop(message: &str) -> Option<Self> {
        if message.starts_with("Loop detected") {
            Some(Self::new(LOOP_DETECTED, message, None))
        } else if message.starts_with("Agent execution blocked") || message.starts_with("Agent execution stopped") {
            Some(Self::new(STOPPED_BY_HOOK, message, None))
        } else if message.starts_with("Maximum session turns exceeded") {
            Some(Self::new(MAX_TURNS, message, None))
        } else {
            None
        }
    }

    /// A hook stopped the run with the result of a call.
    pub(super) fn of_hook(message: &str) -> Self {
        Self::new(STOPPED_BY_HOOK, message, None)
    }

    fn new(code: &str, message: &str, http_status: Option<u16>) -> Self {
        let message = if message.trim().is_empty() { "an error without a message" } else { message };
        Self { code: SharedStr::from(code), message: message.to_owned(), http_status }
    }

    /// The frame that reports the error.
    pub(super) fn reported(&self, scope: ErrorScope) -> Body {
        Body::ErrorReported(Box::new(ErrorReported {
            scope,
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: matches!(&*self.code, "rate_limit" | "overloaded" | "server_error" | INVALID_STREAM),
            attempt: None,
            max_attempts: None,
            http_status: self.http_status,
        }))
    }

    /// How a run ends with this error. A loop, and a stop by a hook, end a run that the runner reports as a success: the run is completed,
    /// and the code says why its answer is incomplete.
    pub(super) fn run_end(self) -> RunEnd {
        if &*self.code == Stop::Filter.code() {
            return Stop::Filter.end(&self.code, Some(&self.message));
        }
        let is_stop = matches!(&*self.code, LOOP_DETECTED | STOPPED_BY_HOOK);
        let reason = if is_stop { EndReason::Completed } else { EndReason::Failed };
        RunEnd { reason, ..RunEnd::failed(self.code, self.message) }
    }
}

/// The status in the server's JSON, which the message contains as text.
fn server_status(inner: &str) -> Option<u16> {
    let body = Object::parse(inner.get(inner.find('{')?..=inner.rfind('}')?)?)?;
    let code = body.get("error").and_then(Json::object)?.u64("code")?;
    u16::try_from(code).ok().filter(|code| (400..600).contains(code))
}

fn code_of(status: Option<u16>, inner: &str) -> &'static str {
    match status {
        Some(401 | 403) => "authentication_failed",
        Some(429) => "rate_limit",
        Some(503 | 529) => "overloaded",
        Some(500..) => "server_error",
        Some(400..) => "invalid_request",
        // The runner keeps only the sentence of an exhausted quota.
        _ if inner.contains("Resource has been exhausted") || inner.contains("exhausted your") => "rate_limit",
        _ => "api_error",
    }
}
