//! Shell output: joined within 50 ms, split by size and by any other event, with offsets in bytes.

use super::harness::*;
use framegate_translators::contracts::hecate::V1;
use framegate_translators::encode::{Encoder, EncoderOptions, Events};
use framegate_translators::frame::{Body, Frame, LogLevel, StreamKind, ToolKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Pause};
use serde_json::{Value, json};

const JOINED: usize = 8 << 10;

fn shell() -> Run {
    let mut run = Run::core().in_turn();
    let kinds = run.kinds(started(call("c", "bash", ToolKind::Shell, &json!({"command": "make"}))));
    assert_eq!(kinds, ["tool.invoked", "tool.started", "tool.shell.command"]);
    run
}

fn chunks(run: &mut Run, body: Body) -> Vec<(u64, String)> {
    run.encode(body)
        .into_iter()
        .filter(|(kind, _)| kind == "tool.shell.output_chunk")
        .map(|(_, data)| (data["byte_offset"].as_u64().unwrap(), data["data"].as_str().unwrap().to_owned()))
        .collect()
}

fn one(offset: u64, text: &str) -> Vec<(u64, String)> {
    vec![(offset, text.to_owned())]
}

#[test]
fn the_first_piece_is_emitted_at_once_and_later_ones_are_joined() {
    let mut run = shell();
    assert_eq!(chunks(&mut run, stdout("c", "ä")), one(0, "ä"));
    assert_eq!(chunks(&mut run, stdout("c", "b")), []);
    run.now_ms += 49;
    assert_eq!(chunks(&mut run, stdout("c", "c")), []);
    // A frame without an event in this contract shows that time has passed.
    run.now_ms += 1;
    let log = Body::LogEmitted { level: LogLevel::Info, message: String::new() };
    assert_eq!(chunks(&mut run, log), one(2, "bc"));
    run.now_ms += 48;
    assert_eq!(chunks(&mut run, stdout("c", "d")), [], "1 ms too early");
    run.now_ms += 50;
    assert_eq!(chunks(&mut run, stdout("c", "e")), [(4, "d".to_owned()), (5, "e".to_owned())], "quiet again");
    assert_eq!(chunks(&mut run, exited("c", 0)), []);
}

#[test]
fn joined_output_is_split_by_size() {
    for (length, expected) in [(JOINED - 1, 0), (JOINED, 1)] {
        let mut run = shell();
        assert_eq!(chunks(&mut run, stdout("c", "a")).len(), 1);
        assert_eq!(chunks(&mut run, stdout("c", &"x".repeat(length))).len(), expected, "{length}");
    }
    let mut run = shell();
    chunks(&mut run, stdout("c", "a"));
    assert_eq!(chunks(&mut run, stdout("c", "bb")), []);
    // Pieces are not joined if the result would be too large.
    let large = "x".repeat(JOINED - 1);
    assert_eq!(chunks(&mut run, stdout("c", &large)), one(1, "bb"));
    assert_eq!(chunks(&mut run, exited("c", 0)), one(3, &large));
}

#[test]
fn held_output_is_released_before_any_other_event() {
    let mut run = shell();
    chunks(&mut run, stdout("c", "a"));
    chunks(&mut run, stdout("c", "b"));
    let error = Body::ToolStderr { tool: tool("c"), chunk: "no".to_owned() };
    assert_eq!(chunks(&mut run, error), one(1, "b"), "the other stream");
    let other = started(call("d", "bash", ToolKind::Shell, &json!({"command": "ls"})));
    let kinds = run.kinds(other);
    assert_eq!(kinds, ["tool.shell.output_chunk", "tool.invoked", "tool.started", "tool.shell.command"]);
    assert_eq!(chunks(&mut run, stdout("d", "x")), []);
    assert_eq!(chunks(&mut run, stdout("c", "c")), one(0, "x"));
    let events = run.encode(exited("c", 3));
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["tool.shell.output_chunk", "tool.shell.exited", "tool.failed"]);
    assert_eq!(events[0].1["byte_offset"], 2);
    assert_eq!(
        events[1].1,
        json!({"tool_call_id": "c", "tool_name": "bash", "exit_code": 3, "signal": null, "stdout_bytes": 3,
            "stderr_bytes": 2, "truncated": false})
    );
    assert_eq!((&events[2].1["summary"], &events[2].1["message"]), (&json!("exited with status 3"), &json!("no")));
}

