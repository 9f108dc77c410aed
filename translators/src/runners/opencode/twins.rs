//! Events that come twice: on the global feed each durable event also comes as a sync record under the same id.

use std::collections::VecDeque;

/// A twin follows at once; more than this many events never lie between the two.
const REMEMBERED: usize = 128;

/// The ids of the last events.
#[derive(Debug, Default)]
pub(super) struct Twins {
    ids: VecDeque<Box<str>>,
}

impl Twins {
    /// Whether the event came before under this id. Which of the two comes first does not matter.
    pub(super) fn came_before(&mut self, id: &str) -> bool {
        if id.is_empty() {
            return false;
        }
        if self.ids.iter().rev().any(|known| **known == *id) {
            return true;
        }
        if self.ids.len() == REMEMBERED {
            self.ids.pop_front();
        }
        self.ids.push_back(Box::from(id));
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
