//! A database file that is read.
//!
//! Input: the path of a database, which a proxy may be writing to. Output: what it has. Never: a write; a lock that keeps a proxy out.

use super::source::{Found, Listed, Sink, Source};
use super::{AT_ONCE, verify};
use crate::cli::serve::engine::Storage;
use crate::log::sqlite::{Snapshot, checkpoint, open_read_only, read_frames, streams, views_at};
use crate::log::{Checkpoint, CheckpointAt};
use anyhow::bail;
use rusqlite::Connection;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A database that is opened read-only.
pub(super) struct Database {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl Database {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            bail!("there is no frame log at {}; set it with --db, or log.path in the configuration", path.display());
        }
        Ok(Self { connection: open_read_only(path)?, path: path.to_owned() })
    }
}

impl Source for Database {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn streams(&self) -> anyhow::Result<Vec<Found>> {
        let streams = streams(&self.connection, &self.path)?;
        Ok(streams.into_iter().map(|(key, kept)| Found { key, kept }).collect())
    }

    fn status(&self, found: &Found) -> anyhow::Result<Option<String>> {
        Ok(found.kept.status.clone())
    }

    fn frames(&self, found: &Found, sink: Sink<'_>) -> anyhow::Result<()> {
        let mut at = found.kept.first();
        loop {
            let frames = read_frames(&self.connection, &self.path, found.key, &found.kept.stream, at, AT_ONCE)?;
            let Some(last) = frames.last() else { return Ok(()) };
            at = last.seq + 1;
            frames.iter().try_for_each(&mut *sink)?;
        }
    }

    fn views_at(&self, found: &Found, frame: u64) -> anyhow::Result<Vec<String>> {
        Ok(views_at(&self.connection, found.key, frame)?)
    }

    fn checkpoint(&self, found: &Found, view: &str, frame: u64) -> anyhow::Result<Option<Checkpoint>> {
        Ok(checkpoint(&self.connection, &self.path, found.key, view, &CheckpointAt::Frame(frame))?)
    }

    fn list(&self, limit: usize, sink: &mut dyn FnMut(&Listed) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let sql = "SELECT run_id, runner, coalesce(state, ''), frames, started_at, \
                   CASE session_name WHEN '' THEN session_id ELSE session_name END, \
                   (SELECT status FROM streams WHERE key = runs.stream) FROM runs ORDER BY stream DESC LIMIT ?1";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            let text = |column: usize| row.get::<_, Option<String>>(column).map(Option::unwrap_or_default);
            let (run, provider, state) = (text(0)?, text(1)?, text(2)?);
            let (frames, started, session, status) = (row.get(3)?, text(4)?, text(5)?, row.get(6)?);
            sink(&Listed { run, provider, state, frames, started, session, status })?;
        }
        Ok(())
    }

    fn list_statuses(&self, limit: usize, sink: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let sql = "SELECT status FROM streams WHERE kind = 'session' AND status IS NOT NULL ORDER BY key DESC LIMIT ?1";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([i64::try_from(limit).unwrap_or(i64::MAX)])?;
        while let Some(row) = rows.next()? {
            sink(row.get_ref(0)?.as_str()?)?;
        }
        Ok(())
    }

    fn count(&self, with_status: bool) -> anyhow::Result<usize> {
        let of = if with_status { "status IS NOT NULL" } else { "true" };
        let sql = format!("SELECT count(*) FROM streams WHERE kind = 'session' AND {of}");
        Ok(self.connection.query_row(&sql, [], |row| row.get(0))?)
    }

    fn each_status(&self, sink: &mut dyn FnMut(Option<&str>)) -> anyhow::Result<()> {
        let sql = "SELECT status FROM streams WHERE kind = 'session' ORDER BY key DESC";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            sink(row.get_ref(0)?.as_str().ok());
        }
        Ok(())
    }

    fn verify(&self, out: &mut dyn Write) -> anyhow::Result<u8> {
        verify::run(self, out)
    }

    fn excerpt(&self, found: Found) -> Storage {
        let snapshot = Arc::new(Snapshot::of(self.path.clone(), vec![(found.key, found.kept)]));
        (snapshot.clone(), snapshot)
    }
}
