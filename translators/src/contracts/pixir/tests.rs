//! The events for each frame, tested with constructed frames.

use super::*;
use crate::encode::{EncoderOptions, EventId, Events};
use crate::frame::*;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

const PROVIDER: Provider = Provider { name: "test", title: "Test" };

/// The events of a run with these frames; `true` marks those of a subagent.
fn events_of(bodies: Vec<(bool, Body)>) -> Vec<Value> {
    let id = Uuid::from_u128(1);
    let session = Arc::new(Session { id, name: "".into() });
    let stream = Arc::new(Stream { kind: StreamKind::Session, id, session, origin_run: None, provider: PROVIDER });
    let mut encoder = encode::new(&stream, &EncoderOptions::default()).unwrap();
    let mut out = Events::default();
    for (seq, (subagent, body)) in bodies.into_iter().enumerate() {
        let parent_tool_id = subagent.then(|| Uuid::from_u128(9));
        let frame =
            Frame { stream: stream.clone(), seq: seq as u64, timestamp_ms: 0, parent_tool_id, given_id: None, body };
        encoder.frame(&frame, &mut out);
    }
    out.iter().map(|event| serde_json::from_slice(event.payload).unwrap()).collect()
}

/// Type and data of each event of the main thread's frames.
fn encoded(bodies: Vec<Body>) -> Vec<(String, Value)> {
    let events = events_of(bodies.into_iter().map(|body| (false, body)).collect());
    events.into_iter().map(|event| (event["type"].as_str().unwrap().to_owned(), event["data"].clone())).collect()
}

/// The data of the events of a type.
fn data_of(kind: &str, bodies: Vec<Body>) -> Vec<Value> {
    encoded(bodies).into_iter().filter(|(one, _)| one == kind).map(|(_, data)| data).collect()
}

fn start(input: &str) -> Body {
    Body::SessionStarted { input: input.to_owned() }
}

fn end(reason: EndReason) -> Body {
    let (error_code, message) = match reason {
        EndReason::Completed => (None, None),
        _ => (Some(SharedStr::from("overloaded")), Some("too much".to_owned())),
    };
    Body::SessionEnded(Box::new(SessionEnded { reason, final_text: Some("final".to_owned()), error_code, message }))
}

fn user(text: &str, attachments: Vec<Attachment>) -> Body {
    Body::UserMessage(Box::new(UserMessage { message_id: "u".into(), text: text.to_owned(), attachments }))
}

fn text(message_id: &str, delta: &str) -> Body {
    Body::OutputTextDelta(BlockDelta { message_id: message_id.into(), block_index: 0, delta: delta.to_owned() })
}

fn tool(nth: u128) -> Tool {
    Tool { id: Uuid::from_u128(nth), call_id: format!("call_{nth}").into() }
}

fn proposed(nth: u128) -> Body {
    let args = crate::json::to_raw(&json!({"command": "ls"}));
    Body::ToolCallProposed(Box::new(ToolCall { tool: tool(nth), name: "bash".into(), kind: ToolKind::Shell, args }))
}

fn started(nth: u128) -> Body {
    let Body::ToolCallProposed(call) = proposed(nth) else { unreachable!() };
    Body::ToolStarted { call, timeout_ms: None }
}

fn ended(nth: u128, exit_code: i32) -> Body {
    Body::ToolEnded { tool: tool(nth), exit_code, duration_ms: 1, artifacts: None }
}

fn failed(nth: u128, error: &str) -> Body {
    Body::ToolFailed { tool: tool(nth), error: error.to_owned() }
}

fn asked(approval_id: &str, nth: Option<u128>) -> Body {
    Body::ApprovalRequested(Box::new(ApprovalRequested {
        approval_id: approval_id.into(),
        tool_id: nth.map(Uuid::from_u128),
        tool_name: "bash".into(),
        args: crate::json::empty_object(),
        reason: None,
    }))
}

