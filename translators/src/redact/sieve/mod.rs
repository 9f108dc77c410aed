//! A glance that rules out nearly all records: does any of some literals stand in this text?
//!
//! In: literals, once; then bytes. Out: the literals in them, one after the other, until somebody has seen enough. Never: a
//! literal passed over, a place told where none stands.
//!
//! The last eight bytes of each literal are its window, and each literal is in one of sixteen groups ([`groups`]). Where a group is
//! open to the bytes in all places of a window, the literals that end like the text are compared. Where the processor can, 32
//! windows are looked at at once ([`lanes`]). Elsewhere it is done byte by byte, with the last four places: a word of 64 bits has for
//! each place, and each group, whether the bytes so far are ruled out there; a byte of the text shifts the word by one place and
//! adds what that byte rules out. The tables have one and two kilobytes, where an automaton of all literals has hundreds.

mod groups;
mod lanes;

use groups::{GROUPS, Group, PLACES};
use lanes::Lanes;
use std::ops::Range;

/// The last places of a window, which are all that is looked at byte by byte: times the groups, they are the bits of a word.
const LAST: usize = 4;

/// So many bytes are read before it is asked whether there was anything.
const STEP: usize = 16;

/// One literal.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// What it is told as.
    pub(super) number: usize,
    /// Never empty.
    pub(super) text: Vec<u8>,
    /// Whether upper and lower case matter.
    pub(super) is_exact: bool,
}

/// A literal, and its last bytes as one number, so that most of those that end alike are ruled out at once.
#[derive(Clone, Debug)]
struct Ending {
    wanted: Wanted,
    /// The last eight bytes or, of a shorter one, what the mask leaves of them; in lower case unless case matters.
    last: u64,
    mask: u64,
}

pub(super) struct Sieve {
    lanes: Lanes,
    /// For each byte, the places and groups that it rules out.
    table: Box<[u64; 256]>,
    /// The state before the first byte: only what is open to any byte is not ruled out.
    start: u64,
    /// The literals by their ends, see [`end_of`]; and how many bytes of one are looked at for that.
    ends: Vec<Vec<Ending>>,
    end_bytes: usize,
}

impl Sieve {
    pub(super) fn new(literals: Vec<Wanted>) -> Self {
        let groups = groups::of(&literals);
        let (table, start) = ruled_out(&groups);
        let end_bytes = literals.iter().map(|wanted| wanted.text.len()).min().unwrap_or_default().min(3);
        let mut ends = vec![Vec::new(); ENDS];
        for wanted in literals {
            if let Some(list) = ends.get_mut(end_of(&wanted.text, end_bytes)) {
                list.push(Ending::new(wanted));
            }
        }
        Self { lanes: Lanes::new(&groups), table, start, ends, end_bytes }
    }

    /// Whether `is_it`, asked about each literal that stands in the text (its number and place), says so of one.
    pub(super) fn any(&self, text: &[u8], mut is_it: impl FnMut(usize, Range<usize>) -> bool) -> bool {
        let by_lanes = self.lanes.any(text, &mut |end| self.compare(text, end, &mut is_it));
        by_lanes.unwrap_or_else(|| self.any_by_bytes(text, is_it))
    }

    fn any_by_bytes(&self, text: &[u8], mut is_it: impl FnMut(usize, Range<usize>) -> bool) -> bool {
        // Two halves at once, since each step waits for the one before it.
        let half = text.len() / 2 / STEP * STEP;
        let (front, rest) = text.split_at(half);
        let (back, end) = rest.split_at(half);
        let mut states = [self.start, self.start];
        if let Some(before) = front.last_chunk::<{ LAST - 1 }>() {
            states[1] = before.iter().fold(states[1], |state, byte| self.step(state, *byte));
        }
        let pairs = front.as_chunks::<STEP>().0.iter().zip(back.as_chunks::<STEP>().0);
        for (nth, (one, other)) in pairs.enumerate() {
            let before = states;
            let mut left = [u64::MAX; 2];
            for (one, other) in one.iter().zip(other) {
                states = [self.step(states[0], *one), self.step(states[1], *other)];
                left = [left[0] & states[0], left[1] & states[1]];
            }
            let at = nth * STEP;
            if (has_any(left[0]) && self.look(text, at..at + STEP, before[0], &mut is_it))
                || (has_any(left[1]) && self.look(text, half + at..half + at + STEP, before[1], &mut is_it))
            {
                return true;
            }
        }
        // Without halves, what came before the end is the start.
        let from = text.len() - end.len();
        self.look(text, from..text.len(), states[1], &mut is_it)
    }

