//! `open-responses.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[Suite {
    contract: "open-responses.v1",
    clean: open_responses_v1,
    number: number_open_responses,
    cases: OPEN_RESPONSES_V1,
}];

const RESPONSE: &str = "resp_0000000000005000800000000000000a";

fn event(kind: &str, fields: &Value) -> Value {
    let mut event = json!({"type": kind, "sequence_number": 0, "response_id": RESPONSE});
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn response(kind: &str, status: &str, output: &Value) -> Value {
    event(
        kind,
        &json!({"response": {
            "id": RESPONSE, "object": "response", "created_at": 1, "completed_at": null, "status": status,
            "incomplete_details": null, "error": null, "model": "m", "output": output, "usage": null,
            "metadata": {"run_id": RUN, "session_id": RUN, "runner": "r"}, "previous_response_id": null,
            "instructions": null, "tools": [], "tool_choice": "auto", "truncation": "disabled",
            "parallel_tool_calls": true, "text": {"format": {"type": "text"}}, "temperature": 1, "top_p": 1,
            "presence_penalty": 0, "frequency_penalty": 0, "top_logprobs": 0, "reasoning": null,
            "max_output_tokens": null, "max_tool_calls": null, "store": false, "background": false,
            "service_tier": "default", "safety_identifier": null, "prompt_cache_key": null,
        }}),
    )
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn summary(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

fn message(status: &str, content: &Value) -> Value {
    json!({"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": content})
}

fn reasoning(status: &str, content: &Value) -> Value {
    json!({"id": "rs_0", "type": "reasoning", "status": status, "summary": content})
}

fn call(status: &str, arguments: &str, output: &Value) -> Value {
    json!({
        "id": "mcp_2", "type": "mcp_call", "status": status, "approval_request_id": null, "server_label": "r",
        "name": "Bash", "arguments": arguments, "output": output, "error": null, "call_id": "c",
    })
}

fn item(kind: &str, index: u64, item: &Value) -> Value {
    event(kind, &json!({"output_index": index, "item": item}))
}

fn of_text(kind: &str, fields: &Value) -> Value {
    let mut fields = fields.clone();
    fields
        .as_object_mut()
        .unwrap()
        .extend(json!({"item_id": "msg_1", "output_index": 1, "content_index": 0}).as_object().unwrap().clone());
    event(kind, &fields)
}

fn of_summary(kind: &str, fields: &Value) -> Value {
    let mut fields = fields.clone();
    fields
        .as_object_mut()
        .unwrap()
        .extend(json!({"item_id": "rs_0", "output_index": 0, "summary_index": 0}).as_object().unwrap().clone());
    event(kind, &fields)
}

fn of_call(kind: &str, fields: &Value) -> Value {
    let mut fields = fields.clone();
    fields.as_object_mut().unwrap().extend(json!({"item_id": "mcp_2", "output_index": 2}).as_object().unwrap().clone());
    event(kind, &fields)
}

const ARGUMENTS: &str = r#"{"command":"ls"}"#;

fn open_responses_v1() -> Vec<Value> {
    let output = json!([
        reasoning("completed", &json!([summary("So.")])),
        message("completed", &json!([part("Hello")])),
        call("completed", ARGUMENTS, &json!("a")),
    ]);
    vec![
        response("response.created", "in_progress", &json!([])),
        response("response.in_progress", "in_progress", &json!([])),
        item("response.output_item.added", 0, &reasoning("in_progress", &json!([]))),
        of_summary("response.reasoning_summary_part.added", &json!({"part": summary("")})),
        of_summary("response.reasoning_summary_text.delta", &json!({"delta": "So."})),
        of_summary("response.reasoning_summary_text.done", &json!({"text": "So."})),
        of_summary("response.reasoning_summary_part.done", &json!({"part": summary("So.")})),
        item("response.output_item.done", 0, &reasoning("completed", &json!([summary("So.")]))),
        item("response.output_item.added", 1, &message("in_progress", &json!([]))),
        of_text("response.content_part.added", &json!({"part": part("")})),
        of_text("response.output_text.delta", &json!({"delta": "Hel", "logprobs": []})),
        of_text("response.output_text.delta", &json!({"delta": "lo", "logprobs": []})),
        of_text("response.output_text.done", &json!({"text": "Hello", "logprobs": []})),
        of_text("response.content_part.done", &json!({"part": part("Hello")})),
        item("response.output_item.done", 1, &message("completed", &json!([part("Hello")]))),
        item("response.output_item.added", 2, &call("in_progress", "", &json!(null))),
        of_call("response.mcp_call.in_progress", &json!({})),
        of_call("response.mcp_call_arguments.delta", &json!({"delta": ARGUMENTS})),
        of_call("response.mcp_call_arguments.done", &json!({"arguments": ARGUMENTS})),
        of_call("response.mcp_call.completed", &json!({})),
        item("response.output_item.done", 2, &call("completed", ARGUMENTS, &json!("a"))),
        {
            let mut last = response("response.completed", "completed", &output);
            last["response"]["completed_at"] = json!(2);
            last
        },
    ]
}

fn number_open_responses(events: &mut [Value]) {
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
}

fn shift(events: &mut [Value], from: usize, by: i64) {
    for event in events.iter_mut().skip(from) {
        event["sequence_number"] = json!(event["sequence_number"].as_i64().unwrap() + by);
    }
}

const OPEN_RESPONSES_V1: &[Case] = &[
    case(|events| events[16]["type"] = json!("response.call"), &[(17, "schema.type")]),
    case(|events| events[16]["item_id"] = json!(null), &[(17, "schema")]),
    // An implementor's own events are allowed.
    case(|events| events.insert(10, event("acme:trace", &json!({}))), &[(11, "schema.type")]).but(&[]),
    // A hosted tool of another server.
    case(
        |events| {
            let search = json!({"id": "ws_0", "type": "web_search_call", "status": "completed"});
            events[2] = item("response.output_item.added", 0, &search);
            events[7] = item("response.output_item.done", 0, &search);
            events[21]["response"]["output"][0] = search;
            events.drain(3..7);
        },
        &[(3, "schema"), (4, "schema"), (18, "schema")],
    )
    .but(&[]),
    numbered(|events| shift(events, 0, 1), &[(1, "sequence.start")]).but(&[]),
    numbered(|events| shift(events, 3, 1), &[(4, "sequence.gap")]).but(&[]),
    numbered(|events| shift(events, 3, -1), &[(4, "sequence.repeat")]),
    case(|events| drop(events.remove(0)), &[(1, "start.missing")]),
    case(|events| double(events, "response.created"), &[(2, "start.repeat")]),
    case(|events| drop(events.pop()), &[(0, "end.missing")]),
    case(|events| double(events, "response.completed"), &[(23, "end.repeat")]),
    case(|events| events.push(events[1].clone()), &[(23, "end.not_last")]),
    case(|events| events[21]["response"]["id"] = json!("resp_other"), &[(22, "response.changed")]),
    case(
        |events| {
            events.iter_mut().for_each(|event| drop(event.as_object_mut().unwrap().remove("response_id")));
            events[21]["response"]["id"] = json!("resp_other");
        },
        &[
            (1, "schema"),
            (2, "schema"),
            (3, "schema"),
            (4, "schema"),
            (5, "schema"),
            (6, "schema"),
            (7, "schema"),
            (8, "schema"),
            (9, "schema"),
            (10, "schema"),
            (11, "schema"),
            (12, "schema"),
            (13, "schema"),
            (14, "schema"),
            (15, "schema"),
            (16, "schema"),
            (17, "schema"),
            (18, "schema"),
            (19, "schema"),
            (20, "schema"),
            (21, "schema"),
            (22, "schema"),
            (22, "response.changed"),
        ],
    )
    .but(&[(22, "response.changed")]),
    case(|events| events[21]["response"]["status"] = json!("in_progress"), &[(22, "schema"), (22, "status.differs")])
        .but(&[(22, "status.differs")]),
    case(|events| events.insert(9, events[8].clone()), &[(10, "pair.opened_twice")]),
    case(
        |events| drop(events.remove(8)),
        &[
            (9, "pair.not_open"),
            (10, "pair.not_open"),
            (11, "pair.not_open"),
            (12, "pair.not_open"),
            (13, "pair.not_open"),
            (14, "pair.not_open"),
            (15, "item.order"),
            (21, "output.differs"),
        ],
    ),
    case(|events| drop(events.remove(14)), &[(21, "pair.left_open")]),
    case(|events| events.insert(10, events[9].clone()), &[(11, "part.opened_twice")]),
    case(
        |events| drop(events.remove(9)),
        &[(10, "part.not_open"), (11, "part.not_open"), (12, "part.not_open"), (13, "part.not_open")],
    ),
    case(|events| drop(events.remove(3)), &[(4, "part.not_open"), (5, "part.not_open"), (6, "part.not_open")]),
    case(|events| drop(events.remove(13)), &[(14, "part.left_open")]),
    case(|events| events[14]["item"]["id"] = json!("msg_2"), &[(15, "item.changed")]),
    case(|events| events[12]["item_id"] = json!("msg_2"), &[(13, "item.changed")]),
    case(
        |events| {
            events[21]["response"]["output"][1]["status"] = json!("incomplete");
        },
        &[(22, "schema"), (22, "item.incomplete")],
    )
    .but(&[(22, "item.incomplete")]),
    case(|events| events[12]["text"] = json!("Hullo"), &[(13, "text.differs")]),
    case(|events| drop(events.remove(11)), &[(12, "text.differs"), (13, "text.differs"), (14, "text.differs")]),
    case(|events| events[20]["item"]["arguments"] = json!("{\"command\":\"rm\"}"), &[(21, "arguments.differs")]),
    case(|events| events[21]["response"]["output"] = json!([]), &[(22, "output.differs")]),
    case(|events| events[20]["item"]["name"] = json!(""), &[(21, "tool_call.empty_name")]),
    case(
        |events| {
            events[18]["arguments"] = json!("{}");
            events[20]["item"]["arguments"] = json!("{}");
        },
        &[(21, "tool_call.empty_input")],
    ),
    case(
        |events| {
            events[20]["item"]["status"] = json!("failed");
            events[20]["item"]["output"] = json!(null);
        },
        &[(21, "tool_result.no_error_details")],
    ),
];
