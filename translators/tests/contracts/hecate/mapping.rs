//! The mapping of each group of frames.

use super::harness::*;
use framegate_translators::contracts::hecate::{V1, ids};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{
    Attachment, BlockDelta, Body, EndReason, ErrorScope, SharedStr, StreamKind, UsageScope, UserMessage,
};
use serde_json::{Value, json};

#[test]
fn only_runs_are_encoded() {
    for kind in [StreamKind::Task, StreamKind::Thread, StreamKind::Artifact] {
        assert!((V1.encoder)(&stream(kind), &EncoderOptions::default()).is_none(), "{kind:?}");
    }
}

#[test]
fn each_end_reason_has_its_event() {
    let mut run = Run::core().in_turn();
    run.kinds(turn_ended(0, None));
    run.now_ms += 5;
    assert_eq!(
        run.encode(ended(EndReason::Completed, None, None, Some("Done."))),
        data(&[
            ("assistant.final_answer", json!({"turn_index": 0, "summary": "Done."})),
            ("run.finished", json!({"final_status": "completed", "turns": 1, "duration_ms": 5})),
        ])
    );
    let end = Run::core().encode(ended(EndReason::Completed, None, None, None));
    assert_eq!(end[0].0, "run.finished", "no last text, no answer");
    let mut run = Run::core();
    run.encode(error(ErrorScope::Run, "overloaded", None, None));
    assert_eq!(
        run.one("run.failed", ended(EndReason::Failed, Some("overloaded"), Some("busy"), None)),
        json!({"code": "overloaded", "message": "busy", "retriable": true, "turns": 0})
    );
    assert_eq!(
        Run::core().one("run.failed", ended(EndReason::Failed, Some(""), None, None)),
        json!({"code": "execution_error", "message": "execution_error", "retriable": false, "turns": 0})
    );
    for (code, by) in [("aborted_tools", "operator"), ("interrupted", "operator"), ("max_output_tokens", "runtime")] {
        let cancelled = Run::core().one("run.cancelled", ended(EndReason::Interrupted, Some(code), None, None));
        assert_eq!(cancelled, json!({"by": by, "reason": code}));
    }
    let lost = Run::core().encode(ended(EndReason::Interrupted, Some("stream_ended"), Some("cut off"), None));
    assert_eq!(
        lost,
        data(&[
            (
                "gap.run_disconnected",
                json!({"since_sequence": 0, "since_at": "2026-02-02T02:40:00.000Z", "reason": "stream_ended"})
            ),
            ("run.cancelled", json!({"by": "runtime", "reason": "cut off"})),
        ])
    );
}

#[test]
fn an_interruption_that_nothing_explains_is_no_error() {
    let cancelled = Run::core().one("run.cancelled", ended(EndReason::Interrupted, None, None, None));
    assert_eq!(cancelled, json!({"by": "runtime", "reason": "interrupted"}));
}

#[test]
fn a_gap_in_the_stream_is_reported() {
    let gap = Body::GapDetected { first_seq: Some(3), last_seq: None, reason: "worker_lease_expired".to_owned() };
    assert_eq!(Run::core().one("gap.run_disconnected", gap)["reason"], "worker_lease_expired");
}

#[test]
fn the_duration_of_a_run_uses_one_clock() {
    let mut run = Run::core().in_turn();
    // The runner's own clock shows an hour later; by that clock, the turn took 20 ms.
    run.now_ms += 3_600_000;
    run.encode(Body::TurnEnded { turn_index: 0, stop_reason: None, duration_ms: Some(20) });
    run.now_ms += 2;
    assert_eq!(run.encode(ended(EndReason::Completed, None, None, None))[0].1["duration_ms"], 22);
}

