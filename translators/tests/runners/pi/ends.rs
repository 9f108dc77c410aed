//! How runs end: by `agent_settled` only, as the last reply ended.

use super::records::*;
use serde_json::json;

const WILL_RETRY: &str = r#"{"type":"agent_end","messages":[],"willRetry":true}"#;

fn retry(attempt: u32) -> String {
    json!({"type": "auto_retry_start", "attempt": attempt, "maxAttempts": 3, "delayMs": 1, "errorMessage": "500: x"})
        .to_string()
}

#[test]
fn a_retried_request_is_one_run_and_its_failure_is_reported_with_the_attempt() {
    let bad = reply(&text("Half"), &failed("500: Internal error."));
    let good = reply(&text("Whole"), &stop());
    check(
        &[BEGIN, TURN, &bad, WILL_RETRY, &retry(1), BEGIN, TURN, &good, AGENT_END, SETTLED],
        &[
            "session_started",
            "output_text_completed Half",
            "error_reported turn server_error 1 3",
            "output_text_completed Whole",
            "session_ended completed Whole",
        ],
    );
}

#[test]
fn an_agent_run_that_will_not_retry_may_be_followed_by_another_one() {
    // An overflow: the history is summarised, and the request is made again.
    let bad = reply(&json!([]), &failed("400: prompt is too long"));
    let usage = json!({"input": 800, "output": 40, "cacheRead": 0, "cacheWrite": 0});
    let result = json!({"summary": "So far.", "firstKeptEntryId": "a", "tokensBefore": 9, "usage": usage});
    let compacted =
        json!({"type": "compaction_end", "reason": "overflow", "result": result, "aborted": false, "willRetry": true});
    let spent = json!({"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0});
    let good = reply(&text("Whole"), &json!({"stopReason": "stop", "usage": spent}));
    let lines = [BEGIN, TURN, &bad, AGENT_END, &compacted.to_string(), BEGIN, TURN, &good, AGENT_END, SETTLED];
    check(
        &lines,
        &[
            "session_started",
            "history_compacted auto So far.",
            "error_reported turn invalid_request",
            "output_text_completed Whole",
            "usage_reported turn 10 5",
            "usage_reported run 810 45",
            "session_ended completed Whole",
        ],
    );
}

#[test]
fn the_last_failure_is_that_of_the_run() {
    let bad = reply(&text("Half"), &failed("terminated"));
    let lines = [BEGIN, TURN, &bad, WILL_RETRY, &retry(1), BEGIN, TURN, &bad, AGENT_END, SETTLED];
    let seen = brief(&lines);
    assert_eq!(of(&seen, "error_reported"), ["turn error 1 3", "run error"]);
    assert_eq!(of(&seen, "session_ended"), ["failed error"], "the text of a failed reply is no answer");
}

#[test]
fn aborted_replies_interrupt_the_run_whatever_the_stop_reason_says() {
    for ending in [
        json!({"stopReason": "aborted", "errorMessage": "Request was aborted"}),
        json!({"stopReason": "aborted"}),
        json!({"stopReason": "error", "errorMessage": "This operation was aborted"}),
    ] {
        let seen = brief(&[BEGIN, TURN, &reply(&json!([]), &ending), AGENT_END, SETTLED]);
        assert_eq!(of(&seen, "session_ended"), ["interrupted aborted"], "{ending}");
        assert!(of(&seen, "error_reported").is_empty());
    }
}

#[test]
fn limits_and_filters_end_runs_as_those_of_all_runners_do() {
    let cut = reply(&text("So far"), &json!({"stopReason": "length"}));
    let seen = brief(&[BEGIN, TURN, &cut, AGENT_END, SETTLED]);
    assert_eq!(of(&seen, "session_ended"), ["completed max_output_tokens So far"]);
    let words = json!({"stopReason": "error", "rawStopReason": "content_filter",
        "errorMessage": "Provider finish_reason: content_filter"});
    let seen = brief(&[BEGIN, TURN, &reply(&text("So far"), &words), AGENT_END, SETTLED]);
    assert_eq!(of(&seen, "session_ended"), ["failed content_filter So far"]);
}

#[test]
fn a_run_without_its_end_is_interrupted() {
    let good = reply(&text("Whole"), &stop());
    for lines in [
        &[BEGIN][..],
        &[BEGIN, TURN, &update(&json!({"type": "text_delta", "contentIndex": 0, "delta": "Ha"}))],
        &[BEGIN, TURN, &good],
        &[BEGIN, TURN, &good, AGENT_END],
        &[BEGIN, TURN, &reply(&json!([]), &failed("500: x")), WILL_RETRY, &retry(1)],
    ] {
        let seen = brief(lines);
        assert!(of(&seen, "session_ended")[0].starts_with("interrupted stream_ended"), "{lines:?}: {seen:?}");
    }
}

#[test]
fn version_0_73_ends_with_the_agent_run_unless_a_request_failed() {
    let (good, bad) = (reply(&text("One"), &stop()), reply(&json!([]), &failed("400: no")));
    let seen = brief(&[BEGIN, TURN, &good, OLD_AGENT_END, BEGIN, TURN, &good, OLD_AGENT_END]);
    assert_eq!(of(&seen, "session_ended"), ["completed One"; 2]);
    let seen = brief(&[BEGIN, TURN, &bad, OLD_AGENT_END, &retry(1), BEGIN, TURN, &good, OLD_AGENT_END]);
    assert_eq!(of(&seen, "session_ended"), ["completed One"]);
    let seen = brief(&[BEGIN, TURN, &bad, OLD_AGENT_END, BEGIN, TURN, &good, OLD_AGENT_END]);
    assert_eq!(of(&seen, "session_ended"), ["failed invalid_request", "completed One"]);
    let seen = brief(&[BEGIN, TURN, &bad, OLD_AGENT_END]);
    assert_eq!(of(&seen, "session_ended"), ["failed invalid_request"]);
}

#[test]
fn another_session_ends_the_run_of_the_one_before_it() {
    let head = |id: &str| {
        json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-11-23T03:46:38.721Z", "cwd": "/w"})
            .to_string()
    };
    let lines = [&*head("a"), BEGIN, &head("b"), BEGIN, SETTLED];
    let seen = brief(&lines);
    assert_eq!(of(&seen, "session_ended"), ["interrupted stream_ended", "completed"]);
}

#[test]
fn a_refused_prompt_is_an_error_and_no_run() {
    let refusal = json!({"id": "p", "type": "response", "command": "prompt", "success": false, "error": "No model"});
    check(&[&refusal.to_string()], &["error_reported provider command_refused"]);
    // One that comes while another one is worked on changes nothing for that one.
    let good = reply(&text("One"), &stop());
    let seen = brief(&[BEGIN, TURN, &refusal.to_string(), &good, AGENT_END, SETTLED]);
    assert_eq!(of(&seen, "session_ended"), ["completed One"]);
}

#[test]
fn a_summary_between_two_prompts_is_in_no_run() {
    let usage = json!({"input": 800, "output": 40, "cacheRead": 0, "cacheWrite": 0});
    let result = json!({"summary": "So far.", "firstKeptEntryId": "a", "tokensBefore": 9, "usage": usage});
    let compacted =
        json!({"type": "compaction_end", "reason": "manual", "result": result, "aborted": false, "willRetry": false});
    check(&[&compacted.to_string()], &["history_compacted manual So far."]);
}
