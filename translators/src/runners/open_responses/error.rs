//! Errors, in the three shapes that upstreams send: nested (`error: {…}`), flat, and a bare object without a type.
//!
//! Input: the fields of an event or of a response. Output: one plain value, and its frame. Never: two frames for an error that
//! is reported twice.

use crate::frame::{Body, ErrorReported, ErrorScope, SharedStr};
use crate::json::{Json, Object};

/// An error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResponseError {
    /// The upstream's code for it.
    pub(super) code: SharedStr,
    /// The message for people.
    pub(super) message: String,
}

impl ResponseError {
    /// The error in an event.
    pub(super) fn of_event(fields: &Object<'_>) -> Self {
        match fields.some("error") {
            Some(error) => Self::of(error),
            // Flat: the event's own `type` only says that it is an error.
            None => Self::of_fields(fields, "error"),
        }
    }

    /// The error in an `error` field.
    pub(super) fn of(error: Json<'_>) -> Self {
        match (error.object(), error.str()) {
            (Some(fields), _) => {
                let kind = fields.str("type").filter(|kind| !kind.is_empty());
                Self::of_fields(&fields, kind.as_deref().unwrap_or("error"))
            }
            (None, Some(text)) => Self { code: SharedStr::from("error"), message: text.into_owned() },
            (None, None) => {
                Self { code: SharedStr::from("error"), message: "the upstream reported an error".to_owned() }
            }
        }
    }

    fn of_fields(fields: &Object<'_>, kind: &str) -> Self {
        let code = fields.some("code").and_then(|code| match code.str() {
            Some(word) => Some(word.into_owned()).filter(|word| !word.is_empty()),
            None => code.i64().map(|number| number.to_string()),
        });
        let message = fields.str("message").filter(|message| !message.is_empty());
        Self {
            code: SharedStr::from(code.as_deref().unwrap_or(kind)),
            message: message.map_or_else(|| "the upstream reported an error".to_owned(), |text| text.into_owned()),
        }
    }

    /// The frame that reports it.
    pub(super) fn frame(&self, scope: ErrorScope) -> Body {
        let http_status = self.code.parse().ok().filter(|status| (400..600).contains(status));
        Body::ErrorReported(Box::new(ErrorReported {
            scope,
            code: self.code.clone(),
            message: self.message.clone(),
            retryable: self.is_retryable(http_status),
            attempt: None,
            max_attempts: None,
            http_status,
        }))
    }

    fn is_retryable(&self, http_status: Option<u16>) -> bool {
        let words = ["rate_limit", "overloaded", "server_error", "timeout", "unavailable", "upstream", "api_error"];
        http_status.is_some_and(|status| status == 429 || status >= 500)
            || words.iter().any(|word| self.code.contains(word))
    }
}
