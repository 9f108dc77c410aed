//! Recognises streams of other proxies that the log already has, by their ids.
//!
//! Input: the frames of an ingest, before they are stored; those that were read from frames have the ids of their streams.
//! Output: the same without the streams that the log has, and the list of their runs. Never: a second stream with an id that the
//! log has; a stored run replaced by a shorter one; a frame in a thread or a task twice; more bytes held back than a bound.
//!
//! A run that the log has is left out. If the log has only its beginning, because the input broke off, the run is held back while its
//! frames equal the stored ones. If it goes on after them, it replaces the stored run. If it comes from the proxy that has it, it
//! replaces the stored run as soon as it has the same frames, because it is still open there.

use super::bounds::Account;
use super::was_cut;
use crate::log::{ByStream, LogError, StreamId, stream_id, weight};
use crate::runs::{Entry, Runs};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::{Body, Frame, Stream, StreamKind};
use framegate_translators::pipeline::is_last;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use uuid::Uuid;

/// How many bytes of frames and artifacts are held back at most. A run that equals the stored one for longer replaces it.
const HELD_BYTES: u64 = 16 << 20;

/// How many stored frames are read at once.
const AT_ONCE: usize = 128;

/// How many frames that close a run are looked at.
const CLOSING: u64 = 256;

/// How many ids of a stored thread or task are compared, the newest.
const IDS: usize = 1 << 16;

/// How many streams are remembered; beyond that, they are looked up again.
const STREAMS: usize = 1 << 14;

/// Frames and artifacts that go on.
type Passed = (Vec<Arc<Frame>>, Vec<Artifact>);

/// The streams of one ingest, as far as the log had them.
#[derive(Default)]
pub(super) struct KnownStreams {
    /// Whether runs go on elsewhere, even if nothing arrives for a while.
    is_live: bool,
    streams: ByStream<Standing>,
    held: ByStream<Held>,
    bytes: u64,
    again: Vec<Arc<Entry>>,
    /// How many runs of this ingest have replaced stored ones.
    replaced: u64,
}

/// What happens to the frames of a stream.
enum Standing {
    /// They are stored.
    New,
    /// The log has them.
    Known,
    /// It depends on that run.
    Held(StreamId),
    /// The log has frames with these ids and times.
    Has(HashMap<Uuid, u64>),
}

/// A run that is held back, with its tasks.
struct Held {
    stored: Stored,
    frames: Vec<Arc<Frame>>,
    artifacts: Vec<Artifact>,
    bytes: u64,
}

/// How a run that is held back continues.
enum Verdict {
    /// It equals the stored run so far.
    Open,
    /// The log has all of it.
    Known,
    /// It goes on where the stored run broke off.
    Longer,
    /// It is not the stored run.
    Other,
}

/// A stored run, and how far it was read.
struct Stored {
    entry: Arc<Entry>,
    next: u64,
    read: VecDeque<Arc<Frame>>,
    /// The number of the frame at which the run goes on in any case: all later ones may have been added to close it.
    decisive: u64,
}

impl Stored {
    /// `is_live`: the run goes on elsewhere, even if nothing has arrived for a while.
    async fn new(entry: Arc<Entry>, runs: &Runs, is_live: bool) -> Result<Self, LogError> {
        let mut decisive = u64::MAX;
        if is_live {
            let frames = entry.tail().borrow().frames;
            let end = runs.log().read(entry.id(), frames.saturating_sub(CLOSING), usize::MAX).await?;
            // A read may give fewer frames than there are. Frames that this proxy adds to those of another one have no derived ids: the
            // end of a run with such an id is that of the other proxy.
            if end.last().is_some_and(|last| last.seq + 1 == frames && last.id() != last.derived_id()) {
                decisive = end.iter().rfind(|frame| !closes(&frame.body)).map_or(u64::MAX, |frame| frame.seq);
            }
        }
        Ok(Self { entry, next: 0, read: VecDeque::new(), decisive })
    }

    async fn frame(&mut self, runs: &Runs) -> Result<Option<Arc<Frame>>, LogError> {
        if self.read.is_empty() && self.next < self.entry.tail().borrow().frames {
            self.read = runs.log().read(self.entry.id(), self.next, AT_ONCE).await?.into();
            self.next = self.read.back().map_or(u64::MAX, |last| last.seq + 1);
        }
        Ok(self.read.pop_front())
    }

    /// Compares the run's next frame.
    async fn compare(&mut self, frame: &Frame, runs: &Runs) -> Result<Verdict, LogError> {
        let Some(stored) = self.frame(runs).await? else { return Ok(Verdict::Known) };
        if is_same(&stored, frame) {
            return Ok(match is_last(frame) {
                true => Verdict::Known,
                false if frame.seq >= self.decisive => Verdict::Longer,
                false => Verdict::Open,
            });
        }
        // What was added to the stored run to close it contains no records.
        let mut rest = Some(stored);
        while let Some(stored) = rest {
            if matches!(stored.body, Body::ProviderEvent(_)) {
                return Ok(Verdict::Other);
            }
            rest = self.frame(runs).await?;
        }
        Ok(Verdict::Longer)
    }
}

