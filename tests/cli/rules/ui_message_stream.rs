//! `ui-message-stream.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[Suite {
    contract: "ui-message-stream.v1",
    clean: ui_message_stream_v1,
    number: number_ui_message_stream,
    cases: UI_MESSAGE_STREAM_V1,
}];

fn chunk(kind: &str, fields: &Value) -> Value {
    let mut chunk = json!({"type": kind, "runId": RUN, "seq": 0});
    chunk.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    chunk
}

fn tool(kind: &str, fields: &Value) -> Value {
    let mut chunk = chunk(kind, &json!({"toolCallId": "c", "dynamic": true, "providerExecuted": true}));
    chunk.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    chunk
}

fn output(fields: &Value) -> Value {
    tool("tool-output-available", &json!({"output": fields}))
}

fn ui_message_stream_v1() -> Vec<Value> {
    let input = json!({"toolName": "Bash", "input": {"command": "ls"}, "toolMetadata": {"kind": "shell"}});
    vec![
        chunk("start", &json!({"messageId": RUN, "messageMetadata": {"runId": RUN}})),
        chunk("start-step", &json!({})),
        chunk("reasoning-start", &json!({"id": "reasoning-0"})),
        chunk("reasoning-delta", &json!({"id": "reasoning-0", "delta": "so"})),
        chunk("reasoning-end", &json!({"id": "reasoning-0"})),
        chunk("text-start", &json!({"id": "text-1"})),
        chunk("text-delta", &json!({"id": "text-1", "delta": "Hello"})),
        chunk("text-end", &json!({"id": "text-1"})),
        tool("tool-input-start", &json!({"toolName": "Bash"})),
        chunk("tool-input-delta", &json!({"toolCallId": "c", "inputTextDelta": "{"})),
        tool("tool-input-available", &input),
        chunk("tool-approval-request", &json!({"approvalId": "q", "toolCallId": "c"})),
        chunk("tool-approval-response", &json!({"approvalId": "q", "approved": true})),
        output(&json!({"stdout": "a", "stderr": ""})),
        chunk("finish-step", &json!({})),
        chunk("finish", &json!({"finishReason": "stop"})),
    ]
}

fn number_ui_message_stream(events: &mut [Value]) {
    for (seq, event) in events.iter_mut().enumerate() {
        event["seq"] = json!(seq);
    }
}

const UI_MESSAGE_STREAM_V1: &[Case] = &[
    case(|events| events[6]["type"] = json!("text"), &[(7, "schema.type")]),
    case(|events| events[6]["delta"] = json!(null), &[(7, "schema")]),
    case(|events| events[10]["title"] = json!(null), &[(11, "schema")]),
    case(|events| events[10]["dynamic"] = json!(false), &[(11, "call.of_client")]).but(&[]),
    case(
        |events| {
            let data = json!({"level": "info", "message": "x"});
            events.insert(5, chunk("data-notice", &json!({"data": data, "transient": false})));
        },
        &[(6, "notice.kept")],
    )
    .but(&[]),
    numbered(
        |events| events.iter_mut().for_each(|event| event["seq"] = json!(event["seq"].as_u64().unwrap() + 1)),
        &[(1, "sequence.start")],
    )
    .but(&[]),
    numbered(
        |events| events.iter_mut().skip(3).for_each(|event| event["seq"] = json!(event["seq"].as_u64().unwrap() + 1)),
        &[(4, "sequence.gap")],
    )
    .but(&[]),
    numbered(
        |events| events.iter_mut().skip(3).for_each(|event| event["seq"] = json!(event["seq"].as_u64().unwrap() - 1)),
        &[(4, "sequence.repeat")],
    )
    .but(&[]),
    case(|events| drop(events.remove(0)), &[(1, "start.missing")]),
    case(|events| double(events, "start"), &[(2, "start.repeat")]),
    case(
        |events| {
            double(events, "start");
            events[1]["messageId"] = json!(OTHER);
        },
        &[(2, "start.repeat")],
    ),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| events.push(chunk("abort", &json!({}))), &[(17, "end.not_last")]),
    case(|events| double(events, "text-start"), &[(7, "pair.opened_twice")]),
    case(|events| double(events, "reasoning-start"), &[(4, "pair.opened_twice")]),
    case(|events| drop_kind(events, "text-start"), &[(6, "pair.not_open"), (7, "pair.not_open")]),
    case(|events| drop_kind(events, "reasoning-start"), &[(3, "pair.not_open"), (4, "pair.not_open")]),
    case(|events| drop_kind(events, "text-end"), &[(15, "pair.left_open")]),
    case(|events| drop_kind(events, "reasoning-end"), &[(15, "pair.left_open")]),
    case(|events| double(events, "start-step"), &[(3, "step.opened_twice")]),
    case(|events| drop_kind(events, "start-step"), &[(14, "step.not_open")]),
    case(|events| drop_kind(events, "finish-step"), &[(15, "step.left_open")]),
    case(|events| drop_kind(events, "tool-input-start"), &[(9, "input.not_started")]),
    case(
        |events| {
            drop_kind(events, "tool-input-start");
            drop_kind(events, "tool-input-delta");
            drop_kind(events, "tool-input-available");
        },
        &[(9, "call.unknown"), (11, "call.unknown")],
    ),
    case(|events| double(events, "tool-output-available"), &[(15, "call.over")]),
    case(|events| drop_kind(events, "tool-output-available"), &[(15, "call.left_open")]).but(&[]),
    case(
        |events| set(events, "tool-output-available", "/toolCallId", json!("d")),
        &[(14, "call.unknown"), (16, "call.left_open")],
    )
    .but(&[(14, "call.unknown")]),
    case(|events| drop_kind(events, "tool-approval-request"), &[(12, "approval.unknown")]),
    case(|events| set(events, "tool-input-available", "/toolName", json!("")), &[(11, "tool_call.empty_name")]),
    case(|events| set(events, "tool-input-available", "/input", json!({})), &[(11, "tool_call.empty_input")]),
    case(
        |events| {
            let at = at(events, "tool-output-available");
            events[at] = tool("tool-output-error", &json!({"errorText": ""}));
        },
        &[(14, "schema"), (14, "tool_result.no_error_details")],
    )
    .but(&[(14, "tool_result.no_error_details")]),
];
