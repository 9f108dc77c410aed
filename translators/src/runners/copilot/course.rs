//! The course of a run: its prompt, its turns, and its end.
//!
//! Input: prompts, the events around model calls, `abort`, `result`, `session.shutdown`. Output: the beginning and the end of turns and runs.
//! A run of the stream extends to its `result`. A session file has none: there, a run extends from a prompt to the next one or to the
//! end of the process. Never: an exit code of 0 taken for success after an abort or an error; an interrupted process reports it too.

use super::super::stops::Stop;
use super::decoder::{Copilot, Event};
use super::failure;
use super::runs::{Run, Session};
use crate::frame::{Attachment, Body, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};

impl Copilot {
    /// Handles a prompt. That of a subagent is its task.
    pub(super) fn user_message(&mut self, event: &Event<'_>, index: u64, normalizer: &mut Normalizer) {
        if event.agent.is_some() {
            self.ensure(normalizer);
            return;
        }
        let data = &event.data;
        let text = data.str("content").unwrap_or_default();
        // What the runner itself says to the model, and what a person says while it works, is a part of the run.
        let is_own = data.bool("isAutopilotContinuation") == Some(true)
            || data.str("source").is_some_and(|source| !source.is_empty() && source != "user");
        let is_within = is_own || data.str("delivery").as_deref() == Some("steering");
        let is_open = self.run.as_ref().is_some_and(|run| run.is_prompted);
        if !is_open || !is_within {
            self.next_run(&text, normalizer);
        }
        if is_own || text.is_empty() {
            return;
        }
        let message_id = match data.str("messageId").filter(|id| !id.is_empty()) {
            Some(id) => SharedStr::from(&*id),
            None => SharedStr::from(format!("user-{index}")),
        };
        let attachments = data.items("attachments").into_iter().filter_map(Json::object);
        let attachments = attachments.map(|file| attachment(&file)).collect();
        let target = self.main(normalizer);
        let message = UserMessage { message_id, text: text.into_owned(), attachments };
        normalizer.push(target, Body::UserMessage(Box::new(message)));
    }

    /// Begins a run with the current record, and ends the one that is open.
    fn next_run(&mut self, prompt: &str, normalizer: &mut Normalizer) {
        let before = self.run.take();
        let key = self.begin_run(prompt, normalizer);
        normalizer.record_on(key);
        if let Some(before) = before {
            let next = self.run.take();
            self.run = Some(before);
            self.end_run_as_it_went(None, normalizer);
            self.run = next;
        }
    }

    pub(super) fn turn_starts(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.reply_begins(target, normalizer);
        if target.parent.is_none()
            && let Some(run) = &mut self.run
        {
            // The model is named by what follows.
            run.turn_is_due = true;
        }
    }

    pub(super) fn model_called(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.reply_begins(target, normalizer);
        if target.parent.is_none() {
            self.model_chosen(event);
        }
        self.in_turn(target, normalizer);
    }

    /// Notes the model of the next model call.
    pub(super) fn model_chosen(&mut self, event: &Event<'_>) {
        let data = &event.data;
        if event.agent.is_none()
            && let Some(model) = data.str("newModel").or_else(|| data.str("model")).filter(|model| !model.is_empty())
        {
            self.session.model = Some(SharedStr::from(&*model));
        }
    }

    /// Begins the turn that was announced, or one whose announcement was lost. Subagents have no turns in frames.
    pub(super) fn in_turn(&mut self, target: Target, normalizer: &mut Normalizer) {
        if target.parent.is_some() {
            return;
        }
        let model = self.session.model.clone();
        let Some(run) = self.run_of(target.stream) else { return };
        if std::mem::take(&mut run.turn_is_due) || !normalizer.in_turn(target.stream) {
            let stop_reason = run.stop_reason.take();
            normalizer.turn_ended(target.stream, stop_reason);
            normalizer.turn_started(target.stream, model);
        }
    }

    pub(super) fn turn_ends(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.abandon(target, normalizer);
        if target.parent.is_none() {
            self.end_turn(normalizer);
        }
    }

    fn end_turn(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = &mut self.run else { return };
        let (key, is_due) = (run.key, std::mem::take(&mut run.turn_is_due));
        let stop_reason = run.stop_reason.take();
        if is_due {
            // A turn without a model call that was reported.
            normalizer.turn_started(key, self.session.model.clone());
        }
        normalizer.turn_ended(key, stop_reason);
    }

    pub(super) fn aborted(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let reason = event.data.str("reason").unwrap_or_default().into_owned();
        let run = self.ensure(normalizer);
        // A subagent that is aborted does not stop its caller.
        if event.agent.is_none() {
            run.course.aborted = Some(reason);
        }
    }

