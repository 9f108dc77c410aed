//! `opencode run --format json`: one line for each complete part.
//!
//! Input: the lines of one process. Output: one run, opened by its first line. No line ends the run, because a compaction or an
//! error that the runner recovers from looks like an end without being one. The run ends with the input, and the last line
//! determines its result. A step that finished for any reason other than `tool-calls` completes the run. So does a step in
//! which a person refused a call, because that stops the turn. After an error the run has failed. Otherwise it was interrupted.
//! Lines of another session come from another process, so they also end the run before them.
//!
//! The summary of a compaction arrives as an ordinary text. Only the lines after it reveal what it is.

use super::super::clock::Clock;
use super::answer::Answer;
use super::calls::Calls;
use super::clock::{of_part, timestamp};
use super::failure::{Failure, verdict};
use super::message_log::MessageLog;
use super::parts;
use super::session_context::SessionContext;
use super::tools::is_refusal;
use crate::frame::{Body, SharedStr};
use crate::json::Object;
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;

/// The process whose lines are read.
#[derive(Debug, Default)]
pub(super) struct Run {
    open: Option<StreamKey>,
    session: Option<SharedStr>,
    calls: Calls,
    answer: Answer,
    message_log: MessageLog,
    last: Progress,
    /// Whether a person refused a call of the step.
    refused: bool,
    /// The last failure; cleared when a later step finishes.
    failure: Option<Failure>,
    overflow: Overflow,
}

/// How far the runner is with a context that could not hold the last prompt. The compaction is the next step. After it the runner
/// either tells the model to continue, or sends the prompt again, of which there is no line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Overflow {
    #[default]
    None,
    Reported,
    Compacted,
}

/// What the last line says about the run's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    /// The work continues.
    #[default]
    Working,
    /// A step finished that no other step follows.
    Finished,
}

impl Run {
    /// Decodes a line.
    pub(super) fn line(&mut self, line: &Object<'_>, clock: &mut Clock, normalizer: &mut Normalizer) {
        let kind = line.str("type").unwrap_or_default();
        let session = line.str("sessionID").unwrap_or_default();
        clock.at(line.get("timestamp").and_then(timestamp), normalizer);
        if !matches!(&*kind, "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" | "error") {
            normalizer.unknown(format!("unknown line type {kind:?}"));
            return match self.open {
                Some(run) => normalizer.record_on(run),
                None => normalizer.set_session(&session),
            };
        }
        if self.session.as_deref().is_some_and(|known| *known != *session && !session.is_empty()) {
            self.end(normalizer);
        }
        if self.open.is_none() {
            normalizer.set_session(&session);
            self.session = (!session.is_empty()).then(|| SharedStr::from(&*session));
        }
        let run = *self.open.get_or_insert_with(|| normalizer.open_run(""));
        normalizer.record_on(run);
        if kind == "error" {
            // Some lines contain the fields of the error themselves.
            let failure = match line.some("error") {
                Some(error) => Failure::read(Some(error)),
                None => Failure::of_fields(line),
            };
            if !failure.aborted && self.failure.as_ref() != Some(&failure) {
                normalizer.push(Target::main(run), failure.reported(false));
            }
            if failure.overflow {
                self.overflow = Overflow::Reported;
            }
            self.failure = Some(failure);
            return;
        }
        let Some(part) = line.object("part") else { return };
        if kind != "step_start" {
            clock.at(of_part(&part), normalizer);
        }
        self.part(&part, run, normalizer);
    }

    fn part(&mut self, part: &Object<'_>, run: StreamKey, normalizer: &mut Normalizer) {
        let message_id = part.str("messageID").unwrap_or_default();
        let Some(mut context) = SessionContext::main(normalizer, run, &mut self.calls, &mut self.answer) else {
            return;
        };
        // Only the first release has no token total here.
        context.old = true;
        match part.str("type").as_deref() {
            Some("step-start") => {
                (self.last, self.refused) = (Progress::Working, false);
                if self.overflow == Overflow::Compacted {
                    self.overflow = Overflow::None;
                    context.normalizer.push(context.target, compacted());
                }
            }
            Some("step-finish") => {
                if self.overflow == Overflow::Reported {
                    self.overflow = Overflow::Compacted;
                }
                let goes_on = part.str("reason").as_deref() == Some("tool-calls") && !self.refused;
                self.last = if goes_on { Progress::Working } else { Progress::Finished };
                self.failure = None;
            }
            Some("tool") => {
                let error = part.object("state").and_then(|state| state.str("error").map(|error| is_refusal(&error)));
                self.refused |= error.unwrap_or_default();
            }
            Some("text") if is_continuation(part) => {
                self.overflow = Overflow::None;
                context.normalizer.push(context.target, compacted());
                self.last = Progress::Working;
            }
            _ => {}
        }
        parts::assistant(&mut context, &mut self.message_log, &message_id, part, None);
    }

    /// Handles the end of the process.
    pub(super) fn end(&mut self, normalizer: &mut Normalizer) {
        let this = std::mem::take(self);
        let Some(run) = this.open else { return };
        if let Some(session) = &this.session {
            normalizer.set_session(session);
        }
        let end = if this.failure.is_some() || this.last == Progress::Finished {
            verdict(this.failure, this.answer)
        } else {
            RunEnd::interrupted(STREAM_ENDED, "the stream ended before the runner said how the run ended")
        };
        normalizer.end_run(run, end);
    }
}

/// The report of a compaction. Its summary was an ordinary text.
fn compacted() -> Body {
    Body::HistoryCompacted {
        trigger: Some(SharedStr::from("auto")),
        tokens_before: None,
        tokens_after: None,
        summary: None,
    }
}

/// Whether the text is the prompt that the runner sends itself after a compaction.
fn is_continuation(text: &Object<'_>) -> bool {
    text.object("metadata").is_some_and(|metadata| metadata.bool("compaction_continue") == Some(true))
}
