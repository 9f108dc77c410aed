//! The notifications `codex/event/*` of older versions: the events of `{id, msg}` lines, for each conversation.
//!
//! Input: their parameters. Output: the runs of conversations that send nothing else. Never: a turn reported twice, although
//! some versions send it in both forms. The form in which a conversation's first turn begins counts for all of its turns.

use super::super::rollout::Rollout;
use crate::frame::SharedStr;
use crate::json::Object;
use crate::normalizer::Normalizer;

/// The number of conversations that are remembered, the most recently mentioned ones.
const REMEMBERED: usize = 64;

/// Events that the older events of the same version repeat.
const REPEATED: &[&str] = &["item_started", "item_completed", "raw_response_item"];

/// The conversations with these events.
#[derive(Debug, Default)]
pub(super) struct OlderEvents {
    /// The least recently mentioned one first.
    conversations: Vec<(SharedStr, Rollout)>,
}

impl OlderEvents {
    /// Whether a conversation's turns are reported from these events.
    pub(super) fn have_turns_of(&self, conversation: &str) -> bool {
        self.conversations.iter().any(|(id, rollout)| **id == *conversation && rollout.has_run())
    }

    pub(super) fn event(&mut self, conversation: &str, params: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(message) = params.object("msg") else {
            normalizer.add_error("an event without a message");
            return;
        };
        if message.str("type").is_some_and(|word| REPEATED.contains(&&*word)) {
            return;
        }
        let known = self.conversations.iter().position(|(id, _)| **id == *conversation);
        let (id, mut rollout) = match known {
            Some(at) => self.conversations.remove(at),
            None => (SharedStr::from(conversation), Rollout::of_conversation(conversation)),
        };
        rollout.message(&message, normalizer);
        self.conversations.push((id, rollout));
        if self.conversations.len() > REMEMBERED {
            let (_, mut oldest) = self.conversations.remove(0);
            oldest.close(normalizer);
        }
    }

    /// Assigns a record without frames of its own to the conversation's run.
    pub(super) fn keep(&self, conversation: &str, normalizer: &mut Normalizer) {
        if let Some((_, rollout)) = self.conversations.iter().find(|(id, _)| **id == *conversation) {
            rollout.keep(normalizer);
        }
    }

    /// Handles the end of the input.
    pub(super) fn finish(&mut self, normalizer: &mut Normalizer) {
        for (_, rollout) in &mut self.conversations {
            rollout.finish(normalizer);
        }
    }
}
