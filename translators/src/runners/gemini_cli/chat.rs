//! Chat files under `~/.gemini/tmp`: a head, messages, and changes of the head.
//!
//! Input: lines of a file. Output: a run for each prompt, with texts, reasoning, calls and the usage of each reply. A file has no record for
//! the end of a run: a run whose last reply has text and no open call is completed, and so is that of a subagent that gave its answer. A run
//! has failed if an error follows its last reply. The runner writes a message again when its calls
//! have ended; the last line with an id counts. Never: a message of a checkpoint as new content, because the lines before it, or an
//! earlier file, have it; a text or a usage twice.

use super::super::gemini_parts::attachment;
use super::calls::{Change, tool};
use super::decoder::Gemini;
use super::failure;
use super::outcome::{Outcome, Verdict};
use super::usage;
use crate::frame::{Body, ErrorScope, LogLevel, SharedStr, ToolKind, UserMessage};
use crate::hash::HashSet;
use crate::json::{Json, Kind, Object};
use crate::normalizer::{Block, Normalizer, RunEnd, STREAM_ENDED, Target};
use std::collections::VecDeque;

/// How many messages a file remembers, to know one that is written again.
const REMEMBERED: usize = 4096;

/// The beginning of the message with which the runner describes its surroundings to the model.
const CONTEXT: &str = "<session_context>";

/// The beginning of the message that replaces the history after a compression.
const SNAPSHOT: &str = "<state_snapshot>";

/// What a chat file has said so far.
#[derive(Debug, Default)]
pub(super) struct Chat {
    /// The messages whose text and usage were reported: the newest ones, in their order.
    told: HashSet<SharedStr>,
    order: VecDeque<SharedStr>,
    /// The last reply, if its usage was not reported: the runner may add it when it writes the reply again.
    uncounted: Option<SharedStr>,
    /// The newest reply while it has no text, with the index that its text would have.
    textless: Option<(SharedStr, u32)>,
    /// The newest reply, and the ids of its calls. The runner writes them again with the reply.
    reply: SharedStr,
    calls: HashSet<SharedStr>,
    /// The summary of the last compression.
    snapshot: Option<String>,
}

impl Chat {
    /// Notes a message. Returns whether it is new.
    fn note(&mut self, id: &str) -> bool {
        if self.told.contains(id) {
            return false;
        }
        let id = SharedStr::from(id);
        self.told.insert(id.clone());
        self.order.push_back(id);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.told.remove(&oldest);
        }
        true
    }

    fn begin_reply(&mut self, id: &str) {
        self.reply = SharedStr::from(id);
        self.calls.clear();
    }

    /// Notes a call of a reply. Returns whether no earlier line of the reply had it.
    fn note_call(&mut self, reply: &str, call_id: &str) -> bool {
        let is_newest = *self.reply == *reply;
        is_newest && (self.calls.len() >= REMEMBERED || self.calls.insert(SharedStr::from(call_id)))
    }
}

/// Whether a record is a line of a chat file.
pub(super) fn is_entry(fields: &Object<'_>) -> bool {
    // In one pass, because every record is asked.
    let (mut head, mut message) = (0u8, 0u8);
    for (key, _) in fields.iter() {
        match key {
            "$set" | "$rewindTo" => return true,
            "sessionId" => head |= 1,
            "projectHash" => head |= 2,
            "id" => message |= 1,
            "type" => message |= 2,
            "content" => message |= 4,
            _ => {}
        }
    }
    head == 3 || message == 7
}

