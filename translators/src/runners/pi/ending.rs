//! The ends of turns, agent runs and prompts; retries; compactions.
//!
//! Input: `agent_start`, `turn_end`, `agent_end`, `agent_settled`, `auto_retry_start`, `compaction_end`, and the end of the input. Output: the
//! errors of failed replies and the run's end. `agent_settled` is the only end of a prompt: an agent run may be followed by another one
//! for the same prompt, whatever it says. Version 0.73 has no such record. There, a prompt ends with its agent run, unless the last request
//! failed: that request may be made again, so the prompt ends where another one begins, or with the input.

use super::super::failure::Attempt;
use super::super::stops::Stop;
use super::decoder::Pi;
use super::failure;
use super::run::{After, Last};
use super::usage;
use crate::frame::{Body, SharedStr};
use crate::json::Object;
use crate::normalizer::{Normalizer, RunEnd, Target};

/// The code of a run that a client aborted.
const ABORTED: &str = "aborted";

impl Pi {
    /// An agent run begins: of a new prompt, or of the open one.
    pub(super) fn agent_start(&mut self, normalizer: &mut Normalizer) {
        if self.runs.open.as_ref().is_some_and(|run| run.after == After::Unsaid) {
            self.settle(normalizer);
        }
        self.report_failure(Attempt::default(), normalizer);
        self.runs.ensure(normalizer).after = After::Working;
    }

    pub(super) fn turn_end(&mut self, normalizer: &mut Normalizer) {
        let run = self.runs.ensure(normalizer);
        let reason = Some(run.stop_reason.clone()).filter(|reason| !reason.is_empty());
        normalizer.turn_ended(run.key, reason);
    }

    pub(super) fn agent_end(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.open.as_mut() else { return };
        let says_more = fields.get("willRetry").is_some();
        run.after = if says_more { After::WillSettle } else { After::Unsaid };
        if !says_more && !matches!(run.last, Some(Last::Failed { .. })) {
            self.settle(normalizer);
        }
    }

    /// The runner tries a failed request again.
    pub(super) fn retry(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let count = |key: &str| fields.u64(key).and_then(|count| u32::try_from(count).ok());
        let attempt = Attempt { number: count("attempt"), most: count("maxAttempts") };
        self.report_failure(attempt, normalizer);
        if let Some(run) = self.runs.open.as_mut() {
            run.after = After::WillSettle;
        }
    }

    /// Reports the failure of the last reply, unless it is reported, as one that does not end the run.
    pub(super) fn report_failure(&mut self, attempt: Attempt, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.open.as_mut() else { return };
        if let Some(Last::Failed { failure, is_reported }) = &mut run.last
            && !std::mem::replace(is_reported, true)
        {
            let body = failure::reported(failure, Some(attempt));
            normalizer.push(Target::main(run.key), body);
        }
    }

    /// A summary replaced a part of the history.
    pub(super) fn compacted(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(result) = fields.object("result") else {
            let error = fields.str("errorMessage").unwrap_or_default();
            return self.log(crate::frame::LogLevel::Warn, &error, normalizer);
        };
        if let Some(run) = self.runs.open.as_mut()
            && fields.str("reason").as_deref() == Some("overflow")
        {
            // The agent run that overflowed begins again.
            run.after = After::WillSettle;
        }
        let trigger = fields.str("reason");
        self.summarised(trigger.as_deref(), &result, normalizer);
    }

    /// Reports a compaction. `result` has the summary.
    pub(super) fn summarised(&mut self, trigger: Option<&str>, result: &Object<'_>, normalizer: &mut Normalizer) {
        let body = Body::HistoryCompacted {
            trigger: trigger.map(|reason| SharedStr::from(if reason == "manual" { "manual" } else { "auto" })),
            tokens_before: result.u64("tokensBefore"),
            tokens_after: result.u64("estimatedTokensAfter"),
            summary: result.str("summary").map(String::from),
        };
        let target = Target::main(self.runs.stream(normalizer));
        normalizer.push(target, body);
        self.spent_beside(result);
    }

    /// Counts the usage of something that the runner did for itself.
    pub(super) fn spent_beside(&mut self, fields: &Object<'_>) {
        if let Some(run) = self.runs.open.as_mut()
            && let Some(spent) = fields.object("usage").and_then(|spent| usage::of(&spent, None))
        {
            run.summaries.get_or_insert_default().add(&spent.figures());
        }
    }

    /// The prompt is done: ends the run as its last reply ended.
    pub(super) fn settle(&mut self, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.open.take() else { return };
        let end = match &run.last {
            Some(Last::Failed { failure, .. }) => {
                normalizer.push(Target::main(run.key), failure::reported(failure, None));
                failure.clone().run_end()
            }
            Some(Last::Aborted(message)) => {
                let message = if message.is_empty() { "the run was aborted" } else { message.as_str() };
                RunEnd::interrupted(ABORTED, message)
            }
            Some(Last::Stopped(reason)) => match Stop::of(reason) {
                Some(stop) => stop.end(reason, None),
                None => RunEnd::completed(),
            },
            // A command of the runner itself needs no model.
            None => RunEnd::completed(),
        };
        run.end(end, normalizer);
    }

    /// Ends the open run in this way, unless it is over already.
    pub(super) fn leave(&mut self, end: RunEnd, normalizer: &mut Normalizer) {
        match self.runs.open.as_ref().map(|run| (run.is_of_file, run.after)) {
            None => {}
            Some((true, _) | (_, After::Unsaid)) => self.settle(normalizer),
            Some(_) => {
                if let Some(run) = self.runs.open.take() {
                    run.end(end, normalizer);
                }
            }
        }
    }

    /// The input is over.
    pub(super) fn input_over(&mut self, normalizer: &mut Normalizer) {
        let is_settled = self.runs.open.as_ref().is_some_and(|run| match (run.is_of_file, run.after) {
            // A session file has no record for the end of a run. Its last reply shows whether there was one.
            (true, _) => run.last.as_ref().is_some_and(Last::is_final) && run.calls.is_empty(),
            (false, after) => after == After::Unsaid,
        });
        if is_settled {
            self.settle(normalizer);
        } else if let Some(run) = self.runs.open.as_mut() {
            run.report_total(normalizer);
        }
    }
}

impl Last {
    /// Whether nothing follows a reply that ended like this.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::Stopped(reason) if &**reason == "toolUse")
    }
}
