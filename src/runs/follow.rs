//! Readers that follow streams: replay first, then live, in one motion.
//!
//! In: the tail of a stream, and its view. Out: batches of bytes, then the end. Never: a gap or a repeat between replay and
//! live (there is no switch: both read the log by number), a queue for each reader.

use super::{Ask, Batch, Entry, Reader, Runs, Tail, Wire};
use crate::log::LogError;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EncoderOptions;
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
    wire: Wire,
    next: u64,
}

impl Follower {
    /// Starts at the event with that number.
    pub fn new(runs: Arc<Runs>, reader: Reader, wire: Wire, from: u64) -> Self {
        let tail = reader.entry().tail();
        Self { runs, reader, tail, wire, next: from }
    }

    /// The next events, as soon as there are any; `None` when the stream is over and all was read.
    ///
    /// # Errors
    /// The log's.
    pub async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        loop {
            let tail = *self.tail.borrow_and_update();
            let batch = self.reader.read(&self.runs, ask(self.next, tail.frames, self.wire)).await?;
            if batch.next > self.next {
                self.next = batch.next;
                return Ok(Some(batch));
            }
            // The sender lives as long as the entry, which this reader keeps alive.
            if tail.ended || self.tail.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// Whether nothing is left to read, now and for ever.
    ///
    /// # Errors
    /// The log's.
    pub async fn is_over(&mut self) -> Result<bool, LogError> {
        let tail = *self.tail.borrow();
        let one = Ask { max_bytes: 1, max_events: 1, ..ask(self.next, tail.frames, self.wire) };
        let batch = self.reader.read(&self.runs, one).await?;
        Ok(tail.ended && batch.next == self.next)
    }
}

/// What one ingest made, in order: how far each stream had come when another one's turn came.
#[derive(Clone, Default)]
pub struct Ingested {
    steps: Arc<Mutex<Vec<Step>>>,
    wake: Arc<watch::Sender<Progress>>,
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
}

impl Ingested {
    /// Notes that a stream has come to `frames`. Steps of one stream in a row are one step, which grows.
    pub fn step(&self, entry: &Arc<Entry>, frames: u64) {
        let mut steps = self.steps();
        match steps.last_mut() {
            Some(last) if Arc::ptr_eq(&last.entry, entry) => last.frames = frames,
            _ => steps.push(Step { entry: entry.clone(), frames }),
        }
    }

    /// Wakes the readers; with `ended`, nothing more comes.
    pub fn wake(&self, ended: bool) {
        self.wake.send_modify(|progress| {
            progress.changes += 1;
            progress.ended = ended;
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
        let progress = self.wake.subscribe();
        IngestFollower { runs, ingested: self.clone(), progress, contract, options, wire, at: 0, reading: Vec::new() }
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
    contract: &'static Contract,
    options: EncoderOptions,
    wire: Wire,
    /// The step that is read. The last one may still grow, so it is not left behind.
    at: usize,
    /// The streams that are read, and the next event of each.
    reading: Vec<(Reader, u64)>,
}

impl IngestFollower {
    /// The next events, as soon as there are any; `None` when the ingest is over and all was read.
    ///
    /// # Errors
    /// The log's.
    pub async fn next(&mut self) -> Result<Option<Batch>, LogError> {
        loop {
            let ended = self.progress.borrow_and_update().ended;
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
            if ended || self.progress.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    async fn read(&mut self, step: &Step) -> Result<Option<Batch>, LogError> {
        let entry = &step.entry;
        let at = match self.reading.iter().position(|(reader, _)| Arc::ptr_eq(reader.entry(), entry)) {
            Some(at) => at,
            None => {
                let Some(reader) = self.runs.reader(entry, self.contract, &self.options) else { return Ok(None) };
                self.reading.push((reader, 0));
                self.reading.len() - 1
            }
        };
        let Some((reader, next)) = self.reading.get_mut(at) else { return Ok(None) };
        let batch = reader.read(&self.runs, ask(*next, step.frames, self.wire)).await?;
        Ok((batch.next > std::mem::replace(next, batch.next)).then_some(batch))
    }
}
