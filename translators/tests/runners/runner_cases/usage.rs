//! Usage: one total for each run, including subagents, equal in every contract; and cumulative totals that continue in the next
//! input of a session.

use super::{data, events_of};
use framegate_translators::frame::{Body, Figures, Frame, UsageScope};
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::Memory;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// The usage of a run in each contract: input and output tokens, with cached tokens included in the input.
fn totals(runner_name: &str, records: &[Value]) -> Vec<(&'static str, u64, u64)> {
    let manager = events_of(runner_name, "agent-manager.v1", records);
    let sum = |key: &str| {
        data(&manager, "eventType", "metric", "data").iter().map(|metric| number(&metric[key])).sum::<u64>()
    };
    let pixir = events_of(runner_name, "pixir.v1", records);
    let calls = data(&pixir, "type", "provider_usage", "data");
    let pixir_sum = |key: &str| calls.iter().map(|call| number(&call["usage_summary"][key])).sum::<u64>();
    let hecate = events_of(runner_name, "hecate.v1", records);
    let ticks = data(&hecate, "type", "cost.tick", "data");
    let last = ticks.last().unwrap();
    let last_of = |contract: &str, pointer: &str| {
        let events = events_of(runner_name, contract, records);
        events.iter().rev().find_map(|event| event.pointer(pointer).cloned()).unwrap()
    };
    let completion = last_of("chat-completions.v1", "/usage");
    let response = last_of("open-responses.v1", "/response/usage");
    let message = last_of("ui-message-stream.v1", "/messageMetadata/usage");
    let ag_ui = last_of("ag-ui.v1", "/usage/0");
    let acp = events_of(runner_name, "acp.v1", records);
    let acp = acp.last().and_then(|last| last.pointer("/result/usage").or(last.pointer("/error/data/usage"))).unwrap();
    let frames = events_of(runner_name, "frames.v2", records);
    let runs: Vec<_> =
        frames.iter().filter(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run").collect();
    assert_eq!(runs.len(), 1, "one total: {runs:#?}");
    let cached = |value: &Value| number(&value["cache_read_tokens"]) + number(&value["cache_creation_tokens"]);
    vec![
        ("frames.v2", number(&runs[0]["input_tokens"]) + cached(runs[0]), number(&runs[0]["output_tokens"])),
        (
            "agent-manager.v1",
            sum("inputTokens") + sum("cacheReadTokens") + sum("cacheCreationTokens"),
            sum("outputTokens"),
        ),
        (
            "pixir.v1",
            pixir_sum("input_tokens") + pixir_sum("cache_read_tokens") + pixir_sum("cache_creation_tokens"),
            pixir_sum("output_tokens"),
        ),
        ("chat-completions.v1", number(&completion["prompt_tokens"]), number(&completion["completion_tokens"])),
        ("open-responses.v1", number(&response["input_tokens"]), number(&response["output_tokens"])),
        (
            "ui-message-stream.v1",
            ["inputTokens", "cacheReadTokens", "cacheCreationTokens"].iter().map(|key| number(&message[*key])).sum(),
            number(&message["outputTokens"]),
        ),
        ("ag-ui.v1", number(&ag_ui["inputTokens"]), number(&ag_ui["outputTokens"])),
        (
            "acp.v1",
            ["inputTokens", "cachedReadTokens", "cachedWriteTokens"].iter().map(|key| number(&acp[*key])).sum(),
            number(&acp["outputTokens"]),
        ),
        ("hecate.v1", number(&last["cumulative_input_tokens"]), number(&last["cumulative_output_tokens"])),
    ]
}

fn assert_totals(runner: &str, records: &[Value], input: u64, output: u64) {
    for (contract, told_input, told_output) in totals(runner, records) {
        assert_eq!((told_input, told_output), (input, output), "{runner} in {contract}");
    }
}

/// The part of the main thread, from the frames.
fn main_part(runner: &str, records: &[Value]) -> (u64, u64) {
    let frames = events_of(runner, "frames.v2", records);
    let run = frames.iter().find(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run").unwrap();
    (number(&run["main_thread"]["input_tokens"]), number(&run["main_thread"]["output_tokens"]))
}

fn codex_note(method: &str, thread: &str, params: Value) -> Value {
    let mut params = params;
    params["threadId"] = json!(thread);
    json!({"method": method, "params": params, "emittedAtMs": 1})
}

fn codex_usage(thread: &str, calls: u64) -> Value {
    let tokens = |calls: u64| json!({"inputTokens": 100 * calls, "cachedInputTokens": 0, "outputTokens": 20 * calls});
    codex_note("thread/tokenUsage/updated", thread, json!({"tokenUsage": {"total": tokens(calls), "last": tokens(1)}}))
}

#[test]
fn usage_of_codex_subagents_is_counted_once() {
    let turn = |id: &str, status: &str| json!({"turn": {"id": id, "rootTurnId": "u", "items": [], "status": status}});
    let spawn = |status: &str, receivers: Value| {
        json!({"turnId": "u", "item": {"type": "collabAgentToolCall", "id": "c", "tool": "spawnAgent", "status": status,
            "receiverThreadIds": receivers, "prompt": "p", "agentsStates": {}}})
    };
    let records = [
        codex_note("turn/started", "t", turn("u", "inProgress")),
        codex_usage("t", 1),
        codex_note("item/started", "t", spawn("inProgress", json!([]))),
        codex_note("item/completed", "t", spawn("completed", json!(["kid"]))),
        codex_note("turn/started", "kid", turn("k", "inProgress")),
        codex_usage("kid", 1),
        codex_usage("kid", 2),
        codex_note("turn/completed", "kid", turn("k", "completed")),
        codex_usage("t", 2),
        codex_usage("t", 3),
        codex_note("turn/completed", "t", turn("u", "completed")),
    ];
    assert_totals("codex", &records, 500, 100);
    assert_eq!(main_part("codex", &records), (300, 60));
}

#[test]
fn usage_of_claude_subagents_is_counted_like_the_cost() {
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "Done.",
        "usage": {"input_tokens": 280, "output_tokens": 94},
        "modelUsage": {"m": {"inputTokens": 380, "outputTokens": 136, "costUSD": 0.01}}, "total_cost_usd": 0.01});
    let text = json!({"type": "assistant", "session_id": "s", "message": {"id": "a", "model": "m",
        "content": [{"type": "text", "text": "Done."}]}});
    let init = json!({"type": "system", "subtype": "init", "session_id": "s"});
    let records = [init, text, result];
    assert_totals("claude-code", &records, 380, 136);
    assert_eq!(main_part("claude-code", &records), (280, 94));
}

