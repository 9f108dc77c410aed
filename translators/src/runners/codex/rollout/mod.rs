//! Session files: the journal of one thread. The `{id, msg}` lines of older versions contain the same events.
//!
//! Input: lines with a `type` and a `payload`. Output: one run for each task. Never: the same content twice, although the file
//! contains it both as an event and as API traffic; another thread's history that is copied to the start of a file; usage of an
//! earlier turn.
//!
//! Events report what was shown. Calls and reasoning are read from the API traffic, because only it contains rejected and
//! interrupted calls and the encrypted reasoning.

mod calls;
mod events;
mod report;
mod sessions;
mod usage;

use super::errors::Failure;
use super::items::{Agents, Item, Phase, report};
use super::thread_context::{CompactionRecord, ThreadContext, Turn};
use super::usage::{Meter, Tokens};
use crate::frame::SharedStr;
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::rfc3339::unix_ms;
use crate::sequence::{StreamKey, uuid_of};
use sessions::Sessions;
use uuid::Uuid;

/// Decodes the journal of a thread.
#[derive(Debug, Default)]
pub(super) struct Rollout {
    thread: Option<SharedStr>,
    /// The thread whose history may be copied to the start of this file.
    origin: Option<SharedStr>,
    /// Whether the current lines are a copy of another thread's history.
    copying: bool,
    /// Whether the copy contains turn starts, which show where it ends.
    copied_turns: bool,
    /// Which family of events contains the messages; `None` if the file does not say.
    history: Option<History>,
    /// Whether the file contains calls besides events.
    has_calls: bool,
    cwd: String,
    model: Option<SharedStr>,
    prompt: Option<String>,
    running: Option<Running>,
    /// The turn that ended last. Later records of it are late.
    ended: Option<SharedStr>,
    turn: Turn,
    agents: Agents,
    meter: Meter,
    /// The thread's total in the last record of a request.
    recorded: Option<Tokens>,
    sessions: Sessions,
}

/// How a file stores messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    /// As items.
    Paginated,
    /// As a separate event for each kind.
    Legacy,
}

#[derive(Clone, Debug)]
struct Running {
    run: StreamKey,
    /// The turn's id; "" if the file does not contain it.
    turn_id: SharedStr,
    /// The turn that it is part of, if known. The inner turn of a review may be reported first.
    root: Option<SharedStr>,
    /// Whether the turn's start was reported. Older files contain only the messages.
    begun: bool,
    /// Whether the assistant has produced a message.
    answered: bool,
    /// Whether a model call is open.
    calling: bool,
    /// How the run ends because of a failure, and the stop reason that follows from it.
    failure: Option<(RunEnd, &'static str)>,
    scope: Uuid,
}

impl Running {
    /// Whether the turn is only implied by its messages.
    fn is_implied(&self) -> bool {
        !self.begun && self.turn_id.is_empty()
    }
}

/// Lines without a corresponding frame.
const SILENT: &[&str] =
    &["world_state", "retained_context", "inter_agent_communication_metadata", "ghost_snapshot", "state"];

impl Rollout {
    /// Decodes a line of a session file.
    pub(super) fn record(&mut self, word: &str, payload: Json<'_>, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(ms) = fields.str("timestamp").and_then(|time| unix_ms(&time)) {
            normalizer.set_time(ms);
        }
        self.has_calls = true;
        let json = payload;
        let payload = fields.object("payload").unwrap_or_default();
        if word == "session_meta" {
            self.session(&payload, normalizer);
            return;
        }
        self.address(normalizer);
        if self.copying && !self.is_own(&payload) {
            return;
        }
        self.copying = false;
        match word {
            "event_msg" => self.event(&payload, normalizer),
            "response_item" => self.item_of_api(json, &payload, normalizer),
            "turn_context" => self.context(&payload),
            "token_usage_record" => self.usage_record(&payload, normalizer),
            "compacted" => {
                let summary = payload.str("message").filter(|text| !text.is_empty()).map(|text| text.into_owned());
                self.with_context(normalizer, |context, _| context.compaction(CompactionRecord::History, summary));
            }
            _ if SILENT.contains(&word) => {}
            _ => normalizer.unknown(format!("unknown line type {word:?}")),
        }
        self.keep(normalizer);
    }

    /// The events of one conversation of an app-server; "" if they do not name it.
    pub(super) fn of_conversation(id: &str) -> Self {
        Self { thread: (!id.is_empty()).then(|| SharedStr::from(id)), ..Self::default() }
    }

