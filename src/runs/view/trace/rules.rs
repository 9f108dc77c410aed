//! The contract's rules between events, on a trace.
//!
//! Input: the events of a stream from its first one on. Output: the broken rules of each event. Never: a check of a long stream. A
//! verifier cannot be saved, so it has to see all events before the page; only pages near the beginning are checked.

use super::Broken;
use crate::gate::Gate;
use framegate_translators::contracts::Contract;
use framegate_translators::verify::{Checker, Located, RULES, Severity};
use framegate_translators::warnings::Warning;

/// The rules are checked on pages that begin before this frame.
const FRAMES: u64 = 2048;

/// Bytes of events before the page beyond which the rules are not checked.
const BYTES: usize = 8 << 20;

/// Checks the events of one stream in order.
pub(super) struct RuleCheck<'s> {
    checker: Checker<'s>,
    passed_over: usize,
}

impl<'s> RuleCheck<'s> {
    /// A check for a page that begins at a frame; `None` if the page is too far from the beginning, or the contract has no rules.
    pub(super) fn of(contract: &'s Contract, gate: &'s Gate, from: u64) -> Option<Self> {
        let schemas = gate.schemas_of(contract)?;
        (from < FRAMES).then(|| Self { checker: Checker::new(contract, schemas), passed_over: 0 })
    }

    /// Takes note of an event before the page.
    pub(super) fn pass_over(&mut self, event: &[u8]) {
        self.passed_over += event.len();
        if !self.is_exhausted() {
            self.checker.event(event, &mut |_| {});
        }
    }

    /// Whether the events before the page were too large to be checked.
    pub(super) fn is_exhausted(&self) -> bool {
        self.passed_over > BYTES
    }

    /// The rules that the next event breaks.
    pub(super) fn event(&mut self, event: &[u8]) -> Vec<Broken> {
        let mut broken = Vec::new();
        self.checker.event(event, &mut |located| broken.extend(broken_rule(located)));
        broken
    }

    /// The rules that the stream breaks because it ended.
    pub(super) fn end(&mut self) -> Vec<Broken> {
        let mut broken = Vec::new();
        self.checker.end(&mut |located| broken.extend(broken_rule(located)));
        broken
    }
}

/// A broken rule; `None` for what the gate and the warnings report themselves.
fn broken_rule(located: Located) -> Option<Broken> {
    let finding = located.finding;
    let is_reported = RULES.iter().any(|rule| rule.name == finding.rule)
        || Warning::ALL.iter().any(|warning| warning.code() == finding.rule);
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    (!is_reported).then_some(Broken { rule: finding.rule, severity, path: finding.pointer, message: finding.message })
}
