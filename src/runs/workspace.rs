//! Where a run works, from its records.
//!
//! Input: the first records of a run. Output: what its runner's reader finds in them. Never: a search of all records of a long run; the directory of
//! a subagent.

use framegate_translators::frame::Frame;
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
