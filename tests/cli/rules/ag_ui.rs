//! `ag-ui.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[Suite { contract: "ag-ui.v1", clean: ag_ui_v1, number: number_ag_ui, cases: AG_UI_V1 }];

fn event(kind: &str, fields: &Value) -> Value {
    let mut event = json!({"type": kind, "timestamp": 1, "metadata": {"runId": RUN, "seq": 0}});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn message(kind: &str, id: &str) -> Value {
    event(kind, &json!({"messageId": id}))
}

const TEXT: &str = "00000000-0000-5000-8000-000000000001";
const THOUGHT: &str = "00000000-0000-5000-8000-000000000002";
const RESULT: &str = "00000000-0000-5000-8000-000000000003";
const LIVE: &str = "00000000-0000-5000-8000-000000000004";
const HELPER: &str = "00000000-0000-5000-8000-000000000005";

fn custom(name: &str, value: &Value) -> Value {
    event("CUSTOM", &json!({"name": name, "value": value}))
}

fn ag_ui_v1() -> Vec<Value> {
    let text = |kind: &str| message(kind, TEXT);
    let thought = |kind: &str| message(kind, THOUGHT);
    let call = |kind: &str| event(kind, &json!({"toolCallId": TOOL}));
    let piece = json!({"stream": "stdout", "text": "a"});
    let with = |mut event: Value, fields: Value| {
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event
    };
    vec![
        event("RUN_STARTED", &json!({"threadId": OTHER, "runId": RUN, "protocolVersion": "1.0"})),
        event("STEP_STARTED", &json!({"stepName": "turn-0"})),
        thought("REASONING_START"),
        with(thought("REASONING_MESSAGE_START"), json!({"role": "reasoning"})),
        with(thought("REASONING_MESSAGE_CONTENT"), json!({"delta": "so"})),
        thought("REASONING_MESSAGE_END"),
        thought("REASONING_END"),
        with(text("TEXT_MESSAGE_START"), json!({"role": "assistant"})),
        with(text("TEXT_MESSAGE_CONTENT"), json!({"delta": "Hello"})),
        text("TEXT_MESSAGE_END"),
        with(call("TOOL_CALL_START"), json!({"toolCallName": "Bash", "parentMessageId": TEXT})),
        with(call("TOOL_CALL_ARGS"), json!({"delta": "{\"command\":\"ls\"}"})),
        call("TOOL_CALL_END"),
        custom("approval_requested", &json!({"approvalId": "q", "toolCallId": TOOL, "toolName": "Bash", "args": {}})),
        custom("approval_resolved", &json!({"approvalId": "q", "decision": "approved"})),
        event("SUBAGENT_STARTED", &json!({"subagentRunId": HELPER, "name": "explorer", "parentToolCallId": TOOL})),
        with(
            message("ACTIVITY_SNAPSHOT", LIVE),
            json!({"activityType": "TOOL_OUTPUT", "content": {"toolCallId": TOOL, "output": []}}),
        ),
        with(
            message("ACTIVITY_DELTA", LIVE),
            json!({"activityType": "TOOL_OUTPUT", "patch": [{"op": "add", "path": "/output/-", "value": piece}]}),
        ),
        event("SUBAGENT_FINISHED", &json!({"subagentRunId": HELPER, "outcome": {"type": "success"}})),
        event("TOOL_CALL_RESULT", &json!({"messageId": RESULT, "toolCallId": TOOL, "content": "a", "role": "tool"})),
        event("STEP_FINISHED", &json!({"stepName": "turn-0"})),
        event("RUN_FINISHED", &json!({"threadId": OTHER, "runId": RUN, "outcome": {"type": "success"}})),
    ]
}

fn number_ag_ui(events: &mut [Value]) {
    for (seq, event) in events.iter_mut().enumerate() {
        event["metadata"]["seq"] = json!(seq);
    }
}

fn shift(events: &mut [Value], from: usize, by: i64) {
    for event in events.iter_mut().skip(from) {
        event["metadata"]["seq"] = json!(event["metadata"]["seq"].as_i64().unwrap() + by);
    }
}

const AG_UI_V1: &[Case] = &[
    case(|events| events[8]["type"] = json!("TEXT_MESSAGE"), &[(9, "schema.type")]),
    case(|events| events[8]["delta"] = json!(null), &[(9, "schema")]),
    case(|events| events[10]["parentMessageId"] = json!(null), &[(11, "schema")]),
    case(|events| events[8]["timestamp"] = json!(1.5), &[(9, "schema")]),
    case(|events| events[13]["value"] = json!({"approvalId": "q"}), &[(14, "custom.incomplete")]).but(&[]),
    numbered(|events| shift(events, 0, 1), &[(1, "sequence.start")]).but(&[]),
    numbered(|events| shift(events, 3, 1), &[(4, "sequence.gap")]).but(&[]),
    numbered(|events| shift(events, 3, -1), &[(4, "sequence.repeat")]).but(&[]),
    case(|events| drop(events.remove(0)), &[(1, "start.missing")]),
    case(|events| double(events, "RUN_STARTED"), &[(2, "start.repeat")]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| events.push(custom("notice", &json!({"level": "info", "message": "x"}))), &[(23, "end.not_last")]),
    case(|events| events.push(event("RUN_ERROR", &json!({"message": "x"}))), &[(23, "end.not_last")]).but(&[]),
    case(|events| set(events, "RUN_FINISHED", "/runId", json!(OTHER)), &[(22, "end.other_run")]),
    case(|events| double(events, "TEXT_MESSAGE_START"), &[(9, "pair.opened_twice")]),
    case(|events| double(events, "REASONING_START"), &[(4, "pair.opened_twice")]),
    case(|events| double(events, "REASONING_MESSAGE_START"), &[(5, "pair.opened_twice")]),
    case(|events| double(events, "TOOL_CALL_START"), &[(12, "pair.opened_twice")]),
    case(|events| double(events, "STEP_STARTED"), &[(3, "pair.opened_twice")]),
    case(|events| double(events, "SUBAGENT_STARTED"), &[(17, "pair.opened_twice")]),
    case(|events| drop_kind(events, "TEXT_MESSAGE_START"), &[(8, "pair.not_open"), (9, "pair.not_open")]),
    case(|events| drop_kind(events, "REASONING_START"), &[(6, "pair.not_open")]),
    case(|events| drop_kind(events, "REASONING_MESSAGE_START"), &[(4, "pair.not_open"), (5, "pair.not_open")]),
    case(|events| drop_kind(events, "STEP_STARTED"), &[(20, "pair.not_open")]),
    case(|events| drop_kind(events, "SUBAGENT_STARTED"), &[(18, "pair.not_open")]),
    case(
        |events| drop_kind(events, "TOOL_CALL_START"),
        &[(11, "pair.not_open"), (12, "pair.not_open"), (19, "call.unknown")],
    ),
    case(|events| drop_kind(events, "TEXT_MESSAGE_END"), &[(21, "pair.left_open")]),
    case(|events| drop_kind(events, "REASONING_MESSAGE_END"), &[(21, "pair.left_open")]),
    case(|events| drop_kind(events, "REASONING_END"), &[(21, "pair.left_open")]),
    case(|events| drop_kind(events, "STEP_FINISHED"), &[(21, "pair.left_open")]),
    case(|events| drop_kind(events, "SUBAGENT_FINISHED"), &[(21, "pair.left_open")]),
    case(|events| drop_kind(events, "TOOL_CALL_END"), &[(19, "call.incomplete"), (21, "pair.left_open")]),
    // A failed run may leave everything open.
    case(
        |events| {
            drop_kind(events, "TEXT_MESSAGE_END");
            events.pop();
            events.push(event("RUN_ERROR", &json!({"message": "x"})));
        },
        &[(21, "pair.left_open")],
    )
    .but(&[]),
    case(
        |events| {
            let again = events[7..10].to_vec();
            events.splice(10..10, again);
        },
        &[(11, "id.reused")],
    ),
    case(|events| events[8]["subagentRunId"] = json!(HELPER), &[(9, "owner.differs")]),
    case(|events| events[4]["subagentRunId"] = json!(HELPER), &[(5, "owner.differs")]),
    case(|events| events[10]["subagentRunId"] = json!(HELPER), &[(11, "owner.differs")]),
    case(|events| events[17]["subagentRunId"] = json!(HELPER), &[(18, "owner.differs")]),
    case(
        |events| {
            let again = [events[15].clone(), events[18].clone()];
            events.splice(19..19, again);
        },
        &[(20, "subagent.repeat")],
    ),
    case(|events| events[15]["parentSubagentRunId"] = json!(OTHER), &[(16, "subagent.unknown_parent")]),
    case(
        |events| set(events, "TOOL_CALL_RESULT", "/toolCallId", json!(OTHER)),
        &[(20, "call.unknown"), (22, "call.left_open")],
    )
    .but(&[(20, "call.unknown")]),
    case(|events| double(events, "TOOL_CALL_RESULT"), &[(21, "call.over")]),
    case(|events| drop_kind(events, "TOOL_CALL_RESULT"), &[(21, "call.left_open")]).but(&[]),
    case(
        |events| {
            drop_kind(events, "TOOL_CALL_RESULT");
            events[20]["outcome"]["pendingToolCallIds"] = json!([TOOL]);
        },
        &[],
    ),
    case(|events| drop_kind(events, "ACTIVITY_SNAPSHOT"), &[(17, "activity.unknown")]),
    case(|events| events[14]["value"]["approvalId"] = json!("p"), &[(15, "approval.unknown")]).but(&[]),
    case(|events| set(events, "TOOL_CALL_START", "/toolCallName", json!("")), &[(11, "tool_call.empty_name")]),
    case(|events| set(events, "TOOL_CALL_ARGS", "/delta", json!("{}")), &[(13, "tool_call.empty_input")]),
    case(
        |events| {
            set(events, "TOOL_CALL_RESULT", "/content", json!(""));
            events[19]["metadata"]["failure"] = json!("failed");
        },
        &[(20, "tool_result.no_error_details")],
    ),
];
