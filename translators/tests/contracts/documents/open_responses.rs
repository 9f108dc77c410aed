//! `open-responses.v1`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const NAME: &str = "open-responses.v1";

/// A response as Open Responses requires it.
fn response(status: &str, output: &Value) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "completed_at": null, "status": status,
        "incomplete_details": null, "model": "m", "previous_response_id": null, "instructions": null, "output": output,
        "error": null, "tools": [], "tool_choice": "auto", "truncation": "disabled", "parallel_tool_calls": true,
        "text": {"format": {"type": "text"}}, "top_p": 1.0, "presence_penalty": 0, "frequency_penalty": 0,
        "top_logprobs": 0, "temperature": 0.7, "reasoning": {"effort": "high", "summary": null}, "usage": null,
        "max_output_tokens": null, "max_tool_calls": null, "store": true, "background": false,
        "service_tier": "default", "metadata": {}, "safety_identifier": null, "prompt_cache_key": null, "user": null,
    })
}

fn call(status: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc", "call_id": "c", "name": "now", "arguments": arguments, "status": status})
}

fn message(status: &str, content: &Value) -> Value {
    json!({"type": "message", "id": "m", "status": status, "role": "assistant", "content": content})
}

/// A stream of a server: raw reasoning, a hosted tool, a call for the client, an event of its own, numbers with gaps.
fn of_a_server() -> Vec<Value> {
    let refusal = json!({"type": "refusal", "refusal": "No."});
    let search = |status| json!({"type": "web_search_call", "id": "ws", "status": status});
    let output =
        json!([search("completed"), message("completed", &json!([refusal])), call("completed", "{\"zone\":1}")]);
    let part = json!({"item_id": "m", "output_index": 1, "content_index": 0});
    let of_part = |kind: &str, fields: Value| {
        let mut event = part.clone();
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        event["type"] = json!(kind);
        event
    };
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress", &json!([]))}),
        json!({"type": "response.queued", "response": response("queued", &json!([]))}),
        json!({"type": "response.in_progress", "response": response("in_progress", &json!([]))}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": search("in_progress")}),
        json!({"type": "response.web_search_call.searching", "output_index": 0, "item_id": "ws"}),
        json!({"type": "acme:note", "anything": [1]}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": search("completed")}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": message("in_progress", &json!([]))}),
        of_part("response.content_part.added", json!({"part": {"type": "refusal", "refusal": ""}})),
        of_part("response.refusal.delta", json!({"delta": "No."})),
        of_part("response.refusal.done", json!({"refusal": "No."})),
        of_part("response.content_part.done", json!({"part": refusal})),
        json!({"type": "response.output_item.done", "output_index": 1, "item": output[1]}),
        json!({"type": "response.output_item.added", "output_index": 2, "item": call("in_progress", "")}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "item_id": "fc", "delta": "{\"zone\":1}"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "item_id": "fc", "arguments": "{\"zone\":1}"}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": output[2]}),
        json!({"type": "response.completed", "response": response("completed", &output)}),
    ];
    for (at, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(10 + 2 * at);
    }
    events
}

#[test]
fn streams_of_other_servers_pass() {
    passes(NAME, "a server's own", &of_a_server());
    // A stream that is taken up again begins with the response as it was queued.
    passes(NAME, "in the background", &of_a_server()[1..]);
    let error = json!({"type": "server_error", "code": null, "message": "overloaded", "param": null});
    let mut failed = of_a_server()[..3].to_vec();
    failed.push(json!({"type": "error", "sequence_number": 90, "error": error}));
    passes(NAME, "an error alone", &failed);
    failed.push(json!({"type": "response.failed", "sequence_number": 91, "response": response("failed", &json!([]))}));
    passes(NAME, "an error and its response", &failed);
    // OpenAI's reference has the error's fields in the event.
    failed[3] =
        json!({"type": "error", "sequence_number": 90, "code": "server_error", "message": "overloaded", "param": null});
    passes(NAME, "a flat error", &failed);
    let incomplete = json!([message("incomplete", &json!([]))]);
    let cut = vec![
        of_a_server()[0].clone(),
        json!({"type": "response.output_item.added", "sequence_number": 90, "output_index": 0, "item": message("in_progress", &json!([]))}),
        json!({"type": "response.output_item.done", "sequence_number": 91, "output_index": 0, "item": incomplete[0]}),
        json!({"type": "response.incomplete", "sequence_number": 92, "response": response("incomplete", &incomplete)}),
    ];
    passes(NAME, "cut off", &cut);
}

#[test]
fn what_readers_lose_is_a_warning() {
    let mut empty = of_a_server();
    empty[17]["response"]["output"] = json!([]);
    warns(NAME, "an empty output", &empty, &[(18, "output.differs")]);
    let mut late = of_a_server();
    late[10]["refusal"] = json!("Never.");
    warns(NAME, "another text", &late, &[(11, "text.differs")]);
    let mut shifted = of_a_server();
    for event in &mut shifted {
        if let Some(index) = event.get("output_index").and_then(Value::as_u64) {
            event["output_index"] = json!(index + 1);
        }
    }
    warns(NAME, "indices from 1", &shifted, &[(4, "item.order")]);
}

#[test]
fn what_breaks_readers_is_an_error() {
    let all = of_a_server();
    fails(NAME, "no beginning", &all[2..], &[(1, "start.missing")]);
    fails(NAME, "no end", &all[..17], &[(0, "end.missing")]);
    let mut unknown = all.clone();
    unknown[5]["type"] = json!("note");
    fails(NAME, "an unknown type without a prefix", &unknown, &[(6, "schema.type")]);
    let mut unlisted = all.clone();
    unlisted[17]["response"].as_object_mut().unwrap().remove("completed_at");
    fails(NAME, "a response without a required field", &unlisted, &[(18, "schema")]);
    let mut open = all.clone();
    open.remove(12);
    fails(NAME, "an item that stays open", &open, &[(17, "pair.left_open")]);
    let mut renamed = all.clone();
    renamed[17]["response"]["id"] = json!("resp_2");
    fails(NAME, "another response", &renamed, &[(18, "response.changed")]);
    let mut early = all;
    early[17]["response"]["output"][1]["status"] = json!("incomplete");
    fails(NAME, "an incomplete item before another one", &early, &[(18, "item.incomplete")]);
}
