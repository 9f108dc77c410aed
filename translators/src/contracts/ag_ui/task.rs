//! A background task: a run of its own with one activity, to which each event adds what is new.

use super::data::{
    AboutEnd, ActivityDelta, Outcome, Patch, Patched, Piece, RunError, RunFinished, TaskActivity, TaskContent, add,
    add_piece,
};
use super::encode::start;
use super::writer::{Nothing, Writer};
use crate::encode::{Events, StreamEncoder, Word};
use crate::frame::{Body, Frame, OutputStream, RawJson, Stream, TaskEvent, TaskStatus};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The type of the activity.
const ACTIVITY: Word = Word("TASK");

/// The encoder of one task.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskRun {
    writer: Writer,
    started: bool,
    activity: Option<Uuid>,
}

/// What is known when a task starts.
#[derive(Default)]
struct Spawned<'f> {
    tool_name: Option<&'f str>,
    title: Option<&'f str>,
    cwd: Option<&'f str>,
    args: Option<&'f RawJson>,
}

impl StreamEncoder for TaskRun {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        let stream = &*frame.stream;
        self.writer.at(frame.timestamp_ms);
        if !std::mem::replace(&mut self.started, true) {
            start(stream, stream.origin_run, &mut self.writer, out);
        }
        if let Body::Task(event) = &frame.body {
            self.event(stream, event, out);
        }
    }

    fn resumed(&self, state: Self) -> Self {
        Self { writer: state.writer.named_as(&self.writer), ..state }
    }
}

impl TaskRun {
    pub(super) fn new(stream: &Stream) -> Self {
        Self { writer: Writer::new(&stream.id), started: false, activity: None }
    }

    fn event(&mut self, stream: &Stream, event: &TaskEvent, out: &mut Events) {
        match event {
            TaskEvent::Spawned { tool_name, args, cwd, title, .. } => {
                let (title, cwd) = (title.as_deref(), cwd.as_deref());
                let spawned = Spawned { tool_name: Some(tool_name), title, cwd, args: Some(args) };
                self.activity(stream, &spawned, out);
            }
            TaskEvent::Status { status, exit_code, error, .. } => {
                let error = error.as_deref().filter(|error| !error.is_empty());
                let patch = [
                    Some(add("/status", Patched::Word(status.as_str()))),
                    exit_code.map(|code| add("/exitCode", Patched::Code(code))),
                    error.map(|error| add("/error", Patched::Text(error))),
                ];
                self.change(stream, patch.into_iter().flatten().collect(), out);
                self.end(stream, *status, error, out);
            }
            TaskEvent::OutputDelta { stream: of, chunk, .. } if !chunk.is_empty() => {
                let word = match of {
                    OutputStream::Stdout | OutputStream::Pty => "stdout",
                    OutputStream::Stderr => "stderr",
                };
                self.change(stream, vec![add_piece(Piece { stream: Word(word), text: chunk })], out);
            }
            TaskEvent::OutputDelta { .. }
            | TaskEvent::CancelRequested { .. }
            | TaskEvent::Cancelled { .. }
            | TaskEvent::StdinWritten { .. }
            | TaskEvent::Resized { .. }
            | TaskEvent::Signalled { .. } => {}
        }
    }

    /// Emits the activity as it starts.
    fn activity(&mut self, stream: &Stream, spawned: &Spawned<'_>, out: &mut Events) -> Uuid {
        let message_id = match self.activity {
            Some(id) => id,
            None => *self.activity.insert(self.writer.fresh_id()),
        };
        let content = TaskContent {
            task_id: stream.id,
            status: Word(TaskStatus::Running.as_str()),
            tool_name: spawned.tool_name,
            title: spawned.title,
            cwd: spawned.cwd,
            input: spawned.args.map(|args| &**args),
            output: Vec::new(),
        };
        let data = TaskActivity { message_id, activity_type: ACTIVITY, content };
        self.writer.event("ACTIVITY_SNAPSHOT", &data, out);
        message_id
    }

    /// Changes the activity. The start of a task may be unknown.
    fn change(&mut self, stream: &Stream, patch: Vec<Patch<'_>>, out: &mut Events) {
        let message_id = match self.activity {
            Some(id) => id,
            None => self.activity(stream, &Spawned::default(), out),
        };
        let data = ActivityDelta { subagent: None, message_id, activity_type: ACTIVITY, patch };
        self.writer.event("ACTIVITY_DELTA", &data, out);
    }

    fn end(&mut self, stream: &Stream, status: TaskStatus, error: Option<&str>, out: &mut Events) {
        let outcome = match status {
            TaskStatus::Queued | TaskStatus::Running => return,
            TaskStatus::Exited => "success",
            TaskStatus::Cancelled => "cancelled",
            TaskStatus::Failed => {
                let data = RunError { message: error.unwrap_or("the task failed"), code: None, usage: None };
                return self.writer.event_with("RUN_ERROR", &data, &Nothing, out);
            }
        };
        let outcome = Outcome { kind: Word(outcome), pending: None };
        let data = RunFinished { thread_id: &stream.session.id, run_id: &stream.id, outcome, usage: None };
        let about = AboutEnd { error_code: None, reason: error, cost_usd: None };
        self.writer.event_with("RUN_FINISHED", &data, &about, out);
    }
}
