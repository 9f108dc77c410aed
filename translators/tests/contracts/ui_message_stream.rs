//! `ui-message-stream.v1` on every recording: the message that a reader folds from the chunks, compared with the frames.

use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn ours() -> &'static Contract {
    contract("ui-message-stream.v1").unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// A message as the SDK folds it: the texts in order, and the last state of each call.
#[derive(Debug, Default)]
struct Message {
    texts: BTreeMap<String, String>,
    order: Vec<String>,
    calls: BTreeMap<String, String>,
    end: String,
    errors: u64,
}

fn fold(chunks: &[Value]) -> BTreeMap<String, Message> {
    let mut messages: BTreeMap<String, Message> = BTreeMap::new();
    for chunk in chunks {
        let message = messages.entry(text(chunk, "runId").to_owned()).or_default();
        match text(chunk, "type") {
            "text-start" => message.order.push(text(chunk, "id").to_owned()),
            "text-delta" => {
                message.texts.entry(text(chunk, "id").to_owned()).or_default().push_str(text(chunk, "delta"))
            }
            "error" => message.errors += 1,
            kind @ ("finish" | "abort") => message.end = format!("{kind} {}", text(chunk, "finishReason")),
            kind if kind.starts_with("tool-") && !text(chunk, "toolCallId").is_empty() => {
                let state = if chunk["preliminary"] == true { "preliminary" } else { kind };
                message.calls.insert(text(chunk, "toolCallId").to_owned(), state.to_owned());
            }
            _ => {}
        }
    }
    messages
}

#[test]
fn the_message_has_the_final_text_and_a_result_of_each_call() {
    let (mut texts, mut calls) = (0, 0);
    for recording in recordings() {
        let messages = fold(&events(recording.runner, ours(), &recording.bytes));
        for frame in events(recording.runner, contract("frames.v2").unwrap(), &recording.bytes) {
            let what = format!("{} {}", recording.name, frame["seq"]);
            match text(&frame, "type") {
                "session_ended" => {
                    let message = &messages[text(&frame, "stream_id")];
                    let said: String = message.order.iter().map(|id| message.texts[id].as_str()).collect();
                    let bare = |text: &str| text.split_whitespace().collect::<String>();
                    let last = bare(text(&frame, "final_text"));
                    assert!(bare(&said).contains(&last), "{what}: {last:?} is not in {said:?}");
                    texts += u64::from(!last.is_empty());
                    let reason = text(&frame, "reason");
                    let kind = if reason == "interrupted" { "abort" } else { "finish" };
                    assert!(message.end.starts_with(kind), "{what}: {reason}, {}", message.end);
                    assert_eq!(message.errors, u64::from(reason == "failed"), "{what}");
                    let over = ["tool-output-available", "tool-output-error", "tool-output-denied"];
                    let open: Vec<_> =
                        message.calls.iter().filter(|(_, state)| !over.contains(&state.as_str())).collect();
                    assert!(open.is_empty(), "{what}: {open:?}");
                }
                "tool_started" | "tool_call_proposed" if frame["stream_kind"] == "session" => {
                    calls += 1;
                    assert!(messages[text(&frame, "stream_id")].calls.contains_key(text(&frame, "call_id")), "{what}");
                }
                _ => {}
            }
        }
    }
    assert!(texts > 200 && calls > 200, "{texts} texts, {calls} calls");
}

/// No optional field is `null`: the SDK refuses the chunk. Content of the runner may be.
#[test]
fn no_field_is_null() {
    for recording in recordings() {
        for chunk in events(recording.runner, ours(), &recording.bytes) {
            for (key, value) in chunk.as_object().unwrap() {
                assert!(!value.is_null(), "{}: {key} in {chunk}", recording.name);
            }
        }
    }
}

#[test]
fn the_recordings_yield_nearly_every_type() {
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        seen.extend(
            events(recording.runner, ours(), &recording.bytes).iter().map(|chunk| text(chunk, "type").to_owned()),
        );
    }
    let missing: Vec<&str> = ours().schemas.iter().map(|file| file.kind).filter(|kind| !seen.contains(*kind)).collect();
    assert!(missing.len() < 3, "{missing:?}");
}

/// A chunk on one line, without the envelope. Long texts are cut.
fn line(chunk: &Value) -> String {
    let mut rest = chunk.clone();
    let fields = rest.as_object_mut().unwrap();
    for key in ["type", "runId", "seq", "dynamic", "providerExecuted"] {
        fields.remove(key);
    }
    let rest: String = rest.to_string().chars().take(160).collect();
    format!("{} {rest}", text(chunk, "type"))
}

#[test]
fn recordings_of_each_runner_as_chunks() {
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
        for chunk in events(runner(name).unwrap(), ours(), &bytes) {
            writeln!(out, "{}", line(&chunk)).unwrap();
        }
        insta::assert_snapshot!(format!("{name}__{file}"), out);
    }
}
