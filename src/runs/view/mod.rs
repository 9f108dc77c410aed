//! The events of one stream in one contract: encoded, validated and serialised once, whoever reads them.
//!
//! In: frames from the log, when a reader wants what is not encoded yet. Out: bytes for the wire, shared by all readers.
//! Never: an encoding that no reader asked for, a copy for each reader, a reader held up by another one's socket, memory
//! that grows with the length of the stream.
//!
//! Readers share one window of events, which moves along with the newest of them. A reader that is behind it encodes
//! for itself, from the nearest mark on, until it has caught up.

mod marks;
#[cfg(test)]
mod tests;
mod window;

use super::{Entry, Runs};
use crate::log::LogError;
use crate::telemetry::metrics::Metrics;
use bytes::Bytes;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{Encoder, EventId};
use marks::Marks;
use std::sync::{Arc, PoisonError};
use tokio::sync::Mutex;
use window::{Broken, OWN_BATCH_BYTES, Place, SHARED_BATCH_BYTES, Window};

/// How events are laid out on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Server-sent events.
    Sse,
    /// One event a line.
    Ndjson,
}

/// What the readers of one stream in one contract share.
pub(super) struct View {
    contract: &'static Contract,
    entry: Arc<Entry>,
    marks: SharedMarks,
    /// How many bytes of events are kept for readers that are close behind the newest one.
    max_bytes: usize,
    shared: Mutex<Option<Window>>,
}

/// The marks of a stream in a contract, which outlive its readers.
#[derive(Clone)]
pub(super) struct SharedMarks(Arc<std::sync::Mutex<Marks>>);

impl SharedMarks {
    /// No marks but the start, where that encoder stands.
    pub(super) fn new(encoder: Box<dyn Encoder>) -> Self {
        Self(Arc::new(std::sync::Mutex::new(Marks::new(encoder))))
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Marks) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reads the events of one stream in one contract.
pub struct Reader {
    view: Arc<View>,
    /// Its own window, while it is not where the others are.
    own: Option<Box<Window>>,
}

/// Which events a reader wants.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The number of the first one.
    pub from: u64,
    /// Only those that come of frames before this one.
    pub frames: u64,
    /// How they are laid out.
    pub wire: Wire,
    /// About how many bytes at most; one event is always given.
    pub max_bytes: usize,
    /// How many at most.
    pub max_events: usize,
}

/// Which events a reader of single events wants: as [`Ask`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) from: u64,
    pub(super) frames: u64,
    pub(super) max_bytes: usize,
    pub(super) max_events: usize,
}

/// One event, with the place that it comes of.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) kind: &'static str,
    pub(super) frame: u64,
    pub(super) nth: u32,
    /// Its JSON, with a line end.
    pub(super) line: Bytes,
}

/// Some events, ready for the wire.
#[derive(Debug, Default)]
pub struct Batch {
    /// The bytes, in order.
    pub chunks: Vec<Bytes>,
    /// The number of the event behind the last one.
    pub next: u64,
    /// The number of the frame behind the one that the last event comes of.
    pub frames: u64,
    /// How many events there are.
    pub events: u64,
    /// The cursor of the last event that has one.
    pub last_id: Option<EventId>,
    /// Whether the last event has a cursor, so that a reader can go on from there.
    pub ends_on_id: bool,
}

impl View {
    pub(super) fn new(contract: &'static Contract, marks: SharedMarks, entry: Arc<Entry>, max_bytes: usize) -> Self {
        Self { contract, entry, marks, max_bytes, shared: Mutex::new(None) }
    }

    fn start(&self, mark: impl FnOnce(&Marks) -> Option<Place>) -> Option<Box<Window>> {
        self.marks.with(|marks| mark(marks)).map(|place| Box::new(Window::at(place)))
    }

    async fn advance(&self, window: &mut Window, runs: &Runs, batch_bytes: usize) -> Result<bool, LogError> {
        let more = window.advance(self, runs, batch_bytes).await?;
        self.marks.with(|marks| marks.note(window));
        Ok(more)
    }

    /// What the gate found in some events, logged and counted once for each run and contract: what readers had encoded
    /// before, forgot, and want again was told then. `checked` is how many events have passed.
    fn count(&self, checked: u64, broken: &[Broken], metrics: &Metrics) {
        let mut status = self.entry.status();
        let contract = self.contract.name;
        let before = status.events_checked.entry(contract).or_default();
        let told = *before;
        *before = told.max(checked);
        metrics.checked(contract, checked.saturating_sub(told));
        for Broken { number, seq, kind, withheld, breaches } in broken {
            if *number < told {
                continue;
            }
            metrics.broke(contract, *withheld);
            *status.validation_failures.entry(contract).or_default() += 1;
            if *withheld {
                *status.events_withheld.entry(contract).or_default() += 1;
            }
            for breach in breaches {
                tracing::warn!(
                    run = %status.run_id, session = %status.session_id, runner = status.runner, contract, seq, event = kind, withheld,
                    pointer = breach.pointer, keyword = breach.keyword, "event breaks its schema: {}", breach.message
                );
            }
        }
    }
}

