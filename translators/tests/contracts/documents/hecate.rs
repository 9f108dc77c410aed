//! `hecate.v1`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const HECATE: &str = "hecate.v1";
const RUN: &str = "run_01JXMZH0000000000000000000";

fn run(bodies: &[(&str, Value)]) -> Vec<Value> {
    let event = |(at, (kind, data)): (usize, &(&str, Value))| {
        json!({"schema_version": "1", "event_id": format!("evt_01JXMZH{at:019}"), "run_id": RUN,
            "task_id": "task_01JXMZH0000000000000000000", "session_id": "chat_01JXMZH0000000000000000000",
            "sequence": at, "occurred_at": "2026-05-03T10:23:45.123Z", "type": kind, "data": data})
    };
    bodies.iter().enumerate().map(event).collect()
}

fn queued() -> (&'static str, Value) {
    (
        "run.queued",
        json!({"kind": "agent_loop", "model": "claude-sonnet-4-5", "provider": "anthropic",
        "workspace_path": "/tmp/w", "workspace_mode": "clone", "prior_run_id": null}),
    )
}

fn started() -> (&'static str, Value) {
    ("run.started", json!({"worker_id": "worker-3", "lease_until": "2026-05-03T10:24:15.000Z"}))
}

fn finished() -> (&'static str, Value) {
    ("run.finished", json!({"final_status": "completed", "turns": 7, "cost_micros_usd": 12_400, "duration_ms": 48_310}))
}

fn failed() -> (&'static str, Value) {
    (
        "run.failed",
        json!({"code": "model_unreachable", "message": "anthropic.com returned 529 after 3 retries",
        "retriable": true, "turns": 2}),
    )
}

/// The document's shapes as one successful run.
fn success() -> Vec<(&'static str, Value)> {
    let call = json!({"tool_call_id": "call_01JXMZ", "tool_name": "shell_exec", "kind": "shell", "turn_index": 0});
    vec![
        queued(),
        started(),
        (
            "turn.started",
            json!({"turn_index": 0, "model": "claude-sonnet-4-5", "provider": "anthropic", "input_tokens_estimate": 4_217}),
        ),
        ("assistant.text_delta", json!({"turn_index": 0, "block_index": 0, "delta": "I'll start."})),
        ("assistant.text_complete", json!({"turn_index": 0, "block_index": 0, "text": "I'll start."})),
        (
            "assistant.tool_call_proposed",
            json!({"turn_index": 0, "tool_call_id": "call_01JXMZ", "tool_name": "shell_exec", "input": {"command": "go test"}}),
        ),
        (
            "approval.requested",
            json!({"approval_id": "appr_01JXMZ", "tool_call_id": "call_01JXMZ", "kind": "shell_exec", "summary": "rm -rf node_modules", "policy_reason": "gated"}),
        ),
        (
            "approval.resolved",
            json!({"approval_id": "appr_01JXMZ", "decision": "approved", "by": "operator", "comment": "", "scope": "once"}),
        ),
        ("tool.invoked", call),
        (
            "tool.shell.command",
            json!({"tool_call_id": "call_01JXMZ", "argv": ["go", "test"], "cwd": "/tmp/w", "env_keys": ["PATH"], "sandbox_layer": "bwrap"}),
        ),
        (
            "tool.shell.output_chunk",
            json!({"tool_call_id": "call_01JXMZ", "stream": "stdout", "data": "ok\n", "byte_offset": 0}),
        ),
        (
            "tool.shell.exited",
            json!({"tool_call_id": "call_01JXMZ", "exit_code": 0, "signal": null, "stdout_bytes": 3, "stderr_bytes": 0, "truncated": false}),
        ),
        (
            "tool.completed",
            json!({"tool_call_id": "call_01JXMZ", "tool_name": "shell_exec", "kind": "shell", "duration_ms": 312, "summary": "exited with status 0"}),
        ),
        (
            "turn.completed",
            json!({"turn_index": 0, "input_tokens": 4_201, "output_tokens": 312, "cached_input_tokens": 0, "cost_micros_usd": 4_120, "duration_ms": 6_540, "tool_calls": 1, "stop_reason": "tool_use"}),
        ),
        (
            "cost.tick",
            json!({"cumulative_input_tokens": 12_400, "cumulative_output_tokens": 1_120, "cumulative_cost_micros_usd": 14_320, "task_budget_micros_usd": 50_000, "task_budget_remaining_micros_usd": 35_680}),
        ),
        ("assistant.final_answer", json!({"turn_index": 0, "summary": "Refactored."})),
        finished(),
    ]
}

