//! The runs that the proxy knows: their status, their frames, and their events in each contract.
//!
//! In: batches of frames from an ingest. Out: status, and readers that follow a stream in a contract. Never: a frame that
//! readers see before the log has it, an event encoded twice because two clients want it.

mod follow;
mod recovery;
mod shared;
mod status;
mod view;

pub use follow::{Follower, IngestFollower, Ingested};
pub use recovery::OpenError;
pub use status::{RunState, RunStatus};
pub use view::{Ask, Batch, View, Wire};

use crate::log::{FrameLog, LogError, StreamId, Summary, stream_id};
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::schema::Schemas;
use framegate_translators::warnings::Warning;
use shared::Turns;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use tokio::sync::watch;
use uuid::Uuid;

/// How far a stream has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// How many frames the log has.
    pub frames: u64,
    /// Whether there will be no more.
    pub ended: bool,
}

/// All runs.
pub struct Runs {
    log: Arc<dyn FrameLog>,
    schemas: HashMap<&'static str, Schemas>,
    validate: bool,
    streams: RwLock<Known>,
    turns: Turns,
}

#[derive(Default)]
struct Known {
    by_id: HashMap<StreamId, Arc<Entry>>,
    /// Runs in the order in which they began.
    order: Vec<StreamId>,
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
            Some(entry) => entry.status().clone(),
            None => RunStatus::new(first),
        };
        Self { id: stream_id(first), stream: first.stream.clone(), entry, status, warned: Vec::new() }
    }

    fn summary(&self) -> Summary {
        // Numbers, words and texts under names of ours: that has a JSON form.
        Summary { stream: self.id, status: serde_json::to_string(&self.status).unwrap_or_default() }
    }
}

/// One stream.
pub struct Entry {
    /// What is known of it from its first frame on.
    pub stream: Arc<Stream>,
    tail: watch::Sender<Tail>,
    status: Mutex<RunStatus>,
    views: Mutex<HashMap<(&'static str, EncoderOptions), Weak<View>>>,
}

impl Runs {
    /// No runs yet.
    ///
    /// # Errors
    /// A built-in schema that does not compile, which the tests rule out.
    pub fn new(log: Arc<dyn FrameLog>, validate: bool) -> Result<Self, String> {
        let schemas = CONTRACTS
            .iter()
            .map(|contract| Schemas::compile(contract.schemas).map(|schemas| (contract.name, schemas)))
            .collect::<Result<_, _>>()?;
        Ok(Self { log, schemas, validate, streams: RwLock::default(), turns: Turns::default() })
    }

    /// Keeps the frames of one ingest, then wakes their readers: once for each stream, however many frames. Gives the frames
    /// as they were kept: a thread or task that another ingest spoke of before goes on with its numbers.
    ///
    /// # Errors
    /// The log's; nothing was kept then.
    pub async fn append<'f>(&self, frames: &'f [Arc<Frame>]) -> Result<Cow<'f, [Arc<Frame>]>, LogError> {
        if frames.is_empty() {
            return Ok(Cow::Borrowed(frames));
        }
        let _turns = self.turns.take(frames).await;
        self.forget_dropped().await;
        let frames = shared::continued(frames, &|id| self.find(id));
        let mut touched: Vec<Touched> = Vec::new();
        for frame in frames.iter() {
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
        let summaries = if self.log.is_durable() { touched.iter().map(Touched::summary).collect() } else { Vec::new() };
        self.log.append(&frames, summaries).await?;
        for known in touched {
            let entry = match known.entry {
                Some(entry) => entry,
                None => self.insert(Entry::new(known.stream, known.status.clone())),
            };
            for (warning, seq) in known.warned {
                known.status.tell(warning, seq);
            }
            entry.adopt(known.status);
        }
        self.forget_dropped().await;
        Ok(frames)
    }

    async fn forget_dropped(&self) {
        for dropped in self.log.take_dropped().await {
            let mut known = self.streams.write().unwrap_or_else(PoisonError::into_inner);
            known.by_id.remove(&dropped);
            known.order.retain(|id| *id != dropped);
        }
    }

    fn insert(&self, entry: Entry) -> Arc<Entry> {
        let (id, entry) = (entry.id(), Arc::new(entry));
        let mut known = self.streams.write().unwrap_or_else(PoisonError::into_inner);
        known.by_id.insert(id, entry.clone());
        if id.0 == StreamKind::Session {
            known.order.push(id);
        }
        entry
    }

    /// The stream of that id.
    pub fn find(&self, id: StreamId) -> Option<Arc<Entry>> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).by_id.get(&id).cloned()
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

    /// The events of a stream in a contract, shared by all who read them; `None` where the contract leaves it out.
    pub fn view(&self, entry: &Arc<Entry>, contract: &'static Contract, options: &EncoderOptions) -> Option<Arc<View>> {
        let mut views = entry.views.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (contract.name, options.clone());
        if let Some(view) = views.get(&key).and_then(Weak::upgrade) {
            return Some(view);
        }
        let encoder = (contract.encoder)(&entry.stream, options)?;
        let view = Arc::new(View::new(contract, encoder, entry.clone()));
        views.retain(|_, view| view.strong_count() > 0);
        views.insert(key, Arc::downgrade(&view));
        Some(view)
    }

    pub(crate) fn log(&self) -> &dyn FrameLog {
        &*self.log
    }

    /// The schemas that events are checked against; `None` where the gate is off.
    pub(crate) fn schemas(&self, contract: &Contract) -> Option<&Schemas> {
        self.schemas.get(contract.name).filter(|_| self.validate && !contract.schemas.is_empty())
    }
}

impl Entry {
    fn new(stream: Arc<Stream>, status: RunStatus) -> Self {
        let tail = watch::Sender::new(Tail { frames: status.frames, ended: status.ended });
        Self { stream, tail, status: Mutex::new(status), views: Mutex::default() }
    }

    /// Takes the status behind frames that were kept, and wakes the readers.
    fn adopt(&self, status: RunStatus) {
        let tail = Tail { frames: status.frames, ended: status.ended };
        {
            let mut now = self.status();
            // Readers may have checked events meanwhile; what they counted stays.
            let counted = std::mem::take(&mut now.validated);
            let failures = std::mem::take(&mut now.validation_failures);
            *now = RunStatus { validated: counted, validation_failures: failures, ..status };
        }
        self.tail.send_replace(tail);
    }

    /// The stream's id.
    pub fn id(&self) -> StreamId {
        (self.stream.kind, self.stream.id)
    }

    /// The run's status as of now.
    pub fn status(&self) -> MutexGuard<'_, RunStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Follows how far the stream has come.
    pub fn tail(&self) -> watch::Receiver<Tail> {
        self.tail.subscribe()
    }
}
