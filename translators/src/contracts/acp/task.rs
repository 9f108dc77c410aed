//! A background task: one call, in a stream of its own.

use super::content;
use super::content::Item;
use super::data::{self, AboutTask, RawOutput};
use super::describe::Described;
use super::writer::Writer;
use crate::contracts::live_output::{Output, Piece};
use crate::encode::{Events, StreamEncoder, Word};
use crate::frame::{Body, Frame, OutputStream, RawJson, Stream, TaskEvent, TaskStatus};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use uuid::Uuid;

/// The title of a task whose start is unknown.
const UNTITLED: &str = "background task";

/// The encoder of one task.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskCall {
    writer: Writer,
    announced: bool,
    ended: bool,
    output: Output,
}

/// What a task's start says.
#[derive(Default)]
struct Spawned<'a> {
    name: Option<&'a str>,
    title: Option<&'a str>,
    args: Option<&'a RawJson>,
}

impl StreamEncoder for TaskCall {
    const STATE: &[u32] = &[1];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        if let (Body::Task(event), false) = (&frame.body, self.ended) {
            self.event(&frame.stream, event, out);
        }
    }

    fn held_bytes(&self) -> usize {
        self.output.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        Self { writer: state.writer.named_as(&self.writer), ..state }
    }
}

impl TaskCall {
    pub(super) fn new(stream: &Stream) -> Self {
        Self { writer: Writer::new(stream), announced: false, ended: false, output: Output::default() }
    }

    fn event(&mut self, stream: &Stream, event: &TaskEvent, out: &mut Events) {
        match event {
            TaskEvent::Spawned { tool_name, args, title, .. } => {
                let name = Some(&**tool_name).filter(|name| !name.is_empty());
                self.announce(stream, &Spawned { name, title: title.as_deref(), args: Some(args) }, out);
            }
            TaskEvent::Status { status, exit_code, error, .. } => {
                self.announce(stream, &Spawned::default(), out);
                self.status(&stream.id, *status, *exit_code, error.as_deref(), out);
            }
            TaskEvent::OutputDelta { stream: of, chunk, .. } => {
                self.announce(stream, &Spawned::default(), out);
                self.output.add(match of {
                    OutputStream::Stdout | OutputStream::Pty => Piece::Stdout(chunk),
                    OutputStream::Stderr => Piece::Stderr(chunk),
                });
                if self.output.has_grown() {
                    self.output.show();
                    let content = Some(content::of_output(&self.output));
                    let data = data::Call { content, ..data::call(stream.id) };
                    self.writer.update("tool_call_update", &data, out);
                }
            }
            TaskEvent::CancelRequested { .. }
            | TaskEvent::Cancelled { .. }
            | TaskEvent::StdinWritten { .. }
            | TaskEvent::Resized { .. }
            | TaskEvent::Signalled { .. } => {}
        }
    }

    /// The first message of the stream is the call.
    fn announce(&mut self, stream: &Stream, spawned: &Spawned<'_>, out: &mut Events) {
        if std::mem::replace(&mut self.announced, true) {
            return;
        }
        let args = spawned.args.map_or("", |args| args.get());
        let own = spawned.title.map(super::describe::line).filter(|title| !title.is_empty());
        let title = match (own, spawned.name) {
            (Some(title), _) => title,
            (None, Some(name)) => Described::new(name, None, args).title(),
            (None, None) => UNTITLED.to_owned(),
        };
        let data = data::Call {
            title: Some(&title),
            name: spawned.name,
            kind: Some(Word("other")),
            status: Some(Word("in_progress")),
            raw_input: spawned.args.map(|args| &**args).filter(|args| args.get() != "null"),
            ..data::call(stream.id)
        };
        let about = AboutTask { runner: stream.provider.name, origin_run: stream.origin_run };
        self.writer.update_about("tool_call", &data, &about, out);
    }

    fn status(&mut self, id: &Uuid, status: TaskStatus, exit_code: Option<i32>, error: Option<&str>, out: &mut Events) {
        if !status.is_terminal() {
            return;
        }
        self.ended = true;
        let succeeded = status == TaskStatus::Exited && exit_code.unwrap_or_default() == 0;
        let error = error.filter(|error| !error.is_empty());
        let shows = self.output.has_more() || error.is_some();
        let mut content = content::of_output(&self.output);
        content.extend(error.map(|error| Item::Text(Cow::Borrowed(error))));
        let raw_output = RawOutput {
            exit_code,
            duration_ms: None,
            output: None,
            artifacts: None,
            omitted_bytes: self.output.omitted_bytes(),
        };
        let has_raw = raw_output.exit_code.is_some() || raw_output.omitted_bytes.is_some();
        let failure = (status == TaskStatus::Cancelled).then_some(Word("cancelled"));
        let data = data::Call {
            status: Some(Word(if succeeded { "completed" } else { "failed" })),
            content: (shows && !content.is_empty()).then_some(content),
            raw_output: has_raw.then_some(raw_output),
            ..data::call(*id)
        };
        self.writer.update_about("tool_call_update", &data, &data::AboutEnd { failure }, out);
    }
}
