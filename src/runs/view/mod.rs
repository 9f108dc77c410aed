//! The events of one stream in one contract: encoded, validated and serialised once, whoever reads them.
//!
//! In: frames from the log, when a reader wants what is not encoded yet. Out: bytes for the wire, shared by all readers.
//! Never: an encoding that no reader asked for, a copy for each reader, a reader held up by another one's socket, memory
//! that grows with the length of the stream.
//!
//! Readers share one window of events, which moves along with the newest of them. A reader that is behind it encodes
//! for itself, from the nearest mark on, until it has caught up.

mod gap;
mod marks;
mod place;
#[cfg(test)]
mod tests;
mod window;

use super::{Entry, Runs};
use crate::log::{LogError, MarkAt};
use crate::telemetry::metrics::Metrics;
use bytes::Bytes;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{Encoder, EncoderOptions, EventId, NewEncoder};
use gap::Gap;
use marks::Marks;
pub(super) use place::Place;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use tokio::sync::Mutex;
use window::{Broken, OWN_BATCH_BYTES, SHARED_BATCH_BYTES, Window};

/// How often a reader looks again where the front of its stream went while it looked. Fronts go rarely.
const TRIES: usize = 100;

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
    /// The gap in front of what is kept, as it was told last.
    gap: std::sync::Mutex<Option<Arc<Gap>>>,
}

/// The marks of a stream in a contract, which outlive its readers.
#[derive(Clone)]
pub(super) struct SharedMarks(Arc<OfView>);

/// What belongs to a stream in a contract, and how it is named where it is kept.
struct OfView {
    name: Arc<str>,
    make: NewEncoder,
    options: EncoderOptions,
    marks: std::sync::Mutex<Marks>,
}

impl SharedMarks {
    /// No marks but the start, where that encoder stands, which `make` made with these options.
    pub(super) fn new(name: &str, make: NewEncoder, options: EncoderOptions, encoder: Box<dyn Encoder>) -> Self {
        let name = if encoder.heeds_options() { named(name, &options) } else { Arc::from(name) };
        Self(Arc::new(OfView { name, make, options, marks: std::sync::Mutex::new(Marks::new(encoder)) }))
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Marks) -> T) -> T {
        ask(&mut self.0.marks.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes note of a place.
    pub(super) fn note(&self, place: &Place) {
        self.with(|marks| marks.note(place.frame, place.encoder.held_bytes(), || place.fork()));
    }

    /// The stream begins at that place now.
    pub(super) fn begin_at(&self, place: Place) {
        self.with(|marks| marks.begin_at(place));
    }

    /// Whether both are the marks of one view.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether frames need nothing of those before them.
    pub(super) fn is_free(&self) -> bool {
        self.with(|marks| marks.is_free())
    }
}

/// The name of a contract with its options.
fn named(name: &str, options: &EncoderOptions) -> Arc<str> {
    let EncoderOptions { experimental, thinking, artifacts, task_budget_micros_usd } = options;
    let budget = task_budget_micros_usd.map_or_else(String::new, |budget| format!(";budget={budget}"));
    let told = |word: &'static str, is_told: bool| if is_told { word } else { "" };
    let (experimental, thinking) = (told(";experimental", *experimental), told(";thinking", *thinking));
    format!("{name}{experimental}{thinking}{}{budget}", told(";artifacts", *artifacts)).into()
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
    /// What was asked for is gone, and the contract has no words for it: `next` is the first event that is kept.
    pub lost: bool,
}

impl View {
    pub(super) fn new(contract: &'static Contract, marks: SharedMarks, entry: Arc<Entry>, max_bytes: usize) -> Self {
        Self { contract, entry, marks, max_bytes, shared: Mutex::new(None), gap: std::sync::Mutex::default() }
    }

    async fn start(&self, runs: &Runs, at: MarkAt) -> Result<Option<Box<Window>>, LogError> {
        let place = self.marks.start(runs, &self.entry, &at).await?;
        Ok(place.map(|place| Box::new(Window::at(place))))
    }

    /// The gap in front of what is kept, where there is one.
    async fn gap(&self, runs: &Runs) -> Result<Option<Arc<Gap>>, LogError> {
        let Some(gone) = self.entry.gone() else { return Ok(None) };
        let known = self.gap.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|gap| gap.gone == gone) {
            return Ok(Some(known));
        }
        let gap = Arc::new(Gap::find(runs, &self.entry, self.contract, &self.marks, gone).await?);
        *self.gap.lock().unwrap_or_else(PoisonError::into_inner) = Some(gap.clone());
        Ok(Some(gap))
    }

    async fn advance(&self, window: &mut Window, runs: &Runs, batch_bytes: usize) -> Result<bool, LogError> {
        let more = window.advance(self, runs, batch_bytes).await?;
        self.marks.with(|marks| marks.note(window.next_frame(), window.held_bytes(), || window.place()));
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
        if checked > told {
            self.entry.has_counted.store(true, Ordering::Relaxed);
        }
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

    /// The gap, where the event with that number is in it. It is not for one whom memory brings to what is kept.
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

    /// Whether the event with that number is gone and the contract cannot say so; gives the cursor behind which everything is
    /// kept, where there is one.
    ///
    /// # Errors
    /// The log's.
    pub async fn lost(&mut self, runs: &Runs, from: u64) -> Result<Option<Option<EventId>>, LogError> {
        let gap = self.gap_at(runs, from).await?.filter(|gap| !gap.is_told());
        Ok(gap.map(|gap| gap.last.clone().map(|(id, _)| id)))
    }

    /// Single events, and the number of the one behind the last.
    ///
    /// # Errors
    /// The log's.
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
                // Many runs go by here: that one of them is cut has no words, and ends nothing.
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
                let window = match own {
                    Some(own) => own,
                    None => match view.start(runs, MarkAt::Event(from)).await? {
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
            let is_done = window.next_frame() >= frames || window.has(from, max_bytes, max_events);
            if is_done {
                return Ok(Some(take(window)));
            }
            match view.advance(window, runs, SHARED_BATCH_BYTES).await {
                Ok(true) => {}
                Ok(false) => return Ok(Some(take(window))),
                Err(LogError::Gone { .. }) if from < window.next() => return Ok(Some(take(window))),
                Err(error) => {
                    // It stands where nothing goes on: the next one begins where there is something.
                    *shared = None;
                    return Err(error);
                }
            }
            // Between two batches the lock is free, so that nobody waits for a long way to be made.
            window.trim(from, view.max_bytes);
        }
        let own = self.own.take().filter(|own| own.first() <= from);
        let mut window = match own {
            Some(own) => own,
            None => match view.start(runs, MarkAt::Event(from)).await? {
                Some(window) => window,
                None => return Ok(None),
            },
        };
        window.trim(from, 0);
        while window.next_frame() < frames && !window.has(from, max_bytes, max_events) {
            match view.advance(&mut window, runs, OWN_BATCH_BYTES).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(LogError::Gone { .. }) if from < window.next() => break,
                Err(error) => return Err(error),
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
        let Some(mut window) = view.start(runs, MarkAt::Cursor(cursor.clone())).await? else { return Ok(None) };
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
        let Some(mut window) = view.start(runs, MarkAt::Frame(frame)).await? else { return Ok(0) };
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
