//! Recordings of each runner as messages, and which messages the recordings yield.

use super::round_trip::{messages, runs};
use crate::support::*;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn values(lines: &[u8]) -> impl Iterator<Item = Value> {
    lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(|line| serde_json::from_slice(line).unwrap())
}

fn text<'v>(message: &'v Value, pointer: &str) -> &'v str {
    message.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The type of a message with its subtype.
fn kind(message: &Value) -> String {
    [
        text(message, "/type"),
        text(message, "/subtype"),
        text(message, "/event/type"),
        text(message, "/event/delta/type"),
    ]
    .into_iter()
    .filter(|word| !word.is_empty())
    .collect::<Vec<_>>()
    .join(".")
}

#[test]
fn the_recordings_yield_every_message() {
    let options = EncoderOptions { experimental: true, user_messages: true, ..EncoderOptions::default() };
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        for run in runs(&recording) {
            seen.extend(values(&messages(&run, &options)).map(|message| kind(&message)));
        }
    }
    let missing: Vec<&str> = [
        "assistant",
        "control_cancel_request",
        "control_request",
        "result.error_during_execution",
        "result.error_max_turns",
        "result.success",
        "stream_event.content_block_delta.input_json_delta",
        "stream_event.content_block_delta.signature_delta",
        "stream_event.content_block_delta.text_delta",
        "stream_event.content_block_delta.thinking_delta",
        "system.api_retry",
        "system.compact_boundary",
        "system.informational",
        "system.init",
        "system.status",
        "system.task_notification",
        "system.task_started",
        "user",
    ]
    .into_iter()
    .filter(|kind| !seen.contains(*kind))
    .collect();
    assert!(missing.is_empty(), "{missing:?} not in {seen:?}");
}

/// The same ids in a replay, and different ones for each message.
#[test]
fn ids_are_derived_and_unique() {
    let options = EncoderOptions { experimental: true, ..EncoderOptions::default() };
    for recording in recordings() {
        for run in runs(&recording) {
            let (one, two) = (messages(&run, &options), messages(&run, &options));
            assert_eq!(one, two, "{}", recording.name);
            let mut seen = BTreeSet::new();
            for message in values(&one).filter(|message| message.get("uuid").is_some()) {
                assert!(seen.insert(text(&message, "/uuid").to_owned()), "{}: {message}", recording.name);
            }
        }
    }
}

/// A message on one line, without the envelope. Long texts are cut.
fn line(message: &Value) -> String {
    let mut rest = message.clone();
    let fields = rest.as_object_mut().unwrap();
    for key in ["type", "subtype", "session_id", "uuid", "timestamp", "api_message_id"] {
        fields.remove(key);
    }
    if let Some(content) = message.pointer("/message/content").filter(|_| message["type"] != "stream_event") {
        fields.insert("message".to_owned(), content.clone());
    }
    let rest: String = rest.to_string().chars().take(200).collect();
    format!("{} {rest}", kind(message))
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
        let runner = runner(name).unwrap();
        let bytes = std::fs::read(fixtures_dir(name).join(file)).unwrap();
        let recording = Recording { runner, name: file.to_owned(), bytes };
        let options = EncoderOptions { experimental: true, ..EncoderOptions::default() };
        let mut out = String::new();
        for run in runs(&recording) {
            for message in values(&messages(&run, &options)) {
                writeln!(out, "{}", line(&message)).unwrap();
            }
        }
        insta::assert_snapshot!(format!("{name}__{file}"), out);
    }
}
