//! The items in the manifest, and the frames that each kind must yield.

use super::frame_facts::{FrameFacts, Outcome, ThreadFacts, Tool};
use framegate_translators::frame::{Body, LogLevel, RUN_ENDED_FIRST, RUN_INTERRUPTED_FIRST};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(crate) fn text_is(text: Option<&str>, fact: &Value, what: &str) {
    match fact {
        Value::Object(long) => {
            let text = text.unwrap_or_else(|| panic!("{what}: no text"));
            assert_eq!(text.len(), long["bytes"].as_u64().unwrap() as usize, "{what}");
            assert!(text.starts_with(long["head"].as_str().unwrap()), "{what}");
            assert!(text.ends_with(long["tail"].as_str().unwrap()), "{what}");
        }
        fact => assert_eq!(text, fact.as_str(), "{what}"),
    }
}

/// In this file, the end of a killed command follows the end of its turn. The run is over by then: the late line is kept as a
/// record, and the command is aborted, with the output from before the turn's end.
const LATE_END: &str = "rollout-exec-sigint-command.jsonl";

/// In this file, a person interrupts the run while a command works.
const INTERRUPTED: &str = "appserver-interrupt-command.ndjson";

fn outcome(tool: &Tool, item: &Value, what: &str, file: &str) {
    let failed = |tool: &Tool| matches!(&tool.outcome, Some(Outcome::Failed(error)) if !error.is_empty());
    match item["status"].as_str() {
        _ if file == LATE_END && tool.args["command"].as_str().unwrap().contains("sleep 60") => {
            assert!(failed(tool), "{what}: {:?}", tool.outcome);
            return;
        }
        Some("in_progress") => {
            let never = if file == INTERRUPTED { RUN_INTERRUPTED_FIRST } else { RUN_ENDED_FIRST };
            assert_eq!(tool.outcome, Some(Outcome::Failed(never.to_owned())), "{what}");
        }
        Some("declined") => assert!(failed(tool), "{what}: {:?}", tool.outcome),
        status => {
            let code = item["exit_code"].as_i64().unwrap_or(i64::from(status == Some("failed")));
            let code = if item["success"] == false { 1 } else { code };
            assert_eq!(tool.outcome, Some(Outcome::Ended(code as i32)), "{what}");
        }
    }
    if let Some(part) = item["output_contains"].as_str() {
        assert!(tool.out.contains(part), "{what}: {:?} without {part:?}", tool.out);
    }
    match item["error_contains"].as_str() {
        Some(part) => assert!(tool.err.contains(part), "{what}: {:?}", tool.err),
        None => assert_eq!(tool.err, "", "{what}"),
    }
    if let Some(length) = item["full_output_bytes"].as_u64() {
        assert_eq!(tool.out.len() as u64, length, "{what}");
    }
    if let Some(length) = item["streamed_delta_bytes"].as_u64() {
        assert_eq!(tool.streamed as u64, length, "{what}");
    }
}

