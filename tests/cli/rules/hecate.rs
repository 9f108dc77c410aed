//! `hecate.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] =
    &[Suite { contract: "hecate.v1", clean: hecate_v1, number: number_hecate, cases: HECATE_V1 }];

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
        hecate(
            "error.upstream",
            &json!({"provider": "p", "message": "m", "retriable": true, "attempt": 1, "max_attempts": 2}),
        ),
        hecate("assistant.thinking_delta", &json!({"turn_index": 0, "block_index": 0, "delta": "Hm"})),
        hecate("assistant.thinking_complete", &json!({"turn_index": 0, "block_index": 0, "text": "Hm"})),
        hecate("assistant.text_delta", &json!({"turn_index": 0, "block_index": 1, "delta": "Hel"})),
        hecate("assistant.text_delta", &json!({"turn_index": 0, "block_index": 1, "delta": "lo"})),
        hecate("assistant.text_complete", &json!({"turn_index": 0, "block_index": 1, "text": "Hello"})),
        // A runtime without deltas completes blocks as well.
        hecate("assistant.text_complete", &json!({"turn_index": 0, "block_index": 2, "text": "Whole"})),
        hecate(
            "assistant.tool_call_proposed",
            &json!({"turn_index": 0, "tool_call_id": "c", "tool_name": "bash", "input": {"command": "ls"}}),
        ),
        hecate(
            "approval.requested",
            &json!({"approval_id": "a", "tool_call_id": "c", "kind": "bash", "summary": "ls"}),
        ),
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

/// Leaves what a server still has after the first `count` events of the run were pruned.
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
    case(|events| events[2]["type"] = json!("user.shout"), &[(3, "schema.type")]).but(&[]),
    case(|events| events[2]["type"] = json!("User.Shout"), &[(3, "schema.type")]),
    case(|events| events[2]["data"] = Value::Null, &[(3, "schema"), (3, "message.empty_content")]),
    case(|events| events[2]["extra"] = json!(1), &[(3, "schema")]).but(&[]),
    case(|events| events[2]["data"]["extra"] = json!(1), &[]),
    case(|events| events[1]["data"]["lease_until"] = json!("soon"), &[(2, "schema")]),
    case(|events| events[2]["type"] = json!("run.claimed"), &[(3, "schema.type"), (3, "type.legacy")])
        .but(&[(3, "type.legacy")]),
    // Numbers and ids.
    numbered(|events| events[0]["sequence"] = json!(1), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(
        |events| {
            events
                .iter_mut()
                .take(23)
                .for_each(|event| event["sequence"] = json!(event["sequence"].as_u64().unwrap() + 5))
        },
        &[(1, "sequence.start")],
    ),
    numbered(|events| drop(events.remove(2)), &[(3, "sequence.gap")]),
    numbered(|events| events[2]["event_id"] = events[1]["event_id"].clone(), &[(3, "id.repeat")]),
    numbered(|events| events[1]["event_id"] = json!("evt_0000000000000000000000000Z"), &[(3, "id.order")]),
    case(|events| events[2]["session_id"] = json!("chat_01JXMZH0000000000000000009"), &[(3, "id.changed")]),
    case(|events| drop(events[2].as_object_mut().unwrap().remove("task_id")), &[(3, "id.changed")]),
    case(|events| events[2]["run_id"] = json!("run-1"), &[(3, "schema"), (3, "start.missing"), (0, "end.missing")]),
    // A stream may begin after pruned events. The marker's number may be the last pruned one or the next one.
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
    case(|events| drop_kind(events, "turn.started"), &[(20, "turn.not_open")]),
    case(
        |events| {
            let again = json!({"turn_index": 0, "code": "c", "message": "m", "will_retry": true});
            events[4] = hecate("turn.failed", &again);
        },
        &[(21, "turn.not_open")],
    )
    .but(&[]),
    case(
        |events| {
            let failed = json!({"turn_index": 7, "code": "c", "message": "m", "will_retry": false});
            events[4] = hecate("turn.failed", &failed);
        },
        &[(5, "turn.not_open")],
    )
    .but(&[]),
    case(|events| double(events, "turn.completed"), &[(22, "turn.not_open")]),
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
    case(|events| set(events, "approval.requested", "/data/tool_call_id", json!("d")), &[(13, "approval.early")])
        .but(&[]),
    case(|events| drop(events[12]["data"].as_object_mut().unwrap().remove("summary")), &[(13, "schema")]),
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
        &[(12, "approval.early"), (14, "tool_call.empty_name")],
    )
    .but(&[(14, "tool_call.empty_name")]),
    case(
        |events| set(events, "assistant.tool_call_proposed", "/data/input", json!({})),
        &[(12, "tool_call.empty_input")],
    ),
    case(
        |events| {
            events.retain(|event| event["type"] != "tool.shell.output_chunk" && event["type"] != "tool.shell.exited");
            set(events, "tool.failed", "/data/message", json!(""));
        },
        &[(16, "tool_result.no_error_details")],
    ),
    case(
        |events| set(events, "run.finished", "/data/final_status", json!("failed")),
        &[(22, "schema"), (22, "end.status")],
    )
    .but(&[(22, "end.status")]),
    // The exit code of a command says what went wrong.
    case(
        |events| {
            events.retain(|event| event["type"] != "tool.shell.output_chunk");
            set(events, "tool.failed", "/data/message", json!(""));
        },
        &[],
    ),
    case(|events| set(events, "user.message", "/data/text", json!("")), &[(3, "message.empty_content")]),
    case(|events| events[10]["data"]["text"] = json!(""), &[(11, "message.empty_content")]),
    case(|events| set(events, "turn.completed", "/data/input_tokens", json!(0)), &[(21, "metric.zero_tokens")]),
];
