//! Metrics of what runs used and cost.
//!
//! Input: runs that have ended. Output: tokens and US dollars by runner, model and upstream. Never: a model that a runner can invent as a label: its label is the
//! pattern of its price, and models without a price share one; more than [`MOST_MODELS`] labels of models.

use super::Register;
use crate::prices::Tokens;
use prometheus::{CounterVec, IntCounterVec};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// How many models have a label of their own. Further ones share a label with those without a price.
const MOST_MODELS: usize = 200;

/// The label of models without a price, and of those beyond the limit.
const OTHER: &str = "other";

/// The label of runs that belong to no upstream.
const NO_UPSTREAM: &str = "none";

/// What a run used and cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunBill<'a> {
    /// The runner's name.
    pub runner: &'static str,
    /// The pattern of the price that applies to the run's model; `None` if there is none.
    pub model: Option<&'a str>,
    /// The configured name of the upstream; `None` for input that a client sent.
    pub upstream: Option<&'a str>,
    /// All tokens; `None` if the runner reported none.
    pub tokens: Option<Tokens>,
    /// The cost in US dollars that the runner reported.
    pub reported_usd: Option<f64>,
    /// The computed cost in US dollars; `None` if a price is missing.
    pub computed_usd: Option<f64>,
    /// Whether it has tokens and no computed cost.
    pub is_unpriced: bool,
}

/// The metric families.
pub(super) struct Costs {
    tokens: IntCounterVec,
    reported: CounterVec,
    computed: CounterVec,
    unpriced: IntCounterVec,
    models: Mutex<BTreeSet<String>>,
}

impl Costs {
    pub(super) fn new(to: &Register) -> Self {
        let labels = &["runner", "model", "upstream"][..];
        Self {
            tokens: to.counters(
                "framegate_tokens_total",
                "Tokens of runs that ended, by kind; the kinds do not overlap.",
                &["runner", "model", "upstream", "kind"],
            ),
            reported: to.add(CounterVec::new(
                prometheus::Opts::new(
                    "framegate_reported_cost_usd_total",
                    "Cost of runs that ended, as their runners reported it, in US dollars.",
                ),
                labels,
            )),
            computed: to.add(CounterVec::new(
                prometheus::Opts::new(
                    "framegate_computed_cost_usd_total",
                    "Cost of runs that ended, computed from tokens and prices, in US dollars.",
                ),
                labels,
            )),
            unpriced: to.counters(
                "framegate_unpriced_runs_total",
                "Runs that ended with tokens and without a computed cost.",
                labels,
            ),
            models: Mutex::default(),
        }
    }

    /// Counts a run that has ended.
    pub(super) fn ended(&self, bill: &RunBill<'_>) {
        let model = self.label(bill.model);
        let labels = [bill.runner, &*model, bill.upstream.unwrap_or(NO_UPSTREAM)];
        let [runner, model, upstream] = labels;
        if let Some(tokens) = &bill.tokens {
            for (kind, count) in [
                ("input", tokens.input),
                ("output", tokens.output),
                ("cache_read", tokens.cache_read),
                ("cache_creation", tokens.cache_creation),
            ] {
                self.tokens.with_label_values(&[runner, model, upstream, kind]).inc_by(count);
            }
        }
        if bill.is_unpriced {
            self.unpriced.with_label_values(&labels).inc();
        }
        for (family, amount) in [(&self.reported, bill.reported_usd), (&self.computed, bill.computed_usd)] {
            // A counter panics if an amount is negative, and stays at an amount that is not a number.
            if let Some(amount) = amount.filter(|amount| amount.is_finite() && *amount >= 0.0) {
                family.with_label_values(&labels).inc_by(amount);
            }
        }
    }

    fn label(&self, model: Option<&str>) -> String {
        let Some(model) = model else { return OTHER.to_owned() };
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() < MOST_MODELS {
            models.insert(model.to_owned());
        }
        if models.contains(model) { model.to_owned() } else { OTHER.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_beyond_the_limit_and_without_a_price_share_a_label() {
        let costs = Costs::new(&Register(prometheus::Registry::new()));
        for nth in 0..MOST_MODELS + 10 {
            let model = format!("model {nth}");
            costs.ended(&RunBill {
                runner: "codex",
                model: Some(&model),
                computed_usd: Some(0.5),
                ..RunBill::default()
            });
        }
        costs.ended(&RunBill {
            runner: "codex",
            tokens: Some(Tokens { input: 3, ..Tokens::default() }),
            is_unpriced: true,
            ..RunBill::default()
        });
        let of = |model: &str| costs.computed.with_label_values(&["codex", model, NO_UPSTREAM]).get();
        assert_eq!((of("model 0"), of(OTHER)), (0.5, 5.0));
        assert_eq!(costs.tokens.with_label_values(&["codex", OTHER, NO_UPSTREAM, "input"]).get(), 3);
        assert_eq!(costs.unpriced.with_label_values(&["codex", OTHER, NO_UPSTREAM]).get(), 1);
    }

    #[test]
    fn hostile_amounts_are_not_counted() {
        let costs = Costs::new(&Register(prometheus::Registry::new()));
        for amount in [f64::NAN, f64::INFINITY, -1.0] {
            costs.ended(&RunBill { runner: "pi", reported_usd: Some(amount), ..RunBill::default() });
        }
        assert_eq!(costs.reported.with_label_values(&["pi", OTHER, NO_UPSTREAM]).get(), 0.0);
    }
}
