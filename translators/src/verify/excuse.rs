//! Excuses findings that are explained by withheld events, as reported in the stream itself.
//!
//! Input: each event and its findings. Output: the same findings; those explained by a notice become warnings. Never: more
//! findings excused than events withheld. Each notice represents one event, so it excuses one thing that was not opened, closed
//! or said.

use super::check::rule;
use super::{Finding, Severity, Verifier};
use crate::contract::Contract;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The notices of each stream in a file.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    streams: HashMap<String, Excused>,
}

#[derive(Debug, Default)]
struct Excused {
    /// The number of withheld events that have not excused a finding yet.
    left: u64,
    /// What was excused: a call whose opening was withheld may cause several findings.
    subjects: HashSet<String>,
}

impl Excuses {
    /// Processes an event and its findings.
    pub(super) fn event(
        &mut self,
        contract: &Contract,
        verifier: &dyn Verifier,
        event: &Value,
        findings: &mut [Finding],
    ) {
        let stream = verifier.stream(event);
        if verifier.reports_withheld(event) {
            self.streams.entry(stream.to_owned()).or_default().left += 1;
        }
        if self.streams.is_empty() || findings.is_empty() {
            return;
        }
        let Some(excused) = self.streams.get_mut(stream) else { return };
        for finding in findings {
            let subject = Some(&finding.pointer).filter(|pointer| !pointer.is_empty());
            let subject = subject.and_then(|pointer| event.pointer(pointer)).map(Value::to_string);
            excused.excuse(contract, finding, subject);
        }
    }

    /// Processes the findings at the end of the file, which name no stream.
    pub(super) fn end(&mut self, contract: &Contract, findings: &mut [Finding]) {
        for finding in findings {
            if let Some(excused) = self.streams.values_mut().find(|excused| excused.left > 0) {
                excused.excuse(contract, finding, None);
            }
        }
    }
}

impl Excused {
    fn excuse(&mut self, contract: &Contract, finding: &mut Finding, subject: Option<String>) {
        let relates_events = rule(contract, finding.rule).is_some_and(|rule| rule.relates_events);
        if finding.severity != Severity::Error || !relates_events {
            return;
        }
        let is_known = subject.as_ref().is_some_and(|subject| self.subjects.contains(subject));
        if !is_known {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            self.subjects.extend(subject);
        }
        finding.severity = Severity::Warning;
        finding.message.push_str(" (explained by a withheld event that the stream reports)");
    }
}
