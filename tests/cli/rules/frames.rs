//! `frames.v2` and `frames.v1`.

use super::cases::*;
use serde_json::{Value, json};

pub const SUITES: &[Suite] = &[
    Suite { contract: "frames.v1", clean: frames_v1, number: number_frames, cases: FRAMES_V1 },
    Suite { contract: "frames.v2", clean: frames_v2, number: number_frames, cases: FRAMES_V2 },
];

fn v2(kind: &str, stream: &str, body: &Value) -> Value {
    let mut frame = json!({
        "id": "", "session_id": stream, "stream_kind": kind, "stream_id": stream, "timestamp_ms": 1, "seq": 0,
    });
    frame.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    frame
}

fn frames_v2() -> Vec<Value> {
    let run = |body: Value| v2("session", RUN, &body);
    let mut events = vec![
        run(json!({"type": "session_started", "input": "hi"})),
        run(json!({"type": "provider_event", "provider": "codex", "status": "event", "event_name": null,
            "data": {}, "raw": null, "errors": [], "response_errors": []})),
        run(json!({"type": "user_message", "message_id": "m0", "text": "hi", "attachments": []})),
        run(json!({"type": "turn_started", "turn_index": 0, "model": null})),
        run(json!({"type": "reasoning_delta", "message_id": "m", "block_index": 0, "delta": "Hm"})),
        run(json!({"type": "reasoning_completed", "message_id": "m", "block_index": 0, "text": "Hm", "opaque": null})),
        run(json!({"type": "output_text_delta", "message_id": "m", "block_index": 1, "delta": "Hel"})),
        run(json!({"type": "output_text_delta", "message_id": "m", "block_index": 1, "delta": "lo"})),
        run(json!({"type": "output_text_completed", "message_id": "m", "block_index": 1, "text": "Hello"})),
        run(json!({"type": "tool_call_proposed", "tool_id": TOOL, "call_id": "c", "name": "Bash", "kind": "shell",
            "args": {"command": "ls"}})),
        run(json!({"type": "approval_requested", "approval_id": "a", "tool_id": TOOL, "tool_name": "Bash",
            "args": {}, "reason": null})),
        run(json!({"type": "approval_resolved", "approval_id": "a", "decision": "approved", "by": null,
            "reason": null, "scope": null})),
        run(json!({"type": "tool_started", "tool_id": TOOL, "call_id": "c", "name": "Bash", "kind": "shell",
            "args": {"command": "ls"}, "timeout_ms": null})),
        run(json!({"type": "tool_stdout", "tool_id": TOOL, "call_id": "c", "chunk": "x"})),
        run(json!({"type": "tool_ended", "tool_id": TOOL, "call_id": "c", "exit_code": 1, "duration_ms": 1,
            "artifacts": null})),
        run(json!({"type": "subagent_started", "subagent_id": "s", "tool_id": null, "agent": null, "task": null,
            "depth": 1})),
        run(json!({"type": "subagent_ended", "subagent_id": "s", "status": "completed", "summary": null})),
        run(json!({"type": "usage_reported", "scope": "turn", "model": null, "input_tokens": 1, "output_tokens": 0,
            "cache_read_tokens": null, "cache_creation_tokens": null, "reasoning_tokens": null, "cost_usd": null})),
        run(json!({"type": "turn_ended", "turn_index": 0, "stop_reason": null, "duration_ms": null})),
        run(json!({"type": "session_ended", "reason": "completed", "final_text": "Hello", "error_code": null,
            "message": null})),
    ];
    // Interleaved streams: another run, and events outside any run.
    let log = json!({"type": "log_emitted", "level": "info", "message": "x"});
    events.push(v2("thread", OTHER, &log));
    events.push(v2("session", OTHER, &json!({"type": "session_started", "input": ""})));
    events.push(v2("thread", OTHER, &log));
    events.push(v2(
        "session",
        OTHER,
        &json!({"type": "session_ended", "reason": "failed", "final_text": null, "error_code": null, "message": null}),
    ));
    events
}

/// Numbers frames within their streams; the id is the position in the file.
fn number_frames(events: &mut [Value]) {
    let mut next = std::collections::HashMap::new();
    for (at, event) in events.iter_mut().enumerate() {
        let stream =
            (event["stream_kind"].to_string(), event.get("stream_id").unwrap_or(&event["session_id"]).to_string());
        let seq: &mut u64 = next.entry(stream).or_default();
        event["seq"] = json!(*seq);
        *seq += 1;
        event["id"] = json!(format!("00000000-0000-5000-8000-{at:012}"));
    }
}

