//! Errors: their codes, and which of them are retry notices.
//!
//! Input: a message, and the runner's own error class if the surface has one. Output: a stable code, and whether a retry may
//! help. Never: a retry notice taken for the end of a run.

use super::super::stops::Stop;
use crate::frame::{ErrorReported, ErrorScope, SharedStr};
use crate::json::{Json, Kind, Object};
use crate::normalizer::RunEnd;
use std::borrow::Cow;

/// An error, as reported by any surface.
#[derive(Debug)]
pub(super) struct Failure<'a> {
    pub(super) message: Cow<'a, str>,
    code: SharedStr,
    http_status: Option<u16>,
}

impl<'a> Failure<'a> {
    /// An error that consists only of a text.
    pub(super) fn text(message: Cow<'a, str>) -> Self {
        let http_status = http_status(&message);
        Self { code: classify(&message, http_status), message, http_status }
    }

    /// The error in an event: the field `error` (an object or a string), or the event's own fields.
    pub(super) fn of_event(event: &Object<'a>) -> Self {
        match (event.object("error"), event.str("error")) {
            (Some(error), _) => Self::read(&error),
            (None, Some(error)) if event.str("message").is_none_or(|message| message.is_empty()) => Self::text(error),
            _ => Self::read(event),
        }
    }

    /// An error with the runner's own class, which is a word or an object with the word as its only key.
    pub(super) fn read(fields: &Object<'a>) -> Self {
        let message = fields.str("message").unwrap_or_default();
        let details = fields.str("additionalDetails").or_else(|| fields.str("additional_details"));
        let message = match details {
            Some(details) if !details.is_empty() => Cow::Owned(format!("{message} ({details})")),
            _ => message,
        };
        let mut failure = Self::text(message);
        let Some(info) = fields.some("codexErrorInfo").or_else(|| fields.some("codex_error_info")) else {
            // Some versions use the API's name for the class.
            let own = fields.some("code").and_then(Json::str).filter(|code| !code.is_empty());
            if let Some(code) = own {
                failure.code = code_of(&super::snake(&code), failure.http_status);
            }
            if failure.message.is_empty() {
                failure.message = Cow::Owned(failure.code.to_string());
            }
            return failure;
        };
        let (word, status) = error_info(info);
        failure.http_status = status.or(failure.http_status);
        match word.as_deref() {
            None | Some("" | "other") => failure.code = classify(&failure.message, failure.http_status),
            Some(word) => failure.code = code_of(word, failure.http_status),
        }
        failure
    }

    /// How a run ends with this error.
    pub(super) fn run_end(&self) -> RunEnd {
        match Stop::of(&self.code) {
            Some(stop) => stop.end(&self.code, Some(&self.message)),
            None => RunEnd::failed(self.code.clone(), self.message.clone().into_owned()),
        }
    }

    /// Whether a limit truncated the answer, which does not count as a failure of the turn.
    pub(super) fn is_limit(&self) -> bool {
        matches!(Stop::of(&self.code), Some(Stop::Length | Stop::Context))
    }

    /// The stop reason of a turn that ends with this error.
    pub(super) fn stop_reason(&self) -> &'static str {
        Stop::of(&self.code).map_or("failed", Stop::code)
    }

    /// The frame for an error that ends the turn.
    pub(super) fn fatal(&self) -> ErrorReported {
        ErrorReported {
            scope: ErrorScope::Run,
            code: self.code.clone(),
            message: self.message.clone().into_owned(),
            retryable: matches!(&*self.code, "rate_limit" | "overloaded"),
            attempt: None,
            max_attempts: None,
            http_status: self.http_status,
        }
    }

    /// The frame for an error that the runner retries.
    pub(super) fn retry(&self) -> ErrorReported {
        let (attempt, max_attempts) = attempts(&self.message).unzip();
        ErrorReported { scope: ErrorScope::Provider, retryable: true, attempt, max_attempts, ..self.fatal() }
    }
}

/// Parses `Reconnecting... 2/3 (why)`. This is the only mark of a retry notice on surfaces without a field for it.
pub(super) fn attempts(message: &str) -> Option<(u32, u32)> {
    let rest = message.strip_prefix("Reconnecting")?.trim_start_matches(['.', '…', ' ']);
    let rest = rest.split([' ', '(']).next()?;
    let (attempt, max) = rest.split_once('/')?;
    Some((attempt.parse().ok()?, max.parse().ok()?))
}

fn error_info(info: Json<'_>) -> (Option<String>, Option<u16>) {
    match info.kind() {
        Kind::String => (info.str().map(|word| super::snake(&word)), None),
        Kind::Object => {
            let fields = info.object().unwrap_or_default();
            let Some((word, value)) = fields.iter().next() else { return (None, None) };
            let value = value.object().unwrap_or_default();
            let status = value.u64("httpStatusCode").or_else(|| value.u64("http_status_code"));
            (Some(super::snake(word)), status.and_then(|status| u16::try_from(status).ok()))
        }
        _ => (None, None),
    }
}

