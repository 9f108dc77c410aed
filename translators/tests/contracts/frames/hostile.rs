//! Frames that are cut, repeated, out of order or wrong.

use super::{named, of_frames};
use crate::support::{events, frames, ingest, lines, translate, well_formed};
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::runners::runner;
use serde_json::{Value, json};

/// The frames of the run in the sample of Claude Code.
fn sample() -> Vec<Vec<u8>> {
    let claude = runner("claude-code").unwrap();
    let mut all = lines(&translate(claude, named("frames.v2"), claude.sample.bytes));
    all.retain(|line| serde_json::from_slice::<Value>(line).unwrap()["stream_kind"] == "session");
    all
}

fn run_of(frames: Vec<Frame>) -> Vec<Frame> {
    frames.into_iter().filter(|frame| frame.stream.kind == StreamKind::Session).collect()
}

#[test]
fn a_stream_that_is_cut_anywhere_is_closed() {
    let all = sample();
    for cut in 1..all.len() {
        let run = run_of(frames(of_frames(), &all[..cut].concat()));
        well_formed(&run, &format!("cut at {cut}"));
        assert!(matches!(run.last().map(|frame| &frame.body), Some(Body::SessionEnded(_))), "cut at {cut}");
    }
}

#[test]
fn a_stream_whose_beginning_is_missing_says_so() {
    let all = sample();
    for from in 1..all.len() - 1 {
        let run = run_of(frames(of_frames(), &all[from..].concat()));
        well_formed(&run, &format!("from {from}"));
        assert!(matches!(run[0].body, Body::SessionStarted { .. }), "from {from}");
        assert!(
            matches!(run[1].body, Body::GapDetected { first_seq: Some(0), last_seq: Some(last), .. } if last == from as u64 - 1),
            "from {from}: {:?}",
            run[1]
        );
    }
}

#[test]
fn repeated_frames_are_ignored() {
    let all = sample();
    let once = translate(of_frames(), named("frames.v2"), &all.concat());
    for (from, to) in [(0, all.len()), (3, 9), (all.len() - 1, all.len())] {
        let mut repeated = all.clone();
        repeated.extend_from_slice(&all[from..to]);
        assert_eq!(translate(of_frames(), named("frames.v2"), &repeated.concat()), once, "{from} to {to}");
        let mut at_once = all[..to].to_vec();
        at_once.extend_from_slice(&all[from..]);
        assert_eq!(translate(of_frames(), named("frames.v2"), &at_once.concat()), once, "{from} to {to}");
    }
}

#[test]
fn a_missing_frame_is_reported_once_and_no_other_is_lost() {
    let all = sample();
    let ids = |lines: &[Vec<u8>]| -> Vec<Value> {
        lines.iter().map(|line| serde_json::from_slice::<Value>(line).unwrap()["id"].clone()).collect()
    };
    let mut refused = 0;
    for missing in 1..all.len() - 1 {
        let mut rest = all.clone();
        rest.remove(missing);
        let found = events(of_frames(), named("frames.v2"), &rest.concat());
        let gaps: Vec<_> = found.iter().filter(|event| event["type"] == "gap_detected").collect();
        let [gap] = gaps[..] else { panic!("without {missing}: {gaps:?}") };
        assert_eq!((gap["first_seq"].as_u64(), gap["last_seq"].as_u64()), (Some(missing as u64), Some(missing as u64)));
        let kept: Vec<Value> = found.iter().map(|event| event["id"].clone()).collect();
        // The end of something whose start is missing is kept as a record.
        let is_record = |event: &&Value| event["errors"].as_array().is_some_and(|errors| !errors.is_empty());
        let records: Vec<&Value> = found.iter().filter(is_record).map(|event| &event["data"]["id"]).collect();
        for id in ids(&rest) {
            assert!(kept.contains(&id) != records.contains(&&id), "without {missing}: {id}");
        }
        refused += records.len();
    }
    assert!(refused > 0, "no frame of the sample needs an earlier one");
}

#[test]
fn a_field_of_another_type_names_the_field() {
    let all = sample();
    for (at, line) in all.iter().enumerate() {
        let frame: Value = serde_json::from_slice(line).unwrap();
        for (key, value) in frame.as_object().unwrap() {
            let wrong = if value.is_number() { json!("x") } else { json!(7.5) };
            let mut changed = frame.clone();
            changed[key] = wrong;
            let mut input = all.clone();
            input[at] = format!("{changed}\n").into_bytes();
            let run = run_of(frames(of_frames(), &input.concat()));
            well_formed(&run, &format!("{key} of line {at}"));
        }
    }
    let mut input = all.clone();
    let mut frame: Value = serde_json::from_slice(&all[1]).unwrap();
    frame["seq"] = json!("one");
    input[1] = format!("{frame}\n").into_bytes();
    let found = frames(of_frames(), &input.concat());
    let errors: Vec<String> = found
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ProviderEvent(record) => record.errors.iter().next().cloned(),
            _ => None,
        })
        .collect();
    assert_eq!(errors, ["not a frame: seq must be a non-negative integer in range"]);
}

