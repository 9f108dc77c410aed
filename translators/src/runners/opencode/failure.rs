//! Failures, with stable codes.
//!
//! Input: an error object `{name, data}` from any place (`session.error`, a message, a line of a run). Output: a code, a
//! message for people, and the consequence for the run. Never: a failure without a message.

use super::super::failure::code_of_type;
use super::super::stops::Stop;
use super::answer::Answer;
use crate::frame::{Body, ErrorReported, ErrorScope, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::RunEnd;

/// An error of a session or of one of its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    code: SharedStr,
    /// The runner's own name for the error.
    name: SharedStr,
    pub(super) message: String,
    retryable: bool,
    http_status: Option<u16>,
    /// Whether the work was stopped on request.
    pub(super) aborted: bool,
    /// Whether the context is full. The runner compacts it and continues.
    pub(super) overflow: bool,
}

impl Failure {
    /// A failure because the work was stopped on request.
    pub(super) fn stopped(code: &str, message: &str) -> Self {
        Self {
            code: SharedStr::from(code),
            name: SharedStr::from(code),
            message: message.to_owned(),
            retryable: false,
            http_status: None,
            aborted: true,
            overflow: false,
        }
    }

    /// Reads an error object; `None` means that it is missing.
    pub(super) fn read(error: Option<Json<'_>>) -> Self {
        let mut failure = Self::of_fields(&error.and_then(Json::object).unwrap_or_default());
        if let Some(text) = error.and_then(Json::str).filter(|text| !text.is_empty()) {
            let (message, of_provider) = unwrapped(&text);
            failure.message = message;
            failure.code = of_provider.map_or(failure.code, SharedStr::from);
        }
        failure
    }

    /// Reads the fields of an error, which may be those of the record itself. In that case `type` is the record's type.
    pub(super) fn of_fields(fields: &Object<'_>) -> Self {
        let data = fields.object("data").unwrap_or_default();
        let kind = fields.str("type").filter(|kind| kind != "error");
        let name = fields.str("name").or(kind).or_else(|| fields.str("code"));
        let name = name.as_deref().unwrap_or_default();
        let http_status = data.u64("statusCode").and_then(|status| u16::try_from(status).ok());
        let said =
            [data.str("message"), fields.str("message")].into_iter().flatten().find(|message| !message.is_empty());
        let (message, of_provider) = said.map_or_else(|| (words(name), None), |message| unwrapped(&message));
        let code = match of_provider {
            Some(code) if matches!(name, "UnknownError" | "") => code.to_owned(),
            _ => code(name, http_status),
        };
        Self {
            code: Stop::of(&code).map_or_else(|| SharedStr::from(code.as_str()), |stop| SharedStr::from(stop.code())),
            name: SharedStr::from(name),
            message,
            retryable: data.bool("isRetryable").unwrap_or_default(),
            http_status,
            aborted: name == "MessageAbortedError",
            overflow: name == "ContextOverflowError",
        }
    }

    /// The frame that reports the failure. A failure that ends a child session does not end the run.
    pub(super) fn reported(&self, of_child: bool) -> Body {
        Body::ErrorReported(Box::new(ErrorReported {
            scope: if self.overflow || of_child { ErrorScope::Turn } else { ErrorScope::Run },
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: self.retryable,
            attempt: None,
            max_attempts: None,
            http_status: self.http_status,
        }))
    }

    /// How the run ends with this failure.
    pub(super) fn run_end(self) -> RunEnd {
        match Stop::of(&self.code) {
            _ if self.aborted => RunEnd::interrupted(self.code, self.message),
            Some(stop) => stop.end(&self.name, Some(&self.message)),
            None => RunEnd::failed(self.code, self.message),
        }
    }
}

/// How a run ends, given its last failure, or else its answer and the reason why its last model request stopped.
pub(super) fn verdict(failure: Option<Failure>, answer: Answer) -> RunEnd {
    let Answer { stop, structured, .. } = answer;
    let end = match (failure, stop) {
        (Some(failure), _) => return failure.run_end(),
        (None, Some((stop, word))) => stop.end(&word, None),
        (None, None) => RunEnd::completed(),
    };
    RunEnd { final_text: structured, ..end }
}

