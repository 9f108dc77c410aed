//! Messages and parts, as a feed tells them.
//!
//! In: `message.*` events of any session, in order within each. Out: prompts, and what the parts of the assistant's messages
//! hold. Never: an old message as a new one, a part lost because its message was called complete before it came (of a text
//! that was closed before it was whole, the rest is told by the run's final text and a fault).

use super::clock::{Clock, of_part, times};
use super::failure::Failure;
use super::feed::Event;
use super::parts;
use super::prompt::Prompt;
use super::sessions::Feed;
use super::talk::Early;
use super::tools::Task;
use crate::frame::Name;
use crate::json::Object;
use crate::ledger::Ledger;

/// What is wrong with a part that brings something new when nothing can be told of it any more.
pub(super) const COMES_LATE: &str = "a part of a message whose run is over";

impl Feed {
    /// A message as it is now, without its parts.
    pub(super) fn message(&mut self, id: &Name, props: &Object<'_>, clock: &mut Clock, ledger: &mut Ledger) {
        let Some(info) = props.object("info") else { return };
        let time = info.object("time").unwrap_or_default();
        let message_id = info.str("id").unwrap_or_default();
        let completed_ms = time.u64("completed");
        let known = self.session(id).talk.get(&message_id).is_some();
        if !known && self.is_old(id, completed_ms) {
            return self.pass_over(id, &message_id, ledger);
        }
        if self.session(id).talk.is_closed(&message_id) {
            return;
        }
        if info.str("role").as_deref() == Some("user") {
            // An update with a summary is of a message whose answer is given.
            if info.object("summary").is_none() {
                self.user_message(id, &message_id, time.u64("created"), clock, ledger);
            }
            return;
        }
        if info.str("role").as_deref() != Some("assistant") {
            return ledger.fault("a message of an unknown role");
        }
        let completed = time.some("completed").is_some();
        let session = self.session(id);
        // The server wrote the beginning down when the end was there. There is another update for that, behind the parts.
        let early = completed && !known && session.idle == [0; 2];
        clock.at(completed_ms.filter(|_| !early).or_else(|| time.u64("created")), ledger);
        if !known && completed && self.run_of(id).is_none() {
            return;
        }
        self.work(id, ledger);
        if !known {
            self.settle(id, ledger);
            // Whatever was queued is what the message answers.
            self.tell_prompt(id, ledger);
        }
        let session = self.session(id);
        session.classic = true;
        session.busy |= session.idle == [0; 2];
        if session.parent.is_none() && !completed && session.since_ms.is_none() {
            session.since_ms = time.u64("created");
        }
        let message = session.talk.message(&message_id);
        if let Some(model) = info.str("modelID").filter(|model| !model.is_empty())
            && message.model.as_deref() != Some(&*model)
        {
            message.model = Some(Name::from(&*model));
        }
        message.is_summary |= info.bool("summary") == Some(true);
        let failure = info.some("error").map(|error| Failure::read(Some(error)));
        if early {
            message.early = Some(Early { failure });
            return;
        }
        let failed = failure.is_some();
        if let Some(failure) = failure {
            self.failed(id, failure, ledger);
        }
        if completed {
            self.message_completed(id, &message_id, failed, ledger);
        }
    }

    /// The session goes on or is idle, so that messages whose end was told with their beginning are complete.
    pub(super) fn settle(&mut self, id: &Name, ledger: &mut Ledger) {
        while let Some((message_id, Early { failure })) = self.session(id).talk.take_early() {
            let failed = failure.is_some();
            if let Some(failure) = failure {
                self.failed(id, failure, ledger);
            }
            self.message_completed(id, &message_id, failed, ledger);
        }
    }

    /// Nothing more comes of a message.
    fn message_completed(&mut self, id: &Name, message_id: &str, failed: bool, ledger: &mut Ledger) {
        if !failed {
            // Whatever failed before, the session recovered from.
            self.session(id).failure = None;
        }
        let compaction = self.on_stage(id, ledger, |stage, talk| {
            let message = talk.close(message_id)?;
            stage.failing |= failed;
            message.failed = failed;
            parts::complete_blocks(stage, message);
            (message.is_summary && !failed).then(|| message.summary.take())
        });
        if let Some(summary) = compaction.flatten() {
            self.session(id).compacted = true;
            self.tell_compaction(id, summary, ledger);
        }
        if self.session(id).idle != [0; 2] {
            self.end_if_over(id, ledger);
        }
    }

    /// A user's message as it is now.
    fn user_message(
        &mut self,
        id: &Name,
        message_id: &str,
        created_ms: Option<u64>,
        clock: &mut Clock,
        ledger: &mut Ledger,
    ) {
        // Between runs a clock that was set back must not make a new prompt an old one.
        if self.run_of(id).is_some() && self.is_old(id, created_ms) {
            return self.pass_over(id, message_id, ledger);
        }
        clock.at(created_ms, ledger);
        self.asked(id, message_id, ledger);
        if let Some(prompt) = &mut self.session(id).prompt {
            prompt.created_ms = created_ms.or(prompt.created_ms);
        }
    }

