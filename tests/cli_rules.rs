//! Every rule of the contracts, seen through `framegate check`: each fires on a stream that breaks it, at the right event,
//! and alone; none fires on the clean twin.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod cli;

use cli::{ndjson, run};
use framegate_translators::warnings::Warning;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One way to break a stream: what is done to the clean one, and which findings (event number, rule) that gives.
struct Case {
    /// Done before the events are numbered.
    edit: fn(&mut Vec<Value>),
    /// Done afterwards.
    renumber: fn(&mut Vec<Value>),
    expected: &'static [(u64, &'static str)],
}

const fn case(edit: fn(&mut Vec<Value>), expected: &'static [(u64, &'static str)]) -> Case {
    Case { edit, renumber: |_| {}, expected }
}

const fn numbered(renumber: fn(&mut Vec<Value>), expected: &'static [(u64, &'static str)]) -> Case {
    Case { edit: |_| {}, renumber, expected }
}

/// The findings of a stream: the number of the event (0: of the stream), and the rule.
fn findings(contract: &str, events: &[Value]) -> Vec<(u64, String)> {
    let report = run(&["check", "--contract", contract, "--format", "json"], ndjson(events)).json();
    let list = report["findings"].as_array().unwrap();
    list.iter()
        .map(|finding| (finding["record"].as_u64().unwrap_or_default(), finding["rule"].as_str().unwrap().to_owned()))
        .collect()
}

/// Runs the cases; gives the rules that fired.
fn fire(contract: &str, clean: fn() -> Vec<Value>, number: fn(&mut [Value]), cases: &[Case]) -> BTreeSet<String> {
    let mut events = clean();
    number(&mut events);
    assert_eq!(findings(contract, &events), [], "{contract}: the clean stream");
    let (mut fired, mut wrong) = (BTreeSet::new(), Vec::new());
    for (nth, case) in cases.iter().enumerate() {
        let mut events = clean();
        (case.edit)(&mut events);
        number(&mut events);
        (case.renumber)(&mut events);
        let found = findings(contract, &events);
        let expected: Vec<(u64, String)> = case.expected.iter().map(|(at, rule)| (*at, (*rule).to_owned())).collect();
        if found != expected {
            wrong.push(format!("case {nth}: {found:?} instead of {expected:?}"));
        }
        fired.extend(found.into_iter().map(|(_, rule)| rule));
    }
    assert!(wrong.is_empty(), "{contract}: {wrong:#?}");
    fired
}

/// The place of the first event of a type.
fn at(events: &[Value], kind: &str) -> usize {
    let is = |event: &Value| event["type"] == kind || event["eventType"] == kind;
    events.iter().position(is).unwrap()
}

fn drop_kind(events: &mut Vec<Value>, kind: &str) {
    events.remove(at(events, kind));
}

fn double(events: &mut Vec<Value>, kind: &str) {
    let at = at(events, kind);
    events.insert(at, events[at].clone());
}

fn set(events: &mut [Value], kind: &str, pointer: &str, value: Value) {
    let at = at(events, kind);
    *events[at].pointer_mut(pointer).unwrap() = value;
}

const RUN: &str = "00000000-0000-5000-8000-00000000000a";
const OTHER: &str = "00000000-0000-5000-8000-00000000000b";
const TOOL: &str = "00000000-0000-5000-8000-00000000000c";

// ---- frames.v2

fn v2(kind: &str, stream: &str, body: &Value) -> Value {
    let mut frame = json!({
        "id": "", "session_id": stream, "stream_kind": kind, "stream_id": stream, "timestamp_ms": 1, "seq": 0,
    });
    frame.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    frame
}

