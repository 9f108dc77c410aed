//! `claude-code.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] =
    &[Suite { contract: "claude-code.v1", clean: claude_code_v1, number: |_| {}, cases: CLAUDE_CODE_V1 }];

const TIME: &str = "2026-02-14T21:03:00.999Z";

fn with(mut base: Value, fields: &Value) -> Value {
    base.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    base
}

fn envelope(kind: &str) -> Value {
    json!({"type": kind, "session_id": RUN, "uuid": OTHER})
}

fn tokens() -> Value {
    json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0})
}

fn message(content: &Value) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
        "stop_reason": null, "stop_sequence": null, "usage": tokens()})
}

fn assistant(block: &Value) -> Value {
    let fields = json!({"message": message(&json!([block])), "parent_tool_use_id": null, "timestamp": TIME});
    with(envelope("assistant"), &fields)
}

fn result_of(call: &str, fields: &Value) -> Value {
    let block = with(json!({"type": "tool_result", "tool_use_id": call, "content": "a"}), fields);
    let message = json!({"role": "user", "content": [block]});
    with(envelope("user"), &json!({"message": message, "parent_tool_use_id": null, "timestamp": TIME}))
}

fn stream(event: &Value) -> Value {
    with(envelope("stream_event"), &json!({"event": event, "api_message_id": "msg_1", "parent_tool_use_id": null}))
}

fn start(index: u64, block: &Value) -> Value {
    stream(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn delta(index: u64, delta: &Value) -> Value {
    stream(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn stop(index: u64) -> Value {
    stream(&json!({"type": "content_block_stop", "index": index}))
}

fn init() -> Value {
    let fields = json!({"subtype": "init", "cwd": "", "model": "m", "permissionMode": "default", "apiKeySource": "none",
        "claude_code_version": "2.1.330", "output_style": "default", "tools": [], "mcp_servers": [],
        "slash_commands": [], "agents": [], "skills": [], "plugins": []});
    with(envelope("system"), &fields)
}

fn claude_code_v1() -> Vec<Value> {
    let call = json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}});
    let question =
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "c"});
    vec![
        init(),
        stream(&json!({"type": "message_start", "message": message(&json!([]))})),
        start(0, &json!({"type": "text", "text": ""})),
        delta(0, &json!({"type": "text_delta", "text": "Hel"})),
        delta(0, &json!({"type": "text_delta", "text": "lo"})),
        assistant(&json!({"type": "text", "text": "Hello"})),
        stop(0),
        start(1, &json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {}})),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"command\":\"ls\"}"})),
        assistant(&call),
        stop(1),
        json!({"type": "control_request", "request_id": "q", "request": question}),
        json!({"type": "control_cancel_request", "request_id": "q"}),
        result_of("c", &json!({})),
        stream(
            &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": tokens()}),
        ),
        stream(&json!({"type": "message_stop"})),
        with(
            envelope("result"),
            &json!({"subtype": "success", "is_error": false, "result": "Hello", "duration_ms": 1, "duration_api_ms": 0,
                "num_turns": 2, "stop_reason": "end_turn", "total_cost_usd": 0.5, "usage": tokens(), "modelUsage": {},
                "permission_denials": [], "terminal_reason": "completed"}),
        ),
    ]
}

const CLAUDE_CODE_V1: &[Case] = &[
    case(|events| events[5]["type"] = json!("message"), &[(6, "schema.type")]),
    case(|events| events[5]["message"]["content"] = json!(null), &[(6, "schema")]),
    case(|events| events[5]["mood"] = json!(1), &[(6, "schema")]).but(&[]),
    case(|events| drop(events.remove(0)), &[(1, "init.missing")]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| events.push(result_of("c", &json!({}))), &[(18, "end.not_last"), (18, "call.over")]),
    case(|events| events.insert(11, assistant(&events[9]["message"]["content"][0].clone())), &[(12, "call.repeat")]),
    case(|events| events.insert(11, result_of("d", &json!({}))), &[(12, "call.unknown")]),
    case(|events| events.insert(14, result_of("c", &json!({}))), &[(15, "call.over")]),
    case(|events| events.insert(1, events[1].clone()), &[(3, "message.opened_twice")]),
    case(|events| drop(events.remove(1)), &[(2, "message.not_open")]),
    case(|events| drop(events.remove(15)), &[(16, "message.left_open")]),
    case(
        |events| {
            for at in [7, 8, 10] {
                events[at]["event"]["index"] = json!(2);
            }
        },
        &[(8, "block.order")],
    ),
    case(|events| drop(events.remove(7)), &[(8, "block.not_open"), (10, "block.not_open")]),
    case(|events| drop(events.remove(10)), &[(15, "block.left_open")]),
    case(|events| set(events, "assistant", "/message/content/0/text", json!("Hell")), &[(6, "block.differs")]),
    case(|events| double(events, "control_request"), &[(13, "question.repeat")]),
    case(|events| drop_kind(events, "control_request"), &[(12, "question.unknown")]),
    case(|events| drop_kind(events, "control_cancel_request"), &[(16, "question.left_open")]).but(&[]),
    case(|events| events[9]["message"]["content"][0]["name"] = json!(""), &[(10, "tool_call.empty_name")]),
    case(|events| events[9]["message"]["content"][0]["input"] = json!({}), &[(10, "tool_call.empty_input")]),
    case(
        |events| events[13] = result_of("c", &json!({"content": "", "is_error": true})),
        &[(14, "tool_result.no_error_details")],
    ),
];
