//! The manifest of Claude Code's recordings.

use super::{Facts, Reader, number};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "claude-code", read, least: [90, 100, 0], least_costs: 60, is_by_list };

/// The runner computes its cost from the list prices. Other recordings have a cost that is not that of their tokens: web searches cost extra;
/// a response that broke off is not billed; two runs of a process report the cost of both.
fn is_by_list(name: &str) -> bool {
    let others = ["web_search", "websearch", "api_stream_error_midway.", "subagent_background."];
    !others.iter().any(|other| name.contains(other))
}

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    let recordings = manifest["recordings"].as_object().unwrap();
    recordings.iter().map(|(name, recording)| (name.clone(), facts(name, &recording["facts"]))).collect()
}

fn facts(name: &str, said: &Value) -> Facts {
    let mut facts = Facts::new();
    // The manifest does not list the tools that the provider runs itself, and the result alone has no calls.
    let has_all_calls = !name.contains("web_search") && !name.contains("websearch");
    if has_all_calls {
        let calls = said["tool_calls"].as_array().unwrap().iter();
        let (calls, failed) = match name {
            "json_output.json" => (0, 0),
            _ => (calls.len(), calls.filter(|call| call["outcome"] != "success").count()),
        };
        facts.extend([("tool_calls", Some(calls as f64)), ("failed_tool_calls", Some(failed as f64))]);
    }
    // The scripted calls are what the runner reported, unless the checks say that it reported something else.
    let checks = said["usage_checks"].as_object().unwrap();
    let is_reported = said["n_results"].as_u64().is_some_and(|results| results > 0)
        && checks.len() == 2
        && checks.values().all(|check| *check == true)
        // The second run of this recording reports calls of the first one again.
        && !name.starts_with("subagent_background");
    if is_reported {
        let usage = &said["usage_all_scripted"];
        let keys = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
        let tokens = keys.map(|key| number(&usage[key]));
        let is_nothing = tokens.iter().all(|tokens| *tokens == Some(0.0));
        let names = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"];
        facts.extend(names.into_iter().zip(tokens.map(|tokens| tokens.filter(|_| !is_nothing))));
    }
    facts
}
