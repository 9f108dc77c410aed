//! `sse.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[Suite { contract: "sse.v1", clean: sse_v1, number: number_sse, cases: SSE_V1 }];

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
    // A counter that outgrows its digits increases numerically.
    numbered(
        |events| {
            events.iter_mut().zip(9995..).for_each(|(event, number)| event["event_id"] = json!(format!("evt_{number}")))
        },
        &[(6, "id.order"), (10, "id.order")],
    )
    .but(&[]),
    case(
        |events| {
            drop_kind(events, "tool_call_rejected");
            let at = at(events, "run_completed");
            events[at] = sse("one", "run_interrupted", &json!({"status": "interrupted"}));
        },
        &[(8, "pair.left_open")],
    )
    .but(&[]),
    case(|events| double(events, "tool_call_proposed"), &[(5, "pair.opened_twice")]),
    case(|events| drop_kind(events, "tool_call_proposed"), &[(4, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_call_approved"), &[(8, "pair.left_open")]),
    case(|events| drop_kind(events, "tool_call_rejected"), &[(8, "pair.left_open")]),
    case(|events| set(events, "tool_call_proposed", "/payload/tool_name", json!("")), &[(4, "tool_call.empty_name")]),
    case(|events| set(events, "tool_call_proposed", "/payload/args", json!({})), &[(4, "tool_call.empty_input")]),
    case(|events| set(events, "tool_result", "/payload/result", json!("")), &[(6, "tool_result.no_error_details")]),
];
