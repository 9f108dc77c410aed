//! Subagents and background work.

use super::records::*;
use serde_json::json;

fn agent(id: &str, call_id: &str) -> serde_json::Value {
    call(id, call_id, "agent", json!({"prompt": "look", "subagent_type": "general-purpose"}))
}

fn child_call(id: &str, parent: &str) -> serde_json::Value {
    let block = json!({"type": "tool_use", "id": format!("c-{id}"), "name": "glob", "input": {}});
    assistant(id, block, no_usage(), Some(parent))
}

#[test]
fn a_subagent_in_the_foreground_ends_with_its_call() {
    let records = [
        init(),
        agent("a", "t"),
        notice("look", Some("t")),
        child_call("b", "t"),
        returned("c-b", "x", false, Some("t")),
        returned("t", "Found.", false, None),
        result("", usage(9, 9)),
    ];
    let lines = frame_lines(&records);
    let about: Vec<&String> = lines.iter().filter(|line| line.contains("agent ") && !line.contains("call t")).collect();
    assert_eq!(about, ["agent t at 1", "agent t completed \"Found.\""]);
    assert!(lines.contains(&"  call c-b glob {}".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("user ")), "its prompt is no person's message");
}

#[test]
fn a_subagent_in_the_background_ends_with_its_notice_and_wakes_the_model() {
    let data = json!({"task_id": "general-purpose-t", "tool_use_id": "t", "description": "d", "subagent_type": "g"});
    let records = [
        init(),
        agent("a", "t"),
        notice("look", Some("t")),
        system("task_started", data),
        returned("t", "Background agent launched successfully.", false, None),
        last_text("b", "It works on."),
        notice("Background agent completed.", None),
        system("task_notification", json!({"task_id": "general-purpose-t", "tool_use_id": "t", "status": "completed"})),
        last_text("c", "It is done."),
        result("It is done.", usage(9, 9)),
    ];
    let lines = frame_lines(&records);
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1, "{lines:?}");
    let at = |start: &str| {
        lines.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {lines:?}"))
    };
    assert!(at("agent t at 1") < at("task spawned agent") && at("task running") < at("returned t 0"));
    assert!(
        at("text 0 \"It works on.\"") < at("agent t completed") && at("task exited") < at("text 0 \"It is done.\"")
    );
    assert_eq!(lines.last().unwrap(), "end completed - \"It is done.\"");
}

#[test]
fn a_subagent_that_works_when_its_run_ends_is_detached() {
    let data = json!({"task_id": "k", "tool_use_id": "t", "description": "d", "subagent_type": "g"});
    let launched = returned("t", "Background agent launched successfully.", false, None);
    let notified = system("task_notification", json!({"task_id": "k", "tool_use_id": "t", "status": "failed"}));
    let records = [init(), agent("a", "t"), system("task_started", data), launched, result("", usage(2, 2)), notified];
    let lines = frame_lines(&records);
    assert!(lines.contains(&"agent k detached \"-\"".to_owned()), "{lines:?}");
    assert!(lines.contains(&"task failed".to_owned()), "the task ends all the same: {lines:?}");
}

#[test]
fn a_stopped_task_is_cancelled() {
    let started = system("task_started", json!({"task_id": "k", "tool_use_id": "m", "description": "d"}));
    let ended = system("task_notification", json!({"task_id": "k", "tool_use_id": "m", "status": "cancelled"}));
    let running = system("task_notification", json!({"task_id": "k", "tool_use_id": "m", "status": "running"}));
    let stop = call("b", "s", "task_stop", json!({"task_id": "k"}));
    let lines = frame_lines(&[init(), started.clone(), started, running, stop, ended.clone(), ended]);
    let tasks: Vec<&String> = lines.iter().filter(|line| line.starts_with("task ")).collect();
    let expected = [
        "task spawned ",
        "task running",
        "task tool_task_cancel_requested",
        "task tool_task_cancelled",
        "task cancelled",
    ];
    assert_eq!(tasks, expected);
}

#[test]
fn the_result_of_a_failed_subagent_does_not_end_the_run() {
    let bare = record(
        "result",
        json!({"subtype": "error_during_execution", "is_error": true, "duration_ms": 0, "duration_api_ms": 0,
            "num_turns": 0, "usage": no_usage(), "permission_denials": [], "error": {"message": "It failed."}}),
    );
    let records = [
        init(),
        agent("a", "t"),
        notice("look", Some("t")),
        bare.clone(),
        returned("t", "It failed.", true, None),
        last_text("b", "Sorry."),
        result("Sorry.", usage(5, 5)),
    ];
    let lines = frame_lines(&records);
    assert!(lines.contains(&"  error turn error_during_execution It failed.".to_owned()), "{lines:?}");
    assert!(lines.contains(&"agent t failed \"It failed.\"".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end completed - \"Sorry.\"");
    // Without a subagent at work it is the run's own.
    let lines = frame_lines(&[init(), bare]);
    assert_eq!(lines.last().unwrap(), "end failed error_during_execution \"-\"");
}

#[test]
fn a_notice_between_runs_begins_none() {
    let lines = frame_lines(&[init(), result("", usage(1, 1)), notice("A monitor speaks.", None), init()]);
    assert!(lines.contains(&"info A monitor speaks.".to_owned()), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("start ")).count(), 2, "{lines:?}");
}

