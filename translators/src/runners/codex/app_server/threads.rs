//! Threads and their turns.
//!
//! In: when turns begin and end, in which thread. Out: runs; for the thread of a subagent the place in its parent's run.
//! Never: two runs of one thread at a time.

use super::super::super::names::{self, NameMap};
use super::super::errors::Failure;
use super::super::items::Agents;
use super::super::stage::{Stage, Turn};
use super::super::usage::Meter;
use super::word;
use crate::frame::{Body, Name, UsageScope};
use crate::json::{Json, Object};
use crate::ledger::{Ledger, Place, RunEnd, STREAM_ENDED};
use crate::sequence::{StreamKey, uuid_of};
use std::borrow::Cow;
use uuid::Uuid;

/// The threads that spoke.
#[derive(Debug, Default)]
pub(super) struct Threads {
    all: NameMap<Thread>,
}

/// One thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The main thread of its tree; its own id unless it is a subagent's.
    session: Option<Name>,
    running: Option<Running>,
    turn: Turn,
    pub(super) meter: Meter,
    pub(super) model: Option<Name>,
    /// What the client asked for, until the turn begins.
    pub(super) input: Option<String>,
    /// What the turn waits for, as the last status said.
    waits: Option<Name>,
    /// Whether a turn of it was seen.
    seen: bool,
}

/// The turn of a thread that runs.
#[derive(Clone, Debug)]
struct Running {
    id: Name,
    place: Place,
    /// Whether the run is this thread's own, and not that of the thread that started it.
    own: bool,
    scope: Uuid,
    depth: u32,
}

impl Threads {
    pub(super) fn thread(&mut self, id: &str) -> &mut Thread {
        names::enter(&mut self.all, id)
    }

    /// Names the session that a record about this thread belongs to.
    pub(super) fn address(&self, id: &str, ledger: &mut Ledger) {
        if !id.is_empty() {
            let session = self.all.get(id).and_then(|thread| thread.session.as_deref());
            ledger.set_session(session.unwrap_or(id));
        }
    }

    /// The place of a thread's running turn; `None` between turns.
    pub(super) fn stage<'l>(&'l mut self, id: &str, ledger: &'l mut Ledger) -> Option<Stage<'l>> {
        let thread = self.all.get_mut(id)?;
        let running = thread.running.as_ref()?;
        Some(Stage { ledger, place: running.place, scope: running.scope, turn: &mut thread.turn, depth: running.depth })
    }

