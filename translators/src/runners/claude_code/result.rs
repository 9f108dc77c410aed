//! The end of a run: its verdict, its usage and its answer.
//!
//! Input: `result` records. Output: the run's usage and its end. Never: an error text reported twice; a running total reported
//! as the run's own usage; success just because the subtype says so; the loss of a text that only the result contains.

use super::super::stops::Stop;
use super::decoder::{Claude, is_retryable};
use super::usage::{ModelUsage, Tokens, money};
use crate::frame::{Body, ErrorReported, ErrorScope, Figures, ModelPart, SharedStr, Usage, UsageScope};
use crate::json::{Json, Object};
use crate::normalizer::{Block, Covers, Normalizer, RunEnd, Target};
use crate::sequence::StreamKey;

impl Claude {
    pub(super) fn result(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let index = fields.u64("result_index");
        // A result without a run is a run too: a failed start, or the only line of `--output-format json`.
        let (key, alone) = match self.runs.ended_by(normalizer, index) {
            Some(key) => (key, false),
            None => (self.runs.begin(normalizer, ""), true),
        };
        normalizer.record_on(key);
        let target = Target::main(key);
        let is_error = fields.bool("is_error") == Some(true)
            || fields.str("subtype").is_some_and(|subtype| subtype.starts_with("error"));
        let text = fields.str("result").filter(|text| !text.trim().is_empty() && !is_error);
        if let Some(text) = text.as_deref().filter(|_| alone) {
            let id = fields.str("uuid").unwrap_or_default();
            normalizer.complete(target, Block::text(if id.is_empty() { "result" } else { &id }, 0), Some(text), None);
        }
        self.deny(fields, normalizer);
        self.last_stop(key, fields);
        // The turn must end before the run's usage is reported.
        self.runs.leave(normalizer, target);
        self.runs.end_turn(normalizer, key);
        if let Some((usage, covers)) = self.run_usage(key, fields, normalizer) {
            normalizer.run_used(key, usage, covers);
        }
        let stop_reason = fields.str("stop_reason");
        let stop = stop_reason.as_deref().and_then(|word| Some((Stop::of(word)?, word)));
        let end = match stop {
            _ if is_error => self.failure(key, fields, stop, normalizer),
            Some((stop, word)) => stop.end(word, None),
            None => RunEnd::completed(),
        };
        // The result repeats the last text. The exception is a text found nowhere else: structured output, or the output of one
        // of the runner's own commands.
        let is_emitted = |text: &str| normalizer.last_text(key).is_some_and(|emitted| emitted.trim() == text.trim());
        let final_text = text.filter(|text| !is_emitted(text)).map(|text| text.into_owned());
        let session = self.runs.session(normalizer);
        session.next_result = index.unwrap_or(session.next_result).saturating_add(1);
        self.end_run(normalizer, key, RunEnd { final_text, ..end });
    }

    /// Fails the calls that were denied and have no result of their own.
    fn deny(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        for denial in fields.items("permission_denials").into_iter().filter_map(Json::object) {
            let Some(id) = denial.str("tool_use_id") else { continue };
            let key = self.key(&id, normalizer);
            if let Some(call) = self.calls.remove(&*key) {
                normalizer.tool_failed(call.target, &call.tool, "permission denied");
            }
        }
    }

    /// Takes the last message's stop reason from the result, because whole frames do not contain it.
    fn last_stop(&mut self, key: StreamKey, fields: &Object<'_>) {
        let Some(run) = self.runs.run(key).filter(|run| run.stop_reason.is_none() && run.error.is_none()) else {
            return;
        };
        run.stop_reason = fields.str("stop_reason").map(|reason| SharedStr::from(&*reason));
    }

