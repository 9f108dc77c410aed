//! Turns.
//!
//! Input: the start and the end of each turn, its usage and its errors. Output: `turn.started`, then `turn.completed` or
//! `turn.failed`. Never: two ends of one turn, or a 0 for a figure that was not reported.
//!
//! Some runners report the error of a turn after the turn's end, and only then whether they try again. `turn.failed` waits for
//! that: for the error, the next turn or the run's end, whichever comes first.

use super::budget::Figures;
use super::envelope::EventSink;
use crate::encode::data;
use crate::frame::{
    EndReason, ErrorReported, ErrorScope, MAX_OUTPUT_TOKENS, SessionEnded, Usage, UsageScope, is_interrupted_by_person,
};
use serde::{Deserialize, Serialize};

/// The open turn, and the number of turns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turns {
    count: u32,
    open: Option<Turn>,
    last_index: u32,
    /// The last turn failed, and its end was not emitted yet.
    failing: Option<Failing>,
}

/// A turn that is over and failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failing {
    turn_index: u32,
    failure: Option<Failure>,
    /// The failure is that of the turn, not only the last error of the provider.
    is_certain: bool,
    /// The next turn makes the same request again, if there is one.
    may_retry: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    figures: Figures,
    /// The run's own total, if it arrived within the turn.
    run: Option<Figures>,
    tool_calls: u32,
    failure: Option<Failure>,
    /// The provider's last error, in case the turn fails without another one.
    of_provider: Option<Failure>,
    began_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
    /// The turn itself failed, whatever its stop reason is.
    is_turn: bool,
}

data! {
    struct Started<'a> {
        turn_index: u32,
        model: Option<&'a str>,
        provider: &'static str,
    }

    struct Completed<'a> {
        turn_index: u32,
        input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        cached_input_tokens: Option<u64>,
        cost_micros_usd: Option<u64>,
        duration_ms: Option<u64>,
        tool_calls: u32,
        stop_reason: Option<&'a str>,
    }

    struct Failed<'a> {
        turn_index: u32,
        code: &'a str,
        message: &'a str,
        will_retry: bool,
    }
}

impl Turns {
    /// The current turn: the open one, otherwise the last one.
    pub(super) fn index(&self) -> u32 {
        self.last_index
    }

    /// The turn of a user message: the open one, otherwise the one that it will begin.
    pub(super) fn index_of_input(&self) -> u32 {
        if self.open.is_some() { self.last_index } else { self.count }
    }

