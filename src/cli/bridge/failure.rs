//! Why a proxy did not do what a command asked for.
//!
//! Input: an error response, or none. Output: its reason, for a user. Never: a secret.

use crate::client::{Lost, NoAnswer};
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Why a request had no success. Each message is complete: a command that prints the sources too would repeat them.
#[derive(Clone, Debug, thiserror::Error)]
pub(in crate::cli) enum Failure {
    /// The proxy refused the request.
    #[error("{detail} (status {})", .status.as_u16())]
    Refused {
        /// The status of the response.
        status: StatusCode,
        /// The reason in the proxy's words.
        detail: String,
        /// When the request may succeed; `None` if the proxy did not say.
        later: Option<Duration>,
        /// The number of the event after which a run's events are stored; `None` if they are stored from the first one on, or not at all.
        available_after: Option<u64>,
    },
    /// There was no response.
    #[error("the proxy does not answer: {0}")]
    NoAnswer(NoAnswer),
    /// The response broke off.
    #[error("the proxy's answer broke off: {0}")]
    Lost(Lost),
    /// The response is not what a proxy sends.
    #[error("the answer is not that of a framegate proxy: {0}")]
    Strange(String),
}

impl From<NoAnswer> for Failure {
    fn from(error: NoAnswer) -> Self {
        Self::NoAnswer(error)
    }
}

impl From<Lost> for Failure {
    fn from(error: Lost) -> Self {
        Self::Lost(error)
    }
}

/// The part of `application/problem+json` that users read.
#[derive(Deserialize)]
struct Problem {
    detail: Option<String>,
    title: Option<String>,
    /// A number, or a text in contracts whose events have texts as cursors.
    available_after: Option<Value>,
}

impl Failure {
    /// The failure in an error response.
    pub(super) fn of(status: StatusCode, later: Option<Duration>, body: &[u8]) -> Self {
        let problem: Option<Problem> = serde_json::from_slice(body).ok();
        let available_after = problem.as_ref().and_then(|problem| problem.available_after.as_ref()?.as_u64());
        let detail = problem.and_then(|problem| problem.detail.or(problem.title));
        let mut detail = detail.unwrap_or_else(|| status.canonical_reason().unwrap_or("refused").to_owned());
        if status == StatusCode::UNAUTHORIZED {
            detail.push_str("; --token-file or FRAMEGATE_TOKEN_FILE names a file with one");
        }
        Self::Refused { status, detail, later, available_after }
    }

    /// Whether the events of a run are no longer stored, or not from the first one on.
    pub(in crate::cli) fn is_gone(&self) -> bool {
        matches!(self.status(), Some(StatusCode::GONE | StatusCode::NOT_FOUND))
    }

    /// The number of the event after which a run's events are stored; `None` if the proxy named none.
    pub(in crate::cli) fn available_after(&self) -> Option<u64> {
        match self {
            Self::Refused { available_after, .. } => *available_after,
            _ => None,
        }
    }

    /// The status of the response; `None` if there was none.
    pub(in crate::cli) fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the same request may have success soon, because the connection failed or the proxy is starting or busy.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Refused { status, .. } => {
                matches!(*status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
            }
            Self::NoAnswer(reason) => !matches!(reason, NoAnswer::TooLarge),
            Self::Lost(_) => true,
            Self::Strange(_) => false,
        }
    }

    /// How long the proxy asks to wait before the request is sent again; `None` if it does not say.
    pub(super) fn later(&self) -> Option<Duration> {
        match self {
            Self::Refused { later, .. } => *later,
            _ => None,
        }
    }
}
