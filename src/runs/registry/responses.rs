//! Responses by the id that their upstream gave them.
//!
//! Input: the first records of a run. Output: the id, and the run with an id. Never: a record parsed completely for this, or an
//! id that outlives its run.

use super::{Known, Registry};
use crate::log::StreamId;
use crate::runs::{Entry, RunStatus};
use framegate_translators::json::Object;
use framegate_translators::runners::runner;
use std::sync::Arc;

/// How many records of a run are searched for the id. The first one has it, unless it was lost.
const LOOKED_AT: u64 = 16;

/// The id in a record, if it is one of the first records of a response.
pub(in crate::runs) fn id_in(name: &str, records: u64, data: &str) -> Option<String> {
    if records > LOOKED_AT {
        return None;
    }
    let read = runner(name)?.response_id?;
    read(&Object::parse(data)?)
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

impl Registry {
    /// Adds a response whose id was not in its first frames.
    pub(super) fn learn_response(&self, entry: &Entry, status: &RunStatus) {
        if let Some(id) = status.response_id.as_deref().filter(|_| entry.status().response_id.is_none()) {
            self.write().learn_response(id, entry.id());
        }
    }

    /// Removes a response that was deleted upstream: it cannot be found by its id any more.
    pub(in crate::runs) fn forget_response(&self, id: &str) {
        self.write().by_response.remove(id);
    }

    /// Finds the run of a response by the id that its upstream gave it.
    pub(in crate::runs) fn find_response(&self, id: &str) -> Option<Arc<Entry>> {
        let known = self.read();
        known.by_response.get(id).and_then(|of| known.by_id.get(of)).cloned()
    }
}
