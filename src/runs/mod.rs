//! The runs that the proxy knows: their status, their frames, and their events in each contract.
//!
//! Input: batches of frames from an ingest. Output: status, and readers that follow a stream in a contract. Never: a frame that
//! readers see before the log has it, or an event encoded twice because two clients want it.
//!
//! [`Runs`] is the façade. What it does is in the modules: `registry` finds streams, `append` adds frames to them, `summaries`
//! stores their status, `retention` removes streams and the fronts of streams, `checkpoints` saves the states of encoders,
//! `recovery` and `closing` end what was left open, `completion` completes statuses of older versions, `complement` adds to a status, `shared_log` takes in
//! what other proxies write; `view`, `follow`, `ingested` and `feed` serve readers.

mod append;
mod bill;
mod changed;
mod checkpoints;
mod closing;
mod complement;
mod completion;
mod entry;
mod feed;
pub mod filter;
mod follow;
mod ingested;
pub mod labels;
mod lag;
pub mod model_calls;
mod origin;
mod pending_replay;
mod recovery;
mod registry;
mod retention;
mod shared_log;
mod status;
mod summaries;
mod title;
pub mod tool_figures;
mod totals;
mod usage_total;
mod view;
mod workspace;

pub use changed::Changed;
pub use entry::Entry;
pub use feed::{FeedEvent, FeedFollower, NoCursor, Position, Scope};
pub use follow::Follower;
pub use ingested::{FrameFollower, IngestFollower, Ingested};
pub use lag::Lag;
pub use origin::Origin;
pub use retention::pruning::PruningBounds;
pub use shared_log::LOG_FAILED;
pub use status::{Exited, RunState, RunStatus, Waiting};
pub(crate) use title::is_same_prompt;
pub use totals::Totals;
pub use usage_total::{ModelTotal, UsageTotal};
pub use view::{Ask, Batch, FindingKind, Reader, Trace, TraceAsk, Traced, Wire};
pub use workspace::Workplace;

use crate::artifacts::ArtifactStore;
use crate::clock::Moment;
use crate::gate::Gate;
use crate::log::{FrameLog, StreamId};
use crate::prices::Prices;
use crate::telemetry::Watcher;
use crate::telemetry::metrics::{Kept, Metrics};
use append::Turns;
use feed::Feed;
use framegate_translators::artifacts::Bounds;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{ProviderEvent, Stream, StreamKind};
use framegate_translators::normalizer::{EndHold, MAX_OPEN_TOOLS};
use registry::Registry;
use shared_log::SharedOrder;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
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
    registry: Registry,
    turns: Turns,
    /// Held while forgetting the streams that the log has dropped.
    forgetting: tokio::sync::Mutex<()>,
    /// How many runs the log has dropped to stay within its limits.
    dropped_for_room: AtomicU64,
    feed: Feed,
    artifacts: Option<(Arc<dyn ArtifactStore>, Bounds)>,
    view_bytes: usize,
    end_hold: EndHold,
    pruning: PruningBounds,
    /// The encoder options for clients.
    options: EncoderOptions,
    /// What is known of the order of a log that several proxies share.
    shared_order: SharedOrder,
    /// Queue of the background task that makes checkpoints of long streams.
    checkpointer: OnceLock<mpsc::Sender<StreamId>>,
    closing: watch::Sender<bool>,
    metrics: Arc<Metrics>,
    watchers: Vec<Arc<dyn Watcher>>,
    /// Notes which streams change, if a part of the proxy follows that.
    changed: OnceLock<Arc<Changed>>,
    /// Streams whose closing frames the log did not accept when the proxy started.
    unclosed: Mutex<Vec<Arc<Entry>>>,
    /// The running totals from which later ingests continue.
    totals: Arc<Totals>,
    /// Limit of tool calls open at the same time in one ingest.
    open_tools: usize,
    /// What tokens cost.
    prices: Prices,
    replaced: bill::Replaced,
}

