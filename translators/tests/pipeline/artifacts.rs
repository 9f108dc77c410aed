//! The artifact stage: properties for any input, and the results for the recordings.

use crate::support::*;
use framegate_translators::artifacts::{Artifact, ArtifactKind, Artifacts, Bounds, id_of};
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson, write_raw};
use framegate_translators::frame::{
    Attachment, Body, EndReason, FileChangeKind, FileChanged, Frame, Session, SessionEnded, SharedStr, Stream,
    StreamKind, Tool, UserMessage,
};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Translator;
use framegate_translators::runners::{Runner, runner};
use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use uuid::Uuid;

/// Bounds that most recordings exceed.
const SMALL: Bounds = Bounds { inline_bytes: 100, preview_bytes: 20, max_bytes: 1 << 20, max_open_bytes: 1 << 22 };

/// The frames and artifacts of an input in these chunks.
fn staged<'c>(
    runner: &'static Runner,
    chunks: impl IntoIterator<Item = &'c [u8]>,
    bounds: Bounds,
) -> (Vec<Frame>, Vec<Artifact>) {
    let mut ingest = ingest(runner, Limits::default()).with_artifacts(bounds);
    let (mut frames, mut artifacts) = (Vec::new(), Vec::new());
    for chunk in chunks {
        frames.extend(ingest.feed(chunk, EPOCH_MS));
        artifacts.extend(ingest.take_artifacts());
    }
    frames.extend(ingest.finish(EPOCH_MS));
    artifacts.extend(ingest.take_artifacts());
    (frames, artifacts)
}

fn translated(runner: &'static Runner, contract: &'static Contract, bytes: &[u8], options: EncoderOptions) -> Vec<u8> {
    let ingest = ingest(runner, Limits::default()).with_artifacts(SMALL);
    let mut translator = Translator::new(ingest, contract, options);
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            if contract.name == framegate_translators::contracts::RECORDS.name {
                write_raw(event, &mut out)
            } else {
                write_ndjson(event, &mut out)
            }
        }
    };
    translator.feed(bytes, EPOCH_MS, &mut sink);
    translator.finish(EPOCH_MS, &mut sink);
    out
}

/// Checks the properties of frames and artifacts that hold for any input.
fn holds(frames: &[Frame], artifacts: &[Artifact], bounds: Bounds, what: &str) {
    let stored: BTreeSet<SharedStr> = artifacts.iter().map(Artifact::id).collect();
    for artifact in artifacts {
        assert_eq!(
            artifact.digest,
            <[u8; 32]>::from(Sha256::digest(&artifact.content)),
            "{what}: the hash of the bytes"
        );
        assert!(artifact.content.len() <= bounds.max_bytes, "{what}: larger than it may be");
    }
    let mut next: HashMap<_, u64> = HashMap::new();
    let mut inline: HashMap<(Uuid, bool), usize> = HashMap::new();
    let mut emitted = Vec::new();
    for frame in frames {
        let seq = next.entry((frame.stream.kind, frame.stream.id)).or_default();
        assert_eq!(frame.seq, *seq, "{what}: numbers without a gap");
        *seq += 1;
        match &frame.body {
            Body::ArtifactWritten(written) => {
                assert!(stored.contains(&written.artifact_id), "{what}: {} has no bytes", written.artifact_id);
                assert!(written.preview.as_ref().is_none_or(|preview| preview.len() <= bounds.preview_bytes), "{what}");
                emitted.push(written.artifact_id.clone());
            }
            Body::ToolStdout { tool, chunk }
            | Body::ToolStdoutTail { tool, chunk }
            | Body::ToolStdoutFront { tool, chunk } => {
                *inline.entry((tool.id, false)).or_default() += chunk.len();
            }
            Body::ToolStderr { tool, chunk } => *inline.entry((tool.id, true)).or_default() += chunk.len(),
            Body::ToolFailed { error, .. } => assert!(error.len() <= bounds.inline_bytes, "{what}: a long error"),
            Body::FileChanged(change) => {
                assert!(
                    change.diff.as_ref().is_none_or(|diff| diff.len() <= bounds.inline_bytes),
                    "{what}: a long diff"
                );
                assert!(change.artifact_id.as_ref().is_none_or(|id| emitted.contains(id)), "{what}: emitted before");
            }
            Body::ToolEnded { artifacts: Some(artifacts), .. } => {
                let value: Value = serde_json::from_str(artifacts.get()).unwrap();
                for reference in value["artifact_refs"].as_array().into_iter().flatten() {
                    let id = reference["artifact_id"].as_str().unwrap();
                    assert!(
                        emitted.iter().any(|emitted| **emitted == *id),
                        "{what}: {id} is referenced before it is written"
                    );
                }
            }
            Body::UserMessage(message) => {
                for id in message.attachments.iter().filter_map(|attached| attached.artifact_id.as_ref()) {
                    assert!(emitted.contains(id), "{what}: an attachment that is not stored");
                }
            }
            _ => {}
        }
    }
    for bytes in inline.values() {
        assert!(*bytes <= bounds.inline_bytes, "{what}: {bytes} bytes of one stream are inline");
    }
    assert_eq!(emitted.iter().cloned().collect::<BTreeSet<_>>(), stored, "{what}: each artifact has a frame");
}

