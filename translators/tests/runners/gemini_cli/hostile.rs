//! Changed and cut records: everything that is open is closed, and every record is kept.

use super::records::*;
use crate::support;
use framegate_translators::frame::{Body, Frame};
use serde_json::{Value, json};

fn is_closed(frames: &[Frame]) {
    let count = |is: fn(&Body) -> bool| frames.iter().filter(|frame| is(&frame.body)).count();
    assert_eq!(
        count(|body| matches!(body, Body::SessionStarted { .. })),
        count(|body| matches!(body, Body::SessionEnded(_)))
    );
    assert_eq!(
        count(|body| matches!(body, Body::TurnStarted { .. })),
        count(|body| matches!(body, Body::TurnEnded { .. }))
    );
    assert_eq!(
        count(|body| matches!(body, Body::ToolStarted { .. })),
        count(|body| matches!(body, Body::ToolEnded { .. } | Body::ToolFailed { .. }))
    );
}

fn sample() -> Vec<Value> {
    vec![
        init(),
        prompt("p"),
        says("a"),
        call("t", "invoke_agent", json!({"agent_name": "g", "prompt": "x"})),
        call("u", "write_todos", json!({"todos": [{"description": "d", "status": "pending"}]})),
        returned("t", "x"),
        failed("u", "policy_violation", "no"),
        error("warning", "w"),
        says("b"),
        success(),
        json!({"id": "u1", "timestamp": T, "type": "user", "content": [{"text": "Hi"}]}),
        json!({"id": "g1", "timestamp": T, "type": "gemini", "content": "Yes.", "thoughts": [{"subject": "s", "description": "d"}],
            "tokens": {"input": 1, "output": 1}, "model": "m", "toolCalls": [{"id": "c", "name": "replace", "args": {},
            "status": "success", "result": [{"functionResponse": {"response": {"output": "o"}}}], "resultDisplay": {"fileDiff": "d"}}]}),
        json!({"$set": {"messages": [{"id": "x", "type": "user", "content": "c"}]}}),
        json!({"$rewindTo": "u1"}),
        json!({"session_id": "s", "response": "r", "stats": {"models": {}}, "warnings": ["w"]}),
    ]
}

/// Every value with one part replaced by each of some others.
fn changed(value: &Value) -> Vec<Value> {
    let others =
        [Value::Null, json!(1), json!("x"), json!([]), json!({}), json!([1, "a", null]), json!(-1.5), json!(true)];
    let mut all: Vec<Value> = others.to_vec();
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                for other in changed(inner) {
                    let mut copy = map.clone();
                    copy.insert(key.clone(), other);
                    all.push(Value::Object(copy));
                }
                let mut copy = map.clone();
                copy.remove(key);
                all.push(Value::Object(copy));
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                for other in changed(inner) {
                    let mut copy = items.clone();
                    copy[at] = other;
                    all.push(Value::Array(copy));
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn a_part_of_another_type_breaks_nothing() {
    let records = sample();
    let mut tried = 0;
    for at in 0..records.len() {
        for other in changed(&records[at]) {
            let mut records = records.clone();
            records[at] = other;
            is_closed(&frames(&records));
            tried += 1;
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn a_cut_at_every_byte_breaks_nothing() {
    let bytes = lines_of(&sample());
    for end in 0..bytes.len() {
        is_closed(&support::frames(gemini(), &bytes[..end]));
    }
}

#[test]
fn unknown_records_are_kept_with_a_note() {
    let lines = frame_lines(&[init(), json!({"type": "dream", "timestamp": T}), says("a"), success()]);
    assert!(lines.contains(&"record error unknown type \"dream\"".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end completed - \"a\"");
}

#[test]
fn a_result_without_its_call_is_a_call_without_a_name() {
    let lines = frame_lines(&[init(), returned("t", "x"), says("a"), success()]);
    assert!(
        lines.iter().any(|line| line.starts_with("call t ")) && lines.contains(&"returned t 0".to_owned()),
        "{lines:?}"
    );
}
