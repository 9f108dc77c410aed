//! The whole way in one value: bytes in, frames out ([`Ingest`]); bytes in, events out ([`Translator`]).
//!
//! In: chunks of a runner's output with the time they came at. Out: frames in order, or events handed to a callback.
//! Never: waiting, a record without its `provider_event`, state that grows with the length of the input.

use crate::artifacts::{Artifact, Artifacts, Bounds};
use crate::decode::Record;
use crate::drift::{DriftKey, LiveDrift};
use crate::frame::{ApprovalResolved, Body, Frame, StreamKind};
use crate::framing::{Framing, Limits, Reader};
use crate::ledger::{Ledger, RunEnd};
use crate::recognise::{Doubt, Recognised, Verdict, Window};
use crate::redact::{Redactor, Rules};
use crate::runners::{RUNNERS, Runner};
use crate::sequence::Identity;
use std::collections::VecDeque;
use std::sync::Arc;
use uuid::Uuid;

mod holding;
mod state;
mod translator;

use holding::Holding;
use state::State;

pub(crate) use state::sse_block;
pub use translator::Translator;

/// Who hears the records of an input as they came, before anything is redacted in them; each once, in order.
pub type Ear<'e> = &'e mut dyn FnMut(&Record<'_>);

/// Reads one runner's output into frames.
pub struct Ingest {
    stage: Stage,
    /// What a stage without frames drains, and what the stages behind the ledger made.
    staged: Vec<Frame>,
    artifacts: Option<Artifacts>,
    recognised: Option<Recognised>,
    watches_drift: bool,
    rules: Option<Arc<Rules>>,
}

enum Stage {
    /// Whose output it is must still be found out.
    Holding(Box<Holding>),
    Reading(Box<Reading>),
    /// Nobody's, as far as can be told.
    Unknown,
}

struct Reading {
    reader: Reader,
    limits: Limits,
    /// Stands before the decoder: what is not let through is in no frame.
    redactor: Option<Redactor>,
    state: State,
}

impl Ingest {
    /// An ingest at the start of its input. Without `framing`, the first bytes tell it.
    pub fn new(runner: &Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reading = Reading::new(runner, framing, limits, identity);
        Self::at(Stage::Reading(Box::new(reading)))
    }

    fn at(stage: Stage) -> Self {
        Self { stage, staged: Vec::new(), artifacts: None, recognised: None, watches_drift: false, rules: None }
    }

    /// An ingest that finds out by itself whose output it reads. Until it knows, it holds what comes; then nothing is
    /// lost of it. See [`Ingest::is_unknown`].
    pub fn auto(framing: Option<Framing>, limits: Limits, identity: Identity, window: Window) -> Self {
        let holding = Holding::new(framing, limits, identity, window);
        Self::at(Stage::Holding(Box::new(holding)))
    }

    /// Compares each record with what is known of its runner.
    #[must_use]
    pub fn watching_drift(mut self) -> Self {
        self.watches_drift = true;
        if let Stage::Reading(reading) = &mut self.stage {
            reading.watch_drift();
        }
        self
    }

    /// Stores what is too large for frames, and images, as artifacts: see [`Ingest::take_artifacts`].
    #[must_use]
    pub fn with_artifacts(mut self, bounds: Bounds) -> Self {
        self.artifacts = Some(Artifacts::new(bounds));
        self
    }

    /// The artifacts of the frames that were given since the last call.
    pub fn take_artifacts(&mut self) -> Vec<Artifact> {
        self.artifacts.as_mut().map(Artifacts::take).unwrap_or_default()
    }

    /// Redacts each record before anything is made of it.
    #[must_use]
    pub fn redacting(mut self, rules: Arc<Rules>) -> Self {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.redact(rules.clone());
        }
        self.rules = Some(rules);
        self
    }

    /// When [`Ingest::flush`] must be called at the latest (Unix epoch milliseconds), unless more is fed before: a record
    /// waits for what may be the rest of a secret, or a piece of a tool's output for the next one. `None` where none waits.
    pub fn deadline(&self) -> Option<u64> {
        match &self.stage {
            Stage::Reading(reading) => {
                let record = reading.redactor.as_ref().and_then(Redactor::deadline);
                record.into_iter().chain(reading.state.ledger.silence_due()).min()
            }
            Stage::Holding(_) | Stage::Unknown => None,
        }
    }

    /// Gives the frames of the records that wait, and of the silence, if it is time (see [`Ingest::deadline`]).
    pub fn flush(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            if reading.redactor.as_ref().and_then(Redactor::deadline).is_some_and(|deadline| deadline <= now_ms) {
                reading.flush();
            }
            reading.state.ledger.tell_silence(now_ms);
        }
        self.take()
    }

    /// The places in which records drifted and none had before, with what is wrong there. Each is told once.
    pub fn take_drift(&mut self) -> Vec<(DriftKey, String)> {
        match &mut self.stage {
            Stage::Reading(reading) => reading.state.drift.as_mut().map(LiveDrift::take_news).unwrap_or_default(),
            Stage::Holding(_) | Stage::Unknown => Vec::new(),
        }
    }

    /// Takes the next bytes, which came at `now_ms` (Unix epoch milliseconds); gives the frames that they complete.
    pub fn feed(&mut self, chunk: &[u8], now_ms: u64) -> std::vec::Drain<'_, Frame> {
        self.feed_heard(chunk, now_ms, None)
    }

    /// As [`Ingest::feed`], with somebody who hears the records that the bytes complete; their frames may come later.
    pub fn feed_heard(&mut self, chunk: &[u8], now_ms: u64, ear: Option<Ear<'_>>) -> std::vec::Drain<'_, Frame> {
        if let Stage::Holding(holding) = &mut self.stage {
            let verdict = holding.feed(chunk);
            self.settle(verdict, now_ms, ear);
        } else if let Stage::Reading(reading) = &mut self.stage {
            reading.feed(chunk, now_ms, ear);
        }
        self.take()
    }

    /// A question in an open stream has its answer from the host, at `now_ms`; gives the frame that says so. The runner's own
    /// word for it, which may follow, is then no second answer. Nothing comes where the question is not open there. What is answered
    /// stands in no record, so it is told as it is: [`crate::redact::words_of`] keeps secrets out of it.
    pub fn resolve(
        &mut self,
        stream: (StreamKind, Uuid),
        answer: ApprovalResolved,
        now_ms: u64,
    ) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.state.ledger.resolve(stream, answer, now_ms);
        }
        self.take()
    }

    /// It is known why the input ends without the runner's word: runs that are open then end like that, and not as interrupted
    /// by `stream_ended`.
    pub fn cut_by(&mut self, end: RunEnd) {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.state.ledger.cut_by(end);
        }
    }

    /// The input broke off at `now_ms`, and goes on behind a gap that nobody knows the size of: what it broke off in is read
    /// as it is, and every run that is open says that there is a gap.
    pub fn gap(&mut self, reason: &str, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            reading.gap(reason, now_ms);
        }
        self.take()
    }

    /// Ends an open run whose end was lost, as interrupted; nothing comes where there is no such run.
    pub fn give_up(&mut self, run: Uuid, code: &str, message: &str, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Reading(reading) = &mut self.stage {
            let State { decoder, ledger, .. } = &mut reading.state;
            ledger.at(now_ms);
            if let Some(run) = ledger.run_of(run) {
                decoder.give_up(run, RunEnd::interrupted(code, message), ledger);
            }
        }
        self.take()
    }

    /// The input is over: reads what is left and ends what is open.
    pub fn finish(&mut self, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Stage::Holding(holding) = &mut self.stage {
            let verdict = holding.finish();
            self.settle(verdict, now_ms, None);
        }
        if let Stage::Reading(reading) = &mut self.stage {
            reading.finish(now_ms);
        }
        self.take()
    }

    /// How many records came so far; while it is not known whose they are, none.
    pub fn records(&self) -> u64 {
        match &self.stage {
            Stage::Reading(reading) => reading.state.records,
            Stage::Holding(_) | Stage::Unknown => 0,
        }
    }

    /// Whose output it is, where that had to be found out and has been.
    pub fn recognised(&self) -> Option<Recognised> {
        self.recognised
    }

    /// The name of the runner, once it is known.
    pub fn runner(&self) -> Option<&'static str> {
        match &self.stage {
            Stage::Reading(reading) => Some(reading.state.runner),
            Stage::Holding(_) | Stage::Unknown => None,
        }
    }

    /// Whether it is known whose output it is.
    pub fn is_known(&self) -> bool {
        matches!(self.stage, Stage::Reading(_))
    }

    /// Whether it could not be found out whose output it is. Then no frame ever comes, whatever is fed.
    pub fn is_unknown(&self) -> bool {
        matches!(self.stage, Stage::Unknown)
    }

    /// Whose output it looks like, where another runner's was expected. Told once.
    pub fn mistaken(&mut self) -> Option<Recognised> {
        match &mut self.stage {
            Stage::Reading(reading) => reading.state.mistaken.take(),
            Stage::Holding(_) | Stage::Unknown => None,
        }
    }

    fn settle(&mut self, verdict: Verdict, now_ms: u64, ear: Option<Ear<'_>>) {
        let found = match verdict {
            Verdict::Undecided => return,
            Verdict::Unknown => None,
            Verdict::Found(found) => Some(found),
        };
        let Stage::Holding(holding) = std::mem::replace(&mut self.stage, Stage::Unknown) else { return };
        let Some(found) = found else { return };
        self.recognised = Some(found);
        let (held, framing, limits, identity) = holding.into_parts();
        let mut reading = Reading::new(found.runner, framing, limits, identity);
        if self.watches_drift {
            reading.watch_drift();
        }
        if let Some(rules) = &self.rules {
            reading.redact(rules.clone());
        }
        reading.feed(&held, now_ms, ear);
        self.stage = Stage::Reading(Box::new(reading));
    }

    fn take(&mut self) -> std::vec::Drain<'_, Frame> {
        match (&mut self.stage, &mut self.artifacts) {
            (Stage::Reading(reading), None) => return reading.state.ledger.take(),
            (Stage::Reading(reading), Some(artifacts)) => {
                for frame in reading.state.ledger.take() {
                    artifacts.frame(frame, &mut self.staged);
                }
            }
            (Stage::Holding(_) | Stage::Unknown, _) => {}
        }
        self.staged.drain(..)
    }
}

