//! The ledger: what is open in each stream, so that everything is said once and closed before its run ends.
//!
//! In: what a decoder understood. Out: numbered frames. Never: a delta and its snapshot both as text, a tool call or
//! text block left open behind a run's end, a second end, a frame lost because its run is already over (it goes to the
//! session's thread stream).

mod blocks;
mod calls;
mod closing;
mod open;
mod place;
mod quiet;
mod reopen;
#[cfg(test)]
mod tool_tests;

use crate::frame::{
    ApprovalResolved, Body, Faults, Frame, Name, ProviderEvent, RUN_ENDED_FIRST, RawJson, SessionEnded, Stream,
    StreamKind,
};
use crate::json::Utf16Text;
use crate::sequence::{Identity, Sequencer, StreamKey};
use open::Open;
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

pub use blocks::BlockKind;
pub use place::{Block, Place, RunEnd, STREAM_ENDED};
pub use quiet::QUIET_MS;
pub use reopen::{PROXY_RESTARTED, Reopened};

/// What is wrong with a record whose whole text is not what its pieces said.
const DIFFERS: &str = "the whole text differs from the pieces that came before it; the pieces stand";

/// The book of one ingest.
#[derive(Debug)]
pub struct Ledger {
    sequencer: Sequencer,
    open: BTreeMap<StreamKey, Open>,
    /// Open runs, oldest first.
    runs: Vec<StreamKey>,
    /// Open task streams, oldest first.
    tasks: Vec<StreamKey>,
    /// The session that was spoken of last.
    session: Name,
    /// The time of what is being said, in Unix epoch milliseconds.
    time_ms: u64,
    /// The current record's frame, until the first frame that it gives rise to.
    pending: Option<Box<ProviderEvent>>,
    /// How runs end that are open behind the end of the input.
    cut: RunEnd,
    quiet: quiet::Quiet,
    frames: Vec<Frame>,
}

impl Ledger {
    /// An empty book.
    pub fn new(provider: &'static str, identity: Identity) -> Self {
        Self {
            sequencer: Sequencer::new(provider, identity),
            open: BTreeMap::new(),
            runs: Vec::new(),
            tasks: Vec::new(),
            session: Name::from(""),
            time_ms: 0,
            pending: None,
            cut: RunEnd::interrupted(STREAM_ENDED, "the stream ended before the runner said how the run ended"),
            quiet: quiet::Quiet::default(),
            frames: Vec::new(),
        }
    }

    // --- the pipeline's side -------------------------------------------------------------------------------------

    /// A record begins: its frame waits for the stream that it belongs to.
    pub(crate) fn begin(&mut self, record: Box<ProviderEvent>, now_ms: u64) {
        self.time_ms = now_ms;
        self.quiet.arrive(now_ms);
        self.pending = Some(record);
    }

    /// The record is decoded: one that no frame claimed goes to the thread stream.
    pub(crate) fn settle(&mut self) {
        if self.pending.is_some() {
            let stream = self.thread();
            self.record_on(stream);
        }
    }

    /// The host answers a question, between records.
    pub(crate) fn resolve(&mut self, stream: (StreamKind, Uuid), answer: ApprovalResolved, now_ms: u64) {
        if let Some(stream) = self.sequencer.key_of(stream) {
            self.time_ms = now_ms;
            self.approval_resolved(stream, answer);
        }
    }

    /// The key of an open run.
    pub(crate) fn run_of(&self, run: Uuid) -> Option<StreamKey> {
        self.sequencer.key_of((StreamKind::Session, run))
    }

    /// Somebody speaks between records.
    pub(crate) fn at(&mut self, now_ms: u64) {
        self.time_ms = now_ms;
    }

    /// Something of the input is lost, and nobody knows how much: every run that is open says so.
    pub(crate) fn gap(&mut self, reason: &str) {
        for run in self.runs.clone() {
            let gap = Body::GapDetected { first_seq: None, last_seq: None, reason: reason.to_owned() };
            self.emit(Place::main(run), gap);
        }
    }

    /// When [`Ledger::tell_silence`] must be called at the latest, unless a record comes before; `None` where nobody waits.
    pub(crate) fn silence_due(&self) -> Option<u64> {
        self.quiet.deadline()
    }

    /// No record came until `now_ms`: tools whose output may be held back are said to be silent.
    pub(crate) fn tell_silence(&mut self, now_ms: u64) {
        let before = self.time_ms;
        // The runner's clock may be another one. It went on as long as ours did.
        self.time_ms = before.saturating_add(now_ms.saturating_sub(self.quiet.arrived_ms()).min(QUIET_MS));
        for quiet::Silence { place, tool, stream } in self.quiet.take(now_ms) {
            self.tool_output(place, &tool, stream, "");
        }
        self.time_ms = before;
    }