#[test]
fn blocks_are_numbered_within_a_turn() {
    let mut run = Run::core().in_turn();
    let delta = |run: &mut Run, body: Body| run.one("assistant.text_delta", body)["block_index"].clone();
    assert_eq!(
        run.encode(Body::ReasoningDelta(BlockDelta {
            message_id: SharedStr::from("r"),
            block_index: 0,
            delta: "Hm".into()
        })),
        []
    );
    assert_eq!(run.encode(Body::ReasoningCompleted { block: block("r", 0, "Hm"), opaque: None }), []);
    assert_eq!(delta(&mut run, text_delta("m", 0, "a")), 1, "thinking is numbered, emitted or not");
    assert_eq!(run.encode(text_delta("m", 0, "")), [], "an empty delta says nothing");
    assert_eq!(delta(&mut run, text_delta("n", 0, "b")), 2, "another message");
    assert_eq!(
        run.one("assistant.text_complete", Body::OutputTextCompleted(block("m", 0, "a"))),
        json!({"turn_index": 0, "block_index": 1, "text": "a"})
    );
    run.encode(turn_ended(0, None));
    run.encode(Body::TurnStarted { turn_index: 1, model: Some(SharedStr::from("m")) });
    assert_eq!(
        run.one("assistant.text_complete", Body::OutputTextCompleted(block("n", 0, "b"))),
        json!({"turn_index": 0, "block_index": 2, "text": "b"}),
        "a block keeps its number"
    );
    assert_eq!(delta(&mut run, text_delta("m", 0, "c")), 0);
    let mut run = Run::experimental().in_turn();
    let thinking =
        Body::ReasoningDelta(BlockDelta { message_id: SharedStr::from("r"), block_index: 0, delta: "Hm".into() });
    assert_eq!(
        run.one("assistant.thinking_delta", thinking),
        json!({"turn_index": 0, "block_index": 0, "delta": "Hm"})
    );
    let whole = Body::ReasoningCompleted { block: block("r", 0, "Hm"), opaque: None };
    assert_eq!(run.one("assistant.thinking_complete", whole)["text"], "Hm");
    let sealed = Body::ReasoningCompleted { block: block("q", 0, ""), opaque: Some(raw(&json!({"sealed": 1}))) };
    assert_eq!(run.encode(sealed), [], "an encrypted item has no text");
}

#[test]
fn blocks_before_the_first_turn_belong_to_it() {
    let mut run = Run::core();
    let place = |data: Value| (data["turn_index"].clone(), data["block_index"].clone());
    assert_eq!(place(run.one("assistant.text_delta", text_delta("m", 0, "a"))), (json!(0), json!(0)));
    run = run.in_turn();
    assert_eq!(place(run.one("assistant.text_delta", text_delta("n", 0, "b"))), (json!(0), json!(1)));
    assert_eq!(
        run.one("assistant.text_complete", Body::OutputTextCompleted(block("m", 0, "a"))),
        json!({"turn_index": 0, "block_index": 0, "text": "a"})
    );
    assert_eq!(
        run.one("assistant.text_complete", Body::OutputTextCompleted(block("n", 0, "b"))),
        json!({"turn_index": 0, "block_index": 1, "text": "b"})
    );
}

#[test]
fn a_user_message_belongs_to_the_turn_that_it_starts() {
    let message = |text: &str, attachments: Vec<Attachment>| {
        Body::UserMessage(Box::new(UserMessage {
            message_id: SharedStr::from("u"),
            text: text.to_owned(),
            attachments,
        }))
    };
    let mut run = Run::core();
    assert_eq!(run.encode(message("hi", vec![])), [], "no part of the candidate core");
    let mut run = Run::new(&EncoderOptions { experimental: true, ..EncoderOptions::default() });
    assert_eq!(run.encode(message("hi", vec![])), [], "nor experimental");
    let mut run = Run::new(&EncoderOptions { user_messages: true, ..EncoderOptions::default() });
    assert_eq!(run.one("user.message", message("hi", vec![])), json!({"turn_index": 0, "text": "hi"}));
    run = run.in_turn();
    assert_eq!(run.one("user.message", message("more", vec![]))["turn_index"], 0);
    run.encode(turn_ended(0, None));
    assert_eq!(run.one("user.message", message("next", vec![]))["turn_index"], 1);
    let image = Attachment {
        kind: SharedStr::from("image"),
        mime: Some(SharedStr::from("image/png")),
        artifact_id: Some(SharedStr::from(format!("sha256:{}", "0".repeat(64)))),
        name: None,
        bytes: Some(1),
    };
    assert_eq!(
        run.encode(message("", vec![image])),
        data(&[(
            "user.attachment",
            json!({"turn_index": 1, "kind": "image", "mime": "image/png",
                "artifact_id": "art_00000000000000000000000000"})
        )])
    );
}

