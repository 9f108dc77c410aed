//! `opencode export`: one document with a whole session.
//!
//! Input: the document, as one record. Output: the session's runs, one for each message in which a person (or a program in a
//! person's place) made a request. A run ends as its last message says. If that message is incomplete, or calls tools whose results no message
//! answers, the session was exported while it worked; the run stays open until the end of the input. The calls of a turn that a refusal
//! stops, or that ends with a result that follows a schema, await no answer. Never: the text of a subagent on the main thread.
//!
//! **Subagents.** The runner exports the session alone. framegate's query of its database adds the sessions of its subagents. The messages of
//! such a session that were created before the end of the call that names it are the work of that call. Others belong to the run that was the
//! newest when they were created: a session that no call names, because its call was stopped early, and what a session did after its
//! call. They are reported at the end of that run, for the session's last call, or for one of which only the id is known. So their usage
//! is in the run's total. Subagents that worked at the same time are reported one after the other.

use super::super::clock::Clock;
use super::answer::Answer;
use super::calls::Calls;
use super::children::Children;
use super::clock::of_part;
use super::failure::{Failure, verdict};
use super::message_log::MessageLog;
use super::parts;
use super::prompt::{Copies, Prompt};
use super::session_context::SessionContext;
use super::sessions::MAX_DEPTH;
use super::tools::{self, is_refusal};
use crate::derived::uuid_v5;
use crate::frame::{Body, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;
use uuid::Uuid;

struct Export<'l, 'd> {
    normalizer: &'l mut Normalizer,
    clock: &'l mut Clock,
    old: bool,
    session: SharedStr,
    run: Option<StreamKey>,
    calls: Calls,
    answer: Answer,
    course: Course,
    children: Children<'d>,
    /// How the run's last message ended.
    ended: Ended,
}

/// What was reported of a session.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) message_log: MessageLog,
    compaction: Option<&'static str>,
    copies: Copies,
}

/// The session whose messages are read, and the target of its output.
#[derive(Clone, Debug)]
struct Thread {
    session: SharedStr,
    run: StreamKey,
    /// The task call that the session works for; `None` for the session of the run itself.
    call: Option<Uuid>,
    /// 0 for the session of the run, 1 for its children, and so on.
    depth: u32,
}

/// How a session's last message ended; `None` while it is incomplete, or calls tools and awaits another one.
type Ended = Option<Option<Failure>>;

/// Decodes an exported session.
pub(super) fn document<'d>(document: &Object<'d>, clock: &mut Clock, normalizer: &mut Normalizer) {
    let info = document.object("info").unwrap_or_default();
    let session = info.str("id").unwrap_or_default();
    normalizer.set_session(&session);
    let old = info.str("version").is_some_and(|version| version.starts_with("1.0.") || version.starts_with("0."));
    let mut export = Export {
        normalizer,
        clock,
        old,
        session: SharedStr::from(&*session),
        run: None,
        calls: Calls::default(),
        answer: Answer::default(),
        course: Course::default(),
        children: Children::<'d>::of(document),
        ended: None,
    };
    for message in document.items("messages").into_iter().filter_map(Json::object) {
        export.message(&message);
    }
    export.end_children(None);
    export.end_run();
}

impl Thread {
    fn target(&self) -> Target {
        Target { stream: self.run, parent: self.call }
    }
}

impl Export<'_, '_> {
    /// Decodes a message of the session itself.
    fn message(&mut self, message: &Object<'_>) {
        let info = message.object("info").unwrap_or_default();
        let time = info.object("time").unwrap_or_default();
        self.clock.at(time.u64("created"), self.normalizer);
        if info.str("role").as_deref() == Some("user") {
            self.prompt(prompt(message), time.u64("created"));
            return;
        }
        let run = self.run();
        let thread = Thread { session: self.session.clone(), run, call: None, depth: 0 };
        let mut course = std::mem::take(&mut self.course);
        let ended = self.assistant(&thread, &mut course, message);
        self.course = course;
        if let Some(ended) = ended {
            self.ended = ended;
        }
    }

