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

pub(super) struct PointerBuilder {
    text: String,
    latest: Option<Arc<str>>,
    left: usize,
}

impl Default for PointerBuilder {
    fn default() -> Self {
        Self { text: String::new(), latest: None, left: ALL }
    }
}

impl PointerBuilder {
    /// The length of the current pointer, for [`PointerBuilder::truncate`].
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.text.truncate(len);
    }

    /// Enters a key or an index.
    pub(super) fn push(&mut self, part: &str) {
        if self.text.len() + 1 + part.len() > LONGEST {
            return;
        }
        self.text.push('/');
        if !part.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
            self.text.push_str(part);
            return;
        }
        for char in part.chars() {
            match char {
                '~' => self.text.push_str("~0"),
                '/' => self.text.push_str("~1"),
                _ => self.text.push(char),
            }
        }
    }

    /// Returns the pointer.
    pub(super) fn build(&mut self) -> Arc<str> {
        if let Some(latest) = self.latest.as_ref().filter(|latest| ***latest == *self.text) {
            return latest.clone();
        }
        let Some(left) = self.left.checked_sub(self.text.len() + OVERHEAD) else {
            // The cap is reached: from here on, every place is reported as the whole record.
            self.left = 0;
            self.text.clear();
            let latest: Arc<str> = "".into();
            self.latest = Some(latest.clone());
            return latest;
        };
        self.left = left;
        let latest: Arc<str> = self.text.as_str().into();
        self.latest = Some(latest.clone());
        latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_escaped_in_a_pointer() {
        let mut pointer = PointerBuilder::default();
        assert_eq!(&*pointer.build(), "");
        pointer.push("a/b");
        let front = pointer.len();
        pointer.push("~");
        assert_eq!(&*pointer.build(), "/a~1b/~0");
        pointer.truncate(front);
        pointer.push("0");
        assert_eq!(&*pointer.build(), "/a~1b/0");
    }

    #[test]
    fn places_beyond_the_caps_are_reported_under_an_ancestor() {
        let mut pointer = PointerBuilder::default();
        pointer.push("a");
        let front = pointer.len();
        pointer.push(&"x".repeat(LONGEST));
        assert_eq!(&*pointer.build(), "/a");
        pointer.truncate(front);
        pointer.push(&"x".repeat(LONGEST - front - 1));
        assert_eq!(pointer.build().len(), LONGEST);
        let mut sizes = Vec::new();
        for nth in 0..100_000 {
            pointer.truncate(0);
            pointer.push(&nth.to_string());
            sizes.push(pointer.build().len());
        }
        assert!(sizes.iter().sum::<usize>() < ALL);
        assert_eq!((sizes[0], sizes[99_999]), (2, 0));
    }
}
