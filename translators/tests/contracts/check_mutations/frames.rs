//! The rules of `frames.v1` and `frames.v2` for the stream of one run, as the document states them.

use super::vocabulary::Vocabulary;

pub const VOCABULARIES: &[Vocabulary] = &[
    // "`seq` starts at 0 and increments by 1"; "`session_ended` is the terminal frame".
    Vocabulary {
        contract: "frames.v1",
        type_key: "type",
        run: "session_id",
        constant: &[],
        number: Some("seq"),
        id: "id",
        first: &["session_started"],
        is_last: |event| event["type"] == "session_ended",
        filler: "provider_event",
        pairs: &[("tool_started", &["tool_ended", "tool_failed"], "/tool_id")],
        text: None,
        names_kind: false,
        is_of_run: |_| true,
        alias: None,
        nth_id: |at| format!("00000000-0000-5000-8000-{at:012x}"),
        other_run: "00000000-0000-5000-8000-00000000ffff",
        other_constant: "00000000-0000-5000-8000-00000000ffff",
        has_sorted_ids: false,
        id_twice: &["id.repeat"],
        has_log: false,
    },
    Vocabulary {
        contract: "frames.v2",
        type_key: "type",
        run: "stream_id",
        // "Session streams may continue to include `session_id` as an alias".
        constant: &["session_id"],
        number: Some("seq"),
        id: "id",
        first: &["session_started"],
        is_last: |event| event["type"] == "session_ended",
        filler: "provider_event",
        pairs: &[
            ("tool_started", &["tool_ended", "tool_failed"], "/tool_id"),
            ("turn_started", &["turn_ended"], "/turn_index"),
            ("approval_requested", &["approval_resolved"], "/approval_id"),
            ("subagent_started", &["subagent_ended"], "/subagent_id"),
        ],
        text: Some(("output_text_delta", "/delta", "output_text_completed", "/text")),
        names_kind: true,
        is_of_run: |event| event["stream_kind"] == "session",
        alias: Some("session_id"),
        nth_id: |at| format!("00000000-0000-5000-8000-{at:012x}"),
        other_run: "00000000-0000-5000-8000-00000000ffff",
        other_constant: "00000000-0000-5000-8000-00000000ffff",
        has_sorted_ids: false,
        id_twice: &["id.repeat"],
        has_log: false,
    },
];
