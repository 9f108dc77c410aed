//! The end of a run: its verdict, its usage and its answer.
//!
//! Input: `result` records. Output: the run's usage and its end. A result counts the usage of the whole session, so that of the run
//! is the increase. Never: an error text reported twice; the session's total reported as the usage of a run; the end of a run for a
//! result that is that of a subagent; the loss of a text that only the result contains.

use super::decoder::Qwen;
use super::failure;
use super::reply::Fate;
use super::usage::Tokens;
use crate::frame::{ErrorScope, Figures, Usage, UsageScope};
use crate::json::Object;
use crate::normalizer::{Block, Covers, Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

/// The message of a run that the host interrupted.
const INTERRUPTED: &str = "Operation cancelled.";

impl Qwen {
    pub(super) fn result(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let is_error = fields.bool("is_error") == Some(true)
            || fields.str("subtype").is_some_and(|subtype| subtype.starts_with("error"));
        let error = fields.object("error").and_then(|error| error.str("message").map(|text| text.into_owned()));
        let error = error.or_else(|| fields.str("error").map(|text| text.into_owned())).unwrap_or_default();
        if is_error && self.is_of_subagent(fields, &error, normalizer) {
            return;
        }
        // A result without a run is a run too: a failed start, or an input that begins late.
        let is_alone = self.runs.current(normalizer).is_none();
        let key = self.runs.ensure(normalizer);
        let target = Target::main(key);
        normalizer.record_on(key);
        let is_interrupted = is_error && error == INTERRUPTED;
        let fate = match is_error {
            false => Fate::Complete,
            true if is_interrupted => Fate::Cut,
            true => Fate::Failed(&error),
        };
        let failure = (is_error && !is_interrupted)
            .then(|| failure::of_result(&error, &fields.str("subtype").unwrap_or_default()));
        let end = match &failure {
            Some(failure) => failure.clone().run_end(),
            None if is_interrupted => RunEnd::interrupted("interrupted", error.as_str()),
            None => RunEnd::completed(),
        };
        // The turn must end before the run's usage is reported.
        self.close(key, fate, &end, normalizer);
        let text = fields.str("result").filter(|text| !text.is_empty() && !is_error);
        if let Some(text) = text.as_deref().filter(|_| is_alone) {
            let id = fields.str("uuid").unwrap_or_default();
            normalizer.complete(target, Block::text(if id.is_empty() { "result" } else { &id }, 0), Some(text), None);
        }
        self.run_usage(key, fields, normalizer);
        if let Some(failure) = &failure {
            normalizer.push(target, failure.body(ErrorScope::Run));
        }
        // The result repeats the last text. The exception is a text found nowhere else: output that follows a schema.
        let is_said = |text: &str| normalizer.last_text(key) == Some(text);
        let final_text = text.filter(|text| !is_said(text)).map(|text| text.into_owned());
        self.end_run(key, RunEnd { final_text, ..end }, fate, normalizer);
    }

    /// Handles the result of a failed subagent, which does not name it: a result without any figure, while a subagent is at work in
    /// the foreground. Returns whether it is one.
    fn is_of_subagent(&mut self, fields: &Object<'_>, error: &str, normalizer: &mut Normalizer) -> bool {
        let usage = fields.object("usage").unwrap_or_default();
        let is_bare = ["duration_ms", "duration_api_ms", "num_turns"].iter().all(|key| fields.u64(key) == Some(0))
            && usage.get("cache_read_input_tokens").is_none()
            && Tokens::of_usage(&usage).is_none();
        let key = self.runs.current(normalizer).filter(|_| is_bare).map(|run| run.key);
        let Some(child) = key.and_then(|key| self.only_agent_at_work(key)) else { return false };
        let failure = failure::of_result(error, &fields.str("subtype").unwrap_or_default());
        normalizer.push(child, failure.body(ErrorScope::Turn));
        true
    }

    /// Reports the run's usage: the increase of the session's total, with the sum of the main thread's calls as its part.
    fn run_usage(&mut self, key: StreamKey, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let usage = fields.object("usage").unwrap_or_default();
        let Some(total) = Tokens::of_usage(&usage).map(|total| total.with_stats(fields.object("stats"))) else {
            return;
        };
        let calls = normalizer.reported_usage(key);
        if self.runs.session(normalizer).total.is_none() {
            let known = normalizer.known_totals();
            let of_calls = Tokens::of_figures(&calls.clone().unwrap_or_default());
            self.runs.session(normalizer).total = total.recall(&known, of_calls);
        }
        let grown = self.runs.session(normalizer).grow(total);
        let Some(run) = self.runs.run(key) else { return };
        run.is_totalled = true;
        let model = run.model.clone().flatten();
        if let Some(grown) = grown {
            let running: Box<Figures> = Box::new(total.figures());
            let usage = Usage { running: Some(running), ..Usage::of(UsageScope::Run, model, &grown.figures()) };
            normalizer.run_used(key, usage, Covers::Run(calls));
        }
    }
}
