//! `spec/frames.md`, v1 and v2.

use super::{counts_from_0, events, is_uuid, runs, text};
use crate::support::{Recording, recordings};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Checks that apply to a run's stream in both versions.
fn judge(what: &str, events: &[Value], seen: &mut HashSet<String>) {
    let (mut ids, mut running, mut over) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut last_ms = 0;
    // "`seq` starts at 0 and increments by 1 for each emitted frame."
    counts_from_0(what, events.iter().map(|event| event["seq"].as_u64().unwrap()));
    for event in events {
        assert!(is_uuid(&text(event, "id")) && ids.insert(text(event, "id")), "{what}: {event}");
        let now = event["timestamp_ms"].as_u64().unwrap();
        assert!(now >= last_ms, "{what}: time runs backwards: {event}");
        last_ms = now;
        let kind = text(event, "type");
        match kind.as_str() {
            "tool_started" => {
                assert!(event["timeout_ms"].is_null() || event["timeout_ms"].is_u64(), "{what}: {event}");
                assert!(running.insert(text(event, "tool_id")), "{what}: started twice: {event}");
            }
            "tool_stdout" | "tool_stderr" => {
                assert!(event["chunk"].is_string(), "{what}: {event}");
                assert!(running.contains(&text(event, "tool_id")), "{what}: {event}");
            }
            "tool_ended" | "tool_failed" => {
                assert!(running.remove(&text(event, "tool_id")), "{what}: ended without a start: {event}");
                let fits = match kind.as_str() {
                    "tool_ended" => {
                        let code = event["exit_code"].as_i64().unwrap();
                        i32::try_from(code).is_ok() && event["duration_ms"].is_u64()
                    }
                    _ => event["error"].is_string(),
                };
                assert!(fits, "{what}: {event}");
                over.insert(text(event, "tool_id"));
            }
            "provider_event" => {
                let status = text(event, "status");
                assert!(["event", "done", "invalid_json"].contains(&status.as_str()), "{what}: {event}");
                assert!(event["data"].is_object() || event["data"].is_null(), "{what}: {event}");
                assert!(event["raw"].is_string() || event["raw"].is_null(), "{what}: {event}");
                for list in ["errors", "response_errors"] {
                    assert!(event[list].as_array().unwrap().iter().all(Value::is_string), "{what}: {event}");
                }
            }
            _ => {}
        }
        seen.insert(kind);
    }
    assert!(running.is_empty(), "{what}: tools still run at the end");
    // "`session_ended` is the terminal frame for a runtime-generated session."
    for (at, event) in events.iter().enumerate() {
        let kind = text(event, "type");
        assert_eq!(kind == "session_started", at == 0, "{what}: {event}");
        assert_eq!(kind == "session_ended", at == events.len() - 1, "{what}: {event}");
    }
}

const V1_TYPES: [&str; 20] = [
    "session_started",
    "output_text_delta",
    "session_ended",
    "tool_started",
    "tool_stdout",
    "tool_stderr",
    "tool_ended",
    "tool_failed",
    "provider_event",
    "checkpoint_created",
    "checkpoint_rewound",
    "checkpoint_failed",
    "tool_task_spawned",
    "tool_task_status",
    "tool_task_cancel_requested",
    "tool_task_cancelled",
    "tool_task_output_delta",
    "tool_task_stdin_written",
    "tool_task_resized",
    "tool_task_signalled",
];

/// Checks for a stream that is not a run.
fn judge_other(what: &str, events: &[Value]) {
    counts_from_0(what, events.iter().map(|event| event["seq"].as_u64().unwrap()));
    // "Task streams do not emit `session_started/session_ended`"
    let ends = ["session_started", "session_ended"];
    assert!(events.iter().all(|event| !ends.contains(&&*text(event, "type"))), "{what}");
    for event in events.iter().filter(|event| text(event, "type").starts_with("tool_task_")) {
        // "`session_id` holds the `task_id` (stream id) for task streams."
        assert_eq!(event["session_id"], event["task_id"], "{what}: {event}");
    }
}

