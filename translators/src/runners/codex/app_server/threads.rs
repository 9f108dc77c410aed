//! Threads and their turns.
//!
//! Input: the start and end of turns, and their thread. Output: runs; for a subagent's thread, its place in the parent's run.
//! Never: two concurrent runs of one thread; separate runs for a turn and a turn nested in it.
//!
//! A review consists of two turns of one thread: the outer one, which the client requested, and an inner one, whose
//! `rootTurnId` names the outer one. Either may be announced first, and either may lack its start or its end. Both form one
//! run. It ends with the outer turn. If only the inner turn reports its end, the run ends once the thread is idle.

use super::super::super::names::{self, NameMap, Turnover};
use super::super::errors::Failure;
use super::super::items::Agents;
use super::super::thread_context::{ThreadContext, Turn};
use super::super::usage::Meter;
use super::word;
use crate::frame::{Body, SharedStr};
use crate::hash::HashMap;
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::{StreamKey, uuid_of};
use std::borrow::Cow;
use std::collections::VecDeque;
use uuid::Uuid;

/// The number of ended turns remembered per thread, so that a late item of one does not start a run.
const ENDED: usize = 8;

/// The known threads.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: NameMap<Thread>,
    turnover: Turnover,
    /// The subagents' threads that work in each open run.
    children: HashMap<StreamKey, Vec<SharedStr>>,
    /// The thread of each running turn, by turn id.
    turns: NameMap<SharedStr>,
}

/// One thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// When the thread was last mentioned, as a count of new threads.
    noted: u64,
    /// The main thread of its tree. This is its own id unless it belongs to a subagent.
    session: Option<SharedStr>,
    running: Option<Running>,
    turn: Turn,
    pub(super) meter: Meter,
    model: Option<SharedStr>,
    /// The model that the provider put in its place for the running turn.
    rerouted: Option<SharedStr>,
    /// The input that the client sent, until the turn starts.
    pub(super) input: Option<String>,
    /// What the turn waits for, according to the last status.
    waits: Option<SharedStr>,
    /// Whether the last status was idle.
    idle: bool,
    /// The most recently ended turns, oldest first.
    ended: VecDeque<SharedStr>,
}

/// The running turn of a thread.
#[derive(Clone, Debug)]
struct Running {
    id: SharedStr,
    /// The turn that it is part of; usually itself.
    root: SharedStr,
    /// How a turn nested in it ended, until its own end arrives.
    inner_end: Option<TurnOutcome>,
    target: Target,
    /// Whether the run belongs to this thread, and not to the thread that started it.
    own: bool,
    scope: Uuid,
    depth: u32,
}

/// How a turn ended, according to its record.
#[derive(Clone, Debug)]
struct TurnOutcome {
    end: RunEnd,
    status: String,
    /// The text of the last message.
    summary: Option<String>,
}

impl TurnOutcome {
    fn read(turn: &Object<'_>) -> Self {
        let status = word(turn, "status");
        let failure = turn.some("error").map(|_| Failure::of_event(turn));
        let end = match (status.as_str(), &failure) {
            ("failed", Some(failure)) => failure.run_end(),
            ("failed", None) => RunEnd::failed("execution_error", "the turn failed"),
            ("interrupted", _) => RunEnd::interrupted("interrupted", "the turn was interrupted"),
            _ => RunEnd::completed(),
        };
        let summary = turn
            .items("items")
            .into_iter()
            .rev()
            .filter_map(Json::object)
            .find(|item| item.str("type").as_deref() == Some("agentMessage"))
            .and_then(|item| item.str("text").map(Cow::into_owned));
        let limit = failure.filter(|failure| status == "failed" && failure.is_limit());
        let status = limit.map_or(status, |failure| failure.stop_reason().to_owned());
        Self { end, status, summary }
    }
}

impl Running {
    /// Whether a turn is this one or shares a root turn with it. The turns of subagents all share the root of the main thread.
    fn includes(&self, turn_id: &str, root: &str) -> bool {
        let shares_root = || *self.root == *root || *self.id == *root || *self.root == *turn_id;
        *self.id == *turn_id || (self.own && shares_root())
    }

