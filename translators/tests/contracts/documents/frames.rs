//! `frames.v1` and `frames.v2`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const V1: &str = "frames.v1";
const V2: &str = "frames.v2";

/// Frames of one v1 stream, with ids that are not UUIDs.
fn v1(stream: &str, bodies: &[Value]) -> Vec<Value> {
    let frame = |(seq, body): (usize, &Value)| {
        let mut frame = json!({"id": format!("{stream}-{seq}"), "session_id": stream, "timestamp_ms": 7, "seq": seq});
        frame.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        frame
    };
    bodies.iter().enumerate().map(frame).collect()
}

/// Frames of one v2 stream, without `session_id`.
fn v2(kind: &str, stream: &str, bodies: &[Value]) -> Vec<Value> {
    let mut frames = v1(stream, bodies);
    for frame in &mut frames {
        let frame = frame.as_object_mut().unwrap();
        frame.remove("session_id");
        frame.insert("stream_kind".to_owned(), json!(kind));
        frame.insert("stream_id".to_owned(), json!(stream));
    }
    frames
}

/// The document's example, with ids.
fn example() -> Vec<Value> {
    v1(
        "s1",
        &[
            json!({"type": "session_started", "input": "hi"}),
            json!({"type": "provider_event", "provider": "openresponses", "status": "event",
                "event_name": "response.output_text.delta",
                "data": {"type": "response.output_text.delta", "delta": "hi"},
                "raw": null, "errors": [], "response_errors": []}),
            json!({"type": "output_text_delta", "delta": "ack: hi"}),
            json!({"type": "session_ended", "reason": "completed"}),
        ],
    )
}

fn tool_run(more: &[Value], reason: &str) -> Vec<Value> {
    let mut bodies = vec![json!({"type": "session_started", "input": "hi"})];
    bodies.extend(more.iter().cloned());
    bodies.push(json!({"type": "session_ended", "reason": reason}));
    v1("s1", &bodies)
}

fn started(id: &str, name: &str) -> Value {
    json!({"type": "tool_started", "tool_id": id, "name": name, "args": {"path": "a"}, "timeout_ms": null})
}

fn ended(id: &str) -> Value {
    json!({"type": "tool_ended", "tool_id": id, "exit_code": 0, "duration_ms": 1, "artifacts": null})
}

fn checkpoint(tool: &Value) -> Value {
    json!({"type": "checkpoint_created", "checkpoint_id": "c", "label": "l", "created_at_ms": 1, "files": ["a"],
        "auto": true, "tool_name": tool})
}

#[test]
fn the_documents_example_and_other_writers_sessions_pass() {
    passes(V1, "the example", &example());
    let absent = json!({"type": "tool_started", "tool_id": "t", "name": "ls", "args": {}});
    let done = json!({"type": "provider_event", "provider": "openresponses", "status": "done", "errors": [],
        "response_errors": []});
    for (what, bodies, reason) in [
        ("null and absent", vec![absent, done, ended("t")], "completed"),
        (
            "a failing tool",
            vec![
                started("t", "bash"),
                json!({"type": "tool_ended", "tool_id": "t", "exit_code": -1, "duration_ms": 0}),
            ],
            "completed",
        ),
        ("cancelled within a tool", vec![started("t", "bash")], "cancelled"),
        (
            "a provider's error",
            vec![json!({"type": "provider_event", "provider": "p", "status": "invalid_json",
            "event_name": null, "data": null, "raw": "{", "errors": ["no"], "response_errors": []})],
            "provider_error",
        ),
        (
            "more fields",
            vec![json!({"type": "output_text_delta", "delta": "", "stream_kind": "session", "x": 1})],
            "completed",
        ),
        ("later types", vec![json!({"type": "openresponses_request_started", "x": 1})], "completed"),
        (
            "checkpoints",
            vec![
                checkpoint(&json!("write")),
                started("a", "write"),
                ended("a"),
                checkpoint(&json!("write")),
                started("b", "write"),
                ended("b"),
                checkpoint(&Value::Null),
            ],
            "completed",
        ),
        (
            "a tool that is not checkpointed each time",
            vec![started("a", "write"), ended("a"), checkpoint(&json!("write")), started("b", "write"), ended("b")],
            "completed",
        ),
        (
            "a checkpoint for a parallel tool",
            vec![
                checkpoint(&json!("write")),
                started("a", "write"),
                checkpoint(&json!("write")),
                started("b", "write"),
                ended("a"),
                ended("b"),
            ],
            "completed",
        ),
        (
            "a checkpoint that failed",
            vec![
                json!({"type": "checkpoint_failed", "action": "create", "error": "full"}),
                started("a", "write"),
                checkpoint(&json!("write")),
                started("b", "write"),
                ended("a"),
                ended("b"),
            ],
            "completed",
        ),
    ] {
        passes(V1, what, &tool_run(&bodies, reason));
    }
    let output = tool_run(&[json!({"type": "output", "content": "hi"})], "completed");
    warns(V1, "an older name of text", &output, &[(2, "type.legacy")]);
    let mut older = example();
    older[0] =
        json!({"id": "x", "session_id": "s1", "timestamp_ms": 0, "seq": 0, "type": "session_started", "prompt": "hi"});
    warns(V1, "an older start", &older, &[(1, "type.legacy")]);
    older[0].as_object_mut().unwrap().remove("prompt");
    warns(V1, "an older start without a prompt", &older, &[(1, "type.legacy")]);
    warns(
        V1,
        "a tool that does not exist",
        &tool_run(&[json!({"type": "tool_failed", "tool_id": "t", "error": "unknown tool"})], "completed"),
        &[(2, "pair.not_open")],
    );
}

