//! Background work: a task stream for work that outlives its tool call.
//!
//! Input: the runner's `task_*` records, and results that say that a call continues in the background. Output: task streams,
//! and the start and end of subagents. Never: a task stream for a call that is merely slow; two streams for one task.

use super::agents::AgentInfo;
use super::decoder::Claude;
use super::tools::Call;
use crate::frame::{Body, ExecutionMode, SharedStr, TaskEvent, TaskStatus};
use crate::hash::HashMap;
use crate::json::Object;
use crate::normalizer::{Normalizer, Target};
use crate::sequence::StreamKey;
use std::collections::VecDeque;

/// The number of finished tasks that are remembered, so that a late record does not start them again.
const REMEMBERED: usize = 1024;

/// The background tasks.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    open: HashMap<SharedStr, Task>,
    over: VecDeque<SharedStr>,
    begun: u64,
    /// Long calls that may still move to the background: the call's key by task id.
    foreground: HashMap<SharedStr, SharedStr>,
}

#[derive(Debug)]
struct Task {
    stream: StreamKey,
    order: u64,
    /// How it ended, if the runner reported that before its notification.
    ended: Option<SharedStr>,
    end_ms: Option<u64>,
    error: Option<String>,
    /// Who requested its cancellation.
    unwanted: Option<String>,
}

/// Whether a task status is final.
fn is_terminal(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "killed" | "stopped" | "cancelled")
}

impl Claude {
    pub(super) fn task_started(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(task_id) = fields.str("task_id").filter(|id| !id.is_empty()) else { return };
        let call_id = fields.str("tool_use_id");
        let kind = fields.str("subagent_type");
        if let Some(call_id) = call_id.as_deref()
            && (kind.is_some() || fields.str("task_type").as_deref() == Some("local_agent"))
        {
            let prompt = fields.str("prompt").or_else(|| fields.str("description"));
            let info = AgentInfo {
                id: Some(&task_id),
                kind: kind.as_deref(),
                task: prompt.as_deref(),
                depth: fields.u64("spawn_depth"),
            };
            self.agent_begins(call_id, &info, normalizer);
        }
        if fields.bool("is_backgrounded") == Some(true) {
            let key = call_id.as_deref().map(|id| self.key(id, normalizer));
            let call = key.and_then(|key| self.calls.get(&*key).cloned());
            self.task_begins(&task_id, call.as_ref(), Some(fields), normalizer);
        } else if let Some(call_id) = call_id.filter(|_| self.tasks.foreground.len() < REMEMBERED) {
            let key = SharedStr::from(&*self.key(&call_id, normalizer));
            self.tasks.foreground.insert(SharedStr::from(&*task_id), key);
        }
    }

    pub(super) fn task_updated(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(task_id) = fields.str("task_id").filter(|id| !id.is_empty()) else { return };
        let patch = fields.object("patch").unwrap_or_default();
        if patch.bool("is_backgrounded") == Some(true) {
            let key = self.tasks.foreground.remove(&*task_id);
            let call = key.and_then(|key| self.calls.get(&key).cloned());
            self.task_begins(&task_id, call.as_ref(), Some(&patch), normalizer);
        }
        let Some(task) = self.tasks.open.get_mut(&*task_id) else { return };
        task.end_ms = patch.u64("end_time").or(task.end_ms);
        task.error = patch.str("error").map(|error| error.into_owned()).or_else(|| task.error.take());
        if let Some(status) = patch.str("status").filter(|status| is_terminal(status)) {
            task.ended = Some(SharedStr::from(&*status));
        }
    }

    pub(super) fn task_notified(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(task_id) = fields.str("task_id").filter(|id| !id.is_empty()) else { return };
        let status = fields.str("status").unwrap_or_default();
        let summary = fields.str("summary").map(|summary| summary.into_owned());
        self.tasks.foreground.remove(&*task_id);
        if let Some(call_id) = fields.str("tool_use_id") {
            let word = match &*status {
                "failed" => "failed",
                "stopped" | "killed" | "cancelled" => "cancelled",
                _ => "completed",
            };
            self.agent_ends(&call_id, word, summary.clone(), normalizer);
        }
        let reason = fields.str("reason").filter(|reason| !reason.is_empty());
        if let Some((task, reason)) = self.tasks.open.get_mut(&*task_id).zip(reason) {
            task.error = Some(reason.into_owned());
        }
        self.task_ends(&task_id, &status, summary, normalizer);
    }

