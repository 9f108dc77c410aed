//! The `openai` package reads every recording of every runner in `open-responses.v1`, at a pinned version.

use crate::proxy::Proxy;
use crate::recorded_runs::{frames_of, ingest_all, read_with};
use serde_json::{Value, json};

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

fn items<'r>(response: &'r Value, kind: &'r str) -> impl Iterator<Item = &'r Value> {
    response["output"].as_array().unwrap().iter().filter(move |item| item["type"] == kind)
}

fn texts(response: &Value) -> String {
    items(response, "message").map(|item| item["content"][0]["text"].as_str().unwrap()).collect()
}

/// The type and the status of a run's last event.
fn ending(end: &Value) -> (&'static str, &'static str) {
    let limits = ["max_output_tokens", "context_window_exceeded"];
    match (end["reason"].as_str().unwrap(), end["error_code"].as_str().unwrap_or_default()) {
        (_, "content_filter") | ("interrupted", _) => ("response.incomplete", "incomplete"),
        ("completed", code) if limits.contains(&code) => ("response.incomplete", "incomplete"),
        ("completed", _) => ("response.completed", "completed"),
        _ => ("response.failed", "failed"),
    }
}

/// Compares the calls and questions of a response with the run's frames.
fn check_tools(run: &str, response: &Value, frames: &[Value]) {
    let of = |kind: &'static str| frames.iter().filter(move |frame| frame["type"] == kind);
    let calls: Vec<&Value> = items(response, "mcp_call").collect();
    for frame in of("tool_started").chain(of("tool_call_proposed")) {
        assert!(calls.iter().any(|call| call["call_id"] == frame["call_id"]), "{run}: {frame}\n{response:#}");
    }
    for frame in of("tool_ended").chain(of("tool_failed")) {
        let found: Vec<_> = calls.iter().filter(|call| call["call_id"] == frame["call_id"]).collect();
        assert_eq!(found.len(), 1, "{run}: {frame}\n{response:#}");
        let failed = frame["type"] == "tool_failed" || frame["exit_code"] != 0;
        let (status, error) = (&found[0]["status"], &found[0]["error"]["content"][0]["text"]);
        assert_eq!((*status == "failed", error.is_string()), (failed, failed), "{run}: {frame}\n{response:#}");
        if frame["type"] == "tool_failed" {
            assert!(error.as_str().unwrap().contains(frame["error"].as_str().unwrap()), "{run}: {frame}");
        }
        let output =
            of("tool_stdout").filter(|piece| piece["call_id"] == frame["call_id"] && piece["position"].is_null());
        let said: String = output.map(|piece| piece["chunk"].as_str().unwrap()).collect();
        let has = found[0]["output"].as_str().unwrap_or_default();
        assert!(has.contains(&said) || said.len() > 1 << 20, "{run}: {said:?} is not in {has:?}");
    }
    let ids = |kind, key: &str| items(response, kind).map(|item| item[key].clone()).collect::<Vec<_>>();
    let asked: Vec<Value> = of("approval_requested").map(|frame| frame["approval_id"].clone()).collect();
    assert_eq!(ids("mcp_approval_request", "approval_id"), asked, "{run}");
    let decided: Vec<Value> = of("approval_resolved").map(|frame| json!(frame["decision"] == "approved")).collect();
    assert_eq!(ids("mcp_approval_response", "approve"), decided, "{run}");
}

/// Compares the response of a run with the run's frames.
fn check(run: &str, read: &Value, frames: &[Value]) {
    assert_eq!(read["error"], Value::Null, "{run}");
    let types: Vec<&str> = read["types"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
    assert_eq!(types[..2], ["response.created", "response.in_progress"], "{run}");
    assert!(types.iter().all(|kind| !kind.contains("function_call")), "{run}");
    let end = frames.iter().rfind(|frame| frame["type"] == "session_ended").unwrap();
    let (kind, status) = ending(end);
    let terminal = &read["terminal"];
    assert_eq!((*types.last().unwrap(), terminal["status"].as_str().unwrap()), (kind, status), "{run}");
    // Every item was announced, and the terminal event repeats it.
    assert_eq!(terminal["output"], read["done"], "{run}");
    let count = |kind: &str| types.iter().filter(|other| **other == kind).count();
    assert_eq!(count("response.output_item.added"), read["done"].as_array().unwrap().len(), "{run}");
    // What the package folds: the terminal event of a completed run, otherwise what it added up itself.
    let folded = &read["final"];
    assert_eq!(folded["id"], terminal["id"], "{run}");
    assert_eq!(texts(folded), texts(terminal), "{run}");
    assert_eq!(read["text"].as_str().unwrap(), texts(terminal), "{run}");
    if kind == "response.completed" {
        assert_eq!((&folded["output"], &folded["status"]), (&terminal["output"], &json!("completed")), "{run}");
    }
    // The answer and the reasoning are those of the frames.
    let deltas = |kind: &str| -> String {
        let of_main = |frame: &&Value| frame["type"] == kind && frame.get("parent_tool_id").is_none_or(Value::is_null);
        frames.iter().filter(of_main).map(|frame| frame["delta"].as_str().unwrap()).collect()
    };
    let (text, answer) = (texts(terminal), end["final_text"].as_str().unwrap_or_default());
    assert!(bare(&text).starts_with(&bare(&deltas("output_text_delta"))), "{run}: {text}");
    assert!(bare(&text).contains(&bare(answer)), "{run}: {answer:?} is not in {text:?}");
    let thought: String =
        items(terminal, "reasoning").map(|item| item["summary"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(
        (thought.as_str(), read["reasoning"].as_str().unwrap()),
        (deltas("reasoning_delta").as_str(), thought.as_str()),
        "{run}"
    );
    check_tools(run, terminal, frames);
    let total = frames.iter().rfind(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run");
    let Some(total) = total else { return assert_eq!(terminal["usage"], Value::Null, "{run}") };
    let figure = |key: &str| total[key].as_u64().unwrap_or_default();
    let input = figure("input_tokens") + figure("cache_read_tokens") + figure("cache_creation_tokens");
    let usage = &terminal["usage"];
    let expected = (Some(input), Some(figure("output_tokens")), Some(figure("cache_read_tokens")));
    let cached = usage["input_tokens_details"]["cached_tokens"].as_u64();
    assert_eq!((usage["input_tokens"].as_u64(), usage["output_tokens"].as_u64(), cached), expected, "{run}");
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_openai_reads_every_recording_as_a_response() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let read = read_with("open_responses.mjs", &proxy, &runs, "open-responses.v1");
    for (run, read) in runs.iter().zip(&read) {
        check(run, read, &frames_of(&proxy, run));
    }
    for kind in ["message", "reasoning", "mcp_call", "mcp_approval_request", "mcp_approval_response"] {
        assert!(read.iter().any(|read| items(&read["terminal"], kind).next().is_some()), "no response has a {kind}");
    }
    for status in ["completed", "incomplete", "failed"] {
        assert!(read.iter().any(|read| read["terminal"]["status"] == status), "no response is {status}");
    }
}