fn with(bodies: &[(&'static str, Value)], end: (&'static str, Value)) -> Vec<Value> {
    run(&[&[started()], bodies, &[end]].concat())
}

#[test]
fn runs_of_other_writers_pass() {
    passes(HECATE, "a run that goes well", &run(&success()));
    let retried =
        json!({"turn_index": 3, "code": "model_timeout", "message": "no response in 60s", "will_retry": false});
    passes(
        HECATE,
        "a turn that failed before it started",
        &run(&[queued(), started(), ("turn.failed", retried), failed()]),
    );
    let resumed =
        ("run.resumed_from_event", json!({"from_run_id": RUN, "from_sequence": 187, "prior_cost_micros_usd": 8_900}));
    passes(HECATE, "a run that continues another", &run(&[resumed.clone(), queued(), started(), finished()]));
    passes(
        HECATE,
        "without optional fields",
        &run(&[("run.resumed_from_event", json!({"from_run_id": RUN, "from_sequence": 0})), started(), finished()]),
    );
    let pruned = (
        "gap.events_pruned",
        json!({"first_pruned_sequence": 0, "last_pruned_sequence": 142, "pruned_at": "2026-05-03T09:00:00Z", "reason": "retention_window"}),
    );
    passes(HECATE, "a gap after the end", &run(&[queued(), started(), failed(), pruned]));
    passes(
        HECATE,
        "a lost worker",
        &run(&[
            queued(),
            started(),
            ("gap.run_disconnected", json!({"reason": "worker_lease_expired", "action": "requeued"})),
            queued(),
            started(),
            finished(),
        ]),
    );
    passes(
        HECATE,
        "an operator's cancel within a tool",
        &with(
            &[
                ("tool.invoked", json!({"tool_call_id": "c", "tool_name": "t", "kind": "shell"})),
                (
                    "approval.requested",
                    json!({"approval_id": "a", "tool_call_id": "c", "kind": "shell", "summary": "s"}),
                ),
            ],
            ("run.cancelled", json!({"by": "operator", "reason": ""})),
        ),
    );
    for kind in ["model.call.started", "user.shout", "tool.custom_kind.progress", "subagent.spawned", "run.paused2"] {
        passes(HECATE, "an unknown type is opaque", &with(&[(kind, json!({"anything": [1, null]}))], finished()));
    }
    passes(HECATE, "fields that came later", &{
        let mut events = run(&success());
        events[3]["trace_id"] = json!("t");
        events[3]["data"]["role"] = json!("assistant");
        events
    });
    passes(
        HECATE,
        "null where an example gives no type",
        &with(
            &[
                ("tool.invoked", json!({"tool_call_id": "c", "tool_name": "t", "kind": "mcp", "turn_index": null})),
                (
                    "tool.completed",
                    json!({"tool_call_id": "c", "tool_name": "t", "kind": "mcp", "duration_ms": null, "summary": null, "result_artifact_id": null}),
                ),
            ],
            finished(),
        ),
    );
    passes(
        HECATE,
        "reads that tell their end alone",
        &with(
            &[
                (
                    "tool.glob.completed",
                    json!({"tool_call_id": "c", "pattern": "*", "matches": [], "match_count": 0, "truncated": false}),
                ),
                (
                    "tool.todo_write.updated",
                    json!({"tool_call_id": "d", "todos": [{"content": "x", "status": "pending"}]}),
                ),
                ("tool.file.patch", json!({})),
            ],
            finished(),
        ),
    );
    passes(
        HECATE,
        "output that was no text",
        &with(
            &[
                ("tool.invoked", json!({"tool_call_id": "c", "tool_name": "t", "kind": "shell"})),
                (
                    "tool.shell.output_chunk",
                    json!({"tool_call_id": "c", "stream": "stdout", "data": "\u{FFFD}", "byte_offset": 0}),
                ),
                (
                    "tool.shell.output_chunk",
                    json!({"tool_call_id": "c", "stream": "stdout", "data": "x", "byte_offset": 1}),
                ),
                ("tool.completed", json!({"tool_call_id": "c", "tool_name": "t", "kind": "shell"})),
            ],
            finished(),
        ),
    );
    let mut counted = run(&success());
    for event in &mut counted {
        event["sequence"] = json!(event["sequence"].as_u64().unwrap() + 4_711);
        event.as_object_mut().unwrap().remove("session_id");
    }
    warns(HECATE, "a counter of all runs", &counted, &[(1, "sequence.start")]);
    let mut ids = run(&success());
    ids.swap(3, 4);
    let (one, two) = (ids[3]["event_id"].clone(), ids[4]["event_id"].clone());
    ids.swap(3, 4);
    (ids[3]["event_id"], ids[4]["event_id"]) = (one, two);
    warns(HECATE, "ids within a millisecond", &ids, &[(5, "id.order")]);
    warns(
        HECATE,
        "a name of an earlier draft",
        &with(&[("run.claimed", json!({}))], finished()),
        &[(2, "type.legacy")],
    );
    let mut times = run(&success());
    for (event, time) in
        times.iter_mut().zip(["2026-05-03T10:23:45Z", "2026-05-03T10:23:45.123456789Z", "2026-05-03T12:23:45.1+02:00"])
    {
        event["occurred_at"] = json!(time);
    }
    passes(HECATE, "times", &times);
}

#[test]
fn violations_of_the_document_are_found() {
    let edited = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut events = run(&success());
        edit(&mut events);
        events
    };
    let without = |at: usize, key: &str| edited(&|e| drop(e[at]["data"].as_object_mut().unwrap().remove(key)));
    let dropped = |at: usize| {
        let mut bodies = success();
        bodies.remove(at);
        run(&bodies)
    };
    let twice = |at: usize| {
        let mut bodies = success();
        bodies.insert(at + 1, bodies[at].clone());
        run(&bodies)
    };
    for (what, events, expected) in [
        ("a question without its call", without(6, "tool_call_id"), vec![(7, "schema")]),
        ("a question without a summary", without(6, "summary"), vec![(7, "schema")]),
        ("a gap", edited(&|e| drop(e.remove(3))), vec![(4, "sequence.gap")]),
        ("a repeat", edited(&|e| e[4]["sequence"] = json!(3)), vec![(5, "sequence.repeat"), (6, "sequence.gap")]),
        ("an id twice", edited(&|e| e[4]["event_id"] = e[3]["event_id"].clone()), vec![(5, "id.repeat")]),
        (
            "an id of an earlier time",
            edited(&|e| e[4]["event_id"] = json!("evt_01JAAAA0000000000000000004")),
            vec![(5, "id.order")],
        ),
        (
            "a run id that is not a ULID",
            edited(&|e| e.iter_mut().for_each(|e| e["run_id"] = json!("run-1"))),
            (1..=17).map(|at| (at, "schema")).collect(),
        ),
        (
            "another session",
            edited(&|e| e[4]["session_id"] = json!("chat_01JXMZH0000000000000000009")),
            vec![(5, "id.changed")],
        ),
        (
            "a session of null",
            edited(&|e| e.iter_mut().for_each(|e| e["session_id"] = Value::Null)),
            (1..=17).map(|at| (at, "schema")).collect(),
        ),
        ("no start", run(&success()[2..]), vec![(1, "start.missing")]),
        ("no end", run(&success()[..16]), vec![(0, "end.missing")]),
        ("two ends", twice(16), vec![(18, "end.repeat")]),
        (
            "an event after the end",
            run(&[success(), vec![("cost.tick", json!({}))]].concat()),
            vec![(18, "end.not_last")],
        ),
        ("queued twice", twice(0), vec![(2, "start.repeat")]),
        (
            "resumed in the midst",
            run(&[started(), ("run.resumed_from_event", json!({"from_run_id": RUN, "from_sequence": 0})), finished()]),
            vec![(2, "start.repeat")],
        ),
        ("a turn that did not start", dropped(2), vec![(13, "turn.not_open")]),
        ("a turn that ends twice", twice(13), vec![(15, "turn.not_open")]),
        ("a turn left open", dropped(13), vec![(16, "turn.left_open")]),
        ("another text", edited(&|e| e[4]["data"]["text"] = json!("I'll stop.")), vec![(5, "text.differs")]),
        (
            "a call that was not invoked",
            dropped(8),
            vec![(9, "pair.not_open"), (10, "pair.not_open"), (11, "pair.not_open"), (12, "pair.not_open")],
        ),
        ("a call without an end", dropped(12), vec![(16, "pair.left_open")]),
        ("an answer to no question", dropped(6), vec![(7, "pair.not_open")]),
        ("a question without an answer", dropped(7), vec![(16, "pair.left_open")]),
        ("bytes that are missing", edited(&|e| e[10]["data"]["byte_offset"] = json!(5)), vec![(11, "output.offset")]),
        ("data that is null", edited(&|e| e[3]["data"] = Value::Null), vec![(4, "schema"), (5, "text.differs")]),
        ("a type in capitals", edited(&|e| e[14]["type"] = json!("Cost.Tick")), vec![(15, "schema.type")]),
        ("a type without a group", edited(&|e| e[14]["type"] = json!("cost")), vec![(15, "schema.type")]),
        ("another version", edited(&|e| e[3]["schema_version"] = json!("2")), vec![(4, "schema")]),
        ("a lease that is not a time", edited(&|e| e[1]["data"]["lease_until"] = json!("soon")), vec![(2, "schema")]),
        ("an unknown decision", edited(&|e| e[7]["data"]["decision"] = json!("perhaps")), vec![(8, "schema")]),
        ("a figure that is text", edited(&|e| e[13]["data"]["input_tokens"] = json!("4201")), vec![(14, "schema")]),
    ] {
        fails(HECATE, what, &events, &expected);
    }
}
