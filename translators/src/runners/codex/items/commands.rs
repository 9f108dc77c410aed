//! Shell commands.

use super::super::shell_script;
use super::super::thread_context::{Caller, ThreadContext};
use super::{Item, Status};
use crate::frame::{RawJson, ToolKind};
use crate::json::{Json, Kind, to_raw};
use std::borrow::Cow;

pub(super) fn command(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    let caller = Caller::of(item.str("source", "source").as_deref());
    // Output written before the item started is reported only with its end.
    let command = item.get("command", "command");
    context.begin_by(caller, &item.id, "bash", ToolKind::Shell, || command_args(command));
    if !done {
        return;
    }
    let output = item.str("aggregated_output", "aggregatedOutput").unwrap_or_default();
    let exit_code = item.get("exit_code", "exitCode").and_then(Json::i64);
    end_command(context, &item.id, output, item.status(), exit_code, item.duration_ms());
}

/// Ends a command, which may never have run.
pub(in super::super) fn end_command(
    context: &mut ThreadContext<'_>,
    call_id: &str,
    output: Cow<'_, str>,
    status: Option<Status>,
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
) {
    context.whole_output(call_id, output);
    match (status, exit_code) {
        (Some(Status::Declined), _) => context.fail(call_id, "declined"),
        (Some(Status::Interrupted), None) => context.fail(call_id, "interrupted"),
        (status, code) => {
            let code = code.unwrap_or(i64::from(status == Some(Status::Failed)));
            context.end(call_id, clamp(code), duration_ms);
        }
    }
}

/// Starts a command: a string with shell quoting, or an argument vector.
pub(in super::super) fn begin_command(
    context: &mut ThreadContext<'_>,
    caller: Caller,
    call_id: &str,
    command: Option<Json<'_>>,
) {
    context.begin_by(caller, call_id, "bash", ToolKind::Shell, || command_args(command));
}

/// The arguments of a command.
pub(in super::super) fn command_args(command: Option<Json<'_>>) -> RawJson {
    let Some(command) = command else { return crate::json::empty_object() };
    let line = match command.kind() {
        Kind::Array => {
            let words: Vec<Cow<'_, str>> = command.items().into_iter().filter_map(Json::str).collect();
            shell_script::script_of(&words)
        }
        _ => shell_script::script(&command.str().unwrap_or_default()).into_owned(),
    };
    to_raw(&serde_json::json!({ "command": line }))
}

/// An exit code clamped to the range that frames use.
fn clamp(code: i64) -> i32 {
    i32::try_from(code).unwrap_or(if code < 0 { i32::MIN } else { i32::MAX })
}