const FRAMES_V2: &[Case] = &[
    // Single events.
    numbered(|events| events[1] = json!(7), &[(2, "json"), (3, "sequence.gap")]),
    case(|events| events[2]["type"] = json!("nope"), &[(3, "schema.type")]),
    case(|events| set(events, "user_message", "/text", json!(1)), &[(3, "schema"), (3, "message.empty_content")]),
    case(|events| events[2]["extra"] = json!(1), &[(3, "schema")]).but(&[]),
    case(|events| drop(events[2].as_object_mut().unwrap().remove("session_id")), &[(3, "schema")]).but(&[]),
    case(|events| events[2]["session_id"] = json!(OTHER), &[(3, "id.alias")]),
    // Numbers and ids.
    numbered(|events| events[0]["seq"] = json!(1), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(|events| drop(events.remove(2)), &[(3, "sequence.gap")]),
    numbered(|events| events[2]["seq"] = json!(1), &[(3, "sequence.repeat"), (4, "sequence.gap")]),
    numbered(
        |events| {
            let mut again = events[2].clone();
            again["id"] = json!("00000000-0000-5000-8000-00000000dddd");
            events.insert(3, again);
        },
        &[(4, "sequence.repeat")],
    ),
    numbered(|events| events[2]["id"] = events[1]["id"].clone(), &[(3, "id.repeat")]),
    // The two ends of a run.
    case(|events| drop_kind(events, "session_started"), &[(1, "start.missing")]),
    case(|events| double(events, "session_started"), &[(2, "start.repeat")]),
    case(|events| drop_kind(events, "session_ended"), &[(0, "end.missing")]),
    case(|events| double(events, "session_ended"), &[(21, "end.repeat")]),
    case(
        |events| {
            let message = events.remove(2);
            events.insert(19, message);
        },
        &[(20, "end.not_last")],
    ),
    case(
        |events| events[20] = v2("thread", OTHER, &json!({"type": "session_started", "input": ""})),
        &[(21, "start.forbidden")],
    ),
    // Everything that is opened is closed.
    case(|events| double(events, "turn_started"), &[(5, "pair.opened_twice")]),
    case(|events| drop_kind(events, "turn_started"), &[(18, "pair.not_open")]),
    case(|events| drop_kind(events, "turn_ended"), &[(19, "pair.left_open")]),
    case(|events| double(events, "approval_requested"), &[(12, "pair.opened_twice")]),
    case(|events| drop_kind(events, "approval_requested"), &[(11, "pair.not_open")]),
    case(|events| drop_kind(events, "approval_resolved"), &[(19, "pair.left_open")]),
    case(|events| double(events, "tool_started"), &[(14, "pair.opened_twice")]),
    case(|events| drop_kind(events, "tool_started"), &[(13, "pair.not_open"), (14, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_ended"), &[(19, "pair.left_open")]),
    case(|events| double(events, "subagent_started"), &[(17, "pair.opened_twice")]),
    case(|events| drop_kind(events, "subagent_started"), &[(16, "pair.not_open")]),
    case(|events| drop_kind(events, "subagent_ended"), &[(19, "pair.left_open")]),
    case(|events| drop_kind(events, "reasoning_completed"), &[(19, "pair.left_open")]),
    case(|events| drop_kind(events, "output_text_completed"), &[(19, "pair.left_open")]),
    // Text is emitted once.
    case(|events| double(events, "output_text_delta"), &[(10, "text.differs")]),
    case(|events| drop_kind(events, "output_text_delta"), &[(8, "text.differs")]),
    case(|events| set(events, "reasoning_completed", "/text", json!("Hm.")), &[(6, "text.differs")]),
    // Spellings of earlier writers.
    case(|events| drop(events[0].as_object_mut().unwrap().remove("input")), &[(1, "schema"), (1, "type.legacy")])
        .but(&[(1, "type.legacy")]),
    case(
        |events| events[2] = v2("session", RUN, &json!({"type": "output", "content": "hi"})),
        &[(3, "schema.type"), (3, "type.legacy")],
    )
    .but(&[(3, "type.legacy")]),
    // A checkpoint is made before its tool starts.
    case(
        |events| {
            let at = at(events, "tool_started");
            let checkpoint = json!({"type": "checkpoint_created", "checkpoint_id": TOOL, "label": "l", "created_at_ms": 1,
                "files": [], "auto": true, "tool_name": "Bash"});
            events.insert(at + 1, v2("session", RUN, &checkpoint));
        },
        &[(14, "checkpoint.late")],
    ),
    // A run that broke off may leave things open.
    case(
        |events| {
            drop_kind(events, "turn_ended");
            set(events, "session_ended", "/reason", json!("failed"));
        },
        &[(19, "pair.left_open")],
    )
    .but(&[]),
    // Records are kept.
    case(|events| set(events, "provider_event", "/data", Value::Null), &[(2, "provider_event.data")]),
    case(|events| set(events, "provider_event", "/status", json!("invalid_json")), &[(2, "provider_event.raw")]),
    // The five warnings.
    case(|events| set(events, "tool_call_proposed", "/name", json!("")), &[(10, "tool_call.empty_name")]),
    case(|events| set(events, "tool_call_proposed", "/args", json!({})), &[(10, "tool_call.empty_input")]),
    case(
        |events| {
            drop_kind(events, "tool_call_proposed");
            set(events, "tool_started", "/name", json!("unknown_tool"));
            set(events, "tool_started", "/args", json!({}));
        },
        &[(12, "tool_call.empty_name"), (12, "tool_call.empty_input")],
    ),
    // The exit code of a command says what went wrong.
    case(|events| drop_kind(events, "tool_stdout"), &[]),
    case(
        |events| {
            drop_kind(events, "tool_stdout");
            set(events, "tool_started", "/kind", json!("mcp"));
        },
        &[(14, "tool_result.no_error_details")],
    ),
    case(
        |events| {
            let failed = json!({"type": "tool_failed", "tool_id": TOOL, "call_id": "c", "error": "x"});
            events.insert(at(events, "tool_ended") + 1, v2("session", RUN, &failed));
        },
        &[(16, "pair.not_open")],
    ),
    case(
        |events| {
            drop_kind(events, "tool_stdout");
            let at = at(events, "tool_ended");
            let failed = json!({"type": "tool_failed", "tool_id": TOOL, "call_id": "c", "error": ""});
            events[at] = v2("session", RUN, &failed);
        },
        &[(14, "tool_result.no_error_details")],
    ),
    case(|events| set(events, "user_message", "/text", json!("")), &[(3, "message.empty_content")]),
    case(
        |events| {
            events.retain(|event| event["type"] != "output_text_delta");
            set(events, "output_text_completed", "/text", json!(""));
        },
        &[(7, "message.empty_content")],
    ),
    case(|events| set(events, "usage_reported", "/input_tokens", json!(0)), &[(18, "metric.zero_tokens")]),
    // A task has its own stream, whose id is the task's id, and starts once.
    case(|events| events.push(v2("task", TASK, &cancel())), &[]),
    case(|events| events.push(v2("task", THIRD, &cancel())), &[(25, "id.task")]),
    case(|events| events.insert(2, v2("session", RUN, &cancel())), &[(3, "id.task"), (3, "task.stream")]),
    case(|events| events.extend([spawned(), spawned()]), &[(26, "start.repeat")]),
];

const TASK: &str = "00000000-0000-5000-8000-00000000000f";
const THIRD: &str = "00000000-0000-5000-8000-00000000000e";

fn cancel() -> Value {
    json!({"type": "tool_task_cancel_requested", "task_id": TASK, "reason": "x"})
}

fn spawned() -> Value {
    let spawned = json!({"type": "tool_task_spawned", "task_id": TASK, "tool_name": "Bash", "args": {}, "cwd": null, "title": null,
        "execution_mode": "pipes", "origin_session_id": null, "artifacts": null});
    v2("task", TASK, &spawned)
}

fn v1(body: &Value) -> Value {
    let mut frame = json!({"id": "", "session_id": RUN, "timestamp_ms": 1, "seq": 0});
    frame.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    frame
}

fn frames_v1() -> Vec<Value> {
    [
        json!({"type": "session_started", "input": "hi"}),
        json!({"type": "provider_event", "provider": "codex", "status": "done", "event_name": null, "data": null,
            "raw": "[DONE]", "errors": [], "response_errors": []}),
        json!({"type": "output_text_delta", "delta": "Hello"}),
        json!({"type": "tool_started", "tool_id": TOOL, "name": "bash", "args": {"command": "ls"}, "timeout_ms": null}),
        json!({"type": "tool_stderr", "tool_id": TOOL, "chunk": "no"}),
        json!({"type": "tool_ended", "tool_id": TOOL, "exit_code": 2, "duration_ms": 0, "artifacts": null}),
        json!({"type": "session_ended", "reason": "completed"}),
    ]
    .iter()
    .map(v1)
    .chain([
        // A background task and an event outside any run: streams without a start and an end.
        of(TASK, &json!({"type": "tool_task_spawned", "task_id": TASK, "tool_name": "bash", "args": {}, "execution_mode": "pty"})),
        of(OTHER, &json!({"type": "provider_event", "provider": "codex", "status": "invalid_json", "event_name": null, "data": null,
            "raw": "{", "errors": ["not JSON"], "response_errors": []})),
        of(TASK, &json!({"type": "tool_task_status", "task_id": TASK, "status": "exited", "exit_code": 0})),
    ])
    .collect()
}

fn of(stream: &str, body: &Value) -> Value {
    let mut frame = v1(body);
    frame["session_id"] = json!(stream);
    frame
}

const FRAMES_V1: &[Case] = &[
    case(|events| events[2]["type"] = json!("log_emitted"), &[(3, "schema.type")]),
    case(|events| events[2]["delta"] = Value::Null, &[(3, "schema")]),
    numbered(|events| events[0]["seq"] = json!(3), &[(1, "sequence.start"), (2, "sequence.repeat")]),
    numbered(|events| drop(events.remove(2)), &[(3, "sequence.gap")]),
    numbered(|events| events[3]["id"] = events[2]["id"].clone(), &[(4, "id.repeat")]),
    // Only the first frame shows what kind of stream this is. The end shows that a start is missing.
    case(|events| drop_kind(events, "session_started"), &[(6, "start.missing")]),
    case(|events| events.push(of(TASK, &json!({"type": "session_ended", "reason": "x"}))), &[(11, "start.forbidden")]),
    case(|events| events.push(of(OTHER, &json!({"type": "session_started", "input": ""}))), &[(11, "start.forbidden")]),
    case(|events| set(events, "tool_task_status", "/task_id", json!(OTHER)), &[(10, "id.task")]),
    case(|events| double(events, "session_started"), &[(2, "start.repeat")]),
    case(|events| drop_kind(events, "session_ended"), &[(0, "end.missing")]),
    case(|events| double(events, "session_ended"), &[(8, "end.repeat")]),
    case(|events| events.insert(7, v1(&json!({"type": "output_text_delta", "delta": "x"}))), &[(8, "end.not_last")]),
    case(|events| double(events, "tool_started"), &[(5, "pair.opened_twice")]),
    case(|events| drop_kind(events, "tool_started"), &[(4, "pair.not_open"), (5, "pair.not_open")]),
    case(|events| drop_kind(events, "tool_ended"), &[(6, "pair.left_open")]),
    case(|events| events[1]["status"] = json!("event"), &[]),
    case(
        |events| {
            events[1]["status"] = json!("event");
            events[1]["raw"] = Value::Null;
        },
        &[(2, "provider_event.data")],
    ),
    case(|events| set(events, "tool_started", "/name", json!("unknown_tool")), &[(4, "tool_call.empty_name")]),
    case(|events| set(events, "tool_started", "/args", json!({})), &[(4, "tool_call.empty_input")]),
    case(
        |events| {
            let of = |files: &Value| {
                v1(&json!({"type": "checkpoint_created", "checkpoint_id": TOOL, "label": "l", "created_at_ms": 1,
                    "files": files, "auto": false, "tool_name": null}))
            };
            events.insert(1, of(&json!(["a/b", "/etc/passwd"])));
            events.insert(1, of(&json!(["a/b"])));
        },
        &[(3, "path.absolute")],
    ),
    case(
        |events| {
            let at = at(events, "tool_task_status");
            let written = |chunk: &str| {
                of(TASK, &json!({"type": "tool_task_stdin_written", "task_id": TASK, "chunk_b64": chunk}))
            };
            events.insert(at, written("not base64!"));
            events.insert(at, written("aGkK"));
        },
        &[(11, "chunk.base64")],
    ),
    case(|events| drop_kind(events, "tool_stderr"), &[(5, "tool_result.no_error_details")]),
];
