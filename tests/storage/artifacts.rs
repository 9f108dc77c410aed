//! Artifacts are stored with their frames: they survive a kill, and are deleted with the last run that refers to them.

use crate::client::{get, post};
use crate::proxy::Proxy;
use crate::scratch::{Scratch, artifact, frames, wait};
use framegate::artifacts::{ArtifactStore, Key, MemoryStore, StoreError};
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, MemoryLog, SqliteLog, stream_id};
use framegate::runs::{PruningBounds, Runs};
use framegate_translators::artifacts::{Artifact, ArtifactKind, Artifacts, Bounds};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Attachment, Body, Frame, SharedStr, StreamKind, UserMessage};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::sequence::Identity;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

fn run(number: u128) -> Vec<Arc<Frame>> {
    frames("claude-code", "text_plain.partial.ndjson", number)
}

#[test]
fn an_artifact_is_read_back_by_digest_and_by_prefix() {
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

/// A run in which the output of every tool becomes an artifact: its frames, and the artifacts.
fn tools(run: u128, outputs: &[&str]) -> (Vec<Arc<Frame>>, Vec<Artifact>) {
    let identity = Identity { run_id: Uuid::from_u128(run), session_id: None };
    let bounds = Bounds { inline_bytes: 10, preview_bytes: 5, max_bytes: 1 << 20, max_open_bytes: 1 << 20 };
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity).with_artifacts(bounds);
    let mut records = vec![json!({"type": "system", "subtype": "init", "model": "m", "tools": []})];
    for (nth, output) in outputs.iter().enumerate() {
        let id = format!("toolu_{nth}");
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": false});
        records.push(
            json!({"type": "assistant", "message": {"id": format!("m{nth}"), "role": "assistant", "content": [call]}}),
        );
        records.push(json!({"type": "user", "message": {"role": "user", "content": [result]}}));
    }
    let session = "a2d54fc6-831a-4f18-8adb-000000000001";
    let mut frames = Vec::new();
    for mut record in records {
        record["session_id"] = json!(session);
        frames.extend(ingest.feed(format!("{record}\n").as_bytes(), 1).map(Arc::new));
    }
    (frames, ingest.take_artifacts())
}

/// An artifact that only the front of a run refers to is deleted with it; one that a later frame refers to stays.
fn pruning_deletes_unreferenced_artifacts(log: Arc<dyn FrameLog>, store: Arc<dyn ArtifactStore>) {
    let outputs =
        ["the first output, which is long", "one that comes twice, and is long", "one that comes twice, and is long"];
    let (frames, artifacts) = tools(7, &outputs);
    let bounds = Bounds { inline_bytes: 10, preview_bytes: 5, max_bytes: 1 << 20, max_open_bytes: 1 << 20 };
    let fronts = PruningBounds { max_frames: Some(1 << 20), ..PruningBounds::default() };
    let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap())
        .with_artifacts(store.clone(), bounds)
        .with_pruning(fronts, EncoderOptions::default());
    let keys: Vec<Key> = artifacts.iter().map(|artifact| Key::Digest(artifact.digest)).collect();
    assert_eq!(keys.len(), 3, "each output becomes an artifact");
    let is_there = |key: Key| wait(store.get(key)).unwrap().is_some();
    let is_tool_end = |body: &Body| matches!(body, Body::ToolEnded { .. });
    let ends: Vec<u64> = frames.iter().filter(|frame| is_tool_end(&frame.body)).map(|frame| frame.seq).collect();
    wait(async {
        // The first two are stored before the run is known, the last one after.
        let mut artifacts = artifacts.into_iter();
        runs.store(artifacts.by_ref().take(2).collect()).await;
        let known = frames.iter().position(|frame| frame.seq == ends[1]).unwrap() + 1;
        runs.append(&frames[..known]).await.unwrap();
        runs.store(artifacts.collect()).await;
        let entry = runs.find((StreamKind::Session, Uuid::from_u128(7))).unwrap();
        // The end of the tool still refers to what the tool wrote.
        runs.prune(&entry, ends[0], 5).await.unwrap();
        assert!(store.get(keys[0]).await.unwrap().is_some());
        runs.prune(&entry, ends[0] + 1, 5).await.unwrap();
        assert!(store.get(keys[0]).await.unwrap().is_none());
        // The artifact's last frame has not been appended yet.
        runs.prune(&entry, ends[1], 5).await.unwrap();
        assert!(store.get(keys[1]).await.unwrap().is_some());
        runs.append(&frames[known..]).await.unwrap();
        runs.prune(&entry, ends[1] + 1, 5).await.unwrap();
        assert!(store.get(keys[2]).await.unwrap().is_some());
        let (bytes, count) = store.usage().await.unwrap();
        assert!(count == 1 && bytes >= outputs[2].len() as u64, "{count} of {bytes} bytes");
    });
    assert!(is_there(keys[2]));
}

#[test]
fn pruning_a_front_deletes_the_artifacts_that_only_it_refers_to() {
    let memory = MemoryLog::new(1 << 30, 100);
    pruning_deletes_unreferenced_artifacts(Arc::new(memory), Arc::new(MemoryStore::new(1 << 20)));
    let scratch = Scratch::new("artifact-front");
    let log = Arc::new(SqliteLog::open(Options::new(scratch.path())).unwrap());
    pruning_deletes_unreferenced_artifacts(log.clone(), log);
}

