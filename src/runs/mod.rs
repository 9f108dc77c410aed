//! The runs that the proxy knows: their status, their frames, and their events in each contract.
//!
//! In: batches of frames from an ingest. Out: status, and readers that follow a stream in a contract. Never: a frame that
//! readers see before the log has it, an event encoded twice because two clients want it.

mod entry;
mod feed;
mod follow;
mod front;
mod lag;
mod recovery;
mod referred;
mod repeat;
mod responses;
mod shared;
mod status;
mod view;

pub use entry::Entry;
pub use feed::{FeedEvent, FeedFollower, NoCursor, Position, Scope};
pub use follow::{Follower, IngestFollower, Ingested};
pub use front::FrontBounds;
pub use lag::Lag;
pub use status::{Exited, RunState, RunStatus, Waiting};
pub use view::{Ask, Batch, Reader, Wire};

use crate::artifacts::ArtifactStore;
use crate::clock::{Clock, Moment};
use crate::gate::Gate;
use crate::log::{ByStream, FrameLog, LogError, StreamId, Summary, stream_id, weight};
use crate::telemetry::Watcher;
use crate::telemetry::metrics::{Kept, Metrics};
use feed::Feed;
use framegate_translators::artifacts::{Artifact, Bounds};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::warnings::Warning;
use shared::Turns;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;
use view::View;

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// How many frames the log has.
    pub frames: u64,
    /// Whether there will be no more.
    pub ended: bool,
    /// When the bytes arrived that the newest frames come of; `None` before there are any.
    pub arrived: Option<Moment>,
}

/// All runs.
pub struct Runs {
    log: Arc<dyn FrameLog>,
    gate: Gate,
    streams: RwLock<Known>,
    turns: Turns,
    /// Held by the one who forgets what the log has dropped.
    forgetting: tokio::sync::Mutex<()>,
    feed: Feed,
    artifacts: Option<(Arc<dyn ArtifactStore>, Bounds)>,
    view_bytes: usize,
    fronts: FrontBounds,
    /// What clients are served with.
    options: EncoderOptions,
    /// Who keeps marks of long streams.
    scribe: OnceLock<mpsc::Sender<StreamId>>,
    closing: watch::Sender<bool>,
    metrics: Arc<Metrics>,
    watcher: Option<Arc<dyn Watcher>>,
}

/// How long a run's final text may be to be kept with its status, in bytes.
const STATUS_TEXT: usize = 1 << 10;

/// How many bytes of events the readers of one stream in one contract share, where nobody says otherwise.
pub const VIEW_BYTES: usize = 4 << 20;

#[derive(Default)]
struct Known {
    by_id: ByStream<Arc<Entry>>,
    /// Runs in the order in which they began.
    order: VecDeque<StreamId>,
    /// Runs by the id of the response that they are.
    by_response: HashMap<String, StreamId>,
}

/// A stream that an append is about, and its status behind it.
struct Touched {
    id: StreamId,
    stream: Arc<Stream>,
    /// `None` where the stream is new.
    entry: Option<Arc<Entry>>,
    status: RunStatus,
    /// What is worth a warning, and the frame that shows it.
    warned: Vec<(Warning, u64)>,
}

impl Touched {
    fn new(entry: Option<Arc<Entry>>, first: &Frame) -> Self {
        let status = match &entry {
            Some(entry) => RunStatus { not_kept: None, ..entry.status().clone() },
            None => RunStatus::new(first),
        };
        Self { id: stream_id(first), stream: first.stream.clone(), entry, status, warned: Vec::new() }
    }

    fn summary(&mut self) -> Summary {
        Summary::of(self.id, &mut self.status)
    }
}

