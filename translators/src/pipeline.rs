//! The whole pipeline as one value: bytes in, frames out ([`Ingest`]); bytes in, events out ([`Translator`]).
//!
//! Input: chunks of a runner's output with their arrival times. Output: frames in order, or events passed to a callback. Never:
//! waiting, a record without its `provider_event`, or state that grows with the length of the input.

use crate::artifacts::{Artifact, Artifacts, Bounds};
use crate::decode::Record;
use crate::drift::{DriftKey, LiveDrift};
use crate::frame::Frame;
use crate::framing::{Framing, Limits, Reader};
use crate::normalizer::{EndHold, Memory, Normalizer};
use crate::recognise::{MismatchDetector, Recognised, Verdict, Window};
use crate::redact::{Redactor, Rules};
use crate::runners::Runner;
use crate::sequence::Identity;
use crate::tally::Counting;
use std::collections::VecDeque;
use std::sync::Arc;

mod holding;
mod hosted;
mod pauses;
mod sent_lines;
mod state;
mod translator;

use holding::Holding;
use pauses::Pauses;
use sent_lines::SentLines;
use state::State;

pub use crate::frame::is_last;
pub use crate::tally::{BadKind, BadRecord, Tally};
pub use pauses::Pause;
pub use translator::Translator;

/// A callback for the records of an input before redaction; called once for each record, in order.
pub type RecordObserver<'e> = &'e mut dyn FnMut(&Record<'_>);

/// Reads one runner's output into frames.
///
/// ```
/// use framegate_translators::framing::Limits;
/// use framegate_translators::pipeline::Ingest;
/// use framegate_translators::recognise::Window;
/// use framegate_translators::sequence::Identity;
/// use uuid::Uuid;
///
/// let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
/// let mut ingest = Ingest::auto(None, Limits::default(), identity, Window::default());
///
/// let record = br#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#;
/// let mut kinds: Vec<&str> = ingest.feed(record, 1_770_000_000_000).map(|frame| frame.body.kind()).collect();
/// // The record's line is not complete before its end, or the end of the input.
/// assert!(kinds.is_empty());
/// kinds.extend(ingest.finish(1_770_000_000_000).map(|frame| frame.body.kind()));
///
/// assert_eq!(ingest.runner(), Some("claude-code"));
/// assert!(kinds.contains(&"provider_event"));
/// ```
pub struct Ingest {
    phase: Phase,
    /// Frames after the artifact stage; also the empty list to drain while the runner is unknown.
    staged: Vec<Frame>,
    artifacts: Option<Artifacts>,
    recognised: Option<Recognised>,
    watches_drift: bool,
    rules: Option<Arc<Rules>>,
    end_hold: EndHold,
    memory: Option<Arc<dyn Memory>>,
    open_tools: Option<usize>,
}

enum Phase {
    /// The runner is not known yet.
    Holding(Box<Holding>),
    Reading(Box<Reading>),
    /// The runner could not be recognised; holds the counts of the records that were inspected.
    Unknown(Counting),
}

struct Reading {
    reader: Reader,
    limits: Limits,
    /// Runs before the decoder, so that no frame contains what it removes.
    redactor: Option<Redactor>,
    state: State,
    pauses: Pauses,
}

impl Ingest {
    /// An ingest at the start of its input. If `framing` is `None`, it is detected from the first bytes.
    pub fn new(runner: &'static Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reading = Reading::new(runner, framing, limits, identity);
        Self::at(Phase::Reading(Box::new(reading)))
    }

    fn at(phase: Phase) -> Self {
        Self {
            phase,
            staged: Vec::new(),
            artifacts: None,
            recognised: None,
            watches_drift: false,
            rules: None,
            end_hold: EndHold::default(),
            memory: None,
            open_tools: None,
        }
    }

    /// An ingest that detects the runner. It holds the input until then, so nothing is lost. See [`Ingest::is_unknown`].
    pub fn auto(framing: Option<Framing>, limits: Limits, identity: Identity, window: Window) -> Self {
        let holding = Holding::new(framing, limits, identity, window);
        Self::at(Phase::Holding(Box::new(holding)))
    }

    /// Compares each record with the runner's known schemas.
    #[must_use]
    pub fn watching_drift(mut self) -> Self {
        self.watches_drift = true;
        if let Phase::Reading(reading) = &mut self.phase {
            reading.watch_drift();
        }
        self
    }

    /// Stores images, and content too large for frames, as artifacts; see [`Ingest::take_artifacts`].
    #[must_use]
    pub fn with_artifacts(mut self, bounds: Bounds) -> Self {
        self.artifacts = Some(Artifacts::new(bounds));
        self
    }

    /// The artifacts of the frames that were returned since the last call.
    pub fn take_artifacts(&mut self) -> Vec<Artifact> {
        self.artifacts.as_mut().map(Artifacts::take).unwrap_or_default()
    }

    /// Redacts each record before it is decoded.
    #[must_use]
    pub fn redacting(mut self, rules: Arc<Rules>) -> Self {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.redact(rules.clone());
        }
        self.rules = Some(rules);
        self
    }

    /// Holds the ends of runs for late records.
    #[must_use]
    pub fn holding_ends(mut self, hold: EndHold) -> Self {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.hold_ends(hold);
        }
        self.end_hold = hold;
        self
    }

    /// Sets the session of runs whose session the runner does not name. Call it before any input, once the runner is known.
    #[must_use]
    pub fn within_session(mut self, session: &str) -> Self {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.set_home(session);
        }
        self
    }

    /// The input comes over a network from a proxy that has timed its frames: their times stay as they are although they arrive late. Call it
    /// before any input, once the runner is known.
    #[must_use]
    pub fn of_timed_feed(mut self) -> Self {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.pauses.allow_delays();
        }
        self
    }

    /// Continues the running totals that earlier inputs reported for the same sessions.
    #[must_use]
    pub fn remembering(mut self, memory: Arc<dyn Memory>) -> Self {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.remember_by(memory.clone());
        }
        self.memory = Some(memory);
        self
    }

    /// Limits the open tool calls, and the open questions, subagents and text blocks in each stream. Beyond the limit, the
    /// oldest is closed.
    #[must_use]
    pub fn with_open_tools(mut self, most: usize) -> Self {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.bound(most);
        }
        self.open_tools = Some(most);
        self
    }

    /// When [`Ingest::flush`] must be called at the latest (Unix epoch milliseconds), unless more input is fed first. The
    /// reason may be a record that is held for the rest of a possible secret, a piece of a tool's output held for the next one,
    /// or the end of a run held for late records. `None` if there is no deadline.
    pub fn deadline(&self) -> Option<u64> {
        match &self.phase {
            Phase::Reading(reading) => {
                let record = reading.redactor.as_ref().and_then(Redactor::deadline);
                let Reading { state: State { normalizer, .. }, .. } = &**reading;
                record.into_iter().chain(reading.pauses.deadline()).chain(normalizer.end_due()).min()
            }
            Phase::Holding(_) | Phase::Unknown(_) => None,
        }
    }

    /// Returns the frames that are due: of held records and of held run ends (see [`Ingest::deadline`]).
    pub fn flush(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.flush_due(now_ms);
            reading.state.normalizer.release_due(now_ms);
        }
        self.take()
    }

    /// The pauses in tools' output that are due at `now_ms`; each comes after the frames returned so far.
    pub fn take_pauses(&mut self, now_ms: u64) -> Vec<Pause> {
        let Phase::Reading(reading) = &mut self.phase else { return Vec::new() };
        let pauses = reading.pauses.take(now_ms);
        for pause in &pauses {
            reading.state.normalizer.pause(pause.stream, pause.until_ms);
        }
        pauses
    }

    /// The places where records drifted for the first time, with what is wrong there. Each is returned once.
    pub fn take_drift(&mut self) -> Vec<(DriftKey, String)> {
        match &mut self.phase {
            Phase::Reading(reading) => reading.state.drift.as_mut().map(LiveDrift::take_news).unwrap_or_default(),
            Phase::Holding(_) | Phase::Unknown(_) => Vec::new(),
        }
    }

    /// Feeds the next bytes, which arrived at `now_ms` (Unix epoch milliseconds). Returns the frames that they complete.
    pub fn feed(&mut self, chunk: &[u8], now_ms: u64) -> std::vec::Drain<'_, Frame> {
        self.feed_heard(chunk, now_ms, None)
    }

    /// Like [`Ingest::feed`], and passes the records that the bytes complete to `observer`. Their frames may follow later.
    pub fn feed_heard(
        &mut self,
        chunk: &[u8],
        now_ms: u64,
        observer: Option<RecordObserver<'_>>,
    ) -> std::vec::Drain<'_, Frame> {
        if let Phase::Holding(holding) = &mut self.phase {
            let verdict = holding.feed(chunk);
            self.settle(verdict, now_ms, observer);
        } else if let Phase::Reading(reading) = &mut self.phase {
            reading.feed(chunk, now_ms, observer);
        }
        self.take()
    }

    /// The input broke off at `now_ms` and continues after a gap of unknown size. Reads the incomplete unit as it is; every
    /// open run then reports the gap.
    pub fn gap(&mut self, reason: &str, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.gap(reason, now_ms);
        }
        self.take()
    }

    /// The input broke off and continues with the unit in which it did: forgets the incomplete unit.
    pub fn resume(&mut self) {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.restart();
        }
    }

    /// The input is over: reads what is left and closes everything that is open.
    pub fn finish(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Phase::Holding(holding) = &mut self.phase {
            let verdict = holding.finish();
            self.settle(verdict, now_ms, None);
        }
        if let Phase::Reading(reading) = &mut self.phase {
            reading.finish(now_ms);
        }
        self.take()
    }

    /// The number of records so far; 0 while the runner is unknown.
    pub fn records(&self) -> u64 {
        match &self.phase {
            Phase::Reading(reading) => reading.state.counting.tally.records,
            Phase::Holding(_) | Phase::Unknown(_) => 0,
        }
    }

    /// The counts of the records so far. If the runner could not be recognised: of the records that were inspected.
    pub fn tally(&self) -> Tally {
        match &self.phase {
            Phase::Reading(reading) => {
                Tally { runs: reading.state.normalizer.runs_begun(), ..reading.state.counting.tally }
            }
            Phase::Holding(_) => Tally::default(),
            Phase::Unknown(counting) => counting.tally,
        }
    }

    /// The bad records since the last call, limited to the first ones; [`Ingest::tally`] counts all of them.
    pub fn take_bad(&mut self) -> Vec<BadRecord> {
        match &mut self.phase {
            Phase::Reading(reading) => reading.state.counting.take(),
            Phase::Holding(_) => Vec::new(),
            Phase::Unknown(counting) => counting.take(),
        }
    }

    /// The detected runner; `None` if it was given, or is not detected yet.
    pub fn recognised(&self) -> Option<Recognised> {
        self.recognised
    }

    /// The runner's name, once known.
    pub fn runner(&self) -> Option<&'static str> {
        match &self.phase {
            Phase::Reading(reading) => Some(reading.state.runner.name),
            Phase::Holding(_) | Phase::Unknown(_) => None,
        }
    }

    /// Whether the runner is known.
    pub fn is_known(&self) -> bool {
        matches!(self.phase, Phase::Reading(_))
    }

    /// Whether the runner could not be recognised. Then no frame is ever returned.
    pub fn is_unknown(&self) -> bool {
        matches!(self.phase, Phase::Unknown(_))
    }

    /// The runner that the output looks like, if it is not the expected one. Returned once.
    pub fn mistaken(&mut self) -> Option<Recognised> {
        match &mut self.phase {
            Phase::Reading(reading) => reading.state.mistaken.take(),
            Phase::Holding(_) | Phase::Unknown(_) => None,
        }
    }

    fn settle(&mut self, verdict: Verdict, now_ms: u64, observer: Option<RecordObserver<'_>>) {
        let found = match verdict {
            Verdict::Undecided => return,
            Verdict::Unknown => None,
            Verdict::Found(found) => Some(found),
        };
        let unknown = Phase::Unknown(Counting::default());
        let Phase::Holding(holding) = std::mem::replace(&mut self.phase, unknown) else { return };
        let Some(found) = found else {
            self.phase = Phase::Unknown(holding.into_counting());
            return;
        };
        self.recognised = Some(found);
        let (held, framing, limits, identity) = holding.into_parts();
        let mut reading = Reading::new(found.runner, framing, limits, identity);
        reading.state.normalizer.hold_ends(self.end_hold);
        if self.watches_drift {
            reading.watch_drift();
        }
        if let Some(rules) = &self.rules {
            reading.redact(rules.clone());
        }
        if let Some(memory) = &self.memory {
            reading.state.normalizer.remember_by(memory.clone());
        }
        if let Some(most) = self.open_tools {
            reading.state.normalizer.bound(most);
        }
        reading.feed(&held, now_ms, observer);
        self.phase = Phase::Reading(Box::new(reading));
    }

    fn take(&mut self) -> std::vec::Drain<'_, Frame> {
        match (&mut self.phase, &mut self.artifacts) {
            (Phase::Reading(reading), None) => {
                let frames = reading.state.normalizer.take();
                reading.pauses.note(frames.as_slice());
                return frames;
            }
            (Phase::Reading(reading), Some(artifacts)) => {
                for frame in reading.state.normalizer.take() {
                    artifacts.frame(frame, &mut self.staged);
                }
                reading.pauses.note(&self.staged);
            }
            (Phase::Holding(_) | Phase::Unknown(_), _) => {}
        }
        self.staged.drain(..)
    }
}

