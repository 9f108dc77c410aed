//! The feed: the frames of all streams in the order in which the log got them, and readers that follow it.
//!
//! Input: the appended frames, batch by batch. Output: the events of many runs in one contract, each with a cursor that
//! survives a reconnect. Never: an event repeated or left out between two cursors, a queue for each reader, or events of a run
//! in another order than the run's own. If a run is dropped before a reader has read it, the contract's own notice takes the
//! place of the run's last frame.
//!
//! A cursor is the position of a frame among all frames of the log, and which of that frame's events it was. It is sealed with
//! a key of the log ([`cursor`]). A log on disk outlives the process, and so do its cursors. If a cursor cannot be honoured,
//! the reader first gets an event that says so.

mod cursor;
mod index;
mod notices;
#[cfg(test)]
mod tests;

use super::{Entry, Lag, Reader, Runs, Wire, follow::READ_BYTES, view::Read};
use crate::auth::Restriction;
use crate::clock::Moment;
use crate::log::{ByStream, DroppedStream, LogError, Order, Run, StreamId};
use bytes::Bytes;
use cursor::Seal;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Frame, Stream};
use index::{FeedIndex, Gone, Step};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use uuid::Uuid;

/// How many events a reader takes at a time.
const READ_EVENTS: usize = 1024;

/// How many streams are read before readers of dropped streams are removed.
const READING: usize = 256;

/// The order of all frames.
#[derive(Debug)]
pub(super) struct Feed {
    seal: Seal,
    /// Streams whose last frame is before this position may have been dropped without a record of it.
    forgotten: u64,
    /// Streams that were dropped before the process began. Held here until all kept streams are registered.
    dropped: Mutex<Vec<DroppedStream>>,
    steps: Mutex<FeedIndex>,
    wake: watch::Sender<Progress>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    changes: u64,
    closed: bool,
    /// When the bytes of the newest frames arrived.
    arrived: Option<Moment>,
}

impl Feed {
    pub(super) fn new(order: Order) -> Self {
        let Order { secret, next, forgotten, dropped } = order;
        let steps = Mutex::new(FeedIndex { next, ..FeedIndex::default() });
        let dropped = Mutex::new(dropped);
        Self { seal: Seal::new(secret), forgotten, dropped, steps, wake: watch::Sender::default() }
    }

    /// Records frames that the log has, from position `place` on. `abandoned` are the positions and counts of frames whose
    /// appender was cancelled, so nothing else announces them.
    pub(super) fn append(&self, place: u64, frames: &[Arc<Frame>], abandoned: Vec<(u64, u64)>, arrived: Moment) {
        {
            let mut steps = self.steps();
            abandoned.into_iter().for_each(|(place, frames)| steps.abandon(place, frames));
            steps.append(place, frames);
        }
        self.wake.send_modify(|progress| {
            progress.changes += 1;
            progress.arrived = Some(arrived);
        });
    }

    /// Registers a stream that was kept before. If its front was pruned, `gone` is the position and the number of the last
    /// pruned frame.
    pub(super) fn learn(&self, stream: StreamId, gone: Option<(u64, u64)>, runs: &[Run]) {
        self.steps().learn(stream, gone, runs);
    }

    /// Called once all streams that were kept before are registered.
    pub(super) fn learnt(&self) {
        let dropped = std::mem::take(&mut *self.dropped.lock().unwrap_or_else(PoisonError::into_inner));
        self.steps().learnt(dropped);
    }

    /// As [`Feed::learnt`], for a log that several proxies share. `next` is the position behind everything that is known.
    pub(super) fn learnt_shared(&self, dropped: Vec<DroppedStream>, next: u64) {
        let mut steps = self.steps();
        steps.learnt(dropped);
        steps.next = next;
    }

    /// Takes in frames of a log that several proxies share. They come in the order of their positions.
    pub(super) fn heard(&self, stream: StreamId, run: Run, arrived: Moment) {
        self.steps().publish(Step { stream, start: run.position, first: run.seq, count: run.frames });
        self.wake.send_modify(|progress| {
            progress.changes += 1;
            progress.arrived = Some(arrived);
        });
    }

    fn cursor(&self, place: u64, nth: u32) -> String {
        self.seal.seal(place, nth)
    }

