//! Terminals that tools show.
//!
//! Input: output of terminals, as text or as base64 in pieces that may cut a character. Output: text. Never: a terminal of
//! another session; more terminals than tools may be open.

use crate::frame::SharedStr;
use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};

/// A terminal of the running turn.
#[derive(Debug, Default)]
pub(super) struct Terminal {
    /// The call that shows it.
    pub(super) call: Option<SharedStr>,
    /// The length of the output so far, in bytes.
    length: usize,
    /// Bytes of a character that is not complete.
    partial: Vec<u8>,
    /// How its command ended, if that was said before the call ended.
    pub(super) exit_code: Option<i32>,
}

impl Terminal {
    /// Adds bytes; returns the complete characters.
    pub(super) fn add(&mut self, bytes: &[u8]) -> String {
        self.length += bytes.len();
        self.partial.extend_from_slice(bytes);
        let keep = match std::str::from_utf8(&self.partial) {
            Ok(_) => 0,
            Err(error) if error.error_len().is_none() => self.partial.len() - error.valid_up_to(),
            Err(_) => incomplete(&self.partial),
        };
        let rest = self.partial.split_off(self.partial.len() - keep);
        let whole = std::mem::replace(&mut self.partial, rest);
        String::from_utf8_lossy(&whole).into_owned()
    }

    /// The whole output so far; returns what is new. A snapshot that is shorter than what is known adds nothing.
    pub(super) fn snapshot(&mut self, bytes: &[u8]) -> String {
        self.add(bytes.get(self.length..).unwrap_or_default())
    }
}

/// The length of an incomplete character at the end of bytes that are invalid elsewhere.
fn incomplete(bytes: &[u8]) -> usize {
    let is_cut = |&length: &usize| {
        let tail = bytes.len().checked_sub(length).and_then(|at| bytes.get(at..)).unwrap_or_default();
        std::str::from_utf8(tail).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=3).find(is_cut).unwrap_or(0)
}

/// Decodes base64 in either alphabet, with or without padding; `None` if the text is no base64.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    BASE64_NOPAD.decode(digits).or_else(|_| BASE64URL_NOPAD.decode(digits)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_is_cut_is_held() {
        let mut terminal = Terminal::default();
        assert_eq!(terminal.add(&decoded("Y29tcGlsaW5nIOKc").unwrap()), "compiling ");
        assert_eq!(terminal.add(&decoded("kwo=").unwrap()), "\u{2713}\n");
        assert_eq!(terminal.snapshot("compiling \u{2713}\nmore".as_bytes()), "more");
        assert_eq!(terminal.snapshot(b"compiling"), "");
        assert_eq!(terminal.add(b"\xFFa\xE2"), "\u{FFFD}a");
        assert_eq!(terminal.add(b"\x9C\x93"), "\u{2713}");
        assert_eq!(decoded("a b"), None);
        assert_eq!((decoded("+/8="), decoded("-_8")), (Some(vec![0xFB, 0xFF]), Some(vec![0xFB, 0xFF])));
    }
}
