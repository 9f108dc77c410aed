//! Frames of other writers: what the document leaves open, and what newer ones add.

use super::{named, of_frames};
use crate::support::{events, frames};
use framegate_translators::frame::{Body, EndReason, StreamKind};
use serde_json::{Value, json};

/// One stream of v1, as another writer numbers it.
fn stream(id: &str, frames: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for (seq, fields) in frames.iter().enumerate() {
        let mut frame = json!({
            "id": format!("6f1b1c1e-0000-4000-8000-{seq:012}"),
            "session_id": id,
            "timestamp_ms": 1_770_000_000_000_u64 + seq as u64,
            "seq": seq,
        });
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        out.extend_from_slice(frame.to_string().as_bytes());
        out.push(b'\n');
    }
    out
}

fn answer() -> Vec<Value> {
    vec![
        json!({"type": "session_started", "input": "hi"}),
        json!({"type": "provider_event", "provider": "openresponses", "status": "event",
            "event_name": "response.output_text.delta", "data": {"type": "response.output_text.delta", "delta": "hi"},
            "raw": null, "errors": [], "response_errors": []}),
        json!({"type": "output_text_delta", "delta": "ack: "}),
        json!({"type": "output_text_delta", "delta": "hi"}),
        json!({"type": "session_ended", "reason": "completed"}),
    ]
}

#[test]
fn a_stream_of_the_document_is_a_run_of_its_runner_with_its_own_ids() {
    let input = stream("0198c0de-0000-7000-8000-00000000000a", &answer());
    let run = frames(of_frames(), &input);
    assert!(run.iter().all(|frame| frame.stream.kind == StreamKind::Session));
    assert_eq!(run[0].stream.id.to_string(), "0198c0de-0000-7000-8000-00000000000a");
    assert_eq!(run[0].stream.provider.name, "openresponses", "the record names it");
    assert_eq!(run[2].id().to_string(), "6f1b1c1e-0000-4000-8000-000000000002");
    let Some(Body::SessionEnded(end)) = run.last().map(|frame| &frame.body) else { panic!("{run:?}") };
    assert_eq!((end.reason, end.final_text.as_deref()), (EndReason::Completed, Some("ack: hi")));
    // v1 has no snapshot of a text, so its events stay the same.
    let again: Vec<Value> = events(of_frames(), named("frames.v1"), &input);
    let original: Vec<Value> = input
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(again, original);
}

#[test]
fn every_contract_has_the_text_of_a_stream_without_snapshots() {
    let input = stream("s1", &answer());
    let text: String = events(of_frames(), named("sse.v1"), &input).iter().map(Value::to_string).collect();
    assert!(text.contains("ack: "), "{text}");
    for contract in framegate_translators::contracts::CONTRACTS {
        assert!(!crate::support::translate(of_frames(), contract, &input).is_empty(), "{}", contract.name);
    }
}

#[test]
fn the_words_of_other_writers_for_an_end_are_understood() {
    for (word, reason, code) in [
        ("completed", EndReason::Completed, None),
        ("cancelled", EndReason::Interrupted, None),
        ("provider_error", EndReason::Failed, Some("provider_error")),
    ] {
        let input =
            stream("custom", &[json!({"type": "session_started"}), json!({"type": "session_ended", "reason": word})]);
        let run = frames(of_frames(), &input);
        let Some(Body::SessionEnded(end)) = run.last().map(|frame| &frame.body) else { panic!("{run:?}") };
        assert_eq!((end.reason, end.error_code.as_deref()), (reason, code), "{word}");
    }
}

#[test]
fn a_task_of_v1_is_a_task_stream() {
    let task = "0198c0de-0000-7000-8000-00000000000b";
    let spawned = json!({"type": "tool_task_spawned", "task_id": task, "tool_name": "bash", "args": {}, "cwd": null,
        "title": null, "execution_mode": "pipes", "origin_session_id": null, "artifacts": null});
    let over = json!({"type": "tool_task_status", "task_id": task, "status": "exited", "exit_code": 0,
        "started_at_ms": 1, "ended_at_ms": 2, "artifacts": null, "error": null});
    let found = frames(of_frames(), &stream(task, &[spawned, over]));
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|frame| frame.stream.kind == StreamKind::Task), "{found:?}");
}