    /// A thread introduces itself.
    pub(super) fn known(&mut self, fields: &Object<'_>, model: Option<Cow<'_, str>>, ledger: &mut Ledger) {
        let Some(id) = fields.str("id") else { return };
        self.address(&id, ledger);
        let model = model.or_else(|| fields.str("model"));
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.thread(&id).model = Some(Name::from(&*model));
        }
    }

    pub(super) fn turn_started(&mut self, id: &str, turn: &Object<'_>, agents: &mut Agents, ledger: &mut Ledger) {
        let turn_id = turn.str("id").unwrap_or_default();
        let root = turn.str("rootTurnId").unwrap_or_else(|| turn_id.clone());
        self.begin(id, &turn_id, &root, agents, ledger);
    }

    /// An item of a thread whose turn began before the input did.
    pub(super) fn join(&mut self, id: &str, params: &Object<'_>, agents: &mut Agents, ledger: &mut Ledger) {
        if self.all.get(id).is_some_and(|thread| thread.seen) {
            return;
        }
        let turn_id = params.str("turnId").unwrap_or_default();
        if !turn_id.is_empty() {
            self.begin(id, &turn_id, &turn_id, agents, ledger);
        }
    }

    fn begin(&mut self, id: &str, turn_id: &str, root: &str, agents: &mut Agents, ledger: &mut Ledger) {
        let before = self.thread(id).running.take();
        if let Some(running) = before.clone().filter(|running| *running.id == *turn_id) {
            self.thread(id).running = Some(running);
            return;
        }
        let running = match self.parent_of(id, turn_id, root, agents, ledger) {
            Some((place, depth)) => Running { id: Name::from(turn_id), place, own: false, scope: uuid_of(id), depth },
            None => {
                ledger.set_session(id);
                let thread = self.thread(id);
                let run = ledger.open_run(thread.input.take().unwrap_or_default());
                ledger.record_on(run);
                ledger.turn_started(run, thread.model.clone());
                let scope = ledger.stream(run).map_or_else(|| uuid_of(id), |stream| stream.session.id);
                Running { id: Name::from(turn_id), place: Place::main(run), own: true, scope, depth: 0 }
            }
        };
        if let Some(before) = before {
            let why = "the next turn began before the runner said how this one ended";
            self.over(id, &before, RunEnd::interrupted(STREAM_ENDED, why), None, ledger);
        }
        let thread = self.thread(id);
        thread.seen = true;
        thread.running = Some(running);
    }

    /// Where a subagent's turn is told: in the run of the thread that started it.
    fn parent_of(
        &mut self,
        id: &str,
        turn_id: &str,
        root: &str,
        agents: &mut Agents,
        ledger: &mut Ledger,
    ) -> Option<(Place, u32)> {
        let by_root = (root != turn_id).then(|| self.owner(root)).flatten().filter(|(owner, _)| **owner != *id);
        let child = match agents.child(id) {
            Some(child) => Some(child),
            None => by_root.as_ref().and_then(|_| agents.adopt(id)),
        };
        let (mut stream, tool, depth, parent) = match (child, &by_root) {
            (Some(child), _) => (child.parent.stream, child.tool, child.depth, Some(child.parent)),
            // Nobody said which call started it; the thread's own id stands for the call.
            (None, Some((_, stream))) => (*stream, uuid_of(id), 1, None),
            (None, None) => return None,
        };
        let session = ledger.stream(stream).map(|stream| stream.session.name.clone());
        let session = session.or_else(|| self.thread(id).session.clone());
        if !ledger.is_open(stream) {
            // The run in which it was started is over: its thread may have another by now.
            let thread = session.as_ref().and_then(|session| self.all.get(session));
            let running = thread.and_then(|thread| thread.running.as_ref()).filter(|running| running.own);
            stream = running.map_or(stream, |running| running.place.stream);
        }
        if let Some(session) = session {
            ledger.set_session(&session);
            self.thread(id).session = Some(session);
        }
        let started = Place { stream, parent: parent.and_then(|place| place.parent) };
        ledger.subagent_started(started, id, child.map(|child| child.tool), None, None, depth);
        Some((Place { stream, parent: Some(tool) }, depth))
    }

    /// The thread that runs this turn, and its run.
    fn owner(&self, turn_id: &str) -> Option<(Name, StreamKey)> {
        let runs = |thread: &Thread| thread.running.as_ref().filter(|running| *running.id == *turn_id).cloned();
        self.all.iter().find_map(|(id, thread)| Some((id.clone(), runs(thread)?.place.stream)))
    }

    /// A thread has one turn at a time, so whichever of its turns ends, the one that runs is over: a review ends its outer
    /// turn, which never began.
    pub(super) fn turn_completed(&mut self, id: &str, turn: &Object<'_>, ledger: &mut Ledger) {
        let Some(running) = self.thread(id).running.take() else { return };
        let status = word(turn, "status");
        let error = turn.object("error");
        let failure = error.as_ref().map(Failure::read);
        let end = match (status.as_str(), &failure) {
            ("failed", Some(failure)) => RunEnd::failed(failure.code(), failure.message.clone().into_owned()),
            ("failed", None) => RunEnd::failed("execution_error", "the turn failed"),
            ("interrupted", _) => RunEnd::interrupted("interrupted", "the turn was interrupted"),
            _ => RunEnd::completed(),
        };
        if let (Some(failure), "failed") = (&failure, status.as_str()) {
            let mut stage = Stage {
                ledger,
                place: running.place,
                scope: running.scope,
                turn: &mut self.thread(id).turn,
                depth: running.depth,
            };
            stage.fatal(failure);
        }
        let summary = turn
            .items("items")
            .into_iter()
            .rev()
            .filter_map(Json::object)
            .find(|item| item.str("type").as_deref() == Some("agentMessage"))
            .and_then(|item| item.str("text").map(Cow::into_owned));
        self.over(id, &running, end, Some((status, summary)), ledger);
    }

    fn over(
        &mut self,
        id: &str,
        running: &Running,
        end: RunEnd,
        told: Option<(String, Option<String>)>,
        ledger: &mut Ledger,
    ) {
        let thread = self.thread(id);
        let (model, tokens) = (thread.model.clone(), thread.meter.end_turn());
        thread.waits = None;
        let place = running.place;
        let mut stage = Stage { ledger, place, scope: running.scope, turn: &mut thread.turn, depth: running.depth };
        stage.end_of_turn();
        let (status, summary) = told.unwrap_or_else(|| ("interrupted".to_owned(), None));
        if !running.own {
            ledger.subagent_ended(place.stream, id, &status, summary);
            return;
        }
        if let Some(tokens) = tokens {
            let usage = tokens.usage(UsageScope::Run, model);
            ledger.push(place, Body::UsageReported(Box::new(usage)));
        }
        ledger.close_work(place.stream);
        ledger.turn_ended(place.stream, Some(Name::from(status)));
        ledger.end_run(place.stream, end);
    }

    /// What the main thread waits for, while its turn runs. How the turn ends is told by the turn.
    pub(super) fn status(&mut self, id: &str, status: &Object<'_>, ledger: &mut Ledger) {
        if status.str("type").as_deref() != Some("active") {
            return;
        }
        let thread = self.thread(id);
        let Some(running) = thread.running.as_ref().filter(|running| running.own) else { return };
        let flags = status.items("activeFlags");
        let waits = flags.into_iter().find_map(Json::str).map(|flag| Name::from(super::snake(&flag)));
        if waits != thread.waits {
            let word = |waits: &Option<Name>| waits.clone().unwrap_or_else(|| Name::from("running"));
            let body = Body::StatusChanged { old_status: word(&thread.waits), new_status: word(&waits), reason: None };
            thread.waits = waits;
            ledger.push(running.place, body);
        }
    }

    /// The input is over: what was begun and never told is told, before the runs are closed.
    pub(super) fn finish(&mut self, ledger: &mut Ledger) {
        let mut open: Vec<Name> =
            self.all.iter().filter(|(_, thread)| thread.running.is_some()).map(|(id, _)| id.clone()).collect();
        open.sort_unstable();
        for id in open {
            if let Some(mut stage) = self.stage(&id, ledger) {
                stage.end_of_turn();
            }
        }
    }
}