/// Checks one item. `nth` is its position among the items of its kind, for the surface without item ids.
fn item(side: &ThreadFacts, seen: &FrameFacts, item: &Value, nth: usize, file: &str) {
    let what = format!("{file}: {item}");
    let kind = item["kind"].as_str().unwrap();
    let id = item["item_id"].as_str();
    let find = |name: &dyn Fn(&Tool) -> bool| -> &Tool {
        let found = match id {
            Some(id) => side.tools.iter().find(|tool| tool.call_id == id),
            None => side.tools.iter().filter(|tool| name(tool)).nth(nth),
        };
        let tool = found.unwrap_or_else(|| panic!("{what}: no call in {:#?}", side.tools));
        assert!(name(tool), "{what}: {}", tool.name);
        tool
    };
    match kind {
        "agent_message" => {
            let text = match id {
                Some(id) => side.texts.iter().find(|(message, _)| message == id),
                None => side.texts.get(nth),
            };
            text_is(text.map(|(_, text)| text.as_str()), &item["text"], &what);
        }
        "reasoning" => {
            let mut ids: Vec<&String> = side.reasoning.iter().map(|(message, _)| message).collect();
            ids.dedup();
            let message = id.unwrap_or_else(|| ids[nth]);
            let blocks: Vec<&str> =
                side.reasoning.iter().filter(|(id, _)| id == message).map(|(_, text)| text.as_str()).collect();
            match &item["summary"] {
                Value::Null => assert_eq!(item["text"], json!(blocks.join("\n")), "{what}"),
                summary => assert_eq!(summary, &json!(blocks), "{what}"),
            }
        }
        "command_execution" => {
            // A session file also contains calls that were refused, or whose item was left out.
            let script = item["argv"][2].as_str().unwrap();
            let tool = match id {
                Some(_) => find(&|tool| tool.name == "bash"),
                None => {
                    let same = |tool: &&Tool| tool.name == "bash" && tool.args["command"] == script;
                    side.tools.iter().find(same).unwrap_or_else(|| panic!("{what}"))
                }
            };
            assert_eq!(tool.args, json!({ "command": script }), "{what}");
            outcome(tool, item, &what, file);
        }
        "file_change" => {
            let name = |tool: &Tool| tool.name == "file_change";
            let tool = find(&name);
            let files = tool.args["files"].as_array().unwrap();
            // A rename is an update of the old path on surfaces that do not report the new one.
            let kind_of = |file: &Value| if file["kind"] == "move" { json!("modify") } else { file["kind"].clone() };
            let actual: Vec<Value> = files.iter().map(|file| json!([file["path"], kind_of(file)])).collect();
            let word = |kind: &Value| if kind == "update" { json!("modify") } else { kind.clone() };
            let changes = item["changes"].as_array().unwrap();
            let expected: Vec<Value> = changes.iter().map(|c| json!([c["path"], word(&c["kind"])])).collect();
            assert_eq!(actual, expected, "{what}");
            let moved = file.starts_with("rollout-exec-patch-move");
            assert_eq!(files.iter().any(|file| file["kind"] == "move"), moved, "{what}");
            let applied = item["status"] == "completed";
            assert_eq!(tool.files.len(), if applied { changes.len() } else { 0 }, "{what}");
            assert!(tool.files.iter().all(|(_, kind)| !moved || *kind == "move"), "{what}");
            let status = item["status"].as_str().unwrap();
            match status {
                "completed" => assert_eq!(tool.outcome, Some(Outcome::Ended(0)), "{what}"),
                _ => outcome(tool, item, &what, file),
            }
        }
        "mcp_tool_call" => {
            let (server, name) = (item["server"].as_str().unwrap(), item["tool"].as_str().unwrap());
            let tool = match id {
                Some(_) => find(&|_| true),
                None => side.tools.iter().filter(|tool| tool.name.starts_with("mcp__")).nth(nth).unwrap(),
            };
            assert_eq!(tool.name, format!("mcp__{server}__{name}"), "{what}");
            assert_eq!(tool.args, item["arguments"], "{what}");
            outcome(tool, item, &what, file);
            if let Some(structured) = item.get("structured_content") {
                // Text and structured content are equal. The text is the output; both stay in the record.
                let line = tool.out.lines().next().unwrap();
                assert_eq!(&serde_json::from_str::<Value>(line).unwrap(), structured, "{what}");
            }
        }
        "dynamic_tool_call" => {
            let tool = find(&|_| true);
            assert_eq!((json!(tool.name), &tool.args), (item["name"].clone(), &item["arguments"]), "{what}");
            outcome(tool, item, &what, file);
        }
        "collab_tool_call" => {
            let word = match item["name"].as_str().unwrap() {
                "spawnAgent" => "spawn_agent",
                word => word,
            };
            let tool = match id {
                Some(_) => find(&|tool| tool.name == "collab_tool_call"),
                None => {
                    let same = |tool: &&Tool| tool.name == "collab_tool_call" && tool.args["tool"] == word;
                    side.tools.iter().find(same).unwrap()
                }
            };
            assert_eq!(tool.args["tool"], word, "{what}");
            assert_eq!(tool.args["prompt"], item["prompt"], "{what}");
            outcome(tool, item, &what, file);
            let receivers = item["receivers"].as_u64().unwrap() as usize;
            if word == "spawn_agent" {
                let by = side.by_id.iter().find(|(_, at)| side.tools[**at].call_id == tool.call_id).unwrap().0;
                let count =
                    |body: &&Body| matches!(body, Body::SubagentStarted { tool_id, .. } if *tool_id == Some(*by));
                assert_eq!(seen.bodies.iter().filter(count).count(), receivers, "{what}");
            } else {
                let actual = tool.args["receiver_thread_ids"].as_array().map_or(0, Vec::len);
                assert_eq!(actual, receivers, "{what}");
            }
            if let Some(message) = item["agent_message"].as_str() {
                let says = |body: &Body| {
                    matches!(body, Body::SubagentEnded { summary, status, .. }
                        if summary.as_deref() == Some(message) && &**status == "completed")
                };
                assert!(seen.bodies.iter().any(says), "{what}");
            }
        }
        "sub_agent_activity" => {
            let is = |body: &Body| match item["activity"].as_str().unwrap() {
                "started" => matches!(body, Body::SubagentStarted { tool_id: Some(_), .. }),
                status => matches!(body, Body::SubagentEnded { status: actual, .. } if **actual == *status),
            };
            assert_eq!(seen.bodies.iter().filter(|body| is(body)).count(), 1, "{what}");
        }
        "web_search" => {
            let tool = find(&|tool| tool.name == "web_search");
            assert_eq!(
                (&tool.args["query"], &tool.args["action"]["type"]),
                (&item["query"], &item["action"]),
                "{what}"
            );
            assert_eq!(tool.outcome, Some(Outcome::Ended(0)), "{what}");
        }
        "image_view" => {
            let tool = find(&|tool| tool.name == "image_view");
            assert_eq!(tool.args["path"], item["path"], "{what}");
            assert_eq!(tool.outcome, Some(Outcome::Ended(0)), "{what}");
        }
        "todo_list" => {
            let plans: Vec<_> = plans(seen);
            assert_eq!(plans.len() as u64, item["versions"].as_u64().unwrap(), "{what}");
            let last: Vec<Value> = plans[plans.len() - 1]
                .iter()
                .map(|(step, status)| json!({ "text": step, "completed": status == "completed" }))
                .collect();
            assert_eq!(json!(last), item["final_items"], "{what}");
        }
        "error" => log(seen, LogLevel::Warn, item["message_contains"].as_str().unwrap(), &what),
        "context_compaction" => {
            let count = seen.bodies.iter().filter(|body| matches!(body, Body::HistoryCompacted { .. })).count();
            assert_eq!(count, 1, "{what}");
        }
        "entered_review_mode" => log(seen, LogLevel::Info, "review started", &what),
        "exited_review_mode" => log(seen, LogLevel::Info, "review ended", &what),
        kind => panic!("{what}: no check for {kind}"),
    }
}

