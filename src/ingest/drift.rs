//! Reports drift in the log: each kind in each place once in the life of the process.
//!
//! Input: an ingest, after each chunk. Output: log lines. Never: a value from a record, except a short keyword; more places
//! remembered than the limit for one input.

use framegate_translators::drift::{DriftKey, PLACES};
use framegate_translators::pipeline::Ingest;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Reports new drift.
pub(super) fn tell(ingest: &mut Ingest) {
    static REPORTED: Mutex<Option<HashSet<(&'static str, DriftKey)>>> = Mutex::new(None);
    let news = ingest.take_drift();
    if news.is_empty() {
        return;
    }
    let runner = ingest.runner().unwrap_or_default();
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    let reported = reported.get_or_insert_with(HashSet::new);
    for (key, wrong) in news {
        if reported.len() < PLACES && reported.insert((runner, key.clone())) {
            tracing::warn!(
                runner,
                drift = key.kind.as_str(),
                record_type = key.record_kind,
                pointer = key.pointer,
                word = key.word,
                "the runner's output differs from its known schemas: {wrong}"
            );
        }
    }
}