    /// It is known why the input ends without the runner's word: this is what runs that are still open then say of it.
    pub(crate) fn cut_by(&mut self, end: RunEnd) {
        self.cut = end;
    }

    /// The input is over: every run that is still open is closed, as interrupted where nobody knows more.
    pub(crate) fn finish(&mut self, now_ms: u64) {
        self.time_ms = now_ms;
        for run in std::mem::take(&mut self.runs) {
            self.end_run(run, self.cut.clone());
        }
        for task in std::mem::take(&mut self.tasks) {
            self.end_task(task, "the stream ended before the task did");
        }
        let mut threads: Vec<_> = self.open.keys().copied().collect();
        threads.sort_unstable();
        for stream in threads {
            self.close_all(stream, "the stream ended");
        }
    }

    /// The frames so far, in order.
    pub(crate) fn take(&mut self) -> std::vec::Drain<'_, Frame> {
        self.frames.drain(..)
    }

    // --- time ------------------------------------------------------------------------------------------------------

    /// The record says its own time.
    pub fn set_time(&mut self, unix_ms: u64) {
        self.time_ms = unix_ms;
    }

    /// The time that the next frame gets, unless its stream is already later.
    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// The times so far were of another clock, which was this far behind the runner's: what is open is measured anew, so
    /// that no duration spans two clocks.
    pub fn correct_clock(&mut self, behind_ms: i64) {
        for open in self.open.values_mut() {
            open.shift(behind_ms);
        }
    }

    // --- streams ---------------------------------------------------------------------------------------------------

    /// Names the session that the record speaks of.
    pub fn set_session(&mut self, session: &str) {
        if *self.session != *session {
            self.session = Name::from(session);
        }
    }

    /// The session that was named last; "" before any was.
    pub fn session(&self) -> Name {
        self.session.clone()
    }

    /// Begins a run of the session that was named last.
    pub fn open_run(&mut self, input: impl Into<String>) -> StreamKey {
        let session = self.session.clone();
        let run = self.sequencer.open_run(&session);
        self.runs.push(run);
        self.open.insert(run, Open::default());
        self.emit(Place::main(run), Body::SessionStarted { input: input.into() });
        run
    }

    /// Opens the stream of a background task. Its first frame ought to be `tool_task_spawned`, its last a terminal
    /// `tool_task_status`, followed by [`Ledger::close_task`]; a task that is left open ends as failed with the input.
    pub fn open_task(&mut self, run: StreamKey, task_id: &str) -> StreamKey {
        let stream = self.sequencer.open_task(run, task_id);
        self.tasks.push(stream);
        stream
    }

    /// Nothing more comes from a background task.
    pub fn close_task(&mut self, stream: StreamKey) {
        self.open.remove(&stream);
        self.tasks.retain(|&open| open != stream);
        self.sequencer.close(stream);
    }

    /// The thread stream of the session that was named last.
    pub fn thread(&mut self) -> StreamKey {
        let session = self.session.clone();
        self.sequencer.thread(&session)
    }

    /// What is known of a stream; `None` once it is closed.
    pub fn stream(&self, key: StreamKey) -> Option<&Arc<Stream>> {
        self.sequencer.stream(key)
    }

    /// Whether a run (or task) is still open.
    pub fn is_open(&self, key: StreamKey) -> bool {
        self.sequencer.stream(key).is_some()
    }

    /// The open runs, oldest first.
    pub fn runs(&self) -> &[StreamKey] {
        &self.runs
    }

    /// The run that was opened last and is still open.
    pub fn current_run(&self) -> Option<StreamKey> {
        self.runs.last().copied()
    }

    /// Closes what is open in a run besides its turn, so that the turn can end after it with its stop reason.
    pub fn close_work(&mut self, run: StreamKey) {
        self.close_open(run, RUN_ENDED_FIRST);
    }

    /// Ends a run: closes everything that is open in it, then says how it ended. A run that is over stays as it is.
    pub fn end_run(&mut self, run: StreamKey, end: RunEnd) {
        let Some(stream) = self.sequencer.stream(run) else { return };
        if stream.kind != StreamKind::Session {
            return;
        }
        self.close_work(run);
        self.turn_ended(run, None);
        let last_text = self.open.remove(&run).and_then(|open| open.final_text);
        self.emit(
            Place::main(run),
            Body::SessionEnded(Box::new(SessionEnded {
                reason: end.reason,
                final_text: end.final_text.or(last_text),
                error_code: end.error_code,
                message: end.message,
            })),
        );
        self.sequencer.close(run);
        self.runs.retain(|&open| open != run);
    }

    // --- records ---------------------------------------------------------------------------------------------------

    /// Keeps the current record on this stream. Once; later calls for the same record do nothing.
    pub fn record_on(&mut self, stream: StreamKey) {
        if let Some(record) = self.pending.take() {
            self.number(Place::main(stream), Body::ProviderEvent(record));
        }
    }

    /// Keeps the current record on the newest open run, or on the thread stream.
    pub fn record_on_current(&mut self) {
        let stream = self.current_run().unwrap_or_else(|| self.thread());
        self.record_on(stream);
    }

    /// Adds to what is wrong with the current record. Has no effect once the record's frame is out.
    pub fn fault(&mut self, error: impl Into<String>) {
        if let Some(record) = &mut self.pending {
            record.errors.push(error.into());
        }
    }

    /// Adds several at once, which other records may share.
    pub fn faults(&mut self, errors: &Faults) {
        if let Some(record) = &mut self.pending {
            record.errors.append(errors);
        }
    }

    /// Adds to what is wrong with the response object in the current record.
    pub fn response_faults(&mut self, errors: &Faults) {
        if let Some(record) = &mut self.pending {
            record.response_errors.append(errors);
        }
    }

    // --- frames ----------------------------------------------------------------------------------------------------

    /// Says something that needs no book-keeping.
    pub fn push(&mut self, place: Place, body: Body) {
        self.emit(place, body);
    }

    /// Begins a turn; one that is still open ends first, without a stop reason.
    pub fn turn_started(&mut self, stream: StreamKey, model: Option<Name>) {
        self.turn_ended(stream, None);
        let time_ms = self.time_ms;
        let turn_index = self.book(stream).begin_turn(time_ms);
        self.emit(Place::main(stream), Body::TurnStarted { turn_index, model });
    }

    /// Whether a turn is open.
    pub fn in_turn(&self, stream: StreamKey) -> bool {
        self.open.get(&stream).is_some_and(Open::in_turn)
    }

    /// Ends the open turn, if there is one.
    pub fn turn_ended(&mut self, stream: StreamKey, stop_reason: Option<Name>) {
        let time_ms = self.time_ms;
        if let Some((turn_index, duration_ms)) = self.open.get_mut(&stream).and_then(|open| open.end_turn(time_ms)) {
            let body = Body::TurnEnded { turn_index, stop_reason, duration_ms: Some(duration_ms) };
            self.emit(Place::main(stream), body);
        }
    }

    /// Adds a piece to a block. Half of a surrogate pair waits for its other half.
    pub fn delta(&mut self, place: Place, block: Block<'_>, piece: Utf16Text) {
        let body = self.book(place.stream).blocks.delta(place.parent, block, piece);
        self.emit_all(place, body);
    }

    /// Completes a block. With `snapshot`, what the deltas did not say yet is said first. A snapshot that contradicts the
    /// deltas does not change them: it is a fault of its record, and the text that the run ends with; the call returns `false`.
    pub fn complete(
        &mut self,
        place: Place,
        block: Block<'_>,
        snapshot: Option<&str>,
        opaque: Option<RawJson>,
    ) -> bool {
        let book = self.book(place.stream);
        let (bodies, agrees) = book.blocks.complete(place.parent, block, snapshot, opaque);
        if place.parent.is_none()
            && block.kind == BlockKind::Text
            && let Some(Body::OutputTextCompleted(whole)) = bodies.last()
        {
            let better = snapshot.filter(|text| !agrees && !text.is_empty());
            let text = better.map_or_else(|| whole.text.clone(), str::to_owned);
            self.set_final_text(place, block, text);
        }
        if !agrees {
            self.fault(DIFFERS);
        }
        self.emit_all(place, bodies);
        agrees
    }

    /// The run ends with this text unless another one comes, whatever was said of its block. Only a text of the main thread does.
    pub fn set_final_text(&mut self, place: Place, block: Block<'_>, text: String) {
        if place.parent.is_none() && block.kind == BlockKind::Text {
            self.book(place.stream).final_text = Some(text);
        }
    }

    /// Closes a block that was cut off: as [`Ledger::complete`], but its text is not the run's final text.
    pub fn cut(&mut self, place: Place, block: Block<'_>, snapshot: Option<&str>) {
        let (bodies, agrees) = self.book(place.stream).blocks.complete(place.parent, block, snapshot, None);
        if !agrees {
            self.fault(DIFFERS);
        }
        self.emit_all(place, bodies);
    }

    /// What the deltas of an open block have said so far; `None` where the block is not open.
    pub fn said(&self, place: Place, block: Block<'_>) -> Option<&str> {
        self.open.get(&place.stream)?.blocks.said(place.parent, block)
    }
}