fn shown(frames: &[Frame], artifacts: &[Artifact]) -> String {
    let frames = frames.iter().map(|frame| format!("{:?} {} {:?}\n", frame.id(), frame.timestamp_ms, frame.body));
    let artifacts = artifacts.iter().map(|one| format!("{} {:?} {:?}\n", one.id(), one.call_id, one.patched));
    frames.chain(artifacts).collect()
}

#[test]
fn recordings_respect_the_bounds_and_refer_to_stored_artifacts() {
    let mut kinds = BTreeSet::new();
    // The proxy that wrote frames has bounded them.
    for recording in recordings().filter(|recording| !recording.runner.is_of_frames) {
        let (frames, artifacts) = staged(recording.runner, [&recording.bytes[..]], SMALL);
        holds(&frames, &artifacts, SMALL, &recording.name);
        kinds.extend(artifacts.iter().map(|artifact| artifact.kind.as_str()));
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["command_output", "image", "patch", "tool_result_blob"]);
}

#[test]
fn events_with_artifacts_are_valid_in_every_contract() {
    for recording in recordings() {
        for contract in json_contracts() {
            for experimental in [false, true] {
                let options = EncoderOptions { experimental, ..EncoderOptions::default() };
                let out = translated(recording.runner, contract, &recording.bytes, options);
                assert_clean(contract, &out, &recording.name);
            }
        }
    }
}

#[test]
fn frames_of_another_proxy_keep_their_references_and_give_the_content_that_they_have() {
    let of_frames = framegate_translators::runners::FRAMES;
    let v2 = contract("frames.v2").unwrap();
    let mut kinds = BTreeSet::new();
    for recording in recordings().filter(|recording| !recording.runner.is_of_frames) {
        let (_, artifacts) = staged(recording.runner, [&recording.bytes[..]], SMALL);
        let events = translated(recording.runner, v2, &recording.bytes, EncoderOptions::default());
        let (_, found) = staged(of_frames, [&events[..]], SMALL);
        assert!(translated(of_frames, v2, &events, EncoderOptions::default()) == events, "{}", recording.name);
        let stored: BTreeSet<SharedStr> = artifacts.iter().map(Artifact::id).collect();
        assert!(found.iter().all(|artifact| stored.contains(&artifact.id())), "{}", recording.name);
        kinds.extend(found.iter().map(|artifact| artifact.kind.as_str()));
    }
    assert!(kinds.contains("image") && kinds.contains("patch"), "{kinds:?}");
}

#[test]
fn records_are_never_cut() {
    let raw = contract("raw").unwrap();
    for recording in recordings() {
        let out = translated(recording.runner, raw, &recording.bytes, EncoderOptions::default());
        // What is read as frames is no record: the records are those in the frames.
        let is_of_frames = recording.runner.is_of_frames;
        let whole = if is_of_frames { translate(recording.runner, raw, &recording.bytes) } else { recording.bytes };
        assert!(lines(&out) == lines(&whole), "{}", recording.name);
    }
}

