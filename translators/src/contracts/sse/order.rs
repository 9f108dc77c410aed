//! The order of event ids: "monotonic within a run".
//!
//! Input: the ids of a run's events. Output: a finding for each id that does not increase. Never: a requirement on the spelling
//! of ids. framegate's own ids sort as strings. Other writers may pad their counters too little, as in `evt_9999`, `evt_10000`;
//! such ids increase by number.

use crate::verify::{Basis, Finding};
use std::cmp::Ordering;

#[derive(Debug)]
pub(super) struct Order {
    last: String,
    /// The last id is the cursor of a client that resumed.
    is_cursor: bool,
    /// Whether all ids so far increased as strings, and by number.
    by_text: bool,
    by_number: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { last: String::new(), is_cursor: false, by_text: true, by_number: true }
    }
}

impl Order {
    /// The order of a stream that continues after an event.
    pub(super) fn after(cursor: String) -> Self {
        Self { last: cursor, is_cursor: true, ..Self::default() }
    }

    /// Checks the next id.
    pub(super) fn take(&mut self, id: &str) -> Option<Finding> {
        let last = std::mem::replace(&mut self.last, id.to_owned());
        let is_cursor = std::mem::take(&mut self.is_cursor);
        if last.is_empty() {
            return None;
        }
        let by_text = id > last.as_str();
        self.by_text &= by_text;
        self.by_number &= compare(id, &last) == Ordering::Greater;
        if self.by_text || (by_text && self.by_number) {
            return None;
        }
        if self.by_number {
            let message = "event_id does not sort after the previous one as a string, although its number is greater";
            return Some(Finding::error("id.order", "/event_id", message).on(Basis::Ours));
        }
        // One misplaced id gives one finding.
        (self.by_text, self.by_number) = (true, true);
        Some(if is_cursor {
            let message = "the client already has this event: event_id must sort after its cursor";
            Finding::error("resume.repeat", "/event_id", message)
        } else {
            let message = "event_id does not sort after the previous one: ids must increase within a run, as strings or by number";
            Finding::error("id.order", "/event_id", message)
        })
    }
}

/// Compares ids that differ only in a trailing number by that number, all others as strings.
fn compare(one: &str, other: &str) -> Ordering {
    let split = |id: &str| {
        let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (lead, number) = id.split_at(id.len() - digits);
        (lead.to_owned(), number.trim_start_matches('0').to_owned())
    };
    let ((lead, number), (other_lead, other_number)) = (split(one), split(other));
    if lead != other_lead {
        return one.cmp(other);
    }
    (number.len(), number).cmp(&(other_number.len(), other_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mut order: Order, ids: &[&str]) -> Vec<(&'static str, Basis)> {
        ids.iter().filter_map(|id| order.take(id)).map(|finding| (finding.rule, finding.basis)).collect()
    }

    #[test]
    fn ids_increase_as_strings_or_by_number() {
        let (ours, wrong) = (("id.order", Basis::Ours), ("id.order", Basis::Document));
        for (ids, expected) in [
            (&["evt_r_0001", "evt_r_0002"][..], vec![]),
            (&["evt_01HBBA", "evt_01HBBB", "evt_01HBC0"], vec![]),
            (&["evt_r_9998", "evt_r_9999", "evt_r_10000", "evt_r_10001"], vec![ours]),
            (&["1", "10", "2"], vec![]),
            (&["evt_r_9999", "evt_r_10000", "evt_r_9999"], vec![ours, wrong]),
            (&["a", "a"], vec![wrong]),
            (&["1", "3", "2", "4"], vec![wrong]),
            (&["evt_r_10000", "evt_r_9999", "evt_r_10001"], vec![wrong]),
        ] {
            assert_eq!(found(Order::default(), ids), expected, "{ids:?}");
        }
    }

    #[test]
    fn the_first_id_must_be_after_the_cursor() {
        let repeat = ("resume.repeat", Basis::Document);
        assert_eq!(found(Order::after("e_5".to_owned()), &["e_6", "e_7"]), []);
        assert_eq!(found(Order::after("e_5".to_owned()), &["e_5", "e_6"]), [repeat]);
        assert_eq!(found(Order::after("e_5".to_owned()), &["e_1", "e_2"]), [repeat]);
        assert_eq!(found(Order::after("e_9".to_owned()), &["e_10"]), [("id.order", Basis::Ours)]);
    }
}
