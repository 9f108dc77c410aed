//! Errors of the run and of its model calls.
//!
//! Input: `session.error` and `model.call_failure`. Output: the error. Never: an error without a message.

use super::super::failure::{Attempt, Failure, code_of, status_of};
use super::decoder::{Copilot, Event};
use crate::frame::{Body, ErrorScope};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, Target};

fn read(data: &Object<'_>, word: &str, message: &str) -> Failure {
    let status = status_of(data.u64("statusCode"));
    let word = data.str(word).unwrap_or_default();
    let message = data.str(message).unwrap_or_default();
    // The message of a broken connection is in quotes, as JSON.
    let quoted = Json::parse(&message).ok().and_then(|message| message.str());
    Failure::new(cause(status, &word), quoted.as_deref().unwrap_or(&message), status)
}

/// The error of a process that reports nothing but its exit code.
pub(super) fn of_exit(code: i64) -> Failure {
    Failure::new("exit_code", &format!("the runner ended with exit code {code}"), None)
}

/// The error of a process that crashed; `None` if it ended normally.
pub(super) fn of_crash(shutdown: &Object<'_>) -> Option<Failure> {
    let is_crash = shutdown.str("shutdownType").as_deref() == Some("error");
    is_crash.then(|| Failure::new("crash", &shutdown.str("errorReason").unwrap_or_default(), None))
}

impl Copilot {
    /// Handles a failed model call. What it said before was abandoned; the runner may try again.
    pub(super) fn call_failed(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.abandon(target, normalizer);
        let failure = read(&event.data, "failureKind", "errorMessage");
        let attempt = event.data.u64("retryAttempt").and_then(|attempt| u32::try_from(attempt).ok()?.checked_add(1));
        let error = failure.reported(ErrorScope::Provider, Attempt { number: attempt, most: None });
        normalizer.push(target, Body::ErrorReported(Box::new(error)));
    }

    /// Handles an error of the run.
    pub(super) fn session_error(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let failure = read(&event.data, "errorType", "message");
        if event.agent.is_some() {
            // The caller of the subagent goes on.
            let Some(target) = self.speaker(event, normalizer) else { return };
            return normalizer.push(target, failure.body(ErrorScope::Turn));
        }
        let run = self.ensure(normalizer);
        let target = Target::main(run.key);
        run.course.failure = Some(failure.clone());
        normalizer.push(target, failure.body(ErrorScope::Run));
    }
}

/// The stable code: by the runner's word if it names a cause, or else by the HTTP status.
fn cause(status: Option<u16>, word: &str) -> &str {
    match (word, status.and_then(code_of)) {
        ("authentication" | "authorization", _) => "authentication_failed",
        ("" | "api" | "query" | "transport", Some(code)) => code,
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
        assert_eq!(cause(Some(429), "query"), "rate_limit");
        assert_eq!(cause(Some(400), "query"), "invalid_request");
        assert_eq!(cause(None, "authentication"), "authentication_failed");
        assert_eq!(cause(None, "transport"), "connection");
        assert_eq!(cause(Some(400), "context_limit"), "context_limit");
        assert_eq!(cause(Some(402), "quota"), "quota");
        assert_eq!(cause(Some(401), "api"), "authentication_failed");
        assert_eq!(cause(None, ""), "api_error");
    }

    #[test]
    fn an_error_always_has_a_message() {
        let read = |data: &str| read(&Object::parse(data).unwrap(), "errorType", "message").message;
        assert!(!read("{}").is_empty());
        assert_eq!(read(r#"{"message":"\"reset\""}"#), "reset");
        assert_eq!(read(r#"{"message":"\"reset\" by peer"}"#), "\"reset\" by peer");
    }
}
