//! Keeps the accounts, behind the log.
//!
//! Input: the frames that this proxy appends, and the statuses of their runs. Output: what follows when an account passes a mark. Never: an append
//! that waits; a report about a run that was over long ago (a transcript that is sent today counts for the day on which it began, silently).

use super::ledger::{Facts, Ledger, Mark, Outcome, Passed};
use crate::clock::Clock;
use crate::config::budgets::{Action, Budget};
use crate::log::{StreamId, stream_id};
use crate::prices::{Usd, day_of};
use crate::runs::labels::Labels;
use crate::runs::{Entry, RunStatus, Runs};
use crate::telemetry::Watcher;
use crate::upstream::{Handles, MessageError};
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::host::HostMessage;
use framegate_translators::pipeline::is_last;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

/// How old the newest frame of a run may be so that its cost is reported, in milliseconds.
const REPORTED_WITHIN_MS: u64 = 24 * 60 * 60 * 1000;

/// A mark that an account has passed, for notifications.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetPassed {
    /// The run with which it passed the mark.
    pub run: StreamId,
    /// Time of the run's newest frame, in Unix epoch milliseconds.
    pub at_ms: u64,
    /// The name of the budget.
    pub budget: String,
    /// What the account is for.
    pub account: String,
    /// What its runs have cost together.
    pub spent: Usd,
    /// The amount of the budget.
    pub limit: Usd,
    /// Whether the limit is passed, or only the share at which the budget warns.
    pub is_limit: bool,
}

/// Receives the marks that accounts pass. It must not block.
pub type Listener = Box<dyn Fn(BudgetPassed) + Send + Sync>;

/// The budgets of a proxy.
pub struct Budgets {
    ledger: Mutex<Ledger>,
    max_accounts: usize,
    news: Mutex<HashMap<StreamId, bool>>,
    wake: Notify,
    /// The runs, from when the accounts are kept. The runs own this watcher.
    runs: OnceLock<Weak<Runs>>,
}

impl Budgets {
    /// Budgets without any cost yet.
    pub fn new(budgets: Vec<Budget>, max_accounts: usize) -> Arc<Self> {
        let ledger = Mutex::new(Ledger::new(budgets, max_accounts));
        Arc::new(Self { ledger, max_accounts, news: Mutex::default(), wake: Notify::new(), runs: OnceLock::new() })
    }

    /// Starts to keep the accounts, with what the stored runs have cost. Must be called in a runtime.
    pub fn start(self: &Arc<Self>, runs: Arc<Runs>, handles: Arc<Handles>, listener: Option<Listener>) -> Keeping {
        // The runs that are closed when the proxy starts are among the stored ones.
        lock(&self.news).clear();
        self.load(&runs, None);
        // A second call keeps the first runs, which are the same.
        let _ = self.runs.set(Arc::downgrade(&runs));
        let keeper = Keeper { budgets: self.clone(), runs, handles, listener };
        Keeping { _task: AbortOnDropHandle::new(tokio::spawn(keeper.run())) }
    }

    /// Replaces the budgets. Accounts get what the stored runs have cost. Changed budgets act on the open runs at once.
    pub fn replace(&self, budgets: Vec<Budget>) {
        if let Some(runs) = self.runs.get().and_then(Weak::upgrade) {
            self.load(&runs, Some(budgets));
        }
    }

    fn load(&self, runs: &Runs, budgets: Option<Vec<Budget>>) {
        let mut ledger = lock(&self.ledger);
        let earlier = budgets.map(|budgets| std::mem::replace(&mut *ledger, Ledger::new(budgets, self.max_accounts)));
        if ledger.is_empty() {
            return;
        }
        ledger.budgets().for_each(|budget| runs.metrics().budget(&budget.name));
        for entry in runs.entries().iter().filter(|entry| entry.stream.kind == StreamKind::Session) {
            let status = entry.status().clone();
            ledger.learn(&facts(&status), amount(&status, runs), status.ended);
            if earlier.is_some() && !status.ended {
                // It may be in an account that is beyond a mark of a changed budget, which is to be reported.
                lock(&self.news).entry(entry.id()).or_default();
            }
        }
        ledger.end_learning(earlier);
        self.wake.notify_one();
    }

    /// Why a run in this session and with these labels may not start; `None` if it may.
    pub fn refusal(&self, session: Option<Uuid>, labels: &Labels) -> Option<String> {
        let labels = labels.iter().cloned().collect();
        let facts = Facts { run: None, session, labels, day: day_of(Clock::System.now_ms()) };
        let ledger = lock(&self.ledger);
        let (budget, account) = ledger.forbids(&facts)?;
        Some(format!("the budget {:?} of {} US dollars is spent for {account}", budget.name, budget.limit))
    }
}

/// The task that keeps the accounts, until it is dropped.
pub struct Keeping {
    _task: AbortOnDropHandle<()>,
}

