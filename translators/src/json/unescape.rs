//! Unescapes a string.
//!
//! Input: the text between a string's quotes. Output: the unescaped text, if every escape is valid and every surrogate has its
//! other half. Never: a guess; any other case is left to the ordinary parser.

use super::scan::{marks, ones};

/// The unescaped text; `None` if the ordinary parser must decide.
pub(super) fn unescape(inner: &str) -> Option<String> {
    let mut rest = inner.as_bytes();
    // An escape is never shorter than its character. The extra 8 bytes are for copying whole words.
    let mut out = Vec::with_capacity(rest.len() + 8);
    loop {
        rest = plain(rest, &mut out);
        let Some((b'\\', after)) = rest.split_first() else {
            // A quote or a control character cannot be part of a string.
            return if rest.is_empty() { String::from_utf8(out).ok() } else { None };
        };
        let (&letter, after) = after.split_first()?;
        rest = after;
        out.push(match letter {
            b'n' => b'\n',
            b'"' | b'\\' | b'/' => letter,
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                let (char, after) = unicode(rest)?;
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                rest = after;
                continue;
            }
            _ => return None,
        });
    }
}

/// Copies the text before the next special byte; returns the rest from there on.
fn plain<'t>(mut text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    while let Some((bytes, tail)) = text.split_first_chunk() {
        let word = u64::from_le_bytes(*bytes);
        let found = marks(word) | (word.wrapping_sub(ones(b' ')) & !word & ones(0x80));
        // Copy all eight bytes and truncate the excess: a copy of constant size is cheaper than one of a few bytes.
        out.extend_from_slice(bytes);
        if found != 0 {
            let size = found.trailing_zeros() as usize / 8;
            out.truncate(out.len() - 8 + size);
            return text.get(size..).unwrap_or_default();
        }
        text = tail;
    }
    let size = text.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(text.len());
    let (front, rest) = text.split_at(size);
    out.extend_from_slice(front);
    rest
}

/// The character of a `\u` escape, starting at its digits, and the text after it.
fn unicode(text: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = unit(text)?;
    if let Some(char) = char::from_u32(first) {
        return Some((char, rest));
    }
    let (second, rest) = unit(rest.strip_prefix(b"\\u")?)?;
    let is_pair = first < 0xDC00 && (0xDC00..0xE000).contains(&second);
    let char = is_pair.then(|| 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).and_then(char::from_u32)?;
    Some((char, rest))
}

fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<4>()?;
    let unit = digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))?;
    Some((unit, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_escape_is_decoded() {
        let text =
            r#"plain \" \\ \/ \b \f \n \r \t \u0041 \u00e9 \u20AC \ud83d\uDE00 é€😀 and a good deal more of it\n"#;
        let expected: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
        assert_eq!(unescape(text), Some(expected));
        assert_eq!(unescape(""), Some(String::new()));
    }

    #[test]
    fn uncertain_escapes_are_left_to_the_parser() {
        for text in [
            r"\",
            r"\x",
            r"\u",
            r"\u12",
            r"\u12g4",
            r"\ud83d",
            r"\ude00",
            r"\ude00\ud83d",
            r"\ud83d\ud83d",
            r"\ud83dx",
            "a\nb",
            "a\"b",
            "a tab\tfar behind",
        ] {
            assert_eq!(unescape(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_result_equals_that_of_the_parser(text in r#"(\\|"|\\n|\\u00e9|\\ud83d|\\ude00|\\u|[a-z]{1,9}|é|😀|\x01){0,12}"#) {
            let parsed = serde_json::from_str::<String>(&format!("\"{text}\"")).ok();
            prop_assert_eq!(unescape(&text), parsed);
        }

        #[test]
        fn strings_written_by_the_parser_are_decoded(text in any::<String>()) {
            let written = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(unescape(&written[1..written.len() - 1]), Some(text));
        }
    }
}
