//! The usage of a run, as the protocol counts it: `inputTokens` includes cached tokens, which frames count separately.
//!
//! Input: the model and the usage of each call, and the runner's own total. Output: the sum of the calls while the run works, the
//! total at its end. Never: a figure that the runner did not give.

use super::writer::MAX_INTEGER;
use crate::encode::{Flat, data};
use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use serde::{Deserialize, Serialize};

data! {
    pub(super) struct TokenUsage<'a> {
        model: Option<&'a str>,
        input_tokens: u64 => "inputTokens",
        output_tokens: u64 => "outputTokens",
        total_tokens: u64 => "totalTokens",
        reasoning_tokens: Option<u64> => "reasoningTokens",
        cached_input_tokens: Option<u64> => "cachedInputTokens",
        cache_write_input_tokens: Option<u64> => "cacheWriteInputTokens",
    }

    /// The value of the `CUSTOM` event `usage`.
    pub(super) struct UsageSoFar<'a> {
        tokens: Flat<TokenUsage<'a>>,
        cost_usd: Option<f64> => "costUsd",
    }
}

/// The run's usage so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spent {
    /// The model of all calls; `None` if there were several.
    model: Option<SharedStr>,
    has_models: bool,
    /// The sum of the calls, of subagents too.
    calls: Option<Figures>,
    /// The runner's own total.
    total: Option<Figures>,
}

impl Spent {
    /// Adds a figure; returns the sum of the calls if it was one of a call.
    pub(super) fn add(&mut self, usage: &Usage) -> Option<UsageSoFar<'_>> {
        if let Some(model) = usage.model.as_ref().filter(|model| !model.is_empty()) {
            let is_other = self.model.as_ref() != Some(model);
            self.model = (!self.has_models || !is_other).then(|| model.clone());
            self.has_models = true;
        }
        if usage.scope == UsageScope::Run {
            self.total = Some(usage.figures());
            return None;
        }
        let sum = self.calls.get_or_insert_default();
        sum.add(&usage.figures());
        let tokens = Flat(tokens(sum, self.model.as_deref()));
        Some(UsageSoFar { tokens, cost_usd: cost(sum) })
    }

    fn figures(&self) -> Option<&Figures> {
        self.total.as_ref().or(self.calls.as_ref())
    }

    /// The usage of the whole run.
    pub(super) fn tokens(&self) -> Option<Vec<TokenUsage<'_>>> {
        self.figures().map(|figures| vec![tokens(figures, self.model.as_deref())])
    }

    /// The price of the whole run in US dollars.
    pub(super) fn cost(&self) -> Option<f64> {
        self.figures().and_then(cost)
    }
}

/// `None` if the cost is not a number that JSON can express.
fn cost(figures: &Figures) -> Option<f64> {
    figures.cost_usd.filter(|cost| cost.is_finite())
}

fn tokens<'a>(figures: &Figures, model: Option<&'a str>) -> TokenUsage<'a> {
    let bounded = |tokens: u64| tokens.min(MAX_INTEGER);
    let cached = [figures.cache_read_tokens, figures.cache_creation_tokens].into_iter().flatten();
    let input_tokens = bounded(cached.fold(figures.input_tokens, u64::saturating_add));
    let output_tokens = bounded(figures.output_tokens);
    TokenUsage {
        model,
        input_tokens,
        output_tokens,
        total_tokens: bounded(input_tokens + output_tokens),
        reasoning_tokens: figures.reasoning_tokens.map(bounded),
        cached_input_tokens: figures.cache_read_tokens.map(bounded),
        cache_write_input_tokens: figures.cache_creation_tokens.map(bounded),
    }
}
