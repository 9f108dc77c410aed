//! What a stream may lack because its own notices say that events were withheld.
//!
//! In: each event, and what is wrong with it. Out: the same findings, those that a notice explains as warnings. Never: more
//! excused than was withheld: each notice stands for one event, so for one thing that was not opened, closed or said.

use super::{Finding, Severity, Verifier};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The rules between events that hold for partners: who breaks one may be right, and its partner be withheld.
const BETWEEN: &[&str] = &["pair.", "turn.", "text.", "tool.", "output.", "status.chain"];

/// The notices of each stream of a file.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    streams: HashMap<String, Excused>,
}

#[derive(Debug, Default)]
struct Excused {
    /// How many events were withheld that nothing was found to lack so far.
    left: u64,
    /// What was excused: a call whose opening is gone is spoken of more than once.
    subjects: HashSet<String>,
}

impl Excuses {
    /// Takes an event and what was found in it.
    pub(super) fn event(&mut self, verifier: &dyn Verifier, event: &Value, findings: &mut [Finding]) {
        let stream = verifier.stream(event);
        if verifier.tells_of_withheld(event) {
            self.streams.entry(stream.to_owned()).or_default().left += 1;
        }
        if self.streams.is_empty() || findings.is_empty() {
            return;
        }
        let Some(excused) = self.streams.get_mut(stream) else { return };
        for finding in findings {
            let subject = Some(&finding.pointer).filter(|pointer| !pointer.is_empty());
            let subject = subject.and_then(|pointer| event.pointer(pointer)).map(Value::to_string);
            excused.excuse(finding, subject);
        }
    }

    /// Takes what was found when the file was over: it names no stream.
    pub(super) fn end(&mut self, findings: &mut [Finding]) {
        for finding in findings {
            if let Some(excused) = self.streams.values_mut().find(|excused| excused.left > 0) {
                excused.excuse(finding, None);
            }
        }
    }
}

impl Excused {
    fn excuse(&mut self, finding: &mut Finding, subject: Option<String>) {
        let is_between = BETWEEN.iter().any(|rules| finding.rule.starts_with(rules));
        if finding.severity != Severity::Error || !is_between {
            return;
        }
        let is_known = subject.as_ref().is_some_and(|subject| self.subjects.contains(subject));
        if !is_known {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            self.subjects.extend(subject);
        }
        finding.severity = Severity::Warning;
        finding.message.push_str(" (the stream says that an event was withheld: this goes back to it)");
    }
}
