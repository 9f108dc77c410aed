//! Messages and parts, as reported by a feed.
//!
//! Input: `message.*` events of any session, in order within each. Output: prompts, and the contents of the parts of assistant
//! messages. Never: an old message taken for a new one; a part lost because its message was completed before the part arrived.
//! If a text block was closed before its text was complete, the rest appears in the run's final text and as an error.

use super::super::clock::Clock;
use super::clock::{of_part, times};
use super::failure::Failure;
use super::feed::Event;
use super::message_log::EarlyEnd;
use super::parts;
use super::prompt::Prompt;
use super::sessions::Feed;
use super::tools::Task;
use crate::frame::SharedStr;
use crate::json::Object;
use crate::normalizer::Normalizer;
use crate::sequence::StreamKey;

/// The error for a part with new content that can no longer be reported.
pub(super) const COMES_LATE: &str = "a part of a message whose run is over";

impl Feed {
    /// Handles the current state of a message, without its parts.
    pub(super) fn message(
        &mut self,
        id: &SharedStr,
        props: &Object<'_>,
        clock: &mut Clock,
        normalizer: &mut Normalizer,
    ) {
        let Some(info) = props.object("info") else { return };
        let time = info.object("time").unwrap_or_default();
        let message_id = info.str("id").unwrap_or_default();
        let completed_ms = time.u64("completed");
        let known = self.session(id).message_log.get(&message_id).is_some();
        if !known && self.is_old(id, completed_ms) {
            return self.pass_over(id, &message_id, normalizer);
        }
        if self.session(id).message_log.is_closed(&message_id) {
            // The result that follows a schema comes after the end of its message.
            return self.structured(id, &message_id, &info, normalizer);
        }
        if info.str("role").as_deref() == Some("user") {
            // An update with a summary concerns a message that has been answered already.
            if info.object("summary").is_none() {
                self.user_message(id, &message_id, time.u64("created"), clock, normalizer);
            }
            return;
        }
        if info.str("role").as_deref() != Some("assistant") {
            return normalizer.unknown("a message of an unknown role");
        }
        let completed = time.some("completed").is_some();
        let session = self.session(id);
        // The server serialised the first update when the end was already known. Another update reports the end after the
        // parts.
        let early = completed && !known && session.idle == [0; 2];
        clock.at(completed_ms.filter(|_| !early).or_else(|| time.u64("created")), normalizer);
        if !known && completed && self.run_of(id).is_none() {
            return;
        }
        self.work(id, normalizer);
        if !known {
            self.settle(id, normalizer);
            // The message answers whatever was queued.
            self.report_prompt(id, normalizer);
        }
        let session = self.session(id);
        session.classic = true;
        session.busy |= session.idle == [0; 2];
        if session.parent.is_none() && !completed && session.since_ms.is_none() {
            session.since_ms = time.u64("created");
        }
        let message = session.message_log.message(&message_id);
        if let Some(model) = info.str("modelID").filter(|model| !model.is_empty())
            && message.model.as_deref() != Some(&*model)
        {
            message.model = Some(SharedStr::from(&*model));
        }
        message.is_summary |= info.bool("summary") == Some(true);
        let failure = info.some("error").map(|error| Failure::read(Some(error)));
        if early {
            message.early = Some(EarlyEnd { failure });
            return self.structured(id, &message_id, &info, normalizer);
        }
        self.structured(id, &message_id, &info, normalizer);
        let failed = failure.is_some();
        if let Some(failure) = failure {
            self.failed(id, failure, normalizer);
        }
        if completed {
            self.message_completed(id, &message_id, failed, normalizer);
        }
    }

    /// Notes the result of a message of the main thread, if it has one that follows a schema.
    fn structured(&mut self, id: &SharedStr, message_id: &str, info: &Object<'_>, normalizer: &mut Normalizer) {
        if info.some("structured").is_none() || self.session(id).parent.is_some() {
            return;
        }
        self.with_context(id, normalizer, |context, message_log| {
            if !message_log.is_past(message_id)
                && let Some(message) = message_log.get(message_id)
            {
                context.answer.read_structured(info, message.order);
            }
        });
    }

    /// Completes messages whose end was reported with their start, because the session has moved on or is idle.
    pub(super) fn settle(&mut self, id: &SharedStr, normalizer: &mut Normalizer) {
        while let Some((message_id, EarlyEnd { failure })) = self.session(id).message_log.take_early() {
            let failed = failure.is_some();
            if let Some(failure) = failure {
                self.failed(id, failure, normalizer);
            }
            self.message_completed(id, &message_id, failed, normalizer);
        }
    }

