//! The normalizer: tracks what is open in each stream, so that everything is reported once and closed before its run ends.
//!
//! Input: a decoder's calls. Output: numbered frames. Never: a delta and its snapshot both emitted as text, a tool call or text
//! block still open after its run's end, a second end, or a frame lost because its run is already over. Such a frame goes to
//! the session's thread stream. A late record goes before the run's last frame while that frame is held (see `held`).

mod blocks;
mod bounds;
mod calls;
mod closing;
mod held;
mod quiet;
mod reopen;
mod stream_state;
mod target;
#[cfg(test)]
mod tool_tests;
mod usage;

use crate::frame::{
    ApprovalResolved, Body, EndReason, Frame, Provider, ProviderEvent, RUN_ENDED_FIRST, RawJson, RecordErrors,
    SessionEnded, SharedStr, Stream, StreamKind,
};
use crate::hash::HashMap;
use crate::json::Utf16Text;
use crate::sequence::{Identity, Sequencer, StreamKey};
use held::{HeldEnd, HeldEnds};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stream_state::StreamState;
use uuid::Uuid;

pub use blocks::BlockKind;
pub use bounds::MAX_OPEN_TOOLS;
pub use held::{END_HOLD_MS, EndHold};
pub use quiet::QUIET_MS;
pub use reopen::{PROXY_RESTARTED, Reopened};
pub use target::{Block, RunEnd, STREAM_ENDED, Target};
pub use usage::{Covers, Memory};

/// The status of a subagent that still works when its run ends. Its later output is not part of the run.
const DETACHED: &str = "detached";

/// The error of a record whose complete text differs from the pieces that preceded it.
const DIFFERS: &str = "the whole text differs from the pieces that came before it; the pieces stand";

/// The record that ended a run is searched for among this many latest frames.
const NOTED_WITHIN: usize = 1024;

/// The state of one ingest.
#[derive(Debug)]
pub struct Normalizer {
    sequencer: Sequencer,
    open: BTreeMap<StreamKey, StreamState>,
    /// Open runs, oldest first (keys are ascending).
    runs: BTreeSet<StreamKey>,
    /// Open task streams, oldest first.
    tasks: BTreeSet<StreamKey>,
    calls: bounds::OpenCalls,
    /// The session that was named last.
    session: SharedStr,
    /// The time for the next frames, in Unix epoch milliseconds.
    time_ms: u64,
    /// Whether that time is from the record itself.
    is_own_time: bool,
    /// The current record, until its `provider_event` frame is emitted.
    pending: Option<Box<ProviderEvent>>,
    /// How runs end that are still open at the end of the input, if known.
    cut: Option<RunEnd>,
    /// The input is over, and the decoder is emitting its last frames.
    ending: bool,
    /// The number of open runs for each session.
    open_of: HashMap<Uuid, usize>,
    /// Run ends that are held back for late records.
    held: HeldEnds,
    quiet: quiet::Quiet,
    /// The part of the current record that the decoder does not know.
    unknown: Option<String>,
    /// Running totals from earlier inputs.
    memory: Option<Arc<dyn Memory>>,
    frames: Vec<Frame>,
}

impl std::fmt::Debug for dyn Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

impl Normalizer {
    /// An empty normalizer.
    pub fn new(provider: Provider, identity: Identity) -> Self {
        Self {
            sequencer: Sequencer::new(provider, identity),
            open: BTreeMap::new(),
            runs: BTreeSet::new(),
            tasks: BTreeSet::new(),
            calls: bounds::OpenCalls::default(),
            session: SharedStr::from(""),
            time_ms: 0,
            is_own_time: false,
            pending: None,
            cut: None,
            ending: false,
            open_of: HashMap::default(),
            held: HeldEnds::default(),
            quiet: quiet::Quiet::default(),
            unknown: None,
            memory: None,
            frames: Vec::new(),
        }
    }

    // --- called by the pipeline ----------------------------------------------------------------------------------

    /// A record begins. Its frame waits until the record's stream is known.
    pub(crate) fn begin(&mut self, record: Box<ProviderEvent>, now_ms: u64) {
        self.release_due(now_ms);
        self.time_ms = now_ms;
        self.is_own_time = false;
        self.quiet.arrive(now_ms);
        self.held.arrive(now_ms);
        self.pending = Some(record);
    }