impl Reading {
    fn new(runner: &Runner, framing: Option<Framing>, limits: Limits, identity: Identity) -> Self {
        let reader = framing.map_or_else(|| Reader::sniffing(limits), |framing| Reader::new(framing, limits));
        let state = State {
            decoder: (runner.decoder)(),
            ledger: Ledger::new(runner.provider, identity),
            records: 0,
            heard: 0,
            preview_bytes: limits.preview_bytes,
            doubt: Doubt::new(runner),
            mistaken: None,
            drift: None,
            runner: runner.name,
            names: VecDeque::new(),
        };
        Self { reader, limits, redactor: None, state }
    }

    fn watch_drift(&mut self) {
        self.state.drift = RUNNERS.iter().find(|runner| runner.name == self.state.runner).map(LiveDrift::new);
    }

    fn redact(&mut self, rules: Arc<Rules>) {
        let pieces =
            RUNNERS.iter().find(|runner| runner.name == self.state.runner).map_or(&[][..], |runner| runner.pieces);
        self.redactor = Some(Redactor::new(rules, pieces));
    }

    fn feed(&mut self, chunk: &[u8], now_ms: u64, mut ear: Option<Ear<'_>>) {
        let Self { reader, redactor, state, .. } = self;
        reader.feed(chunk, &mut |unit| {
            if let Some(ear) = &mut ear {
                state.tell(&unit, *ear);
            }
            match redactor {
                None => state.unit(&unit, &[], now_ms),
                Some(redactor) => redactor.unit(&unit, now_ms, &mut |unit| state.redacted(unit)),
            }
        });
    }

    fn flush(&mut self) {
        let state = &mut self.state;
        if let Some(redactor) = &mut self.redactor {
            redactor.flush(&mut |unit| state.redacted(unit));
        }
    }

    fn gap(&mut self, reason: &str, now_ms: u64) {
        self.read_rest(now_ms);
        self.reader = match self.reader.framing() {
            Some(framing) => Reader::new(framing, self.limits),
            None => Reader::sniffing(self.limits),
        };
        self.state.ledger.at(now_ms);
        self.state.ledger.gap(reason);
    }

    /// Reads what the input broke off in, and what still waits.
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
        self.state.decoder.end(&mut self.state.ledger);
        self.state.ledger.finish(now_ms);
    }
}

/// Whether a stream is over with this frame.
pub fn is_last(frame: &Frame) -> bool {
    match &frame.body {
        Body::SessionEnded(_) => frame.stream.kind == StreamKind::Session,
        Body::Task(event) => {
            matches!(**event, crate::frame::TaskEvent::Status { status, .. } if status.is_terminal())
        }
        _ => false,
    }
}
