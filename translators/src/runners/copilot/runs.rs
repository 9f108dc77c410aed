//! The open run and the session of an input.
//!
//! Input: beginnings and ends. Output: the stream for a record's frames, and the state of its run. The output of one process has one
//! run, and a session file has its runs one after the other, so there is never more than one open run. Never: unbounded memory
//! however many calls, subagents or records a run has.

use super::super::called_agent::CalledAgent;
use super::super::failure::Failure;
use super::super::names::NameMap;
use super::approvals::Question;
use super::calls::Call;
use super::decoder::Copilot;
use super::plan::Plan;
use super::reply::Reply;
use crate::frame::{Figures, SharedStr};
use crate::hash::HashMap;
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// The open run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its stream.
    pub(super) key: StreamKey,
    /// Calls that await their result, by the runner's id.
    pub(super) calls: NameMap<Call>,
    /// Subagents, by the id of the call that started them.
    pub(super) agents: NameMap<CalledAgent>,
    /// The calls of subagents, by the subagent's own id.
    pub(super) agent_calls: NameMap<SharedStr>,
    /// Questions that await their answer.
    pub(super) questions: NameMap<Question>,
    /// The number of entries at which those that are over are forgotten.
    pub(super) forget_at: usize,
    /// The reply that each speaker is writing: the main thread, or the subagent of a call.
    pub(super) replies: HashMap<Option<Uuid>, Reply>,
    /// A turn was announced, and its model call has not begun.
    pub(super) turn_is_due: bool,
    /// Why the model stopped in the open turn.
    pub(super) stop_reason: Option<SharedStr>,
    /// The outcome so far.
    pub(super) course: Course,
    /// What the calls of the main thread used.
    pub(super) spent: Option<Figures>,
    /// Whether a prompt has begun the run. A run whose beginning was lost has none.
    pub(super) is_prompted: bool,
}

/// How a run went so far.
#[derive(Debug, Default)]
pub(super) struct Course {
    /// The main thread spoke last, and asked for no call.
    pub(super) answered: bool,
    /// The run was aborted.
    pub(super) aborted: Option<String>,
    /// The run's error, unless the model answered after it.
    pub(super) failure: Option<Failure>,
    /// The records are those of the stream, which has a record for the end.
    pub(super) is_live: bool,
    /// Why the model stopped last; only session files say so.
    pub(super) finish_reason: Option<SharedStr>,
}

/// The state of the session across its runs.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The model of the next model call, if the runner named it.
    pub(super) model: Option<SharedStr>,
    /// The plan, as far as the session's calls tell.
    pub(super) plan: Plan,
    /// The session's running total at its last shutdown; `None` if it is not known.
    pub(super) total: Option<Figures>,
    /// What was reported since.
    pub(super) since: Figures,
}

impl Run {
    fn new(key: StreamKey) -> Self {
        Self {
            key,
            calls: NameMap::default(),
            agents: NameMap::default(),
            agent_calls: NameMap::default(),
            questions: NameMap::default(),
            forget_at: 0,
            replies: HashMap::default(),
            turn_is_due: false,
            stop_reason: None,
            course: Course::default(),
            spent: None,
            is_prompted: false,
        }
    }
}

impl Copilot {
    /// The open run, if the stream is its own.
    pub(super) fn run_of(&mut self, stream: StreamKey) -> Option<&mut Run> {
        self.run.as_mut().filter(|run| run.key == stream)
    }

    /// The stream of the current record: that of the open run, or else the session's thread.
    pub(super) fn stream(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        match &self.run {
            Some(run) => run.key,
            None => normalizer.thread(),
        }
    }

    /// The place of the main thread's frames.
    pub(super) fn main(&mut self, normalizer: &mut Normalizer) -> Target {
        Target::main(self.stream(normalizer))
    }

    /// The open run; opens one if there is none.
    pub(super) fn ensure(&mut self, normalizer: &mut Normalizer) -> &mut Run {
        self.run.get_or_insert_with(|| Run::new(normalizer.open_run("")))
    }

    /// Begins a run with a prompt. None may be open.
    pub(super) fn begin_run(&mut self, prompt: &str, normalizer: &mut Normalizer) -> StreamKey {
        let key = normalizer.open_run(prompt);
        self.run = Some(Run { is_prompted: true, ..Run::new(key) });
        key
    }
}
