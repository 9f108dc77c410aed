//! Readers that follow streams: replay first, then live, in one motion.
//!
//! In: the tail of a stream, and its view. Out: batches of bytes, then the end. Never: a gap or a repeat between replay and
//! live (there is no switch: both read the log by number), a queue for each reader.

use super::{Ask, Batch, Entry, Lag, Reader, Runs, Tail, Wire};
use crate::clock::{Clock, Moment};
use crate::log::LogError;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::dropped::Dropped;
use framegate_translators::encode::{EncoderOptions, Events};
use framegate_translators::framing::{write_ndjson, write_sse};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How many bytes a reader takes at a time: what a client that reads slowly costs.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// How many events a reader takes at a time.
const READ_EVENTS: usize = 4096;

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
    /// The frame behind the one that the last event given came of.
    given: u64,
    was_cut: bool,
    lag: Lag,
    live: Option<Moment>,
}

impl Follower {
    /// Starts at the event with that number.
    pub fn new(runs: Arc<Runs>, reader: Reader, wire: Wire, from: u64) -> Self {
        let (tail, closing) = (reader.entry().tail(), runs.closing());
        let lag = Lag::of_stream(tail.clone());
        Self { runs, reader, tail, closing, wire, next: from, given: 0, was_cut: false, lag, live: None }
    }

    /// The next events, as soon as there are any; `None` when all was read and the stream is over or the proxy stops.
    ///
    /// # Errors
    /// The log's.
    pub async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        self.live = None;
        loop {
            let (tail, closing) = (*self.tail.borrow_and_update(), *self.closing.borrow_and_update());
            let batch = self.reader.read(&self.runs, ask(self.next, tail.frames, self.wire)).await?;
            if batch.lost {
                // What it was to get next is gone, and nothing in the stream can say so: it ends, and who asks again is told.
                return Ok(None);
            }
            if batch.next > self.next {
                self.next = batch.next;
                self.given = batch.frames;
                self.lag.given(batch.frames);
                return Ok(Some(batch));
            }
            // The frames without events were given too.
            self.lag.given(tail.frames);
            if tail.ended || closing {
                self.was_cut = !tail.ended;
                return Ok(self.notice(tail));
            }
            // The senders live as long as the entry and the runs, which this reader keeps alive.
            tokio::select! {
                _ = self.tail.changed() => self.live = self.tail.borrow().arrived,
                _ = self.closing.changed() => {}
            }
        }
    }

    /// What is said where the run was dropped while its reader was behind: once, as the last event.
    fn notice(&mut self, tail: Tail) -> Option<Batch> {
        let entry = self.reader.entry();
        let frames = std::mem::replace(&mut self.given, tail.frames)..tail.frames;
        if !tail.ended || frames.is_empty() || self.runs.find(entry.id()).is_some() {
            return None;
        }
        let at_ms = Clock::System.now_ms();
        let dropped = Dropped { stream: &entry.stream, frames, events: self.next, at_ms };
        let mut out = Events::default();
        let contract = self.reader.contract();
        (contract.dropped)(&dropped, &mut out);
        let event = out.iter().next()?;
        let mut bytes = Vec::new();
        match self.wire {
            Wire::Sse => write_sse(event, contract.sse == SseStyle::Named, &mut bytes),
            Wire::Ndjson => write_ndjson(event, &mut bytes),
        }
        let chunks = vec![bytes.into()];
        Some(Batch { chunks, next: self.next, frames: tail.frames, events: 1, ..Batch::default() })
    }

    /// How far it is behind.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// When the bytes arrived of which the last events came that it waited for; `None` where they were there already.
    pub fn arrived(&self) -> Option<Moment> {
        self.live
    }

    /// Whether it ended although more could have come.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// Whether nothing is left to read, now and for ever.
    ///
    /// # Errors
    /// The log's.
    pub async fn is_over(&mut self) -> Result<bool, LogError> {
        let tail = *self.tail.borrow();
        let one = Ask { max_bytes: 1, max_events: 1, ..ask(self.next, tail.frames, self.wire) };
        let batch = self.reader.read(&self.runs, one).await?;
        Ok(tail.ended && batch.next == self.next && !batch.lost)
    }
}