    /// The record is decoded. If no frame claimed it, it goes to the thread stream.
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
        self.sequencer.key_of((StreamKind::Session, run)).filter(|&run| self.is_open(run))
    }

    /// Sets the time for frames that are emitted between records.
    pub(crate) fn at(&mut self, now_ms: u64) {
        self.time_ms = now_ms;
    }

    /// An unknown part of the input was lost: every open run emits a gap.
    pub(crate) fn gap(&mut self, reason: &str) {
        self.release_ends();
        for run in self.runs.clone() {
            let gap = Body::GapDetected { first_seq: None, last_seq: None, reason: reason.to_owned() };
            self.emit(Target::main(run), gap);
        }
    }

    /// When [`Normalizer::report_silence`] must be called at the latest, unless a record arrives first; `None` if no deadline is
    /// pending.
    pub(crate) fn silence_due(&self) -> Option<u64> {
        self.quiet.deadline()
    }

    /// No record arrived until `now_ms`. Emits an empty piece for each tool whose output a reader may be holding back.
    pub(crate) fn report_silence(&mut self, now_ms: u64) {
        let before = self.time_ms;
        // The runner's clock may differ from ours, but the same time has elapsed on both.
        self.time_ms = before.saturating_add(now_ms.saturating_sub(self.quiet.arrived_ms()).min(QUIET_MS));
        for quiet::Silence { target, tool, stream } in self.quiet.take(now_ms) {
            self.tool_output(target, &tool, stream, "");
        }
        self.time_ms = before;
    }

    /// Sets how long run ends are held.
    pub(crate) fn hold_ends(&mut self, hold: EndHold) {
        self.held.hold_for(hold);
    }

    /// When [`Normalizer::release_due`] must be called at the latest; `None` if no end is held with a deadline.
    pub(crate) fn end_due(&self) -> Option<u64> {
        self.held.deadline()
    }

    /// No record arrived until `now_ms`. Emits the ends whose hold is over.
    pub(crate) fn release_due(&mut self, now_ms: u64) {
        if !self.held.is_empty() {
            let due = self.held.take_due(now_ms);
            self.release(due);
        }
    }

    /// Nothing more follows the runs that are over: emits their ends.
    pub(crate) fn release_ends(&mut self) {
        let ends = self.held.take_all();
        self.release(ends);
    }

    /// Sets how runs end that are still open at the end of the input, if the reason is known.
    pub(crate) fn cut_by(&mut self, end: RunEnd) {
        self.cut = Some(end);
    }

    /// The input is over. From now on, the decoder emits only what it concludes from that.
    pub(crate) fn input_over(&mut self) {
        self.ending = true;
    }

    /// The input is over: closes every run that is still open, as interrupted unless a reason was set.
    pub(crate) fn finish(&mut self, now_ms: u64) {
        self.release_ends();
        self.time_ms = now_ms;
        let unknown = || RunEnd::interrupted(STREAM_ENDED, "the stream ended before the runner said how the run ended");
        let cut = self.cut.clone().unwrap_or_else(unknown);
        for run in std::mem::take(&mut self.runs) {
            self.end_run(run, cut.clone());
            self.release_ends();
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

    /// Drains the frames so far, in order.
    pub(crate) fn take(&mut self) -> std::vec::Drain<'_, Frame> {
        self.frames.drain(..)
    }

    // --- time ------------------------------------------------------------------------------------------------------

    /// Sets the time from the record itself.
    pub fn set_time(&mut self, unix_ms: u64) {
        self.time_ms = unix_ms;
        self.is_own_time = true;
    }

    /// The time for the next frame, unless its stream is already later.
    pub fn time_ms(&self) -> u64 {
        self.time_ms
    }

    /// The times so far were from another clock, which was `behind_ms` behind the runner's. Shifts the start of everything
    /// open, so that no duration spans two clocks.
    pub fn correct_clock(&mut self, behind_ms: i64) {
        for open in self.open.values_mut() {
            open.shift(behind_ms);
        }
    }

    // --- streams ---------------------------------------------------------------------------------------------------

    /// Names the session that the record speaks of.
    pub fn set_session(&mut self, session: &str) {
        if *self.session != *session {
            self.session = SharedStr::from(session);
        }
    }

    /// Sets the session of runs whose session the runner does not name.
    pub(crate) fn set_home(&mut self, session: &str) {
        self.sequencer.set_home(session);
    }

    /// The session that was named last; "" before the first one.
    pub fn session(&self) -> SharedStr {
        self.session.clone()
    }

    /// Begins a run of the session that was named last. Later frames belong to no earlier run.
    pub fn open_run(&mut self, input: impl Into<String>) -> StreamKey {
        self.release_ends();
        let session = self.session.clone();
        let run = self.sequencer.open_run(&session);
        self.runs.insert(run);
        if let Some(stream) = self.sequencer.stream(run) {
            *self.open_of.entry(stream.session.id).or_default() += 1;
        }
        self.open.insert(run, StreamState::default());
        self.emit(Target::main(run), Body::SessionStarted { input: input.into() });
        run
    }

    /// Opens the stream of a background task. Its first frame should be `tool_task_spawned`, and its last a terminal
    /// `tool_task_status`, followed by [`Normalizer::close_task`]. A task that is left open ends as failed when the input ends.
    pub fn open_task(&mut self, run: StreamKey, task_id: &str) -> StreamKey {
        let stream = self.sequencer.open_task(run, task_id);
        self.tasks.insert(stream);
        stream
    }

    /// A background task emits nothing more.
    pub fn close_task(&mut self, stream: StreamKey) {
        self.open.remove(&stream);
        self.tasks.remove(&stream);
        self.sequencer.close(stream);
    }

    /// The thread stream of the session that was named last.
    pub fn thread(&mut self) -> StreamKey {
        let session = self.session.clone();
        self.sequencer.thread(&session)
    }

    /// A stream's properties; `None` once the stream is closed.
    pub fn stream(&self, key: StreamKey) -> Option<&Arc<Stream>> {
        self.sequencer.stream(key)
    }

    /// Whether a run (or task) is still open.
    pub fn is_open(&self, key: StreamKey) -> bool {
        self.sequencer.stream(key).is_some() && !self.held.has(key)
    }

    /// The open runs, oldest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = StreamKey> + '_ {
        self.runs.iter().copied()
    }

    /// The most recently opened run that is still open.
    pub fn current_run(&self) -> Option<StreamKey> {
        self.runs.last().copied()
    }

    /// Closes everything in a run except its turn, so that the turn can end afterwards with its stop reason.
    pub fn close_work(&mut self, run: StreamKey) {
        self.close_open(run, RUN_ENDED_FIRST);
    }

    /// Ends a run: closes everything that is open in it, then emits its end after the records that still belong to it. Does
    /// nothing if the run is already over.
    ///
    /// The final text is the decoder's, otherwise the main thread's last complete text. If a limit or a filter cut the answer
    /// off, it is the text so far.
    pub fn end_run(&mut self, run: StreamKey, end: RunEnd) {
        let end = self.unless_interrupted(end);
        if !self.is_open(run) {
            return;
        }
        let Some(stream) = self.sequencer.stream(run).filter(|stream| stream.kind == StreamKind::Session) else {
            return;
        };
        let session = stream.session.clone();
        self.close_work(run);
        self.turn_ended(run, None);
        self.total_usage(run);
        // The record that ends the run is part of the run.
        self.record_on(run);
        let is_whole = !end.cuts_answer();
        let open = self.open.remove(&run).unwrap_or_default();
        let alive = open.alive();
        let last_text = open.cut_text.filter(|_| !is_whole).or(open.final_text);
        self.runs.remove(&run);
        let is_followed = self.one_less_of(session.id) > 0;
        if !is_followed && self.held.is_enabled() {
            self.note_end(run, &end, last_text.as_deref());
        }
        let held = HeldEnd {
            run,
            thread: self.sequencer.thread(&session.name),
            time_ms: self.time_ms,
            since_ms: self.quiet.arrived_ms(),
            alive,
            end: Box::new(SessionEnded {
                reason: end.reason,
                final_text: end.final_text.or(last_text),
                error_code: end.error_code,
                message: end.message,
            }),
        };
        let released = if is_followed || !self.held.is_enabled() { Some(held) } else { self.held.push(held) };
        self.release(released);
    }

    /// Stores on the run's last record how the run ended, because its last frame is emitted later.
    fn note_end(&mut self, run: StreamKey, end: &RunEnd, last_text: Option<&str>) {
        let Some(stream) = self.sequencer.stream(run) else { return };
        let recent = self.frames.iter_mut().rev().take(NOTED_WITHIN).filter(|frame| frame.stream.id == stream.id);
        let record = recent.filter_map(|frame| match &mut frame.body {
            Body::ProviderEvent(record) => Some(record),
            _ => None,
        });
        if let Some(record) = record.into_iter().next() {
            record.ends_run = Some(Box::new(SessionEnded {
                reason: end.reason,
                // The last text is already in the run's frames.
                final_text: end.final_text.as_deref().filter(|text| Some(*text) != last_text).map(str::to_owned),
                error_code: end.error_code.clone(),
                message: end.message.clone(),
            }));
        }
    }

    /// A run of a session is over. Returns how many of its runs are still open.
    fn one_less_of(&mut self, session: Uuid) -> usize {
        let Some(open) = self.open_of.get_mut(&session) else { return 0 };
        *open = open.saturating_sub(1);
        let left = *open;
        if left == 0 {
            self.open_of.remove(&session);
        }
        left
    }

    fn release(&mut self, ends: impl IntoIterator<Item = HeldEnd>) {
        let now_ms = self.time_ms;
        for HeldEnd { run, time_ms, end, alive, .. } in ends {
            self.time_ms = time_ms;
            for (subagent_id, parent) in alive {
                let body = Body::SubagentEnded { subagent_id, status: SharedStr::from(DETACHED), summary: None };
                self.number(Target { stream: run, parent }, body);
            }
            self.number(Target::main(run), Body::SessionEnded(end));
            self.sequencer.close(run);
        }
        self.time_ms = now_ms;
    }

    /// If the run was interrupted, a failure that is only inferred from the end of the input becomes that interruption.
    fn unless_interrupted(&self, end: RunEnd) -> RunEnd {
        match &self.cut {
            Some(cut) if self.ending && cut.reason == EndReason::Interrupted && end.reason != EndReason::Completed => {
                RunEnd { final_text: end.final_text, ..cut.clone() }
            }
            _ => end,
        }
    }

    // --- records ---------------------------------------------------------------------------------------------------

    /// Puts the current record on this stream. Later calls for the same record do nothing.
    pub fn record_on(&mut self, stream: StreamKey) {
        if let Some(record) = self.pending.take() {
            self.number(Target::main(stream), Body::ProviderEvent(record));
        }
    }

    /// Puts the current record on the newest open run, otherwise on the thread stream.
    pub fn record_on_current(&mut self) {
        let stream = self.current_run().unwrap_or_else(|| self.thread());
        self.record_on(stream);
    }

    /// Adds an error to the current record. Does nothing once the record's frame is emitted.
    pub fn add_error(&mut self, error: impl Into<String>) {
        if let Some(record) = &mut self.pending {
            record.errors.push(error.into());
        }
    }

    /// The current record has a type, or a part of a type, that the decoder does not know. The record is kept anyway; the
    /// input's [`Tally`](crate::pipeline::Tally) counts it.
    pub fn unknown(&mut self, what: impl Into<String>) {
        let what = what.into();
        if self.unknown.is_none() {
            self.unknown = Some(what.clone());
        }
        self.add_error(what);
    }

    /// Takes the unknown part of the record that was just decoded.
    pub(crate) fn take_unknown(&mut self) -> Option<String> {
        self.unknown.take()
    }

    /// The number of runs that have begun.
    pub(crate) fn runs_begun(&self) -> u64 {
        self.sequencer.runs_begun()
    }

    /// Adds several errors at once; other records may share the list.
    pub fn add_errors(&mut self, errors: &RecordErrors) {
        if let Some(record) = &mut self.pending {
            record.errors.append(errors);
        }
    }

    /// Adds errors to the response object in the current record.
    pub fn add_response_errors(&mut self, errors: &RecordErrors) {
        if let Some(record) = &mut self.pending {
            record.response_errors.append(errors);
        }
    }

    // --- frames ----------------------------------------------------------------------------------------------------

    /// Emits a body that needs no tracking.
    pub fn push(&mut self, target: Target, body: Body) {
        self.emit(target, body);
    }

    /// Begins a turn. A turn that is still open ends first, without a stop reason.
    pub fn turn_started(&mut self, stream: StreamKey, model: Option<SharedStr>) {
        self.turn_ended(stream, None);
        let time_ms = self.time_ms;
        let turn_index = self.book(stream).begin_turn(time_ms);
        self.emit(Target::main(stream), Body::TurnStarted { turn_index, model });
    }

    /// Whether a turn is open.
    pub fn in_turn(&self, stream: StreamKey) -> bool {
        self.open.get(&stream).is_some_and(StreamState::in_turn)
    }

    /// Ends the open turn, if there is one.
    pub fn turn_ended(&mut self, stream: StreamKey, stop_reason: Option<SharedStr>) {
        let time_ms = self.time_ms;
        if let Some((turn_index, duration_ms)) = self.open.get_mut(&stream).and_then(|open| open.end_turn(time_ms)) {
            let body = Body::TurnEnded { turn_index, stop_reason, duration_ms: Some(duration_ms) };
            self.emit(Target::main(stream), body);
        }
    }

    /// Adds a piece to a block. Half of a surrogate pair is held until its other half arrives.
    pub fn delta(&mut self, target: Target, block: Block<'_>, piece: Utf16Text) {
        let body = self.book(target.stream).blocks.delta(target.parent, block, piece);
        self.emit_all(target, body);
        self.bound_blocks(target.stream);
    }

    /// Completes a block. If there is a `snapshot`, the part that the deltas did not contain is emitted first. A snapshot that
    /// contradicts the deltas does not change them: it becomes an error of its record and the final text of the run, and the
    /// call returns `false`.
    pub fn complete(
        &mut self,
        target: Target,
        block: Block<'_>,
        snapshot: Option<&str>,
        opaque: Option<RawJson>,
    ) -> bool {
        let book = self.book(target.stream);
        let (bodies, agrees) = book.blocks.complete(target.parent, block, snapshot, opaque);
        if target.parent.is_none()
            && block.kind == BlockKind::Text
            && let Some(Body::OutputTextCompleted(whole)) = bodies.last()
        {
            let better = snapshot.filter(|text| !agrees && !text.is_empty());
            let text = better.map_or_else(|| whole.text.clone(), str::to_owned);
            self.set_final_text(target, block, text);
        }
        if !agrees {
            self.add_error(DIFFERS);
        }
        self.emit_all(target, bodies);
        agrees
    }

    /// Sets the run's final text until another one replaces it, whatever the block contained. Only the main thread's text
    /// counts.
    pub fn set_final_text(&mut self, target: Target, block: Block<'_>, text: String) {
        if target.parent.is_none() && block.kind == BlockKind::Text {
            let book = self.book(target.stream);
            (book.final_text, book.cut_text) = (Some(text), None);
        }
    }

    /// Closes a block that was cut off. Like [`Normalizer::complete`], but the text becomes the run's final text only if the run's
    /// answer was cut off.
    pub fn cut(&mut self, target: Target, block: Block<'_>, snapshot: Option<&str>) {
        let book = self.book(target.stream);
        let (bodies, agrees) = book.blocks.complete(target.parent, block, snapshot, None);
        if target.parent.is_none() {
            book.note_cut(&bodies);
        }
        if !agrees {
            self.add_error(DIFFERS);
        }
        self.emit_all(target, bodies);
    }

    /// The main thread's last complete text.
    pub fn last_text(&self, stream: StreamKey) -> Option<&str> {
        self.open.get(&stream)?.final_text.as_deref()
    }

    /// The text so far from the deltas of an open block; `None` if the block is not open.
    pub fn text_so_far(&self, target: Target, block: Block<'_>) -> Option<&str> {
        self.open.get(&target.stream)?.blocks.text_so_far(target.parent, block)
    }
}
