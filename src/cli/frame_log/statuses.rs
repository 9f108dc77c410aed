//! The statuses of all runs in a log, for figures over them.
//!
//! Input: a log that is read. Output: each status, newest run first. Never: an end because one status is damaged.

use super::Source;
use crate::runs::RunStatus;

/// Passes the status of each run to `sink`; `None` for a run whose status is missing or damaged.
///
/// # Errors
/// The log cannot be read.
pub(in crate::cli) fn each(log: &dyn Source, sink: &mut dyn FnMut(Option<RunStatus>)) -> anyhow::Result<()> {
    log.each_status(&mut |text| sink(text.and_then(|text| serde_json::from_str(text).ok())))
}