    /// Completes a message.
    fn message_completed(&mut self, id: &SharedStr, message_id: &str, failed: bool, normalizer: &mut Normalizer) {
        if !failed {
            // The session recovered from earlier failures.
            self.session(id).failure = None;
        }
        let compaction = self.with_context(id, normalizer, |context, message_log| {
            let message = message_log.close(message_id)?;
            context.failing |= failed;
            message.failed = failed;
            parts::complete_blocks(context, message);
            (message.is_summary && !failed).then(|| message.summary.take())
        });
        if let Some(summary) = compaction.flatten() {
            self.session(id).compacted = true;
            self.report_compaction(id, summary, normalizer);
        }
        if self.session(id).idle != [0; 2] {
            self.end_if_over(id, normalizer);
        }
    }

    /// Handles the current state of a user message.
    fn user_message(
        &mut self,
        id: &SharedStr,
        message_id: &str,
        created_ms: Option<u64>,
        clock: &mut Clock,
        normalizer: &mut Normalizer,
    ) {
        // Between runs, a clock that was set back must not make a new prompt look old.
        if self.run_of(id).is_some() && self.is_old(id, created_ms) {
            return self.pass_over(id, message_id, normalizer);
        }
        clock.at(created_ms, normalizer);
        self.asked(id, message_id, normalizer);
        if let Some(prompt) = &mut self.session(id).prompt {
            prompt.created_ms = created_ms.or(prompt.created_ms);
        }
    }

    /// Starts a user message.
    fn asked(&mut self, id: &SharedStr, message_id: &str, normalizer: &mut Normalizer) {
        let session = self.session(id);
        if session.prompt.as_ref().is_some_and(|prompt| *prompt.id == *message_id) {
            return;
        }
        let stale = session.idle != [0; 2] || (!session.busy && session.failure.is_some());
        self.report_prompt(id, normalizer);
        if stale && self.session(id).parent.is_none() {
            self.conclude(id, normalizer);
        }
        self.session(id).prompt = Some(Prompt::new(message_id));
    }

    /// Handles the current state of a part.
    pub(super) fn part(
        &mut self,
        id: &SharedStr,
        event: &Event<'_, '_>,
        clock: &mut Clock,
        normalizer: &mut Normalizer,
    ) {
        let Some(part) = event.props.object("part") else { return };
        let message_id = part.str("messageID").unwrap_or_default();
        if self.is_of_old(id, &message_id, &part) {
            return self.pass_over(id, &message_id, normalizer);
        }
        clock.at(event.props.u64("time").or_else(|| of_part(&part)), normalizer);
        let session = self.session(id);
        if session.message_log.is_past(&message_id) {
            if session.message_log.get(&message_id).is_some_and(|message| parts::is_news(message, &part)) {
                normalizer.add_error(COMES_LATE);
            }
            return;
        }
        let is_asked = session.prompt.as_ref().is_some_and(|prompt| *prompt.id == *message_id);
        if is_asked || (session.message_log.get(&message_id).is_none() && is_of_user(&part)) {
            if !is_asked {
                self.asked(id, &message_id, normalizer);
            }
            if let Some(prompt) = &mut self.session(id).prompt {
                prompt.part(&part);
            }
            return;
        }
        self.work(id, normalizer);
        let child_speaks = self.child_speaks(&part);
        let session = self.session(id);
        session.classic = true;
        session.busy |= session.idle == [0; 2];
        let stand_in = self.stand_in(id, &message_id, &part);
        let over_in = self.child_over(&part);
        let task = self.with_context(id, normalizer, |context, message_log| {
            (context.old, context.child_speaks, context.stand_in) = (event.old, child_speaks, stand_in);
            context.ended_call = over_in.filter(|(run, _)| *run == context.target.stream).and_then(|(_, tool)| tool);
            parts::assistant(context, message_log, &message_id, &part, event.props.get("delta"))
        });
        if let Some(task) = task.flatten() {
            self.task(id, task);
        }
    }

    /// Whether a part belongs to an unknown or forgotten message that is older than the newest run. Either the part ended
    /// before that run, or its output was removed: the runner removes the output of parts that are several prompts old.
    fn is_of_old(&mut self, id: &SharedStr, message_id: &str, part: &Object<'_>) -> bool {
        self.session(id).message_log.get(message_id).is_none()
            && times(part).is_some_and(|time| time.some("compacted").is_some() || self.is_old(id, time.u64("end")))
    }

