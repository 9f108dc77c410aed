//! A frame log at NATS servers (JetStream), which several proxies share (docs/cluster.md).
//!
//! Input: frames, from any number of ingests at any number of proxies. Output: the same frames to the readers of every proxy, in one
//! order. Never: part of an append; an answer before the servers have stored the frames; two writers of one stream that both succeed;
//! a frame that a proxy serves before it is stored.
//!
//! Every proxy follows the headers of all messages, and so has an index of all streams in memory. The servers hold nothing else that could
//! contradict the frames.

mod access;
mod append;
mod artifacts;
mod engine;
mod envelope;
mod excerpt;
mod follow;
mod health;
mod index;
mod inspect;
mod layout;
mod leases;
mod names;
mod note;
mod publish;
mod read;
mod requests;
mod retention;

pub use excerpt::Excerpt;
pub use inspect::ArtifactState;

use super::room::RoomBounds;
use super::tail_cache::TailCache;
use super::{
    Checkpoint, CheckpointAt, FrameLog, Gone, Heard, KeptStream, Loading, LogError, Order, Place, ReadCache, Request,
    SharedFigures, SharedLog, StreamId, Summary,
};
use crate::clock::Clock;
use async_trait::async_trait;
use bytes::Bytes;
use engine::{Engine, Failure};
use framegate_translators::frame::Frame;
use health::Health;
use index::{Index, position};
use leases::Leases;
use note::Note;
use publish::{Outgoing, Refusal};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

/// How many batches a proxy may have open. The servers allow 50 for each stream.
const BATCHES: usize = 12;

/// How many news may wait for the runs.
const NEWS: usize = 4096;

/// The number of locks for writing to streams.
const TURNS: usize = 256;

/// How the servers keep what they store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageKind {
    /// On disk.
    #[default]
    File,
    /// In memory: gone when all servers have stopped.
    Memory,
}

/// What a process does with a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It is one of the proxies: it creates what is missing at the servers, has a lease, and may be elected.
    #[default]
    Proxy,
    /// It drops frames that proxies have written, and appends none. It has no lease, and creates no streams.
    Maintainer,
    /// It reads, and writes nothing at all.
    Observer,
}

/// Settings of a log.
#[derive(Clone, Debug)]
pub struct JetstreamOptions {
    /// What this process does with the log.
    pub role: Role,
    /// The URLs of the servers.
    pub servers: Vec<String>,
    /// A file with credentials (JWT and seed).
    pub credentials_file: Option<PathBuf>,
    /// A file with the seed of an nkey.
    pub nkey_file: Option<PathBuf>,
    /// Root certificates beside those of the system.
    pub tls_ca_file: Option<PathBuf>,
    /// The certificate with which the proxy identifies itself.
    pub tls_cert_file: Option<PathBuf>,
    /// The key of that certificate.
    pub tls_key_file: Option<PathBuf>,
    /// With which the names of streams and subjects begin.
    pub prefix: String,
    /// How many servers store each message.
    pub replicas: usize,
    /// How they keep it.
    pub storage: StorageKind,
    /// How long a request may take.
    pub timeout: Duration,
    /// How long to wait for servers that do not answer.
    pub patience: Duration,
    /// A proxy that has not renewed its lease for that long counts as lost.
    pub lease: Duration,
    /// The size at which the servers accept no more frames.
    pub max_stream_bytes: u64,
    /// Maximum number of bytes of frames; beyond it streams are dropped.
    pub max_bytes: u64,
    /// Maximum number of ended runs; also of tasks, and of threads.
    pub max_runs: usize,
    /// How long idle streams are kept after their last append; `None` means as long as there is room.
    pub max_age: Option<Duration>,
    /// Maximum number of bytes of artifacts.
    pub max_artifact_bytes: u64,
    /// How many bytes of the latest frames of this proxy's runs are also kept in memory, for live readers; and how many of the frames that were read lately.
    pub recent_bytes: u64,
}

/// A frame log at NATS servers.
pub struct JetstreamLog {
    engine: Engine,
    /// The id of this proxy, a new one for each process.
    proxy: Uuid,
    clock: Clock,
    index: Mutex<Index>,
    /// The sequence of the last message that was heard.
    heard: watch::Sender<u64>,
    /// The marks of dropped streams, which the next frames of such a stream follow.
    tombstones: Mutex<HashMap<StreamId, u64>>,
    turns: Vec<tokio::sync::Mutex<()>>,
    batches: Semaphore,
    tail_cache: TailCache<StreamId>,
    read_cache: ReadCache<StreamId>,
    leases: Leases,
    /// How long the lease is valid.
    lease: Duration,
    counts: Counts,
    health: Health,
    secret: [u8; 32],
    max_stream_bytes: u64,
    max_age: Option<Duration>,
    news: Mutex<Option<mpsc::Receiver<Heard>>>,
    requests: Mutex<Option<mpsc::Receiver<Request>>>,
    tasks: Mutex<Vec<AbortOnDropHandle<()>>>,
}