    fn step(&self, state: u64, byte: u8) -> u64 {
        state << GROUPS | self.table.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Reads a part of the text again, and compares the literals of the groups that are left over.
    fn look(
        &self,
        text: &[u8],
        part: Range<usize>,
        mut state: u64,
        is_it: &mut impl FnMut(usize, Range<usize>) -> bool,
    ) -> bool {
        for at in part {
            state = self.step(state, text.get(at).copied().unwrap_or_default());
            if has_any(state) && self.compare(text, at + 1, is_it) {
                return true;
            }
        }
        false
    }

    #[cold]
    fn compare(&self, text: &[u8], end: usize, is_it: &mut impl FnMut(usize, Range<usize>) -> bool) -> bool {
        let before = text.get(..end).unwrap_or_default();
        let alike = self.ends.get(end_of(before, self.end_bytes)).map(Vec::as_slice).unwrap_or_default();
        let last = last_of(before);
        let exact = u64::from_le_bytes(last);
        let folded = u64::from_le_bytes(last.map(|byte| byte.to_ascii_lowercase()));
        alike.iter().any(|Ending { wanted, last, mask }| {
            if (if wanted.is_exact { exact } else { folded }) & mask != *last {
                return false;
            }
            let Some(start) = end.checked_sub(wanted.text.len()) else { return false };
            let said = text.get(start..end).unwrap_or_default();
            let stands = if wanted.is_exact { said == wanted.text } else { said.eq_ignore_ascii_case(&wanted.text) };
            stands && is_it(wanted.number, start..end)
        })
    }
}

impl Ending {
    fn new(wanted: Wanted) -> Self {
        let mut last = last_of(&wanted.text);
        if !wanted.is_exact {
            last.make_ascii_lowercase();
        }
        let unknown = last.len().saturating_sub(wanted.text.len());
        Self { last: u64::from_le_bytes(last), mask: u64::MAX.unbounded_shl(8 * unknown as u32), wanted }
    }
}

/// The last eight bytes of a text; before a shorter one stand zeros.
fn last_of(text: &[u8]) -> [u8; 8] {
    text.last_chunk().copied().unwrap_or_else(|| {
        let mut last = [0; 8];
        last.iter_mut().rev().zip(text.iter().rev()).for_each(|(to, from)| *to = *from);
        last
    })
}

/// A number for the last bytes of a text, upper or lower case.
fn end_of(text: &[u8], bytes: usize) -> usize {
    let last = text.iter().rev().take(bytes).map(|byte| usize::from(byte.to_ascii_lowercase()));
    last.fold(0, |number, byte| (number * 31 + byte) % ENDS)
}

/// So many numbers there are of ends.
const ENDS: usize = 512;

/// Whether a group is left over in the last place.
fn has_any(state: u64) -> bool {
    state >> (GROUPS * (LAST - 1)) != (1 << GROUPS) - 1
}

/// For each byte the places and groups that it rules out, and what is ruled out before the first byte.
fn ruled_out(groups: &[Group; GROUPS]) -> (Box<[u64; 256]>, u64) {
    let (mut table, mut start) = (Box::new([u64::MAX; 256]), u64::MAX);
    for (nth, group) in groups.iter().enumerate() {
        let last = group.classes.iter().skip(PLACES - LAST);
        for (place, class) in last.clone().enumerate() {
            let bit = 1u64 << (place * GROUPS + nth);
            for (byte, ruled_out) in (0..=u8::MAX).zip(table.iter_mut()) {
                if class.has(byte) {
                    *ruled_out &= !bit;
                }
            }
            if last.clone().take(place + 1).all(|class| class.is_open) {
                start &= !bit;
            }
        }
    }
    (table, start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wanted(texts: &[(&str, bool)]) -> Vec<Wanted> {
        let all = texts.iter().enumerate();
        all.map(|(number, (text, is_exact))| Wanted { number, text: text.as_bytes().to_vec(), is_exact: *is_exact })
            .collect()
    }

    /// Every place of every literal, by trying each.
    fn tried(literals: &[Wanted], text: &[u8]) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for wanted in literals {
            for start in 0..=text.len() {
                let said = text.get(start..start + wanted.text.len()).unwrap_or_default();
                let stands = said.len() == wanted.text.len()
                    && if wanted.is_exact { said == wanted.text } else { said.eq_ignore_ascii_case(&wanted.text) };
                if stands {
                    all.push((wanted.number, start));
                }
            }
        }
        all.sort_unstable();
        all
    }

    fn told(literals: &[Wanted], text: &[u8]) -> Vec<(usize, usize)> {
        let sieve = Sieve::new(literals.to_vec());
        let length = |number| literals.iter().find(|wanted| wanted.number == number).unwrap().text.len();
        let (mut by_any, mut by_bytes) = (Vec::new(), Vec::new());
        let found = sieve.any(text, |number, place| {
            assert_eq!(place.len(), length(number));
            by_any.push((number, place.start));
            false
        });
        let found_by_bytes = sieve.any_by_bytes(text, |number, place| {
            by_bytes.push((number, place.start));
            false
        });
        assert!(!found && !found_by_bytes, "nobody has seen enough");
        by_any.sort_unstable();
        by_bytes.sort_unstable();
        assert_eq!(by_any, by_bytes, "at once and byte by byte");
        by_any
    }

    #[test]
    fn nothing_is_wanted_or_nothing_is_there() {
        assert!(
            !Sieve::new(Vec::new()).any(b"anything at all, and more of it than one step of sixteen bytes", |_, _| true)
        );
        let literals = wanted(&[("sk-", true)]);
        assert!(!Sieve::new(literals.clone()).any(b"", |_, _| true));
        assert!(!Sieve::new(literals.clone()).any(b"k-", |_, _| true));
        assert!(Sieve::new(literals).any(b"sk-", |number, place| (number, place) == (0, 0..3)));
    }

    #[test]
    fn a_literal_is_found_wherever_it_stands() {
        let literals = wanted(&[("sk-", true), ("authorization", false), ("://", false), ("a\"", false)]);
        for before in 0..100 {
            for (number, text) in ["sk-", "AuthoRization", "://", "A\""].iter().enumerate() {
                let (front, back) = ("x".repeat(before), "y".repeat(99 - before));
                assert_eq!(told(&literals, format!("{front}{text}{back}").as_bytes()), [(number, before)], "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_tells_what_trying_tells(
            literals in prop::collection::vec(("[a-cA-C\"-]{1,12}", any::<bool>()), 0..20),
            text in "[a-cA-C\"-]{0,200}",
        ) {
            let literals: Vec<Wanted> = literals.into_iter().enumerate()
                .map(|(number, (text, is_exact))| Wanted { number, text: text.into_bytes(), is_exact }).collect();
            prop_assert_eq!(told(&literals, text.as_bytes()), tried(&literals, text.as_bytes()));
        }
    }
}