fn answered(approval_id: &str, decision: Decision) -> Body {
    let answer = ApprovalResolved { approval_id: approval_id.into(), decision, by: None, reason: None, scope: None };
    Body::ApprovalResolved(Box::new(answer))
}

#[test]
fn a_prompt_is_emitted_once() {
    let attachment = || Attachment {
        kind: "image".into(),
        mime: None,
        artifact_id: Some("sha256:00".into()),
        name: Some("data:image/png;base64,AAAA".to_owned()),
        bytes: Some(3),
    };
    let resource = json!({"kind": "image", "hash": "sha256:00", "bytes": 3});
    for (bodies, expected) in [
        (vec![start("hi"), user("hi", vec![])], vec![json!({"text": "hi"})]),
        (vec![start("hi"), user("hi", vec![attachment()])], vec![json!({"text": "hi", "resources": [resource]})]),
        (vec![start("hi"), user("ho", vec![])], vec![json!({"text": "hi"}), json!({"text": "ho"})]),
        (vec![start("hi"), end(EndReason::Completed)], vec![json!({"text": "hi"})]),
        (vec![start(""), user("hi", vec![]), user("hi", vec![])], vec![json!({"text": "hi"}), json!({"text": "hi"})]),
        (vec![start("")], vec![]),
    ] {
        assert_eq!(data_of("user_message", bodies), expected);
    }
}

#[test]
fn a_turn_starts_with_the_prompt_and_status_thinking() {
    let kinds: Vec<String> = encoded(vec![start("hi"), text("m", "x")]).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["user_message", "status", "text_delta"]);
    assert_eq!(data_of("status", vec![start("")]), [json!({"status": "thinking"})]);
}

#[test]
fn a_message_is_completed_when_something_else_starts() {
    let texts = |bodies| data_of("assistant_message", bodies);
    let message = |text: &str| json!({"text": text});
    assert_eq!(texts(vec![start(""), text("m", "a"), text("m", "b")]), Vec::<Value>::new());
    assert_eq!(texts(vec![start(""), text("m", "a"), text("m", "b"), text("n", "c")]), [message("ab")]);
    assert_eq!(texts(vec![start(""), text("m", "a"), proposed(1)]), [message("a")]);
    assert_eq!(
        texts(vec![start(""), text("m", "a"), Body::TurnStarted { turn_index: 1, model: None }]),
        [message("a")]
    );
    assert_eq!(texts(vec![start(""), text("m", "a"), end(EndReason::Completed)]), [message("a"), message("final")]);
    assert_eq!(texts(vec![start(""), text("m", ""), proposed(1)]), Vec::<Value>::new());
}

