//! The stored form of frames: every frame is restored unchanged, and the output of older versions stays readable for ever.

use crate::support::*;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::encode::{Encoder, EncoderOptions, Events};
use framegate_translators::frame::stored::{self, StoredError, write_frame};
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::normalizer::Reopened;
use framegate_translators::runners::PROVIDERS;
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::{BTreeSet, HashMap};

/// Frames that version 1 wrote, one of each kind.
const V1: &str = include_str!("../stored/v1.ndjson");

fn read_frame(line: &[u8]) -> Result<Frame, StoredError> {
    stored::read_frame(line, PROVIDERS)
}

fn stored(frame: &Frame) -> Vec<u8> {
    let mut line = Vec::new();
    write_frame(frame, &mut line);
    line
}

fn reloaded(frame: &Frame) -> Frame {
    let line = stored(frame);
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    read_frame(&line).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&line)))
}

/// The events of frames in every contract.
fn events(frames: &[Frame]) -> Vec<Vec<u8>> {
    let of_contract = |contract: &'static framegate_translators::contracts::Contract| {
        let mut encoders: HashMap<_, Option<Box<dyn Encoder>>> = HashMap::new();
        let (mut out, mut events) = (Vec::new(), Events::default());
        for frame in frames {
            events.clear();
            let key = (frame.stream.kind, frame.stream.id);
            let new = || (contract.encoder)(&frame.stream, &EncoderOptions::default());
            if let Some(encoder) = encoders.entry(key).or_insert_with(new) {
                encoder.frame(frame, &mut events);
            }
            for event in events.iter() {
                out.extend_from_slice(event.payload);
                out.push(b'\n');
            }
        }
        out
    };
    CONTRACTS.iter().map(of_contract).collect()
}

fn come_back(frames: &[Frame], what: &str) {
    let again: Vec<Frame> = frames.iter().map(reloaded).collect();
    for (frame, again) in frames.iter().zip(&again) {
        assert_eq!(format!("{frame:?}"), format!("{again:?}"), "{what}");
    }
    assert!(events(frames) == events(&again), "{what}: events of reloaded frames differ");
}

#[test]
fn stored_frames_are_read_back_and_give_the_same_events() {
    for recording in recordings() {
        let mut ingest = ingest(recording.runner, framegate_translators::framing::Limits::default()).watching_drift();
        let mut frames: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
        frames.extend(ingest.finish(EPOCH_MS));
        come_back(&frames, &recording.name);
    }
}

#[test]
fn hostile_records_are_read_back() {
    let deep = format!("{{\"type\":{}1{}}}\n", "[".repeat(10_000), "]".repeat(10_000));
    for runner in framegate_translators::runners::RUNNERS {
        for text in [
            &b"{\"type\":\"\xff\xfe\"}\n\xff\n"[..],
            b"\x00\x00\n{\"a\":\"\\u0000\\ud83d\",\"a\":-0,\"b\":1e400}\n",
            b"\xEF\xBB\xBF{\"type\":\"x\"}\n[1, 2]\nnull\n{}{} tail\n",
            b"event: x\r\ndata: {\"type\":\r\ndata: \"y\"}\r\n\r\n: comment\ndata: [DONE]\n\ndata: cut",
            deep.as_bytes(),
        ] {
            come_back(&frames(runner, text), runner.name);
        }
    }
}

#[test]
fn frames_of_version_1_are_read_and_written_unchanged() {
    let mut kinds = BTreeSet::new();
    for line in V1.lines() {
        let frame = read_frame(line.as_bytes()).unwrap_or_else(|error| panic!("{error}: {line}"));
        kinds.insert(frame.body.kind());
        // Output of an older version may lack optional fields; these lines contain all of them.
        let written = String::from_utf8(stored(&frame)).unwrap();
        assert_eq!(written.trim_end(), line);
    }
    // The types of `spec/frames.md` and the extension types, each once.
    assert_eq!(kinds.len(), 45, "{kinds:?}");
}

#[test]
fn a_missing_optional_field_reads_as_absent() {
    let mut dropped = 0;
    for line in V1.lines() {
        let frame: Frame = read_frame(line.as_bytes()).unwrap();
        let mut value: serde_json::Value = serde_json::from_str(&line.replace("\\ud83d", "x")).unwrap();
        let body = value["body"].as_object_mut().unwrap().values_mut().next().unwrap().as_object_mut().unwrap();
        for optional in ["model", "reason", "by", "scope", "tool_id", "artifacts", "diff", "timeout_ms", "cost_usd"] {
            // The scope of `usage_reported` and the reason of `gap_detected`, for example, are required.
            let needed = matches!(
                (frame.body.kind(), optional),
                ("usage_reported" | "error_reported", "scope") | ("gap_detected" | "session_ended", "reason")
            );
            if !needed && body.remove(optional).is_some() {
                dropped += 1;
            }
        }
        let shorter = serde_json::to_vec(&value).unwrap();
        let read = read_frame(&shorter).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(read.body.kind(), frame.body.kind());
    }
    assert!(dropped > 8, "{dropped}");
}

