//! Tool calls, subagents, permissions, the plan, and changed files.

use super::case::*;
use framegate_translators::frame::{Body, Frame, ToolKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The facts about a call in the frames.
#[derive(Debug, Default)]
pub struct CallFacts<'f> {
    pub name: &'f str,
    pub kind: Option<ToolKind>,
    pub args: Value,
    pub tool_id: Uuid,
    pub parent: Option<Uuid>,
    pub proposed: usize,
    pub started: usize,
    pub output: String,
    pub exit_code: Option<i32>,
    pub error: Option<&'f str>,
}

pub fn calls<'f>(frames: &[&'f Frame]) -> BTreeMap<&'f str, CallFacts<'f>> {
    let mut calls: BTreeMap<&str, CallFacts<'_>> = BTreeMap::new();
    for frame in frames {
        match &frame.body {
            Body::ToolCallProposed(call) => calls.entry(&call.tool.call_id).or_default().proposed += 1,
            Body::ToolStarted { call, .. } => {
                let facts = calls.entry(&call.tool.call_id).or_default();
                facts.started += 1;
                facts.parent = frame.parent_tool_id;
                facts.name = &call.name;
                facts.kind = Some(call.kind);
                facts.tool_id = call.tool.id;
                facts.args = serde_json::from_str(call.args.get()).unwrap();
            }
            Body::ToolStdout { tool, chunk } | Body::ToolStderr { tool, chunk } => {
                calls.entry(&tool.call_id).or_default().output.push_str(chunk);
            }
            Body::ToolEnded { tool, exit_code, .. } => {
                calls.entry(&tool.call_id).or_default().exit_code = Some(*exit_code);
            }
            Body::ToolFailed { tool, error } => calls.entry(&tool.call_id).or_default().error = Some(error),
            _ => {}
        }
    }
    calls
}

fn check(call: &CallFacts<'_>, fact: &Value) -> Result<(), String> {
    same("times proposed and started", &(call.proposed, call.started), &(1, 1))?;
    same("name", &call.name, &text(&fact["tool"]))?;
    same("input", &call.args, &fact["input"])?;
    same("one end", &(call.exit_code.is_some() != call.error.is_some()), &true)?;
    match text(&fact["status"]) {
        // The runner calls a command that failed a success.
        "success" => {
            let code = fact["exit_code"].as_i64().unwrap_or(0);
            same("exit code", &call.exit_code.map(i64::from), &Some(code))?;
        }
        "error" => same("success", &(call.exit_code == Some(0)), &false)?,
        // A denied call never ran, and one that was interrupted has no result.
        "denied" | "none" => same("ran to its end", &call.exit_code, &None)?,
        other => panic!("unknown status {other}"),
    }
    let output = call.output.clone() + call.error.unwrap_or_default();
    for key in ["output_contains", "error_contains"] {
        if let Some(part) = fact[key].as_str() {
            same(&format!("{part:?} in {output:?}"), &output.contains(part), &true)?;
        }
    }
    same("notes of the shell", &output.contains("<shellId:"), &false)?;
    same("base64", &output.contains("iVBORw0KGgo"), &false)
}

#[test]
fn tool_calls() {
    each(|case| {
        let own = case.own_frames();
        let ours = calls(&own);
        same("incomplete calls", &list(&case.facts["tools_incomplete"]).len(), &0)?;
        let main = list(&case.facts["tools"]);
        let children = list(&case.facts["child_tools"]);
        let ids: BTreeSet<&str> = ours.keys().copied().collect();
        same("calls", &ids, &main.iter().chain(children).map(|fact| text(&fact["callID"])).collect())?;
        for fact in main {
            let call = &ours[text(&fact["callID"])];
            same("parent", &call.parent, &None)?;
            check(call, fact)?;
        }
        for fact in children {
            let call = &ours[text(&fact["callID"])];
            same("parent", &call.parent, &Some(ours["call_agent"].tool_id))?;
            check(call, fact)?;
        }
        Ok(())
    });
}