fn frames_v2() -> Vec<Value> {
    let run = |body: Value| v2("session", RUN, &body);
    let mut events = vec![
        run(json!({"type": "session_started", "input": "hi"})),
        run(json!({"type": "provider_event", "provider": "codex", "status": "event", "event_name": null,
            "data": {}, "raw": null, "errors": [], "response_errors": []})),
        run(json!({"type": "user_message", "message_id": "m0", "text": "hi", "attachments": []})),
        run(json!({"type": "turn_started", "turn_index": 0, "model": null})),
        run(json!({"type": "reasoning_delta", "message_id": "m", "block_index": 0, "delta": "Hm"})),
        run(json!({"type": "reasoning_completed", "message_id": "m", "block_index": 0, "text": "Hm", "opaque": null})),
        run(json!({"type": "output_text_delta", "message_id": "m", "block_index": 1, "delta": "Hel"})),
        run(json!({"type": "output_text_delta", "message_id": "m", "block_index": 1, "delta": "lo"})),
        run(json!({"type": "output_text_completed", "message_id": "m", "block_index": 1, "text": "Hello"})),
        run(json!({"type": "tool_call_proposed", "tool_id": TOOL, "call_id": "c", "name": "Bash", "kind": "shell",
            "args": {"command": "ls"}})),
        run(json!({"type": "approval_requested", "approval_id": "a", "tool_id": TOOL, "tool_name": "Bash",
            "args": {}, "reason": null})),
        run(json!({"type": "approval_resolved", "approval_id": "a", "decision": "approved", "by": null,
            "reason": null, "scope": null})),
        run(json!({"type": "tool_started", "tool_id": TOOL, "call_id": "c", "name": "Bash", "kind": "shell",
            "args": {"command": "ls"}, "timeout_ms": null})),
        run(json!({"type": "tool_stdout", "tool_id": TOOL, "call_id": "c", "chunk": "x"})),
        run(json!({"type": "tool_ended", "tool_id": TOOL, "call_id": "c", "exit_code": 1, "duration_ms": 1,
            "artifacts": null})),
        run(json!({"type": "subagent_started", "subagent_id": "s", "tool_id": null, "agent": null, "task": null,
            "depth": 1})),
        run(json!({"type": "subagent_ended", "subagent_id": "s", "status": "completed", "summary": null})),
        run(json!({"type": "usage_reported", "scope": "turn", "model": null, "input_tokens": 1, "output_tokens": 0,
            "cache_read_tokens": null, "cache_creation_tokens": null, "reasoning_tokens": null, "cost_usd": null})),
        run(json!({"type": "turn_ended", "turn_index": 0, "stop_reason": null, "duration_ms": null})),
        run(json!({"type": "session_ended", "reason": "completed", "final_text": "Hello", "error_code": null,
            "message": null})),
    ];
    // Streams stand side by side: another run, and what was said outside any.
    let log = json!({"type": "log_emitted", "level": "info", "message": "x"});
    events.push(v2("thread", OTHER, &log));
    events.push(v2("session", OTHER, &json!({"type": "session_started", "input": ""})));
    events.push(v2("thread", OTHER, &log));
    events.push(v2(
        "session",
        OTHER,
        &json!({"type": "session_ended", "reason": "failed", "final_text": null, "error_code": null, "message": null}),
    ));
    events
}

/// Numbers frames within their streams; ids are the place in the file.
fn number_frames(events: &mut [Value]) {
    let mut next = std::collections::HashMap::new();
    for (at, event) in events.iter_mut().enumerate() {
        let stream =
            (event["stream_kind"].to_string(), event.get("stream_id").unwrap_or(&event["session_id"]).to_string());
        let seq: &mut u64 = next.entry(stream).or_default();
        event["seq"] = json!(*seq);
        *seq += 1;
        event["id"] = json!(format!("00000000-0000-5000-8000-{at:012}"));
    }
}

