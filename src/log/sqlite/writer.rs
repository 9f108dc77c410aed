//! The one thread that writes.
//!
//! In: appends, through a bounded queue. Out: an answer to each, once its frames are as durable as is configured. Never: a
//! transaction for each append where several wait, an append that fails because another one in its transaction did.

use super::append::{Append, Part};
use super::checkpoint::Checkpointer;
use super::database::{Lock, told};
use super::finder::Hole;
use super::texts::{Known, Moved};
use super::{Options, Shared, artifacts};
use crate::artifacts::StoreError;
use crate::log::ended::{Ended, full_of};
use crate::log::{LogError, StreamId};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::stored::Header;
use framegate_translators::frame::{Stream, StreamKind};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, named_params};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// How many bytes of frames are put into one transaction before it is committed; one append is always whole.
const GROUP_BYTES: u64 = 8 << 20;

/// What a row costs besides its body, about: its other columns and its entry in the index.
pub(super) const ROW_BYTES: u64 = 64;

/// Under which keys the frames are kept, of each part in order.
pub(super) type Answer = oneshot::Sender<Result<Vec<i64>, LogError>>;

/// What the writer is asked for.
pub(super) enum Job {
    Append(Append, Answer),
    Put(Arc<Artifact>, oneshot::Sender<Result<(), StoreError>>),
    /// Anything else, for which the writer is needed.
    Write(Write),
    /// Time has passed.
    Tick,
}

type Write = Box<dyn FnOnce(&mut Writer) + Send>;

impl Job {
    pub(super) fn write<T: Send + 'static>(
        done: oneshot::Sender<T>,
        write: impl FnOnce(&mut Writer) -> T + Send + 'static,
    ) -> Self {
        // Whoever asked may be gone.
        Self::Write(Box::new(move |writer| drop(done.send(write(writer)))))
    }
}

/// Text that is known to be UTF-8.
struct Text<'a>(&'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// What the writer knows of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub(super) key: i64,
    frames: u64,
    pub(super) bytes: u64,
    pub(super) ended: bool,
    /// How many frames are gone from its front.
    gone: u64,
    /// When it was last gone on with, in Unix epoch milliseconds by the clock of then.
    pub(super) stored_ms: u64,
}

/// Streams as they will be once the transaction is through.
#[derive(Default)]
struct Changes {
    /// The key of the next stream that is new.
    next_key: i64,
    held: HashMap<StreamId, Held>,
    new: Vec<(i64, Arc<Stream>)>,
    /// Those that ended, in that order; some of them were gone on with.
    ended: Vec<StreamId>,
    texts: Vec<(StreamId, Option<Known>)>,
    bytes: u64,
}

pub(super) struct Writer {
    /// At its end, what there is is moved; then the database is closed, then the lock is given back.
    pub(super) checkpointer: Checkpointer,
    pub(super) database: Connection,
    _lock: Lock,
    pub(super) options: Options,
    pub(super) shared: Arc<Shared>,
    pub(super) held: HashMap<StreamId, Held>,
    /// The key of the next stream. It only rises: whoever still has the key of a stream that went finds nothing by it.
    next_key: i64,
    /// Runs and tasks that are over.
    pub(super) ended: Ended,
    pub(super) bytes: u64,
    /// For how many bytes no room could be made, although there are runs that are over.
    pub(super) owed: Option<u64>,
    /// Streams that are over and could not be dropped, as was logged.
    pub(super) stuck: HashSet<StreamId>,
    /// Room that was freed could not be given back to the file system.
    pub(super) keeps_freed: bool,
    pub(super) artifact_bytes: u64,
    /// Something was written since the last sync.
    pub(super) unsynced: bool,
}

