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

/// Writes times in one buffer. Many events have the same second, which is written once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// How many digits follow the second.
    digits: usize,
    /// The second that the text is of.
    second: Option<u64>,
    text: String,
}

impl Times {
    /// Whole seconds.
    pub(crate) const SECONDS: Self = Self::new(0);
    /// Milliseconds.
    pub(crate) const MILLIS: Self = Self::new(3);
    /// Microseconds.
    pub(crate) const MICROS: Self = Self::new(6);

    const fn new(digits: usize) -> Self {
        Self { digits, second: None, text: String::new() }
    }

    /// The time as text: as [`rfc3339_seconds`], [`rfc3339_millis`] and [`rfc3339_micros`] write it.
    pub(crate) fn text(&mut self, unix_ms: u64) -> &str {
        let second = unix_ms / 1000;
        if self.second != Some(second) {
            self.second = Some(second);
            self.text.clear();
            self.text.push_str(&rfc3339_seconds(unix_ms));
        }
        if self.digits > 0 {
            // `YYYY-MM-DDThh:mm:ss`, which is as long in every year up to 9999.
            self.text.truncate(19);
            self.text.push('.');
            let is_late = unix_ms > LAST_MS;
            let millis = if is_late { 999 } else { unix_ms % 1000 };
            for unit in [100, 10, 1] {
                self.text.push(char::from(b'0' + (millis / unit % 10) as u8));
            }
            if self.digits > 3 {
                self.text.push_str(if is_late { "999" } else { "000" });
            }
            self.text.push('Z');
        }
        &self.text
    }
}

/// The last time that is written as it is; what is later is written as the end of its second.
const LAST_MS: u64 = 253_402_207_200_000;

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
    fn times_that_are_kept_are_the_same() {
        let mut stamps = [Times::SECONDS, Times::MILLIS, Times::MICROS];
        let near_the_end = LAST_MS - 2000..LAST_MS + 3000;
        let some = [0, 1, 999, 1000, 1_771_102_980_999, 1_771_102_980_001, 1_771_102_981_001, u64::MAX, 5];
        for unix_ms in near_the_end.step_by(8).chain(some) {
            let [seconds, millis, micros] = &mut stamps;
            assert_eq!(seconds.text(unix_ms), rfc3339_seconds(unix_ms));
            assert_eq!(millis.text(unix_ms), rfc3339_millis(unix_ms));
            assert_eq!(micros.text(unix_ms), rfc3339_micros(unix_ms));
        }
    }

    #[test]
    fn arguments_become_an_object() {
        let text = crate::json::to_raw("ls");
        assert_eq!(as_object(&text).get(), r#"{"raw":"ls"}"#);
        let object = crate::json::to_raw(&serde_json::json!({"a": 1}));
        assert_eq!(as_object(&object).get(), r#"{"a":1}"#);
    }
}
