//! Chat files: messages are written twice, and checkpoints repeat the history.

use super::records::*;
use crate::durations::durations;
use serde_json::{Value, json};

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": T, "type": "user", "content": [{"text": text}]})
}

fn reply(id: &str, text: &str, calls: Value) -> Value {
    let mut reply = json!({"id": id, "timestamp": T, "type": "gemini", "content": text,
        "thoughts": [{"subject": "Look", "description": "I look.", "timestamp": T}],
        "tokens": {"input": 10, "output": 2, "cached": 4, "thoughts": 1, "tool": 0, "total": 13}, "model": "m"});
    if calls != Value::Null {
        reply["toolCalls"] = calls;
    }
    reply
}

fn shell(status: &str) -> Value {
    let output = "<untrusted_context>\nOutput: a\nExit Code: 3\nProcess Group PGID: 1\n</untrusted_context>";
    json!([{"id": "t", "name": "run_shell_command", "args": {}, "status": status, "timestamp": T,
        "result": [{"functionResponse": {"id": "t", "name": "run_shell_command", "response": {"output": output}}}]}])
}

#[test]
fn a_message_that_is_written_again_adds_only_its_calls() {
    let records = [
        user("u", "Hi"),
        reply("g", "Wait.", Value::Null),
        reply("g", "Wait.", shell("success")),
        reply("h", "Done.", Value::Null),
    ];
    let lines = frame_lines(&records);
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(
        (count("text \"Wait.\""), count("usage turn 6/3"), count("thought"), count("turn over")),
        (1, 2, 2, 2),
        "{lines:?}"
    );
    assert!(lines.contains(&"returned t 3".to_owned()), "{lines:?}");
    assert!(lines.contains(&"thought \"**Look**\\n\\nI look.\"".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end completed - \"Done.\"");
}

#[test]
fn usage_that_a_later_line_adds_is_reported_once() {
    let mut uncounted = reply("g", "Wait.", Value::Null);
    uncounted["tokens"] = Value::Null;
    let records = [user("u", "Hi"), uncounted, reply("g", "Wait.", Value::Null), reply("g", "Wait.", shell("success"))];
    let lines = frame_lines(&records);
    assert_eq!(lines.iter().filter(|line| line.starts_with("usage turn 6/3")).count(), 1, "{lines:?}");
}

#[test]
fn an_open_call_ends_with_a_later_line() {
    let records = [user("u", "Hi"), reply("g", "", shell("executing")), reply("g", "", shell("success"))];
    let lines = frame_lines(&records);
    assert_eq!(lines.iter().filter(|line| line.starts_with("returned t 3")).count(), 1, "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end interrupted stream_ended \"-\"", "no reply follows the result");
}

#[test]
fn a_checkpoint_repeats_nothing() {
    let checkpoint =
        json!({"$set": {"messages": [user("u", "Hi"), reply("g", "Yes.", Value::Null)], "lastUpdated": T}});
    let records = [
        user("u", "Hi"),
        reply("g", "Yes.", Value::Null),
        checkpoint,
        reply("g", "Yes.", Value::Null),
        user("v", "Again"),
    ];
    let lines = frame_lines(&records);
    assert_eq!(lines.iter().filter(|line| line.starts_with("text")).count(), 1, "{lines:?}");
    let ends: Vec<&String> = lines.iter().filter(|line| line.starts_with("end ")).collect();
    assert_eq!(ends, ["end completed - \"Yes.\"", "end interrupted stream_ended \"-\""]);
}

#[test]
fn a_snapshot_is_a_compaction_and_no_prompt() {
    let snapshot = json!({"$set": {"messages": [user("s", "<state_snapshot>x</state_snapshot>")], "lastUpdated": T}});
    let lines = frame_lines(&[user("u", "Hi"), snapshot.clone(), snapshot, reply("g", "Yes.", Value::Null)]);
    assert_eq!(lines.iter().filter(|line| *line == "history_compacted").count(), 1, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1, "{lines:?}");
}

#[test]
fn the_context_and_results_are_no_prompts() {
    let result = json!({"id": "r", "timestamp": T, "type": "user", "content": [{"functionResponse": {"id": "t", "name": "x", "response": {}}}]});
    let picture = json!({"id": "p", "timestamp": T, "type": "user", "content": [
        {"functionResponse": {"id": "t", "name": "x", "response": {}}}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]});
    let lines = frame_lines(&[
        picture,
        user("c", "<session_context>\nx"),
        user("u", "Hi"),
        result,
        reply("g", "Yes.", Value::Null),
    ]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1, "{lines:?}");
}

#[test]
fn the_prompt_is_what_was_typed() {
    let record = json!({"id": "u", "timestamp": T, "type": "user", "content": [{"text": "See @a"}, {"text": "contents"}],
        "displayContent": [{"text": "See @a"}]});
    assert!(frame_lines(&[record]).contains(&"user \"See @a\"".to_owned()));
}

#[test]
fn a_subagent_answers_with_its_last_call() {
    let submit = |status: &str, result: Value| {
        json!([{"id": "t", "name": "complete_task", "args": {"result": result}, "status": status, "timestamp": T,
            "result": [{"functionResponse": {"id": "t", "name": "complete_task", "response": {"output": "Submitted."}}}]}])
    };
    let end = |calls: Value| {
        let lines = frame_lines(&[user("u", "Find"), reply("g", "Looking.", Value::Null), reply("h", "", calls)]);
        lines.last().unwrap().clone()
    };
    assert_eq!(end(submit("success", json!({"response": "Found."}))), "end completed - \"Found.\"");
    assert_eq!(end(submit("success", json!("Found."))), "end completed - \"Found.\"");
    assert_eq!(end(submit("success", json!({"files": 1}))), "end completed - \"{\\\"files\\\":1}\"");
    assert_eq!(end(submit("error", json!("Found."))), "end interrupted stream_ended \"Looking.\"");
    assert_eq!(end(shell("success")), "end interrupted stream_ended \"Looking.\"", "another call is no answer");
}

#[test]
fn a_call_of_a_subagent_names_its_session() {
    let delegate = json!([{"id": "t", "name": "invoke_agent", "args": {"agent_name": "generalist", "prompt": "Find"},
        "agentId": "child", "status": "success", "timestamp": T,
        "result": [{"functionResponse": {"id": "t", "name": "invoke_agent", "response": {"output": "Found."}}}]}]);
    let lines = frame_lines(&[user("u", "Hi"), reply("g", "", delegate.clone()), reply("g", "", delegate)]);
    let agents: Vec<&String> = lines.iter().filter(|line| line.starts_with("agent ")).collect();
    assert_eq!(agents, ["agent child", "agent child completed"]);
}

#[test]
fn an_error_after_the_last_reply_fails_the_run() {
    let error = |text: &str| json!({"id": text, "timestamp": T, "type": "error", "content": text});
    let exhausted = "[API Error: Resource has been exhausted]";
    let lines = frame_lines(&[user("u", "Hi"), error(exhausted)]);
    assert_eq!(lines[2..], [format!("error rate_limit {exhausted}"), "end failed rate_limit \"-\"".to_owned()]);
    let lines = frame_lines(&[user("u", "Hi"), reply("g", "Yes.", Value::Null), error("It broke.")]);
    assert_eq!(lines.last().unwrap(), "end failed error \"Yes.\"");
    let lines = frame_lines(&[user("u", "Hi"), error(exhausted), reply("g", "Yes.", Value::Null)]);
    assert_eq!(lines.last().unwrap(), "end completed - \"Yes.\"");
    let lines = frame_lines(&[user("u", "Hi"), error(exhausted), user("v", "Again"), reply("g", "Yes.", Value::Null)]);
    let ends: Vec<&String> = lines.iter().filter(|line| line.starts_with("end ")).collect();
    assert_eq!(ends, ["end failed rate_limit \"-\"", "end completed - \"Yes.\""]);
    assert_eq!(frame_lines(&[error("no run")]), ["error no run"]);
}

#[test]
fn a_run_lasts_until_its_last_message_and_not_until_the_next_prompt() {
    let at = |time: &str, mut message: Value| {
        message["timestamp"] = json!(format!("2026-11-23T{time}Z"));
        message
    };
    let records = [
        at("03:00:00.000", user("u", "One")),
        at("03:00:04.000", reply("g", "1", Value::Null)),
        at("09:00:00.000", user("v", "Two")),
        at("09:00:03.000", reply("h", "2", Value::Null)),
    ];
    assert_eq!(durations(&frames(&records)), [4_000, 3_000]);
}

#[test]
fn the_text_of_a_reply_may_come_with_a_later_line_of_it() {
    let lines = frame_lines(&[user("u", "One"), reply("g", "", Value::Null), reply("g", "Late.", Value::Null)]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("text")).collect::<Vec<_>>(), ["text \"Late.\""]);
    assert_eq!(lines.last().unwrap(), "end completed - \"Late.\"");
}
