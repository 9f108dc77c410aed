//! The rules of `agent-manager.v1` for the stream of one run, as the document states them.

use super::vocabulary::{Mutation, Vocabulary, each_of, is_kind};
use serde_json::json;

pub const VOCABULARIES: &[Vocabulary] = &[
    // "Sequential order within the run (0-indexed)".
    Vocabulary {
        contract: "agent-manager.v1",
        type_key: "eventType",
        run: "runId",
        constant: &[],
        number: Some("sequence"),
        id: "id",
        first: &[],
        is_last: |event| {
            let status = event["data"]["newStatus"].as_str().unwrap_or_default();
            event["eventType"] == "status" && ["complete", "failed", "cancelled"].contains(&status)
        },
        filler: "message",
        // "Emitted after a tool execution": a result follows its call. A call may lack a result, because the client may have to
        // run it.
        pairs: &[],
        text: None,
        names_kind: true,
        is_of_run: |_| true,
        alias: None,
        nth_id: |at| format!("00000000-0000-5000-8000-{at:012x}"),
        other_run: "00000000-0000-5000-8000-00000000ffff",
        other_constant: "00000000-0000-5000-8000-00000000ffff",
        has_sorted_ids: false,
        id_twice: &["id.repeat"],
        has_log: false,
    },
];

#[test]
fn a_result_follows_its_call() {
    each_of(&VOCABULARIES[0], "a result without its call", |vocabulary, events| {
        let mut events = events.to_vec();
        let at = events.iter().position(|event| is_kind(vocabulary, event, "tool_result"))?;
        events[at]["data"]["toolName"] = json!("never called");
        Some(Mutation { events, at: at as u64 + 1, rules: &["pair.not_open"], pointer: "/data/toolName".to_owned() })
    });
}
