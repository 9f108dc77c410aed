//! Artifacts beside their frames: there after a kill, gone with the last run that refers to them.

use crate::client::{get, post};
use crate::proxy::Proxy;
use crate::scratch::{Scratch, frames, wait};
use framegate::artifacts::{ArtifactStore, Key, StoreError};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, SqliteLog, stream_id};
use framegate_translators::artifacts::{Artifact, ArtifactKind, Patched};
use framegate_translators::frame::{FileChangeKind, Frame, Name, StreamKind};
use serde_json::{Value, json};
use std::sync::Arc;

fn artifact(first: &Frame, byte: u8, size: usize) -> Arc<Artifact> {
    Arc::new(Artifact {
        stream: first.stream.clone(),
        digest: [byte; 32],
        kind: ArtifactKind::Patch,
        mime: Name::from("text/x-diff"),
        content: vec![byte; size].into(),
        bytes_total: size as u64 + 1,
        created_at_ms: 7,
        call_id: Some(Name::from("call")),
        patched: Some(Patched { path: "a.rs".to_owned(), kind: FileChangeKind::Move }),
    })
}

fn run(number: u128) -> Vec<Arc<Frame>> {
    frames("claude-code", "text_plain.partial.ndjson", number)
}

#[test]
fn an_artifact_comes_back_whole_by_both_of_its_keys() {
    let scratch = Scratch::new("artifact");
    let frames = run(1);
    let put = artifact(&frames[0], 0xAB, 100);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    wait(log.put(put.clone())).unwrap();
    wait(log.append(&frames, Vec::new())).unwrap();
    drop(log);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let digest = Key::Digest([0xAB; 32]);
    for key in [digest, Key::Front(digest.front())] {
        let found = wait(log.get(key)).unwrap().unwrap();
        assert_eq!(format!("{found:?}"), format!("{put:?}"));
    }
    let mut other = [0xAB; 32];
    other[31] = 0;
    assert!(wait(log.get(Key::Digest(other))).unwrap().is_none());
    assert!(wait(log.get(Key::Digest([1; 32]))).unwrap().is_none());
}

#[test]
fn an_artifact_goes_with_the_last_run_that_refers_to_it() {
    let scratch = Scratch::new("artifact-runs");
    let log = SqliteLog::open(Options { max_runs: 1, ..Options::new(scratch.path()) }).unwrap();
    let there = |byte: u8| wait(log.get(Key::Digest([byte; 32]))).unwrap().is_some();
    for number in 1..=4 {
        let frames = run(number);
        // One that runs 1 and 2 share, and one of each run's own.
        if number <= 2 {
            wait(log.put(artifact(&frames[0], 0xFF, 10))).unwrap();
        }
        wait(log.put(artifact(&frames[0], number as u8, 10))).unwrap();
        wait(log.append(&frames, Vec::new())).unwrap();
        if number == 3 {
            assert_eq!([there(1), there(2), there(3), there(0xFF)], [false, true, true, true]);
        }
    }
    assert_eq!([there(2), there(3), there(4), there(0xFF)], [false, true, true, false]);
    let dropped = wait(log.take_dropped());
    assert!(dropped.iter().any(|(kind, _)| *kind == StreamKind::Session));
}

#[test]
fn the_artifacts_written_first_go_where_there_is_no_room() {
    let scratch = Scratch::new("artifact-room");
    let options = Options { max_artifact_bytes: 250, ..Options::new(scratch.path()) };
    let log = SqliteLog::open(options.clone()).unwrap();
    let first = run(1)[0].clone();
    for byte in 1..=2 {
        wait(log.put(artifact(&first, byte, 100))).unwrap();
    }
    drop(log);
    let log = SqliteLog::open(options).unwrap();
    wait(log.put(artifact(&first, 3, 100))).unwrap();
    let there: Vec<bool> = (1..=3).map(|byte| wait(log.get(Key::Digest([byte; 32]))).unwrap().is_some()).collect();
    assert_eq!(there, [false, true, true]);
    let refused = wait(log.put(artifact(&first, 4, 251)));
    assert!(matches!(refused, Err(StoreError::TooLarge { bytes: 251, limit: 250 })), "{refused:?}");
    assert_eq!(stream_id(&first).0, StreamKind::Session);
}

#[test]
fn after_a_kill_what_frames_refer_to_is_still_there() {
    let scratch = Scratch::new("artifact-kill");
    let path = scratch.path().to_str().unwrap().to_owned();
    let settings = [
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__PATH", path.as_str()),
        ("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "1000"),
        ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "10"),
    ];
    let output = "0123456789".repeat(300);
    let records = [
        json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "tools": [], "cwd": "/"}),
        json!({"type": "assistant", "session_id": "s-1", "message": {"id": "m1", "role": "assistant", "model": "m",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}]}}),
        json!({"type": "user", "session_id": "s-1", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s-1", "result": "done"}),
    ];
    let body: String = records.iter().map(|record| format!("{record}\n")).collect();
    let proxy = Proxy::with(&settings);
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], body.as_bytes()).json();
    let events = format!("/v1/runs/{}/events?contract=frames.v2", made["runs"][0]["run_id"].as_str().unwrap());
    let told = get(proxy.address, &events, &[("accept", "application/x-ndjson")]).text();
    drop(proxy);
    let proxy = Proxy::with(&settings);
    assert_eq!(get(proxy.address, &events, &[("accept", "application/x-ndjson")]).text(), told);
    let frames = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let written: Vec<Value> = frames.filter(|frame| frame["type"] == "artifact_written").collect();
    assert_eq!(written.len(), 1);
    let id = written[0]["artifact_id"].as_str().unwrap();
    let answer = get(proxy.address, &format!("/v1/artifacts/{id}"), &[]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text(), output);
}

#[test]
fn a_store_says_who_refers_to_an_artifact_and_how_much_there_is() {
    let scratch = Scratch::new("artifact-usage");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    assert_eq!(wait(ArtifactStore::usage(&log)), Some((0, 0)));
    let (one, two) = (run(1), run(2));
    for frames in [&one, &two] {
        wait(log.put(artifact(&frames[0], 0xAB, 100))).unwrap();
        wait(log.append(frames, Vec::new())).unwrap();
    }
    wait(log.put(artifact(&two[0], 0xCD, 50))).unwrap();
    assert_eq!(wait(ArtifactStore::usage(&log)), Some((150, 2)));
    let shared = Key::Digest([0xAB; 32]);
    let of = |key: Key| {
        let mut found = wait(ArtifactStore::streams(&log, key)).unwrap();
        found.sort_by_key(|(_, id)| *id);
        found
    };
    let mut both = vec![stream_id(&one[0]), stream_id(&two[0])];
    both.sort_by_key(|(_, id)| *id);
    assert_eq!(of(shared), both);
    assert_eq!(of(Key::Front(shared.front())), both);
    assert_eq!(of(Key::Digest([0xCD; 32])), [stream_id(&two[0])]);
    // Another artifact whose digest begins the same, and one that nobody has.
    let mut other = [0xAB; 32];
    other[31] = 0;
    assert_eq!(of(Key::Digest(other)), []);
    assert_eq!(of(Key::Digest([1; 32])), []);
}
