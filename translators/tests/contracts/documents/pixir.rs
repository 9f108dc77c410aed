//! `pixir.v1`: streams and logs.

use super::{fails, passes};
use serde_json::{Value, json};

const PIXIR: &str = "pixir.v1";

const EPHEMERAL: &[&str] = &["text_delta", "reasoning_delta", "status", "plan", "context_pressure"];

/// Events of one session; canonical ones are numbered.
fn session(bodies: &[(&str, Value)]) -> Vec<Value> {
    let mut seq = 0;
    let event = |(at, (kind, data)): (usize, &(&str, Value))| {
        let number = (!EPHEMERAL.contains(kind)).then(|| {
            seq += 1;
            seq - 1
        });
        json!({"id": format!("{at:016x}"), "session_id": "20260114T083000-0a1b2c", "seq": number,
            "ts": "2026-01-14T08:30:00Z", "type": kind, "data": data})
    };
    bodies.iter().enumerate().map(event).collect()
}

fn turn() -> Vec<(&'static str, Value)> {
    vec![
        ("user_message", json!({"text": "hi"})),
        ("status", json!({"status": "thinking"})),
        ("reasoning_delta", json!({"chunk": "Hm"})),
        ("text_delta", json!({"chunk": "Hel"})),
        ("text_delta", json!({"chunk": "lo"})),
        ("reasoning", json!({"item": {"type": "reasoning", "encrypted_content": "x"}, "model": "gpt-5"})),
        ("tool_call", json!({"call_id": "c", "name": "bash", "args": {"command": "ls"}})),
        ("permission_decision", json!({"call_id": "c", "decision": "allow", "mode": "ask"})),
        ("tool_result", json!({"call_id": "c", "ok": true, "output": "a"})),
        ("provider_usage", json!({"model": null, "call_index": 0, "usage_summary": null, "prompt_cache_key": "k"})),
        ("assistant_message", json!({"text": "Hello"})),
        ("status", json!({"status": "done"})),
    ]
}

fn log() -> Vec<(&'static str, Value)> {
    turn().into_iter().filter(|(kind, _)| !EPHEMERAL.contains(kind)).collect()
}

