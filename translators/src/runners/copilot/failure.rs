//! Errors of the run and of its model calls, with stable codes.
//!
//! Input: `session.error` and `model.call_failure`. Output: a code, a message for people, and the HTTP status. Never: an error without a
//! message.

use super::super::stops::Stop;
use super::decoder::{Copilot, Event};
use crate::frame::{Body, ErrorReported, ErrorScope, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, Target};

/// An error of a run, or of one model call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: SharedStr,
    message: String,
    http_status: Option<u16>,
}

impl Failure {
    fn read(data: &Object<'_>, word: &str, message: &str) -> Self {
        let status = data.u64("statusCode").and_then(|status| u16::try_from(status).ok());
        let word = data.str(word).unwrap_or_default();
        let message = data.str(message).unwrap_or_default();
        // The message of a broken connection is in quotes, as JSON.
        let quoted = Json::parse(&message).ok().and_then(|message| message.str());
        let message = quoted.as_deref().unwrap_or(&message);
        Self::new(code_of(status, &word), message, status)
    }

    fn new(code: &str, message: &str, http_status: Option<u16>) -> Self {
        let message = if message.trim().is_empty() { "an error without a message" } else { message };
        Self { code: SharedStr::from(code), message: message.to_owned(), http_status }
    }

    /// The error of a process that reports nothing but its exit code.
    pub(super) fn of_exit(code: i64) -> Self {
        Self::new("exit_code", &format!("the runner ended with exit code {code}"), None)
    }

    /// The error of a process that crashed; `None` if it ended normally.
    pub(super) fn of_crash(shutdown: &Object<'_>) -> Option<Self> {
        let is_crash = shutdown.str("shutdownType").as_deref() == Some("error");
        is_crash.then(|| Self::new("crash", &shutdown.str("errorReason").unwrap_or_default(), None))
    }

    fn reported(&self, scope: ErrorScope, attempt: Option<u32>) -> Body {
        Body::ErrorReported(Box::new(ErrorReported {
            scope,
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: matches!(&*self.code, "rate_limit" | "overloaded" | "server_error" | "connection"),
            attempt,
            max_attempts: None,
            http_status: self.http_status,
        }))
    }

    /// How a run ends with this error.
    pub(super) fn run_end(self) -> RunEnd {
        match Stop::of(&self.code) {
            Some(stop) => stop.end(&self.code, Some(&self.message)),
            None => RunEnd::failed(self.code, self.message),
        }
    }
}

impl Copilot {
    /// Handles a failed model call. What it said before was abandoned; the runner may try again.
    pub(super) fn call_failed(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.abandon(target, normalizer);
        let failure = Failure::read(&event.data, "failureKind", "errorMessage");
        let attempt = event.data.u64("retryAttempt").and_then(|attempt| u32::try_from(attempt).ok()?.checked_add(1));
        normalizer.push(target, failure.reported(ErrorScope::Provider, attempt));
    }

    /// Handles an error of the run.
    pub(super) fn session_error(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let failure = Failure::read(&event.data, "errorType", "message");
        if event.agent.is_some() {
            // The caller of the subagent goes on.
            let Some(target) = self.speaker(event, normalizer) else { return };
            return normalizer.push(target, failure.reported(ErrorScope::Turn, None));
        }
        let run = self.ensure(normalizer);
        let target = Target::main(run.key);
        run.course.failure = Some(failure.clone());
        normalizer.push(target, failure.reported(ErrorScope::Run, None));
    }
}

/// The stable code: by the runner's word if it names a cause, or else by the HTTP status.
fn code_of(status: Option<u16>, word: &str) -> &str {
    match (word, status) {
        ("authentication" | "authorization", _) => "authentication_failed",
        ("" | "api" | "query" | "transport", Some(status)) => match status {
            401 | 403 => "authentication_failed",
            429 => "rate_limit",
            503 | 529 => "overloaded",
            500.. => "server_error",
            400.. => "invalid_request",
            _ => "api_error",
        },
        ("transport", None) => "connection",
        ("" | "api" | "query", None) => "api_error",
        (cause, _) => cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_by_cause_then_by_status() {
        assert_eq!(code_of(Some(429), "query"), "rate_limit");
        assert_eq!(code_of(Some(400), "query"), "invalid_request");
        assert_eq!(code_of(None, "authentication"), "authentication_failed");
        assert_eq!(code_of(None, "transport"), "connection");
        assert_eq!(code_of(Some(400), "context_limit"), "context_limit");
        assert_eq!(code_of(Some(402), "quota"), "quota");
        assert_eq!(code_of(Some(401), "api"), "authentication_failed");
        assert_eq!(code_of(None, ""), "api_error");
    }

    #[test]
    fn an_error_always_has_a_message() {
        let read = |data: &str| Failure::read(&Object::parse(data).unwrap(), "errorType", "message").message;
        assert!(!read("{}").is_empty());
        assert_eq!(read(r#"{"message":"\"reset\""}"#), "reset");
        assert_eq!(read(r#"{"message":"\"reset\" by peer"}"#), "\"reset\" by peer");
    }
}
