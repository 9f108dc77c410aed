//! The packages `@ag-ui/core` and `@ag-ui/client` read every recording of every runner in `ag-ui.v1`, at a pinned version.

use crate::proxy::Proxy;
use crate::recorded_runs::{frames_of, ingest_all, read_with};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap()
}

fn of_role<'s>(said: &'s Value, role: &'s str) -> impl Iterator<Item = &'s Value> {
    list(said, "messages").iter().filter(move |message| message["role"] == role)
}

/// The text of the messages with a role, of the main thread.
fn text_of(said: &Value, role: &str) -> String {
    let main = of_role(said, role).filter(|message| message.get("subagentRunId").is_none());
    main.filter_map(|message| message["content"].as_str()).collect()
}

/// Compares the client's messages and state with the run's frames.
fn check(run: &str, said: &Value, frames: &[Value]) {
    let complaints = [&said["refused"], &said["invalid"], &said["warnings"]];
    assert_eq!(complaints, [&Value::Null, &json!([]), &json!([])], "{run}");
    let types: Vec<&str> = list(said, "types").iter().map(|kind| kind.as_str().unwrap()).collect();
    assert_eq!((types[0], types.iter().filter(|kind| **kind == "RUN_STARTED").count()), ("RUN_STARTED", 1), "{run}");
    let end = frames.iter().rfind(|frame| frame["type"] == "session_ended").unwrap();
    let last = &said["last"];
    let outcome = match end["reason"].as_str().unwrap() {
        "failed" => ("RUN_ERROR", None),
        "interrupted" => ("RUN_FINISHED", Some("cancelled")),
        _ => ("RUN_FINISHED", Some("success")),
    };
    assert_eq!((last["type"].as_str().unwrap(), last["outcome"]["type"].as_str()), outcome, "{run}");
    // No message has the id of another one.
    let ids: BTreeSet<&str> = list(said, "messages").iter().map(|message| message["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), list(said, "messages").len(), "{run}");
    // The texts are those of the frames, each once; the answer is the last of them, unless the runner contradicts itself.
    let main = |kind: &str| -> String {
        let of_kind = frames.iter().filter(|frame| frame["type"] == kind && frame["parent_tool_id"].is_null());
        of_kind.filter_map(|frame| frame["delta"].as_str()).collect()
    };
    let said_text = text_of(said, "assistant");
    let answer = end["final_text"].as_str().unwrap_or_default();
    assert!(bare(&said_text).contains(&bare(answer)), "{run}: {answer:?} is not in {said_text:?}");
    assert!(bare(&said_text).len() >= bare(&main("output_text_delta")).len(), "{run}");
    assert_eq!(text_of(said, "reasoning").len(), main("reasoning_delta").len(), "{run}");
    // Each call has its arguments, and a result unless it is the client's.
    let calls: Vec<&Value> =
        of_role(said, "assistant").filter_map(|message| message["toolCalls"].as_array()).flatten().collect();
    let pending = last["outcome"]["pendingToolCallIds"].as_array().map(Vec::as_slice).unwrap_or_default();
    for call in &calls {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let results = of_role(said, "tool").filter(|message| message["toolCallId"] == call["id"]);
        let results: Vec<&Value> = results.collect();
        assert_eq!(results.len(), usize::from(!pending.contains(&call["id"])), "{run}: {call}");
        let is_cut = results.iter().any(|result| !result["metadata"]["failure"].is_null());
        // A tool that takes free text has no JSON.
        let is_of_call = |frame: &&Value| frame["tool_id"] == call["id"] && !frame["args"].is_null();
        let is_text = frames.iter().find(is_of_call).is_some_and(|frame| frame["args"] == arguments);
        assert!(is_cut || is_text || serde_json::from_str::<Value>(arguments).is_ok(), "{run}: {call}");
    }
    for frame in frames.iter().filter(|frame| frame["type"] == "tool_ended" || frame["type"] == "tool_failed") {
        assert_eq!(calls.iter().filter(|call| call["id"] == frame["tool_id"]).count(), 1, "{run}: {frame}");
        let result = of_role(said, "tool").find(|result| result["toolCallId"] == frame["tool_id"]).unwrap();
        let exit_code = result["metadata"].get("exitCode").unwrap_or(&Value::Null);
        assert_eq!(exit_code, &frame["exit_code"], "{run}: {frame}");
    }
    // Live output is a part of the result.
    for activity in of_role(said, "activity").filter(|message| message["activityType"] == "TOOL_OUTPUT") {
        let result = of_role(said, "tool").find(|result| result["toolCallId"] == activity["content"]["toolCallId"]);
        let content = result.map(|result| result["content"].as_str().unwrap()).unwrap_or_default();
        for piece in list(&activity["content"], "output") {
            let text = piece["text"].as_str().unwrap();
            assert!(
                result.is_none_or(|result| !result["metadata"]["failure"].is_null()) || content.contains(text),
                "{run}"
            );
        }
    }
    // Each subagent has a start and an end.
    let count = |kinds: &[&str]| {
        list(said, "subagents").iter().filter(|event| kinds.contains(&event["type"].as_str().unwrap())).count()
    };
    let started = frames.iter().filter(|frame| frame["type"] == "subagent_started").count();
    assert_eq!(count(&["SUBAGENT_STARTED"]), started, "{run}");
    assert_eq!(count(&["SUBAGENT_FINISHED", "SUBAGENT_ERROR"]), started, "{run}");
    // The last plan is the state.
    let is_plan = |frame: &&Value| frame["type"] == "plan_updated" && frame["parent_tool_id"].is_null();
    if let Some(plan) = frames.iter().rfind(is_plan) {
        let contents = |entries: &Value| -> Vec<Value> {
            entries.as_array().unwrap().iter().map(|entry| entry["content"].clone()).collect()
        };
        assert_eq!(contents(&said["state"]["plan"]), contents(&plan["entries"]), "{run}");
    }
    let approvals = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).count();
    for kind in ["approval_requested", "approval_resolved"] {
        let found = list(said, "custom").iter().filter(|custom| custom["name"] == kind).count();
        assert_eq!(found, approvals(kind), "{run}: {kind}");
    }
    // The figures of the run's total.
    let total = frames.iter().rfind(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run");
    if let Some(total) = total {
        let usage = &last["usage"][0];
        let of = |key: &str| total[key].as_u64().unwrap_or_default();
        let input = of("input_tokens") + of("cache_read_tokens") + of("cache_creation_tokens");
        assert_eq!((&usage["inputTokens"], &usage["outputTokens"]), (&json!(input), &total["output_tokens"]), "{run}");
    }
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_ag_ui_reads_every_recording_and_keeps_nothing_open() {
    let proxy = Proxy::start();
    let runs = ingest_all(&proxy);
    let said = read_with("ag_ui.mjs", &proxy, &runs, "ag-ui.v1");
    for (run, said) in runs.iter().zip(&said) {
        check(run, said, &frames_of(&proxy, run));
    }
    // A client keeps the messages of several runs: none may have the id of another run's. A message that is one call has the call's
    // id; some recordings are of the same call.
    let mut ids = BTreeSet::new();
    for message in said.iter().flat_map(|said| list(said, "messages")) {
        let is_call = message["toolCalls"][0]["id"] == message["id"];
        assert!(is_call || ids.insert(message["id"].as_str().unwrap()), "{message}");
    }
    for role in ["assistant", "reasoning", "tool", "activity", "user"] {
        assert!(said.iter().any(|said| of_role(said, role).next().is_some()), "no run has a message of {role}");
    }
    let types: BTreeSet<&str> =
        said.iter().flat_map(|said| list(said, "types")).map(|kind| kind.as_str().unwrap()).collect();
    assert!(types.len() > 22, "{types:?}");
}
