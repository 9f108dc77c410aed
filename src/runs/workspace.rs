//! Where a run works, from its records.
//!
//! Input: the first records of a run, or of the thread of its session, which has what belongs to no run, such as the header of a session file. Output: what
//! the runner's reader finds in them. Never: a search of all records of a long run; the directory of a subagent.

use super::{RunStatus, Runs};
use crate::log::StreamId;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::runners::{Workspace, runner};

/// How many records of a run are searched. Runners say where they work when a run begins.
const LOOKED_AT: u64 = 16;

/// The longest record that is searched, in bytes. It is parsed again for this.
const LONGEST: usize = 1 << 20;

/// What one record of a run says; `nth` counts from 1.
pub(super) fn of_record(name: &str, nth: u64, frame: &Frame, data: &str) -> Workspace {
    if nth > LOOKED_AT || data.len() > LONGEST || frame.is_subagent() {
        return Workspace::default();
    }
    let reader = runner(name).and_then(|runner| runner.workspace);
    reader.map(|reader| reader.read(data)).unwrap_or_default()
}

/// The thread of a stream's session.
pub(super) fn thread_of(stream: &Stream) -> StreamId {
    (StreamKind::Thread, stream.session.id)
}

impl Runs {
    /// The status of a run that begins with this frame. It works where the thread of its session does, unless its own records say more.
    pub(super) fn begun(&self, first: &Frame) -> RunStatus {
        let thread = self.find(thread_of(&first.stream)).filter(|_| first.stream.kind == StreamKind::Session);
        let workspace = thread.map(|thread| thread.status().workspace.clone()).unwrap_or_default();
        RunStatus { workspace, ..RunStatus::new(first) }
    }
}
