//! The errors of a record.
//!
//! Input: errors, one at a time or as a list that already exists. Output: the list and its JSON. Records with the same errors
//! share one list, whose JSON is written once. Never: a copy of the list for each such record.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The errors of a record, or of an object in it, in the order in which they were found. Dereferences to a slice.
#[derive(Clone, Default)]
pub struct RecordErrors(Option<Arc<List>>);

#[derive(Default)]
struct List {
    texts: Vec<String>,
    /// The errors as a JSON array, built on first use.
    json: OnceLock<Box<RawValue>>,
}

impl RecordErrors {
    /// No errors.
    pub const NONE: Self = Self(None);

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds an error.
    pub fn push(&mut self, error: String) {
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(list) => {
                list.texts.push(error);
                list.json.take();
            }
            None => *self = self.iter().cloned().chain([error]).collect(),
        }
    }

    /// Appends errors to the existing ones.
    pub fn append(&mut self, more: &Self) {
        if self.is_empty() {
            self.clone_from(more);
        } else {
            more.iter().for_each(|error| self.push(error.clone()));
        }
    }
}

impl Deref for RecordErrors {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |list| &list.texts)
    }
}

/// Compares like a slice of the same strings.
impl<T: ?Sized> PartialEq<T> for RecordErrors
where
    [String]: PartialEq<T>,
{
    fn eq(&self, other: &T) -> bool {
        **self == *other
    }
}

impl FromIterator<String> for RecordErrors {
    fn from_iter<T: IntoIterator<Item = String>>(errors: T) -> Self {
        Self::from(Vec::from_iter(errors))
    }
}

impl From<Vec<String>> for RecordErrors {
    fn from(texts: Vec<String>) -> Self {
        Self((!texts.is_empty()).then(|| Arc::new(List { texts, json: OnceLock::new() })))
    }
}

impl<'f> IntoIterator for &'f RecordErrors {
    type Item = &'f String;
    type IntoIter = std::slice::Iter<'f, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for RecordErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for RecordErrors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(list) = &self.0 else { return serializer.collect_seq(self.iter()) };
        let json = match list.json.get() {
            Some(json) => json,
            None => {
                let json = serde_json::value::to_raw_value(&list.texts).map_err(serde::ser::Error::custom)?;
                list.json.get_or_init(|| json)
            }
        };
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RecordErrors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(errors: &RecordErrors) -> String {
        serde_json::to_string(errors).unwrap()
    }

    #[test]
    fn a_shared_list_is_not_modified() {
        let shared: RecordErrors = ["one".to_owned(), "\"two\"\n".to_owned()].into_iter().collect();
        assert_eq!(json(&shared), r#"["one","\"two\"\n"]"#);
        let mut own = RecordErrors::NONE;
        own.append(&shared);
        own.push("three".to_owned());
        assert_eq!((shared.len(), own.len()), (2, 3));
        assert_eq!(json(&own), r#"["one","\"two\"\n","three"]"#);
        own.push("four".to_owned());
        own.append(&shared);
        assert_eq!(json(&own), r#"["one","\"two\"\n","three","four","one","\"two\"\n"]"#);
        assert_eq!(json(&shared), r#"["one","\"two\"\n"]"#);
        let read: RecordErrors = serde_json::from_str(&json(&own)).unwrap();
        assert_eq!(*read, *own);
    }

    #[test]
    fn no_errors_serialise_as_an_empty_list() {
        assert!(RecordErrors::from(Vec::new()).is_empty() && RecordErrors::default().is_empty());
        assert_eq!(json(&RecordErrors::NONE), "[]");
        assert!(serde_json::from_str::<RecordErrors>("[]").unwrap().is_empty());
    }
}
