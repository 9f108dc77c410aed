//! The rules of `hecate.v1` for the stream of one run, as the document states them.

use super::vocabulary::{Mutation, Vocabulary, each_of, kind_in, renumber};
use serde_json::json;

pub const VOCABULARIES: &[Vocabulary] = &[
    // "Within a single `run_id`, `sequence` is gap-free and strictly increasing"; "the full text is `concat(deltas)`".
    Vocabulary {
        contract: "hecate.v1",
        type_key: "type",
        run: "run_id",
        constant: &["task_id", "session_id"],
        number: Some("sequence"),
        id: "event_id",
        first: &["run.queued", "run.started", "run.resumed_from_event"],
        is_last: |event| kind_in(event, &["run.finished", "run.failed", "run.cancelled"]),
        filler: "cost.tick",
        pairs: &[
            (
                "tool.invoked",
                &["tool.completed", "tool.failed", "tool.cancelled", "tool.timed_out"],
                "/data/tool_call_id",
            ),
            ("approval.requested", &["approval.resolved", "approval.timed_out"], "/data/approval_id"),
        ],
        text: Some(("assistant.text_delta", "/data/delta", "assistant.text_complete", "/data/text")),
        names_kind: true,
        is_of_run: |_| true,
        alias: None,
        nth_id: |at| format!("evt_{at:026}"),
        other_run: "run_00000000000000000000000000",
        other_constant: "task_00000000000000000000000000",
        has_sorted_ids: true,
        id_twice: &["id.repeat"],
        has_log: false,
    },
];

/// "emitted as the first event of the new run when an agent resumes from a checkpoint".
#[test]
fn a_hecate_run_resumes_only_at_its_beginning() {
    each_of(&VOCABULARIES[0], "resumed in the midst", |vocabulary, events| {
        let mut events = events.to_vec();
        let mut resumed = events[0].clone();
        resumed["type"] = json!("run.resumed_from_event");
        resumed["data"] = json!({"from_run_id": resumed["run_id"], "from_sequence": 1});
        events.insert(1, resumed);
        renumber(vocabulary, &mut events);
        Some(Mutation { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}