#[test]
fn a_stored_output_is_the_whole_output() {
    let mut found = 0;
    for recording in recordings() {
        let mut whole: HashMap<SharedStr, (String, String)> = HashMap::new();
        for frame in frames(recording.runner, &recording.bytes) {
            match frame.body {
                Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => {
                    whole.entry(tool.call_id).or_default().0.push_str(&chunk);
                }
                Body::ToolStdoutFront { tool, chunk } => whole.entry(tool.call_id).or_default().0.insert_str(0, &chunk),
                Body::ToolStderr { tool, chunk } => whole.entry(tool.call_id).or_default().1.push_str(&chunk),
                _ => {}
            }
        }
        let (_, artifacts) = staged(recording.runner, [&recording.bytes[..]], SMALL);
        for artifact in artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::CommandOutput) {
            let Some((stdout, stderr)) = artifact.call_id.as_ref().and_then(|call| whole.get(call)) else { continue };
            if stdout.len().max(stderr.len()) > SMALL.inline_bytes {
                assert_eq!(&*artifact.content, format!("{stdout}{stderr}").as_bytes(), "{}", recording.name);
                found += 1;
            }
        }
    }
    assert!(found > 20, "{found} outputs");
}

#[test]
fn an_image_that_a_tool_read_is_stored_and_referenced_by_its_call() {
    let claude = runner("claude-code").unwrap();
    let bytes = std::fs::read(fixtures_dir("claude-code").join("read_image.partial.ndjson")).unwrap();
    let (frames, artifacts) = staged(claude, [&bytes[..]], Bounds::default());
    let images: Vec<&Artifact> = artifacts.iter().filter(|one| one.kind == ArtifactKind::Image).collect();
    assert_eq!(images.len(), 1);
    assert!(images[0].content.starts_with(b"\x89PNG") || images[0].content.starts_with(b"\xff\xd8"));
    let refers = frames.iter().any(|frame| match &frame.body {
        Body::ToolEnded { artifacts: Some(artifacts), tool, .. } => {
            artifacts.get().contains(&*images[0].id()) && Some(&tool.call_id) == images[0].call_id.as_ref()
        }
        _ => false,
    });
    assert!(refers, "the call refers to it");
}

#[test]
fn an_image_in_a_prompt_is_attached_by_reference() {
    let record = concat!(
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"see"},"#,
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAECAw=="}}]}}"#,
        "\n"
    );
    let (frames, artifacts) = staged(runner("claude-code").unwrap(), [record.as_bytes()], Bounds::default());
    assert_eq!(&*artifacts[0].content, [0, 1, 2, 3]);
    let message = frames.iter().find_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message),
        _ => None,
    });
    let attached = &message.unwrap().attachments[0];
    assert_eq!(attached.artifact_id.as_deref(), Some(&*id_of(&Sha256::digest([0, 1, 2, 3]).into())));
    assert_eq!(attached.bytes, Some(4));
    // Without the stage, the content's hash is not in the message.
    let (mime, bytes) = (attached.mime.clone(), attached.bytes);
    let plain = crate::support::frames(runner("claude-code").unwrap(), record.as_bytes());
    assert!(plain.iter().any(|frame| matches!(&frame.body, Body::UserMessage(message)
        if message.attachments[0].artifact_id.is_none()
            && message.attachments[0].mime == mime
            && message.attachments[0].bytes == bytes)));
}

fn stream() -> Arc<Stream> {
    let session = Arc::new(Session { id: Uuid::nil(), name: SharedStr::from("s") });
    Arc::new(Stream {
        kind: StreamKind::Session,
        id: Uuid::from_u128(1),
        session,
        origin_run: None,
        provider: framegate_translators::runners::runner("codex").unwrap().provider,
    })
}

fn tool() -> Tool {
    Tool { id: Uuid::from_u128(9), call_id: SharedStr::from("c") }
}

