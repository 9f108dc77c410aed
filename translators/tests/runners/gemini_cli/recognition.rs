//! Recognition of every record, and never of another runner's.

use super::records::gemini;
use crate::support::recordings_of;
use framegate_translators::decode::Record;
use framegate_translators::json::Json;
use framegate_translators::recognise::{recognise, recognise_as};
use framegate_translators::runners::RUNNERS;

fn with_record<T>(text: &str, read: impl FnOnce(&Record<'_>) -> T) -> Option<T> {
    let json = Json::parse(text).ok()?;
    let fields = json.object()?;
    Some(read(&Record { json, fields, event_name: None, index: 0, offset: 0 }))
}

#[test]
fn every_record_is_recognised() {
    let mut count = 0;
    for recording in recordings_of(gemini()) {
        let text = String::from_utf8_lossy(&recording.bytes);
        let all: Vec<&str> = if recording.name.ends_with(".json") { vec![&*text] } else { text.lines().collect() };
        for line in all.into_iter().filter(|line| Json::parse(line).is_ok()) {
            let found = with_record(line, |record| recognise(record, None)).unwrap();
            let start: String = line.chars().take(200).collect();
            assert!(found.is_some_and(|found| found.runner.name == "gemini-cli"), "{}: {start}", recording.name);
            count += 1;
        }
    }
    assert!(count > 700, "{count}");
}

#[test]
fn no_record_of_another_runner_is_taken() {
    let mut count = 0;
    for other in RUNNERS.iter().filter(|runner| runner.name != "gemini-cli") {
        for recording in recordings_of(other) {
            for line in String::from_utf8_lossy(&recording.bytes).lines() {
                let line = line.strip_prefix("data: ").unwrap_or(line);
                let Some(found) = with_record(line, |record| recognise_as(gemini(), record, None)) else { continue };
                let start: String = line.chars().take(200).collect();
                assert!(found.is_none(), "{} {}: {start}", other.name, recording.name);
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn a_record_with_a_field_of_a_newer_version_is_recognised() {
    for recording in recordings_of(gemini()) {
        let text = String::from_utf8_lossy(&recording.bytes);
        let all: Vec<&str> = if recording.name.ends_with(".json") { vec![&*text] } else { text.lines().collect() };
        for line in all.into_iter().filter(|line| Json::parse(line).is_ok()) {
            let before = with_record(line, |record| recognise(record, None)).unwrap().unwrap();
            let newer = line.replacen('{', "{\"turn_id\":\"t1\",", 1);
            let found = with_record(&newer, |record| recognise(record, None)).unwrap();
            let start: String = newer.chars().take(200).collect();
            assert_eq!(found.map(|found| found.surface.name), Some(before.surface.name), "{}: {start}", recording.name);
        }
    }
}

#[test]
fn a_record_with_an_id_in_the_spelling_of_another_runner_is_not_taken() {
    for record in [
        r#"{"type":"message","timestamp":"t","role":"user","content":"a","id":"1"}"#,
        r#"{"type":"message","timestamp":"t","role":"user","content":"a","uuid":"1"}"#,
        r#"{"type":"tool_use","timestamp":"t","tool_id":"a","tool_name":"b","sessionID":"1"}"#,
        r#"{"type":"user","timestamp":"t","id":"1","content":"a","parentId":null}"#,
        r#"{"type":"error","timestamp":"t","id":"1","content":{"a":1}}"#,
        r#"{"id":"1","session_id":"s","error":{"type":"a"}}"#,
        r#"{"type":"error","session_id":"s","error":{"type":"a"}}"#,
    ] {
        let found = with_record(record, |record| recognise_as(gemini(), record, None)).unwrap();
        assert!(found.is_none(), "{found:?}: {record}");
    }
}
