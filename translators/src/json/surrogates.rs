//! Escapes that are half of a surrogate pair: JSON's grammar allows them, but strict parsers reject them.
//!
//! Input: JSON text. Output: the same text with each lone half replaced by `\ufffd`, which has the same length. Never: any
//! other change.

use memchr::memmem::Finder;
use std::sync::LazyLock;

/// The beginning of an escape.
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u"));

/// The length of an escape in bytes.
const SIZE: usize = 6;

/// The text in a form that every parser accepts; `None` if no change is needed.
pub(crate) fn whole(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut fixed: Option<Vec<u8>> = None;
    let mut from = 0;
    while let Some(found) = ESCAPE.find(bytes.get(from..)?) {
        let at = from + found;
        from = at + 1;
        // A backslash that is itself escaped begins no escape.
        let before = bytes.get(..at)?.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let Some(unit) = escape(bytes, at).filter(|_| before.is_multiple_of(2)) else { continue };
        from = at + SIZE;
        match unit {
            0xD800..=0xDBFF if escape(bytes, from).is_some_and(|next| (0xDC00..=0xDFFF).contains(&next)) => {
                from += SIZE;
            }
            0xD800..=0xDFFF => {
                let out = fixed.get_or_insert_with(|| bytes.to_vec());
                out.get_mut(at..from)?.copy_from_slice(b"\\ufffd");
            }
            _ => {}
        }
    }
    String::from_utf8(fixed?).ok()
}

/// The UTF-16 unit of the escape at that position.
fn escape(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + SIZE)?.strip_prefix(b"\\u")?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (text, expected) in [
            (r#""a""#, None),
            (r#""\u0041\u00e9""#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""\uDE00x""#, Some(r#""\ufffdx""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\u0041""#, Some(r#""\ufffd\u0041""#)),
            (r#"{"\ud83d":["\udfff",1]}"#, Some(r#"{"\ufffd":["\ufffd",1]}"#)),
        ] {
            assert_eq!(whole(text).as_deref(), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn strict_parsers_read_the_output_with_the_same_meaning(
            parts in prop::collection::vec(prop::sample::select(vec![r"\\", r"\ud83d", r"\ude00", r"\u0041", "é", "u", r"\n"]), 0..12),
        ) {
            let text = format!("\"{}\"", parts.concat());
            let strict = whole(&text).unwrap_or_else(|| text.clone());
            let read: String = serde_json::from_str(&strict).unwrap();
            prop_assert_eq!(read, crate::json::Json::parse(&text).unwrap().str().unwrap());
        }
    }
}
