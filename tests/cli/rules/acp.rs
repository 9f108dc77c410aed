//! `acp.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[Suite { contract: "acp.v1", clean: acp_v1, number: number_acp, cases: ACP_V1 }];

const CALL: &str = TOOL;

fn meta(about: &Value) -> Value {
    let mut own = json!({"runId": RUN, "seq": 0});
    own.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
    json!({"framegate": own})
}

fn update(kind: &str, fields: &Value, about: &Value) -> Value {
    let mut update = json!({"sessionUpdate": kind});
    update.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let params = json!({"sessionId": SESSION, "update": update, "_meta": meta(about)});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
}

fn chunk(kind: &str, id: &str) -> Value {
    update(kind, &json!({"content": {"type": "text", "text": "x"}, "messageId": id}), &json!({}))
}

fn answer(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn", "_meta": meta(&json!({}))}})
}

/// A message of the client, which framegate never writes.
fn of_client(method: &str, fields: &Value) -> Value {
    let mut params = json!({"sessionId": SESSION, "_meta": meta(&json!({}))});
    params.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

const SESSION: &str = "00000000-0000-5000-8000-00000000000d";

fn acp_v1() -> Vec<Value> {
    let call =
        json!({"toolCallId": CALL, "title": "ls", "name": "Bash", "status": "pending", "rawInput": {"command": "ls"}});
    let content = json!([{"type": "content", "content": {"type": "text", "text": "a"}}]);
    vec![
        update("session_info_update", &json!({}), &json!({"runner": "lab"})),
        chunk("agent_thought_chunk", RUN),
        chunk("agent_message_chunk", OTHER),
        update("tool_call", &call, &json!({"callId": "c"})),
        json!({"jsonrpc": "2.0", "id": "q", "method": "session/request_permission", "params": {
            "sessionId": SESSION,
            "toolCall": {"toolCallId": CALL, "title": "ls"},
            "options": [{"optionId": "allow_once", "name": "Allow", "kind": "allow_once"}],
            "_meta": meta(&json!({})),
        }}),
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {
            "requestId": "q", "_meta": meta(&json!({"decision": "approved"})),
        }}),
        update("tool_call_update", &json!({"toolCallId": CALL, "status": "in_progress"}), &json!({})),
        update("tool_call_update", &json!({"toolCallId": CALL, "status": "completed", "content": content}), &json!({})),
        answer(RUN),
    ]
}

fn number_acp(events: &mut [Value]) {
    for (seq, event) in events.iter_mut().enumerate() {
        set_seq(event, seq as u64);
    }
}

fn own(event: &mut Value) -> &mut Value {
    let place = if event.get("result").is_some() { "/result/_meta/framegate" } else { "/params/_meta/framegate" };
    event.pointer_mut(place).unwrap()
}

fn set_seq(event: &mut Value, seq: u64) {
    own(event)["seq"] = json!(seq);
}

/// Changes the numbers from that event on.
fn shift(events: &mut [Value], from: usize, by: i64) {
    for event in events.iter_mut().skip(from) {
        let seq = own(event)["seq"].as_i64().unwrap() + by;
        set_seq(event, seq as u64);
    }
}

fn fields(event: &mut Value) -> &mut Value {
    &mut event["params"]["update"]
}

const ACP_V1: &[Case] = &[
    case(|events| fields(&mut events[2])["sessionUpdate"] = json!("agent_text"), &[(3, "schema.type")]),
    case(|events| fields(&mut events[2])["content"] = json!(null), &[(3, "schema")]),
    case(|events| fields(&mut events[3])["status"] = json!("running"), &[(4, "schema")]),
    case(|events| fields(&mut events[3])["title"] = json!(""), &[(4, "schema")]).but(&[]),
    // The SDK drops an optional field with a wrong value.
    case(|events| events[8]["result"]["stopReason"] = json!("error"), &[(9, "schema")]),
    // An unknown method is an extension only if its name says so.
    case(|events| events[5]["method"] = json!("x/note"), &[(6, "schema.type"), (9, "question.left_open")])
        .but(&[(6, "schema.type")]),
    case(|events| events.insert(1, of_client("_lab/note", &json!({}))), &[(2, "schema.type")]).but(&[]),
    numbered(|events| shift(events, 0, 1), &[(1, "sequence.start")]).but(&[]),
    numbered(|events| shift(events, 3, 1), &[(4, "sequence.gap")]).but(&[]),
    numbered(|events| shift(events, 3, -1), &[(4, "sequence.repeat")]).but(&[]),
    case(|events| events[2]["params"]["sessionId"] = json!(OTHER), &[(3, "session.differs")]).but(&[]),
    case(|events| events.push(chunk("agent_message_chunk", OTHER)), &[(10, "end.not_last")]).but(&[]),
    case(|events| events.push(answer(RUN)), &[(10, "end.not_last")]).but(&[]),
    // With the client's prompt, another agent's stream shows it too.
    case(
        |events| {
            let mut prompt = of_client("session/prompt", &json!({"prompt": []}));
            prompt["id"] = json!(1);
            events.insert(0, prompt);
            events.push(chunk("agent_message_chunk", OTHER));
            events.push(update("session_info_update", &json!({}), &json!({})));
        },
        &[(1, "schema.type"), (11, "end.not_last"), (12, "end.not_last")],
    )
    .but(&[(11, "end.not_last")]),
    case(|events| events[8]["id"] = json!(OTHER), &[(9, "end.other_run")]).but(&[]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(
        |events| events.insert(7, of_client("session/cancel", &json!({}))),
        &[(8, "schema.type"), (10, "cancel.ignored")],
    )
    .but(&[(10, "cancel.ignored")]),
    case(
        |events| {
            events.insert(7, of_client("session/cancel", &json!({})));
            events[9]["result"]["stopReason"] = json!("cancelled");
        },
        &[(8, "schema.type")],
    )
    .but(&[]),
    case(|events| fields(&mut events[2])["messageId"] = json!(RUN), &[(3, "message.shared")]),
    case(|events| drop(events.remove(3)), &[(4, "call.unknown"), (6, "call.unknown")]),
    case(|events| events.insert(4, events[3].clone()), &[(5, "call.repeat")]),
    case(|events| events.swap(6, 7), &[(8, "call.reopened")]),
    case(|events| events.insert(8, events[7].clone()), &[(9, "call.over")]).but(&[]),
    case(
        |events| {
            let question = events.remove(4);
            events.remove(4);
            events.insert(6, question);
            events.insert(7, acp_v1().swap_remove(5));
        },
        &[(7, "call.over")],
    ),
    case(|events| drop(events.remove(7)), &[(8, "call.left_open")]),
    case(|events| events.insert(5, events[4].clone()), &[(6, "question.repeat")]),
    case(|events| drop(events.remove(4)), &[(5, "question.unknown")]),
    case(|events| drop(events.remove(5)), &[(8, "question.left_open")]).but(&[]),
    case(|events| drop(fields(&mut events[3]).as_object_mut().unwrap().remove("name")), &[(4, "tool_call.empty_name")]),
    case(|events| fields(&mut events[3])["rawInput"] = json!({}), &[(4, "tool_call.empty_input")]),
    case(
        |events| {
            fields(&mut events[7])["status"] = json!("failed");
            fields(&mut events[7]).as_object_mut().unwrap().remove("content");
        },
        &[(8, "tool_result.no_error_details")],
    ),
];
