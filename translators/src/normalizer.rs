//! The normalizer: tracks what is open in each stream, so that everything is reported once and closed before its run ends.
//!
//! Input: a decoder's calls. Output: numbered frames. Never: a delta and its snapshot both emitted as text, a tool call or text
//! block still open after its run's end, a second end, or a frame lost because its run is already over. Such a frame goes to
//! the session's thread stream. A late record goes before the run's last frame while that frame is held (see `held`).

mod adopt;
mod blocks;
mod bounds;
mod calls;
mod closing;
mod follow;
mod given_ids;
mod held;
mod known_calls;
mod prompts;
mod reopen;
mod reused_ids;
mod stream_state;
mod streams;
mod target;
mod texts;
#[cfg(test)]
mod tool_tests;
mod usage;

use crate::frame::{ApprovalResolved, Body, Frame, Provider, ProviderEvent, RecordErrors, SharedStr, StreamKind};
use crate::hash::HashMap;
use crate::sequence::{Identity, Sequencer, StreamKey};
use held::HeldEnds;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stream_state::StreamState;
use uuid::Uuid;

pub use adopt::Adopted;
pub use blocks::BlockKind;
pub use bounds::MAX_OPEN_TOOLS;
pub use held::{END_HOLD_MS, EndHold};
pub use reopen::{PROXY_LOST, PROXY_RESTARTED, Reopened};
pub use target::{Block, RunEnd, STREAM_ENDED, Target};
pub use usage::{Covers, Memory};

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
    /// The part of the current record that the decoder does not know.
    unknown: Option<String>,
    /// Running totals from earlier inputs.
    memory: Option<Arc<dyn Memory>>,
    /// What the host said to the runner.
    prompts: prompts::Prompts,
    adopted: adopt::AdoptedStreams,
    /// Halves of surrogate pairs at the end of arguments that are being written, by tool.
    halves: HashMap<Uuid, u16>,
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
            unknown: None,
            memory: None,
            prompts: prompts::Prompts::default(),
            adopted: adopt::AdoptedStreams::default(),
            halves: HashMap::default(),
            frames: Vec::new(),
        }
    }

    // --- called by the pipeline ----------------------------------------------------------------------------------

    /// The input consists of frames, which have ids. So every frame gets a given one.
    pub(crate) fn give_ids(&mut self) {
        let seed = self.sequencer.run_id();
        self.adopted.ids.begin(seed);
    }

    /// A record begins. Its frame waits until the record's stream is known.
    pub(crate) fn begin(&mut self, record: Box<ProviderEvent>, now_ms: u64) {
        self.release_due(now_ms);
        self.time_ms = now_ms;
        self.is_own_time = false;
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

    /// A stream gets no frame timed before `until_ms`: later frames with an earlier time get this one.
    pub(crate) fn pause(&mut self, stream: (StreamKind, Uuid), until_ms: u64) {
        self.sequencer.advance(stream, until_ms);
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
        self.report_unanswered();
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

    /// Emits frames of a run that was over before the current record, such as its end: they have the time of its last frame.
    pub fn at_last_frame(&mut self, run: StreamKey, emit: impl FnOnce(&mut Self)) {
        let now = self.time_ms;
        self.time_ms = self.sequencer.last_ms(run).map_or(now, |last| last.min(now));
        emit(self);
        self.time_ms = now;
    }

    /// The times so far were from another clock, which was `behind_ms` behind the runner's. Shifts the start of everything
    /// open, so that no duration spans two clocks.
    pub fn correct_clock(&mut self, behind_ms: i64) {
        for open in self.open.values_mut() {
            open.shift(behind_ms);
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
}