    /// Decodes an assistant's message. Returns how it ended; `None` if the run is over.
    fn assistant(&mut self, thread: &Thread, course: &mut Course, message: &Object<'_>) -> Option<Ended> {
        let info = message.object("info").unwrap_or_default();
        let time = info.object("time").unwrap_or_default();
        let id = info.str("id").unwrap_or_default();
        let own = course.message_log.message(&id);
        own.model = info.str("modelID").map(|model| SharedStr::from(&*model));
        own.is_summary = info.bool("summary") == Some(true);
        let failure = info.some("error").map(|error| Failure::read(Some(error)));
        let mut is_refused = false;
        for part in message.items("parts").into_iter().filter_map(Json::object) {
            is_refused |= is_refused_call(&part);
            let child = self.children.of_call(&thread.session, &part);
            if let Some(child) = &child {
                self.call_child(thread, course, &id, &part, child);
            }
            self.clock.at(of_part(&part), self.normalizer);
            let mut context = self.context(thread, failure.is_some())?;
            parts::assistant(&mut context, &mut course.message_log, &id, &part, None);
            if let Some((child, status)) = child.zip(tools::subagent_status(&part)) {
                // The call has reported this itself, if it names the child.
                self.normalizer.subagent_ended(thread.run, &child, status, None);
            }
        }
        self.clock.at(time.u64("completed"), self.normalizer);
        if let Some(own) = course.message_log.close(&id)
            && let Some(mut context) = self.context(thread, failure.is_some())
        {
            parts::complete_blocks(&mut context, own);
            if context.is_main() {
                context.answer.read_structured(&info, own.order);
            }
            if own.is_summary && failure.is_none() {
                let body = Body::HistoryCompacted {
                    trigger: course.compaction.take().map(SharedStr::from),
                    tokens_before: None,
                    tokens_after: None,
                    summary: own.summary.take(),
                };
                context.normalizer.push(context.target, body);
            }
        }
        if let Some(failure) = &failure
            && !failure.aborted
        {
            self.normalizer.push(thread.target(), failure.reported(thread.call.is_some()));
        }
        // After a message that calls tools, the next one is awaited.
        let is_over = is_refused || info.some("structured").is_some();
        let awaits_more = info.str("finish").as_deref() == Some("tool-calls") && !is_over;
        let is_complete = time.u64("completed").is_some() && !awaits_more;
        Some((failure.is_some() || is_complete).then_some(failure))
    }

