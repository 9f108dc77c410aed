//! The rules of `sse.v1` for the stream of one run, as the document states them.

use super::vocabulary::{Vocabulary, kind_in};

pub const VOCABULARIES: &[Vocabulary] = &[
    // "`run_started` is first event"; "Exactly one terminal event"; "`session_id`/`run_id`: immutable".
    Vocabulary {
        contract: "sse.v1",
        type_key: "type",
        run: "run_id",
        constant: &["session_id"],
        number: None,
        id: "event_id",
        first: &["run_started"],
        is_last: |event| kind_in(event, &["run_completed", "run_failed", "run_interrupted"]),
        filler: "assistant_delta",
        pairs: &[("tool_call_proposed", &["tool_call_approved", "tool_call_rejected"], "/payload/approval_id")],
        text: None,
        names_kind: true,
        is_of_run: |_| true,
        alias: None,
        nth_id: |at| format!("evt_{at:010}"),
        other_run: "00000000-0000-5000-8000-00000000ffff",
        other_constant: "00000000-0000-5000-8000-00000000ffff",
        has_sorted_ids: true,
        id_twice: &["id.order"],
        has_log: false,
    },
];