/// What happened, for metrics.
#[derive(Debug, Default)]
struct Counts {
    followed: AtomicU64,
    /// Stored messages that were not heard yet, as the last one said.
    pending: AtomicU64,
    /// Messages of the log that cannot be read.
    unread: AtomicU64,
}

impl Counts {
    fn followed(&self) {
        self.followed.fetch_add(1, Ordering::Relaxed);
    }
}

impl JetstreamLog {
    /// Connects, and begins to follow. A proxy first creates what is missing at the servers.
    ///
    /// # Errors
    /// The servers do not answer, refuse, or have streams of these names with other properties; there is no log, and this
    /// process does not create one.
    pub async fn open(options: JetstreamOptions) -> Result<Arc<Self>, LogError> {
        let engine = Engine::connect(&options).await?;
        let is_proxy = options.role == Role::Proxy;
        let failed = |failure| engine.error(&failure);
        let secret = if is_proxy {
            engine.lay_out(&options).await.map_err(failed)?;
            key(&engine).await.map_err(failed)?
        } else if engine.is_laid_out().await.map_err(failed)? {
            // Only proxies serve feeds, whose cursors the key seals.
            Default::default()
        } else {
            return Err(engine.absent(&options.prefix));
        };
        let (news, heard_news) = mpsc::channel(NEWS);
        let (requests, received) = mpsc::channel(requests::WAITING);
        let bounds = RoomBounds { max_bytes: options.max_bytes, max_streams: options.max_runs };
        let proxy = Clock::System.new_id();
        let log = Arc::new(Self {
            engine,
            proxy,
            clock: Clock::System,
            index: Mutex::new(Index::new(bounds)),
            heard: watch::Sender::default(),
            tombstones: Mutex::default(),
            turns: (0..TURNS).map(|_| tokio::sync::Mutex::default()).collect(),
            batches: Semaphore::new(BATCHES),
            tail_cache: TailCache::new(options.recent_bytes),
            read_cache: ReadCache::new(options.recent_bytes),
            leases: Leases::new(proxy, options.lease),
            lease: options.lease,
            counts: Counts::default(),
            health: Health::default(),
            secret,
            max_stream_bytes: options.max_stream_bytes,
            max_age: options.max_age,
            news: Mutex::new(Some(heard_news)),
            requests: Mutex::new(Some(received)),
            tasks: Mutex::default(),
        });
        // Which stream it is, in case it is deleted and made anew.
        log.look().await.map_err(|failure| log.engine.error(&failure))?;
        if is_proxy {
            // Before anything is written, the other proxies must know that this one lives.
            log.publish_lease(options.lease).await.map_err(|failure| log.engine.error(&failure))?;
            log.keep_up(leases::keep(Arc::downgrade(&log), options.lease));
            log.keep_up(requests::receive(Arc::downgrade(&log), requests));
        }
        log.keep_up(follow::follow(Arc::downgrade(&log), news));
        Ok(log)
    }

    /// Starts a task that ends with the log.
    fn keep_up(&self, task: impl Future<Output = ()> + Send + 'static) {
        let task = AbortOnDropHandle::new(tokio::spawn(task));
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).push(task);
    }

    fn index(&self) -> MutexGuard<'_, Index> {
        // If a panic poisoned the lock, at worst a counter is wrong.
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self) -> u64 {
        *self.heard.borrow()
    }

    /// Waits until a message was heard.
    async fn hear_up_to(&self, seq: u64) {
        // The sender lives as long as the log.
        let _ = self.heard.subscribe().wait_for(|heard| *heard >= seq).await;
    }

    /// Waits for the locks of streams, in a fixed order.
    async fn turns(&self, ids: impl Iterator<Item = StreamId>) -> Vec<tokio::sync::MutexGuard<'_, ()>> {
        let place = |(_, id): StreamId| usize::try_from(id.as_u128() % TURNS as u128).unwrap_or_default();
        let mut places: Vec<usize> = ids.map(place).collect();
        places.sort_unstable();
        places.dedup();
        let mut turns = Vec::with_capacity(places.len());
        for turn in places.into_iter().filter_map(|place| self.turns.get(place)) {
            turns.push(turn.lock().await);
        }
        turns
    }

    /// Checks that nothing of the stream was lost.
    fn check_health(&self) -> Result<(), LogError> {
        self.health.damage().map_or(Ok(()), |damage| Err(self.damaged(&damage)))
    }

    fn tombstones(&self) -> MutexGuard<'_, HashMap<StreamId, u64>> {
        self.tombstones.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sequence of the mark that a stream was dropped, 0 if there is none.
    fn tombstone(&self, id: StreamId) -> u64 {
        self.tombstones().get(&id).copied().unwrap_or_default()
    }
}

