//! A frame log in one SQLite file. It outlives the process and can be audited with SQL queries (docs/storage.md).
//!
//! Input: frames, from any number of concurrent ingests. Output: the same frames, to any number of readers. Never: part of an
//! append (each is in one transaction), an answer before its frames are as durable as [`Fsync`] says, a second process that
//! writes, or a reader that waits for the writer.
//!
//! One thread writes. It puts all waiting appends into one transaction, so that they share one sync of the disk. The queue to
//! it is bounded, and each caller waits for its answer. Another thread moves pages from the write-ahead log to the database.
//! Readers have connections of their own (WAL).

mod append;
mod artifacts;
mod checksum;
mod database;
mod dedup;
mod insert;
mod known_texts;
mod pruning;
mod reader;
mod retention;
mod snapshot;
mod state;
mod wal_checkpoint;
mod watermark;
mod writer;

pub use database::{LAYOUT, Lock, open_read_only, open_writable};
pub(crate) use database::{give_back, integrity};
pub(crate) use pruning::{checkpoint, views_at};
pub use reader::{read_frames, streams};
pub(crate) use retention::remove;
pub use snapshot::Snapshot;
pub(crate) use state::Row;
pub(crate) use watermark::read as marked;

use super::tail_cache::TailCache;
use super::{
    Checkpoint, CheckpointAt, FrameLog, Gone, KeptStream, LogError, Order, Place, StreamId, Summary, stream_id,
};
use crate::clock::Clock;
use append::Append;
use async_trait::async_trait;
use framegate_translators::frame::{Frame, Stream};
use known_texts::KnownTexts;
use reader::Readers;
use rusqlite::Connection;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use writer::{Job, Writer};

/// What a returned append survives. With all three settings it survives the end of the process, whatever the cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// Survives a power failure: each transaction is synced to the disk before it is acknowledged.
    #[default]
    Always,
    /// Survives a power failure, except for the appends of the last interval. Only the end of the log can be lost.
    Interval(Duration),
    /// Nothing more: if the operating system stops without warning, the file may be damaged.
    Never,
}

/// Settings of a log.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database file. The files with the suffixes `-wal`, `-shm`, `-lock` and `-mark` are beside it.
    pub path: PathBuf,
    /// When to sync.
    pub fsync: Fsync,
    /// How many appends may wait for the writer.
    pub queue: NonZeroUsize,
    /// How many connections may read at the same time.
    pub readers: NonZeroUsize,
    /// Maximum number of ended runs; also of tasks, and of threads.
    pub max_runs: usize,
    /// Maximum number of bytes of frames.
    pub max_bytes: u64,
    /// Maximum number of bytes of artifacts.
    pub max_artifact_bytes: u64,
    /// How long idle streams are kept after their last append; `None` means as long as there is room.
    pub max_age: Option<Duration>,
    /// Whether to check the file when it is opened.
    pub check: bool,
    /// Maximum size of the file in bytes, accurate to about a page; `None` means as large as the disk allows.
    pub max_file_bytes: Option<u64>,
    /// How many bytes of the latest frames are also kept in memory, for live readers.
    pub recent_bytes: u64,
    /// The source of the time.
    pub clock: Clock,
}

impl Options {
    /// The defaults of `config.toml`, except that no frames are kept in memory: all reads go to the file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            fsync: Fsync::default(),
            queue: NonZeroUsize::MIN.saturating_add(255),
            readers: NonZeroUsize::MIN.saturating_add(3),
            max_runs: 10_000,
            max_bytes: 1 << 30,
            max_artifact_bytes: 256 << 20,
            max_age: None,
            check: false,
            max_file_bytes: None,
            recent_bytes: 0,
            clock: Clock::System,
        }
    }
}

/// State shared by the writer and the readers.
#[derive(Debug, Default)]
struct Shared {
    streams: RwLock<HashMap<StreamId, (i64, Arc<Stream>)>>,
    dropped: Mutex<Vec<StreamId>>,
    texts: KnownTexts,
    tail_cache: TailCache<i64>,
    abandoned: Arc<Abandoned>,
}

/// Positions and counts of kept frames whose appender was cancelled before it got the answer.
#[derive(Debug, Default)]
struct Abandoned(Mutex<Vec<(u64, u64)>>);

impl Abandoned {
    fn add(&self, first: u64, frames: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((first, frames));
    }

