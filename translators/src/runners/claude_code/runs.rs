//! The runs of the sessions in one input: which run a record belongs to, and the state of each run.
//!
//! Input: session ids, prompts, ends. Output: the stream for a record's frames. Never: a new run for records that follow a
//! result; a second run while a turn is unfinished; unbounded memory for the sessions that an input names.

use super::super::names::Turnover;
use super::message::Message;
use super::plan::Plan;
use crate::frame::{Figures, SharedStr};
use crate::hash::{HashMap, HashSet};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// The maximum number of open runs in one input. Beyond it, a new run ends the oldest.
const MAX_OPEN: usize = 256;

/// One open run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its stream.
    pub(super) key: StreamKey,
    /// The session that its records name.
    session: SharedStr,
    /// The session id that its records use after the conversation was cleared.
    renamed: Option<SharedStr>,
    /// The `result_index` that its result will have.
    pub(super) result_index: u64,
    /// Whether the main thread spoke last and none of its tools is running.
    pub(super) answered: bool,
    /// Whether a turn of it was announced.
    is_announced: bool,
    /// Whether the run has background work.
    pub(super) background: bool,
    /// Whether the run was interrupted.
    pub(super) interrupted: bool,
    /// The last error that the runner reported in the model's place.
    pub(super) error: Option<(SharedStr, String)>,
    /// The model of its turns. The inner `None` means that the turns used different models.
    pub(super) model: Option<Option<SharedStr>>,
    /// Why the model stopped in the open turn.
    pub(super) stop_reason: Option<SharedStr>,
    /// Whether a transcript opened it. Transcripts have no record for the end of a run.
    pub(super) transcript: bool,
    /// Whether a line of a side chain opened it: it is in a file of a subagent alone.
    pub(super) is_side_chain: bool,
    /// The session's running totals before the run, if a transcript has them up to there.
    pub(super) totals_before: Option<Figures>,
    /// The total of the run that follows from the transcript's running totals, and these.
    pub(super) stated: Option<Box<Stated>>,
}

/// What the running totals of a transcript say about a run.
#[derive(Debug)]
pub(super) struct Stated {
    pub(super) total: Figures,
    pub(super) running: Figures,
    /// The model, if there is exactly one.
    pub(super) model: Option<SharedStr>,
}

impl Run {
    fn is_of(&self, session: &SharedStr) -> bool {
        self.session == *session || self.renamed.as_ref() == Some(session)
    }
}

/// The state of a session across its runs.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// When the session was last mentioned, as a count of new sessions.
    noted: u64,
    /// The running totals at the last result.
    pub(super) running: Option<Figures>,
    /// Whether a run of a transcript began after the last running totals.
    pub(super) has_untotalled_run: bool,
    /// The next `result_index`.
    pub(super) next_result: u64,
    /// The plan made by the task list tools.
    pub(super) plan: Plan,
    /// The runner's current status other than running: `compacting`, or another of its own words.
    pub(super) status: Option<SharedStr>,
}

/// A speaker: the main thread of a stream, or a subagent on it.
pub(super) type Speaker = (StreamKey, Option<Uuid>);

/// The open runs and sessions of an input.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The open runs, oldest first.
    open: Vec<Run>,
    sessions: HashMap<SharedStr, Session>,
    turnover: Turnover,
    /// The model message that each speaker is writing.
    pub(super) messages: HashMap<Speaker, Message>,
}

impl Runs {
    /// The newest open run of the normalizer's session.
    pub(super) fn current(&mut self, normalizer: &Normalizer) -> Option<&mut Run> {
        let session = normalizer.session();
        self.open.iter_mut().rev().find(|run| run.is_of(&session))
    }

    /// The stream of the current record.
    pub(super) fn stream(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        match self.current(normalizer) {
            Some(run) => run.key,
            None => normalizer.thread(),
        }
    }

    /// The open run with this stream.
    pub(super) fn run(&mut self, key: StreamKey) -> Option<&mut Run> {
        self.open.iter_mut().rev().find(|run| run.key == key)
    }

    /// The state of the normalizer's session, created if missing.
    pub(super) fn session(&mut self, normalizer: &Normalizer) -> &mut Session {
        let name = normalizer.session();
        if !self.sessions.contains_key(&name) && self.turnover.enter(self.sessions.len() + 1) {
            self.forget_idle();
        }
        let session = self.sessions.entry(name).or_default();
        session.noted = self.turnover.now();
        session
    }

    /// Forgets sessions without an open run that have not been mentioned for a long time.
    fn forget_idle(&mut self) {
        let Self { open, sessions, turnover, .. } = self;
        let at_work: HashSet<&SharedStr> =
            open.iter().flat_map(|run| [Some(&run.session), run.renamed.as_ref()]).flatten().collect();
        sessions.retain(|name, session| turnover.remembers(session.noted) || at_work.contains(name));
        turnover.scanned(sessions.len());
    }

