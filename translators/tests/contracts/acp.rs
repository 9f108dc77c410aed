//! `acp.v1` on every recording: what a client makes of the messages, compared with the frames.

use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::event_kind::kind_of;
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn ours() -> &'static Contract {
    contract("acp.v1").unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn own(message: &Value) -> &Value {
    let places = ["/params/_meta/framegate", "/result/_meta/framegate", "/error/data/framegate"];
    places.into_iter().find_map(|place| message.pointer(place)).unwrap()
}

/// What a client knows of one run.
#[derive(Debug, Default)]
struct Turn {
    text: String,
    calls: BTreeMap<String, String>,
    waiting: BTreeSet<String>,
    asked: u64,
    end: String,
}

fn turns(messages: &[Value]) -> BTreeMap<String, Turn> {
    let mut turns: BTreeMap<String, Turn> = BTreeMap::new();
    for message in messages {
        let turn = turns.entry(text(own(message), "runId").to_owned()).or_default();
        assert_eq!(turn.end, "", "after the answer: {message}");
        let update = &message["params"]["update"];
        match kind_of(ours().type_key, message).unwrap() {
            "agent_message_chunk" => turn.text.push_str(text(&update["content"], "text")),
            "tool_call" | "tool_call_update" => {
                let status = update.get("status").and_then(Value::as_str);
                let known = turn.calls.entry(text(update, "toolCallId").to_owned()).or_default();
                assert!(!["completed", "failed"].contains(&known.as_str()), "over: {message}");
                *known = status.unwrap_or(known).to_owned();
            }
            "request_permission" => {
                assert!(turn.calls.contains_key(text(&message["params"]["toolCall"], "toolCallId")), "{message}");
                assert!(turn.waiting.insert(text(message, "id").to_owned()), "{message}");
                turn.asked += 1;
            }
            "cancel_request" => assert!(turn.waiting.remove(text(&message["params"], "requestId")), "{message}"),
            "result" => turn.end = text(&message["result"], "stopReason").to_owned(),
            "error" => "error".clone_into(&mut turn.end),
            _ => {}
        }
    }
    turns
}

#[test]
fn the_turn_has_the_final_text_and_the_end_of_each_call() {
    let (mut texts, mut calls, mut questions) = (0, 0, 0);
    for recording in recordings() {
        let turns = turns(&events(recording.runner, ours(), &recording.bytes));
        for frame in events(recording.runner, contract("frames.v2").unwrap(), &recording.bytes) {
            let what = format!("{} {}", recording.name, frame["seq"]);
            match text(&frame, "type") {
                "session_ended" => {
                    let turn = &turns[text(&frame, "stream_id")];
                    let bare = |text: &str| text.split_whitespace().collect::<String>();
                    let last = bare(text(&frame, "final_text"));
                    assert!(bare(&turn.text).contains(&last), "{what}: {last:?} is not in {:?}", turn.text);
                    texts += u64::from(!last.is_empty());
                    let (reason, code) = (text(&frame, "reason"), text(&frame, "error_code"));
                    let is_error = turn.end == "error";
                    match reason {
                        "completed" => assert!(!is_error && turn.end != "cancelled", "{what}: {}", turn.end),
                        "interrupted" => assert!(is_error == (code == "stream_ended"), "{what}: {} {code}", turn.end),
                        _ => assert!(is_error || ["content_filter", "error_max_turns"].contains(&code), "{what}"),
                    }
                    assert!(turn.calls.values().all(|status| status == "completed" || status == "failed"), "{what}");
                    assert!(turn.waiting.is_empty(), "{what}: {:?}", turn.waiting);
                    questions += turn.asked;
                }
                "tool_started" | "tool_call_proposed" if frame["stream_kind"] == "session" => {
                    calls += 1;
                    assert!(turns[text(&frame, "stream_id")].calls.contains_key(text(&frame, "tool_id")), "{what}");
                }
                _ => {}
            }
        }
    }
    assert!(texts > 200 && calls > 200 && questions > 5, "{texts} texts, {calls} calls, {questions} questions");
}

/// No optional field is `null`. Content of the runner may be.
#[test]
fn no_field_is_null() {
    fn check(value: &Value, what: &str) {
        for (key, value) in value.as_object().into_iter().flatten() {
            assert!(!value.is_null(), "{key} in {what}");
            if !["rawInput", "artifacts"].contains(&key.as_str()) {
                check(value, what);
            }
        }
        value.as_array().into_iter().flatten().for_each(|item| check(item, what));
    }
    for recording in recordings() {
        for message in events(recording.runner, ours(), &recording.bytes) {
            check(&message, &format!("{}: {message}", recording.name));
        }
    }
}

/// A call's output is repeated while it grows, but the whole volume stays a small multiple of it.
#[test]
fn no_recording_becomes_much_longer() {
    for recording in recordings() {
        let length: usize =
            events(recording.runner, ours(), &recording.bytes).iter().map(|event| event.to_string().len()).sum();
        let frames = events(recording.runner, contract("frames.v2").unwrap(), &recording.bytes);
        let frames: usize = frames.iter().map(|frame| frame.to_string().len()).sum();
        assert!(length < 2 * frames + 4096, "{}: {length} bytes, {frames} of frames", recording.name);
    }
}

#[test]
fn the_recordings_yield_nearly_every_type() {
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        for message in events(recording.runner, ours(), &recording.bytes) {
            seen.insert(kind_of(ours().type_key, &message).unwrap().to_owned());
        }
    }
    let missing: Vec<&str> = ours().schemas.iter().map(|file| file.kind).filter(|kind| !seen.contains(*kind)).collect();
    // The user's messages are an option.
    assert_eq!(missing, ["user_message_chunk"]);
}

/// A message on one line, without the envelope. Long texts are cut.
fn line(message: &Value) -> String {
    let mut rest = match message.get("params") {
        Some(params) => params.get("update").unwrap_or(params).clone(),
        None => message.get("result").or(message.get("error")).unwrap().clone(),
    };
    let mut about = own(message).clone();
    for key in ["runId", "seq"] {
        about.as_object_mut().unwrap().remove(key);
    }
    for key in ["sessionUpdate", "sessionId", "options", "_meta", "messageId"] {
        rest.as_object_mut().unwrap().remove(key);
    }
    if let Some(data) = rest.get_mut("data").and_then(Value::as_object_mut) {
        data.remove("framegate");
    }
    let rest: String = rest.to_string().chars().take(200).collect();
    format!("{} {rest} {about}", kind_of(ours().type_key, message).unwrap())
}

#[test]
fn recordings_of_each_runner_as_messages() {
    for (name, file) in [
        ("claude-code", "control_permission.partial.ndjson"),
        ("claude-code", "subagent.partial.ndjson"),
        ("claude-code", "killed_sigkill.partial.ndjson"),
        ("codex", "appserver-error-400.ndjson"),
        ("codex", "exec-sigint-command.ndjson"),
        ("opencode", "event-todo.sse"),
        ("open-responses", "scripted__parallel-interleaved.sse"),
    ] {
        let bytes = std::fs::read(fixtures_dir(name).join(file)).unwrap();
        let mut out = String::new();
        for message in events(runner(name).unwrap(), ours(), &bytes) {
            writeln!(out, "{}", line(&message)).unwrap();
        }
        insta::assert_snapshot!(format!("{name}__{file}"), out);
    }
}
