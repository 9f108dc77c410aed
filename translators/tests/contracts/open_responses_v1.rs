//! `open-responses.v1` on every recording: the response that a reader folds from the events, compared with the frames.

use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

fn ours() -> &'static Contract {
    contract("open-responses.v1").unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// A response as a reader folds it that trusts only pieces, and the one of the terminal event.
#[derive(Debug, Default)]
struct Folded {
    items: Vec<Value>,
    /// The calls whose arguments differ from their pieces.
    changed: usize,
    terminal: Option<Value>,
}

/// Adds a piece to a text.
fn push(place: &mut Value, piece: &str) {
    *place = Value::from(format!("{}{piece}", place.as_str().unwrap()));
}

fn fold(events: &[Value]) -> BTreeMap<String, Folded> {
    let mut responses: BTreeMap<String, Folded> = BTreeMap::new();
    for event in events {
        let folded = responses.entry(text(event, "response_id").to_owned()).or_default();
        let at = event["output_index"].as_u64().map(|index| usize::try_from(index).unwrap());
        match (text(event, "type"), at) {
            ("response.output_item.added", Some(at)) => {
                assert_eq!(at, folded.items.len(), "readers append items: {event}");
                folded.items.push(event["item"].clone());
            }
            ("response.content_part.added", Some(at)) => {
                folded.items[at]["content"].as_array_mut().unwrap().push(event["part"].clone());
            }
            ("response.reasoning_summary_part.added", Some(at)) => {
                folded.items[at]["summary"].as_array_mut().unwrap().push(event["part"].clone());
            }
            ("response.output_text.delta", Some(at)) => {
                push(&mut folded.items[at]["content"][0]["text"], text(event, "delta"));
            }
            ("response.reasoning_summary_text.delta", Some(at)) => {
                push(&mut folded.items[at]["summary"][0]["text"], text(event, "delta"));
            }
            ("response.mcp_call_arguments.delta", Some(at)) => {
                push(&mut folded.items[at]["arguments"], text(event, "delta"));
            }
            ("response.output_item.done", Some(at)) => {
                let (pieces, item) = (&folded.items[at], &event["item"]);
                for key in ["id", "type", "content", "summary"] {
                    assert_eq!(pieces.get(key), item.get(key), "the pieces are the whole: {event}");
                }
                // A runner may report other arguments than the model wrote, with its own defaults.
                if item["type"] == "mcp_call" && pieces["arguments"] != item["arguments"] {
                    folded.changed += 1;
                }
                folded.items[at] = item.clone();
            }
            ("response.completed" | "response.incomplete" | "response.failed", _) => {
                folded.terminal = Some(event["response"].clone());
            }
            _ => {}
        }
    }
    responses
}

#[test]
fn the_response_has_the_final_text_and_a_result_of_each_call() {
    let (mut texts, mut calls, mut changed) = (0, 0, 0);
    for recording in recordings() {
        let responses = fold(&events(recording.runner, ours(), &recording.bytes));
        for folded in responses.values() {
            changed += folded.changed;
            // No recording exceeds a bound, so the terminal event repeats every item.
            assert_eq!(
                folded.terminal.as_ref().unwrap()["output"],
                Value::from(folded.items.clone()),
                "{}",
                recording.name
            );
            assert!(folded.items.iter().all(|item| item["status"] != "in_progress"), "{}", recording.name);
        }
        let of = |frame: &Value| &responses[&format!("resp_{}", text(frame, "stream_id").replace('-', ""))];
        for frame in events(recording.runner, contract("frames.v2").unwrap(), &recording.bytes) {
            let what = format!("{} {}", recording.name, frame["seq"]);
            match text(&frame, "type") {
                "session_ended" => {
                    let folded = of(&frame);
                    let said: String = folded.items.iter().map(|item| text(&item["content"][0], "text")).collect();
                    let bare = |text: &str| text.split_whitespace().collect::<String>();
                    let last = bare(text(&frame, "final_text"));
                    assert!(bare(&said).contains(&last), "{what}: {last:?} is not in {said:?}");
                    texts += u64::from(!last.is_empty());
                }
                "tool_started" | "tool_call_proposed" if frame["stream_kind"] == "session" => {
                    calls += 1;
                    let mut items = of(&frame).items.iter();
                    assert!(items.any(|item| item["call_id"] == frame["call_id"]), "{what}");
                }
                _ => {}
            }
        }
    }
    assert!(texts > 200 && calls > 200, "{texts} texts, {calls} calls");
    assert!(changed < calls / 10, "{changed} of {calls}");
}

/// The runner executes its tools: a client that finds one of these would execute it again.
#[test]
fn no_item_is_a_call_that_a_client_executes() {
    for recording in recordings() {
        for event in events(recording.runner, ours(), &recording.bytes) {
            let items = event["response"]["output"].as_array().into_iter().flatten().chain(event.get("item"));
            for item in items {
                let kind = text(item, "type");
                let is_known = ["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"];
                assert!(is_known.contains(&kind), "{}: {item}", recording.name);
            }
        }
    }
}

#[test]
fn the_recordings_yield_every_type_but_the_notice() {
    let mut seen = BTreeSet::new();
    for recording in recordings() {
        seen.extend(
            events(recording.runner, ours(), &recording.bytes).iter().map(|event| text(event, "type").to_owned()),
        );
    }
    let missing: Vec<&str> = ours().schemas.iter().map(|file| file.kind).filter(|kind| !seen.contains(*kind)).collect();
    assert_eq!(missing, [ours().notice_type]);
}

/// An event on one line, without the envelope, ids and constants. Long texts are cut.
fn line(event: &Value) -> String {
    let mut rest = event.clone();
    let fields = rest.as_object_mut().unwrap();
    for key in ["type", "sequence_number", "response_id", "item_id", "content_index", "summary_index", "logprobs"] {
        fields.remove(key);
    }
    if let Some(response) = fields.get_mut("response") {
        let output = response["output"].as_array().unwrap();
        let kinds: Vec<&str> = output.iter().map(|item| text(item, "type")).collect();
        let (status, details, error) = (&response["status"], &response["incomplete_details"], &response["error"]);
        return format!("{} {status} {details} {error} {} {kinds:?}", text(event, "type"), response["usage"]);
    }
    let rest: String = rest.to_string().chars().take(300).collect();
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
        ("open-responses", "scripted__incomplete-max-tokens.sse"),
    ] {
        let bytes = std::fs::read(fixtures_dir(name).join(file)).unwrap();
        let mut out = String::new();
        for event in events(runner(name).unwrap(), ours(), &bytes) {
            writeln!(out, "{}", line(&event)).unwrap();
        }
        insta::assert_snapshot!(format!("{name}__{file}"), out);
    }
}
