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
