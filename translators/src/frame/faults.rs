//! The faults of a record.
//!
//! Input: faults, one at a time or as a list that already exists. Output: the list and its JSON. Records with the same faults
//! share one list, whose JSON is written once. Never: a copy of the list for each such record.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The faults of a record, or of an object in it, in the order in which they were found. Dereferences to a slice.
#[derive(Clone, Default)]
pub struct Faults(Option<Arc<List>>);

#[derive(Default)]
struct List {
    texts: Vec<String>,
    /// The faults as a JSON array, built on first use.
    json: OnceLock<Box<RawValue>>,
}

impl Faults {
    /// No faults.
    pub const NONE: Self = Self(None);

    /// Whether there are no faults.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds a fault.
    pub fn push(&mut self, fault: String) {
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(list) => {
                list.texts.push(fault);
                list.json.take();
            }
            None => *self = self.iter().cloned().chain([fault]).collect(),
        }
    }

    /// Appends faults to the existing ones.
    pub fn append(&mut self, more: &Self) {
        if self.is_empty() {
            self.clone_from(more);
        } else {
            more.iter().for_each(|fault| self.push(fault.clone()));
        }
    }
}

impl Deref for Faults {
    type Target = [String];

    fn deref(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |list| &list.texts)
    }
}

/// Compares like a slice of the same strings.
impl<T: ?Sized> PartialEq<T> for Faults
where
    [String]: PartialEq<T>,
{
    fn eq(&self, other: &T) -> bool {
        **self == *other
    }
}

impl FromIterator<String> for Faults {
    fn from_iter<T: IntoIterator<Item = String>>(faults: T) -> Self {
        Self::from(Vec::from_iter(faults))
    }
}

impl From<Vec<String>> for Faults {
    fn from(texts: Vec<String>) -> Self {
        Self((!texts.is_empty()).then(|| Arc::new(List { texts, json: OnceLock::new() })))
    }
}

impl<'f> IntoIterator for &'f Faults {
    type Item = &'f String;
    type IntoIter = std::slice::Iter<'f, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Faults {
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

impl<'de> Deserialize<'de> for Faults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(faults: &Faults) -> String {
        serde_json::to_string(faults).unwrap()
    }

    #[test]
    fn a_list_that_is_shared_stays_as_it_is() {
        let shared: Faults = ["one".to_owned(), "\"two\"\n".to_owned()].into_iter().collect();
        assert_eq!(json(&shared), r#"["one","\"two\"\n"]"#);
        let mut own = Faults::NONE;
        own.append(&shared);
        own.push("three".to_owned());
        assert_eq!((shared.len(), own.len()), (2, 3));
        assert_eq!(json(&own), r#"["one","\"two\"\n","three"]"#);
        own.push("four".to_owned());
        own.append(&shared);
        assert_eq!(json(&own), r#"["one","\"two\"\n","three","four","one","\"two\"\n"]"#);
        assert_eq!(json(&shared), r#"["one","\"two\"\n"]"#);
        let read: Faults = serde_json::from_str(&json(&own)).unwrap();
        assert_eq!(*read, *own);
    }

    #[test]
    fn no_fault_is_an_empty_list() {
        assert!(Faults::from(Vec::new()).is_empty() && Faults::default().is_empty());
        assert_eq!(json(&Faults::NONE), "[]");
        assert!(serde_json::from_str::<Faults>("[]").unwrap().is_empty());
    }
}
