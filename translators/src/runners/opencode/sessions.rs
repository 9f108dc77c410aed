//! The sessions of a feed: which runs are open, who is whose child, and where each speaks.
//!
//! In: session ids, as events name them. Out: the place of each session's words. Never: a child session on the main thread.

use super::super::names::NameMap;
use super::answer::Answer;
use super::calls::Calls;
use super::failure::Failure;
use super::prompt::Prompt;
use super::stage::Stage;
use super::talk::Talk;
use super::twins::Twins;
use crate::derived::uuid_v5;
use crate::frame::Name;
use crate::hash::HashMap;
use crate::ledger::{Ledger, Place};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// How deep child sessions are followed to their root.
const MAX_DEPTH: u32 = 16;

/// Everything known of the sessions of a feed.
#[derive(Debug, Default)]
pub(super) struct Feed {
    pub(super) sessions: NameMap<Session>,
    pub(super) runs: HashMap<StreamKey, OpenRun>,
    pub(super) twins: Twins,
}

/// A run that is open.
#[derive(Debug)]
pub(super) struct OpenRun {
    pub(super) session: Name,
    pub(super) calls: Calls,
    pub(super) answer: Answer,
    /// The child sessions that spoke in it.
    pub(super) children: Vec<Name>,
}

/// A session, root or child.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) parent: Option<Name>,
    /// The open run; of root sessions only.
    pub(super) run: Option<StreamKey>,
    /// When the newest run's prompt was begun, or the first message that was being written in it, in Unix epoch
    /// milliseconds, if anything said so; of root sessions only. It stays behind the run's end.
    pub(super) since_ms: Option<u64>,
    /// The run in which a child spoke last.
    pub(super) spoke_in: Option<StreamKey>,
    /// The call for which a child works.
    pub(super) tool: Option<Uuid>,
    /// A run's scope of call ids, and this session's own within it.
    scope: Option<(Uuid, Uuid)>,
    /// That call still runs, and ends the child's work when it ends.
    pub(super) called: bool,
    /// Task calls that have not told their child session yet.
    pub(super) tasks: Vec<Uuid>,
    pub(super) talk: Talk,
    /// The user's message whose parts come in.
    pub(super) prompt: Option<Prompt>,
    pub(super) failure: Option<Failure>,
    pub(super) busy: bool,
    /// How often idle was said since the session last worked, as a status and as an event.
    pub(super) idle: [u8; 2],
    pub(super) compaction: Option<&'static str>,
    /// The compaction was told; what still comes is the event of it.
    pub(super) compacted: bool,
    /// The session speaks in messages, so that what else tells the same is left alone.
    pub(super) classic: bool,
}

impl Session {
    /// The scope of a child's call ids, derived once from that of the run.
    fn scope(&mut self, of_run: Uuid, id: &str) -> Uuid {
        match self.scope {
            Some((of, scope)) if of == of_run => scope,
            _ => self.scope.insert((of_run, uuid_v5(&of_run, id.as_bytes()))).1,
        }
    }
}

impl Feed {
    /// The session of this id, known from now on.
    pub(super) fn enter(&mut self, id: &str) -> Name {
        if let Some((name, _)) = self.sessions.get_key_value(id) {
            return name.clone();
        }
        let name = Name::from(id);
        self.sessions.insert(name.clone(), Session::default());
        name
    }

    /// What is known of a session.
    pub(super) fn session(&mut self, id: &Name) -> &mut Session {
        self.sessions.entry(id.clone()).or_default()
    }

    /// A session turns out to be the child of another.
    pub(super) fn adopt(&mut self, id: &Name, parent: Option<&str>) {
        let Some(parent) = parent.filter(|parent| !parent.is_empty() && **parent != **id) else { return };
        let parent = self.enter(parent);
        let session = self.session(id);
        if session.parent.is_none() && session.run.is_none() {
            session.parent = Some(parent);
        }
    }

    /// The session in whose run this one speaks, and how deep below it this one is.
    pub(super) fn root(&self, id: &str) -> (Name, u32) {
        let Some((mut at, mut session)) = self.sessions.get_key_value(id) else { return (Name::from(id), 0) };
        let mut depth = 0;
        while depth < MAX_DEPTH
            && let Some(parent) = &session.parent
        {
            depth += 1;
            match self.sessions.get_key_value(parent) {
                Some(found) => (at, session) = found,
                None => return (parent.clone(), depth),
            }
        }
        (at.clone(), depth)
    }

