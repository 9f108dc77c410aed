//! `opencode run --format json`: one line for each part that is complete.
//!
//! In: lines of one process. Out: one run, opened by its first line. There is no line that ends it: its end is the end of
//! the input, because a summary of the history, or an error that the runner recovers from, looks like an end and is none.
//! Then the last line tells how it ended: a step that finished for any reason but `tool-calls` ended it well; so did one in
//! which a person refused a call, for that stops the turn; after an error, it failed; otherwise it was cut off. Lines of
//! another session are of another process, so the run before them is over as well.
//!
//! A summary that a compaction wrote comes as an ordinary text and can only be told from what follows it.

use super::answer::Answer;
use super::calls::Calls;
use super::clock::{Clock, of_part, timestamp};
use super::failure::{Failure, verdict};
use super::parts;
use super::stage::Stage;
use super::talk::Talk;
use super::tools::is_refusal;
use crate::frame::{Body, Name};
use crate::json::Object;
use crate::ledger::{Ledger, Place, RunEnd, STREAM_ENDED};
use crate::sequence::StreamKey;

/// The process whose lines are read.
#[derive(Debug, Default)]
pub(super) struct Run {
    open: Option<StreamKey>,
    session: Option<Name>,
    calls: Calls,
    answer: Answer,
    talk: Talk,
    last: Last,
    /// A person refused a call of the step.
    refused: bool,
    /// What went wrong, unless a later step was accounted.
    failure: Option<Failure>,
}

/// What the last line told of the run's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// The work goes on.
    #[default]
    Working,
    /// A step finished that has nothing to follow.
    Finished,
}

impl Run {
    /// Reads a line.
    pub(super) fn line(&mut self, line: &Object<'_>, clock: &mut Clock, ledger: &mut Ledger) {
        let kind = line.str("type").unwrap_or_default();
        let session = line.str("sessionID").unwrap_or_default();
        clock.at(line.get("timestamp").and_then(timestamp), ledger);
        if !matches!(&*kind, "step_start" | "text" | "reasoning" | "tool_use" | "step_finish" | "error") {
            ledger.fault(format!("unknown line type {kind:?}"));
            return match self.open {
                Some(run) => ledger.record_on(run),
                None => ledger.set_session(&session),
            };
        }
        if self.session.as_deref().is_some_and(|known| *known != *session && !session.is_empty()) {
            self.end(ledger);
        }
        if self.open.is_none() {
            ledger.set_session(&session);
            self.session = (!session.is_empty()).then(|| Name::from(&*session));
        }
        let run = *self.open.get_or_insert_with(|| ledger.open_run(""));
        ledger.record_on(run);
        if kind == "error" {
            let failure = Failure::read(line.some("error"));
            if !failure.aborted && self.failure.as_ref() != Some(&failure) {
                ledger.push(Place::main(run), failure.reported(false));
            }
            self.failure = Some(failure);
            return;
        }
        let Some(part) = line.object("part") else { return };
        if kind != "step_start" {
            clock.at(of_part(&part), ledger);
        }
        self.part(&part, run, ledger);
    }

    fn part(&mut self, part: &Object<'_>, run: StreamKey, ledger: &mut Ledger) {
        let message_id = part.str("messageID").unwrap_or_default();
        let Some(mut stage) = Stage::main(ledger, run, &mut self.calls, &mut self.answer) else { return };
        // Only the first release has no total of the tokens here.
        stage.old = true;
        match part.str("type").as_deref() {
            Some("step-start") => (self.last, self.refused) = (Last::Working, false),
            Some("step-finish") => {
                let goes_on = part.str("reason").as_deref() == Some("tool-calls") && !self.refused;
                self.last = if goes_on { Last::Working } else { Last::Finished };
                self.failure = None;
            }
            Some("tool") => {
                let error = part.object("state").and_then(|state| state.str("error").map(|error| is_refusal(&error)));
                self.refused |= error.unwrap_or_default();
            }
            Some("text") if is_continuation(part) => {
                let body = Body::HistoryCompacted {
                    trigger: Some(Name::from("auto")),
                    tokens_before: None,
                    tokens_after: None,
                    summary: None,
                };
                stage.ledger.push(stage.place, body);
                self.last = Last::Working;
            }
            _ => {}
        }
        parts::assistant(&mut stage, &mut self.talk, &message_id, part, None);
    }

    /// The process is over.
    pub(super) fn end(&mut self, ledger: &mut Ledger) {
        let this = std::mem::take(self);
        let Some(run) = this.open else { return };
        if let Some(session) = &this.session {
            ledger.set_session(session);
        }
        let end = if this.failure.is_some() || this.last == Last::Finished {
            verdict(this.failure)
        } else {
            RunEnd::interrupted(STREAM_ENDED, "the stream ended before the runner said how the run ended")
        };
        ledger.end_run(run, end);
    }
}

/// The prompt that the runner gives itself after a compaction.
fn is_continuation(text: &Object<'_>) -> bool {
    text.object("metadata").is_some_and(|metadata| metadata.bool("compaction_continue") == Some(true))
}
