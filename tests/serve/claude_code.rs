//! The Claude Agent SDKs read every recording of every runner in `claude-code.v1`, at pinned versions.

use crate::proxy::Proxy;
use crate::recorded_runs::{Client, frames_of, ingest_all, read_by};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CONTRACT: &str = "claude-code.v1&experimental=1";

/// What one of the SDKs says about a run, in the same words for both.
#[derive(Debug, Default)]
struct Said {
    texts: Vec<String>,
    /// The calls: name, and the result with whether it is an error.
    calls: BTreeMap<String, (String, Option<(String, bool)>)>,
    results: Vec<Value>,
    asked: Vec<Value>,
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().into_iter().flatten()
}

impl Said {
    fn block(&mut self, block: &Value, in_main_thread: bool) {
        if block["tool_use_id"].is_string() {
            let result = (text(block, "content").to_owned(), block["is_error"] == true);
            self.calls.entry(text(block, "tool_use_id").to_owned()).or_default().1 = Some(result);
        } else if block["name"].is_string() {
            self.calls.entry(text(block, "id").to_owned()).or_default().0 = text(block, "name").to_owned();
        } else if block["text"].is_string() && in_main_thread {
            self.texts.push(text(block, "text").to_owned());
        }
    }

    fn of_node(said: &Value) -> Self {
        let mut this = Self { asked: list(said, "asked").cloned().collect(), ..Self::default() };
        for message in list(said, "messages") {
            let is_error = message["message"]["model"] == "<synthetic>";
            let in_main_thread = message["parent_tool_use_id"].is_null() && message["type"] == "assistant" && !is_error;
            list(&message["message"], "content").for_each(|block| this.block(block, in_main_thread));
            if message["type"] == "result" {
                this.results.push(message.clone());
            }
        }
        this
    }

    fn of_python(said: &Value) -> Self {
        let mut this = Self { asked: list(said, "asked").cloned().collect(), ..Self::default() };
        for message in list(said, "messages") {
            let is_error = message["model"] == "<synthetic>";
            let is_text = message["kind"] == "AssistantMessage" && message["parent_tool_use_id"].is_null() && !is_error;
            list(message, "content").for_each(|block| this.block(block, is_text));
            if message["kind"] == "ResultMessage" {
                this.results.push(message.clone());
            }
        }
        this
    }

    /// Compares a run with its frames.
    fn check(&self, run: &str, frames: &[Value]) {
        let of = |kind: &'static str| frames.iter().filter(move |frame| frame["type"] == kind);
        let end = of("session_ended").next().unwrap();
        let texts: Vec<&str> = of("output_text_completed")
            .filter(|frame| frame["parent_tool_id"].is_null())
            .map(|frame| text(frame, "text"))
            .filter(|text| !text.is_empty())
            .collect();
        assert_eq!(self.texts, texts, "{run}");
        for frame in of("tool_call_proposed").chain(of("tool_started")) {
            assert_eq!(self.calls[text(frame, "call_id")].0, text(frame, "name"), "{run}: {frame}");
        }
        for frame in of("tool_ended").chain(of("tool_failed")) {
            let (content, is_error) = self.calls[text(frame, "call_id")].1.as_ref().unwrap();
            let failed = frame["type"] == "tool_failed" || frame["exit_code"] != 0;
            assert_eq!(*is_error, failed, "{run}: {frame}");
            assert!(frame["type"] == "tool_ended" || content.ends_with(text(frame, "error")), "{run}: {frame}");
        }
        for frame in of("tool_stdout") {
            let (content, _) = self.calls[text(frame, "call_id")].1.as_ref().unwrap();
            assert!(content.contains(text(frame, "chunk")), "{run}: {frame}: {content:?}");
        }
        assert_eq!(self.asked.len(), of("approval_requested").count(), "{run}");
        let [result] = &*self.results else { panic!("{run}: {:#?}", self.results) };
        assert_eq!(result["is_error"], end["reason"] != "completed", "{run}: {result:#}");
        match text(end, "reason") {
            "completed" => assert_eq!(text(result, "result"), text(end, "final_text"), "{run}"),
            "interrupted" => assert_eq!(result["subtype"], "error_during_execution", "{run}"),
            _ if result["subtype"] == "success" => assert_eq!(result["result"], end["message"], "{run}"),
            _ => assert_eq!(result["errors"], json!([end["message"]]), "{run}"),
        }
        let total = frames.iter().rfind(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run");
        let table = result.get("modelUsage").or(result.get("model_usage")).unwrap();
        let sum = |key: &str| {
            table.as_object().into_iter().flatten().map(|(_, figures)| figures[key].as_u64().unwrap()).sum::<u64>()
        };
        for (key, figure) in [("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")] {
            assert!(total.is_none_or(|total| total[figure] == sum(key)), "{run}: {figure} in {table:#}");
        }
    }
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_claude_agent_sdk_reads_every_recording() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let all = read_by(Client::Node, "claude_code.mjs", &proxy, &runs, CONTRACT);
    for (run, said) in runs.iter().zip(&all) {
        assert_eq!((&said["status"], &said["errors"]), (&json!(200), &json!([])), "{run}");
        let this = Said::of_node(said);
        this.check(run, &frames_of(&proxy, run));
        // The streamed messages have the same texts.
        let mut streamed = Vec::new();
        for message in list(said, "streamed") {
            assert_eq!(message["stopped"], true, "{run}: {message:#}");
            let blocks = list(message, "content").map(|block| text(block, "text").to_owned());
            streamed.extend(blocks.filter(|text| !text.is_empty()));
            for block in list(message, "content").filter(|block| block["type"] == "tool_use") {
                let input = serde_json::from_str::<Value>(text(block, "json"));
                let is_abandoned = this.calls.get(text(block, "id")).is_none_or(|call| call.1.is_none());
                assert!(input.is_ok() || is_abandoned, "{run}: {block}");
            }
        }
        streamed.sort_unstable();
        let mut texts = this.texts.clone();
        texts.sort_unstable();
        assert_eq!(streamed, texts, "{run}");
    }
    assert!(all.iter().any(|said| !Said::of_node(said).asked.is_empty()));
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_claude_agent_sdk_reads_every_recording() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let all = read_by(Client::Python, "claude_code_client.py", &proxy, &runs, CONTRACT);
    for (run, said) in runs.iter().zip(&all) {
        let this = Said::of_python(said);
        this.check(run, &frames_of(&proxy, run));
        // The package reports a failed run as an error after its result.
        let failed = this.results[0]["is_error"] == true;
        assert!(failed || said["errors"] == json!([]), "{run}: {:#}", said["errors"]);
    }
    assert!(all.iter().any(|said| said["streamed"].as_u64().unwrap() > 3));
}
