//! The end of a run: what is open is closed, then the `result` follows.

use super::approvals::Denial;
use super::data::Tokens;
use super::encode::ClaudeCode;
use super::line::{Raw, Text};
use super::usage::Totals;
use super::words::{SUCCESS, StopReason, outcome};
use super::writer::{Envelope, Writer};
use crate::encode::{Events, Null, Value, key};
use crate::frame::{EndReason, Frame, SessionEnded};

/// What a `result` says.
#[derive(Debug, Default)]
pub(super) struct Outcome<'a> {
    pub(super) subtype: &'static str,
    pub(super) terminal_reason: Option<&'static str>,
    pub(super) is_error: bool,
    /// With the subtype `success`: the text.
    pub(super) result: &'a str,
    /// With other subtypes: the messages.
    pub(super) errors: Vec<&'a str>,
    pub(super) error_code: Option<&'a str>,
    pub(super) stop_reason: Option<StopReason>,
    pub(super) duration_ms: u64,
    pub(super) num_turns: u64,
    pub(super) totals: Totals,
    pub(super) denials: &'a [Denial],
}

/// Writes a `result`.
pub(super) fn write_result(writer: &mut Writer, outcome: &Outcome<'_>, out: &mut Events) {
    let Totals { main_thread, by_model, cost_usd } = &outcome.totals;
    let by_model = if by_model.is_empty() { "{}" } else { by_model };
    let errors: Vec<String> =
        outcome.errors.iter().map(|error| error.replace(['\u{2028}', '\u{2029}'], "\n")).collect();
    writer.message("result", Envelope::Session, out, |map| {
        map.word(key!("subtype"), outcome.subtype);
        map.entry(key!("is_error"), &outcome.is_error);
        if outcome.subtype == SUCCESS {
            Text(outcome.result).field(key!("result"), map);
        } else {
            errors.field(key!("errors"), map);
        }
        map.entry(key!("duration_ms"), &outcome.duration_ms);
        map.entry(key!("duration_api_ms"), &0_u64);
        map.entry(key!("num_turns"), &outcome.num_turns);
        match outcome.stop_reason {
            Some(reason) => map.word(key!("stop_reason"), reason.as_str()),
            None => Null.field(key!("stop_reason"), map),
        }
        map.entry(key!("total_cost_usd"), cost_usd);
        Tokens::of(main_thread).field(key!("usage"), map);
        map.raw(key!("modelUsage"), by_model);
        if by_model != "{}" {
            map.raw(key!("model_usage_since_last_result"), by_model);
        }
        map.list(key!("permission_denials"), outcome.denials, |map, denial| {
            Text(&denial.tool_name).field(key!("tool_name"), map);
            Text(&denial.tool_use_id).field(key!("tool_use_id"), map);
            Raw(&super::blocks::input_of(&denial.tool_input)).field(key!("tool_input"), map);
        });
        if let Some(reason) = outcome.terminal_reason {
            map.word(key!("terminal_reason"), reason);
        }
        outcome.error_code.map(Text).field(key!("api_error_type"), map);
    });
}

impl ClaudeCode {
    pub(super) fn end(&mut self, end: &SessionEnded, frame: &Frame, out: &mut Events) {
        self.begin_session(out);
        self.withdraw_all(out);
        self.end_messages(out);
        let is_error = end.reason != EndReason::Completed;
        let code = end.error_code.as_deref().filter(|code| !code.is_empty());
        let message = end.message.as_deref().filter(|message| !message.is_empty()).or(code);
        let (subtype, terminal_reason) = outcome(end, self.calls.is_working());
        let result = match is_error {
            true => message.unwrap_or("the run failed"),
            false => end.final_text.as_deref().unwrap_or_default(),
        };
        let outcome = Outcome {
            subtype,
            terminal_reason: Some(terminal_reason),
            is_error,
            result,
            errors: message.into_iter().collect(),
            error_code: code.filter(|_| is_error),
            stop_reason: StopReason::of_end(end).or(self.stop_reason),
            duration_ms: frame.timestamp_ms.saturating_sub(self.began_ms),
            num_turns: self.user_count + 1,
            totals: self.usage.totals(&self.model()),
            denials: self.approvals.denials(),
        };
        write_result(&mut self.writer, &outcome, out);
    }
}