/// The key of feed cursors. The first proxy makes it.
async fn key(engine: &Engine) -> Result<[u8; 32], Failure> {
    let (stream, subject) = (engine.names.frames_stream(), engine.names.key());
    // Each id has 74 random bits.
    let payload: Vec<u8> = (0..4).flat_map(|_| *Clock::System.new_id().as_bytes()).collect();
    let made = Outgoing {
        id: Some(publish::new_message_id()),
        subject: subject.clone(),
        after: Some(0),
        note: Some(Note::Key.text()),
        headers: Vec::new(),
        payload: Bytes::copy_from_slice(&<[u8; 32]>::from(<sha2::Sha256 as sha2::Digest>::digest(payload))),
    };
    match engine.publish(&stream, &[made]).await {
        Ok(_) | Err(Refusal::Overtaken(_)) => {}
        Err(Refusal::Unknown(failure) | Refusal::Denied(failure)) => return Err(failure),
        Err(Refusal::Full(why)) => return Err(Failure::Odd(why)),
    }
    let which = serde_json::json!({"last_by_subj": subject});
    let found = engine.patiently(|| engine.message(&stream, &which)).await?;
    let key = found.and_then(|(_, _, payload)| payload.try_into().ok());
    key.ok_or_else(|| Failure::Odd("the key of feed cursors is missing".to_owned()))
}

#[async_trait]
impl FrameLog for JetstreamLog {
    async fn append(&self, frames: &[Arc<Frame>], summaries: Vec<Summary>) -> Result<Place, LogError> {
        self.append_frames(frames, summaries).await
    }

    fn shared(&self) -> Option<&dyn SharedLog> {
        Some(self)
    }

    fn order(&self) -> Order {
        Order { secret: self.secret, ..Order::default() }
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        self.read_frames(stream, from, max).await
    }

    async fn check_writable(&self) -> Result<(), LogError> {
        self.check_health()?;
        if let Some(full) = self.index().room.refuses(1, false) {
            return Err(full);
        }
        self.probe(self.lease).await.map_err(|failure| self.engine.error(&failure))
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        let index = self.index();
        Some((index.room.bytes(), index.room.len() as u64))
    }

    async fn prune(&self, stream: StreamId, gone: Gone, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        self.cut(stream, gone, checkpoints).await
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        Ok(self.index().get(stream).map_or(0, |held| held.first_within(max_bytes)))
    }

    async fn keep_checkpoints(&self, stream: StreamId, checkpoints: Vec<Checkpoint>) -> Result<(), LogError> {
        // Checkpoints that several proxies make of one stream are alike.
        if self.index().get(stream).is_some_and(|held| held.writer == self.proxy) {
            self.keep(stream, checkpoints).await?;
        }
        Ok(())
    }

    async fn checkpoint(
        &self,
        stream: StreamId,
        view: &str,
        at: &CheckpointAt,
    ) -> Result<Option<Checkpoint>, LogError> {
        self.find_checkpoint(stream, view, at).await
    }

    async fn keep_status(&self, summaries: Vec<Summary>) -> Result<(), LogError> {
        self.keep_statuses(summaries).await
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        if let Some(seq) = self.drop_frames(stream).await? {
            self.hear_up_to(seq).await;
        }
        Ok(())
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        // The runs hear of drops in the log's order.
        Vec::new()
    }

    fn is_durable(&self) -> bool {
        true
    }

    async fn streams(&self) -> Result<Vec<KeptStream>, LogError> {
        let index = self.index();
        let kept = |held: &index::Held| KeptStream {
            stream: held.stream.clone(),
            frames: held.frames,
            gone: held.gone(),
            gone_position: held.gone.as_ref().map(|gone| gone.position),
            runs: Vec::new(),
            ended: held.ended,
            status: None,
            labels: None,
        };
        Ok(index.all().map(kept).collect())
    }
}

#[async_trait]
impl SharedLog for JetstreamLog {
    async fn load(&self) -> Result<Loading, LogError> {
        self.load_all().await
    }

    async fn reached(&self) -> Result<u64, LogError> {
        let name = self.engine.names.frames_stream();
        let last = self.engine.patiently(|| self.engine.last_sequence(&name)).await;
        Ok(position(last.map_err(|failure| self.engine.error(&failure))? + 1))
    }

    fn is_reachable(&self) -> bool {
        self.engine.is_connected() && !self.engine.seen.silent.load(Ordering::Relaxed)
    }

    async fn orphans(&self) -> Vec<StreamId> {
        self.streams_to_close().await
    }

    fn is_writer(&self, stream: StreamId) -> bool {
        self.index().get(stream).is_some_and(|held| held.writer == self.proxy)
    }

    fn is_elected(&self) -> bool {
        self.leases.membership().is_elected()
    }

    async fn ask_writer(&self, stream: StreamId, request: Bytes, within: Duration) -> Option<Result<Bytes, LogError>> {
        self.ask_the_writer(stream, request, within).await
    }

    fn take_requests(&self) -> Option<mpsc::Receiver<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn leave(&self) {
        // The lease must not be renewed after that.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.give_up_lease().await;
    }

    fn distance(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from).div_ceil(position(1))
    }

    fn figures(&self) -> SharedFigures {
        SharedFigures {
            proxies: self.leases.membership().len() as u64,
            disconnects: self.engine.seen.disconnects.load(Ordering::Relaxed),
            followed: self.counts.followed.load(Ordering::Relaxed),
            slow: self.engine.seen.slow.load(Ordering::Relaxed),
            pending: self.counts.pending.load(Ordering::Relaxed),
            is_connected: self.is_reachable(),
        }
    }
}
