//! Duplicate events: the global feed repeats each durable event as a sync record with the same id.

use super::super::names::NameSet;
use crate::frame::SharedStr;
use std::collections::VecDeque;

/// The number of remembered events. A duplicate follows at once; never more than this many events lie between the two.
const REMEMBERED: usize = 128;

/// The ids of the last events.
#[derive(Debug, Default)]
pub(super) struct DuplicateFilter {
    ids: VecDeque<SharedStr>,
    known: NameSet,
}

impl DuplicateFilter {
    /// Whether an event with this id arrived before. Either of the two may arrive first.
    pub(super) fn is_duplicate(&mut self, id: &str) -> bool {
        if id.is_empty() {
            return false;
        }
        if self.known.contains(id) {
            return true;
        }
        if self.ids.len() == REMEMBERED
            && let Some(oldest) = self.ids.pop_front()
        {
            self.known.remove(&oldest);
        }
        let id = SharedStr::from(id);
        self.known.insert(id.clone());
        self.ids.push_back(id);
        false
    }
}

/// The event type without the version that a sync record appends.
pub(super) fn unversioned(kind: &str) -> &str {
    match kind.rsplit_once('.') {
        Some((stem, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => kind,
    }
}
