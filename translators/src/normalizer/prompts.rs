//! The prompt of a run, as the host sent it: not every runner repeats it.
//!
//! Input: a prompt before its run begins, and the run's frames. Output: the prompt as `session_started.input` and as a `user_message` before
//! the run's first content, if the runner gives none. Never: a prompt that is there twice; the prompt of another run.

use super::{Normalizer, Target};
use crate::derived::numbered;
use crate::frame::{Attachment, Body, SharedStr, UserMessage};
use crate::sequence::StreamKey;

/// What the host said.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    /// The prompt of the next run.
    expected: Option<Prompt>,
    /// The prompt of a run whose runner has not repeated it yet.
    unsaid: Option<(StreamKey, Prompt)>,
}

/// A prompt, with what is attached to it.
#[derive(Debug)]
struct Prompt {
    text: String,
    attachments: Vec<Attachment>,
}

impl Prompts {
    /// A run begins. Returns its prompt: the runner's word for it, if it has one.
    pub(super) fn begin(&mut self, run: StreamKey, input: String) -> String {
        let Some(prompt) = self.expected.take() else { return input };
        let input = if input.is_empty() { prompt.text.clone() } else { input };
        self.unsaid = Some((run, prompt));
        input
    }
}

impl Normalizer {
    /// The next run answers this prompt. A prompt whose run has not begun is forgotten.
    pub(crate) fn expect_prompt(&mut self, text: String, attachments: Vec<Attachment>) {
        let is_empty = text.is_empty() && attachments.is_empty();
        self.prompts.expected = (!is_empty).then_some(Prompt { text, attachments });
    }

    /// Emits the prompt of a run that has no content yet, because another run begins.
    pub(super) fn say_earlier_prompt(&mut self) {
        if let Some((run, _)) = self.prompts.unsaid {
            self.say_prompt(run);
        }
    }

    /// Emits the prompt of the target's run before the first frame that follows from it, unless the runner repeats it.
    pub(super) fn say_prompt_before(&mut self, target: Target, body: &Body) {
        let is_of = |(run, _): &(StreamKey, Prompt)| *run == target.stream;
        if !self.prompts.unsaid.as_ref().is_some_and(is_of) {
            return;
        }
        match body {
            Body::UserMessage(_) if target.parent.is_none() => self.prompts.unsaid = None,
            Body::SessionStarted { .. }
            | Body::ProviderEvent(_)
            | Body::TurnStarted { .. }
            | Body::UserMessage(_)
            | Body::LogEmitted { .. }
            | Body::Skill(_)
            | Body::GapDetected { .. } => {}
            _ => self.say_prompt(target.stream),
        }
    }

    /// Emits the prompt of a run, unless it is there.
    pub(super) fn say_prompt(&mut self, run: StreamKey) {
        let Some((_, Prompt { text, attachments })) = self.prompts.unsaid.take_if(|(of, _)| *of == run) else { return };
        let id = self.stream(run).map(|stream| numbered(&stream.id, "prompt-", 0).to_string());
        let message_id = SharedStr::from(id.unwrap_or_default());
        let message = UserMessage { message_id, text, attachments };
        self.number(Target::main(run), Body::UserMessage(Box::new(message)));
    }
}
