//! What runs have spent of each budget.
//!
//! Input: the budgets, and what each run has cost so far. Output: each mark that an account passes, once; the runs to stop. Never: a clock; the cost of
//! a run counted twice in an account; more accounts of a budget than the limit (the older half is forgotten, except those with open runs).

use crate::config::budgets::{Action, Budget, Share};
use crate::prices::Usd;
use crate::runs::labels::Label;
use jiff::civil::Date;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// What decides to which accounts a run belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The run; absent for one that is not started yet.
    pub(crate) run: Option<Uuid>,
    /// Its session; absent for a run in a new one.
    pub(crate) session: Option<Uuid>,
    pub(crate) labels: Vec<Label>,
    /// The day on which it began, in UTC.
    pub(crate) day: Date,
}

/// A mark of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// The share of the limit at which the budget warns.
    Warning,
    /// The limit.
    Limit,
}

/// An account has passed a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// The place of the budget in the configuration.
    pub(crate) budget: usize,
    pub(crate) mark: Mark,
    /// What its runs have cost together.
    pub(crate) spent: Usd,
    /// What the account is for: `run …`, `team:web on 2026-11-27`.
    pub(crate) account: String,
    /// The run with which it passed the mark.
    pub(crate) run: Uuid,
}

/// What follows from the cost of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: Vec<Passed>,
    /// Open runs of accounts beyond their limit, each once, with the place of the budget.
    pub(crate) stop: Vec<(Uuid, usize)>,
}

/// The accounts of all budgets.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    budgets: Vec<(Budget, Accounts)>,
    max_accounts: usize,
    /// Counts the changes, for the order in which accounts were used.
    changes: u64,
    /// Runs that had ended when they were learned.
    learned: HashSet<Uuid>,
}

type Accounts = HashMap<Key, Account>;

/// What the runs of an account have in common; its parts are in the order of [`Budget::per`].
type Key = Vec<Part>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    Run(Uuid),
    Session(Uuid),
    Label(Label),
    Day(Date),
}

#[derive(Debug, Default)]
struct Account {
    /// The cost of the runs that have ended.
    ended: Usd,
    open: HashMap<Uuid, Open>,
    passed: Option<Mark>,
    changed: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    cost: Usd,
    is_stopped: bool,
}

impl Ledger {
    /// Without any cost.
    pub(crate) fn new(budgets: Vec<Budget>, max_accounts: usize) -> Self {
        let budgets = budgets.into_iter().map(|budget| (budget, Accounts::new())).collect();
        Self { budgets, max_accounts, changes: 0, learned: HashSet::new() }
    }

    /// Takes over from an earlier ledger which marks were reported and which runs were stopped, for budgets that are the same.
    fn keep_reports_of(&mut self, earlier: Self) {
        for (budget, accounts) in earlier.budgets {
            let Some((_, ours)) = self.budgets.iter_mut().find(|(other, _)| *other == budget) else { continue };
            for (key, account) in accounts {
                let Some(ours) = ours.get_mut(&key) else { continue };
                ours.passed = ours.passed.max(account.passed);
                for (run, open) in &mut ours.open {
                    open.is_stopped |= account.open.get(run).is_some_and(|before| before.is_stopped);
                }
            }
        }
    }

    /// Learns what a stored run has cost. [`Ledger::end_learning`] must follow.
    pub(crate) fn learn(&mut self, facts: &Facts, cost: Usd, has_ended: bool) {
        self.add(facts, cost, has_ended);
        self.learned.extend(facts.run.filter(|_| has_ended));
    }

    /// All stored runs are learned, after a reload with the ledger before it. Accounts without an open run have passed their marks silently. Those
    /// with open runs report them with the next cost of such a run, unless the ledger before the reload did.
    pub(crate) fn end_learning(&mut self, earlier: Option<Self>) {
        for (budget, accounts) in &mut self.budgets {
            for account in accounts.values_mut().filter(|account| account.open.is_empty()) {
                let spent = account.spent();
                account.passed = [Mark::Limit, Mark::Warning].into_iter().find(|mark| is_past(*mark, budget, spent));
            }
        }
        if let Some(earlier) = earlier {
            self.keep_reports_of(earlier);
        }
    }

