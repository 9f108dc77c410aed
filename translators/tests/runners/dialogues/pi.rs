//! pi.

use super::host::*;
use framegate_translators::frame::{Body, Decision};
use framegate_translators::host::{Answer, FileContent, HostMessage, Opening, PromptFile, SendError};
use serde_json::{Value, json};

fn opened() -> Host {
    let mut host = Host::new("pi");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    host
}

/// A request of an extension with these fields.
fn asks(host: &mut Host, id: &str, request: &Value) -> usize {
    let mut record = json!({"type": "extension_ui_request", "id": id});
    record.as_object_mut().unwrap().extend(request.as_object().unwrap().clone());
    host.receive(format!("{record}\n").as_bytes()).len()
}

fn prompt(text: &str) -> Value {
    json!({"type": "prompt", "message": text, "streamingBehavior": "followUp"})
}

#[test]
fn pi_gets_the_choices_that_its_extension_offered() {
    for (recording, choice, decision) in [("allow", "Allow", "approved by ann"), ("deny", "Deny", "approved by ann")] {
        let mut host = opened();
        let mut id = None;
        for line in fixture(&format!("pi/rpc-ui-{recording}.jsonl")).lines() {
            for request in host.receive(format!("{line}\n").as_bytes()) {
                assert!(host.dialogue.question(&request.approval_id).unwrap().wants_answers);
                assert!(matches!(
                    host.answer(&request.approval_id, decided(Decision::Approved)),
                    Err(SendError::InvalidAnswer(_))
                ));
                assert!(matches!(
                    host.answer(&request.approval_id, chosen(&[&["Perhaps"]])),
                    Err(SendError::InvalidAnswer(_))
                ));
                host.answer(&request.approval_id, chosen(&[&[choice]])).unwrap();
                id = Some(request.approval_id);
            }
        }
        host.finish();
        let id = id.unwrap();
        let answer = json!({"type": "extension_ui_response", "id": &*id, "value": choice});
        assert_eq!(host.lines(), [json!({"id": "state", "type": "get_state"}), prompt("go"), answer]);
        assert_eq!(host.decisions(), [decision], "what the call does afterwards is no second answer");
        assert!(host.dialogue.question(&id).is_none());
    }
}

#[test]
fn pi_is_told_yes_no_and_texts() {
    let mut host = opened();
    for (request, answer, expected) in [
        (json!({"method": "confirm", "title": "Sure?"}), decided(Decision::Approved), json!({"confirmed": true})),
        (json!({"method": "confirm", "title": "Sure?"}), decided(Decision::Rejected), json!({"confirmed": false})),
        (json!({"method": "input", "title": "Name?"}), chosen(&[&["Ann"]]), json!({"value": "Ann"})),
        (json!({"method": "editor", "title": "Text?"}), chosen(&[&["a\nb"]]), json!({"value": "a\nb"})),
        (json!({"method": "input", "title": "Name?"}), decided(Decision::TimedOut), json!({"cancelled": true})),
        (
            json!({"method": "select", "title": "?", "options": ["a"]}),
            decided(Decision::Cancelled),
            json!({"cancelled": true}),
        ),
    ] {
        assert_eq!(asks(&mut host, "q", &request), 1);
        host.answer("q", answer).unwrap();
        let mut expected = expected;
        expected["type"] = "extension_ui_response".into();
        expected["id"] = "q".into();
        assert_eq!(host.lines().pop().unwrap(), expected, "{request}");
    }
    assert_eq!(asks(&mut host, "n", &json!({"method": "notify", "message": "Hello"})), 0);
    assert!(host.dialogue.question("n").is_none(), "it wants no answer");
    asks(&mut host, "s", &json!({"method": "confirm", "title": "Sure?"}));
    let always = Answer { scope: Some("always".into()), ..decided(Decision::Approved) };
    assert!(matches!(host.answer("s", always), Err(SendError::Unsupported(_))));
    assert!(matches!(
        host.send(HostMessage::Answer { approval_id: "x".into(), answer: decided(Decision::Approved) }),
        Err(SendError::UnknownQuestion(_))
    ));
}

