//! Codex reviews: two turns of one thread are one run, in any order and even if parts are missing.

use super::{ends, frames};
use serde_json::{Value, json};

fn note(method: &str, params: Value) -> Value {
    json!({"method": method, "params": params, "emittedAtMs": 1_770_000_000_000_u64})
}

fn started(turn: &str, root: &str) -> Value {
    let turn = json!({"id": turn, "rootTurnId": root, "items": [], "status": "inProgress"});
    note("turn/started", json!({"threadId": "t", "turn": turn}))
}

fn completed(turn: &str, root: &str) -> Value {
    let turn = json!({"id": turn, "rootTurnId": root, "items": [], "status": "completed"});
    note("turn/completed", json!({"threadId": "t", "turn": turn}))
}

fn status(kind: &str) -> Value {
    note("thread/status/changed", json!({"threadId": "t", "status": {"type": kind, "activeFlags": []}}))
}

fn entered(turn: &str) -> Value {
    let item = json!({"type": "enteredReviewMode", "id": format!("e-{turn}"), "review": "changes"});
    note("item/completed", json!({"threadId": "t", "turnId": turn, "item": item}))
}

fn command(turn: &str, id: &str) -> Value {
    let item = json!({"type": "commandExecution", "id": id, "command": "git diff", "status": "completed",
        "aggregatedOutput": "x", "exitCode": 0});
    note("item/completed", json!({"threadId": "t", "turnId": turn, "item": item}))
}

fn answer(turn: &str) -> Value {
    let item = json!({"type": "agentMessage", "id": format!("m-{turn}"), "text": "One bug."});
    note("item/completed", json!({"threadId": "t", "turnId": turn, "item": item}))
}

fn is_one_run(records: &[Value]) {
    let ends = ends("codex", records);
    assert_eq!(ends, [("completed".to_owned(), String::new(), "One bug.".to_owned())], "{records:#?}");
    let tools = frames("codex", records, &["tool_ended"]);
    assert_eq!(tools.len(), 1, "{tools:#?}");
}

#[test]
fn the_inner_turn_of_a_review_belongs_to_the_outer_one() {
    is_one_run(&[
        status("active"),
        entered("outer"),
        started("inner", "outer"),
        command("inner", "c"),
        answer("outer"),
        status("idle"),
        completed("outer", "outer"),
    ]);
}

#[test]
fn a_review_may_report_its_inner_turn_first() {
    is_one_run(&[started("inner", "outer"), command("inner", "c"), answer("outer"), completed("outer", "outer")]);
    is_one_run(&[
        started("inner", "outer"),
        started("outer", "outer"),
        command("inner", "c"),
        answer("outer"),
        completed("outer", "outer"),
    ]);
}

#[test]
fn the_end_of_the_inner_turn_does_not_end_the_review() {
    let begin = [entered("outer"), started("inner", "outer"), command("inner", "c"), completed("inner", "outer")];
    // The outer turn reports its end.
    is_one_run(&[&begin[..], &[answer("outer"), completed("outer", "outer")]].concat());
    // The thread is idle, and the outer turn never reports its end.
    is_one_run(&[&begin[..], &[answer("outer"), status("idle")]].concat());
    // Neither is reported.
    is_one_run(&[&begin[..], &[answer("outer")]].concat());
    // The thread was idle when the inner turn ended.
    is_one_run(&[
        entered("outer"),
        started("inner", "outer"),
        command("inner", "c"),
        answer("outer"),
        status("idle"),
        completed("inner", "outer"),
    ]);
}

#[test]
fn a_second_review_and_a_turn_after_it_are_separate_runs() {
    let review = |outer: &str, inner: &str, call: &str| {
        vec![entered(outer), started(inner, outer), command(inner, call), answer(outer), completed(outer, outer)]
    };
    let records = [
        review("o1", "i1", "c1"),
        vec![answer("o1")],
        review("o2", "i2", "c2"),
        vec![started("plain", "plain"), answer("plain"), completed("plain", "plain")],
    ]
    .concat();
    let ends = ends("codex", &records);
    assert_eq!(ends.len(), 3, "{ends:#?}");
    assert!(ends.iter().all(|(reason, ..)| reason == "completed"), "{ends:#?}");
    let logs = frames("codex", &records, &["log_emitted"]);
    assert_eq!(logs.len(), 2, "each review reports its start: {logs:#?}");
}

#[test]
fn a_turn_without_a_root_ends_with_any_turn() {
    let turn = json!({"id": "inner", "items": [], "status": "inProgress"});
    let over = json!({"id": "outer", "items": [], "status": "completed"});
    is_one_run(&[
        note("turn/started", json!({"threadId": "t", "turn": turn})),
        command("inner", "c"),
        answer("inner"),
        note("turn/completed", json!({"threadId": "t", "turn": over})),
    ]);
}

#[test]
fn a_session_file_may_report_the_inner_turn_first() {
    let line =
        |payload: Value| json!({"timestamp": "2026-02-02T02:40:00.000Z", "type": "event_msg", "payload": payload});
    let meta = json!({"timestamp": "2026-02-02T02:40:00.000Z", "type": "session_meta",
        "payload": {"id": "t", "cwd": "/w", "history_mode": "paginated"}});
    let item = |turn: &str, item: Value| {
        line(json!({"type": "item_completed", "thread_id": "t", "turn_id": turn, "item": item}))
    };
    let command = json!({"type": "CommandExecution", "id": "c", "command": ["bash", "-lc", "git diff"],
        "status": "completed", "aggregated_output": "x", "exit_code": 0});
    let message = json!({"type": "AgentMessage", "id": "m", "content": [{"type": "Text", "text": "One bug."}]});
    is_one_run(&[
        meta,
        line(json!({"type": "task_started", "turn_id": "inner", "root_turn_id": "outer"})),
        item("inner", command),
        item("outer", message),
        line(json!({"type": "task_complete", "turn_id": "outer", "last_agent_message": "One bug."})),
    ]);
}
