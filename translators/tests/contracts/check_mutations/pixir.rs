//! The rules of `pixir.v1` for the stream of one run, as the document states them.

use super::vocabulary::Vocabulary;

pub const VOCABULARIES: &[Vocabulary] = &[
    // "a per-Session monotonic `seq`" on canonical events; "the persisted form of streamed text".
    Vocabulary {
        contract: "pixir.v1",
        type_key: "type",
        run: "session_id",
        constant: &[],
        number: Some("seq"),
        id: "id",
        first: &[],
        is_last: |event| {
            let status = event["data"]["status"].as_str().unwrap_or_default();
            event["type"] == "status" && ["done", "error", "interrupted"].contains(&status)
        },
        filler: "provider_usage",
        pairs: &[("tool_call", &["tool_result"], "/data/call_id")],
        text: Some(("text_delta", "/data/chunk", "assistant_message", "/data/text")),
        names_kind: true,
        is_of_run: |_| true,
        alias: None,
        nth_id: |at| format!("{at:016x}"),
        other_run: "00000000-0000-5000-8000-00000000ffff",
        other_constant: "00000000-0000-5000-8000-00000000ffff",
        has_sorted_ids: false,
        id_twice: &["id.repeat"],
        has_log: true,
    },
];
