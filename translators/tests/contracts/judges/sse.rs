//! `spec/sse-v1.md`.

use super::{has_keys, is_utc_time, runs, text};
use std::collections::HashSet;

#[test]
fn every_run_follows_the_document() {
    let mut seen = HashSet::new();
    for run in runs("sse.v1", &["run_id"]) {
        let what = &run.what;
        let mut last_id = String::new();
        let mut waiting: HashSet<String> = HashSet::new();
        let mut said = String::new();
        let session = text(&run.events[0], "session_id");
        for (at, event) in run.events.iter().enumerate() {
            // "Event Envelope (required)"
            has_keys(what, event, &["event_id", "session_id", "run_id", "type", "ts", "payload"]);
            assert_eq!(text(event, "session_id"), session, "{what}: immutable for stream lifetime");
            let event_id = text(event, "event_id");
            assert!(event_id > last_id, "{what}: {event_id} does not sort after {last_id}: monotonic within a run");
            last_id = event_id;
            assert!(is_utc_time(&text(event, "ts")), "{what}: {event}");
            let kind = text(event, "type");
            let payload = &event["payload"];
            let (first, last) = (at == 0, at == run.events.len() - 1);
            // "`run_started` is first event"; "Exactly one terminal event"
            assert_eq!(kind == "run_started", first, "{what}: {event}");
            let is_terminal = ["run_completed", "run_failed", "run_interrupted"].contains(&kind.as_str());
            assert_eq!(is_terminal, last, "{what}: {event}");
            match kind.as_str() {
                "run_started" => {
                    has_keys(what, payload, &["status"]);
                    assert_eq!(payload["status"], "running");
                }
                "assistant_delta" => {
                    has_keys(what, payload, &["text"]);
                    said.push_str(&text(payload, "text"));
                }
                // "A write tool call requires approval."
                "tool_call_proposed" => {
                    has_keys(what, payload, &["approval_id", "tool_name", "args"]);
                    assert!(payload["args"].is_object() && !text(payload, "tool_name").is_empty(), "{what}: {event}");
                    assert!(waiting.insert(text(payload, "approval_id")), "{what}: asked twice: {event}");
                }
                "tool_call_approved" => {
                    has_keys(what, payload, &["approval_id"]);
                    assert!(
                        waiting.remove(&text(payload, "approval_id")),
                        "{what}: no approval was requested: {event}"
                    );
                }
                "tool_call_rejected" => {
                    has_keys(what, payload, &["approval_id", "reason"]);
                    assert!(
                        waiting.remove(&text(payload, "approval_id")),
                        "{what}: no approval was requested: {event}"
                    );
                }
                "tool_result" => {
                    has_keys(what, payload, &["tool_name", "success", "result"]);
                    assert!(payload["success"].is_boolean() && payload["result"].is_string(), "{what}: {event}");
                }
                "run_interrupted" => {
                    has_keys(what, payload, &["status"]);
                    assert_eq!(payload["status"], "interrupted");
                }
                "run_completed" => {
                    // An answer that reached a limit names the limit.
                    match payload.get("error_code") {
                        Some(code) => {
                            has_keys(what, payload, &["status", "final_text", "error_code", "message"]);
                            assert!(code.as_str().is_some_and(|code| !code.is_empty()), "{what}: {event}");
                        }
                        None => has_keys(what, payload, &["status", "final_text"]),
                    }
                    assert_eq!(payload["status"], "completed");
                    // The final text was streamed before, unless the runner streamed no text or contradicts itself.
                    let last_text = text(payload, "final_text");
                    // Or says it as the argument of a call.
                    let contradicts = [
                        "scripted__out-of-order.sse",
                        "scripted__terminal-text-differs.sse",
                        "subagent.subagent1.jsonl",
                    ];
                    assert!(
                        said.is_empty()
                            || said.contains(&last_text)
                            || contradicts.iter().any(|name| what.contains(name)),
                        "{what}: {last_text:?} was not said"
                    );
                }
                "run_failed" => {
                    has_keys(what, payload, &["status", "error_code", "message"]);
                    assert_eq!(payload["status"], "failed");
                    assert!(!text(payload, "error_code").is_empty() && payload["message"].is_string());
                }
                other => panic!("{what}: {other} is not a type of the document"),
            }
            seen.insert(kind);
        }
        assert!(waiting.is_empty(), "{what}: {waiting:?} still wait at the end");
    }
    assert_eq!(seen.len(), 9, "the recordings show every type: {seen:?}");
}