impl Reading {
    fn new(runner: &'static Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reader = framing.map_or_else(|| Reader::sniffing(limits), |framing| Reader::new(framing, limits));
        let mut normalizer = Normalizer::new(runner.provider, identity);
        if runner.is_of_frames {
            normalizer.give_ids();
        }
        let state = State {
            decoder: (runner.decoder)(),
            normalizer,
            counting: Counting::default(),
            observed: 0,
            preview_bytes: limits.preview_bytes,
            mismatch: MismatchDetector::new(runner),
            mistaken: None,
            drift: None,
            runner,
            sent_lines: SentLines::default(),
            names: VecDeque::new(),
        };
        Self { reader, limits, redactor: None, state, pauses: Pauses::default() }
    }

    fn watch_drift(&mut self) {
        self.state.drift = Some(LiveDrift::new(self.state.runner));
    }

    fn redact(&mut self, rules: Arc<Rules>) {
        self.redactor = Some(Redactor::new(rules, self.state.runner.pieces));
    }

    fn feed(&mut self, chunk: &[u8], now_ms: u64, mut observer: Option<RecordObserver<'_>>) {
        let Self { reader, redactor, state, pauses, .. } = self;
        pauses.arrive(now_ms);
        reader.feed(chunk, &mut |unit| {
            if let Some(observer) = &mut observer {
                state.observe(&unit, *observer);
            }
            match redactor {
                None => state.unit(&unit, &[], now_ms),
                Some(redactor) => redactor.unit(&unit, now_ms, &mut |unit| state.redacted(unit)),
            }
        });
    }

