//! The course of a run: its plan, usage, errors and log, and how it ended.

use super::Name;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionEnded {
    /// The verdict.
    pub reason: EndReason,
    /// The main thread's last whole text.
    pub final_text: Option<String>,
    /// A stable code where the run failed.
    pub error_code: Option<Name>,
    /// What a person is told where the run failed.
    pub message: Option<String>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EndReason {
    /// The runner says that it went well.
    Completed,
    /// The runner says that it went badly.
    Failed,
    /// Somebody stopped it, or the stream ended without the runner's word.
    Interrupted,
}

impl EndReason {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Tokens and money of a model call or of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// What the figures cover.
    pub scope: UsageScope,
    /// The model, where the figures are of one.
    pub model: Option<Name>,
    /// Tokens read outside the cache.
    pub input_tokens: u64,
    /// Tokens written, reasoning among them.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    pub reasoning_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// What a usage figure covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UsageScope {
    /// One model call.
    #[default]
    Turn,
    /// The runner's own total of the run.
    Run,
}

impl UsageScope {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Run => "run",
        }
    }
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress`, `completed`, or the runner's own word.
    pub status: Name,
    /// `high`, `medium`, `low`, or the runner's own word.
    pub priority: Option<Name>,
}

/// How loud a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

impl LogLevel {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Something went wrong.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorReported {
    /// How far it reaches.
    pub scope: ErrorScope,
    /// A stable, machine-readable word: `rate_limit`, `overloaded`, `authentication_failed`, …
    pub code: Name,
    /// What a person is told.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
    /// Which attempt failed, from 1.
    pub attempt: Option<u32>,
    /// How many attempts there will be.
    pub max_attempts: Option<u32>,
    /// The provider's HTTP status.
    pub http_status: Option<u16>,
}

/// How far an error reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum ErrorScope {
    Run,
    Turn,
    Provider,
}

impl ErrorScope {
    /// The word of the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Turn => "turn",
            Self::Provider => "provider",
        }
    }
}