#[test]
fn only_known_figures_are_emitted() {
    let mut run = Run::core().in_turn();
    assert_eq!(
        run.encode(turn_ended(0, Some("end_turn"))),
        data(&[(
            "turn.completed",
            json!({"turn_index": 0, "duration_ms": 0, "tool_calls": 0, "stop_reason": "end_turn"})
        )])
    );
    run.encode(Body::TurnStarted { turn_index: 1, model: None });
    run.encode(usage(UsageScope::Turn, 1, Some(0.000_25)));
    run.parent = Some(uuid(9));
    run.encode(usage(UsageScope::Turn, 1000, None));
    run.parent = None;
    assert_eq!(
        run.encode(turn_ended(1, None)),
        data(&[
            (
                "turn.completed",
                json!({"turn_index": 1, "input_tokens": 111, "output_tokens": 2, "cached_input_tokens": 10,
                    "cost_micros_usd": 250, "duration_ms": 0, "tool_calls": 0})
            ),
            // A subagent's usage counts for the run but not for a turn.
            (
                "cost.tick",
                json!({"cumulative_input_tokens": 1221, "cumulative_output_tokens": 4,
                    "cumulative_cost_micros_usd": 250})
            ),
        ])
    );
    // One figure of the runner's own total is smaller; cumulative figures never decrease.
    run.encode(usage(UsageScope::Run, 5, Some(0.5)));
    let end = run.encode(ended(EndReason::Completed, None, None, None));
    assert_eq!(end[0].1["cumulative_input_tokens"], 1221);
    assert_eq!((&end[1].0[..], &end[1].1["cost_micros_usd"]), ("run.finished", &json!(500_000)));
    // The total of a run with one turn is that turn's usage; with a later turn it is not.
    let mut run = Run::core().in_turn();
    run.encode(usage(UsageScope::Run, 1, None));
    assert_eq!(run.encode(turn_ended(0, None))[0].1["input_tokens"], 111);
    run.encode(Body::TurnStarted { turn_index: 1, model: None });
    run.encode(usage(UsageScope::Run, 2, None));
    assert_eq!(run.encode(turn_ended(1, None))[0].1.get("input_tokens"), None);
}

#[test]
fn a_budget_warns_once_and_is_exceeded_once() {
    let options = EncoderOptions { task_budget_micros_usd: Some(100), ..EncoderOptions::default() };
    for (costs, expected) in [
        (&[79.0, 0.0][..], vec![]),
        (&[80.0, 1.0], vec!["cost.budget_warning"]),
        (&[100.0, 0.0], vec!["cost.budget_warning"]),
        (&[101.0, 50.0], vec!["cost.budget_warning", "cost.budget_exceeded"]),
        (&[80.0, 21.0], vec!["cost.budget_warning", "cost.budget_exceeded"]),
    ] {
        let mut run = Run::new(&options);
        let mut actual = Vec::new();
        for (index, cost) in costs.iter().enumerate() {
            let turn_index = u32::try_from(index).unwrap();
            run.encode(Body::TurnStarted { turn_index, model: None });
            run.encode(usage(UsageScope::Turn, 1, Some(cost / 1e6)));
            actual.extend(run.encode(turn_ended(turn_index, None)));
        }
        let budget: Vec<&str> =
            actual.iter().map(|(kind, _)| &kind[..]).filter(|kind| kind.contains("budget")).collect();
        assert_eq!(budget, expected, "{costs:?}");
        let ticks: Vec<&Value> = actual.iter().filter(|(kind, _)| kind == "cost.tick").map(|(_, data)| data).collect();
        let total = costs.iter().sum::<f64>() as u64;
        assert_eq!(ticks[1]["task_budget_remaining_micros_usd"], 100u64.saturating_sub(total));
    }
    let mut run = Run::new(&options).in_turn();
    run.encode(usage(UsageScope::Turn, 1, None));
    let tick = run.encode(turn_ended(0, None)).remove(1).1;
    assert_eq!((tick.get("task_budget_remaining_micros_usd"), &tick["task_budget_micros_usd"]), (None, &json!(100)));
}

