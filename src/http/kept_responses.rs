//! What requests said about their responses, for later requests that ask for them.
//!
//! Input: a response's id and what its request said. Output: the same, later. Never: more responses than the setting allows. They are kept only
//! in memory: after a restart, a response has the API's defaults.

use super::response_id::ResponseId;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The responses.
#[derive(Debug)]
pub(super) struct KeptResponses {
    max: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    said: HashMap<ResponseId, Map<String, Value>>,
    /// Oldest first.
    order: VecDeque<ResponseId>,
}

impl KeptResponses {
    pub(super) fn new(max: usize) -> Self {
        Self { max, known: Mutex::default() }
    }

    /// Remembers the fields of a response that its first request determined.
    pub(super) fn add(&self, id: ResponseId, fields: Map<String, Value>) {
        let mut known = self.known();
        if known.said.contains_key(&id) {
            return;
        }
        known.said.insert(id, fields);
        known.order.push_back(id);
        while known.order.len() > self.max {
            let Some(oldest) = known.order.pop_front() else { break };
            known.said.remove(&oldest);
        }
    }

    /// Changes a field of a response that is remembered.
    pub(super) fn set(&self, id: ResponseId, key: &str, value: Value) {
        if let Some(fields) = self.known().said.get_mut(&id) {
            fields.insert(key.to_owned(), value);
        }
    }

    /// The fields of a response.
    pub(super) fn find(&self, id: ResponseId) -> Map<String, Value> {
        self.known().said.get(&id).cloned().unwrap_or_default()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use uuid::Uuid;

    #[test]
    fn what_is_kept_is_bounded() {
        let kept = KeptResponses::new(2);
        let id = |from| ResponseId { run: Uuid::nil(), from };
        let fields = |text: &str| Map::from_iter([("a".to_owned(), json!(text))]);
        kept.add(id(0), fields("first"));
        kept.add(id(0), fields("repeated"));
        kept.set(id(0), "b", json!(true));
        assert_eq!(Value::Object(kept.find(id(0))), json!({"a": "first", "b": true}));
        kept.add(id(1), fields("1"));
        kept.add(id(2), fields("2"));
        assert!(kept.find(id(0)).is_empty());
        let known = kept.known();
        assert_eq!((known.order.len(), known.said.len()), (2, 2));
    }
}
