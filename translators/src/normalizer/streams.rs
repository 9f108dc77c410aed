//! The sessions, runs and tasks of an input: which streams are open, and how they end.
//!
//! Input: what a decoder says about sessions, runs and tasks. Output: streams that begin, and that end once, after everything in
//! them is closed. Never: a run that ends twice, or an end before a late record that still belongs to the run.

use super::held::HeldEnd;
use super::stream_state::StreamState;
use super::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::frame::{
    Body, EndReason, RUN_ENDED_FIRST, RUN_INTERRUPTED_FIRST, SessionEnded, SharedStr, Stream, StreamKind,
    is_interrupted_by_person,
};
use crate::sequence::StreamKey;
use std::sync::Arc;
use uuid::Uuid;

/// The status of a subagent that still works when its run ends. Its later output is not part of the run.
const DETACHED: &str = "detached";

/// The record that ended a run is searched for among this many latest frames.
const NOTED_WITHIN: usize = 1024;

impl Normalizer {
    /// Names the session that the record speaks of.
    pub fn set_session(&mut self, session: &str) {
        if *self.session != *session {
            self.session = SharedStr::from(session);
        }
    }

    /// Sets the session of runs whose session the runner does not name.
    pub(crate) fn set_home(&mut self, session: &str) {
        self.sequencer.set_home(session);
    }

    /// The session that was named last; "" before the first one.
    pub fn session(&self) -> SharedStr {
        self.session.clone()
    }

    /// The name of the session that was named last.
    pub(crate) fn session_name(&self) -> &str {
        &self.session
    }

    /// Begins a run of the session that was named last. Later frames belong to no earlier run.
    pub fn open_run(&mut self, input: impl Into<String>) -> StreamKey {
        self.release_ends();
        let session = self.session.clone();
        let run = self.sequencer.open_run(&session);
        self.runs.insert(run);
        if let Some(stream) = self.sequencer.stream(run) {
            *self.open_of.entry(stream.session.id).or_default() += 1;
        }
        self.open.insert(run, StreamState::default());
        self.say_earlier_prompt();
        let input = self.prompts.begin(run, input.into());
        self.emit(Target::main(run), Body::SessionStarted { input });
        run
    }

    /// Opens the stream of a background task. Its first frame should be `tool_task_spawned`, and its last a terminal
    /// `tool_task_status`, followed by [`Normalizer::close_task`]. A task that is left open ends as failed when the input ends.
    pub fn open_task(&mut self, run: StreamKey, task_id: &str) -> StreamKey {
        let stream = self.sequencer.open_task(run, task_id);
        self.tasks.insert(stream);
        stream
    }

    /// A background task emits nothing more.
    pub fn close_task(&mut self, stream: StreamKey) {
        self.adopted_is_over(stream);
        self.open.remove(&stream);
        self.tasks.remove(&stream);
        self.sequencer.close(stream);
    }

    /// The thread stream of the session that was named last.
    pub fn thread(&mut self) -> StreamKey {
        let session = self.session.clone();
        self.sequencer.thread(&session)
    }

    /// A stream's properties; `None` once the stream is closed.
    pub fn stream(&self, key: StreamKey) -> Option<&Arc<Stream>> {
        self.sequencer.stream(key)
    }

    /// The id of a stream's session; nil once the stream is closed.
    pub fn session_id_of(&self, key: StreamKey) -> Uuid {
        self.stream(key).map_or(Uuid::nil(), |stream| stream.session.id)
    }

    /// Whether a run (or task) is still open.
    pub fn is_open(&self, key: StreamKey) -> bool {
        self.sequencer.stream(key).is_some() && !self.held.has(key)
    }

