//! OpenCode.

use super::host::*;
use framegate_translators::frame::{ApprovalRequested, Decision};
use framegate_translators::host::{Answer, FileContent, HostMessage, Opening, PromptFile, SendError};
use serde_json::{Value, json};

/// Plays a feed to a host that answers each request with `answer`.
fn feed(name: &str, answer: &Answer) -> Host {
    let mut host = Host::new("opencode");
    for block in fixture(&format!("opencode/{name}.sse")).split_inclusive("\n\n") {
        for request in host.receive(block.as_bytes()) {
            host.answer(&request.approval_id, answer.clone()).unwrap();
        }
    }
    host.finish();
    host
}

#[test]
fn opencode_answers_use_its_paths_and_its_echo_is_no_second_decision() {
    let once = feed("event-permission-once", &decided(Decision::Approved));
    assert_eq!(once.lines(), [json!(["/permission/per_1ffca71ba001Ef12n4yfMlBcKc/reply", {"reply": "once"}])]);
    assert_eq!(once.decisions(), ["approved by ann"]);
    let always = feed("event-permission-always", &scoped("always"));
    assert_eq!(always.lines(), [json!(["/permission/per_1ffcc67ae001LTH4EO0832lXB2/reply", {"reply": "always"}])]);
    let no = Answer { reason: Some("no".into()), ..decided(Decision::Rejected) };
    let rejected = feed("event-permission-reject", &no);
    let reply = json!({"reply": "reject", "message": "no"});
    assert_eq!(rejected.lines(), [json!(["/permission/per_1ffcb084b001ANNoypQMe1ROzv/reply", reply])]);
    assert_eq!(rejected.decisions(), ["rejected by ann"]);
    let blue = Answer { answers: vec![vec!["Blue".into()]], ..decided(Decision::Approved) };
    let question = feed("event-question", &blue);
    assert_eq!(question.lines(), [json!(["/question/que_1ffcb9d08001mhiRnGuAcf7M1n/reply", {"answers": [["Blue"]]}])]);
    let waved = feed("event-question", &decided(Decision::Rejected));
    assert_eq!(waved.lines(), [json!(["/question/que_1ffcb9d08001mhiRnGuAcf7M1n/reject"])]);
}

fn opencode_event(host: &mut Host, event: &Value) -> Vec<ApprovalRequested> {
    host.receive(format!("data: {event}\n\n").as_bytes())
}

#[test]
fn opencode_sessions_are_opened_prompted_and_aborted() {
    let mut host = Host::new("opencode");
    let model = Some("prov/some/model".to_owned());
    host.open(Opening { prompt: "one".into(), cwd: Some("/a b/../c".into()), model, ..Opening::default() });
    host.send(HostMessage::Prompt("two".into())).unwrap();
    assert_eq!(host.lines(), [json!(["/session?directory=%2Fa%20b%2F%2E%2E%2Fc", {}])]);
    host.dialogue.replied("/session?directory=%2Fa%20b%2F%2E%2E%2Fc", br#"{"id":"ses_1"}"#);
    host.send(HostMessage::Interrupt).unwrap();
    host.dialogue.send(Some("ses/2?x"), &HostMessage::Interrupt).unwrap();
    host.sent.extend(host.dialogue.take());
    let lines = host.lines();
    let model = json!({"providerID": "prov", "modelID": "some/model"});
    assert_eq!(lines[1][1], json!({"parts": [{"type": "text", "text": "one"}], "model": model}));
    assert!(lines[1][0].as_str().unwrap().starts_with("/session/ses_1/prompt_async?directory="));
    assert_eq!(lines[2][1]["parts"][0]["text"], "two");
    assert!(lines[3][0].as_str().unwrap().starts_with("/session/ses_1/abort?"));
    assert!(lines[4][0].as_str().unwrap().starts_with("/session/ses%2F2%3Fx/abort?"), "no id leads astray");
}

#[test]
fn the_reason_for_a_missing_opencode_session_is_reported() {
    let mut host = Host::new("opencode");
    host.open(Opening { prompt: "one".into(), ..Opening::default() });
    host.dialogue.replied("/session", b"{}");
    assert!(host.dialogue.refusal().is_some());
    let mut idle = Host::new("opencode");
    assert!(matches!(idle.send(HostMessage::Interrupt), Err(SendError::Unsupported(_))));
    assert!(matches!(idle.send(HostMessage::Prompt("x".into())), Err(SendError::Unsupported(_))));
}

#[test]
fn opencode_questions_stay_open_until_the_server_settles_them() {
    let mut host = Host::new("opencode");
    let ask = |id: &str, kind: &str, more: Value| {
        let mut props = json!({"id": id, "sessionID": "ses_1", "permission": "bash", "metadata": {"command": "ls"}});
        props.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": "evt_1", "type": kind, "properties": props})
    };
    opencode_event(&mut host, &ask("per_1", "permission.asked", json!({})));
    let answer = || HostMessage::Answer { approval_id: "per_1".into(), answer: decided(Decision::Approved) };
    host.send(answer()).unwrap();
    host.send(answer()).expect("the first may have been lost on its way");
    let replied = json!({"sessionID": "ses_1", "requestID": "per_1", "reply": "once"});
    opencode_event(&mut host, &json!({"id": "evt_2", "type": "permission.replied", "properties": replied}));
    assert!(matches!(host.send(answer()), Err(SendError::UnknownQuestion(_))));
    // The first release's event names and path.
    opencode_event(&mut host, &ask("per_2", "permission.updated", json!({})));
    host.send(HostMessage::Answer { approval_id: "per_2".into(), answer: decided(Decision::Rejected) }).unwrap();
    let last = host.lines().pop().unwrap();
    assert_eq!(last, json!(["/session/ses_1/permissions/per_2", {"response": "reject"}]));
    // When a session becomes idle, its requests can no longer be answered. The same applies to events of the global feed.
    let idle = json!({"id": "evt_3", "type": "session.idle", "properties": {"sessionID": "ses_1"}});
    opencode_event(&mut host, &json!({"directory": "/w", "payload": idle}));
    assert!(host.dialogue.question("per_2").is_none());
}

#[test]
fn opencode_gets_any_file_before_the_text() {
    let file = PromptFile {
        media_type: "text/plain".to_owned(),
        name: Some("a.txt".to_owned()),
        content: FileContent::Base64("YQ==".to_owned()),
    };
    let mut host = Host::new("opencode");
    assert!(host.dialogue.takes(&file));
    host.open(Opening { prompt: "read".into(), files: vec![file], session: Some("s".into()), ..Opening::default() });
    let lines = host.lines();
    let expected = json!([
        {"type": "file", "mime": "text/plain", "url": "data:text/plain;base64,YQ==", "filename": "a.txt"},
        {"type": "text", "text": "read"},
    ]);
    assert!(lines.iter().any(|line| line.to_string().contains(&expected.to_string())), "{lines:#?}");
}

#[test]
fn a_mode_of_opencode_is_the_agent_of_each_prompt() {
    let mut host = Host::new("opencode");
    let (mode, session) = (Some("plan".to_owned()), Some("s".to_owned()));
    host.open(Opening { prompt: "one".into(), mode, session, ..Opening::default() });
    host.send(HostMessage::Prompt("two".into())).unwrap();
    let lines = host.lines();
    assert_eq!([&lines[0][1]["agent"], &lines[1][1]["agent"]], [&json!("plan"); 2]);
}
