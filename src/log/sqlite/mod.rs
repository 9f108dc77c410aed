//! A frame log in one SQLite file: it outlives the process, and an audit is a query (docs/storage.md).
//!
//! In: frames, from any number of ingests at once. Out: the same frames, to any number of readers. Never: a part of an
//! append (each is in one transaction), an answer before its frames are as durable as [`Fsync`] says, a second process that
//! writes, a reader that waits for the writer.
//!
//! One thread writes. It puts all appends that wait for it into one transaction, so that a sync of the disk is shared; the
//! queue to it is bounded, and whoever appends waits for his answer. Another one moves what was written to its place. Readers
//! have connections of their own (WAL).

mod append;
mod artifacts;
mod checkpoint;
mod database;
mod finder;
mod front;
mod reader;
mod recent;
mod retention;
mod texts;
mod writer;

pub use database::{LAYOUT, Lock, open_read_only, open_writable};
pub(crate) use database::{give_back, integrity};
pub(crate) use front::{mark, views_at};
pub use reader::{read_frames, streams};
pub(crate) use retention::remove;

use super::{FrameLog, Gone, KeptStream, LogError, Mark, MarkAt, StreamId, Summary, stream_id};
use crate::clock::Clock;
use append::Append;
use async_trait::async_trait;
use framegate_translators::frame::{Frame, Stream};
use reader::Readers;
use recent::Recent;
use rusqlite::Connection;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;
use texts::Texts;
use tokio::sync::{mpsc, oneshot};
use writer::{Job, Writer};

/// What an append that has returned will survive. All three survive the end of the process, whatever its cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// The machine losing power: each transaction is synced to the disk before it is acknowledged.
    #[default]
    Always,
    /// The machine losing power, but for what came in the last so many milliseconds. What is lost is the end.
    Interval(Duration),
    /// Nothing more: when the operating system stops without warning, the file may be damaged.
    Never,
}

/// What a log is set to.
#[derive(Clone, Debug)]
pub struct Options {
    /// The database file. `-wal`, `-shm` and `-lock` stand beside it.
    pub path: PathBuf,
    /// When is synced.
    pub fsync: Fsync,
    /// How many appends may wait for the writer.
    pub queue: NonZeroUsize,
    /// How many connections read at once.
    pub readers: NonZeroUsize,
    /// How many runs that are over are kept.
    pub max_runs: usize,
    /// How many bytes of frames are kept.
    pub max_bytes: u64,
    /// How many bytes of artifacts are kept.
    pub max_artifact_bytes: u64,
    /// For how long runs that are over are kept; `None`: as long as there is room.
    pub max_age: Option<Duration>,
    /// Whether the file is checked when it is opened.
    pub check: bool,
    /// How large the file may become, in bytes, a page more or less; `None`: as large as the disk has room.
    pub max_file_bytes: Option<u64>,
    /// How many bytes of the latest frames are held in memory as well, for those who read along.
    pub recent_bytes: u64,
    /// What tells the time.
    pub clock: Clock,
}

impl Options {
    /// The defaults of `config.toml`, and all that is read is read from the file.
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

/// What writer and readers both know.
#[derive(Debug, Default)]
struct Shared {
    streams: RwLock<HashMap<StreamId, (i64, Arc<Stream>)>>,
    dropped: Mutex<Vec<StreamId>>,
    texts: Texts,
    recent: Recent,
}

impl Shared {
    fn find(&self, id: StreamId) -> Option<(i64, Arc<Stream>)> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    fn insert(&self, key: i64, stream: Arc<Stream>) {
        let id = (stream.kind, stream.id);
        self.streams.write().unwrap_or_else(PoisonError::into_inner).insert(id, (key, stream));
    }

    /// Frames were kept under these keys, part by part, and may be read from memory.
    fn add_recent(&self, frames: &[Arc<Frame>], keys: &[i64]) {
        // Held meanwhile, so that no stream goes before its frames are here.
        let streams = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        for ((id, group), kept) in streams_of(frames).zip(keys) {
            // One that went meanwhile, and came again, has another key.
            if streams.get(&id).is_some_and(|(key, _)| key == kept) {
                self.recent.add(*kept, group);
            }
        }
    }

    fn remove(&self, ids: &[StreamId]) {
        let mut streams = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            if let Some((key, _)) = streams.remove(id) {
                self.recent.forget(key);
            }
            self.texts.learn(*id, None);
        }
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(ids);
    }
}

/// See the module.
#[derive(Debug)]
pub struct SqliteLog {
    shared: Arc<Shared>,
    readers: Arc<Readers>,
    /// `None` once it is closed.
    jobs: Option<mpsc::Sender<Job>>,
    writer: Option<JoinHandle<()>>,
    kept: Mutex<Vec<KeptStream>>,
}

