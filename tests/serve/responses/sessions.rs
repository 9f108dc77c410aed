//! The session that a response belongs to.

use super::*;
use crate::scripted::Upstream;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use uuid::Uuid;

/// Answers each request with a new response: `resp_1`, `resp_2`, …
fn counting() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |_, stream| {
        let nth = count.fetch_add(1, Ordering::SeqCst) + 1;
        stream_head(stream);
        let text = String::from_utf8(recorded("scripted__text-valid.sse")).unwrap();
        let _ = stream.write_all(text.replace("resp_lab", &format!("resp_{nth}")).as_bytes());
    })
}

/// The session of the run that a request creates: its id and its name.
fn session(gate: &Gate, headers: &[(&str, &str)], body: &Value) -> (String, String) {
    let headers: Vec<(&str, &str)> = [("content-type", "application/json")].iter().chain(headers).copied().collect();
    let answer = post(gate.proxy.address, "/v1/responses", &headers, body.to_string().as_bytes());
    assert_eq!(answer.status, 200);
    drop(answer.bytes());
    let run = gate.runs().remove(0);
    let text = |key: &str| run[key].as_str().unwrap_or_default().to_owned();
    (text("session_id"), text("session_name"))
}

#[test]
fn requests_of_one_thread_share_a_session() {
    let upstream = counting();
    let gate = Gate::new(&upstream, "");
    let plain = json!({"model": "m", "input": "hi", "stream": true});
    let with = |key: &str, value: Value| {
        let mut body = plain.clone();
        body[key] = value;
        body
    };
    let thread = "01a20705-002f-7602-bf53-cad389683fa9";
    let by_header = session(&gate, &[("session-id", thread)], &plain);
    assert_eq!(by_header, (thread.to_owned(), thread.to_owned()), "a UUID must become the session's id");
    assert_eq!(session(&gate, &[("session_id", thread)], &plain), by_header);
    assert_eq!(session(&gate, &[("thread-id", thread)], &plain), by_header);
    assert_eq!(session(&gate, &[], &with("prompt_cache_key", json!(thread))), by_header);
    // A subagent has its own thread in the session of the agent that started it.
    assert_eq!(session(&gate, &[("session-id", thread), ("thread-id", "other")], &plain), by_header);
    let named = session(&gate, &[], &with("prompt_cache_key", json!("my-thread")));
    assert_eq!(named.1, "my-thread");
    assert!(Uuid::try_parse(&named.0).is_ok() && named.0 != by_header.0);
    let by_object = session(&gate, &[], &with("conversation", json!({"id": "conv_1"})));
    assert_eq!(session(&gate, &[("session-id", thread)], &with("conversation", json!("conv_1"))), by_object);
    assert_eq!(by_object.1, "conv_1");
}

#[test]
fn a_response_joins_the_session_of_its_previous_response() {
    let upstream = counting();
    let gate = Gate::new(&upstream, "");
    let after = |id: &str| json!({"model": "m", "input": "hi", "stream": true, "previous_response_id": id});
    let first = session(&gate, &[], &json!({"model": "m", "input": "hi", "stream": true}));
    let alone = session(&gate, &[], &json!({"model": "m", "input": "hi", "stream": true}));
    assert_ne!(first.0, alone.0);
    assert_eq!(session(&gate, &[], &after("resp_1")).0, first.0);
    assert_eq!(session(&gate, &[], &after("resp_3")).0, first.0);
    assert_eq!(session(&gate, &[], &after("resp_2")).0, alone.0);
    // An unknown previous response starts a session with its id as the name.
    let unknown = session(&gate, &[], &after("resp_elsewhere"));
    assert_eq!(unknown.1, "resp_elsewhere");
    assert_eq!(session(&gate, &[], &after("resp_6")).0, unknown.0);
    let events = gate.get(&format!("/v1/sessions/{}/events?contract=frames.v2&limit=500", first.0));
    assert_eq!(events.status, 200);
    assert_eq!(gate.get(&format!("/v1/runs?session_id={}", first.0)).json()["data"].as_array().unwrap().len(), 3);
}

#[test]
fn the_session_key_is_found_in_a_large_body_that_passes_unchanged() {
    let upstream = counting();
    let gate = Gate::new(&upstream, "");
    let input = "\\\"prompt_cache_key\\\":\\\"no\\\"".repeat(100_000);
    let body = format!("{{\"input\":[{{\"content\":\"{input}\"}}],\"prompt_cache_key\":\"thread\",\"stream\":true}}");
    let answer = post(gate.proxy.address, "/v1/responses", &[("content-type", "application/json")], body.as_bytes());
    drop(answer.bytes());
    assert_eq!(gate.runs()[0]["session_name"], "thread");
    assert!(upstream.requests()[0].body == body.as_bytes());
}
