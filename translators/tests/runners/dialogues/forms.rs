//! Forms of MCP servers, passed on by Claude Code and Codex.

use super::host::*;
use framegate_translators::frame::{Body, Decision, Frame};
use framegate_translators::host::{Answer, SendError};
use serde_json::json;

/// The order of the fields is the order of the answers.
const FORM: &str =
    r#"{"type":"object","properties":{"zone":{"type":"string"},"count":{"type":"integer"}},"required":["zone"]}"#;

#[test]
fn an_mcp_servers_form_is_filled_in_field_by_field() {
    let claude = |host: &mut Host, id: &str, mode: &str, schema: &str| {
        let line = format!(
            r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"elicitation","mcp_server_name":"docs","message":"Where?","mode":"{mode}","requested_schema":{schema}}}}}"#
        );
        host.receive(format!("{line}\n").as_bytes())
    };
    let mut host = Host::new("claude-code");
    host.receive(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    let asked = claude(&mut host, "a", "form", FORM);
    assert_eq!((&*asked[0].tool_name, asked[0].reason.as_deref()), ("mcp_elicitation", Some("Where?")));
    assert!(asked[0].args.get().contains(FORM), "{}", asked[0].args);
    assert!(host.dialogue.question("a").unwrap().wants_answers);
    let invalid = host.answer("a", chosen(&[&["here"], &["many"]])).unwrap_err();
    assert_eq!(invalid.to_string(), "the field \"count\" requires a whole number");
    host.answer("a", chosen(&[&["here"], &["2"]])).unwrap();
    let response = |host: &mut Host| host.lines().pop().unwrap()["response"].clone();
    let content = json!({"action": "accept", "content": {"zone": "here", "count": 2}});
    assert_eq!(response(&mut host), json!({"subtype": "success", "request_id": "a", "response": &content}));
    claude(&mut host, "b", "form", FORM);
    host.answer("b", decided(Decision::Rejected)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "decline"}));
    // A URL to visit: an approval means that the user will visit it.
    claude(&mut host, "c", "url", FORM);
    assert!(!host.dialogue.question("c").unwrap().wants_answers);
    host.answer("c", decided(Decision::Approved)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "accept"}));
    claude(&mut host, "d", "form", FORM);
    host.answer("d", decided(Decision::Cancelled)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "cancel"}));
    claude(&mut host, "e", "form", FORM);
    host.receive(b"{\"type\":\"control_cancel_request\",\"request_id\":\"e\"}\n");
    assert!(host.dialogue.question("e").is_none());
    host.finish();
    let decisions =
        ["approved by ann", "rejected by ann", "approved by ann", "cancelled by ann", "cancelled by runner"];
    assert_eq!(host.decisions(), decisions);
    // Codex: the same form, in the same order.
    let mut host = codex();
    let codex_form = |host: &mut Host, id: u64, schema: &str| {
        let params = format!(
            r#"{{"threadId":"T","mode":"form","serverName":"docs","message":"Where?","requestedSchema":{schema}}}"#
        );
        let line = format!(r#"{{"id":{id},"method":"mcpServer/elicitation/request","params":{params}}}"#);
        host.receive(format!("{line}\n").as_bytes())
    };
    let asked = codex_form(&mut host, 7, FORM);
    assert!(asked[0].args.get().contains(FORM), "{}", asked[0].args);
    host.answer(&asked[0].approval_id, chosen(&[&["here"], &["2"]])).unwrap();
    assert_eq!(host.lines().last(), Some(&json!({"id": 7, "result": content})));
    // A form that cannot be filled in here is still announced. The host refuses answers with a reason.
    let why = "its field \"place\" is of the type \"object\"";
    let invalid = r#"{"properties":{"place":{"type":"object"}}}"#;
    let asked = codex_form(&mut host, 8, invalid);
    assert_eq!(host.dialogue.question(&asked[0].approval_id).unwrap().unanswerable.as_deref(), Some(why));
    assert_eq!(host.answer(&asked[0].approval_id, chosen(&[&["x"]])), Err(SendError::InvalidAnswer(why.to_owned())));
    host.answer(&asked[0].approval_id, decided(Decision::Rejected)).unwrap();
    let declined = json!({"id": 8, "result": {"action": "decline", "content": null}});
    assert_eq!(host.lines().last(), Some(&declined));
    // The host has the original values, which redaction removes from the frames.
    let secret = r#"{"properties":{"password":{"type":"string","default":"x1y2z3"}}}"#;
    let asked = codex_form(&mut host, 9, secret);
    assert!(!asked[0].args.get().contains("x1y2z3"), "{}", asked[0].args);
    host.answer(&asked[0].approval_id, chosen(&[&["p"]])).unwrap();
    assert_eq!(host.lines().last().unwrap()["result"]["content"], json!({"password": "p"}));
    for scope in ["session", "always"] {
        let asked = codex_form(&mut host, 10, FORM);
        let lasting = Answer { answers: vec![vec!["here".into()]], ..scoped(scope) };
        let refused = host.answer("request-10", lasting);
        assert!(matches!(refused, Err(SendError::Unsupported(_))), "{asked:?} {refused:?}");
    }
    // The decision of another client's answer to a form is unknown. Answered questions are always an approval.
    host.receive(b"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\",\"requestId\":10}}\n");
    codex_asks(&mut host, &json!(11), "item/tool/requestUserInput", json!({"questions": []}));
    host.receive(b"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\",\"requestId\":11}}\n");
    let decisions = host.decisions();
    assert_eq!(decisions[decisions.len() - 2..], ["cancelled by runner", "approved by runner"]);
    let settled = |frame: &Frame| matches!(&frame.body, Body::ApprovalResolved(answer) if answer.reason.as_deref() == Some(framegate_translators::host::SETTLED));
    assert_eq!(host.frames.iter().filter(|frame| settled(frame)).count(), 1);
    // The same for Claude Code.
    let mut host = Host::new("claude-code");
    host.receive(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    let asked = claude(&mut host, "f", "form", invalid);
    assert_eq!(host.dialogue.question("f").unwrap().unanswerable.as_deref(), Some(why), "{asked:?}");
    host.answer("f", decided(Decision::Rejected)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "decline"}));
    claude(&mut host, "g", "form", secret);
    let lasting = Answer { answers: vec![vec!["p".into()]], ..scoped("always") };
    assert!(matches!(host.answer("g", lasting), Err(SendError::Unsupported(_))));
    host.answer("g", chosen(&[&["p"]])).unwrap();
    assert_eq!(response(&mut host)["response"]["content"], json!({"password": "p"}));
}
