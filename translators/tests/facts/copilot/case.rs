//! The recordings with their facts.

pub use crate::support::facts::*;
use framegate_translators::runners::{Runner, runner};

pub fn copilot() -> &'static Runner {
    runner("copilot").unwrap()
}

pub fn cases() -> Vec<Case> {
    cases_of(copilot())
}

pub fn each(check: impl Fn(&Case) -> Result<(), String>) {
    each_of(&cases(), 73, check);
}
