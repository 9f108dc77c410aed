//! Every fact that the manifest tells of a Codex recording, checked against the frames.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::frame::{Body, Decision, EndReason, Frame, LogLevel, StreamKind, Usage, UsageScope};
use serde_json::{Value, json};
use std::collections::HashMap;
use support::*;
use uuid::Uuid;

/// How a tool's call went.
#[derive(Debug, PartialEq)]
enum Outcome {
    Ended(i32),
    Failed(String),
}

#[derive(Debug)]
struct Tool {
    call_id: String,
    name: String,
    args: Value,
    /// Standard output in its order, and how much of it came in pieces.
    out: String,
    streamed: usize,
    err: String,
    files: Vec<(String, &'static str)>,
    outcome: Option<Outcome>,
}

/// What one side said: the main thread, or a subagent.
#[derive(Debug, Default)]
struct Side {
    texts: Vec<(String, String)>,
    reasoning: Vec<(String, String)>,
    tools: Vec<Tool>,
    by_id: HashMap<Uuid, usize>,
}

impl Side {
    fn tool(&mut self, id: &Uuid) -> &mut Tool {
        &mut self.tools[self.by_id[id]]
    }

    fn frame(&mut self, body: &Body) {
        match body {
            Body::OutputTextCompleted(block) => self.texts.push((block.message_id.to_string(), block.text.clone())),
            Body::ReasoningCompleted { block, .. } => {
                self.reasoning.push((block.message_id.to_string(), block.text.clone()));
            }
            Body::ToolStarted { call, .. } => {
                self.by_id.insert(call.tool.id, self.tools.len());
                self.tools.push(Tool {
                    call_id: call.tool.call_id.to_string(),
                    name: call.name.to_string(),
                    args: serde_json::from_str(call.args.get()).unwrap(),
                    out: String::new(),
                    streamed: 0,
                    err: String::new(),
                    files: Vec::new(),
                    outcome: None,
                });
            }
            Body::ToolStdout { tool, chunk } => {
                let tool = self.tool(&tool.id);
                tool.streamed += chunk.len();
                tool.out.push_str(chunk);
            }
            Body::ToolStdoutFront { tool, chunk } => self.tool(&tool.id).out.insert_str(0, chunk),
            Body::ToolStderr { tool, chunk } => self.tool(&tool.id).err.push_str(chunk),
            Body::FileChanged(change) => {
                let kind = change.kind.as_str();
                self.tool(&change.tool_id.unwrap()).files.push((change.path.clone(), kind));
            }
            Body::ToolEnded { tool, exit_code, .. } => self.tool(&tool.id).outcome = Some(Outcome::Ended(*exit_code)),
            Body::ToolFailed { tool, error } => self.tool(&tool.id).outcome = Some(Outcome::Failed(error.clone())),
            _ => {}
        }
    }
}

/// What the frames of a recording say.
#[derive(Default)]
struct Seen {
    main: Side,
    child: Side,
    bodies: Vec<Body>,
    sessions: Vec<String>,
    ends: Vec<(EndReason, Option<String>, String)>,
    records: usize,
    run_usage: Vec<Usage>,
    turn_usage: Vec<Usage>,
}

fn see(frames: &[Frame]) -> Seen {
    let mut seen = Seen::default();
    for frame in frames {
        seen.records += usize::from(matches!(frame.body, Body::ProviderEvent(_)));
        if frame.stream.kind != StreamKind::Session {
            continue;
        }
        match &frame.body {
            Body::SessionStarted { .. } => seen.sessions.push(frame.stream.session.name.to_string()),
            Body::SessionEnded(end) => {
                let message = end.message.clone().unwrap_or_default();
                seen.ends.push((end.reason, end.final_text.clone(), message));
            }
            Body::UsageReported(usage) if !frame.is_subagent() => match usage.scope {
                UsageScope::Run => seen.run_usage.push((**usage).clone()),
                UsageScope::Turn => seen.turn_usage.push((**usage).clone()),
            },
            _ => {}
        }
        if frame.is_subagent() { &mut seen.child } else { &mut seen.main }.frame(&frame.body);
        if !frame.is_subagent() {
            seen.bodies.push(frame.body.clone());
        }
    }
    seen
}

fn codex(bytes: &[u8]) -> Seen {
    see(&frames(framegate_translators::runners::runner("codex").unwrap(), bytes))
}

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(fixtures_dir("codex").join(file)).unwrap()
}

fn manifest() -> Vec<Value> {
    let manifest: Value = serde_json::from_slice(&bytes("MANIFEST.json")).unwrap();
    manifest["recordings"].as_array().unwrap().clone()
}

