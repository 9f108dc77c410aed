//! Every fact in the manifest about a Codex recording, checked against the frames.

mod frame_facts;
mod items;

use crate::support::*;
use frame_facts::{FrameFacts, Outcome, collect_facts};
use framegate_translators::frame::{Body, Decision, EndReason, LogLevel, Usage};
use items::{check_items, is_call, log, plans, text_is};
use serde_json::{Value, json};

fn codex(bytes: &[u8]) -> FrameFacts {
    collect_facts(&frames(framegate_translators::runners::runner("codex").unwrap(), bytes))
}

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(fixtures_dir("codex").join(file)).unwrap()
}

fn manifest() -> Vec<Value> {
    let manifest: Value = serde_json::from_slice(&bytes("MANIFEST.json")).unwrap();
    manifest["recordings"].as_array().unwrap().clone()
}

/// The sum of usage figures, in the runner's way of counting.
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

/// All zeros mean that the runner got no figures. Missing is absent, never 0.
fn usage_fact(fact: &Value) -> Value {
    if fact["input_tokens"] == 0 && fact["output_tokens"] == 0 { Value::Null } else { fact.clone() }
}

const REFUSED: &str = "rollout-appserver-approval-decline.jsonl";

/// The messages of reported errors: either of retry notices, or of all others.
fn errors(seen: &FrameFacts, retry: bool) -> Vec<String> {
    let message = |body: &Body| match body {
        Body::ErrorReported(error) if error.attempt.is_some() == retry => Some(error.message.clone()),
        _ => None,
    };
    seen.bodies.iter().filter_map(message).collect()
}

#[test]
fn every_fact_of_every_recording_is_in_the_frames() {
    for recording in manifest() {
        let file = recording["file"].as_str().unwrap();
        let seen = codex(&bytes(file));
        assert!(seen.errors.is_empty(), "{file}: {:?}", seen.errors);
        let facts = recording["facts"].as_object().unwrap();
        for (key, fact) in facts {
            check(key, fact, facts, &seen, file);
        }
    }
}

fn check(key: &str, fact: &Value, facts: &serde_json::Map<String, Value>, seen: &FrameFacts, file: &str) {
    let what = format!("{file}: {key}");
    let list = || fact.as_array().unwrap_or_else(|| panic!("{what}"));
    match key {
        "items" => check_items(&seen.main, seen, list(), file),
        "child_items" => check_items(&seen.child, seen, list(), file),
        "tool_calls" => {
            for call in list().iter().filter(|call| is_call(call)) {
                let is = |tool: &&frame_facts::Tool| call["item_id"] == tool.call_id;
                assert_eq!(seen.main.tools.iter().filter(is).count(), 1, "{what}: {call}");
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
                // The answer reached its limit.
                "failed" if file == "exec-incomplete.ndjson" => EndReason::Completed,
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
            // The end of the parent's turn closes the copied history, which is in the parent's own file.
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
                let actual = errors(seen, retry);
                assert_eq!(actual.len(), expected.len(), "{what}");
                for (actual, error) in actual.iter().zip(expected) {
                    assert!(actual.contains(error["message_contains"].as_str().unwrap()), "{what}");
                }
            }
        }
        "usage" => assert_eq!(sum(&seen.run_usage), usage_fact(fact), "{what}"),
        "usage_total" => {
            if file == "rollout-exec-sigkill.jsonl" {
                // Killed between the two records of its last call, so the count in the fact is missing.
                assert_eq!(sum(&seen.turn_usage)["input_tokens"], 200, "{what}");
                assert_eq!(sum(&seen.run_usage)["input_tokens"], 200, "{what}: the sum of the calls");
                return;
            }
            assert_eq!(&sum(&seen.turn_usage), fact, "{what}: turns");
            assert_eq!(&sum(&seen.run_usage), fact, "{what}: runs");
        }
        "usage_total_after_turn_1" => assert_eq!(&sum(&seen.run_usage[..1]), fact, "{what}"),
        "usage_of_this_turn" => {
            // The stream of the second process only has the thread's total. Fed after the first process's stream, it yields the
            // turn's usage.
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
                let actual = seen.main.texts.iter().find(|(id, _)| *id == item["item_id"]).unwrap();
                assert_eq!(actual.1, item["text_so_far"], "{what}");
            }
        }
        "terminal_interactions" => {
            for stdin in list() {
                log(seen, LogLevel::Info, &format!("standard input: {}", stdin.as_str().unwrap()), &what);
            }
        }
        "session_meta_lines" => assert_eq!(seen.metas.len() as u64, fact.as_u64().unwrap(), "{what}"),
        "history_mode" => assert_eq!(&seen.metas[0]["payload"]["history_mode"], fact, "{what}"),
        // Calls that are not in the stream are not in the frames either.
        "invisible_calls" => {
            let calls = facts["items"].as_array().unwrap().iter().filter(|item| is_call(item)).count();
            assert_eq!(seen.main.tools.len(), calls, "{what}");
        }
        "child_usage_included" => {
            assert_eq!(fact, &json!(false), "{what}");
            assert_eq!(sum(&seen.run_usage), facts["usage"], "{what}");
        }
        "usage_really_spent" => assert!(seen.run_usage.is_empty(), "{what}"),
        // Notes on how the recording was made.
        "scripted_api" | "order" | "note" => {}
        key => panic!("{file}: no check for {key}"),
    }
}

fn approvals(seen: &FrameFacts, facts: &[Value], what: &str) {
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
fn a_rejected_command_of_a_session_file_never_ran() {
    let seen = codex(&bytes(REFUSED));
    assert!(matches!(&seen.main.tools[0].outcome, Some(Outcome::Failed(error)) if error.contains("rejected by user")));
}

/// If the stream contains the client's lines too, prompts and answers are taken from them.
#[test]
fn the_clients_own_lines_are_recognised() {
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