    /// The run's usage: what all models used since the last result, and the main loop's part of it. Without the former, the total is the
    /// increase of the running totals. Versions without running totals report only the main loop.
    ///
    /// The main loop's figures also count the beginning of a reply that broke off and was requested again, and those of a result that was
    /// held back are in the table of an earlier one. So they never raise the figures of all models.
    fn run_usage(
        &mut self,
        key: StreamKey,
        fields: &Object<'_>,
        normalizer: &mut Normalizer,
    ) -> Option<(Usage, Covers)> {
        let main = fields.object("usage").map(|usage| Tokens::read(&usage)).unwrap_or_default();
        let reported = fields.object("model_usage_since_last_result").map(|table| ModelUsage::read(&table));
        let table = ModelUsage::running(fields);
        let cost = ["total_cost_usd", "total_cost", "cost_usd"].iter().find_map(|key| money(fields, key));
        let running = match &table {
            Some(table) => table.tokens.figures(cost),
            None => Figures { cost_usd: cost, ..Figures::default() },
        };
        let before = self.total_before(&running, &main, table.is_some() && reported.is_none(), normalizer);
        let session = self.runs.session(normalizer);
        if cost.is_some() || table.is_some() {
            session.running = Some(running.clone());
        }
        let mut grown = running.clone();
        grown.subtract(&before);
        let cost_usd = reported.as_ref().and_then(|reported| reported.cost_usd).or(grown.cost_usd);
        let mut total = match (&reported, &table) {
            (Some(reported), _) => reported.tokens.figures(cost_usd),
            (None, Some(_)) => Figures { cost_usd, ..grown },
            (None, None) => Figures { cost_usd, ..main.figures(None) },
        };
        // Other runs of the session may be active at the same time. Subtract the usage that they reported themselves.
        for other in self.runs.others(key) {
            let theirs = normalizer.reported_usage(other).unwrap_or_default();
            total.subtract(&Figures { cost_usd: None, ..theirs });
        }
        let is_all = reported.is_some() || table.is_some();
        let of_run = self.runs.run(key).and_then(|run| run.model.clone());
        let alone =
            || reported.as_ref().and_then(|reported| reported.model.clone()).or_else(|| table.as_ref()?.model.clone());
        let has_several = reported.as_ref().or(table.as_ref()).is_some_and(|usage| usage.parts.len() > 1);
        let model = if has_several { None } else { of_run.unwrap_or_else(alone) };
        // The parts of a running total are those of the run only if the total began with it.
        let is_first = before == Figures::default();
        let parts = reported.as_ref().or(table.as_ref().filter(|_| is_first)).map(|usage| usage.parts.clone());
        let by_model = ModelPart::several(parts.unwrap_or_default());
        // The runner reports zeros for the main loop if a turn is stopped; its part is then unknown.
        let mut part = (!main.is_zero()).then(|| main.figures(None));
        match &mut part {
            Some(part) if reported.is_some() => {
                // Of a result that was held back, only the calls themselves are known.
                let calls = Figures { cost_usd: None, ..normalizer.reported_usage(key).unwrap_or_default() };
                total.raise_to(&calls);
                let mut of_subagents = calls;
                of_subagents.subtract(&normalizer.main_usage(key).unwrap_or_default());
                let mut most = Figures { cost_usd: None, ..total.clone() };
                most.subtract(&of_subagents);
                part.lower_to(&most);
            }
            Some(part) => total.raise_to(part),
            None => {}
        }
        if total.is_nothing() || !(is_all || fields.object("usage").is_some()) {
            return None;
        }
        let covers = if is_all { Covers::Run(part) } else { Covers::MainThread };
        let kept = table.is_some().then(|| Box::new(running));
        Some((Usage { running: kept, by_model, ..Usage::of(UsageScope::Run, model, &total) }, covers))
    }

    /// The running total before this result: that of the session's previous result in this input. In a new input, a session may
    /// continue an earlier total (`--resume`) or count from zero, as older versions do. An earlier total can be the base only
    /// if adding the main loop's usage to it does not exceed the new total.
    fn total_before(
        &mut self,
        running: &Figures,
        main: &Tokens,
        may_go_on: bool,
        normalizer: &mut Normalizer,
    ) -> Figures {
        let fits = |before: &Figures| {
            let mut least = before.clone();
            least.add(&main.figures(None));
            let cost_fits = before.cost_usd.unwrap_or_default() <= running.cost_usd.unwrap_or_default();
            least.input_tokens <= running.input_tokens && least.output_tokens <= running.output_tokens && cost_fits
        };
        let last = self.runs.session(normalizer).running.clone();
        if let Some(last) = last {
            // The total restarts from zero if the conversation was cleared.
            let cost_fits = last.cost_usd.unwrap_or_default() <= running.cost_usd.unwrap_or_default();
            let tokens_fit = last.input_tokens <= running.input_tokens && last.output_tokens <= running.output_tokens;
            return if cost_fits && tokens_fit { last } else { Figures::default() };
        }
        if !may_go_on {
            return Figures::default();
        }
        let known = normalizer.known_totals().into_iter().filter(|before| before != running && fits(before));
        known.max_by_key(|before| (before.input_tokens, before.output_tokens)).unwrap_or_default()
    }

