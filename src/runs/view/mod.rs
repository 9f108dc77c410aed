//! The events of one stream in one contract: encoded, validated and serialised once, however many readers there are.
//!
//! Input: frames from the log, read when a reader wants events that are not encoded yet. Output: bytes for the wire, shared by
//! all readers. Never: an encoding that no reader asked for, a copy for each reader, a reader held up by another reader's
//! socket, or memory that grows with the length of the stream.
//!
//! Readers share one window of events, which moves along with the newest reader. A reader that lags behind the window encodes
//! for itself, from the nearest checkpoint, until it has caught up. [`Serves`] is the choice between the two.
//!
//! If the front is pruned while a reader reads, the reader starts over from what is kept now ([`has_moved`]). It never starts
//! over without the front having moved, so it does so at most once for each time that the stream is pruned.

mod ask;
mod gap;
#[cfg(test)]
mod pause_tests;
#[cfg(test)]
mod pruning_tests;
#[cfg(test)]
mod tests;
mod trace;
mod window;

pub use ask::{Ask, Batch, Wire};
pub(in crate::runs) use ask::{Read, Single};
pub use trace::{FindingKind, Trace, TraceAsk, Traced};

use super::checkpoints::SharedCheckpoints;
use super::{Entry, Runs};
use crate::log::{CheckpointAt, LogError};
use crate::telemetry::metrics::Metrics;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EventId;
use framegate_translators::frame::Frame;
use gap::Gap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use tokio::sync::Mutex;
use window::{Broken, OWN_BATCH_BYTES, SHARED_BATCH_BYTES, Window};

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

/// Which window serves a reader.
enum Serves {
    /// The shared window: it has the event that the reader wants next, or ends right before it.
    Shared,
    /// The reader's own window, or a new one: the event is before the shared window. The reader holds no other reader up.
    Own,
    /// The reader's own window, or a new one, which becomes the shared one: the shared window is far behind the event, cannot be
    /// advanced to it, or does not exist.
    Next,
}

impl Serves {
    /// Chooses for a reader at the event with number `from`. Frames before `kept_from` are known to be pruned.
    fn choose(shared: Option<&Window>, from: u64, kept_from: u64) -> Self {
        match shared {
            Some(shared) if from < shared.first() => Self::Own,
            Some(shared) if from <= shared.next() && shared.leads_to(from, kept_from) => Self::Shared,
            _ => Self::Next,
        }
    }
}

/// The first kept frame, if `gap` is what was pruned before it.
fn kept_from(gap: Option<&Gap>) -> u64 {
    gap.map_or(0, |gap| gap.gone.frames)
}