/// What one ingest made, in order: how far each stream had come when another one's turn came.
#[derive(Clone, Default)]
pub struct Ingested {
    steps: Arc<Mutex<Vec<Step>>>,
    wake: Arc<watch::Sender<Progress>>,
    /// How many frames there are of all streams.
    made: Arc<AtomicU64>,
    /// Nobody follows it: steps are not noted.
    is_unfollowed: bool,
}

#[derive(Clone)]
struct Step {
    entry: Arc<Entry>,
    frames: u64,
}

#[derive(Clone, Copy, Default)]
struct Progress {
    changes: u64,
    ended: bool,
    arrived: Option<Moment>,
}

impl Ingested {
    /// What nobody will follow, of an ingest that may go on for ever.
    pub fn unfollowed() -> Self {
        Self { is_unfollowed: true, ..Self::default() }
    }

    /// Notes that a stream has come to `frames`. Steps of one stream in a row are one step, which grows.
    pub fn step(&self, entry: &Arc<Entry>, frames: u64) {
        if self.is_unfollowed {
            return;
        }
        let mut steps = self.steps();
        match steps.last_mut() {
            Some(last) if Arc::ptr_eq(&last.entry, entry) => last.frames = frames,
            _ => steps.push(Step { entry: entry.clone(), frames }),
        }
    }

    /// Wakes the readers of `frames` new frames, whose bytes arrived at that moment; with `ended`, nothing more comes.
    pub fn wake(&self, frames: usize, arrived: Moment, ended: bool) {
        self.made.fetch_add(frames as u64, Ordering::Relaxed);
        self.wake.send_modify(|progress| {
            progress.changes += 1;
            progress.ended = ended;
            progress.arrived = Some(arrived);
        });
    }

    /// The streams that were made, in order.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        for step in self.steps().iter() {
            if !entries.iter().any(|known| Arc::ptr_eq(known, &step.entry)) {
                entries.push(step.entry.clone());
            }
        }
        entries
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
            reading: Vec::new(),
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
    /// The step that is read. The last one may still grow, so it is not left behind.
    at: usize,
    /// The streams that are read, the next event of each, and how many of its frames were given.
    reading: Vec<(Reader, u64, u64)>,
    was_cut: bool,
    /// How many frames were given, of all streams.
    given: u64,
    lag: Lag,
    live: Option<Moment>,
}

impl IngestFollower {
    /// The next events, as soon as there are any; `None` when all was read and the ingest is over or the proxy stops.
    ///
    /// # Errors
    /// The log's.
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

    /// How far it is behind.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// When the bytes arrived of which the last events came that it waited for; `None` where they were there already.
    pub fn arrived(&self) -> Option<Moment> {
        self.live
    }

    /// Whether it ended although more could have come.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    async fn read(&mut self, step: &Step) -> Result<Option<Batch>, LogError> {
        let entry = &step.entry;
        let at = match self.reading.iter().position(|(reader, ..)| Arc::ptr_eq(reader.entry(), entry)) {
            Some(at) => at,
            None => {
                let Some(reader) = self.runs.reader(entry, self.contract, &self.options) else { return Ok(None) };
                self.reading.push((reader, 0, 0));
                self.reading.len() - 1
            }
        };
        let Some((reader, next, given)) = self.reading.get_mut(at) else { return Ok(None) };
        let batch = reader.read(&self.runs, ask(*next, step.frames, self.wire)).await?;
        if batch.lost {
            return Err(LogError::Gone { stream: entry.stream.id, frames: batch.frames });
        }
        let has_more = batch.next > std::mem::replace(next, batch.next);
        // A step without more events was given, with its frames that have none.
        let frames = if has_more { batch.frames } else { step.frames };
        self.given += frames.saturating_sub(*given);
        *given = frames.max(*given);
        self.lag.given(self.given);
        Ok(has_more.then_some(batch))
    }
}