#[test]
fn unknown_types_are_kept_as_records() {
    let mut frames_of_run = answer();
    frames_of_run.insert(1, json!({"type": "continuity_created", "workspace": "w"}));
    let found = frames(of_frames(), &stream("s1", &frames_of_run));
    let kept = found.iter().find_map(|frame| match &frame.body {
        Body::ProviderEvent(record) if !record.errors.is_empty() => Some((frame, record)),
        _ => None,
    });
    let (frame, record) = kept.unwrap();
    assert!(record.data.as_deref().is_some_and(|data| data.contains("continuity_created")));
    assert_eq!(frame.stream.kind, StreamKind::Thread, "it is part of no run");
    let gap =
        found.iter().any(|frame| matches!(frame.body, Body::GapDetected { first_seq: Some(1), last_seq: Some(1), .. }));
    assert!(gap, "the run says which of its frames is missing: {found:#?}");
}

/// The same stream with frame ids that are no UUIDs.
fn with_plain_ids(stream: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(stream).replace("6f1b1c1e-0000-4000-8000-", "e").into_bytes()
}

#[test]
fn ids_that_are_no_uuids_name_the_same_things() {
    let call = |kind: &str, fields: Value| {
        let mut frame = json!({"type": kind, "tool_id": "t1"});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        frame
    };
    let run = |id: &str| {
        let stream = stream(
            id,
            &[
                json!({"type": "session_started", "input": "hi"}),
                json!({"type": "output_text_delta", "delta": "hello"}),
                call("tool_started", json!({"name": "bash", "args": {"command": "echo ok"}, "timeout_ms": null})),
                call("tool_stdout", json!({"chunk": "ok\n"})),
                call("tool_ended", json!({"exit_code": 0, "duration_ms": 50, "artifacts": null})),
                json!({"type": "provider_event", "provider": "openresponses", "status": "done", "event_name": null,
                    "data": null, "raw": null, "errors": [], "response_errors": []}),
                json!({"type": "session_ended", "reason": "completed"}),
            ],
        );
        with_plain_ids(&stream)
    };
    let found = frames(of_frames(), &[run("s1"), run("s2")].concat());
    let problems: Vec<_> = found
        .iter()
        .filter(|frame| match &frame.body {
            Body::ProviderEvent(record) => !record.errors.is_empty(),
            Body::GapDetected { .. } => true,
            _ => false,
        })
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    let tools: Vec<_> = found
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } => Some(&call.tool),
            Body::ToolStdout { tool, .. } | Body::ToolEnded { tool, .. } => Some(tool),
            _ => None,
        })
        .collect();
    assert_eq!(tools.len(), 6);
    assert!(tools.iter().all(|tool| &*tool.call_id == "t1"));
    assert!(
        tools[..3].iter().all(|tool| tool.id == tools[0].id) && tools[3..].iter().all(|tool| tool.id == tools[3].id)
    );
    assert_ne!(tools[0].id, tools[3].id, "the calls of two runs");
    let ends = found.iter().filter_map(|frame| match &frame.body {
        Body::SessionEnded(end) => end.final_text.as_deref(),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), ["hello", "hello"]);
    let done = found.iter().filter_map(|frame| match &frame.body {
        Body::ProviderEvent(record) => record.raw.as_deref(),
        _ => None,
    });
    assert!(done.eq([b"[DONE]".as_slice(), b"[DONE]"]));
    // A task, and the run that started it.
    let spawned = json!({"type": "tool_task_spawned", "task_id": "task_pty", "tool_name": "bash", "args": {}, "cwd": null,
        "title": null, "execution_mode": "pty", "origin_session_id": "s1", "artifacts": null});
    let written = json!({"type": "tool_task_stdin_written", "task_id": "task_pty", "chunk_b64": "aGkK"});
    let over = json!({"type": "tool_task_status", "task_id": "task_pty", "status": "exited", "exit_code": 143,
        "started_at_ms": 1, "ended_at_ms": 5, "artifacts": null, "error": null});
    let found =
        frames(of_frames(), &[run("s1"), with_plain_ids(&stream("task_pty", &[spawned, written, over]))].concat());
    let task: Vec<_> = found.iter().filter(|frame| frame.stream.kind == StreamKind::Task).collect();
    assert_eq!(task.len(), 3, "{found:#?}");
    let Body::Task(event) = &task[0].body else { panic!("{task:?}") };
    assert_eq!(event.origin(), Some(found[0].stream.id));
    assert_eq!(task[0].stream.origin_run, Some(found[0].stream.id));
}
