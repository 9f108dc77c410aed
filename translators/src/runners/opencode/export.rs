//! `opencode export`: one document with a whole session.
//!
//! Input: the document, as one record. Output: the session's runs, one for each message in which a person (or a program in a
//! person's place) made a request. A run ends as its last message says. If that message is incomplete, or calls tools whose results no message
//! answers, the session was exported while it worked; the run stays open until the end of the input. The calls of a turn that a refusal
//! stops, or that ends with a result that follows a schema, await no answer.

use super::super::clock::Clock;
use super::answer::Answer;
use super::calls::Calls;
use super::clock::of_part;
use super::failure::{Failure, verdict};
use super::message_log::MessageLog;
use super::parts;
use super::prompt::Prompt;
use super::session_context::SessionContext;
use super::tools::is_refusal;
use crate::frame::{Body, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;

struct Export<'l> {
    normalizer: &'l mut Normalizer,
    clock: &'l mut Clock,
    old: bool,
    run: Option<StreamKey>,
    calls: Calls,
    answer: Answer,
    message_log: MessageLog,
    /// How the run's last message ended; `None` while it is incomplete.
    ended: Option<Option<Failure>>,
    compaction: Option<&'static str>,
}

/// Decodes an exported session.
pub(super) fn document(document: &Object<'_>, clock: &mut Clock, normalizer: &mut Normalizer) {
    let info = document.object("info").unwrap_or_default();
    normalizer.set_session(&info.str("id").unwrap_or_default());
    let old = info.str("version").is_some_and(|version| version.starts_with("1.0.") || version.starts_with("0."));
    let mut export = Export {
        normalizer,
        clock,
        old,
        run: None,
        calls: Calls::default(),
        answer: Answer::default(),
        message_log: MessageLog::default(),
        ended: None,
        compaction: None,
    };
    for message in document.items("messages").into_iter().filter_map(Json::object) {
        export.message(&message);
    }
    export.end_run();
}

impl Export<'_> {
    fn message(&mut self, message: &Object<'_>) {
        let info = message.object("info").unwrap_or_default();
        let time = info.object("time").unwrap_or_default();
        self.clock.at(time.u64("created"), self.normalizer);
        let id = info.str("id").unwrap_or_default();
        let parts = message.items("parts");
        if info.str("role").as_deref() == Some("user") {
            let mut prompt = Prompt::new(&id);
            for part in parts.into_iter().filter_map(Json::object) {
                prompt.part(&part);
            }
            self.prompt(prompt);
            return;
        }
        let run = self.run();
        let own = self.message_log.message(&id);
        own.model = info.str("modelID").map(|model| SharedStr::from(&*model));
        own.is_summary = info.bool("summary") == Some(true);
        let failure = info.some("error").map(|error| Failure::read(Some(error)));
        let mut is_refused = false;
        for part in parts.into_iter().filter_map(Json::object) {
            self.clock.at(of_part(&part), self.normalizer);
            is_refused |= is_refused_call(&part);
            let Some(mut context) = SessionContext::main(self.normalizer, run, &mut self.calls, &mut self.answer)
            else {
                return;
            };
            (context.old, context.failing) = (self.old, failure.is_some());
            parts::assistant(&mut context, &mut self.message_log, &id, &part, None);
        }
        self.clock.at(time.u64("completed"), self.normalizer);
        if let Some(own) = self.message_log.close(&id)
            && let Some(mut context) = SessionContext::main(self.normalizer, run, &mut self.calls, &mut self.answer)
        {
            context.failing = failure.is_some();
            parts::complete_blocks(&mut context, own);
            context.answer.read_structured(&info, own.order);
            if own.is_summary && failure.is_none() {
                let body = Body::HistoryCompacted {
                    trigger: self.compaction.take().map(SharedStr::from),
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
            self.normalizer.push(Target::main(run), failure.reported(false));
        }
        // After a message that calls tools, the next one is awaited.
        let is_over = is_refused || info.some("structured").is_some();
        let awaits_more = info.str("finish").as_deref() == Some("tool-calls") && !is_over;
        let is_complete = time.u64("completed").is_some() && !awaits_more;
        self.ended = (failure.is_some() || is_complete).then_some(failure);
    }

    fn prompt(&mut self, prompt: Prompt) {
        if prompt.compaction.is_some() {
            self.compaction = prompt.compaction;
        }
        if prompt.continues && self.run.is_some() {
            return;
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
        self.message_log.plan.clear();
        if let Some(failure) = self.ended.take()
            && let Some(run) = self.run.take()
        {
            self.normalizer.end_run(run, verdict(failure, answer));
        }
    }
}

/// Whether a part is a call that a person refused, which stops the turn.
fn is_refused_call(part: &Object<'_>) -> bool {
    part.object("state").is_some_and(|state| state.str("error").is_some_and(|error| is_refusal(&error)))
}
