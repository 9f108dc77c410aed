//! Session files: a tree of entries, read in the order of the file.

use super::records::*;
use crate::durations::durations;
use crate::support::frames;
use framegate_translators::runners::runner;
use serde_json::{Value, json};

/// Entries with these messages, one second after the other.
fn file(messages: &[Value]) -> Vec<String> {
    let head =
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-23T03:46:38.721Z", "cwd": "/w"});
    let entry = |(nth, message): (usize, &Value)| {
        json!({"type": "message", "id": format!("e{}", nth + 1), "parentId": format!("e{nth}"),
            "timestamp": format!("2026-11-23T03:47:{nth:02}.000Z"), "message": message})
        .to_string()
    };
    std::iter::once(head.to_string()).chain(messages.iter().enumerate().map(entry)).collect()
}

fn runs_of(messages: &[Value]) -> Vec<String> {
    let lines = file(messages);
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    brief(&lines)
}

fn result(id: &str, output: &str) -> Value {
    json!({"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": text(output), "isError": false,
        "timestamp": 1})
}

fn asks(id: &str) -> Value {
    assistant(&json!([call(id, "bash", &json!({"command": "ls"}))]), &json!({"stopReason": "toolUse"}))
}

#[test]
fn each_prompt_is_a_run() {
    let answer = |words: &str| assistant(&text(words), &stop());
    let seen = runs_of(&[user("One"), answer("1"), user("Two"), asks("c"), result("c", "x"), answer("2")]);
    assert_eq!(of(&seen, "session_ended"), ["completed 1", "completed 2"]);
    assert_eq!(of(&seen, "user_message"), ["One", "Two"]);
    assert_eq!(of(&seen, "tool_ended"), ["0"]);
}

#[test]
fn a_message_while_the_agent_worked_is_a_part_of_the_run() {
    let answer = assistant(&text("Done"), &stop());
    let seen = runs_of(&[user("One"), asks("c"), result("c", "x"), user("Rather two"), answer]);
    assert_eq!(of(&seen, "session_ended"), ["completed Done"]);
    assert_eq!(of(&seen, "user_message"), ["One", "Rather two"]);
}

#[test]
fn a_prompt_after_a_killed_process_is_another_run() {
    let answer = assistant(&text("Done"), &stop());
    // The process ended before the answer, or while a call ran.
    for killed in [vec![user("One")], vec![user("One"), asks("c")]] {
        let seen = runs_of(&[killed, vec![user("Two"), answer.clone()]].concat());
        assert_eq!(of(&seen, "session_ended"), ["interrupted stream_ended", "completed Done"], "{seen:?}");
    }
}

#[test]
fn the_end_of_the_file_is_the_end_of_a_run_whose_last_reply_is_final() {
    for (last, expected) in [
        (assistant(&text("Done"), &stop()), "completed Done"),
        (assistant(&json!([]), &failed("400: no")), "failed invalid_request"),
        (assistant(&json!([]), &json!({"stopReason": "aborted"})), "interrupted aborted"),
        (asks("c"), "interrupted stream_ended"),
    ] {
        let seen = runs_of(&[user("One"), last]);
        assert_eq!(of(&seen, "session_ended"), [expected], "{seen:?}");
    }
    assert_eq!(of(&runs_of(&[user("One")]), "session_ended"), ["interrupted stream_ended"]);
}

#[test]
fn a_failed_reply_with_a_call_leaves_no_call_open() {
    let broken = assistant(&json!([call("c", "bash", &json!({}))]), &failed("terminated"));
    let seen = runs_of(&[user("One"), broken.clone(), assistant(&text("Done"), &stop())]);
    assert_eq!(of(&seen, "session_ended"), ["completed Done"]);
    assert_eq!(of(&seen, "error_reported"), ["turn error"]);
    let seen = runs_of(&[user("One"), broken]);
    assert_eq!(of(&seen, "session_ended"), ["failed error"]);
    assert!(of(&seen, "tool_started").is_empty());
}

#[test]
fn a_call_takes_the_time_between_its_reply_and_its_result() {
    let lines = file(&[user("One"), asks("c"), result("c", "x")]).join("\n");
    let pi = framegate_translators::runners::runner("pi").unwrap();
    let frames_v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    let frames = crate::support::events(pi, frames_v2, lines.as_bytes());
    let end: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_ended").collect();
    assert_eq!(end[0]["duration_ms"], 1000);
}

#[test]
fn a_command_of_the_client_is_logged_and_is_no_call() {
    let ran = json!({"role": "bashExecution", "command": "echo x; exit 3", "output": "x\n", "exitCode": 3});
    let lines = file(&[user("Hi"), ran]);
    let of_file = brief(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let answer = json!({"id": "b", "type": "response", "command": "bash", "success": true,
        "data": {"output": "", "exitCode": null, "cancelled": true}});
    let of_stream = brief(&[BEGIN, &about("message_end", &user("Hi")), &answer.to_string(), SETTLED]);
    for (brief, log) in [
        (of_file, "log_emitted info the client ran `echo x; exit 3` (exit code 3)\nx"),
        (of_stream, "log_emitted info the client ran a command (cancelled)"),
    ] {
        assert!(brief.iter().any(|line| line == log), "{brief:?}");
        assert!(!brief.iter().any(|line| line.starts_with("tool_")), "{brief:?}");
    }
}

#[test]
fn a_run_lasts_until_its_last_message_and_not_until_the_next_prompt() {
    let answer = |words: &str| assistant(&text(words), &stop());
    let lines = file(&[user("One"), answer("1"), user("Two"), asks("c"), user("Three"), answer("3")]);
    let late =
        lines.join("\n").replace("03:47:02", "09:00:00").replace("03:47:03", "09:00:04").replace(":47:04", ":48:00");
    let of_runs = durations(&frames(runner("pi").unwrap(), late.as_bytes()));
    assert_eq!(of_runs.first(), Some(&1_000), "the second prompt came hours later");
}

#[test]
fn a_fork_begins_with_the_entries_of_another_session_which_are_not_its_runs() {
    let answer = |words: &str| assistant(&text(words), &stop());
    let lines = file(&[user("One"), answer("1"), user("Two"), answer("2")]);
    let seen = |head: &str| {
        let lines: Vec<&str> = std::iter::once(head).chain(lines[1..].iter().map(String::as_str)).collect();
        let seen = brief(&lines);
        of(&seen, "session_ended").into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let head = |parent: &str| {
        format!(
            r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-11-23T03:47:02.000Z","cwd":"/w"{parent}}}"#
        )
    };
    assert_eq!(seen(&head(r#","parentSession":"/w/other.jsonl""#)), ["completed 2"]);
    assert_eq!(seen(&head("")), ["completed 1", "completed 2"]);
}
