//! The `ai` package reads every recording of every runner in `ui-message-stream.v1`, at a pinned version.

use crate::client::{get, post};
use crate::proxy::Proxy;
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Sends every recording in; returns the ids of the runs.
fn ingest_all(proxy: &Proxy) -> Vec<String> {
    let mut runs = Vec::new();
    for runner in RUNNERS {
        let folder = root().join("tests/fixtures").join(runner.name);
        let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.is_file() && !path.ends_with("MANIFEST.json"));
        files.sort();
        for file in files {
            let made =
                post(proxy.address, &format!("/v1/ingest/{}", runner.name), &[], &fs::read(file).unwrap()).json();
            let made = made["runs"].as_array().into_iter().flatten();
            runs.extend(made.map(|run| run["run_id"].as_str().unwrap().to_owned()));
        }
    }
    runs.sort();
    runs.dedup();
    runs
}

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
    assert!(runs.len() > 200, "{}", runs.len());
    let path = |run: &str, contract: &str| format!("/v1/runs/{run}/events?contract={contract}");
    let plan: Vec<Value> = runs
        .iter()
        .map(|run| json!({"run": run, "url": format!("http://{}{}", proxy.address, path(run, "ui-message-stream.v1"))}))
        .collect();
    let mut command = Command::new("node");
    command.arg(root().join("tests/clients/ui_message_stream.mjs")).arg(json!(plan).to_string());
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let output = command.env("NO_PROXY", "*").stdin(Stdio::null()).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the client failed: {}", output.status);
    let said = String::from_utf8(output.stdout).unwrap();
    let said: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.len(), runs.len());
    for (run, said) in runs.iter().zip(&said) {
        let frames = get(proxy.address, &path(run, "frames.v2"), &[]).events();
        let frames: Vec<Value> = frames.iter().map(crate::client::Event::json).collect();
        check(run, said, &frames);
    }
    let has = |kind: &str| said.iter().any(|said| parts(&said["message"], kind).next().is_some());
    for kind in ["text", "reasoning", "dynamic-tool", "step-start", "data-plan", "data-file-change"] {
        assert!(has(kind), "no message has a part {kind}");
    }
}
