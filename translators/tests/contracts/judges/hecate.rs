//! `spec/hecate-v1.md`.

use super::{counts_from_0, has_keys, is_utc_time, runs, text};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// A prefix and a ULID: 26 characters of Crockford's base 32.
fn is_ulid(id: &str, prefix: &str) -> bool {
    id.strip_prefix(prefix).is_some_and(|digits| {
        digits.len() == 26 && digits.bytes().all(|byte| b"0123456789ABCDEFGHJKMNPQRSTVWXYZ".contains(&byte))
    })
}

const TERMINAL: [&str; 3] = ["run.finished", "run.failed", "run.cancelled"];
const TOOL_TERMINAL: [&str; 4] = ["tool.completed", "tool.failed", "tool.cancelled", "tool.timed_out"];

#[test]
fn every_run_follows_the_document() {
    let mut seen = HashSet::new();
    for run in runs("hecate.v1", &["run_id"]) {
        envelopes(&run.what, &run.events);
        tools(&run.what, &run.events);
        texts(&run.what, &run.events);
        seen.extend(run.events.iter().map(|event| text(event, "type")));
    }
    assert!(seen.len() > 25, "{seen:?}");
}

fn envelopes(what: &str, events: &[Value]) {
    let keys =
        ["schema_version", "event_id", "run_id", "task_id", "session_id", "sequence", "occurred_at", "type", "data"];
    // "Within a single `run_id`, `sequence` is gap-free and strictly increasing." "Starts at 0."
    counts_from_0(what, events.iter().map(|event| event["sequence"].as_u64().unwrap()));
    let mut last_id = String::new();
    let (mut last_cost, mut waiting, mut proposed) = (0, HashSet::new(), HashSet::new());
    for (at, event) in events.iter().enumerate() {
        has_keys(what, event, &keys);
        assert_eq!(event["schema_version"], "1", "{what}");
        for (key, prefix) in [("event_id", "evt_"), ("run_id", "run_"), ("task_id", "task_"), ("session_id", "chat_")] {
            assert!(is_ulid(&text(event, key), prefix), "{what}: {key}: {event}");
        }
        for key in ["task_id", "session_id"] {
            assert_eq!(event[key], events[0][key], "{what}: {event}");
        }
        // "Sortable by creation."
        let event_id = text(event, "event_id");
        assert!(event_id > last_id, "{what}: {event_id} does not sort after {last_id}");
        last_id = event_id;
        assert!(is_utc_time(&text(event, "occurred_at")), "{what}: {event}");
        // "Always an object, never null."
        assert!(event["data"].is_object(), "{what}: {event}");
        // "Dotted name. Always lowercase, snake_case segments."
        let kind = text(event, "type");
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        assert!(kind.contains('.') && kind.split('.').all(is_word), "{what}: {kind}");
        let last = at == events.len() - 1;
        assert_eq!(TERMINAL.contains(&kind.as_str()), last, "{what}: {event}");
        let is_first = ["run.queued", "run.started", "run.resumed_from_event"].contains(&kind.as_str());
        assert_eq!(is_first, at == 0, "{what}: {event}");
        let data = &event["data"];
        match kind.as_str() {
            // "The runtime emits a request, pauses the run, and waits for resolution"
            "approval.requested" => {
                assert!(waiting.insert(text(data, "approval_id")), "{what}: {event}");
                assert!(proposed.contains(&text(data, "tool_call_id")), "{what}: asked before it is proposed: {event}");
            }
            "assistant.tool_call_proposed" | "tool.invoked" => drop(proposed.insert(text(data, "tool_call_id"))),
            "approval.resolved" | "approval.timed_out" => {
                assert!(waiting.remove(&text(data, "approval_id")), "{what}: {event}");
            }
            // "Token + USD totals as they accrue."
            "cost.tick" => {
                let cost = data["cumulative_cost_micros_usd"].as_u64().unwrap_or(last_cost);
                assert!(cost >= last_cost, "{what}: the total goes down: {event}");
                last_cost = cost;
            }
            _ => {}
        }
    }
    assert!(waiting.is_empty(), "{what}: {waiting:?} still wait at the end");
}

/// "`tool.invoked` and the terminal … are emitted for every tool kind."
fn tools(what: &str, events: &[Value]) {
    let (mut open, mut over): (HashMap<String, String>, HashSet<String>) = (HashMap::new(), HashSet::new());
    let mut output: HashMap<(String, String), u64> = HashMap::new();
    for event in events {
        let (kind, data) = (text(event, "type"), &event["data"]);
        if !kind.starts_with("tool.") {
            continue;
        }
        // "Every tool event carries a `tool_call_id`"
        let call = text(data, "tool_call_id");
        match kind.as_str() {
            "tool.invoked" => {
                assert!(!over.contains(&call), "{what}: again after its end: {event}");
                assert!(open.insert(call, text(data, "tool_name")).is_none(), "{what}: invoked twice: {event}");
            }
            kind if TOOL_TERMINAL.contains(&kind) => {
                assert_eq!(open.remove(&call), Some(text(data, "tool_name")), "{what}: {event}");
                over.insert(call);
            }
            "tool.shell.output_chunk" => {
                assert!(open.contains_key(&call), "{what}: {event}");
                let stream = text(data, "stream");
                assert!(["stdout", "stderr"].contains(&stream.as_str()), "{what}: {event}");
                let offset = output.entry((call, stream)).or_default();
                // A piece that belongs to the front says so, and has the offset of the front.
                let due = if data["position"] == "front" { 0 } else { *offset };
                assert_eq!(data["byte_offset"].as_u64(), Some(due), "{what}: {event}");
                *offset += text(data, "data").len() as u64;
            }
            "tool.shell.exited" => {
                for stream in ["stdout", "stderr"] {
                    // If the runtime truncated the output, it counts more bytes than it sent.
                    let sent = output.get(&(call.clone(), stream.to_owned())).copied().unwrap_or_default();
                    let actual = data[format!("{stream}_bytes")].as_u64();
                    assert!(actual.is_none_or(|actual| actual >= sent), "{what}: {event}");
                }
            }
            _ => assert!(open.contains_key(&call), "{what}: outside its call: {event}"),
        }
    }
    assert!(open.is_empty(), "{what}: {open:?} have no end");
}

/// "The full text is `concat(deltas)`."
fn texts(what: &str, events: &[Value]) {
    let mut said: HashMap<String, String> = HashMap::new();
    let (mut turns, mut open) = (HashSet::new(), HashSet::new());
    for event in events {
        let (kind, data) = (text(event, "type"), &event["data"]);
        let block = format!("{} {}", data["turn_index"], data["block_index"]);
        match kind.as_str() {
            "turn.started" => {
                assert!(turns.insert(data["turn_index"].as_u64().unwrap()), "{what}: twice: {event}");
                open.insert(data["turn_index"].as_u64().unwrap());
            }
            // A turn has one end.
            "turn.completed" | "turn.failed" => {
                assert!(open.remove(&data["turn_index"].as_u64().unwrap()), "{what}: no such turn: {event}");
            }
            "assistant.text_delta" => said.entry(block).or_default().push_str(&text(data, "delta")),
            "assistant.text_complete" => {
                assert_eq!(said.remove(&block).unwrap_or_default(), text(data, "text"), "{what}: {event}");
            }
            // "gate them behind config and keep them hidden by default"
            kind if kind.starts_with("assistant.thinking_") || kind.starts_with("artifact.") => {
                panic!("{what}: experimental without a request: {event}")
            }
            _ => {}
        }
    }
    assert!(said.is_empty(), "{what}: texts that are not completed: {said:?}");
}