#[test]
fn an_invalid_stored_frame_is_an_error_with_its_position() {
    let line = V1.lines().next().unwrap();
    for (wrong, expected) in [
        (line.replace("\"v\":1", "\"v\":2"), "by a later version (form 2"),
        (line.replace("\"v\":1,", ""), "missing field `v`"),
        (line.replace("claude-code", "clod"), "unknown provider \"clod\" (known: claude-code, codex"),
        (line.replace("\"session\"", "\"sesion\""), "unknown stream kind \"sesion\""),
        (line.replace("session_started", "session_begun"), "unknown variant `session_begun`"),
        (line.replace("\"input\"", "\"inputs\""), "unknown field `inputs`"),
        (line.replace("\"seq\"", "\"sequence\""), "unknown field `sequence`"),
        (line[..line.len() / 2].to_owned(), "EOF while parsing"),
        (String::new(), "EOF while parsing"),
        (r#"{"raw":{"hex":"0"}}"#.to_owned(), "missing field `v`"),
    ] {
        let error = read_frame(wrong.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error} should say {expected:?}");
        assert_eq!(matches!(error, StoredError::Version(2)), expected.starts_with("by a later"));
    }
    let bytes = V1.lines().find(|line| line.contains("\"hex\"")).unwrap();
    for wrong in ["7bff0", "7bfg", "zz"] {
        let error = read_frame(bytes.replace("7bff00", wrong).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("must consist of hexadecimal bytes"), "{error}");
    }
}

proptest! {
    #[test]
    fn changed_bytes_never_panic(which in any::<Index>(), at in any::<Index>(), byte in any::<u8>()) {
        let lines: Vec<&str> = V1.lines().collect();
        let mut line = lines[which.index(lines.len())].as_bytes().to_vec();
        let at = at.index(line.len());
        line[at] = byte;
        if let Ok(frame) = read_frame(&line) {
            let again = reloaded(&frame);
            prop_assert_eq!(format!("{frame:?}"), format!("{again:?}"));
        }
    }
}

/// A proxy is killed after any frame of a run, and closes the run on its next start.
#[test]
fn a_run_cut_after_any_frame_is_closed_from_its_frames() {
    let mut closed = BTreeSet::new();
    for recording in recordings().filter(|recording| recording.bytes.len() < 30_000) {
        let all = frames(recording.runner, &recording.bytes);
        let mut streams: HashMap<_, Vec<Frame>> = HashMap::new();
        for frame in all {
            streams.entry((frame.stream.kind, frame.stream.id)).or_default().push(frame);
        }
        for ((kind, _), frames) in streams {
            let step = (frames.len() / 25).max(1);
            for cut in (1..=frames.len()).step_by(step) {
                let (kept, _) = frames.split_at(cut);
                let mut reopened = Reopened::new(kept[0].stream.clone());
                kept.iter().for_each(|frame| reopened.frame(frame));
                let is_over = reopened.is_over();
                // The clock may have been set back.
                let closing = reopened.close(0);
                let what = format!("{} {kind:?} cut at {cut}", recording.name);
                assert!(!is_over || closing.is_empty(), "{what}");
                closed.extend(closing.iter().map(|frame| frame.body.kind()));
                let whole: Vec<Frame> = kept.iter().chain(&closing).cloned().collect();
                for (nth, pair) in whole.windows(2).enumerate() {
                    assert_eq!(pair[1].seq, nth as u64 + 1, "{what}");
                    assert!(pair[1].timestamp_ms >= pair[0].timestamp_ms, "{what}");
                }
                if kind == StreamKind::Session {
                    assert!(matches!(whole.last().unwrap().body, Body::SessionEnded(_)), "{what}");
                    for (contract, out) in CONTRACTS.iter().zip(events(&whole)) {
                        if !contract.schemas.is_empty() {
                            assert_clean(contract, &out, &what);
                        }
                    }
                }
                // A closed run is not closed again.
                let mut again = Reopened::new(kept[0].stream.clone());
                whole.iter().for_each(|frame| again.frame(frame));
                assert!(again.close(0).is_empty(), "{what}");
            }
        }
    }
    for kind in ["output_text_completed", "tool_failed", "turn_ended", "session_ended", "approval_resolved"] {
        assert!(closed.contains(kind), "no cut left a thing open that {kind} closes: {closed:?}");
    }
}