    /// Whether a run of this thread was reported.
    pub(super) fn has_run(&self) -> bool {
        self.running.is_some() || self.ended.is_some()
    }

    /// Ends the open run, if any, because no more of its records are read.
    pub(super) fn close(&mut self, normalizer: &mut Normalizer) {
        self.address(normalizer);
        self.finish(normalizer);
        if self.running.is_some() {
            let why = "too many other conversations were mentioned after it";
            self.end(RunEnd::interrupted(STREAM_ENDED, why), "", normalizer);
        }
    }

    /// Notes a prompt, which an older version echoes before anything else.
    pub(super) fn prompt(&mut self, prompt: &str) {
        self.prompt = Some(prompt.to_owned());
    }

    /// Decodes a live message of an older version, which is an event as in a session file.
    pub(super) fn message(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        if message.str("type").as_deref() == Some("session_configured") {
            self.session(message, normalizer);
            return;
        }
        self.address(normalizer);
        self.event(message, normalizer);
        self.keep(normalizer);
    }

    /// Handles the end of the input. Ends the run if its outcome is known; otherwise emits pending searches before the run is
    /// closed.
    pub(super) fn finish(&mut self, normalizer: &mut Normalizer) {
        let Some(running) = self.running.clone() else { return };
        match running.failure {
            Some((end, stop_reason)) => self.end(end, stop_reason, normalizer),
            // A file without turn starts has no turn ends either: an answer ends the turn.
            None if running.is_implied() && running.answered => self.end(RunEnd::completed(), "completed", normalizer),
            None => {
                self.end_of_turn(normalizer);
            }
        }
    }

    /// Handles a thread's description. A second one in a file describes the thread whose history is copied.
    fn session(&mut self, meta: &Object<'_>, normalizer: &mut Normalizer) {
        let id = meta.str("id").or_else(|| meta.str("session_id")).unwrap_or_default();
        if self.thread.is_some()
            && self.origin.as_deref() == Some(&*id)
            && self.running.is_none()
            && self.ended.is_none()
        {
            self.copying = true;
            self.address(normalizer);
            return;
        }
        if self.thread.as_deref() != Some(&*id) {
            let before = std::mem::take(self);
            self.has_calls = before.has_calls;
            self.prompt = before.prompt.clone();
            normalizer.set_session(&id);
            // The record belongs to the new session, even though frames of the old one are still to be emitted.
            let thread = normalizer.thread();
            normalizer.record_on(thread);
            let mut before = before;
            before.finish(normalizer);
            before.abandon(normalizer);
        }
        let text = |key| meta.str(key).filter(|text| !text.is_empty()).map(|text| SharedStr::from(&*text));
        self.origin = text("forked_from_id").or_else(|| text("parent_thread_id"));
        self.copying = text("forked_from_id").is_some();
        self.thread = Some(SharedStr::from(&*id));
        self.cwd = meta.str("cwd").unwrap_or_default().into_owned();
        self.model = text("model");
        self.history = match meta.str("history_mode").as_deref() {
            Some("paginated") => Some(History::Paginated),
            Some("legacy") => Some(History::Legacy),
            _ => None,
        };
        normalizer.set_session(&id);
    }

    /// Whether a line ends the copied history. Ids increase with time, so a turn of this thread has a greater id than the
    /// thread. A line may also name the thread. If neither decides, the line counts as the thread's own, because a duplicate in
    /// two files is better than a loss.
    fn is_own(&mut self, payload: &Object<'_>) -> bool {
        let Some(thread) = self.thread.as_deref() else { return true };
        if payload.str("thread_id").as_deref() == Some(thread) {
            return true;
        }
        match payload.str("type").as_deref() {
            Some("task_started" | "turn_started") => {
                let turn = payload.str("turn_id").unwrap_or_default();
                let copied = turn.len() == thread.len() && *turn < *thread;
                self.copied_turns |= copied;
                !copied
            }
            Some("user_message") => !self.copied_turns,
            _ => false,
        }
    }

    fn context(&mut self, payload: &Object<'_>) {
        if let Some(cwd) = payload.str("cwd") {
            self.cwd = cwd.into_owned();
        }
        if let Some(model) = payload.str("model") {
            self.model = Some(SharedStr::from(&*model));
        }
    }

    // --- events --------------------------------------------------------------------------------------------------

