//! The `openai` package reads every recording of every runner in `chat-completions.v1`, at a pinned version.

use crate::proxy::Proxy;
use crate::recorded_runs::{frames_of, ingest_all, read_with};
use serde_json::Value;
use std::collections::BTreeSet;

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The number of lines about tools and questions in the field for reasoning, and the rest of it.
fn progress_and_reasoning(field: &str, frames: &[Value]) -> (usize, String) {
    let started = frames.iter().filter(|frame| frame["type"] == "tool_started");
    let named = started.chain(frames.iter().filter(|frame| frame["type"] == "approval_requested"));
    let names: BTreeSet<&str> =
        named.filter_map(|frame| frame.get("name").or(frame.get("tool_name"))?.as_str()).collect();
    let is_line = |block: &&str| {
        let is_of = |name: &&str| {
            let rest = block.strip_prefix(if name.is_empty() { "tool" } else { *name });
            rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with(" waits for approval "))
        };
        names.iter().any(is_of) || block.starts_with("Approval ")
    };
    let blocks: Vec<&str> = field.split("\n\n").collect();
    let lines = blocks.iter().copied().filter(|block| is_line(block)).count();
    (lines, blocks.into_iter().filter(|block| !is_line(block)).collect())
}

/// Compares the completion of a run with the run's frames.
fn check(run: &str, read: &Value, frames: &[Value]) {
    let end = frames.iter().rfind(|frame| frame["type"] == "session_ended").unwrap();
    let deltas = |kind: &str| -> String {
        let of_main = |frame: &&Value| frame["type"] == kind && frame.get("parent_tool_id").is_none_or(Value::is_null);
        frames.iter().filter(of_main).map(|frame| frame["delta"].as_str().unwrap()).collect()
    };
    let (text, answer) = (deltas("output_text_delta"), end["final_text"].as_str().unwrap_or_default());
    let content = bare(read["content"].as_str().unwrap());
    assert!(content.starts_with(&bare(&text)) && content.contains(&bare(answer)), "{run}: {content}");
    let (lines, reasoning) = progress_and_reasoning(read["reasoning"].as_str().unwrap(), frames);
    assert_eq!(bare(&reasoning), bare(&deltas("reasoning_delta")), "{run}");
    let kinds = ["tool_started", "approval_requested", "approval_resolved"];
    let is_shown = |frame: &&Value| {
        let is_main = frame["type"] != "tool_started" || frame["parent_tool_id"].is_null();
        kinds.iter().any(|kind| frame["type"] == *kind) && is_main
    };
    assert_eq!(lines, frames.iter().filter(is_shown).count(), "{run}: {}", read["reasoning"]);
    let total = frames.iter().rfind(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run");
    if let Some(total) = total {
        let figure = |key: &str| total[key].as_u64().unwrap_or_default();
        let prompt = figure("input_tokens") + figure("cache_read_tokens") + figure("cache_creation_tokens");
        let expected = (Some(prompt), Some(figure("output_tokens")));
        let usage = &read["usage"];
        assert_eq!((usage["prompt_tokens"].as_u64(), usage["completion_tokens"].as_u64()), expected, "{run}");
    }
    if end["reason"] == "completed" {
        assert_eq!(read["error"], Value::Null, "{run}");
        let choice = &read["completion"]["choices"][0];
        let reason = choice["finish_reason"].as_str().unwrap();
        assert!(["stop", "length"].contains(&reason), "{run}: {reason}");
        assert_eq!(choice["message"]["role"], "assistant");
        // The package has null for an empty text.
        assert_eq!(choice["message"]["content"].as_str().unwrap_or_default(), read["content"].as_str().unwrap());
    } else if read["completion"]["choices"][0]["finish_reason"] != "content_filter" {
        assert!(read["error"]["message"].is_string(), "{run}: {read:#}");
    }
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_openai_reads_every_recording_as_a_chat_completion() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let read = read_with("chat_completions.mjs", &proxy, &runs, "chat-completions.v1");
    for (run, read) in runs.iter().zip(&read) {
        check(run, read, &frames_of(&proxy, run));
    }
    let reasons = |is: fn(&Value) -> bool| read.iter().filter(|read| is(read)).count();
    assert!(reasons(|read| read["error"].is_null()) > 100 && reasons(|read| !read["error"].is_null()) > 10);
}
