//! Texts and reasoning, in any mixture of pieces and wholes.

use super::records::*;
use serde_json::json;

#[test]
fn a_text_is_there_once_with_and_without_deltas() {
    for deltas in [vec![], vec![delta("m", "He"), delta("m", "llo")], vec![delta("m", "He")]] {
        let records = [vec![prompt("x")], deltas, vec![message("m", "Hello", json!([])), result(0)]].concat();
        assert_eq!(lines(&records), ["text \"Hello\"", "end completed -"]);
    }
}

#[test]
fn a_message_that_is_repeated_is_there_once() {
    let records = [prompt("x"), message("m", "Hello", json!([])), message("m", "Hello", json!([])), result(0)];
    assert_eq!(lines(&records), ["text \"Hello\"", "end completed -"]);
}

#[test]
fn reasoning_is_there_once_in_each_of_its_three_forms() {
    let piece = passing("assistant.reasoning_delta", json!({"reasoningId": "r", "deltaContent": "Hm"}));
    let mut said = message("m", "Yes", json!([]));
    said["data"]["reasoningText"] = json!("Hm");
    let whole = passing("assistant.reasoning", json!({"reasoningId": "r", "content": "Hm"}));
    let plain = message("m", "Yes", json!([]));
    for middle in [
        vec![piece.clone(), said.clone(), whole.clone()],
        vec![said.clone(), whole.clone()],
        vec![piece, plain.clone(), whole.clone()],
        vec![said],
    ] {
        let records = [vec![prompt("x")], middle, vec![result(0)]].concat();
        assert_eq!(lines(&records), ["reasoning \"Hm\"", "text \"Yes\"", "end completed -"]);
    }
    let late = [prompt("x"), plain, whole, result(0)];
    assert_eq!(lines(&late), ["text \"Yes\"", "reasoning \"Hm\"", "end completed -"]);
}

#[test]
fn a_broken_reply_is_not_the_answer() {
    let failure = passing("model.call_failure", json!({"failureKind": "transport", "errorMessage": "reset"}));
    let records =
        [prompt("x"), delta("m1", "Half"), failure, delta("m2", "Whole"), message("m2", "Whole", json!([])), result(0)];
    let frames = frames_of(&records);
    let end = frames.iter().find_map(|frame| match &frame.body {
        framegate_translators::frame::Body::SessionEnded(end) => Some(end),
        _ => None,
    });
    assert_eq!(end.unwrap().final_text.as_deref(), Some("Whole"));
    assert_eq!(lines(&records), ["text \"Half\"", "text \"Whole\"", "end completed -"]);
}
