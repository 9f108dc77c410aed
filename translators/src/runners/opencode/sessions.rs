//! The sessions of a feed: open runs, parents and children, and the target of each session's output.
//!
//! Input: session ids, as named by events. Output: the target for each session's frames. Never: a child session on the main
//! thread; unbounded memory for the sessions that a feed names (of the idle ones, only the most recent are kept).

use super::super::names::{NameMap, Turnover};
use super::answer::Answer;
use super::calls::Calls;
use super::duplicates::DuplicateFilter;
use super::failure::Failure;
use super::message_log::MessageLog;
use super::prompt::{Copies, Prompt};
use super::session_context::SessionContext;
use super::tasks::UnmatchedTasks;
use crate::derived::uuid_v5;
use crate::frame::SharedStr;
use crate::hash::{HashMap, HashSet};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// The maximum depth to which child sessions are followed to their root.
pub(super) const MAX_DEPTH: u32 = 16;

/// The maximum number of open runs per feed. Beyond it, a new run ends the oldest.
const MAX_OPEN: usize = 1024;

/// The state of all sessions of a feed.
#[derive(Debug, Default)]
pub(super) struct Feed {
    pub(super) sessions: NameMap<Session>,
    pub(super) runs: HashMap<StreamKey, OpenRun>,
    pub(super) duplicates: DuplicateFilter,
    turnover: Turnover,
}

/// An open run.
#[derive(Debug)]
pub(super) struct OpenRun {
    pub(super) session: SharedStr,
    pub(super) calls: Calls,
    pub(super) answer: Answer,
    /// The child sessions that have produced output in it.
    pub(super) children: Vec<SharedStr>,
    /// The task calls that their output is attributed to.
    pub(super) by_call: HashSet<Uuid>,
}

/// A session, root or child.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// When the session was last mentioned, as a count of new sessions.
    noted: u64,
    pub(super) parent: Option<SharedStr>,
    /// The open run. Root sessions only.
    pub(super) run: Option<StreamKey>,
    /// When the newest run's prompt was created, or else its first unfinished message, in Unix epoch milliseconds; `None` if no
    /// record says. Root sessions only. It is kept after the run's end.
    pub(super) since_ms: Option<u64>,
    /// The run that a child session last wrote to.
    pub(super) spoke_in: Option<StreamKey>,
    /// The task call that a child session works for.
    pub(super) tool: Option<Uuid>,
    /// The run's scope for call ids, and this session's scope derived from it.
    scope: Option<(Uuid, Uuid)>,
    /// Whether that call still runs. Its end will end the child's work.
    pub(super) called: bool,
    /// Task calls whose child session is not known yet.
    pub(super) tasks: UnmatchedTasks,
    /// The run in which its work last ended, and the call that it worked for.
    pub(super) over_in: Option<(StreamKey, Option<Uuid>)>,
    /// The title, which describes the task of a child session.
    title: Option<Box<str>>,
    pub(super) message_log: MessageLog,
    /// The user message whose parts are arriving.
    pub(super) prompt: Option<Prompt>,
    copies: Copies,
    pub(super) failure: Option<Failure>,
    pub(super) busy: bool,
    /// How often the session reported idle since it last worked: as a status, and as an event.
    pub(super) idle: [u8; 2],
    pub(super) compaction: Option<&'static str>,
    /// Whether the compaction has been reported. Its event is still to come.
    pub(super) compacted: bool,
    /// Whether the session reports messages. Other events that report the same are then ignored.
    pub(super) classic: bool,
}

impl Session {
    /// The scope of a child's call ids, derived from the run's scope and cached.
    fn scope(&mut self, of_run: Uuid, id: &str) -> Uuid {
        match self.scope {
            Some((of, scope)) if of == of_run => scope,
            _ => self.scope.insert((of_run, uuid_v5(&of_run, id.as_bytes()))).1,
        }
    }
}