impl Summary {
    fn of(stream: StreamId, status: &mut RunStatus) -> Self {
        // A long text stands in the run's last frame, and is read from there again.
        let long = status.final_text.take_if(|text| text.len() > STATUS_TEXT);
        status.is_final_text_long = Some(long.is_some());
        // Numbers, words and texts under names of ours: that has a JSON form.
        let told = serde_json::to_string(status).unwrap_or_default();
        status.is_final_text_long = None;
        if long.is_some() {
            status.final_text = long;
        }
        Self { stream, status: told }
    }
}

impl Runs {
    /// No runs yet.
    pub fn new(log: Arc<dyn FrameLog>, gate: Gate) -> Self {
        let epoch = Clock::System.new_id().simple().to_string().split_off(20);
        Self {
            log,
            gate,
            streams: RwLock::default(),
            turns: Turns::default(),
            forgetting: tokio::sync::Mutex::default(),
            feed: Feed::new(epoch),
            artifacts: None,
            view_bytes: VIEW_BYTES,
            fronts: FrontBounds::default(),
            options: EncoderOptions::default(),
            scribe: OnceLock::new(),
            closing: watch::Sender::default(),
            metrics: Arc::default(),
            watcher: None,
        }
    }

    /// Lets somebody hear of the frames that are kept.
    #[must_use]
    pub fn watched_by(self, watcher: Arc<dyn Watcher>) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    /// Stores what is too large for frames as artifacts.
    #[must_use]
    pub fn with_artifacts(self, store: Arc<dyn ArtifactStore>, bounds: Bounds) -> Self {
        Self { artifacts: Some((store, bounds)), ..self }
    }

    /// Keeps that many bytes of events for the readers of one stream in one contract; one that is further behind encodes
    /// for itself.
    #[must_use]
    pub fn with_view_bytes(self, view_bytes: usize) -> Self {
        Self { view_bytes, ..self }
    }

    /// What bounds artifacts; `None` where there are none.
    pub fn artifact_bounds(&self) -> Option<Bounds> {
        self.artifacts.as_ref().map(|(_, bounds)| *bounds)
    }

