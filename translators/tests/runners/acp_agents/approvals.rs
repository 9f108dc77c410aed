//! Questions whose answer is not in the input.

use super::{Body, Decision, Frame, Value, alone, answer, ask, json, prompt, stops, told, update};

/// A connection with the session S and a prompt, with the client's lines.
fn with_prompt(messages: &[Value]) -> Vec<Frame> {
    let mut all = vec![
        ask(0, "initialize", &json!({"protocolVersion": 1})),
        answer(0, &json!({"protocolVersion": 1})),
        ask(1, "session/new", &json!({"cwd": "/w", "mcpServers": []})),
        answer(1, &json!({"sessionId": "S"})),
        prompt(3, "S"),
    ];
    all.extend_from_slice(messages);
    told(&all)
}

#[test]
fn a_tool_that_runs_after_its_question_was_allowed() {
    let tool = |kind: &str, more: Value| {
        let mut fields = json!({"sessionUpdate": kind, "toolCallId": "c", "title": "sleep", "kind": "execute"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        update("S", &fields)
    };
    let question = ask(
        7,
        "session/request_permission",
        &json!({"sessionId": "S", "toolCall": {"toolCallId": "c"},
            "options": [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]}),
    );
    let decision_of = |with_client: bool, status: &str, evidence: Value| {
        let messages = [
            tool("tool_call", json!({"status": status})),
            question.clone(),
            tool("tool_call_update", evidence),
            tool("tool_call_update", json!({"status": "failed"})),
            stops(3, "cancelled"),
        ];
        let frames = if with_client { with_prompt(&messages) } else { alone(&messages) };
        frames
            .iter()
            .find_map(|frame| match &frame.body {
                Body::ApprovalResolved(answer) => Some(answer.decision),
                _ => None,
            })
            .unwrap()
    };
    let decision = |status: &str, evidence: Value| decision_of(false, status, evidence);
    let terminal = json!({"content": [{"type": "terminal", "terminalId": "t"}]});
    assert_eq!(decision("pending", json!({"status": "in_progress"})), Decision::Approved);
    assert_eq!(decision("in_progress", terminal), Decision::Approved);
    assert_eq!(decision("in_progress", json!({"status": "in_progress"})), Decision::Cancelled);
    // With the client's lines, only its answer counts.
    assert_eq!(decision_of(true, "pending", json!({"status": "in_progress"})), Decision::Cancelled);
}
