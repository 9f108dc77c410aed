//! The manifest of Qwen Code's recordings.

use super::{Facts, Reader, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "qwen-code", read, least: [90, 60, 0], least_costs: 60, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |_, recording| facts(recording))
}

fn facts(recording: &Value) -> Facts {
    let mut facts = Facts::new();
    let said = &recording["facts"];
    if recording["surface"] == "session file" {
        return facts;
    }
    // The total of a session that began with this recording.
    let total = &said["usage_reported"];
    if total.is_object() && said["usage_reported_covers"] == "this run" {
        // Without a figure of its provider, the runner writes zeros and no total.
        let has_usage = total.get("total_tokens").is_some();
        let figure = |key: &str| number(&total[key]).filter(|_| has_usage);
        let cached = figure("cache_read_input_tokens");
        facts.extend([
            ("input_tokens", figure("input_tokens").map(|input| input - cached.unwrap_or_default())),
            ("output_tokens", figure("output_tokens")),
            ("cache_read_tokens", cached),
        ]);
    }
    facts.insert("cost_usd", None);
    if said["child_tools"].as_array().is_some_and(Vec::is_empty)
        && let (Some(tools), Some(incomplete)) = (said["tools"].as_array(), said["tools_incomplete"].as_array())
        && incomplete.is_empty()
    {
        facts.insert("tool_calls", Some(tools.len() as f64));
    }
    facts
}