/// Passes bodies through the stage.
fn through(bodies: Vec<Body>, bounds: Bounds) -> (Vec<Frame>, Vec<Artifact>) {
    let mut stage = Artifacts::new(bounds);
    let mut out = Vec::new();
    let stream = stream();
    for (seq, body) in (0..).zip(bodies) {
        let frame = Frame { stream: stream.clone(), seq, timestamp_ms: 7, parent_tool_id: None, given_id: None, body };
        stage.frame(frame, &mut out);
    }
    let artifacts = stage.take();
    holds(&out, &artifacts, bounds, "made by hand");
    (out, artifacts)
}

fn stdout(chunk: impl Into<String>) -> Body {
    Body::ToolStdout { tool: tool(), chunk: chunk.into() }
}

fn ended() -> Body {
    Body::ToolEnded { tool: tool(), exit_code: 0, duration_ms: 0, artifacts: None }
}

fn kinds(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.body.kind()).collect()
}

#[test]
fn output_over_the_bound_is_stored() {
    let (frames, artifacts) = through(vec![stdout("x".repeat(100)), ended()], SMALL);
    assert_eq!((kinds(&frames), artifacts.len()), (vec!["tool_stdout", "tool_ended"], 0));
    let (frames, artifacts) =
        through(vec![stdout("x".repeat(60)), stdout("y".repeat(41)), stdout("z"), ended()], SMALL);
    assert_eq!(kinds(&frames), ["tool_stdout", "artifact_written", "tool_ended"]);
    assert_eq!(&*artifacts[0].content, format!("{}{}z", "x".repeat(60), "y".repeat(41)).as_bytes());
    let (frames, _) = through(vec![stdout("x".repeat(101)), ended()], SMALL);
    assert!(matches!(&frames[0].body, Body::ToolStdout { chunk, .. } if chunk.len() == SMALL.preview_bytes));
}

#[test]
fn an_output_over_the_maximum_size_is_cut_and_marked() {
    let bounds = Bounds { max_bytes: 150, ..SMALL };
    let (frames, artifacts) = through(vec![stdout("é".repeat(100)), ended()], bounds);
    assert_eq!((artifacts[0].content.len(), artifacts[0].bytes_total), (150, 200));
    let Body::ToolEnded { artifacts: Some(references), .. } = &frames.last().unwrap().body else { panic!("no refs") };
    let value: Value = serde_json::from_str(references.get()).unwrap();
    assert_eq!(value["artifact_refs"][0]["truncated"], true);
    assert_eq!(value["artifact_refs"][0]["stdout_bytes"], 200);
}

#[test]
fn the_output_held_for_all_running_tools_is_bounded() {
    let bounds = Bounds { max_open_bytes: 300, ..SMALL };
    let mut bodies = Vec::new();
    for nth in 0..10u128 {
        let tool = Tool { id: Uuid::from_u128(nth), call_id: SharedStr::from("c") };
        bodies.push(Body::ToolStdout { tool, chunk: "x".repeat(200) });
    }
    for nth in 0..10u128 {
        let tool = Tool { id: Uuid::from_u128(nth), call_id: SharedStr::from("c") };
        bodies.push(Body::ToolEnded { tool, exit_code: 0, duration_ms: 0, artifacts: None });
    }
    let (_, artifacts) = through(bodies, bounds);
    assert_eq!(artifacts.iter().map(|artifact| artifact.content.len()).sum::<usize>(), 300);
    assert_eq!(artifacts.iter().map(|artifact| artifact.bytes_total).sum::<u64>(), 2000);
}

