//! When and how a run begins and ends.

use super::records::*;
use serde_json::{Value, json};

#[test]
fn a_full_context_does_not_end_the_run() {
    // The runner may send the prompt again, as a new message.
    for copy in [Vec::new(), user_message("s", "u3", "Go")] {
        is_one_run(copy);
    }
}

fn is_one_run(copy: Vec<Value>) {
    let records = list([
        user_message("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a1", json!({})),
            error("s", "ContextOverflowError", "too long"),
            message(
                "s",
                "a1",
                json!({"time": {"created": 1, "completed": 2}, "error": {"name": "ContextOverflowError", "data": {"message": "too long"}}}),
            ),
            part("s", "u2", "c", json!({"type": "compaction", "auto": true, "overflow": true})),
            message("s", "a2", json!({"summary": true})),
            text_part("s", "a2", "t2", "The summary."),
            message("s", "a2", json!({"summary": true, "time": {"created": 1, "completed": 2}})),
            event("session.compacted", json!({"sessionID": "s"})),
        ],
        copy,
        vec![message("s", "a3", json!({})), text_part("s", "a3", "t3", "The answer."), completed("s", "a3")],
        idle("s"),
    ]);
    assert_eq!(
        frame_lines(&records),
        [
            "run \"Go\"",
            "user \"Go\"",
            "error context_overflow \"too long\"",
            "compacted auto \"The summary.\"",
            "delta \"The answer.\"",
            "text \"The answer.\"",
            "end completed - \"The answer.\""
        ]
    );
}

#[test]
fn the_last_text_of_a_failed_run_precedes_its_end() {
    let failed = json!({"time": {"created": 1, "completed": 2}, "error": {"name": "UnknownError", "data": {"message": "{\"message\":\"boom\"}"}}});
    let records = list([
        user_message("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a", json!({})),
            part("s", "a", "t", json!({"type": "text", "text": "", "time": {"start": 1}})),
            event(
                "message.part.delta",
                json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": "Half"}),
            ),
            error("s", "UnknownError", "{\"message\":\"boom\"}"),
        ],
        idle("s"),
        vec![text_part("s", "a", "t", "Half an answer"), message("s", "a", failed)],
        idle("s"),
    ]);
    assert_eq!(
        frame_lines(&records)[2..],
        [
            "delta \"Half\"",
            "error execution_error \"boom\"",
            "delta \" an answer\"",
            "text \"Half an answer\"",
            "end failed execution_error \"\""
        ]
    );
}

#[test]
fn a_run_that_waits_for_its_last_text_ends_without_it() {
    let begun = || {
        list([
            user_message("s", "u", "Go"),
            vec![status("s", "busy"), message("s", "a", json!({})), error("s", "MessageAbortedError", "Aborted")],
            idle("s"),
        ])
    };
    let end = "end interrupted aborted \"\"";
    assert_eq!(frame_lines(&begun()).last().unwrap(), end, "the input ends");
    assert_eq!(frame_lines(&list([begun(), idle("s")])).last().unwrap(), end, "idle is said twice");
    let next = frame_lines(&list([begun(), user_message("s", "u2", "Again"), vec![status("s", "busy")]]));
    assert_eq!(next[2..], [end, "run \"Again\"", "user \"Again\"", "end interrupted stream_ended \"\""]);
}

#[test]
fn an_abort_closes_open_questions() {
    let asked = json!({"id": "per", "sessionID": "s", "permission": "bash", "patterns": ["x"], "metadata": {"command": "x"}, "tool": {"messageID": "a", "callID": "c"}});
    let records = list([
        user_message("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a", json!({})),
            tool("s", "a", "p", "c", "bash", running(json!({"command": "x"}))),
            event("permission.asked", asked),
            error("s", "MessageAbortedError", "Aborted"),
        ],
        idle("s"),
        vec![
            tool("s", "a", "p", "c", "bash", failed_state("Tool execution aborted")),
            message(
                "s",
                "a",
                json!({"time": {"created": 1, "completed": 2}, "error": {"name": "MessageAbortedError", "data": {}}}),
            ),
        ],
    ]);
    assert_eq!(
        frame_lines(&records)[2..],
        [
            "started c bash shell {\"command\":\"x\"}",
            "asked per bash",
            "failed c \"Tool execution aborted\"",
            "answered per cancelled",
            "end interrupted aborted \"\""
        ]
    );
}

