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
