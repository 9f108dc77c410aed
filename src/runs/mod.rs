//! The runs that the proxy knows: their status, their frames, and their events in each contract.
//!
//! Input: batches of frames from an ingest. Output: status, and readers that follow a stream in a contract. Never: a frame that
//! readers see before the log has it, or an event encoded twice because two clients want it.

mod closing;
mod entry;
mod feed;
mod follow;
mod front;
mod lag;
mod openings;
mod recovery;
mod referred;
mod repeat;
mod responses;
mod shared;
mod status;
mod totals;
mod view;

pub use entry::Entry;
pub use feed::{FeedEvent, FeedFollower, NoCursor, Position, Scope};
pub use follow::{Follower, IngestFollower, Ingested};
pub use front::PruningBounds;
pub use lag::Lag;
pub use status::{Exited, RunState, RunStatus, Waiting};
pub use totals::Totals;
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
use framegate_translators::normalizer::{EndHold, MAX_OPEN_TOOLS};
use framegate_translators::warnings::Warning;
use openings::Openings;
use shared::Turns;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;
use view::View;

/// How far a stream has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Number of frames in the log.
    pub frames: u64,
    /// Whether the stream is over: no more frames will follow.
    pub ended: bool,
    /// When the bytes of the newest frames arrived; `None` before the first frames, and after a pause.
    pub arrived: Option<Moment>,
    /// The time before which no further frame follows, in Unix epoch milliseconds; `None` if the ingest has not reported a
    /// pause since the newest frame.
    pub paused_until_ms: Option<u64>,
}

/// All runs.
pub struct Runs {
    log: Arc<dyn FrameLog>,
    gate: Gate,
    streams: RwLock<Known>,
    turns: Turns,
    /// Held while forgetting the streams that the log has dropped.
    forgetting: tokio::sync::Mutex<()>,
    feed: Feed,
    artifacts: Option<(Arc<dyn ArtifactStore>, Bounds)>,
    view_bytes: usize,
    end_hold: EndHold,
    fronts: PruningBounds,
    /// The encoder options for clients.
    options: EncoderOptions,
    /// Queue of the background task that keeps checkpoints of long streams.
    scribe: OnceLock<mpsc::Sender<StreamId>>,
    closing: watch::Sender<bool>,
    metrics: Arc<Metrics>,
    watcher: Option<Arc<dyn Watcher>>,
    /// Streams whose closing frames the log did not accept when the proxy started.
    unclosed: Mutex<Vec<Arc<Entry>>>,
    /// The running totals from which later ingests continue.
    totals: Arc<Totals>,
    /// Limit of tool calls open at the same time in one ingest.
    open_tools: usize,
}

/// Longest final text that is kept with a run's status, in bytes.
const STATUS_TEXT: usize = 1 << 10;

#[derive(Default)]
struct Known {
    by_id: ByStream<Arc<Entry>>,
    /// Runs in the order in which they began, by an ever-increasing number.
    order: BTreeMap<u64, StreamId>,
    /// Runs by the id of their response.
    by_response: HashMap<String, StreamId>,
    openings: Openings,
}

/// A stream that an append affects, with its status after the append.
struct Touched {
    id: StreamId,
    stream: Arc<Stream>,
    /// `None` if the stream is new.
    entry: Option<Arc<Entry>>,
    status: RunStatus,
    /// Warnings to report, each with the number of the frame that caused it.
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
        // A long text is also in the run's last frame, and is read back from there.
        let long = status.final_text.take_if(|text| text.len() > STATUS_TEXT);
        (status.is_final_text_long, status.kept_opening) = (Some(long.is_some()), status.opening);
        // Serialisation cannot fail: the status consists of numbers and strings, with fixed field names.
        status.running.clone_from(&status.running_total);
        let told = serde_json::to_string(status).unwrap_or_default();
        (status.is_final_text_long, status.kept_opening, status.running) = (None, None, None);
        if long.is_some() {
            status.final_text = long;
        }
        Self { stream, status: told }
    }
}

