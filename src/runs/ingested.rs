//! The streams that one ingest writes, and readers that follow all of them.
//!
//! Input: the frames of an ingest as they are stored, in order. Output: batches of bytes of all its streams, then the end. Never: frames of
//! another ingest in the same stream; more open readers than the bound.

mod frames;

pub use frames::FrameFollower;

use super::follow::{ask, notice};
use super::{Batch, Entry, Lag, Reader, Runs, Wire};
use crate::clock::Moment;
use crate::log::LogError;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::StreamKind;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How many streams of an ingest have an open reader. At the limit all readers are closed; a stream's reader is made again when
/// it is needed.
const READERS: usize = 256;

/// The steps of one ingest, in order: which frames of which stream.
#[derive(Clone, Default)]
pub struct Ingested {
    steps: Arc<Mutex<Vec<Step>>>,
    wake: Arc<watch::Sender<Progress>>,
    /// Number of frames in all streams.
    made: Arc<AtomicU64>,
    /// Runs in this ingest that were kept before.
    repeated: Arc<Mutex<Vec<Arc<Entry>>>>,
    /// How many of its runs have replaced shorter ones that were kept before.
    replaced: Arc<AtomicU64>,
    /// There will be no follower, so steps are not recorded.
    is_unfollowed: bool,
}

/// Consecutive frames of one stream.
#[derive(Clone)]
struct Step {
    entry: Arc<Entry>,
    /// The number of the first frame.
    first: u64,
    /// The number after the last frame.
    frames: u64,
}

/// How far a stream of an ingest was read.
struct Reading {
    /// The stream. Keeps the entry's address in use for as long as this exists.
    entry: Arc<Entry>,
    /// `None` until the stream is read again.
    reader: Option<Reader>,
    /// The number of the next event.
    next: u64,
    /// The number after the last frame whose events were returned.
    given: u64,
    /// The reader has the notice that the stream was dropped; nothing follows.
    is_dropped: bool,
}

/// The streams of an ingest that are read, by the address of their entry. The stream id would not do: another stream may get
/// the id of a dropped one.
#[derive(Default)]
struct Readings {
    known: HashMap<usize, Reading>,
    /// The streams that have a reader.
    open: Vec<usize>,
}

impl Readings {
    /// Returns the stream of `entry`. If it has no reader, `make` creates one; `None` if `make` returns none.
    fn of(&mut self, entry: &Arc<Entry>, make: impl FnOnce() -> Option<Reader>) -> Option<&mut Reading> {
        let address = Arc::as_ptr(entry).addr();
        if self.known.get(&address).is_none_or(|reading| reading.reader.is_none() && !reading.is_dropped) {
            let reader = make()?;
            if self.open.len() >= READERS {
                for other in self.open.drain(..) {
                    if let Some(other) = self.known.get_mut(&other) {
                        other.reader = None;
                    }
                }
            }
            self.open.push(address);
            let new = || Reading { entry: entry.clone(), reader: None, next: 0, given: 0, is_dropped: false };
            self.known.entry(address).or_insert_with(new).reader = Some(reader);
        }
        self.known.get_mut(&address)
    }

