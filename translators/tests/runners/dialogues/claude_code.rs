//! Claude Code.

use super::host::*;
use framegate_translators::frame::{ApprovalRequested, Decision};
use framegate_translators::host::{Answer, FileContent, HostMessage, Opening, Outgoing, PromptFile, SendError};
use serde_json::{Value, json};

#[test]
fn claude_code_gets_its_input_back_and_frames_name_the_responder() {
    let mut host = Host::new("claude-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    assert_eq!(host.lines().len(), 1, "the prompt waits for the answer to the first request");
    for line in fixture("claude-code/control_permission.ndjson").lines() {
        for request in host.receive(format!("{line}\n").as_bytes()) {
            let answer = match request.args.get().contains("precious") {
                true => Answer { reason: Some("not that one".into()), ..decided(Decision::Rejected) },
                false => decided(Decision::Approved),
            };
            host.answer(&request.approval_id, answer).unwrap();
        }
    }
    host.finish();
    let input = json!({"command": "touch allowed.txt && echo made", "description": "Make"});
    let respond = |id: &str, response: Value| {
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        json!({"type": "control_response", "response": response})
    };
    let message = json!({"role": "user", "content": [{"type": "text", "text": "go"}]});
    assert_eq!(
        host.lines(),
        [
            json!({"type": "control_request", "request_id": "req_1", "request": {"subtype": "initialize"}}),
            json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""}),
            respond("6f71cd90-0a4d-48c3-850b-8520402fcbf3", json!({"behavior": "allow", "updatedInput": input})),
            respond("fa606863-b187-45e3-9a79-560c2105b112", json!({"behavior": "deny", "message": "not that one"})),
        ]
    );
    assert_eq!(host.decisions(), ["approved by ann", "rejected by ann"]);
}

#[test]
fn claude_code_questions_are_answered_by_their_texts() {
    let mut host = Host::new("claude-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    let mut asked = 0;
    for line in fixture("claude-code/control_ask_user.ndjson").lines() {
        for request in host.receive(format!("{line}\n").as_bytes()) {
            asked += 1;
            assert!(host.dialogue.question(&request.approval_id).unwrap().wants_answers);
            let answers = vec![vec!["Blue".to_owned()]];
            host.answer(&request.approval_id, Answer { answers, ..decided(Decision::Approved) }).unwrap();
        }
    }
    assert_eq!(asked, 1);
    let response = &host.lines()[2]["response"]["response"];
    assert_eq!(response["updatedInput"]["answers"], json!({"Which color?": "Blue"}));
    assert_eq!(response["updatedInput"]["questions"][0]["header"], "Color", "the answer contains the input");
}

#[test]
fn claude_code_is_interrupted_and_prompted_again() {
    let mut host = Host::new("claude-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    host.send(HostMessage::Prompt("and then".into())).unwrap();
    host.receive(fixture("claude-code/control_interrupt.partial.ndjson").lines().next().unwrap().as_bytes());
    host.receive(b"\n");
    host.send(HostMessage::Interrupt).unwrap();
    host.send(HostMessage::Close).unwrap();
    let lines = host.lines();
    assert_eq!(lines[1]["message"]["content"][0]["text"], "go");
    assert_eq!(lines[2]["message"]["content"][0]["text"], "and then");
    assert_eq!(
        lines[3],
        json!({"type": "control_request", "request_id": "req_2", "request": {"subtype": "interrupt"}})
    );
    assert_eq!(lines[4], "end");
}

/// A permission request with these additional fields.
fn claude_asks(host: &mut Host, id: &str, more: Value) -> Vec<ApprovalRequested> {
    let mut request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": format!("toolu_{id}")});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let line = json!({"type": "control_request", "request_id": id, "request": request});
    host.receive(format!("{line}\n").as_bytes())
}

#[test]
fn redacted_arguments_are_returned_unredacted_to_the_runner() {
    let mut host = Host::new("claude-code");
    host.receive(br#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#);
    host.receive(b"\n");
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(5).split_at(36).0);
    // A lone surrogate and a number beyond the precision of a double pass through unchanged.
    let input = format!(r#"{{"command":"push {secret}","odd":"\ud800","big":12345678901234567890123}}"#);
    let line = format!(
        r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{input}}}}}"#
    );
    let asked = host.receive(format!("{line}\n").as_bytes());
    assert!(!asked[0].args.get().contains(&secret), "{}", asked[0].args);
    assert!(host.dialogue.question("r1").unwrap().args.unwrap().get().contains(&secret), "a rule looks at the truth");
    host.answer("r1", decided(Decision::Approved)).unwrap();
    let Some(Outgoing::Input(sent)) = host.sent.last() else { panic!("nothing was sent") };
    let sent = String::from_utf8(sent.clone()).unwrap();
    assert!(sent.contains(&format!("\"updatedInput\":{input}")), "{sent}");
}

