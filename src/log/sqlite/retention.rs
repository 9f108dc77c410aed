//! Drops whole idle streams when there is no room or they are too old (see [`Room`](crate::log::room)).
//!
//! Input: upcoming appends, and timer ticks. Output: the dropped streams. Never: an open run dropped, or a stream dropped
//! without everything that belongs to it.

use super::append::Append;
use super::database::give_back;
use super::writer::{Job, Writer, spared};
use super::{Fsync, Options, artifacts};
use crate::log::{LogError, StreamId};
use rusqlite::{Connection, OptionalExtension, named_params};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often to look for streams that are too old.
const AGE_EVERY: Duration = Duration::from_secs(60);

/// How many streams that cannot be dropped are passed over. If there are more, the cause is not the streams.
const MOST_STUCK: usize = 16;

/// How many dropped streams are remembered, so that readers that had not caught up can be told.
const REMEMBERED: u64 = 4096;

/// How much SQLite may need for an append in a file of limited size, in addition to a multiple of the append's own bytes.
const FILE_SLACK: u64 = 256 << 10;

/// Maximum of bytes written to find out whether writing works.
const PROBE_BYTES: u64 = 1 << 20;

impl Writer {
    /// Drops idle streams until there is room for these appends. Streams that they continue are dropped only if no other is
    /// left.
    pub(super) fn make_room<'a>(&mut self, appends: impl Iterator<Item = &'a Append> + Clone) {
        // For an append that would not fit in any case, nothing is dropped.
        let fits = |append: &&Append| self.room.refuses(append.bytes, append.closing).is_none();
        let more = appends.clone().filter(fits).map(|append| append.bytes).sum();
        if let Err(error) = self.free(more, || spared(appends)) {
            tracing::error!(%error, "no room could be made");
        }
    }

    /// Tries again to make the room that could not be made when it was needed.
    pub(super) fn free_owed(&mut self) -> Result<(), LogError> {
        self.owed.map_or(Ok(()), |more| self.free(more, HashSet::new))
    }

    /// Brings the log within its limits when it is opened.
    pub(super) fn start(&mut self) {
        self.drop_aged();
        self.make_room(std::iter::empty());
    }

    /// Drops idle streams until there is room for `more` bytes. A stream that cannot be dropped stays. That is an error only if
    /// there is still no room after too many failures, or with no other stream left.
    fn free(&mut self, more: u64, spared: impl FnOnce() -> HashSet<StreamId>) -> Result<(), LogError> {
        let spared = if self.room.is_beyond(more) { spared() } else { HashSet::new() };
        self.owed = Some(more);
        let (mut stuck, mut why) = (Vec::new(), None);
        while let Some(oldest) = self.room.next_to_go(more, &stuck, &spared) {
            if let Err(error) = self.drop_stream(oldest) {
                stuck.push(oldest);
                why.get_or_insert(error);
                if stuck.len() >= MOST_STUCK {
                    break;
                }
            }
        }
        if self.room.is_beyond(more)
            && let Some(error) = why
        {
            return Err(error);
        }
        self.owed = None;
        Ok(())
    }

    /// If the file has reached its maximum size: drops the streams idle longest, about twice `bytes` in all. Returns whether
    /// any was dropped. If other files filled the disk, nothing is dropped.
    pub(super) fn shrink(&mut self, error: &LogError, bytes: u64, spared: &HashSet<StreamId>) -> bool {
        let (LogError::NoSpace { .. }, Some(limit)) = (error, self.options.max_file_bytes) else { return false };
        let number = |pragma: &str| self.database().pragma_query_value(None, pragma, |row| row.get::<_, u64>(0));
        let in_use = || -> rusqlite::Result<u64> {
            Ok(number("page_count")?.saturating_sub(number("freelist_count")?) * number("page_size")?)
        };
        if in_use().is_ok_and(|in_use| in_use.saturating_add(4 * bytes).saturating_add(FILE_SLACK) < limit) {
            return false;
        }
        let mut freed = 0;
        let mut stuck = Vec::new();
        while freed <= 2 * bytes
            && let Some(oldest) = self.room.next_to_go(u64::MAX, &stuck, spared).filter(|id| !spared.contains(id))
        {
            let held = self.held.get(&oldest).map_or(0, |held| held.bytes);
            match self.drop_stream(oldest) {
                Ok(()) => freed += held.max(1),
                Err(_) if stuck.len() >= MOST_STUCK => break,
                Err(_) => stuck.push(oldest),
            }
        }
        freed > 0
    }

    /// Finds out by writing whether writing works: as many bytes as were last refused.
    pub(super) fn probe(&mut self) -> Result<(), LogError> {
        let write = || {
            if let Some(bytes) = self.refused {
                let database = self.database();
                database.execute("INSERT INTO probes VALUES (zeroblob(?1))", [bytes.clamp(8 << 10, PROBE_BYTES)])?;
                return database.execute("DELETE FROM probes", []).map(drop);
            }
            // Writes the version over itself. This proves that the file can be locked, changed and committed to, and changes
            // nothing.
            let version: i64 = self.database().pragma_query_value(None, "user_version", |row| row.get(0))?;
            self.database().pragma_update(None, "user_version", version)
        };
        write().map_err(|error| self.failed("cannot be written", &error))?;
        self.refused = None;
        Ok(())
    }

    /// Drops a stream for another reason than making room.
    pub(super) fn drop_whole(&mut self, id: StreamId) -> Result<(), LogError> {
        self.state.check_files()?;
        self.try_drop(id)
    }

    /// Drops a stream. A failure is logged once for each stream.
    fn drop_stream(&mut self, id: StreamId) -> Result<(), LogError> {
        let dropped = self.try_drop(id);
        match &dropped {
            Ok(()) => drop(self.stuck.remove(&id)),
            Err(error) if self.stuck.insert(id) => {
                tracing::error!(stream = %id.1, %error, "a stream could not be dropped; framegate tries again when the \
                                                         log needs room");
            }
            Err(_) => {}
        }
        dropped
    }

    fn try_drop(&mut self, id: StreamId) -> Result<(), LogError> {
        if let Some(key) = self.key_of(id) {
            let freed = remove(self.database(), key, self.options.clock.now_ms())
                .map_err(|error| self.failed("cannot be written", &error))?;
            self.held.remove(&id);
            self.shared.remove(&[id]);
            self.artifacts_went(freed);
            tracing::debug!(stream = %id.1, "a stream was dropped to make room");
            self.give_back();
        }
        self.room.remove(id);
        Ok(())
    }

    /// Returns freed pages to the file system. The drop is already committed by then, so a failure is only logged, and is tried
    /// again after the next transaction.
    pub(super) fn give_back(&mut self) {
        let given = give_back(self.database());
        if let (Err(error), false) = (&given, self.keeps_freed) {
            tracing::warn!(%error, "the frame log's file keeps freed pages for now");
        }
        self.keeps_freed = given.is_err();
        self.has_written();
    }

    /// Returns the pages that could not be returned before.
    pub(super) fn give_back_owed(&mut self) {
        if self.keeps_freed {
            self.give_back();
        }
    }

    /// Drops the idle streams with the last append before that time. Checks all of them: if the clock was set, their order is
    /// not the order of their ages.
    fn drop_older(&mut self, before_ms: u64) {
        let is_old = |id: &StreamId| self.held.get(id).is_some_and(|held| held.stored_ms < before_ms);
        let old: Vec<StreamId> = self.room.idle().filter(is_old).collect();
        let mut stuck = 0;
        for id in old {
            stuck += usize::from(self.drop_stream(id).is_err());
            if stuck >= MOST_STUCK {
                break;
            }
        }
    }

    fn drop_aged(&mut self) {
        if let Some(age) = self.options.max_age {
            let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
            self.drop_older(self.options.clock.now_ms().saturating_sub(age_ms));
        }
    }

    pub(super) fn tick(&mut self) {
        self.drop_aged();
        self.give_back_owed();
        let is_due = self.unsynced || self.checkpointer.has_failed();
        if matches!(self.options.fsync, Fsync::Interval(_)) && is_due {
            self.unsynced = false;
            self.checkpointer.ask();
        }
    }
}

