//! Labels: what a client says about a run, for finding it and for figures over runs.
//!
//! Input: pairs of a key and a value, from a query, a JSON object or a command line. Output: at most [`MOST_LABELS`] labels, each key
//! once, in the order of the keys. Never: a label that a runner's output sets; a key or value of unbounded length; an invalid label
//! that is silently left out.

use crate::visible;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How many labels a run can have.
pub const MOST_LABELS: usize = 16;

/// The maximum length of a key, in bytes.
pub const KEY_BYTES: usize = 64;

/// The maximum length of a value, in bytes.
pub const VALUE_BYTES: usize = 256;

/// Why labels are not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// There is no colon.
    #[error("the label {0:?} has no value; write it as key:value, for example team:web")]
    NoValue(String),
    /// The key is empty, too long, or has other characters.
    #[error(
        "the label key {0:?} is invalid: a key has 1 to {KEY_BYTES} of the characters a-z A-Z 0-9 . _ - / and begins with a letter or \
         digit"
    )]
    Key(String),
    /// The value is empty, too long, or has characters that cannot be seen.
    #[error(
        "the value of the label {0:?} is invalid: a value has 1 to {VALUE_BYTES} bytes and no control or invisible characters"
    )]
    Value(String),
    /// A key occurs twice.
    #[error("the label {0:?} is given twice; a run has one value for each key")]
    Twice(String),
    /// There are too many.
    #[error("{0} labels are given; a run can have {MOST_LABELS}")]
    TooMany(usize),
}

/// One label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    key: Arc<str>,
    value: Arc<str>,
}

impl Label {
    /// A label of a key and a value.
    ///
    /// # Errors
    /// The key or the value is invalid.
    pub fn new(key: &str, value: &str) -> Result<Self, LabelError> {
        let begins = key.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        if !begins || key.len() > KEY_BYTES || !key.bytes().all(is_of_key) {
            return Err(LabelError::Key(shown(key)));
        }
        // Two values that look the same would be two groups of figures.
        if value.is_empty() || value.len() > VALUE_BYTES || visible::line(value) != value {
            return Err(LabelError::Value(key.to_owned()));
        }
        Ok(Self { key: key.into(), value: value.into() })
    }

    /// The key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The value.
    pub fn value(&self) -> &str {
        &self.value
    }
}

/// `key:value`. A value may have colons.
impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let (key, value) = text.split_once(':').ok_or_else(|| LabelError::NoValue(shown(text)))?;
        Self::new(key, value)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.key, self.value)
    }
}