    /// The open run in which a session speaks.
    pub(super) fn run_of(&self, id: &Name) -> Option<StreamKey> {
        self.sessions.get(&self.root(id).0)?.run
    }

    /// Whether something of a session was over before its newest run was asked for. What is unknown then, is of no run.
    pub(super) fn is_old(&self, id: &str, unix_ms: Option<u64>) -> bool {
        let since_ms = self.sessions.get(&self.root(id).0).and_then(|root| root.since_ms);
        unix_ms.zip(since_ms).is_some_and(|(unix_ms, since_ms)| unix_ms < since_ms)
    }

    /// A session works: its run is open from now on, with what was asked.
    pub(super) fn work(&mut self, id: &Name, ledger: &mut Ledger) {
        let (root, _) = self.root(id);
        if self.session(&root).run.is_none() {
            let session = self.session(&root);
            let input = session.prompt.as_ref().map(|prompt| prompt.text.clone()).unwrap_or_default();
            let run = ledger.open_run(input);
            (session.run, session.failure, session.idle) = (Some(run), None, [0; 2]);
            let asked_ms = session.prompt.as_ref().and_then(|prompt| prompt.created_ms);
            session.since_ms = asked_ms.or(session.since_ms);
            session.talk.plan.clear();
            let open = OpenRun {
                session: root.clone(),
                calls: Calls::default(),
                answer: Answer::default(),
                children: Vec::new(),
            };
            self.runs.insert(run, open);
            self.tell_prompt(&root, ledger);
        }
    }

    /// Tells the user's message that came in, on the run if there is one. One without parts still waits for them.
    pub(super) fn tell_prompt(&mut self, id: &Name, ledger: &mut Ledger) {
        let Some(prompt) = self.session(id).prompt.take_if(|prompt| !prompt.is_empty()) else { return };
        let session = self.session(id);
        session.talk.remember(prompt.id.clone());
        session.compaction = prompt.compaction.or(session.compaction);
        let Some(body) = prompt.into_body() else { return };
        match self.place(id, ledger) {
            Some(place) => ledger.push(place, body),
            None => {
                let thread = ledger.thread();
                ledger.push(Place::main(thread), body);
            }
        }
    }

    /// Where a session speaks; `None` outside any run.
    pub(super) fn place(&mut self, id: &Name, ledger: &mut Ledger) -> Option<Place> {
        let run = self.run_of(id)?;
        let Some(parent) = self.session(id).parent.clone() else { return Some(Place::main(run)) };
        let parent_id = match self.session(id).tool {
            Some(tool) => tool,
            None => {
                // The call has not told its child yet. One that waits is the one; else nobody knows, but the child must
                // not speak on the main thread.
                let tool = match &*self.session(&parent).tasks {
                    [only] => Some(*only),
                    _ => None,
                };
                let (_, depth) = self.root(id);
                let stand_in = tool.or_else(|| Some(ledger.tool(ledger.stream(run)?.session.id, id).id))?;
                self.session(id).tool = Some(stand_in);
                if let Some(place) = (depth < MAX_DEPTH).then(|| self.place(&parent, ledger)).flatten() {
                    ledger.subagent_started(place, id, tool, None, None, depth);
                }
                stand_in
            }
        };
        if self.session(id).spoke_in.replace(run) != Some(run)
            && let Some(open) = self.runs.get_mut(&run)
        {
            open.children.push(id.clone());
        }
        Some(Place { stream: run, parent: Some(parent_id) })
    }

    /// Does something where a session speaks; nothing outside its run.
    pub(super) fn on_stage<T>(
        &mut self,
        id: &Name,
        ledger: &mut Ledger,
        act: impl FnOnce(&mut Stage<'_>, &mut Talk) -> T,
    ) -> Option<T> {
        let place = self.place(id, ledger)?;
        let (_, depth) = self.root(id);
        let scope = ledger.stream(place.stream)?.session.id;
        // A child's call may have the id of one of its parent's.
        let OpenRun { calls, answer, .. } = self.runs.get_mut(&place.stream)?;
        let session = self.sessions.get_mut(id)?;
        let scope = if depth > 0 { session.scope(scope, id) } else { scope };
        // What is said between the first idle and the last words was cut off.
        let failing = session.failure.is_some() && session.idle != [0; 2];
        let mut stage = Stage { ledger, place, scope, calls, answer, depth, old: false, failing, child_speaks: false };
        Some(act(&mut stage, &mut session.talk))
    }
}