#[test]
fn a_patch_is_stored_and_a_small_one_is_also_inline() {
    let change = |diff: String| {
        Body::FileChanged(Box::new(FileChanged {
            tool_id: Some(tool().id),
            path: "f".to_owned(),
            kind: FileChangeKind::Modify,
            diff: Some(diff),
            artifact_id: None,
        }))
    };
    for (diff, is_inline) in [("-a\n".to_owned(), true), ("+b\n".repeat(50), false)] {
        let (frames, artifacts) = through(vec![change(diff.clone())], SMALL);
        assert_eq!(kinds(&frames), ["artifact_written", "file_changed"]);
        assert_eq!(&*artifacts[0].content, diff.as_bytes());
        assert_eq!(artifacts[0].patched.as_ref().unwrap().path, "f");
        let Body::FileChanged(change) = &frames[1].body else { panic!("no change") };
        assert_eq!((change.diff.is_some(), change.artifact_id.as_ref()), (is_inline, Some(&artifacts[0].id())));
    }
    // A truncated patch is useless, so it is dropped.
    let (frames, artifacts) = through(vec![change("x".repeat(200))], Bounds { max_bytes: 150, ..SMALL });
    assert_eq!((kinds(&frames), artifacts.len()), (vec!["file_changed"], 0));
}

#[test]
fn an_attachment_keeps_its_own_reference() {
    let attachment = Attachment {
        kind: SharedStr::from("image"),
        mime: None,
        artifact_id: Some(SharedStr::from("sha256:00")),
        name: None,
        bytes: None,
    };
    let message = UserMessage { message_id: SharedStr::from("m"), text: String::new(), attachments: vec![attachment] };
    let mut stage = Artifacts::new(SMALL);
    let mut out = Vec::new();
    let body = Body::UserMessage(Box::new(message));
    stage.frame(
        Frame { stream: stream(), seq: 0, timestamp_ms: 0, parent_tool_id: None, given_id: None, body },
        &mut out,
    );
    assert!(matches!(&out[0].body, Body::UserMessage(message)
        if message.attachments[0].artifact_id.as_deref() == Some("sha256:00")));
}

#[test]
fn the_number_of_an_ended_run_is_not_reused() {
    let end = || {
        Body::SessionEnded(Box::new(SessionEnded {
            reason: EndReason::Completed,
            final_text: None,
            error_code: None,
            message: None,
        }))
    };
    let (frames, _) = through(vec![stdout("x".repeat(200)), ended(), end()], SMALL);
    assert_eq!(frames.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_chunking_gives_the_same_frames_and_artifacts(pick in any::<prop::sample::Index>(), size in 1usize..5000) {
        let small: Vec<Recording> = recordings().filter(|recording| recording.bytes.len() < 80_000).collect();
        let recording = pick.get(&small);
        let (frames, artifacts) = staged(recording.runner, [&recording.bytes[..]], SMALL);
        let (again, artifacts_again) = staged(recording.runner, recording.bytes.chunks(size), SMALL);
        prop_assert_eq!(shown(&frames, &artifacts), shown(&again, &artifacts_again));
    }

    #[test]
    fn any_pieces_of_an_output_respect_the_bounds(
        pieces in prop::collection::vec(("[ab€]{0,60}", 0u8..3), 0..30),
        inline_bytes in 0usize..200,
        preview_bytes in 0usize..50,
        max_bytes in 200usize..400,
    ) {
        let bounds = Bounds { inline_bytes, preview_bytes: preview_bytes.min(inline_bytes), max_bytes, ..SMALL };
        let mut bodies: Vec<Body> = pieces.iter().map(|(chunk, part)| match part {
            0 => stdout(chunk.clone()),
            1 => Body::ToolStderr { tool: tool(), chunk: chunk.clone() },
            _ => Body::ToolStdoutFront { tool: tool(), chunk: chunk.clone() },
        }).collect();
        bodies.push(ended());
        let (_, artifacts) = through(bodies, bounds);
        let mut stdout = String::new();
        let mut stderr = String::new();
        for (chunk, part) in &pieces {
            match part {
                0 => stdout.push_str(chunk),
                1 => stderr.push_str(chunk),
                _ => stdout.insert_str(0, chunk),
            }
        }
        let is_large = stdout.len() > inline_bytes || stderr.len() > inline_bytes;
        prop_assert_eq!(artifacts.len(), usize::from(is_large));
        if let Some(artifact) = artifacts.first().filter(|_| stdout.len() + stderr.len() <= max_bytes) {
            prop_assert_eq!(String::from_utf8_lossy(&artifact.content).into_owned(), format!("{stdout}{stderr}"));
        }
    }
}
