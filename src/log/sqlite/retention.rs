//! What goes where there is no more room, or it is too old: whole runs and tasks that are over.
//!
//! In: what is to come, and that time passes. Out: the streams that went. Never: a stream dropped that is still open, or that
//! what is to come goes on with; one without all that belongs to it.

use super::append::Append;
use super::database::give_back;
use super::writer::{Job, Writer};
use super::{Fsync, Options, artifacts};
use crate::log::{LogError, StreamId};
use framegate_translators::frame::StreamKind;
use rusqlite::{Connection, OptionalExtension, named_params};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::mpsc;
use uuid::Uuid;

/// How often runs that are too old are looked for.
const AGE_EVERY: Duration = Duration::from_secs(60);

/// How long nothing must have been appended to a session's thread stream before it goes with the session's last run.
const THREAD_REST_MS: u64 = 3_600_000;

/// How many runs that cannot be dropped are passed over: where there are more, it is not the runs.
const MOST_STUCK: usize = 16;

impl Writer {
    /// Drops the runs that ended first until there is room for these appends, but none that they go on with.
    pub(super) fn make_room<'a>(&mut self, appends: impl Iterator<Item = &'a Append> + Clone) {
        let more = appends.clone().map(|append| append.bytes).sum();
        let spared = || appends.flat_map(|append| &append.streams).map(|part| part.id).collect();
        if let Err(error) = self.free(more, spared) {
            tracing::error!(%error, "no room could be made");
        }
    }

    /// Tries again to make the room that could not be made when it was needed.
    pub(super) fn free_owed(&mut self) -> Result<(), LogError> {
        self.owed.map_or(Ok(()), |more| self.free(more, HashSet::new))
    }

    /// Drops the runs that ended first until there is room for `more` bytes. One that cannot be dropped stays where it is; that
    /// is an error where too many do, or no others are left.
    fn free(&mut self, more: u64, spared: impl FnOnce() -> HashSet<StreamId>) -> Result<(), LogError> {
        let Options { max_bytes, max_runs, .. } = self.options;
        let is_full = |writer: &Self| writer.bytes + more > max_bytes || writer.ended.len() > max_runs;
        let spared = if is_full(self) { spared() } else { HashSet::new() };
        self.owed = Some(more);
        let mut stuck = Vec::new();
        while is_full(self) {
            let goes = |id: &StreamId| !spared.contains(id) && stuck.iter().all(|(kept, _)| kept != id);
            let Some(oldest) = self.ended.iter().find(goes) else { break };
            if let Err(error) = self.drop_stream(oldest, &spared) {
                stuck.push((oldest, error));
                if stuck.len() >= MOST_STUCK {
                    break;
                }
            }
        }
        if is_full(self)
            && let Some((_, error)) = stuck.into_iter().next()
        {
            return Err(error);
        }
        self.owed = None;
        Ok(())
    }

    /// Drops a stream that is over; none of those with it. Where it cannot be dropped, that is logged, once for each stream.
    fn drop_stream(&mut self, id: StreamId, spared: &HashSet<StreamId>) -> Result<(), LogError> {
        let dropped = self.try_drop(id, spared);
        match &dropped {
            Ok(()) => drop(self.stuck.remove(&id)),
            Err(error) if self.stuck.insert(id) => {
                tracing::error!(stream = %id.1, %error, "a run could not be dropped; it is tried again when room is needed");
            }
            Err(_) => {}
        }
        dropped
    }

    fn try_drop(&mut self, id: StreamId, spared: &HashSet<StreamId>) -> Result<(), LogError> {
        if let Some(key) = self.key_of(id) {
            let Removed { thread, artifact_bytes } = remove(self.database(), key, self.options.clock.now_ms(), spared)
                .map_err(|error| self.failed("cannot be written", &error))?;
            let thread = thread.map(|id| (StreamKind::Thread, id));
            let gone: Vec<StreamId> = std::iter::once(id).chain(thread).collect();
            for id in &gone {
                self.bytes -= self.held.remove(id).map_or(0, |held| held.bytes);
            }
            self.shared.remove(&gone);
            self.artifacts_went(artifact_bytes);
            tracing::debug!(stream = %id.1, "a run made room");
            self.give_back();
        }
        self.ended.remove(id);
        Ok(())
    }

    /// Gives room that was freed back to the file system. What was freed is settled by then, so nobody is told where this fails:
    /// it is tried again behind the next transaction.
    pub(super) fn give_back(&mut self) {
        let given = give_back(self.database());
        if let (Err(error), false) = (&given, self.keeps_freed) {
            tracing::warn!(%error, "the frame log's file keeps room that was freed, for now");
        }
        self.keeps_freed = given.is_err();
        self.has_written();
    }

    /// Gives back what could not be given back before.
    pub(super) fn give_back_owed(&mut self) {
        if self.keeps_freed {
            self.give_back();
        }
    }

    /// Drops the runs that were last gone on with before that moment. All are looked at: where the clock was set, they do not
    /// stand in the order of their ages.
    fn drop_older(&mut self, before_ms: u64) {
        let is_old = |id: &StreamId| self.held.get(id).is_some_and(|held| held.stored_ms < before_ms);
        let old: Vec<StreamId> = self.ended.iter().filter(is_old).collect();
        let mut stuck = 0;
        for id in old {
            stuck += usize::from(self.drop_stream(id, &HashSet::new()).is_err());
            if stuck >= MOST_STUCK {
                break;
            }
        }
    }

    pub(super) fn tick(&mut self) {
        if let Some(age) = self.options.max_age {
            let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
            self.drop_older(self.options.clock.now_ms().saturating_sub(age_ms));
        }
        self.give_back_owed();
        let is_due = self.unsynced || self.checkpointer.has_failed();
        if matches!(self.options.fsync, Fsync::Interval(_)) && is_due {
            self.unsynced = false;
            self.checkpointer.ask();
        }
    }
}

