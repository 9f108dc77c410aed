//! `chat-completions.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] =
    &[Suite { contract: "chat-completions.v1", clean: chat_v1, number: |_| {}, cases: CHAT_V1 }];

fn chunk(id: &str, choices: &Value) -> Value {
    json!({"id": id, "object": "chat.completion.chunk", "created": 1_771_102_980, "model": "m", "choices": choices})
}

fn delta(id: &str, delta: &Value, finish: Option<&str>) -> Value {
    chunk(id, &json!([{"index": 0, "delta": delta, "finish_reason": finish}]))
}

fn usage(id: &str) -> Value {
    let mut chunk = chunk(id, &json!([]));
    chunk["usage"] = json!({"prompt_tokens": 2, "completion_tokens": 1, "total_tokens": 3});
    chunk
}

fn error(id: &str) -> Value {
    json!({"id": id, "object": "error", "error": {"message": "no", "type": "run_error", "param": null, "code": "c"}})
}

fn chat_v1() -> Vec<Value> {
    vec![
        delta("one", &json!({"role": "assistant", "content": ""}), None),
        delta("one", &json!({"reasoning_content": "Hm."}), None),
        delta("one", &json!({"content": "Hello"}), None),
        delta("two", &json!({"role": "assistant", "content": ""}), None),
        delta("one", &json!({}), Some("stop")),
        usage("one"),
        usage("two"),
        error("two"),
    ]
}

const CHAT_V1: &[Case] = &[
    case(|events| events[2]["object"] = json!("chat.completion"), &[(3, "schema.type")]),
    case(|events| events[2]["choices"] = json!("none"), &[(3, "schema")]),
    case(|events| events[7]["error"]["message"] = json!(""), &[(8, "schema")]).but(&[]),
    case(|events| drop(events.remove(0)), &[(1, "start.missing")]),
    case(
        |events| events.insert(3, delta("one", &json!({"role": "assistant", "content": ""}), None)),
        &[(4, "start.repeat")],
    )
    .but(&[]),
    case(|events| events[2]["created"] = json!(1), &[(3, "created.changed")]),
    case(|events| events[2]["model"] = json!("other"), &[(3, "model.changed")]),
    case(|events| events.insert(6, delta("one", &json!({}), Some("stop"))), &[(7, "end.repeat")]),
    case(|events| events.push(error("two")), &[(9, "end.repeat")]),
    case(|events| events.push(error("one")), &[(9, "end.repeat")]),
    case(|events| events.push(delta("one", &json!({"content": "more"}), None)), &[(9, "end.not_last")]),
    case(|events| events.push(delta("two", &json!({"content": "more"}), None)), &[(9, "end.not_last")]),
    case(|events| drop(events.remove(4)), &[(0, "end.missing")]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| events.swap(4, 5), &[(6, "usage.early")]),
    case(|events| events.insert(6, usage("one")), &[(7, "usage.repeat")]),
];
