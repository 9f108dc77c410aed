//! Tool calls, subagents, plans and files.

use super::case::*;
use framegate_translators::frame::{Body, Frame, ToolKind};
use serde_json::Value;

/// A call in the frames.
#[derive(Debug)]
struct Call<'f> {
    id: &'f str,
    name: &'f str,
    kind: ToolKind,
    args: Value,
    output: String,
    exit_code: Option<i32>,
    error: Option<&'f str>,
    proposed: bool,
}

fn calls<'f>(frames: &[&'f Frame]) -> Vec<Call<'f>> {
    let mut calls: Vec<Call<'f>> = Vec::new();
    let mut proposed = Vec::new();
    for frame in frames {
        let (tool, change): (_, &dyn Fn(&mut Call<'f>)) = match &frame.body {
            Body::ToolCallProposed(call) => {
                proposed.push(&*call.tool.call_id);
                continue;
            }
            Body::ToolStarted { call, .. } => {
                let args = serde_json::from_str(call.args.get()).unwrap();
                let id = &*call.tool.call_id;
                let proposed = proposed.contains(&id);
                let (name, kind, output) = (&*call.name, call.kind, String::new());
                calls.push(Call { id, name, kind, args, output, exit_code: None, error: None, proposed });
                continue;
            }
            Body::ToolStdout { tool, chunk } => (tool, &|call: &mut Call<'f>| call.output.push_str(chunk)),
            Body::ToolEnded { tool, exit_code, .. } => (tool, &|call: &mut Call<'f>| call.exit_code = Some(*exit_code)),
            Body::ToolFailed { tool, error } => (tool, &|call: &mut Call<'f>| call.error = Some(error)),
            _ => continue,
        };
        change(calls.iter_mut().find(|call| call.id == &*tool.call_id).unwrap());
    }
    calls
}

fn check(case: &Case, call: &Call<'_>, fact: &Value) -> Result<(), String> {
    // A chat file repeats the ids, but its facts do not have them.
    if let Some(id) = fact["callID"].as_str() {
        same("id", &call.id, &id)?;
        let given = fact["scripted_id"].as_str().unwrap_or_default();
        same(&format!("{given:?} in {id:?}"), &id.ends_with(given), &true)?;
    }
    same("proposed", &call.proposed, &true)?;
    same("name", &call.name, &text(&fact["tool"]))?;
    same("input", &call.args, &fact["input"])?;
    same("one end", &(call.exit_code.is_some() != call.error.is_some()), &true)?;
    let output = call.output.clone() + call.error.unwrap_or_default();
    match fact["status"].as_str() {
        Some("success") if call.kind == ToolKind::Shell && case.is_chat_file() => {
            same("ran", &call.exit_code.is_some(), &true)?;
        }
        Some("success") => same("success", &call.exit_code, &Some(0))?,
        Some("error") => same("success", &(call.exit_code == Some(0)), &false)?,
        _ => same("cut", &call.exit_code, &None)?,
    }
    if fact["output_absent"] == true && case.is_stream() {
        same("absent output", &output.as_str(), &"")?;
    }
    let shown = if case.is_chat_file() { "model_output_contains" } else { "output_contains" };
    for key in [shown, "error_contains"] {
        if let Some(part) = fact[key].as_str() {
            same(&format!("{part:?} in {output:?}"), &output.contains(part), &true)?;
        }
    }
    let never_ran = ["policy_violation", "tool_not_registered", "invalid_tool_params"];
    if let Some(kind) = fact["error_type"].as_str() {
        same(kind, &call.error.is_some(), &never_ran.contains(&kind))?;
    }
    Ok(())
}

#[test]
fn tool_calls() {
    each(|case| {
        let frames = case.own_frames();
        let ours = calls(&frames);
        // A chat file has a call once it has ended.
        let is_there = |fact: &&Value| fact["visible"] != false && !(case.is_chat_file() && fact["status"] == "none");
        let facts = list(&case.facts["tools"]).iter().filter(is_there);
        let facts: Vec<&Value> = facts.collect();
        same("calls", &ours.len(), &facts.len())?;
        ours.iter().zip(facts).try_for_each(|(call, fact)| check(case, call, fact))
    });
}

#[test]
fn exit_codes_are_only_in_chat_files() {
    let code = |name: &str| {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let frames = case.own_frames();
        calls(&frames)[0].exit_code
    };
    assert_eq!(code("shell-fail.session.jsonl"), Some(3));
    assert_eq!(code("shell-fail.jsonl"), Some(0));
    assert_eq!(code("shell-not-found.jsonl"), Some(0));
}

#[test]
fn plans_are_the_to_do_lists() {
    each(|case| {
        let frames = case.own_frames();
        let plans = frames.iter().filter_map(|frame| match &frame.body {
            Body::PlanUpdated { entries } => {
                Some(entries.iter().map(|entry| (&*entry.status, entry.content.as_str())).collect::<Vec<_>>())
            }
            _ => None,
        });
        let calls = list(&case.facts["tools"]).iter();
        let written = calls
            .filter(|fact| fact["tool"] == "write_todos" && fact["status"] == "success" && fact["visible"] != false);
        let theirs = written.map(|fact| {
            let todos = list(&fact["input"]["todos"]).iter();
            todos.map(|todo| (text(&todo["status"]), text(&todo["description"]))).collect::<Vec<_>>()
        });
        same("plans", &plans.collect::<Vec<_>>(), &theirs.collect())
    });
}

#[test]
fn only_chat_files_have_diffs() {
    each(|case| {
        let frames = case.own_frames();
        let changes: Vec<_> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::FileChanged(change) => Some((change.path.as_str(), change.diff.as_deref())),
                _ => None,
            })
            .collect();
        let calls = list(&case.facts["tools"]).iter();
        let written = calls.filter(|fact| {
            let writes = matches!(text(&fact["tool"]), "replace" | "write_file");
            writes && fact["status"] == "success" && fact["visible"] != false
        });
        let theirs: Vec<&str> = written.map(|fact| text(&fact["input"]["file_path"])).collect();
        same("files", &changes.iter().map(|(path, _)| *path).collect(), &theirs)?;
        same("diffs", &changes.iter().all(|(_, diff)| diff.is_some() == case.is_chat_file()), &true)
    });
}

#[test]
fn subagents_have_one_start_and_one_end() {
    each(|case| {
        let frames = case.own_frames();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for frame in &frames {
            match &frame.body {
                Body::SubagentStarted { agent, task, .. } => {
                    starts.push((agent.as_deref().unwrap(), task.as_deref().unwrap()));
                }
                Body::SubagentEnded { status, .. } => ends.push(&**status),
                _ => {}
            }
        }
        let called = list(&case.facts["tools"]).iter();
        let called = called.filter(|fact| fact["tool"] == "invoke_agent" && fact["visible"] != false);
        let theirs: Vec<_> =
            called.map(|fact| (text(&fact["input"]["agent_name"]), text(&fact["input"]["prompt"]))).collect();
        same("ends", &ends, &vec!["completed"; theirs.len()])?;
        same("starts", &starts, &theirs)
    });
}

#[test]
fn a_subagents_file_is_a_session_of_its_own_that_its_parent_names() {
    let of = |name: &str| cases().into_iter().find(|case| case.name == name).unwrap();
    let (parent, child) = (of("subagent.session.jsonl"), of("subagent.subagent1.jsonl"));
    let named = parent.frames.iter().find_map(|frame| match &frame.body {
        Body::SubagentStarted { subagent_id, .. } => Some(subagent_id.to_string()),
        _ => None,
    });
    let ends = child.ends();
    let [(frame, end)] = ends.as_slice() else { panic!("{} ends", ends.len()) };
    assert_eq!(named.as_deref(), Some(&*frame.stream.session.name));
    assert_eq!(end.final_text.as_deref(), Some("The child found README.md."));
    assert_eq!(child.texts(), ["Looking around."]);
    let tools: Vec<&str> = calls(&child.own_frames()).iter().map(|call| call.name).collect();
    assert_eq!(tools, ["glob", "complete_task"]);
}
