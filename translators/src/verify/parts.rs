//! Rules that several contracts share.

use super::{Basis, Finding};
use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// How the streams of a file begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Begin<C = i64> {
    /// At their start.
    #[default]
    AtStart,
    /// Anywhere: a client resumed them, and earlier events are missing.
    Anywhere,
    /// After the event with that cursor.
    After(C),
}

impl<C> Begin<C> {
    /// How the next stream of the file begins. A cursor applies to the first stream only.
    pub(crate) fn next_stream(&mut self) -> Self {
        let rest = if matches!(self, Self::AtStart) { Self::AtStart } else { Self::Anywhere };
        std::mem::replace(self, rest)
    }
}

impl Begin {
    /// A resumed stream of a contract with numeric cursors. The cursor -1 is the position before the first event.
    pub(crate) fn numbered(after: Option<&str>) -> Result<Self, String> {
        let Some(after) = after else { return Ok(Self::Anywhere) };
        match after.parse() {
            Ok(-1) => Ok(Self::AtStart),
            Ok(number @ 0..) => Ok(Self::After(number)),
            _ => Err(format!("invalid cursor {after:?}: use the number of the last event that the client has, or -1")),
        }
    }
}

/// A counter that starts at 0, without gaps.
#[derive(Debug)]
pub(crate) struct Numbering {
    next: u64,
    /// The last number that the client already has, until a later one arrives.
    after: Option<u64>,
    /// The basis of the rule that there are no gaps, at the start or later.
    gaps: Basis,
}

impl Default for Numbering {
    fn default() -> Self {
        Self { next: 0, after: None, gaps: Basis::Document }
    }
}

impl Numbering {
    /// A counter that the document only requires to increase.
    pub(crate) fn monotonic() -> Self {
        Self { gaps: Basis::Ours, ..Self::default() }
    }

    /// Checks the next number and continues from it, so that one gap or repeat gives one finding.
    pub(crate) fn take(&mut self, key: &'static str, number: Option<u64>, findings: &mut Vec<Finding>) {
        let Some(number) = number else { return };
        let expected = self.next;
        let after = self.after.take();
        if number != expected {
            let (rule, basis, what) = match (number, after) {
                _ if expected == 0 => ("sequence.start", self.gaps, "the first number must be 0"),
                (_, Some(_)) if number < expected => {
                    ("resume.repeat", Basis::Document, "the client already has the events up to its cursor")
                }
                _ if number < expected => ("sequence.repeat", Basis::Document, "numbers must increase by one"),
                _ => ("sequence.gap", self.gaps, "numbers must increase by one, without gaps"),
            };
            let message = format!("{key} is {number}, expected {expected}: {what}");
            findings.push(Finding::error(rule, format!("/{key}"), message).on(basis));
        }
        self.next = number.saturating_add(1);
    }

    /// Earlier events are known to be missing: this number is expected next.
    pub(crate) fn go_on_from(&mut self, number: u64) {
        self.next = number;
        self.after = None;
    }

    /// The stream continues after the event with that number.
    pub(crate) fn resume_after(&mut self, number: i64) {
        let number = u64::try_from(number).unwrap_or_default();
        self.next = number.saturating_add(1);
        self.after = Some(number);
    }
}

/// Ids that must be unique. Stored as hashes: a collision is less likely than a disk failure.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    seen: HashSet<u64>,
}

impl Ids {
    /// Checks the next id.
    pub(crate) fn take(&mut self, key: &'static str, id: Option<&str>, findings: &mut Vec<Finding>) {
        let Some(id) = id else { return };
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            findings.push(Finding::error(
                "id.repeat",
                format!("/{key}"),
                format!("duplicate {key}: each event must have its own"),
            ));
        }
    }
}

/// A stream with exactly one first and one last event.
#[derive(Debug, Default)]
pub(crate) struct OneEnd {
    begun: bool,
    ended: bool,
}

