//! What several contracts write in the same way.

use crate::frame::RawJson;
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// UTC with `Z`, whole seconds.
pub fn rfc3339_seconds(unix_ms: u64) -> String {
    format!("{:.0}", timestamp(unix_ms / 1000 * 1000))
}

/// UTC with `Z`, milliseconds.
pub fn rfc3339_millis(unix_ms: u64) -> String {
    format!("{:.3}", timestamp(unix_ms))
}

/// UTC with `Z`, microseconds.
pub(crate) fn rfc3339_micros(unix_ms: u64) -> String {
    format!("{:.6}", timestamp(unix_ms))
}

fn timestamp(unix_ms: u64) -> Timestamp {
    i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX)
}

/// The arguments as an object: ones that are none stand under `raw`.
pub(crate) fn as_object(args: &RawJson) -> Cow<'_, RawValue> {
    if args.get().starts_with('{') {
        return Cow::Borrowed(args);
    }
    #[derive(serde::Serialize)]
    struct Unparsed<'a> {
        raw: &'a RawValue,
    }
    serde_json::value::to_raw_value(&Unparsed { raw: args }).map_or(Cow::Borrowed(args), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc() {
        assert_eq!(rfc3339_seconds(1_771_102_980_999), "2026-02-14T21:03:00Z");
        assert_eq!(rfc3339_millis(1_771_102_980_999), "2026-02-14T21:03:00.999Z");
        assert_eq!(rfc3339_micros(1_771_102_980_999), "2026-02-14T21:03:00.999000Z");
        assert_eq!(rfc3339_millis(0), "1970-01-01T00:00:00.000Z");
        assert!(rfc3339_seconds(u64::MAX).starts_with("9999-"));
    }

    #[test]
    fn arguments_become_an_object() {
        let text = crate::json::to_raw("ls");
        assert_eq!(as_object(&text).get(), r#"{"raw":"ls"}"#);
        let object = crate::json::to_raw(&serde_json::json!({"a": 1}));
        assert_eq!(as_object(&object).get(), r#"{"a":1}"#);
    }
}
