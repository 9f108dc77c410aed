//! The last frame of a run waits for records that follow it, and is never lost.

use crate::support::*;
use framegate_translators::frame::stored::{read_frame, write_frame};
use framegate_translators::frame::{Body, Frame, SessionEnded, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::{END_HOLD_MS, EndHold, Reopened};
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;

const RUN: &str = r#"{"type":"thread.started","thread_id":"0198c1c2-0000-7000-8000-000000000001"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Hello"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
"#;
const LATE: &[u8] = b"{\"type\":\"late\"}\n";

fn codex(hold: EndHold) -> Ingest {
    ingest(runner("codex").unwrap(), Limits::default()).holding_ends(hold)
}

fn kinds(frames: impl IntoIterator<Item = Frame>) -> Vec<(StreamKind, &'static str)> {
    frames.into_iter().map(|frame| (frame.stream.kind, frame.body.kind())).collect()
}

#[test]
fn an_end_is_held_until_its_deadline() {
    let (ended, of_run) = ((StreamKind::Session, "session_ended"), (StreamKind::Session, "provider_event"));
    let thread = (StreamKind::Thread, "provider_event");
    let mut ingest = codex(EndHold::default());
    let actual = kinds(ingest.feed(RUN.as_bytes(), 1_000));
    assert_eq!(
        actual.last(),
        Some(&(StreamKind::Session, "turn_ended")),
        "all frames but the last are emitted at once"
    );
    assert_eq!(ingest.deadline(), Some(1_000 + END_HOLD_MS));
    assert_eq!(kinds(ingest.feed(LATE, 1_050)), [of_run]);
    assert_eq!(ingest.deadline(), Some(1_000 + END_HOLD_MS), "a record does not make it wait longer");
    assert_eq!(kinds(ingest.flush(1_099)), []);
    assert_eq!(kinds(ingest.flush(1_100)), [ended]);
    assert_eq!((ingest.deadline(), kinds(ingest.feed(LATE, 1_100))), (None, vec![thread]));
    // Without a timer, the first record after the deadline releases it.
    let mut ingest = codex(EndHold::Ms(10));
    let _ = ingest.feed(RUN.as_bytes(), 1_000).count();
    assert_eq!(kinds(ingest.feed(LATE, 1_010)), [ended, thread]);
    // It is not held at all with 0 ms, and held until the end of the input with `Input`.
    let actual = kinds(codex(EndHold::Ms(0)).feed(RUN.as_bytes(), 1_000));
    assert_eq!(actual.last(), Some(&ended));
    let mut ingest = codex(EndHold::Input);
    let _ = ingest.feed(RUN.as_bytes(), 1_000).count();
    assert_eq!((ingest.deadline(), kinds(ingest.feed(LATE, 9_000))), (None, vec![of_run]));
    assert_eq!(kinds(ingest.finish(9_000)), [ended]);
    // A clock that is set back does not extend the wait.
    let mut ingest = codex(EndHold::default());
    let _ = ingest.feed(RUN.as_bytes(), 1_000).count() + ingest.feed(LATE, 10).count();
    assert_eq!(ingest.deadline(), Some(10 + END_HOLD_MS));
}

#[test]
fn a_run_that_breaks_off_after_its_end_keeps_its_reason() {
    let mut ingest = codex(EndHold::default());
    let _ = ingest.feed(RUN.as_bytes(), 1_000).count();
    ingest.cut_by(framegate_translators::normalizer::RunEnd::interrupted("proxy_stopping", "stopped"));
    let last = ingest.finish(1_001).next_back().unwrap();
    let Body::SessionEnded(end) = last.body else { panic!("{last:?}") };
    assert_eq!((end.reason.as_str(), end.final_text.as_deref()), ("completed", Some("Hello")));
}

fn end_of(frames: &[Frame]) -> SessionEnded {
    match frames.last().map(|frame| &frame.body) {
        Some(Body::SessionEnded(end)) => SessionEnded::clone(end),
        other => panic!("no end: {other:?}"),
    }
}

/// If the proxy is killed while the frame is held, the log still says how the run ended.
#[test]
fn a_held_end_survives_a_restart() {
    let mut held = 0;
    for recording in recordings() {
        let mut ingest = ingest(recording.runner, Limits::default());
        let actual: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
        // The held frames, and not those that the end of the input would cause.
        let rest: Vec<Frame> = ingest.flush(u64::MAX).collect();
        let is_end = |frame: &&Frame| matches!(frame.body, Body::SessionEnded(_));
        for end in rest.iter().filter(is_end) {
            let of_run = |frame: &&Frame| frame.stream.id == end.stream.id && frame.stream.kind == end.stream.kind;
            if rest.iter().filter(of_run).count() > 1 {
                continue;
            }
            held += 1;
            let mut reopened = Reopened::new(end.stream.clone());
            for frame in actual.iter().filter(of_run) {
                let mut line = Vec::new();
                write_frame(frame, &mut line);
                reopened.frame(&read_frame(&line, framegate_translators::runners::PROVIDERS).unwrap());
            }
            let saved = reopened.save();
            let closed = Reopened::restore(end.stream.clone(), &saved).unwrap().close(EPOCH_MS);
            let (found, expected) = (end_of(&closed), end_of(std::slice::from_ref(end)));
            let words = |end: &SessionEnded| (end.reason.as_str(), end.error_code.clone(), end.message.clone());
            assert_eq!(words(&found), words(&expected), "{}", recording.name);
            assert!(found.final_text == expected.final_text || found.final_text.is_some(), "{}", recording.name);
        }
    }
    assert!(held > 50, "{held}");
}

#[test]
fn a_subagent_that_starts_after_the_held_end_starts_and_ends_in_the_thread() {
    let recording = recordings().find(|recording| recording.name == "appserver-subagent.ndjson").unwrap();
    let text = String::from_utf8(recording.bytes).unwrap();
    let of = |words: [&str; 2]| text.lines().find(|record| words.iter().all(|word| record.contains(word))).unwrap();
    let (parent, child) = ("\"threadId\":\"01a1ffcb-675e", "\"threadId\":\"01a1ffcb-690b");
    let order = [
        of(["\"item/completed\"", "\"tool\":\"spawnAgent\""]),
        of(["\"turn/completed\"", parent]),
        of(["\"item/completed\"", child]),
        of(["\"turn/completed\"", child]),
    ];
    let input: String = order.iter().map(|record| format!("{record}\n")).collect();
    let mut ingest = codex(EndHold::default());
    let mut frames: Vec<Frame> = ingest.feed(input.as_bytes(), 1_000).collect();
    frames.extend(ingest.finish(1_000));
    let streams = |kind: &str| -> Vec<StreamKind> {
        frames.iter().filter(|frame| frame.body.kind() == kind).map(|frame| frame.stream.kind).collect()
    };
    let started = streams("subagent_started");
    assert!(started.contains(&StreamKind::Thread), "{started:?}");
    assert_eq!(streams("subagent_ended"), started);
}
