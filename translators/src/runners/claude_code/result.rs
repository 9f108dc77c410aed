//! The end of a run: its verdict, its figures, its answer.
//!
//! In: `result` records. Out: the run's usage and its end. Never: an error text said twice, a running total told as the
//! run's own, or success because the subtype says so.

use super::decoder::{Claude, is_retryable};
use super::usage::{ModelUsage, Tokens, money};
use crate::frame::{Body, ErrorReported, ErrorScope, Name, Usage, UsageScope};
use crate::json::{Json, Object};
use crate::ledger::{Block, Ledger, Place, RunEnd};
use crate::sequence::StreamKey;

impl Claude {
    pub(super) fn result(&mut self, fields: &Object<'_>, ledger: &mut Ledger) {
        let index = fields.u64("result_index");
        // A result alone is a run too: a start that failed, or the only line of `--output-format json`.
        let (key, alone) = match self.runs.ended_by(ledger, index) {
            Some(key) => (key, false),
            None => (self.runs.begin(ledger, ""), true),
        };
        ledger.record_on(key);
        let place = Place::main(key);
        let is_error = fields.bool("is_error") == Some(true)
            || fields.str("subtype").is_some_and(|subtype| subtype.starts_with("error"));
        let text = fields.str("result").filter(|text| !text.is_empty() && !is_error);
        if let Some(text) = text.as_deref().filter(|_| alone) {
            let id = fields.str("uuid").unwrap_or_default();
            ledger.complete(place, Block::text(if id.is_empty() { "result" } else { &id }, 0), Some(text), None);
        }
        self.deny(fields, ledger);
        self.last_stop(key, fields);
        // The turn ends before the run's figures are told.
        self.runs.leave(ledger, place);
        self.runs.end_turn(ledger, key);
        if let Some(usage) = self.run_usage(key, fields, ledger) {
            ledger.push(place, Body::UsageReported(Box::new(usage)));
        }
        let end = if is_error { self.failure(key, fields, ledger) } else { RunEnd::completed() };
        let spoke = self.runs.run(key).is_some_and(|run| run.spoke) || alone;
        let final_text = text.filter(|_| !spoke).map(|text| text.into_owned());
        let session = self.runs.session(ledger);
        session.next_result = index.unwrap_or(session.next_result).saturating_add(1);
        self.end_run(ledger, key, RunEnd { final_text, ..end });
    }

    /// Calls that were denied and got no result of their own.
    fn deny(&mut self, fields: &Object<'_>, ledger: &mut Ledger) {
        for denial in fields.items("permission_denials").into_iter().filter_map(Json::object) {
            if let Some(call) = denial.str("tool_use_id").and_then(|id| self.calls.remove(&*id)) {
                ledger.tool_failed(call.place, &call.tool, "permission denied");
            }
        }
    }

    /// Whole frames do not say why the model stopped; the result does, of the last message.
    fn last_stop(&mut self, key: StreamKey, fields: &Object<'_>) {
        let Some(run) = self.runs.run(key).filter(|run| run.stop_reason.is_none() && run.error.is_none()) else {
            return;
        };
        run.stop_reason = fields.str("stop_reason").map(|reason| Name::from(&*reason));
    }

    /// The run's own figures: the main loop's tokens, and what the running totals grew by. Where the main loop's figures
    /// are left at zero (an interrupted turn, a compaction), the growth of the totals tells the tokens too.
    fn run_usage(&mut self, key: StreamKey, fields: &Object<'_>, ledger: &Ledger) -> Option<Usage> {
        let main = fields.object("usage").map(|usage| Tokens::read(&usage)).unwrap_or_default();
        let grown = fields.object("model_usage_since_last_result").map(|table| ModelUsage::read(&table));
        let total = ["total_cost_usd", "total_cost", "cost_usd"].iter().find_map(|key| money(fields, key));
        let session = self.runs.session(ledger);
        let before = session.total_cost_usd;
        session.total_cost_usd = total.or(before);
        // The total starts again from zero where the conversation was cleared.
        let since = total.map(|total| before.filter(|before| *before <= total).map_or(total, |before| total - before));
        let cost_usd = grown.as_ref().and_then(|grown| grown.cost_usd).or(since);
        let of_run = self.runs.run(key).and_then(|run| run.model.clone());
        let alone = || {
            let table = fields.object("modelUsage").unwrap_or_default();
            grown.as_ref().and_then(|grown| grown.model.clone()).or_else(|| ModelUsage::read(&table).model)
        };
        let model = of_run.unwrap_or_else(alone);
        let (tokens, model) = match &grown {
            Some(grown) if main.is_zero() => (&grown.tokens, grown.model.clone().or(model)),
            _ => (&main, model),
        };
        let nothing = tokens.is_zero() && cost_usd.unwrap_or_default() == 0.0;
        tokens.report(UsageScope::Run, model, cost_usd).filter(|_| !nothing)
    }

    fn failure(&mut self, key: StreamKey, fields: &Object<'_>, ledger: &mut Ledger) -> RunEnd {
        let run = self.runs.run(key);
        let (interrupted, error) = run.map_or((false, None), |run| (run.interrupted, run.error.clone()));
        let terminal = fields.str("terminal_reason");
        let subtype = fields.str("subtype").unwrap_or_default();
        match terminal.as_deref() {
            Some(reason) if reason.starts_with("aborted") => return stopped(reason),
            None if interrupted && *subtype == *"error_during_execution" => return stopped("interrupted"),
            _ => {}
        }
        let own = fields.str("result").map(|text| text.into_owned());
        let listed: Vec<_> = fields.items("errors").into_iter().filter_map(Json::str).collect();
        let api = || fields.str("api_error_type").or_else(|| fields.str("api_error")).map(|kind| Name::from(&*kind));
        let (code, message) = match error.filter(|_| subtype == "success") {
            // The error stands in the stream already.
            Some((code, message)) => return RunEnd::failed(code, message),
            None if subtype == "success" => (api().unwrap_or_else(|| Name::from("api_error")), own),
            None => (Name::from(if subtype.is_empty() { "error" } else { &*subtype }), None),
        };
        let message = message.or_else(|| (!listed.is_empty()).then(|| listed.join("\n")));
        let message =
            message.filter(|message| !message.is_empty()).unwrap_or_else(|| sentence(&code, terminal.as_deref()));
        let report = ErrorReported {
            scope: ErrorScope::Run,
            retryable: is_retryable(&code),
            code: code.clone(),
            message: message.clone(),
            attempt: None,
            max_attempts: None,
            http_status: fields.u64("api_error_status").and_then(|status| u16::try_from(status).ok()),
        };
        ledger.push(Place::main(key), Body::ErrorReported(Box::new(report)));
        RunEnd::failed(code, message)
    }
}

fn stopped(reason: &str) -> RunEnd {
    RunEnd::interrupted(reason, "interrupted by the user")
}

/// What a person is told where the runner gives only a code.
fn sentence(code: &str, terminal: Option<&str>) -> String {
    match code {
        "error_max_turns" => "the run reached its limit of turns".to_owned(),
        "error_max_budget_usd" => "the run reached its budget".to_owned(),
        "error_max_structured_output_retries" => "the model gave no output that fits the schema".to_owned(),
        _ => terminal.unwrap_or(code).to_owned(),
    }
}