/// The frame for a failed attempt that will be retried.
pub(super) fn retried(status: &Object<'_>) -> Body {
    let error = status.some("error").map(|error| Failure::read(Some(error)));
    let message = status.str("message").filter(|message| !message.is_empty());
    Body::ErrorReported(Box::new(ErrorReported {
        scope: ErrorScope::Turn,
        code: error.as_ref().map_or_else(|| SharedStr::from("retry"), |error| error.code.clone()),
        message: match (message, &error) {
            (Some(message), _) => message.into_owned(),
            (None, Some(error)) => error.message.clone(),
            (None, None) => "the model request is made again".to_owned(),
        },
        retryable: true,
        attempt: status.u64("attempt").and_then(|attempt| u32::try_from(attempt).ok()),
        max_attempts: None,
        http_status: error.and_then(|error| error.http_status),
    }))
}

fn code(name: &str, http_status: Option<u16>) -> String {
    match (name, http_status) {
        ("MessageAbortedError", _) => "aborted".to_owned(),
        ("ProviderAuthError", _) | ("APIError", Some(401 | 403)) => "authentication_failed".to_owned(),
        ("APIError", Some(429)) => "rate_limit".to_owned(),
        ("APIError", Some(503 | 529)) => "overloaded".to_owned(),
        ("APIError", Some(status)) if status >= 500 => "server_error".to_owned(),
        ("APIError", Some(status)) if status >= 400 => "invalid_request".to_owned(),
        ("APIError", _) => "api_error".to_owned(),
        ("UnknownError" | "", _) => "execution_error".to_owned(),
        (name, _) => snake_case(name),
    }
}

/// Converts `ContextOverflowError` to `context_overflow`. Names in another form stay unchanged.
fn snake_case(name: &str) -> String {
    let name = name.strip_suffix("Error").filter(|stem| !stem.is_empty()).unwrap_or(name);
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn words(name: &str) -> String {
    if name.is_empty() { "an error without a message".to_owned() } else { name.to_owned() }
}

/// Extracts the message of an error inside the model's stream, which arrives as the JSON text of the provider's error object, and the code
/// for the object's type.
fn unwrapped(message: &str) -> (String, Option<&'static str>) {
    let inner = || {
        let fields = Object::parse(message.trim())?;
        let error = fields.object("error").filter(|error| error.str("message").is_some()).unwrap_or(fields);
        let text = error.str("message").filter(|text| !text.is_empty())?.into_owned();
        Some((text, error.str("type").and_then(|kind| code_of_type(&kind))))
    };
    inner().unwrap_or_else(|| (message.to_owned(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Failure {
        Failure::read(Json::parse(text).ok())
    }

    #[test]
    fn errors_have_stable_codes() {
        let rate = read(r#"{"name":"APIError","data":{"message":"slow","statusCode":429,"isRetryable":true}}"#);
        assert_eq!((&*rate.code, rate.retryable, rate.http_status), ("rate_limit", true, Some(429)));
        assert_eq!(&*read(r#"{"name":"ContextOverflowError","data":{"message":"full"}}"#).code, "context_overflow");
        assert_eq!(&*read(r#"{"name":"MessageOutputLengthError","data":{}}"#).message, "MessageOutputLengthError");
        assert_eq!(&*read(r#"{"code":"bad","message":"flat"}"#).message, "flat");
        assert_eq!(&*read("\"just words\"").message, "just words");
        assert!(read(r#"{"name":"MessageAbortedError","data":{"message":"Aborted"}}"#).aborted);
        assert!(!read("null").message.is_empty());
    }

    #[test]
    fn an_error_object_in_a_message_is_read() {
        let error = read(r#"{"name":"UnknownError","data":{"message":"{\"error\":{\"message\":\"boom\"}}"}}"#);
        assert_eq!((&*error.message, &*error.code), ("boom", "execution_error"));
        let error = read(
            r#"{"name":"UnknownError","data":{"message":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"}}"#,
        );
        assert_eq!((&*error.message, &*error.code), ("Overloaded", "overloaded"));
        let error = read(r#""{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}""#);
        assert_eq!((&*error.message, &*error.code), ("slow down", "rate_limit"));
        // The runner's own name for an error says more than the provider's.
        let error = read(
            r#"{"name":"ProviderAuthError","data":{"message":"{\"error\":{\"type\":\"server_error\",\"message\":\"no\"}}"}}"#,
        );
        assert_eq!((&*error.message, &*error.code), ("no", "authentication_failed"));
    }
}