fn code_of(word: &str, http_status: Option<u16>) -> SharedStr {
    SharedStr::from(match word {
        "rate_limit_exceeded" => "rate_limit",
        "usage_limit_exceeded" => "usage_limit",
        "server_overloaded" => "overloaded",
        "unauthorized" => "authentication_failed",
        "bad_request" => "invalid_request",
        "internal_server_error" => "server_error",
        "http_connection_failed" | "response_stream_connection_failed" => by_status(http_status, "connection_failed"),
        "response_stream_disconnected" => by_status(http_status, "stream_disconnected"),
        "response_too_many_failed_attempts" => by_status(http_status, "too_many_failed_attempts"),
        word => word,
    })
}

fn by_status(http_status: Option<u16>, otherwise: &'static str) -> &'static str {
    match http_status {
        Some(400) => "invalid_request",
        Some(401 | 403) => "authentication_failed",
        Some(404) => "not_found",
        Some(429) => "rate_limit",
        Some(529) => "overloaded",
        Some(500..) => "server_error",
        _ => otherwise,
    }
}

/// Derives a code from the text alone. The raw body of a rejected request is JSON and contains its own type.
fn classify(message: &str, http_status: Option<u16>) -> SharedStr {
    let body = message.strip_suffix(')').and_then(|_| message.find(" (").and_then(|at| message.get(at + 2..)));
    let text = body.unwrap_or(message);
    if text.trim_start().starts_with('{')
        && let Some(error) = Object::parse(text.trim()).and_then(|fields| fields.object("error"))
        && let Some(kind) = error.str("type").or_else(|| error.str("code")).filter(|kind| !kind.is_empty())
    {
        return SharedStr::from(kind);
    }
    if let Some(reason) = text.strip_prefix("Incomplete response returned, reason: ") {
        return SharedStr::from(reason.trim());
    }
    let has = |part: &str| text.contains(part);
    SharedStr::from(match by_status(http_status, "") {
        "" if has("rate limit") || has("Rate limit") => "rate_limit",
        "" if has("usage limit") => "usage_limit",
        "" if has("high demand") || has("overloaded") => "overloaded",
        "" if has("context window") => "context_window_exceeded",
        "" if has("stream disconnected") || has("stream closed") => "stream_disconnected",
        "" => "execution_error",
        code => code,
    })
}

fn http_status(message: &str) -> Option<u16> {
    let rest = ["last status: ", "unexpected status "].iter().find_map(|mark| message.split_once(mark))?.1;
    rest.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_notice_is_recognised_by_its_text() {
        assert_eq!(attempts("Reconnecting... 2/3 (stream disconnected)"), Some((2, 3)));
        assert_eq!(attempts("Reconnecting... 1/5"), Some((1, 5)));
        assert_eq!(attempts("Reconnecting... soon"), None);
        assert_eq!(attempts("exceeded retry limit"), None);
    }

    #[test]
    fn error_texts_have_codes() {
        for (text, code, status) in [
            ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limit", Some(429)),
            (r#"{"error": {"message": "x", "type": "invalid_request_error"}}"#, "invalid_request_error", None),
            ("Incomplete response returned, reason: max_output_tokens", "max_output_tokens", None),
            ("You have hit your usage limit.", "usage_limit", None),
            ("Scripted refusal by policy.", "execution_error", None),
        ] {
            let failure = Failure::text(Cow::Borrowed(text));
            assert_eq!((&*failure.code, failure.http_status), (code, status), "{text}");
        }
    }

    #[test]
    fn an_error_is_read_in_every_form() {
        for (event, message, code) in [
            (
                r#"{"type":"error","error":{"code":"rate_limit_exceeded","message":"slow down"}}"#,
                "slow down",
                "rate_limit",
            ),
            (r#"{"type":"error","message":"flat","code":"bad_request"}"#, "flat", "invalid_request"),
            (r#"{"type":"error","error":"only text"}"#, "only text", "execution_error"),
            (r#"{"type":"error","message":"","error":"text"}"#, "text", "execution_error"),
            (r#"{"type":"turn.failed","error":{"code":"server_overloaded"}}"#, "overloaded", "overloaded"),
            (r#"{"type":"turn.failed"}"#, "execution_error", "execution_error"),
        ] {
            let failure = Failure::of_event(&Object::parse(event).unwrap());
            assert_eq!((&*failure.message, &*failure.code), (message, code), "{event}");
        }
    }

    #[test]
    fn the_runners_error_class_takes_precedence_over_the_text() {
        let fields = Object::parse(
            r#"{"message":"Reconnecting... 1/3","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":401}},"additionalDetails":"why"}"#,
        )
        .unwrap();
        let notice = Failure::read(&fields).retry();
        assert_eq!((&*notice.code, notice.http_status), ("authentication_failed", Some(401)));
        assert_eq!((notice.attempt, notice.max_attempts, notice.retryable), (Some(1), Some(3), true));
        assert_eq!(notice.message, "Reconnecting... 1/3 (why)");
    }
}
