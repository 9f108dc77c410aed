//! The manifest of OpenCode's recordings.

use super::{Facts, Reader, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "opencode", read, least: [55, 60, 0], least_costs: 0, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |_, recording| facts(&recording["facts"]))
}

fn facts(said: &Value) -> Facts {
    let mut facts = Facts::new();
    // Recordings of several sessions have facts for each of them.
    if ["child", "by_session", "sessions"].iter().any(|key| said.get(*key).is_some()) {
        return facts;
    }
    // A run without a step reports nothing.
    let has_usage = said["usage_sum"].is_object() && said["steps"] != 0;
    let figure = |key: &str| number(&said["usage_sum"][key]).filter(|_| has_usage);
    // The runner counts reasoning in addition to the output.
    let output = figure("output").map(|output| output + figure("reasoning").unwrap_or_default());
    facts.extend([
        ("input_tokens", figure("input")),
        ("output_tokens", output),
        ("reasoning_tokens", figure("reasoning")),
        ("cache_read_tokens", figure("cache_read")),
        ("cache_creation_tokens", figure("cache_write")),
        ("cost_usd", number(&said["cost"]).filter(|_| has_usage)),
    ]);
    let calls = said["tools"].as_array().unwrap().iter().filter(|tool| tool["visible"] != false);
    facts.insert("tool_calls", Some(calls.count() as f64));
    facts
}
