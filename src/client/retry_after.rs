//! The pause that a server asks for.
//!
//! Input: the head of an answer, and the time. Output: a pause, from now. Never: a bound; each caller has its own.

use hyper::HeaderMap;
use hyper::header::RETRY_AFTER;
use std::time::{Duration, UNIX_EPOCH};

/// The pause that a `Retry-After` asks for, in seconds or as a date (RFC 9110, section 10.2.3). `None` if there is none, or it is neither.
pub(crate) fn retry_after(headers: &HeaderMap, now_ms: u64) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = httpdate::parse_http_date(value).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(then.saturating_sub(Duration::from_millis(now_ms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now_ms = 1_445_412_480_000;
        for (value, expected) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("Wed, 21 Oct 2015 07:28:30 GMT", Some(30)),
            ("Wed, 21 Oct 2015 07:27:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(value).unwrap())]);
            assert_eq!(retry_after(&headers, now_ms), expected.map(Duration::from_secs), "{value:?}");
        }
    }

    #[test]
    fn an_answer_without_the_header_asks_for_nothing() {
        assert_eq!(retry_after(&HeaderMap::new(), 0), None);
    }
}
