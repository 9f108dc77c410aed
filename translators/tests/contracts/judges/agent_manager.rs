//! `spec/agent-manager.md`.

use super::{counts_from_0, has_keys, is_utc_time, is_uuid, runs, text};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Checks that `data` has the required fields and only known optional ones, each with its type.
fn is_data(what: &str, data: &Value, required: &[(&str, char)], optional: &[(&str, char)]) {
    for (key, value) in data.as_object().unwrap() {
        let known = required.iter().chain(optional).find(|(name, _)| name == key);
        let (_, kind) = known.unwrap_or_else(|| panic!("{what}: the document has no {key}: {data}"));
        let fits = match kind {
            's' => value.is_string(),
            'n' => value.is_u64(),
            'f' => value.is_number(),
            'b' => value.is_boolean(),
            _ => value.is_object(),
        };
        assert!(fits, "{what}: {key} is {value}");
    }
    for (key, _) in required {
        assert!(data.get(key).is_some(), "{what}: no {key}: {data}");
    }
}

#[test]
fn every_run_follows_the_document() {
    let (mut seen, mut ids) = (HashSet::new(), HashSet::new());
    for run in runs("agent-manager.v1", &["runId"]) {
        let what = &run.what;
        counts_from_0(what, run.events.iter().map(|event| event["sequence"].as_u64().unwrap()));
        let mut calls: HashMap<String, i64> = HashMap::new();
        let mut status: Option<String> = None;
        for (at, event) in run.events.iter().enumerate() {
            has_keys(what, event, &["id", "runId", "sequence", "eventType", "timestamp", "data"]);
            assert!(is_uuid(&text(event, "id")) && is_uuid(&text(event, "runId")), "{what}: {event}");
            assert!(ids.insert((what.clone(), text(event, "id"))), "{what}: unique event identifier: {event}");
            assert!(is_utc_time(&text(event, "timestamp")), "{what}: {event}");
            let data = &event["data"];
            let kind = text(event, "eventType");
            let last = at == run.events.len() - 1;
            match kind.as_str() {
                "tool_call" => {
                    is_data(what, data, &[("toolName", 's'), ("input", 'o')], &[]);
                    *calls.entry(text(data, "toolName")).or_default() += 1;
                }
                "tool_result" => {
                    let optional = [("toolCallId", 's'), ("output", 's'), ("error", 's')];
                    is_data(what, data, &[("toolName", 's'), ("success", 'b')], &optional);
                    let open = calls.entry(text(data, "toolName")).or_default();
                    *open -= 1;
                    assert!(*open >= 0, "{what}: a result without a call: {event}");
                    // "Error message on failure": a successful result has none.
                    assert!(data["success"] == false || data.get("error").is_none(), "{what}: {event}");
                }
                "message" => {
                    is_data(what, data, &[("role", 's'), ("content", 's')], &[]);
                    assert!(["user", "assistant", "system"].contains(&&*text(data, "role")), "{what}: {event}");
                }
                "metric" => is_data(
                    what,
                    data,
                    &[("inputTokens", 'n'), ("outputTokens", 'n'), ("totalCostUsd", 'f')],
                    &[("cacheReadTokens", 'n'), ("cacheCreationTokens", 'n'), ("model", 's')],
                ),
                "status" => {
                    is_data(what, data, &[("oldStatus", 's'), ("newStatus", 's')], &[("reason", 's')]);
                    let (old, new) = (text(data, "oldStatus"), text(data, "newStatus"));
                    assert!(status.is_none_or(|status| status == old), "{what}: {event}");
                    let is_end = ["complete", "failed", "cancelled"].contains(&new.as_str());
                    assert_eq!(is_end, last, "{what}: {event}");
                    status = Some(new);
                }
                "log" => {
                    is_data(what, data, &[("level", 's'), ("message", 's')], &[]);
                    assert!(["debug", "info", "warn", "error"].contains(&&*text(data, "level")), "{what}: {event}");
                }
                "error" => {
                    is_data(what, data, &[("code", 's'), ("message", 's'), ("retryable", 'b')], &[]);
                    assert!(!text(data, "code").is_empty(), "{what}: machine-readable: {event}");
                }
                other => panic!("{what}: {other} is not a type of the document"),
            }
            assert!(!last || kind == "status", "{what}: the last event is {kind}");
            seen.insert(kind);
        }
    }
    assert_eq!(seen.len(), 7, "the recordings show every type: {seen:?}");
}
