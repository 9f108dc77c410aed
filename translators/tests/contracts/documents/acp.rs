//! `acp.v1`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const NAME: &str = "acp.v1";

fn update(update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})
}

/// The output of another agent, from its start: no numbers, ids of its own, kinds that framegate does not write.
fn of_an_agent() -> Vec<Value> {
    let text = json!({"type": "text", "text": "x"});
    vec![
        json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}),
        update(
            &json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "init", "description": "d", "input": null}]}),
        ),
        update(&json!({"sessionUpdate": "agent_thought_chunk", "content": text})),
        update(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "image", "data": "", "mimeType": "image/png"}, "messageId": null}),
        ),
        update(
            &json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "", "rawInput": [1], "_meta": {"agent": 1}}),
        ),
        json!({"jsonrpc": "2.0", "id": 0, "method": "session/request_permission", "params": {
            "sessionId": "s", "toolCall": {"toolCallId": "c", "status": null}, "options": [],
        }}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "terminal/create", "params": {"sessionId": "s", "command": "ls", "args": []}}),
        update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress", "content": [{"type": "terminal", "terminalId": "t"}]}),
        ),
        update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})),
        json!({"jsonrpc": "2.0", "method": "_agent/note"}),
        update(
            &json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": {"amount": 0.1, "currency": "USD"}}),
        ),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn", "usage": null}}),
        // Housekeeping may follow, and the next prompt's turn.
        update(&json!({"sessionUpdate": "session_info_update", "title": null})),
        update(&json!({"sessionUpdate": "agent_message_chunk", "content": text, "messageId": "m"})),
        json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "x", "data": null}}),
    ]
}

#[test]
fn the_output_of_other_agents_passes() {
    passes(NAME, "an agent's whole output", &of_an_agent());
}

#[test]
fn what_clients_accept_although_it_is_unusual_is_a_warning() {
    let all = of_an_agent();
    warns(NAME, "no answer", &all[..13], &[(0, "end.missing")]);
    let mut unannounced = all.clone();
    unannounced.remove(5);
    warns(NAME, "no tool_call", &unannounced, &[(6, "call.unknown"), (9, "call.unknown")]);
    let mut open = all.clone();
    open.remove(10);
    warns(NAME, "a call that stays open", &open, &[(13, "call.left_open")]);
}

#[test]
fn what_clients_drop_or_refuse_is_an_error() {
    let with = |message: Value| {
        let mut messages = of_an_agent();
        messages.insert(11, message);
        messages
    };
    for (what, message, rule) in [
        ("an unknown kind", update(&json!({"sessionUpdate": "agent_text"})), "schema.type"),
        ("an unknown method", json!({"jsonrpc": "2.0", "method": "agent/note", "params": {}}), "schema.type"),
        ("no type", json!({"jsonrpc": "2.0", "id": 9}), "schema.type"),
        ("no version", json!({"id": 9, "result": {}}), "schema"),
        ("no content", update(&json!({"sessionUpdate": "agent_message_chunk"})), "schema"),
        (
            "no title",
            update(&json!({"sessionUpdate": "tool_call", "toolCallId": "d", "status": "completed"})),
            "schema",
        ),
        (
            "a status",
            update(&json!({"sessionUpdate": "tool_call", "toolCallId": "d", "title": "t", "status": "done"})),
            "schema",
        ),
        (
            "a priority",
            update(&json!({"sessionUpdate": "plan", "entries": [{"content": "", "priority": 1, "status": "pending"}]})),
            "schema",
        ),
        (
            "reopened",
            update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "pending"})),
            "call.reopened",
        ),
        ("a reason", json!({"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "error"}}), "schema"),
    ] {
        let found = super::found(NAME, &with(message), None);
        let first =
            found.iter().find(|located| located.finding.severity == framegate_translators::verify::Severity::Error);
        assert_eq!(first.map(|located| (located.record, located.finding.rule)), Some((12, rule)), "{what}: {found:#?}");
    }
    let again = of_an_agent()[6].clone();
    fails(NAME, "two questions with one id", &with(again), &[(12, "question.repeat")]);
}