    /// Forgets a stream that is over and fully read.
    fn leave(&mut self, entry: &Arc<Entry>) {
        let address = Arc::as_ptr(entry).addr();
        let tail = *entry.tail.borrow();
        let is_over = |reading: &Reading| Arc::ptr_eq(&reading.entry, entry) && reading.given >= tail.frames;
        if tail.ended && self.known.get(&address).is_some_and(is_over) {
            self.known.remove(&address);
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Progress {
    changes: u64,
    ended: bool,
    arrived: Option<Moment>,
}

impl Ingested {
    /// For an ingest that has no followers and may go on for ever.
    pub fn unfollowed() -> Self {
        Self { is_unfollowed: true, ..Self::default() }
    }

    /// Records that the ingest made these frames of a stream. Consecutive steps of a stream are merged, unless another ingest
    /// made frames of the stream between them.
    pub fn step(&self, entry: &Arc<Entry>, frames: Range<u64>) {
        if self.is_unfollowed {
            return;
        }
        let mut steps = self.steps();
        match steps.last_mut() {
            Some(last) if Arc::ptr_eq(&last.entry, entry) && last.frames == frames.start => last.frames = frames.end,
            _ => steps.push(Step { entry: entry.clone(), first: frames.start, frames: frames.end }),
        }
    }

    /// Wakes the readers after `frames` new frames, whose bytes arrived at `arrived`. With `ended`, nothing more will follow.
    pub fn wake(&self, frames: usize, arrived: Moment, ended: bool) {
        self.made.fetch_add(frames as u64, Ordering::Relaxed);
        self.wake.send_modify(|progress| {
            progress.changes += 1;
            progress.ended = ended;
            progress.arrived = Some(arrived);
        });
    }

    /// Wakes the readers after a pause, for events that encoders held back.
    pub fn wake_at_pause(&self) {
        self.wake.send_modify(|progress| (progress.changes, progress.arrived) = (progress.changes + 1, None));
    }

    /// Records a run in this ingest that the log had already. Its frames are those of the kept run.
    pub fn repeat(&self, entry: &Arc<Entry>) {
        self.step(entry, 0..entry.tail().borrow().frames);
        self.repeated.lock().unwrap_or_else(PoisonError::into_inner).push(entry.clone());
    }

    /// The runs in this ingest that were kept before.
    pub fn repeated(&self) -> Vec<Arc<Entry>> {
        self.repeated.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Further runs of this ingest have replaced shorter ones that were kept before.
    pub fn replace(&self, runs: u64) {
        self.replaced.fetch_add(runs, Ordering::Relaxed);
    }

    /// How many runs of this ingest have replaced shorter ones that were kept before.
    pub fn replaced(&self) -> u64 {
        self.replaced.load(Ordering::Relaxed)
    }

    /// The runs that the ingest made, in order.
    pub fn runs(&self) -> Vec<Arc<Entry>> {
        self.entries().into_iter().filter(|entry| entry.stream.kind == StreamKind::Session).collect()
    }

    /// The first of them.
    pub fn first_run(&self) -> Option<Arc<Entry>> {
        let steps = self.steps();
        steps.iter().find(|step| step.entry.stream.kind == StreamKind::Session).map(|step| step.entry.clone())
    }

    /// The streams that the ingest made, in order.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut known = HashSet::new();
        let steps = self.steps();
        steps.iter().filter(|step| known.insert(Arc::as_ptr(&step.entry))).map(|step| step.entry.clone()).collect()
    }

    /// Whether the ingest made a run, or repeats one.
    pub fn has_runs(&self) -> bool {
        self.steps().iter().any(|step| step.entry.stream.kind == StreamKind::Session)
    }

    /// Follows everything that the ingest makes, in one contract.
    pub fn follow(
        &self,
        runs: Arc<Runs>,
        contract: &'static Contract,
        options: EncoderOptions,
        wire: Wire,
    ) -> IngestFollower {
        let (progress, closing) = (self.wake.subscribe(), runs.closing());
        let ingested = self.clone();
        let lag = Lag::of_ingest(self.made.clone());
        IngestFollower {
            runs,
            ingested,
            progress,
            closing,
            contract,
            options,
            wire,
            at: 0,
            reading: Readings::default(),
            was_cut: false,
            given: 0,
            lag,
            live: None,
        }
    }

    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows all streams of one ingest.
pub struct IngestFollower {
    runs: Arc<Runs>,
    ingested: Ingested,
    progress: watch::Receiver<Progress>,
    closing: watch::Receiver<bool>,
    contract: &'static Contract,
    options: EncoderOptions,
    wire: Wire,
    /// Index of the step that is read. The last step may still grow, so the index does not pass it.
    at: usize,
    /// The streams that are read.
    reading: Readings,
    was_cut: bool,
    /// How many frames of all streams were returned.
    given: u64,
    lag: Lag,
    live: Option<Moment>,
}

impl IngestFollower {
    /// Waits for the next events. `None` once everything was read and the ingest is over or the proxy stops.
    ///
    /// # Errors
    /// The log's error.
    pub async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        self.live = None;
        loop {
            let (ended, closing) = (self.progress.borrow_and_update().ended, *self.closing.borrow_and_update());
            loop {
                let (step, is_last) = {
                    let steps = self.ingested.steps();
                    (steps.get(self.at).cloned(), self.at + 1 >= steps.len())
                };
                let Some(step) = step else { break };
                if let Some(batch) = self.read(&step).await? {
                    return Ok(Some(batch));
                }
                if is_last {
                    break;
                }
                self.reading.leave(&step.entry);
                self.at += 1;
            }
            if ended || closing {
                self.was_cut = !ended;
                return Ok(None);
            }
            tokio::select! {
                _ = self.progress.changed() => self.live = self.progress.borrow().arrived,
                _ = self.closing.changed() => {}
            }
        }
    }

    /// How far this follower lags.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// When the bytes arrived that led to the last events, if the follower had to wait for them; `None` if the events were
    /// already there.
    pub fn arrived(&self) -> Option<Moment> {
        self.live
    }

    /// Whether it ended although more events could have followed.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    async fn read(&mut self, step: &Step) -> Result<Option<Batch>, LogError> {
        let entry = &step.entry;
        let (runs, contract, options) = (&self.runs, self.contract, &self.options);
        let Some(reading) = self.reading.of(entry, || runs.reader(entry, contract, options)) else { return Ok(None) };
        let (false, Some(reader)) = (reading.is_dropped, &mut reading.reader) else { return Ok(None) };
        let found = async {
            if step.first > reading.given {
                // The frames before it are from other ingests, and not for the client of this one.
                reading.next = reader.at_frame(&self.runs, step.first, 0).await?;
                reading.given = step.first;
            }
            reader.read(&self.runs, ask(reading.next, step.frames, self.wire)).await
        };
        let batch = match found.await {
            Err(error @ LogError::Dropped { .. }) => {
                self.runs.forget_dropped().await;
                reading.is_dropped = true;
                let lacking = reading.given.min(step.frames.saturating_sub(1))..step.frames;
                return notice(reader, lacking, reading.next, self.wire).map(Some).ok_or(error);
            }
            batch => batch?,
        };
        if batch.lost {
            return Err(LogError::Gone { stream: entry.stream.id, frames: batch.frames });
        }
        let has_more = batch.next > std::mem::replace(&mut reading.next, batch.next);
        // A step without more events is done, including its frames that have no events.
        let frames = if has_more { batch.frames } else { step.frames };
        self.given += frames.saturating_sub(reading.given);
        reading.given = frames.max(reading.given);
        self.lag.given(self.given);
        Ok(has_more.then_some(batch))
    }
}
