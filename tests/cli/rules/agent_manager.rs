//! `agent-manager.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] =
    &[Suite { contract: "agent-manager.v1", clean: agent_manager_v1, number: number_manager, cases: AGENT_MANAGER_V1 }];

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
    // Forms of the contract's first writer.
    case(
        |events| events[4]["data"] = json!({"name": "tokens", "value": 1}),
        &[(5, "schema"), (5, "schema"), (5, "schema"), (5, "form.other")],
    )
    .but(&[(5, "form.other")]),
    case(
        |events| events[6]["data"] = json!({"limitType": "5_hour", "message": "x"}),
        &[(7, "schema"), (7, "schema"), (7, "form.other")],
    )
    .but(&[(7, "form.other")]),
    case(
        |events| events.insert(1, manager("artifact", &json!({"type": "file", "path": "a"}))),
        &[(2, "schema.type"), (2, "form.other")],
    )
    .but(&[(2, "form.other")]),
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
