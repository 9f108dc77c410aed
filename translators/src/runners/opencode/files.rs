//! Effects of tools on files, plans and skills, beyond their output.
//!
//! Input: the input and metadata of a successful call. Output: `file_changed`, `plan_updated` and `skill_invoked`.

use super::message_log::MessageLog;
use super::session_context::SessionContext;
use crate::frame::{Body, FileChangeKind, FileChanged, PlanEntry, SharedStr, SkillEvent, SkillMode, Tool};
use crate::json::{Json, Object};

/// Reports what a call changed.
pub(super) fn changed(
    context: &mut SessionContext<'_>,
    tool: &Tool,
    name: &str,
    input: &Object<'_>,
    metadata: &Object<'_>,
) {
    match name {
        "write" => {
            let kind = match metadata.bool("exists") {
                Some(false) => FileChangeKind::Add,
                _ => FileChangeKind::Modify,
            };
            let path = metadata.str("filepath").or_else(|| input.str("filePath"));
            let diff = metadata.object("filediff").and_then(|file| file.str("patch"));
            let diff = diff.or_else(|| metadata.str("diff")).map(std::borrow::Cow::into_owned);
            push(context, tool, path.as_deref(), kind, diff);
        }
        "edit" | "multiedit" => {
            let file = metadata.object("filediff").unwrap_or_default();
            // An edit that replaces an empty string creates the file.
            let kind = match (input.str("oldString").as_deref(), file.u64("deletions")) {
                (Some(""), Some(0)) => FileChangeKind::Add,
                _ => FileChangeKind::Modify,
            };
            let path = input.str("filePath").or_else(|| file.str("file"));
            let diff = metadata.str("diff").or_else(|| file.str("patch")).map(std::borrow::Cow::into_owned);
            push(context, tool, path.as_deref(), kind, diff);
        }
        "apply_patch" | "patch" => {
            for file in metadata.items("files").into_iter().filter_map(Json::object) {
                let kind = match file.str("type").as_deref() {
                    Some("add") => FileChangeKind::Add,
                    Some("delete") => FileChangeKind::Delete,
                    Some("move") => FileChangeKind::Move,
                    _ => FileChangeKind::Modify,
                };
                let path = file.str("filePath").or_else(|| file.str("relativePath"));
                let diff = file.str("patch").or_else(|| file.str("diff")).map(std::borrow::Cow::into_owned);
                push(context, tool, path.as_deref(), kind, diff);
            }
        }
        _ => {}
    }
}

fn push(context: &mut SessionContext<'_>, tool: &Tool, path: Option<&str>, kind: FileChangeKind, diff: Option<String>) {
    let Some(path) = path else { return };
    let change = FileChanged {
        tool_id: Some(tool.id),
        path: path.to_owned(),
        kind,
        diff: diff.filter(|diff| !diff.is_empty()),
        artifact_id: None,
    };
    context.normalizer.push(context.target, Body::FileChanged(Box::new(change)));
}

/// Reports the plan, unless it equals the last one reported. The to-do list arrives both as an event and as a tool result.
pub(super) fn plan(context: &mut SessionContext<'_>, message_log: &mut MessageLog, todos: &[Json<'_>]) {
    let entries: Vec<PlanEntry> = todos
        .iter()
        .filter_map(|todo| todo.object())
        .filter_map(|todo| {
            Some(PlanEntry {
                content: todo.str("content")?.into_owned(),
                status: SharedStr::from(todo.str("status").as_deref().unwrap_or("pending")),
                priority: todo.str("priority").map(|priority| SharedStr::from(&*priority)),
            })
        })
        .collect();
    if message_log.plan != entries {
        message_log.plan.clone_from(&entries);
        context.normalizer.push(context.target, Body::PlanUpdated { entries });
    }
}

/// Reports which skill the model invoked.
pub(super) fn skill(context: &mut SessionContext<'_>, input: &Object<'_>, metadata: &Object<'_>) {
    let Some(name) = metadata.str("name").or_else(|| input.str("name")) else { return };
    let event = SkillEvent::Invoked {
        name: SharedStr::from(&*name),
        args: None,
        mode: SkillMode::Auto,
        effective_allowed_tools: None,
    };
    context.normalizer.push(context.target, Body::Skill(Box::new(event)));
}