fn task() -> Vec<Value> {
    vec![
        json!({"type": "tool_task_spawned", "task_id": "t1", "tool_name": "shell", "args": {"command": "make"},
            "execution_mode": "pty"}),
        json!({"type": "tool_task_status", "task_id": "t1", "status": "running"}),
        json!({"type": "tool_task_output_delta", "task_id": "t1", "stream": "pty", "chunk": "ok",
            "artifacts": {"log": {"id": "0", "path": "p"}}}),
        json!({"type": "tool_task_stdin_written", "task_id": "t1", "chunk_b64": "aGkK"}),
        json!({"type": "tool_task_resized", "task_id": "t1", "rows": 24, "cols": 80}),
        json!({"type": "tool_task_signalled", "task_id": "t1", "signal": "INT"}),
        json!({"type": "tool_task_cancel_requested", "task_id": "t1", "reason": "user"}),
        json!({"type": "tool_task_cancelled", "task_id": "t1", "reason": "user"}),
        json!({"type": "tool_task_status", "task_id": "t1", "status": "cancelled", "exit_code": null, "started_at_ms": 1,
            "ended_at_ms": 2, "artifacts": null, "error": null}),
    ]
}

#[test]
fn task_and_continuity_streams_need_neither_start_nor_end() {
    let all = [example(), v1("t1", &task()), v1("k", &[json!({"type": "continuity_created", "x": 1})])].concat();
    passes(V1, "sessions, tasks and continuities in one log", &all);
    let all = [
        v2("task", "t1", &task()),
        v2("continuity", "k", &[json!({"type": "continuity_created"})]),
        v2("workbench", "w", &[json!({"type": "output_text_delta", "delta": "x"})]),
    ]
    .concat();
    passes(V2, "stream_kind is extensible", &all);
}

#[test]
fn optional_fields_of_v2_may_be_absent_and_untyped_ones_may_have_any_value() {
    let run = |bodies: &[Value]| {
        let mut all = vec![json!({"type": "session_started", "input": "hi"})];
        all.extend(bodies.iter().cloned());
        all.push(json!({"type": "session_ended", "reason": "completed"}));
        v2("session", "s1", &all)
    };
    passes(
        V2,
        "optional fields absent",
        &run(&[
            json!({"type": "output_text_delta", "delta": "x"}),
            json!({"type": "tool_started", "tool_id": "t", "name": "ls", "args": {}}),
            json!({"type": "tool_stdout", "tool_id": "t", "chunk": "x"}),
            ended("t"),
            json!({"type": "artifact_written", "artifact_id": "a", "kind": "log", "bytes": 1, "digest": "d"}),
            json!({"type": "skill_catalog_updated", "count": 1, "roots": ["~"]}),
            json!({"type": "skill_loaded", "name": "n", "path": "p", "digest": "d", "frontmatter": {}}),
            json!({"type": "skill_invoked", "name": "n", "mode": "auto"}),
            json!({"type": "skill_warning", "kind": "k", "detail": "d"}),
        ]),
    );
    for any in [Value::Null, json!([]), json!(["a", {"b": 1}]), json!({"a": 1}), json!("text"), json!(3)] {
        passes(
            V2,
            "no type is given",
            &run(&[
                json!({"type": "skill_catalog_updated", "count": 0, "roots": [], "collisions": any}),
                json!({"type": "skill_loaded", "name": "n", "path": "p", "digest": "d", "frontmatter": any, "warnings": any}),
                json!({"type": "skill_invoked", "name": "n", "mode": "manual", "args": any, "effective_allowed_tools": any}),
            ]),
        );
    }
    passes(
        V2,
        "null",
        &run(&[
            json!({"type": "skill_warning", "name": null, "kind": "k", "detail": "d"}),
            json!({"type": "artifact_written", "artifact_id": "a", "kind": "log", "bytes": 1, "digest": "d", "preview": null}),
        ]),
    );
    let mut aliased = run(&[]);
    aliased[1]["session_id"] = json!("s1");
    passes(V2, "session_id is an alias", &aliased);
    aliased[1]["session_id"] = json!("s2");
    fails(V2, "session_id is something else", &aliased, &[(2, "id.alias")]);
}

