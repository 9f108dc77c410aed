//! Tool calls and approval requests.

use super::case::*;
use framegate_translators::frame::{Body, Frame};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
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

pub fn calls(frames: &[Frame]) -> HashMap<&str, CallFacts<'_>> {
    let mut calls: HashMap<&str, CallFacts<'_>> = HashMap::new();
    for frame in frames {
        match &frame.body {
            Body::ToolCallProposed(call) => {
                let facts = calls.entry(&call.tool.call_id).or_default();
                facts.proposed += 1;
                facts.parent = frame.parent_tool_id;
            }
            Body::ToolStarted { call, .. } => {
                let facts = calls.entry(&call.tool.call_id).or_default();
                facts.started += 1;
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

#[test]
fn tool_calls() {
    each(|case| {
        if case.is_result_alone() {
            return same("calls", &calls(&case.frames).len(), &0);
        }
        let ours = calls(&case.frames);
        let facts = list(&case.facts["tool_calls"]);
        // The script does not list the tools that the provider runs itself.
        let own: BTreeSet<&str> = ours.keys().copied().filter(|id| !id.starts_with("srvtoolu_")).collect();
        same("calls", &own, &facts.iter().map(|fact| fact["id"].as_str().unwrap()).collect())?;
        for fact in facts {
            let id = fact["id"].as_str().unwrap();
            let call = &ours[id];
            same("times proposed and started", &(call.proposed, call.started), &(1, 1))?;
            same("name", &call.name, &fact["name"].as_str().unwrap())?;
            let input = fact.get("input_in_assistant_frame").unwrap_or(&fact["input"]);
            same("input", &call.args, input)?;
            let parent = fact["parent_tool_use_id"].as_str().map(|parent| ours[parent].tool_id);
            same("parent", &call.parent, &parent)?;
            let ran = call.exit_code.is_some();
            same("one end", &(ran != call.error.is_some()), &true)?;
            match fact["outcome"].as_str().unwrap() {
                "success" => same("exit code", &call.exit_code, &Some(0))?,
                "error" => same("failure", &(call.exit_code.is_none_or(|code| code != 0)), &true)?,
                "no_result" => same("failure", &call.error.is_some(), &true)?,
                other => panic!("unknown outcome {other}"),
            }
            let output = call.output.as_str().to_owned() + call.error.unwrap_or_default();
            if let Some(part) = fact["output_contains"].as_str() {
                same(&format!("{part:?} in {output:?}"), &output.contains(part), &true)?;
            }
            for block in list(&fact["output_block_types"]) {
                let noted = match block.as_str().unwrap() {
                    "image" => output.contains("[image/png, 75 bytes]") || output.contains("[image/"),
                    "tool_reference" | "text" => !output.is_empty(),
                    other => panic!("unknown block {other}"),
                };
                same("noted", &noted, &true)?;
            }
            same("base64", &output.contains("iVBORw0KGgo"), &false)?;
        }
        Ok(())
    });
}

#[test]
fn calls_that_never_ran_fail() {
    each(|case| {
        let ours = calls(&case.frames);
        for result in list(&case.facts["results"]) {
            for denial in list(&result["permission_denials"]) {
                let id = denial["tool_use_id"].as_str().or(denial.as_str()).unwrap();
                same(&format!("denied {id}"), &ours[id].error.is_some(), &true)?;
            }
        }
        for record in &case.records {
            for block in list(&record["message"]["content"]) {
                let text = block["content"].as_str().unwrap_or_default();
                if block["type"] == "tool_result" && text.starts_with("<tool_use_error>") {
                    let id = block["tool_use_id"].as_str().unwrap();
                    same(&format!("refused {id}"), &ours[id].error.is_some(), &true)?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn questions_become_approvals_that_are_resolved() {
    each(|case| {
        let asked = case.records.iter().filter(|record| record["request"]["subtype"] == "can_use_tool");
        let asked: Vec<&str> = asked.map(|record| record["request_id"].as_str().unwrap()).collect();
        let mut requested = Vec::new();
        let mut resolved = Vec::new();
        for frame in &case.frames {
            match &frame.body {
                Body::ApprovalRequested(ask) => requested.push(&*ask.approval_id),
                Body::ApprovalResolved(answer) => resolved.push((&*answer.approval_id, answer.decision.as_str())),
                _ => {}
            }
        }
        same("questions", &requested, &asked)?;
        let decisions: Vec<&str> = resolved.iter().map(|(_, decision)| *decision).collect();
        match &*case.name {
            "control_permission.ndjson" | "control_permission.partial.ndjson" => {
                same("answers", &decisions, &vec!["approved", "rejected"])
            }
            "control_ask_user.ndjson" => same("answers", &decisions, &vec!["approved"]),
            _ => same("answers", &decisions.len(), &asked.len()),
        }
    });
}