    /// Moves work to the background.
    pub(super) fn task_begins(
        &mut self,
        task_id: &str,
        call: Option<&Call>,
        info: Option<&Object<'_>>,
        normalizer: &mut Normalizer,
    ) {
        if let Some(call) = call {
            let key = self.key(&call.tool.call_id, normalizer);
            if let Some(agent) = self.agents.get_mut(&*key) {
                agent.background = true;
            }
        }
        let origin = call.map_or_else(|| self.runs.stream(normalizer), |call| call.target.stream);
        let origin = if normalizer.is_open(origin) { origin } else { normalizer.thread() };
        if let Some(run) = self.runs.run(origin) {
            run.background = true;
        }
        if self.tasks.open.contains_key(task_id) || self.tasks.over.iter().any(|over| **over == *task_id) {
            return;
        }
        // The record belongs to the run. A task stream has no records of its own.
        normalizer.record_on(origin);
        let stream = normalizer.open_task(origin, task_id);
        let Some(id) = normalizer.stream(stream).map(|stream| stream.id) else { return };
        let spawned = TaskEvent::Spawned {
            task_id: id,
            tool_name: call.map_or_else(|| SharedStr::from(""), |call| call.name.clone()),
            args: call.map_or_else(crate::json::empty_object, |call| call.args.clone()),
            cwd: None,
            title: info.and_then(|info| info.str("description").map(|text| text.into_owned())),
            execution_mode: ExecutionMode::Pipes,
            origin_session_id: normalizer.stream(origin).map(|stream| stream.id),
            artifacts: None,
        };
        let running = status(id, TaskStatus::Running, None, None, None);
        for event in [spawned, running] {
            normalizer.push(Target::main(stream), Body::Task(Box::new(event)));
        }
        let order = self.tasks.begun;
        self.tasks.begun += 1;
        self.tasks.open.insert(
            SharedStr::from(task_id),
            Task { stream, order, ended: None, end_ms: None, error: None, unwanted: None },
        );
    }

    /// Handles the model's request to stop a background task.
    pub(super) fn task_unwanted(&mut self, task_id: &str, by: &str, normalizer: &mut Normalizer) {
        let reason = format!("the model called {by}");
        let Some(task) = self.tasks.open.get_mut(task_id) else { return };
        task.unwanted.get_or_insert_with(|| reason.clone());
        let stream = task.stream;
        let Some(id) = normalizer.stream(stream).map(|stream| stream.id) else { return };
        let event = TaskEvent::CancelRequested { task_id: id, reason };
        normalizer.push(Target::main(stream), Body::Task(Box::new(event)));
    }

    /// Ends a background task.
    pub(super) fn task_ends(&mut self, task_id: &str, how: &str, summary: Option<String>, normalizer: &mut Normalizer) {
        let Some((name, task)) = self.tasks.open.remove_entry(task_id) else { return };
        if self.tasks.over.len() == REMEMBERED {
            self.tasks.over.pop_front();
        }
        self.tasks.over.push_back(name);
        let record = self.runs.stream(normalizer);
        normalizer.record_on(record);
        if let Some(run) = self.runs.current(normalizer) {
            run.background = true;
        }
        let Some(id) = normalizer.stream(task.stream).map(|stream| stream.id) else { return };
        let target = Target::main(task.stream);
        let end = match how {
            "failed" => {
                let error = task.error.or(summary).unwrap_or_else(|| "the task failed".to_owned());
                let code = exit_code(&error);
                status(id, TaskStatus::Failed, code, task.end_ms, Some(error))
            }
            "stopped" | "killed" | "cancelled" => {
                // The summary is the task's title and does not give the reason.
                let reason = task.error.or(task.unwanted).unwrap_or_else(|| how.to_owned());
                let event = TaskEvent::Cancelled { task_id: id, reason, wall_time_ms: None };
                normalizer.push(target, Body::Task(Box::new(event)));
                status(id, TaskStatus::Cancelled, None, task.end_ms, None)
            }
            _ => status(id, TaskStatus::Exited, summary.as_deref().and_then(exit_code), task.end_ms, None),
        };
        normalizer.push(target, Body::Task(Box::new(end)));
        normalizer.close_task(task.stream);
    }

    /// At the end of the input, ends the tasks whose end was reported but not announced.
    pub(super) fn settle_tasks(&mut self, normalizer: &mut Normalizer) {
        let ended = self.tasks.open.iter().filter_map(|(id, task)| Some((task.order, id.clone(), task.ended.clone()?)));
        let mut ended: Vec<_> = ended.collect();
        ended.sort_unstable();
        for (_, task_id, how) in ended {
            self.task_ends(&task_id, &how, None, normalizer);
        }
    }
}

fn status(
    task_id: uuid::Uuid,
    status: TaskStatus,
    exit_code: Option<i32>,
    ended_at_ms: Option<u64>,
    error: Option<String>,
) -> TaskEvent {
    TaskEvent::Status { task_id, status, exit_code, started_at_ms: None, ended_at_ms, artifacts: None, error }
}

/// The code in `… completed (exit code 0)`.
fn exit_code(summary: &str) -> Option<i32> {
    let (_, rest) = summary.rsplit_once("exit code ")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_read_from_the_summary_of_a_command() {
        assert_eq!(exit_code("Background command \"exit code 9\" completed (exit code 0)"), Some(0));
        assert_eq!(exit_code("failed with exit code 127"), Some(127));
        assert_eq!(exit_code("gamma done"), None);
    }
}
