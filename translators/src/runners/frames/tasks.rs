//! The frames of background tasks (`tool_task_*`).

use super::fields::{Fields, Read};
use crate::frame::TaskEvent;

/// What happened to a task; `None` if the type is another one.
pub(super) fn read(kind: &str, fields: Fields<'_, '_>) -> Read<Option<TaskEvent>> {
    let task_id = || fields.id("task_id");
    Ok(Some(match kind {
        "tool_task_spawned" => TaskEvent::Spawned {
            task_id: task_id()?,
            tool_name: fields.name("tool_name")?,
            args: fields.args("args")?,
            cwd: fields.nullable_text("cwd")?,
            title: fields.nullable_text("title")?,
            execution_mode: fields.word("execution_mode", "pipes or pty")?,
            origin_session_id: fields.nullable_id("origin_session_id")?,
            artifacts: fields.nullable_record("artifacts")?,
        },
        "tool_task_status" => TaskEvent::Status {
            task_id: task_id()?,
            status: fields.word("status", "queued, running, exited, cancelled or failed")?,
            exit_code: fields.nullable_exit_code("exit_code")?,
            started_at_ms: fields.nullable_number("started_at_ms")?,
            ended_at_ms: fields.nullable_number("ended_at_ms")?,
            artifacts: fields.nullable_record("artifacts")?,
            error: fields.nullable_text("error")?,
        },
        "tool_task_cancel_requested" => {
            TaskEvent::CancelRequested { task_id: task_id()?, reason: fields.text("reason")? }
        }
        "tool_task_cancelled" => TaskEvent::Cancelled {
            task_id: task_id()?,
            reason: fields.text("reason")?,
            wall_time_ms: fields.nullable_number("wall_time_ms")?,
        },
        "tool_task_output_delta" => TaskEvent::OutputDelta {
            task_id: task_id()?,
            stream: fields.word("stream", "stdout, stderr or pty")?,
            chunk: fields.text("chunk")?,
            artifacts: fields.nullable_record("artifacts")?,
        },
        "tool_task_stdin_written" => {
            TaskEvent::StdinWritten { task_id: task_id()?, chunk_b64: fields.text("chunk_b64")? }
        }
        "tool_task_resized" => {
            TaskEvent::Resized { task_id: task_id()?, rows: fields.number("rows")?, cols: fields.number("cols")? }
        }
        "tool_task_signalled" => TaskEvent::Signalled { task_id: task_id()?, signal: fields.text("signal")? },
        _ => return Ok(None),
    }))
}
