//! Calls: what announces them, their output, their end.

use super::calls::{Call, Stage};
use super::content::{self, Item};
use super::data::{self, AboutCall, AboutEnd, RawOutput};
use super::describe::{self, Described, is_absolute, locations};
use super::diff;
use super::encode::AcpRun;
use super::writer::Nothing;
use crate::contracts::live_output::Piece;
use crate::encode::{Events, Word};
use crate::frame::{FileChangeKind, FileChanged, Frame, RawJson, SharedStr, Tool, ToolCall, is_left_by_run};
use std::borrow::Cow;
use uuid::Uuid;

/// The error of a tool that failed without one.
const FAILED: &str = "the tool failed";

/// The error of a call without a result.
const NO_RESULT: &str = "the run ended before the call had a result";

/// The result of a tool that ran.
pub(super) struct ToolResult<'a> {
    pub(super) exit_code: i32,
    pub(super) duration_ms: u64,
    pub(super) artifacts: Option<&'a RawJson>,
}

/// Why a call has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    Failed,
    /// The run ended first.
    Unfinished,
}

/// The status of a call that goes on.
fn status(stage: Stage) -> Word {
    Word(match stage {
        Stage::Asked | Stage::Streaming | Stage::Proposed => "pending",
        Stage::Running => "in_progress",
    })
}

/// A text that is not empty.
fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

impl AcpRun {
    /// The arguments of a call begin. The protocol has no pieces of arguments.
    pub(super) fn input(&mut self, tool: &Tool, name: &SharedStr, out: &mut Events) {
        if self.calls.get_mut(&tool.id).is_some() || self.calls.is_over(&tool.id) {
            return;
        }
        self.begin_content();
        self.calls.begin(tool.id, Stage::Streaming);
        let title = Described::new(name, None, "").title();
        let data = data::Call {
            title: Some(&title),
            name: some(name),
            status: Some(status(Stage::Streaming)),
            ..data::call(tool.id)
        };
        let about = AboutCall { call_id: some(&tool.call_id), parent_tool_call_id: None };
        self.writer.update_about("tool_call", &data, &about, out);
    }

    /// A call was proposed or started.
    pub(super) fn call(&mut self, call: &ToolCall, stage: Stage, frame: &Frame, out: &mut Events) {
        let id = call.tool.id;
        let known = self.calls.get_mut(&id).map(|open| std::mem::replace(&mut open.stage, stage));
        let kind = match known {
            Some(before @ (Stage::Proposed | Stage::Running)) => {
                if before != stage && stage == Stage::Running {
                    let data = data::Call { status: Some(status(stage)), ..data::call(id) };
                    self.writer.update("tool_call_update", &data, out);
                }
                return;
            }
            Some(Stage::Asked | Stage::Streaming) => "tool_call_update",
            None if self.calls.is_over(&id) => return,
            None => {
                self.calls.begin(id, stage);
                "tool_call"
            }
        };
        if !frame.is_subagent() {
            self.begin_content();
        }
        let described = Described::new(&call.name, Some(call.kind), call.args.get());
        let (title, paths, change) = (described.title(), described.paths(), described.change());
        if let Some(open) = self.calls.get_mut(&id) {
            open.has_change = !change.is_empty();
        }
        let data = data::Call {
            title: Some(&title),
            name: some(&call.name),
            kind: Some(describe::kind(call.kind)),
            status: Some(status(stage)),
            content: (!change.is_empty()).then_some(change),
            locations: locations(&paths),
            raw_input: Some(&*call.args).filter(|args| args.get() != "null"),
            ..data::call(id)
        };
        let about = AboutCall { call_id: some(&call.tool.call_id), parent_tool_call_id: frame.parent_tool_id };
        self.writer.update_about(kind, &data, &about, out);
    }

    pub(super) fn output(&mut self, tool: &Tool, piece: Piece<'_>, frame: &Frame) {
        self.calls.add_output(&tool.id, piece, frame.timestamp_ms);
    }

    /// Emits the output so far that is due.
    pub(super) fn show_due(&mut self, now_ms: u64, out: &mut Events) {
        while let Some(tool) = self.calls.due.take(now_ms) {
            let Some(call) = self.calls.get_mut(&tool) else { continue };
            call.output.show();
            let data = data::Call { content: Some(content::of_output(&call.output)), ..data::call(tool) };
            self.writer.update("tool_call_update", &data, out);
        }
    }

    /// A file changed: part of the result of its call, or a call of its own.
    pub(super) fn file_changed(&mut self, change: &FileChanged, frame: &Frame, out: &mut Events) {
        if let Some(call) = change.tool_id.and_then(|tool| self.calls.get_mut(&tool)) {
            return call.add_change(change);
        }
        if !frame.is_subagent() {
            self.begin_content();
        }
        let (id, changes) = (self.writer.fresh_id(), std::slice::from_ref(change));
        let (kind, verb) = match change.kind {
            FileChangeKind::Add => ("edit", "Add"),
            FileChangeKind::Modify => ("edit", "Edit"),
            FileChangeKind::Delete => ("delete", "Delete"),
            FileChangeKind::Move => ("move", "Move"),
        };
        let (title, paths, items) =
            (describe::line(&format!("{verb} {}", change.path)), paths(changes), items(changes));
        let data = data::Call {
            title: Some(&title),
            kind: Some(Word(kind)),
            status: Some(Word("completed")),
            content: (!items.is_empty()).then_some(items),
            locations: locations(&paths),
            ..data::call(id)
        };
        let about = AboutCall { call_id: None, parent_tool_call_id: frame.parent_tool_id };
        self.writer.update_about("tool_call", &data, &about, out);
    }

