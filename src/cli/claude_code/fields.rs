//! A message as its fields, whose values stay as they were written.
//!
//! Input: a JSON object on one line. Output: its fields in their order, and the object again with some of them set. Never: a number or a
//! nested object that is rewritten; a line separator within a line.

use crate::cli::bridge::nesting;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The fields of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// Reads a line.
    ///
    /// # Errors
    /// The line is no JSON object.
    pub(super) fn read(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }

    /// The fields of an object; none of any other value.
    pub(super) fn of(value: &Value) -> Self {
        serde_json::from_str(&value.to_string()).unwrap_or_default()
    }

    /// The value of a field; `None` if it is missing or of another type.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// The value of a field, in which what is nested too deeply is left out; null if it is missing.
    pub(super) fn value(&self, key: &str) -> Value {
        self.raw(key).and_then(|raw| nesting::read(raw.get().as_bytes()).ok()).unwrap_or_default()
    }

    /// A text; empty if the field is missing or of another type.
    pub(super) fn text(&self, key: &str) -> String {
        self.get(key).unwrap_or_default()
    }

    fn raw(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// Whether there is such a field.
    pub(super) fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// Sets a field, in its place if there is one.
    pub(super) fn set<T: Serialize>(&mut self, key: &str, value: &T) {
        let Ok(value) = serde_json::value::to_raw_value(value) else { return };
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some(field) => field.1 = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Removes a field.
    pub(super) fn remove(&mut self, key: &str) {
        self.0.retain(|(name, _)| name != key);
    }

    /// The object on one line. Node's `readline` ends a line at U+2028 and U+2029 too, so these are written as escapes.
    pub(super) fn line(&self) -> String {
        let line = serde_json::to_string(self).unwrap_or_default();
        match line.contains(['\u{2028}', '\u{2029}']) {
            true => line.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029"),
            false => line,
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if fields.has(&key) {
                        return Err(A::Error::custom(format!("the field {key:?} is there twice")));
                    }
                    fields.0.push((key, value));
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_keep_their_order_and_spelling() {
        let line = r#"{"z":1.50,"a":{"y":1,"b":12345678901234567890123},"session_id":"one"}"#;
        let mut fields = Fields::read(line.as_bytes()).unwrap();
        assert_eq!(fields.line(), line);
        fields.set("session_id", &"two");
        fields.set("new", &json!([1]));
        fields.remove("z");
        assert_eq!(fields.line(), r#"{"a":{"y":1,"b":12345678901234567890123},"session_id":"two","new":[1]}"#);
        assert_eq!(
            (fields.text("session_id"), fields.text("a"), fields.get::<u64>("b")),
            ("two".into(), String::new(), None)
        );
    }

    #[test]
    fn only_an_object_without_repeated_fields_is_read() {
        for wrong in ["", "[]", "1", "{", r#"{"a":1,"a":2}"#, r#"{"a":1}{"#] {
            assert!(Fields::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
        assert!(Fields::read(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn line_separators_are_escaped() {
        let fields = Fields::of(&json!({"a": "x\u{2028}y"}));
        assert_eq!(fields.line(), "{\"a\":\"x\\u2028y\"}");
    }
}
