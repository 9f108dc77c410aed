//! Metrics of budgets.
//!
//! Input: configured budgets, and the marks that their accounts pass. Output: counts by the budget's configured name. Never: a label from an account.

use super::{Metrics, Register};
use prometheus::IntCounterVec;

pub(super) fn passed(to: &Register) -> IntCounterVec {
    to.counters(
        "framegate_budgets_passed_total",
        "Marks that accounts of budgets passed, by budget: the share at which it warns, or the limit.",
        &["budget", "mark"],
    )
}

/// The label of a mark.
fn mark(is_limit: bool) -> &'static str {
    if is_limit { "limit" } else { "warning" }
}

impl Metrics {
    /// Makes the series of a budget start at 0. `budget` is a configured name.
    pub fn budget(&self, budget: &str) {
        for is_limit in [false, true] {
            drop(self.budgets_passed.with_label_values(&[budget, mark(is_limit)]));
        }
    }

    /// Counts an account of a budget that passed its limit, or the share at which the budget warns.
    pub fn budget_passed(&self, budget: &str, is_limit: bool) {
        self.budgets_passed.with_label_values(&[budget, mark(is_limit)]).inc();
    }
}
