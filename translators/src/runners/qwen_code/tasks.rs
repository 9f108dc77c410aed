//! Background work: a task stream for work that outlives its tool call.
//!
//! Input: the runner's notices `task_started` and `task_notification`, and the same notices in session files. Output: task streams, and
//! the start and end of background subagents. Never: two streams for one task.

use super::super::names::NameMap;
use super::decoder::Qwen;
use crate::frame::{Body, ExecutionMode, SharedStr, TaskEvent, TaskStatus};
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;

/// The maximum number of open tasks of a session. Further ones have no stream.
const MOST_OPEN: usize = 1024;

/// The background tasks of a session.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    open: NameMap<Task>,
}

#[derive(Debug)]
struct Task {
    stream: StreamKey,
    /// The call that started it, and the run of that call.
    call: Option<(StreamKey, SharedStr)>,
    /// Who requested its cancellation.
    unwanted: Option<String>,
}

/// The end of a task.
pub(super) struct TaskEnd<'e> {
    pub(super) task_id: &'e str,
    pub(super) call_id: Option<&'e str>,
    pub(super) status: &'e str,
    /// What it reported; `None` if the runner does not say.
    pub(super) summary: Option<String>,
}

impl Qwen {
    pub(super) fn task_started(&mut self, data: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(task_id) = data.str("task_id").filter(|id| !id.is_empty()) else { return };
        let call_id = data.str("tool_use_id").filter(|id| !id.is_empty());
        let origin = self.runs.stream(normalizer);
        if let Some(call_id) = call_id.as_deref().filter(|_| data.some("subagent_type").is_some()) {
            let call_id = self.agent_call(origin, call_id);
            self.agent_begins(origin, &call_id, Some(&task_id), normalizer);
            self.agent_outlives(origin, &call_id, normalizer);
        }
        let title = data.str("description").map(|title| title.into_owned());
        self.task_begins(&task_id, call_id.as_deref(), title, normalizer);
    }

    /// Opens the stream of a task.
    pub(super) fn task_begins(
        &mut self,
        task_id: &str,
        call_id: Option<&str>,
        title: Option<String>,
        normalizer: &mut Normalizer,
    ) {
        let origin = self.runs.stream(normalizer);
        let session = self.runs.session(normalizer);
        if session.tasks.open.contains_key(task_id) || session.tasks.open.len() >= MOST_OPEN {
            return;
        }
        // The record belongs to the run. A task stream has no records of its own.
        normalizer.record_on(origin);
        let stream = normalizer.open_task(origin, task_id);
        let Some(id) = normalizer.stream(stream).map(|stream| stream.id) else { return };
        let call_id = call_id.map(|id| self.agent_call(origin, id));
        let call = call_id.as_ref().and_then(|id| self.runs.run(origin)?.calls.get(id));
        let spawned = TaskEvent::Spawned {
            task_id: id,
            tool_name: call.map_or_else(|| SharedStr::from(""), |call| call.name.clone()),
            args: call.map_or_else(crate::json::empty_object, |call| call.args.clone()),
            cwd: None,
            title,
            execution_mode: ExecutionMode::Pipes,
            origin_session_id: normalizer.stream(origin).map(|stream| stream.id),
            artifacts: None,
        };
        for event in [spawned, status(id, TaskStatus::Running, None)] {
            normalizer.push(Target::main(stream), Body::Task(Box::new(event)));
        }
        let task = Task { stream, call: call_id.map(|call_id| (origin, call_id)), unwanted: None };
        self.runs.session(normalizer).tasks.open.insert(SharedStr::from(task_id), task);
    }

    pub(super) fn task_notified(&mut self, data: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(task_id) = data.str("task_id").filter(|id| !id.is_empty()) else { return };
        let (call_id, status) = (data.str("tool_use_id"), data.str("status").unwrap_or_default());
        // A monitor has something to say and goes on.
        if status == "running" {
            return;
        }
        let end = TaskEnd { task_id: &task_id, call_id: call_id.as_deref(), status: &status, summary: None };
        self.task_ends(end, normalizer);
    }

    /// Handles the model's request to stop a background task.
    pub(super) fn task_unwanted(&mut self, task_id: &str, normalizer: &mut Normalizer) {
        let reason = "the model called task_stop".to_owned();
        let Some(task) = self.runs.session(normalizer).tasks.open.get_mut(task_id) else { return };
        task.unwanted.get_or_insert_with(|| reason.clone());
        let stream = task.stream;
        let Some(id) = normalizer.stream(stream).map(|stream| stream.id) else { return };
        let event = TaskEvent::CancelRequested { task_id: id, reason };
        normalizer.push(Target::main(stream), Body::Task(Box::new(event)));
    }

    /// Ends a background task, and the subagent that it is.
    pub(super) fn task_ends(&mut self, end: TaskEnd<'_>, normalizer: &mut Normalizer) {
        let TaskEnd { task_id, call_id, status: how, summary } = end;
        let task = self.runs.session(normalizer).tasks.open.remove(task_id);
        let record = self.runs.stream(normalizer);
        normalizer.record_on(record);
        let named = call_id.filter(|id| !id.is_empty()).map(|id| (record, self.agent_call(record, id)));
        let call = task.as_ref().and_then(|task| task.call.clone()).or(named);
        let is_cancelled = matches!(how, "cancelled" | "killed" | "stopped");
        if let Some((stream, call_id)) = call {
            let word = match how {
                "failed" => "failed",
                _ if is_cancelled => "cancelled",
                _ => "completed",
            };
            self.agent_ends(stream, &call_id, word, summary.clone(), normalizer);
        }
        let Some(task) = task else { return };
        let Some(id) = normalizer.stream(task.stream).map(|stream| stream.id) else { return };
        let target = Target::main(task.stream);
        let end = match how {
            "failed" => {
                let error = summary.unwrap_or_else(|| "the task failed".to_owned());
                status(id, TaskStatus::Failed, Some(error))
            }
            _ if is_cancelled => {
                let reason = task.unwanted.unwrap_or_else(|| how.to_owned());
                let event = TaskEvent::Cancelled { task_id: id, reason, wall_time_ms: None };
                normalizer.push(target, Body::Task(Box::new(event)));
                status(id, TaskStatus::Cancelled, None)
            }
            _ => status(id, TaskStatus::Exited, None),
        };
        normalizer.push(target, Body::Task(Box::new(end)));
        normalizer.close_task(task.stream);
    }
}

fn status(task_id: uuid::Uuid, status: TaskStatus, error: Option<String>) -> TaskEvent {
    TaskEvent::Status {
        task_id,
        status,
        exit_code: None,
        started_at_ms: None,
        ended_at_ms: None,
        artifacts: None,
        error,
    }
}