#[test]
fn a_flood_of_open_calls_is_bounded() {
    let mut input = Vec::new();
    let stream = "0198c0de-0000-7000-8000-00000000000c";
    let envelope = |seq: u64| {
        json!({"id": format!("6f1b1c1e-0000-4000-8000-{seq:012}"), "session_id": stream, "stream_kind": "session",
            "stream_id": stream, "timestamp_ms": 1, "seq": seq})
    };
    let mut push = |seq: u64, fields: Value| {
        let mut frame = envelope(seq);
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        input.extend_from_slice(format!("{frame}\n").as_bytes());
    };
    push(0, json!({"type": "session_started", "input": "", "provider": "codex", "thread_id": stream}));
    for seq in 1..3000_u64 {
        let id = format!("0198c0de-0000-7000-8000-{seq:012}");
        push(
            seq,
            json!({"type": "tool_started", "tool_id": id, "call_id": id, "name": "t", "kind": "other", "args": {},
                "timeout_ms": null}),
        );
    }
    let mut ingest = ingest(of_frames(), Limits::default()).with_open_tools(100);
    let mut all: Vec<Frame> = ingest.feed(&input, 1).collect();
    all.extend(ingest.finish(1));
    let run = run_of(all);
    well_formed(&run, "a flood");
    let failed = run.iter().filter(|frame| matches!(frame.body, Body::ToolFailed { .. })).count();
    assert_eq!(failed, 2999, "each call is closed");
    let ended = run.iter().position(|frame| matches!(frame.body, Body::ToolFailed { .. }));
    let last_start = run.iter().rposition(|frame| matches!(frame.body, Body::ToolStarted { .. }));
    assert!(ended < last_start, "the oldest calls are closed before the end");
}

const RUN: &str = "0198c0de-0000-7000-8000-00000000000d";
const TOOL: &str = "0198c0de-0000-7000-8000-00000000000e";

/// The frames of one run, after its first one.
fn run_with(rest: &[Value]) -> Vec<Frame> {
    let start = json!({"type": "session_started", "input": "", "provider": "codex", "thread_id": RUN});
    let mut input = String::new();
    for (seq, fields) in std::iter::once(&start).chain(rest).enumerate() {
        let mut frame = json!({"id": format!("0198c0de-0000-7000-8001-{seq:012}"), "session_id": RUN,
            "stream_kind": "session", "stream_id": RUN, "timestamp_ms": 1, "seq": seq});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        input += &format!("{frame}\n");
    }
    let all = frames(of_frames(), input.as_bytes());
    well_formed(&all, &input);
    all
}

#[test]
fn a_frame_that_cannot_follow_is_kept_with_the_reason() {
    let call = |call_id: &str| {
        json!({"type": "tool_started", "tool_id": TOOL, "call_id": call_id, "name": "t",
        "kind": "other", "args": {}, "timeout_ms": null})
    };
    let question = json!({"type": "approval_requested", "approval_id": "q", "tool_id": null, "tool_name": "t",
        "args": {}, "reason": null});
    let end = json!({"type": "session_ended", "reason": "completed", "final_text": null, "error_code": null,
        "message": null});
    let delta = json!({"type": "output_text_delta", "message_id": "m", "block_index": 0, "delta": "ab"});
    let whole = json!({"type": "output_text_completed", "message_id": "m", "block_index": 0, "text": "xy"});
    let turn = |kind: &str, index: u32| {
        json!({"type": kind, "turn_index": index, "model": null,
        "stop_reason": null, "duration_ms": null})
    };
    let task = json!({"type": "tool_task_signalled", "task_id": TOOL, "signal": "TERM"});
    let with = |frame: &Value, key: &str, value: Value| {
        let mut frame = frame.clone();
        frame[key] = value;
        frame
    };
    let proposed = with(&with(&call("a"), "type", json!("tool_call_proposed")), "name", json!("other"));
    for (rest, reason) in [
        (vec![with(&delta, "id", json!("0198c0de-0000-7000-8001-000000000000"))], "another frame has its id"),
        (vec![with(&delta, "stream_kind", json!("thread"))], "its stream_id is that of a stream of another kind"),
        (
            vec![with(&delta, "seq", json!(5)), with(&turn("turn_started", 0), "seq", json!(3))],
            "a later frame of its stream came before it",
        ),
        (vec![call("a"), call("b")], "its call_id and its tool_id belong to different calls"),
        (vec![proposed, call("a")], "the call was proposed with another name"),
        (vec![call("a"), call("a")], "the call has already started"),
        (vec![question.clone(), question], "the question is already open"),
        (vec![end.clone(), end], "its stream is over"),
        (vec![delta, whole], "the text differs from its pieces, which stand"),
        (vec![turn("turn_started", 3), turn("turn_ended", 4)], "no turn with this index is open"),
        (vec![task], "a task has a stream of its own, with its id"),
    ] {
        let all = run_with(&rest);
        let records: Vec<&str> = all
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ProviderEvent(record) => record.errors.first().map(|error| &**error),
                _ => None,
            })
            .collect();
        assert_eq!(records, [reason]);
    }
}

#[test]
fn the_end_of_a_text_whose_piece_is_missing_is_a_piece() {
    let piece = json!({"type": "output_text_delta", "message_id": "m", "block_index": 0, "delta": "ab"});
    let whole = json!({"type": "output_text_completed", "message_id": "m", "block_index": 0, "text": "abcd"});
    let all = run_with(&[piece, whole]);
    let pieces: Vec<&str> = all
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextDelta(piece) => Some(piece.delta.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, ["ab", "cd"]);
}
