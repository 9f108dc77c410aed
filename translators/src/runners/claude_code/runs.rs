//! The runs of the sessions in one input: which run a record belongs to, and what is known of each.
//!
//! In: session ids, prompts, ends. Out: the stream that a record's frames go to. Never: a run for what follows a result,
//! or a second run while a turn is still unfinished.

use super::message::Message;
use super::plan::Plan;
use crate::frame::Name;
use crate::hash::HashMap;
use crate::ledger::{Ledger, Place, RunEnd};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// So many runs may be open at once in one input; a further one ends the oldest.
const MAX_OPEN: usize = 256;

/// One open run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its stream.
    pub(super) key: StreamKey,
    /// The session that its records name.
    session: Name,
    /// The session that they name once the conversation was cleared.
    renamed: Option<Name>,
    /// The `result_index` that its result will have.
    pub(super) result_index: u64,
    /// Whether the main thread has spoken last, and no tool of it runs.
    pub(super) answered: bool,
    /// Whether the main thread said any text.
    pub(super) spoke: bool,
    /// Whether work went to the background.
    pub(super) background: bool,
    /// Whether somebody interrupted it.
    pub(super) interrupted: bool,
    /// The error that the runner reported last, in the model's place.
    pub(super) error: Option<(Name, String)>,
    /// The model of its turns; `None` inside where they differ.
    pub(super) model: Option<Option<Name>>,
    /// Why the model stopped in the turn that is open.
    pub(super) stop_reason: Option<Name>,
    /// Whether a transcript opened it, where no record says its end.
    pub(super) transcript: bool,
}

impl Run {
    fn is_of(&self, session: &Name) -> bool {
        self.session == *session || self.renamed.as_ref() == Some(session)
    }
}

/// What is known of a session across its runs.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The running total of the cost at the last result.
    pub(super) total_cost_usd: Option<f64>,
    /// The `result_index` that comes next.
    pub(super) next_result: u64,
    /// What the task list tools made.
    pub(super) plan: Plan,
    /// What the runner does besides running: `compacting`, or another word of its own.
    pub(super) status: Option<Name>,
}

/// Who speaks: the main thread of a stream, or a subagent on it.
pub(super) type Speaker = (StreamKey, Option<Uuid>);

/// The book of runs.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The open runs, oldest first.
    open: Vec<Run>,
    sessions: HashMap<Name, Session>,
    /// The model message that each speaker is at.
    pub(super) messages: HashMap<Speaker, Message>,
}

impl Runs {
    /// The newest open run of the ledger's session.
    pub(super) fn current(&mut self, ledger: &Ledger) -> Option<&mut Run> {
        let session = ledger.session();
        self.open.iter_mut().rev().find(|run| run.is_of(&session))
    }

    /// The stream that the current record belongs to.
    pub(super) fn stream(&mut self, ledger: &mut Ledger) -> StreamKey {
        match self.current(ledger) {
            Some(run) => run.key,
            None => ledger.thread(),
        }
    }

    /// The open run with this stream.
    pub(super) fn run(&mut self, key: StreamKey) -> Option<&mut Run> {
        self.open.iter_mut().rev().find(|run| run.key == key)
    }

    /// The ledger's session.
    pub(super) fn session(&mut self, ledger: &Ledger) -> &mut Session {
        self.sessions.entry(ledger.session()).or_default()
    }

    /// Opens a run of the ledger's session.
    pub(super) fn begin(&mut self, ledger: &mut Ledger, input: &str) -> StreamKey {
        let session = ledger.session();
        let waiting = self.open.iter().filter(|run| run.is_of(&session)).count() as u64;
        let result_index = self.session(ledger).next_result + waiting;
        let key = ledger.open_run(input);
        self.open.push(Run {
            key,
            session,
            renamed: None,
            result_index,
            answered: false,
            spoke: false,
            background: false,
            interrupted: false,
            error: None,
            model: None,
            stop_reason: None,
            transcript: false,
        });
        key
    }

    /// The stream of the current run; opens one where none is open.
    pub(super) fn ensure(&mut self, ledger: &mut Ledger, input: &str) -> StreamKey {
        match self.current(ledger) {
            Some(run) => run.key,
            None => self.begin(ledger, input),
        }
    }

    /// A turn is announced. It is the open run's, unless that one has its answer already and only waits for background
    /// work: then this is the turn that a finished task woke, while the first result is still held back.
    pub(super) fn announce(&mut self, ledger: &mut Ledger) {
        let session = ledger.session();
        let background = self.open.iter().any(|run| run.is_of(&session) && run.background);
        if self.current(ledger).is_none_or(|run| run.answered && background) {
            self.begin(ledger, "");
        }
    }

    /// The conversation goes on under another session id.
    pub(super) fn rename(&mut self, ledger: &Ledger, session: &str) {
        if let Some(run) = self.current(ledger) {
            run.renamed = Some(Name::from(session));
        }
    }

    /// The run that a result ends: the one that waits for its number, else the oldest of the session.
    pub(super) fn ended_by(&mut self, ledger: &Ledger, result_index: Option<u64>) -> Option<StreamKey> {
        let session = ledger.session();
        let mut runs = self.open.iter().filter(|run| run.is_of(&session));
        let oldest = runs.clone().next().map(|run| run.key);
        let numbered = result_index.and_then(|index| runs.find(|run| run.result_index == index));
        numbered.map(|run| run.key).or(oldest)
    }

    /// The oldest run, where there are more than may be open: its log broke off, and others were put behind it.
    pub(super) fn overdue(&self) -> Option<StreamKey> {
        self.open.first().filter(|_| self.open.len() > MAX_OPEN).map(|run| run.key)
    }

    /// Takes a run out of the book.
    pub(super) fn remove(&mut self, key: StreamKey) -> Option<Run> {
        let at = self.open.iter().position(|run| run.key == key)?;
        self.messages.retain(|(stream, _), _| *stream != key);
        Some(self.open.remove(at))
    }

    /// The open runs that a transcript told of, oldest first.
    pub(super) fn told_by_transcript(&self) -> Vec<StreamKey> {
        self.open.iter().filter(|run| run.transcript).map(|run| run.key).collect()
    }

    /// Ends the turn that is open, with what is known of why the model stopped.
    pub(super) fn end_turn(&mut self, ledger: &mut Ledger, key: StreamKey) {
        let stop_reason = self.run(key).and_then(|run| run.stop_reason.take());
        ledger.turn_ended(key, stop_reason);
    }

    /// A model call begins on the main thread.
    pub(super) fn begin_turn(&mut self, ledger: &mut Ledger, key: StreamKey, model: Option<Name>) {
        let Some(run) = self.run(key) else { return };
        run.model = Some(match run.model.take() {
            None => model.clone(),
            Some(known) => known.filter(|known| Some(known) == model.as_ref()),
        });
        self.end_turn(ledger, key);
        ledger.turn_started(key, model);
    }

    /// Ends a run.
    pub(super) fn end(&mut self, ledger: &mut Ledger, key: StreamKey, end: RunEnd) {
        self.leave(ledger, Place::main(key));
        self.end_turn(ledger, key);
        self.remove(key);
        ledger.end_run(key, end);
    }
}
