//! Calls: output that replaces, outcomes that only the text tells, calls that are never run.

use super::records::*;
use serde_json::{Value, json};

fn bash() -> Value {
    json!({"command": "ls"})
}

/// A run with one call, and these records of its execution.
fn run(name: &str, args: &Value, execution: &[String]) -> Vec<String> {
    let calls = json!([call("c", name, args)]);
    let (asks, start) = (reply(&calls, &json!({"stopReason": "toolUse"})), tool_start("c", name, args));
    let mut lines = vec![BEGIN, TURN, &asks, &start];
    lines.extend(execution.iter().map(String::as_str));
    let good = reply(&text("Done."), &stop());
    lines.extend([TURN, good.as_str(), AGENT_END, SETTLED]);
    let seen = brief(&lines);
    assert_eq!(of(&seen, "tool_call_proposed"), ["c"]);
    assert_eq!(of(&seen, "tool_started"), [name]);
    seen.into_iter().filter(|line| line.starts_with("tool_") || line.starts_with("file_")).skip(2).collect()
}

#[test]
fn updates_replace_the_output_and_only_what_is_new_is_reported() {
    let updates = [("c", "one\n"), ("c", "one\ntwo\n")].map(|(id, output)| tool_update(id, "bash", output));
    let [first, second] = updates;
    let end = tool_end("c", "bash", "one\ntwo\nthree\n", false);
    let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash",
        "content": text("one\ntwo\nthree\n"), "isError": false, "timestamp": 1});
    let seen = run("bash", &bash(), &[first.clone(), first, second, end, about("message_end", &result)]);
    assert_eq!(seen, ["tool_stdout one\n", "tool_stdout two\n", "tool_stdout three\n", "tool_ended 0"]);
}

#[test]
fn the_end_of_a_long_output_comes_with_the_result() {
    let updates = ["1\n2\n", "8\n9\n"].map(|output| tool_update("c", "bash", output));
    let [first, second] = updates;
    let seen = run("bash", &bash(), &[first, second, tool_end("c", "bash", "8\n9\n10\n", false)]);
    assert_eq!(seen, ["tool_stdout 1\n2\n", "tool_stdout 8\n9\n10\n", "tool_ended 0"]);
}

#[test]
fn outcomes_are_read_from_the_text() {
    for (name, output, expected) in [
        ("bash", "oops\n\n\nCommand exited with code 3", "tool_ended 3"),
        ("bash", "Command timed out after 1 seconds", "tool_ended 124"),
        ("bash", "start\n\n\nCommand aborted", "tool_failed start\n\n\nCommand aborted"),
        ("bash", "No deleting here", "tool_failed No deleting here"),
        ("read", "ENOENT: no such file", "tool_ended 1"),
        ("jump", "Tool jump not found", "tool_failed Tool jump not found"),
    ] {
        let seen = run(name, &json!({}), &[tool_end("c", name, output, true)]);
        assert_eq!(seen.last().unwrap(), expected);
    }
}

#[test]
fn a_call_of_a_broken_reply_is_not_run_and_the_run_ends_without_it() {
    let broken = reply(&json!([call("c", "bash", &bash())]), &failed("terminated"));
    let seen = brief(&[BEGIN, TURN, &broken, AGENT_END, SETTLED]);
    assert_eq!(seen, ["session_started", "error_reported run error", "session_ended failed error"]);
}

#[test]
fn calls_of_one_reply_end_in_any_order() {
    let calls = json!([call("a", "bash", &bash()), call("b", "bash", &bash())]);
    let asks = reply(&calls, &json!({"stopReason": "toolUse"}));
    let lines = [
        BEGIN,
        TURN,
        &asks,
        &tool_start("a", "bash", &bash()),
        &tool_start("b", "bash", &bash()),
        &tool_end("b", "bash", "B", false),
        &tool_end("a", "bash", "A", false),
    ];
    let seen = brief(&lines);
    assert_eq!(of(&seen, "tool_stdout"), ["B", "A"]);
    assert_eq!(of(&seen, "tool_ended"), ["0", "0"]);
}

#[test]
fn edits_and_writes_report_the_file_unless_they_failed() {
    let patch = json!({"type": "tool_execution_end", "toolCallId": "c", "toolName": "edit", "isError": false,
        "result": {"content": text("ok"), "details": {"diff": "x", "patch": "--- a\n+++ a\n", "firstChangedLine": 1}}});
    let args = json!({"path": "a.txt", "edits": []});
    assert!(run("edit", &args, &[patch.to_string()]).contains(&"file_changed a.txt modify".to_owned()));
    assert!(
        run("write", &args, &[tool_end("c", "write", "ok", false)]).contains(&"file_changed a.txt modify".to_owned())
    );
    for failed in [run("edit", &args, &[tool_end("c", "edit", "no", true)]), run("read", &args, &[])] {
        assert!(of(&failed, "file_changed").is_empty(), "{failed:?}");
    }
}

#[test]
fn an_execution_whose_reply_is_lost_is_still_a_call() {
    let lines = [BEGIN, &tool_start("c", "bash", &bash()), &tool_end("c", "bash", "A", false)];
    let seen = brief(&lines);
    assert_eq!(
        seen[..5],
        ["session_started", "tool_call_proposed c", "tool_started bash", "tool_stdout A", "tool_ended 0"]
    );
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    let step = |output: &str| {
        let asks = reply(&json!([call("c", "bash", &bash())]), &json!({"stopReason": "toolUse"}));
        let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": text(output),
            "isError": false, "timestamp": 1});
        let end = tool_end("c", "bash", output, false);
        [asks, tool_start("c", "bash", &bash()), end, about("message_end", &result)]
    };
    let steps = [step("A"), step("B"), step("C")].concat();
    let mut lines = vec![BEGIN];
    lines.extend(steps.iter().map(String::as_str));
    let seen = brief(&lines);
    assert_eq!(of(&seen, "tool_call_proposed"), ["c", "c#2", "c#3"]);
    assert_eq!(of(&seen, "tool_stdout"), ["A", "B", "C"]);
    assert_eq!(of(&seen, "tool_ended"), ["0", "0", "0"]);
}

#[test]
fn fields_of_a_wrong_type_are_no_failure() {
    let odd = [
        json!({"type": "message_end", "message": "text"}),
        json!({"type": "message_end", "message": {"role": 1, "content": {}}}),
        json!({"type": "message_end", "message": {"role": "assistant", "content": [1, {"type": "toolCall", "id": 2}]}}),
        json!({"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "contentIndex": "0", "delta": 7}}),
        json!({"type": "tool_execution_end", "toolCallId": null}),
        json!({"type": "tool_execution_update", "toolCallId": "x", "partialResult": []}),
        json!({"type": "agent_end", "messages": 1, "willRetry": "no"}),
        json!({"type": "auto_retry_start", "attempt": -1, "maxAttempts": 1e30}),
        json!({"type": "compaction_end", "result": {"usage": {"input": -1}}}),
        json!({"type": "extension_ui_request", "method": "select", "options": 3}),
        json!({"type": "something_new", "id": "x"}),
    ];
    let odd = odd.map(|record| record.to_string());
    let mut lines = vec![BEGIN];
    lines.extend(odd.iter().map(String::as_str));
    lines.push(SETTLED);
    let seen = brief(&lines);
    assert_eq!(of(&seen, "session_ended"), ["completed"], "{seen:#?}");
}
