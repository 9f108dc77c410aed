//! Usage, so that the sum over a log is the run's.
//!
//! In: what each model call used, and the runner's own totals. Out: each call as it is; of a total, what no call said yet.
//! Never: a token counted twice.

use super::data::UsageSummary;
use crate::frame::Usage;
use serde::{Deserialize, Serialize};

/// What was told of a run's usage.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    calls: u64,
    /// What calls said and no total has covered yet.
    input: u64,
    output: u64,
    cache_read: u64,
    cache_creation: u64,
    reasoning: u64,
    #[serde(with = "crate::encode::state::bits")]
    cost_usd: f64,
}

impl Told {
    /// One model call: its index and what it used.
    pub(super) fn call(&mut self, usage: &Usage) -> (u64, UsageSummary) {
        let index = self.calls;
        self.calls += 1;
        add(&mut self.input, Some(usage.input_tokens));
        add(&mut self.output, Some(usage.output_tokens));
        add(&mut self.cache_read, usage.cache_read_tokens);
        add(&mut self.cache_creation, usage.cache_creation_tokens);
        add(&mut self.reasoning, usage.reasoning_tokens);
        self.cost_usd += usage.cost_usd.unwrap_or_default();
        (index, summary(usage))
    }

    /// A total of the runner's own: what the calls did not say of it; `None` where they said it all.
    pub(super) fn total(&mut self, usage: &Usage) -> Option<UsageSummary> {
        if self.calls == 0 {
            return Some(summary(usage));
        }
        let rest = UsageSummary {
            input_tokens: rest(&mut self.input, Some(usage.input_tokens)),
            output_tokens: rest(&mut self.output, Some(usage.output_tokens)),
            cache_read_tokens: rest(&mut self.cache_read, usage.cache_read_tokens),
            cache_creation_tokens: rest(&mut self.cache_creation, usage.cache_creation_tokens),
            reasoning_tokens: rest(&mut self.reasoning, usage.reasoning_tokens),
            cost_usd: usage.cost_usd.and_then(|cost| {
                let told = self.cost_usd.min(cost);
                self.cost_usd -= told;
                // What is left of equal sums that were added up in another order is no money.
                Some(cost - told).filter(|rest| *rest > 1e-9)
            }),
        };
        (rest != UsageSummary::default()).then_some(rest)
    }
}

fn summary(usage: &Usage) -> UsageSummary {
    UsageSummary {
        input_tokens: Some(usage.input_tokens),
        output_tokens: Some(usage.output_tokens),
        cache_read_tokens: usage.cache_read_tokens,
        cache_creation_tokens: usage.cache_creation_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_usd: usage.cost_usd,
    }
}

fn add(told: &mut u64, more: Option<u64>) {
    *told = told.saturating_add(more.unwrap_or_default());
}

/// What is left of a total once what was told is taken from it; `None` where nothing is.
fn rest(told: &mut u64, total: Option<u64>) -> Option<u64> {
    let total = total?;
    let covered = total.min(*told);
    *told -= covered;
    Some(total - covered).filter(|rest| *rest > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input_tokens: u64, output_tokens: u64, cost_usd: Option<f64>) -> Usage {
        Usage { input_tokens, output_tokens, cost_usd, ..Usage::default() }
    }

    #[test]
    fn a_total_says_only_what_the_calls_did_not() {
        let mut told = Told::default();
        assert_eq!(told.call(&usage(10, 1, None)).0, 0);
        assert_eq!(told.call(&usage(20, 2, None)).0, 1);
        assert_eq!(told.total(&usage(30, 3, None)), None);
        let rest = UsageSummary { input_tokens: Some(5), cost_usd: Some(0.5), ..UsageSummary::default() };
        assert_eq!(told.total(&usage(5, 0, Some(0.5))), Some(rest));
    }

    #[test]
    fn a_total_alone_is_told_as_it_is() {
        let mut told = Told::default();
        let alone = usage(0, 3, None);
        assert_eq!(told.total(&alone), Some(summary(&alone)));
        assert_eq!(told.total(&alone), Some(summary(&alone)), "a total of another model");
    }

    #[test]
    fn costs_that_were_added_up_are_no_rest() {
        let mut told = Told::default();
        told.call(&usage(1, 1, Some(0.1)));
        told.call(&usage(1, 1, Some(0.2)));
        assert_eq!(told.total(&usage(2, 2, Some(0.3))), None);
    }
}