/// What went with a stream.
pub(crate) struct Removed {
    /// Its session's thread stream, which went with it.
    pub(crate) thread: Option<Uuid>,
    /// The bytes of artifacts that nobody else referred to.
    artifact_bytes: u64,
}

/// The thread stream of a session of which nothing else is kept, where nobody goes on with it. It has its session's id.
const RESTED_THREAD: &str = "SELECT key, id FROM streams t WHERE kind = 'thread' AND id = :session AND stored_ms < :rested \
    AND NOT EXISTS (SELECT 1 FROM streams o WHERE o.session_id = t.id AND o.kind <> 'thread')";

/// Removes a stream, in a transaction of its own; with the last run or task of its session also the session's thread stream,
/// where that is not one of `spared`. What that costs does not grow with what else there is.
pub(crate) fn remove(
    database: &Connection,
    key: i64,
    now_ms: u64,
    spared: &HashSet<StreamId>,
) -> rusqlite::Result<Removed> {
    let transaction = database.unchecked_transaction()?;
    let session: String =
        database.prepare_cached("SELECT session_id FROM streams WHERE key = ?1")?.query_row([key], |row| row.get(0))?;
    let mut artifact_bytes = 0;
    let mut drop_one = |key: i64| -> rusqlite::Result<()> {
        artifact_bytes += artifacts::remove_of_stream(database, key)?;
        database.prepare_cached("DELETE FROM frames WHERE stream = ?1")?.execute([key])?;
        database.prepare_cached("DELETE FROM marks WHERE stream = ?1")?.execute([key])?;
        database.prepare_cached("DELETE FROM streams WHERE key = ?1")?.execute([key])?;
        Ok(())
    };
    drop_one(key)?;
    let thread: Option<(i64, Uuid)> = database
        .prepare_cached(RESTED_THREAD)?
        .query_row(named_params! {":session": session, ":rested": now_ms.saturating_sub(THREAD_REST_MS)}, |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })
        .optional()?
        .and_then(|(key, id)| Some((key, Uuid::try_parse(&id).ok()?)))
        .filter(|(_, id)| !spared.contains(&(StreamKind::Thread, *id)));
    if let Some((key, _)) = &thread {
        drop_one(*key)?;
    }
    transaction.commit()?;
    Ok(Removed { thread: thread.map(|(_, id)| id), artifact_bytes })
}

/// Tells the writer that time passes, where that means something to it.
pub(super) fn tick(options: &Options, jobs: mpsc::WeakSender<Job>) {
    let every = match (options.fsync, options.max_age) {
        (Fsync::Interval(every), _) => every.min(AGE_EVERY),
        (_, Some(_)) => AGE_EVERY,
        _ => return,
    };
    let ticker = std::thread::Builder::new().name("frame-log-clock".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(every);
            // A full queue is one that the writer is at work on.
            match jobs.upgrade() {
                Some(jobs) => drop(jobs.try_send(Job::Tick)),
                None => return,
            }
        }
    });
    if let Err(error) = ticker {
        tracing::error!(%error, "no thread for the frame log's clock: it is synced at its own checkpoints only");
    }
}

#[cfg(test)]
mod tests;
