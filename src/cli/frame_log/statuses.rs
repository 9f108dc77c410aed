//! The statuses of all runs in a database, for figures over them.
//!
//! Input: a database file. Output: each status, newest run first. Never: a read of frames; an end because one status is damaged.

use super::Database;
use crate::runs::RunStatus;
use std::path::Path;

/// Passes the status of each run to `sink`; `None` for a run whose status is missing or damaged.
///
/// # Errors
/// The database cannot be read.
pub(in crate::cli) fn each(path: &Path, sink: &mut dyn FnMut(Option<RunStatus>)) -> anyhow::Result<()> {
    let database = Database::open(path)?;
    let sql = "SELECT status FROM streams WHERE kind = 'session' ORDER BY key DESC";
    let mut statement = database.connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = row.get_ref(0)?.as_str().ok();
        sink(text.and_then(|text| serde_json::from_str(text).ok()));
    }
    Ok(())
}