#[test]
fn a_call_that_the_host_refused_did_not_run() {
    for (decision, ran) in [(Decision::Approved, true), (Decision::Rejected, false), (Decision::Cancelled, false)] {
        let mut host = opened();
        host.receive(b"{\"type\":\"agent_start\"}\n");
        let start = json!({"type": "tool_execution_start", "toolCallId": "c", "toolName": "write", "args": {}});
        host.receive(format!("{start}\n").as_bytes());
        asks(&mut host, "q", &json!({"method": "confirm", "title": "Sure?"}));
        host.answer("q", decided(decision)).unwrap();
        let end = json!({"type": "tool_execution_end", "toolCallId": "c", "toolName": "write", "isError": true,
            "result": {"content": [{"type": "text", "text": "Not now"}]}});
        host.receive(format!("{end}\n").as_bytes());
        let ended = host.frames.iter().any(|frame| matches!(frame.body, Body::ToolEnded { exit_code: 1, .. }));
        let failed = host.frames.iter().any(|frame| matches!(frame.body, Body::ToolFailed { .. }));
        assert_eq!((ended, failed), (ran, !ran), "{decision:?}");
    }
}

#[test]
fn questions_of_a_run_are_over_with_it() {
    let mut host = opened();
    let confirm = json!({"method": "confirm", "title": "Sure?"});
    asks(&mut host, "before", &confirm);
    host.receive(b"{\"type\":\"agent_start\"}\n");
    asks(&mut host, "during", &confirm);
    host.receive(b"{\"type\":\"agent_settled\"}\n");
    assert!(host.dialogue.question("before").is_some() && host.dialogue.question("during").is_none());
}

#[test]
fn pi_is_prompted_interrupted_and_closed() {
    let mut host = opened();
    host.send(HostMessage::Prompt("and then".into())).unwrap();
    host.send(HostMessage::Interrupt).unwrap();
    host.send(HostMessage::Close).unwrap();
    let state = json!({"id": "state", "type": "get_state"});
    assert_eq!(host.lines(), [state, prompt("go"), prompt("and then"), json!({"type": "abort"}), json!("end")]);
}

#[test]
fn images_go_with_the_prompt() {
    let image = |content| PromptFile { media_type: "image/png".into(), name: None, content };
    let here = image(FileContent::Base64("aGk=".into()));
    let mut host = Host::new("pi");
    assert!(host.dialogue.takes(&here));
    assert!(!host.dialogue.takes(&image(FileContent::Url("https://a/b.png".into()))));
    let pdf = PromptFile { media_type: "application/pdf".into(), ..here.clone() };
    assert!(!host.dialogue.takes(&pdf));
    host.open(Opening { prompt: "go".into(), files: vec![here], ..Opening::default() });
    let sent = &host.lines()[1];
    assert_eq!(sent["images"], json!([{"type": "image", "data": "aGk=", "mimeType": "image/png"}]));
}

#[test]
fn a_refused_prompt_is_a_refusal_unless_another_one_is_worked_on() {
    let refusal = json!({"type": "response", "command": "prompt", "success": false, "error": "No model"});
    let refusal = format!("{refusal}\n");
    let mut host = opened();
    host.receive(b"{\"type\":\"response\",\"command\":\"abort\",\"success\":false,\"error\":\"x\"}\n");
    assert_eq!(host.dialogue.refusal(), None);
    host.receive(refusal.as_bytes());
    assert_eq!(host.dialogue.refusal(), Some("No model"));
    let mut host = opened();
    host.receive(b"{\"type\":\"agent_start\"}\n");
    host.receive(refusal.as_bytes());
    assert_eq!(host.dialogue.refusal(), None);
}

#[test]
fn the_session_is_known_before_the_first_run() {
    let mut host = opened();
    let state = json!({"id": "state", "type": "response", "command": "get_state", "success": true, "data": {"sessionId": "s1"}});
    host.receive(format!("{state}\n").as_bytes());
    host.receive(b"{\"type\":\"agent_start\"}\n{\"type\":\"agent_settled\"}\n");
    host.finish();
    let runs = host.frames.iter().filter(|frame| frame.body.kind() == "session_started");
    assert_eq!(runs.map(|frame| frame.stream.session.name.to_string()).collect::<Vec<_>>(), ["s1"]);
}
