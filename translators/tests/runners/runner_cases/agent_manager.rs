//! `agent-manager.v1`: no text of the runner is lost, wherever it appears.

use super::{data, events_of};
use serde_json::{Value, json};

fn messages(runner: &str, records: &[Value]) -> Vec<String> {
    let events = events_of(runner, "agent-manager.v1", records);
    let said = data(&events, "eventType", "message", "data");
    said.iter().map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn errors(runner: &str, records: &[Value]) -> Vec<(String, String)> {
    let events = events_of(runner, "agent-manager.v1", records);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    data(&events, "eventType", "error", "data")
        .iter()
        .map(|error| (text(&error["code"]), text(&error["message"])))
        .collect()
}

fn claude(text: Option<&str>, result: Value) -> Vec<Value> {
    let mut records = vec![json!({"type": "system", "subtype": "init", "session_id": "s"})];
    records.extend(text.map(|text| {
        json!({"type": "assistant", "session_id": "s", "message": {"id": "m", "model": "x",
            "content": [{"type": "text", "text": text}]}})
    }));
    let mut result = result;
    (result["type"], result["session_id"]) = (json!("result"), json!("s"));
    records.push(result);
    records
}

#[test]
fn an_answer_only_in_the_result_is_a_message() {
    let success = |text: &str| json!({"subtype": "success", "is_error": false, "result": text});
    assert_eq!(messages("claude-code", &claude(None, success("Only here."))), ["Only here."]);
    assert_eq!(messages("claude-code", &claude(Some("I look."), success("{\"a\":1}"))), ["I look.", "{\"a\":1}"]);
    assert_eq!(messages("claude-code", &claude(Some("Done."), success("Done."))), ["Done."], "not twice");
    assert_eq!(messages("claude-code", &claude(Some("Done.\n"), success("Done."))), ["Done.\n"], "but for a line end");
    assert_eq!(messages("claude-code", &[claude(None, success("Alone."))[1].clone()]), ["Alone."]);
    for contract in ["sse.v1", "pixir.v1", "hecate.v1"] {
        let events = events_of("claude-code", contract, &claude(Some("I look."), success("Only here.")));
        let text = serde_json::to_string(&events).unwrap();
        assert!(text.contains("Only here."), "{contract}");
    }
}

#[test]
fn the_text_of_an_error_result_is_emitted() {
    for subtype in ["error_max_turns", "error_during_execution", "error_max_budget_usd", "error_of_the_future"] {
        let result = json!({"subtype": subtype, "is_error": true, "result": "Reached the limit of turns (2)"});
        assert_eq!(
            errors("claude-code", &claude(None, result)),
            [(subtype.to_owned(), "Reached the limit of turns (2)".to_owned())]
        );
        let both = json!({"subtype": subtype, "is_error": true, "result": "Why.", "errors": ["What.", "Why."]});
        assert_eq!(errors("claude-code", &claude(None, both)), [(subtype.to_owned(), "Why.\nWhat.".to_owned())]);
        let listed = json!({"subtype": subtype, "is_error": true, "errors": ["What."]});
        assert_eq!(errors("claude-code", &claude(None, listed)), [(subtype.to_owned(), "What.".to_owned())]);
    }
    // The answer is not reported as an error.
    let said = json!({"subtype": "error_max_turns", "is_error": true, "result": "So far."});
    assert_eq!(messages("claude-code", &claude(Some("So far."), said)), ["So far."]);
}

#[test]
fn a_claude_error_has_its_message() {
    let error =
        json!({"type": "error", "session_id": "s", "error": {"type": "authentication_error", "message": "no key"}});
    let mut records = claude(None, json!({"subtype": "success", "is_error": true}));
    records.insert(1, error);
    assert!(errors("claude-code", &records).contains(&("authentication_error".to_owned(), "no key".to_owned())));
}

#[test]
fn a_codex_error_has_its_message_in_every_form() {
    let begin = [json!({"type": "thread.started", "thread_id": "t"}), json!({"type": "turn.started"})];
    let cases = [
        (
            json!({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "slow down"}}),
            "rate_limit",
            "slow down",
        ),
        (json!({"type": "error", "message": "flat"}), "execution_error", "flat"),
        (json!({"type": "error", "error": "text"}), "execution_error", "text"),
        (json!({"type": "turn.failed", "error": "text"}), "execution_error", "text"),
        (json!({"type": "turn.failed", "error": {"code": "usage_limit_exceeded"}}), "usage_limit", "usage_limit"),
    ];
    for (record, code, message) in cases {
        let records = [&begin[..], std::slice::from_ref(&record)].concat();
        assert_eq!(errors("codex", &records), [(code.to_owned(), message.to_owned())], "{record}");
    }
    let note = json!({"type": "error", "error": {"message": "Reconnecting... 1/3 (stream disconnected)"}});
    let records = [&begin[..], &[note], &[json!({"type": "turn.completed"})]].concat();
    let events = events_of("codex", "frames.v2", &records);
    let retried: Vec<_> = events.iter().filter(|frame| frame["type"] == "error_reported").collect();
    assert_eq!((&retried[0]["attempt"], &retried[0]["scope"]), (&json!(1), &json!("provider")));
}

#[test]
fn an_opencode_error_line_may_contain_its_message_directly() {
    let line = json!({"type": "error", "timestamp": 1, "sessionID": "s", "message": "no such model"});
    assert_eq!(errors("opencode", &[line]), [("execution_error".to_owned(), "no such model".to_owned())]);
    let line = json!({"type": "error", "timestamp": 1, "sessionID": "s", "error": {"code": "bad", "message": "flat"}});
    assert_eq!(errors("opencode", &[line]), [("bad".to_owned(), "flat".to_owned())]);
}

#[test]
fn a_status_without_a_name_is_none() {
    let status = |status: Value| json!({"type": "system", "subtype": "status", "session_id": "s", "status": status});
    let changes = |runner: &str, records: &[Value]| -> Vec<String> {
        let events = events_of(runner, "agent-manager.v1", records);
        let change = |status: &Value| format!("{} {}", status["oldStatus"], status["newStatus"]).replace('"', "");
        data(&events, "eventType", "status", "data").into_iter().map(change).collect()
    };
    let mut records = claude(None, json!({"subtype": "success", "is_error": false, "result": "Done."}));
    let statuses = ["compacting", "", "compacting"].map(|word| status(json!(word)));
    records.splice(1..1, statuses);
    let expected =
        ["starting running", "running compacting", "compacting running", "running compacting", "compacting complete"];
    assert_eq!(changes("claude-code", &records), expected);

    let mut frames = events_of("claude-code", "frames.v2", &records);
    for frame in frames.iter_mut().filter(|frame| frame["new_status"] == "running") {
        frame["new_status"] = json!("");
    }
    let expected = ["starting running", "running compacting", "compacting complete"];
    assert_eq!(changes("frames", &frames), expected);
}
