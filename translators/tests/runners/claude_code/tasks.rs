//! Background commands.

use super::records::*;
use serde_json::json;

#[test]
fn a_background_command_is_a_task() {
    let mut moved = returned("t", json!("moved to the background"), false, None);
    moved["tool_use_result"] = json!({"stdout": "", "backgroundTaskId": "b1"});
    let lines = frame_lines(&[
        init(),
        call("m", "t", "Bash", json!({"command": "long"})),
        system(
            json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "task_type": "local_bash", "is_backgrounded": false}),
        ),
        moved,
        text("m2", "later"),
        result("later"),
        system(json!({"subtype": "task_updated", "task_id": "b1", "patch": {"status": "failed", "end_time": 5}})),
        system(
            json!({"subtype": "task_notification", "task_id": "b1", "tool_use_id": "t", "status": "failed", "summary": "failed with exit code 3"}),
        ),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": true})),
    ]);
    let tasks: Vec<_> = lines.iter().filter(|line| line.starts_with("task")).collect();
    assert_eq!(tasks, ["task spawned Bash", "task running", "task failed"]);
}

#[test]
fn a_long_call_can_move_to_the_background() {
    let lines = frame_lines(&[
        init(),
        call("m", "t", "Bash", json!({"command": "long"})),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": false})),
        system(json!({"subtype": "task_updated", "task_id": "b1", "patch": {"is_backgrounded": true}})),
        call("m2", "s", "TaskStop", json!({"task_id": "b1"})),
        system(
            json!({"subtype": "task_notification", "task_id": "b1", "tool_use_id": "t", "status": "stopped", "summary": "long"}),
        ),
    ]);
    let tasks: Vec<_> = lines.iter().filter(|line| line.starts_with("task")).collect();
    assert_eq!(
        tasks,
        [
            "task spawned Bash",
            "task running",
            "task tool_task_cancel_requested",
            "task tool_task_cancelled",
            "task cancelled"
        ]
    );
}

#[test]
fn a_task_ends_as_reported_without_an_announcement() {
    let lines = frame_lines(&[
        init(),
        call("m", "t", "Bash", json!({"command": "long"})),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": true})),
        system(json!({"subtype": "task_updated", "task_id": "b1", "patch": {"status": "completed"}})),
    ]);
    assert!(lines.contains(&"task exited".to_owned()), "{lines:?}");
}
