//! The manifest of Codex's recordings.

use super::{Facts, Reader, ends, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "codex", read, least: [70, 60, 80], least_costs: 20, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |name, recording| facts(name, &recording["facts"]))
}

fn facts(name: &str, said: &Value) -> Facts {
    let mut facts = Facts::new();
    // The stream of a second process has the total of its thread.
    let usage = said.get("usage").or_else(|| said.get("usage_total"));
    // The facts about a subagent have no usage, and the run's total includes it.
    let usage = usage.filter(|_| said.get("child_items").is_none());
    // Killed between the two records of its last call, which the fact therefore counts and the stream does not.
    if let Some(usage) = usage.filter(|_| name != "rollout-exec-sigkill.jsonl") {
        let keys = ["cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens"];
        let [cached, written, output, reasoning] = keys.map(|key| number(&usage[key]));
        // The runner counts cached tokens as input.
        let input =
            number(&usage["input_tokens"]).map(|all| all - cached.unwrap_or_default() - written.unwrap_or_default());
        // All zeros mean that the runner got no figures.
        let is_nothing = number(&usage["input_tokens"]) == Some(0.0) && output == Some(0.0);
        let names = ["input_tokens", "cache_read_tokens", "cache_creation_tokens", "output_tokens", "reasoning_tokens"];
        let tokens = [input, cached, written, output, reasoning].map(|tokens| tokens.filter(|_| !is_nothing));
        facts.extend(names.into_iter().zip(tokens));
    }
    if let Some(calls) = said.get("tool_calls").filter(|_| said.get("child_items").is_none()) {
        let calls: Vec<&Value> = calls.as_array().unwrap().iter().filter(|call| is_call(call)).collect();
        let failed = calls.iter().filter(|call| has_failed(call)).count();
        facts.extend([("tool_calls", Some(calls.len() as f64)), ("failed_tool_calls", Some(failed as f64))]);
    }
    facts.extend(outcomes(name, said));
    facts
}

/// Whether an item is a call; a plan is not.
fn is_call(item: &Value) -> bool {
    let kinds = [
        "command_execution",
        "file_change",
        "mcp_tool_call",
        "dynamic_tool_call",
        "collab_tool_call",
        "web_search",
        "image_view",
    ];
    kinds.iter().any(|kind| item["kind"] == *kind)
}

fn has_failed(call: &Value) -> bool {
    ["failed", "declined", "in_progress"].iter().any(|status| call["status"] == *status)
        || call["exit_code"].as_i64().is_some_and(|code| code != 0)
        || call["success"] == false
}

fn outcomes(name: &str, said: &Value) -> Facts {
    let texts = |key: &str| -> Vec<&str> {
        said[key].as_array().into_iter().flatten().map(|text| text.as_str().unwrap()).collect()
    };
    if said.get("turn_statuses").is_some() {
        return ends(texts("turn_statuses"));
    }
    if said.get("turn_ends").is_some() {
        // The end of the parent's turn closes the copied history, which is in the parent's own file.
        let copied = usize::from(name == "rollout-exec-subagent-v2-child.jsonl");
        let turn_ends = texts("turn_ends");
        let outcomes: Vec<&str> = turn_ends[copied..]
            .iter()
            .map(|end| match *end {
                "task_complete" => "completed",
                "task_complete+error" => "failed",
                "turn_aborted" => "interrupted",
                other => panic!("{name}: {other}"),
            })
            .collect();
        return ends(if outcomes.is_empty() { vec!["interrupted"] } else { outcomes });
    }
    match said["terminal"].as_str() {
        None => Facts::new(),
        Some(_) if said["turns"] != 1 => Facts::new(),
        Some("completed") => ends(["completed"]),
        // The answer reached its limit.
        Some("failed") if name == "exec-incomplete.ndjson" => ends(["completed"]),
        Some("failed") => ends(["failed"]),
        Some(_) => ends(["interrupted"]),
    }
}
