//! Decodes percent-encoding.
//!
//! Input: a path segment, or a word of a query. Output: the decoded text. Never: an incomplete escape, or bytes that are not
//! UTF-8, accepted as text.

/// Decodes a path segment; `None` if it is not valid.
pub(super) fn of_path(segment: &str) -> Option<String> {
    decoded(segment, false)
}

/// Decodes a word of a query, in which a plus is a space; `None` if it is not valid.
pub(super) fn of_query(word: &str) -> Option<String> {
    decoded(word, true)
}

fn decoded(text: &str, plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            b'+' if plus_is_space => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_encoding_is_decoded() {
        assert_eq!(of_path("request-0").as_deref(), Some("request-0"));
        assert_eq!(of_path("a%2Fb+c%25").as_deref(), Some("a/b+c%"));
        assert_eq!(of_query("a%2Fb+c%25").as_deref(), Some("a/b c%"));
        for wrong in ["%", "%4", "%zz", "%ff"] {
            assert_eq!((of_path(wrong), of_query(wrong)), (None, None), "{wrong}");
        }
    }
}