#[test]
fn the_last_message_has_the_outcome_of_the_run() {
    let ended = |bodies: Vec<Body>, reason| {
        let bodies = bodies.into_iter().chain([end(reason)]).collect::<Vec<_>>();
        let mut events = encoded(bodies);
        let (kind, status) = events.pop().unwrap();
        assert_eq!(kind, "status");
        let messages: Vec<Value> =
            events.into_iter().filter(|(kind, _)| kind == "assistant_message").map(|(_, data)| data).collect();
        (messages, status)
    };
    let error = json!({"error_kind": "overloaded", "error_message": "too much"});
    let with = |more: Value| {
        let mut all = error.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let (messages, status) = ended(vec![start(""), text("m", "a")], EndReason::Failed);
    let metadata = with(json!({"partial": true, "terminal_status": "error"}));
    assert_eq!(messages, [json!({"text": "a", "metadata": metadata})]);
    assert_eq!(status, with(json!({"status": "error"})));
    let (messages, status) = ended(vec![start("")], EndReason::Failed);
    assert_eq!(messages, [json!({"text": "", "metadata": with(json!({"terminal_status": "error"}))})]);
    assert_eq!(status, with(json!({"status": "error"})));
    let (messages, status) = ended(vec![start("")], EndReason::Interrupted);
    let metadata = with(json!({"terminal_status": "interrupted"}));
    assert_eq!(messages, [json!({"text": "", "metadata": metadata})], "a run without a canonical event has no log");
    assert_eq!(status, with(json!({"status": "interrupted"})));
    let (messages, _) = ended(vec![start("hi")], EndReason::Interrupted);
    assert_eq!(messages, [] as [Value; 0]);
    let (messages, status) = ended(vec![start("")], EndReason::Completed);
    assert_eq!((messages, status), (vec![json!({"text": "final"})], json!({"status": "done"})));
    let (messages, _) = ended(vec![start(""), text("m", "a")], EndReason::Completed);
    assert_eq!(messages, [json!({"text": "a"}), json!({"text": "final"})], "a result that was not said as text");
}

#[test]
fn a_failed_result_has_the_error() {
    let result = |bodies| {
        let mut results = data_of("tool_result", bodies);
        assert_eq!(results.len(), 1);
        results.remove(0)
    };
    let chunk = |chunk: &str| Body::ToolStdout { tool: tool(1), chunk: chunk.to_owned() };
    let stderr = |chunk: &str| Body::ToolStderr { tool: tool(1), chunk: chunk.to_owned() };
    assert_eq!(
        result(vec![start(""), proposed(1), started(1), chunk("x"), ended(1, 0)]),
        json!({"call_id": "call_1", "ok": true, "output": "x"})
    );
    let error = |kind: &str, message: &str, details: Value| json!({"call_id": "call_1", "ok": false, "error": {"kind": kind, "message": message, "details": details}});
    assert_eq!(
        result(vec![start(""), started(1), chunk("x"), stderr("no"), ended(1, 2)]),
        error("tool_error", "no", json!({"exit_code": 2, "output": "xno"}))
    );
    assert_eq!(result(vec![start(""), started(1), failed(1, "no")]), error("tool_failed", "no", json!({})));
    let denied =
        vec![start(""), started(1), asked("a", Some(1)), answered("a", Decision::Rejected), failed(1, "denied")];
    assert_eq!(result(denied), error("permission_denied", "denied", json!({})));
    let why = json!({"call_id": "call_1", "tool": "bash", "reason": "run_ended"});
    assert_eq!(
        result(vec![start(""), started(1), failed(1, RUN_ENDED_FIRST), end(EndReason::Interrupted)]),
        error("orphan_tool_call", RUN_ENDED_FIRST, why.clone())
    );
    assert_eq!(
        result(vec![start(""), proposed(1), end(EndReason::Completed)]),
        error("orphan_tool_call", "the run ended before the call had a result", why)
    );
}

#[test]
fn orphans_are_closed_in_the_order_of_their_calls() {
    let bodies = [start("")].into_iter().chain((1..20).map(proposed)).chain([end(EndReason::Failed)]).collect();
    let ids: Vec<String> =
        data_of("tool_result", bodies).iter().map(|data| data["call_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, (1..20).map(|nth| format!("call_{nth}")).collect::<Vec<_>>());
}

#[test]
fn a_decision_refers_to_its_call_or_else_to_its_question() {
    let decided = |nth, decision| {
        data_of("permission_decision", vec![start(""), started(1), asked("a", nth), answered("a", decision)]).remove(0)
    };
    let expected = |call_id: &str, decision: &str| json!({"call_id": call_id, "decision": decision, "tool": "bash", "approval_id": "a"});
    assert_eq!(decided(Some(1), Decision::Approved), expected("call_1", "allow"));
    assert_eq!(decided(Some(1), Decision::Rejected), expected("call_1", "deny"));
    assert_eq!(decided(None, Decision::Approved), expected("a", "allow"));
    assert_eq!(decided(Some(7), Decision::Approved), expected("a", "allow"));
    for (decision, outcome) in [(Decision::TimedOut, "timed_out"), (Decision::Cancelled, "cancelled")] {
        let mut expected = expected("call_1", "deny");
        expected["outcome"] = json!(outcome);
        assert_eq!(decided(Some(1), decision), expected);
    }
}

#[test]
fn a_subagent_appears_only_through_its_events() {
    let begin = Body::SubagentStarted {
        subagent_id: "a/b".into(),
        tool_id: Some(Uuid::from_u128(9)),
        agent: Some("helper".into()),
        task: None,
        depth: 1,
    };
    let done = Body::SubagentEnded { subagent_id: "a/b".into(), status: "completed".into(), summary: None };
    let plan = Body::PlanUpdated { entries: Vec::new() };
    let opaque = Body::ReasoningCompleted {
        block: BlockText { message_id: "m".into(), block_index: 0, text: String::new() },
        opaque: Some(crate::json::empty_object()),
    };
    let events = events_of(vec![
        (false, start("")),
        (false, text("m", "one")),
        (false, begin),
        (true, text("m", "not mine")),
        (true, user("nor mine", vec![])),
        (true, plan),
        (true, opaque),
        (true, started(2)),
        (true, ended(2, 0)),
        (false, text("m", " two")),
        (false, done),
        (true, started(3)),
        (false, end(EndReason::Completed)),
    ]);
    let events: Vec<(&str, &Value)> =
        events.iter().map(|event| (event["type"].as_str().unwrap(), &event["data"])).collect();
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| *kind).collect();
    let expected = "status text_delta subagent_event tool_call tool_result text_delta subagent_event tool_call \
                    tool_result assistant_message assistant_message status";
    assert_eq!(kinds.join(" "), expected);
    let child = crate::sequence::uuid_of("a/b").to_string();
    assert_eq!(
        *events[2].1,
        json!({"subagent_id": "a/b", "child_session_id": child, "event": "started", "status": "running",
            "agent": "helper", "depth": 1})
    );
    assert_eq!((&events[3].1["subagent_id"], &events[4].1["subagent_id"]), (&json!("a/b"), &json!("a/b")));
    assert_eq!(events[6].1["status"], "completed");
    assert_eq!(events[7].1["subagent_id"], Uuid::from_u128(9).to_string(), "a subagent that is not known any more");
    assert_eq!(events[9].1["text"], "one two");
}

#[test]
fn an_opaque_item_keeps_its_text_and_its_model() {
    let item = serde_json::value::RawValue::from_string(r#"{"z":1.0,"a":"\ud83d","z":2}"#.to_owned()).unwrap();
    let block = || BlockText { message_id: "m".into(), block_index: 0, text: "seen".to_owned() };
    let bodies = vec![
        start(""),
        Body::TurnStarted { turn_index: 0, model: Some("gpt-5".into()) },
        Body::ReasoningCompleted { block: block(), opaque: None },
        Body::ReasoningCompleted { block: block(), opaque: Some(item.into()) },
    ];
    let id = Uuid::from_u128(1);
    let session = Arc::new(Session { id, name: "".into() });
    let stream = Arc::new(Stream { kind: StreamKind::Session, id, session, origin_run: None, provider: PROVIDER });
    let mut encoder = encode::new(&stream, &EncoderOptions::default()).unwrap();
    let mut out = Events::default();
    for body in bodies {
        let frame =
            Frame { stream: stream.clone(), seq: 0, timestamp_ms: 0, parent_tool_id: None, given_id: None, body };
        encoder.frame(&frame, &mut out);
    }
    let last = out.iter().last().unwrap();
    assert_eq!((last.kind, last.id), ("reasoning", &EventId::Number(0)));
    let data = r#""data":{"item":{"z":1.0,"a":"\ud83d","z":2},"model":"gpt-5"}}"#;
    assert!(std::str::from_utf8(last.payload).unwrap().ends_with(data));
    assert_eq!(out.iter().filter(|event| event.kind == "reasoning").count(), 1, "no item, no event");
}

#[test]
fn plans_use_the_documents_vocabulary() {
    let entry = |status: &str, priority: Option<&str>| PlanEntry {
        content: "x".to_owned(),
        status: status.into(),
        priority: priority.map(SharedStr::from),
    };
    let entries = vec![
        entry("pending", None),
        entry("in_progress", Some("high")),
        entry("completed", Some("low")),
        entry("cancelled", Some("urgent")),
        entry("paused", Some("medium")),
    ];
    let plan = data_of("plan", vec![start(""), Body::PlanUpdated { entries }]).remove(0);
    let words: Vec<String> = plan["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| format!("{}/{}", entry["status"].as_str().unwrap(), entry["priority"].as_str().unwrap()))
        .collect();
    assert_eq!(words, ["pending/medium", "in_progress/high", "completed/low", "completed/medium", "pending/medium"]);
}

#[test]
fn ephemeral_events() {
    let compacted = |trigger: &str| Body::HistoryCompacted {
        trigger: Some(trigger.into()),
        tokens_before: Some(9),
        tokens_after: None,
        summary: Some(String::new()),
    };
    let bodies = |trigger| vec![start(""), compacted(trigger)];
    assert_eq!(data_of("context_pressure", bodies("manual")), Vec::<Value>::new());
    let pressure = data_of("context_pressure", bodies("auto")).remove(0);
    assert_eq!((&pressure["tier"], &pressure["tokens_before"]), (&json!("recovery"), &json!(9)));
    assert_eq!(data_of("history_compaction", bodies("auto")), [json!({"trigger": "auto", "tokens_before": 9})]);
    let error = |retryable, attempt| {
        Body::ErrorReported(Box::new(ErrorReported {
            scope: ErrorScope::Provider,
            code: "overloaded".into(),
            message: "busy".to_owned(),
            retryable,
            attempt,
            max_attempts: None,
            http_status: None,
        }))
    };
    let changed = |word: &str| Body::StatusChanged { old_status: "x".into(), new_status: word.into(), reason: None };
    let gap = Body::GapDetected { first_seq: None, last_seq: None, reason: "lost".to_owned() };
    let statuses = data_of(
        "status",
        vec![
            start(""),
            error(true, Some(1)),
            error(true, None),
            error(false, Some(1)),
            changed("compacting"),
            changed("compacting"),
            changed(""),
            changed("done"),
            changed("error"),
            changed("interrupted"),
            gap,
        ],
    );
    assert_eq!(
        statuses,
        [
            json!({"status": "thinking"}),
            json!({"status": "retrying", "reason": "busy"}),
            json!({"status": "compacting"}),
            json!({"status": "gap", "reason": "lost"}),
        ]
    );
}

#[test]
fn an_invoked_skill_is_an_activation() {
    let skill = SkillEvent::Invoked {
        name: "greeter".into(),
        args: Some(crate::json::to_raw("Ada")),
        mode: SkillMode::Manual,
        effective_allowed_tools: None,
    };
    assert_eq!(
        data_of("skill_activation", vec![start(""), Body::Skill(Box::new(skill))]),
        [json!({"name": "greeter", "args": "Ada", "mode": "manual"})]
    );
}

#[test]
fn valid_session_ids() {
    let (longest, too_long) = ("a".repeat(MAX_SESSION_ID), "a".repeat(MAX_SESSION_ID + 1));
    for (text, expected) in [
        ("20260114T083000-0a1b2c", true),
        ("00000000-0000-5000-8000-000000000000", true),
        ("_x.y-z", true),
        ("\u{e9}t\u{e9}", true),
        (&longest, true),
        (&too_long, false),
        ("", false),
        (".hidden", false),
        ("-x", false),
        ("a/b", false),
        ("a b", false),
        ("a\u{a0}b", false),
        ("a\nb", false),
    ] {
        assert_eq!(is_session_id(text), expected, "{text:?}");
    }
}
