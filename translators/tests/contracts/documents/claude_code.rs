//! `claude-code.v1`: what the CLI itself wrote passes, and what the SDK cannot read does not.

use super::{fails, found, passes, warns};
use crate::support::{fixtures_dir, recordings};
use framegate_translators::verify::Severity;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NAME: &str = "claude-code.v1";

fn recording(file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixtures_dir("claude-code").join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The position of the first message of a type, or of a stream event of a type.
fn at(messages: &[Value], kind: &str) -> usize {
    messages.iter().position(|message| message["type"] == kind || message["event"]["type"] == kind).unwrap()
}

#[test]
fn every_stream_of_the_cli_passes() {
    let mut warnings: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = 0;
    for recording in recordings().filter(|recording| recording.runner.name == "claude-code") {
        let is_stream = recording.name.ends_with(".ndjson") && !recording.name.contains("transcript");
        if !is_stream || recording.name.starts_with("json_output") {
            continue;
        }
        let messages = self::recording(&recording.name);
        passes(NAME, &recording.name, &messages);
        for located in found(NAME, &messages, None) {
            assert_eq!(located.finding.severity, Severity::Warning, "{}: {located:#?}", recording.name);
            *warnings.entry(located.finding.rule).or_default() += 1;
        }
        count += 1;
    }
    assert!(count > 100, "{count}");
    // Runs that were killed, errors without content, texts that a broken stream cut off.
    assert!(warnings.values().sum::<u64>() < 30, "{warnings:?}");
}

#[test]
fn what_the_cli_writes_in_rare_cases_is_a_warning() {
    let all = recording("bash_ok.partial.ndjson");
    warns(NAME, "no result", &all[..at(&all, "result")], &[(0, "end.missing")]);
    let mut late = all.clone();
    late.push(all[at(&all, "assistant")].clone());
    warns(NAME, "a message after the result", &late, &[(all.len() as u64 + 1, "end.not_last")]);
    let mut differs = all.clone();
    let text = differs.iter_mut().find(|message| message["message"]["content"][0]["type"] == "text").unwrap();
    text["message"]["content"][0]["text"] = json!("something else");
    let found = found(NAME, &differs, None);
    assert!(found.iter().any(|located| located.finding.rule == "block.differs"), "{found:#?}");
}

#[test]
fn what_the_sdk_cannot_read_is_an_error() {
    let all = recording("bash_ok.partial.ndjson");
    let changed = |kind: &str, change: fn(&mut Value)| {
        let (mut messages, at) = (all.clone(), at(&all, kind));
        change(&mut messages[at]);
        (messages, at as u64 + 1)
    };
    for (what, kind, change, rule) in [
        ("an unknown type", "result", (|message| message["type"] = json!("ended")) as fn(&mut Value), "schema.type"),
        ("no usage", "result", |message| drop(message.as_object_mut().unwrap().remove("usage")), "schema"),
        (
            "a result without a text",
            "result",
            |message| drop(message.as_object_mut().unwrap().remove("result")),
            "schema",
        ),
        ("no content", "assistant", |message| message["message"]["content"] = json!("text"), "schema"),
        (
            "a nameless session",
            "stream_event",
            |message| drop(message.as_object_mut().unwrap().remove("session_id")),
            "schema",
        ),
        ("no tools", "system", |message| message["tools"] = json!(null), "schema"),
        (
            "a result of no call",
            "user",
            |message| message["message"]["content"][0]["tool_use_id"] = json!("x"),
            "call.unknown",
        ),
        (
            "a delta of no block",
            "content_block_delta",
            |message| message["event"]["index"] = json!(7),
            "block.not_open",
        ),
    ] {
        let (messages, at) = changed(kind, change);
        let found = found(NAME, &messages, None);
        let first = found.iter().find(|located| located.finding.severity == Severity::Error);
        assert_eq!(first.map(|located| (located.record, located.finding.rule)), Some((at, rule)), "{what}: {found:#?}");
    }
    let start = at(&all, "message_start");
    let without: Vec<Value> = [&all[..start], &all[start + 1..]].concat();
    fails(NAME, "no message_start", &without, &[(start as u64 + 1, "message.not_open")]);
}