    /// Where artifacts are; `None` where there are none.
    pub fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        self.artifacts.as_ref().map(|(store, _)| &**store)
    }

    /// Stores artifacts; before the frames that refer to them. One that the store does not take is told, and the run goes
    /// on: what it was made of still stands in the record.
    pub async fn store(&self, artifacts: Vec<Artifact>) {
        let Some(store) = self.artifacts() else { return };
        for artifact in artifacts {
            let (run, id) = (artifact.stream.id, artifact.id());
            let entry = self.find((artifact.stream.kind, run)).filter(|_| self.fronts.is_bounded());
            // While its front goes, nothing is stored of the stream: it might be what the front alone refers to.
            let _turn = match &entry {
                Some(entry) => {
                    let turn = entry.dropping.lock().await;
                    entry.referred().stored(&artifact);
                    Some(turn)
                }
                None => None,
            };
            if let Err(error) = store.put(Arc::new(artifact)).await {
                self.metrics.artifact_failed();
                tracing::warn!(%run, artifact = &*id, %error, "an artifact could not be stored");
            }
        }
    }

    /// Keeps the frames of one ingest, then wakes their readers: once for each stream, however many frames. Gives the frames
    /// as they were kept: a thread or task that another ingest spoke of before goes on with its numbers.
    ///
    /// # Errors
    /// The log's; nothing was kept then.
    pub async fn append<'f>(&self, frames: &'f [Arc<Frame>]) -> Result<Cow<'f, [Arc<Frame>]>, LogError> {
        self.append_arrived(frames, Moment::now()).await
    }

    /// As [`Runs::append`], for frames of bytes that arrived at that moment.
    ///
    /// # Errors
    /// As for [`Runs::append`].
    pub async fn append_arrived<'f>(
        &self,
        frames: &'f [Arc<Frame>],
        arrived: Moment,
    ) -> Result<Cow<'f, [Arc<Frame>]>, LogError> {
        if frames.is_empty() {
            return Ok(Cow::Borrowed(frames));
        }
        let _turns = self.turns.take(frames).await;
        let (frames, touched) = loop {
            self.forget_dropped().await;
            let frames = shared::continued(frames, &|id| self.find(id));
            let mut touched = self.touched(&frames);
            let summaries =
                if self.log.is_durable() { touched.iter_mut().map(Touched::summary).collect() } else { Vec::new() };
            let begun = Moment::now();
            let kept = self.log.append(&frames, summaries).await;
            if matches!(kept, Err(LogError::Sequence { .. })) && self.went(&touched).await {
                continue;
            }
            self.metrics.appended(begun.elapsed(), kept.is_ok());
            match kept {
                Ok(()) => break (frames, touched),
                Err(error) => {
                    let why = if error.is_full() { "log_full" } else { "log_failed" };
                    touched
                        .iter()
                        .filter_map(|known| known.entry.as_ref())
                        .for_each(|entry| entry.status().not_kept = Some(why));
                    return Err(error);
                }
            }
        };
        self.metrics.kept(&frames);
        if let Some(watcher) = &self.watcher {
            watcher.kept(&frames);
        }
        frames.iter().for_each(|frame| status::tell_bounds(frame));
        let mut fronts = Vec::with_capacity(touched.len());
        for known in touched {
            let before = known.entry.as_ref().map_or(0, |entry| entry.tail.borrow().frames);
            let entry = match known.entry {
                Some(entry) => {
                    self.learn_response(&entry, &known.status);
                    entry
                }
                None => self.insert(Entry::new(known.stream, known.status.clone())),
            };
            for (warning, seq) in known.warned {
                self.metrics.warned(known.status.runner, warning);
                known.status.tell(warning, seq);
            }
            entry.adopt(known.status, arrived);
            fronts.push((entry, before));
        }
        self.feed.append(&frames, arrived);
        self.forget_dropped().await;
        for (entry, before) in fronts {
            if before == 0 {
                self.forget_gone(entry.id()).await;
            }
            let mine = frames.iter().filter(|frame| stream_id(frame) == entry.id());
            if self.artifacts.is_some() && self.fronts.is_bounded() {
                let mut referred = entry.referred();
                mine.clone().for_each(|frame| referred.frame(frame));
            }
            self.bound_front(&entry, before, mine.map(|frame| weight(frame)).sum()).await;
        }
        Ok(frames)
    }

    /// The streams of frames, and their statuses behind them.
    fn touched(&self, frames: &[Arc<Frame>]) -> Vec<Touched> {
        // Most often there is one; each is large.
        let mut touched: Vec<Touched> = Vec::with_capacity(1);
        for frame in frames {
            let id = stream_id(frame);
            let at = match touched.iter().position(|known| known.id == id) {
                Some(at) => at,
                None => {
                    touched.push(Touched::new(self.find(id), frame));
                    touched.len() - 1
                }
            };
            if let Some(known) = touched.get_mut(at) {
                known.status.observe(frame, &mut known.warned);
            }
        }
        touched
    }

    /// Whether a stream made room for somebody else since its frames were numbered: the same frames are a new one's then. Each
    /// stream goes once at most, for one that the log does not have cannot go, and nobody else may append to it.
    async fn went(&self, touched: &[Touched]) -> bool {
        self.forget_dropped().await;
        touched.iter().any(|known| known.entry.is_some() && self.find(known.id).is_none())
    }

    async fn forget_dropped(&self) {
        // Whoever has waited finds forgotten what another one was told of.
        let _turn = self.forgetting.lock().await;
        for dropped in self.log.take_dropped().await {
            self.forget(dropped).await;
        }
    }

    /// Forgets a stream that is new here where it made room for somebody else already: when that was told of, it was not known.
    async fn forget_gone(&self, id: StreamId) {
        if self.log.read(id, 0, 1).await.is_ok_and(|frames| frames.is_empty()) {
            let _turn = self.forgetting.lock().await;
            self.forget(id).await;
        }
    }

    async fn forget(&self, dropped: StreamId) {
        if let Some(entry) = self.find(dropped) {
            self.feed.forget(&entry, Clock::System.now_ms());
        }
        if let Some(store) = self.artifacts()
            && let Err(error) = store.drop_run(dropped).await
        {
            tracing::warn!(stream = %dropped.1, %error, "the artifacts of a run could not be dropped");
        }
        let mut known = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        known.forget_response(dropped);
        known.by_id.remove(&dropped);
        // Those that are dropped are among the first.
        if let Some(at) = known.order.iter().position(|id| *id == dropped) {
            known.order.remove(at);
        }
    }

    fn insert(&self, entry: Entry) -> Arc<Entry> {
        let (id, entry) = (entry.id(), Arc::new(entry));
        let response = entry.status().response_id.clone();
        let mut known = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(response) = response {
            known.learn_response(&response, id);
        }
        known.by_id.insert(id, entry.clone());
        if id.0 == StreamKind::Session {
            known.order.push_back(id);
        }
        entry
    }

    /// The stream of that id.
    pub fn find(&self, id: StreamId) -> Option<Arc<Entry>> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).by_id.get(&id).cloned()
    }

    /// The program that was started for a run has left. A run that is not over yet has it when it is.
    pub async fn exited(&self, entry: &Entry, exit: Exited) {
        let summary = {
            let mut status = entry.status();
            status.exit = Some(exit);
            Summary::of(entry.id(), &mut status)
        };
        if let Err(error) = self.log.keep_status(vec![summary]).await {
            tracing::warn!(run = %entry.id().1, %error, "how a runner left could not be kept");
        }
    }

    /// The stream of that id, whatever it is the stream of; a run before the others.
    pub fn find_any(&self, id: Uuid) -> Option<Arc<Entry>> {
        [StreamKind::Session, StreamKind::Task, StreamKind::Thread].into_iter().find_map(|kind| self.find((kind, id)))
    }

    /// The runs, newest first, after `skip` of them that the filter lets through.
    pub fn list(&self, filter: &dyn Fn(&RunStatus) -> bool, skip: usize, limit: usize) -> Vec<RunStatus> {
        let known = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let runs = known.order.iter().rev().filter_map(|id| known.by_id.get(id));
        runs.map(|entry| entry.status().clone()).filter(|status| filter(status)).skip(skip).take(limit).collect()
    }

    /// A reader of a stream's events in a contract, which are shared by all who read them; `None` where the contract leaves
    /// the stream out.
    pub fn reader(&self, entry: &Arc<Entry>, contract: &'static Contract, options: &EncoderOptions) -> Option<Reader> {
        // The events go with their last reader; the marks stay, so that the next one need not begin at the start.
        let (key, marks) = entry.marks(contract.name, contract.encoder, options)?;
        let mut views = entry.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get(&key).and_then(|(_, view)| view.upgrade()) {
            return Some(Reader::new(view));
        }
        let view = Arc::new(View::new(contract, marks.clone(), entry.clone(), self.view_bytes));
        views.insert(key, (marks, Arc::downgrade(&view)));
        Some(Reader::new(view))
    }

    /// The proxy stops: readers come to an end once they have read what is there.
    pub fn close(&self) {
        self.closing.send_replace(true);
        self.feed.close();
    }

    fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// What is counted.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// What is counted and what is kept, as `GET /metrics` gives it.
    pub async fn scrape(&self) -> Vec<u8> {
        let artifacts = match self.artifacts() {
            Some(store) => store.usage().await,
            None => None,
        };
        self.metrics.text(Kept { log: self.log.usage().await, artifacts })
    }

    pub(crate) fn log(&self) -> &dyn FrameLog {
        &*self.log
    }

    /// What events pass on their way to a reader.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}