    fn take(&self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shared {
    fn find(&self, id: StreamId) -> Option<(i64, Arc<Stream>)> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn insert(&self, key: i64, stream: Arc<Stream>) {
        let id = (stream.kind, stream.id);
        self.streams.write().unwrap_or_else(PoisonError::into_inner).insert(id, (key, stream));
    }

    /// Makes frames that were kept under these keys, one for each part, readable from memory.
    fn add_to_tail_cache(&self, frames: &[Arc<Frame>], keys: &[i64]) {
        // The lock is held until the end, so that no stream is dropped before its frames are added.
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        for ((id, group), kept) in streams_of(frames).zip(keys) {
            // A stream that was dropped and appended to again has another key.
            if streams.get(&id).is_some_and(|(key, _)| key == kept) {
                self.tail_cache.add(*kept, group);
            }
        }
    }

    fn remove(&self, ids: &[StreamId]) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            if let Some((key, _)) = streams.remove(id) {
                self.tail_cache.forget(key);
            }
            self.texts.learn(*id, None);
        }
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(ids);
    }

    fn take_dropped(&self) -> Vec<StreamId> {
        std::mem::take(&mut self.dropped.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A frame log in a SQLite file.
#[derive(Debug)]
pub struct SqliteLog {
    shared: Arc<Shared>,
    readers: Arc<Readers>,
    /// `None` once the log is closed.
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    kept: Mutex<Vec<KeptStream>>,
    order: Order,
}

impl SqliteLog {
    /// Opens the log. Creates it if it does not exist, and migrates an older layout.
    ///
    /// # Errors
    /// It is in use, damaged, not a frame log, of a later version, or cannot be read or written.
    pub fn open(options: Options) -> Result<Self, LogError> {
        let lock = Lock::take(&options.path)?;
        let open = || open_writable(&options.path, &lock, options.fsync, options.check, options.max_file_bytes);
        let database = match open() {
            // On a full disk, even the few bytes for opening a database may be missing. The reserve file can free them.
            Err(LogError::NoSpace { .. } | LogError::Failed { .. }) if watermark::give_up_reserve(&options.path) => {
                open()?
            }
            opened => opened?,
        };
        let mut kept = reader::streams(&database, &options.path)?;
        let shared = Arc::new(Shared { tail_cache: TailCache::new(options.recent_bytes), ..Shared::default() });
        for (key, kept) in &kept {
            shared.insert(*key, kept.stream.clone());
        }
        let (jobs, queue) = mpsc::channel(options.queue.get());
        let readers = Arc::new(Readers::new(options.path.clone(), options.readers));
        retention::tick(&options, jobs.downgrade());
        let path = options.path.clone();
        let mut writer = Writer::new(database, lock, options, shared.clone())?;
        // Streams that exceed the limits are dropped before any stream is announced.
        writer.start();
        drop(shared.take_dropped());
        kept.retain(|(_, kept)| shared.find((kept.stream.kind, kept.stream.id)).is_some());
        for (key, kept) in &mut kept {
            let first = kept.gone.map_or(0, |gone| gone.frames);
            kept.runs = reader::runs_of(writer.database(), &path, *key, first, kept.frames)?;
        }
        let state = Row::read(writer.database()).map_err(|error| writer.failed("cannot be read", &error))?;
        let order = Order {
            secret: state.secret.try_into().unwrap_or_default(),
            next: writer.next_position(),
            forgotten: state.forgotten,
            dropped: reader::dropped(writer.database(), &path)?,
        };
        let kept = kept.into_iter().map(|(_, kept)| kept).collect();
        let path = readers.path().to_owned();
        let writer = std::thread::Builder::new()
            .name("frame-log".to_owned())
            .spawn(move || writer.run(queue))
            .map_err(|error| LogError::Failed { path, what: "has no writing thread", detail: error.to_string() })?;
        Ok(Self { shared, readers, jobs: Some(jobs), writer: Some(writer), kept: Mutex::new(kept), order })
    }

    /// Reads from a stream; `None` if it is not kept. If the stream was dropped in the meantime and appended to again, the read
    /// is repeated under its new key.
    async fn of_stream<T: Send + 'static>(
        &self,
        id: StreamId,
        read: impl Fn(&Connection, &Path, i64, &Arc<Stream>) -> Result<T, LogError> + Clone + Send + 'static,
    ) -> Result<Option<T>, LogError> {
        while let Some((key, stream)) = self.shared.find(id) {
            let read = read.clone();
            let found = self.readers.clone().with(move |database, path| read(database, path, key, &stream)).await;
            if self.shared.find(id).is_some_and(|(now, _)| now == key) {
                return found.map(Some);
            }
        }
        Ok(None)
    }

    async fn ask<T>(&self, job: impl FnOnce(oneshot::Sender<T>) -> Job) -> Result<T, LogError> {
        let (done, answer) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or(LogError::Closed)?;
        jobs.send(job(done)).await.map_err(|_| LogError::Closed)?;
        answer.await.map_err(|_| LogError::Closed)
    }
}

impl Drop for SqliteLog {
    fn drop(&mut self) {
        // SQLite removes the write-ahead log when the last connection is closed, which a read-only one cannot do.
        self.readers.close();
        // The writer ends once all senders are gone; by then it has done all queued jobs.
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[async_trait]
impl FrameLog for SqliteLog {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError> {
        let append = Append::new(frames, summaries, &self.shared.texts);
        let (keys, first) = self.ask(|done| Job::Append(append, done)).await??.claim();
        self.shared.add_to_tail_cache(frames, &keys);
        Ok(Place { first, behind: first + frames.len() as u64 })
    }

    fn take_abandoned(&self) -> Vec<(u64, u64)> {
        self.shared.abandoned.take()
    }

    fn order(&self) -> Order {
        self.order.clone()
    }

    async fn read(&self, id: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let dropped = LogError::Dropped { stream: id.1 };
        let Some((key, _)) = self.shared.find(id) else { return Err(dropped) };
        if let Some(frames) = self.shared.tail_cache.read(key, from, max) {
            return Ok(frames);
        }
        let read = move |database: &Connection, path: &Path, key: i64, stream: &Arc<Stream>| {
            read_frames(database, path, key, stream, from, max)
        };
        self.of_stream(id, read).await?.ok_or(dropped)
    }

    async fn check_writable(&self) -> Result<(), LogError> {
        self.ask(|done| Job::write(done, Writer::check_writable)).await?
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        self.ask(|done| Job::write(done, |writer| writer.usage())).await.ok()
    }

    async fn make_room(&self) {
        // A writer that is gone drops nothing.
        let _ = self.ask(|done| Job::write(done, |writer| writer.make_room(std::iter::empty()))).await;
    }

    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        let Some((key, _)) = self.shared.find(stream) else { return Ok(()) };
        self.ask(|done| Job::write(done, move |writer| writer.prune(stream, key, gone, &checkpoints))).await?
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        let read = move |database: &Connection, path: &Path, key: i64, _: &Arc<Stream>| {
            pruning::first_within(database, path, key, max_bytes)
        };
        Ok(self.of_stream(stream, read).await?.unwrap_or_default())
    }

    async fn keep_checkpoints(&self, stream: StreamId, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        let Some((key, _)) = self.shared.find(stream) else { return Ok(()) };
        self.ask(|done| Job::write(done, move |writer| writer.keep_checkpoints(stream, key, &checkpoints))).await?
    }

    async fn checkpoint(
        &self,
        stream: StreamId,
        view: &str,
        at: &CheckpointAt,
    ) -> Result<Option<Checkpoint>, LogError> {
        let (view, at) = (view.to_owned(), at.clone());
        let read = move |database: &Connection, path: &Path, key: i64, _: &Arc<Stream>| {
            checkpoint(database, path, key, &view, &at)
        };
        Ok(self.of_stream(stream, read).await?.flatten())
    }

    async fn keep_status(&self, summaries: Vec<Summary>) -> Result<(), LogError> {
        self.ask(|done| Job::write(done, move |writer| writer.keep_status(&summaries))).await?
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.ask(|done| Job::write(done, move |writer| writer.drop_whole(stream))).await?
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        self.shared.take_dropped()
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The ids and frames of the parts: consecutive frames of one stream.
fn streams_of(frames: &[Arc<Frame>]) -> impl Iterator<Item = (StreamId, &[Arc<Frame>])> {
    frames
        .chunk_by(|one, other| stream_id(one) == stream_id(other))
        .filter_map(|group| group.first().map(|first| (stream_id(first), group)))
}

#[cfg(test)]
mod tests;