impl OneEnd {
    /// Checks the next event. `first` and `last` are the names of the required first and last events.
    pub(crate) fn take(&mut self, is_first: bool, is_last: bool, first: &str, last: &str, findings: &mut Vec<Finding>) {
        if self.ended {
            let message = if is_last {
                format!("second end: a stream must have exactly one {last}")
            } else {
                format!("event after the end: no event may follow {last}")
            };
            findings.push(Finding::error(if is_last { "end.repeat" } else { "end.not_last" }, "", message));
        } else if !self.begun && !is_first {
            findings.push(Finding::error("start.missing", "", format!("the first event must be {first}")));
        } else if self.begun && is_first {
            findings.push(Finding::error(
                "start.repeat",
                "",
                format!("second {first}: only the first event may be {first}"),
            ));
        }
        self.begun = true;
        self.ended |= is_last;
    }

    /// The beginning of the stream is missing.
    pub(crate) fn cut(&mut self) {
        self.begun = true;
    }

    /// Whether there was an event.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The file is over.
    pub(crate) fn end(&self, last: &str, findings: &mut Vec<Finding>) {
        if self.begun && !self.ended {
            findings.push(Finding::error(
                "end.missing",
                "",
                format!("the stream has no end: its last event must be {last}"),
            ));
        }
    }
}

/// Items that are opened and closed by id.
#[derive(Debug)]
pub(crate) struct Pairs {
    what: &'static str,
    key: &'static str,
    open: HashSet<String>,
    /// The beginning of the stream is missing, so it is unknown what was opened there.
    is_cut: bool,
}

impl Pairs {
    /// No items are open. `what` names an item for people, `key` is the JSON pointer to its id in an event.
    pub(crate) fn new(what: &'static str, key: &'static str) -> Self {
        Self { what, key, open: HashSet::new(), is_cut: false }
    }

    /// The beginning of the stream is missing, so it is unknown what was opened there.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// An item is opened.
    pub(crate) fn open(&mut self, id: &str, findings: &mut Vec<Finding>) {
        if !self.open.insert(id.to_owned()) {
            findings.push(Finding::error("pair.opened_twice", self.key, format!("this {} is already open", self.what)));
        }
    }

    /// An event refers to an item that must be open.
    pub(crate) fn within(&self, id: &str, findings: &mut Vec<Finding>) {
        if !self.open.contains(id) && !self.is_cut {
            findings.push(Finding::error("pair.not_open", self.key, format!("this {} is not open", self.what)));
        }
    }

    /// An item is closed.
    pub(crate) fn close(&mut self, id: &str, findings: &mut Vec<Finding>) {
        if !self.open.remove(id) && !self.is_cut {
            findings.push(Finding::error("pair.not_open", self.key, format!("this {} is not open", self.what)));
        }
    }

    /// Whether an item is open.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.open.contains(id)
    }

    /// The stream ends: all items should be closed. `basis` is the basis of that rule here, since a run that breaks off may
    /// leave items open.
    pub(crate) fn end(&mut self, basis: Basis, findings: &mut Vec<Finding>) {
        let count = self.open.drain().count();
        if count > 0 {
            let message = format!("{count} {}(s) still open: each one must be closed before the end", self.what);
            findings.push(Finding::error("pair.left_open", "", message).on(basis));
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

    #[test]
    fn a_resumed_stream_continues_after_its_cursor() {
        for (numbers, expected) in [
            (&[5, 6][..], vec![]),
            (&[4, 5, 6], vec!["resume.repeat"]),
            (&[0, 1, 2], vec!["resume.repeat"]),
            (&[7, 8], vec!["sequence.gap"]),
            (&[5, 5], vec!["sequence.repeat"]),
        ] {
            let (mut numbering, mut findings) = (Numbering::default(), Vec::new());
            numbering.resume_after(4);
            for number in numbers {
                numbering.take("seq", Some(*number), &mut findings);
            }
            let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
            assert_eq!(rules, expected, "{numbers:?}");
        }
        assert_eq!(Begin::numbered(Some("-1")), Ok(Begin::AtStart));
        assert_eq!(Begin::numbered(Some("7")), Ok(Begin::After(7)));
        assert_eq!(Begin::numbered(None), Ok(Begin::Anywhere));
        for cursor in ["-2", "evt_1", "", "1.5", "99999999999999999999"] {
            assert!(Begin::numbered(Some(cursor)).is_err(), "{cursor}");
        }
    }
}