    /// Sets what a run has cost so far. Its end is set once, unless the run was learned when it had ended.
    pub(crate) fn set(&mut self, facts: &Facts, cost: Usd, has_ended: bool) -> Outcome {
        // News of a run may arrive after it was learned.
        if facts.run.is_some_and(|run| self.learned.contains(&run)) {
            return Outcome::default();
        }
        let passed = self.count(facts, cost, has_ended);
        Outcome { passed, stop: self.take_stops(facts) }
    }

    /// Sets the cost of a run in its accounts. Returns the marks that they pass.
    fn count(&mut self, facts: &Facts, cost: Usd, has_ended: bool) -> Vec<Passed> {
        let mut passed = Vec::new();
        let Some(run) = facts.run else { return passed };
        self.add(facts, cost, false);
        for (place, (budget, accounts)) in self.budgets.iter_mut().enumerate() {
            for key in keys(budget, facts) {
                let Some(account) = accounts.get_mut(&key) else { continue };
                let spent = account.spent();
                for mark in [Mark::Warning, Mark::Limit] {
                    if account.passed < Some(mark) && is_past(mark, budget, spent) {
                        account.passed = Some(mark);
                        passed.push(Passed { budget: place, mark, spent, account: spelled(&key), run });
                    }
                }
            }
        }
        if has_ended {
            self.add(facts, cost, true);
        }
        passed
    }

    /// Sets the cost of a run in its accounts.
    fn add(&mut self, facts: &Facts, cost: Usd, has_ended: bool) {
        let Some(run) = facts.run else { return };
        self.changes += 1;
        for (budget, accounts) in &mut self.budgets {
            for key in keys(budget, facts) {
                let account = accounts.entry(key.clone()).or_default();
                account.changed = self.changes;
                if has_ended {
                    account.open.remove(&run);
                    account.ended = account.ended.plus(cost);
                } else {
                    account.open.entry(run).or_default().cost = cost;
                }
                // No other run will be in the account.
                if has_ended && budget.per.contains(&Share::Run) {
                    accounts.remove(&key);
                }
            }
            if accounts.len() > self.max_accounts {
                forget(accounts);
            }
        }
    }

    /// The open runs of this run's accounts that are beyond their limit and were not returned before, each once.
    fn take_stops(&mut self, facts: &Facts) -> Vec<(Uuid, usize)> {
        let mut stops = Vec::new();
        for (place, (budget, accounts)) in self.budgets.iter_mut().enumerate() {
            for key in keys(budget, facts).iter().filter(|_| budget.action == Action::Stop) {
                let Some(account) = accounts.get_mut(key).filter(|account| account.passed == Some(Mark::Limit)) else {
                    continue;
                };
                let running = account.open.iter_mut().filter(|(_, open)| !open.is_stopped);
                stops.extend(running.map(|(run, open)| {
                    open.is_stopped = true;
                    (*run, place)
                }));
            }
        }
        stops.sort_unstable();
        stops.dedup_by_key(|(run, _)| *run);
        stops
    }

    /// Takes a run that another one replaces out of its accounts. They are again before the marks that they passed with it. `has_ended` says
    /// that the end of the run was set.
    pub(crate) fn take_back(&mut self, facts: &Facts, cost: Usd, has_ended: bool) {
        let Some(run) = facts.run else { return };
        for (budget, accounts) in &mut self.budgets {
            for key in keys(budget, facts) {
                let Some(account) = accounts.get_mut(&key) else { continue };
                if account.open.remove(&run).is_none() && has_ended {
                    account.ended = account.ended.minus(cost);
                }
                let spent = account.spent();
                let reached = [Mark::Limit, Mark::Warning].into_iter().find(|mark| is_past(*mark, budget, spent));
                account.passed = account.passed.min(reached);
            }
        }
    }

