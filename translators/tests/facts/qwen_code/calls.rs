//! Tool calls, subagents and approval requests.

use super::case::*;
use framegate_translators::frame::{Body, Frame};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The facts about a call in the frames.
#[derive(Debug, Default)]
pub struct CallFacts<'f> {
    pub name: &'f str,
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
                facts.tool_id = call.tool.id;
                facts.args = serde_json::from_str(call.args.get()).unwrap();
            }
            Body::ToolStdout { tool, chunk } => calls.entry(&tool.call_id).or_default().output.push_str(chunk),
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
    same("success", &(call.exit_code == Some(0)), &(fact["status"] == "success"))?;
    let output = call.output.clone() + call.error.unwrap_or_default();
    for key in ["output_contains", "error_contains"] {
        if let Some(part) = fact[key].as_str() {
            same(&format!("{part:?} in {output:?}"), &output.contains(part), &true)?;
        }
    }
    same("base64", &output.contains("iVBORw0KGgo"), &false)
}

#[test]
fn tool_calls() {
    each(|case| {
        let ours = calls(&case.own_frames());
        let incomplete = list(&case.facts["tools_incomplete"]);
        same("incomplete calls", &incomplete.len(), &0)?;
        let main = list(&case.facts["tools"]);
        let children = list(&case.facts["child_tools"]);
        let own: BTreeSet<&str> = ours.keys().copied().collect();
        same("calls", &own, &main.iter().chain(children).map(|fact| text(&fact["callID"])).collect())?;
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
        for fact in list(&case.facts["child_tools_not_shown"]) {
            same("not shown", &ours.contains_key(text(&fact["callID"])), &false)?;
        }
        Ok(())
    });
}

#[test]
fn denied_calls_never_ran() {
    each(|case| {
        let ours = calls(&case.own_frames());
        let denials = case.records.iter().flat_map(|record| list(&record["permission_denials"]));
        let denied: Vec<&str> = denials.map(|denial| text(&denial["tool_use_id"])).collect();
        same("denials", &denied.len(), &list(&case.facts["permission_denials"]).len())?;
        for id in denied {
            same(&format!("denied {id}"), &ours[id].error.is_some(), &true)?;
        }
        Ok(())
    });
}

#[test]
fn exit_codes_are_those_of_the_commands() {
    for (name, id, code) in [
        ("shell-fail.jsonl", "call_003", 3),
        ("shell-fail.session.jsonl", "call_003", 3),
        ("shell-not-found.jsonl", "call_004", 127),
        ("shell-signal.jsonl", "call_009", 1),
        ("shell-timeout.jsonl", "call_008", 124),
    ] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let frames = case.own_frames();
        assert_eq!(calls(&frames)[id].exit_code, Some(code), "{name}");
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
                Body::SubagentEnded { status, .. } => ends.push(&**status),
                _ => {}
            }
        }
        let called = list(&case.facts["tools"]).iter().filter(|fact| fact["tool"] == "agent");
        let ours = calls(&case.own_frames());
        let theirs: Vec<_> = called
            .map(|fact| {
                let input = &fact["input"];
                (ours[text(&fact["callID"])].tool_id, text(&input["prompt"]), text(&input["subagent_type"]), 1)
            })
            .collect();
        same("ends", &ends, &vec!["completed"; theirs.len()])?;
        same("starts", &starts, &theirs)
    });
}

#[test]
fn questions_become_approvals_that_are_resolved() {
    each(|case| {
        let asked = case.records.iter().filter(|record| record["request"]["subtype"] == "can_use_tool");
        let asked: Vec<&str> = asked.map(|record| text(&record["request_id"])).collect();
        let (mut requested, mut resolved) = (Vec::new(), Vec::new());
        for frame in &case.frames {
            match &frame.body {
                Body::ApprovalRequested(ask) => requested.push(&*ask.approval_id),
                Body::ApprovalResolved(answer) => resolved.push((answer.decision.as_str(), answer.reason.as_deref())),
                _ => {}
            }
        }
        same("questions", &requested, &asked)?;
        let theirs = match case.name.trim_end_matches(".jsonl").trim_end_matches(".partial") {
            "in-allow" => vec![("approved", None)],
            "in-deny" => vec![("rejected", Some("Not on my watch"))],
            _ => vec![],
        };
        same("answers", &resolved, &theirs)
    });
}

#[test]
fn plans_are_the_to_do_lists() {
    each(|case| {
        let plans = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::PlanUpdated { entries } => {
                Some(entries.iter().map(|entry| (&*entry.status, entry.content.as_str())).collect::<Vec<_>>())
            }
            _ => None,
        });
        let calls = list(&case.facts["tools"]).iter();
        let written = calls.filter(|fact| fact["tool"] == "todo_write" && fact["status"] == "success");
        let theirs = written.map(|fact| {
            let todos = list(&fact["input"]["todos"]).iter();
            todos.map(|todo| (text(&todo["status"]), text(&todo["content"]))).collect::<Vec<_>>()
        });
        same("plans", &plans.collect::<Vec<_>>(), &theirs.collect())
    });
}

#[test]
fn only_session_files_have_diffs() {
    each(|case| {
        let changes: Vec<_> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::FileChanged(change) => Some((change.path.as_str(), change.diff.as_deref())),
                _ => None,
            })
            .collect();
        let written = list(&case.facts["tools"]).iter().filter(|fact| {
            matches!(text(&fact["tool"]), "edit" | "write_file" | "notebook_edit") && fact["status"] == "success"
        });
        let theirs: Vec<&str> = written.map(|fact| text(&fact["input"]["file_path"])).collect();
        same("files", &changes.iter().map(|(path, _)| *path).collect(), &theirs)?;
        let has_diffs = changes.iter().all(|(_, diff)| diff.is_some() == case.is_session_file());
        same("diffs", &has_diffs, &true)
    });
}
