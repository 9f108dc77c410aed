//! `pixir.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[Suite { contract: "pixir.v1", clean: pixir_v1, number: number_pixir, cases: PIXIR_V1 }];

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
        // A log has no ephemeral events, and therefore no end.
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
    case(|events| events[2]["type"] = json!("turn_failed"), &[(3, "schema.type"), (5, "text.differs")])
        .but(&[(5, "text.differs")]),
    case(|events| set(events, "permission_decision", "/data/decision", json!("ask")), &[(7, "schema")]),
    numbered(|events| events[2]["seq"] = json!(0), &[(3, "schema"), (3, "sequence.repeat")]),
    numbered(|events| events[4]["seq"] = Value::Null, &[(5, "schema"), (6, "sequence.gap")]).but(&[(5, "schema")]),
    numbered(|events| events[0]["seq"] = json!(1), &[(1, "sequence.start"), (5, "sequence.repeat")])
        .but(&[(5, "sequence.repeat")]),
    numbered(|events| drop(events.remove(8)), &[(10, "sequence.gap")]).but(&[]),
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
    case(|events| drop_kind(events, "tool_result"), &[(0, "pair.left_open")]).but(&[]),
    case(|events| drop(events.remove(12)), &[(0, "end.missing")]),
    case(|events| events.insert(10, events[9].clone()), &[(11, "end.repeat")]),
    case(|events| drop(events.remove(10)), &[(11, "end.not_last"), (12, "end.repeat")]).but(&[(11, "end.not_last")]),
    case(
        |events| set(events, "user_message", "/data/resources/0/hash", json!("data:image/png;base64,AAAA")),
        &[(1, "resource.inline")],
    ),
    case(
        |events| set(events, "user_message", "/data/resources/0", json!({"kind": "image", "source": {"data": "aGk="}})),
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
