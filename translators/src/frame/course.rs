//! The course of a run: plan, usage, errors, log lines, and how the run ended.

use super::SharedStr;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionEnded {
    /// The outcome.
    pub reason: EndReason,
    /// The last complete text of the main thread.
    pub final_text: Option<String>,
    /// A stable error code if the run failed.
    pub error_code: Option<SharedStr>,
    /// The message for a person if the run failed.
    pub message: Option<String>,
}

/// Whether the `error_code` of an interrupted run says that a person interrupted it.
pub fn is_interrupted_by_person(code: &str) -> bool {
    code.starts_with("abort") || code.starts_with("interrupt") || code.starts_with("cancel")
}

/// Code of a run whose answer reached its length limit, whatever the runner calls it. Such a run is completed.
pub const MAX_OUTPUT_TOKENS: &str = "max_output_tokens";

/// Code of a run whose answer filled the context window. Such a run is completed.
pub const CONTEXT_WINDOW_EXCEEDED: &str = "context_window_exceeded";

/// Code of a run whose answer was stopped by a content filter. Such a run is failed.
pub const CONTENT_FILTER: &str = "content_filter";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EndReason {
    /// The runner reported success.
    Completed,
    /// The runner reported failure.
    Failed,
    /// The run was stopped, or its stream ended before the runner reported an outcome.
    Interrupted,
}

impl EndReason {
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Tokens and money.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Tokens read, without cached ones.
    pub input_tokens: u64,
    /// Tokens written, including reasoning.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// The part of `cache_creation_tokens` that was written to entries which live for one hour; `None` if no such part was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_1h_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Figures {
    /// Whether no token and no cost is counted.
    pub fn is_nothing(&self) -> bool {
        self.input_tokens == 0
            && self.output_tokens == 0
            && self.cache_read_tokens.unwrap_or_default() == 0
            && self.cache_creation_tokens.unwrap_or_default() == 0
            && self.cost_usd.unwrap_or_default() == 0.0
    }

    /// Adds other figures. A figure that is `None` on both sides stays `None`.
    pub fn add(&mut self, more: &Self) {
        self.merge(more, u64::saturating_add, |a, b| a + b);
    }

    /// Subtracts other figures; the result is never below 0.
    pub fn subtract(&mut self, less: &Self) {
        let both = |a: Option<u64>, b: Option<u64>| a.map(|a| a.saturating_sub(b.unwrap_or_default()));
        self.input_tokens = self.input_tokens.saturating_sub(less.input_tokens);
        self.output_tokens = self.output_tokens.saturating_sub(less.output_tokens);
        self.cache_read_tokens = both(self.cache_read_tokens, less.cache_read_tokens);
        self.cache_creation_tokens = both(self.cache_creation_tokens, less.cache_creation_tokens);
        self.cache_creation_1h_tokens = both(self.cache_creation_1h_tokens, less.cache_creation_1h_tokens);
        self.reasoning_tokens = both(self.reasoning_tokens, less.reasoning_tokens);
        self.cost_usd = self.cost_usd.map(|cost| (cost - less.cost_usd.unwrap_or_default()).max(0.0));
    }

    /// Raises each figure to the other one if that is greater.
    pub fn raise_to(&mut self, least: &Self) {
        self.merge(least, u64::max, f64::max);
    }

    /// Lowers each figure to the other one if that is smaller.
    pub fn lower_to(&mut self, most: &Self) {
        self.merge(most, u64::min, f64::min);
    }

    fn merge(&mut self, other: &Self, tokens: fn(u64, u64) -> u64, cost: fn(f64, f64) -> f64) {
        fn both<T>(one: Option<T>, two: Option<T>, merge: fn(T, T) -> T) -> Option<T> {
            match (one, two) {
                (Some(one), Some(two)) => Some(merge(one, two)),
                (one, two) => one.or(two),
            }
        }
        self.input_tokens = tokens(self.input_tokens, other.input_tokens);
        self.output_tokens = tokens(self.output_tokens, other.output_tokens);
        self.cache_read_tokens = both(self.cache_read_tokens, other.cache_read_tokens, tokens);
        self.cache_creation_tokens = both(self.cache_creation_tokens, other.cache_creation_tokens, tokens);
        self.cache_creation_1h_tokens = both(self.cache_creation_1h_tokens, other.cache_creation_1h_tokens, tokens);
        self.reasoning_tokens = both(self.reasoning_tokens, other.reasoning_tokens, tokens);
        self.cost_usd = both(self.cost_usd, other.cost_usd, cost);
    }
}