#[test]
fn every_stream_of_v1_follows_the_document() {
    let (mut seen, mut tasks, mut threads) = (HashSet::new(), 0, 0);
    for run in runs("frames.v1", &["session_id"]) {
        match text(&run.events[0], "type").as_str() {
            "session_started" => judge(&run.what, &run.events, &mut seen),
            first => {
                judge_other(&run.what, &run.events);
                *if first == "tool_task_spawned" { &mut tasks } else { &mut threads } += 1;
                seen.extend(run.events.iter().map(|event| text(event, "type")));
            }
        }
        assert!(run.events.iter().all(|event| event.get("stream_id").is_none()), "{}", run.what);
    }
    assert!(seen.iter().all(|kind| V1_TYPES.contains(&kind.as_str())), "{seen:?}");
    assert!(tasks > 3 && threads > 3, "{tasks} tasks, {threads} threads");
}

#[test]
fn every_stream_of_v2_follows_the_document() {
    let mut seen = HashSet::new();
    for run in runs("frames.v2", &["stream_kind", "stream_id"]) {
        let what = &run.what;
        let kind = text(&run.events[0], "stream_kind");
        for event in &run.events {
            // "an alias of `{stream_id}` while v1 is still supported"
            assert_eq!(event["session_id"], event["stream_id"], "{what}: {event}");
        }
        if kind == "session" {
            judge(what, &run.events, &mut seen);
        } else {
            judge_other(what, &run.events);
        }
        texts(what, &run.events);
        seen.extend(run.events.iter().map(|event| text(event, "type")));
    }
    assert!(seen.len() > 25, "{seen:?}");
}

/// A completed text is the concatenation of its deltas, and each text is completed once.
fn texts(what: &str, events: &[Value]) {
    let mut open: HashMap<String, String> = HashMap::new();
    for event in events {
        let kind = text(event, "type");
        let Some(voice) = kind.strip_suffix("_delta").or_else(|| kind.strip_suffix("_completed")) else { continue };
        if !["output_text", "reasoning"].contains(&voice) {
            continue;
        }
        let parent = event.get("parent_tool_id").map(Value::to_string);
        let block = format!("{voice} {parent:?} {} {}", event["message_id"], event["block_index"]);
        if kind.ends_with("_delta") {
            open.entry(block).or_default().push_str(&text(event, "delta"));
        } else {
            assert_eq!(open.remove(&block).unwrap_or_default(), text(event, "text"), "{what}: {event}");
        }
    }
    assert!(open.is_empty(), "{what}: texts that are not completed: {open:?}");
}

/// "Provider adapters emit `provider_event` for every SSE event (no drops)."
#[test]
fn every_record_has_its_provider_event() {
    for recording in recordings() {
        let Some(records) = records(&recording) else { continue };
        for contract in ["frames.v1", "frames.v2"] {
            let kept = events(&recording, contract).iter().filter(|event| event["type"] == "provider_event").count();
            assert_eq!(kept, records, "{} in {contract}", recording.name);
        }
    }
}

/// The number of records in a recording, if that is obvious: one object on each line, or one `data:` line in each event.
fn records(recording: &Recording) -> Option<usize> {
    let text = std::str::from_utf8(&recording.bytes).ok()?;
    // What is read as frames is no record itself: its records are those in the frames.
    if recording.runner.is_of_frames {
        let is_record = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["type"] == "provider_event";
        return Some(text.lines().filter(is_record).count());
    }
    if recording.name.ends_with(".sse") {
        let plain = !text.contains('\r') && text.ends_with("\n\n") && !text.starts_with('\u{FEFF}');
        let blocks = text.split("\n\n").filter(|block| block.lines().any(|line| line.starts_with("data:")));
        return plain.then(|| blocks.count());
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let plain = lines.iter().all(|line| line.starts_with('{') && line.ends_with('}'));
    (plain && lines.len() > 1).then_some(lines.len())
}