#[test]
fn streams_and_logs_of_other_writers_pass() {
    passes(PIXIR, "a turn", &session(&turn()));
    passes(PIXIR, "its log", &session(&log()));
    let and = |more: &[(&'static str, Value)]| session(&[turn(), more.to_vec()].concat());
    let subagent = json!({"subagent_id": "s", "child_session_id": null, "event": "started", "status": "running",
        "agent": null, "task": null, "depth": null, "workspace": null, "summary": null});
    for (what, events) in [
        ("null in a subagent's life", and(&[("subagent_event", subagent)])),
        ("optional fields absent", and(&[("subagent_event", json!({"subagent_id": "s", "event": "ended", "status": "failed"}))])),
        ("a lost lease after the turn", and(&[("status", json!({"status": "session_writer_lease_lost"}))])),
        ("a compaction between turns", and(&[("history_compaction", json!({"range": [0, 3], "summary": "s"})), ("user_message", json!({"text": "more"})), ("status", json!({"status": "error"}))])),
        ("an orphan's result after the turn", session(&[&turn()[..7], &[("status", json!({"status": "interrupted"})), ("tool_result", json!({"call_id": "c", "ok": false, "error": {"kind": "orphan_tool_call", "message": "m", "details": {}}}))]].concat())),
        ("a turn that no person opened", and(&[("status", json!({"status": "thinking"})), ("text_delta", json!({"chunk": "x"})), ("assistant_message", json!({"text": "x"})), ("status", json!({"status": "done"}))])),
        ("a session without a turn", session(&[("session_fork", json!({"parent": "p"})), ("skill_activation", json!({}))])),
        ("a session of a status alone", session(&[("status", json!({"status": "session_writer_lease_lost"}))])),
        ("a live session without a turn", session(&[("session_fork", json!({})), ("branch_summary", json!({"summary": null})), ("context_pressure", json!({"tier": "advisory"})), ("plan", json!({"entries": [{"content": "x", "priority": "high", "status": "pending"}]}))])),
        ("later types", session(&[("user_message", json!({"text": "hi", "resources": null})), ("workflow_event", json!({"x": 1})), ("turn_failed", json!({"terminal_status": "provider_error", "error_kind": "x", "error_message": null, "details": {}}))])),
        ("a failure reported as text", session(&[("user_message", json!({"text": "hi"})), ("turn_failed", json!({})), ("text_delta", json!({"chunk": "No."})), ("status", json!({"status": "error"}))])),
        ("words before a call", session(&[("user_message", json!({"text": "hi"})), ("text_delta", json!({"chunk": "Let me look."})), ("tool_call", json!({"call_id": "c", "name": "ls", "args": {"p": 1}})), ("tool_result", json!({"call_id": "c", "ok": true, "output": null})), ("text_delta", json!({"chunk": "Done."})), ("assistant_message", json!({"text": "Done."})), ("status", json!({"status": "done"}))])),
        ("a log that stops at a call", session(&log()[..3])),
        ("a log that stops at the prompt", session(&log()[..1])),
    ] {
        passes(PIXIR, what, &events);
    }
    let mut gaps = session(&turn());
    for event in gaps.iter_mut().filter(|event| !event["seq"].is_null()) {
        event["seq"] = json!(event["seq"].as_u64().unwrap() * 2 + 5);
    }
    passes(PIXIR, "numbers that only go up", &gaps);
    let mut absent = session(&turn());
    absent[1].as_object_mut().unwrap().remove("seq");
    passes(PIXIR, "an ephemeral event without seq", &absent);
}

#[test]
fn violations_of_the_document_are_found() {
    let with = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut events = session(&turn());
        edit(&mut events);
        events
    };
    let data = |at: usize, value: Value| with(&move |e| e[at]["data"] = value.clone());
    let cut = |from: usize| session(&turn()[..from]);
    for (what, events, expected) in [
        ("reasoning without its model", data(5, json!({"item": {}})), vec![(6, "schema")]),
        ("reasoning whose model is null", data(5, json!({"item": {}, "model": null})), vec![(6, "schema")]),
        ("a number that goes down", with(&|e| e[6]["seq"] = json!(0)), vec![(7, "sequence.repeat")]),
        (
            "an ephemeral event with a number",
            with(&|e| e[2]["seq"] = json!(1)),
            vec![(3, "schema"), (6, "sequence.repeat")],
        ),
        ("a canonical event without one", with(&|e| e[5]["seq"] = Value::Null), vec![(6, "schema")]),
        ("an unknown type", with(&|e| e[5]["type"] = json!("thought")), vec![(6, "schema.type")]),
        ("an id twice", with(&|e| e[5]["id"] = e[4]["id"].clone()), vec![(6, "id.repeat")]),
        (
            "a path for a session",
            with(&|e| e.iter_mut().for_each(|e| e["session_id"] = json!("../x"))),
            vec![(1, "id.grammar")],
        ),
        ("an unknown decision", data(7, json!({"call_id": "c", "decision": "ask"})), vec![(8, "schema")]),
        ("a result of no call", data(8, json!({"call_id": "d", "ok": true})), vec![(9, "pair.not_open")]),
        ("a result without ok", data(8, json!({"call_id": "c", "output": "x"})), vec![(9, "schema")]),
        (
            "args that are not an object",
            data(6, json!({"call_id": "c", "name": "n", "args": "x"})),
            vec![(7, "schema")],
        ),
        ("another text", data(10, json!({"text": "Hallo"})), vec![(11, "text.differs")]),
        ("text that is not kept", with(&|e| drop(e.remove(10))), vec![(11, "text.not_kept")]),
        ("a live turn without its end", cut(11), vec![(0, "end.missing")]),
        (
            "two ends",
            with(&|e| {
                let mut end = e[11].clone();
                end["id"] = json!("x");
                e.push(end);
            }),
            vec![(13, "end.repeat")],
        ),
        (
            "an answer after the end",
            session(&[turn(), vec![("assistant_message", json!({"text": "x"}))]].concat()),
            vec![(13, "end.not_last")],
        ),
        (
            "an image in the log",
            data(0, json!({"text": "hi", "resources": [{"uri": "data:image/png;base64,AAAA"}]})),
            vec![(1, "resource.inline")],
        ),
        ("an invalid time", with(&|e| e[0]["ts"] = json!(1)), vec![(1, "schema")]),
    ] {
        fails(PIXIR, what, &events, &expected);
    }
}
