//! Output formats that several contracts share.

use crate::frame::RawJson;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// How many texts are remembered.
const SAID: usize = 64;

/// The latest texts of a run's main thread, by length and hash. This is enough to decide whether the final text was already
/// emitted, in one piece or in several. White space is ignored.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct EmittedTexts(VecDeque<(usize, u64)>);

impl EmittedTexts {
    /// Remembers an emitted text.
    pub(crate) fn add(&mut self, text: &str) {
        let text = bare(text);
        if text.is_empty() {
            return;
        }
        if self.0.len() == SAID {
            self.0.pop_front();
        }
        self.0.push_back((text.len(), hash(&text)));
    }

    /// Whether a text was emitted, or is a concatenation of emitted texts.
    pub(crate) fn contains(&self, text: &str) -> bool {
        let text = bare(text);
        let mut texts: Vec<(usize, u64)> = self.0.iter().copied().collect();
        // The longest first, so that a text is not mistaken for a shorter one that it begins with.
        texts.sort_unstable_by(|one, other| other.cmp(one));
        let mut rest = &*text;
        while !rest.is_empty() {
            let begins = |&(length, known): &(usize, u64)| rest.get(..length).is_some_and(|piece| hash(piece) == known);
            let Some(at) = texts.iter().position(begins) else { return false };
            rest = &rest[texts.remove(at).0..];
        }
        true
    }
}

/// A text without white space.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Formats times in one buffer. Many events share the same second, which is formatted once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    /// The number of fractional digits.
    digits: usize,
    /// The second that is in the buffer.
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

    /// The time as text, in the format of [`rfc3339_seconds`], [`rfc3339_millis`] or [`rfc3339_micros`].
    pub(crate) fn text(&mut self, unix_ms: u64) -> &str {
        let second = unix_ms / 1000;
        if self.second != Some(second) {
            self.second = Some(second);
            self.text.clear();
            self.text.push_str(&rfc3339_seconds(unix_ms));
        }
        if self.digits > 0 {
            // `YYYY-MM-DDThh:mm:ss`: the length is constant for years up to 9999.
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

/// The latest time that is written exactly; a later one is written as the end of its second.
const LAST_MS: u64 = 253_402_207_200_000;

fn timestamp(unix_ms: u64) -> Timestamp {
    i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok()).unwrap_or(Timestamp::MAX)
}

/// The arguments as an object. Other values are wrapped under `raw`.
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
    fn cached_times_equal_formatted_ones() {
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

    #[test]
    fn a_text_is_recognised_whole_or_in_pieces() {
        let mut texts = EmittedTexts::default();
        for text in ["One.", "One. Two.\n", "Three."] {
            texts.add(text);
        }
        for text in ["One.", " One. Two.", "One. Two.\n\nThree.", "Three.One."] {
            assert!(texts.contains(text), "{text}");
        }
        for text in ["Two.", "One. Two. Four.", "Three.Three."] {
            assert!(!texts.contains(text), "{text}");
        }
    }
}