    /// Removes the first `gone` frames of the stream. The position of the last of them stays, for the gap event.
    pub(super) fn forget_pruned(&self, stream: StreamId, gone: u64) {
        self.steps().forget_pruned(stream, gone);
    }

    /// Removes all frames of a dropped stream.
    pub(super) fn forget(&self, entry: &Entry, at_ms: u64) {
        let mut steps = self.steps();
        let (frames, events) = (entry.tail.borrow().frames, entry.status().events_checked.clone());
        steps.forget(entry.stream.clone(), frames, events, at_ms);
    }

    /// How many streams have been dropped so far.
    fn drops(&self) -> u64 {
        self.steps().drops
    }

    /// The record of a dropped stream, if `step` is its last step.
    fn gone_at(&self, step: &Step) -> Option<Arc<Gone>> {
        self.steps().gone_at(step).cloned()
    }

    /// Closes the feed: readers end once they have read everything.
    pub(super) fn close(&self) {
        self.wake.send_modify(|progress| progress.closed = true);
    }

    /// The position of the next frame.
    pub(super) fn frames(&self) -> u64 {
        self.steps().next
    }

    /// The position of a stream's frame among all frames; `None` if it is not kept.
    fn place_of(&self, stream: StreamId, seq: u64) -> Option<u64> {
        self.steps().place_of(stream, seq)
    }

    /// The step that has the frame at that position, or else the next step that is kept.
    fn step_at(&self, position: u64) -> Option<Step> {
        self.steps().step_at(position)
    }

    fn steps(&self) -> MutexGuard<'_, FeedIndex> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a reader of the feed resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The position of a frame among all frames.
    frame: u64,
    /// How many of its events the reader has seen.
    seen: u32,
    /// It is not known which events the reader has already seen.
    is_lost: bool,
}

impl Position {
    /// The start of everything that is kept, for a reader with a cursor that cannot be used here.
    pub const LOST: Self = Self { frame: 0, seen: 0, is_lost: true };
}

/// The text is not a cursor of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a cursor of a feed")]
pub struct NoCursor;

/// Which part of the feed a reader wants.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Only the runs of this session.
    pub session: Option<Uuid>,
    /// Only events of these types.
    pub types: Option<Vec<String>>,
    /// What the reader may see.
    pub restriction: Arc<Restriction>,
}

impl Scope {
    fn has(&self, stream: &Stream) -> bool {
        self.session.is_none_or(|id| stream.session.id == id) && self.restriction.admits(stream)
    }

    fn wants(&self, kind: &str) -> bool {
        self.types.as_ref().is_none_or(|types| types.iter().any(|one| one == kind))
    }
}

/// One event of the feed.
#[derive(Debug)]
pub struct FeedEvent {
    /// The cursor with which a client resumes after this event.
    pub cursor: String,
    /// The event's type.
    pub kind: &'static str,
    /// The event's JSON, with a line end.
    pub line: Bytes,
}

impl Runs {
    /// Where the feed resumes after a cursor; `latest` is the end of the feed. A cursor of another log, or of a position that
    /// this log never reached, starts at everything that is kept, after an event that says so.
    ///
    /// # Errors
    /// The text is not a cursor.
    pub fn feed_position(&self, cursor: &str) -> Result<Position, NoCursor> {
        let next = self.feed.frames();
        if cursor == "latest" {
            return Ok(Position { frame: next, ..Position::default() });
        }
        let Some((frame, nth)) = self.feed.seal.open(cursor)?.filter(|(frame, _)| *frame < next) else {
            return Ok(Position::LOST);
        };
        let is_lost = frame > 0 && frame < self.feed.forgotten;
        Ok(Position { frame, seen: nth.checked_add(1).ok_or(NoCursor)?, is_lost })
    }

    /// Whether a stream of that session is kept and the reader may see it.
    pub fn knows_session(&self, session: Uuid, restriction: &Restriction) -> bool {
        self.registry.any(|entry| entry.stream.session.id == session && restriction.admits(&entry.stream))
    }
}