impl Runs {
    /// Creates a registry without runs.
    pub fn new(log: Arc<dyn FrameLog>, gate: Gate) -> Self {
        let feed = Feed::new(log.order());
        Self {
            log,
            gate,
            streams: RwLock::default(),
            turns: Turns::default(),
            forgetting: tokio::sync::Mutex::default(),
            feed,
            artifacts: None,
            view_bytes: crate::defaults::VIEW_BYTES,
            end_hold: EndHold::default(),
            fronts: PruningBounds::default(),
            options: EncoderOptions::default(),
            scribe: OnceLock::new(),
            closing: watch::Sender::default(),
            metrics: Arc::default(),
            watcher: None,
            unclosed: Mutex::default(),
            totals: Arc::default(),
            open_tools: MAX_OPEN_TOOLS,
        }
    }

    /// Passes every kept frame to `watcher`.
    #[must_use]
    pub fn watched_by(self, watcher: Arc<dyn Watcher>) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    /// Sets how many tool calls may be open at the same time in one ingest.
    #[must_use]
    pub fn with_open_tools(self, open_tools: usize) -> Self {
        Self { open_tools, ..self }
    }

    /// How many tool calls may be open at the same time in one ingest.
    pub fn open_tools(&self) -> usize {
        self.open_tools
    }

    /// The running totals of sessions, as earlier ingests reported them.
    pub fn totals(&self) -> Arc<Totals> {
        self.totals.clone()
    }

    /// Stores content that is too large for frames as artifacts.
    #[must_use]
    pub fn with_artifacts(self, store: Arc<dyn ArtifactStore>, bounds: Bounds) -> Self {
        Self { artifacts: Some((store, bounds)), ..self }
    }

    /// Keeps `view_bytes` of events for the readers of one stream in one contract. A reader that is further behind encodes for
    /// itself.
    #[must_use]
    pub fn with_view_bytes(self, view_bytes: usize) -> Self {
        Self { view_bytes, ..self }
    }

    /// Holds the last frame of each run for records that follow the end.
    #[must_use]
    pub fn with_end_hold(self, end_hold: EndHold) -> Self {
        Self { end_hold, ..self }
    }

    /// How long the last frame of a run is held.
    pub fn end_hold(&self) -> EndHold {
        self.end_hold
    }

    /// The bounds for artifacts; `None` if artifacts are off.
    pub fn artifact_bounds(&self) -> Option<Bounds> {
        self.artifacts.as_ref().map(|(_, bounds)| *bounds)
    }

    /// The artifact store; `None` if artifacts are off.
    pub fn artifacts(&self) -> Option<&dyn ArtifactStore> {
        self.artifacts.as_ref().map(|(store, _)| &**store)
    }

    /// Stores artifacts. Must be called before the frames that refer to them are appended. If the store rejects an artifact,
    /// this is logged and the run goes on: the record still has the content.
    pub async fn store(&self, artifacts: Vec<Artifact>) {
        let Some(store) = self.artifacts() else { return };
        for artifact in artifacts {
            let (run, id) = (artifact.stream.id, artifact.id());
            let entry = self.find((artifact.stream.kind, run)).filter(|_| self.fronts.is_bounded());
            // Not while the stream's front is being dropped: that may remove this artifact, if only the front has referred to
            // it so far.
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

    /// Keeps the frames of one ingest, then wakes their readers: once for each stream, however many frames it got. Returns the
    /// frames as they were kept: a thread or task stream that an earlier ingest began continues its numbers.
    ///
    /// # Errors
    /// The log's error; no frame was kept.
    pub async fn append<'f>(&self, frames: &'f [Arc<Frame>]) -> Result<Cow<'f, [Arc<Frame>]>, LogError> {
        self.append_arrived(frames, Moment::now()).await
    }

