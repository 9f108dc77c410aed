//! `ag-ui.v1` on every recording: the messages that a client makes of the events, compared with the frames.

use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn ours() -> &'static Contract {
    contract("ag-ui.v1").unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// A run as a client sees it.
#[derive(Debug, Default)]
struct Run {
    /// The text of each message, in the order of their starts, without those of subagents.
    order: Vec<String>,
    texts: BTreeMap<String, String>,
    /// The name, the arguments and the results of each call.
    calls: BTreeMap<String, (String, String, Vec<Value>)>,
    subagents: BTreeSet<String>,
    end: Value,
    last_ms: u64,
}

fn fold(events: &[Value]) -> BTreeMap<String, Run> {
    let mut runs: BTreeMap<String, Run> = BTreeMap::new();
    for event in events {
        let run = runs.entry(text(&event["metadata"], "runId").to_owned()).or_default();
        let time_ms = event["timestamp"].as_u64().unwrap();
        assert!(time_ms >= run.last_ms, "{event}");
        run.last_ms = time_ms;
        let id = text(event, "messageId").to_owned();
        let call = text(event, "toolCallId").to_owned();
        // What a subagent does is between its start and the end of the run.
        if let Some(subagent) = event["subagentRunId"].as_str()
            && text(event, "type") == "SUBAGENT_STARTED"
        {
            assert!(run.subagents.insert(subagent.to_owned()), "{event}");
        }
        match text(event, "type") {
            "TEXT_MESSAGE_START" => {
                assert!(!run.texts.contains_key(&id), "{event}");
                run.texts.insert(id.clone(), String::new());
                if event.get("subagentRunId").is_none() {
                    run.order.push(id);
                }
            }
            "TEXT_MESSAGE_CONTENT" => run.texts.get_mut(&id).unwrap().push_str(text(event, "delta")),
            "TOOL_CALL_START" => {
                let new = (text(event, "toolCallName").to_owned(), String::new(), Vec::new());
                assert!(run.calls.insert(call, new).is_none(), "{event}");
            }
            "TOOL_CALL_ARGS" => run.calls.get_mut(&call).unwrap().1.push_str(text(event, "delta")),
            "TOOL_CALL_RESULT" => run.calls.get_mut(&call).unwrap().2.push(event.clone()),
            "RUN_FINISHED" | "RUN_ERROR" => run.end = event.clone(),
            _ => {}
        }
    }
    runs
}

#[test]
fn messages_calls_and_the_end_are_those_of_the_frames() {
    let (mut texts, mut calls, mut streamed) = (0, 0, 0);
    for recording in recordings() {
        let runs = fold(&events(recording.runner, ours(), &recording.bytes));
        for frame in events(recording.runner, contract("frames.v2").unwrap(), &recording.bytes) {
            let what = format!("{} {}", recording.name, frame["seq"]);
            let run = runs.get(text(&frame, "stream_id"));
            match text(&frame, "type") {
                "session_ended" => {
                    let run = run.unwrap();
                    let said: String = run.order.iter().map(|id| run.texts[id].as_str()).collect();
                    let bare = |text: &str| text.split_whitespace().collect::<String>();
                    let last = bare(text(&frame, "final_text"));
                    assert!(bare(&said).contains(&last), "{what}: {last:?} is not in {said:?}");
                    texts += u64::from(!last.is_empty());
                    let expected = match text(&frame, "reason") {
                        "failed" => ("RUN_ERROR", ""),
                        "interrupted" => ("RUN_FINISHED", "cancelled"),
                        _ => ("RUN_FINISHED", "success"),
                    };
                    assert_eq!((text(&run.end, "type"), text(&run.end["outcome"], "type")), expected, "{what}");
                    let pending = run.end["outcome"]["pendingToolCallIds"].as_array().map_or(0, Vec::len);
                    let open = run.calls.values().filter(|(.., results)| results.is_empty()).count();
                    assert_eq!(open, pending, "{what}");
                    assert!(run.calls.values().all(|(.., results)| results.len() < 2), "{what}");
                }
                "tool_started" if frame["stream_kind"] == "session" => {
                    calls += 1;
                    let (name, arguments, _) = &run.unwrap().calls[text(&frame, "tool_id")];
                    assert_eq!(name, text(&frame, "name"), "{what}");
                    let args = match &frame["args"] {
                        Value::String(text) => Value::from(text.as_str()),
                        other => other.clone(),
                    };
                    let found = serde_json::from_str(arguments).unwrap_or(Value::from(arguments.as_str()));
                    // A runner may complete the arguments that the model streamed.
                    streamed += u64::from(found != args && args.as_str() != Some(arguments));
                }
                _ => {}
            }
        }
    }
    assert!(texts > 200 && calls > 200, "{texts} texts, {calls} calls");
    assert!(streamed * 20 < calls, "{streamed} of {calls} calls have other arguments than were streamed");
}

/// No optional field is `null`: the client refuses the event. Content of the runner may be.
#[test]
fn no_field_is_null() {
    for recording in recordings() {
        for event in events(recording.runner, ours(), &recording.bytes) {
            let fields = event.as_object().unwrap().iter().chain(event["metadata"].as_object().unwrap());
            for (key, value) in fields {
                assert!(!value.is_null(), "{}: {key} in {event}", recording.name);
            }
        }
    }
}

#[test]
fn the_recordings_yield_every_type() {
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        let events = events(recording.runner, ours(), &recording.bytes);
        seen.extend(events.iter().map(|event| text(event, "type").to_owned()));
    }
    let missing: Vec<&str> = ours().schemas.iter().map(|file| file.kind).filter(|kind| !seen.contains(*kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// An event on one line, without its time and number. Long texts are cut.
fn line(event: &Value) -> String {
    let mut rest = event.clone();
    let fields = rest.as_object_mut().unwrap();
    for key in ["type", "timestamp"] {
        fields.remove(key);
    }
    let metadata = fields["metadata"].as_object_mut().unwrap();
    metadata.remove("runId");
    metadata.remove("seq");
    if metadata.is_empty() {
        fields.remove("metadata");
    }
    let rest: String = rest.to_string().chars().take(200).collect();
    format!("{} {rest}", text(event, "type"))
}

#[test]
fn recordings_of_each_runner_as_events() {
    for (name, file) in [
        ("claude-code", "control_permission.partial.ndjson"),
        ("claude-code", "subagent.partial.ndjson"),
        ("claude-code", "killed_sigkill.partial.ndjson"),
        ("codex", "appserver-error-400.ndjson"),
        ("codex", "exec-sigint-command.ndjson"),
        ("opencode", "event-todo.sse"),
        ("open-responses", "scripted__parallel-interleaved.sse"),
    ] {
        let bytes = std::fs::read(fixtures_dir(name).join(file)).unwrap();
        let mut out = String::new();
        for event in events(runner(name).unwrap(), ours(), &bytes) {
            writeln!(out, "{}", line(&event)).unwrap();
        }
        insta::assert_snapshot!(format!("{name}__{file}"), out);
    }
}
