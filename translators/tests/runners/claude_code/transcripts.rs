//! Logs and transcripts that a session leaves behind.

use super::records::*;
use framegate_translators::frame::Body;
use serde_json::{Value, json};

#[test]
fn an_old_transcript_has_whole_messages_without_record_ids() {
    let message = json!({"id": "m", "model": "claude-3", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Planning"},
        {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": [{"content": "a", "status": "pending"}]}},
    ], "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}});
    let lines = frame_lines(&[
        with_session(json!({"type": "user", "message": {"role": "user", "content": "Do it"}})),
        with_session(json!({"type": "assistant", "message": message})),
        returned("t", json!("ok"), false, None),
        text("m2", "Done"),
        with_session(
            json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done", "total_cost": 0.5,
            "usage": {"input_tokens": 3, "output_tokens": 9}}),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "start \"Do it\"",
            "user \"Do it\" 0",
            "turn",
            "thought 0 \"hm\"",
            "text 1 \"Planning\"",
            "call t TodoWrite {\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}",
            "plan pending a",
            "output t \"ok\"",
            "returned t 0",
            "turn over -",
            "turn",
            "text 0 \"Done\"",
            "turn over -",
            "usage run 3/9 Some(0.5)",
            "end completed - \"Done\"",
        ]
    );
}

#[test]
fn a_side_chain_in_an_old_transcript_belongs_to_the_child() {
    let block = |block: Value, stop: &str| json!({"id": stop, "model": "m", "content": [block], "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 2}});
    let lines = frame_lines(&[
        json!({"type": "summary", "summary": "old", "leafUuid": "x"}),
        entry("user", json!({"role": "user", "content": "Go"}), false),
        entry(
            "assistant",
            block(json!({"type": "tool_use", "id": "a", "name": "Task", "input": {"prompt": "p"}}), "tool_use"),
            false,
        ),
        entry("user", json!({"role": "user", "content": "p"}), true),
        entry("assistant", block(json!({"type": "text", "text": "child"}), "end_turn"), true),
        entry(
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "child"}]}),
            false,
        ),
        entry("user", json!({"role": "user", "content": "Stop there"}), false),
    ]);
    assert_eq!(
        lines,
        [
            "start \"Go\"",
            "user \"Go\" 0",
            "turn",
            "usage turn 1/2 None",
            "call a Task {\"prompt\":\"p\"}",
            "agent a at 1",
            "  usage turn 1/2 None",
            "  text 0 \"child\"",
            "agent a completed",
            "output a \"child\"",
            "returned a 0",
            "start \"Stop there\"",
            "turn over tool_use",
            "usage run 2/4 None",
            "end interrupted stream_ended \"-\"",
            "user \"Stop there\" 0",
            "end interrupted stream_ended \"-\"",
        ]
    );
}

#[test]
fn parallel_side_chains_in_an_old_transcript_are_distinguished() {
    let at = |uuid: &str, parent: Value, kind: &str, message: Value, sidechain: bool| {
        let mut line = entry(kind, message, sidechain);
        line["uuid"] = json!(uuid);
        line["parentUuid"] = parent;
        line
    };
    let call = |id: &str, prompt: &str| json!({"id": "m", "model": "m", "stop_reason": null, "content": [{"type": "tool_use", "id": id, "name": "Task", "input": {"prompt": prompt}}]});
    let says =
        |id: &str| json!({"id": id, "model": "m", "stop_reason": null, "content": [{"type": "text", "text": id}]});
    let records = [
        at("1", Value::Null, "user", json!({"role": "user", "content": "Go"}), false),
        at("2", json!("1"), "assistant", call("a", "left"), false),
        at("3", json!("2"), "assistant", call("b", "right"), false),
        at("l1", Value::Null, "user", json!({"role": "user", "content": "left"}), true),
        at("r1", Value::Null, "user", json!({"role": "user", "content": "right"}), true),
        at("r2", json!("r1"), "assistant", says("from right"), true),
        at("l2", json!("l1"), "assistant", says("from left"), true),
        at("r3", json!("r2"), "assistant", says("right again"), true),
    ];
    let all = frames(&records);
    let tool = |call_id: &str| {
        let found = all.iter().find_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } if *call.tool.call_id == *call_id => Some(call.tool.id),
            _ => None,
        });
        found.unwrap()
    };
    let texts: Vec<_> = all
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some((block.text.as_str(), frame.parent_tool_id.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [("from right", tool("b")), ("from left", tool("a")), ("right again", tool("b"))]);
}

#[test]
fn a_transcript_names_the_child_and_the_reason_of_a_rejected_call() {
    let says =
        |id: &str| json!({"id": id, "model": "m", "stop_reason": null, "content": [{"type": "text", "text": id}]});
    let call = |id: &str| json!({"id": "m", "model": "m", "stop_reason": null, "content": [{"type": "tool_use", "id": id, "name": "Task", "input": {}}]});
    let child = |agent: &str, text: &str| {
        let mut line = entry("assistant", says(text), true);
        line["agentId"] = json!(agent);
        line["attributionAgent"] = json!("Explore");
        line
    };
    let mut denied = entry(
        "user",
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true}]}),
        false,
    );
    denied["toolDenialKind"] = json!("user-rejected");
    let lines = frame_lines(&[
        entry("user", json!({"role": "user", "content": "Go"}), false),
        entry("assistant", call("a"), false),
        child("a1b2", "one"),
        entry("assistant", call("b"), false),
        child("c3d4", "two"),
        child("a1b2", "three"),
        denied,
    ]);
    for line in ["agent a1b2 at 1", "agent c3d4 at 1", "agent c3d4 failed", "failed b \"no\""] {
        assert!(lines.iter().any(|actual| actual == line), "{line}: {lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| line.ends_with("at 1")).count(), 2, "{lines:#?}");
}