#[test]
fn a_call_id_that_is_used_again_is_another_call() {
    let records = [
        init(),
        call("a", "t", "glob", json!({"pattern": "1"})),
        returned("t", "one", false, None),
        call("b", "t", "glob", json!({"pattern": "2"})),
        call("b2", "t", "glob", json!({"pattern": "2"})),
        returned("t", "two", false, None),
        last_text("c", "Done."),
        result("Done.", usage(9, 9)),
    ];
    let lines = frame_lines(&records);
    let calls: Vec<&String> = lines
        .iter()
        .filter(|line| ["call ", "output ", "returned "].iter().any(|word| line.starts_with(word)))
        .collect();
    assert_eq!(
        calls,
        [
            "call t glob {\"pattern\":\"1\"}",
            "output t \"one\"",
            "returned t 0",
            "call t#2 glob {\"pattern\":\"2\"}",
            "output t#2 \"two\"",
            "returned t#2 0",
        ],
        "a call that is open is not repeated"
    );
}

#[test]
fn calls_of_parallel_subagents_may_have_the_same_id() {
    let child = |id: &str, parent: &str| {
        assistant(id, json!({"type": "tool_use", "id": "t", "name": "glob", "input": {}}), no_usage(), Some(parent))
    };
    let records = [
        init(),
        agent("a", "t"),
        agent("b", "u"),
        child("c", "t"),
        child("d", "u"),
        returned("t", "one", false, Some("t")),
        returned("t", "two", false, Some("u")),
        returned("t", "First.", false, None),
        returned("u", "Second.", false, None),
        last_text("e", "Done."),
        result("Done.", usage(9, 9)),
    ];
    let frames = frames(&records);
    let lines: Vec<String> = frames.iter().filter_map(line).collect();
    let about = |word: &str| lines.iter().filter(|line| line.contains(word)).cloned().collect::<Vec<_>>();
    assert_eq!(about("returned"), ["  returned t#2 0", "  returned t#3 0", "returned t 0", "returned u 0"]);
    assert_eq!(about("\"one\""), ["  output t#2 \"one\""]);
    assert_eq!(about("\"two\""), ["  output t#3 \"two\""]);
    assert_eq!(about("completed \""), ["agent t completed \"First.\"", "agent u completed \"Second.\""]);
    let callers: Vec<_> =
        frames.iter().filter(|frame| line(frame).is_some_and(|line| line.contains("call t#"))).collect();
    assert_ne!(callers[0].parent_tool_id, callers[1].parent_tool_id);
}

#[test]
fn a_subagent_of_a_call_id_that_is_used_again_is_another_one() {
    let round = |id: &str| {
        [
            agent(id, "t"),
            child_call(&format!("{id}-child"), "t"),
            returned(&format!("c-{id}-child"), "x", false, Some("t")),
            returned("t", id, false, None),
        ]
    };
    let mut records = vec![init()];
    records.extend(round("a"));
    records.extend(round("b"));
    records.push(result("", usage(9, 9)));
    let lines = frame_lines(&records);
    let agents: Vec<&String> = lines.iter().filter(|line| line.starts_with("agent ")).collect();
    assert_eq!(agents, ["agent t at 1", "agent t completed \"a\"", "agent t#2 at 1", "agent t#2 completed \"b\""]);
}

#[test]
fn the_pieces_of_a_call_have_the_id_of_the_call() {
    let start = || block_start(0, json!({"type": "tool_use", "id": "t", "name": "glob", "input": {}}));
    let piece = || {
        event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
        )
    };
    let records = [
        init(),
        message_start("a"),
        start(),
        piece(),
        block_stop(),
        call("a", "t", "glob", json!({})),
        message_stop(),
        returned("t", "one", false, None),
        message_start("b"),
        start(),
        piece(),
        block_stop(),
        call("b", "t", "glob", json!({})),
        message_stop(),
        returned("t", "two", false, None),
        result("", usage(9, 9)),
    ];
    let lines = frame_lines(&records);
    let calls: Vec<&String> =
        lines.iter().filter(|line| line.starts_with("input ") || line.starts_with("returned ")).collect();
    assert_eq!(calls, ["input t {}", "returned t 0", "input t#2 {}", "returned t#2 0"]);
}
