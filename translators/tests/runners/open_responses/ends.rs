//! Errors, ends, several responses, and malformed records.

use super::{added, completed, created, done, frame_lines, frames_of, line};
use crate::support;
use framegate_translators::frame::{Body, StreamKind};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

#[test]
fn an_error_is_reported_once_and_the_end_determines_the_outcome() {
    let error =
        json!({"type": "error", "error": {"type": "server_error", "code": "boom", "message": "m", "param": null}});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": {"code": "boom", "message": "m"}}});
    assert_eq!(
        frame_lines(&[created(), error.clone(), failed]),
        ["error provider boom m false", "end failed boom None"]
    );
    assert_eq!(frame_lines(&[created(), error.clone()]), ["error provider boom m false", "end failed boom None"]);
    assert_eq!(
        frame_lines(&[created(), error, completed(json!([]))]),
        ["error provider boom m false", "end completed None"]
    );
    let flat = json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null});
    assert_eq!(
        frame_lines(&[flat]),
        ["error provider rate_limit_exceeded slow down true", "end failed rate_limit_exceeded None"]
    );
    let bare = json!({"error": {"message": "gone", "type": "api_error", "code": 502}});
    assert_eq!(
        frame_lines(&[created(), bare, completed(json!([]))]),
        ["error provider 502 gone true", "end failed 502 None"]
    );
    assert_eq!(frame_lines(&[json!({"error": "no"})]), ["error provider error no false", "end failed error None"]);
}

#[test]
fn open_items_are_closed_before_the_turn() {
    let running = json!({"type": "image_generation_call", "id": "i", "status": "in_progress"});
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 1, "delta": "a"});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "error": {"code": "x", "message": "y"}}});
    let frames = frames_of(&[created(), added(0, running), delta, failed]);
    let kinds: Vec<&str> =
        frames.iter().map(|frame| frame.body.kind()).filter(|kind| *kind != "provider_event").collect();
    assert_eq!(kinds[5..], ["tool_failed", "output_text_completed", "error_reported", "turn_ended", "session_ended"]);
}

#[test]
fn a_completed_event_may_carry_another_status() {
    let end = |status: &str, details: Value| {
        frame_lines(&[
            created(),
            json!({"type": "response.completed", "response": {"id": "r", "status": status, "incomplete_details": details}}),
        ])
    };
    assert_eq!(end("incomplete", Value::Null), ["end completed incomplete None"]);
    assert_eq!(end("incomplete", json!({"reason": "content_filter"})), ["end failed content_filter None"]);
    assert_eq!(end("cancelled", Value::Null), ["end interrupted cancelled None"]);
    assert_eq!(end("failed", Value::Null), ["end failed failed None"]);
    assert_eq!(end("strange", Value::Null), ["end completed None"]);
}

#[test]
fn usage_distinguishes_cache_reads_and_writes() {
    let usage = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}, "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 109, "cost": 0.5});
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "usage": usage}});
    assert_eq!(
        frame_lines(&[created(), end.clone(), end]),
        ["usage 10 9 Some(60) Some(30) Some(4) Some(0.5)", "end completed None"]
    );
}

#[test]
fn a_new_response_is_a_new_run_and_events_after_an_end_are_ignored() {
    let delta = |text: &str| json!({"type": "response.output_text.delta", "item_id": "m", "delta": text});
    assert_eq!(
        frame_lines(&[
            created(),
            delta("a"),
            completed(json!([])),
            delta("stray"),
            created(),
            delta("b"),
            completed(json!([]))
        ]),
        [
            "text m/0 +a",
            "text m/0 =a",
            "end completed Some(\"a\")",
            "text m/0 +b",
            "text m/0 =b",
            "end completed Some(\"b\")"
        ]
    );
}

