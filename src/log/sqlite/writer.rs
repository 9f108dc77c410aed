//! The writer thread.
//!
//! Input: appends, through a bounded queue. Output: an answer to each, once its frames are as durable as configured. Never: a
//! transaction for each append while several wait, or an append that fails because another one in its transaction did.

use super::append::{Append, Part};
use super::database::{Lock, told};
use super::known_texts::Known;
use super::state::State;
use super::wal_checkpoint::Checkpointer;
use super::{Abandoned, Options, Shared, artifacts};
use crate::artifacts::StoreError;
use crate::log::room::{Room, RoomBounds};
use crate::log::{LogError, StreamId};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::Stream;
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// How many bytes of frames go into one transaction before it is committed. An append is never split.
const GROUP_BYTES: u64 = 8 << 20;

/// For a small log, a transaction is limited to this fraction of the log's size. Room can be made between transactions by
/// dropping what earlier ones wrote, but not within one.
const GROUP_SHARE: u64 = 16;

/// Approximate size of a row without its body: the other columns and the index entry.
pub(super) const ROW_BYTES: u64 = 64;

/// Channel for the answer to an append.
pub(super) type Answer = oneshot::Sender<Result<Kept, LogError>>;

/// A committed append.
#[derive(Debug)]
pub(super) struct Kept {
    /// The stream keys under which the frames are kept, one for each part, in order.
    pub(super) keys: Vec<i64>,
    /// The position of the first frame; the others follow.
    pub(super) first: u64,
    pub(super) frames: u64,
    /// Gets the positions if the appender was cancelled and never takes the answer.
    abandoned: Option<Arc<Abandoned>>,
}

impl Kept {
    /// The appender has received the answer.
    pub(super) fn claim(mut self) -> (Vec<i64>, u64) {
        self.abandoned = None;
        (std::mem::take(&mut self.keys), self.first)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(abandoned) = self.abandoned.take() {
            abandoned.add(self.first, self.frames);
        }
    }
}

/// A job for the writer.
pub(super) enum Job {
    Append(Append, Answer),
    Put(Arc<Artifact>, oneshot::Sender<Result<(), StoreError>>),
    /// Any other job for the writer.
    Write(Write),
    /// A timer tick.
    Tick,
}

type Write = Box<dyn FnOnce(&mut Writer) + Send>;

impl Job {
    pub(super) fn write<T: Send + 'static>(
        done: oneshot::Sender<T>,
        write: impl FnOnce(&mut Writer) -> T + Send + 'static,
    ) -> Self {
        // The caller may have been cancelled.
        Self::Write(Box::new(move |writer| drop(done.send(write(writer)))))
    }
}

/// What the writer knows of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub(super) key: i64,
    pub(super) frames: u64,
    pub(super) bytes: u64,
    pub(super) ended: bool,
    /// How many frames of its front were pruned.
    pub(super) gone: u64,
    /// When the last append was, in Unix epoch milliseconds, by the clock at that time.
    pub(super) stored_ms: u64,
}

/// Changes that a transaction makes, applied once it is committed.
#[derive(Default)]
pub(super) struct Changes {
    /// The key of the next new stream.
    pub(super) next_key: i64,
    /// The position of the next frame.
    pub(super) next_position: u64,
    pub(super) held: HashMap<StreamId, Held>,
    /// The streams in the order of their appends; a stream's last entry counts.
    touched: Vec<StreamId>,
    pub(super) new: Vec<(i64, Arc<Stream>)>,
    pub(super) texts: Vec<(StreamId, Option<Known>)>,
    pub(super) bytes: u64,
}

pub(super) struct Writer {
    /// Declared before `database` and the lock, so that it is dropped first: it finishes its checkpoint before the database is
    /// closed and the lock is released.
    pub(super) checkpointer: Checkpointer,
    pub(super) database: Connection,
    _lock: Lock,
    pub(super) options: Options,
    pub(super) shared: Arc<Shared>,
    pub(super) held: HashMap<StreamId, Held>,
    /// The key of the next stream. It never decreases, so the key of a dropped stream finds nothing.
    next_key: i64,
    /// The file's own state row, and the position of the next frame.
    pub(super) state: State,
    /// How full the log is, and what is dropped first.
    pub(super) room: Room,
    /// For how many bytes no room could be made because idle streams could not be dropped.
    pub(super) owed: Option<u64>,
    /// If the last append failed in the file system: its size in bytes.
    pub(super) refused: Option<u64>,
    /// Streams that could not be dropped; this was logged for each of them.
    pub(super) stuck: HashSet<StreamId>,
    /// Whether freed pages could not be returned to the file system.
    pub(super) keeps_freed: bool,
    pub(super) artifact_bytes: u64,
    /// Whether anything was written since the last sync.
    pub(super) unsynced: bool,
}