    /// Ends a run whose status is not known any more, with the cost that was set last.
    pub(crate) fn end(&mut self, run: Uuid) {
        for account in self.budgets.iter_mut().flat_map(|(_, accounts)| accounts.values_mut()) {
            if let Some(open) = account.open.remove(&run) {
                account.ended = account.ended.plus(open.cost);
            }
        }
    }

    /// The budget, if there is one, that forbids to start such a run, with the account beyond its limit.
    pub(crate) fn forbids(&self, facts: &Facts) -> Option<(&Budget, String)> {
        self.budgets.iter().filter(|(budget, _)| budget.action == Action::Stop).find_map(|(budget, accounts)| {
            let is_past = |account: &Account| is_past(Mark::Limit, budget, account.spent());
            let is_spent = |key: &Key| {
                accounts.get(key).is_some_and(|account| account.passed == Some(Mark::Limit) || is_past(account))
            };
            keys(budget, facts).into_iter().find(is_spent).map(|key| (budget, spelled(&key)))
        })
    }

    /// How many accounts there are.
    #[cfg(test)]
    pub(super) fn accounts(&self) -> usize {
        self.budgets.iter().map(|(_, accounts)| accounts.len()).sum()
    }

    /// What the first account of the first budget to which such a run belongs has spent.
    #[cfg(test)]
    pub(super) fn spent(&self, facts: &Facts) -> Usd {
        let account = self.budgets.first().and_then(|(budget, accounts)| accounts.get(keys(budget, facts).first()?));
        account.map(Account::spent).unwrap_or_default()
    }

    /// Whether there are no budgets.
    pub(crate) fn is_empty(&self) -> bool {
        self.budgets.is_empty()
    }

    /// The budgets, in the order of the configuration.
    pub(crate) fn budgets(&self) -> impl Iterator<Item = &Budget> {
        self.budgets.iter().map(|(budget, _)| budget)
    }

    /// The budget at a place of the configuration.
    pub(crate) fn budget(&self, place: usize) -> Option<&Budget> {
        self.budgets.get(place).map(|(budget, _)| budget)
    }
}

impl Account {
    fn spent(&self) -> Usd {
        self.open.values().fold(self.ended, |sum, open| sum.plus(open.cost))
    }
}

/// Whether an amount has reached a mark.
fn is_past(mark: Mark, budget: &Budget, spent: Usd) -> bool {
    let percent = match mark {
        Mark::Warning => budget.warn_percent,
        Mark::Limit => 100,
    };
    spent.picos().saturating_mul(100) >= budget.limit.picos().saturating_mul(percent.into())
}

/// Drops the older half of the accounts without open runs.
fn forget(accounts: &mut Accounts) {
    let mut changes: Vec<u64> =
        accounts.values().filter(|account| account.open.is_empty()).map(|account| account.changed).collect();
    changes.sort_unstable();
    if let Some(middle) = changes.get(changes.len() / 2).copied() {
        accounts.retain(|_, account| !account.open.is_empty() || account.changed >= middle);
    }
}

/// The accounts of a run: none if it lacks what a share needs; one for each label of a key.
fn keys(budget: &Budget, facts: &Facts) -> Vec<Key> {
    let mut keys: Vec<Key> = vec![Vec::with_capacity(budget.per.len())];
    for share in &budget.per {
        let parts: Vec<Part> = match share {
            Share::Run => facts.run.map(Part::Run).into_iter().collect(),
            Share::Session => facts.session.map(Part::Session).into_iter().collect(),
            Share::Day => vec![Part::Day(facts.day)],
            Share::Label(key) => {
                facts.labels.iter().filter(|label| label.key() == key).cloned().map(Part::Label).collect()
            }
        };
        keys = keys
            .iter()
            .flat_map(|key| parts.iter().map(move |part| [key.as_slice(), std::slice::from_ref(part)].concat()))
            .collect();
    }
    keys
}

fn spelled(key: &Key) -> String {
    let parts: Vec<String> = key
        .iter()
        .map(|part| match part {
            Part::Run(id) => format!("run {id}"),
            Part::Session(id) => format!("session {id}"),
            Part::Label(label) => label.to_string(),
            Part::Day(day) => day.to_string(),
        })
        .collect();
    parts.join(", ")
}
