//! Text, reasoning, and other participants' messages.

use super::{added, completed, created, done, frame_lines, items};
use serde_json::{Value, json};

#[test]
fn text_without_ids_or_indices_is_one_block_per_part() {
    assert_eq!(
        frame_lines(&[
            created(),
            json!({"type": "response.output_text.delta", "delta": "a"}),
            json!({"type": "response.output_text.delta", "delta": ""}),
            json!({"type": "response.output_text.delta", "delta": "b"}),
            json!({"type": "response.output_text.done", "text": "ab"}),
            json!({"type": "response.content_part.done", "part": {"type": "output_text", "text": "ab"}}),
            json!({"type": "response.output_text.delta", "delta": "c"}),
            completed(json!([{"type": "message", "content": [
                {"type": "output_text", "text": "ab"}, {"type": "output_text", "text": "c"}]}])),
        ]),
        [
            "text r/0/0 +a",
            "text r/0/0 +b",
            "text r/0/0 =ab",
            "text r/0/1 +c",
            "text r/0/1 =c",
            "end completed Some(\"abc\")"
        ]
    );
}

#[test]
fn ids_may_change_with_every_event() {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r1", "status": "in_progress"}}),
        json!({"type": "response.in_progress", "response": {"id": "r2", "status": "in_progress"}}),
        added(0, json!({"type": "message", "id": "i1", "role": "assistant"})),
    ];
    for (nth, delta) in ["a", "b", "c"].iter().enumerate() {
        events.push(json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0,
            "item_id": format!("x{nth}"), "delta": delta}));
    }
    events.push(json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "item_id": "y", "text": "abc"}));
    let message =
        json!({"type": "message", "id": "z", "role": "assistant", "content": [{"type": "output_text", "text": "abc"}]});
    events.push(done(0, message.clone()));
    events.push(
        json!({"type": "response.completed", "response": {"id": "r9", "status": "completed", "output": [message]}}),
    );
    assert_eq!(
        frame_lines(&events),
        ["text i1/0 +a", "text i1/0 +b", "text i1/0 +c", "text i1/0 =abc", "end completed Some(\"abc\")"]
    );
}

#[test]
fn a_snapshot_emits_what_was_not_streamed() {
    let message = |text: &str| json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    // Only at the end; only in the item; the rest after streamed text.
    assert_eq!(frame_lines(&[created(), completed(json!([message("ab")]))])[..2], ["text m/0 +ab", "text m/0 =ab"]);
    assert_eq!(items(&[message("ab")]), ["text m/0 +ab", "text m/0 =ab", "end completed Some(\"ab\")"]);
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "a"});
    assert_eq!(
        frame_lines(&[created(), delta, completed(json!([message("ab")]))]),
        ["text m/0 +a", "text m/0 +b", "text m/0 =ab", "end completed Some(\"ab\")"]
    );
}

#[test]
fn a_streamed_message_is_not_confused_with_its_neighbour() {
    let delta = |id: &str, text: &str| json!({"type": "response.output_text.delta", "item_id": id, "output_index": 0, "delta": text});
    let message = |id: &str, text: &str| json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    assert_eq!(
        frame_lines(&[
            created(),
            delta("b", "second"),
            completed(json!([message("a", "first"), message("b", "second")]))
        ]),
        [
            "text b/0 +second",
            "text a/0 +first",
            "text a/0 =first",
            "text b/0 =second",
            "end completed Some(\"second\")"
        ]
    );
}

#[test]
fn encrypted_reasoning_is_emitted_once() {
    let item = |summary: Value| json!({"type": "reasoning", "id": "t", "summary": summary, "encrypted_content": "S"});
    let streamed = frame_lines(&[
        created(),
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "t", "output_index": 0, "summary_index": 0, "delta": "a"}),
        json!({"type": "response.reasoning_summary_text.done", "item_id": "t", "output_index": 0, "summary_index": 0, "text": "a"}),
        done(0, item(json!([{"type": "summary_text", "text": "a"}]))),
        completed(json!([item(json!([{"type": "summary_text", "text": "a"}]))])),
    ]);
    assert_eq!(streamed, ["think t/0 +a", "think t/0 =a", "think t/1 = opaque", "end completed None"]);
    assert_eq!(
        items(&[item(json!([{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]))]),
        ["think t/0 +a", "think t/0 =a", "think t/1 +b", "think t/1 =b opaque", "end completed None"]
    );
    assert_eq!(items(&[item(json!([]))]), ["think t/0 = opaque", "end completed None"]);
}

#[test]
fn summary_and_content_of_reasoning_are_separate_blocks() {
    let both = json!({"type": "reasoning", "id": "t", "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}]});
    assert_eq!(
        items(&[both]),
        ["think t/0 +short", "think t/0 =short", "think t/1 +long", "think t/1 =long", "end completed None"]
    );
}

#[test]
fn reasoning_in_a_message_belongs_to_the_message() {
    let message = json!({"type": "message", "id": "m", "role": "assistant", "content": [
        {"type": "reasoning_text", "text": "hm"}, {"type": "output_text", "text": "yes"}]});
    assert_eq!(
        frame_lines(&[
            created(),
            added(0, json!({"type": "message", "id": "m", "role": "assistant", "content": []})),
            json!({"type": "response.reasoning_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "hm"}),
            done(0, message),
            completed(json!([])),
        ]),
        ["think m/0 +hm", "think m/0 =hm", "text m/1 +yes", "text m/1 =yes", "end completed Some(\"yes\")"]
    );
}

#[test]
fn messages_of_other_roles_are_not_answers() {
    let user = json!({"type": "message", "id": "u", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let system =
        json!({"type": "message", "id": "s", "role": "system", "content": [{"type": "input_text", "text": "be good"}]});
    let compaction = json!({"type": "compaction", "id": "c", "encrypted_content": "S"});
    assert_eq!(items(&[user, system, compaction]), ["user hi", "compacted", "end completed None"]);
}