    /// Keeps a record about an old message with its session, but assigns it to no run.
    fn pass_over(&mut self, id: &SharedStr, message_id: &str, normalizer: &mut Normalizer) {
        let message_log = &mut self.session(id).message_log;
        if !message_log.is_closed(message_id) {
            message_log.remember(SharedStr::from(message_id));
        }
        let thread = normalizer.thread();
        normalizer.record_on(thread);
    }

    /// Handles what a task call reports about its child session.
    fn task(&mut self, id: &SharedStr, task: Task) {
        let session = self.session(id);
        let Some(child) = task.child else {
            if task.is_over {
                session.tasks.remove(task.call.tool);
            } else if !self.claimed(id, task.call.tool) {
                self.session(id).tasks.add(task.call);
            }
            return;
        };
        session.tasks.remove(task.call.tool);
        self.enter(&child);
        self.adopt(&child, Some(id));
        let own = self.session(&child);
        if own.parent.as_ref() == Some(id) {
            own.called = !task.is_over;
            // Text that was started under another call ends under that call.
            if own.message_log.is_complete() {
                own.tool = Some(task.call.tool);
            }
        }
    }

    /// Whether a child session already speaks for this call.
    fn claimed(&self, id: &SharedStr, tool: uuid::Uuid) -> bool {
        let children = self.run_of(id).and_then(|run| self.runs.get(&run)).map(|open| &open.by_call);
        children.is_some_and(|children| children.contains(&tool))
    }

    /// The stand-in id for a task call that appears for the first time, if a child session spoke before it.
    fn stand_in(&mut self, id: &SharedStr, message_id: &str, part: &Object<'_>) -> Option<uuid::Uuid> {
        if part.str("tool").as_deref() != Some("task") {
            return None;
        }
        let session = self.session(id);
        let part_id = part.str("id").unwrap_or_default();
        if session.message_log.get(message_id).is_some_and(|message| message.known(&part_id).is_some()) {
            return None;
        }
        let state = part.object("state").unwrap_or_default();
        let child = state.object("metadata").and_then(|metadata| metadata.str("sessionId").map(|id| id.into_owned()));
        if let Some(child) = child.and_then(|child| self.sessions.get(&*child)) {
            let tool = child.tool?;
            return self.session(id).tasks.take(tool);
        }
        let call = super::tools::task_call(uuid::Uuid::nil(), &state);
        self.session(id).tasks.take_stand_in(&call)
    }

    /// The run in which the child session of a task call ended, and the call that it ended for.
    fn child_over(&self, part: &Object<'_>) -> Option<(StreamKey, Option<uuid::Uuid>)> {
        if part.str("tool").as_deref() != Some("task") {
            return None;
        }
        let metadata = part.object("state")?.object("metadata")?;
        self.sessions.get(&*metadata.str("sessionId")?)?.over_in
    }

    /// Whether the child session of a task call is in the middle of a message.
    fn child_speaks(&self, part: &Object<'_>) -> bool {
        let child = || {
            let metadata = part.object("state")?.object("metadata")?;
            self.sessions.get(&*metadata.str("sessionId")?)
        };
        part.str("tool").as_deref() == Some("task") && child().is_some_and(|child| !child.message_log.is_complete())
    }

    /// Handles a delta of a part.
    pub(super) fn delta(&mut self, id: &SharedStr, props: &Object<'_>, normalizer: &mut Normalizer) {
        let (Some(message_id), Some(part_id)) = (props.str("messageID"), props.str("partID")) else { return };
        let Some(piece) = props.get("delta") else { return };
        let message_log = &mut self.session(id).message_log;
        if message_log.is_past(&message_id) {
            return;
        }
        if message_log.get(&message_id).is_none() {
            // The feed was joined after the message started, but its session is working.
            return self.work(id, normalizer);
        }
        if props.str("field").is_none_or(|field| field == "text") {
            self.with_context(id, normalizer, |context, message_log| {
                if let Some(message) = message_log.get(&message_id) {
                    parts::delta(context, message, &part_id, piece);
                }
            });
        }
    }
}

/// Whether a part can only belong to a user message. Used for messages about which nothing else is known.
fn is_of_user(part: &Object<'_>) -> bool {
    match part.str("type").as_deref() {
        Some("text") => part.get("time").is_none(),
        Some(kind) => matches!(kind, "file" | "agent" | "subtask" | "compaction"),
        None => false,
    }
}
