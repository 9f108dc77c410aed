//! Readers that follow streams: replay first, then live, without a switch.
//!
//! Input: the tail of a stream, and its view. Output: batches of bytes, then the end. Never: a gap or a repeat between replay
//! and live (both read the log by number), or a queue for each reader.

use super::{Ask, Batch, Entry, Lag, Reader, Runs, Tail, Wire};
use crate::clock::{Clock, Moment};
use crate::log::LogError;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::dropped::Dropped;
use framegate_translators::encode::{EncoderOptions, Events, write_ndjson, write_sse};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How many bytes a reader takes at a time. This is the memory cost of a slow client.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// How many events a reader takes at a time.
const READ_EVENTS: usize = 4096;

/// How many streams of an ingest have an open reader. At the limit all readers are closed; a stream's reader is made again when
/// it is needed.
const READERS: usize = 256;

fn ask(from: u64, frames: u64, wire: Wire) -> Ask {
    Ask { from, frames, wire, max_bytes: READ_BYTES, max_events: READ_EVENTS }
}

/// Follows one stream in one contract.
pub struct Follower {
    runs: Arc<Runs>,
    reader: Reader,
    tail: watch::Receiver<Tail>,
    closing: watch::Receiver<bool>,
    wire: Wire,
    next: u64,
    /// How many more events are wanted; `None` means all.
    left: Option<usize>,
    /// Whether a reader can resume after the last event returned.
    ends_on_id: bool,
    /// The number after the frame that the last returned event came from.
    given: u64,
    /// A batch that [`Follower::begin`] has already read.
    begun: Option<Batch>,
    /// The reader has the notice that the stream was dropped; nothing follows.
    is_over: bool,
    was_cut: bool,
    lag: Lag,
    live: Option<Moment>,
}

impl Follower {
    /// Starts at the event with number `from`.
    pub fn new(runs: Arc<Runs>, reader: Reader, wire: Wire, from: u64) -> Self {
        let (tail, closing) = (reader.entry().tail(), runs.closing());
        let lag = Lag::of_stream(tail.clone());
        Self {
            runs,
            reader,
            tail,
            closing,
            wire,
            next: from,
            left: None,
            ends_on_id: true,
            given: 0,
            begun: None,
            is_over: false,
            was_cut: false,
            lag,
            live: None,
        }
    }

    /// Ends after `limit` events. If the last of them has no cursor, ends after the next event that has one.
    #[must_use]
    pub fn within(self, limit: Option<usize>) -> Self {
        Self { left: limit, ..self }
    }

    /// Reads the first batch, so that an error can still be the whole answer.
    ///
    /// # Errors
    /// The log's error; [`LogError::Dropped`] if the stream was dropped in the meantime.
    pub async fn begin(&mut self) -> Result<(), LogError> {
        let frames = self.tail.borrow().frames;
        let batch = self.reader.read(&self.runs, self.ask(frames)).await?;
        if batch.lost {
            return Err(LogError::Gone { stream: self.reader.entry().stream.id, frames: batch.frames });
        }
        self.begun = Some(batch).filter(|batch| batch.next > self.next);
        Ok(())
    }

    fn ask(&self, frames: u64) -> Ask {
        let max_events = self.left.map_or(READ_EVENTS, |left| left.clamp(1, READ_EVENTS));
        Ask { max_events, ..ask(self.next, frames, self.wire) }
    }