impl Watcher for Budgets {
    fn kept(&self, frames: &[Arc<Frame>]) {
        let of_runs = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        for frame in of_runs {
            let has_ended = is_last(frame);
            // A run is stopped with its account, even if its runner reports usage only at the end.
            if has_ended || matches!(frame.body, Body::SessionStarted { .. } | Body::UsageReported(_)) {
                *lock(&self.news).entry(stream_id(frame)).or_default() |= has_ended;
                self.wake.notify_one();
            }
        }
    }

    fn replaced(&self, run_id: Uuid) {
        let Some(runs) = self.runs.get().and_then(Weak::upgrade) else { return };
        let Some(run) = runs.find((StreamKind::Session, run_id)) else { return };
        let was_seen = lock(&self.news).remove(&run.id()).is_none();
        let status = run.status().clone();
        lock(&self.ledger).take_back(&facts(&status), amount(&status, &runs), was_seen);
    }
}

struct Keeper {
    budgets: Arc<Budgets>,
    runs: Arc<Runs>,
    handles: Arc<Handles>,
    listener: Option<Listener>,
}

impl Keeper {
    async fn run(self) {
        loop {
            self.budgets.wake.notified().await;
            let news = std::mem::take(&mut *lock(&self.budgets.news));
            for (id, has_ended) in news {
                match self.runs.find(id) {
                    Some(entry) => self.look(&entry, has_ended),
                    // Retention has dropped it meanwhile.
                    None => lock(&self.budgets.ledger).end(id.1),
                }
            }
        }
    }

    fn look(&self, entry: &Entry, has_ended: bool) {
        let status = entry.status().clone();
        let cost = amount(&status, &self.runs);
        let (passed, stop) = {
            let mut ledger = lock(&self.budgets.ledger);
            let Outcome { passed, stop } = ledger.set(&facts(&status), cost, has_ended);
            let named = |place: usize| ledger.budget(place).cloned();
            let passed: Vec<(Budget, Passed)> =
                passed.into_iter().filter_map(|one| Some((named(one.budget)?, one))).collect();
            let stop: Vec<(Uuid, Budget)> = stop.into_iter().filter_map(|(run, at)| Some((run, named(at)?))).collect();
            (passed, stop)
        };
        if Clock::System.now_ms().saturating_sub(status.updated_at_ms) > REPORTED_WITHIN_MS {
            return;
        }
        for (budget, passed) in passed {
            self.report(&budget, passed, (entry.id(), status.updated_at_ms));
        }
        for (run, budget) in stop {
            let is_over = self.runs.find((StreamKind::Session, run)).is_none_or(|entry| entry.status().ended);
            if !is_over {
                self.stop(run, &budget);
            }
        }
    }

    fn report(&self, budget: &Budget, passed: Passed, (run, at_ms): (StreamId, u64)) {
        let is_limit = passed.mark == Mark::Limit;
        let (name, account) = (budget.name.as_str(), passed.account.as_str());
        let (spent_usd, limit_usd) = (passed.spent, budget.limit);
        self.runs.metrics().budget_passed(name, is_limit);
        if is_limit {
            let action = budget.action.as_str();
            tracing::warn!(budget = name, account, %spent_usd, %limit_usd, action, run = %passed.run, "a budget is spent");
        } else {
            tracing::warn!(budget = name, account, %spent_usd, %limit_usd, run = %passed.run, "a budget is almost spent");
        }
        if let Some(listener) = &self.listener {
            let Passed { spent, account, .. } = passed;
            listener(BudgetPassed {
                run,
                at_ms,
                budget: budget.name.clone(),
                account,
                spent,
                limit: budget.limit,
                is_limit,
            });
        }
    }

    /// Interrupts a run the orderly way, without waiting for its runner.
    fn stop(&self, run: Uuid, budget: &Budget) {
        debug_assert_eq!(budget.action, Action::Stop);
        let name = budget.name.clone();
        let Some(handle) = self.handles.find(run) else {
            // Its input comes from a client, or it is over already.
            tracing::warn!(budget = name, %run, "the proxy does not drive this run, so it cannot stop it");
            return;
        };
        tokio::spawn(async move {
            match handle.send(HostMessage::Interrupt, &format!("budget {name}")).await {
                Ok(()) => tracing::warn!(budget = name, %run, "the run was interrupted"),
                Err(MessageError::Gone) => {}
                Err(error) => tracing::warn!(budget = name, %run, %error, "the run could not be interrupted"),
            }
        });
    }
}

/// What a run has cost: as computed, otherwise as reported, otherwise nothing.
fn amount(status: &RunStatus, runs: &Runs) -> Usd {
    let reported = || status.usage.cost_usd.map(Usd::reported);
    status.cost(runs.prices()).usd().or_else(reported).unwrap_or_default()
}

fn facts(status: &RunStatus) -> Facts {
    Facts {
        run: Some(status.run_id),
        session: Some(status.session_id),
        labels: status.labels.iter().cloned().collect(),
        day: day_of(status.started_at_ms),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
