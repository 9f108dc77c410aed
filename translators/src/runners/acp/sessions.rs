//! The sessions of a connection, and what is known about the running turn of each.
//!
//! Input: sessions as messages name them. Output: the state of a session, and the place for its frames. Never: more than a
//! bounded number of idle sessions, prompts that wait, or turns whose number in the client's requests is guessed.

use super::super::names::{self, NameMap, Turnover};
use super::calls::Calls;
use super::texts::Texts;
use super::usage::Cost;
use crate::frame::{Figures, PlanEntry, SharedStr, UserMessage};
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of prompts that wait in a session. Beyond it, a prompt has a run only when it is answered.
const MOST_QUEUED: usize = 64;

/// A prompt of the client.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    /// The id of its request.
    pub(super) id: SharedStr,
    pub(super) message: UserMessage,
}

/// The turn that a session works on.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) run: StreamKey,
    /// The id of its request, if the client's lines are there.
    pub(super) prompt: Option<SharedStr>,
    /// Its position among the running turns.
    order: u64,
    /// The number that its request probably has, if the client's lines are not there.
    assumed: Option<u64>,
}

/// Whether the updates of a session are its history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Replay {
    #[default]
    No,
    /// The history is being told: until the next prompt if the client's lines are there, otherwise until the answer to
    /// `session/load`.
    Runs,
    /// The answer is there, but the history may go on behind it: some agents do not wait for it. Messages of the history have no
    /// ids then.
    MayGoOn,
    /// The history goes on behind the answer: until the list of commands.
    GoesOn,
}

/// What belongs to one turn, or to the time between turns.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) texts: Texts,
    pub(super) calls: Calls,
    pub(super) plan: Vec<PlanEntry>,
    /// A tool was used, so that there was more than one model call.
    pub(super) used_tools: bool,
    /// The input has no client's answers: what the agent does shows whether it was allowed to.
    pub(super) is_alone: bool,
    /// The agent has reported that its model failed.
    pub(super) has_failed: bool,
    /// The client cancelled the turn.
    pub(super) cancelled: bool,
    /// The client sent the prompt, so that the agent's echo of it is no further message.
    pub(super) prompt: Option<String>,
    /// Messages of the user that are no prompts.
    pub(super) user_messages: u64,
    /// A message of the user that is still being told.
    pub(super) user: Option<(SharedStr, String)>,
    /// The turn of the model begins after that message.
    pub(super) follows_user: bool,
    /// The state of version 2.
    pub(super) state: Option<SharedStr>,
    /// The id and the summary of a compaction.
    pub(super) compaction: Option<(SharedStr, String)>,
}

/// A session.
#[derive(Debug, Default)]
pub(super) struct Session {
    noted: u64,
    pub(super) running: Option<Running>,
    pub(super) queue: VecDeque<Prompt>,
    pub(super) replay: Replay,
    /// It began in this input.
    pub(super) is_new: bool,
    /// The client has it: it is new, or the answer to its loading was seen.
    pub(super) is_open: bool,
    /// Its history came before the answer to its loading.
    pub(super) has_history: bool,
    /// The messages of its history have ids.
    pub(super) has_ids: bool,
    /// It tells its state (version 2), so that other updates begin no turn.
    pub(super) has_states: bool,
    /// A state ended the last turn (version 2), so that an answer with a stop reason ends nothing.
    pub(super) has_idled: bool,
    pub(super) model: Option<SharedStr>,
    pub(super) cost: Cost,
    /// The session's running total, from agents that count so.
    pub(super) spent: Option<Figures>,
    pub(super) turn: Turn,
}

impl Session {
    /// The place for frames: the running turn, otherwise the session's thread.
    pub(super) fn target(&self, normalizer: &mut Normalizer) -> Target {
        let run = self.running.as_ref().map(|running| running.run);
        Target::main(run.unwrap_or_else(|| normalizer.thread()))
    }

    /// Adds a prompt that waits for the running turn.
    pub(super) fn enqueue(&mut self, prompt: Prompt) {
        if self.queue.len() < MOST_QUEUED {
            self.queue.push_back(prompt);
        }
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: NameMap<Session>,
    turnover: Turnover,
    /// Running turns, oldest first.
    running: BTreeMap<u64, SharedStr>,
    /// The sessions whose running turns probably have these numbers.
    assumed: BTreeMap<u64, SharedStr>,
    next: u64,
    /// The session that worked last.
    active: Option<SharedStr>,
    /// The session that a message named last.
    pub(super) named: Option<SharedStr>,
}

impl Sessions {
    /// The session of that name, which is also the normalizer's from now on.
    pub(super) fn enter(&mut self, name: &str, normalizer: &mut Normalizer) -> &mut Session {
        normalizer.set_session(name);
        if !self.all.contains_key(name) && self.turnover.enter(self.all.len() + 1) {
            let Self { all, turnover, .. } = self;
            all.retain(|_, session| {
                turnover.remembers(session.noted) || session.running.is_some() || !session.queue.is_empty()
            });
            turnover.scanned(all.len());
        }
        let now = self.turnover.now();
        self.named = Some(names::own(&self.all, name));
        let session = names::enter(&mut self.all, name);
        session.noted = now;
        session
    }

    pub(super) fn get(&mut self, name: &str) -> Option<&mut Session> {
        self.all.get_mut(name)
    }

    /// The session's history is over; what follows is live.
    pub(super) fn live(&mut self, name: &str) {
        if let Some(session) = self.all.get_mut(name) {
            session.replay = Replay::No;
        }
    }

    /// A session does something.
    pub(super) fn works(&mut self, name: &str) {
        if self.active.as_deref() != Some(name) {
            self.active = Some(names::own(&self.all, name));
        }
    }

    /// A turn begins. `assumed` is the number that its request probably has.
    pub(super) fn began(&mut self, name: &str, run: StreamKey, prompt: Option<SharedStr>, assumed: Option<u64>) {
        self.next += 1;
        let (order, own) = (self.next, names::own(&self.all, name));
        self.running.insert(order, own.clone());
        if let Some(number) = assumed {
            self.assumed.insert(number, own.clone());
        }
        if let Some(session) = self.all.get_mut(name) {
            session.running = Some(Running { run, prompt, order, assumed });
        }
        self.active = Some(own);
    }

    /// Takes the running turn of a session, which ends.
    pub(super) fn over(&mut self, name: &str) -> Option<Running> {
        let running = self.all.get_mut(name)?.running.take()?;
        self.running.remove(&running.order);
        if let Some(number) = running.assumed {
            self.assumed.remove(&number);
        }
        Some(running)
    }

    /// Whether a running turn probably has this number.
    pub(super) fn is_assumed(&self, number: u64) -> bool {
        self.assumed.contains_key(&number)
    }

    /// The session whose running turn probably has the request with this id.
    pub(super) fn assumed(&self, id: &str) -> Option<SharedStr> {
        self.assumed.get(&id.parse().ok()?).cloned()
    }

    /// The number that the running turn of a session probably has.
    pub(super) fn number_of(&self, name: &str) -> Option<u64> {
        self.all.get(name)?.running.as_ref()?.assumed
    }

    /// The session with a running turn that worked last.
    pub(super) fn at_work(&self) -> Option<SharedStr> {
        let runs = |name: &&SharedStr| self.all.get(*name).is_some_and(|session| session.running.is_some());
        self.active.as_ref().filter(runs).or_else(|| self.running.values().next_back()).cloned()
    }

    /// The names of sessions with a running turn, oldest turn first.
    pub(super) fn all_at_work(&self) -> Vec<SharedStr> {
        self.running.values().cloned().collect()
    }
}
