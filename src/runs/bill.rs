//! What runs cost.
//!
//! Input: the status of a run, and the prices. Output: its computed cost; the metrics of what it used and cost, counted when it ends. Never: a cost in a stored
//! status; a run in the metrics that another proxy counts.

use super::model_calls::{ModelCalls, ModelFigures};
use super::{Entry, RunStatus, Runs};
use crate::prices::{ComputedCost, Prices, Spent, Tokens, Usd, day_of};
use crate::telemetry::metrics::RunBill;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::pipeline::is_last;

impl RunStatus {
    /// What the run's tokens cost.
    pub fn cost(&self, prices: &Prices) -> ComputedCost {
        let total = self.usage.tokens();
        let mut total_by_model: Vec<(&str, Tokens)> =
            self.usage.by_model.iter().map(|part| (&*part.model, part.tokens())).collect();
        let figures = self.models.as_ref().map(ModelCalls::figures).unwrap_or_default();
        // A runner may name the model of the main thread for a total that has calls of other models too.
        let is_only = |model: &&str| figures.iter().all(|calls| calls.model.as_deref() == Some(*model));
        if total_by_model.is_empty() {
            total_by_model.extend(self.usage.model.as_deref().filter(is_only).zip(total));
        }
        prices.cost(&Spent {
            total,
            total_by_model,
            calls: figures.iter().map(ModelFigures::spent).collect(),
            model: self.model.as_deref(),
            started_at_ms: self.started_at_ms,
        })
    }

    /// The status as clients get it, with what the run costs.
    #[must_use]
    pub fn with_cost(self, prices: &Prices) -> Self {
        Self { computed_cost: Some(Box::new(self.cost(prices))), ..self }
    }
}

impl Runs {
    /// The status of a stream as clients get it.
    pub fn shown_status(&self, entry: &Entry) -> RunStatus {
        let status = entry.status().clone();
        status.with_cost(&self.prices)
    }

    /// Counts a run, if this frame, which the log has kept, is its last one.
    pub(super) fn count_cost(&self, frame: &Frame) {
        if frame.stream.kind != StreamKind::Session || !is_last(frame) {
            return;
        }
        let Some(entry) = self.find((frame.stream.kind, frame.stream.id)) else { return };
        let status = entry.status().clone();
        let computed_usd = status.cost(&self.prices).usd().map(Usd::to_f64);
        let day = day_of(status.started_at_ms);
        let model = status
            .model
            .as_deref()
            .and_then(|model| self.prices.find(model, day, |found| found.map(|found| found.pattern.to_owned())));
        self.metrics.run_ended(&RunBill {
            runner: status.runner,
            model: model.as_deref(),
            upstream: entry.upstream.as_deref(),
            tokens: status.usage.tokens(),
            reported_usd: status.usage.cost_usd,
            computed_usd,
        });
    }
}
