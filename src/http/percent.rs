//! Decodes percent-encoding.
//!
//! Input: a path segment, or a word of a query. Output: the decoded text. Never: an incomplete escape, or bytes that are not
//! UTF-8, accepted as text.

use percent_encoding::percent_decode_str;

/// Decodes a path segment; `None` if it is not valid.
pub(super) fn of_path(segment: &str) -> Option<String> {
    // The crate keeps incomplete escapes as they are.
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    if !segment.split('%').skip(1).all(is_escape) {
        return None;
    }
    percent_decode_str(segment).decode_utf8().ok().map(Into::into)
}

/// Decodes a word of a query, in which a plus is a space; `None` if it is not valid.
pub(super) fn of_query(word: &str) -> Option<String> {
    of_path(&word.replace('+', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded() {
        assert_eq!(of_path("request-0").as_deref(), Some("request-0"));
        assert_eq!(of_path("a%2Fb+c%25").as_deref(), Some("a/b+c%"));
        assert_eq!(of_query("a%2Fb+c%25").as_deref(), Some("a/b c%"));
        for wrong in ["%", "%4", "%zz", "%ff", "%%41", "a%4", "%+1"] {
            assert_eq!((of_path(wrong), of_query(wrong)), (None, None), "{wrong}");
        }
    }
}
