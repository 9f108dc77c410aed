//! Rules that several contracts share.

use super::Finding;
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// A counter that starts at 0 and has no gap.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    next: u64,
}

impl Numbering {
    /// Takes the next number; says what is wrong with it and goes on from it, so that one gap or repeat is one finding.
    pub(crate) fn take(&mut self, key: &'static str, number: Option<u64>, findings: &mut Vec<Finding>) {
        let Some(number) = number else { return };
        let expected = self.next;
        if number != expected {
            let (rule, what) = match number {
                _ if expected == 0 => ("sequence.start", "the first one is 0"),
                _ if number < expected => ("sequence.repeat", "numbers go up by one"),
                _ => ("sequence.gap", "numbers go up by one, without a gap"),
            };
            findings.push(Finding::error(
                rule,
                format!("/{key}"),
                format!("{key} is {number} where {expected} was due: {what}"),
            ));
        }
        self.next = number.saturating_add(1);
    }

    /// What came before is known to be missing: this number is due next.
    pub(crate) fn go_on_from(&mut self, number: u64) {
        self.next = number;
    }
}

/// Ids that occur once. Kept as hashes: a false alarm is less likely than a broken disk.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    seen: HashSet<u64>,
}

impl Ids {
    /// Takes the next id.
    pub(crate) fn take(&mut self, key: &'static str, id: Option<&str>, findings: &mut Vec<Finding>) {
        let Some(id) = id else { return };
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            findings.push(Finding::error(
                "id.repeat",
                format!("/{key}"),
                format!("{key} occurred before: each event has its own"),
            ));
        }
    }
}

/// A stream that has one first and one last event.
#[derive(Debug, Default)]
pub(crate) struct OneEnd {
    begun: bool,
    ended: bool,
}

impl OneEnd {
    /// Takes the next event. `first` and `last` are the names of what must come first and last.
    pub(crate) fn take(&mut self, is_first: bool, is_last: bool, first: &str, last: &str, findings: &mut Vec<Finding>) {
        if self.ended {
            let message = if is_last {
                format!("a second end: exactly one {last} is the last event")
            } else {
                format!("an event behind the end: nothing follows {last}")
            };
            findings.push(Finding::error(if is_last { "end.repeat" } else { "end.not_last" }, "", message));
        } else if !self.begun && !is_first {
            findings.push(Finding::error("start.missing", "", format!("the first event is {first}")));
        } else if self.begun && is_first {
            findings.push(Finding::error("start.repeat", "", format!("a second {first}: it is the first event only")));
        }
        self.begun = true;
        self.ended |= is_last;
    }

    /// What came first is gone.
    pub(crate) fn cut(&mut self) {
        self.begun = true;
    }

    /// Whether anything came.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether the last event came.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The file is over.
    pub(crate) fn end(&self, last: &str, findings: &mut Vec<Finding>) {
        if self.begun && !self.ended {
            findings.push(Finding::error(
                "end.missing",
                "",
                format!("the stream has no end: the last event is {last}"),
            ));
        }
    }
}

/// Things that are opened and closed by id.
#[derive(Debug)]
pub(crate) struct Pairs {
    what: &'static str,
    key: &'static str,
    open: HashSet<String>,
    /// What was opened first is not known.
    is_cut: bool,
}

impl Pairs {
    /// Nothing is open. `what` names the thing for people, `key` its id in an event, as a JSON pointer.
    pub(crate) fn new(what: &'static str, key: &'static str) -> Self {
        Self { what, key, open: HashSet::new(), is_cut: false }
    }

    /// The front of the stream is gone: what it opened is not known.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Something is opened.
    pub(crate) fn open(&mut self, id: &str, findings: &mut Vec<Finding>) {
        if !self.open.insert(id.to_owned()) {
            findings.push(Finding::error("pair.opened_twice", self.key, format!("this {} is open already", self.what)));
        }
    }

    /// Something is spoken of that must be open.
    pub(crate) fn within(&self, id: &str, findings: &mut Vec<Finding>) {
        if !self.open.contains(id) && !self.is_cut {
            findings.push(Finding::error("pair.not_open", self.key, format!("this {} is not open here", self.what)));
        }
    }

    /// Something is closed.
    pub(crate) fn close(&mut self, id: &str, findings: &mut Vec<Finding>) {
        if !self.open.remove(id) && !self.is_cut {
            findings.push(Finding::error("pair.not_open", self.key, format!("this {} is not open here", self.what)));
        }
    }

    /// The stream ends: everything should be closed.
    pub(crate) fn end(&mut self, findings: &mut Vec<Finding>) {
        let count = self.open.drain().count();
        if count > 0 {
            let message = format!("{count} {}(s) still open at the end: each is closed before it", self.what);
            findings.push(Finding::error("pair.left_open", "", message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_gap_or_repeat_is_one_finding() {
        for (numbers, expected) in [
            (&[0, 1, 2][..], vec![]),
            (&[1, 2, 3], vec!["sequence.start"]),
            (&[0, 1, 5, 6], vec!["sequence.gap"]),
            (&[0, 1, 1, 2, 3], vec!["sequence.repeat"]),
            (&[0, 1, 2, 0, 1, 2], vec!["sequence.repeat"]),
            (&[u64::MAX, u64::MAX], vec!["sequence.start"]),
        ] {
            let (mut numbering, mut findings) = (Numbering::default(), Vec::new());
            for number in numbers {
                numbering.take("seq", Some(*number), &mut findings);
            }
            let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
            assert_eq!(rules, expected, "{numbers:?}");
        }
    }
}
