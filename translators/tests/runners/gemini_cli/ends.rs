//! How runs end: not every `success` has an answer, and not every run has a result.

use super::records::*;
use framegate_translators::framing::Limits;
use framegate_translators::recognise::{Recogniser, Verdict, Window};
use serde_json::{Value, json};

fn end(records: &[Value]) -> String {
    let ends: Vec<String> = frame_lines(records).into_iter().filter(|line| line.starts_with("end ")).collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
    ends.into_iter().next().unwrap()
}

#[test]
fn a_loop_ends_a_run_with_a_code() {
    let warning = error("warning", "Loop detected, stopping execution");
    let records = [init(), call("t", "glob", json!({})), returned("t", ""), warning.clone(), success()];
    assert_eq!(end(&records), "end completed loop_detected \"-\"");
    let cut = [init(), says("Again. "), says("Again. "), warning.clone(), success()];
    assert_eq!(end(&cut), "end completed loop_detected \"Again. Again. \"", "the text so far is the answer");
    let went_on = [init(), says("Again. "), warning, says("Done."), success()];
    assert_eq!(end(&went_on), "end completed - \"Done.\"");
}

#[test]
fn other_warnings_stop_nothing() {
    assert_eq!(end(&[init(), error("warning", "Slow."), says("a"), success()]), "end completed - \"a\"");
}

#[test]
fn silence_after_a_result_or_the_prompt_has_a_code() {
    assert_eq!(end(&[init(), prompt("p"), success()]), "end completed no_answer \"-\"");
    let records = [init(), says("Look."), call("t", "glob", json!({})), returned("t", ""), success()];
    assert_eq!(end(&records), "end completed no_answer \"Look.\"");
}

#[test]
fn a_hook_that_stops_the_run_is_named() {
    let stop = failed("t", "stop_execution", "Agent execution stopped by hook: enough");
    let records = [init(), call("t", "glob", json!({})), stop, success()];
    assert_eq!(end(&records), "end completed stopped_by_hook \"-\"");
    let blocked = error("warning", "Agent execution blocked: not today");
    assert_eq!(end(&[init(), prompt("p"), blocked.clone(), success()]), "end completed stopped_by_hook \"-\"");
    assert_eq!(end(&[init(), prompt("p"), blocked, failure(None)]), "end failed stopped_by_hook \"-\"");
}

#[test]
fn a_run_without_a_result_was_interrupted() {
    assert_eq!(end(&[init(), says("One two")]), "end interrupted stream_ended \"-\"");
    let lines = frame_lines(&[init(), call("t", "run_shell_command", json!({}))]);
    assert!(lines.contains(&"failed t \"the run ended before the tool did\"".to_owned()), "{lines:?}");
    let ends: Vec<String> = frame_lines(&[init(), says("a"), init(), says("b"), success()])
        .into_iter()
        .filter(|line| line.starts_with("end "))
        .collect();
    assert_eq!(ends, ["end interrupted stream_ended \"-\"", "end completed - \"b\""]);
}

#[test]
fn an_error_without_a_field_is_explained_by_the_record_before() {
    let records = [init(), says("Half"), error("error", "No finish reason."), failure(None)];
    assert_eq!(end(&records), "end failed invalid_stream \"-\"");
    let records = [init(), says("Half"), error("error", "No finish reason."), success()];
    assert_eq!(end(&records), "end failed invalid_stream \"-\"", "a success does not take the error back");
    let records = [init(), says("Half"), error("error", "No finish reason."), says("Whole."), success()];
    assert_eq!(end(&records), "end completed - \"Whole.\"");
    assert_eq!(end(&[init(), failure(None)]), "end failed error \"-\"");
    let turns = failure(Some(("FatalTurnLimitedError", "Reached max session turns")));
    assert_eq!(end(&[init(), turns]), "end failed max_turns \"-\"");
    let turns = error("error", "Maximum session turns exceeded");
    assert_eq!(end(&[init(), says("Look."), turns, success()]), "end failed max_turns \"-\"");
    let blocked = error("error", "The model response was blocked due to safety settings.");
    assert_eq!(end(&[init(), blocked, failure(None)]), "end failed content_filter \"-\"");
}

#[test]
fn refused_calls_never_ran() {
    for kind in ["policy_violation", "tool_not_registered", "invalid_tool_params"] {
        let lines = frame_lines(&[init(), call("t", "glob", json!({})), failed("t", kind, "no"), says("a"), success()]);
        assert!(lines.contains(&"failed t \"no\"".to_owned()), "{lines:?}");
    }
    let lines =
        frame_lines(&[init(), call("t", "glob", json!({})), failed("t", "mcp_tool_error", "no"), says("a"), success()]);
    assert!(lines.contains(&"returned t 1".to_owned()) && lines.contains(&"output t \"no\"".to_owned()), "{lines:?}");
}

#[test]
fn a_document_is_a_run() {
    let document = json!({"session_id": "s", "response": "Yes.", "stats": {"models": {"m": {"tokens": {"input": 3, "prompt": 5,
        "candidates": 2, "total": 8, "cached": 2, "thoughts": 1, "tool": 0}}}}});
    let lines = frame_lines(&[document]);
    assert_eq!(
        lines,
        ["start \"\"", "turn", "text \"Yes.\"", "usage run 3/3", "turn over", "end completed - \"Yes.\""]
    );
    let refused = json!({"session_id": "s", "error": {"type": "Error", "message": "[API Error: {\"error\":{\"code\":429}}]", "code": 1}});
    assert_eq!(end(&[refused]), "end failed rate_limit \"-\"");
}

#[test]
fn a_cancelled_run_was_interrupted() {
    let lines = frame_lines(&[init(), says("a"), failure(Some(("FatalCancellationError", "Operation cancelled.")))]);
    assert!(!lines.iter().any(|line| line.starts_with("error ")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end interrupted interrupted \"-\"");
    let document = json!({"session_id": "s", "error": {"type": "FatalCancellationError", "message": "Operation cancelled.", "code": 130}});
    let lines = frame_lines(&[document]);
    assert!(!lines.iter().any(|line| line.starts_with("error ")), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end interrupted interrupted \"-\"");
}

#[test]
fn the_document_of_a_failed_run_follows_text_for_people() {
    let refused = json!({"session_id": "s", "error": {"type": "Error", "message": "[API Error: {\"error\":{\"code\":429}}]", "code": 1}});
    let input = format!("Warning: slow.\nError when talking to the API\n{:#}\n", refused);
    let frames = crate::support::frames(gemini(), input.as_bytes());
    let lines: Vec<String> = frames.iter().filter_map(line).collect();
    assert_eq!(lines.iter().filter(|line| line.starts_with("record error not JSON")).count(), 2, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end failed rate_limit \"-\"");
    let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
    recogniser.feed(input.as_bytes());
    let Verdict::Found(found) = recogniser.finish() else { panic!("it is not recognised") };
    assert_eq!((found.runner.name, found.surface.name), ("gemini-cli", "json"));
}
