//! How runs end. The exit code does not always say it.

use super::records::*;
use serde_json::{Value, json};

fn ends(records: &[Value]) -> Vec<String> {
    lines(records).into_iter().filter(|line| line.starts_with("end ")).collect()
}

#[test]
fn an_abort_is_no_success_although_the_exit_code_is_0() {
    let abort = event("abort", json!({"reason": "user_initiated"}));
    assert_eq!(ends(&[prompt("x"), delta("m", "a"), abort, result(0)]), ["end interrupted interrupted"]);
}

#[test]
fn an_error_is_no_success_although_the_exit_code_is_0() {
    let error = event("session.error", json!({"errorType": "query", "message": "no"}));
    assert_eq!(ends(&[prompt("x"), error.clone(), result(0)]), ["end failed api_error"]);
    let answered = [prompt("x"), error, message("m", "Yes", json!([])), result(0)];
    assert_eq!(ends(&answered), ["end completed -"], "the model answered after the error");
}

#[test]
fn an_exit_code_without_an_error_is_a_failure() {
    assert_eq!(ends(&[prompt("x"), message("m", "Yes", json!([])), result(3)]), ["end failed exit_code"]);
}

#[test]
fn a_stream_without_a_result_is_interrupted_even_after_an_answer() {
    let records = [prompt("x"), delta("m", "Yes"), message("m", "Yes", json!([]))];
    assert_eq!(ends(&records), ["end interrupted stream_ended"]);
    let twice = [records.to_vec(), vec![prompt("y"), message("n", "No", json!([])), result(0)]].concat();
    assert_eq!(ends(&twice), ["end interrupted stream_ended", "end completed -"]);
}

#[test]
fn a_session_file_has_a_run_for_each_prompt() {
    let start = event("session.start", json!({"sessionId": "s", "copilotVersion": "1.0.102"}));
    let records = [
        start,
        prompt("x"),
        message("m", "Yes", json!([])),
        prompt("y"),
        message("n", "", json!([{"toolCallId": "c", "name": "bash", "arguments": {}}])),
        event("session.shutdown", json!({"shutdownType": "routine"})),
    ];
    assert_eq!(ends(&records), ["end completed -", "end interrupted stream_ended"]);
}

#[test]
fn what_is_said_while_the_model_works_is_a_part_of_the_run() {
    let with = |key: &str, value: Value| {
        let mut more = prompt("and this");
        more["data"][key] = value;
        ends(&[prompt("x"), message("m", "a", json!([])), more, message("n", "b", json!([])), result(0)])
    };
    let one = ["end completed -"];
    assert_eq!(with("delivery", json!("steering")), one);
    assert_eq!(with("source", json!("system")), one, "the runner itself wakes the model");
    assert_eq!(with("isAutopilotContinuation", json!(true)), one);
    assert_eq!(with("delivery", json!("queued")).len(), 2, "a prompt that waited has a run of its own");
}

#[test]
fn a_subagent_that_is_aborted_or_fails_does_not_end_the_run() {
    for kind in ["abort", "session.error"] {
        let mut end = event(kind, json!({"reason": "user_initiated", "errorType": "query", "message": "no"}));
        end["agentId"] = json!("agent");
        end["data"]["parentToolCallId"] = json!("c");
        assert_eq!(ends(&[prompt("x"), end, message("m", "Yes", json!([])), result(0)]), ["end completed -"], "{kind}");
    }
}

#[test]
fn a_result_without_its_exit_code_is_a_success_only_after_an_answer() {
    let mut end = result(0);
    end.as_object_mut().unwrap().remove("exitCode");
    assert_eq!(ends(&[prompt("x"), message("m", "Yes", json!([])), end.clone()]), ["end completed -"]);
    assert_eq!(ends(&[prompt("x"), delta("m", "Ye"), end]), ["end interrupted stream_ended"]);
}

#[test]
fn a_crash_ends_the_run_of_a_session_file() {
    let start = event("session.start", json!({"sessionId": "s", "copilotVersion": "1.0.102"}));
    let crash = event("session.shutdown", json!({"shutdownType": "error", "errorReason": "out of memory"}));
    let calls = json!([{"toolCallId": "c", "name": "bash", "arguments": {}}]);
    let cut = [start.clone(), prompt("x"), message("m", "", calls), crash.clone()];
    assert_eq!(ends(&cut), ["end failed crash"]);
    assert_eq!(ends(&[start, prompt("x"), message("m", "Yes", json!([])), crash]), ["end completed -"]);
}