    fn failure(
        &mut self,
        key: StreamKey,
        fields: &Object<'_>,
        stop: Option<(Stop, &str)>,
        normalizer: &mut Normalizer,
    ) -> RunEnd {
        let run = self.runs.run(key);
        let (interrupted, error) = run.map_or((false, None), |run| (run.interrupted, run.error.clone()));
        let terminal = fields.str("terminal_reason");
        let subtype = fields.str("subtype").unwrap_or_default();
        let own = fields.str("result").map(|text| text.into_owned()).filter(|text| !text.trim().is_empty());
        let stopped = |reason: &str| {
            // The runner's own message, if there is one.
            let message = own.clone().unwrap_or_else(|| "interrupted by the user".to_owned());
            RunEnd::interrupted(reason, message)
        };
        match terminal.as_deref() {
            Some(reason) if reason.starts_with("aborted") => return stopped(reason),
            None if interrupted && *subtype == *"error_during_execution" => return stopped("interrupted"),
            _ => {}
        }
        let listed: Vec<_> = fields.items("errors").into_iter().filter_map(Json::str).collect();
        let api =
            || fields.str("api_error_type").or_else(|| fields.str("api_error")).map(|kind| SharedStr::from(&*kind));
        let (code, message) = match error.filter(|_| subtype == "success") {
            // The stream already contains the error.
            Some((code, message)) => {
                return match Stop::of(&code).map(|stop| (stop, &*code)).or(stop) {
                    Some((stop, word)) => stop.end(word, Some(&message)),
                    None => RunEnd::failed(code, message),
                };
            }
            None if subtype == "success" => {
                if let Some((stop, word)) = stop {
                    return stop.end(word, own.as_deref());
                }
                (api().unwrap_or_else(|| SharedStr::from("api_error")), own.into_iter().collect())
            }
            None => {
                // The result text and the `errors` list may both contain a message. The result text is skipped if it was
                // already reported as the answer.
                let is_emitted =
                    |text: &String| normalizer.last_text(key).is_some_and(|emitted| emitted.trim() == text.trim());
                let texts = own.into_iter().filter(|text| !is_emitted(text)).collect::<Vec<_>>();
                (SharedStr::from(if subtype.is_empty() { "error" } else { &*subtype }), texts)
            }
        };
        let mut texts: Vec<String> = message;
        for text in listed.into_iter().map(|text| text.into_owned()) {
            if !texts.iter().any(|known| known.contains(&text)) {
                texts.push(text);
            }
        }
        let message = Some(texts.join("\n")).filter(|message| !message.is_empty());
        let message = message.unwrap_or_else(|| sentence(&code, terminal.as_deref()));
        let report = ErrorReported {
            scope: ErrorScope::Run,
            retryable: is_retryable(&code),
            code: code.clone(),
            message: message.clone(),
            attempt: None,
            max_attempts: None,
            http_status: fields.u64("api_error_status").and_then(|status| u16::try_from(status).ok()),
        };
        normalizer.push(Target::main(key), Body::ErrorReported(Box::new(report)));
        RunEnd::failed(code, message)
    }
}

/// The message for people if the runner reports only a code.
fn sentence(code: &str, terminal: Option<&str>) -> String {
    match code {
        "error_max_turns" => "the run reached its limit of turns".to_owned(),
        "error_max_budget_usd" => "the run reached its budget".to_owned(),
        "error_max_structured_output_retries" => "the model gave no output that fits the schema".to_owned(),
        _ => terminal.unwrap_or(code).to_owned(),
    }
}
