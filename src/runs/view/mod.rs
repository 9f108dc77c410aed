//! The events of one stream in one contract: encoded, validated and serialised once, however many readers there are.
//!
//! Input: frames from the log, read when a reader wants events that are not encoded yet. Output: bytes for the wire, shared by
//! all readers. Never: an encoding that no reader asked for, a copy for each reader, a reader held up by another reader's
//! socket, or memory that grows with the length of the stream.
//!
//! Readers share one window of events, which moves along with the newest reader. A reader that lags behind the window encodes
//! for itself, from the nearest checkpoint, until it has caught up.

mod gap;
#[cfg(test)]
mod pause_tests;
#[cfg(test)]
mod tests;
mod window;

use super::checkpoints::SharedCheckpoints;
use super::{Entry, Runs};
use crate::log::{CheckpointAt, LogError};
use crate::telemetry::metrics::Metrics;
use bytes::Bytes;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EventId;
use gap::Gap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use tokio::sync::Mutex;
use window::{Broken, OWN_BATCH_BYTES, SHARED_BATCH_BYTES, Window};

/// How often a reader tries again if the front of its stream was pruned while it read. Pruning is rare.
const TRIES: usize = 100;

/// The wire format of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Server-sent events.
    Sse,
    /// One event per line.
    Ndjson,
}

/// State shared by the readers of one stream in one contract.
pub(super) struct View {
    contract: &'static Contract,
    entry: Arc<Entry>,
    checkpoints: SharedCheckpoints,
    /// How many bytes of events the shared window keeps for readers that are close to the newest one.
    max_bytes: usize,
    shared: Mutex<Option<Window>>,
    /// The gap before the kept part, as last computed.
    gap: std::sync::Mutex<Option<Arc<Gap>>>,
}

/// Reads the events of one stream in one contract.
pub struct Reader {
    view: Arc<View>,
    /// The reader's own window, while the shared one does not serve it.
    own: Option<Box<Window>>,
}

/// Which events a reader wants.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The number of the first event.
    pub from: u64,
    /// Only events that come from frames before this one.
    pub frames: u64,
    /// The wire format.
    pub wire: Wire,
    /// Approximate maximum of bytes. At least one event is always returned.
    pub max_bytes: usize,
    /// Maximum number of events.
    pub max_events: usize,
}

/// Which events a reader of single events wants. The fields are those of [`Ask`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) from: u64,
    pub(super) frames: u64,
    pub(super) max_bytes: usize,
    pub(super) max_events: usize,
}

/// One event, with the frame that it comes from.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) kind: &'static str,
    pub(super) frame: u64,
    pub(super) nth: u32,
    /// The event's JSON, with a line end.
    pub(super) line: Bytes,
}

/// Some events, ready for the wire.
#[derive(Debug, Default)]
pub struct Batch {
    /// The bytes, in order.
    pub chunks: Vec<Bytes>,
    /// The number after the last event.
    pub next: u64,
    /// The number after the frame that the last event comes from.
    pub frames: u64,
    /// The number of events.
    pub events: u64,
    /// The cursor of the last event that has one.
    pub last_id: Option<EventId>,
    /// Whether the last event has a cursor, so that a reader can resume after it.
    pub ends_on_id: bool,
    /// The requested events are gone, and the contract has no event that says so. `next` is the first kept event.
    pub lost: bool,
}

impl View {
    pub(super) fn new(
        contract: &'static Contract,
        checkpoints: SharedCheckpoints,
        entry: Arc<Entry>,
        max_bytes: usize,
    ) -> Self {
        Self { contract, entry, checkpoints, max_bytes, shared: Mutex::new(None), gap: std::sync::Mutex::default() }
    }

    async fn start(&self, runs: &Runs, at: CheckpointAt) -> Result<Option<Box<Window>>, LogError> {
        let point = self.checkpoints.start(runs, &self.entry, &at).await?;
        Ok(point.map(|point| Box::new(Window::at(point))))
    }

