//! `ui-message-stream.v1`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const NAME: &str = "ui-message-stream.v1";

/// A stream of a server that uses the SDK itself: static tools, no numbers, a call that the client must run.
fn of_the_sdk() -> Vec<Value> {
    vec![
        json!({"type": "start", "messageId": "msg_1"}),
        json!({"type": "start-step"}),
        json!({"type": "reasoning-start", "id": "0", "providerMetadata": {"lab": {"signature": "x"}}}),
        json!({"type": "reasoning-end", "id": "0"}),
        json!({"type": "text-start", "id": "0"}),
        json!({"type": "text-delta", "id": "0", "delta": ""}),
        json!({"type": "text-end", "id": "0", "citations": []}),
        json!({"type": "source-url", "sourceId": "s", "url": "https://example.com"}),
        json!({"type": "data-weather", "data": null, "id": "w", "transient": false}),
        json!({"type": "tool-input-available", "toolCallId": "c", "toolName": "now", "input": {"zone": "UTC"}}),
        json!({"type": "finish-step"}),
        json!({"type": "start-step"}),
        // An id is free again after its end.
        json!({"type": "text-start", "id": "0"}),
        json!({"type": "text-end", "id": "0"}),
        json!({"type": "finish-step"}),
        json!({"type": "finish", "finishReason": "interrupted", "messageMetadata": {"any": [1]}}),
    ]
}

#[test]
fn streams_of_the_sdk_pass() {
    passes(NAME, "the SDK's own", &of_the_sdk());
    let mut retried = of_the_sdk();
    retried.insert(5, json!({"type": "reset-step"}));
    retried.insert(6, json!({"type": "text-start", "id": "0"}));
    passes(NAME, "a step that is repeated", &retried);
}

#[test]
fn what_the_sdk_reads_although_it_is_unusual_is_a_warning() {
    let all = of_the_sdk();
    warns(NAME, "no start", &all[1..], &[(1, "start.missing")]);
    warns(NAME, "no finish", &all[..15], &[(0, "end.missing")]);
    let mut open = all.clone();
    open.remove(13);
    warns(NAME, "a text that stays open", &open, &[(15, "pair.left_open")]);
    let mut merged = all.clone();
    merged.insert(2, all[0].clone());
    warns(NAME, "merged streams", &merged, &[(3, "start.repeat")]);
}

#[test]
fn what_the_sdk_refuses_is_an_error() {
    let with = |at: usize, chunk: Value| {
        let mut chunks = of_the_sdk();
        chunks.insert(at, chunk);
        chunks
    };
    for (what, chunk, rule) in [
        ("an unknown type", json!({"type": "text"}), "schema.type"),
        ("null", json!({"type": "abort", "reason": null}), "schema"),
        ("no text", json!({"type": "text-delta", "id": "0"}), "schema"),
        ("a delta of no part", json!({"type": "text-delta", "id": "1", "delta": "x"}), "pair.not_open"),
        ("the end of no part", json!({"type": "reasoning-end", "id": "0"}), "pair.not_open"),
        ("no such call", json!({"type": "tool-output-available", "toolCallId": "d", "output": 1}), "call.unknown"),
        ("no input", json!({"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": ""}), "input.not_started"),
        (
            "no question",
            json!({"type": "tool-approval-response", "approvalId": "q", "approved": true}),
            "approval.unknown",
        ),
        ("another message", json!({"type": "start", "messageId": "msg_2"}), "start.repeat"),
    ] {
        let chunks = with(11, chunk);
        let found = super::found(NAME, &chunks, None);
        let first =
            found.iter().find(|located| located.finding.severity == framegate_translators::verify::Severity::Error);
        assert_eq!(first.map(|located| (located.record, located.finding.rule)), Some((12, rule)), "{what}: {found:#?}");
    }
    fails(NAME, "an object is no list", &with(11, json!({"type": "custom"})), &[(12, "schema")]);
}