    fn event(&mut self, event: &Object<'_>, normalizer: &mut Normalizer) {
        let word = event.str("type").unwrap_or_default();
        let turn_id = event.str("turn_id").unwrap_or_default();
        match &*word {
            "task_started" | "turn_started" => self.started(event, &turn_id, normalizer),
            "task_complete" | "turn_complete" => self.complete(event, &turn_id, normalizer),
            "turn_aborted" => {
                if self.is_current(&turn_id) {
                    let reason = event.str("reason").unwrap_or_default();
                    let code = if reason.is_empty() { "interrupted" } else { &reason };
                    self.end(RunEnd::interrupted(code, "the turn was interrupted"), code, normalizer);
                }
            }
            "item_started" | "item_completed" => {
                let phase = if word == "item_started" { Phase::Started } else { Phase::Completed };
                self.item(event, &turn_id, phase, normalizer);
            }
            "token_count" => self.token_count(event, normalizer),
            "user_message" | "agent_message" if self.history == Some(History::Paginated) => {}
            "user_message" => {
                if self.running.as_ref().is_some_and(Running::is_implied) {
                    // The file has no turn starts, so the next prompt starts the next turn.
                    self.finish(normalizer);
                    self.abandon(normalizer);
                }
                if self.running.is_none() {
                    self.open("", false, normalizer);
                }
                self.report_event(&word, event, normalizer);
            }
            _ => self.report_event(&word, event, normalizer),
        }
    }

    fn report_event(&mut self, word: &str, event: &Object<'_>, normalizer: &mut Normalizer) {
        let has_calls = self.has_calls;
        if word == "agent_message" {
            if has_calls {
                // The item of the API traffic that begins the call otherwise follows the event.
                self.ensure_model_call(normalizer);
            }
            if let Some(running) = &mut self.running {
                running.answered = true;
            }
        }
        if !events::is_known(word) {
            normalizer.unknown(format!("unknown event {word:?}"));
        } else if word == "error"
            && let Some(running) = &mut self.running
        {
            let failure = Failure::of_event(event);
            running.failure = Some((failure.run_end(), failure.stop_reason()));
            self.with_context(normalizer, |context, _| context.fatal(&failure));
        } else {
            self.with_context(normalizer, |context, _| events::report(context, word, event, has_calls));
        }
    }

    fn started(&mut self, event: &Object<'_>, turn_id: &str, normalizer: &mut Normalizer) {
        let of = |key: &str| event.str(key).or_else(|| event.object("turn_attribution")?.str(key));
        if let Some(running) = &mut self.running {
            let within = |key: &str| of(key).is_some_and(|id| *id == *running.turn_id);
            // A review is a turn nested in the turn that requested it.
            let is_same = *running.turn_id == *turn_id || running.root.as_deref() == Some(turn_id);
            if is_same || within("root_turn_id") || within("parent_turn_id") {
                running.begun = true;
                return;
            }
        }
        let root = of("root_turn_id").filter(|root| **root != *turn_id).map(|root| SharedStr::from(&*root));
        self.open(turn_id, true, normalizer);
        if let Some(running) = &mut self.running {
            running.root = root;
        }
    }

    fn complete(&mut self, event: &Object<'_>, turn_id: &str, normalizer: &mut Normalizer) {
        if !self.is_current(turn_id) {
            return;
        }
        let failure = event.some("error").map(|_| Failure::of_event(event));
        if let Some(failure) = &failure {
            self.with_context(normalizer, |context, _| context.fatal(failure));
        }
        let reported = failure.map(|failure| (failure.run_end(), failure.stop_reason()));
        let silent = event.some("last_agent_message").is_none();
        let before = self.running.as_ref().and_then(|running| running.failure.clone()).filter(|_| silent);
        match reported.or(before) {
            Some((end, stop_reason)) => self.end(end, stop_reason, normalizer),
            None => self.end(RunEnd::completed(), "completed", normalizer),
        }
    }

    fn item(&mut self, event: &Object<'_>, turn_id: &str, phase: Phase, normalizer: &mut Normalizer) {
        let Some(fields) = event.object("item") else {
            normalizer.add_error("an item event without an item");
            return;
        };
        let item = Item::read(fields);
        if self.running.is_none() {
            // A review is announced before its turn starts. Late items belong to no run.
            let late = turn_id.is_empty() || self.ended.as_deref() == Some(turn_id);
            if late {
                return;
            }
            self.open(turn_id, false, normalizer);
        }
        match item.word.as_str() {
            // The API traffic contains the reasoning too, with its encrypted form. The traffic of other threads is not in this
            // file.
            "reasoning" if self.has_calls && self.is_own_thread(event) => return,
            "agent_message" | "user_message" if self.history == Some(History::Legacy) => return,
            "agent_message" => {
                self.ensure_model_call(normalizer);
                if let Some(running) = &mut self.running {
                    running.answered = true;
                }
            }
            _ => {}
        }
        let known = self.with_context(normalizer, |context, agents| report(context, agents, &item, phase));
        if known == Some(false) {
            normalizer.unknown(format!("unknown item type {:?}", item.word));
        }
    }

