//! Events that come twice: on the global feed each durable event also comes as a sync record under the same id.

use super::super::names::NameSet;
use crate::frame::Name;
use std::collections::VecDeque;

/// A twin follows at once; more than this many events never lie between the two.
const REMEMBERED: usize = 128;

/// The ids of the last events.
#[derive(Debug, Default)]
pub(super) struct Twins {
    ids: VecDeque<Name>,
    known: NameSet,
}

impl Twins {
    /// Whether the event came before under this id. Which of the two comes first does not matter.
    pub(super) fn came_before(&mut self, id: &str) -> bool {
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
        let id = Name::from(id);
        self.known.insert(id.clone());
        self.ids.push_back(id);
        false
    }
}

/// The event type without the version that a sync record puts behind it.
pub(super) fn unversioned(kind: &str) -> &str {
    match kind.rsplit_once('.') {
        Some((stem, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => kind,
    }
}
