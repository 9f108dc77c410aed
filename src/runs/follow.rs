//! Readers that follow streams: replay first, then live, without a switch.
//!
//! Input: the tail of a stream, and its view. Output: batches of bytes, then the end. Never: a gap or a repeat between replay
//! and live (both read the log by number), or a queue for each reader.

use super::{Ask, Batch, Lag, Reader, Runs, Tail, Wire};
use crate::clock::{Clock, Moment};
use crate::log::LogError;
use framegate_translators::contracts::SseStyle;
use framegate_translators::dropped::Dropped;
use framegate_translators::encode::{Events, write_ndjson, write_sse};
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::watch;

/// How many bytes a reader takes at a time. This is the memory cost of a slow client.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// How many events a reader takes at a time.
const READ_EVENTS: usize = 4096;

pub(super) fn ask(from: u64, frames: u64, wire: Wire) -> Ask<'static> {
    Ask { from, frames, wire, max_bytes: READ_BYTES, max_events: READ_EVENTS, types: None }
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
    /// Only events of these types; `None`: all.
    types: Option<Vec<String>>,
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
            types: None,
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

    /// Leaves out events of other types.
    #[must_use]
    pub fn only(self, types: Option<Vec<String>>) -> Self {
        Self { types, ..self }
    }

    /// Reads the first batch, so that an error can still be the whole answer.
    ///
    /// # Errors
    /// The log's error; [`LogError::Dropped`] if the stream was dropped in the meantime.
    pub async fn begin(&mut self) -> Result<(), LogError> {
        let frames = self.tail.borrow().frames;
        let batch = self.read_up_to(frames).await?;
        if batch.lost {
            return Err(LogError::Gone { stream: self.reader.entry().stream.id, frames: batch.frames });
        }
        self.begun = Some(batch).filter(|batch| batch.next > self.next);
        Ok(())
    }

    /// The next events of the frames before number `frames`.
    async fn read_up_to(&mut self, frames: u64) -> Result<Batch, LogError> {
        let max_events = self.left.map_or(READ_EVENTS, |left| left.clamp(1, READ_EVENTS));
        let ask = Ask { max_events, types: self.types.as_deref(), ..ask(self.next, frames, self.wire) };
        self.reader.read(&self.runs, ask).await
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
            None => match self.read_up_to(tail.frames).await {
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
        // Only events of other types.
        Ok(Some(batch).filter(|batch| batch.events > 0))
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
            let wants = Ask { types: self.types.as_deref(), ..ask(next, tail.frames, self.wire) };
            let batch = self.reader.read(&self.runs, wants).await?;
            if batch.lost || (batch.events > 0 && batch.last_id.is_some()) {
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
pub(super) fn notice(reader: &Reader, frames: Range<u64>, events: u64, wire: Wire) -> Option<Batch> {
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
