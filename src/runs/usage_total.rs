//! The tokens and the cost of a run.
//!
//! Input: the usage that the runner reports. Output: the run's total. Never: a model call counted twice because the runner also reports the
//! total of the run; a 0 for a figure that no record reported.

use framegate_translators::frame::{Usage, UsageScope};
use serde::{Deserialize, Serialize};

/// Tokens and cost of a run. A figure that no record reported is absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UsageTotal {
    /// Input tokens read outside the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output tokens, including reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Cost in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The runner reported its own total, which includes the turns.
    #[serde(skip)]
    is_run_total: bool,
}

impl UsageTotal {
    pub(super) fn add(&mut self, usage: &Usage) {
        match (usage.scope, self.is_run_total) {
            (UsageScope::Turn, true) => return,
            (UsageScope::Run, false) => *self = Self { is_run_total: true, ..Self::default() },
            _ => {}
        }
        plus(&mut self.input_tokens, Some(usage.input_tokens));
        plus(&mut self.output_tokens, Some(usage.output_tokens));
        plus(&mut self.cache_read_tokens, usage.cache_read_tokens);
        plus(&mut self.cache_creation_tokens, usage.cache_creation_tokens);
        plus(&mut self.reasoning_tokens, usage.reasoning_tokens);
        if let Some(cost) = usage.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
    }
}

fn plus(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default().saturating_add(more));
    }
}