/// Whether a read failed because the stream was pruned further than to `kept_from`, so that it can start over from a later frame.
fn has_moved(error: &LogError, kept_from: u64) -> bool {
    matches!(error, LogError::Gone { frames, .. } if *frames > kept_from)
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

    /// The stream's frames from `from` on: at most `max`, fewer if they are large. Empty only at the tail.
    ///
    /// # Errors
    /// The log's error; [`LogError::Gone`] if the frame is not kept any more.
    async fn frames(&self, runs: &Runs, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let frames = runs.log().read(self.entry.id(), from, max).await;
        let stream = self.entry.stream.id;
        if self.entry.is_dropped() {
            // The frames may belong to a new stream that has the same id by now.
            return Err(LogError::Dropped { stream });
        }
        let frames = frames?;
        if frames.first().map(|frame| frame.seq) != Some(from) && from < self.entry.frames() {
            // While the front is being dropped, the log is ahead of `gone`. Wait until that is done.
            let _turn = self.entry.prune_turn.lock().await;
            return Err(match self.entry.gone().filter(|gone| from < gone.frames) {
                Some(gone) => LogError::Gone { stream, frames: gone.frames },
                None => LogError::Lacking { stream, frame: from },
            });
        }
        Ok(frames)
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
        let counted = *before;
        *before = counted.max(checked);
        metrics.checked(contract, checked.saturating_sub(counted));
        if checked > counted {
            self.entry.has_counted.store(true, Ordering::Relaxed);
        }
        for Broken { number, seq, kind, withheld, violations } in broken {
            if *number < counted {
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

    /// Returns the requested events. Events of other types count as read: `next` is after them, and `last_id` may be the cursor of
    /// one of them.
    ///
    /// # Errors
    /// The log's error.
    pub async fn read(&mut self, runs: &Runs, ask: Ask<'_>) -> Result<Batch, LogError> {
        let (mut ask, mut last_id) = (ask, None);
        loop {
            let mut batch = self.read_once(runs, ask).await?;
            batch.last_id = batch.last_id.or(last_id);
            if batch.events > 0 || batch.lost || batch.next <= ask.from || ask.types.is_none() {
                return Ok(batch);
            }
            (ask.from, last_id) = (batch.next, batch.last_id);
        }
    }

    async fn read_once(&mut self, runs: &Runs, ask: Ask<'_>) -> Result<Batch, LogError> {
        let wants = Read { from: ask.from, frames: ask.frames, max_bytes: ask.max_bytes, max_events: ask.max_events };
        loop {
            let gap = self.view.gap(runs).await?;
            let kept_from = kept_from(gap.as_deref());
            if let Some(gap) = self.gap_at(gap, ask.from).await {
                return Ok(gap.batch(ask));
            }
            match self.over(runs, wants, kept_from, |window| window.batch(ask)).await {
                Err(error) if has_moved(&error, kept_from) => tokio::task::yield_now().await,
                batch => return Ok(batch?.unwrap_or(Batch { next: ask.from, ..Batch::default() })),
            }
        }
    }

    /// The gap, if the event with that number is in it. `None` if a window in memory still leads from that event to the kept
    /// part.
    async fn gap_at(&mut self, gap: Option<Arc<Gap>>, from: u64) -> Option<Arc<Gap>> {
        let gap = gap.filter(|gap| from < gap.event)?;
        let has = |window: &Window| window.first() <= from && window.next_frame() >= gap.gone.frames;
        let is_there = self.own.as_deref().is_some_and(has) || self.view.shared.lock().await.as_ref().is_some_and(has);
        (!is_there).then_some(gap)
    }

    /// Whether the event with that number is gone and the contract has no event that says so. If so, returns the last cursor in
    /// the pruned part, if any: everything after that cursor is kept.
    ///
    /// # Errors
    /// The log's error.
    pub async fn lost(&mut self, runs: &Runs, from: u64) -> Result<Option<Option<EventId>>, LogError> {
        let gap = self.view.gap(runs).await?;
        let gap = self.gap_at(gap, from).await.filter(|gap| !gap.is_announced());
        Ok(gap.map(|gap| gap.last.clone().map(|(id, _)| id)))
    }

    /// Returns single events, and the number after the last of them.
    ///
    /// # Errors
    /// The log's error.
    pub(super) async fn events(&mut self, runs: &Runs, read: Read) -> Result<(Vec<Single>, u64), LogError> {
        let mut read = read;
        loop {
            let gap = self.view.gap(runs).await?;
            let kept_from = kept_from(gap.as_deref());
            if let Some(gap) = self.gap_at(gap, read.from).await {
                if read.frames < gap.gone.frames {
                    return Ok((Vec::new(), read.from));
                }
                if let Some(single) = gap.single() {
                    return Ok((vec![single], gap.event));
                }
                // The feed has many runs. If the contract has no gap event, one pruned run does not end the feed.
                read.from = gap.event;
            }
            match self.over(runs, read, kept_from, |window| window.singles(read)).await {
                Err(error) if has_moved(&error, kept_from) => tokio::task::yield_now().await,
                found => {
                    let found = found?.unwrap_or_default();
                    let next = read.from + found.len() as u64;
                    return Ok((found, next));
                }
            }
        }
    }

    /// Calls `take` with a window that holds the wanted events, as far as the log has them. Frames before `kept_from` are known
    /// to be pruned. `None` if there is no starting point (cannot happen).
    async fn over<T>(
        &mut self,
        runs: &Runs,
        wants: Read,
        kept_from: u64,
        take: impl FnOnce(&Window) -> T,
    ) -> Result<Option<T>, LogError> {
        let Read { from, frames, max_bytes, max_events } = wants;
        let view = self.view.clone();
        loop {
            let mut shared = view.shared.lock().await;
            match Serves::choose(shared.as_ref(), from, kept_from) {
                Serves::Own => {
                    drop(shared);
                    return self.over_own(runs, wants, kept_from, take).await;
                }
                Serves::Next => {
                    // A checkpoint is nearer to the event than a window that ends before it.
                    self.own = self.own.take().filter(|own| from <= own.next());
                    let Some(window) = self.own_window(runs, from, kept_from).await? else { return Ok(None) };
                    if window.next() < from {
                        // It has to catch up first, and other readers must not wait for that.
                        drop(shared);
                        self.own = Some(window);
                        return self.over_own(runs, wants, kept_from, take).await;
                    }
                    *shared = Some(*window);
                }
                Serves::Shared => {}
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
    }

    /// Like [`Reader::over`], with the reader's own window.
    async fn over_own<T>(
        &mut self,
        runs: &Runs,
        wants: Read,
        kept_from: u64,
        take: impl FnOnce(&Window) -> T,
    ) -> Result<Option<T>, LogError> {
        let Read { from, frames, max_bytes, max_events } = wants;
        let view = self.view.clone();
        let Some(mut window) = self.own_window(runs, from, kept_from).await? else { return Ok(None) };
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

    /// The reader's own window, if it leads to the event with number `from`; otherwise a new one from the nearest checkpoint.
    /// `None` if there is no starting point (cannot happen).
    async fn own_window(&mut self, runs: &Runs, from: u64, kept_from: u64) -> Result<Option<Box<Window>>, LogError> {
        match self.own.take().filter(|own| own.leads_to(from, kept_from)) {
            Some(own) => Ok(Some(own)),
            None => self.view.start(runs, CheckpointAt::Event(from)).await,
        }
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
        loop {
            let gap = self.view.gap(runs).await?;
            let kept_from = kept_from(gap.as_deref());
            if let Some(next) = gap.and_then(|gap| gap.after(cursor)) {
                return Ok(Some(next));
            }
            match self.after_kept(runs, cursor).await {
                Err(error) if has_moved(&error, kept_from) => tokio::task::yield_now().await,
                next => return next,
            }
        }
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
        loop {
            let gap = self.view.gap(runs).await?;
            let kept_from = kept_from(gap.as_deref());
            if let Some(gap) = gap.filter(|gap| frame < gap.gone.frames) {
                return Ok(gap.at_frame(frame, seen));
            }
            match self.at_kept_frame(runs, frame, seen).await {
                Err(error) if has_moved(&error, kept_from) => tokio::task::yield_now().await,
                number => return number,
            }
        }
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