#[test]
fn violations_of_the_document_are_found() {
    let with = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut events = example();
        edit(&mut events);
        events
    };
    for (what, events, expected) in [
        (
            "another start",
            with(&|e| e.iter_mut().for_each(|e| e["seq"] = json!(e["seq"].as_u64().unwrap() + 1))),
            vec![(1, "sequence.start")],
        ),
        ("a gap", with(&|e| drop(e.remove(1))), vec![(2, "sequence.gap")]),
        ("a repeat", with(&|e| e[2]["seq"] = json!(1)), vec![(3, "sequence.repeat"), (4, "sequence.gap")]),
        ("an id twice", with(&|e| e[2]["id"] = e[1]["id"].clone()), vec![(3, "id.repeat")]),
        ("no end", with(&|e| drop(e.pop())), vec![(0, "end.missing")]),
        ("an unknown type", with(&|e| e[2]["type"] = json!("output_text")), vec![(3, "schema.type")]),
        ("errors missing", with(&|e| drop(e[1].as_object_mut().unwrap().remove("errors"))), vec![(2, "schema")]),
        ("an unknown status", with(&|e| e[1]["status"] = json!("ok")), vec![(2, "schema")]),
        ("a number for text", with(&|e| e[2]["delta"] = json!(1)), vec![(3, "schema")]),
        ("null for text", with(&|e| e[2]["delta"] = Value::Null), vec![(3, "schema")]),
        ("a negative time", with(&|e| e[2]["timestamp_ms"] = json!(-1)), vec![(3, "schema")]),
        ("no data", with(&|e| e[1]["data"] = Value::Null), vec![(2, "provider_event.data")]),
        (
            "an end within",
            with(&|e| {
                e[2] = json!({"id": "x", "session_id": "s1", "timestamp_ms": 7, "seq": 2, "type": "session_ended", "reason": "x"});
            }),
            vec![(4, "end.repeat")],
        ),
        (
            "an invalid task",
            with(&|e| {
                e.push(json!({"id": "x", "session_id": "t", "timestamp_ms": 7, "seq": 0, "type": "tool_task_status", "task_id": "t", "status": "lost"}));
            }),
            vec![(5, "schema")],
        ),
        ("a tool left open", tool_run(&[started("t", "ls")], "completed"), vec![(3, "pair.left_open")]),
        (
            "a tool that ends twice",
            tool_run(&[started("t", "ls"), ended("t"), ended("t")], "completed"),
            vec![(4, "pair.not_open")],
        ),
        (
            "output of no tool",
            tool_run(&[json!({"type": "tool_stdout", "tool_id": "t", "chunk": "x"})], "completed"),
            vec![(2, "pair.not_open")],
        ),
        (
            "args that are not an object",
            tool_run(
                &[json!({"type": "tool_started", "tool_id": "t", "name": "ls", "args": 7}), ended("t")],
                "completed",
            ),
            vec![(2, "schema")],
        ),
        (
            "a checkpoint within its tool",
            tool_run(&[started("t", "write"), checkpoint(&json!("write")), ended("t")], "completed"),
            vec![(3, "checkpoint.late")],
        ),
        (
            "a checkpoint after its tool",
            tool_run(&[started("t", "write"), ended("t"), checkpoint(&json!("write"))], "completed"),
            vec![(5, "checkpoint.late")],
        ),
    ] {
        fails(V1, what, &events, &expected);
    }
    let mut task = v1("t1", &task());
    task[0].as_object_mut().unwrap().remove("execution_mode");
    fails(V1, "a task without its mode", &task, &[(1, "schema")]);
    let thread = v2("thread", "k", &[json!({"type": "session_ended", "reason": "x"})]);
    fails(V2, "a thread that ends", &thread, &[(1, "start.forbidden")]);
}
