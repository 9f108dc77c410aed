//! Calls, their output and their ends.

use super::records::*;
use serde_json::{Value, json};

fn bash(id: &str) -> Value {
    json!([{"toolCallId": id, "name": "bash", "arguments": {"command": "x"}}])
}

fn starts(id: &str) -> Value {
    event("tool.execution_start", json!({"toolCallId": id, "toolName": "bash", "arguments": {"command": "x"}}))
}

fn ends(id: &str, rest: &Value) -> Value {
    let mut end = event("tool.execution_complete", json!({"toolCallId": id}));
    for (key, value) in rest.as_object().unwrap() {
        end["data"][key] = value.clone();
    }
    end
}

fn piece(id: &str, stream: &str, text: &str) -> Value {
    passing("tool.shell_output", json!({"toolCallId": id, "stream": stream, "text": text, "sequence": 0}))
}

#[test]
fn the_exit_code_is_the_commands_although_the_runner_reports_success() {
    let end = json!({"success": true, "shellExecution": {"exitCode": 3},
        "result": {"content": "a\nb\n<shellId: 0 completed with exit code 3>"}});
    let so_far = passing("tool.execution_partial_result", json!({"toolCallId": "c", "partialOutput": "a\nb\n"}));
    let records = [
        prompt("x"),
        message("m", "", bash("c")),
        starts("c"),
        piece("c", "stdout", "a\n"),
        piece("c", "stderr", "b\n"),
        so_far,
        ends("c", &end),
        result(0),
    ];
    let expected = ["proposed c", "started c", "out c \"a\\n\"", "err c \"b\\n\"", "ended c 3", "end completed -"];
    assert_eq!(lines(&records), expected);
}

#[test]
fn an_error_follows_the_output_that_was_reported() {
    let end = json!({"success": false, "error": {"message": "It took too long", "code": "timeout"}});
    let records = [prompt("x"), message("m", "", bash("c")), starts("c"), piece("c", "stdout", "a\n"), ends("c", &end)];
    let expected = ["proposed c", "started c", "out c \"a\\n\"", "out c \"It took too long\"", "ended c 124"];
    assert_eq!(lines(&records)[..5], expected);
}

#[test]
fn a_denied_call_never_ran() {
    let end = json!({"success": false, "error": {"message": "No.", "code": "denied"}});
    let records = [prompt("x"), message("m", "", bash("c")), starts("c"), ends("c", &end), result(0)];
    assert_eq!(lines(&records), ["proposed c", "started c", "failed c \"No.\"", "end completed -"]);
}

#[test]
fn a_result_without_a_start_still_has_one_start_and_one_end() {
    let end = json!({"success": true, "result": {"content": "a"}});
    let records = [prompt("x"), message("m", "", bash("c")), ends("c", &end), ends("c", &end), result(0)];
    assert_eq!(lines(&records), ["proposed c", "started c", "out c \"a\"", "ended c 0", "end completed -"]);
}

#[test]
fn an_interrupted_call_has_no_exit_code() {
    let abort = event("abort", json!({"reason": "user_initiated"}));
    let records = [prompt("x"), message("m", "", bash("c")), starts("c"), abort, result(0)];
    let lines = lines(&records);
    assert!(lines[2].starts_with("failed c "), "{lines:?}");
    assert_eq!(lines[3], "end interrupted interrupted");
}

#[test]
fn values_of_wrong_types_are_tolerated() {
    for data in [json!(null), json!([]), json!("x"), json!({"toolCallId": 1, "toolRequests": {}, "content": []})] {
        for kind in [
            "user.message",
            "assistant.message",
            "assistant.message_delta",
            "tool.execution_start",
            "tool.execution_complete",
            "tool.shell_output",
            "subagent.started",
            "permission.requested",
            "session.usage_record",
            "session.shutdown",
        ] {
            let lines = lines(&[prompt("x"), event(kind, data.clone()), result(0)]);
            assert!(lines.last().unwrap().starts_with("end "), "{kind} {data}: {lines:?}");
        }
    }
}
