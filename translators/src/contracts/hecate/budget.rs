//! A run's usage so far, and its budget.
//!
//! Input: usage figures. Output: `cost.tick`, and at most once each `cost.budget_warning` and `cost.budget_exceeded`. Never: a
//! figure that decreases, or one that was not reported.
//!
//! Until the run's total arrives, the sum of the turns is reported, including those of subagents. The total is never less than
//! that.

use super::envelope::EventSink;
use crate::encode::{Word, data};
use crate::frame::{Usage, UsageScope};
use serde::{Deserialize, Serialize};

/// The percentage of a budget at which a warning is emitted.
const WARNING_PCT: u64 = 80;

/// The figures of a turn or of a run; `None` if not reported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cached_input_tokens: Option<u64>,
    pub(super) cost_micros_usd: Option<u64>,
}

impl Figures {
    pub(super) fn of(usage: &Usage) -> Self {
        let cached = usage.cache_read_tokens.unwrap_or_default();
        let written = usage.cache_creation_tokens.unwrap_or_default();
        Self {
            input_tokens: Some(usage.input_tokens.saturating_add(cached).saturating_add(written)),
            output_tokens: Some(usage.output_tokens),
            cached_input_tokens: usage.cache_read_tokens,
            cost_micros_usd: usage.cost_usd.and_then(micros),
        }
    }

    pub(super) fn is_known(&self) -> bool {
        *self != Self::default()
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.merge(more, u64::saturating_add);
    }

    fn merge(&mut self, other: &Self, both: fn(u64, u64) -> u64) {
        let merged = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(both(one, two)),
            (one, two) => one.or(two),
        };
        self.input_tokens = merged(self.input_tokens, other.input_tokens);
        self.output_tokens = merged(self.output_tokens, other.output_tokens);
        self.cached_input_tokens = merged(self.cached_input_tokens, other.cached_input_tokens);
        self.cost_micros_usd = merged(self.cost_micros_usd, other.cost_micros_usd);
    }
}

/// Millionths of a dollar; `None` if the amount is negative or not finite.
fn micros(usd: f64) -> Option<u64> {
    (usd.is_finite() && usd >= 0.0).then(|| (usd * 1e6).round() as u64)
}

/// The usage meter of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meter {
    #[serde(skip)]
    budget: Option<u64>,
    turns: Figures,
    runs: Figures,
    told: Figures,
    warned: bool,
    exceeded: bool,
}

data! {
    struct Tick {
        cumulative_input_tokens: Option<u64>,
        cumulative_output_tokens: Option<u64>,
        cumulative_cost_micros_usd: Option<u64>,
        task_budget_micros_usd: Option<u64>,
        task_budget_remaining_micros_usd: Option<u64>,
    }

    struct Warned {
        threshold_pct: u64,
        cumulative_cost_micros_usd: u64,
        task_budget_micros_usd: u64,
    }

    struct Exceeded {
        cumulative_cost_micros_usd: u64,
        task_budget_micros_usd: u64,
        action: Word,
    }
}

impl Meter {
    pub(super) fn new(budget: Option<u64>) -> Self {
        Self { budget, ..Self::default() }
    }

    /// The same state with the budget of another meter.
    pub(super) fn budgeted_as(self, other: &Self) -> Self {
        Self { budget: other.budget, ..self }
    }

    pub(super) fn take(&mut self, usage: &Usage) {
        let figures = Figures::of(usage);
        match usage.scope {
            UsageScope::Turn => self.turns.add(&figures),
            UsageScope::Run => self.runs.merge(&figures, u64::max),
        }
    }

    /// The run's usage so far.
    pub(super) fn total(&self) -> Figures {
        let mut total = self.turns.clone();
        total.merge(&self.runs, u64::max);
        total
    }

    /// Emits the total if it is known and has changed, or if a turn ends.
    pub(super) fn tick(&mut self, is_boundary: bool, sink: &mut EventSink<'_>) {
        let total = self.total();
        if !total.is_known() || (!is_boundary && total == self.told) {
            return;
        }
        let remaining = self.budget.map(|budget| budget.saturating_sub(total.cost_micros_usd.unwrap_or_default()));
        sink.emit(
            "cost.tick",
            &Tick {
                cumulative_input_tokens: total.input_tokens,
                cumulative_output_tokens: total.output_tokens,
                cumulative_cost_micros_usd: total.cost_micros_usd,
                task_budget_micros_usd: self.budget,
                // Without a cost, the remaining budget is unknown.
                task_budget_remaining_micros_usd: remaining.filter(|_| total.cost_micros_usd.is_some()),
            },
        );
        if let (Some(budget), Some(cost)) = (self.budget, total.cost_micros_usd) {
            self.judge(budget, cost, sink);
        }
        self.told = total;
    }

    fn judge(&mut self, budget: u64, cost: u64, sink: &mut EventSink<'_>) {
        let reaches_warning = u128::from(cost) * 100 >= u128::from(budget) * u128::from(WARNING_PCT);
        if reaches_warning && !std::mem::replace(&mut self.warned, true) {
            sink.emit(
                "cost.budget_warning",
                &Warned {
                    threshold_pct: WARNING_PCT,
                    cumulative_cost_micros_usd: cost,
                    task_budget_micros_usd: budget,
                },
            );
        }
        if cost > budget && !std::mem::replace(&mut self.exceeded, true) {
            // An encoder only reports. The client that set the budget decides whether to stop the run.
            sink.emit(
                "cost.budget_exceeded",
                &Exceeded { cumulative_cost_micros_usd: cost, task_budget_micros_usd: budget, action: Word("none") },
            );
        }
    }
}
