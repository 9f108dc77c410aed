//! A background task: a message of its own with one `data-task` part, which each chunk replaces.

use super::data::{Abort, ErrorText, Finish, Start, Task, TaskData, fields};
use super::metadata::{EMPTY, MessageMetadata};
use super::writer::Writer;
use crate::contracts::live_output::{Output, Piece};
use crate::encode::{Events, StreamEncoder, Word};
use crate::frame::{Body, Frame, OutputStream, RawJson, SharedStr, Stream, TaskEvent, TaskStatus};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The encoder of one task.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskMessage {
    writer: Writer,
    started: bool,
    status: TaskStatus,
    tool_name: Option<SharedStr>,
    title: Option<String>,
    cwd: Option<String>,
    input: Option<RawJson>,
    output: Output,
}

impl StreamEncoder for TaskMessage {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let stream = &*frame.stream;
        if !std::mem::replace(&mut self.started, true) {
            let metadata = MessageMetadata {
                run_id: stream.origin_run.as_ref(),
                task_id: Some(&stream.id),
                session_id: Some(&stream.session.id),
                runner: Some(stream.provider.name),
                ..EMPTY
            };
            self.writer.chunk("start", &Start { message_id: &stream.id, metadata }, out);
        }
        if let Body::Task(event) = &frame.body {
            self.event(&stream.id, event, out);
        }
    }

    fn held_bytes(&self) -> usize {
        self.output.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { writer: state.writer.named_as(&self.writer), ..state }
    }
}

impl TaskMessage {
    pub(super) fn new(stream: &Stream) -> Self {
        Self {
            writer: Writer::new(&stream.id),
            started: false,
            status: TaskStatus::Running,
            tool_name: None,
            title: None,
            cwd: None,
            input: None,
            output: Output::default(),
        }
    }

    fn event(&mut self, id: &Uuid, event: &TaskEvent, out: &mut Events) {
        match event {
            TaskEvent::Spawned { tool_name, args, cwd, title, .. } => {
                self.tool_name = Some(tool_name.clone());
                self.title.clone_from(title);
                self.cwd.clone_from(cwd);
                self.input = Some(args.clone());
                self.show(id, None, None, out);
            }
            TaskEvent::Status { status, exit_code, error, .. } => {
                self.status = *status;
                self.show(id, *exit_code, error.as_deref(), out);
                self.end(*status, error.as_deref(), out);
            }
            TaskEvent::OutputDelta { stream, chunk, .. } => {
                self.output.add(match stream {
                    OutputStream::Stdout | OutputStream::Pty => Piece::Stdout(chunk),
                    OutputStream::Stderr => Piece::Stderr(chunk),
                });
                if self.output.has_grown() {
                    self.show(id, None, None, out);
                }
            }
            TaskEvent::CancelRequested { .. }
            | TaskEvent::Cancelled { .. }
            | TaskEvent::StdinWritten { .. }
            | TaskEvent::Resized { .. }
            | TaskEvent::Signalled { .. } => {}
        }
    }

    fn show(&mut self, id: &Uuid, exit_code: Option<i32>, error: Option<&str>, out: &mut Events) {
        self.output.show();
        let data = TaskData {
            task_id: id,
            status: Word(self.status.as_str()),
            tool_name: self.tool_name.as_deref(),
            title: self.title.as_deref(),
            cwd: self.cwd.as_deref(),
            input: self.input.as_deref(),
            output: super::data::ToolOutput { exit_code, ..fields(&self.output) },
            error,
        };
        self.writer.chunk("data-task", &Task { id, data }, out);
    }

    fn end(&mut self, status: TaskStatus, error: Option<&str>, out: &mut Events) {
        let finish = |finish_reason| Finish { finish_reason: Word(finish_reason), metadata: None };
        match status {
            TaskStatus::Queued | TaskStatus::Running => {}
            TaskStatus::Exited => self.writer.chunk("finish", &finish("stop"), out),
            TaskStatus::Cancelled => self.writer.chunk("abort", &Abort { reason: error }, out),
            TaskStatus::Failed => {
                let error_text = error.filter(|error| !error.is_empty()).unwrap_or("the task failed");
                self.writer.chunk("error", &ErrorText { error_text }, out);
                self.writer.chunk("finish", &finish("error"), out);
            }
        }
    }
}
