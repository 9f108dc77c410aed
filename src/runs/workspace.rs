//! Where a run works, from its records.
//!
//! Input: the first records of a run, or of the thread of its session, which has what belongs to no run, such as the header of a session file; of a run without
//! a record, those of the run before it, since one record may have all runs of a session. Output: what the runner's reader finds in them, up to the
//! first record that names a directory. Never: a search of all records of a long run; the directory of a subagent.

use super::{RunStatus, Runs};
use crate::log::StreamId;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::runners::{Workspace, runner};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// How many records of a run are searched. Runners say where they work when a run begins.
const LOOKED_AT: u64 = 16;

/// The longest record that is searched, in bytes, unless it is the first one. It is parsed again for this.
const LONGEST: usize = 1 << 20;

/// What one record of a run says; `nth` counts from 1.
pub(super) fn of_record(name: &str, nth: u64, frame: &Frame, data: &str) -> Workspace {
    if !is_searched(nth, data.len()) || frame.is_subagent() {
        return Workspace::default();
    }
    let reader = runner(name).and_then(|runner| runner.workspace);
    reader.map(|reader| reader.read(data)).unwrap_or_default()
}

fn is_searched(nth: u64, bytes: usize) -> bool {
    nth == 1 || (nth <= LOOKED_AT && bytes <= LONGEST)
}

/// The thread of a stream's session.
pub(super) fn thread_of(stream: &Stream) -> StreamId {
    (StreamKind::Thread, stream.session.id)
}

/// Where the session works whose run was the last one of an input to say so.
#[derive(Clone, Debug, Default)]
pub struct Workplace(Arc<Mutex<Option<(Uuid, Workspace)>>>);

impl Workplace {
    /// A run of the input says where it works, or is one that the log has already.
    pub fn remember(&self, stream: &Stream, workspace: &Workspace) {
        if !workspace.is_empty() {
            *self.last() = Some((stream.session.id, workspace.clone()));
        }
    }

    /// Remembers where a run works that has begun, or gives that to a run without records.
    pub(super) fn share(&self, stream: &Stream, status: &mut RunStatus) {
        if status.records > 0 || !status.workspace.is_empty() {
            return self.remember(stream, &status.workspace);
        }
        if let Some((session, workspace)) = &*self.last()
            && *session == stream.session.id
        {
            status.workspace = workspace.clone();
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<(Uuid, Workspace)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Runs {
    /// The status of a run that begins with this frame. It works where the thread of its session does, unless its own records say more.
    pub(super) fn begun(&self, first: &Frame) -> RunStatus {
        let thread = self.find(thread_of(&first.stream)).filter(|_| first.stream.kind == StreamKind::Session);
        let workspace = thread.map(|thread| thread.status().workspace.clone()).unwrap_or_default();
        RunStatus { workspace, ..RunStatus::new(first) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_record_is_searched_however_long_and_the_next_ones_up_to_a_length() {
        assert!(is_searched(1, usize::MAX));
        for nth in [2, LOOKED_AT] {
            assert!(is_searched(nth, LONGEST) && !is_searched(nth, LONGEST + 1), "{nth}");
        }
        assert!(!is_searched(LOOKED_AT + 1, 0));
    }
}