    /// Like [`Runs::append`], for frames whose bytes arrived at `arrived`.
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
        let (frames, touched, place) = loop {
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
                Ok(place) => break (frames, touched, place),
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
        for frame in frames.iter() {
            status::tell_bounds(frame);
            self.totals.frame(frame);
        }
        let mut fronts = Vec::with_capacity(touched.len());
        for known in touched {
            let before = known.entry.as_ref().map_or(0, |entry| entry.tail.borrow().frames);
            let entry = match known.entry {
                Some(entry) => {
                    self.learn_response(&entry, &known.status);
                    self.learn_opening(&entry, &known.status);
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
        // No await between the log's answer and this call: the feed would have to wait for the positions.
        self.feed.append(place, &frames, self.log.take_abandoned(), arrived);
        self.forget_dropped().await;
        // One pass over the frames, however many streams they belong to.
        let mut by_stream: ByStream<Vec<&Arc<Frame>>> = ByStream::default();
        for frame in frames.iter() {
            by_stream.entry(stream_id(frame)).or_default().push(frame);
        }
        for (entry, before) in fronts {
            if before == 0 {
                self.forget_gone(entry.id()).await;
            }
            let mine = by_stream.remove(&entry.id()).unwrap_or_default();
            if self.artifacts.is_some() && self.fronts.is_bounded() {
                let mut referred = entry.referred();
                mine.iter().for_each(|frame| referred.frame(frame));
            }
            self.prune_beyond_bounds(&entry, before, mine.iter().map(|frame| weight(frame)).sum()).await;
        }
        Ok(frames)
    }

    /// The streams that the frames belong to, with their statuses after the frames.
    fn touched(&self, frames: &[Arc<Frame>]) -> Vec<Touched> {
        // Usually there is only one stream, and a `Touched` is large.
        let mut touched: Vec<Touched> = Vec::with_capacity(1);
        let mut places: ByStream<usize> = ByStream::default();
        let mut last = 0;
        for frame in frames {
            let id = stream_id(frame);
            // Most frames belong to the same stream as the frame before.
            let at = match touched.get(last).filter(|known| known.id == id) {
                Some(_) => last,
                None => *places.entry(id).or_insert_with(|| {
                    touched.push(Touched::new(self.find(id), frame));
                    touched.len() - 1
                }),
            };
            last = at;
            if let Some(known) = touched.get_mut(at) {
                known.status.observe(frame, &mut known.warned);
            }
        }
        touched
    }

    /// Whether a stream was evicted after its frames were numbered: then the frames start a new stream. Each stream causes at
    /// most one retry. A stream that is not in the log cannot be evicted, and the turn keeps other ingests from appending to
    /// it.
    async fn went(&self, touched: &[Touched]) -> bool {
        self.forget_dropped().await;
        touched.iter().any(|known| known.entry.is_some() && self.find(known.id).is_none())
    }

    /// Forgets the streams that the log has dropped so far.
    pub async fn forget_dropped(&self) {
        // After waiting for the lock, the caller also finds forgotten what the previous holder took from the log.
        let _turn = self.forgetting.lock().await;
        for dropped in self.log.take_dropped().await {
            self.forget(dropped).await;
        }
    }

    /// Forgets a new stream that the log has already evicted: when the log reported that, the stream was not known here yet.
    async fn forget_gone(&self, id: StreamId) {
        if matches!(self.log.read(id, 0, 1).await, Err(LogError::Dropped { .. })) {
            let _turn = self.forgetting.lock().await;
            self.forget(id).await;
        }
    }

    async fn forget(&self, dropped: StreamId) {
        let entry = self.find(dropped);
        if let Some(entry) = &entry {
            entry.dropped.store(true, Ordering::Release);
            // Wakes the readers that wait for more frames, so that they see the flag.
            entry.tail.send_modify(|_| {});
            self.feed.forget(entry, Clock::System.now_ms());
        }
        if let Some(store) = self.artifacts()
            && let Err(error) = store.drop_run(dropped).await
        {
            tracing::warn!(stream = %dropped.1, %error, "the artifacts of a run could not be dropped");
        }
        let mut known = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        known.forget_response(dropped);
        known.by_id.remove(&dropped);
        if let Some(entry) = entry.filter(|_| dropped.0 == StreamKind::Session) {
            known.order.remove(&entry.began.load(Ordering::Relaxed));
            let opening = entry.status().opening;
            known.openings.remove(openings::session_key(&entry.stream), opening, dropped);
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
            let began = known.order.last_key_value().map_or(0, |(last, _)| last + 1);
            entry.began.store(began, Ordering::Relaxed);
            known.order.insert(began, id);
            let opening = entry.status().opening;
            known.openings.insert(openings::session_key(&entry.stream), opening, id);
        }
        entry
    }

    /// Finds a stream by kind and id.
    pub fn find(&self, id: StreamId) -> Option<Arc<Entry>> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).by_id.get(&id).cloned()
    }

    /// The ingest of a stream reports a pause after the newest frame. Wakes the readers: an encoder may hold an event back that is
    /// due now.
    pub fn pause(&self, id: StreamId, until_ms: u64) {
        if let Some(entry) = self.find(id) {
            entry.tail.send_modify(|tail| (tail.paused_until_ms, tail.arrived) = (Some(until_ms), None));
        }
    }

    /// Records how the program that was started for a run exited. If the run is still open, the exit stays in its status.
    pub async fn exited(&self, entry: &Entry, exit: Exited) {
        let summary = {
            let mut status = entry.status();
            status.exit = Some(exit);
            Summary::of(entry.id(), &mut status)
        };
        if let Err(error) = self.log.keep_status(vec![summary]).await {
            tracing::warn!(run = %entry.id().1, %error, "the exit status of a runner could not be stored");
        }
    }

    /// Finds a stream of any kind by id: first a run, then a task, then a thread.
    pub fn find_any(&self, id: Uuid) -> Option<Arc<Entry>> {
        [StreamKind::Session, StreamKind::Task, StreamKind::Thread].into_iter().find_map(|kind| self.find((kind, id)))
    }

    /// The runs that pass the filter, newest first: at most `limit`, after the first `skip`.
    pub fn list(&self, filter: &dyn Fn(&RunStatus) -> bool, skip: usize, limit: usize) -> Vec<RunStatus> {
        let known = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        let runs = known.order.values().rev().filter_map(|id| known.by_id.get(id));
        runs.map(|entry| entry.status().clone()).filter(|status| filter(status)).skip(skip).take(limit).collect()
    }

    /// Returns a reader of a stream's events in a contract. All readers of a stream share its events. `None` if the contract
    /// leaves the stream out.
    pub fn reader(&self, entry: &Arc<Entry>, contract: &'static Contract, options: &EncoderOptions) -> Option<Reader> {
        // The events are freed with their last reader. The checkpoints stay, so that the next reader need not start at the
        // beginning.
        let (key, checkpoints) = entry.checkpoints(contract.view_name(), contract.name, contract.encoder, options)?;
        let mut views = entry.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get(&key).and_then(|(_, view)| view.upgrade()) {
            return Some(Reader::new(view));
        }
        let view = Arc::new(View::new(contract, checkpoints.clone(), entry.clone(), self.view_bytes));
        views.insert(key, (checkpoints, Arc::downgrade(&view)));
        Some(Reader::new(view))
    }

    /// Stops the proxy's readers: each ends once it has read what is there.
    pub fn close(&self) {
        self.closing.send_replace(true);
        self.feed.close();
    }

    fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// The proxy's counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Counters and storage use in the text format of `GET /metrics`.
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

    /// The gate that events pass on their way to a reader.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}
