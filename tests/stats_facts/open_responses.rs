//! The manifest of recordings of servers of the Responses API.

use super::{Facts, Reader, ends, number, of_recordings};
use serde_json::Value;

pub(super) const READER: Reader =
    Reader { runner: "open-responses", read, least: [60, 0, 100], least_costs: 0, is_by_list: |_| false };

fn read(manifest: &Value) -> Vec<(String, Facts)> {
    of_recordings(manifest, |name, recording| facts(name, &recording["facts"]))
}

fn facts(name: &str, said: &Value) -> Facts {
    let mut facts = Facts::new();
    // The facts leave out the cut event, which is response.completed.
    if name == "scripted__no-final-blank-line.sse" {
        return facts;
    }
    let usage = &said["usage"];
    let either = |name: &str, chat: &str| number(&usage[name]).or_else(|| number(&usage[chat]));
    let cached = number(&usage["input_tokens_details"]["cached_tokens"]);
    let input = either("input_tokens", "prompt_tokens").map(|all| all - cached.unwrap_or_default());
    facts.extend([
        ("input_tokens", input),
        ("output_tokens", either("output_tokens", "completion_tokens")),
        ("cache_read_tokens", cached),
        ("reasoning_tokens", number(&usage["output_tokens_details"]["reasoning_tokens"])),
    ]);
    // Other bodies have no response.
    if !["scripted__chat-chunks.sse", "scripted__empty-body.sse"].contains(&name) {
        let has_error = said["error_events"].is_array() || name == "scripted__http-error-json.sse";
        facts.extend(match said["terminal_status"].as_str() {
            Some("completed") => ends(["completed"]),
            Some("failed") => ends(["failed"]),
            Some("incomplete") if said["incomplete_details"]["reason"] == "content_filter" => ends(["failed"]),
            Some("incomplete") => ends(["completed"]),
            None if has_error => ends(["failed"]),
            None => ends(["interrupted"]),
            Some(other) => panic!("{name}: {other}"),
        });
    }
    facts
}
