//! Questions of extensions. Their answers are not in the output: the progress of the call that waits shows them.

use super::records::*;
use serde_json::{Value, json};

fn asks() -> String {
    json!({"type": "extension_ui_request", "id": "q", "method": "select", "title": "Allow bash?",
        "options": ["Allow", "Deny"]})
    .to_string()
}

fn args() -> Value {
    json!({"command": "ls"})
}

/// How a question is resolved that comes after one call of this tool began, before these records.
fn resolved(tool: &str, then: &[String]) -> Vec<String> {
    let (start, asks) = (tool_start("c", tool, &args()), asks());
    let mut lines = vec![BEGIN, &start, &asks];
    lines.extend(then.iter().map(String::as_str));
    lines.push(SETTLED);
    of(&brief(&lines), "approval_resolved").into_iter().map(str::to_owned).collect()
}

#[test]
fn a_call_that_goes_on_was_allowed() {
    assert_eq!(resolved("bash", &[tool_update("c", "bash", "")]), ["approved"]);
    assert_eq!(
        resolved("bash", &[tool_end("c", "bash", "no\n\nCommand exited with code 1", true)]),
        ["cancelled settled; the runner does not say how"]
    );
    assert_eq!(resolved("read", &[tool_end("c", "read", "text", false)]), ["approved"]);
}

#[test]
fn a_command_that_never_ran_was_refused() {
    assert_eq!(resolved("bash", &[tool_end("c", "bash", "The user said no", true)]), ["rejected The user said no"]);
    assert_eq!(resolved("bash", &[tool_end("c", "bash", "Command aborted", true)]), ["cancelled Command aborted"]);
}

#[test]
fn what_no_call_shows_is_not_taken_for_an_approval() {
    // A tool can fail by itself.
    let failed = tool_end("c", "read", "ENOENT", true);
    assert_eq!(resolved("read", &[failed]), ["cancelled settled; the runner does not say how"]);
    // The tool of an extension may be the one that asks.
    let done = tool_end("c", "ask_person", "The person chose blue", false);
    let of_extension = resolved("ask_person", &[done]);
    assert!(of_extension.len() == 1 && of_extension[0].starts_with("cancelled "), "{of_extension:?}");
    // Two calls may be meant.
    let (a, b, asks) = (tool_start("a", "bash", &args()), tool_start("b", "bash", &args()), asks());
    let seen = brief(&[BEGIN, &a, &b, &asks, &tool_update("a", "bash", "x"), SETTLED]);
    assert!(of(&seen, "approval_resolved")[0].starts_with("cancelled "), "{seen:?}");
}

#[test]
fn questions_have_the_form_that_all_runners_share() {
    let pi = framegate_translators::runners::runner("pi").unwrap();
    let frames_v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    for (request, expected) in [
        (
            json!({"method": "select", "title": "Which?", "options": ["a", "b"]}),
            json!({"questions": [{"question": "Which?", "multiSelect": false,
                "options": [{"label": "a"}, {"label": "b"}]}]}),
        ),
        (
            json!({"method": "input", "title": "Name?", "placeholder": "x"}),
            json!({"questions": [{"question": "Name?", "options": []}]}),
        ),
        (
            json!({"method": "confirm", "title": "Sure?", "message": "Really"}),
            json!({"title": "Sure?", "message": "Really"}),
        ),
    ] {
        let mut request = request;
        request["type"] = "extension_ui_request".into();
        request["id"] = "q".into();
        let frames = crate::support::events(pi, frames_v2, format!("{BEGIN}\n{request}").as_bytes());
        let asked: Vec<_> = frames.iter().filter(|frame| frame["type"] == "approval_requested").collect();
        assert_eq!(asked.len(), 1, "{request}");
        assert_eq!((&asked[0]["args"], &asked[0]["approval_id"]), (&expected, &json!("q")));
    }
}

#[test]
fn a_message_of_an_extension_is_a_log_line() {
    let says = |kind: &str, content: Value, display: bool| {
        about(
            kind,
            &json!({"role": "custom", "customType": "x", "content": content, "display": display, "timestamp": 1}),
        )
    };
    let lines = [
        BEGIN,
        &says("message_start", json!("Hello"), true),
        &says("message_end", json!("Hello"), true),
        &says("message_end", text("Blocks"), true),
        &says("message_end", json!("for the model"), false),
        SETTLED,
    ];
    check(&lines, &["session_started", "log_emitted info Hello", "log_emitted info Blocks", "session_ended completed"]);
    let frames = crate::support::frames(
        framegate_translators::runners::runner("pi").unwrap(),
        says("message_end", json!("Hello"), true).as_bytes(),
    );
    let is_noted = frames.iter().any(|frame| match &frame.body {
        framegate_translators::frame::Body::ProviderEvent(record) => !record.errors.is_empty(),
        _ => false,
    });
    assert!(!is_noted, "the role is known");
}

#[test]
fn what_an_extension_only_tells_is_no_question() {
    let tells = |method: &str, more: Value| {
        let mut record = json!({"type": "extension_ui_request", "id": "n", "method": method});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record.to_string()
    };
    let lines = [
        BEGIN,
        &tells("notify", json!({"message": "Careful", "notifyType": "warning"})),
        &tells("notify", json!({"message": "Hello"})),
        &tells("setStatus", json!({"statusKey": "k", "statusText": "busy"})),
        &json!({"type": "extension_error", "extensionPath": "a.ts", "event": "tool_call", "error": "broken"})
            .to_string(),
        SETTLED,
    ];
    check(
        &lines,
        &[
            "session_started",
            "log_emitted warn Careful",
            "log_emitted info Hello",
            "log_emitted warn broken",
            "session_ended completed",
        ],
    );
}
