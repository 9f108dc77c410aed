//! Codex.

use super::host::*;
use framegate_translators::frame::Decision;
use framegate_translators::host::{Answer, HostMessage, Opening, SendError};
use serde_json::{Value, json};

/// The lines of a recording's client, without the client's identity.
fn client(name: &str) -> Vec<Value> {
    let mut lines = lines(&format!("codex/client/{name}.jsonl"));
    for line in &mut lines {
        anonymous(line);
    }
    lines
}

fn anonymous(line: &mut Value) {
    if line["method"] == "initialize" {
        line["params"]["clientInfo"] = json!("somebody");
        line["params"]["capabilities"] = json!("some");
    }
}

/// Plays a recording to a host that sends the same prompts as the recorded client, and the same answers.
fn played(name: &str) -> Host {
    let client = client(name);
    let asks = |line: &&Value| line["method"] == "turn/start";
    let mut prompts =
        client.iter().filter(asks).map(|line| line["params"]["input"][0]["text"].as_str().unwrap().to_owned());
    let mut answers = client.iter().filter_map(|line| line["result"]["decision"].as_str());
    let interrupts = client.iter().any(|line| line["method"] == "turn/interrupt");
    let mut host = Host::new("codex");
    let cwd = Some("/workspace".to_owned());
    host.open(Opening { prompt: prompts.next().unwrap(), cwd, ..Opening::default() });
    for prompt in prompts {
        host.send(HostMessage::Prompt(prompt)).unwrap();
    }
    let mut interrupted = false;
    for line in fixture(&format!("codex/{name}.ndjson")).lines() {
        for request in host.receive(format!("{line}\n").as_bytes()) {
            let decision = match answers.next().expect("the client answered") {
                "accept" => Decision::Approved,
                "decline" => Decision::Rejected,
                other => panic!("{other}"),
            };
            host.answer(&request.approval_id, decided(decision)).unwrap();
        }
        if interrupts && !interrupted && line.contains("unifiedExecStartup") {
            interrupted = true;
            host.send(HostMessage::Interrupt).unwrap();
        }
    }
    host.finish();
    host
}

#[test]
fn codex_requests_match_a_recorded_client() {
    for name in [
        "appserver-approval-accept",
        "appserver-approval-decline",
        "appserver-filechange-approval",
        "appserver-interrupt-command",
        "appserver-two-turns",
        "appserver-text",
        "appserver-mixed",
        "appserver-compaction",
        "appserver-error-400",
        "appserver-subagent",
    ] {
        let mut sent = played(name).lines();
        for line in &mut sent {
            anonymous(line);
        }
        let mut expected = client(name);
        // Only some of the recorded clients announce capabilities; the host always does.
        for line in expected.iter_mut().filter(|line| line["method"] == "initialize") {
            anonymous(line);
        }
        assert_eq!(sent, expected, "{name}");
    }
}

#[test]
fn codex_decisions_are_reported_once() {
    assert_eq!(played("appserver-approval-accept").decisions(), ["approved by ann"]);
    assert_eq!(played("appserver-approval-decline").decisions(), ["rejected by ann"]);
    assert_eq!(played("appserver-filechange-approval").decisions(), ["approved by ann", "rejected by ann"]);
}

#[test]
fn codex_resumes_a_thread() {
    let host = codex();
    assert_eq!(host.lines()[2], json!({"id": 1, "method": "thread/resume", "params": {"threadId": "T", "model": "m"}}));
    let start = json!({"threadId": "T", "input": [{"type": "text", "text": "go"}]});
    assert_eq!(host.lines()[3], json!({"id": 2, "method": "turn/start", "params": start}));
}

#[test]
fn the_reason_for_a_missing_codex_thread_is_reported() {
    let mut host = Host::new("codex");
    host.open(Opening { prompt: "go".into(), session: Some("T".into()), ..Opening::default() });
    host.receive(b"{\"id\":0,\"result\":{}}\n");
    assert_eq!(host.dialogue.refusal(), None);
    host.receive(b"{\"id\":1,\"error\":{\"code\":-32600,\"message\":\"no rollout found for thread id T\"}}\n");
    assert_eq!(host.dialogue.refusal(), Some("no rollout found for thread id T"));
    assert_eq!(host.lines().len(), 3, "no turn is asked for");
}