#[test]
fn a_late_beginning_has_offset_0() {
    let mut run = shell();
    chunks(&mut run, stdout("c", "behind"));
    let front = Body::ToolStdoutFront { tool: tool("c"), chunk: "front".to_owned() };
    assert_eq!(run.encode(front), []);
    let events = run.encode(exited("c", 0));
    assert_eq!(events[0].1["byte_offset"], 0);
    assert_eq!(events[0].1["position"], "front");
}

#[test]
fn ids_and_times_increase_after_held_output() {
    let mut run = shell();
    let mut all: Vec<Value> = run.events(stdout("c", "a"));
    all.extend(run.events(stdout("c", "b")));
    run.now_ms += 20;
    all.extend(run.events(exited("c", 0)));
    let sequences: Vec<u64> = all.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, [5, 6, 7, 8]);
    assert!(all.windows(2).all(|pair| pair[0]["event_id"].as_str() < pair[1]["event_id"].as_str()));
    assert_eq!(all[1]["occurred_at"], "2026-02-02T02:40:00.000Z", "the held piece has its own time");
    assert_eq!(all[2]["occurred_at"], "2026-02-02T02:40:00.020Z");
    let ids: Vec<&str> = ["run_id", "session_id", "task_id"].iter().map(|key| all[0][*key].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["run_00000000000000000000000001", "chat_00000000000000000000000002", "task_00000000000000000000000002"]
    );
}

/// Logs of earlier versions have an empty piece of output where the output paused.
#[test]
fn an_empty_piece_releases_held_output() {
    let mut run = shell();
    assert_eq!(chunks(&mut run, stdout("c", "a")).len(), 1);
    assert_eq!(chunks(&mut run, stdout("c", "b")), []);
    assert_eq!(chunks(&mut run, stdout("c", "")), one(1, "b"));
    assert_eq!(chunks(&mut run, stdout("c", "")), [], "nothing is held");
    assert_eq!(chunks(&mut run, exited("c", 0)), []);
}

/// A Codex run whose command writes pieces, each with the milliseconds since the previous one.
fn ingested(pieces: &[(u64, &str)]) -> (Ingest, Vec<Frame>, u64) {
    ingested_by(|ingest| ingest, pieces)
}

fn ingested_by(set: impl Fn(Ingest) -> Ingest, pieces: &[(u64, &str)]) -> (Ingest, Vec<Frame>, u64) {
    let codex = framegate_translators::runners::runner("codex").unwrap();
    let mut ingest = set(crate::support::ingest(codex, Limits::default()));
    let mut now_ms = crate::support::EPOCH_MS;
    let mut frames: Vec<Frame> = ingest
        .feed(
            concat!(
                r#"{"method":"thread/started","params":{"thread":{"id":"t"}}}"#, "\n",
                r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress","items":[]}}}"#, "\n",
                r#"{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"c","command":"make","cwd":"/","status":"inProgress","commandActions":[]}}}"#, "\n",
            )
            .as_bytes(),
            now_ms,
        )
        .collect();
    for (later_ms, piece) in pieces {
        now_ms += later_ms;
        let record = json!({"method": "item/commandExecution/outputDelta",
            "params": {"threadId": "t", "turnId": "u", "itemId": "c", "delta": piece}});
        frames.extend(ingest.feed(format!("{record}\n").as_bytes(), now_ms));
    }
    (ingest, frames, now_ms)
}

/// The encoder of the run in these frames, after them, and its events.
fn encoded(frames: &[Frame]) -> (Box<dyn Encoder>, Events) {
    let stream = frames.iter().find(|frame| frame.stream.kind == StreamKind::Session).unwrap().stream.clone();
    let mut encoder = (V1.encoder)(&stream, &EncoderOptions::default()).unwrap();
    let mut events = Events::default();
    frames.iter().filter(|frame| frame.stream.id == stream.id).for_each(|frame| encoder.frame(frame, &mut events));
    (encoder, events)
}

/// The pieces in events, with their offsets.
fn pieces(events: &Events) -> Vec<(u64, String)> {
    let all = events.iter().filter(|event| event.kind == "tool.shell.output_chunk");
    let data = all.map(|event| serde_json::from_slice::<Value>(event.payload).unwrap()["data"].clone());
    data.map(|data| (data["byte_offset"].as_u64().unwrap(), data["data"].as_str().unwrap().to_owned())).collect()
}

/// The pieces in the events of these frames, and of the pauses after them.
fn with_pauses(frames: &[Frame], pauses: &[Pause]) -> Vec<(u64, String)> {
    let (mut encoder, mut events) = encoded(frames);
    for pause in pauses {
        if let Some(after) = encoder.paused(pause.until_ms, &mut events) {
            encoder = after;
        }
    }
    pieces(&events)
}

