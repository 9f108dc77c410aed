//! Errors outside tools, and losing contact with a run.
//!
//! Input: what a runner reports. Output: `error.upstream`, `gap.run_disconnected`. Never: an error of a turn, which is reported
//! as the turn's failure.

use super::envelope::EventSink;
use crate::contracts::wire::rfc3339_millis;
use crate::encode::{Time, data};
use crate::frame::ErrorReported;

/// The code for an error without one.
const UNNAMED: &str = "execution_error";

pub(super) fn code_of(code: &str) -> &str {
    if code.is_empty() { UNNAMED } else { code }
}

data! {
    struct Upstream<'a> {
        provider: &'static str,
        status: Option<u16>,
        code: &'a str,
        message: &'a str,
        retriable: bool,
        attempt: Option<u32>,
        max_attempts: Option<u32>,
    }

    struct Disconnected<'a> {
        since_sequence: Option<u64>,
        since_at: Option<Time>,
        reason: &'a str,
    }
}

pub(super) fn upstream(error: &ErrorReported, provider: &'static str, sink: &mut EventSink<'_>) {
    sink.emit(
        "error.upstream",
        &Upstream {
            provider,
            status: error.http_status,
            code: code_of(&error.code),
            message: &error.message,
            retriable: error.retryable,
            attempt: error.attempt,
            max_attempts: error.max_attempts,
        },
    );
}

/// Contact with the run was lost after the last event.
pub(super) fn disconnected(reason: &str, sink: &mut EventSink<'_>) {
    let last = sink.last_event();
    sink.emit(
        "gap.run_disconnected",
        &Disconnected {
            since_sequence: last.map(|(sequence, _)| sequence),
            since_at: last.map(|(_, unix_ms)| Time(rfc3339_millis(unix_ms))),
            reason: if reason.is_empty() { "unknown" } else { reason },
        },
    );
}
