//! `sse.v1` for whole recordings.

use crate::support::*;
use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;

fn sse(recording: &str) -> Vec<serde_json::Value> {
    let bytes = std::fs::read(fixtures_dir("claude-code").join(recording)).unwrap();
    events(runner("claude-code").unwrap(), contract("sse.v1").unwrap(), &bytes)
}

#[test]
fn a_rejected_call_has_no_result() {
    let events = sse("control_permission.partial.ndjson");
    let kinds: Vec<&str> =
        events.iter().map(|event| event["type"].as_str().unwrap()).filter(|kind| kind.starts_with("tool_")).collect();
    assert_eq!(
        kinds,
        ["tool_call_proposed", "tool_call_approved", "tool_result", "tool_call_proposed", "tool_call_rejected"]
    );
    assert_eq!(events.last().unwrap()["type"], "run_completed");
}

#[test]
fn a_call_without_an_approval_has_only_a_result() {
    let events = sse("permission_denied.partial.ndjson");
    assert!(events.iter().all(|event| event["type"] != "tool_call_proposed"));
    assert!(events.iter().any(|event| event["type"] == "tool_result" && event["payload"]["success"] == false));
}