    /// The number of turns that began.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn begin(
        &mut self,
        turn_index: u32,
        model: Option<&str>,
        provider: &'static str,
        sink: &mut EventSink<'_>,
    ) {
        self.fail(|failing| failing.may_retry, sink);
        self.count += 1;
        self.last_index = turn_index;
        self.open = Some(Turn { began_ms: sink.now_ms, ..Turn::default() });
        let model = model.filter(|model| !model.is_empty());
        sink.emit("turn.started", &Started { turn_index, model, provider });
    }

    /// Counts a tool call that the model proposed.
    pub(super) fn count_call(&mut self) {
        if let Some(turn) = &mut self.open {
            turn.tool_calls += 1;
        }
    }

    pub(super) fn usage(&mut self, usage: &Usage) {
        let Some(turn) = &mut self.open else { return };
        match usage.scope {
            UsageScope::Turn => turn.figures.add(&Figures::of(usage)),
            UsageScope::Run => {
                // Turns belong to the main thread; subagents are only part of the run's total.
                let of_main = usage.main_thread.as_deref().map(|part| Usage::of(UsageScope::Turn, None, part));
                turn.run = Some(Figures::of(of_main.as_ref().unwrap_or(usage)));
            }
        }
    }

    /// Records an error during a turn. Returns whether the turn's end reports it. An error that the runner retries within the
    /// turn does not end the turn: `error.upstream` reports each attempt.
    pub(super) fn error(&mut self, error: &ErrorReported, sink: &mut EventSink<'_>) -> bool {
        let Some(turn) = &mut self.open else {
            self.late_error(error, sink);
            return false;
        };
        let code = super::errors::code_of(&error.code);
        let is_turn = error.scope == ErrorScope::Turn;
        // A runner that counts attempts continues with the next one, unless this was the last.
        let will_retry = error.attempt.is_some_and(|attempt| error.max_attempts.is_none_or(|max| attempt < max));
        if is_turn && will_retry {
            return false;
        }
        // A turn whose answer reached a limit is over, but not failed.
        if code == MAX_OUTPUT_TOKENS {
            return false;
        }
        let failure = Failure { code: code.to_owned(), message: error.message.clone(), is_turn };
        if error.scope == ErrorScope::Provider {
            turn.of_provider = Some(failure);
        } else {
            turn.failure = Some(failure);
        }
        is_turn
    }

    /// Records an error after the end of a failed turn.
    fn late_error(&mut self, error: &ErrorReported, sink: &mut EventSink<'_>) {
        let Some(failing) = self.failing.as_mut().filter(|_| error.scope != ErrorScope::Provider) else { return };
        let is_turn = error.scope == ErrorScope::Turn;
        failing.is_certain = true;
        failing.may_retry = is_turn && error.retryable;
        let code = super::errors::code_of(&error.code).to_owned();
        failing.failure = Some(Failure { code, message: error.message.clone(), is_turn });
        // A runner counts attempts if it makes another one. The run's own error is final. Otherwise, the next turn shows it.
        if !is_turn || error.attempt.is_some() {
            self.fail(|failing| failing.may_retry, sink);
        }
    }

    /// A person sent a message: the next turn answers it.
    pub(super) fn new_input(&mut self) {
        if let Some(failing) = &mut self.failing {
            failing.may_retry = false;
        }
    }

    /// The run is over.
    pub(super) fn close(&mut self, end: &SessionEnded, sink: &mut EventSink<'_>) {
        if let Some(failing) = self.failing.as_mut().filter(|failing| !failing.is_certain) {
            let code = end.error_code.as_deref().unwrap_or_default();
            // An interruption from outside is not why the turn failed.
            let is_cause = match end.reason {
                EndReason::Completed => false,
                EndReason::Failed => true,
                EndReason::Interrupted => is_interrupted_by_person(code),
            };
            if is_cause && (!code.is_empty() || end.message.is_some()) {
                let code = super::errors::code_of(code);
                let message = end.message.as_deref().filter(|message| !message.is_empty()).unwrap_or(code);
                failing.failure = Some(Failure { code: code.to_owned(), message: message.to_owned(), is_turn: false });
            }
        }
        self.fail(|_| false, sink);
    }

    /// Emits the end of a failed turn that waits for it.
    fn fail(&mut self, will_retry: impl FnOnce(&Failing) -> bool, sink: &mut EventSink<'_>) {
        let Some(failing) = self.failing.take() else { return };
        let will_retry = will_retry(&failing);
        let (code, message) = match &failing.failure {
            Some(failure) => (&*failure.code, &*failure.message),
            None => (super::errors::code_of(""), "the runner gave no reason"),
        };
        sink.emit("turn.failed", &Failed { turn_index: failing.turn_index, code, message, will_retry });
    }

    /// Ends the open turn. Returns by how many milliseconds the clock was corrected within it: the runner's first own time may
    /// follow times of ingest, and the turn's duration shows the difference.
    pub(super) fn end(
        &mut self,
        turn_index: u32,
        stop_reason: Option<&str>,
        duration_ms: Option<u64>,
        sink: &mut EventSink<'_>,
    ) -> u64 {
        let Some(turn) = self.open.take() else { return 0 };
        let began_ms = sink.now_ms.saturating_sub(duration_ms.unwrap_or_default());
        let correction = duration_ms.map_or(0, |_| began_ms.saturating_sub(turn.began_ms));
        let says_failed = matches!(stop_reason, Some("failed" | "error"));
        if let Some(failure) = turn.failure.filter(|failure| failure.is_turn || says_failed) {
            let failed = Failed { turn_index, code: &failure.code, message: &failure.message, will_retry: false };
            sink.emit("turn.failed", &failed);
            return correction;
        }
        if says_failed {
            let failure = turn.of_provider;
            self.failing = Some(Failing { turn_index, failure, is_certain: false, may_retry: false });
            return correction;
        }
        // The total of a run with one turn is that turn's usage.
        let figures = match turn.run {
            Some(run) if self.count == 1 && !turn.figures.is_known() => run,
            _ => turn.figures,
        };
        sink.emit(
            "turn.completed",
            &Completed {
                turn_index,
                input_tokens: figures.input_tokens,
                output_tokens: figures.output_tokens,
                cached_input_tokens: figures.cached_input_tokens,
                cost_micros_usd: figures.cost_micros_usd,
                duration_ms,
                tool_calls: turn.tool_calls,
                stop_reason,
            },
        );
        correction
    }
}
