//! `sse.v1`.

use super::{fails, passes};
use serde_json::{Value, json};

const SSE: &str = "sse.v1";

fn run(bodies: &[(&str, Value)]) -> Vec<Value> {
    let event = |(at, (kind, payload)): (usize, &(&str, Value))| {
        json!({"event_id": format!("evt_run_0a1b2c3d4e_{:04}", at + 1), "session_id": "sess_01HXYZ",
            "run_id": "run_0a1b2c3d4e", "type": kind, "ts": "2026-02-14T21:03:00Z", "payload": payload})
    };
    bodies.iter().enumerate().map(event).collect()
}

/// The document's payloads, in an order that it allows.
fn example() -> Vec<Value> {
    run(&[
        ("run_started", json!({"status": "running"})),
        ("assistant_delta", json!({"text": "I can help you rewrite your summary..."})),
        (
            "tool_call_proposed",
            json!({"approval_id": "appr_01", "tool_name": "file_write",
            "args": {"path": "frontend-resume-improved-2026-02-14.md"}}),
        ),
        ("tool_call_approved", json!({"approval_id": "appr_01"})),
        (
            "tool_result",
            json!({"tool_name": "file_write", "success": true,
            "result": "Successfully wrote 1523 characters to frontend-resume-improved-2026-02-14.md"}),
        ),
        ("tool_call_proposed", json!({"approval_id": "appr_02", "tool_name": "file_write", "args": {"path": "b"}})),
        ("tool_call_rejected", json!({"approval_id": "appr_02", "reason": "user_rejected"})),
        ("tool_result", json!({"tool_name": "file_read", "success": true, "result": ""})),
        ("run_completed", json!({"status": "completed", "final_text": "Done."})),
    ])
}

#[test]
fn runs_of_other_writers_pass() {
    passes(SSE, "the example", &example());
    for (kind, payload) in [
        ("run_interrupted", json!({"status": "interrupted"})),
        ("run_interrupted", json!({"status": "interrupted", "reason": "process_restarted"})),
        ("run_failed", json!({"status": "failed", "error_code": "PROVIDER_ERROR", "message": "LLM request failed"})),
    ] {
        let mut waiting = example()[..3].to_vec();
        waiting.extend(run(&[("", Value::Null), ("", Value::Null), ("", Value::Null), (kind, payload)])[3..].to_vec());
        passes(SSE, "an approval waits when the run ends", &waiting);
    }
    // A counter that is padded to four digits.
    let mut long = example();
    for (event, number) in long.iter_mut().zip(9995..) {
        event["event_id"] = json!(format!("evt_run_0a1b2c3d4e_{number}"));
    }
    passes(SSE, "ids go up by number", &long);
    for (event, id) in long.iter_mut().zip(["01HA", "01HB", "01HBB", "01HC0", "01HC9", "01HCA", "01J", "01JA", "02"]) {
        event["event_id"] = json!(format!("evt_{id}"));
    }
    passes(SSE, "ids go up as strings", &long);
    let mut more = example();
    more[1]["payload"] = json!({"text": "", "role": "assistant"});
    more[2]["ts"] = json!("2026-02-14T22:03:00.123456789+01:00");
    passes(SSE, "more fields, other times", &more);
}

#[test]
fn violations_of_the_document_are_found() {
    let with = |edit: &dyn Fn(&mut Vec<Value>)| {
        let mut events = example();
        edit(&mut events);
        events
    };
    for (what, events, expected) in [
        ("no start", with(&|e| drop(e.remove(0))), vec![(1, "start.missing")]),
        ("no end", with(&|e| drop(e.pop())), vec![(0, "end.missing")]),
        ("an event after the end", with(&|e| e.swap(7, 8)), vec![(9, "end.not_last"), (9, "id.order")]),
        ("an unknown type", with(&|e| e[1]["type"] = json!("usage")), vec![(2, "schema.type")]),
        ("another session", with(&|e| e[1]["session_id"] = json!("sess_2")), vec![(2, "id.changed")]),
        ("an id twice", with(&|e| e[2]["event_id"] = e[1]["event_id"].clone()), vec![(3, "id.order")]),
        ("ids that go down", with(&|e| e[2]["event_id"] = json!("evt_run_0a1b2c3d4e_0001")), vec![(3, "id.order")]),
        ("a wrong status", with(&|e| e[8]["payload"]["status"] = json!("running")), vec![(9, "schema")]),
        ("no final text", with(&|e| e[8]["payload"] = json!({"status": "completed"})), vec![(9, "schema")]),
        (
            "an answer to no question",
            with(&|e| e[3]["payload"]["approval_id"] = json!("appr_09")),
            vec![(4, "pair.not_open"), (9, "pair.left_open")],
        ),
        ("a completed run with a question", with(&|e| drop(e.remove(3))), vec![(8, "pair.left_open")]),
        ("a result that is not text", with(&|e| e[4]["payload"]["result"] = json!({"ok": true})), vec![(5, "schema")]),
        ("no payload", with(&|e| drop(e[1].as_object_mut().unwrap().remove("payload"))), vec![(2, "schema")]),
        ("an invalid time", with(&|e| e[1]["ts"] = json!("14 February")), vec![(2, "schema")]),
    ] {
        let found = super::found(SSE, &events, None);
        let mut actual: Vec<(u64, &str)> = found
            .iter()
            .filter(|l| l.finding.severity == framegate_translators::verify::Severity::Error)
            .map(|l| (l.record, l.finding.rule))
            .collect();
        actual.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(actual, expected, "{what}");
    }
    fails(
        SSE,
        "two ends",
        &{
            let mut events = example();
            events.push(events[8].clone());
            events[9]["event_id"] = json!("evt_run_0a1b2c3d4e_0010");
            events
        },
        &[(10, "end.repeat")],
    );
}
