//! Recognition: a stream that has the shape of Claude Code's is never taken for it, nor the other way round, also if it begins
//! late or was changed.

use super::records::*;
use crate::support::{Recording, recordings_of};
use framegate_translators::decode::Record;
use framegate_translators::framing::Limits;
use framegate_translators::json::Json;
use framegate_translators::recognise::{Recogniser, Verdict, Window, recognise, recognise_as};
use framegate_translators::runners::{Runner, runner};
use serde_json::{Value, json};

fn claude() -> &'static Runner {
    runner("claude-code").unwrap()
}

/// The recordings of both runners, with the runner that they must not be taken for.
fn both() -> impl Iterator<Item = (Recording, &'static Runner)> {
    let own = recordings_of(qwen()).into_iter().map(|recording| (recording, claude()));
    own.chain(recordings_of(claude()).into_iter().map(|recording| (recording, qwen())))
}

fn lines(recording: &Recording) -> Vec<String> {
    let text = String::from_utf8_lossy(&recording.bytes);
    text.lines().filter(|line| line.starts_with('{')).map(str::to_owned).collect()
}

fn with_record<T>(text: &str, read: impl FnOnce(&Record<'_>) -> T) -> Option<T> {
    let json = Json::parse(text).ok()?;
    let fields = json.object()?;
    Some(read(&Record { json, fields, event_name: None, index: 0, offset: 0 }))
}

/// A record in other forms: without one of its fields or one of its message's, and with its fields sorted or reversed.
fn variants(text: &str) -> Vec<String> {
    let fields: Vec<(String, String)> = with_record(text, |record| {
        record.fields.iter().map(|(name, value)| (name.to_owned(), value.text().to_owned())).collect()
    })
    .unwrap();
    let print = |fields: &[(String, String)]| {
        let fields: Vec<String> =
            fields.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str()))).collect();
        format!("{{{}}}", fields.join(","))
    };
    let mut all = vec![text.to_owned()];
    for at in 0..fields.len() {
        let mut less = fields.clone();
        let (name, value) = less.remove(at);
        all.push(print(&less));
        let Ok(Value::Object(inner)) = serde_json::from_str::<Value>(&value) else { continue };
        for key in inner.keys() {
            let mut inner = inner.clone();
            inner.remove(key);
            let mut changed = fields.clone();
            changed[at] = (name.clone(), Value::Object(inner).to_string());
            all.push(print(&changed));
        }
    }
    let mut reversed = fields.clone();
    reversed.reverse();
    let mut sorted = fields;
    sorted.sort();
    all.extend([print(&reversed), print(&sorted)]);
    all
}

