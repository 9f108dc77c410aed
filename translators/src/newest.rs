//! The newest of a sequence of values.
//!
//! Input: values, one after the other. Output: whether a value is new. Never: more values in memory than a bound.

use crate::hash::HashSet;
use std::collections::VecDeque;
use std::hash::Hash;

/// The newest values, at most `MOST` of them.
#[derive(Debug)]
pub(crate) struct Newest<T, const MOST: usize> {
    known: HashSet<T>,
    /// Oldest first.
    in_order: VecDeque<T>,
}

impl<T, const MOST: usize> Default for Newest<T, MOST> {
    fn default() -> Self {
        Self { known: HashSet::default(), in_order: VecDeque::new() }
    }
}

impl<T: Copy + Eq + Hash, const MOST: usize> Newest<T, MOST> {
    /// Whether a value is one of the newest.
    pub(crate) fn has(&self, value: &T) -> bool {
        self.known.contains(value)
    }

    /// Whether there were as many values as are kept, so that further ones replace others.
    pub(crate) fn is_full(&self) -> bool {
        self.in_order.len() >= MOST
    }

    /// Adds a value; `false` if it is one of the newest already, which leaves its place as it was.
    pub(crate) fn add(&mut self, value: T) -> bool {
        if !self.known.insert(value) {
            return false;
        }
        self.in_order.push_back(value);
        if self.in_order.len() > MOST
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_values_are_kept() {
        let mut newest = Newest::<u32, 3>::default();
        assert_eq!([1, 2, 1].map(|value| newest.add(value)), [true, true, false]);
        assert!(!newest.is_full());
        assert!(newest.add(3) && newest.is_full());
        assert!(newest.has(&1));
        assert!(newest.add(4));
        assert!(!newest.has(&1) && newest.has(&2));
        assert_eq!((newest.known.len(), newest.in_order.len()), (3, 3));
    }
}