#[test]
fn errors_belong_to_a_turn_or_to_the_upstream() {
    let mut run = Run::core();
    assert_eq!(
        run.one("error.upstream", error(ErrorScope::Provider, "", Some(2), Some(3))),
        json!({"provider": "codex", "status": 529, "code": "execution_error", "message": "no", "retriable": true,
            "attempt": 2, "max_attempts": 3})
    );
    run.one("error.upstream", error(ErrorScope::Turn, "x", None, None));
    run = run.in_turn();
    for (attempt, max, retries) in [(Some(1), Some(2), true), (Some(1), None, true), (Some(2), Some(2), false)] {
        // A turn has one end: an attempt that is retried within it is not a failure of the turn.
        let kinds = run.kinds(error(ErrorScope::Turn, "x", attempt, max));
        assert_eq!(kinds, if retries { vec!["error.upstream"] } else { vec![] }, "{attempt:?} {max:?}");
    }
    assert_eq!(
        run.one("turn.failed", turn_ended(0, None)),
        json!({"turn_index": 0, "code": "x", "message": "no", "will_retry": false})
    );
    // A turn that succeeds in the end is completed, and has not failed before.
    let mut run = Run::core().in_turn();
    run.one("error.upstream", error(ErrorScope::Turn, "x", Some(1), Some(2)));
    run.one("turn.completed", turn_ended(0, Some("end_turn")));
    // An error of the run is the turn's error if the turn says that it failed.
    for (stop_reason, kind) in [(Some("failed"), "turn.failed"), (Some("end_turn"), "turn.completed")] {
        let mut run = Run::core().in_turn();
        run.one("error.upstream", error(ErrorScope::Run, "x", None, None));
        run.one(kind, turn_ended(0, stop_reason));
    }
}

#[test]
fn a_failed_turn_waits_for_its_error() {
    let started = |turn_index| Body::TurnStarted { turn_index, model: None };
    let failed = || {
        let mut run = Run::core().in_turn();
        assert_eq!(run.encode(turn_ended(0, Some("error"))), []);
        run
    };
    let told = |events: Vec<(String, Value)>| {
        let (kind, data) = events.into_iter().next().unwrap();
        assert_eq!(kind, "turn.failed");
        (data["code"].as_str().unwrap().to_owned(), data["message"].clone(), data["will_retry"].as_bool().unwrap())
    };
    let x = |will_retry: bool| ("x".to_owned(), json!("no"), will_retry);
    // The runner counts attempts, so it makes another one, even the last.
    let mut run = failed();
    assert_eq!(told(run.encode(error(ErrorScope::Turn, "x", Some(1), Some(1)))), x(true));
    assert_eq!(run.kinds(started(1)), ["turn.started"]);
    // The run's error is final.
    assert_eq!(told(failed().encode(error(ErrorScope::Run, "x", None, None))), x(false));
    // The next turn shows that the runner tries again, unless a person wrote.
    for (is_answer, will_retry) in [(false, true), (true, false)] {
        let mut run = failed();
        assert_eq!(run.kinds(error(ErrorScope::Turn, "x", None, None)), ["error.upstream"]);
        if is_answer {
            let message_id = SharedStr::from("m");
            let message = UserMessage { message_id, text: "go on".to_owned(), attachments: vec![] };
            run.encode(Body::UserMessage(Box::new(message)));
        }
        assert_eq!(told(run.encode(started(1))), x(will_retry));
    }
    // The run's end has the error, or else the provider's error before the end of the turn.
    let end = |reason, code| ended(reason, Some(code), Some("no"), None);
    assert_eq!(told(failed().encode(end(EndReason::Failed, "x"))), x(false));
    assert_eq!(
        told(failed().encode(end(EndReason::Interrupted, "aborted"))),
        ("aborted".to_owned(), json!("no"), false)
    );
    let mut run = Run::core().in_turn();
    run.one("error.upstream", error(ErrorScope::Provider, "x", None, None));
    run.encode(turn_ended(0, Some("failed")));
    assert_eq!(told(run.encode(started(1))), x(false));
    // Losing contact with the run is not why the turn failed.
    let unknown = ("execution_error".to_owned(), json!("the runner gave no reason"), false);
    assert_eq!(told(failed().encode(end(EndReason::Interrupted, "stream_ended"))), unknown);
}

#[test]
fn a_checkpoint_is_saved() {
    let body = Body::CheckpointCreated {
        checkpoint_id: uuid(1),
        label: String::new(),
        created_at_ms: 0,
        files: vec![],
        auto: true,
        tool_name: None,
    };
    assert_eq!(Run::core().one("run.checkpoint_saved", body)["checkpoint_id"], "ckpt_00000000000000000000000001");
    assert_eq!(ids::uuid_of("run_", &ids::run_id(uuid(7))), Some(uuid(7)));
}