/// The document says: "Provider adapters emit `provider_event` for every SSE event (no drops)", and `session_ended` is the
/// terminal frame.
#[test]
fn records_after_the_end_belong_to_the_run_until_the_end_marker() {
    let event = |data: &str| format!("data: {data}\n\n");
    let (delta, over) = (
        r#"{"type":"response.output_text.delta","item_id":"m","delta":"a"}"#,
        r#"{"type":"response.completed","response":{"id":"r","status":"completed"}}"#,
    );
    let begun = format!("{}{}", event(&created().to_string()), event(delta));
    let kinds = |text: &str| -> Vec<String> {
        support::frames(runner("open-responses").unwrap(), text.as_bytes())
            .iter()
            .map(|frame| match (frame.stream.kind, &frame.body) {
                (StreamKind::Session, body) => body.kind().to_owned(),
                (kind, body) => format!("{}: {}", kind.as_str(), body.kind()),
            })
            .skip_while(|kind| kind != "turn_ended")
            .collect()
    };
    let all = format!("{begun}{}{}{}", event(over), event("{\"type\":\"late\"}"), event("[DONE]"));
    assert_eq!(kinds(&all), ["turn_ended", "provider_event", "provider_event", "session_ended"]);
    // A record after the marker belongs to another stream. The start of the next run also ends the wait.
    let after = format!("{all}{}", event("{not json}"));
    assert_eq!(kinds(&after)[3..], ["session_ended", "thread: provider_event"]);
    let next = format!("{begun}{}{begun}", event(over));
    assert_eq!(kinds(&next)[..3], ["turn_ended", "session_ended", "session_started"]);
    // A record without a run is in a stream too.
    let alone = support::frames(runner("open-responses").unwrap(), event("{not json}").as_bytes());
    assert_eq!((alone.len(), alone[0].stream.kind, alone[0].seq), (1, StreamKind::Thread, 0));
}

#[test]
fn parallel_responses_are_distinguished() {
    let made = |id: &str| json!({"type": "response.created", "response": {"id": id, "status": "in_progress"}});
    let delta = |id: &str, item: &str| json!({"type": "response.output_text.delta", "response_id": id, "item_id": item, "delta": item});
    let end = |id: &str| json!({"type": "response.completed", "response": {"id": id, "status": "completed"}});
    let events =
        [made("r1"), made("r2"), delta("r1", "a"), delta("r2", "b"), delta("", "a"), end("r1"), end("r1"), end("r2")];
    assert_eq!(
        frame_lines(&events),
        [
            "text a/0 +a",
            "text b/0 +b",
            "text a/0 +a",
            "text a/0 =aa",
            "end completed Some(\"aa\")",
            "~record",
            "text b/0 =b",
            "end completed Some(\"b\")"
        ]
    );
}

#[test]
fn a_whole_response_object_is_a_run() {
    let response = json!({"object": "response", "id": "r", "status": "completed", "conversation": {"id": "conv_1"},
        "output": [{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}]});
    let frames = frames_of(std::slice::from_ref(&response));
    assert_eq!(frame_lines(&[response]), ["text m/0 +hi", "text m/0 =hi", "end completed Some(\"hi\")"]);
    assert_eq!(&*frames[0].stream.session.name, "conv_1");
}

#[test]
fn an_event_name_replaces_a_missing_type() {
    let stream = "event: response.created\ndata: {\"object\":\"response\",\"id\":\"r\"}\n\n\
        event: error\ndata: {\"error\":{\"code\":\"x\",\"message\":\"y\"}}\n\n\
        event: response.failed\ndata: {\"response\":{\"id\":\"r\",\"error\":{\"code\":\"x\",\"message\":\"y\"}}}\n\n";
    let frames = support::frames(runner("open-responses").unwrap(), stream.as_bytes());
    let actual: Vec<String> = frames.iter().filter_map(line).collect();
    assert_eq!(actual, ["error provider x y false", "end failed x None"]);
}

#[test]
fn records_outside_a_response_start_no_run() {
    for event in [
        json!({"type": "keepalive", "sequence_number": 1}),
        json!({"type": "acme:telemetry", "sequence_number": 1}),
        json!({"type": "image_generation.completed", "b64_json": "AAAA"}),
        json!({"object": "chat.completion.chunk"}),
    ] {
        assert_eq!(frame_lines(&[event]), ["~record"]);
    }
}

#[test]
fn record_errors_name_problem_and_pointer() {
    let errors_of = |event: Value| {
        let frames = frames_of(&[event]);
        let record = frames
            .iter()
            .find_map(|frame| if let Body::ProviderEvent(record) = &frame.body { Some(record) } else { None });
        record.unwrap().errors.clone()
    };
    assert_eq!(errors_of(json!({"type": "ping"})), ["unknown event type"]);
    assert_eq!(errors_of(json!({"type": "acme:ping"})), Vec::<String>::new());
    assert_eq!(errors_of(json!({"a": 1})), ["the event does not say its type"]);
    assert_eq!(
        errors_of(
            json!({"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m", "output_index": 0, "content_index": "0", "delta": "x"})
        ),
        ["/content_index: value is not of type \"integer\""]
    );
    let item = json!({"type": "message", "id": "m", "status": "ready", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]});
    let mut event = done(0, item);
    event["sequence_number"] = json!(1);
    assert_eq!(
        errors_of(event),
        [
            "/item/content/0: \"annotations\" is a required property",
            "/item/status: value is not one of \"in_progress\", \"completed\" or \"incomplete\""
        ]
    );
}