    /// Waits for the next events. `None` once everything was read and the stream is over or the proxy stops.
    ///
    /// # Errors
    /// The log's error.
    pub async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        self.live = None;
        loop {
            if self.left == Some(0) && self.ends_on_id {
                return Ok(None);
            }
            let (tail, closing) = (*self.tail.borrow_and_update(), *self.closing.borrow_and_update());
            if self.is_over {
                return Ok(None);
            }
            if let Some(batch) = self.read(tail).await? {
                return Ok(Some(batch));
            }
            // Frames without events count as read too.
            self.lag.given(tail.frames);
            if tail.ended || closing {
                self.was_cut = !tail.ended;
                return Ok(None);
            }
            let entry = self.reader.entry();
            if entry.is_dropped() {
                // The stream was dropped before it ended, and nothing more will follow.
                return Err(LogError::Dropped { stream: entry.stream.id });
            }
            // `changed` cannot fail: the senders live as long as the entry and the runs, which this reader keeps alive.
            tokio::select! {
                _ = self.tail.changed() => self.live = self.tail.borrow().arrived,
                _ = self.closing.changed() => {}
            }
        }
    }

    /// The next of the events that are there already; `None` if there are none.
    ///
    /// # Errors
    /// The log's error.
    pub async fn next_at_hand(&mut self) -> Result<Option<Batch>, LogError> {
        let tail = *self.tail.borrow();
        if self.is_over { Ok(None) } else { self.read(tail).await }
    }

    /// The number of the next event.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Reads the next events of the frames up to the tail; `None` if there are none.
    async fn read(&mut self, tail: Tail) -> Result<Option<Batch>, LogError> {
        let batch = match self.begun.take() {
            Some(batch) => batch,
            None => match self.reader.read(&self.runs, self.ask(tail.frames)).await {
                Err(error @ LogError::Dropped { .. }) => {
                    self.is_over = true;
                    self.runs.forget_dropped().await;
                    return self.notice(tail).map(Some).ok_or(error);
                }
                batch => batch?,
            },
        };
        if batch.lost {
            // The next event is gone, and the contract has no event that says so. Break off: a client that asks again gets
            // the error.
            return Err(LogError::Gone { stream: self.reader.entry().stream.id, frames: batch.frames });
        }
        if batch.next <= self.next {
            return Ok(None);
        }
        let given = usize::try_from(batch.events).unwrap_or(usize::MAX);
        self.left = self.left.map(|left| left.saturating_sub(given));
        self.ends_on_id = batch.ends_on_id;
        self.next = batch.next;
        self.given = batch.frames;
        self.lag.given(batch.frames);
        Ok(Some(batch))
    }

    /// The notice that the stream was dropped before its reader had caught up. It is sent once, as the last event. `None` if
    /// the contract has no such event.
    fn notice(&self, tail: Tail) -> Option<Batch> {
        let last = tail.frames.saturating_sub(1);
        notice(&self.reader, self.given.min(last)..tail.frames, self.next, self.wire)
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

    /// Whether a client that has all events with a cursor has nothing left to read, now or later. Events after the last cursor
    /// are for live display: a client that resumes there would get them again each time.
    ///
    /// # Errors
    /// The log's error.
    pub async fn is_over(&mut self) -> Result<bool, LogError> {
        let tail = *self.tail.borrow();
        if !tail.ended {
            return Ok(false);
        }
        let mut next = self.next;
        loop {
            let batch = self.reader.read(&self.runs, ask(next, tail.frames, self.wire)).await?;
            if batch.lost || batch.last_id.is_some() {
                return Ok(false);
            }
            if batch.next <= next {
                return Ok(true);
            }
            next = batch.next;
        }
    }
}

/// The contract's own notice for readers of a dropped stream. `frames` are the frames whose events the reader lacks; `events`
/// is the number of the next event. `None` if the contract has no such notice.
fn notice(reader: &Reader, frames: Range<u64>, events: u64, wire: Wire) -> Option<Batch> {
    let (entry, contract, end) = (reader.entry(), reader.contract(), frames.end);
    let dropped = Dropped { stream: &entry.stream, frames, events, at_ms: Clock::System.now_ms(), why: None };
    let mut out = Events::default();
    (contract.dropped)(&dropped, &mut out);
    let event = out.iter().next()?;
    let mut bytes = Vec::new();
    match wire {
        Wire::Sse => write_sse(event, contract.sse == SseStyle::Named, &mut bytes),
        Wire::Ndjson => write_ndjson(event, &mut bytes),
    }
    Some(Batch { chunks: vec![bytes.into()], next: events, frames: end, events: 1, ..Batch::default() })
}

/// The steps of one ingest, in order: which frames of which stream.
#[derive(Clone, Default)]
pub struct Ingested {
    steps: Arc<Mutex<Vec<Step>>>,
    wake: Arc<watch::Sender<Progress>>,
    /// Number of frames in all streams.
    made: Arc<AtomicU64>,
    /// Runs in this ingest that were kept before.
    repeated: Arc<Mutex<Vec<Arc<Entry>>>>,
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

    /// The streams that the ingest made, in order.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut known = HashSet::new();
        let steps = self.steps();
        steps.iter().filter(|step| known.insert(Arc::as_ptr(&step.entry))).map(|step| step.entry.clone()).collect()
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