impl Feed {
    /// Enters a session, if it is new, and notes that it was mentioned.
    pub(super) fn enter(&mut self, id: &str) -> SharedStr {
        let now = self.turnover.now();
        if let Some((name, session)) = self.sessions.get_key_value(id) {
            let (name, is_noted) = (name.clone(), session.noted == now);
            if let Some(session) = self.sessions.get_mut(id).filter(|_| !is_noted) {
                session.noted = now;
            }
            return name;
        }
        let name = SharedStr::from(id);
        let is_due = self.turnover.enter(self.sessions.len() + 1);
        self.sessions.insert(name.clone(), Session { noted: self.turnover.now(), ..Session::default() });
        if is_due {
            self.forget_idle();
        }
        name
    }

    /// Forgets sessions that have nothing open and have not been mentioned for a long time.
    fn forget_idle(&mut self) {
        let Self { sessions, runs, turnover, .. } = self;
        let is_needed = |session: &Session| {
            turnover.remembers(session.noted)
                || session.run.is_some()
                || session.prompt.is_some()
                || session.spoke_in.is_some_and(|run| runs.contains_key(&run))
        };
        let mut parents: HashSet<SharedStr> = HashSet::default();
        for session in sessions.values().filter(|session| is_needed(session)) {
            let mut at = session.parent.as_ref();
            while let Some(parent) = at
                && parents.insert(parent.clone())
            {
                at = sessions.get(parent).and_then(|session| session.parent.as_ref());
            }
        }
        sessions.retain(|name, session| is_needed(session) || parents.contains(name));
        turnover.scanned(sessions.len());
    }

    /// Ends the oldest runs if more are open than permitted. This happens when a feed breaks off or ends of runs are lost.
    pub(super) fn bound_runs(&mut self, normalizer: &mut Normalizer) {
        while self.runs.len() > MAX_OPEN {
            let oldest = normalizer.runs().find(|run| self.runs.contains_key(run));
            let Some(oldest) = oldest else { return };
            let end = RunEnd::interrupted(STREAM_ENDED, "too many other runs began after it");
            self.give_up(oldest, &end, normalizer);
            self.runs.remove(&oldest);
        }
    }

    /// The state of a session, created if missing.
    pub(super) fn session(&mut self, id: &SharedStr) -> &mut Session {
        self.sessions.entry(id.clone()).or_default()
    }

    /// Notes that a session is a child of another.
    pub(super) fn adopt(&mut self, id: &SharedStr, parent: Option<&str>) {
        let Some(parent) = parent.filter(|parent| !parent.is_empty() && **parent != **id) else { return };
        let parent = self.enter(parent);
        let session = self.session(id);
        if session.parent.is_none() && session.run.is_none() {
            session.parent = Some(parent);
        }
    }

    /// Notes the title of a child session.
    pub(super) fn titled(&mut self, id: &SharedStr, title: Option<&str>) {
        let session = self.session(id);
        if session.parent.is_some() && session.title.is_none() {
            session.title = title.map(Box::from);
        }
    }