    fn is_own_thread(&self, event: &Object<'_>) -> bool {
        event.str("thread_id").is_none_or(|thread| self.thread.as_deref() == Some(&*thread))
    }

    // --- runs ----------------------------------------------------------------------------------------------------

    /// Starts a model call when the model produces output and its last call is over.
    fn ensure_model_call(&mut self, normalizer: &mut Normalizer) {
        if let Some(running) = &mut self.running
            && !running.calling
        {
            running.calling = true;
            normalizer.turn_started(running.run, self.model.clone());
        }
    }

    fn call_over(&mut self, _: &mut Normalizer) {
        if let Some(running) = &mut self.running {
            running.calling = false;
        }
    }

    fn open(&mut self, turn_id: &str, begun: bool, normalizer: &mut Normalizer) {
        let run = normalizer.open_run(self.prompt.take().unwrap_or_default());
        normalizer.record_on(run);
        self.abandon(normalizer);
        let thread = self.thread.as_deref().unwrap_or_default();
        let scope = normalizer.stream(run).map_or_else(|| uuid_of(thread), |stream| stream.session.id);
        self.running = Some(Running {
            run,
            turn_id: SharedStr::from(turn_id),
            root: None,
            begun,
            answered: false,
            calling: false,
            failure: None,
            scope,
        });
    }

    /// Whether the end of this turn is the end of the run, and not that of a nested or earlier turn.
    fn is_current(&self, turn_id: &str) -> bool {
        let is = |running: &Running| {
            let is_same = *running.turn_id == *turn_id || running.root.as_deref() == Some(turn_id);
            turn_id.is_empty() || running.turn_id.is_empty() || is_same
        };
        self.running.as_ref().is_some_and(is)
    }

    /// Ends a turn whose process is gone without reporting how the turn ended.
    fn abandon(&mut self, normalizer: &mut Normalizer) {
        if self.running.is_some() {
            let why = "the next turn began before the runner said how this one ended";
            self.end(RunEnd::interrupted(STREAM_ENDED, why), "", normalizer);
        }
    }

    fn end(&mut self, end: RunEnd, stop_reason: &str, normalizer: &mut Normalizer) {
        let (model, tokens, running) = (self.model.clone(), self.meter.end_turn(), self.meter.running());
        self.end_of_turn(normalizer);
        self.with_context(normalizer, |context, _| {
            if let Some(tokens) = tokens {
                context.run_used(tokens, model, running);
            }
        });
        if let Some(running) = self.running.take() {
            normalizer.close_work(running.run, &end);
            normalizer.turn_ended(running.run, (!stop_reason.is_empty()).then(|| SharedStr::from(stop_reason)));
            normalizer.end_run(running.run, end);
            self.ended = Some(running.turn_id);
        }
    }

    /// Reports what the turn left pending.
    fn end_of_turn(&mut self, normalizer: &mut Normalizer) {
        let mut sessions = std::mem::take(&mut self.sessions);
        self.with_context(normalizer, |context, _| {
            sessions.end_of_turn(context);
            context.end_of_turn();
        });
    }

    fn address(&self, normalizer: &mut Normalizer) {
        if let Some(thread) = &self.thread {
            normalizer.set_session(thread);
        }
    }

    /// Assigns a line without derived frames to the open run.
    pub(super) fn keep(&self, normalizer: &mut Normalizer) {
        if let Some(running) = &self.running {
            normalizer.record_on(running.run);
        }
    }

    fn with_context<T>(
        &mut self,
        normalizer: &mut Normalizer,
        act: impl FnOnce(&mut ThreadContext<'_>, &mut Agents) -> T,
    ) -> Option<T> {
        let running = self.running.as_ref()?;
        let target = Target::main(running.run);
        let mut context = ThreadContext { normalizer, target, scope: running.scope, turn: &mut self.turn, depth: 0 };
        Some(act(&mut context, &mut self.agents))
    }
}
