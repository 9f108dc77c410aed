//! Usage figures whose sum over a log is the run's usage.
//!
//! Input: the usage of each model call, and the runner's own totals. Output: each call unchanged; of a total, only what no call
//! has reported. Never: a token counted twice.

use super::data::UsageSummary;
use crate::frame::Usage;
use serde::{Deserialize, Serialize};

/// The usage that a run has reported.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportedUsage {
    calls: u64,
    /// What calls have reported and no total has covered yet.
    input: u64,
    output: u64,
    cache_read: u64,
    cache_creation: u64,
    reasoning: u64,
    #[serde(with = "crate::saved::bits")]
    cost_usd: f64,
}

impl ReportedUsage {
    /// Records one model call; returns its index and usage.
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

    /// Records a total from the runner; returns the part that the calls did not report, `None` if they reported all of it.
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
                let reported = self.cost_usd.min(cost);
                self.cost_usd -= reported;
                // Sums of the same costs in another order may differ by a rounding error.
                Some(cost - reported).filter(|rest| *rest > 1e-9)
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

fn add(sum: &mut u64, more: Option<u64>) {
    *sum = sum.saturating_add(more.unwrap_or_default());
}

/// The part of a total that was not reported yet; `None` if there is none.
fn rest(reported: &mut u64, total: Option<u64>) -> Option<u64> {
    let total = total?;
    let covered = total.min(*reported);
    *reported -= covered;
    Some(total - covered).filter(|rest| *rest > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input_tokens: u64, output_tokens: u64, cost_usd: Option<f64>) -> Usage {
        Usage { input_tokens, output_tokens, cost_usd, ..Usage::default() }
    }

    #[test]
    fn a_total_reports_only_usage_that_the_calls_did_not() {
        let mut reported = ReportedUsage::default();
        assert_eq!(reported.call(&usage(10, 1, None)).0, 0);
        assert_eq!(reported.call(&usage(20, 2, None)).0, 1);
        assert_eq!(reported.total(&usage(30, 3, None)), None);
        let rest = UsageSummary { input_tokens: Some(5), cost_usd: Some(0.5), ..UsageSummary::default() };
        assert_eq!(reported.total(&usage(5, 0, Some(0.5))), Some(rest));
    }

    #[test]
    fn a_total_without_calls_is_reported_unchanged() {
        let mut reported = ReportedUsage::default();
        let alone = usage(0, 3, None);
        assert_eq!(reported.total(&alone), Some(summary(&alone)));
        assert_eq!(reported.total(&alone), Some(summary(&alone)), "a total of another model");
    }

    #[test]
    fn rounding_errors_of_summed_costs_are_not_reported() {
        let mut reported = ReportedUsage::default();
        reported.call(&usage(1, 1, Some(0.1)));
        reported.call(&usage(1, 1, Some(0.2)));
        assert_eq!(reported.total(&usage(2, 2, Some(0.3))), None);
    }
}