#[test]
fn a_claude_run_without_a_table_uses_its_reported_usage() {
    let records = [
        json!({"type": "system", "subtype": "init", "session_id": "s"}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "Done.",
            "usage": {"input_tokens": 10, "output_tokens": 4, "cache_read_input_tokens": 5}, "total_cost_usd": 0.5}),
    ];
    assert_totals("claude-code", &records, 15, 4);
}

#[test]
fn usage_of_opencode_children_is_counted() {
    let event = |kind: &str, properties: Value| json!({"id": "e", "type": kind, "properties": properties});
    let step = |session: &str, message: &str, nth: u64, cost: f64| {
        let part = |kind: Value| event("message.part.updated", json!({"sessionID": session, "part": kind, "time": 1}));
        let info =
            json!({"id": message, "sessionID": session, "role": "assistant", "modelID": "m", "time": {"created": 1}});
        vec![
            event("message.updated", json!({"sessionID": session, "info": info})),
            part(
                json!({"id": format!("{message}s{nth}"), "messageID": message, "sessionID": session, "type": "step-start"}),
            ),
            part(
                json!({"id": format!("{message}f{nth}"), "messageID": message, "sessionID": session, "type": "step-finish",
                "reason": "tool-calls", "cost": cost, "tokens": {"input": 100, "output": 15, "reasoning": 5, "total": 120,
                "cache": {"read": 0, "write": 0}}}),
            ),
        ]
    };
    for cost in [0.0, 0.25] {
        let mut records = vec![
            event("session.created", json!({"sessionID": "r", "info": {"id": "r"}})),
            event("session.status", json!({"sessionID": "r", "status": {"type": "busy"}})),
        ];
        records.extend((0..3).flat_map(|nth| step("r", "m", nth, cost)));
        records.push(event("session.created", json!({"sessionID": "k", "info": {"id": "k", "parentID": "r"}})));
        records.extend((0..2).flat_map(|nth| step("k", "n", nth, cost)));
        records.push(event("session.idle", json!({"sessionID": "k"})));
        records.push(event("session.idle", json!({"sessionID": "r"})));
        records.push(event("session.idle", json!({"sessionID": "r"})));
        assert_totals("opencode", &records, 500, 100);
        assert_eq!(main_part("opencode", &records), (300, 60));
    }
}

#[test]
fn a_response_uses_its_reported_usage() {
    let records = [
        json!({"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress"}}),
        json!({"type": "response.completed", "response": {"id": "r", "object": "response", "status": "completed", "output": [],
            "usage": {"input_tokens": 100, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 40}}}}),
    ];
    assert_totals("open-responses", &records, 100, 20);
    assert_eq!(main_part("open-responses", &records), (60, 20));
}