    /// A user's message begins.
    fn asked(&mut self, id: &Name, message_id: &str, ledger: &mut Ledger) {
        let session = self.session(id);
        if session.prompt.as_ref().is_some_and(|prompt| *prompt.id == *message_id) {
            return;
        }
        let stale = session.idle != [0; 2] || (!session.busy && session.failure.is_some());
        self.tell_prompt(id, ledger);
        if stale && self.session(id).parent.is_none() {
            self.conclude(id, ledger);
        }
        self.session(id).prompt = Some(Prompt::new(message_id));
    }

    /// A part as it is now.
    pub(super) fn part(&mut self, id: &Name, event: &Event<'_, '_>, clock: &mut Clock, ledger: &mut Ledger) {
        let Some(part) = event.props.object("part") else { return };
        let message_id = part.str("messageID").unwrap_or_default();
        if self.is_of_old(id, &message_id, &part) {
            return self.pass_over(id, &message_id, ledger);
        }
        clock.at(event.props.u64("time").or_else(|| of_part(&part)), ledger);
        let session = self.session(id);
        if session.talk.is_past(&message_id) {
            if session.talk.get(&message_id).is_some_and(|message| parts::is_news(message, &part)) {
                ledger.fault(COMES_LATE);
            }
            return;
        }
        let is_asked = session.prompt.as_ref().is_some_and(|prompt| *prompt.id == *message_id);
        if is_asked || (session.talk.get(&message_id).is_none() && is_of_user(&part)) {
            if !is_asked {
                self.asked(id, &message_id, ledger);
            }
            if let Some(prompt) = &mut self.session(id).prompt {
                prompt.part(&part);
            }
            return;
        }
        self.work(id, ledger);
        let child_speaks = self.child_speaks(&part);
        let session = self.session(id);
        session.classic = true;
        session.busy |= session.idle == [0; 2];
        let task = self.on_stage(id, ledger, |stage, talk| {
            (stage.old, stage.child_speaks) = (event.old, child_speaks);
            parts::assistant(stage, talk, &message_id, &part, event.props.get("delta"))
        });
        if let Some(task) = task.flatten() {
            self.task(id, task);
        }
    }

    /// Whether a part is of a message that is not known (any more) and older than the newest run: the part was over before
    /// that, or its output was taken away, which the runner does with what is some prompts old.
    fn is_of_old(&mut self, id: &Name, message_id: &str, part: &Object<'_>) -> bool {
        self.session(id).talk.get(message_id).is_none()
            && times(part).is_some_and(|time| time.some("compacted").is_some() || self.is_old(id, time.u64("end")))
    }

    /// Something is told of an old message: it is kept with its session, and is of no run.
    fn pass_over(&mut self, id: &Name, message_id: &str, ledger: &mut Ledger) {
        let talk = &mut self.session(id).talk;
        if !talk.is_closed(message_id) {
            talk.remember(Name::from(message_id));
        }
        let thread = ledger.thread();
        ledger.record_on(thread);
    }

    /// A task call told of its child session.
    fn task(&mut self, id: &Name, task: Task) {
        let session = self.session(id);
        session.tasks.retain(|&waiting| waiting != task.tool);
        let Some(child) = task.child else {
            if !task.is_over {
                session.tasks.push(task.tool);
            }
            return;
        };
        self.enter(&child);
        self.adopt(&child, Some(id));
        let own = self.session(&child);
        if own.parent.as_ref() == Some(id) {
            own.called = !task.is_over;
            // Words that were begun in another's name are ended in it.
            if own.talk.is_complete() {
                own.tool = Some(task.tool);
            }
        }
    }

    /// Whether the child session of a task call is in the middle of a message.
    fn child_speaks(&self, part: &Object<'_>) -> bool {
        let child = || {
            let metadata = part.object("state")?.object("metadata")?;
            self.sessions.get(&*metadata.str("sessionId")?)
        };
        part.str("tool").as_deref() == Some("task") && child().is_some_and(|child| !child.talk.is_complete())
    }

    /// A piece of a part.
    pub(super) fn delta(&mut self, id: &Name, props: &Object<'_>, ledger: &mut Ledger) {
        let (Some(message_id), Some(part_id)) = (props.str("messageID"), props.str("partID")) else { return };
        let Some(piece) = props.get("delta") else { return };
        let talk = &mut self.session(id).talk;
        if talk.is_past(&message_id) {
            return;
        }
        if talk.get(&message_id).is_none() {
            // We came too late to hear the message begin, but its session works.
            return self.work(id, ledger);
        }
        if props.str("field").is_none_or(|field| field == "text") {
            self.on_stage(id, ledger, |stage, talk| {
                if let Some(message) = talk.get(&message_id) {
                    parts::delta(stage, message, &part_id, piece);
                }
            });
        }
    }
}

/// Whether a part can only be of a user's message; for messages of which nothing else is known.
fn is_of_user(part: &Object<'_>) -> bool {
    match part.str("type").as_deref() {
        Some("text") => part.get("time").is_none(),
        Some(kind) => matches!(kind, "file" | "agent" | "subtask" | "compaction"),
        None => false,
    }
}
