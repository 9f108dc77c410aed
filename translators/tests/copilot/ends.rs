//! How runs end. The exit code does not always say it.

use crate::records::*;
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
    let mut more = prompt("and this");
    more["data"]["delivery"] = json!("steering");
    assert_eq!(ends(&[prompt("x"), delta("m", "a"), more, result(0)]), ["end completed -"]);
}