    /// A tool ran to its end.
    pub(super) fn tool_ended(&mut self, tool: &Tool, result: &ToolResult<'_>, out: &mut Events) {
        self.withdraw_questions(&tool.id, out);
        let Some(call) = self.calls.end(&tool.id) else { return };
        let succeeded = result.exit_code == 0;
        let changed = items(&call.changes);
        let paths = paths(&call.changes);
        // The output is not repeated in `rawOutput` if it is the content.
        let (content, raw) = match (changed.is_empty(), succeeded && call.has_change) {
            (false, _) => (Some(changed), true),
            (true, true) => (None, true),
            (true, false) if call.output.has_more() => (Some(content::of_output(&call.output)), false),
            (true, false) => (None, false),
        };
        let text = joined(&call);
        let data = data::Call {
            status: Some(Word(if succeeded { "completed" } else { "failed" })),
            content,
            locations: locations(&paths),
            raw_output: Some(RawOutput {
                exit_code: Some(result.exit_code),
                duration_ms: Some(result.duration_ms),
                output: Some(&*text).filter(|text| raw && !text.is_empty()),
                artifacts: result.artifacts.map(|artifacts| &**artifacts),
                omitted_bytes: call.output.omitted_bytes(),
            }),
            ..data::call(tool.id)
        };
        self.writer.update("tool_call_update", &data, out);
    }

    /// A tool never ran, was refused, or was interrupted.
    pub(super) fn tool_failed(&mut self, tool: &Tool, error: &str, out: &mut Events) {
        let failure = if is_left_by_run(error) { Failure::Unfinished } else { Failure::Failed };
        self.fail(&tool.id, failure, some(error).unwrap_or(FAILED), out);
    }

    /// A call was refused, and no runner reports its end.
    pub(super) fn refuse(&mut self, call: &Uuid, out: &mut Events) {
        self.fail(call, Failure::Failed, "", out);
    }

    fn fail(&mut self, id: &Uuid, failure: Failure, error: &str, out: &mut Events) {
        self.withdraw_questions(id, out);
        let Some(call) = self.calls.end(id) else { return };
        let mut content = content::of_output(&call.output);
        content.extend(some(error).map(|error| Item::Text(Cow::Borrowed(error))));
        let omitted_bytes = call.output.omitted_bytes();
        let raw_output = omitted_bytes.is_some().then_some(RawOutput {
            exit_code: None,
            duration_ms: None,
            output: None,
            artifacts: None,
            omitted_bytes,
        });
        let data = data::Call {
            status: Some(Word("failed")),
            content: (!content.is_empty()).then_some(content),
            raw_output,
            ..data::call(*id)
        };
        let failure = match failure {
            _ if call.refused => "denied",
            Failure::Failed => "failed",
            Failure::Unfinished => "no_result",
        };
        self.writer.update_about("tool_call_update", &data, &AboutEnd { failure: Some(Word(failure)) }, out);
    }

    /// The run is over: no call stays open.
    pub(super) fn close_calls(&mut self, out: &mut Events) {
        for id in self.calls.left() {
            self.fail(&id, Failure::Unfinished, NO_RESULT, out);
        }
    }

    /// A call without a process is over: a question's own call, or a subagent.
    pub(super) fn finish(&mut self, call: &Uuid, succeeded: bool, text: Option<&str>, out: &mut Events) {
        if self.calls.end(call).is_none() {
            return;
        }
        let data = data::Call {
            status: Some(Word(if succeeded { "completed" } else { "failed" })),
            content: text.filter(|text| !text.is_empty()).map(|text| vec![Item::Text(Cow::Borrowed(text))]),
            ..data::call(*call)
        };
        self.writer.update_about("tool_call_update", &data, &Nothing, out);
    }
}

/// Both streams of a call's output, if they are not the call's content.
fn joined(call: &Call) -> Cow<'_, str> {
    match (call.output.stdout(), call.output.stderr()) {
        (stdout, "") => Cow::Borrowed(stdout),
        ("", stderr) => Cow::Borrowed(stderr),
        (stdout, stderr) => Cow::Owned(format!("{stdout}{stderr}")),
    }
}

/// Changes of files as content. The protocol forbids relative paths, so such a diff is text.
fn items(changes: &[FileChanged]) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    for change in changes {
        let Some(diff) = change.diff.as_deref().filter(|diff| !diff.is_empty()) else { continue };
        match diff::hunks(diff).filter(|_| is_absolute(&change.path)) {
            Some(hunks) => items.extend(content::of_hunks(&change.path, hunks, change.kind == FileChangeKind::Add)),
            None => items.push(Item::Text(Cow::Borrowed(diff))),
        }
    }
    items
}

/// The places of changes.
fn paths(changes: &[FileChanged]) -> Vec<Cow<'_, str>> {
    let paths = changes.iter().map(|change| &*change.path).filter(|path| is_absolute(path));
    paths.map(Cow::Borrowed).collect()
}
