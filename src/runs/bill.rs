//! What runs cost.
//!
//! Input: the status of a run, and the prices. Output: its computed cost; the metrics of what it used and cost, counted when it ends. Never: a cost in a stored
//! status; a run in the metrics that another proxy counts; a run counted again in full when a longer one replaces it.

use super::model_calls::{ModelCalls, ModelFigures};
use super::{Entry, RunStatus, Runs};
use crate::log::StreamId;
use crate::prices::{ComputedCost, Prices, Spent, Tokens, Usd, day_of};
use crate::telemetry::metrics::RunBill;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::pipeline::is_last;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

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

    /// A longer run, whose last frame is not stored yet unless it was stored earlier, replaces a run: what that run cost does not count
    /// any more.
    pub fn is_to_be_replaced(&self, run: &Entry, longer: StreamId) {
        self.watchers.iter().for_each(|watcher| watcher.replaced(run.id().1));
        if run.is_billed.swap(false, Ordering::Relaxed) {
            self.replaced.put(longer, self.bill(&run.status()));
        }
    }

    /// Counts a run, if this frame, which the log has kept, is its last one.
    pub(super) fn count_cost(&self, frame: &Frame) {
        if frame.stream.kind != StreamKind::Session || !is_last(frame) {
            return;
        }
        let Some(entry) = self.find((frame.stream.kind, frame.stream.id)) else { return };
        let status = entry.status().clone();
        let bill = self.bill(&status);
        let counted = self.replaced.take(entry.id());
        entry.is_billed.store(true, Ordering::Relaxed);
        let day = day_of(status.started_at_ms);
        let model = status
            .model
            .as_deref()
            .and_then(|model| self.prices.find(model, day, |found| found.map(|found| found.pattern.to_owned())));
        let is_unpriced = |bill: &Bill| bill.tokens.is_some() && bill.computed.is_none();
        let new = bill.since(counted);
        self.metrics.run_ended(&RunBill {
            runner: status.runner,
            model: model.as_deref(),
            upstream: entry.upstream.as_deref(),
            tokens: new.tokens,
            reported_usd: new.reported_usd,
            computed_usd: new.computed.map(Usd::to_f64),
            is_unpriced: is_unpriced(&bill) && !counted.is_some_and(|counted| is_unpriced(&counted)),
        });
    }

    fn bill(&self, status: &RunStatus) -> Bill {
        Bill {
            tokens: status.usage.tokens(),
            reported_usd: status.usage.cost_usd,
            computed: status.cost(&self.prices).usd(),
        }
    }
}

/// The maximum number of bills of replaced runs that are kept until the longer runs end. Beyond it, all are forgotten, so that those runs
/// count in full.
const MOST_REPLACED: usize = 4096;

/// What the metrics have counted of runs that longer ones replace, by the longer run, until that one ends.
#[derive(Debug, Default)]
pub(super) struct Replaced(Mutex<HashMap<StreamId, Bill>>);

impl Replaced {
    fn put(&self, longer: StreamId, bill: Bill) {
        let mut bills = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bills.len() >= MOST_REPLACED {
            bills.clear();
        }
        bills.insert(longer, bill);
    }

    fn take(&self, longer: StreamId) -> Option<Bill> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&longer)
    }
}

/// What the metrics count of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Bill {
    tokens: Option<Tokens>,
    reported_usd: Option<f64>,
    computed: Option<Usd>,
}

impl Bill {
    /// What was not counted yet.
    fn since(self, counted: Option<Self>) -> Self {
        let counted = counted.unwrap_or_default();
        Self {
            tokens: self.tokens.map(|tokens| tokens.minus(&counted.tokens.unwrap_or_default())),
            reported_usd: self.reported_usd.map(|usd| usd - counted.reported_usd.unwrap_or_default()),
            computed: self.computed.map(|usd| usd.minus(counted.computed.unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn run(number: usize) -> StreamId {
        (StreamKind::Session, Uuid::from_u128(number as u128))
    }

    #[test]
    fn the_bills_of_replaced_runs_are_bounded_and_taken_once() {
        let replaced = Replaced::default();
        (0..MOST_REPLACED).for_each(|number| replaced.put(run(number), Bill::default()));
        assert!(replaced.take(run(0)).is_some() && replaced.take(run(0)).is_none());
        replaced.put(run(0), Bill::default());
        replaced.put(run(MOST_REPLACED), Bill::default());
        assert!(replaced.take(run(1)).is_none() && replaced.take(run(MOST_REPLACED)).is_some());
    }

    #[test]
    fn what_was_counted_is_not_counted_again() {
        let bill = |input: u64, usd: &str| Bill {
            tokens: Some(Tokens { input, ..Tokens::default() }),
            reported_usd: Some(0.5),
            computed: Some(Usd::parse(usd).unwrap()),
        };
        let new = bill(30, "0.75").since(Some(bill(20, "0.5")));
        assert_eq!(new.tokens.unwrap().input, 10);
        assert_eq!((new.reported_usd, new.computed), (Some(0.0), Some(Usd::parse("0.25").unwrap())));
        assert_eq!(bill(30, "0.75").since(None).tokens.unwrap().input, 30);
        // A shorter run may have had more, if the runner corrected itself.
        assert_eq!(bill(10, "0.1").since(Some(bill(20, "0.5"))).tokens.unwrap().input, 0);
    }
}
