//! Late subscribers, duplicate events, and the event formats of other releases.

use super::records::*;
use serde_json::{Value, json};

#[test]
fn a_late_listener_gets_the_whole_text() {
    let delta = json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": "end."});
    let records = list([
        vec![
            event("message.part.delta", delta),
            text_part("s", "a", "t", "From the beginning to the end."),
            completed("s", "a"),
            message("s", "old", json!({"role": "user", "summary": {"diffs": []}})),
        ],
        idle("s"),
        vec![text_part("s", "a", "t", "From the beginning to the end."), completed("s", "a")],
    ]);
    assert_eq!(
        frame_lines(&records),
        [
            "run \"\"",
            "delta \"From the beginning to the end.\"",
            "text \"From the beginning to the end.\"",
            "end completed - \"From the beginning to the end.\""
        ]
    );
}

#[test]
fn a_step_without_its_start_is_a_turn() {
    let finish = json!({"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"total": 3, "input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    assert_eq!(frame_lines(&[part("s", "a", "f", finish)])[1..4], ["turn", "usage 1 2", "turn ended stop"]);
}

#[test]
fn a_sync_record_without_its_duplicate_counts() {
    let sync = |id: &str, event: &Value| json!({"directory": "/w", "payload": {"type": "sync", "id": id, "syncEvent": {"id": id, "type": format!("{}.1", event["type"].as_str().unwrap()), "seq": 1, "aggregateID": "s", "data": event["properties"]}}});
    let said = text_part("s", "a", "t", "Once.");
    let mut twin = said.clone();
    twin["id"] = json!("e1");
    let records = [sync("e1", &said), json!({"directory": "/w", "payload": twin}), sync("e2", &completed("s", "a"))];
    assert_eq!(frame_lines(&records)[1..3], ["delta \"Once.\"", "text \"Once.\""]);
    assert_eq!(frame_lines(&records).len(), 4);
}

#[test]
fn opaque_reasoning_is_kept() {
    let reasoning = part(
        "s",
        "a",
        "r",
        json!({"type": "reasoning", "text": "", "metadata": {"openai": {"reasoningEncryptedContent": "x"}}, "time": {"start": 1, "end": 2}}),
    );
    assert_eq!(frame_lines(&[reasoning])[1], "reasoning \"\" {\"openai\":{\"reasoningEncryptedContent\":\"x\"}}");
    let nothing = part("s", "a", "r", json!({"type": "reasoning", "text": "", "time": {"start": 1, "end": 2}}));
    assert_eq!(frame_lines(&[nothing]), ["run \"\"", "end interrupted stream_ended \"\""]);
}

#[test]
fn records_of_the_first_release_are_read() {
    let old = |kind: &str, properties: Value| json!({"type": kind, "properties": properties});
    let text = |text: &str, delta: Option<&str>, end: bool| {
        let mut part =
            json!({"id": "t", "sessionID": "s", "messageID": "a", "type": "text", "text": text, "time": {"start": 1}});
        if end {
            part["time"]["end"] = json!(2);
        }
        let mut properties = json!({"part": part});
        if let Some(delta) = delta {
            properties["delta"] = json!(delta);
        }
        old("message.part.updated", properties)
    };
    let info = |more: Value| {
        let mut info = json!({"id": "a", "sessionID": "s", "role": "assistant", "time": {"created": 1}});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        old("message.updated", json!({"info": info}))
    };
    let permission = json!({"id": "per", "type": "bash", "pattern": "ls", "sessionID": "s", "messageID": "a", "callID": "c", "title": "ls", "metadata": {"command": "ls"}, "time": {"created": 1}});
    let finish = json!({"part": {"id": "f", "sessionID": "s", "messageID": "a", "type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"input": 9, "output": 7, "reasoning": 5, "cache": {"read": 0, "write": 0}}}});
    let records = [
        info(json!({})),
        old("permission.updated", permission),
        old("permission.replied", json!({"sessionID": "s", "permissionID": "per", "response": "always"})),
        text("Ab", Some("Ab"), false),
        text("Ab c ", Some(" c "), false),
        text("Ab c", None, true),
        old("message.part.updated", finish),
        // On an abort, the idle event precedes the reason.
        old("session.idle", json!({"sessionID": "s"})),
        old(
            "session.error",
            json!({"sessionID": "s", "error": {"name": "MessageAbortedError", "data": {"message": "x"}}}),
        ),
        info(
            json!({"time": {"created": 1, "completed": 2}, "error": {"name": "MessageAbortedError", "data": {"message": "x"}}}),
        ),
    ];
    assert_eq!(
        frame_lines(&records)[1..],
        [
            "asked per bash",
            "answered per approved",
            "delta \"Ab\"",
            "delta \" c \"",
            "text \"Ab c \"",
            "turn",
            "usage 9 7",
            "turn ended stop",
            "usage 9 7",
            "end interrupted aborted \"Ab c \""
        ]
    );
}

/// A record of the newer surface.
fn next(kind: &str, more: Value) -> Value {
    let mut data = json!({"sessionID": "s", "timestamp": 5, "assistantMessageID": "a"});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"id": "e", "type": format!("session.next.{kind}"), "data": data})
}

#[test]
fn a_text_completed_after_its_step_is_the_answer_on_the_newer_surface() {
    let records = [
        next("step.started", json!({})),
        next("text.started", json!({"textID": "t"})),
        next("text.delta", json!({"textID": "t", "delta": "Half"})),
        next("step.ended", json!({"finish": "tool-calls"})),
        next("text.delta", json!({"textID": "t", "delta": " an"})),
        next("text.ended", json!({"textID": "t", "text": "Half an answer"})),
        json!({"id": "e", "type": "session.next.step.started", "data": {"sessionID": "s", "assistantMessageID": "b"}}),
        json!({"id": "e", "type": "session.next.step.ended", "data": {"sessionID": "s", "assistantMessageID": "b", "finish": "stop"}}),
    ];
    assert_eq!(
        frame_lines(&records),
        [
            "run \"\"",
            "turn",
            "delta \"Half\"",
            "text \"Half\"",
            "turn ended tool-calls",
            "record error a piece of a text came after the text was closed",
            "record error a text came whole after it was closed, and is not what was said of it",
            "turn",
            "turn ended stop",
            "end completed - \"Half an answer\""
        ]
    );
}

#[test]
fn failures_of_the_newer_surface_are_read() {
    let records = [
        next("prompted", json!({"messageID": "u", "prompt": {"text": "Go"}})),
        next("step.started", json!({"model": {"id": "m"}})),
        next("tool.called", json!({"callID": "c", "tool": "bash", "input": {"command": "x"}})),
        next("tool.failed", json!({"callID": "c", "error": {"type": "unknown", "message": "broke"}})),
        next("step.failed", json!({"error": {"type": "provider", "message": "down"}})),
        next("something", json!({})),
    ];
    assert_eq!(
        frame_lines(&records),
        [
            "run \"Go\"",
            "user \"Go\"",
            "turn",
            "proposed c",
            "started c bash shell {\"command\":\"x\"}",
            "err \"broke\"",
            "ended c 1",
            "error provider \"down\"",
            "turn ended -",
            "record error unknown event type \"session.next.something\"",
            "end failed provider \"\""
        ]
    );
}