    /// The gap before the kept part; `None` if the stream is complete.
    async fn gap(&self, runs: &Runs) -> Result<Option<Arc<Gap>>, LogError> {
        let Some(gone) = self.entry.gone() else { return Ok(None) };
        let known = self.gap.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|gap| gap.gone == gone) {
            return Ok(Some(known));
        }
        let gap = Arc::new(Gap::find(runs, &self.entry, self.contract, &self.checkpoints, gone).await?);
        *self.gap.lock().unwrap_or_else(PoisonError::into_inner) = Some(gap.clone());
        Ok(Some(gap))
    }

    async fn advance(&self, window: &mut Window, runs: &Runs, batch_bytes: usize) -> Result<bool, LogError> {
        let more = window.advance(self, runs, batch_bytes).await.inspect_err(|error| self.entry.note_damage(error))?;
        if window.is_between_frames() {
            self.checkpoints.note_at(window.next_frame(), window.held_bytes(), || window.resume_point());
        }
        Ok(more)
    }

    /// Logs and counts what the gate found, once for each run and contract. Events that were encoded before, freed and encoded
    /// again are not counted again. `checked` is the number of events checked so far.
    fn count(&self, checked: u64, broken: &[Broken], metrics: &Metrics) {
        let mut status = self.entry.status();
        let contract = self.contract.name;
        let before = status.events_checked.entry(contract).or_default();
        let told = *before;
        *before = told.max(checked);
        metrics.checked(contract, checked.saturating_sub(told));
        if checked > told {
            self.entry.has_counted.store(true, Ordering::Relaxed);
        }
        for Broken { number, seq, kind, withheld, violations } in broken {
            if *number < told {
                continue;
            }
            metrics.broke(contract, *withheld);
            *status.validation_failures.entry(contract).or_default() += 1;
            if *withheld {
                *status.events_withheld.entry(contract).or_default() += 1;
            }
            for violation in violations {
                tracing::warn!(
                    run = %status.run_id, session = %status.session_id, runner = status.runner, contract, seq, event = kind, withheld,
                    pointer = violation.pointer, keyword = violation.keyword,
                    "the event violates its schema: {}", violation.message
                );
            }
        }
    }
}

impl Reader {
    pub(super) fn new(view: Arc<View>) -> Self {
        Self { view, own: None }
    }

