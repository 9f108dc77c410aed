//! `agent-manager.v1`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const AM: &str = "agent-manager.v1";
const RUN: &str = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

fn run(bodies: &[(&str, Value)]) -> Vec<Value> {
    let event = |(at, (kind, data)): (usize, &(&str, Value))| {
        json!({"id": format!("3f2504e0-4f89-41d3-9a0c-{at:012}"), "runId": RUN, "sequence": at, "eventType": kind,
            "timestamp": "2025-12-20T04:18:42.709878Z", "data": data})
    };
    bodies.iter().enumerate().map(event).collect()
}

fn status(old: &str, new: &str) -> (&'static str, Value) {
    ("status", json!({"oldStatus": old, "newStatus": new, "reason": "Claude Code execution"}))
}

/// The document's examples as one run.
fn example() -> Vec<Value> {
    run(&[
        status("starting", "running"),
        ("log", json!({"level": "info", "message": "phase: Agent is executing"})),
        ("tool_call", json!({"toolName": "Write", "input": {"file_path": "/tmp/test.txt", "content": "Hello world"}})),
        (
            "tool_result",
            json!({"toolName": "Write", "toolCallId": "toolu_01GXZ12345",
            "output": "File created successfully at: /tmp/test.txt", "success": true}),
        ),
        ("tool_call", json!({"toolName": "Bash", "input": {"command": "foobar"}})),
        (
            "tool_result",
            json!({"toolName": "Bash", "toolCallId": "call_01361367", "error": "command not found: foobar",
            "success": false}),
        ),
        ("message", json!({"role": "assistant", "content": "I've created the file with the specified content."})),
        (
            "metric",
            json!({"inputTokens": 3562, "outputTokens": 401, "cacheReadTokens": 6144, "cacheCreationTokens": 0,
            "totalCostUsd": 0.001_975_28}),
        ),
        (
            "error",
            json!({"code": "rate_limit", "message": "Rate limit exceeded. Please wait 60 seconds.",
            "retryable": true}),
        ),
        (
            "status",
            json!({"oldStatus": "running", "newStatus": "complete", "reason": "Execution completed successfully"}),
        ),
    ])
}

#[test]
fn runs_of_other_writers_pass() {
    passes(AM, "the examples", &example());
    let between = |more: &[(&str, Value)]| {
        let mut bodies = vec![status("starting", "running")];
        bodies.extend(more.iter().cloned());
        bodies.push(status("running", "complete"));
        run(&bodies)
    };
    for (what, more) in [
        (
            "a result without a name or a call",
            ("tool_result", json!({"toolName": "", "toolCallId": "toolu_1", "output": "ok", "success": true})),
        ),
        (
            "output with an error",
            ("tool_result", json!({"toolName": "", "output": "", "error": "no", "success": false})),
        ),
        (
            "a call without a result",
            (
                "tool_call",
                json!({"toolName": "file_change", "input": {"files": [{"kind": "update", "path": "a"}], "status": "completed"}}),
            ),
        ),
        ("a call without arguments", ("tool_call", json!({"toolName": "Bash", "input": null}))),
        ("an artifact", ("artifact", json!({"type": "patch", "path": "/tmp/a.diff"}))),
        (
            "a rate limit",
            (
                "error",
                json!({"limitType": "5_hour", "message": "usage limit reached", "resetTime": "2025-12-20T05:00:00Z"}),
            ),
        ),
        ("an older figure", ("metric", json!({"name": "tokens", "value": 12, "unit": "tokens"}))),
        ("progress", ("status", json!({"phase": "executing", "percentComplete": 40}))),
        (
            "an error with more",
            ("error", json!({"code": "x", "message": "m", "retryable": false, "recovery": "retry", "stackTrace": ""})),
        ),
        (
            "a metric with more",
            ("metric", json!({"inputTokens": 1, "outputTokens": 2, "totalCostUsd": 0, "costSource": "runner"})),
        ),
    ] {
        passes(AM, what, &between(&[more]));
    }
    let mut times = example();
    for (event, time) in
        times.iter_mut().zip(["2025-12-20T04:18:42Z", "2025-12-20T05:18:42.1+01:00", "2025-12-20T04:18:42.123456789Z"])
    {
        event["timestamp"] = json!(time);
    }
    passes(AM, "times with offsets and fractions", &times);
    let mut bodies = vec![status("starting", "running"), status("running", "complete")];
    bodies.extend([
        status("starting", "running"),
        ("message", json!({"role": "user", "content": "go on"})),
        status("running", "complete"),
    ]);
    warns(AM, "a run that is continued", &run(&bodies), &[]);
    warns(
        AM,
        "a log after the end",
        &run(&[status("running", "failed"), ("log", json!({"level": "info", "message": "x"}))]),
        &[(2, "end.not_last")],
    );
    warns(AM, "a run that continues", &example()[..3], &[(0, "end.missing")]);
    warns(
        AM,
        "a result of another name",
        &between(&[("tool_result", json!({"toolName": "Read", "output": "x", "success": true}))]),
        &[(2, "pair.not_open")],
    );
}

#[test]
fn violations_of_the_document_are_found() {
    let with = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut events = example();
        edit(&mut events);
        events
    };
    let without = |at: usize, key: &str| with(&|e| drop(e[at]["data"].as_object_mut().unwrap().remove(key)));
    for (what, events, expected) in [
        (
            "another start",
            with(&|e| e.iter_mut().for_each(|e| e["sequence"] = json!(e["sequence"].as_u64().unwrap() + 1))),
            vec![(1, "sequence.start")],
        ),
        ("a gap", with(&|e| drop(e.remove(1))), vec![(2, "sequence.gap")]),
        ("an id twice", with(&|e| e[2]["id"] = e[1]["id"].clone()), vec![(3, "id.repeat")]),
        ("an id that is not a UUID", with(&|e| e[2]["id"] = json!("e2")), vec![(3, "schema")]),
        ("an unknown type", with(&|e| e[1]["eventType"] = json!("chat")), vec![(2, "schema.type")]),
        ("an unknown role", with(&|e| e[6]["data"]["role"] = json!("tool")), vec![(7, "schema")]),
        ("an unknown level", with(&|e| e[1]["data"]["level"] = json!("loud")), vec![(2, "schema")]),
        ("no data", with(&|e| e[1]["data"] = Value::Null), vec![(2, "schema")]),
        ("an invalid time", with(&|e| e[1]["timestamp"] = json!("now")), vec![(2, "schema")]),
        ("no input", without(2, "input"), vec![(3, "schema")]),
        ("no success", without(3, "success"), vec![(4, "schema")]),
        ("no cost", without(7, "totalCostUsd"), vec![(8, "schema")]),
        ("no code", without(8, "code"), vec![(9, "schema")]),
        ("no new status", without(9, "newStatus"), vec![(10, "schema")]),
        ("tokens that are text", with(&|e| e[7]["data"]["inputTokens"] = json!("3562")), vec![(8, "schema")]),
        (
            "statuses that do not follow",
            with(&|e| e[9]["data"]["oldStatus"] = json!("paused")),
            vec![(10, "status.chain")],
        ),
        (
            "two ends",
            with(&|e| {
                let mut end = e[9].clone();
                end["id"] = json!("3f2504e0-4f89-41d3-9a0c-000000000099");
                end["sequence"] = json!(10);
                e.push(end);
            }),
            vec![(11, "status.chain")],
        ),
    ] {
        fails(AM, what, &events, &expected);
    }
}
