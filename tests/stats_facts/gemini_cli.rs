//! The manifest of Gemini CLI's recordings.

use super::{Facts, Reader, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "gemini-cli", read, least: [60, 60, 0], least_costs: 40, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |_, recording| facts(recording))
}

fn facts(recording: &Value) -> Facts {
    let mut facts = Facts::new();
    let said = &recording["facts"];
    facts.insert("cost_usd", None);
    if recording["surface"] != "stream-json" {
        return facts;
    }
    let reported = &said["usage_reported"];
    let figure = |key: &str| number(&reported[key]).filter(|_| number(&reported["total_tokens"]) > Some(0.0));
    let thoughts = figure("total_tokens")
        .map(|total| total - figure("input_tokens").unwrap_or_default() - figure("output_tokens").unwrap_or_default());
    facts.extend([
        ("input_tokens", figure("input")),
        ("output_tokens", figure("output_tokens").map(|output| output + thoughts.unwrap_or_default())),
        ("reasoning_tokens", thoughts),
        ("cache_read_tokens", figure("cached")),
    ]);
    // The calls of subagents are counted too, and are not on the stream.
    let has_children =
        said["tools"].as_array().is_some_and(|tools| tools.iter().any(|call| call["tool"] == "invoke_agent"));
    if let Some(calls) = number(&said["tool_calls_reported"]).filter(|_| !has_children) {
        facts.insert("tool_calls", Some(calls));
    }
    facts
}
