//! Qwen Code.

use super::host::*;
use framegate_translators::frame::Decision;
use framegate_translators::host::{Answer, FileContent, HostMessage, Opening, PromptFile, SendError};
use serde_json::{Value, json};

fn opened() -> Host {
    let mut host = Host::new("qwen-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    host
}

fn response(id: &str, response: Value) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": response}})
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null, "session_id": ""})
}

/// The runner answers the first request.
fn ready(host: &mut Host) {
    let answer = json!({"subtype": "initialize", "session_id": "s", "capabilities": {}});
    host.receive(format!("{}\n", response("req_1", answer)).as_bytes());
}

fn asks(host: &mut Host, id: &str, tool: &str, input: &Value) -> usize {
    let request = json!({"subtype": "can_use_tool", "tool_name": tool, "tool_use_id": format!("call_{id}"), "input": input,
        "permission_suggestions": [{"type": "allow", "label": "Allow"}], "blocked_path": null});
    let line = json!({"type": "control_request", "request_id": id, "request": request});
    host.receive(format!("{line}\n").as_bytes()).len()
}

#[test]
fn qwen_code_waits_for_the_answer_to_the_first_request() {
    let mut host = opened();
    host.send(HostMessage::Prompt("and then".into())).unwrap();
    let first = json!({"subtype": "initialize", "timeout": {"canUseTool": 600_000}});
    let first = json!({"type": "control_request", "request_id": "req_1", "request": first});
    assert_eq!(host.lines(), std::slice::from_ref(&first));
    ready(&mut host);
    host.send(HostMessage::Prompt("at last".into())).unwrap();
    host.send(HostMessage::Interrupt).unwrap();
    host.send(HostMessage::Close).unwrap();
    let interrupt = json!({"type": "control_request", "request_id": "req_2", "request": {"subtype": "interrupt"}});
    assert_eq!(host.lines(), [first, prompt("go"), prompt("and then"), prompt("at last"), interrupt, json!("end")]);
    assert_eq!(host.dialogue.refusal(), None);
}

#[test]
fn qwen_code_may_refuse_to_begin() {
    let mut host = opened();
    let error = json!({"subtype": "error", "request_id": "req_1", "error": "no model"});
    host.receive(format!("{}\n", json!({"type": "control_response", "response": error})).as_bytes());
    assert_eq!(host.dialogue.refusal(), Some("no model"));
    assert_eq!(host.lines().len(), 1, "no prompt follows");
}

#[test]
fn recorded_questions_of_qwen_code_are_answered_once() {
    for (file, decision, answered, told) in [
        ("in-allow.partial.jsonl", Decision::Approved, json!({"behavior": "allow"}), "approved by ann"),
        ("in-deny.jsonl", Decision::Rejected, json!({"behavior": "deny", "message": "not now"}), "rejected by ann"),
    ] {
        let mut host = opened();
        let mut id = None;
        for line in fixture(&format!("qwen-code/{file}")).lines() {
            for request in host.receive(format!("{line}\n").as_bytes()) {
                assert_eq!(
                    host.dialogue.question(&request.approval_id).unwrap().args.unwrap().get(),
                    request.args.get()
                );
                let answer = Answer { reason: Some("not now".into()), ..decided(decision) };
                host.answer(&request.approval_id, answer).unwrap();
                id = Some(request.approval_id);
            }
        }
        host.finish();
        let id = id.unwrap();
        assert_eq!(host.lines().pop().unwrap(), response(&id, answered), "{file}");
        assert_eq!(host.decisions(), [told], "{file}");
        assert!(host.dialogue.question(&id).is_none());
    }
}

#[test]
fn qwen_code_is_allowed_one_call_at_a_time() {
    let mut host = opened();
    ready(&mut host);
    assert_eq!(asks(&mut host, "a", "edit", &json!({})), 1);
    for scope in ["session", "always"] {
        assert!(matches!(host.answer("a", scoped(scope)), Err(SendError::Unsupported(_))), "{scope}");
    }
    host.answer("a", scoped("once")).unwrap();
    let late = host.send(HostMessage::Answer { approval_id: "a".into(), answer: decided(Decision::Approved) });
    assert!(matches!(late, Err(SendError::UnknownQuestion(_))));
}

#[test]
fn the_questions_of_qwen_code_are_answered_by_position() {
    let mut host = opened();
    ready(&mut host);
    let input = json!({"questions": [{"question": "Which color?"}, {"question": "How many?"}]});
    asks(&mut host, "a", "ask_user_question", &input);
    assert!(host.dialogue.question("a").unwrap().wants_answers);
    host.answer("a", chosen(&[&["Blue", "Red"], &["2"]])).unwrap();
    let sent = host.lines().pop().unwrap();
    let updated = &sent["response"]["response"]["updatedInput"];
    assert_eq!(updated["answers"], json!({"0": "Blue, Red", "1": "2"}));
    assert_eq!(updated["questions"], input["questions"]);
}

#[test]
fn the_end_of_a_run_closes_the_questions_of_qwen_code() {
    let mut host = opened();
    ready(&mut host);
    host.receive(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"qwen_code_version\":\"1\"}\n");
    asks(&mut host, "a", "edit", &json!({}));
    host.receive(
        b"{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"s\",\"is_error\":false,\"result\":\"\"}\n",
    );
    assert!(host.dialogue.question("a").is_none());
    host.finish();
    assert_eq!(host.decisions(), ["cancelled by runner"]);
}

#[test]
fn other_requests_and_files_are_not_supported_for_qwen_code() {
    let mut host = opened();
    ready(&mut host);
    let line = json!({"type": "control_request", "request_id": "r", "request": {"subtype": "mcp_message"}});
    host.receive(format!("{line}\n").as_bytes());
    let error =
        json!({"subtype": "error", "request_id": "r", "error": "this host does not support mcp_message requests"});
    assert_eq!(host.lines().pop().unwrap()["response"], error);
    let file = PromptFile { media_type: "image/png".into(), name: None, content: FileContent::Base64("YQ==".into()) };
    assert!(!host.dialogue.takes(&file), "a prompt is a text");
}