/// The sum of figures, in the runner's way of counting.
fn sum(usages: &[Usage]) -> Value {
    if usages.is_empty() {
        return Value::Null;
    }
    let add = |part: fn(&Usage) -> u64| usages.iter().map(part).sum::<u64>();
    json!({
        "input_tokens": add(|u| u.input_tokens + u.cache_read_tokens.unwrap() + u.cache_creation_tokens.unwrap()),
        "cached_input_tokens": add(|u| u.cache_read_tokens.unwrap()),
        "cache_write_input_tokens": add(|u| u.cache_creation_tokens.unwrap()),
        "output_tokens": add(|u| u.output_tokens),
        "reasoning_output_tokens": add(|u| u.reasoning_tokens.unwrap()),
    })
}

/// Zeros all over mean that the runner was told nothing: missing is absent, never 0.
fn usage_fact(fact: &Value) -> Value {
    if fact["input_tokens"] == 0 && fact["output_tokens"] == 0 { Value::Null } else { fact.clone() }
}

fn text_is(text: Option<&str>, fact: &Value, what: &str) {
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

const REFUSED: &str = "rollout-appserver-approval-decline.jsonl";
/// The file tells the end of a killed command after the end of its turn. A run is over when it is over: the late line is
/// kept as a record, and the command stands as aborted, as the output before the turn's end had it.
const LATE_END: &str = "rollout-exec-sigint-command.jsonl";

fn outcome(tool: &Tool, item: &Value, what: &str, file: &str) {
    let failed = |tool: &Tool| matches!(&tool.outcome, Some(Outcome::Failed(error)) if !error.is_empty());
    match item["status"].as_str() {
        _ if file == LATE_END && tool.args["command"].as_str().unwrap().contains("sleep 60") => {
            assert!(failed(tool), "{what}: {:?}", tool.outcome);
            return;
        }
        Some("in_progress") => {
            let never = "the run ended before the tool did".to_owned();
            assert_eq!(tool.outcome, Some(Outcome::Failed(never)), "{what}");
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

/// Checks one item; `nth` is its place among the items of its kind, for the surface that has no ids of its own.
fn item(side: &Side, seen: &Seen, item: &Value, nth: usize, file: &str) {
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
            // In a session file a call that was refused, or whose item was left out, stands beside the items.
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
            // A rename is an update of the old path, on surfaces that do not tell the new one.
            let kind_of = |file: &Value| if file["kind"] == "move" { json!("modify") } else { file["kind"].clone() };
            let told: Vec<Value> = files.iter().map(|file| json!([file["path"], kind_of(file)])).collect();
            let word = |kind: &Value| if kind == "update" { json!("modify") } else { kind.clone() };
            let changes = item["changes"].as_array().unwrap();
            let expected: Vec<Value> = changes.iter().map(|c| json!([c["path"], word(&c["kind"])])).collect();
            assert_eq!(told, expected, "{what}");
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
                // Text and structured content say the same; the text is told, both stay in the record.
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
                let told = tool.args["receiver_thread_ids"].as_array().map_or(0, Vec::len);
                assert_eq!(told, receivers, "{what}");
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
                status => matches!(body, Body::SubagentEnded { status: told, .. } if **told == *status),
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

fn plans(seen: &Seen) -> Vec<Vec<(String, String)>> {
    let entries = |body: &Body| match body {
        Body::PlanUpdated { entries } => {
            Some(entries.iter().map(|entry| (entry.content.clone(), entry.status.to_string())).collect())
        }
        _ => None,
    };
    seen.bodies.iter().filter_map(entries).collect()
}

fn log(seen: &Seen, level: LogLevel, part: &str, what: &str) {
    let is =
        |body: &&Body| matches!(body, Body::LogEmitted { level: l, message } if *l == level && message.contains(part));
    assert_eq!(seen.bodies.iter().filter(is).count(), 1, "{what}");
}

/// The messages of reported errors: of retry notices, or of the others.
fn errors(seen: &Seen, retry: bool) -> Vec<String> {
    let message = |body: &Body| match body {
        Body::ErrorReported(error) if error.attempt.is_some() == retry => Some(error.message.clone()),
        _ => None,
    };
    seen.bodies.iter().filter_map(message).collect()
}

/// Items that are calls; a plan is none.
fn is_call(item: &Value) -> bool {
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

fn items(side: &Side, seen: &Seen, facts: &[Value], file: &str) {
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

#[test]
fn every_fact_of_every_recording_is_in_the_frames() {
    for recording in manifest() {
        let file = recording["file"].as_str().unwrap();
        let seen = codex(&bytes(file));
        let facts = recording["facts"].as_object().unwrap();
        for (key, fact) in facts {
            check(key, fact, facts, &seen, file);
        }
    }
}

fn check(key: &str, fact: &Value, facts: &serde_json::Map<String, Value>, seen: &Seen, file: &str) {
    let what = format!("{file}: {key}");
    let list = || fact.as_array().unwrap_or_else(|| panic!("{what}"));
    match key {
        "items" => items(&seen.main, seen, list(), file),
        "child_items" => items(&seen.child, seen, list(), file),
        "tool_calls" => {
            for call in list() {
                assert!(facts["items"].as_array().unwrap().contains(call), "{what}: {call}");
            }
        }
        "final_text" => text_is(seen.ends[seen.ends.len() - 1].1.as_deref(), fact, &what),
        "final_json" => {
            let text = seen.ends[0].1.as_deref().unwrap();
            assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), fact, "{what}");
        }
        "final_text_bytes" => assert_eq!(seen.ends[0].1.as_ref().unwrap().len() as u64, fact.as_u64().unwrap()),
        "turns" => assert_eq!(seen.ends.len() as u64, fact.as_u64().unwrap(), "{what}"),
        "thread_id" | "main_thread_id" => {
            assert!(!seen.sessions.is_empty() && seen.sessions.iter().all(|name| name == fact), "{what}");
        }
        "child_thread_id" => {
            let is = |body: &Body| matches!(body, Body::SubagentStarted { subagent_id, .. } if **subagent_id == *fact.as_str().unwrap());
            assert!(seen.bodies.iter().any(is), "{what}");
        }
        "child_turn_statuses" => {
            let status = |body: &Body| match body {
                Body::SubagentEnded { status, .. } => Some(status.to_string()),
                _ => None,
            };
            assert_eq!(&json!(seen.bodies.iter().filter_map(status).collect::<Vec<_>>()), fact, "{what}");
        }
        "event_count" | "line_count" => assert_eq!(seen.records as u64, fact.as_u64().unwrap(), "{what}"),
        "terminal" => {
            let expected = match fact.as_str().unwrap() {
                "completed" => EndReason::Completed,
                "failed" => EndReason::Failed,
                _ => EndReason::Interrupted,
            };
            assert_eq!(seen.ends[0].0, expected, "{what}");
        }
        "turn_statuses" => {
            let ends: Vec<&str> = seen.ends.iter().map(|end| end.0.as_str()).collect();
            assert_eq!(&json!(ends), fact, "{what}");
        }
        "turn_ends" => {
            // The end of the parent's turn closes the copied history, which is told in the parent's own file.
            let copied = usize::from(file == "rollout-exec-subagent-v2-child.jsonl");
            let mut expected: Vec<EndReason> = list()[copied..]
                .iter()
                .map(|end| match end.as_str().unwrap() {
                    "task_complete" => EndReason::Completed,
                    "task_complete+error" => EndReason::Failed,
                    "turn_aborted" => EndReason::Interrupted,
                    end => panic!("{what}: {end}"),
                })
                .collect();
            if expected.is_empty() {
                expected.push(EndReason::Interrupted);
            }
            assert_eq!(seen.ends.iter().map(|end| end.0).collect::<Vec<_>>(), expected, "{what}");
        }
        "error_contains" => match fact.as_str() {
            Some(part) => {
                assert!(seen.ends[0].2.contains(part), "{what}");
                let fatal = errors(seen, false);
                assert!(fatal.len() == 1 && fatal[0] == seen.ends[0].2, "{what}: {fatal:?}");
            }
            None => assert!(errors(seen, false).is_empty(), "{what}"),
        },
        "nonfatal_error_events" => {
            let notices = errors(seen, true);
            assert_eq!(notices.len(), list().len(), "{what}");
            for (notice, part) in notices.iter().zip(list()) {
                assert!(notice.contains(part.as_str().unwrap()), "{what}");
            }
        }
        "error_notifications" => {
            for retry in [true, false] {
                let expected: Vec<&Value> = list().iter().filter(|error| error["willRetry"] == retry).collect();
                let told = errors(seen, retry);
                assert_eq!(told.len(), expected.len(), "{what}");
                for (told, error) in told.iter().zip(expected) {
                    assert!(told.contains(error["message_contains"].as_str().unwrap()), "{what}");
                }
            }
        }
        "usage" => assert_eq!(sum(&seen.run_usage), usage_fact(fact), "{what}"),
        "usage_total" => {
            if file == "rollout-exec-sigkill.jsonl" {
                // Killed between the two records of its last call: the count that the fact is of lacks it.
                assert_eq!(sum(&seen.turn_usage)["input_tokens"], 200, "{what}");
                assert!(seen.run_usage.is_empty(), "{what}: a run that was killed has no total");
                return;
            }
            assert_eq!(&sum(&seen.turn_usage), fact, "{what}: turns");
            assert_eq!(&sum(&seen.run_usage), fact, "{what}: runs");
        }
        "usage_total_after_turn_1" => assert_eq!(&sum(&seen.run_usage[..1]), fact, "{what}"),
        "usage_of_this_turn" => {
            // The stream of the second process has the thread's total alone; behind the first one's it is the turn's.
            let both = [bytes(facts["resumes"].as_str().unwrap()), bytes(file)].concat();
            assert_eq!(&sum(&codex(&both).run_usage[1..]), fact, "{what}");
        }
        "resumes" => assert!(facts.contains_key("usage_of_this_turn"), "{what}"),
        "approvals" => approvals(seen, list(), &what),
        "plan_updates" => assert_eq!(plans(seen).len() as u64, fact.as_u64().unwrap(), "{what}"),
        "plan_final" => {
            let plans = plans(seen);
            let last: Vec<Value> =
                plans[plans.len() - 1].iter().map(|(step, status)| json!({ "step": step, "status": status })).collect();
            assert_eq!(&json!(last), fact, "{what}");
        }
        "user_messages" => {
            let text = |body: &Body| match body {
                Body::UserMessage(message) => Some(message.text.clone()),
                _ => None,
            };
            assert_eq!(&json!(seen.bodies.iter().filter_map(text).collect::<Vec<_>>()), fact, "{what}");
        }
        "abandoned_items" => {
            for item in list() {
                let told = seen.main.texts.iter().find(|(id, _)| *id == item["item_id"]).unwrap();
                assert_eq!(told.1, item["text_so_far"], "{what}");
            }
        }
        "terminal_interactions" => {
            for stdin in list() {
                log(seen, LogLevel::Info, &format!("standard input: {}", stdin.as_str().unwrap()), &what);
            }
        }
        "session_meta_lines" => {
            let raw = String::from_utf8(bytes(file)).unwrap();
            let lines = raw.lines().filter(|line| line.contains("\"type\":\"session_meta\"")).count();
            assert_eq!(lines as u64, fact.as_u64().unwrap(), "{what}");
        }
        // The history mode decides which events a file has; that both are read is what the other facts check.
        "history_mode" => assert!(matches!(fact.as_str(), Some("legacy" | "paginated")), "{what}"),
        // What the stream does not have, the frames do not make up: the number of calls is checked with the items.
        "invisible_calls" | "child_usage_included" | "usage_really_spent" => {}
        // How the recording was made.
        "scripted_api" | "order" | "note" => {}
        key => panic!("{file}: no check for {key}"),
    }
}

fn approvals(seen: &Seen, facts: &[Value], what: &str) {
    let asked: Vec<_> = seen
        .bodies
        .iter()
        .filter_map(|body| match body {
            Body::ApprovalRequested(request) => Some(request),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), facts.len(), "{what}");
    for (request, fact) in asked.iter().zip(facts) {
        let tool = &seen.main.tools[seen.main.by_id[&request.tool_id.unwrap()]];
        assert_eq!(tool.call_id, fact["item_id"].as_str().unwrap(), "{what}");
        assert_eq!(*request.tool_name, *tool.name, "{what}");
        assert_eq!(serde_json::from_str::<Value>(request.args.get()).unwrap(), tool.args, "{what}");
        let answer = |body: &Body| match body {
            Body::ApprovalResolved(answer) if answer.approval_id == request.approval_id => Some(answer.decision),
            _ => None,
        };
        let decisions: Vec<Decision> = seen.bodies.iter().filter_map(answer).collect();
        let expected = if fact["decision"] == "accept" { Decision::Approved } else { Decision::Rejected };
        assert_eq!(decisions, [expected], "{what}");
    }
}

#[test]
fn a_refused_command_of_a_session_file_never_ran() {
    let seen = codex(&bytes(REFUSED));
    assert!(matches!(&seen.main.tools[0].outcome, Some(Outcome::Failed(error)) if error.contains("rejected by user")));
}

/// Where the client's lines are in the stream too, prompts and answers are told by them.
#[test]
fn the_clients_own_lines_are_understood() {
    let server = String::from_utf8(bytes("appserver-approval-accept.ndjson")).unwrap();
    let client = String::from_utf8(bytes("client/appserver-approval-accept.jsonl")).unwrap();
    let (mut lines, mut answer) = (String::new(), None);
    for line in client.lines() {
        match line.contains("\"result\"") {
            true => answer = Some(line),
            false => lines.extend([line, "\n"]),
        }
    }
    for line in server.lines() {
        lines.extend([line, "\n"]);
        if line.contains("requestApproval") {
            lines.extend([answer.unwrap(), "\n"]);
        }
    }
    let seen = codex(lines.as_bytes());
    assert!(matches!(&seen.bodies[0], Body::SessionStarted { input } if input == "go"));
    let resolved = |body: &Body| matches!(body, Body::ApprovalResolved(a) if a.decision == Decision::Approved && a.scope.as_deref() == Some("once"));
    assert_eq!(seen.bodies.iter().filter(|body| resolved(body)).count(), 1);
}