impl Gemini {
    /// A line of a chat file.
    pub(super) fn entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(set) = fields.object("$set") {
            return self.head_changed(&set, normalizer);
        }
        if fields.get("$rewindTo").is_some() {
            let message = "the runner took back the end of the conversation".to_owned();
            return self.log(LogLevel::Info, message, normalizer);
        }
        if let Some(session) = fields.str("sessionId") {
            return normalizer.set_session(&session);
        }
        match &*fields.str("type").unwrap_or_default() {
            "user" => self.user_entry(fields, normalizer),
            "gemini" => self.reply_entry(fields, normalizer),
            kind @ ("info" | "warning" | "error") => {
                let is_new = fields.str("id").is_none_or(|id| self.chat.note(&id));
                if is_new {
                    let message = text_of(fields.get("content"));
                    match kind {
                        "info" => self.log(LogLevel::Info, message, normalizer),
                        "warning" => self.log(LogLevel::Warn, message, normalizer),
                        _ => self.error_entry(message, normalizer),
                    }
                }
            }
            other => normalizer.unknown(format!("unknown type {other:?}")),
        }
    }

    /// An error. It decides how the run ends unless the model replies after it.
    fn error_entry(&mut self, message: String, normalizer: &mut Normalizer) {
        let Some(run) = self.run(normalizer) else {
            return self.log(LogLevel::Error, message, normalizer);
        };
        let failure = failure::of_message("", &message, None);
        let (target, body) = (Target::main(run.key), failure.body(ErrorScope::Turn));
        run.stop = Some(failure::run_end(failure));
        normalizer.push(target, body);
    }

    fn head_changed(&mut self, set: &Object<'_>, normalizer: &mut Normalizer) {
        if let Some(session) = set.str("sessionId").filter(|session| !session.is_empty()) {
            normalizer.set_session(&session);
        }
        for message in set.objects("messages") {
            if let Some(id) = message.str("id") {
                self.chat.note(&id);
            }
            let text = text_of(message.get("content"));
            if text.starts_with(SNAPSHOT) && self.chat.snapshot.as_ref() != Some(&text) {
                let stream = self.run(normalizer).map(|run| run.key).unwrap_or_else(|| normalizer.thread());
                let body = Body::HistoryCompacted {
                    trigger: None,
                    tokens_before: None,
                    tokens_after: None,
                    summary: Some(text.clone()),
                };
                normalizer.push(Target::main(stream), body);
                self.chat.snapshot = Some(text);
            }
        }
    }

    fn user_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let id = fields.str("id").unwrap_or_default();
        if !self.chat.note(&id) {
            return;
        }
        let parts: Vec<Object<'_>> = fields.objects("content").collect();
        // The results of calls go back to the model in the user's role, perhaps with a picture after them.
        if parts.iter().any(|part| part.get("functionResponse").is_some()) {
            return;
        }
        let sent = text_of(fields.get("content"));
        if sent.starts_with(CONTEXT) || sent.starts_with(SNAPSHOT) {
            return;
        }
        let typed = fields.some("displayContent").map(|typed| text_of(Some(typed)));
        let text = typed.filter(|text| !text.is_empty()).unwrap_or(sent);
        self.begin(&text, normalizer);
        self.ensure(normalizer).is_of_file = true;
        let target = self.main(normalizer);
        let attachments = parts.iter().filter_map(attachment).collect();
        let message = UserMessage { message_id: SharedStr::from(&*id), text, attachments };
        normalizer.push(target, Body::UserMessage(Box::new(message)));
    }

    fn reply_entry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let id = fields.str("id").unwrap_or_default();
        let run = self.ensure(normalizer);
        run.is_of_file = true;
        if let Some(model) = fields.str("model") {
            run.model = Some(SharedStr::from(&*model));
        }
        let is_new = self.chat.note(&id);
        if is_new {
            self.chat.begin_reply(&id);
            self.reply(&id, fields, normalizer);
        } else if let Some((_, index)) = self.chat.textless.take_if(|(textless, _)| **textless == *id) {
            self.say(&id, index, fields, normalizer);
        }
        let target = self.main(normalizer);
        if is_new || self.chat.uncounted.as_deref() == Some(&*id) {
            let tokens = fields.object("tokens").unwrap_or_default();
            let model = self.ensure(normalizer).model.clone();
            match usage::of_message(&tokens, model) {
                Some(usage) => {
                    normalizer.call_used(target, usage);
                    self.chat.uncounted = None;
                }
                None => self.chat.uncounted = Some(SharedStr::from(&*id)),
            }
        }
        let reply = id;
        for call in fields.objects("toolCalls") {
            let Some(id) = call.str("id").filter(|id| !id.is_empty()) else { continue };
            let is_new = self.chat.note_call(&reply, &id);
            let tool = tool(target, &id, is_new, normalizer);
            self.called(target, tool, &id, &call.str("name").unwrap_or_default(), call.get("args"), normalizer);
            let open = self.run(normalizer).and_then(|run| run.calls.get_mut(&*id));
            let Some(open) = open else { continue };
            open.change = call.object("resultDisplay").and_then(|display| Change::of(&display));
            let is_shell = open.kind == ToolKind::Shell;
            self.delegates(&id, call.str("agentId").as_deref(), normalizer);
            self.ensure(normalizer).is_answered = false;
            if let Some(outcome) = Outcome::of_call(&call, is_shell) {
                let answer = self.submitted(&id, normalizer).filter(|_| outcome.verdict == Verdict::Ended(0));
                self.returned(target, &id, &outcome, normalizer);
                let run = self.ensure(normalizer);
                run.is_answered = answer.is_some();
                run.answer = answer;
            }
        }
    }

    /// A new reply: its reasoning and its text.
    fn reply(&mut self, id: &str, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let run = self.ensure(normalizer);
        run.reply_is_over();
        (run.answer, run.is_answered) = (None, false);
        let target = self.speaks(normalizer);
        let mut index = 0;
        for thought in fields.objects("thoughts") {
            let text = thought_text(&thought);
            if !text.is_empty() {
                normalizer.complete(target, Block::reasoning(id, index), Some(&text), None);
                index += 1;
            }
        }
        self.say(id, index, fields, normalizer);
    }

    /// The text of a reply, which may be written only with a later line of the same message.
    fn say(&mut self, id: &str, index: u32, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let target = self.main(normalizer);
        let text = text_of(fields.get("content"));
        if text.is_empty() {
            self.chat.textless = Some((SharedStr::from(id), index));
        } else {
            self.ensure(normalizer).is_answered = true;
            normalizer.complete(target, Block::text(id, index), Some(&text), None);
        }
    }

    /// Ends the run of a file, because the next prompt follows or the file is over.
    pub(super) fn end_file_run(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = self.run(normalizer) else { return };
        let end = if let Some(stop) = run.stop.take() {
            stop
        } else if run.is_answered && run.calls.is_empty() {
            RunEnd { final_text: run.answer.take(), ..RunEnd::completed() }
        } else {
            RunEnd::interrupted(STREAM_ENDED, "the file has no answer to this prompt")
        };
        let key = run.key;
        normalizer.at_last_frame(key, |normalizer| self.end_run(end, normalizer));
    }

    fn log(&mut self, level: LogLevel, message: String, normalizer: &mut Normalizer) {
        if !message.is_empty() {
            let stream = self.run(normalizer).map(|run| run.key).unwrap_or_else(|| normalizer.thread());
            normalizer.push(Target::main(stream), Body::LogEmitted { level, message });
        }
    }
}

/// A thought as the model wrote it: its first line is the subject, in bold.
fn thought_text(thought: &Object<'_>) -> String {
    let subject = thought.str("subject").unwrap_or_default();
    let description = thought.str("description").unwrap_or_default();
    match (subject.is_empty(), description.is_empty()) {
        (true, _) => description.into_owned(),
        (false, true) => format!("**{subject}**"),
        (false, false) => format!("**{subject}**\n\n{description}"),
    }
}

/// The text of a message: a string, or the text parts.
fn text_of(content: Option<Json<'_>>) -> String {
    let Some(content) = content else { return String::new() };
    match content.kind() {
        Kind::String => content.str().unwrap_or_default().into_owned(),
        Kind::Object => {
            content.object().and_then(|part| part.str("text").map(|text| text.into_owned())).unwrap_or_default()
        }
        _ => content.items().into_iter().map(|part| text_of(Some(part))).collect(),
    }
}