    /// Opens a run of the normalizer's session.
    pub(super) fn begin(&mut self, normalizer: &mut Normalizer, input: &str) -> StreamKey {
        let session = normalizer.session();
        let waiting = self.open.iter().filter(|run| run.is_of(&session)).count() as u64;
        let result_index = self.session(normalizer).next_result + waiting;
        let key = normalizer.open_run(input);
        self.open.push(Run {
            key,
            session,
            renamed: None,
            result_index,
            answered: false,
            is_announced: false,
            background: false,
            interrupted: false,
            error: None,
            model: None,
            stop_reason: None,
            transcript: false,
            is_side_chain: false,
            totals_before: None,
            stated: None,
        });
        key
    }

    /// The stream of the current run; opens a run if none is open.
    pub(super) fn ensure(&mut self, normalizer: &mut Normalizer, input: &str) -> StreamKey {
        match self.current(normalizer) {
            Some(run) => run.key,
            None => self.begin(normalizer, input),
        }
    }

    /// Handles the announcement of a turn. It belongs to the open run, unless that run already has its answer and only waits
    /// for background work. In that case a finished task started this turn while the first result is still held back. A run in the
    /// middle of a reply or of a call was cut off: a process announces no turn there, so this is the next process of the session.
    pub(super) fn announce(&mut self, normalizer: &mut Normalizer) {
        let is_cut = |run: &Run| run.is_announced && run.model.is_some() && !run.answered && !run.background;
        if let Some(key) = self.current(normalizer).filter(|run| is_cut(run)).map(|run| run.key) {
            let why = "the next turn began before the runner said how this one ended";
            self.end(normalizer, key, RunEnd::interrupted(STREAM_ENDED, why));
        }
        let session = normalizer.session();
        let background = self.open.iter().any(|run| run.is_of(&session) && run.background);
        if self.current(normalizer).is_none_or(|run| run.answered && background) {
            self.begin(normalizer, "");
        }
        if let Some(run) = self.current(normalizer) {
            run.is_announced = true;
        }
    }

    /// Notes that the conversation continues under another session id.
    pub(super) fn rename(&mut self, normalizer: &Normalizer, session: &str) {
        if let Some(run) = self.current(normalizer) {
            run.renamed = Some(SharedStr::from(session));
        }
    }

    /// The other open runs of a run's session.
    pub(super) fn others(&self, key: StreamKey) -> Vec<StreamKey> {
        let Some(own) = self.open.iter().find(|run| run.key == key) else { return Vec::new() };
        self.open.iter().filter(|run| run.key != key && run.is_of(&own.session)).map(|run| run.key).collect()
    }

    /// The run that a result ends: the one with this result index, or else the oldest of the session.
    pub(super) fn ended_by(&mut self, normalizer: &Normalizer, result_index: Option<u64>) -> Option<StreamKey> {
        let session = normalizer.session();
        let mut runs = self.open.iter().filter(|run| run.is_of(&session));
        let oldest = runs.clone().next().map(|run| run.key);
        let numbered = result_index.and_then(|index| runs.find(|run| run.result_index == index));
        numbered.map(|run| run.key).or(oldest)
    }

    /// The oldest run, if more runs are open than permitted. This happens when a log breaks off and others are appended to it.
    pub(super) fn overdue(&self) -> Option<StreamKey> {
        self.open.first().filter(|_| self.open.len() > MAX_OPEN).map(|run| run.key)
    }

    pub(super) fn remove(&mut self, key: StreamKey) -> Option<Run> {
        let at = self.open.iter().position(|run| run.key == key)?;
        self.messages.retain(|(stream, _), _| *stream != key);
        Some(self.open.remove(at))
    }

    /// The open runs that a transcript started, oldest first.
    pub(super) fn transcript_runs(&self) -> Vec<StreamKey> {
        self.open.iter().filter(|run| run.transcript).map(|run| run.key).collect()
    }

    /// Ends the open turn, with the model's stop reason if known.
    pub(super) fn end_turn(&mut self, normalizer: &mut Normalizer, key: StreamKey) {
        let stop_reason = self.run(key).and_then(|run| run.stop_reason.take());
        normalizer.turn_ended(key, stop_reason);
    }

    /// Starts a model call on the main thread.
    pub(super) fn begin_turn(&mut self, normalizer: &mut Normalizer, key: StreamKey, model: Option<SharedStr>) {
        let Some(run) = self.run(key) else { return };
        run.model = Some(match run.model.take() {
            None => model.clone(),
            Some(known) => known.filter(|known| Some(known) == model.as_ref()),
        });
        self.end_turn(normalizer, key);
        normalizer.turn_started(key, model);
    }

    /// Ends a run.
    pub(super) fn end(&mut self, normalizer: &mut Normalizer, key: StreamKey, end: RunEnd) {
        if self.run(key).is_some_and(|run| run.transcript) {
            self.leave_children(normalizer, key);
        }
        self.leave(normalizer, Target::main(key));
        self.end_turn(normalizer, key);
        self.remove(key);
        normalizer.end_run(key, end);
    }
}
