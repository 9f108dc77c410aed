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

use crate::config::budgets::{Budget, Limit, Share};
use crate::runs::labels::{Label, LabelError};

/// A budget counts no run, because no run can have its label.
#[derive(Debug, thiserror::Error)]
#[error("budgets, budget {name:?}, per: {error}")]
pub struct BudgetError {
    name: String,
    error: LabelError,
}

/// The budgets of tables that were checked when they were read.
///
/// # Errors
/// A key is not one of a label.
pub fn of(limits: &[Limit]) -> Result<Vec<Budget>, BudgetError> {
    let budgets: Vec<Budget> = limits.iter().filter_map(Limit::budget).collect();
    for budget in &budgets {
        for share in &budget.per {
            if let Share::Label(key) = share {
                // Any valid value.
                Label::new(key, "value").map_err(|error| BudgetError { name: budget.name.clone(), error })?;
            }
        }
    }
    Ok(budgets)
}
