//! Lines of session files.

use super::records::*;
use crate::durations::durations;
use framegate_translators::frame::Body;
use serde_json::json;

fn ends(records: &[serde_json::Value]) -> Vec<String> {
    frame_lines(records).into_iter().filter(|line| line.starts_with("end ")).collect()
}

fn asks(call_id: &str) -> serde_json::Value {
    reply(json!([{"functionCall": {"id": call_id, "name": "edit", "args": {"file_path": "/a"}}}]))
}

fn answered(call_id: &str, result: serde_json::Value, response: serde_json::Value) -> serde_json::Value {
    let part = json!({"functionResponse": {"id": call_id, "name": "edit", "response": response}});
    entry("tool_result", json!({"message": {"role": "user", "parts": [part]}, "toolCallResult": result}))
}

#[test]
fn a_prompt_begins_a_run_and_ends_the_one_before() {
    let records =
        [prompt("One"), reply(json!([{"text": "First."}])), prompt("Two"), reply(json!([{"text": "Second."}]))];
    let lines = frame_lines(&records);
    assert_eq!(ends(&records), ["end completed - \"First.\"", "end completed - \"Second.\""]);
    assert_eq!(lines[..2], ["start \"One\"", "user \"One\""]);
}

#[test]
fn a_prompt_has_its_pictures_and_its_text_in_one_piece() {
    let parts = json!([{"text": "Look at "}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}, {"text": "this"}]);
    let with_text = entry("user", json!({"message": {"role": "user", "parts": parts}}));
    let alone = entry("user", json!({"message": {"role": "user", "parts": [parts[1]]}}));
    let all = frames(&[with_text, reply(json!([{"text": "A dot."}])), alone, reply(json!([{"text": "The same."}]))]);
    let said = all.iter().filter_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message),
        _ => None,
    });
    let kinds = |message: &framegate_translators::frame::UserMessage| -> Vec<String> {
        let kind = |one: &framegate_translators::frame::Attachment| format!("{} {:?}", one.kind, one.mime.as_deref());
        message.attachments.iter().map(kind).collect()
    };
    let said: Vec<_> = said.map(|message| (message.text.as_str(), kinds(message))).collect();
    let picture = vec![r#"image Some("image/png")"#.to_owned()];
    assert_eq!(said, [("Look at this", picture.clone()), ("", picture)]);
}

#[test]
fn the_last_lines_say_how_a_run_ended() {
    let cancelled = json!({"callId": "t", "status": "cancelled", "resultDisplay": "start"});
    let error = json!({"error": "[Operation Cancelled] Reason: stop"});
    let stopped = [prompt("p"), asks("t"), answered("t", cancelled, error)];
    assert_eq!(ends(&stopped), ["end interrupted interrupted \"-\""]);
    assert_eq!(ends(&[prompt("p"), asks("t")]), ["end interrupted stream_ended \"-\""]);
    assert_eq!(ends(&[prompt("p")]), ["end interrupted stream_ended \"-\""]);
    let failure = json!({"event.name": "qwen-code.api_error", "error_message": "429 slow", "status_code": 429});
    assert_eq!(ends(&[prompt("p"), measured(failure.clone())]), ["end failed rate_limit \"-\""]);
    // A later answer makes up for it.
    let records = [prompt("p"), measured(failure), reply(json!([{"text": "Fine."}]))];
    assert_eq!(ends(&records), ["end completed - \"Fine.\""]);
}

#[test]
fn the_diff_of_a_change_is_the_runners_own() {
    let display = json!({"fileDiff": "--- a\n+++ a\n@@ -0,0 +1 @@\n+x\n", "fileName": "a", "originalContent": null, "newContent": "x"});
    let result = json!({"callId": "t", "status": "success", "resultDisplay": display});
    let all = frames(&[prompt("p"), asks("t"), answered("t", result, json!({"output": "done"}))]);
    let changes: Vec<_> = all
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::FileChanged(change) => Some((change.path.as_str(), change.kind.as_str(), change.diff.as_deref())),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [("/a", "add", Some("--- a\n+++ a\n@@ -0,0 +1 @@\n+x\n"))]);
}

