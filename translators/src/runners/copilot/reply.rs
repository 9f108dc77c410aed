//! Texts and reasoning: what the model says in deltas, in whole messages, or both.
//!
//! Input: deltas, `assistant.message`, `assistant.reasoning`. Output: each text and each reasoning once. The runner gives a reasoning
//! three times: in deltas, with the message, and as a whole after the message. Never: a text whose message never came taken for an
//! answer. Such a text was abandoned: its request failed, or it reached its length limit and was asked for again.

use super::decoder::{Copilot, Event};
use crate::frame::{RawJson, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Block, Normalizer, Target};

/// The maximum number of speakers with an open reply. Deltas of further ones are left to their whole messages.
const MOST_SPEAKERS: usize = 256;

/// The maximum number of open reasoning blocks of one reply. Beyond it, a new one displaces the oldest.
const MOST_BLOCKS: usize = 64;

/// The reply of one speaker.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The message whose text is open.
    open: Option<SharedStr>,
    /// The open reasoning blocks.
    reasoning: Vec<SharedStr>,
    /// Whether its reasoning was said. The whole reasoning after the message repeats it.
    has_reasoned: bool,
    /// The last complete message.
    done: Option<SharedStr>,
}

impl Copilot {
    fn reply(&mut self, target: Target) -> Option<&mut Reply> {
        let run = self.run_of(target.stream)?;
        let is_full = run.replies.len() >= MOST_SPEAKERS && !run.replies.contains_key(&target.parent);
        if is_full {
            return None;
        }
        Some(run.replies.entry(target.parent).or_default())
    }

    /// A model call begins: what the speaker said before and did not complete was abandoned.
    pub(super) fn reply_begins(&mut self, target: Target, normalizer: &mut Normalizer) {
        self.abandon(target, normalizer);
        if let Some(reply) = self.reply(target) {
            reply.has_reasoned = false;
        }
    }

    /// Cuts what the speaker did not complete.
    pub(super) fn abandon(&mut self, target: Target, normalizer: &mut Normalizer) {
        let Some(reply) = self.reply(target) else { return };
        let (open, reasoning) = (reply.open.take(), std::mem::take(&mut reply.reasoning));
        for id in reasoning {
            cut(target, Block::reasoning(&id, 0), normalizer);
        }
        if let Some(id) = open {
            cut(target, Block::text(&id, 0), normalizer);
        }
    }

    /// Cuts what no speaker of the run completed.
    pub(super) fn abandon_all(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = &self.run else { return };
        let key = run.key;
        let mut speakers: Vec<_> = run.replies.keys().copied().collect();
        speakers.sort_unstable();
        for parent in speakers {
            self.abandon(Target { stream: key, parent }, normalizer);
        }
    }

    pub(super) fn message_starts(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.in_turn(target, normalizer);
        if let Some(id) = event.data.str("messageId") {
            self.opens(target, &id, normalizer);
        }
    }

    /// Opens the text of a message. Another one that is open was abandoned. `false` if the message is complete.
    fn opens(&mut self, target: Target, id: &str, normalizer: &mut Normalizer) -> bool {
        let Some(reply) = self.reply(target) else { return false };
        if reply.done.as_deref() == Some(id) {
            return false;
        }
        if reply.open.as_deref() == Some(id) {
            return true;
        }
        if let Some(other) = reply.open.replace(SharedStr::from(id)) {
            cut(target, Block::text(&other, 0), normalizer);
        }
        true
    }

    pub(super) fn text_grows(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.in_turn(target, normalizer);
        let Some(piece) = event.data.get("deltaContent").and_then(Json::utf16) else { return };
        let id = event.data.str("messageId").unwrap_or_default();
        if self.opens(target, &id, normalizer) {
            normalizer.delta(target, Block::text(&id, 0), piece);
        }
    }

