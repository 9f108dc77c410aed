//! The runs of the sessions in one input: which run a record belongs to, and the state of each run and session.
//!
//! Input: session ids, beginnings, ends. Output: the stream for a record's frames. Never: two open runs of one session; unbounded
//! memory for the sessions that an input names.

use super::super::called_agent::CalledAgent;
use super::super::failure::Failure;
use super::super::names::{NameMap, Turnover};
use super::call_ids::CallIds;
use super::calls::Call;
use super::control::Questions;
use super::reply::Reply;
use super::tasks::Tasks;
use super::usage::Tokens;
use crate::frame::SharedStr;
use crate::hash::HashMap;
use crate::normalizer::{Normalizer, STREAM_ENDED, Target};
use crate::sequence::StreamKey;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The maximum number of open runs in one input. Beyond it, a new run ends the oldest.
const MAX_OPEN: usize = 256;

/// One open run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its stream.
    pub(super) key: StreamKey,
    /// Its session.
    session: SharedStr,
    /// Calls that await their result, by their own ids.
    pub(super) calls: NameMap<Call>,
    /// The own ids of all calls.
    pub(super) call_ids: CallIds,
    /// The number of calls at which those that no longer run are forgotten.
    pub(super) forget_at: usize,
    /// Subagents, by the own id of the call that started them.
    pub(super) agents: NameMap<CalledAgent>,
    /// Questions that await their answer.
    pub(super) questions: Questions,
    /// The reply that each speaker is writing: the main thread, or the subagent of a call.
    pub(super) replies: HashMap<Option<Uuid>, Reply>,
    /// The model of its turns. The inner `None` means that the turns used different models.
    pub(super) model: Option<Option<SharedStr>>,
    /// Why the model stopped in the open turn.
    pub(super) stop_reason: Option<SharedStr>,
    /// Whether a record after its beginning belongs to it.
    pub(super) has_content: bool,
    /// The id of the last `assistant` record.
    pub(super) last_record: Option<SharedStr>,
    /// Whether the runner gave its total usage.
    pub(super) is_totalled: bool,
    /// What a session file says about how the run went so far; `None` for a run of the stream.
    pub(super) file: Option<FileRun>,
}

impl Run {
    /// The call with the runner's id that this caller made and whose result is awaited.
    pub(super) fn open_call(&self, id: &str, caller: Option<Uuid>) -> Option<&Call> {
        let is_of_caller = |call: &&Call| call.target.parent == caller;
        let newest = self.calls.get(self.call_ids.newest(id)).filter(is_of_caller);
        if newest.is_some() || !self.call_ids.is_repeated(id) {
            return newest;
        }
        self.calls.values().find(|call| *call.id == *id && is_of_caller(call))
    }

    /// The own id of the call whose result arrives with the runner's id.
    pub(super) fn returned_call(&self, id: &str, caller: Option<Uuid>) -> SharedStr {
        let open = self.open_call(id, caller).map(|call| call.tool.call_id.clone());
        open.unwrap_or_else(|| SharedStr::from(self.call_ids.newest(id)))
    }
}

/// How a run of a session file went so far. The file has no record for the end of a run.
#[derive(Debug, Default)]
pub(super) struct FileRun {
    /// The main thread spoke last, and asked for no call.
    pub(super) answered: bool,
    /// The last call was cancelled.
    pub(super) cancelled: bool,
    /// The last model request failed.
    pub(super) failure: Option<Failure>,
}

/// The state of a session across its runs.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// When the session was last mentioned, as a count of new sessions.
    noted: u64,
    run: Option<StreamKey>,
    /// The running total at the end of the last run; `None` before the first one.
    pub(super) total: Option<Tokens>,
    /// Background work.
    pub(super) tasks: Tasks,
}

/// The open runs and the sessions of an input.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The open runs, oldest first.
    open: BTreeMap<StreamKey, Run>,
    sessions: NameMap<Session>,
    turnover: Turnover,
}

impl Runs {
    /// The open run of the normalizer's session.
    pub(super) fn current(&mut self, normalizer: &Normalizer) -> Option<&mut Run> {
        let key = self.sessions.get(normalizer.session_name())?.run?;
        self.open.get_mut(&key)
    }

    /// The open run with this stream.
    pub(super) fn run(&mut self, key: StreamKey) -> Option<&mut Run> {
        self.open.get_mut(&key)
    }

    /// The stream of the current record: that of the session's run, or else the session's thread.
    pub(super) fn stream(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        match self.current(normalizer) {
            Some(run) => run.key,
            None => normalizer.thread(),
        }
    }

    /// The place of the main thread's frames.
    pub(super) fn main(&mut self, normalizer: &mut Normalizer) -> Target {
        Target::main(self.stream(normalizer))
    }

    /// The state of the normalizer's session, created if missing.
    pub(super) fn session(&mut self, normalizer: &Normalizer) -> &mut Session {
        let name = normalizer.session();
        if !self.sessions.contains_key(&name) && self.turnover.enter(self.sessions.len() + 1) {
            let turnover = &self.turnover;
            self.sessions.retain(|_, session| session.run.is_some() || turnover.remembers(session.noted));
            self.turnover.scanned(self.sessions.len());
        }
        let session = self.sessions.entry(name).or_default();
        session.noted = self.turnover.now();
        session
    }

    /// Opens a run of the normalizer's session, which has none.
    pub(super) fn begin(&mut self, normalizer: &mut Normalizer, input: &str) -> StreamKey {
        let key = normalizer.open_run(input);
        self.session(normalizer).run = Some(key);
        let run = Run {
            key,
            session: normalizer.session(),
            calls: NameMap::default(),
            call_ids: CallIds::default(),
            forget_at: 0,
            agents: NameMap::default(),
            questions: Questions::default(),
            replies: HashMap::default(),
            model: None,
            stop_reason: None,
            has_content: false,
            last_record: None,
            is_totalled: false,
            file: None,
        };
        self.open.insert(key, run);
        key
    }

    /// The stream of the session's run; opens a run if none is open.
    pub(super) fn ensure(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        match self.current(normalizer) {
            Some(run) => run.key,
            None => self.begin(normalizer, ""),
        }
    }

    /// The oldest run, if more runs are open than permitted. This happens when a log breaks off and others are appended to it.
    pub(super) fn overdue(&self) -> Option<StreamKey> {
        self.open.keys().next().copied().filter(|_| self.open.len() > MAX_OPEN)
    }

    /// The keys of all open runs, oldest first.
    pub(super) fn keys(&self) -> Vec<StreamKey> {
        self.open.keys().copied().collect()
    }

    /// Forgets a run that ends. Returns the state of its session.
    pub(super) fn remove(&mut self, key: StreamKey) -> Option<&mut Session> {
        let run = self.open.remove(&key)?;
        let session = self.sessions.get_mut(&run.session)?;
        session.run = session.run.filter(|current| *current != key);
        Some(session)
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

    /// Ends the open turn, with the model's stop reason if known.
    pub(super) fn end_turn(&mut self, normalizer: &mut Normalizer, key: StreamKey) {
        let stop_reason = self.run(key).and_then(|run| run.stop_reason.take());
        normalizer.turn_ended(key, stop_reason);
    }
}

/// The end of a run whose own end is missing.
pub(super) fn lost(why: &str) -> crate::normalizer::RunEnd {
    crate::normalizer::RunEnd::interrupted(STREAM_ENDED, why)
}