    /// Whether a turn that ends is nested in the turn that the client requested.
    fn is_inner(&self, turn_id: &str, root: Option<&str>) -> bool {
        let names_root = root.is_some_and(|root| *self.root == *root && *root != *turn_id);
        let is_known = *self.id == *turn_id && *self.root != *self.id;
        self.own && !turn_id.is_empty() && (names_root || is_known)
    }
}

impl Thread {
    /// The model of the thread's calls; `None` if it is unknown.
    pub(super) fn model(&self) -> Option<SharedStr> {
        self.rerouted.clone().or_else(|| self.model.clone())
    }
}

impl Threads {
    pub(super) fn thread(&mut self, id: &str) -> &mut Thread {
        if !self.all.contains_key(id) && self.turnover.enter(self.all.len() + 1) {
            self.forget_idle();
        }
        let thread = names::enter(&mut self.all, id);
        thread.noted = self.turnover.now();
        thread
    }

    /// Whether a record in the current form of the protocol was about this thread.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.all.contains_key(id)
    }

    /// Forgets threads that have not been mentioned for a long time and have no running turn and no pending input.
    fn forget_idle(&mut self) {
        let Self { all, turnover, .. } = self;
        let is_needed =
            |thread: &Thread| turnover.remembers(thread.noted) || thread.running.is_some() || thread.input.is_some();
        all.retain(|_, thread| is_needed(thread));
        turnover.scanned(all.len());
    }

    /// Sets the normalizer's session to the one that this thread belongs to.
    pub(super) fn address(&self, id: &str, normalizer: &mut Normalizer) {
        if !id.is_empty() {
            let session = self.all.get(id).and_then(|thread| thread.session.as_deref());
            normalizer.set_session(session.unwrap_or(id));
        }
    }

    /// The context of a thread's running turn; `None` between turns.
    pub(super) fn context<'l>(&'l mut self, id: &str, normalizer: &'l mut Normalizer) -> Option<ThreadContext<'l>> {
        let thread = self.all.get_mut(id)?;
        let running = thread.running.as_ref()?;
        Some(ThreadContext {
            normalizer,
            target: running.target,
            scope: running.scope,
            turn: &mut thread.turn,
            depth: running.depth,
        })
    }

    /// Notes the model in a thread's description.
    pub(super) fn known(&mut self, fields: &Object<'_>, model: Option<Cow<'_, str>>, normalizer: &mut Normalizer) {
        let Some(id) = fields.str("id") else { return };
        self.address(&id, normalizer);
        let model = model.or_else(|| fields.str("model"));
        let thread = self.thread(&id);
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            thread.model = Some(SharedStr::from(&*model));
        }
    }

    /// Notes that the provider answers the running turn with another model.
    pub(super) fn rerouted(&mut self, id: &str, model: &str) {
        if !model.is_empty() {
            self.thread(id).rerouted = Some(SharedStr::from(model));
        }
    }

    pub(super) fn turn_started(
        &mut self,
        id: &str,
        turn: &Object<'_>,
        agents: &mut Agents,
        normalizer: &mut Normalizer,
    ) {
        let turn_id = turn.str("id").unwrap_or_default();
        let root = turn.str("rootTurnId").unwrap_or_else(|| turn_id.clone());
        self.begin(id, &turn_id, &root, agents, normalizer);
    }

    /// Starts a run for an item whose turn started before the input did.
    pub(super) fn join(&mut self, id: &str, params: &Object<'_>, agents: &mut Agents, normalizer: &mut Normalizer) {
        let turn_id = params.str("turnId").unwrap_or_default();
        let is_late =
            |thread: &Thread| thread.running.is_some() || thread.ended.iter().any(|ended| **ended == *turn_id);
        if !turn_id.is_empty() && !self.all.get(id).is_some_and(is_late) {
            self.begin(id, &turn_id, &turn_id, agents, normalizer);
        }
    }

    fn begin(&mut self, id: &str, turn_id: &str, root: &str, agents: &mut Agents, normalizer: &mut Normalizer) {
        let before = self.thread(id).running.take();
        if let Some(mut running) = before.clone().filter(|running| running.includes(turn_id, root)) {
            if *running.id == *turn_id && *root != *turn_id {
                running.root = SharedStr::from(root);
            }
            self.thread(id).running = Some(running);
            return;
        }
        let (name, root_name) = (SharedStr::from(turn_id), SharedStr::from(root));
        let running = match self.parent_of(id, turn_id, root, agents, normalizer) {
            Some((target, depth)) => {
                let scope = uuid_of(id);
                self.children.entry(target.stream).or_default().push(SharedStr::from(id));
                Running { id: name, root: root_name, inner_end: None, target, own: false, scope, depth }
            }
            None => {
                normalizer.set_session(id);
                let thread = self.thread(id);
                let run = normalizer.open_run(thread.input.take().unwrap_or_default());
                normalizer.record_on(run);
                normalizer.turn_started(run, thread.model.clone());
                let scope = normalizer.stream(run).map_or_else(|| uuid_of(id), |stream| stream.session.id);
                let target = Target::main(run);
                Running { id: name, root: root_name, inner_end: None, target, own: true, scope, depth: 0 }
            }
        };
        if let Some(before) = before {
            self.over(id, before, None, normalizer);
        }
        self.turns.insert(running.id.clone(), SharedStr::from(id));
        self.thread(id).running = Some(running);
    }

    /// The target of a subagent's turn in the run of the thread that started it, and its depth; `None` for a main thread.
    fn parent_of(
        &mut self,
        id: &str,
        turn_id: &str,
        root: &str,
        agents: &mut Agents,
        normalizer: &mut Normalizer,
    ) -> Option<(Target, u32)> {
        let by_root = (root != turn_id).then(|| self.owner(root)).flatten().filter(|(owner, _)| **owner != *id);
        let (child, task) = match (agents.child(id), &by_root) {
            (Some(child), _) => (Some(child), Some(agents.task(child))),
            (None, Some((_, run))) => agents.adopt(id, *run).unzip(),
            (None, None) => (None, None),
        };
        let (mut stream, tool, depth, parent) = match (child, &by_root) {
            (Some(child), _) => (child.parent.stream, child.tool, child.depth, Some(child.parent)),
            // The starting call is unknown, so the thread's own id is used in its place.
            (None, Some((_, stream))) => (*stream, uuid_of(id), 1, None),
            (None, None) => return None,
        };
        let session = normalizer.stream(stream).map(|stream| stream.session.name.clone());
        let session = session.or_else(|| self.thread(id).session.clone());
        if !normalizer.is_open(stream) {
            // The run that started the subagent is over. Its thread may have a newer run by now.
            let thread = session.as_ref().and_then(|session| self.all.get(session));
            let running = thread.and_then(|thread| thread.running.as_ref()).filter(|running| running.own);
            stream = running.map_or(stream, |running| running.target.stream);
        }
        if let Some(session) = session {
            normalizer.set_session(&session);
            self.thread(id).session = Some(session);
        }
        let started = Target { stream, parent: parent.and_then(|target| target.parent) };
        normalizer.subagent_started(started, id, child.map(|child| child.tool), None, task.flatten(), depth);
        Some((Target { stream, parent: Some(tool) }, depth))
    }

    /// The thread that runs this turn, and its run.
    fn owner(&self, turn_id: &str) -> Option<(SharedStr, StreamKey)> {
        let id = self.turns.get(turn_id)?;
        let running = self.all.get(id)?.running.as_ref().filter(|running| *running.id == *turn_id)?;
        Some((id.clone(), running.target.stream))
    }

    /// Handles the end of a turn. A thread has one turn at a time, so the end of any turn ends the running one. In a review,
    /// the outer turn may end without having started. The end of a nested turn ends the run only if the thread is idle.
    pub(super) fn turn_completed(&mut self, id: &str, turn: &Object<'_>, normalizer: &mut Normalizer) {
        let turn_id = turn.str("id").unwrap_or_default();
        let thread = self.thread(id);
        let idle = thread.idle;
        let Some(mut running) = thread.running.take() else { return };
        let outcome = TurnOutcome::read(turn);
        if turn.some("error").is_some() && word(turn, "status") == "failed" {
            let failure = Failure::of_event(turn);
            let turn = &mut self.thread(id).turn;
            let (target, scope, depth) = (running.target, running.scope, running.depth);
            ThreadContext { normalizer, target, scope, turn, depth }.fatal(&failure);
        }
        if running.is_inner(&turn_id, turn.str("rootTurnId").as_deref()) && !idle {
            running.inner_end = Some(outcome);
            self.thread(id).running = Some(running);
            return;
        }
        self.remember(id, &turn_id);
        self.over(id, running, Some(outcome), normalizer);
    }

    /// Ends a thread's turn as reported, or else as the turn nested in it, or else as interrupted.
    fn over(&mut self, id: &str, mut running: Running, outcome: Option<TurnOutcome>, normalizer: &mut Normalizer) {
        let outcome = outcome.or_else(|| running.inner_end.take());
        self.remember(id, &running.id);
        self.remember(id, &running.root);
        self.turns.remove(&running.id);
        let thread = self.thread(id);
        let (model, tokens, total) = (thread.model(), thread.meter.end_turn(), thread.meter.running());
        thread.rerouted = None;
        thread.waits = None;
        let target = running.target;
        let mut context =
            ThreadContext { normalizer, target, scope: running.scope, turn: &mut thread.turn, depth: running.depth };
        context.end_of_turn();
        let TurnOutcome { end, status, summary } = outcome.unwrap_or_else(|| {
            let why = "the next turn began before the runner said how this one ended";
            let end = RunEnd::interrupted(STREAM_ENDED, why);
            TurnOutcome { end, status: "interrupted".to_owned(), summary: None }
        });
        if !running.own {
            normalizer.subagent_ended(target.stream, id, &status, summary);
            return;
        }
        if let Some(tokens) = tokens {
            context.run_used(tokens, model, total);
        }
        for child in self.children.remove(&target.stream).unwrap_or_default() {
            let is_at_work =
                |thread: &Thread| thread.running.as_ref().is_some_and(|running| running.target.stream == target.stream);
            if self.all.get(&child).is_some_and(is_at_work) {
                normalizer.subagent_outlives(target.stream, &child);
            }
        }
        normalizer.close_work(target.stream, &end);
        normalizer.turn_ended(target.stream, Some(SharedStr::from(status)));
        normalizer.end_run(target.stream, end);
    }

    /// Remembers that a turn has ended, so that later records of it are recognised as late.
    fn remember(&mut self, id: &str, turn_id: &str) {
        let ended = &mut self.thread(id).ended;
        if turn_id.is_empty() || ended.iter().any(|ended| **ended == *turn_id) {
            return;
        }
        if ended.len() == ENDED {
            ended.pop_front();
        }
        ended.push_back(SharedStr::from(turn_id));
    }

    /// Handles a thread's status, which says what the main thread waits for while its turn runs. How the turn ends is reported
    /// by the turn itself or by the turn nested in it.
    pub(super) fn status(&mut self, id: &str, status: &Object<'_>, normalizer: &mut Normalizer) {
        let thread = self.thread(id);
        thread.idle = status.str("type").as_deref() == Some("idle");
        if let Some(running) = thread.running.take_if(|running| running.inner_end.is_some()) {
            if !thread.idle {
                thread.running = Some(running);
            } else {
                self.over(id, running, None, normalizer);
                return;
            }
        }
        if status.str("type").as_deref() != Some("active") {
            return;
        }
        let thread = self.thread(id);
        let Some(running) = thread.running.as_ref().filter(|running| running.own) else { return };
        let flags = status.items("activeFlags");
        let mut flags = flags.into_iter().filter_map(Json::str).filter(|flag| !flag.is_empty());
        let waits = flags.next().map(|flag| SharedStr::from(super::snake(&flag)));
        if waits != thread.waits {
            let word = |waits: &Option<SharedStr>| waits.clone().unwrap_or_else(|| SharedStr::from("running"));
            let body = Body::StatusChanged { old_status: word(&thread.waits), new_status: word(&waits), reason: None };
            thread.waits = waits;
            normalizer.push(running.target, body);
        }
    }

    /// Handles the end of the input. Runs whose nested turn has ended are ended; pending searches are emitted before the other
    /// runs are closed.
    pub(super) fn finish(&mut self, normalizer: &mut Normalizer) {
        let mut open: Vec<SharedStr> =
            self.all.iter().filter(|(_, thread)| thread.running.is_some()).map(|(id, _)| id.clone()).collect();
        open.sort_unstable();
        for id in open {
            if let Some(running) = self.thread(&id).running.take_if(|running| running.inner_end.is_some()) {
                self.over(&id, running, None, normalizer);
            }
            if let Some(mut context) = self.context(&id, normalizer) {
                context.end_of_turn();
            }
        }
    }
}