    /// The contract of the events.
    pub fn contract(&self) -> &'static Contract {
        self.view.contract
    }

    /// The stream of the events.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.view.entry
    }

    /// Returns the requested events.
    ///
    /// # Errors
    /// The log's error.
    pub async fn read(&mut self, runs: &Runs, ask: Ask) -> Result<Batch, LogError> {
        let wants = Read { from: ask.from, frames: ask.frames, max_bytes: ask.max_bytes, max_events: ask.max_events };
        for _ in 0..TRIES {
            if let Some(gap) = self.gap_at(runs, ask.from).await? {
                return Ok(gap.batch(ask));
            }
            match self.over(runs, wants, |window| window.batch(ask)).await {
                Err(LogError::Gone { .. }) => tokio::task::yield_now().await,
                batch => return Ok(batch?.unwrap_or(Batch { next: ask.from, ..Batch::default() })),
            }
        }
        Err(self.gone())
    }

    /// The gap, if the event with that number is in it. `None` if a window in memory still leads from that event to the kept
    /// part.
    async fn gap_at(&mut self, runs: &Runs, from: u64) -> Result<Option<Arc<Gap>>, LogError> {
        let view = self.view.clone();
        let Some(gap) = view.gap(runs).await?.filter(|gap| from < gap.event) else { return Ok(None) };
        let has = |window: &Window| window.first() <= from && window.next_frame() >= gap.gone.frames;
        let is_there = self.own.as_deref().is_some_and(has) || view.shared.lock().await.as_ref().is_some_and(has);
        Ok((!is_there).then_some(gap))
    }

    fn gone(&self) -> LogError {
        let stream = self.view.entry.stream.id;
        LogError::Gone { stream, frames: self.view.entry.gone().map_or(0, |gone| gone.frames) }
    }

    /// Whether the event with that number is gone and the contract has no event that says so. If so, returns the last cursor in
    /// the pruned part, if any: everything after that cursor is kept.
    ///
    /// # Errors
    /// The log's error.
    pub async fn lost(&mut self, runs: &Runs, from: u64) -> Result<Option<Option<EventId>>, LogError> {
        let gap = self.gap_at(runs, from).await?.filter(|gap| !gap.is_told());
        Ok(gap.map(|gap| gap.last.clone().map(|(id, _)| id)))
    }

    /// Returns single events, and the number after the last of them.
    ///
    /// # Errors
    /// The log's error.
    pub(super) async fn events(&mut self, runs: &Runs, read: Read) -> Result<(Vec<Single>, u64), LogError> {
        let mut read = read;
        for _ in 0..TRIES {
            if let Some(gap) = self.gap_at(runs, read.from).await? {
                if read.frames < gap.gone.frames {
                    return Ok((Vec::new(), read.from));
                }
                if let Some(single) = gap.single() {
                    return Ok((vec![single], gap.event));
                }
                // The feed has many runs. If the contract has no gap event, one pruned run does not end the feed.
                read.from = gap.event;
            }
            match self.over(runs, read, |window| window.singles(read)).await {
                Err(LogError::Gone { .. }) => tokio::task::yield_now().await,
                found => {
                    let found = found?.unwrap_or_default();
                    let next = read.from + found.len() as u64;
                    return Ok((found, next));
                }
            }
        }
        Err(self.gone())
    }

    /// Calls `take` with a window that holds the wanted events, as far as the log has them. `None` if there is no starting
    /// point (cannot happen).
    async fn over<T>(
        &mut self,
        runs: &Runs,
        wants: Read,
        take: impl FnOnce(&Window) -> T,
    ) -> Result<Option<T>, LogError> {
        let Read { from, frames, max_bytes, max_events } = wants;
        let view = self.view.clone();
        loop {
            let mut shared = view.shared.lock().await;
            let is_behind = shared.as_ref().is_some_and(|shared| from < shared.first());
            if is_behind {
                // The events are before the shared window: the reader encodes for itself and holds no other reader up.
                drop(shared);
                break;
            }
            if shared.as_ref().is_none_or(|shared| shared.next() < from) {
                // The shared window is far behind, or there is none: this reader provides its own window as the shared one.
                let own = self.own.take().filter(|own| own.first() <= from && from <= own.next());
                let window = match own {
                    Some(own) => own,
                    None => match view.start(runs, CheckpointAt::Event(from)).await? {
                        Some(window) => window,
                        None => return Ok(None),
                    },
                };
                if window.next() < from {
                    drop(shared);
                    self.own = Some(window);
                    break;
                }
                *shared = Some(*window);
            }
            self.own = None;
            let Some(window) = shared.as_mut() else { continue };
            window.pause(&view, runs);
            let is_done = window.next_frame() >= frames || window.has(from, max_bytes, max_events);
            if is_done {
                return Ok(Some(take(window)));
            }
            match view.advance(window, runs, SHARED_BATCH_BYTES).await {
                Ok(true) => {}
                Ok(false) => return Ok(Some(take(window))),
                // Events that are already encoded are returned first, even if the rest cannot be read.
                Err(_) if from < window.next() => return Ok(Some(take(window))),
                Err(error) => {
                    // This window cannot be advanced. The next reader starts again from a checkpoint.
                    *shared = None;
                    return Err(error);
                }
            }
            // The lock is released between two batches, so that other readers do not wait for a long catch-up.
            window.trim(from, view.max_bytes);
        }
        let own = self.own.take().filter(|own| own.first() <= from);
        let mut window = match own {
            Some(own) => own,
            None => match view.start(runs, CheckpointAt::Event(from)).await? {
                Some(window) => window,
                None => return Ok(None),
            },
        };
        window.trim(from, 0);
        loop {
            window.pause(&view, runs);
            if window.next_frame() >= frames || window.has(from, max_bytes, max_events) {
                break;
            }
            match view.advance(&mut window, runs, OWN_BATCH_BYTES).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) if from < window.next() => break,
                Err(error) => return Err(error),
            }
            window.trim(from, 0);
        }
        let taken = take(&window);
        self.own = Some(window);
        Ok(Some(taken))
    }

    /// The number of the first event after a cursor. `None` if no event has that cursor.
    ///
    /// # Errors
    /// The log's error.
    pub async fn after(&mut self, runs: &Runs, cursor: &EventId) -> Result<Option<u64>, LogError> {
        let cursor = &match cursor {
            EventId::Closing(number) => EventId::Number(*number),
            cursor => cursor.clone(),
        };
        for _ in 0..TRIES {
            let view = self.view.clone();
            if let Some(next) = view.gap(runs).await?.and_then(|gap| gap.after(cursor)) {
                return Ok(Some(next));
            }
            match self.after_kept(runs, cursor).await {
                Err(LogError::Gone { .. }) => tokio::task::yield_now().await,
                next => return next,
            }
        }
        Err(self.gone())
    }

    async fn after_kept(&mut self, runs: &Runs, cursor: &EventId) -> Result<Option<u64>, LogError> {
        let view = self.view.clone();
        let Some(mut window) = view.start(runs, CheckpointAt::Cursor(cursor.clone())).await? else { return Ok(None) };
        // Cursors increase, and an event without a cursor belongs to the last event before it that has one. So everything
        // after the last cursor that is not beyond the requested one is new to the reader, with or without a cursor.
        let mut last = window.resume_point().last;
        let mut from = window.next();
        loop {
            let more = view.advance(&mut window, runs, OWN_BATCH_BYTES).await?;
            let is_beyond = window.find(from, |id, number| match (id, cursor) {
                (EventId::Number(id), EventId::Number(seen)) if id > seen => Some(()),
                (EventId::Text(id), EventId::Text(seen)) if id > seen => Some(()),
                (EventId::None | EventId::Closing(_), _) => None,
                _ => {
                    last = Some((id.clone(), number));
                    None
                }
            });
            from = window.next();
            if is_beyond.is_some() || !more {
                break;
            }
            window.trim(last.as_ref().map_or(0, |(_, number)| number + 1), 0);
        }
        let next = last.as_ref().map_or(window.first().min(from), |(_, number)| number + 1);
        let is_known = matches!(cursor, EventId::Number(_)) || last.as_ref().is_some_and(|(id, _)| id == cursor);
        self.own = Some(window);
        Ok(is_known.then_some(next))
    }

    /// The number of the first event that comes from that frame or a later one, not counting the first `seen` events of that
    /// frame.
    ///
    /// # Errors
    /// The log's error.
    pub(super) async fn at_frame(&mut self, runs: &Runs, frame: u64, seen: u32) -> Result<u64, LogError> {
        for _ in 0..TRIES {
            let view = self.view.clone();
            if let Some(gap) = view.gap(runs).await?.filter(|gap| frame < gap.gone.frames) {
                return Ok(gap.at_frame(frame, seen));
            }
            match self.at_kept_frame(runs, frame, seen).await {
                Err(LogError::Gone { .. }) => tokio::task::yield_now().await,
                number => return number,
            }
        }
        Err(self.gone())
    }

    async fn at_kept_frame(&mut self, runs: &Runs, frame: u64, seen: u32) -> Result<u64, LogError> {
        let view = self.view.clone();
        let Some(mut window) = view.start(runs, CheckpointAt::Frame(frame)).await? else { return Ok(0) };
        while window.next_frame() <= frame {
            window.trim(window.next(), 0);
            if !view.advance(&mut window, runs, OWN_BATCH_BYTES).await? {
                break;
            }
        }
        let number = window.at_frame(frame, seen);
        self.own = Some(window);
        Ok(number)
    }
}