#[test]
fn a_changed_record_is_not_taken_for_the_other_runners() {
    let mut tried = 0;
    for (recording, other) in both() {
        for line in lines(&recording) {
            for variant in variants(&line).iter().filter(|variant| Json::parse(variant).is_ok()) {
                let found = with_record(variant, |record| recognise_as(other, record, None)).unwrap();
                let start: String = variant.chars().take(300).collect();
                assert!(found.is_none(), "{}: {found:?}: {start}", recording.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 20_000, "{tried}");
}

#[test]
fn an_input_that_begins_late_is_recognised_as_its_own_or_not_at_all() {
    let (mut known, mut unknown) = (0, 0);
    for (recording, _) in both() {
        let all = lines(&recording);
        for at in 0..all.len() {
            let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
            recogniser.feed(format!("{}\n", all[at..].join("\n")).as_bytes());
            match recogniser.finish() {
                Verdict::Found(found) => {
                    assert_eq!(found.runner.name, recording.runner.name, "{} from {at}: {found:?}", recording.name);
                    known += 1;
                }
                _ => unknown += 1,
            }
        }
    }
    assert!(unknown * 50 < known, "{unknown} of {}", known + unknown);
}

#[test]
fn every_record_of_the_stream_is_recognised_as_it_comes() {
    for recording in recordings_of(qwen()) {
        for line in lines(&recording).iter().filter(|line| Json::parse(line).is_ok()) {
            let found = with_record(line, |record| recognise(record, None)).unwrap();
            let start: String = line.chars().take(200).collect();
            // A bare answer may be from any runner with this protocol.
            let is_bare = line.starts_with("{\"type\":\"control_response\"");
            assert!(
                is_bare || found.is_some_and(|found| found.runner.name == "qwen-code"),
                "{}: {start}",
                recording.name
            );
        }
    }
}

#[test]
fn a_record_with_fields_of_both_is_neither() {
    for text in [
        r#"{"type":"system","subtype":"init","session_id":"s","qwen_code_version":"0.24.4","claude_code_version":"2","permissionMode":"x"}"#,
        r#"{"type":"stream_event","uuid":"u","session_id":"s","parent_tool_use_id":null,"event":{"type":"message_start","message":{"id":"msg_1"}}}"#,
        r#"{"type":"assistant","uuid":"u","session_id":"s","message":{"id":"msg_1","usage":{"total_tokens":1}}}"#,
        r#"{"type":"result","subtype":"success","session_id":"s","is_error":false,"total_cost_usd":0,"usage":{"total_tokens":1}}"#,
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}"#,
        r#"{"type":"user","sessionId":"s","userType":"external","provenance":"real_user","message":{"parts":[]}}"#,
    ] {
        let found = with_record(text, |record| recognise(record, None)).unwrap();
        assert!(found.is_none(), "{found:?}: {text}");
    }
}

#[test]
fn times_and_new_fields_on_every_record_change_nothing() {
    for recording in recordings_of(qwen()) {
        let all = lines(&recording);
        let later: Vec<String> = all
            .iter()
            .filter(|line| Json::parse(line).is_ok() && !line.contains("\"timestamp\""))
            .map(|line| {
                format!("{},\"timestamp\":\"2026-11-23T03:48:51.297Z\",\"turn\":1}}", line.strip_suffix('}').unwrap())
            })
            .collect();
        for line in &later {
            let found = with_record(line, |record| recognise_as(claude(), record, None)).unwrap();
            assert!(found.is_none(), "{}: {found:?}: {line}", recording.name);
        }
        let Some(first) = later.first() else { continue };
        let is_start = first.contains("\"init\"") || first.contains("\"goal_state\"");
        let found = with_record(first, |record| recognise(record, None)).unwrap();
        assert!(!is_start || found.is_some_and(|found| found.runner.name == "qwen-code"), "{}", recording.name);
    }
    for fields in ["\"timestamp\":\"t\"", "\"apiKeySource\":\"none\"", "\"permissionMode\":\"x\""] {
        let text = format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"qwen_code_version\":\"1\",{fields}}}"
        );
        let found = with_record(&text, |record| recognise(record, None)).unwrap();
        assert!(found.is_some_and(|found| found.runner.name == "qwen-code"), "{text}");
    }
}

#[test]
fn the_prompt_of_a_client_belongs_to_no_runner_and_begins_a_run() {
    let asked = json!({"type": "user", "message": {"role": "user", "content": "Do it"}, "session_id": SESSION,
        "parent_tool_use_id": null});
    let turn = |id: &str| [asked.clone(), init(), last_text(id, "Done."), result("Done.", usage(1, 1))];
    let opening = json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}});
    let records = [vec![opening], turn("m").to_vec(), turn("n").to_vec()].concat();
    let bytes = lines_of(&records);
    let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
    recogniser.feed(&bytes);
    let Verdict::Found(found) = recogniser.finish() else { panic!("not recognised") };
    assert_eq!(found.runner.name, qwen().name);
    let told = frame_lines(&records);
    let of = |start: &str| told.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((of("start \"Do it\""), of("user \"Do it\"")), (2, 2), "{told:?}");
}