impl Writer {
    pub(super) fn new(
        mut database: Connection,
        lock: Lock,
        options: Options,
        shared: Arc<Shared>,
    ) -> Result<Self, LogError> {
        let (mut held, mut all) = (HashMap::new(), Vec::new());
        let ids: Vec<(i64, StreamId)> = {
            let streams = shared.streams.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            streams.iter().map(|(id, (key, _))| (*key, *id)).collect()
        };
        let load = |key: i64| {
            let sql = "SELECT frames, bytes, ended, stored_ms, pruned_frames FROM streams WHERE key = ?1";
            database.prepare_cached(sql)?.query_row([key], |row| {
                let (frames, bytes, ended, gone) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(4)?);
                Ok(Held { key, frames, bytes, ended, gone, stored_ms: row.get(3)? })
            })
        };
        for (key, id) in ids {
            let stream = load(key).map_err(|error| told(&options.path, "cannot be read", &error))?;
            all.push((stream.stored_ms, key, id));
            held.insert(id, stream);
        }
        let next_key = held.values().map(|held: &Held| held.key + 1).max().unwrap_or(1);
        all.sort_unstable_by_key(|(stored_ms, key, _)| (*stored_ms, *key));
        let mut room = Room::new(RoomBounds { max_bytes: options.max_bytes, max_streams: options.max_runs });
        for (.., id) in all {
            let Held { bytes, ended, .. } = held.get(&id).copied().unwrap_or_default();
            room.grown(id, bytes, ended);
        }
        let state = State::open(&database, &options)?;
        let artifact_bytes =
            artifacts::total(&database).map_err(|error| told(&options.path, "cannot be read", &error))?;
        let checkpointer = Checkpointer::new(&mut database, &options.path, options.fsync)?;
        Ok(Self {
            checkpointer,
            database,
            _lock: lock,
            options,
            shared,
            held,
            next_key,
            state,
            room,
            owed: None,
            refused: None,
            stuck: HashSet::new(),
            keeps_freed: false,
            artifact_bytes,
            unsynced: false,
        })
    }

    /// Works until all senders are gone.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let group_bytes = GROUP_BYTES.min(self.options.max_bytes / GROUP_SHARE);
        while let Some(job) = jobs.blocking_recv() {
            let mut group = Vec::new();
            let mut bytes = 0;
            let mut next = Some(job);
            while let Some(job) = next {
                match job {
                    Job::Append(append, answer) => {
                        bytes += append.bytes;
                        group.push((append, answer));
                    }
                    // Done before the waiting frames are committed: some of them may refer to it.
                    Job::Put(artifact, answer) => drop(answer.send(self.put(&artifact))),
                    // The appends in the group are newer than anything that the caller could know, so the job may run before
                    // them.
                    Job::Write(write) => write(&mut self),
                    Job::Tick => self.tick(),
                }
                self.checkpointer.look();
                next = if bytes < group_bytes { jobs.try_recv().ok() } else { None };
            }
            if !group.is_empty() {
                self.commit(group);
            }
            self.checkpointer.look();
        }
        // This checkpoint finishes before the database is closed.
        self.checkpointer.ask();
    }

    /// Bytes of frames, and number of streams.
    pub(super) fn usage(&self) -> (u64, u64) {
        (self.room.bytes(), self.room.len() as u64)
    }

    /// Bytes and number of artifacts; `None` if they could not be counted.
    pub(super) fn artifact_usage(&self) -> Option<(u64, u64)> {
        let count = self.database.query_row("SELECT count(*) FROM artifacts", [], |row| row.get::<_, u64>(0));
        count.ok().map(|count| (self.artifact_bytes, count))
    }

    /// Checks by writing whether an append would find room.
    pub(super) fn check_writable(&mut self) -> Result<(), LogError> {
        self.state.check_files()?;
        self.free_owed()?;
        if let Some(full) = self.room.refuses(1, false) {
            return Err(full);
        }
        self.probe()
    }

    pub(super) fn next_position(&self) -> u64 {
        self.state.next_position
    }

    pub(super) fn database(&self) -> &Connection {
        &self.database
    }

    /// The key of a stream, if it is kept.
    pub(super) fn key_of(&self, id: StreamId) -> Option<i64> {
        self.held.get(&id).map(|held| held.key)
    }

    /// Records that the front of a stream was pruned, and that the stream has `bytes` bytes now.
    pub(super) fn cut(&mut self, id: StreamId, gone: u64, bytes: u64) {
        if let Some(held) = self.held.get_mut(&id) {
            (held.bytes, held.gone) = (bytes, gone);
            self.room.cut(id, bytes);
        }
        self.unsynced = true;
    }

    /// Records that `bytes` bytes of artifacts were removed.
    pub(super) fn artifacts_went(&mut self, bytes: u64) {
        self.artifact_bytes = self.artifact_bytes.saturating_sub(bytes);
        self.unsynced = true;
    }

    /// Records that something was written.
    pub(super) fn has_written(&mut self) {
        self.unsynced = true;
    }

    pub(super) fn failed(&self, what: &'static str, error: &rusqlite::Error) -> LogError {
        told(&self.options.path, what, error)
    }

    fn put(&mut self, artifact: &Artifact) -> Result<(), StoreError> {
        let (bytes, limit) = (artifact.content.len() as u64, self.options.max_artifact_bytes);
        if bytes > limit {
            return Err(StoreError::TooLarge { bytes, limit });
        }
        self.state.check_files()?;
        self.unsynced = true;
        let spared = HashSet::from([(artifact.stream.kind, artifact.stream.id)]);
        loop {
            let put = artifacts::put(&self.database, artifact, &mut self.artifact_bytes, limit);
            let Err(error) = put.map_err(|error| self.failed("cannot be written", &error)) else { return Ok(()) };
            if !self.shrink(&error, bytes, &spared) {
                return Err(error.into());
            }
        }
    }

    /// Commits the appends in one transaction. If that fails, commits each in a transaction of its own, so that only the faulty
    /// one fails.
    pub(super) fn commit(&mut self, group: Vec<(Append, Answer)>) {
        self.make_room(group.iter().map(|(append, _)| append));
        let whole = self.state.check_files().and_then(|()| self.transact(group.iter().map(|(append, _)| append)));
        let alone = group.len() == 1;
        match whole {
            Ok(results) => {
                self.refused = None;
                self.give_back_owed();
                for ((append, answer), result) in group.into_iter().zip(results) {
                    match result {
                        // Other appends of the group took the room. They are committed now, so their streams can be dropped.
                        Err(LogError::Full { .. }) if !alone => self.commit(vec![(append, answer)]),
                        // The caller may have been cancelled; the frames are kept anyway.
                        result => drop(answer.send(result)),
                    }
                }
            }
            Err(error) if alone => {
                let (bytes, spared) =
                    group.first().map_or_else(Default::default, |(append, _)| (append.bytes, spared([append])));
                if self.shrink(&error, bytes, &spared) {
                    return self.commit(group);
                }
                if self.refused.is_none() {
                    tracing::error!(%error, "frames could not be stored");
                }
                self.refused = Some(bytes);
                for (_, answer) in group {
                    let _ = answer.send(Err(error.clone()));
                }
            }
            Err(_) => {
                for one in group {
                    self.commit(vec![one]);
                }
            }
        }
    }

    /// Runs one transaction. An append that does not fit is left out of it, and its result is the error.
    fn transact<'a>(
        &mut self,
        appends: impl Iterator<Item = &'a Append>,
    ) -> Result<Vec<Result<Kept, LogError>>, LogError> {
        let next_position = self.state.next_position;
        let mut changes = Changes { next_key: self.next_key, next_position, ..Changes::default() };
        let now_ms = self.options.clock.now_ms();
        let write = || -> rusqlite::Result<Vec<Result<Kept, LogError>>> {
            let transaction = self.database.unchecked_transaction()?;
            let mut results = Vec::new();
            for append in appends {
                results.push(match self.fits(append, &changes) {
                    Ok(()) => {
                        let first = changes.next_position;
                        self.insert(append, &mut changes, now_ms)?;
                        changes.touched.extend(append.streams.iter().map(|part| part.id));
                        let key = |part: &Part| changes.held.get(&part.id).map(|held| held.key);
                        let keys = append.streams.iter().filter_map(key).collect();
                        // Set after the commit: only committed appends can be abandoned.
                        Ok(Kept { keys, first, frames: changes.next_position - first, abandoned: None })
                    }
                    Err(refused) => Err(refused),
                });
            }
            transaction.commit()?;
            Ok(results)
        };
        let mut results = write().map_err(|error| self.failed("cannot be written", &error))?;
        results.iter_mut().flatten().for_each(|kept| kept.abandoned = Some(self.shared.abandoned.clone()));
        self.next_key = changes.next_key;
        self.state.committed(changes.next_position);
        for id in changes.touched {
            if let Some(held) = changes.held.get(&id) {
                self.room.grown(id, held.bytes, held.ended);
                self.held.insert(id, *held);
            }
        }
        for (key, stream) in changes.new {
            self.shared.insert(key, stream);
        }
        for (id, text) in changes.texts {
            self.shared.texts.learn(id, text);
        }
        self.unsynced = true;
        Ok(results)
    }

    /// Checks that the append follows the kept frames, and that there is room for it.
    fn fits(&self, append: &Append, changes: &Changes) -> Result<(), LogError> {
        let mut counted: HashMap<StreamId, u64> = HashMap::new();
        for part in &append.streams {
            let held = changes.held.get(&part.id).or_else(|| self.held.get(&part.id));
            let expected = counted.entry(part.id).or_insert_with(|| held.map_or(0, |held| held.frames));
            for row in &part.rows {
                if row.seq != *expected {
                    return Err(LogError::Sequence { stream: part.id.1, expected: *expected, found: row.seq });
                }
                *expected += 1;
            }
        }
        let more = changes.bytes + append.bytes;
        if self.room.lacks(more) {
            return Err(LogError::Full { bytes: self.room.bytes() + changes.bytes, limit: self.options.max_bytes });
        }
        self.room.refuses(more, append.closing).map_or(Ok(()), Err)
    }
}

/// The streams that the appends continue.
pub(super) fn spared<'a>(appends: impl IntoIterator<Item = &'a Append>) -> HashSet<StreamId> {
    appends.into_iter().flat_map(|append| &append.streams).map(|part| part.id).collect()
}
