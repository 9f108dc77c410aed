//! The plan, as written by the to-do tool and the task list tools.
//!
//! Input: arguments and results of successful calls. Output: the whole plan after each change. Never: a plan of unbounded size.

use crate::frame::{PlanEntry, SharedStr};
use crate::json::{Json, Object};

/// The maximum number of entries; further ones are left out.
const MAX_ENTRIES: usize = 1000;

/// The session's task list.
#[derive(Debug, Default)]
pub(super) struct Plan {
    tasks: Vec<(SharedStr, PlanEntry)>,
}

impl Plan {
    /// Applies a result. Returns the whole plan if it changed.
    pub(super) fn update(
        &mut self,
        tool: &str,
        args: &Object<'_>,
        result: &Object<'_>,
        text: &str,
    ) -> Option<Vec<PlanEntry>> {
        let changed = match tool {
            "TodoWrite" => {
                let todos = if args.get("todos").is_some() { args.items("todos") } else { result.items("newTodos") };
                let entries = todos.into_iter().take(MAX_ENTRIES).filter_map(Json::object);
                return Some(entries.filter_map(|todo| entry(&todo, "content")).collect());
            }
            "TaskCreate" => self.created(args, result, text),
            "TaskUpdate" => self.updated(args, result),
            "TaskList" => self.listed(result),
            _ => false,
        };
        changed.then(|| self.tasks.iter().map(|(_, entry)| entry.clone()).collect())
    }

    fn created(&mut self, args: &Object<'_>, result: &Object<'_>, text: &str) -> bool {
        let task = result.object("task").unwrap_or_default();
        // Inside a subagent, only the text contains the number: `Task #1 created successfully: …`.
        let from_text = || text.strip_prefix("Task #").and_then(|rest| rest.split(' ').next()).map(SharedStr::from);
        let Some(id) = task.str("id").map(|id| SharedStr::from(&*id)).or_else(from_text) else { return false };
        let Some(new) = entry(&task, "subject").or_else(|| entry(args, "subject")) else { return false };
        if let Some((_, known)) = self.tasks.iter_mut().find(|(known, _)| *known == id) {
            *known = new;
            return true;
        }
        let room = self.tasks.len() < MAX_ENTRIES;
        if room {
            self.tasks.push((id, new));
        }
        room
    }

    fn updated(&mut self, args: &Object<'_>, result: &Object<'_>) -> bool {
        let Some(id) = result.str("taskId").or_else(|| args.str("taskId")) else { return false };
        if result.bool("success") == Some(false) {
            return false;
        }
        let status = result.object("statusChange").and_then(|change| change.str("to").map(|to| to.into_owned()));
        let status = status.or_else(|| args.str("status").map(|status| status.into_owned()));
        let Some(at) = self.tasks.iter().position(|(known, _)| **known == *id) else { return false };
        if status.as_deref() == Some("deleted") {
            self.tasks.remove(at);
            return true;
        }
        let Some((_, task)) = self.tasks.get_mut(at) else { return false };
        let before = task.clone();
        if let Some(status) = status {
            task.status = SharedStr::from(status);
        }
        if let Some(subject) = args.str("subject") {
            task.content = subject.into_owned();
        }
        *task != before
    }

    fn listed(&mut self, result: &Object<'_>) -> bool {
        if result.get("tasks").is_none() {
            return false;
        }
        let tasks = result.items("tasks").into_iter().take(MAX_ENTRIES).filter_map(Json::object);
        let list: Vec<_> =
            tasks.filter_map(|task| Some((SharedStr::from(&*task.str("id")?), entry(&task, "subject")?))).collect();
        let changed = list != self.tasks;
        self.tasks = list;
        changed
    }
}

fn entry(task: &Object<'_>, content: &str) -> Option<PlanEntry> {
    Some(PlanEntry {
        content: task.str(content)?.into_owned(),
        status: task.str("status").map_or_else(|| SharedStr::from("pending"), |status| SharedStr::from(&*status)),
        priority: task.str("priority").map(|priority| SharedStr::from(&*priority)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(plan: &mut Plan, tool: &str, args: &str, result: &str, text: &str) -> Option<Vec<String>> {
        let (args, result) = (Object::parse(args).unwrap(), Object::parse(result).unwrap());
        let entries = plan.update(tool, &args, &result, text)?;
        Some(entries.into_iter().map(|entry| format!("{} {}", entry.status, entry.content)).collect())
    }

    #[test]
    fn the_to_do_list_is_the_plan() {
        let todos = r#"{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"pending"}]}"#;
        let plan = update(&mut Plan::default(), "TodoWrite", todos, "{}", "").unwrap();
        assert_eq!(plan, ["completed a", "pending b"]);
    }

    #[test]
    fn task_calls_build_the_whole_plan() {
        let plan = &mut Plan::default();
        update(plan, "TaskCreate", "{}", r#"{"task":{"id":"1","subject":"a"}}"#, "");
        let made = update(plan, "TaskCreate", r#"{"subject":"b"}"#, "{}", "Task #2 created successfully: b");
        assert_eq!(made.unwrap(), ["pending a", "pending b"]);
        let args = r#"{"taskId":"1","status":"in_progress"}"#;
        assert_eq!(update(plan, "TaskUpdate", args, "{}", "").unwrap(), ["in_progress a", "pending b"]);
        assert_eq!(update(plan, "TaskUpdate", args, "{}", ""), None, "nothing changed");
        let args = r#"{"taskId":"2","status":"deleted"}"#;
        assert_eq!(update(plan, "TaskUpdate", args, "{}", "").unwrap(), ["in_progress a"]);
        let list = r#"{"tasks":[{"id":"9","subject":"z","status":"completed"}]}"#;
        assert_eq!(update(plan, "TaskList", "{}", list, "").unwrap(), ["completed z"]);
    }
}
