//! Builds the JSON pointer to the current place of a walk through a record.
//!
//! Input: the keys and indexes as the walk enters and leaves them. Output: the pointer to a place that is redacted. Never:
//! unbounded memory per record, however deep it is, however long its keys are and however many places are redacted. A place
//! beyond the caps is reported under its nearest ancestor that fits, ultimately under the record.

use std::sync::Arc;

/// The maximum length of a pointer in bytes.
const LONGEST: usize = 1 << 10;
/// The maximum size of all pointers of a record together, including [`OVERHEAD`] for each.
const ALL: usize = 64 << 10;
const OVERHEAD: usize = 16;

pub(super) struct Way {
    text: String,
    told: Option<Arc<str>>,
    left: usize,
}

impl Default for Way {
    fn default() -> Self {
        Self { text: String::new(), told: None, left: ALL }
    }
}

impl Way {
    /// The length of the current pointer, for [`Way::back_to`].
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn back_to(&mut self, len: usize) {
        self.text.truncate(len);
    }

    /// Enters a key or an index.
    pub(super) fn down(&mut self, part: &str) {
        if self.text.len() + 1 + part.len() > LONGEST {
            return;
        }
        self.text.push('/');
        for char in part.chars() {
            match char {
                '~' => self.text.push_str("~0"),
                '/' => self.text.push_str("~1"),
                _ => self.text.push(char),
            }
        }
    }

    /// Returns the pointer.
    pub(super) fn tell(&mut self) -> Arc<str> {
        if let Some(told) = self.told.as_ref().filter(|told| ***told == *self.text) {
            return told.clone();
        }
        let Some(left) = self.left.checked_sub(self.text.len() + OVERHEAD) else {
            // The cap is reached: from here on, every place is reported as the whole record.
            self.left = 0;
            self.text.clear();
            let told: Arc<str> = "".into();
            self.told = Some(told.clone());
            return told;
        };
        self.left = left;
        let told: Arc<str> = self.text.as_str().into();
        self.told = Some(told.clone());
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_as_a_pointer() {
        let mut way = Way::default();
        assert_eq!(&*way.tell(), "");
        way.down("a/b");
        let front = way.len();
        way.down("~");
        assert_eq!(&*way.tell(), "/a~1b/~0");
        way.back_to(front);
        way.down("0");
        assert_eq!(&*way.tell(), "/a~1b/0");
    }

    #[test]
    fn what_is_too_deep_or_one_too_many_is_told_by_what_it_stands_in() {
        let mut way = Way::default();
        way.down("a");
        let front = way.len();
        way.down(&"x".repeat(LONGEST));
        assert_eq!(&*way.tell(), "/a");
        way.back_to(front);
        way.down(&"x".repeat(LONGEST - front - 1));
        assert_eq!(way.tell().len(), LONGEST);
        let mut sizes = Vec::new();
        for nth in 0..100_000 {
            way.back_to(0);
            way.down(&nth.to_string());
            sizes.push(way.tell().len());
        }
        assert!(sizes.iter().sum::<usize>() < ALL);
        assert_eq!((sizes[0], sizes[99_999]), (2, 0));
    }
}
