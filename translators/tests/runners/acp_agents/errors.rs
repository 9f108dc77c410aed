//! Errors, prompts that were cancelled with an error, and ids that are null.

use super::*;

fn error(id: Value, code: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "m"}})
}

#[test]
fn a_prompt_that_was_cancelled_with_an_error_is_interrupted() {
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "S"}});
    for frames in [
        alone(&[says("S", "a"), error(json!(3), -32_800)]),
        with_client(&[prompt(3, "S"), says("S", "a"), cancel.clone(), error(json!(3), -32_800)]),
        with_client(&[prompt(3, "S"), says("S", "a"), cancel, error(json!(3), -32_603)]),
    ] {
        assert_eq!(runs(&frames), [("a".to_owned(), EndReason::Interrupted)]);
        assert!(bodies(&frames, "error_reported").is_empty());
    }
}

#[test]
fn an_error_about_a_line_that_could_not_be_read_ends_nothing() {
    for code in [-32_700, -32_600, -32_603] {
        let messages =
            [says("S", "a"), error(Value::Null, code), error(Value::Null, code), says("S", "b"), stops(3, "end_turn")];
        let with: Vec<Value> = std::iter::once(prompt(3, "S")).chain(messages.clone()).collect();
        for frames in [alone(&messages), with_client(&with)] {
            assert_eq!(runs(&frames), [done("ab")]);
            assert_eq!(bodies(&frames, "error_reported").len(), 2);
        }
    }
}

#[test]
fn the_id_of_a_request_may_be_null() {
    let question = json!({"jsonrpc": "2.0", "id": null, "method": "session/request_permission",
        "params": {"sessionId": "S", "toolCall": {"toolCallId": "c"}, "options": [{"optionId": "o", "name": "o", "kind": "allow_once"}]}});
    let answered =
        json!({"jsonrpc": "2.0", "id": null, "result": {"outcome": {"outcome": "selected", "optionId": "o"}}});
    let frames = with_client(&[prompt(3, "S"), question, answered, stops(3, "end_turn")]);
    let [Body::ApprovalResolved(resolved)] = bodies(&frames, "approval_resolved")[..] else { panic!() };
    assert_eq!((&*resolved.approval_id, resolved.decision), ("request-null", Decision::Approved));
    // A notification with such an id stays one.
    let mut chunk = says("S", "a");
    chunk["id"] = Value::Null;
    assert_eq!(runs(&alone(&[chunk, says("S", "b"), stops(3, "end_turn")])), [done("ab")]);
}
