//! Texts and replies, which have no ids on the stream.

use super::records::*;
use serde_json::json;

#[test]
fn replies_are_told_apart_by_what_is_between_them() {
    let records = [
        init(),
        prompt("p"),
        says("Let me "),
        says("look."),
        call("t1", "glob", json!({})),
        says("And more."),
        call("t2", "read_file", json!({})),
        returned("t1", "Found 1"),
        returned("t2", ""),
        says("Done."),
        success(),
    ];
    assert_eq!(
        frame_lines(&records),
        [
            "start \"\"",
            "user \"p\"",
            "turn",
            "text \"Let me look.\"",
            "call t1 glob {}",
            "text \"And more.\"",
            "call t2 read_file {}",
            "output t1 \"Found 1\"",
            "returned t1 0",
            "returned t2 0",
            "turn over",
            "turn",
            "text \"Done.\"",
            "usage run 3/1",
            "turn over",
            "end completed - \"Done.\"",
        ]
    );
}

#[test]
fn an_attempt_that_was_rejected_is_another_message_than_the_next_one() {
    let records = [init(), says("Half of"), error("error", "No finish reason."), says("Whole."), success()];
    let lines = frame_lines(&records);
    assert!(
        lines.contains(&"text \"Half of\"".to_owned()) && lines.contains(&"text \"Whole.\"".to_owned()),
        "{lines:?}"
    );
    assert_eq!(lines.iter().filter(|line| *line == "turn").count(), 2);
}

#[test]
fn attempts_with_nothing_between_are_one_message() {
    let lines = frame_lines(&[init(), says("Half of an ans"), says("The whole answer."), success()]);
    assert!(lines.contains(&"text \"Half of an ansThe whole answer.\"".to_owned()), "{lines:?}");
}

#[test]
fn messages_have_ids_of_their_own() {
    let records = [init(), says("a"), call("t", "glob", json!({})), returned("t", ""), says("b"), success()];
    let twice = [records.clone(), records].concat();
    let frames = frames(&twice);
    let ids: std::collections::BTreeSet<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            framegate_translators::frame::Body::OutputTextCompleted(block) => Some(block.message_id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn effects_of_calls_come_from_their_arguments() {
    let of = |name: &str, args: serde_json::Value, result: serde_json::Value| {
        frame_lines(&[init(), call("t", name, args), result, says("x"), success()])
    };
    let edit = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
    assert!(of("replace", edit.clone(), returned("t", "")).contains(&"file modify a".to_owned()));
    let new = json!({"file_path": "a", "old_string": "", "new_string": "y"});
    assert!(of("replace", new, returned("t", "")).contains(&"file add a".to_owned()));
    let lines = of("replace", edit, failed("t", "edit_no_change", "No changes."));
    assert!(
        !lines.iter().any(|line| line.starts_with("file")) && lines.contains(&"returned t 1".to_owned()),
        "{lines:?}"
    );
    assert!(of("write_todos", json!({"todos": []}), returned("t", "")).contains(&"plan of 0".to_owned()));
}

#[test]
fn a_subagent_on_the_stream_has_the_id_of_its_call() {
    let args = json!({"agent_name": "generalist", "prompt": "Find"});
    let of = |result: serde_json::Value| {
        let lines = frame_lines(&[init(), call("t", "invoke_agent", args.clone()), result, says("x"), success()]);
        lines.into_iter().filter(|line| line.starts_with("agent ")).collect::<Vec<_>>()
    };
    assert_eq!(of(returned("t", "")), ["agent t", "agent t completed"]);
    assert_eq!(of(failed("t", "execution_failed", "no")), ["agent t", "agent t failed"]);
}
