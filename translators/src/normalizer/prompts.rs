//! The prompts of runs, as the host sent them: not every runner repeats them.
//!
//! Input: prompts before their runs begin, and the frames of the runs. Output: the prompt as `session_started.input` and as a
//! `user_message` before the run's first content, if the runner gives none; a warning for each prompt that no run took up. Never: a prompt
//! that is there twice; the prompt of another run; more than [`MOST`] prompts in memory.

use super::{Normalizer, Target};
use crate::derived::numbered;
use crate::frame::{Attachment, Body, LogLevel, SharedStr, UserMessage};
use crate::sequence::StreamKey;
use std::collections::VecDeque;

/// The maximum number of prompts whose runs have not begun. With more, none of them is known.
const MOST: usize = 1024;

/// How many prompts that no run took up are reported, and how much of each.
const REPORTED: usize = 16;
const REPORTED_BYTES: usize = 1024;

/// What the host said.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    /// The prompts of the next runs, in the order of sending.
    expected: VecDeque<Prompt>,
    /// The prompt of a run whose runner has not repeated it yet.
    unsaid: Option<(StreamKey, Prompt)>,
}

/// A prompt, with what is attached to it.
#[derive(Debug)]
struct Prompt {
    text: String,
    attachments: Vec<Attachment>,
}

impl Prompt {
    /// Whether the runner means it with this text.
    fn is(&self, text: &str) -> bool {
        self.text.trim() == text.trim()
    }
}

impl Prompts {
    /// A run begins. Returns its prompt: the runner's word for it, if it has one.
    pub(super) fn begin(&mut self, run: StreamKey, input: String) -> String {
        let Some(prompt) = self.expected.pop_front() else { return input };
        let input = if input.is_empty() { prompt.text.clone() } else { input };
        self.unsaid = Some((run, prompt));
        input
    }

    /// The runner repeats the prompt of a run that has none yet. If it is a later one, the runner took up those before it unnoticed.
    fn repeated(&mut self, text: &str) {
        let Some((_, prompt)) = self.unsaid.take() else { return };
        if !prompt.is(text)
            && let Some(at) = self.waits(text)
        {
            self.expected.drain(..=at);
        }
    }

    /// A run that has its prompt takes up a further message: the prompt, if it waits, has no run of its own.
    fn joined(&mut self, text: &str) {
        if let Some(at) = self.waits(text) {
            self.expected.remove(at);
        }
    }

    /// The place of a prompt that waits.
    fn waits(&self, text: &str) -> Option<usize> {
        self.expected.iter().position(|prompt| prompt.is(text))
    }
}

impl Normalizer {
    /// A run answers this prompt: the next one, or one after it if other prompts wait.
    pub(crate) fn expect_prompt(&mut self, text: String, attachments: Vec<Attachment>) {
        if self.prompts.expected.len() == MOST {
            self.forget_prompts();
        }
        if !text.is_empty() || !attachments.is_empty() {
            self.prompts.expected.push_back(Prompt { text, attachments });
        }
    }

    /// The next run answers none of the prompts that wait.
    pub(crate) fn forget_prompts(&mut self) {
        self.prompts.expected.clear();
    }

    /// The input is over: reports the prompts that no run took up, in the open run if there is one. If no run ever began, the host learns
    /// that from its first prompt.
    pub(super) fn report_unanswered(&mut self) {
        let unanswered = std::mem::take(&mut self.prompts.expected);
        if unanswered.is_empty() || self.runs_begun() == 0 {
            return;
        }
        let stream = self.current_run().unwrap_or_else(|| self.thread());
        for prompt in unanswered.iter().take(REPORTED) {
            let end = prompt.text.floor_char_boundary(REPORTED_BYTES.min(prompt.text.len()));
            let text = prompt.text.get(..end).unwrap_or_default();
            let more = if text.len() < prompt.text.len() { "…" } else { "" };
            self.report(stream, format!("the runner ended before it answered this prompt: {text}{more}"));
        }
        if let Some(more) = unanswered.len().checked_sub(REPORTED).filter(|more| *more > 0) {
            self.report(stream, format!("the runner ended before it answered {more} more prompts"));
        }
    }

    fn report(&mut self, stream: StreamKey, message: String) {
        self.push(Target::main(stream), Body::LogEmitted { level: LogLevel::Warn, message });
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
            if let Body::UserMessage(message) = body
                && target.parent.is_none()
            {
                self.prompts.joined(&message.text);
            }
            return;
        }
        match body {
            Body::UserMessage(message) if target.parent.is_none() => self.prompts.repeated(&message.text),
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
