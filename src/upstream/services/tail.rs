//! The end of a command's output.
//!
//! Input: bytes, in pieces. Output: the last of them, as text. Never: more bytes than the bound; a text that begins within a character.

use std::collections::VecDeque;

/// The last bytes of an output.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
    is_truncated: bool,
}

impl Tail {
    /// An empty output, of which at most `most` bytes are kept.
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most, is_truncated: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = bytes.get(bytes.len().saturating_sub(self.most)..).unwrap_or_default();
        let over = (self.bytes.len() + kept.len()).saturating_sub(self.most);
        self.is_truncated |= over > 0 || kept.len() < bytes.len();
        self.bytes.drain(..over.min(self.bytes.len()));
        self.bytes.extend(kept);
    }

    /// The text, and whether its beginning is missing. Invalid UTF-8 is replaced.
    pub(super) fn text(&mut self) -> (String, bool) {
        let bytes = &*self.bytes.make_contiguous();
        let is_inside = |byte: &&u8| **byte & 0xC0 == 0x80;
        // The rest of a character whose first byte is missing.
        let cut = if self.is_truncated { bytes.iter().take(3).take_while(is_inside).count() } else { 0 };
        (String::from_utf8_lossy(bytes.get(cut..).unwrap_or_default()).into_owned(), self.is_truncated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_begins_with_a_whole_character() {
        let mut tail = Tail::new(6);
        tail.push("äöü".as_bytes());
        assert_eq!(tail.text(), ("äöü".to_owned(), false));
        tail.push(b"x");
        assert_eq!(tail.text(), ("öüx".to_owned(), true));
        tail.push(b"a longer text");
        assert_eq!(tail.text(), ("r text".to_owned(), true));
        let mut none = Tail::new(0);
        none.push(b"x");
        assert_eq!(none.text(), (String::new(), true));
    }
}
