//! The figures of a group of runs.
//!
//! Input: the statuses of the runs. Output: their sums. Never: tokens or money counted twice (each run has one total,
//! [`UsageTotal`](crate::runs::UsageTotal)); the time that an open run has taken so far.

use crate::prices::{ComputedCost, Usd};
use crate::runs::{RunState, RunStatus};
use serde::{Deserialize, Serialize};

/// Sums over a group of runs. A figure that no run of the group reported is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The runs of the group.
    pub runs: u64,
    /// Runs that succeeded.
    pub completed: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that were stopped, or whose stream broke off.
    pub interrupted: u64,
    /// Runs that have not ended yet.
    pub open: u64,
    /// The time from the first to the last frame of the runs that have ended, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Model calls of the main threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Tool calls that began.
    pub tool_calls: u64,
    /// Tool calls that were refused or interrupted, that never ran, or that ended with an exit code other than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tool_calls: Option<u64>,
    /// The time of the tool calls that ran to their end, in milliseconds. Calls at the same time count separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_duration_ms: Option<u64>,
    /// Input tokens read outside the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output tokens, including reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The cost in US dollars that runners reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The cost in US dollars, computed from tokens and prices. The sum is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed_cost_usd: Option<Usd>,
    /// The runs that reported tokens; absent in rows by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_with_usage: Option<u64>,
    /// The runs that reported a cost; absent in rows by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_with_cost: Option<u64>,
    /// The runs with a computed cost; absent in rows by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_with_computed_cost: Option<u64>,
    /// Those of them whose computed cost is not exact; absent in rows by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_with_approximate_cost: Option<u64>,
    /// The runs without a computed cost; absent in rows by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unpriced_runs: Option<u64>,
    /// Warnings about the runs; absent in rows by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<u64>,
}

impl Figures {
    /// The figures of one run.
    pub(super) fn of(run: &RunStatus, cost: &ComputedCost) -> Self {
        let is = |state: bool| u64::from(state);
        let usage = &run.usage;
        let cost_usd = usage.cost_usd.filter(|cost| cost.is_finite());
        let tool_duration_ms = run.tools.iter().flat_map(|tools| tools.figures()).fold(None, |mut sum, tool| {
            plus(&mut sum, tool.duration_ms);
            sum
        });
        Self {
            runs: 1,
            completed: is(run.state == RunState::Completed),
            failed: is(run.state == RunState::Failed),
            interrupted: is(run.state == RunState::Interrupted),
            open: is(matches!(run.state, RunState::Running | RunState::WaitingApproval)),
            duration_ms: run.ended_at_ms.map(|ended| ended.saturating_sub(run.started_at_ms)),
            turns: run.turns,
            tool_calls: run.tool_calls,
            failed_tool_calls: run.failed_tool_calls,
            tool_duration_ms,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_tokens: usage.cache_read_tokens,
            cache_creation_tokens: usage.cache_creation_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost_usd,
            computed_cost_usd: cost.usd(),
            runs_with_usage: Some(is(usage.input_tokens.is_some() || usage.output_tokens.is_some())),
            runs_with_cost: Some(is(cost_usd.is_some())),
            runs_with_computed_cost: Some(is(cost.usd().is_some())),
            runs_with_approximate_cost: Some(is(cost.is_approximate())),
            unpriced_runs: Some(is(cost.usd().is_none())),
            warnings: Some(run.warnings.values().fold(0, |sum, count| sum.saturating_add(*count))),
        }
    }

    /// The part of a run that belongs to calls of one tool. Its tokens, its cost and its own duration cannot be divided among tools.
    pub(super) fn of_calls(&self, calls: u64, failed: Option<u64>, duration_ms: Option<u64>) -> Self {
        Self {
            runs: self.runs,
            completed: self.completed,
            failed: self.failed,
            interrupted: self.interrupted,
            open: self.open,
            tool_calls: calls,
            failed_tool_calls: failed,
            tool_duration_ms: duration_ms,
            ..Self::default()
        }
    }

    /// The tool calls without the run that made them.
    pub(super) fn calls_alone(&self) -> Self {
        Self::default().of_calls(self.tool_calls, self.failed_tool_calls, self.tool_duration_ms)
    }

    /// Adds the figures of other runs.
    pub(super) fn add(&mut self, more: &Self) {
        for (sum, more) in [
            (&mut self.runs, more.runs),
            (&mut self.completed, more.completed),
            (&mut self.failed, more.failed),
            (&mut self.interrupted, more.interrupted),
            (&mut self.open, more.open),
            (&mut self.tool_calls, more.tool_calls),
        ] {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in [
            (&mut self.duration_ms, more.duration_ms),
            (&mut self.turns, more.turns),
            (&mut self.failed_tool_calls, more.failed_tool_calls),
            (&mut self.tool_duration_ms, more.tool_duration_ms),
            (&mut self.input_tokens, more.input_tokens),
            (&mut self.output_tokens, more.output_tokens),
            (&mut self.cache_read_tokens, more.cache_read_tokens),
            (&mut self.cache_creation_tokens, more.cache_creation_tokens),
            (&mut self.reasoning_tokens, more.reasoning_tokens),
            (&mut self.runs_with_usage, more.runs_with_usage),
            (&mut self.runs_with_cost, more.runs_with_cost),
            (&mut self.runs_with_computed_cost, more.runs_with_computed_cost),
            (&mut self.runs_with_approximate_cost, more.runs_with_approximate_cost),
            (&mut self.unpriced_runs, more.unpriced_runs),
            (&mut self.warnings, more.warnings),
        ] {
            plus(sum, more);
        }
        if let Some(cost) = more.computed_cost_usd {
            self.computed_cost_usd = Some(self.computed_cost_usd.unwrap_or_default().plus(cost));
        }
        if let Some(cost) = more.cost_usd {
            // The sum of two numbers can be infinite, which JSON cannot express.
            self.cost_usd = Some((self.cost_usd.unwrap_or_default() + cost).clamp(f64::MIN, f64::MAX));
        }
    }
}

fn plus(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default().saturating_add(more));
    }
}