    fn flush_due(&mut self, now_ms: u64) {
        let state = &mut self.state;
        if let Some(redactor) =
            self.redactor.as_mut().filter(|redactor| redactor.deadline().is_some_and(|due| due <= now_ms))
        {
            redactor.flush_due(now_ms, &mut |unit| state.redacted(unit));
        }
    }

    fn flush(&mut self) {
        let state = &mut self.state;
        if let Some(redactor) = &mut self.redactor {
            redactor.flush(&mut |unit| state.redacted(unit));
        }
    }

    fn gap(&mut self, reason: &str, now_ms: u64) {
        self.read_rest(now_ms);
        self.restart();
        self.state.normalizer.at(now_ms);
        self.state.normalizer.gap(reason);
    }

    /// The next bytes begin a unit.
    fn restart(&mut self) {
        self.reader = match self.reader.framing() {
            Some(framing) => Reader::new(framing, self.limits),
            None => Reader::sniffing(self.limits),
        };
    }

    /// Reads the incomplete last unit and the held records.
    fn read_rest(&mut self, now_ms: u64) {
        let Self { reader, redactor, state, .. } = self;
        match redactor {
            None => reader.finish(&mut |unit| state.unit(&unit, &[], now_ms)),
            Some(redactor) => {
                reader.finish(&mut |unit| redactor.unit(&unit, now_ms, &mut |unit| state.redacted(unit)));
            }
        }
        self.flush();
    }

    fn finish(&mut self, now_ms: u64) {
        self.read_rest(now_ms);
        self.state.normalizer.input_over();
        self.state.decoder.end(&mut self.state.normalizer);
        self.state.normalizer.finish(now_ms);
    }
}