    pub(super) fn reasoning_grows(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.in_turn(target, normalizer);
        let Some(piece) = event.data.get("deltaContent").and_then(Json::utf16) else { return };
        let id = event.data.str("reasoningId").unwrap_or_default();
        let Some(reply) = self.reply(target) else { return };
        reply.has_reasoned = true;
        let mut displaced = None;
        if !reply.reasoning.iter().any(|open| **open == *id) {
            if reply.reasoning.len() == MOST_BLOCKS {
                displaced = Some(reply.reasoning.remove(0));
            }
            reply.reasoning.push(SharedStr::from(&*id));
        }
        if let Some(oldest) = displaced {
            cut(target, Block::reasoning(&oldest, 0), normalizer);
        }
        normalizer.delta(target, Block::reasoning(&id, 0), piece);
    }

    /// Handles a whole message: its reasoning, its text, and the calls that it asks for.
    pub(super) fn message(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        if let Some(model) = event.data.str("model").filter(|_| target.parent.is_none()) {
            self.session.model = Some(SharedStr::from(&*model));
        }
        self.in_turn(target, normalizer);
        let id = event.data.str("messageId").unwrap_or_default();
        let text = event.data.str("content").filter(|text| !text.is_empty());
        let calls: Vec<Object<'_>> = event.data.items("toolRequests").into_iter().filter_map(Json::object).collect();
        if !self.opens(target, &id, normalizer) {
            return;
        }
        let own = self.complete_reasoning(target, &id, &event.data, normalizer);
        // The text of a message whose reasoning has no id of its own comes after it.
        let index = u32::from(own);
        let is_streamed = normalizer.text_so_far(target, Block::text(&id, 0)).is_some();
        if is_streamed || text.is_some() {
            let index = if is_streamed { 0 } else { index };
            normalizer.complete(target, Block::text(&id, index), text.as_deref(), None);
        }
        if let Some(reply) = self.reply(target) {
            reply.open = None;
            reply.done = Some(SharedStr::from(&*id));
        }
        if let Some(run) = self.run_of(target.stream).filter(|_| target.parent.is_none()) {
            run.course.answered = calls.is_empty();
            run.course.failure = None;
        }
        for call in calls {
            self.call_requested(target, &call, normalizer);
        }
    }

    /// Completes the reasoning of a message. Returns whether it became a block of the message itself.
    fn complete_reasoning(&mut self, target: Target, id: &str, data: &Object<'_>, normalizer: &mut Normalizer) -> bool {
        let whole = data.str("reasoningText").filter(|text| !text.is_empty());
        let opaque = sealed(data);
        let Some(reply) = self.reply(target) else { return false };
        let streamed = std::mem::take(&mut reply.reasoning);
        let is_new = !reply.has_reasoned;
        reply.has_reasoned |= whole.is_some();
        match &*streamed {
            [] if is_new && (whole.is_some() || opaque.is_some()) => {
                normalizer.complete(target, Block::reasoning(id, 0), whole.as_deref(), opaque);
                return true;
            }
            [only] => {
                normalizer.complete(target, Block::reasoning(only, 0), whole.as_deref(), opaque);
            }
            several => {
                let mut opaque = opaque;
                for id in several {
                    normalizer.complete(target, Block::reasoning(id, 0), None, opaque.take());
                }
            }
        }
        false
    }

    /// Handles a whole reasoning, which usually repeats that of the message before it.
    pub(super) fn reasoning(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.in_turn(target, normalizer);
        let id = event.data.str("reasoningId").unwrap_or_default();
        let text = event.data.str("content").filter(|text| !text.is_empty());
        let Some(reply) = self.reply(target) else { return };
        let at = reply.reasoning.iter().position(|open| **open == *id);
        let is_open = at.map(|at| reply.reasoning.remove(at)).is_some();
        let is_new = !reply.has_reasoned && text.is_some();
        reply.has_reasoned |= is_new;
        if is_open || is_new {
            normalizer.complete(target, Block::reasoning(&id, 0), text.as_deref(), None);
        }
    }
}

/// The provider's own form of the reasoning: signed, or encrypted.
fn sealed(data: &Object<'_>) -> Option<RawJson> {
    let keys = ["reasoningBlocks", "encryptedContent", "reasoningOpaque"];
    keys.iter().find_map(|key| data.some(key)).map(Json::to_raw)
}

fn cut(target: Target, block: Block<'_>, normalizer: &mut Normalizer) {
    if normalizer.text_so_far(target, block).is_some() {
        normalizer.cut(target, block, None);
    }
}