impl Runs {
    /// Starts without runs.
    pub fn new(log: Arc<dyn FrameLog>, gate: Gate) -> Self {
        let feed = Feed::new(log.order());
        Self {
            log,
            gate,
            registry: Registry::default(),
            turns: Turns::default(),
            forgetting: tokio::sync::Mutex::default(),
            dropped_for_room: AtomicU64::default(),
            feed,
            artifacts: None,
            view_bytes: crate::defaults::VIEW_BYTES,
            end_hold: EndHold::default(),
            pruning: PruningBounds::default(),
            options: EncoderOptions::default(),
            shared_order: SharedOrder::default(),
            checkpointer: OnceLock::new(),
            closing: watch::Sender::default(),
            metrics: Arc::default(),
            watchers: Vec::new(),
            changed: OnceLock::new(),
            unclosed: Mutex::default(),
            totals: Arc::default(),
            open_tools: MAX_OPEN_TOOLS,
            prices: Prices::default(),
            replaced: bill::Replaced::default(),
        }
    }

    /// Passes every frame that this proxy appends to `watcher` too.
    #[must_use]
    pub fn watched_by(mut self, watcher: Arc<dyn Watcher>) -> Self {
        self.watchers.push(watcher);
        self
    }

    /// Sets how many tool calls may be open at the same time in one ingest.
    #[must_use]
    pub fn with_open_tools(self, open_tools: usize) -> Self {
        Self { open_tools, ..self }
    }

    /// Computes costs with these prices.
    #[must_use]
    pub fn with_prices(self, prices: Prices) -> Self {
        Self { prices, ..self }
    }

    /// What tokens cost.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// The streams that change from now on.
    pub fn changed(&self) -> Arc<Changed> {
        self.changed.get_or_init(Arc::default).clone()
    }

    fn mark_changed(&self, id: StreamId) {
        if let Some(changed) = self.changed.get() {
            changed.mark(id);
        }
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

    /// Finds a stream by kind and id.
    pub fn find(&self, id: StreamId) -> Option<Arc<Entry>> {
        self.registry.find(id)
    }

    /// Finds a stream of any kind by id: first a run, then a task, then a thread.
    pub fn find_any(&self, id: Uuid) -> Option<Arc<Entry>> {
        [StreamKind::Session, StreamKind::Task, StreamKind::Thread].into_iter().find_map(|kind| self.find((kind, id)))
    }

    /// Finds the run of a response by the id that its upstream gave it.
    pub fn find_response(&self, id: &str) -> Option<Arc<Entry>> {
        self.registry.find_response(id)
    }

    /// Removes a response that was deleted upstream: it cannot be found by its id any more.
    pub fn forget_response(&self, id: &str) {
        self.registry.forget_response(id);
    }

    /// Every stream.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.registry.entries()
    }

    /// Every run, newest first.
    pub fn newest_first(&self) -> Vec<Arc<Entry>> {
        self.registry.newest_first()
    }

    /// The runs that pass the filter, newest first: at most `limit`, after the first `skip`.
    pub fn list(&self, filter: &dyn Fn(&RunStatus) -> bool, skip: usize, limit: usize) -> Vec<RunStatus> {
        self.registry.list(filter, skip, limit)
    }

    /// Whether a run is kept that a run of this stream could repeat.
    pub fn has_runs_like(&self, stream: &Stream) -> bool {
        self.registry.has_runs_like(stream)
    }

    /// The runs of the stream's session and runner that are over, kept completely, and began with `record`; newest first.
    pub fn begun_like(&self, stream: &Stream, record: &ProviderEvent) -> Vec<Arc<Entry>> {
        self.registry.begun_like(stream, record)
    }

    /// The runs of the stream's session, and those whose runner named no session, of the same runner; at most `most`, the newest
    /// ones.
    pub fn of_session(&self, stream: &Stream, most: usize) -> Vec<Arc<Entry>> {
        self.registry.of_session(stream, most)
    }

    /// The runs of the stream's runner that meet the condition, newest first; at most `most`. The condition must not look up streams.
    pub fn of_runner(&self, stream: &Stream, most: usize, is_wanted: &dyn Fn(&Arc<Entry>) -> bool) -> Vec<Arc<Entry>> {
        self.registry.of_runner(stream, most, is_wanted)
    }

    /// The runs of a session that are over and have no record of their own, oldest first.
    pub fn without_records(&self, stream: &Stream) -> Vec<Arc<Entry>> {
        self.registry.without_records(stream)
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
        let shared = self.log.shared().map(|shared| shared.figures());
        self.metrics.text(Kept { log: self.log.usage().await, artifacts, shared })
    }

    pub(crate) fn log(&self) -> &dyn FrameLog {
        &*self.log
    }

    /// The gate that events pass on their way to a reader.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }
}
