//! The `@agentclientprotocol/sdk` package reads every recording of every runner in `acp.v1` as an agent's output, at a pinned version.

use crate::proxy::Proxy;
use crate::recorded_runs::{frames_of, ingest_all, read_with};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The texts of a call's content, and the texts before and after its changes.
fn content_of(call: &Value) -> String {
    let items = call["content"].as_array().into_iter().flatten();
    let texts = items.flat_map(|item| [text(&item["content"], "text"), text(item, "oldText"), text(item, "newText")]);
    texts.chain([text(&call["rawOutput"], "output")]).collect()
}

/// Compares what the client saw of a run with the run's frames.
fn check(run: &str, said: &Value, frames: &[Value]) {
    for complaints in ["invalid", "dropped", "complaints"] {
        assert_eq!(said[complaints], json!([]), "{run}: {complaints}");
    }
    let seen = &said["seen"];
    let of_main = |kind: &str| {
        frames
            .iter()
            .filter(move |frame| frame["type"] == kind && frame.get("parent_tool_id").is_none_or(Value::is_null))
            .collect::<Vec<_>>()
    };
    // The text is that of the frames, and has the answer unless the runner contradicts itself.
    let end = frames.iter().rfind(|frame| frame["type"] == "session_ended").unwrap();
    let deltas = |kind: &str| of_main(kind).iter().map(|frame| text(frame, "delta")).collect::<String>();
    assert!(text(seen, "text").starts_with(&deltas("output_text_delta")), "{run}: {seen:#}");
    assert_eq!(text(seen, "thought"), deltas("reasoning_delta"), "{run}");
    assert!(bare(text(seen, "text")).contains(&bare(text(end, "final_text"))), "{run}: {end}");
    assert_eq!(text(seen, "user"), "", "{run}");
    for kinds in seen["messages"].as_object().unwrap().values() {
        let kinds = kinds.as_array().unwrap();
        assert!(kinds.iter().all(|kind| kind == &kinds[0]), "{run}: a message of two kinds");
    }
    // The answer.
    let (result, error) = (&said["end"]["result"], &said["end"]["error"]);
    match (text(end, "reason"), text(end, "error_code")) {
        ("completed", "max_output_tokens" | "context_window_exceeded") => {
            assert_eq!(result["stopReason"], "max_tokens", "{run}")
        }
        ("completed", _) => {
            assert!(["end_turn", "max_tokens", "refusal"].contains(&text(result, "stopReason")), "{run}: {result}")
        }
        ("interrupted", "stream_ended") => assert_eq!(error["code"], -32603, "{run}"),
        ("interrupted", _) => assert_eq!(result["stopReason"], "cancelled", "{run}"),
        (_, "content_filter") => assert_eq!(result["stopReason"], "refusal", "{run}"),
        (_, "error_max_turns") => assert_eq!(result["stopReason"], "max_turn_requests", "{run}"),
        (_, code) => assert_eq!((&error["code"], text(&error["data"], "code")), (&json!(-32603), code), "{run}"),
    }
    assert_eq!(said["last"]["id"], run);
    // Each call is over, with its result.
    let calls = seen["calls"].as_object().unwrap();
    for call in calls.values() {
        assert!(
            ["completed", "failed"].contains(&text(call, "status")) && !text(call, "title").is_empty(),
            "{run}: {call:#}"
        );
    }
    let mut outputs: BTreeMap<&str, String> = BTreeMap::new();
    for frame in frames {
        let call = &calls.get(text(frame, "tool_id")).unwrap_or(&Value::Null);
        let what = format!("{run}: {frame}\n{call:#}");
        match text(frame, "type") {
            "tool_started" => {
                assert_eq!((text(call, "name"), &call["rawInput"]), (text(frame, "name"), &frame["args"]), "{what}");
                assert_eq!(call["own"]["callId"], frame["call_id"], "{what}");
            }
            "tool_stdout" | "tool_stderr" => {
                outputs.entry(text(frame, "tool_id")).or_default().push_str(text(frame, "chunk"))
            }
            "tool_ended" => {
                let status = if frame["exit_code"] == 0 { "completed" } else { "failed" };
                assert_eq!(
                    (text(call, "status"), &call["rawOutput"]["exit_code"]),
                    (status, &frame["exit_code"]),
                    "{what}"
                );
                let output = outputs.remove(text(frame, "tool_id")).unwrap_or_default();
                let shown = content_of(call);
                let is_whole = output.lines().all(|line| shown.contains(line));
                assert!(is_whole || call["rawOutput"].get("omitted_bytes").is_some(), "{what}");
            }
            "tool_failed" => {
                assert_eq!(call["status"], "failed", "{what}");
                assert!(content_of(call).contains(text(frame, "error")), "{what}");
            }
            "approval_requested" => {
                let asked = seen["questions"].as_array().unwrap();
                assert!(asked.contains(&frame["approval_id"]), "{what}");
            }
            "file_changed" => {
                let added =
                    text(frame, "diff").lines().filter(|line| line.starts_with('+') && !line.starts_with("+++"));
                let all: String = calls.values().map(content_of).collect();
                assert!(added.into_iter().all(|line| all.contains(&line[1..])), "{what}");
            }
            _ => {}
        }
    }
    // Each question was answered once, by the client or because it was withdrawn.
    let questions = seen["questions"].as_array().unwrap();
    let answers: Vec<&Value> = said["answers"].as_array().unwrap().iter().collect();
    assert_eq!(answers.len(), questions.len(), "{run}: {answers:?}");
    assert!(answers.iter().all(|answer| questions.contains(&answer["id"])), "{run}: {answers:?}");
    // The plan and the figures of the run's total.
    if let Some(plan) = of_main("plan_updated").last() {
        let entries =
            plan["entries"].as_array().unwrap().iter().map(|entry| text(entry, "content")).collect::<Vec<_>>();
        let shown = seen["plan"].as_array().unwrap().iter().map(|entry| text(entry, "content")).collect::<Vec<_>>();
        assert_eq!(shown, entries, "{run}");
    }
    if let Some(total) = frames.iter().rfind(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run") {
        let last = &said["last"];
        let usage =
            if last.get("result").is_some() { &last["result"]["usage"] } else { &last["error"]["data"]["usage"] };
        for (key, figure) in [("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")] {
            assert_eq!(usage[key], total[figure], "{run}: {key}");
        }
    }
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_acp_client_reads_every_recording_as_the_turn_of_an_agent() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let said = read_with("acp.mjs", &proxy, &runs, "acp.v1");
    for (run, said) in runs.iter().zip(&said) {
        check(run, said, &frames_of(&proxy, run));
    }
    let count = |has: &dyn Fn(&Value) -> bool| said.iter().filter(|said| has(said)).count();
    let has_call =
        |said: &Value, has: &dyn Fn(&Value) -> bool| said["seen"]["calls"].as_object().unwrap().values().any(has);
    let diff = |call: &Value| call["content"].as_array().into_iter().flatten().any(|item| item["type"] == "diff");
    assert!(count(&|said| said["seen"]["questions"][0].is_string()) > 5);
    assert!(count(&|said| has_call(said, &diff)) > 5);
    assert!(count(&|said| has_call(said, &|call| call["own"].get("parentToolCallId").is_some())) > 2);
    assert!(
        count(&|said| said["seen"]["plan"].is_array()) > 2 && count(&|said| said["seen"]["model"].is_string()) > 50
    );
    assert!(
        count(&|said| said["seen"]["notices"] != 0) > 5
            && count(&|said| !text(&said["seen"], "thought").is_empty()) > 5
    );
}