/// Whether a frame may be one of those that close a run.
fn closes(body: &Body) -> bool {
    matches!(
        body,
        Body::OutputTextCompleted(_)
            | Body::ReasoningCompleted { .. }
            | Body::ToolEnded { .. }
            | Body::ToolFailed { .. }
            | Body::ApprovalResolved(_)
            | Body::SubagentEnded { .. }
            | Body::TurnEnded { .. }
            | Body::SessionEnded(_)
    )
}

fn is_same(one: &Frame, other: &Frame) -> bool {
    one.id() == other.id() && one.seq == other.seq && one.timestamp_ms == other.timestamp_ms
}

/// The run that a task or an artifact belongs to.
fn origin_of(stream: &Stream) -> Option<StreamId> {
    match stream.kind {
        StreamKind::Session => Some((StreamKind::Session, stream.id)),
        StreamKind::Task => stream.origin_run.map(|run| (StreamKind::Session, run)),
        StreamKind::Thread | StreamKind::Artifact => None,
    }
}

impl KnownStreams {
    /// The input is the feed of a proxy that has the runs.
    pub(super) fn live() -> Self {
        Self { is_live: true, ..Self::default() }
    }

    /// Leaves out what the log has. `is_closing`: the frames close the ingest, so a run that is held back goes on no more.
    pub(super) async fn sift(
        &mut self,
        (frames, artifacts): Passed,
        (runs, account): (&Runs, &Account),
        is_closing: bool,
    ) -> Passed {
        let is_idle = self.streams.is_empty() && frames.iter().all(|frame| frame.given_id.is_none());
        if is_idle {
            return (frames, artifacts);
        }
        let mut out = (Vec::with_capacity(frames.len()), Vec::with_capacity(artifacts.len()));
        for frame in frames {
            let id = stream_id(&frame);
            if !self.streams.contains_key(&id) {
                let standing = self.standing(&frame.stream, (runs, account)).await;
                self.remember(id, standing);
            }
            let is_over = is_last(&frame);
            match self.streams.get(&id) {
                None | Some(Standing::New) => out.0.push(frame),
                Some(Standing::Known) => {}
                Some(Standing::Has(known)) => {
                    if known.get(&frame.id()) != Some(&frame.timestamp_ms) {
                        out.0.push(frame);
                    }
                }
                Some(&Standing::Held(run)) => self.hold(run, frame, (runs, account), &mut out).await,
            }
            // Nothing follows. If it is sent again, it is looked up again.
            if is_over {
                self.streams.remove(&id);
            }
        }
        if is_closing {
            for run in self.held.keys().copied().collect::<Vec<_>>() {
                self.settle(run, Verdict::Known, (runs, account), &mut out).await;
            }
        }
        for artifact in artifacts {
            let run = origin_of(&artifact.stream);
            match run.and_then(|run| self.held.get_mut(&run)) {
                Some(held) => {
                    let bytes = artifact.content.len() as u64;
                    (held.bytes, self.bytes) = (held.bytes + bytes, self.bytes + bytes);
                    held.artifacts.push(artifact);
                }
                None if run.is_some_and(|run| matches!(self.streams.get(&run), Some(Standing::Known))) => {}
                None => out.1.push(artifact),
            }
        }
        out
    }

    /// Decides about a stream at its first frame in this ingest.
    async fn standing(&mut self, stream: &Arc<Stream>, (runs, account): (&Runs, &Account)) -> Standing {
        let origin = origin_of(stream).filter(|_| stream.kind == StreamKind::Task);
        match origin.and_then(|run| Some((run, self.streams.get(&run)?))) {
            Some((_, Standing::Known)) => return Standing::Known,
            Some((run, Standing::Held(_))) => return Standing::Held(run),
            _ => {}
        }
        let id = (stream.kind, stream.id);
        let Some(entry) = runs.find(id) else { return Standing::New };
        if stream.kind != StreamKind::Session {
            return match ids_of(&entry, runs).await {
                Ok(ids) => Standing::Has(ids),
                Err(error) => {
                    tracing::warn!(stream = %stream.id, %error, "a stored stream cannot be compared, so its frames are \
                                                                 not stored again");
                    Standing::Known
                }
            };
        }
        if was_cut(&entry) && account.admits(&entry.stream) {
            match Stored::new(entry.clone(), runs, self.is_live).await {
                Ok(stored) => {
                    self.held.insert(id, Held { stored, frames: Vec::new(), artifacts: Vec::new(), bytes: 0 });
                    return Standing::Held(id);
                }
                Err(error) => tracing::warn!(run = %stream.id, %error, "a stored run cannot be compared"),
            }
        }
        self.is_known(&entry, account);
        Standing::Known
    }