    /// The root session, whose run contains this session's output, and this session's depth below it.
    pub(super) fn root(&self, id: &str) -> (SharedStr, u32) {
        let Some((mut at, mut session)) = self.sessions.get_key_value(id) else { return (SharedStr::from(id), 0) };
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

    /// The open run that contains a session's output.
    pub(super) fn run_of(&self, id: &SharedStr) -> Option<StreamKey> {
        self.sessions.get(&self.root(id).0)?.run
    }

    /// Whether something in a session ended before its newest run was requested. If it is also unknown, it belongs to no run.
    pub(super) fn is_old(&self, id: &str, unix_ms: Option<u64>) -> bool {
        let since_ms = self.sessions.get(&self.root(id).0).and_then(|root| root.since_ms);
        unix_ms.zip(since_ms).is_some_and(|(unix_ms, since_ms)| unix_ms < since_ms)
    }

    /// Notes that a session works. Opens its run, with the prompt as input, if none is open.
    pub(super) fn work(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        let (root, _) = self.root(id);
        if self.session(&root).run.is_none() {
            let session = self.session(&root);
            let input = session.prompt.as_ref().map(|prompt| prompt.text.clone()).unwrap_or_default();
            let run = normalizer.open_run(input);
            (session.run, session.failure, session.idle) = (Some(run), None, [0; 2]);
            let asked_ms = session.prompt.as_ref().and_then(|prompt| prompt.created_ms);
            session.since_ms = asked_ms.or(session.since_ms);
            session.message_log.plan.clear();
            let open = OpenRun {
                session: root.clone(),
                calls: Calls::default(),
                answer: Answer::default(),
                children: Vec::new(),
                by_call: HashSet::default(),
            };
            self.runs.insert(run, open);
            self.report_prompt(&root, normalizer);
        }
    }

    /// Reports the pending user message, on the run if one is open. A message without parts keeps waiting for them.
    pub(super) fn report_prompt(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        let Some(prompt) = self.session(id).prompt.take_if(|prompt| !prompt.is_empty()) else { return };
        let session = self.session(id);
        session.message_log.remember(prompt.id.clone());
        session.compaction = prompt.compaction.or(session.compaction);
        if session.copies.is_next(&prompt) {
            return;
        }
        let Some(body) = prompt.into_body() else { return };
        match self.target(id, normalizer) {
            Some(target) => normalizer.push(target, body),
            None => {
                let thread = normalizer.thread();
                normalizer.push(Target::main(thread), body);
            }
        }
    }

    /// The target of a session's output; `None` outside a run.
    pub(super) fn target(&mut self, id: &SharedStr, normalizer: &mut Normalizer) -> Option<Target> {
        let run = self.run_of(id)?;
        let Some(parent) = self.session(id).parent.clone() else { return Some(Target::main(run)) };
        let parent_id = match self.session(id).tool {
            Some(tool) => tool,
            None => {
                // The call has not named its child yet. Match it by the title of the child's session, or else by the order of
                // the calls. If no call is known, a stand-in id is used, which a later call takes over.
                let title = self.session(id).title.clone();
                let tasks = &mut self.session(&parent).tasks;
                let call = tasks.claim(title.as_deref());
                let tool = match &call {
                    Some(call) => call.tool,
                    None => {
                        let stand_in = normalizer.tool(normalizer.stream(run)?.session.id, id).id;
                        tasks.stand_in(stand_in, title);
                        stand_in
                    }
                };
                let (_, depth) = self.root(id);
                self.session(id).tool = Some(tool);
                if let Some(target) = (depth < MAX_DEPTH).then(|| self.target(&parent, normalizer)).flatten() {
                    let (agent, task) = call.map(|call| (call.agent, call.task)).unwrap_or_default();
                    normalizer.subagent_started(target, id, Some(tool), agent, task, depth);
                }
                tool
            }
        };
        let is_new = self.session(id).spoke_in.replace(run) != Some(run);
        if let Some(open) = self.runs.get_mut(&run).filter(|_| is_new) {
            open.children.push(id.clone());
            open.by_call.insert(parent_id);
        }
        Some(Target { stream: run, parent: Some(parent_id) })
    }

    /// Runs `act` with the context of a session; does nothing outside a run.
    pub(super) fn with_context<T>(
        &mut self,
        id: &SharedStr,
        normalizer: &mut Normalizer,
        act: impl FnOnce(&mut SessionContext<'_>, &mut MessageLog) -> T,
    ) -> Option<T> {
        let target = self.target(id, normalizer)?;
        let (_, depth) = self.root(id);
        let scope = normalizer.stream(target.stream)?.session.id;
        // A child's call may have the same id as one of its parent's.
        let OpenRun { calls, answer, .. } = self.runs.get_mut(&target.stream)?;
        let session = self.sessions.get_mut(id)?;
        let scope = if depth > 0 { session.scope(scope, id) } else { scope };
        // Text between the first idle and the last update was cut off.
        let failing = session.failure.is_some() && session.idle != [0; 2];
        let mut context = SessionContext {
            normalizer,
            target,
            scope,
            calls,
            answer,
            depth,
            old: false,
            failing,
            child_speaks: false,
            ended_call: None,
            stand_in: None,
        };
        Some(act(&mut context, &mut session.message_log))
    }
}
