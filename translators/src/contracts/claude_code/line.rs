//! Strings and JSON that stay on one line for every reader.
//!
//! Input: text and JSON of the runner. Output: the same values, with U+2028 and U+2029 written as escapes. Never: a raw line
//! separator; Node's `readline`, with which the SDK reads the messages, ends a line there.

use crate::encode::{Key, ObjectWriter, Value};
use serde_json::value::RawValue;

/// A text of the runner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a>(pub(super) &'a str);

/// JSON of the runner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a>(pub(super) &'a RawValue);

impl Value for Text<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        match has_separator(self.0) {
            false => map.text(key, self.0),
            true => map.raw(key, &escaped(crate::json::to_raw(self.0).get())),
        }
    }
}

impl Value for Raw<'_> {
    fn field(&self, key: &'static Key, map: &mut ObjectWriter<'_>) {
        match has_separator(self.0.get()) {
            false => map.raw(key, self.0.get()),
            true => map.raw(key, &escaped(self.0.get())),
        }
    }
}

/// Whether a text contains U+2028 or U+2029, which are `E2 80 A8` and `E2 80 A9`.
fn has_separator(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(0xE2, bytes).any(|at| matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9])))
}

/// JSON with these characters as escapes. They can only be inside its strings.
pub(super) fn escaped(json: &str) -> String {
    json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_among_their_neighbours() {
        for text in ["", "a", "\u{2027}", "\u{202A}", "\u{20A8}", "“quoted”", "\u{E2}"] {
            assert!(!has_separator(text), "{text:?}");
        }
        for text in ["\u{2028}", "a\u{2029}b", "“\u{2028}”"] {
            assert!(has_separator(text), "{text:?}");
        }
        assert_eq!(escaped("\"a\u{2028}\u{2029}\""), r#""a\u2028\u2029""#);
    }
}