#[test]
fn output_is_there_once() {
    for (name, id, output) in [
        ("bash-ok.jsonl", "call_002", "one\ntwo\n"),
        ("bash-fail.jsonl", "call_003", "before\noops\n"),
        ("bash-fail.session.jsonl", "call_003", "before\noops\n"),
        ("bash-empty.jsonl", "call_005", ""),
        ("bash-progress.jsonl", "call_009", "tick 1\ntick 2\ntick 3\n"),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let own = case.own_frames();
        assert_eq!(calls(&own)[id].output, output, "{name}");
    }
}

#[test]
fn kinds_of_tools() {
    for (name, kind) in [
        ("bash-ok.jsonl", ToolKind::Shell),
        ("allow-view.jsonl", ToolKind::Read),
        ("create-over.jsonl", ToolKind::Write),
        ("edit.jsonl", ToolKind::Edit),
        ("grep-none.jsonl", ToolKind::Search),
        ("mcp-image.jsonl", ToolKind::Mcp),
        ("sql-todo.jsonl", ToolKind::Plan),
        ("unknown-tool.jsonl", ToolKind::Other),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let own = case.own_frames();
        assert_eq!(calls(&own).values().next().unwrap().kind, Some(kind), "{name}");
    }
}

#[test]
fn subagents_have_one_start_and_one_end() {
    each(|case| {
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for frame in &case.frames {
            match &frame.body {
                Body::SubagentStarted { tool_id, task, agent, depth, .. } => {
                    starts.push((tool_id.unwrap(), task.as_deref().unwrap(), agent.as_deref().unwrap(), *depth));
                }
                Body::SubagentEnded { status, summary, .. } => ends.push((&**status, summary.as_deref())),
                _ => {}
            }
        }
        let own = case.own_frames();
        let ours = calls(&own);
        let called = list(&case.facts["tools"]).iter().filter(|fact| fact["tool"] == "task");
        let theirs: Vec<_> = called
            .map(|fact| {
                let input = &fact["input"];
                (ours[text(&fact["callID"])].tool_id, text(&input["prompt"]), text(&input["agent_type"]), 1)
            })
            .collect();
        let said = list(&case.facts["child_texts"]).last().and_then(Value::as_str);
        same("ends", &ends, &vec![("completed", said); theirs.len()])?;
        same("starts", &starts, &theirs)
    });
}

#[test]
fn only_session_files_have_permission_questions() {
    each(|case| {
        let asked = case.records.iter().filter(|record| record["type"] == "permission.requested");
        let asked: Vec<&str> = asked.map(|record| text(&record["data"]["requestId"])).collect();
        let (mut requested, mut resolved) = (Vec::new(), Vec::new());
        for frame in &case.frames {
            match &frame.body {
                Body::ApprovalRequested(ask) => requested.push(&*ask.approval_id),
                Body::ApprovalResolved(answer) => resolved.push((answer.decision.as_str(), answer.by.as_deref())),
                _ => {}
            }
        }
        same("questions", &requested, &asked)?;
        same("answers", &resolved, &vec![("rejected", Some("unattended_fallback")); asked.len()])?;
        same("in the stream", &(case.is_session_file() || asked.is_empty()), &true)
    });
}

#[test]
fn the_plan_is_read_from_the_queries() {
    for case in cases() {
        let plans: Vec<Vec<(&str, &str)>> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::PlanUpdated { entries } => {
                    Some(entries.iter().map(|entry| (&*entry.status, entry.content.as_str())).collect())
                }
                _ => None,
            })
            .collect();
        if case.name.starts_with("sql-todo") {
            assert_eq!(plans, [[("in_progress", "Write code"), ("pending", "Test code")]], "{}", case.name);
        } else {
            assert!(plans.is_empty(), "{}", case.name);
        }
    }
}

#[test]
fn only_calls_that_write_change_files() {
    each(|case| {
        let changes: Vec<_> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::FileChanged(change) => Some((change.path.as_str(), change.diff.is_some())),
                _ => None,
            })
            .collect();
        let written = list(&case.facts["tools"])
            .iter()
            .filter(|fact| matches!(text(&fact["tool"]), "edit" | "create") && fact["status"] == "success");
        same("files", &changes, &written.map(|fact| (text(&fact["input"]["path"]), true)).collect())
    });
}