#[test]
fn the_exit_code_and_duration_of_a_command_are_read() {
    let display = json!({"type": "shell_result", "exitCode": 4, "output": "o", "text": "Command: x\nOutput: o"});
    let result = json!({"callId": "t", "status": "error", "resultDisplay": display});
    let took = measured(json!({"event.name": "qwen-code.tool_call", "call_id": "t", "duration_ms": 126}));
    let all = frames(&[prompt("p"), asks("t"), took, answered("t", result, json!({"error": "Output: o"}))]);
    let ended = all.iter().find_map(|frame| match &frame.body {
        Body::ToolEnded { exit_code, duration_ms, .. } => Some((*exit_code, *duration_ms)),
        _ => None,
    });
    assert_eq!(ended, Some((4, 126)));
}

#[test]
fn a_call_that_did_not_start_never_ran() {
    let result = json!({"callId": "t", "status": "error", "executionStatus": "not_started"});
    let lines = frame_lines(&[prompt("p"), asks("t"), answered("t", result, json!({"error": "no"}))]);
    assert!(lines.contains(&"failed t \"no\"".to_owned()), "{lines:?}");
}

#[test]
fn a_compaction_has_its_figures() {
    let info = json!({"originalTokenCount": 9000, "newTokenCount": 800, "triggerReason": "manual"});
    let compacted = entry("system", json!({"subtype": "chat_compression", "systemPayload": {"info": info}}));
    let lines = frame_lines(&[prompt("p"), compacted]);
    assert!(lines.contains(&"compacted Some(\"manual\") Some(9000) Some(800)".to_owned()), "{lines:?}");
}

#[test]
fn a_message_within_a_run_begins_none() {
    let message = json!({"role": "user", "parts": [{"text": "And then?"}]});
    let more = entry("user", json!({"subtype": "mid_turn_user_message", "message": message}));
    let records = [prompt("p"), asks("t"), more, reply(json!([{"text": "So."}]))];
    let lines = frame_lines(&records);
    assert!(lines.contains(&"user \"And then?\"".to_owned()), "{lines:?}");
    assert_eq!(ends(&records), ["end completed - \"So.\""]);
}

#[test]
fn the_time_of_a_line_is_that_of_its_frames() {
    let all = frames(&[prompt("p"), reply(json!([{"text": "x"}]))]);
    let time: jiff::Timestamp = "2026-11-23T03:48:51.297Z".parse().unwrap();
    let ms = u64::try_from(time.as_millisecond()).unwrap();
    let own = all.iter().filter(|frame| !matches!(frame.body, Body::SessionEnded(_)));
    assert!(own.clone().count() > 5 && own.clone().all(|frame| frame.timestamp_ms == ms));
}

#[test]
fn a_run_lasts_until_its_last_line_and_not_until_the_next_prompt() {
    let at = |time: &str, mut line: serde_json::Value| {
        line["timestamp"] = json!(format!("2026-11-23T{time}Z"));
        line
    };
    let records = [
        at("03:00:00.000", prompt("One")),
        at("03:00:04.000", reply(json!([{"text": "First."}]))),
        at("09:00:00.000", prompt("Two")),
        at("09:00:03.000", reply(json!([{"text": "Second."}]))),
    ];
    assert_eq!(durations(&frames(&records)), [4_000, 3_000]);
}

#[test]
fn the_failed_request_of_a_subagent_is_its_own() {
    let agent = reply(
        json!([{"functionCall": {"id": "a", "name": "agent", "args": {"prompt": "p", "subagent_type": "finder"}}}]),
    );
    let failure = json!({"event.name": "qwen-code.api_error", "error_message": "500 down", "status_code": 500,
        "subagent_id": "finder-a", "subagent_name": "finder"});
    let records = [prompt("p"), agent, reply(json!([{"text": "Done."}])), measured(failure)];
    let all = frames(&records);
    let error = all.iter().find(|frame| matches!(frame.body, Body::ErrorReported(_))).unwrap();
    assert!(error.parent_tool_id.is_some());
    assert!(!ends(&records)[0].contains("failed"), "{:?}", ends(&records));
}