    fn remember(&mut self, id: StreamId, standing: Standing) {
        if self.streams.len() >= STREAMS {
            // An open run would count as known if it were looked up again. Anything else can be.
            self.streams.retain(|id, standing| id.0 == StreamKind::Session || matches!(standing, Standing::Held(_)));
        }
        self.streams.insert(id, standing);
    }

    fn is_known(&mut self, entry: &Arc<Entry>, account: &Account) {
        tracing::info!(run = %entry.stream.id, "the log has this run already; it is stored only once");
        if account.admits(&entry.stream) {
            self.again.push(entry.clone());
        }
    }

    /// Adds a frame to a run that is held back.
    async fn hold(&mut self, run: StreamId, frame: Arc<Frame>, (runs, account): (&Runs, &Account), out: &mut Passed) {
        let Some(held) = self.held.get_mut(&run) else { return };
        let bytes = weight(&frame);
        (held.bytes, self.bytes) = (held.bytes + bytes, self.bytes + bytes);
        held.frames.push(frame.clone());
        let verdict = match stream_id(&frame) == run {
            true => held.stored.compare(&frame, runs).await.unwrap_or_else(|error| {
                tracing::warn!(run = %run.1, %error, "a stored run cannot be compared");
                Verdict::Other
            }),
            false => Verdict::Open,
        };
        match verdict {
            Verdict::Open if self.bytes <= HELD_BYTES => {}
            Verdict::Open => self.settle(run, Verdict::Longer, (runs, account), out).await,
            verdict => self.settle(run, verdict, (runs, account), out).await,
        }
    }

    /// The run is not held back any more.
    async fn settle(&mut self, run: StreamId, verdict: Verdict, (runs, account): (&Runs, &Account), out: &mut Passed) {
        let Some(held) = self.held.remove(&run) else { return };
        self.bytes -= held.bytes;
        let entry = &held.stored.entry;
        let is_replaced = match verdict {
            Verdict::Longer => drop_run(entry, runs).await,
            Verdict::Other => {
                tracing::warn!(run = %run.1, "the log has another run with this id; what arrived is not stored");
                false
            }
            Verdict::Open | Verdict::Known => false,
        };
        if !is_replaced {
            self.is_known(entry, account);
        }
        for standing in
            self.streams.values_mut().filter(|standing| matches!(standing, Standing::Held(of) if *of == run))
        {
            *standing = if is_replaced { Standing::New } else { Standing::Known };
        }
        if is_replaced {
            self.replaced += 1;
            tracing::info!(run = %run.1, "the log had only the beginning of this run; the longer run replaces it");
            out.0.extend(held.frames);
            out.1.extend(held.artifacts);
        }
    }

    /// The ingest stops before its end: removes the frames of runs that are not stored.
    pub(super) fn give_up(&mut self, frames: &mut Vec<Arc<Frame>>) {
        let is_stored = |frame: &Arc<Frame>| {
            !matches!(self.streams.get(&stream_id(frame)), Some(Standing::Known | Standing::Held(_)))
        };
        frames.retain(is_stored);
        self.held.clear();
    }

    /// How many runs of this ingest have replaced stored ones.
    pub(super) fn replaced(&self) -> u64 {
        self.replaced
    }

    /// The runs that the log had.
    pub(super) fn again(&self) -> &[Arc<Entry>] {
        &self.again
    }
}

/// The ids and times of the newest frames of a stored stream.
async fn ids_of(entry: &Entry, runs: &Runs) -> Result<HashMap<Uuid, u64>, LogError> {
    let frames = entry.tail().borrow().frames;
    let (mut ids, mut next) = (HashMap::new(), frames.saturating_sub(IDS as u64));
    while next < frames {
        let read = runs.log().read(entry.id(), next, AT_ONCE).await?;
        let Some(last) = read.last() else { break };
        next = last.seq + 1;
        ids.extend(read.iter().map(|frame| (frame.id(), frame.timestamp_ms)));
    }
    Ok(ids)
}

/// Drops a stored run and its tasks. Returns whether the log has the run no more.
async fn drop_run(run: &Arc<Entry>, runs: &Runs) -> bool {
    let is_part =
        |entry: &Arc<Entry>| entry.stream.kind == StreamKind::Task && entry.stream.origin_run == Some(run.stream.id);
    for entry in runs.entries().into_iter().filter(is_part).chain([run.clone()]) {
        if let Err(error) = runs.drop_stream(&entry).await {
            tracing::warn!(stream = %entry.stream.id, %error, "a run that breaks off could not be replaced");
            return false;
        }
    }
    true
}