#[test]
fn codex_answers_have_the_form_of_their_question() {
    let command = json!({"command": "ls", "proposedExecpolicyAmendment": ["ls"]});
    let form = json!({"message": "fill in", "requestedSchema": {"properties": {
        "age": {"type": "integer"}, "name": {"type": "string"}, "ok": {"type": "boolean"}}}});
    let input = json!({"questions": [{"id": "a", "question": "A?"}, {"id": "b", "question": "B?"}]});
    let none = json!({});
    let permissions = json!({"permissions": {"network": {"enabled": true}}});
    let cases: Vec<(&str, &Value, Answer, Value)> = vec![
        ("item/commandExecution/requestApproval", &command, scoped("session"), json!({"decision": "acceptForSession"})),
        (
            "item/commandExecution/requestApproval",
            &command,
            scoped("always"),
            json!({"decision": {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}}}),
        ),
        (
            "item/commandExecution/requestApproval",
            &command,
            decided(Decision::Cancelled),
            json!({"decision": "cancel"}),
        ),
        (
            "item/commandExecution/requestApproval",
            &command,
            decided(Decision::TimedOut),
            json!({"decision": "decline"}),
        ),
        ("execCommandApproval", &command, decided(Decision::Approved), json!({"decision": "approved"})),
        ("execCommandApproval", &command, decided(Decision::Rejected), json!({"decision": "denied"})),
        ("applyPatchApproval", &none, decided(Decision::Cancelled), json!({"decision": "abort"})),
        (
            "item/tool/requestUserInput",
            &input,
            chosen(&[&["x"], &["y", "z"]]),
            json!({"answers": {"a": {"answers": ["x"]}, "b": {"answers": ["y", "z"]}}}),
        ),
        ("item/tool/requestUserInput", &input, decided(Decision::Rejected), json!({"answers": {}})),
        (
            "mcpServer/elicitation/request",
            &form,
            chosen(&[&["41"], &["Ann"], &["true"]]),
            json!({"action": "accept", "content": {"age": 41, "name": "Ann", "ok": true}}),
        ),
        (
            "mcpServer/elicitation/request",
            &form,
            decided(Decision::Rejected),
            json!({"action": "decline", "content": null}),
        ),
        (
            "item/permissions/requestApproval",
            &permissions,
            scoped("session"),
            json!({"permissions": {"network": {"enabled": true}}, "scope": "session"}),
        ),
        (
            "item/permissions/requestApproval",
            &permissions,
            decided(Decision::Rejected),
            json!({"permissions": {}, "scope": "turn"}),
        ),
    ];
    for (nth, (method, params, answer, expected)) in cases.into_iter().enumerate() {
        let mut host = codex();
        // The server chooses the ids: numbers or texts, which are returned unchanged.
        let id = if nth % 2 == 0 { json!(nth) } else { json!(format!("n{nth}")) };
        let asked = codex_asks(&mut host, &id, method, params.clone());
        assert_eq!(asked.len(), 1, "{method}");
        host.answer(&asked[0].approval_id, answer.clone()).unwrap();
        assert_eq!(host.lines().last(), Some(&json!({"id": id, "result": expected})), "{method} {answer:?}");
        let again = host.send(HostMessage::Answer { approval_id: asked[0].approval_id.clone(), answer });
        assert!(matches!(again, Err(SendError::UnknownQuestion(_))), "{again:?}");
    }
}

#[test]
fn unsupported_codex_requests_get_an_error() {
    let mut host = codex();
    assert!(codex_asks(&mut host, &json!(9), "item/tool/call", json!({"tool": "x"})).is_empty());
    let line = host.lines().pop().unwrap();
    assert_eq!((&line["id"], &line["error"]["code"]), (&json!(9), &json!(-32601)));
    // A scope that the request does not offer is refused, and the request stays open.
    let asked = codex_asks(&mut host, &json!(1), "item/fileChange/requestApproval", json!({}));
    let refused = host.answer(&asked[0].approval_id, scoped("always"));
    assert!(matches!(refused, Err(SendError::Unsupported(_))), "{refused:?}");
    host.answer(&asked[0].approval_id, scoped("once")).unwrap();
}

#[test]
fn codex_questions_end_with_the_turn_or_another_clients_answer() {
    let mut host = codex();
    let first = codex_asks(&mut host, &json!(1), "item/commandExecution/requestApproval", json!({"command": "a"}));
    let second = codex_asks(&mut host, &json!(2), "item/commandExecution/requestApproval", json!({"command": "b"}));
    host.receive(b"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\",\"requestId\":1}}\n");
    assert!(host.dialogue.question(&first[0].approval_id).is_none());
    assert!(host.dialogue.question(&second[0].approval_id).is_some());
    host.receive(b"{\"method\":\"turn/completed\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"t1\",\"status\":\"interrupted\"}}}\n");
    assert!(host.dialogue.question(&second[0].approval_id).is_none());
    host.finish();
    assert_eq!(host.decisions(), ["cancelled by runner", "cancelled by runner"]);
}

#[test]
fn a_codex_interrupt_waits_for_the_turn_id() {
    let mut host = Host::new("codex");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    assert!(host.send(HostMessage::Interrupt).is_err(), "nothing runs");
    host.receive(b"{\"id\":0,\"result\":{}}\n{\"id\":1,\"result\":{\"thread\":{\"id\":\"T\"}}}\n");
    let before = host.lines().len();
    host.send(HostMessage::Interrupt).unwrap();
    assert_eq!(host.lines().len(), before);
    host.receive(b"{\"method\":\"turn/started\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"t1\"}}}\n");
    let interrupt = json!({"id": 3, "method": "turn/interrupt", "params": {"threadId": "T", "turnId": "t1"}});
    assert_eq!(host.lines()[before..], [interrupt]);
}

#[test]
fn a_mode_of_codex_is_its_sandbox_and_its_approval_policy() {
    let hello = "{\"id\":0,\"result\":{\"userAgent\":\"x\"}}\n";
    for (mode, session, sandbox, policy) in [
        ("read-only", None, "read-only", "on-request"),
        ("auto", Some("T".to_owned()), "workspace-write", "on-request"),
        ("full-access", None, "danger-full-access", "never"),
    ] {
        let mut host = Host::new("codex");
        host.open(Opening { prompt: "go".into(), mode: Some(mode.into()), session, ..Opening::default() });
        host.receive(hello.as_bytes());
        let thread = host.lines().pop().unwrap();
        let params = &thread["params"];
        assert_eq!((&params["sandbox"], &params["approvalPolicy"]), (&json!(sandbox), &json!(policy)), "{thread}");
    }
    let mut host = Host::new("codex");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    host.receive(hello.as_bytes());
    assert_eq!(host.lines().pop().unwrap()["params"], json!({}), "without a mode, Codex decides");
}