    /// The open runs, oldest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = StreamKey> + '_ {
        self.runs.iter().copied()
    }

    /// The most recently opened run that is still open.
    pub fn current_run(&self) -> Option<StreamKey> {
        self.runs.last().copied()
    }

    /// Closes everything in a run except its turn, so that the turn can end afterwards with its stop reason. `end` is how the
    /// run is going to end.
    pub fn close_work(&mut self, run: StreamKey, end: &RunEnd) {
        let end = self.overridden(end).unwrap_or(end);
        self.close_open(run, why_left(end.reason, end.error_code.as_deref()));
    }

    /// Ends a run: closes everything that is open in it, then emits its end after the records that still belong to it. Does
    /// nothing if the run is already over.
    ///
    /// The final text is the decoder's, otherwise the main thread's last complete text. If a limit or a filter cut the answer
    /// off, it is the text so far.
    pub fn end_run(&mut self, run: StreamKey, end: RunEnd) {
        let end = self.unless_interrupted(end);
        if !self.is_open(run) {
            return;
        }
        let Some(stream) = self.sequencer.stream(run).filter(|stream| stream.kind == StreamKind::Session) else {
            return;
        };
        let session = stream.session.clone();
        self.adopted_is_over(run);
        self.close_work(run, &end);
        self.turn_ended(run, None);
        self.total_usage(run);
        // The record that ends the run is part of the run.
        self.record_on(run);
        let is_whole = !end.cuts_answer();
        let open = self.open.remove(&run).unwrap_or_default();
        let alive = open.alive();
        let last_text = open.cut_text.filter(|_| !is_whole).or(open.final_text);
        self.say_prompt(run);
        self.runs.remove(&run);
        let is_followed = self.one_less_of(session.id) > 0;
        if !is_followed && self.held.is_enabled() {
            self.note_end(run, &end, last_text.as_deref());
        }
        let held = HeldEnd {
            run,
            thread: self.sequencer.thread(&session.name),
            time_ms: self.time_ms,
            since_ms: self.held.arrived_ms(),
            alive,
            end: Box::new(SessionEnded {
                reason: end.reason,
                final_text: end.final_text.or(last_text),
                error_code: end.error_code,
                message: end.message,
            }),
        };
        let released = if is_followed || !self.held.is_enabled() { Some(held) } else { self.held.push(held) };
        self.release(released);
    }

    /// Stores on the run's last record how the run ended, because its last frame is emitted later.
    pub(super) fn note_end(&mut self, run: StreamKey, end: &RunEnd, last_text: Option<&str>) {
        let Some(stream) = self.sequencer.stream(run) else { return };
        let recent = self.frames.iter_mut().rev().take(NOTED_WITHIN).filter(|frame| frame.stream.id == stream.id);
        let record = recent.filter_map(|frame| match &mut frame.body {
            Body::ProviderEvent(record) => Some(record),
            _ => None,
        });
        if let Some(record) = record.into_iter().next() {
            record.ends_run = Some(Box::new(SessionEnded {
                reason: end.reason,
                // The last text is already in the run's frames.
                final_text: end.final_text.as_deref().filter(|text| Some(*text) != last_text).map(str::to_owned),
                error_code: end.error_code.clone(),
                message: end.message.clone(),
            }));
        }
    }

    /// A run of a session is over. Returns how many of its runs are still open.
    pub(super) fn one_less_of(&mut self, session: Uuid) -> usize {
        let Some(open) = self.open_of.get_mut(&session) else { return 0 };
        *open = open.saturating_sub(1);
        let left = *open;
        if left == 0 {
            self.open_of.remove(&session);
        }
        left
    }

    pub(super) fn release(&mut self, ends: impl IntoIterator<Item = HeldEnd>) {
        let now_ms = self.time_ms;
        for HeldEnd { run, time_ms, end, alive, .. } in ends {
            self.time_ms = time_ms;
            for (subagent_id, parent) in alive {
                let body = Body::SubagentEnded { subagent_id, status: SharedStr::from(DETACHED), summary: None };
                self.number(Target { stream: run, parent }, body);
            }
            self.number(Target::main(run), Body::SessionEnded(end));
            self.sequencer.close(run);
        }
        self.time_ms = now_ms;
    }

    /// If the run was interrupted, a failure that is only inferred from the end of the input becomes that interruption. If the decoder
    /// knows no more than that the input ended, the reason that the host knows is better.
    pub(super) fn unless_interrupted(&self, end: RunEnd) -> RunEnd {
        match self.overridden(&end) {
            Some(cut) => RunEnd { final_text: end.final_text, ..cut.clone() },
            None => end,
        }
    }

    /// The end that the host knows, if it replaces this one.
    fn overridden(&self, end: &RunEnd) -> Option<&RunEnd> {
        self.cut.as_ref().filter(|cut| {
            self.ending
                && (end.error_code.as_deref() == Some(STREAM_ENDED)
                    || (cut.reason == EndReason::Interrupted && end.reason != EndReason::Completed))
        })
    }
}

/// The error of a tool that is still running when its run ends like this.
pub(super) fn why_left(reason: EndReason, code: Option<&str>) -> &'static str {
    let is_interrupted = reason == EndReason::Interrupted && code.is_some_and(is_interrupted_by_person);
    if is_interrupted { RUN_INTERRUPTED_FIRST } else { RUN_ENDED_FIRST }
}