#[test]
fn a_message_without_an_answer_starts_no_run() {
    assert_eq!(
        frame_lines(&user_message("s", "u", "Only so that you know")),
        ["thread: user \"Only so that you know\""]
    );
    let records = list([user_message("s", "u", "Context"), user_message("s", "u2", "Go"), vec![status("s", "busy")]]);
    assert_eq!(
        frame_lines(&records),
        ["thread: user \"Context\"", "run \"Go\"", "user \"Go\"", "end interrupted stream_ended \"\""]
    );
}

#[test]
fn a_queued_prompt_is_emitted_with_its_parts() {
    let second = user_message("s", "u2", "Second");
    let records = list([
        user_message("s", "u", "First"),
        vec![status("s", "busy"), message("s", "a", json!({})), second[0].clone(), text_part("s", "a", "t", "One.")],
        vec![second[1].clone(), completed("s", "a"), message("s", "a2", json!({})), text_part("s", "a2", "t2", "Two.")],
        vec![completed("s", "a2")],
        idle("s"),
    ]);
    assert_eq!(
        frame_lines(&records),
        [
            "run \"First\"",
            "user \"First\"",
            "delta \"One.\"",
            "text \"One.\"",
            "user \"Second\"",
            "delta \"Two.\"",
            "text \"Two.\"",
            "end completed - \"Two.\""
        ]
    );
}

#[test]
fn each_error_is_reported_once() {
    let records = list([
        user_message("s", "u", "Go"),
        vec![
            status("s", "busy"),
            error("s", "ContextOverflowError", "full"),
            error("s", "ContextOverflowError", "full"),
            error("s", "UnknownError", "boom"),
        ],
        idle("s"),
    ]);
    assert_eq!(
        frame_lines(&records)[2..],
        ["error context_overflow \"full\"", "error execution_error \"boom\"", "end failed execution_error \"\""]
    );
}

#[test]
fn a_prompt_that_fails_immediately_is_a_failed_run() {
    let records = list([user_message("s", "u", "Go"), vec![error("s", "ProviderAuthError", "no key")], idle("s")]);
    assert_eq!(
        frame_lines(&records),
        [
            "run \"Go\"",
            "user \"Go\"",
            "error authentication_failed \"no key\"",
            "end failed authentication_failed \"\""
        ]
    );
}

#[test]
fn errors_and_events_without_a_session_belong_to_the_server() {
    let error =
        event("session.error", json!({"error": {"name": "APIError", "data": {"message": "down", "statusCode": 503}}}));
    assert_eq!(frame_lines(&[error]), ["thread: error overloaded \"down\""]);
    assert_eq!(
        frame_lines(&[event("brand.new", json!({}))]),
        ["thread: record error unknown event type \"brand.new\""]
    );
    assert_eq!(frame_lines(&[event("pty.created", json!({}))]), Vec::<String>::new());
}

#[test]
fn a_result_that_follows_a_schema_arrives_after_its_message() {
    let ended = json!({"finish": "tool-calls", "time": {"created": 1, "completed": 2}});
    let mut whole = ended.clone();
    whole["structured"] = json!({"x": 1});
    let state = completed_state(json!({"x": 1}), "Captured.", json!({"valid": true}));
    let turn = |updates: Vec<serde_json::Value>| {
        list([
            user_message("s", "u", "Go"),
            vec![
                status("s", "busy"),
                message("s", "a", json!({})),
                text_part("s", "a", "t", "Here it is."),
                tool("s", "a", "p", "c", "StructuredOutput", state.clone()),
            ],
            updates,
            idle("s"),
        ])
    };
    let lines = frame_lines(&turn(vec![message("s", "a", ended), message("s", "a", whole.clone())]));
    assert_eq!(lines.last().unwrap(), r#"end completed - "{\"x\":1}""#);
    let lines = frame_lines(&turn(vec![message("s", "a", whole.clone())]));
    assert_eq!(lines.last().unwrap(), r#"end completed - "{\"x\":1}""#);
    let newer = vec![
        message("s", "a", whole),
        message("s", "b", json!({})),
        text_part("s", "b", "t2", "No."),
        completed("s", "b"),
    ];
    assert_eq!(frame_lines(&turn(newer)).last().unwrap(), "end completed - \"No.\"", "a later text is the answer");
}
