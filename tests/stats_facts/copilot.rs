//! The manifest of GitHub Copilot CLI's recordings.

use super::{Facts, Reader, ends, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "copilot", read, least: [15, 60, 60], least_costs: 8, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |name, recording| facts(name, &recording["facts"]))
}

fn facts(name: &str, said: &Value) -> Facts {
    // A file with earlier prompts has facts of the last one only.
    if said["note"].as_str().is_some_and(|note| note.contains("last prompt only")) {
        return Facts::new();
    }
    let outcome = match said["terminal"].as_str().unwrap() {
        "error" => "failed",
        other => other,
    };
    let mut facts = ends([outcome]);
    // The stream has no tokens for a provider of one's own, and a run without a complete call has none either.
    let is_session_file = name.ends_with(".session.jsonl");
    let figure = |key: &str| number(&said["usage_sum"][key]).filter(|_| is_session_file);
    let has_usage = ["input", "output"].iter().any(|key| figure(key).is_some_and(|tokens| tokens > 0.0));
    let figure = |key: &str| figure(key).filter(|_| has_usage);
    let output = figure("output").map(|output| output + figure("reasoning").unwrap_or_default());
    facts.extend([
        ("input_tokens", figure("input")),
        ("output_tokens", output),
        ("reasoning_tokens", figure("reasoning")),
        ("cache_read_tokens", figure("cache_read")),
        ("cache_creation_tokens", figure("cache_write")),
        ("cost_usd", None),
    ]);
    if said["child_tools"].as_array().is_none_or(Vec::is_empty) {
        facts.insert("tool_calls", Some(said["tools"].as_array().unwrap().len() as f64));
    }
    facts
}