/// Remembers totals between the inputs of a session, as the proxy does.
#[derive(Default)]
struct SessionTotals(Mutex<HashMap<Uuid, Vec<Figures>>>);

impl Memory for SessionTotals {
    fn totals(&self, session: Uuid) -> Vec<Figures> {
        self.0.lock().unwrap().get(&session).cloned().unwrap_or_default()
    }
}

/// The totals of the runs in an input. The memory contains them afterwards.
fn ingest(kept: &Arc<SessionTotals>, runner_name: &str, records: &[Value]) -> Vec<(u64, u64, Option<f64>)> {
    let identity = Identity { run_id: Uuid::from_u128(7), session_id: None };
    let mut ingest =
        Ingest::new(runner(runner_name).unwrap(), None, Limits::default(), identity).remembering(kept.clone());
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let mut frames: Vec<Frame> = ingest.feed(lines.join("\n").as_bytes(), 1).collect();
    frames.extend(ingest.finish(1));
    let mut totals = Vec::new();
    for frame in &frames {
        let Body::UsageReported(usage) = &frame.body else { continue };
        if let Some(running) = &usage.running {
            kept.0.lock().unwrap().entry(frame.stream.session.id).or_default().push((**running).clone());
        }
        if usage.scope == UsageScope::Run {
            totals.push((usage.input_tokens, usage.output_tokens, usage.cost_usd));
        }
    }
    totals
}

fn exec(thread: &str, input: u64, output: u64) -> Vec<Value> {
    vec![
        json!({"type": "thread.started", "thread_id": thread}),
        json!({"type": "turn.started"}),
        json!({"type": "turn.completed", "usage": {"input_tokens": input, "cached_input_tokens": 0, "output_tokens": output}}),
    ]
}

#[test]
fn a_resumed_codex_thread_counts_each_turn_once() {
    let kept = Arc::new(SessionTotals::default());
    assert_eq!(ingest(&kept, "codex", &exec("t", 100, 10)), [(100, 10, None)]);
    assert_eq!(ingest(&kept, "codex", &exec("other", 50, 5)), [(50, 5, None)], "another thread");
    assert_eq!(ingest(&kept, "codex", &exec("t", 710, 71)), [(610, 61, None)]);
    assert_eq!(ingest(&kept, "codex", &exec("other", 80, 8)), [(30, 3, None)]);
    assert_eq!(ingest(&kept, "codex", &exec("t", 720, 72)), [(10, 1, None)]);
    // The same inputs again.
    assert_eq!(ingest(&kept, "codex", &exec("t", 710, 71)), [(610, 61, None)]);
    assert_eq!(ingest(&kept, "codex", &exec("t", 100, 10)), [(100, 10, None)]);
    // The runner has restarted its counters.
    assert_eq!(ingest(&kept, "codex", &exec("t", 5, 1)), [(5, 1, None)]);
    // A single input with all of them yields the same.
    let all = [exec("u", 100, 10), exec("u", 710, 71), exec("u", 720, 72)].concat();
    assert_eq!(ingest(&kept, "codex", &all), [(100, 10, None), (610, 61, None), (10, 1, None)]);
}

#[test]
fn a_resumed_claude_session_counts_each_run_once() {
    let run = |main: (u64, u64), total: (u64, u64, f64)| {
        vec![
            json!({"type": "system", "subtype": "init", "session_id": "s"}),
            json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "x",
                "usage": {"input_tokens": main.0, "output_tokens": main.1},
                "modelUsage": {"m": {"inputTokens": total.0, "outputTokens": total.1, "costUSD": total.2}},
                "total_cost_usd": total.2}),
        ]
    };
    let kept = Arc::new(SessionTotals::default());
    assert_eq!(ingest(&kept, "claude-code", &run((100, 10), (100, 10, 1.0))), [(100, 10, Some(1.0))]);
    assert_eq!(
        ingest(&kept, "claude-code", &run((60, 6), (180, 18, 1.5))),
        [(80, 8, Some(0.5))],
        "a subagent among it"
    );
    // A version that counts from zero in each process.
    assert_eq!(ingest(&kept, "claude-code", &run((70, 7), (70, 7, 2.0))), [(70, 7, Some(2.0))]);
}

#[test]
fn an_aborted_run_reports_its_totals() {
    let records = [
        codex_note("turn/started", "t", json!({"turn": {"id": "u", "items": [], "status": "inProgress"}})),
        codex_usage("t", 1),
        codex_usage("t", 2),
    ];
    assert_totals("codex", &records, 200, 40);
    let events = events_of("codex", "frames.v2", &records);
    assert!(events.iter().any(|frame| frame["type"] == "session_ended" && frame["reason"] == "interrupted"));
}
