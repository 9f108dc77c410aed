//! Responses by the id that their upstream gave them.
//!
//! Input: the first records of a run. Output: the id, and the run with an id. Never: a record parsed completely for this, or an
//! id that outlives its run.

use super::{Entry, Known, RunStatus, Runs, StreamId};
use framegate_translators::json::Object;
use std::sync::{Arc, PoisonError};

/// How many records of a run are searched for the id. The first one has it, unless it was lost.
const LOOKED_AT: u64 = 16;

/// The name of the runner whose runs are responses.
const RUNNER: &str = framegate_translators::runners::open_responses::RUNNER.name;

/// Maximum length of an id, in bytes. Anything longer is ignored.
const LONGEST: usize = 256;

/// The id in a record, if it is one of the first records of a response.
pub(super) fn told(runner: &str, records: u64, data: &str) -> Option<String> {
    if runner != RUNNER || records > LOOKED_AT {
        return None;
    }
    let fields = Object::parse(data)?;
    let in_object = fields.object("response").and_then(|response| response.str("id").map(|id| id.into_owned()));
    let is_response = || fields.str("object").is_some_and(|object| object == "response");
    let own = || fields.str("id").filter(|_| is_response()).map(|id| id.into_owned());
    let id = in_object.or_else(|| fields.str("response_id").map(|id| id.into_owned())).or_else(own)?;
    (!id.is_empty() && id.len() <= LONGEST).then_some(id)
}

impl Known {
    /// Adds a response. If two responses have the same id, the newer one wins.
    pub(super) fn learn_response(&mut self, id: &str, of: StreamId) {
        self.by_response.insert(id.to_owned(), of);
    }

    /// Removes the response of a dropped stream.
    pub(super) fn forget_response(&mut self, of: StreamId) {
        let id = self.by_id.get(&of).and_then(|entry| entry.status().response_id.clone());
        if let Some(id) = id
            && self.by_response.get(&id) == Some(&of)
        {
            self.by_response.remove(&id);
        }
    }
}

impl Runs {
    /// Adds a response whose id was not in its first frames.
    pub(super) fn learn_response(&self, entry: &Entry, status: &RunStatus) {
        if let Some(id) = status.response_id.as_deref().filter(|_| entry.status().response_id.is_none()) {
            self.streams.write().unwrap_or_else(PoisonError::into_inner).learn_response(id, entry.id());
        }
    }

    /// Removes a response that was deleted upstream: it cannot be found by its id any more.
    pub fn forget_response(&self, id: &str) {
        self.streams.write().unwrap_or_else(PoisonError::into_inner).by_response.remove(id);
    }

    /// Finds the run of a response by the id that its upstream gave it.
    pub fn find_response(&self, id: &str) -> Option<Arc<Entry>> {
        let known = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        known.by_response.get(id).and_then(|of| known.by_id.get(of)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_in(text: &str) -> Option<String> {
        told(RUNNER, 1, text)
    }

    #[test]
    fn the_id_is_found_wherever_upstreams_put_it() {
        for (text, expected) in [
            (r#"{"type":"response.created","response":{"id":"resp_1"}}"#, Some("resp_1")),
            (r#"{"type":"response.output_text.delta","response_id":"resp_2"}"#, Some("resp_2")),
            (r#"{"object":"response","id":"resp_3","status":"completed"}"#, Some("resp_3")),
            (r#"{"type":"response.output_item.added","id":"item"}"#, None),
            (r#"{"type":"response.created","response":{"id":""}}"#, None),
            (r#"{"type":"response.created","response":{"id":7}}"#, None),
            ("[]", None),
        ] {
            assert_eq!(id_in(text).as_deref(), expected, "{text}");
        }
        let long = format!(r#"{{"response":{{"id":"{}"}}}}"#, "x".repeat(LONGEST + 1));
        assert_eq!(id_in(&long), None);
        let longest = format!(r#"{{"response":{{"id":"{}"}}}}"#, "x".repeat(LONGEST));
        assert!(id_in(&longest).is_some());
    }
}
