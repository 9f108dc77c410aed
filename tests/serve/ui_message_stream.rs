//! The `ai` package reads every recording of every runner in `ui-message-stream.v1`, at a pinned version.

use crate::proxy::Proxy;
use crate::recorded_runs::{frames_of, ingest_all, read_with};
use serde_json::{Value, json};

fn parts<'m>(message: &'m Value, kind: &'m str) -> impl Iterator<Item = &'m Value> {
    message["parts"].as_array().unwrap().iter().filter(move |part| part["type"] == kind)
}

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Compares the message of a run with the run's frames.
fn check(run: &str, said: &Value, frames: &[Value]) {
    assert_eq!((&said["status"], &said["invalid"], &said["refused"]), (&json!(200), &json!([]), &json!([])), "{run}");
    let types: Vec<&str> = said["types"].as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect();
    assert_eq!((types[0], types.iter().filter(|kind| **kind == "start").count()), ("start", 1), "{run}");
    let message = &said["message"];
    assert_eq!((&message["id"], &message["metadata"]["runId"]), (&json!(run), &json!(run)));
    for kind in ["text", "reasoning"] {
        assert!(parts(message, kind).all(|part| part["state"] == "done"), "{run}: {message:#}");
    }
    let end = frames.iter().rfind(|frame| frame["type"] == "session_ended").unwrap();
    let last = if end["reason"] == "interrupted" { "abort" } else { "finish" };
    assert_eq!(types.last(), Some(&last), "{run}");
    let failed = usize::from(end["reason"] == "failed");
    assert_eq!(said["error_texts"].as_array().unwrap().len(), failed, "{run}");
    // The last text of the message is the answer, unless the runner contradicts itself.
    let text: String = parts(message, "text").map(|part| part["text"].as_str().unwrap()).collect();
    let answer = end["final_text"].as_str().unwrap_or_default();
    assert!(bare(&text).contains(&bare(answer)), "{run}: {answer:?} is not in {text:?}");
    // Each call is one part with a final state.
    let calls: Vec<&Value> = parts(message, "dynamic-tool").collect();
    for call in &calls {
        let is_over = match call["state"].as_str().unwrap() {
            "output-available" => call["output"]["stdout"].is_string() && call.get("preliminary").is_none(),
            "output-error" => call["errorText"].is_string(),
            "output-denied" => call["approval"]["approved"] == false,
            _ => false,
        };
        assert!(is_over && call["providerExecuted"] == true, "{run}: {call:#}");
    }
    for frame in frames.iter().filter(|frame| frame["type"] == "tool_ended" || frame["type"] == "tool_failed") {
        let found: Vec<_> = calls.iter().filter(|call| call["toolCallId"] == frame["call_id"]).collect();
        assert_eq!(found.len(), 1, "{run}: {frame}\n{message:#}");
        if frame["type"] == "tool_ended" {
            assert_eq!(found[0]["output"]["exit_code"], frame["exit_code"], "{run}: {frame}");
        }
    }
    // The figures of the run's total.
    let total = frames.iter().rfind(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run");
    if let Some(total) = total {
        let usage = &message["metadata"]["usage"];
        for (key, figure) in [("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")] {
            assert_eq!(usage[key], total[figure], "{run}: {key}");
        }
    }
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_ai_reads_every_recording_as_one_message_for_each_run() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let said = read_with("ui_message_stream.mjs", &proxy, &runs, "ui-message-stream.v1");
    for (run, said) in runs.iter().zip(&said) {
        check(run, said, &frames_of(&proxy, run));
    }
    let has = |kind: &str| said.iter().any(|said| parts(&said["message"], kind).next().is_some());
    for kind in ["text", "reasoning", "dynamic-tool", "step-start", "data-plan", "data-file-change"] {
        assert!(has(kind), "no message has a part {kind}");
    }
}