/// Removes a stream in a transaction of its own. Returns how many bytes of artifacts were removed with it. The cost does not
/// depend on how much else is in the log.
pub(crate) fn remove(database: &Connection, key: i64, now_ms: u64) -> rusqlite::Result<u64> {
    let transaction = database.unchecked_transaction()?;
    // Its position must not be used again, although no frame will have it any more.
    let sql =
        "UPDATE state SET next_position = max(next_position, (SELECT coalesce(max(position), 0) + 1 FROM frames))";
    database.prepare_cached(sql)?.execute([])?;
    let sql = "INSERT INTO dropped (kind, id, session_id, session_name, provider, origin_run, frames, position, dropped_ms, events) \
               SELECT kind, id, session_id, session_name, provider, origin_run, frames, position, :now, \
               CASE WHEN json_valid(status) THEN status -> '$.events_checked' END \
               FROM streams JOIN frames ON stream = key AND seq = frames - 1 WHERE key = :key RETURNING nth";
    let nth = database
        .prepare_cached(sql)?
        .query_row(named_params! {":now": now_ms, ":key": key}, |row| row.get::<_, u64>(0));
    if let Some(beyond) = nth.optional()?.and_then(|nth| nth.checked_sub(REMEMBERED)) {
        let sql = "UPDATE state SET forgotten = max(forgotten, \
                   (SELECT coalesce(max(position), 0) + 1 FROM dropped WHERE nth <= ?1))";
        database.prepare_cached(sql)?.execute([beyond])?;
        database.prepare_cached("DELETE FROM dropped WHERE nth <= ?1")?.execute([beyond])?;
    }
    let artifact_bytes = artifacts::remove_of_stream(database, key)?;
    database.prepare_cached("DELETE FROM frames WHERE stream = ?1")?.execute([key])?;
    database.prepare_cached("DELETE FROM marks WHERE stream = ?1")?.execute([key])?;
    database.prepare_cached("DELETE FROM streams WHERE key = ?1")?.execute([key])?;
    transaction.commit()?;
    Ok(artifact_bytes)
}

/// Starts the timer that sends ticks to the writer, if the settings need one.
pub(super) fn tick(options: &Options, jobs: mpsc::WeakSender<Job>) {
    let every = match (options.fsync, options.max_age) {
        (Fsync::Interval(every), _) => every.min(AGE_EVERY),
        (_, Some(_)) => AGE_EVERY,
        _ => return,
    };
    let ticker = std::thread::Builder::new().name("frame-log-clock".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(every);
            // If the queue is full, the writer is busy; the next tick will do.
            match jobs.upgrade() {
                Some(jobs) => drop(jobs.try_send(Job::Tick)),
                None => return,
            }
        }
    });
    if let Err(error) = ticker {
        tracing::error!(%error, "no thread to sync the frame log at intervals: it is synced only at its own checkpoints");
    }
}

#[cfg(test)]
mod tests;
