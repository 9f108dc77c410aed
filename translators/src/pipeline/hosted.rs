//! What a host tells an ingest besides the runner's output.
//!
//! Input: prompts, lines and answers that the host has sent, and why the input ends. Output: the frames that follow from them. Never: a secret of
//! a prompt.

use super::sent_lines::SentLine;
use super::state::State;
use super::{Ingest, Phase};
use crate::frame::{ApprovalResolved, Attachment, Frame, SharedStr, StreamKind};
use crate::host::PromptFile;
use crate::normalizer::RunEnd;
use crate::redact::Redactor;
use std::borrow::Cow;
use uuid::Uuid;

impl Ingest {
    /// The host sends this prompt with these files, and a run answers it: the next one, or one after it if other prompts wait. Secrets are removed from it as from the runner's records.
    pub fn expect_prompt(&mut self, prompt: &str, files: &[PromptFile]) {
        let rules = self.rules.as_ref();
        let without_secrets = |text: &str| rules.map_or_else(|| text.to_owned(), |rules| rules.without_secrets(text));
        let attachment = |file: &PromptFile| Attachment {
            kind: SharedStr::from(if file.is_image() { "image" } else { "file" }),
            mime: Some(SharedStr::from(without_secrets(&file.media_type))),
            artifact_id: None,
            name: file.name.as_deref().map(without_secrets),
            bytes: file.bytes(),
        };
        let attachments = files.iter().map(attachment).collect();
        if let Phase::Reading(reading) = &mut self.phase
            // Frames have the prompts of their runs.
            && !reading.state.runner.is_of_frames
        {
            reading.state.normalizer.expect_prompt(without_secrets(prompt), attachments);
        }
    }

    /// The next run answers none of the prompts that wait, because the runner does not begin it or cannot read them.
    pub fn forget_prompts(&mut self) {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.forget_prompts();
        }
    }

    /// The host sends this line to the runner; returns the frames that follow from it. Secrets are removed from it as from the runner's
    /// records, so that both name the same session. The line follows from the records that arrived before it: if some of them are held,
    /// it is read after them.
    pub fn sent(&mut self, line: &[u8], now_ms: u64) -> std::vec::Drain<'_, Frame> {
        let Ok(line) = std::str::from_utf8(line) else { return self.take() };
        let line = self.rules.as_ref().map_or(Cow::Borrowed(line), |rules| Cow::Owned(rules.without_secrets(line)));
        if let Phase::Reading(reading) = &mut self.phase {
            let units_before = reading.redactor.as_ref().and_then(Redactor::units_before_next);
            reading.state.sent(SentLine { units_before, line: line.into_owned(), now_ms });
        }
        self.take()
    }

    /// The host answered a question in an open stream at `now_ms`; returns the frame that reports it. A later answer from the
    /// runner itself is then ignored. Returns nothing if the question is not open there. The answer is not part of a record, so
    /// it is not redacted here: [`crate::redact::words_of`] keeps secrets out of it.
    pub fn resolve(
        &mut self,
        stream: (StreamKind, Uuid),
        answer: ApprovalResolved,
        now_ms: u64,
    ) -> std::vec::Drain<'_, Frame> {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.resolve(stream, answer, now_ms);
        }
        self.take()
    }

    /// Sets how runs end that are still open at the end of the input, instead of as interrupted with `stream_ended`.
    pub fn cut_by(&mut self, end: RunEnd) {
        if let Phase::Reading(reading) = &mut self.phase {
            reading.state.normalizer.cut_by(end);
        }
    }

    /// Ends an open run, whose end was lost, as interrupted. Returns nothing if there is no such run.
    pub fn give_up(&mut self, run: Uuid, code: &str, message: &str, now_ms: u64) -> std::vec::Drain<'_, Frame> {
        if let Phase::Reading(reading) = &mut self.phase {
            let State { decoder, normalizer, .. } = &mut reading.state;
            normalizer.at(now_ms);
            if let Some(run) = normalizer.run_of(run) {
                decoder.give_up(run, RunEnd::interrupted(code, message), normalizer);
                // No more records of it arrive.
                normalizer.release_ends();
            }
        }
        self.take()
    }
}