impl SqliteLog {
    /// Opens the log, makes it where there is none, and brings an older layout up to date.
    ///
    /// # Errors
    /// It is in use, damaged, not ours, of a later version, or cannot be read or written.
    pub fn open(options: Options) -> Result<Self, LogError> {
        let lock = Lock::take(&options.path)?;
        let database = open_writable(&options.path, &lock, options.fsync, options.check, options.max_file_bytes)?;
        let kept = reader::streams(&database, &options.path)?;
        let shared = Arc::new(Shared { recent: Recent::new(options.recent_bytes), ..Shared::default() });
        for (key, kept) in &kept {
            shared.insert(*key, kept.stream.clone());
        }
        let kept = kept.into_iter().map(|(_, kept)| kept).collect();
        let (jobs, queue) = mpsc::channel(options.queue.get());
        let readers = Arc::new(Readers::new(options.path.clone(), options.readers));
        retention::tick(&options, jobs.downgrade());
        let writer = Writer::new(database, lock, options, shared.clone())?;
        let path = readers.path().to_owned();
        let writer =
            std::thread::Builder::new().name("frame-log".to_owned()).spawn(move || writer.run(queue)).map_err(
                |error| LogError::Failed { path, what: "cannot have a thread to write", detail: error.to_string() },
            )?;
        Ok(Self { shared, readers, jobs: Some(jobs), writer: Some(writer), kept: Mutex::new(kept) })
    }

    /// Reads what is kept of a stream; `None` where there is no such stream. One that went before it was read, and came again, is
    /// read under its new key.
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
        // The writer comes to its end when nobody can ask it any more; what was asked is done by then.
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

#[async_trait]
impl FrameLog for SqliteLog {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<(), LogError> {
        let append = Append::new(frames, summaries, &self.shared.texts);
        let keys = self.ask(|done| Job::Append(append, done)).await??;
        self.shared.add_recent(frames, &keys);
        Ok(())
    }

    async fn read(&self, id: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let Some((key, _)) = self.shared.find(id) else { return Ok(Vec::new()) };
        if let Some(frames) = self.shared.recent.read(key, from, max) {
            return Ok(frames);
        }
        let read = move |database: &Connection, path: &Path, key: i64, stream: &Arc<Stream>| {
            read_frames(database, path, key, stream, from, max)
        };
        Ok(self.of_stream(id, read).await?.unwrap_or_default())
    }

    async fn check_writable(&self) -> Result<(), LogError> {
        self.ask(|done| Job::write(done, Writer::check_writable)).await?
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        self.ask(|done| Job::write(done, |writer| writer.usage())).await.ok()
    }

    async fn drop_front(&self, stream: StreamId, gone: Gone, marks: Vec<Mark>) -> Result<(), LogError> {
        let Some((key, _)) = self.shared.find(stream) else { return Ok(()) };
        self.ask(|done| Job::write(done, move |writer| writer.drop_front(stream, key, gone, &marks))).await?
    }

    async fn front_beyond(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        let read = move |database: &Connection, path: &Path, key: i64, _: &Arc<Stream>| {
            front::front_beyond(database, path, key, max_bytes)
        };
        Ok(self.of_stream(stream, read).await?.unwrap_or_default())
    }

    async fn keep_marks(&self, stream: StreamId, marks: Vec<Mark>) -> Result<(), LogError> {
        let Some((key, _)) = self.shared.find(stream) else { return Ok(()) };
        self.ask(|done| Job::write(done, move |writer| writer.keep_marks(stream, key, &marks))).await?
    }

    async fn mark(&self, stream: StreamId, view: &str, at: &MarkAt) -> Result<Option<Mark>, LogError> {
        let (view, at) = (view.to_owned(), at.clone());
        let read =
            move |database: &Connection, path: &Path, key: i64, _: &Arc<Stream>| mark(database, path, key, &view, &at);
        Ok(self.of_stream(stream, read).await?.flatten())
    }

    async fn keep_status(&self, summaries: Vec<Summary>) -> Result<(), LogError> {
        self.ask(|done| Job::write(done, move |writer| writer.keep_status(&summaries))).await?
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        std::mem::take(&mut self.shared.dropped.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        Ok(std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// The ids of the streams that frames are of, in the order of their first frames.
fn streams_of(frames: &[Arc<Frame>]) -> impl Iterator<Item = (StreamId, &[Arc<Frame>])> {
    frames
        .chunk_by(|one, other| stream_id(one) == stream_id(other))
        .filter_map(|group| group.first().map(|first| (stream_id(first), group)))
}

#[cfg(test)]
mod tests;
