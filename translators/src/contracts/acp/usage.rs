//! The usage of a run, as the protocol's unstable `usage` counts it: `inputTokens` without cached tokens, `totalTokens` with them.
//!
//! Input: the usage of each call, and the runner's own total. Output: the sum of the calls while the run works, the total at its
//! end. Never: a figure that the runner did not give.

use crate::encode::data;
use crate::frame::{Figures, Usage, UsageScope};
use serde::{Deserialize, Serialize};

data! {
    pub(super) struct Tokens {
        total_tokens: u64 => "totalTokens",
        input_tokens: u64 => "inputTokens",
        output_tokens: u64 => "outputTokens",
        thought_tokens: Option<u64> => "thoughtTokens",
        cached_read_tokens: Option<u64> => "cachedReadTokens",
        cached_write_tokens: Option<u64> => "cachedWriteTokens",
    }
}

/// The run's usage so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spent {
    /// The sum of the calls, of subagents too.
    calls: Option<Figures>,
    /// The runner's own total.
    total: Option<Figures>,
}

impl Spent {
    /// Adds a figure; returns whether it was one of a call.
    pub(super) fn add(&mut self, usage: &Usage) -> bool {
        let figures = usage.figures();
        match usage.scope {
            UsageScope::Run => self.total = Some(figures),
            UsageScope::Turn => self.calls.get_or_insert_default().add(&figures),
        }
        usage.scope == UsageScope::Turn
    }

    /// The sum of the calls so far, and its price in US dollars.
    pub(super) fn so_far(&self) -> Option<(Tokens, Option<f64>)> {
        self.calls.as_ref().map(|figures| (tokens(figures), cost(figures)))
    }

    fn figures(&self) -> Option<&Figures> {
        self.total.as_ref().or(self.calls.as_ref())
    }

    /// The usage of the whole run.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        self.figures().map(tokens)
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

fn tokens(figures: &Figures) -> Tokens {
    let cached = [figures.cache_read_tokens, figures.cache_creation_tokens].into_iter().flatten();
    let uncached = figures.input_tokens.saturating_add(figures.output_tokens);
    Tokens {
        total_tokens: cached.fold(uncached, u64::saturating_add),
        input_tokens: figures.input_tokens,
        output_tokens: figures.output_tokens,
        thought_tokens: figures.reasoning_tokens,
        cached_read_tokens: figures.cache_read_tokens,
        cached_write_tokens: figures.cache_creation_tokens,
    }
}