/// A run with an image in one of its records, and a message about the image `later` records later: its frames, and the image.
fn image(run: u128, later: usize) -> (Vec<Arc<Frame>>, Vec<Artifact>) {
    let made = frames("claude-code", "text_plain.partial.ndjson", run);
    let of_run = |frame: &&Arc<Frame>| stream_id(frame).0 == StreamKind::Session;
    let record = made.iter().filter(of_run).find(|frame| matches!(frame.body, Body::ProviderEvent(_))).unwrap();
    let with = |body: Body| Frame { body, ..Frame::clone(record) };
    let Body::ProviderEvent(plain) = &record.body else { panic!("{record:?}") };
    let mut holds = plain.clone();
    holds.data = Some(r#"{"image":{"media_type":"image/png","data":"AAECAw=="}}"#.into());
    let attachment = Attachment {
        kind: SharedStr::from("image"),
        mime: Some(SharedStr::from("image/png")),
        artifact_id: None,
        name: None,
        bytes: Some(4),
    };
    let message = UserMessage { message_id: SharedStr::from("m"), text: String::new(), attachments: vec![attachment] };
    let mut stage = Artifacts::new(Bounds::default());
    let mut out = Vec::new();
    stage.frame(with(Body::ProviderEvent(holds)), &mut out);
    (0..later).for_each(|_| stage.frame(with(record.body.clone()), &mut out));
    stage.frame(with(Body::UserMessage(Box::new(message))), &mut out);
    (0..2).for_each(|_| stage.frame(with(record.body.clone()), &mut out));
    (out.into_iter().map(Arc::new).collect(), stage.take())
}

/// Media from a record remain available for a message that arrives after the record was deleted.
fn media_are_kept_for_a_later_message(log: Arc<dyn FrameLog>, store: Arc<dyn ArtifactStore>) {
    let (frames, artifacts) = image(9, 30);
    let key = Key::Digest(artifacts[0].digest);
    assert_eq!((artifacts.len(), artifacts[0].kind), (1, ArtifactKind::Image));
    let claim = frames.iter().position(|frame| matches!(frame.body, Body::UserMessage(_))).unwrap();
    let Body::UserMessage(message) = &frames[claim].body else { panic!("{:?}", frames[claim]) };
    assert_eq!(message.attachments[0].artifact_id.as_deref(), Some(&*artifacts[0].id()));
    let fronts = PruningBounds { max_frames: Some(1 << 20), ..PruningBounds::default() };
    let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap())
        .with_artifacts(store.clone(), Bounds::default())
        .with_pruning(fronts, EncoderOptions::default());
    let is_there = async || store.get(key).await.unwrap().is_some();
    wait(async {
        runs.store(artifacts).await;
        runs.append(&frames[..claim]).await.unwrap();
        let entry = runs.find(stream_id(&frames[0])).unwrap();
        runs.prune(&entry, claim as u64 - 1, 5).await.unwrap();
        assert!(is_there().await, "the message may still come");
        runs.append(&frames[claim..]).await.unwrap();
        runs.prune(&entry, claim as u64, 5).await.unwrap();
        assert!(is_there().await, "the message is kept");
        runs.prune(&entry, claim as u64 + 1, 5).await.unwrap();
        assert!(!is_there().await, "the message has been pruned");
    });
}

#[test]
fn media_outlive_their_record_until_the_message_about_them_is_pruned() {
    media_are_kept_for_a_later_message(Arc::new(MemoryLog::new(1 << 30, 100)), Arc::new(MemoryStore::new(1 << 20)));
    let scratch = Scratch::new("artifact-media");
    let log = Arc::new(SqliteLog::open(Options::new(scratch.path())).unwrap());
    media_are_kept_for_a_later_message(log.clone(), log);
}

#[test]
fn artifacts_are_checkpointed_from_the_write_ahead_log_like_frames() {
    let scratch = Scratch::new("artifact-moved");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let first = run(1)[0].clone();
    let size = || std::fs::metadata(scratch.path()).unwrap().len();
    let before = size();
    // More than the write-ahead log holds before pages are moved, and less than the amount that makes the writer itself move
    // them.
    for byte in 0..12 {
        wait(log.put(artifact(&first, byte, 1 << 20))).unwrap();
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while size() < before + (7 << 20) {
        assert!(std::time::Instant::now() < deadline, "{} of {before}", size());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn an_artifact_is_deleted_with_the_last_run_that_refers_to_it() {
    let scratch = Scratch::new("artifact-runs");
    let log = SqliteLog::open(Options { max_runs: 1, ..Options::new(scratch.path()) }).unwrap();
    let there = |byte: u8| wait(log.get(Key::Digest([byte; 32]))).unwrap().is_some();
    for number in 1..=4 {
        let frames = run(number);
        // One artifact that runs 1 and 2 share, and one for each run alone.
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
fn the_oldest_artifacts_are_evicted_to_make_room() {
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
fn artifacts_survive_a_kill() {
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
    let before_the_kill = get(proxy.address, &events, &[("accept", "application/x-ndjson")]).text();
    drop(proxy);
    let proxy = Proxy::with(&settings);
    assert_eq!(get(proxy.address, &events, &[("accept", "application/x-ndjson")]).text(), before_the_kill);
    let frames = before_the_kill.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let written: Vec<Value> = frames.filter(|frame| frame["type"] == "artifact_written").collect();
    assert_eq!(written.len(), 1);
    let id = written[0]["artifact_id"].as_str().unwrap();
    let answer = get(proxy.address, &format!("/v1/artifacts/{id}"), &[]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text(), output);
}

#[test]
fn a_store_reports_its_usage_and_the_streams_that_refer_to_an_artifact() {
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
    // A different digest with the same prefix, and a digest that no artifact has.
    let mut other = [0xAB; 32];
    other[31] = 0;
    assert_eq!(of(Key::Digest(other)), []);
    assert_eq!(of(Key::Digest([1; 32])), []);
}
