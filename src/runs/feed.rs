//! The feed: the frames of all streams in the order in which the log got them, and readers that follow it.
//!
//! In: how far each stream has come, after each batch. Out: the events of many runs in one contract, each with a cursor that
//! survives a reconnect. Never: an event twice or left out between two cursors, a queue for each reader, an order within a
//! run other than the run's own, a run that is dropped while a reader is behind and that it hears nothing of: the contract's
//! own notice stands where the run's last frame stood.
//!
//! A cursor is `EPOCH-POSITION-NTH`: the process that gave it, the frame's place among all frames, and which of the events of
//! that frame it was. One of another process says nothing here: its reader gets everything that is kept again.

mod steps;
#[cfg(test)]
mod tests;

use super::{Entry, Lag, Reader, Runs, Wire, follow::READ_BYTES, view::Read};
use crate::auth::Restriction;
use crate::clock::Moment;
use crate::log::{ByStream, LogError, StreamId};
use bytes::Bytes;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::dropped::Dropped;
use framegate_translators::encode::{EncoderOptions, Events};
use framegate_translators::frame::{Frame, Stream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use steps::{Gone, Step, Steps};
use tokio::sync::watch;
use uuid::Uuid;

/// How many events a reader takes at a time.
const READ_EVENTS: usize = 1024;

/// How many streams are read before those that are gone are taken out.
const READING: usize = 256;

/// The order of all frames.
#[derive(Debug)]
pub(super) struct Feed {
    epoch: String,
    steps: Mutex<Steps>,
    wake: watch::Sender<Progress>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    changes: u64,
    closed: bool,
    /// When the bytes arrived that the newest frames come of.
    arrived: Option<Moment>,
}

impl Feed {
    pub(super) fn new(epoch: String) -> Self {
        Self { epoch, steps: Mutex::default(), wake: watch::Sender::default() }
    }

    /// Frames are in the log.
    pub(super) fn append(&self, frames: &[Arc<Frame>], arrived: Moment) {
        self.steps().append(frames);
        self.wake.send_modify(|progress| {
            progress.changes += 1;
            progress.arrived = Some(arrived);
        });
    }

    /// A stream has so many frames from before, the first of which are gone. The last of those has a place, for the gap.
    pub(super) fn learn(&self, stream: StreamId, gone: u64, frames: u64) {
        self.steps().learn(stream, gone, frames);
    }

    /// The first so many of the stream's frames are gone. The place of the last of them stays, for the gap.
    pub(super) fn forget_front(&self, stream: StreamId, gone: u64) {
        self.steps().forget_front(stream, gone);
    }

    /// The stream's frames are gone.
    pub(super) fn forget(&self, entry: &Entry, at_ms: u64) {
        let mut steps = self.steps();
        let (frames, events) = (entry.tail.borrow().frames, entry.status().events_checked.clone());
        steps.forget(entry.stream.clone(), frames, events, at_ms);
    }

    /// How many streams were ever dropped.
    fn drops(&self) -> u64 {
        self.steps().drops
    }

    /// What is known of a stream that was dropped, where the step is its last one.
    fn gone_at(&self, step: &Step) -> Option<Arc<Gone>> {
        self.steps().gone_at(step).cloned()
    }

    /// Nothing more is waited for: readers end once they have read everything.
    pub(super) fn close(&self) {
        self.wake.send_modify(|progress| progress.closed = true);
    }

    /// How many frames there were.
    pub(super) fn frames(&self) -> u64 {
        self.steps().next
    }

    /// The place of a stream's frame among all frames; `None` where it is not kept.
    fn place_of(&self, stream: StreamId, seq: u64) -> Option<u64> {
        self.steps().place_of(stream, seq)
    }

    /// The step that has the frame at that place, or the next one that is kept.
    fn step_at(&self, position: u64) -> Option<Step> {
        self.steps().step_at(position)
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a reader of the feed goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The place of a frame among all frames.
    frame: u64,
    /// How many of its events were seen.
    seen: u32,
}

/// A text is no cursor of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor of a feed")]
pub struct NoCursor;

/// Which part of the feed a reader wants.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The runs of one session alone.
    pub session: Option<Uuid>,
    /// Events of these types alone.
    pub types: Option<Vec<String>>,
    /// What its reader may see.
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
    /// What a client gives back to go on after it.
    pub cursor: String,
    /// Its type.
    pub kind: &'static str,
    /// Its JSON, with a line end.
    pub line: Bytes,
}

impl Runs {
    /// Where the feed goes on after a cursor: `latest` is its end. `Ok(None)` where the cursor is of another process.
    ///
    /// # Errors
    /// It is no cursor.
    pub fn feed_position(&self, cursor: &str) -> Result<Option<Position>, NoCursor> {
        if cursor == "latest" {
            return Ok(Some(Position { frame: self.feed.steps().next, seen: 0 }));
        }
        let mut parts = cursor.split('-');
        let (Some(epoch), Some(frame), Some(nth), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(NoCursor);
        };
        let position = Position {
            frame: frame.parse().map_err(|_| NoCursor)?,
            seen: nth.parse::<u32>().ok().and_then(|nth| nth.checked_add(1)).ok_or(NoCursor)?,
        };
        Ok((epoch == self.feed.epoch).then_some(position))
    }

    /// Whether a stream of that session is kept that a reader may see.
    pub fn knows_session(&self, session: Uuid, restriction: &Restriction) -> bool {
        let known = self.streams.read().unwrap_or_else(PoisonError::into_inner);
        known.by_id.values().any(|entry| entry.stream.session.id == session && restriction.admits(&entry.stream))
    }
}

/// Follows the feed in one contract.
pub struct FeedFollower {
    runs: Arc<Runs>,
    scope: Scope,
    contract: &'static Contract,
    options: EncoderOptions,
    at: Position,
    /// The streams that are read and not over, and the next event of each.
    reading: ByStream<(Reader, u64)>,
    /// Of streams that were dropped before that many, nothing is said: whoever begins lacks nothing of them.
    told_from: u64,
    progress: watch::Receiver<Progress>,
    lag: Lag,
    live: Option<Moment>,
}

impl FeedFollower {
    /// Starts at a place.
    pub fn new(
        runs: Arc<Runs>,
        scope: Scope,
        contract: &'static Contract,
        options: EncoderOptions,
        at: Position,
    ) -> Self {
        let (progress, lag) = (runs.feed.wake.subscribe(), Lag::of_feed(&runs));
        lag.given(at.frame);
        let told_from = if at == Position::default() { runs.feed.drops() } else { 0 };
        Self { runs, scope, contract, options, at, reading: ByStream::default(), told_from, progress, lag, live: None }
    }

    /// How far it is behind.
    pub fn lag(&self) -> &Lag {
        &self.lag
    }

    /// When the bytes arrived of which the last events came that it waited for; `None` where they were there already.
    pub fn arrived(&self) -> Option<Moment> {
        self.live
    }

    /// The next events as bytes for the wire and their number, as soon as there are any; `None` when the feed was closed.
    ///
    /// # Errors
    /// The log's.
    pub async fn next(&mut self, wire: Wire) -> Result<Option<(Bytes, u64)>, LogError> {
        self.live = None;
        loop {
            let closed = self.progress.borrow_and_update().closed;
            let events = self.ready(READ_EVENTS).await?;
            self.lag.given(self.at.frame);
            if !events.is_empty() {
                return Ok(Some((self.written(&events, wire), events.len() as u64)));
            }
            if closed || self.progress.changed().await.is_err() {
                return Ok(None);
            }
            self.live = self.progress.borrow().arrived;
        }
    }

    /// The next events that are there, at most `max`; none where there are none yet.
    ///
    /// # Errors
    /// The log's.
    pub async fn ready(&mut self, max: usize) -> Result<Vec<FeedEvent>, LogError> {
        while let Some(step) = self.runs.feed.step_at(self.at.frame) {
            if step.start > self.at.frame {
                // What was between is not kept any more.
                self.at = Position { frame: step.start, seen: 0 };
            }
            let behind = Position { frame: step.start + step.count, seen: 0 };
            let runs = self.runs.clone();
            // The frame that it was in the midst of is not told as missed: its last event may be what it saw.
            let missed = step.first + (self.at.frame - step.start) + u64::from(self.at.seen > 0);
            let Some((reader, next)) = self.reader(&step).await? else {
                let notice = self.notice(&step, missed, 0);
                self.at = behind;
                if let Some(notice) = notice {
                    return Ok(vec![notice]);
                }
                continue;
            };
            let read = Read { from: *next, frames: step.first + step.count, max_bytes: READ_BYTES, max_events: max };
            let (placed, behind_them) = reader.events(&runs, read).await?;
            *next = behind_them;
            let tail = *reader.entry().tail().borrow();
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
            // A gap that was told late has no place in this step: it is behind the one before.
            let place = |frame: u64| match frame.checked_sub(step.first) {
                Some(nth) => step.start + nth,
                None => step.start.saturating_sub(1),
            };
            self.at = Position { frame: place(last.frame), seen: last.nth + 1 };
            let events: Vec<FeedEvent> = placed
                .into_iter()
                .filter(|event| self.scope.wants(event.kind))
                .map(|event| FeedEvent {
                    cursor: format!("{}-{}-{}", self.runs.feed.epoch, place(event.frame), event.nth),
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

    /// What is said at a step whose stream was dropped: once, with its last frame. `events` is how many of its events this
    /// reader was given.
    fn notice(&self, step: &Step, missed: u64, events: u64) -> Option<FeedEvent> {
        let gone = self.runs.feed.gone_at(step).filter(|gone| gone.nth >= self.told_from)?;
        if missed >= gone.frames || !self.scope.has(&gone.stream) {
            return None;
        }
        (self.contract.encoder)(&gone.stream, &self.options)?;
        let counted = gone.events.get(self.contract.name).copied().unwrap_or_default();
        let dropped = Dropped {
            stream: &gone.stream,
            frames: missed..gone.frames,
            events: counted.max(events),
            at_ms: gone.at_ms,
        };
        let mut out = Events::default();
        (self.contract.dropped)(&dropped, &mut out);
        let event = out.iter().next().filter(|event| self.scope.wants(event.kind))?;
        let line = [event.payload, b"\n"].concat().into();
        Some(FeedEvent { cursor: format!("{}-{}-0", self.runs.feed.epoch, gone.last), kind: event.kind, line })
    }

    /// The reader of a step's stream, and the number of the event to go on with; `None` where the step is not wanted.
    async fn reader(&mut self, step: &Step) -> Result<Option<&mut (Reader, u64)>, LogError> {
        if !self.reading.contains_key(&step.stream) {
            let Some(entry) = self.runs.find(step.stream).filter(|entry| self.sees(entry)) else { return Ok(None) };
            let Some(mut reader) = self.reader_of(&entry) else { return Ok(None) };
            if self.reading.len() >= READING {
                // The end of a run that was dropped meanwhile is never read.
                self.reading.retain(|stream, _| self.runs.find(*stream).is_some());
            }
            let frame = step.first + (self.at.frame - step.start);
            let next = match reader.at_frame(&self.runs, frame, self.at.seen).await {
                // Others of the feed have more to say.
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

    /// Whether the stream is part of what the reader wants and may see.
    pub(super) fn sees(&self, entry: &Entry) -> bool {
        self.scope.has(&entry.stream)
    }

    /// The types of events that it wants; `None`: all.
    pub(super) fn types(&self) -> Option<&[String]> {
        self.scope.types.as_deref()
    }

    /// Whether the reader begins behind that frame.
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
