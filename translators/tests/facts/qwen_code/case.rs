//! The recordings with their facts.

pub use crate::support::facts::*;
use framegate_translators::runners::{Runner, runner};

pub fn qwen() -> &'static Runner {
    runner("qwen-code").unwrap()
}

pub fn bytes_of(name: &str) -> Vec<u8> {
    file_of(qwen(), name)
}

pub fn cases() -> Vec<Case> {
    cases_of(qwen())
}

pub fn each(check: impl Fn(&Case) -> Result<(), String>) {
    each_of(&cases(), 131, check);
}
