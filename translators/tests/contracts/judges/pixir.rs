//! `spec/pixir.md`.

use super::{counts_from_0, has_keys, is_utc_time, runs, text};
use std::collections::HashSet;

const CANONICAL: [&str; 12] = [
    "user_message",
    "assistant_message",
    "reasoning",
    "skill_activation",
    "subagent_event",
    "session_fork",
    "branch_summary",
    "history_compaction",
    "provider_usage",
    "tool_call",
    "tool_result",
    "permission_decision",
];
const EPHEMERAL: [&str; 5] = ["text_delta", "reasoning_delta", "status", "plan", "context_pressure"];

#[test]
fn every_session_follows_the_document() {
    let mut seen = HashSet::new();
    for run in runs("pixir.v1", &["session_id"]) {
        let what = &run.what;
        let (mut ids, mut open, mut closed) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut streamed = String::new();
        // "a per-Session monotonic seq", on canonical events only
        counts_from_0(what, run.events.iter().filter_map(|event| event["seq"].as_u64()));
        for (at, event) in run.events.iter().enumerate() {
            has_keys(what, event, &["id", "session_id", "seq", "ts", "type", "data"]);
            assert!(ids.insert(text(event, "id")), "{what}: an id twice: {event}");
            assert!(is_utc_time(&text(event, "ts")), "{what}: {event}");
            let kind = text(event, "type");
            let data = &event["data"];
            assert!(data.is_object(), "{what}: {event}");
            assert_eq!(CANONICAL.contains(&&*kind), event["seq"].is_u64(), "{what}: {event}");
            assert_eq!(EPHEMERAL.contains(&&*kind), event["seq"].is_null(), "{what}: {event}");
            let last = at == run.events.len() - 1;
            let is_end = kind == "status" && ["done", "error", "interrupted"].contains(&&*text(data, "status"));
            assert_eq!(is_end, last, "{what}: {event}");
            match kind.as_str() {
                "text_delta" => streamed.push_str(&text(data, "chunk")),
                // "the persisted form of streamed text"
                "assistant_message" => {
                    let whole = text(data, "text");
                    assert!(streamed.is_empty() || whole == streamed, "{what}: {streamed:?} became {whole:?}");
                    streamed.clear();
                }
                // "args is the model-supplied argument map"
                "tool_call" => {
                    assert!(data["args"].is_object() && data["name"].is_string(), "{what}: {event}");
                    assert!(open.insert(text(data, "call_id")), "{what}: a call twice: {event}");
                }
                // "carries "ok" plus either "output" or a structured "error""
                "tool_result" => {
                    let call = text(data, "call_id");
                    assert!(open.remove(&call), "{what}: a result without its call: {event}");
                    closed.insert(call);
                    let ok = data["ok"].as_bool().unwrap();
                    assert_eq!(data.get("output").is_some(), ok, "{what}: {event}");
                    assert_eq!(data.get("error").is_some_and(serde_json::Value::is_object), !ok, "{what}: {event}");
                }
                // "each entry is a string-keyed content, priority, status"
                "plan" => {
                    for entry in data["entries"].as_array().unwrap() {
                        let status = text(entry, "status");
                        assert!(["pending", "in_progress", "completed"].contains(&status.as_str()), "{what}: {event}");
                        assert!(["high", "medium", "low"].contains(&&*text(entry, "priority")), "{what}: {event}");
                    }
                }
                // "raw image bytes or base64 payloads must never be placed in the Log"
                "user_message" => {
                    for resource in data["resources"].as_array().into_iter().flatten() {
                        assert!(resource.to_string().len() < 1000, "{what}: {resource}");
                    }
                }
                "reasoning" => assert!(data["item"].is_object(), "{what}: {event}"),
                _ => {}
            }
            seen.insert(kind);
        }
        assert!(open.is_empty(), "{what}: calls without a result: {open:?}");
        // The log alone contains everything that was said, unless the run broke off in the middle of a text.
        let end = text(&run.events.last().unwrap()["data"], "status");
        assert!(streamed.is_empty() || end != "done", "{what}: {streamed:?} is in no message");
    }
    for kind in
        ["text_delta", "assistant_message", "tool_call", "tool_result", "permission_decision", "plan", "reasoning"]
    {
        assert!(seen.contains(kind), "no recording shows {kind}");
    }
}
