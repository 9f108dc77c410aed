//! The manifest of pi's recordings.

use super::{Facts, Reader, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "pi", read, least: [60, 60, 0], least_costs: 0, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |_, recording| facts(recording))
}

fn facts(recording: &Value) -> Facts {
    let mut facts = Facts::new();
    let said = &recording["facts"];
    if recording["surface"] == "session file" {
        return facts;
    }
    // A summary of the history is a call of a model too, and is not in these sums.
    let sum = &said["usage_reported"];
    let has_usage = ["input", "output"].iter().any(|key| number(&sum[*key]) > Some(0.0));
    if sum.is_object() && has_usage && said.get("usage_compaction").is_none() {
        facts.extend([
            ("input_tokens", number(&sum["input"])),
            ("output_tokens", number(&sum["output"])),
            ("cache_read_tokens", number(&sum["cache_read"])),
            ("cache_creation_tokens", number(&sum["cache_write"])),
        ]);
    }
    if let (Some(tools), Some(incomplete)) = (said["tools"].as_array(), said["tools_incomplete"].as_array())
        && incomplete.is_empty()
    {
        facts.insert("tool_calls", Some(tools.len() as f64));
    }
    facts
}
