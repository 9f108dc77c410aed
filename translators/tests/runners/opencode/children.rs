//! Child sessions: their frames are attributed to the call that started them.

use super::records::*;
use serde_json::{Value, json};

#[test]
fn a_child_never_speaks_on_the_main_thread() {
    let child = |id: &str| event("session.created", json!({"sessionID": id, "info": {"id": id, "parentID": "s"}}));
    let pending = |id: &str| tool("s", "a", id, id, "task", json!({"status": "pending", "input": {}, "raw": ""}));
    let asked = json!({"id": "per", "sessionID": "k1", "permission": "bash", "patterns": [], "metadata": {}});
    let records = list([
        user_message("s", "u", "Go"),
        vec![status("s", "busy"), message("s", "a", json!({})), pending("t1"), pending("t2"), child("k1")],
        // Two calls are pending, and the child's call is not known yet.
        vec![status("k1", "busy"), message("k1", "k-a", json!({})), text_part("k1", "k-a", "k-t", "Child.")],
        vec![event("permission.asked", asked), completed("k1", "k-a")],
        idle("k1"),
        vec![completed("s", "a")],
        idle("s"),
    ]);
    assert_eq!(
        frame_lines(&records)[2..],
        [
            "subagent k1 of a call",
            "  delta \"Child.\"",
            "  text \"Child.\"",
            "  asked per bash",
            "subagent completed \"\"",
            "  answered per cancelled",
            "end completed - \"\""
        ]
    );
}

#[test]
fn a_child_that_is_called_again_starts_again() {
    let call = |id: &str, state: fn(Value, Value) -> Value| {
        tool(
            "s",
            "a",
            id,
            id,
            "task",
            state(
                json!({"prompt": "Do", "subagent_type": "general"}),
                json!({"sessionId": "k", "parentSessionId": "s"}),
            ),
        )
    };
    let begin = |input: Value, metadata: Value| json!({"status": "running", "input": input, "metadata": metadata, "time": {"start": 1}});
    let end = |input: Value, metadata: Value| {
        completed_state(input, "<task id=\"k\">\n<task_result>\nReport.\n</task_result>\n</task>", metadata)
    };
    let records = list([
        vec![
            message("s", "a", json!({})),
            call("t1", begin),
            status("k", "busy"),
            text_part("k", "k1", "k1-t", "One."),
        ],
        vec![completed("k", "k1")],
        idle("k"),
        vec![
            call("t1", end),
            call("t2", begin),
            status("k", "busy"),
            text_part("k", "k2", "k2-t", "Two."),
            completed("k", "k2"),
        ],
        idle("k"),
        vec![call("t2", end)],
    ]);
    let actual = frame_lines(&records);
    let subagent: Vec<&String> = actual
        .iter()
        .filter(|line| line.contains("subagent k") || line.contains("subagent completed") || line.contains("text"))
        .collect();
    assert_eq!(
        subagent,
        [
            "subagent k of a call",
            "  text \"One.\"",
            "subagent completed \"Report.\"",
            "subagent k of a call",
            "  text \"Two.\"",
            "subagent completed \"Report.\""
        ]
    );
}
