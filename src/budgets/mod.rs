//! What runs may cost.
//!
//! Input: budgets, and the statuses of the runs that this proxy appends to. Output: a log line, a metric and a notification when an account of a
//! budget passes a mark; interruptions of its open runs, and the refusal of new prompts, if the budget says so. Never: an append that waits for it;
//! a run stopped because of a cost that is not known (a run without a price counts with what its runner reports, or not at all).
//!
//! `ledger` decides and does not wait; `keeper` is the task behind the log.

mod keeper;
mod ledger;
#[cfg(test)]
mod tests;

pub use keeper::{BudgetPassed, Budgets, Keeping, Listener};

use crate::prices::Usd;
use std::str::FromStr;

/// One budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Its configured name.
    pub name: String,
    /// What the runs of an account have in common.
    pub per: Vec<Share>,
    /// What they may cost together.
    pub limit: Usd,
    /// The part of the limit at which it warns, in percent.
    pub warn_percent: u64,
    /// What happens at the limit.
    pub action: Action,
}

impl Budget {
    /// The highest mark that an amount has reached.
    fn mark(&self, spent: Usd) -> Option<ledger::Mark> {
        let is_past =
            |percent: u64| spent.picos().saturating_mul(100) >= self.limit.picos().saturating_mul(percent.into());
        if is_past(100) {
            Some(ledger::Mark::Limit)
        } else {
            is_past(self.warn_percent).then_some(ledger::Mark::Warning)
        }
    }
}

/// What the runs of an account have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// Each run has its own account.
    Run,
    /// The session.
    Session,
    /// The day on which the run began, in UTC.
    Day,
    /// The value of the label with this key.
    Label(String),
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("label:")) {
            ("run", _) => Ok(Self::Run),
            ("session", _) => Ok(Self::Session),
            ("day", _) => Ok(Self::Day),
            (_, Some("")) => Err(format!("{text:?} names no label; use for example \"label:team\"")),
            (_, Some(key)) => Ok(Self::Label(key.to_owned())),
            _ => Err(format!("unknown share {text:?}; use run, session, day or label:KEY")),
        }
    }
}

/// What happens when the amount of a budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is only reported.
    Warn,
    /// The open runs are interrupted as well, and new prompts are refused.
    Stop,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 2] = [Self::Warn, Self::Stop];

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Stop => "stop",
        }
    }

    /// The action with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}