impl Reader {
    pub(super) fn new(view: Arc<View>) -> Self {
        Self { view, own: None }
    }

    /// The contract that the events are of.
    pub fn contract(&self) -> &'static Contract {
        self.view.contract
    }

    /// The stream that the events are of.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.view.entry
    }

    /// The events that are asked for.
    ///
    /// # Errors
    /// The log's.
    pub async fn read(&mut self, runs: &Runs, ask: Ask) -> Result<Batch, LogError> {
        let wants = Read { from: ask.from, frames: ask.frames, max_bytes: ask.max_bytes, max_events: ask.max_events };
        let batch = self.over(runs, wants, |window| window.batch(ask)).await?;
        Ok(batch.unwrap_or(Batch { next: ask.from, ..Batch::default() }))
    }

    /// Single events, and the number of the one behind the last.
    ///
    /// # Errors
    /// The log's.
    pub(super) async fn events(&mut self, runs: &Runs, read: Read) -> Result<(Vec<Single>, u64), LogError> {
        let found = self.over(runs, read, |window| window.singles(read)).await?.unwrap_or_default();
        let next = read.from + found.len() as u64;
        Ok((found, next))
    }

    /// Lets `take` read a window that holds what is wanted, as far as the log has it. `None` where nothing can be begun from,
    /// which never is.
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
                // What it wants is not kept any more: it goes by itself, and holds nobody up.
                drop(shared);
                break;
            }
            if shared.as_ref().is_none_or(|shared| shared.next() < from) {
                // The others are far behind, or there is none: this reader takes the window along.
                let own = self.own.take().filter(|own| own.first() <= from && from <= own.next());
                let Some(window) = own.or_else(|| view.start(|marks| marks.before_event(from))) else {
                    return Ok(None);
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
            let is_done = window.next_frame() >= frames || window.has(from, max_bytes, max_events);
            if is_done || !view.advance(window, runs, SHARED_BATCH_BYTES).await? {
                return Ok(Some(take(window)));
            }
            // Between two batches the lock is free, so that nobody waits for a long way to be made.
            window.trim(from, view.max_bytes);
        }
        let own = self.own.take().filter(|own| own.first() <= from);
        let Some(mut window) = own.or_else(|| view.start(|marks| marks.before_event(from))) else { return Ok(None) };
        window.trim(from, 0);
        while window.next_frame() < frames && !window.has(from, max_bytes, max_events) {
            if !view.advance(&mut window, runs, OWN_BATCH_BYTES).await? {
                break;
            }
            window.trim(from, 0);
        }
        let taken = take(&window);
        self.own = Some(window);
        Ok(Some(taken))
    }

    /// The number of the first event behind a cursor. `None` where no event has that cursor.
    ///
    /// # Errors
    /// The log's.
    pub async fn after(&mut self, runs: &Runs, cursor: &EventId) -> Result<Option<u64>, LogError> {
        let view = self.view.clone();
        let frames = view.entry.tail.borrow().frames;
        let Some(mut window) = view.start(|marks| marks.before_cursor(cursor, frames)) else { return Ok(None) };
        // Numbers go up, and an event without one belongs behind the numbered event before it: what follows the last
        // number that is not beyond the cursor is new to the reader, be it numbered or not.
        let mut last = window.place().last;
        let mut from = window.next();
        loop {
            let more = view.advance(&mut window, runs, OWN_BATCH_BYTES).await?;
            let is_beyond = window.find(from, |id, number| match (id, cursor) {
                (EventId::Number(id), EventId::Number(seen)) if id > seen => Some(()),
                (EventId::Text(id), EventId::Text(seen)) if id > seen => Some(()),
                (EventId::None, _) => None,
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

    /// The number of the first event that comes of that frame or a later one, behind the first `seen` of that frame.
    ///
    /// # Errors
    /// The log's.
    pub(super) async fn at_frame(&mut self, runs: &Runs, frame: u64, seen: u32) -> Result<u64, LogError> {
        let view = self.view.clone();
        let Some(mut window) = view.start(|marks| marks.before_frame(frame)) else { return Ok(0) };
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