#[test]
fn lasting_permissions_use_the_rules_that_claude_code_offered() {
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "localSettings"});
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let offered = json!({"permission_suggestions": [rule, mode], "input": {}});
    let mut host = Host::new("claude-code");
    host.receive(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    for (id, scope, destination) in [("a", "always", "localSettings"), ("b", "session", "session")] {
        claude_asks(&mut host, id, offered.clone());
        host.answer(id, scoped(scope)).unwrap();
        let permissions = &host.lines().pop().unwrap()["response"]["response"]["updatedPermissions"];
        assert_eq!(permissions.as_array().unwrap().len(), 1, "rules alone: {permissions}");
        assert_eq!(permissions[0]["destination"], destination);
    }
    claude_asks(&mut host, "c", json!({"input": {}}));
    assert!(matches!(host.answer("c", scoped("session")), Err(SendError::Unsupported(_))));
    assert!(matches!(host.answer("c", scoped("for a while")), Err(SendError::Unsupported(_))));
    host.answer("c", decided(Decision::Cancelled)).unwrap();
    assert_eq!(host.lines().pop().unwrap()["response"]["response"]["interrupt"], true);
}

#[test]
fn unsupported_claude_code_requests_get_an_error() {
    let mut host = Host::new("claude-code");
    for (request, expected) in [
        (
            json!({"subtype": "hook_callback"}),
            json!({"subtype": "error", "request_id": "r", "error": "this host does not support hook_callback requests"}),
        ),
        (
            json!({}),
            json!({"subtype": "error", "request_id": "r", "error": "this host does not support nameless requests"}),
        ),
    ] {
        let line = json!({"type": "control_request", "request_id": "r", "request": request});
        host.receive(format!("{line}\n").as_bytes());
        assert_eq!(host.lines().pop().unwrap()["response"], expected);
    }
}

#[test]
fn withdrawn_claude_code_questions_cannot_be_answered() {
    let mut host = Host::new("claude-code");
    host.receive(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    for id in ["a", "b", "c"] {
        claude_asks(&mut host, id, json!({"input": {}}));
    }
    host.receive(b"{\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\n");
    assert!(host.dialogue.question("a").is_none() && host.dialogue.question("b").is_some());
    host.answer("c", decided(Decision::Approved)).unwrap();
    host.receive(
        b"{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"s\",\"is_error\":false,\"result\":\"\"}\n",
    );
    assert!(host.dialogue.question("b").is_none());
    let late = host.send(HostMessage::Answer { approval_id: "b".into(), answer: decided(Decision::Approved) });
    assert!(matches!(late, Err(SendError::UnknownQuestion(_))));
    host.finish();
    assert_eq!(host.decisions(), ["cancelled by runner", "approved by ann", "cancelled by runner"]);
}

#[test]
fn claude_code_gets_images_and_documents_before_the_text() {
    let file = |media_type: &str, content| PromptFile { media_type: media_type.to_owned(), name: None, content };
    let files = vec![
        file("image/png", FileContent::Base64("YQ==".to_owned())),
        file("image/*", FileContent::Url("https://a/b".to_owned())),
        file("application/pdf", FileContent::Base64("Yg==".to_owned())),
    ];
    let mut host = Host::new("claude-code");
    assert!(files.iter().all(|file| host.dialogue.takes(file)));
    for (media_type, content) in [("image/tiff", "YQ=="), ("image/*", "YQ=="), ("text/plain", "YQ==")] {
        assert!(!host.dialogue.takes(&file(media_type, FileContent::Base64(content.to_owned()))), "{media_type}");
    }
    host.open(Opening { prompt: "look".into(), files, ..Opening::default() });
    host.receive(fixture("claude-code/control_permission.ndjson").lines().next().unwrap().as_bytes());
    host.receive(b"\n");
    let expected = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YQ=="}},
        {"type": "image", "source": {"type": "url", "url": "https://a/b"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "Yg=="}},
        {"type": "text", "text": "look"},
    ]);
    assert_eq!(host.lines()[1]["message"]["content"], expected);
}
