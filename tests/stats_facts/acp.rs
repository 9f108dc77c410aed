//! The manifest of the recordings of ACP agents. The recordings are read without their clients' lines.

use super::{Facts, Reader, ends, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "acp", read, least: [0, 100, 100], least_costs: 0, is_by_list: |_| false };

/// Scenarios in which only the client's lines say which answer ends which run.
const WITHOUT_CLIENT: [&str; 3] = ["bad_requests", "unknown", "answer_without_reason"];

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |_, recording| facts(recording))
}

fn facts(recording: &Value) -> Facts {
    let mut facts = Facts::new();
    let scenario = recording["scenario"].as_str().unwrap();
    if WITHOUT_CLIENT.contains(&scenario) || scenario.starts_with("early_and_late") || recording["facts"]["cut"] == true
    {
        return facts;
    }
    let prompts = recording["facts"]["prompts"].as_array().unwrap();
    let outcome = |prompt: &Value| match prompt["stop_reason"].as_str() {
        Some("cancelled") => Some("interrupted"),
        Some("end_turn" | "max_tokens") => Some("completed"),
        Some(_) => None,
        None => prompt["error_contains"].is_string().then_some("failed"),
    };
    if let Some(outcomes) = prompts.iter().map(outcome).collect::<Option<Vec<_>>>() {
        facts.extend(ends(outcomes));
    }
    let tools = recording["wire"]["tools"].as_array().unwrap();
    facts.insert("tool_calls", Some(tools.len() as f64));
    facts
}