/// The beginning of a text that may be too long for a message.
fn shown(text: &str) -> String {
    const CHARS: usize = 80;
    match text.char_indices().nth(CHARS) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

/// The labels of a run, in the order of their keys. A copy is cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Arc<[Label]>);

impl Labels {
    /// The labels of a run.
    ///
    /// # Errors
    /// There are too many, or a key occurs twice.
    pub fn of(labels: impl IntoIterator<Item = Label>) -> Result<Self, LabelError> {
        let mut labels: Vec<Label> = labels.into_iter().collect();
        if labels.len() > MOST_LABELS {
            return Err(LabelError::TooMany(labels.len()));
        }
        labels.sort();
        if let Some(twice) = labels.windows(2).find_map(|pair| match pair {
            [one, other] if one.key == other.key => Some(one),
            _ => None,
        }) {
            return Err(LabelError::Twice(twice.key.to_string()));
        }
        Ok(Self(labels.into()))
    }

    /// The labels of an object.
    ///
    /// # Errors
    /// One is invalid, or there are too many.
    pub fn of_map(map: &BTreeMap<String, String>) -> Result<Self, LabelError> {
        if map.len() > MOST_LABELS {
            return Err(LabelError::TooMany(map.len()));
        }
        Self::of(map.iter().map(|(key, value)| Label::new(key, value)).collect::<Result<Vec<_>, _>>()?)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each label.
    pub fn iter(&self) -> impl Iterator<Item = &Label> {
        self.0.iter()
    }

    /// Whether the run has all of these labels.
    pub fn have(&self, wanted: &[Label]) -> bool {
        wanted.iter().all(|label| self.0.contains(label))
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|label| (label.key(), label.value())))
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of_map(&BTreeMap::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(count: usize) -> Result<Labels, LabelError> {
        Labels::of((0..count).map(|nth| Label::new(&format!("key{nth}"), "v").unwrap()))
    }

    #[test]
    fn a_label_is_a_key_and_a_value() {
        for (text, key, value) in [
            ("team:web", "team", "web"),
            ("url:http://x:1/", "url", "http://x:1/"),
            ("a.b/c_d-1:=1+2", "a.b/c_d-1", "=1+2"),
            ("x: mit Leerzeichen und ä", "x", " mit Leerzeichen und ä"),
        ] {
            let label: Label = text.parse().unwrap();
            assert_eq!((label.key(), label.value(), label.to_string()), (key, value, text.to_owned()));
        }
    }

    #[test]
    fn bounds_are_exact() {
        let (key, value) = ("k".repeat(KEY_BYTES), "v".repeat(VALUE_BYTES));
        assert!(Label::new(&key, &value).is_ok());
        assert_eq!(Label::new(&format!("{key}k"), "v"), Err(LabelError::Key(format!("{key}k"))));
        assert_eq!(Label::new("k", &format!("{value}v")), Err(LabelError::Value("k".to_owned())));
        // Bytes count, not characters.
        assert!(Label::new("k", &"ä".repeat(VALUE_BYTES / 2)).is_ok());
        assert!(Label::new("k", &"ä".repeat(VALUE_BYTES / 2 + 1)).is_err());
        assert_eq!(labels(MOST_LABELS).unwrap().iter().count(), MOST_LABELS);
        assert_eq!(labels(MOST_LABELS + 1), Err(LabelError::TooMany(MOST_LABELS + 1)));
    }

    #[test]
    fn invalid_labels_are_refused_with_the_reason() {
        for (text, says) in [
            ("team", "\"team\" has no value; write it as key:value"),
            (":x", "the label key \"\" is invalid"),
            ("-a:x", "the label key \"-a\" is invalid"),
            ("a b:x", "the label key \"a b\" is invalid"),
            ("ä:x", "the label key \"ä\" is invalid"),
            ("a:", "the value of the label \"a\" is invalid"),
            ("a:x\ny", "no control or invisible characters"),
            ("a:\u{85}", "no control or invisible characters"),
            ("a:x\u{202e}y", "no control or invisible characters"),
            ("a:x\u{200b}", "no control or invisible characters"),
        ] {
            let error = text.parse::<Label>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let long = "x".repeat(1 << 20).parse::<Label>().unwrap_err().to_string();
        assert!(long.len() < 300, "{}", long.len());
        let twice = ["a:1", "b:1", "a:2"].map(|text| text.parse().unwrap());
        assert_eq!(Labels::of(twice), Err(LabelError::Twice("a".to_owned())));
    }

    #[test]
    fn a_value_may_have_whatever_can_be_seen() {
        for text in ["a:b c:d", "a:über", "a:עברית", "a:👩\u{200d}💻", "a:❤\u{fe0f}"] {
            assert_eq!(text.parse::<Label>().map(|label| label.to_string()).as_deref(), Ok(text));
        }
        let longest = format!("a:{}", "x".repeat(VALUE_BYTES));
        assert!(longest.parse::<Label>().is_ok() && format!("{longest}x").parse::<Label>().is_err());
    }

    #[test]
    fn labels_are_an_object_in_the_order_of_the_keys() {
        let labels = Labels::of(["b:2", "a:1"].map(|text| text.parse().unwrap())).unwrap();
        let text = serde_json::to_string(&labels).unwrap();
        assert_eq!(text, r#"{"a":"1","b":"2"}"#);
        assert_eq!(serde_json::from_str::<Labels>(&text).unwrap(), labels);
        assert!(serde_json::from_str::<Labels>(r#"{"a b":"1"}"#).is_err());
        assert!(labels.have(&["a:1".parse().unwrap()]) && !labels.have(&["a:2".parse().unwrap()]) && labels.have(&[]));
    }
}
