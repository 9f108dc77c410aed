//! Records and blocks: complete, streamed, and unknown ones.

use super::records::*;
use crate::support;
use framegate_translators::frame::Body;
use framegate_translators::runners::runner;
use serde_json::{Value, json};

#[test]
fn an_array_of_frames_is_one_record() {
    let array = Value::Array(vec![init(), text("m", "hi"), result("hi")]);
    let all = frames(std::slice::from_ref(&array));
    assert_eq!(all.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count(), 1);
    let lines = frame_lines(&[array]);
    assert!(
        lines.ends_with(&["text 0 \"hi\"".into(), "turn over -".into(), "end completed - \"hi\"".into()]),
        "{lines:?}"
    );
}

#[test]
fn arguments_that_are_not_an_object_stay_text() {
    let input = json!({"__unparsedToolInput": {"raw": "{\"a\":", "len": 5}});
    let lines = frame_lines(&[init(), call("m", "t", "Bash", input)]);
    assert!(lines.contains(&"call t Bash \"{\\\"a\\\":\"".to_owned()), "{lines:?}");
}

fn streamed(id: &str) -> Vec<Value> {
    vec![
        event(
            json!({"type": "message_start", "message": {"id": id, "model": "m", "usage": {"input_tokens": 4, "output_tokens": 1}}}),
        ),
        event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hel"}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}})),
    ]
}

fn stopped(reason: Value) -> Vec<Value> {
    vec![
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}})),
        event(json!({"type": "message_stop"})),
    ]
}

#[test]
fn a_whole_frame_after_its_block_is_not_repeated() {
    let lines = frame_lines(
        &[vec![init()], streamed("m"), stopped(json!("end_turn")), vec![text("m", "hello"), result("hello")]].concat(),
    );
    assert_eq!(
        lines,
        [
            "start \"\"",
            "turn",
            "usage turn 4/7 None",
            "turn over end_turn",
            "text 0 \"hello\"",
            "usage run 4/7 None",
            "end completed - \"hello\"",
        ]
    );
}

#[test]
fn a_finished_block_without_a_whole_frame_is_emitted() {
    let lines = frame_lines(&[vec![init()], streamed("m"), stopped(json!("end_turn")), vec![result("hello")]].concat());
    assert!(lines.contains(&"text 0 \"hello\"".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end completed - \"hello\"");
}

#[test]
fn synthetic_closing_events_are_ignored() {
    let lines = frame_lines(&[vec![init()], streamed("m"), stopped(Value::Null), vec![result("")]].concat());
    assert_eq!(lines, ["start \"\"", "turn", "text 0 \"hello\"", "turn over -", "end completed - \"-\""]);
}

#[test]
fn late_events_do_not_start_a_run() {
    let lines = frame_lines(&[vec![init(), text("m", "x"), result("x")], stopped(json!("end_turn"))].concat());
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1);
}

#[test]
fn unknown_records_are_kept_with_an_error() {
    let lines = frame_lines(&[
        with_session(json!({"type": "telepathy"})),
        system(json!({"subtype": "aura"})),
        init(),
        assistant_message("m", json!({"type": "hologram"}), None),
        text("m", "x"),
    ]);
    assert_eq!(
        lines[..2],
        ["thread record error unknown type \"telepathy\"", "thread record error unknown system subtype \"aura\""]
    );
    assert!(lines.contains(&"text 1 \"x\"".to_owned()), "{lines:?}");
}

#[test]
fn recordings_as_frames() {
    let v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    for name in ["subagent.ndjson", "api_stream_error_midway.partial.ndjson"] {
        let bytes = std::fs::read(support::fixtures_dir("claude-code").join(name)).unwrap();
        let frames = support::translate(runner("claude-code").unwrap(), v2, &bytes);
        insta::assert_snapshot!(name, String::from_utf8(frames).unwrap());
    }
}
