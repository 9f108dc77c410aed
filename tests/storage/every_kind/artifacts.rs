//! Artifacts.

use super::{Opened, Place, started};
use crate::scratch::{artifact, frames};
use framegate::artifacts::Key;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::stream_id;
use framegate::runs::{PruningBounds, Runs};
use framegate_translators::artifacts::{Artifact, ArtifactKind, Artifacts, Bounds};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Attachment, Body, Frame, SharedStr, StreamKind, UserMessage};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::sequence::Identity;
use serde_json::json;
use std::sync::Arc;
use uuid::Uuid;

fn run(number: u128) -> Vec<Arc<Frame>> {
    frames("claude-code", "text_plain.partial.ndjson", number)
}

pub fn are_read_back_by_digest_and_by_prefix(place: &dyn Place) {
    let frames = run(1);
    let put = artifact(&frames[0], 0xAB, 100);
    let Opened { log, store } = place.open(false);
    place.runtime().block_on(async {
        store.put(put.clone()).await.unwrap();
        log.append(&frames, Vec::new()).await.unwrap();
    });
    drop((log, store));
    let store = place.open(false).store;
    place.runtime().block_on(async {
        let digest = Key::Digest([0xAB; 32]);
        for key in [digest, Key::Front(digest.front())] {
            let found = store.get(key).await.unwrap().unwrap();
            assert_eq!(format!("{found:?}"), format!("{put:?}"));
        }
        let mut other = [0xAB; 32];
        other[31] = 0;
        assert!(store.get(Key::Digest(other)).await.unwrap().is_none());
        assert!(store.get(Key::Digest([1; 32])).await.unwrap().is_none());
    });
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
pub fn that_only_a_front_refers_to_are_deleted_with_it(place: &dyn Place) {
    let Opened { log, store } = place.open(true);
    let outputs =
        ["the first output, which is long", "one that comes twice, and is long", "one that comes twice, and is long"];
    let (frames, artifacts) = tools(7, &outputs);
    let bounds = Bounds { inline_bytes: 10, preview_bytes: 5, max_bytes: 1 << 20, max_open_bytes: 1 << 20 };
    let fronts = PruningBounds { max_frames: Some(1 << 20), ..PruningBounds::default() };
    let runs = Runs::new(log, Gate::new(GateMode::Off).unwrap())
        .with_artifacts(store.clone(), bounds)
        .with_pruning(fronts, EncoderOptions::default());
    let runs = started(place, runs);
    let keys: Vec<Key> = artifacts.iter().map(|artifact| Key::Digest(artifact.digest)).collect();
    assert_eq!(keys.len(), 3, "each output becomes an artifact");
    let is_tool_end = |body: &Body| matches!(body, Body::ToolEnded { .. });
    let ends: Vec<u64> = frames.iter().filter(|frame| is_tool_end(&frame.body)).map(|frame| frame.seq).collect();
    place.runtime().block_on(async {
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
        // Servers would have to count them.
        if let Some((bytes, count)) = store.usage().await {
            assert!(count == 1 && bytes >= outputs[2].len() as u64, "{count} of {bytes} bytes");
        }
        assert!(store.get(keys[2]).await.unwrap().is_some());
    });
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
pub fn of_media_outlive_their_record_until_the_message_about_them_is_pruned(place: &dyn Place) {
    let Opened { log, store } = place.open(true);
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
    let runs = started(place, runs);
    let is_there = async || store.get(key).await.unwrap().is_some();
    place.runtime().block_on(async {
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

pub fn have_a_usage_and_streams_that_refer_to_them(place: &dyn Place) {
    let Opened { log, store } = place.open(false);
    place.runtime().block_on(async {
        // Servers would have to count them.
        let has_usage = store.usage().await.inspect(|usage| assert_eq!(*usage, (0, 0))).is_some();
        let (one, two) = (run(1), run(2));
        for frames in [&one, &two] {
            store.put(artifact(&frames[0], 0xAB, 100)).await.unwrap();
            log.append(frames, Vec::new()).await.unwrap();
        }
        store.put(artifact(&two[0], 0xCD, 50)).await.unwrap();
        // What is stored beside the content may count.
        let usage = store.usage().await;
        assert_eq!(usage.map(|(_, count)| count), has_usage.then_some(2));
        assert!(usage.is_none_or(|(bytes, _)| bytes >= 150), "{usage:?}");
        let of = async |key: Key| {
            let mut found = store.streams(key).await.unwrap();
            found.sort_by_key(|(_, id)| *id);
            found
        };
        let mut both = vec![stream_id(&one[0]), stream_id(&two[0])];
        both.sort_by_key(|(_, id)| *id);
        let shared = Key::Digest([0xAB; 32]);
        assert_eq!(of(shared).await, both);
        assert_eq!(of(Key::Front(shared.front())).await, both);
        assert_eq!(of(Key::Digest([0xCD; 32])).await, [stream_id(&two[0])]);
        // A different digest with the same prefix, and a digest that no artifact has.
        let mut other = [0xAB; 32];
        other[31] = 0;
        assert_eq!(of(Key::Digest(other)).await, []);
        assert_eq!(of(Key::Digest([1; 32])).await, []);
    });
}