pub(crate) fn plans(seen: &FrameFacts) -> Vec<Vec<(String, String)>> {
    let entries = |body: &Body| match body {
        Body::PlanUpdated { entries } => {
            Some(entries.iter().map(|entry| (entry.content.clone(), entry.status.to_string())).collect())
        }
        _ => None,
    };
    seen.bodies.iter().filter_map(entries).collect()
}

pub(crate) fn log(seen: &FrameFacts, level: LogLevel, part: &str, what: &str) {
    let is =
        |body: &&Body| matches!(body, Body::LogEmitted { level: l, message } if *l == level && message.contains(part));
    assert_eq!(seen.bodies.iter().filter(is).count(), 1, "{what}");
}

/// Whether an item is a call; a plan is not.
pub(crate) fn is_call(item: &Value) -> bool {
    matches!(
        item["kind"].as_str().unwrap(),
        "command_execution"
            | "file_change"
            | "mcp_tool_call"
            | "dynamic_tool_call"
            | "collab_tool_call"
            | "web_search"
            | "image_view"
    )
}

pub(crate) fn check_items(side: &ThreadFacts, seen: &FrameFacts, facts: &[Value], file: &str) {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for fact in facts {
        let nth = counts.entry(fact["kind"].as_str().unwrap()).or_default();
        item(side, seen, fact, *nth, file);
        *nth += 1;
    }
    let messages = facts.iter().filter(|fact| fact["kind"] == "agent_message").count();
    let abandoned = if file == "appserver-retry.ndjson" { 1 } else { 0 };
    assert_eq!(side.texts.len(), messages + abandoned, "{file}: messages");
    if !file.starts_with("rollout-") {
        let calls = facts.iter().filter(|fact| is_call(fact)).count();
        assert_eq!(side.tools.len(), calls, "{file}: calls in {:#?}", side.tools);
    }
}
