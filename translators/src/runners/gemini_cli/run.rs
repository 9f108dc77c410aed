//! The state of the open run: its model, the message that is being written, and the calls that await a result.
//!
//! Input: what the records say, in their order. Output: ids for messages, which the runner does not give, and the turns. A turn begins with
//! the first record of a reply. Never: two replies in one message if a result or an error is between them; a boundary where the
//! stream has none: a reply that broke off and the one that was asked for again are one message if nothing is between them.

use super::super::names::NameMap;
use super::calls::Call;
use super::decoder::Gemini;
use crate::derived::numbered;
use crate::frame::SharedStr;
use crate::json::Utf16Text;
use crate::normalizer::{Block, Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

/// The open run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its stream.
    pub(super) key: StreamKey,
    /// The model that was asked for.
    pub(super) model: Option<SharedStr>,
    /// Whether it is from a chat file, which has no record for the end of a run.
    pub(super) is_of_file: bool,
    /// The message whose text is being written.
    message: Option<SharedStr>,
    /// How many messages the runner wrote.
    messages: u64,
    /// The calls that await a result.
    pub(super) calls: NameMap<Call>,
    /// The number of calls at which those are forgotten that no longer run.
    pub(super) forget_at: usize,
    /// Whether the model said something after the last result of a call, or after the prompt.
    pub(super) is_answered: bool,
    /// What a subagent gave as its answer, which is no text of a message.
    pub(super) answer: Option<String>,
    /// Whether the next record of the model begins a new reply.
    is_reply_over: bool,
    /// Why the runner stopped the run or rejected the last reply; `None` if the model spoke after that.
    pub(super) stop: Option<RunEnd>,
}

impl Run {
    /// A run that has just begun.
    pub(super) fn new(key: StreamKey) -> Self {
        Self {
            key,
            model: None,
            is_of_file: false,
            message: None,
            messages: 0,
            calls: NameMap::default(),
            forget_at: 0,
            is_answered: false,
            answer: None,
            is_reply_over: true,
            stop: None,
        }
    }

    /// The reply of the model is over: its calls have results, or it was rejected.
    pub(super) fn reply_is_over(&mut self) {
        self.is_reply_over = true;
    }
}

impl Gemini {
    /// The model says something: begins a turn unless its reply is already open.
    pub(super) fn speaks(&mut self, normalizer: &mut Normalizer) -> Target {
        let run = self.ensure(normalizer);
        run.stop = None;
        if std::mem::take(&mut run.is_reply_over) || !normalizer.in_turn(run.key) {
            normalizer.turn_started(run.key, run.model.clone());
        }
        Target::main(run.key)
    }

    /// A piece of the model's text.
    pub(super) fn says(&mut self, piece: Utf16Text, normalizer: &mut Normalizer) {
        let target = self.speaks(normalizer);
        let message = self.message(normalizer);
        normalizer.delta(target, Block::text(&message, 0), piece);
        if let Some(run) = self.run(normalizer) {
            run.is_answered = true;
            run.message = Some(message);
        }
    }

    /// The id of the message that is being written, or of the next one.
    pub(super) fn message(&mut self, normalizer: &mut Normalizer) -> SharedStr {
        let run = self.ensure(normalizer);
        if let Some(message) = &run.message {
            return message.clone();
        }
        let number = run.messages;
        run.messages += 1;
        let id = normalizer.stream(run.key).map(|stream| numbered(&stream.id, "message-", number));
        SharedStr::from(id.map(|id| id.to_string()).unwrap_or_default())
    }

    /// The message that is being written is whole.
    pub(super) fn end_text(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = self.run(normalizer) else { return };
        let target = Target::main(run.key);
        if let Some(message) = run.message.take() {
            normalizer.complete(target, Block::text(&message, 0), None, None);
        }
    }

    /// The message that is being written was cut off.
    pub(super) fn cut_text(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = self.run(normalizer) else { return };
        let target = Target::main(run.key);
        if let Some(message) = run.message.take() {
            normalizer.cut(target, Block::text(&message, 0), None);
        }
    }
}