const FRAMES_V2: &[Case] = &[
    // Single events.
    numbered(|events| events[1] = json!(7), &[(2, "json"), (3, "sequence.gap")]),
    case(|events| events[2]["type"] = json!("nope"), &[(3, "schema.type")]),
    case(|events| set(events, "user_message", "/text", json!(1)), &[(3, "schema"), (3, "message.empty_content")]),
    case(|events| events[2]["extra"] = json!(1), &[(3, "schema")]),
    case(|events| events[2]["session_id"] = json!(OTHER), &[(3, "id.alias")]),
    // Numbers and ids.
    numbered(|events| events[0]["seq"] = json!(1), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(|events| drop(events.remove(2)), &[(3, "sequence.gap")]),
    numbered(|events| events[2]["seq"] = json!(1), &[(3, "sequence.repeat"), (4, "sequence.gap")]),
    numbered(
        |events| {
            let mut again = events[2].clone();
            again["id"] = json!("00000000-0000-5000-8000-00000000dddd");
            events.insert(3, again);
        },
        &[(4, "sequence.repeat")],
    ),
    numbered(|events| events[2]["id"] = events[1]["id"].clone(), &[(3, "id.repeat")]),
    // The two ends of a run.
    case(|events| drop_kind(events, "session_started"), &[(1, "start.missing")]),
    case(|events| double(events, "session_started"), &[(2, "start.repeat")]),
    case(|events| drop_kind(events, "session_ended"), &[(0, "end.missing")]),
    case(|events| double(events, "session_ended"), &[(21, "end.repeat")]),
    case(
        |events| {
            let message = events.remove(2);
            events.insert(19, message);
        },
        &[(20, "end.not_last")],
    ),
    case(
        |events| events[20] = v2("thread", OTHER, &json!({"type": "session_started", "input": ""})),
        &[(21, "start.forbidden")],
    ),
    // What is opened is closed.
    case(|events| double(events, "turn_started"), &[(5, "pair.opened_twice")]),
    case(|events| drop_kind(events, "turn_started"), &[(18, "pair.not_open")]),
    case(|events| drop_kind(events, "turn_ended"), &[(19, "pair.left_open")]),
    case(|events| double(events, "approval_requested"), &[(12, "pair.opened_twice")]),
    case(|events| drop_kind(events, "approval_requested"), &[(11, "pair.not_open")]),
    case(|events| drop_kind(events, "approval_resolved"), &[(19, "pair.left_open")]),
    case(|events| double(events, "tool_started"), &[(14, "pair.opened_twice")]),
    case(|events| drop_kind(events, "tool_started"), &[(13, "pair.not_open"), (14, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_ended"), &[(19, "pair.left_open")]),
    case(|events| double(events, "subagent_started"), &[(17, "pair.opened_twice")]),
    case(|events| drop_kind(events, "subagent_started"), &[(16, "pair.not_open")]),
    case(|events| drop_kind(events, "subagent_ended"), &[(19, "pair.left_open")]),
    case(|events| drop_kind(events, "reasoning_completed"), &[(19, "pair.left_open")]),
    case(|events| drop_kind(events, "output_text_completed"), &[(19, "pair.left_open")]),
    // Text is said once.
    case(|events| double(events, "output_text_delta"), &[(10, "text.differs")]),
    case(|events| drop_kind(events, "output_text_delta"), &[(8, "text.differs")]),
    case(|events| set(events, "reasoning_completed", "/text", json!("Hm.")), &[(6, "text.differs")]),
    // Records are kept.
    case(|events| set(events, "provider_event", "/data", Value::Null), &[(2, "provider_event.data")]),
    case(|events| set(events, "provider_event", "/status", json!("invalid_json")), &[(2, "provider_event.raw")]),
    // The five warnings.
    case(|events| set(events, "tool_call_proposed", "/name", json!("")), &[(10, "tool_call.empty_name")]),
    case(|events| set(events, "tool_call_proposed", "/args", json!({})), &[(10, "tool_call.empty_input")]),
    case(
        |events| {
            drop_kind(events, "tool_call_proposed");
            set(events, "tool_started", "/name", json!("unknown_tool"));
            set(events, "tool_started", "/args", json!({}));
        },
        &[(12, "tool_call.empty_name"), (12, "tool_call.empty_input")],
    ),
    case(|events| drop_kind(events, "tool_stdout"), &[(14, "tool_result.no_error_details")]),
    case(
        |events| {
            drop_kind(events, "tool_stdout");
            let at = at(events, "tool_ended");
            let failed = json!({"type": "tool_failed", "tool_id": TOOL, "call_id": "c", "error": ""});
            events[at] = v2("session", RUN, &failed);
        },
        &[(14, "tool_result.no_error_details")],
    ),
    case(|events| set(events, "user_message", "/text", json!("")), &[(3, "message.empty_content")]),
    case(
        |events| {
            events.retain(|event| event["type"] != "output_text_delta");
            set(events, "output_text_completed", "/text", json!(""));
        },
        &[(7, "message.empty_content")],
    ),
    case(|events| set(events, "usage_reported", "/input_tokens", json!(0)), &[(18, "metric.zero_tokens")]),
];

// ---- frames.v1

fn v1(body: &Value) -> Value {
    let mut frame = json!({"id": "", "session_id": RUN, "timestamp_ms": 1, "seq": 0});
    frame.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    frame
}

fn frames_v1() -> Vec<Value> {
    [
        json!({"type": "session_started", "input": "hi"}),
        json!({"type": "provider_event", "provider": "codex", "status": "done", "event_name": null, "data": null,
            "raw": "[DONE]", "errors": [], "response_errors": []}),
        json!({"type": "output_text_delta", "delta": "Hello"}),
        json!({"type": "tool_started", "tool_id": TOOL, "name": "bash", "args": {"command": "ls"}, "timeout_ms": null}),
        json!({"type": "tool_stderr", "tool_id": TOOL, "chunk": "no"}),
        json!({"type": "tool_ended", "tool_id": TOOL, "exit_code": 2, "duration_ms": 0, "artifacts": null}),
        json!({"type": "session_ended", "reason": "completed"}),
    ]
    .iter()
    .map(v1)
    .collect()
}

const FRAMES_V1: &[Case] = &[
    case(|events| events[2]["type"] = json!("log_emitted"), &[(3, "schema.type")]),
    case(|events| events[2]["delta"] = Value::Null, &[(3, "schema")]),
    numbered(|events| events[0]["seq"] = json!(3), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(|events| drop(events.remove(2)), &[(3, "sequence.gap")]),
    numbered(|events| events[3]["id"] = events[2]["id"].clone(), &[(4, "id.repeat")]),
    case(|events| drop_kind(events, "session_started"), &[(1, "start.missing")]),
    case(|events| double(events, "session_started"), &[(2, "start.repeat")]),
    case(|events| drop_kind(events, "session_ended"), &[(0, "end.missing")]),
    case(|events| double(events, "session_ended"), &[(8, "end.repeat")]),
    case(|events| events.push(v1(&json!({"type": "output_text_delta", "delta": "x"}))), &[(8, "end.not_last")]),
    case(|events| double(events, "tool_started"), &[(5, "pair.opened_twice")]),
    case(|events| drop_kind(events, "tool_started"), &[(4, "pair.not_open"), (5, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_ended"), &[(6, "pair.left_open")]),
    case(|events| events[1]["status"] = json!("event"), &[]),
    case(
        |events| {
            events[1]["status"] = json!("event");
            events[1]["raw"] = Value::Null;
        },
        &[(2, "provider_event.data")],
    ),
    case(|events| set(events, "tool_started", "/name", json!("unknown_tool")), &[(4, "tool_call.empty_name")]),
    case(|events| set(events, "tool_started", "/args", json!({})), &[(4, "tool_call.empty_input")]),
    case(|events| drop_kind(events, "tool_stderr"), &[(5, "tool_result.no_error_details")]),
];

// ---- sse.v1

fn sse(run: &str, kind: &str, payload: &Value) -> Value {
    json!({
        "event_id": "", "session_id": "sess", "run_id": run, "type": kind, "ts": "2026-02-14T21:03:00Z",
        "payload": payload,
    })
}

fn sse_v1() -> Vec<Value> {
    vec![
        sse("one", "run_started", &json!({"status": "running"})),
        sse("one", "assistant_delta", &json!({"text": "Hello"})),
        sse("two", "run_started", &json!({"status": "running"})),
        sse("one", "tool_call_proposed", &json!({"approval_id": "a", "tool_name": "Bash", "args": {"command": "ls"}})),
        sse("one", "tool_call_approved", &json!({"approval_id": "a"})),
        sse("one", "tool_result", &json!({"tool_name": "Bash", "success": false, "result": "no"})),
        sse("one", "tool_call_proposed", &json!({"approval_id": "b", "tool_name": "Bash", "args": {"command": "rm"}})),
        sse("one", "tool_call_rejected", &json!({"approval_id": "b", "reason": "user_rejected"})),
        sse("one", "run_completed", &json!({"status": "completed", "final_text": "Hello"})),
        sse("two", "run_failed", &json!({"status": "failed", "error_code": "E", "message": "no"})),
    ]
}

fn number_sse(events: &mut [Value]) {
    for (at, event) in events.iter_mut().enumerate() {
        event["event_id"] = json!(format!("evt_{at:04}"));
    }
}

const SSE_V1: &[Case] = &[
    case(|events| events[1]["type"] = json!("message"), &[(2, "schema.type")]),
    case(|events| events[1]["payload"] = json!({}), &[(2, "schema")]),
    case(|events| events[1]["ts"] = json!("yesterday"), &[(2, "schema")]),
    case(|events| events[8]["payload"]["status"] = json!("failed"), &[(9, "schema")]),
    case(|events| events[1]["session_id"] = json!("other"), &[(2, "id.changed")]),
    numbered(|events| events[1]["event_id"] = json!("evt_0000"), &[(2, "id.order")]),
    case(|events| drop(events.remove(0)), &[(1, "start.missing")]),
    case(|events| double(events, "run_started"), &[(2, "start.repeat")]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| events.push(sse("two", "run_interrupted", &json!({"status": "interrupted"}))), &[(11, "end.repeat")]),
    case(|events| events.push(sse("one", "assistant_delta", &json!({"text": "more"}))), &[(11, "end.not_last")]),
    case(|events| double(events, "tool_call_proposed"), &[(5, "pair.opened_twice")]),
    case(|events| drop_kind(events, "tool_call_proposed"), &[(4, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_call_approved"), &[(8, "pair.left_open")]),
    case(|events| drop_kind(events, "tool_call_rejected"), &[(8, "pair.left_open")]),
    case(|events| set(events, "tool_call_proposed", "/payload/tool_name", json!("")), &[(4, "tool_call.empty_name")]),
    case(|events| set(events, "tool_call_proposed", "/payload/args", json!({})), &[(4, "tool_call.empty_input")]),
    case(|events| set(events, "tool_result", "/payload/result", json!("")), &[(6, "tool_result.no_error_details")]),
];

// ---- agent-manager.v1

fn manager(kind: &str, data: &Value) -> Value {
    json!({
        "id": "", "runId": RUN, "sequence": 0, "eventType": kind, "timestamp": "2025-12-20T04:18:42.709878Z",
        "data": data,
    })
}

fn agent_manager_v1() -> Vec<Value> {
    let mut events = vec![
        manager("status", &json!({"oldStatus": "starting", "newStatus": "running"})),
        manager("message", &json!({"role": "user", "content": "hi"})),
        manager("tool_call", &json!({"toolName": "Bash", "input": {"command": "ls"}})),
        manager("tool_result", &json!({"toolName": "Bash", "toolCallId": "c", "error": "no", "success": false})),
        manager("metric", &json!({"inputTokens": 1, "outputTokens": 0, "totalCostUsd": 0.0})),
        manager("log", &json!({"level": "info", "message": "x"})),
        manager("error", &json!({"code": "rate_limit", "message": "x", "retryable": true})),
        manager("status", &json!({"oldStatus": "running", "newStatus": "complete"})),
        manager("status", &json!({"oldStatus": "running", "newStatus": "cancelled"})),
    ];
    events[8]["runId"] = json!(OTHER);
    events
}

fn number_manager(events: &mut [Value]) {
    let mut next = std::collections::HashMap::new();
    for (at, event) in events.iter_mut().enumerate() {
        let sequence: &mut u64 = next.entry(event["runId"].to_string()).or_default();
        event["sequence"] = json!(*sequence);
        *sequence += 1;
        event["id"] = json!(format!("00000000-0000-5000-8000-{at:012}"));
    }
}

const AGENT_MANAGER_V1: &[Case] = &[
    case(|events| events[1]["eventType"] = json!("chat"), &[(2, "schema.type")]),
    case(|events| set(events, "log", "/data/level", json!("loud")), &[(6, "schema")]),
    case(|events| events[1]["runId"] = json!("r"), &[(2, "schema"), (0, "end.missing")]),
    numbered(|events| events[0]["sequence"] = json!(1), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(|events| drop(events.remove(1)), &[(2, "sequence.gap")]),
    numbered(|events| events[1]["id"] = events[0]["id"].clone(), &[(2, "id.repeat")]),
    case(|events| drop(events.pop()), &[]),
    case(|events| drop(events.remove(7)), &[(0, "end.missing")]),
    case(|events| events.push(manager("log", &json!({"level": "info", "message": "x"}))), &[(10, "end.not_last")]),
    case(|events| drop_kind(events, "tool_call"), &[(3, "pair.not_open")]),
    case(|events| double(events, "tool_result"), &[(5, "pair.not_open")]),
    case(|events| events[7]["data"]["oldStatus"] = json!("paused"), &[(8, "status.chain")]),
    case(|events| set(events, "tool_call", "/data/input", json!({})), &[(3, "tool_call.empty_input")]),
    case(
        |events| {
            set(events, "tool_call", "/data/toolName", json!(""));
            set(events, "tool_result", "/data/toolName", json!(""));
        },
        &[(3, "tool_call.empty_name")],
    ),
    case(|events| set(events, "tool_result", "/data/error", json!("")), &[(4, "tool_result.no_error_details")]),
    case(|events| set(events, "message", "/data/content", json!("")), &[(2, "message.empty_content")]),
    case(|events| set(events, "metric", "/data/inputTokens", json!(0)), &[(5, "metric.zero_tokens")]),
];

// ---- pixir.v1

fn pixir(kind: &str, data: &Value) -> Value {
    json!({
        "id": "", "session_id": "one", "seq": null, "ts": "2026-01-14T08:30:00.250000Z", "type": kind, "data": data,
    })
}

fn pixir_v1() -> Vec<Value> {
    let mut events = vec![
        pixir("user_message", &json!({"text": "hi", "resources": [{"kind": "image", "hash": "sha256:00"}]})),
        pixir("status", &json!({"status": "thinking"})),
        pixir("text_delta", &json!({"chunk": "Hel"})),
        pixir("text_delta", &json!({"chunk": "lo"})),
        pixir("assistant_message", &json!({"text": "Hello"})),
        pixir("tool_call", &json!({"call_id": "c", "name": "bash", "args": {"command": "ls"}})),
        pixir("permission_decision", &json!({"call_id": "c", "decision": "allow"})),
        pixir("tool_result", &json!({"call_id": "c", "ok": false, "error": {"kind": "tool_error", "message": "no"}})),
        pixir("provider_usage", &json!({"usage_summary": {"input_tokens": 1, "output_tokens": 0}})),
        pixir("status", &json!({"status": "done"})),
        // The next turn of the same session.
        pixir("user_message", &json!({"text": "more"})),
        pixir("text_delta", &json!({"chunk": "So"})),
        pixir("status", &json!({"status": "interrupted"})),
        // A log has no ephemeral events, hence no end.
        pixir("user_message", &json!({"text": "hi"})),
        pixir("assistant_message", &json!({"text": "", "metadata": {"terminal_status": "error"}})),
    ];
    for event in &mut events[13..] {
        event["session_id"] = json!("two");
    }
    events
}

fn number_pixir(events: &mut [Value]) {
    let mut next = std::collections::HashMap::new();
    for (at, event) in events.iter_mut().enumerate() {
        event["id"] = json!(format!("{at:016x}"));
        if !["text_delta", "reasoning_delta", "status", "plan"].contains(&event["type"].as_str().unwrap()) {
            let seq: &mut u64 = next.entry(event["session_id"].to_string()).or_default();
            event["seq"] = json!(*seq);
            *seq += 1;
        }
    }
}

const PIXIR_V1: &[Case] = &[
    case(|events| events[2]["type"] = json!("turn_failed"), &[(3, "schema.type"), (5, "text.differs")]),
    case(|events| set(events, "permission_decision", "/data/decision", json!("ask")), &[(7, "schema")]),
    numbered(|events| events[2]["seq"] = json!(0), &[(3, "schema"), (3, "sequence.repeat")]),
    numbered(|events| events[4]["seq"] = Value::Null, &[(5, "schema"), (6, "sequence.gap")]),
    numbered(|events| events[0]["seq"] = json!(1), &[(1, "sequence.start"), (5, "sequence.repeat")]),
    numbered(|events| drop(events.remove(8)), &[(10, "sequence.gap")]),
    numbered(|events| events[3]["id"] = events[2]["id"].clone(), &[(4, "id.repeat")]),
    case(
        |events| {
            for event in &mut events[13..] {
                event["session_id"] = json!("../two");
            }
        },
        &[(14, "id.grammar")],
    ),
    case(|events| set(events, "text_delta", "/data/chunk", json!("Hal")), &[(5, "text.differs")]),
    case(|events| drop(events.remove(3)), &[(4, "text.differs")]),
    case(|events| drop_kind(events, "assistant_message"), &[(9, "text.not_kept")]),
    case(|events| drop_kind(events, "tool_call"), &[(7, "pair.not_open")]),
    case(|events| double(events, "tool_call"), &[(7, "pair.opened_twice")]),
    case(|events| double(events, "tool_result"), &[(9, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_result"), &[(0, "pair.left_open")]),
    case(|events| drop(events.remove(12)), &[(0, "end.missing")]),
    case(|events| events.insert(10, events[9].clone()), &[(11, "end.repeat")]),
    case(|events| drop(events.remove(10)), &[(11, "end.not_last"), (12, "end.repeat")]),
    case(
        |events| set(events, "user_message", "/data/resources/0/hash", json!("data:image/png;base64,AAAA")),
        &[(1, "resource.inline")],
    ),
    case(
        |events| set(events, "user_message", "/data/resources/0/hash", json!("A".repeat(8193))),
        &[(1, "resource.inline")],
    ),
    case(|events| set(events, "user_message", "/data/resources/0/hash", json!("A".repeat(8192))), &[]),
    case(|events| set(events, "tool_call", "/data/name", json!("unknown_tool")), &[(6, "tool_call.empty_name")]),
    case(|events| set(events, "tool_call", "/data/args", json!({})), &[(6, "tool_call.empty_input")]),
    case(|events| set(events, "tool_result", "/data/error/message", json!("")), &[(8, "tool_result.no_error_details")]),
    case(
        |events| {
            set(events, "tool_result", "/data/error", json!({"kind": "k", "message": "", "details": {"output": "x"}}))
        },
        &[],
    ),
    case(|events| set(events, "user_message", "/data/text", json!("")), &[]),
    case(|events| events[10]["data"]["text"] = json!(""), &[(11, "message.empty_content")]),
    case(|events| events[14]["data"]["metadata"] = json!({}), &[(15, "message.empty_content")]),
    case(
        |events| set(events, "provider_usage", "/data/usage_summary/input_tokens", json!(0)),
        &[(9, "metric.zero_tokens")],
    ),
];

// ---- hecate.v1

const HECATE_RUN: &str = "run_01JXMZH0000000000000000000";
const HECATE_OTHER: &str = "run_01JXMZH0000000000000000001";

fn hecate_of(run: &str, kind: &str, data: &Value) -> Value {
    json!({
        "schema_version": "1", "event_id": "", "run_id": run, "task_id": "task_01JXMZH0000000000000000000",
        "session_id": "chat_01JXMZH0000000000000000000", "sequence": 0, "occurred_at": "2026-05-03T10:23:45.123Z",
        "type": kind, "data": data,
    })
}

fn hecate(kind: &str, data: &Value) -> Value {
    hecate_of(HECATE_RUN, kind, data)
}

fn hecate_v1() -> Vec<Value> {
    let call = |more: Value| {
        let mut data = json!({"tool_call_id": "c", "tool_name": "bash", "kind": "shell"});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        data
    };
    let chunk = |stream: &str, data: &str, offset: u64| {
        hecate(
            "tool.shell.output_chunk",
            &json!({"tool_call_id": "c", "stream": stream, "data": data, "byte_offset": offset}),
        )
    };
    let lease = json!({"worker_id": "w", "lease_until": "2026-05-03T10:24:15.000Z"});
    let mut events = vec![
        hecate("run.queued", &json!({"kind": "agent_loop", "model": "m", "provider": "p"})),
        hecate("run.started", &lease),
        hecate("user.message", &json!({"turn_index": 0, "text": "hi"})),
        hecate("turn.started", &json!({"turn_index": 0})),
        hecate("turn.failed", &json!({"turn_index": 0, "code": "c", "message": "m", "will_retry": true})),
        hecate("assistant.thinking_delta", &json!({"turn_index": 0, "block_index": 0, "delta": "Hm"})),
        hecate("assistant.thinking_complete", &json!({"turn_index": 0, "block_index": 0, "text": "Hm"})),
        hecate("assistant.text_delta", &json!({"turn_index": 0, "block_index": 1, "delta": "Hel"})),
        hecate("assistant.text_delta", &json!({"turn_index": 0, "block_index": 1, "delta": "lo"})),
        hecate("assistant.text_complete", &json!({"turn_index": 0, "block_index": 1, "text": "Hello"})),
        // A runtime without deltas completes blocks all the same.
        hecate("assistant.text_complete", &json!({"turn_index": 0, "block_index": 2, "text": "Whole"})),
        hecate(
            "assistant.tool_call_proposed",
            &json!({"turn_index": 0, "tool_call_id": "c", "tool_name": "bash", "input": {"command": "ls"}}),
        ),
        hecate("approval.requested", &json!({"approval_id": "a", "kind": "bash"})),
        hecate("approval.resolved", &json!({"approval_id": "a", "decision": "approved"})),
        hecate("tool.invoked", &call(json!({}))),
        chunk("stdout", "ä\n", 0),
        chunk("stderr", "no", 0),
        chunk("stdout", "b", 3),
        hecate("tool.shell.exited", &json!({"tool_call_id": "c", "exit_code": 1})),
        hecate("tool.failed", &call(json!({"message": "no"}))),
        hecate("turn.completed", &json!({"turn_index": 0, "input_tokens": 1, "output_tokens": 0})),
        hecate("run.finished", &json!({"final_status": "completed", "duration_ms": 1})),
        hecate(
            "gap.events_pruned",
            &json!({"first_pruned_sequence": 0, "last_pruned_sequence": 1, "reason": "retention_window"}),
        ),
    ];
    events.push(hecate_of(HECATE_OTHER, "run.started", &lease));
    events.push(hecate_of(HECATE_OTHER, "run.cancelled", &json!({"by": "operator", "reason": ""})));
    events
}

fn number_hecate(events: &mut [Value]) {
    let mut next = std::collections::HashMap::new();
    for (at, event) in events.iter_mut().enumerate() {
        let sequence: &mut u64 = next.entry(event["run_id"].to_string()).or_default();
        event["sequence"] = json!(*sequence);
        *sequence += 1;
        event["event_id"] = json!(format!("evt_{at:026}"));
    }
}

/// Leaves what a server still has once the first `count` events of the run are pruned.
fn prune(events: &mut Vec<Value>, count: usize, marker: u64) {
    events.drain(..count);
    let last = count as u64 - 1;
    let data = json!({"first_pruned_sequence": 0, "last_pruned_sequence": last, "reason": "retention_window"});
    let mut gap = hecate("gap.events_pruned", &data);
    gap["sequence"] = json!(marker);
    gap["event_id"] = json!(format!("evt_{:026}", 0));
    events.insert(0, gap);
}

const HECATE_V1: &[Case] = &[
    case(|events| events[2]["type"] = json!("user.shout"), &[(3, "schema.type")]),
    case(|events| events[2]["data"] = Value::Null, &[(3, "schema"), (3, "message.empty_content")]),
    case(|events| events[2]["extra"] = json!(1), &[(3, "schema")]),
    case(|events| events[2]["data"]["extra"] = json!(1), &[]),
    case(|events| events[1]["data"]["lease_until"] = json!("soon"), &[(2, "schema")]),
    case(|events| events[2]["type"] = json!("run.claimed"), &[(3, "schema.type"), (3, "type.legacy")]),
    // Numbers and ids.
    numbered(|events| events[0]["sequence"] = json!(1), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(|events| drop(events.remove(2)), &[(3, "sequence.gap")]),
    numbered(|events| events[2]["event_id"] = events[1]["event_id"].clone(), &[(3, "id.repeat")]),
    numbered(|events| events[1]["event_id"] = json!("evt_0000000000000000000000000Z"), &[(3, "id.order")]),
    case(|events| events[2]["session_id"] = json!("chat_01JXMZH0000000000000000009"), &[(3, "id.changed")]),
    case(|events| drop(events[2].as_object_mut().unwrap().remove("task_id")), &[(3, "id.changed")]),
    case(|events| events[2]["run_id"] = json!("run-1"), &[(3, "schema"), (3, "start.missing"), (0, "end.missing")]),
    // What is kept may begin behind pruned events, whether the marker has the last number of them or the next one.
    numbered(|events| prune(events, 16, 15), &[]),
    numbered(|events| prune(events, 16, 400), &[]),
    numbered(|events| prune(events, 14, 0), &[]),
    numbered(
        |events| {
            prune(events, 16, 15);
            events.remove(2);
        },
        &[(3, "sequence.gap")],
    ),
    numbered(|events| drop(events.drain(..2)), &[(1, "sequence.start"), (1, "start.missing")]),
    // The two ends.
    case(|events| drop(events.drain(..2)), &[(1, "start.missing")]),
    case(|events| drop_kind(events, "run.queued"), &[]),
    case(|events| double(events, "run.queued"), &[(2, "start.repeat")]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| double(events, "run.finished"), &[(23, "end.repeat")]),
    case(|events| events.push(hecate("user.message", &json!({"turn_index": 0, "text": "x"}))), &[(26, "end.not_last")]),
    // Turns and texts.
    case(|events| drop_kind(events, "turn.started"), &[(4, "turn.not_open"), (20, "turn.not_open")]),
    case(|events| drop_kind(events, "turn.completed"), &[(21, "turn.left_open")]),
    case(|events| drop(events.remove(9)), &[(21, "turn.left_open")]),
    case(|events| drop_kind(events, "assistant.text_delta"), &[(9, "text.differs")]),
    case(|events| double(events, "assistant.text_delta"), &[(11, "text.differs")]),
    case(|events| set(events, "assistant.thinking_complete", "/data/text", json!("Hm.")), &[(7, "text.differs")]),
    // Tools.
    case(|events| double(events, "tool.invoked"), &[(16, "pair.opened_twice")]),
    case(
        |events| drop_kind(events, "tool.invoked"),
        &[
            (15, "pair.not_open"),
            (16, "pair.not_open"),
            (17, "pair.not_open"),
            (18, "pair.not_open"),
            (19, "pair.not_open"),
        ],
    ),
    case(|events| drop_kind(events, "tool.failed"), &[(21, "pair.left_open")]),
    case(|events| double(events, "tool.failed"), &[(21, "pair.not_open")]),
    case(
        |events| {
            let again = [events[14].clone(), events[19].clone()];
            events.splice(20..20, again);
        },
        &[(21, "tool.over")],
    ),
    case(
        |events| set(events, "tool.shell.output_chunk", "/data/byte_offset", json!(1)),
        &[(16, "output.offset"), (18, "output.offset")],
    ),
    case(|events| drop(events.remove(15)), &[(17, "output.offset")]),
    // Approvals.
    case(|events| double(events, "approval.requested"), &[(14, "pair.opened_twice")]),
    case(|events| drop_kind(events, "approval.requested"), &[(13, "pair.not_open")]),
    case(|events| drop_kind(events, "approval.resolved"), &[(21, "pair.left_open")]),
    // The five warnings.
    case(
        |events| set(events, "assistant.tool_call_proposed", "/data/tool_name", json!("")),
        &[(12, "tool_call.empty_name")],
    ),
    case(
        |events| {
            drop_kind(events, "assistant.tool_call_proposed");
            set(events, "tool.invoked", "/data/tool_name", json!("unknown_tool"));
        },
        &[(14, "tool_call.empty_name")],
    ),
    case(
        |events| set(events, "assistant.tool_call_proposed", "/data/input", json!({})),
        &[(12, "tool_call.empty_input")],
    ),
    case(
        |events| {
            events.retain(|event| event["type"] != "tool.shell.output_chunk");
            set(events, "tool.failed", "/data/message", json!(""));
        },
        &[(17, "tool_result.no_error_details")],
    ),
    case(|events| set(events, "user.message", "/data/text", json!("")), &[(3, "message.empty_content")]),
    case(|events| events[10]["data"]["text"] = json!(""), &[(11, "message.empty_content")]),
    case(|events| set(events, "turn.completed", "/data/input_tokens", json!(0)), &[(21, "metric.zero_tokens")]),
];

#[test]
fn every_rule_fires_where_it_is_broken_and_nowhere_else() {
    let mut fired = fire("frames.v2", frames_v2, number_frames, FRAMES_V2);
    fired.extend(fire("frames.v1", frames_v1, number_frames, FRAMES_V1));
    fired.extend(fire("sse.v1", sse_v1, number_sse, SSE_V1));
    fired.extend(fire("agent-manager.v1", agent_manager_v1, number_manager, AGENT_MANAGER_V1));
    fired.extend(fire("pixir.v1", pixir_v1, number_pixir, PIXIR_V1));
    fired.extend(fire("hecate.v1", hecate_v1, number_hecate, HECATE_V1));
    let missing: Vec<String> = rules().difference(&fired).cloned().collect();
    assert!(missing.is_empty(), "no case shows that these fire: {missing:?}");
}

#[test]
fn every_rule_of_a_contract_fires_in_it() {
    for (source, fired) in [
        (include_str!("../translators/src/contracts/frames/rules.rs"), expected(FRAMES_V2)),
        (include_str!("../translators/src/contracts/sse/rules.rs"), expected(SSE_V1)),
        (include_str!("../translators/src/contracts/agent_manager/rules.rs"), expected(AGENT_MANAGER_V1)),
        (include_str!("../translators/src/contracts/pixir/rules.rs"), expected(PIXIR_V1)),
        (include_str!("../translators/src/contracts/hecate/rules.rs"), expected(HECATE_V1)),
    ] {
        let missing: Vec<String> = rules_in(source).difference(&fired).cloned().collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

fn expected(cases: &[Case]) -> BTreeSet<String> {
    cases.iter().flat_map(|case| case.expected).map(|(_, rule)| (*rule).to_owned()).collect()
}

/// Every rule that the code can name, so that a new one without a case fails here.
fn rules() -> BTreeSet<String> {
    let mut rules: BTreeSet<String> = Warning::ALL.iter().map(|warning| warning.code().to_owned()).collect();
    for source in [
        include_str!("../translators/src/verify/parts.rs"),
        include_str!("../translators/src/verify/check.rs"),
        include_str!("../translators/src/contracts/frames/rules.rs"),
        include_str!("../translators/src/contracts/sse/rules.rs"),
        include_str!("../translators/src/contracts/agent_manager/rules.rs"),
        include_str!("../translators/src/contracts/pixir/rules.rs"),
        include_str!("../translators/src/contracts/hecate/rules.rs"),
    ] {
        rules.extend(rules_in(source));
    }
    rules
}

/// The rules named in a source: `group.rule` in quotes, and the two that have no group.
fn rules_in(source: &str) -> BTreeSet<String> {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    // Event types with dots are no rules; nor are the run's and the approvals' older ones.
    let is_type = |text: &str| {
        let hecate = framegate_translators::contracts::hecate::V1.schemas;
        text.starts_with("run.") || text.starts_with("approval.") || hecate.iter().any(|file| file.kind == text)
    };
    let is_rule = |text: &&str| {
        !is_type(text) && text.split_once('.').is_some_and(|(group, rule)| is_word(group) && is_word(rule))
    };
    let mut rules: BTreeSet<String> = source.split('"').skip(1).step_by(2).filter(is_rule).map(str::to_owned).collect();
    for alone in ["schema", "json"] {
        if source.contains(&format!("Finding::error(\"{alone}\"")) {
            rules.insert(alone.to_owned());
        }
    }
    rules
}