impl Writer {
    pub(super) fn new(
        mut database: Connection,
        lock: Lock,
        options: Options,
        shared: Arc<Shared>,
    ) -> Result<Self, LogError> {
        let (mut held, mut over, mut all) = (HashMap::new(), Vec::new(), 0);
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
            all += stream.bytes;
            if stream.ended {
                over.push((stream.stored_ms, key, id));
            }
            held.insert(id, stream);
        }
        let next_key = held.values().map(|held: &Held| held.key + 1).max().unwrap_or(1);
        over.sort_unstable_by_key(|(stored_ms, key, _)| (*stored_ms, *key));
        let mut ended = Ended::default();
        over.into_iter().for_each(|(.., id)| ended.push(id));
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
            ended,
            bytes: all,
            owed: None,
            stuck: HashSet::new(),
            keeps_freed: false,
            artifact_bytes,
            unsynced: false,
        })
    }

    /// Works until nobody can ask any more.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
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
                    // Before the frames that wait: some of them may refer to it.
                    Job::Put(artifact, answer) => drop(answer.send(self.put(&artifact))),
                    // What is waiting for its transaction is newer than anything that was known when this was asked.
                    Job::Write(write) => write(&mut self),
                    Job::Tick => self.tick(),
                }
                self.checkpointer.look();
                next = if bytes < GROUP_BYTES { jobs.try_recv().ok() } else { None };
            }
            if !group.is_empty() {
                self.commit(group);
            }
            self.checkpointer.look();
        }
        // It is done before the database is closed.
        self.checkpointer.ask();
    }

    /// Bytes of frames, and streams.
    pub(super) fn usage(&self) -> (u64, u64) {
        (self.bytes, self.held.len() as u64)
    }

    /// Bytes of artifacts, and how many; `None` where they could not be counted.
    pub(super) fn artifact_usage(&self) -> Option<(u64, u64)> {
        let count = self.database.query_row("SELECT count(*) FROM artifacts", [], |row| row.get::<_, u64>(0));
        count.ok().map(|count| (self.artifact_bytes, count))
    }

    /// Whether an append would find room, which is found out by writing.
    pub(super) fn check_writable(&mut self) -> Result<(), LogError> {
        self.free_owed()?;
        let limit = self.options.max_bytes;
        let over = self.ended.iter().map(|id| self.held.get(&id).map_or(0, |held| held.bytes));
        if let Some(bytes) = full_of(self.bytes, limit, over) {
            return Err(LogError::Full { bytes, limit });
        }
        // A version written over itself: the file can be locked, changed and committed to, and nothing is different.
        let write = || {
            let version: i64 = self.database.pragma_query_value(None, "user_version", |row| row.get(0))?;
            self.database.pragma_update(None, "user_version", version)
        };
        write().map_err(|error| self.failed("cannot be written", &error))
    }

    pub(super) fn database(&self) -> &Connection {
        &self.database
    }

    /// The key of a stream that is kept.
    pub(super) fn key_of(&self, id: StreamId) -> Option<i64> {
        self.held.get(&id).map(|held| held.key)
    }

    /// The front of a stream went, and it has so many bytes now.
    pub(super) fn cut(&mut self, id: StreamId, gone: u64, bytes: u64) {
        if let Some(held) = self.held.get_mut(&id) {
            self.bytes = self.bytes.saturating_sub(held.bytes) + bytes;
            (held.bytes, held.gone) = (bytes, gone);
        }
        self.unsynced = true;
    }

    /// So many bytes of artifacts went.
    pub(super) fn artifacts_went(&mut self, bytes: u64) {
        self.artifact_bytes = self.artifact_bytes.saturating_sub(bytes);
        self.unsynced = true;
    }

    /// Something was written.
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
        self.unsynced = true;
        let put = artifacts::put(&self.database, artifact, &mut self.artifact_bytes, limit);
        put.map_err(|error| self.failed("cannot be written", &error).into())
    }

    /// Keeps the appends in one transaction; where that fails, each in one of its own, so that it fails alone.
    pub(super) fn commit(&mut self, group: Vec<(Append, Answer)>) {
        self.make_room(group.iter().map(|(append, _)| append));
        let whole = self.transact(group.iter().map(|(append, _)| append));
        let alone = group.len() == 1;
        match whole {
            Ok(results) => {
                self.give_back_owed();
                for ((_, answer), result) in group.into_iter().zip(results) {
                    // Whoever asked may be gone; the frames are kept all the same.
                    let _ = answer.send(result);
                }
            }
            Err(error) if alone => {
                tracing::error!(%error, "frames could not be kept");
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

    /// One transaction. An append that does not fit is left out of it, and told so.
    fn transact<'a>(
        &mut self,
        appends: impl Iterator<Item = &'a Append>,
    ) -> Result<Vec<Result<Vec<i64>, LogError>>, LogError> {
        let mut changes = Changes { next_key: self.next_key, ..Changes::default() };
        let now_ms = self.options.clock.now_ms();
        let write = || -> rusqlite::Result<Vec<Result<Vec<i64>, LogError>>> {
            let transaction = self.database.unchecked_transaction()?;
            let mut results = Vec::new();
            for append in appends {
                results.push(match self.fits(append, &changes) {
                    Ok(()) => {
                        self.insert(append, &mut changes, now_ms)?;
                        let key = |part: &Part| changes.held.get(&part.id).map(|held| held.key);
                        Ok(append.streams.iter().filter_map(key).collect())
                    }
                    Err(refused) => Err(refused),
                });
            }
            transaction.commit()?;
            Ok(results)
        };
        let results = write().map_err(|error| self.failed("cannot be written", &error))?;
        self.bytes += changes.bytes;
        self.next_key = changes.next_key;
        for (id, held) in changes.held {
            self.ended.remove(id);
            self.held.insert(id, held);
        }
        for id in changes.ended {
            if self.held.get(&id).is_some_and(|held| held.ended) {
                self.ended.push(id);
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

    /// Whether the append follows on what is kept, and there is room for it.
    fn fits(&self, append: &Append, changes: &Changes) -> Result<(), LogError> {
        let bytes = self.bytes + changes.bytes;
        if bytes + append.bytes > self.options.max_bytes && !append.closing {
            return Err(LogError::Full { bytes, limit: self.options.max_bytes });
        }
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
        Ok(())
    }

    fn insert(&self, append: &Append, changes: &mut Changes, now_ms: u64) -> rusqlite::Result<()> {
        let database = &self.database;
        let mut frame = database.prepare_cached(
            "INSERT INTO frames (stream, seq, time_ms, type, parent_tool_id, body, hole_at, source, source_at, source_bytes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        let mut progress = database.prepare_cached(
            "UPDATE streams SET last_ms = max(last_ms, :last_ms), stored_ms = :now, frames = :frames, bytes = :bytes, \
             ended = :ended, status = coalesce(:status, status) WHERE key = :key",
        )?;
        let (mut id, mut pieces) = ([0; 36], Vec::new());
        // Of each stream, texts that went since they were found: they are kept again, once.
        let mut moved: HashMap<StreamId, Moved> = HashMap::new();
        for (nth, part) in append.streams.iter().enumerate() {
            let Some((first, last)) = part.rows.first().zip(part.rows.last()) else { continue };
            let mut held = match changes.held.get(&part.id).or_else(|| self.held.get(&part.id)) {
                Some(held) => *held,
                None => {
                    let key = changes.next_key;
                    changes.next_key += 1;
                    insert_stream(database, key, &part.stream, first.time_ms, now_ms)?;
                    changes.new.push((key, part.stream.clone()));
                    Held { key, ..Held::default() }
                }
            };
            let mut bytes = 0;
            for row in &part.rows {
                let mut body = append.bodies.get(row.body.clone()).unwrap_or_default();
                let moved = moved.entry(part.id).or_default();
                let there =
                    row.hole.as_ref().and_then(|hole| Some((&hole.part, source_of(hole, row.seq, &held, moved)?)));
                if let Some((part, _)) = there {
                    pieces.clear();
                    pieces.extend_from_slice(body.get(..part.start).unwrap_or_default());
                    pieces.extend_from_slice(body.get(part.end..).unwrap_or_default());
                    body = &pieces;
                }
                let (at, length) = (there.map(|(part, _)| part.start), there.map(|(part, _)| part.len()));
                let (source, source_at) = there.map(|(_, source)| source).unzip();
                let parent = row.parent.map(|parent| &*parent.hyphenated().encode_lower(&mut id));
                // By position: names would be looked up for each frame.
                let (body, ms) = (Text(body), row.time_ms.cast_signed());
                frame.execute((held.key, row.seq, ms, row.kind, parent, &body, at, source, source_at, length))?;
                bytes += body.0.len() as u64 + ROW_BYTES;
            }
            held.frames += part.rows.len() as u64;
            held.bytes += bytes;
            changes.bytes += bytes;
            if part.ended && part.id.0 != StreamKind::Thread {
                changes.ended.push(part.id);
            }
            (held.ended, held.stored_ms) = (part.ended, now_ms);
            // The status is that behind the last frames of the append: it goes with the stream's last part.
            let is_last_part = append.streams.iter().skip(nth + 1).all(|later| later.id != part.id);
            let summary = append.summaries.iter().find(|summary| is_last_part && summary.stream == part.id);
            progress.execute(named_params! {
                ":last_ms": last.time_ms.cast_signed(), ":now": now_ms, ":frames": held.frames, ":bytes": held.bytes,
                ":ended": held.ended, ":status": summary.map(|summary| &summary.status), ":key": held.key,
            })?;
            changes.held.insert(part.id, held);
        }
        for (id, text) in &append.texts {
            let Some(held) = changes.held.get(id) else { continue };
            let learnt = learnt(text.as_ref().filter(|_| !held.ended), held, moved.get(id));
            changes.texts.extend(learnt.map(|text| (*id, text)));
        }
        Ok(())
    }
}

/// Where the text stands that a body lacks. The frame that had it when the hole was found may have gone since: then the body
/// keeps it, and others of the append refer to that one.
fn source_of(hole: &Hole, seq: u64, held: &Held, moved: &mut Moved) -> Option<(u64, usize)> {
    if hole.source >= held.gone && hole.key.is_none_or(|key| key == held.key) {
        return Some((hole.source, hole.source_at));
    }
    match moved.entry((hole.source, hole.source_at, hole.part.len())) {
        Entry::Occupied(known) => Some(*known.get()),
        Entry::Vacant(first) => {
            first.insert((seq, hole.part.start));
            None
        }
    }
}

/// What is known of a stream's last long text once it is kept; `None`: no more than is known already.
fn learnt(text: Option<&Known>, held: &Held, moved: Option<&Moved>) -> Option<Option<Known>> {
    let Some(text) = text else { return Some(None) };
    let key = Some(held.key);
    if text.key.is_none() {
        return Some(Some(Known { key, ..text.clone() }));
    }
    // Of an earlier append: whoever drops a front says where it stands then, but not where it was kept again.
    let (seq, at) = *moved?.get(&(text.seq, text.at, text.bytes.len()))?;
    Some(Some(Known { key, seq, at, bytes: text.bytes.clone() }))
}

fn insert_stream(database: &Connection, key: i64, stream: &Stream, first_ms: u64, now_ms: u64) -> rusqlite::Result<()> {
    let header = Header::of(stream);
    let mut insert = database.prepare_cached(
        "INSERT INTO streams (key, kind, id, session_id, session_name, provider, origin_run, first_ms, last_ms, stored_ms, \
         frames, bytes, ended) VALUES (:key, :kind, :id, :session, :name, :provider, :origin, :ms, :ms, :now, 0, 0, 0)",
    )?;
    insert.execute(named_params! {
        ":key": key, ":kind": header.kind, ":id": header.id.to_string(), ":session": header.session_id.to_string(),
        ":name": header.session_name, ":provider": header.provider,
        ":origin": header.origin_run.map(|run| run.to_string()), ":ms": first_ms.cast_signed(), ":now": now_ms,
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_went_since_it_was_found_is_kept_again_once() {
        let held = Held { key: 7, gone: 10, ..Held::default() };
        let hole = |source, key| Hole { part: 30..2030, source, source_at: 5, key };
        let mut moved = Moved::new();
        // It is there; it is of this append.
        assert_eq!(source_of(&hole(10, Some(7)), 20, &held, &mut moved), Some((10, 5)));
        assert_eq!(source_of(&hole(19, None), 20, &held, &mut moved), Some((19, 5)));
        // It went, or was another stream's: the first that lacks it keeps it, the next one refers to that.
        for (seq, gone) in [(20, hole(9, Some(7))), (30, hole(12, Some(6)))] {
            assert_eq!(source_of(&gone, seq, &held, &mut moved), None);
            assert_eq!(source_of(&gone, seq + 1, &held, &mut moved), Some((seq, 30)));
        }
        // That is where later appends find it; of what is where it was there is nothing to say.
        let known = |key, seq, at| Known { key, seq, at, bytes: vec![b'x'; 2000].into() };
        let learnt = |text: Option<&Known>| learnt(text, &held, Some(&moved));
        assert_eq!(learnt(Some(&known(Some(7), 9, 5))), Some(Some(known(Some(7), 20, 30))));
        assert_eq!(learnt(Some(&known(Some(7), 11, 5))), None);
        assert_eq!(learnt(Some(&known(None, 40, 5))), Some(Some(known(Some(7), 40, 5))));
        assert_eq!(learnt(None), Some(None));
    }
}