    /// Handles the last record of the stream, the only one with the session's id.
    pub(super) fn result(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let key = self.ensure(normalizer).key;
        normalizer.record_on(key);
        let exit = fields.i64("exitCode");
        if exit.is_none() {
            normalizer.add_error("a result without an exit code");
        }
        // Without its code, only an answer shows that the run succeeded.
        let answered = self.run.as_ref().is_some_and(|run| run.course.answered);
        self.end_run_as_it_went(exit.or(answered.then_some(0)), normalizer);
        self.session = Session::default();
    }

    pub(super) fn session_starts(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        if let Some(id) = event.data.str("sessionId").filter(|id| !id.is_empty()) {
            normalizer.set_session(&id);
        }
        self.process_begins(normalizer);
        self.session = Session::default();
        // The session has used nothing yet, so its total is known.
        self.session.total = Some(crate::frame::Figures::default());
        self.session_selects(event);
    }

    pub(super) fn session_resumes(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        self.process_begins(normalizer);
        self.session_selects(event);
    }

    /// A process begins to write to a session file. The record belongs to no run, even if it shows that one is over.
    fn process_begins(&mut self, normalizer: &mut Normalizer) {
        let thread = normalizer.thread();
        normalizer.record_on(thread);
        self.end_run_as_it_went(None, normalizer);
    }

    fn session_selects(&mut self, event: &Event<'_>) {
        if let Some(model) = event.data.str("selectedModel").filter(|model| !model.is_empty()) {
            self.session.model = Some(SharedStr::from(&*model));
        }
    }

    /// Handles the end of a process in a session file.
    pub(super) fn shut_down(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        if let Some(run) = &self.run {
            normalizer.record_on(run.key);
        }
        self.totalled(&event.data, normalizer);
        if let Some(run) = self.run.as_mut().filter(|run| run.course.failure.is_none() && !run.course.answered) {
            run.course.failure = failure::of_crash(&event.data);
        }
        self.end_run_as_it_went(None, normalizer);
    }

    /// Ends the open run, by what its records say. `exit` is the exit code, if the runner reported one.
    pub(super) fn end_run_as_it_went(&mut self, exit: Option<i64>, normalizer: &mut Normalizer) {
        let Some(run) = &mut self.run else { return };
        let course = std::mem::take(&mut run.course);
        let end = if let Some(reason) = course.aborted {
            let message = match &*reason {
                "" | "user_initiated" => "interrupted by the user".to_owned(),
                other => format!("the runner aborted the run: {other}"),
            };
            RunEnd::interrupted("interrupted", message)
        } else if let Some(failure) = course.failure {
            failure.run_end()
        } else {
            let stop = course.finish_reason.as_deref().and_then(|reason| Some((Stop::of(reason)?, reason)));
            match (exit, stop) {
                (Some(code), _) if code != 0 => failure::of_exit(code).run_end(),
                (_, Some((stop, reason))) if exit.is_some() || (course.answered && !course.is_live) => {
                    stop.end(reason, None)
                }
                (Some(_), _) => RunEnd::completed(),
                (None, _) if course.answered && !course.is_live => RunEnd::completed(),
                (None, _) => {
                    RunEnd::interrupted(STREAM_ENDED, "the stream ended before the runner said how the run ended")
                }
            }
        };
        if let Some(run) = self.run.take() {
            self.close_run(run, end, normalizer);
        }
    }

    /// Closes everything that is open in a run, then ends it.
    pub(super) fn close_run(&mut self, run: Run, end: RunEnd, normalizer: &mut Normalizer) {
        let key = run.key;
        let other = self.run.replace(run);
        self.abandon_all(normalizer);
        normalizer.close_work(key, &end);
        self.end_turn(normalizer);
        self.run = other;
        normalizer.end_run(key, end);
    }
}

/// A file that a person attached.
fn attachment(file: &Object<'_>) -> Attachment {
    let mime = file.str("mimeType").filter(|mime| !mime.is_empty());
    let is_image = mime.as_deref().is_some_and(|mime| mime.starts_with("image/"));
    let kind = match file.str("type") {
        _ if is_image => "image".into(),
        Some(kind) if !kind.is_empty() && kind != "blob" => kind,
        _ => "file".into(),
    };
    let name = ["path", "displayName", "name", "filePath"].iter().find_map(|key| file.str(key));
    Attachment {
        kind: SharedStr::from(&*kind),
        mime: mime.map(|mime| SharedStr::from(&*mime)),
        artifact_id: None,
        name: name.filter(|name| !name.is_empty()).map(|name| name.into_owned()),
        bytes: file.u64("byteLength").or_else(|| file.get("data").and_then(decoded_bytes)),
    }
}

/// The number of bytes that a base64 string encodes.
fn decoded_bytes(data: Json<'_>) -> Option<u64> {
    let content = data.text().strip_prefix('"')?.strip_suffix('"')?;
    let padding = content.len() - content.trim_end_matches('=').len();
    Some((content.len() as u64 / 4 * 3).saturating_sub(padding as u64))
}