/// Tokens and money of a model call or of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// What the figures cover.
    pub scope: UsageScope,
    /// The model, if the figures belong to a single one.
    pub model: Option<SharedStr>,
    /// Tokens read, without cached ones.
    pub input_tokens: u64,
    /// Tokens written, including reasoning.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to the cache.
    pub cache_creation_tokens: Option<u64>,
    /// The part of `cache_creation_tokens` that was written to entries which live for one hour; `None` if no such part was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_1h_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    pub reasoning_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// For a run's total: the part of the main thread, if known. The rest belongs to subagents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_thread: Option<Box<Figures>>,
    /// The session's running total, as the runner counts it. No contract emits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Box<Figures>>,
    /// For a run's total: the part of each model, if there are several and the runner gives their parts. No contract emits it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_model: Vec<ModelPart>,
}

/// The part of a run's total that belongs to one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPart {
    /// The model.
    pub model: SharedStr,
    /// Its figures.
    pub figures: Figures,
}

impl ModelPart {
    /// How many parts of a total are given at most. A total with more has none.
    pub const MOST: usize = 32;

    /// The parts for a total: none for a single model, which the total names itself, and none if there are too many.
    pub fn several(parts: Vec<Self>) -> Vec<Self> {
        if (2..=Self::MOST).contains(&parts.len()) { parts } else { Vec::new() }
    }
}

impl Usage {
    /// Builds the usage from these figures.
    pub fn of(scope: UsageScope, model: Option<SharedStr>, figures: &Figures) -> Self {
        Self {
            scope,
            model,
            input_tokens: figures.input_tokens,
            output_tokens: figures.output_tokens,
            cache_read_tokens: figures.cache_read_tokens,
            cache_creation_tokens: figures.cache_creation_tokens,
            cache_creation_1h_tokens: figures.cache_creation_1h_tokens,
            reasoning_tokens: figures.reasoning_tokens,
            cost_usd: figures.cost_usd,
            main_thread: None,
            running: None,
            by_model: Vec::new(),
        }
    }

    /// Only the figures.
    pub fn figures(&self) -> Figures {
        Figures {
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cache_read_tokens: self.cache_read_tokens,
            cache_creation_tokens: self.cache_creation_tokens,
            cache_creation_1h_tokens: self.cache_creation_1h_tokens,
            reasoning_tokens: self.reasoning_tokens,
            cost_usd: self.cost_usd,
        }
    }

    /// Raises each figure to the other one if that is greater.
    pub fn raise_to(&mut self, least: &Figures) {
        let mut figures = self.figures();
        figures.raise_to(least);
        let Self { scope, model, main_thread, running, by_model, .. } = std::mem::take(self);
        *self = Self { main_thread, running, by_model, ..Self::of(scope, model, &figures) };
    }
}

/// What a usage figure covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UsageScope {
    /// One model call.
    #[default]
    Turn,
    /// All model calls of the run, including those of subagents.
    Run,
}

impl UsageScope {
    /// The value in the wire form.
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
    /// The text of the entry.
    pub content: String,
    /// `pending`, `in_progress`, `completed`, or the runner's own value.
    pub status: SharedStr,
    /// `high`, `medium`, `low`, or the runner's own value.
    pub priority: Option<SharedStr>,
}

/// The level of a log line.
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
    /// The value in the wire form.
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
    /// What the error affects.
    pub scope: ErrorScope,
    /// A stable, machine-readable code: `rate_limit`, `overloaded`, `authentication_failed`, …
    pub code: SharedStr,
    /// The message for a person.
    pub message: String,
    /// Whether a retry may help.
    pub retryable: bool,
    /// Which attempt failed, from 1.
    pub attempt: Option<u32>,
    /// The maximum number of attempts.
    pub max_attempts: Option<u32>,
    /// The HTTP status from the provider.
    pub http_status: Option<u16>,
}

/// What an error affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub enum ErrorScope {
    Run,
    Turn,
    Provider,
}

impl ErrorScope {
    /// The value in the wire form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Turn => "turn",
            Self::Provider => "provider",
        }
    }
}