    /// The context of a session's output; `None` if the run is over.
    fn context(&mut self, thread: &Thread, failing: bool) -> Option<SessionContext<'_>> {
        let mut context = SessionContext::main(self.normalizer, thread.run, &mut self.calls, &mut self.answer)?;
        (context.old, context.failing) = (self.old, failing);
        if thread.call.is_some() {
            // A child's call may have the same id as one of its parent's.
            context.scope = uuid_v5(&context.scope, thread.session.as_bytes());
            (context.target, context.depth) = (thread.target(), thread.depth);
        }
        Some(context)
    }

    /// Starts the call of a child, and decodes what the child did until its end.
    fn call_child(
        &mut self,
        thread: &Thread,
        course: &mut Course,
        message_id: &str,
        part: &Object<'_>,
        child: &SharedStr,
    ) {
        let time = part.object("state").and_then(|state| state.object("time")).unwrap_or_default();
        if thread.depth >= MAX_DEPTH || time.u64("start").is_none() || part.str("id").is_none_or(|id| id.is_empty()) {
            return;
        }
        self.clock.at(time.u64("start"), self.normalizer);
        let Some(mut context) = self.context(thread, false) else { return };
        let Some(tool) = tools::begin_task(&mut context, &mut course.message_log, message_id, part, child) else {
            return;
        };
        let own = Thread { session: child.clone(), run: thread.run, call: Some(tool.id), depth: thread.depth + 1 };
        // The messages of a call that is not over follow at the end of the run.
        let before_ms = time.u64("end").map_or(0, |end| end.saturating_add(1));
        self.child(&own, tool.id, Some(before_ms));
    }

    /// Decodes what a child did for a call before a time, in Unix epoch milliseconds. Returns how the last of it ended.
    fn child(&mut self, thread: &Thread, call: Uuid, before_ms: Option<u64>) -> Ended {
        let child = self.children.get(&thread.session)?;
        child.worked_for = Some((thread.run, call));
        let mut course = std::mem::take(&mut child.course);
        let mut ended = None;
        while let Some(message) = self.children.get(&thread.session).and_then(|child| child.next_message(before_ms)) {
            let info = message.object("info").unwrap_or_default();
            let time = info.object("time").unwrap_or_default();
            self.clock.at(time.u64("created"), self.normalizer);
            if info.str("role").as_deref() == Some("user") {
                let prompt = prompt(&message);
                course.compaction = prompt.compaction.or(course.compaction);
                if !course.copies.is_next(&prompt)
                    && let Some(body) = prompt.into_body()
                {
                    self.normalizer.push(thread.target(), body);
                }
                continue;
            }
            ended = self.assistant(thread, &mut course, &message).flatten();
        }
        if let Some(child) = self.children.get(&thread.session) {
            child.course = course;
        }
        ended
    }

    /// Decodes what children did before a time, in Unix epoch milliseconds, beside the calls that name them.
    fn end_children(&mut self, before_ms: Option<u64>) {
        let Some(run) = self.run else { return };
        for id in self.children.waiting(before_ms) {
            let Some((parent, is_called)) = self.caller(&id, run) else { continue };
            let Some(scope) = self.normalizer.stream(run).map(|stream| stream.session.id) else { return };
            let call = is_called.unwrap_or_else(|| self.normalizer.tool(scope, &id).id);
            let thread = Thread { session: id, run, call: Some(call), depth: parent.depth + 1 };
            if is_called.is_none() {
                let (target, depth) = (parent.target(), thread.depth);
                self.normalizer.subagent_started(target, &thread.session, Some(call), None, None, depth);
            }
            if let Some(failure) = self.child(&thread, call, before_ms) {
                let status = match failure {
                    None => "completed",
                    Some(failure) if failure.aborted => "cancelled",
                    Some(_) => "failed",
                };
                self.normalizer.subagent_ended(run, &thread.session, status, None);
            }
        }
    }

    /// The session that started a child, and the call of the child in this run, if one is known.
    fn caller(&mut self, id: &str, run: StreamKey) -> Option<(Thread, Option<Uuid>)> {
        let call_of =
            |worked_for: Option<(StreamKey, Uuid)>| worked_for.filter(|(of, _)| *of == run).map(|(_, call)| call);
        let child = self.children.get(id)?;
        let (call, mut at) = (call_of(child.worked_for), child.parent.clone());
        let mut parent = Thread { session: at.clone(), run, call: None, depth: 0 };
        while let Some(above) = self.children.get(&at).filter(|_| parent.depth < MAX_DEPTH) {
            if parent.depth == 0 {
                parent.call = call_of(above.worked_for);
            }
            (parent.depth, at) = (parent.depth + 1, above.parent.clone());
        }
        Some((parent, call))
    }

    fn prompt(&mut self, prompt: Prompt, created_ms: Option<u64>) {
        if prompt.compaction.is_some() {
            self.course.compaction = prompt.compaction;
        }
        let is_copy = self.course.copies.is_next(&prompt);
        if (is_copy || prompt.continues) && self.run.is_some() {
            return;
        }
        if created_ms.is_some() {
            self.end_children(created_ms);
            self.clock.at(created_ms, self.normalizer);
        }
        self.end_run();
        if let Some(run) = self.run.take() {
            let end =
                RunEnd::interrupted(STREAM_ENDED, "another prompt follows before the session said how the run ended");
            self.normalizer.end_run(run, end);
        }
        let run = self.normalizer.open_run(prompt.text.clone());
        self.run = Some(run);
        if let Some(body) = prompt.into_body() {
            self.normalizer.push(Target::main(run), body);
        }
    }

    fn run(&mut self) -> StreamKey {
        *self.run.get_or_insert_with(|| self.normalizer.open_run(""))
    }

    /// Ends the run, if its last message says how.
    fn end_run(&mut self) {
        self.calls = Calls::default();
        let answer = std::mem::take(&mut self.answer);
        self.course.message_log.plan.clear();
        if let Some(failure) = self.ended.take()
            && let Some(run) = self.run.take()
        {
            self.normalizer.end_run(run, verdict(failure, answer));
        }
    }
}

/// The prompt that a user's message is.
fn prompt(message: &Object<'_>) -> Prompt {
    let mut prompt = Prompt::new(&message.object("info").and_then(|info| info.str("id")).unwrap_or_default());
    for part in message.items("parts").into_iter().filter_map(Json::object) {
        prompt.part(&part);
    }
    prompt
}

/// Whether a part is a call that a person refused, which stops the turn.
fn is_refused_call(part: &Object<'_>) -> bool {
    part.object("state").is_some_and(|state| state.str("error").is_some_and(|error| is_refusal(&error)))
}