/// The result of a read; `None` if the stream was dropped. In that case the runs have forgotten the stream on return.
async fn settled<T>(runs: &Runs, read: Result<T, LogError>) -> Result<Option<T>, LogError> {
    match read {
        Err(LogError::Dropped { .. }) => {
            runs.forget_dropped().await;
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Follows the feed in one contract.
pub struct FeedFollower {
    runs: Arc<Runs>,
    scope: Scope,
    contract: &'static Contract,
    options: EncoderOptions,
    at: Position,
    /// The streams that are being read and are not over, each with the number of its next event.
    reading: ByStream<(Reader, u64)>,
    /// Drops before this ordinal predate the reader and are not reported to it.
    told_from: u64,
    progress: watch::Receiver<Progress>,
    lag: Lag,
    live: Option<Moment>,
    /// How many more events are wanted; `None` means all.
    left: Option<usize>,
    was_cut: bool,
}

impl FeedFollower {
    /// Starts at a position.
    pub fn new(
        runs: Arc<Runs>,
        scope: Scope,
        contract: &'static Contract,
        options: EncoderOptions,
        at: Position,
    ) -> Self {
        let (progress, lag) = (runs.feed.wake.subscribe(), Lag::of_feed(&runs));
        lag.given(at.frame);
        let told_from = if at.frame == 0 { runs.feed.drops() } else { 0 };
        Self {
            runs,
            scope,
            contract,
            options,
            at,
            reading: ByStream::default(),
            told_from,
            progress,
            lag,
            live: None,
            left: None,
            was_cut: false,
        }
    }

    /// Ends after `limit` events.
    #[must_use]
    pub fn within(self, limit: Option<usize>) -> Self {
        Self { left: limit, ..self }
    }

    /// Whether it ended because the feed was closed.
    pub fn was_cut(&self) -> bool {
        self.was_cut
    }

    /// The cursor of the position that this follower has reached; `None` at the start of the feed.
    pub fn cursor(&self) -> Option<String> {
        let (frame, nth) = match self.at.seen.checked_sub(1) {
            Some(nth) => (self.at.frame, nth),
            // All events of the frame before it count as seen.
            None => (self.at.frame.checked_sub(1)?, u32::MAX - 1),
        };
        Some(self.runs.feed.cursor(frame, nth))
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

    /// Waits for the next events. Returns their bytes for the wire and their number; `None` once the feed is closed.
    ///
    /// # Errors
    /// The log's error.
    pub async fn next(&mut self, wire: Wire) -> Result<Option<(Bytes, u64)>, LogError> {
        self.live = None;
        loop {
            if self.left == Some(0) {
                return Ok(None);
            }
            let closed = self.progress.borrow_and_update().closed;
            let events = self.ready(self.left.unwrap_or(READ_EVENTS).min(READ_EVENTS)).await?;
            self.lag.given(self.at.frame);
            if !events.is_empty() {
                self.left = self.left.map(|left| left.saturating_sub(events.len()));
                return Ok(Some((self.written(&events, wire), events.len() as u64)));
            }
            if closed || self.progress.changed().await.is_err() {
                self.was_cut = true;
                return Ok(None);
            }
            self.live = self.progress.borrow().arrived;
        }
    }

    /// The next available events, at most `max`; empty if there are none yet.
    ///
    /// # Errors
    /// The log's error.
    pub async fn ready(&mut self, max: usize) -> Result<Vec<FeedEvent>, LogError> {
        if std::mem::take(&mut self.at.is_lost)
            && let Some(notice) = self.lost()
        {
            return Ok(vec![notice]);
        }
        while let Some(step) = self.runs.feed.step_at(self.at.frame) {
            if step.start > self.at.frame {
                // The frames before this step are not kept any more.
                self.at = Position { frame: step.start, ..Position::default() };
            }
            let behind = Position { frame: step.start + step.count, ..Position::default() };
            let runs = self.runs.clone();
            // A partly read frame is not reported as missed: its last event may be the one that the reader saw.
            let missed = step.first + (self.at.frame - step.start) + u64::from(self.at.seen > 0);
            let Some((reader, next)) = settled(&runs, self.reader(&step).await).await?.flatten() else {
                let notice = self.notice(&step, missed, 0);
                self.at = behind;
                if let Some(notice) = notice {
                    return Ok(vec![notice]);
                }
                continue;
            };
            let read = Read { from: *next, frames: step.first + step.count, max_bytes: READ_BYTES, max_events: max };
            let tail = *reader.entry().tail().borrow();
            let found = match reader.events(&runs, read).await {
                Err(error) if error.damage().is_some() => {
                    // The other streams of the feed go on.
                    let (entry, events) = (reader.entry().clone(), *next);
                    tracing::debug!(stream = %entry.stream.id, %error, "a stream of the feed cannot be read");
                    self.reading.remove(&step.stream);
                    self.at = behind;
                    let frames = missed..step.first + step.count;
                    match self.unreadable(&entry.stream, frames, events, step.start + step.count - 1) {
                        Some(notice) => return Ok(vec![notice]),
                        None => continue,
                    }
                }
                found => settled(&runs, found).await?,
            };
            let (placed, behind_them) = found.unwrap_or((Vec::new(), *next));
            *next = behind_them;
            let Some(last) = placed.last() else {
                let (events, is_dropped) = (*next, runs.find(step.stream).is_none());
                let notice = if is_dropped { self.notice(&step, missed, events) } else { None };
                self.at = behind;
                if let Some(notice) = notice {
                    self.reading.remove(&step.stream);
                    return Ok(vec![notice]);
                }
                if tail.ended && tail.frames <= step.first + step.count {
                    self.reading.remove(&step.stream);
                }
                continue;
            };
            // A gap event that is sent late has no position in this step: it belongs to the position before.
            let place = |frame: u64| match frame.checked_sub(step.first) {
                Some(nth) => step.start + nth,
                None => step.start.saturating_sub(1),
            };
            self.at = Position { frame: place(last.frame), seen: last.nth + 1, is_lost: false };
            let events: Vec<FeedEvent> = placed
                .into_iter()
                .filter(|event| self.scope.wants(event.kind))
                .map(|event| FeedEvent {
                    cursor: self.runs.feed.cursor(place(event.frame), event.nth),
                    kind: event.kind,
                    line: event.line,
                })
                .collect();
            if !events.is_empty() {
                return Ok(events);
            }
        }
        Ok(Vec::new())
    }

    /// The reader of a step's stream, and the number of its next event; `None` if the step is not wanted.
    async fn reader(&mut self, step: &Step) -> Result<Option<&mut (Reader, u64)>, LogError> {
        if !self.reading.contains_key(&step.stream) {
            let Some(entry) = self.runs.find(step.stream).filter(|entry| self.sees(entry)) else { return Ok(None) };
            let Some(mut reader) = self.reader_of(&entry) else { return Ok(None) };
            if self.reading.len() >= READING {
                // The reader of a dropped run never reaches the run's end, so it would stay here.
                self.reading.retain(|stream, _| self.runs.find(*stream).is_some());
            }
            let frame = step.first + (self.at.frame - step.start);
            let next = match reader.at_frame(&self.runs, frame, self.at.seen).await {
                // The other streams of the feed go on.
                Err(LogError::Untold { .. }) => return Ok(None),
                next => next?,
            };
            self.reading.insert(step.stream, (reader, next));
        }
        Ok(self.reading.get_mut(&step.stream))
    }

    pub(super) fn runs(&self) -> &Arc<Runs> {
        &self.runs
    }

    /// Whether the reader wants the stream and may see it.
    pub(super) fn sees(&self, entry: &Entry) -> bool {
        self.scope.has(&entry.stream)
    }

    /// The types of events that the reader wants; `None` means all.
    pub(super) fn types(&self) -> Option<&[String]> {
        self.scope.types.as_deref()
    }

    /// Whether the reader starts after that frame.
    pub(super) fn is_behind(&self, stream: StreamId, seq: u64) -> bool {
        self.runs.feed.place_of(stream, seq).is_some_and(|place| place < self.at.frame)
    }

    pub(super) fn reader_of(&self, entry: &Arc<Entry>) -> Option<Reader> {
        self.runs.reader(entry, self.contract, &self.options)
    }

    fn written(&self, events: &[FeedEvent], wire: Wire) -> Bytes {
        let mut out = Vec::with_capacity(events.iter().map(|event| event.line.len() + 64).sum());
        for event in events {
            if wire == Wire::Sse {
                out.extend_from_slice(format!("id: {}\n", event.cursor).as_bytes());
                if self.contract.sse == SseStyle::Named {
                    out.extend_from_slice(format!("event: {}\n", event.kind).as_bytes());
                }
                out.extend_from_slice(b"data: ");
                out.extend_from_slice(&event.line);
                out.push(b'\n');
            } else {
                out.extend_from_slice(&event.line);
            }
        }
        Bytes::from(out)
    }
}