#[test]
fn a_pause_releases_held_output_without_a_frame() {
    let (mut ingest, mut frames, now_ms) = ingested(&[(0, "a"), (10, "b"), (20, "c")]);
    assert_eq!(with_pauses(&frames, &[]), one(0, "a"), "the rest is held");
    // The first held piece arrived 20 ms before the last.
    assert_eq!(ingest.deadline(), Some(now_ms - 20 + 50));
    assert_eq!(ingest.take_pauses(now_ms + 29), []);
    let pauses = ingest.take_pauses(now_ms + 30);
    assert_eq!(pauses.iter().map(|pause| pause.until_ms).collect::<Vec<_>>(), [now_ms + 30]);
    assert_eq!(ingest.flush(now_ms + 30).len(), 0);
    let live = with_pauses(&frames, &pauses);
    assert_eq!(live, [one(0, "a"), one(1, "bc")].concat());
    // The encoder could have emitted the first of both pieces because of its size; the second would still be held.
    let last = ingest.take_pauses(u64::MAX);
    assert_eq!(last.iter().map(|pause| pause.until_ms).collect::<Vec<_>>(), [now_ms + 50]);
    assert_eq!((ingest.deadline(), ingest.take_pauses(u64::MAX)), (None, Vec::new()), "each pause is reported once");
    // A later frame is not timed before the pause, so a replay emits the same pieces.
    frames.extend(ingest.finish(now_ms + 31));
    assert!(frames.iter().all(|frame| !matches!(&frame.body, Body::ToolStdout { chunk, .. } if chunk.is_empty())));
    assert_eq!(frames.last().unwrap().timestamp_ms, now_ms + 50);
    assert_eq!(with_pauses(&frames, &[]), live);
}

#[test]
fn no_pause_follows_a_lone_piece_or_the_end_of_a_tool() {
    assert_eq!(ingested(&[(0, "a")]).0.deadline(), None);
    assert_eq!(ingested(&[(0, "a"), (50, "b")]).0.deadline(), None, "the pieces are apart");
    let (mut ingest, _, now_ms) = ingested(&[(0, "a"), (49, "b")]);
    assert_eq!(ingest.deadline(), Some(now_ms + 50));
    let end = concat!(
        r#"{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"commandExecution","id":"c","command":"make","cwd":"/","status":"completed","aggregatedOutput":"ab","exitCode":0,"durationMs":1,"commandActions":[]}}}"#,
        "\n"
    );
    assert!(ingest.feed(end.as_bytes(), now_ms).len() > 1);
    assert_eq!(ingest.deadline(), None);
}

#[test]
fn a_timed_feed_may_be_late_before_its_output_counts_as_paused() {
    let (mut ingest, _, now_ms) = ingested_by(|ingest| ingest.of_timed_feed(), &[(0, "a"), (10, "b")]);
    assert_eq!(ingest.deadline(), Some(now_ms + 50 + 2000));
    assert_eq!(ingest.take_pauses(now_ms + 2049), []);
    let pauses = ingest.take_pauses(now_ms + 2050);
    assert_eq!(pauses.iter().map(|pause| pause.until_ms).collect::<Vec<_>>(), [now_ms + 50]);
}

#[test]
fn setting_the_clock_back_does_not_postpone_a_pause() {
    let (mut ingest, _, now_ms) = ingested(&[(0, "a"), (10, "b")]);
    assert_eq!(ingest.deadline(), Some(now_ms + 50));
    let set_back = now_ms - 86_400_000;
    let record = json!({"method": "item/commandExecution/outputDelta",
        "params": {"threadId": "t", "turnId": "u", "itemId": "c", "delta": "c"}});
    ingest.feed(format!("{record}\n").as_bytes(), set_back);
    assert_eq!(ingest.deadline(), Some(set_back + 50));
    assert_eq!(ingest.take_pauses(set_back + 50).len(), 1);
    assert_eq!(ingest.deadline(), None);
}

#[test]
fn a_burst_is_joined_up_to_the_size_limit_before_the_pause() {
    let large = "x".repeat(JOINED / 4);
    let burst: Vec<(u64, &str)> = (0..9).map(|_| (1, large.as_str())).collect();
    let (mut ingest, frames, _) = ingested(&burst);
    let pauses: Vec<Pause> =
        std::iter::from_fn(|| ingest.deadline().map(|due| ingest.take_pauses(due))).flatten().collect();
    let sizes: Vec<usize> = with_pauses(&frames, &pauses).iter().map(|(_, data)| data.len()).collect();
    assert_eq!(sizes, [JOINED / 4, JOINED, JOINED]);
}
