//! Calls: who proposes them, how they end, which arguments belong to which call, and the name of an approval without one.

use super::{data, events_of, frames};
use serde_json::{Value, json};

fn codex(method: &str, params: Value) -> Value {
    let mut params = params;
    params["threadId"] = json!("t");
    json!({"method": method, "params": params, "emittedAtMs": 1_770_000_000_000_u64})
}

#[test]
fn a_command_typed_by_the_user_is_not_proposed() {
    let command = |source: &str| {
        json!({"type": "commandExecution", "id": source, "command": "ls", "source": source, "status": "completed",
            "aggregatedOutput": "a\n", "exitCode": 0})
    };
    let turn = json!({"id": "u", "rootTurnId": "u", "items": [], "status": "completed"});
    let records = [
        codex("turn/started", json!({"turn": turn})),
        codex("item/started", json!({"turnId": "u", "item": command("userShell")})),
        codex("item/completed", json!({"turnId": "u", "item": command("userShell")})),
        codex("item/completed", json!({"turnId": "u", "item": command("agent")})),
        codex("turn/completed", json!({"turn": turn})),
    ];
    let calls = frames("codex", &records, &["tool_call_proposed", "tool_started", "tool_ended"]);
    let actual: Vec<_> =
        calls.iter().map(|call| (call["type"].as_str().unwrap(), call["call_id"].as_str().unwrap())).collect();
    assert_eq!(
        actual,
        [
            ("tool_started", "userShell"),
            ("tool_ended", "userShell"),
            ("tool_call_proposed", "agent"),
            ("tool_started", "agent"),
            ("tool_ended", "agent")
        ]
    );
    let hecate = super::events_of("codex", "hecate.v1", &records);
    assert_eq!(data(&hecate, "type", "assistant.tool_call_proposed", "data").len(), 1);
}

#[test]
fn user_commands_of_a_session_file_are_not_proposed() {
    let line =
        |payload: Value| json!({"timestamp": "2026-02-02T02:40:00.000Z", "type": "event_msg", "payload": payload});
    let begun = |id: &str, source: &str| {
        line(json!({"type": "exec_command_begin", "call_id": id, "command": ["ls"], "source": source}))
    };
    let item = json!({"type": "CommandExecution", "id": "item", "command": ["ls"], "source": "user_shell",
        "status": "completed", "aggregated_output": "", "exit_code": 0});
    let records = [
        line(json!({"type": "task_started", "turn_id": "u"})),
        begun("event", "user_shell"),
        line(
            json!({"type": "exec_command_begin", "call_id": "old", "command": ["ls"], "user_initiated_shell_command": true}),
        ),
        begun("model", "agent"),
        line(json!({"type": "item_completed", "turn_id": "u", "item": item})),
        line(json!({"type": "task_complete", "turn_id": "u"})),
    ];
    let calls = frames("codex", &records, &["tool_call_proposed"]);
    let proposed: Vec<_> = calls.iter().map(|call| call["call_id"].as_str().unwrap()).collect();
    assert_eq!(proposed, ["model"]);
}

#[test]
fn an_output_that_reports_a_failure_fails_the_tool() {
    let line =
        |kind: &str, payload: Value| json!({"timestamp": "2026-02-02T02:40:00.000Z", "type": kind, "payload": payload});
    let call = |kind: &str, id: &str, name: &str| {
        line("response_item", json!({"type": kind, "call_id": id, "name": name, "arguments": "{}", "input": "x"}))
    };
    let output = |kind: &str, id: &str, output: Value| {
        line("response_item", json!({"type": kind, "call_id": id, "output": output}))
    };
    let cases = [
        ("custom_tool_call", "exec", json!("Script failed\nWall time 0.1 seconds\nOutput:\n\nError: boom\n"), 1),
        ("custom_tool_call", "exec", json!("Script completed\nWall time 0.1 seconds\nOutput:\n\nScript failed\n"), 0),
        (
            "custom_tool_call",
            "exec",
            json!([{"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\n"}]),
            1,
        ),
        ("function_call", "view_image", json!("unable to locate image at `/w/no.png`: No such file or directory"), 1),
        ("function_call", "view_image", json!("unable to process image at `/w/a.txt`: not an image"), 1),
        ("function_call", "view_image", json!("attached local image path"), 0),
        (
            "function_call",
            "lookup",
            json!("Wall time: 0.2 seconds\nOutput:\ntool call error: tool call failed for `a/b`"),
            1,
        ),
        ("function_call", "lookup", json!("Wall time: 0.2 seconds\nOutput:\n3"), 0),
    ];
    let mut records = vec![line("event_msg", json!({"type": "task_started", "turn_id": "u"}))];
    for (nth, (kind, name, said, _)) in cases.iter().enumerate() {
        let id = format!("c{nth}");
        records.push(call(kind, &id, name));
        records.push(output(&format!("{kind}_output"), &id, said.clone()));
    }
    records.push(line("event_msg", json!({"type": "task_complete", "turn_id": "u"})));
    let ended = frames("codex", &records, &["tool_ended"]);
    let codes: Vec<_> = ended.iter().map(|end| end["exit_code"].as_i64().unwrap()).collect();
    let expected: Vec<_> = cases.iter().map(|(.., code)| *code).collect();
    assert_eq!(codes, expected);
    let results = events_of("codex", "agent-manager.v1", &records);
    let success: Vec<_> =
        data(&results, "eventType", "tool_result", "data").iter().map(|data| data["success"] == true).collect();
    assert_eq!(success, expected.iter().map(|code| *code == 0).collect::<Vec<_>>());
}

#[test]
fn a_web_search_is_a_search_in_every_runner() {
    let message = |name: &str, kind: &str| {
        let key = if name == "WebFetch" { "url" } else { "query" };
        let block = json!({"type": kind, "id": name, "name": name, "input": {key: "rust"}});
        json!({"type": "assistant", "session_id": "s", "message": {"id": name, "model": "m", "content": [block]}})
    };
    let records = [
        message("WebSearch", "tool_use"),
        message("web_search", "server_tool_use"),
        message("WebFetch", "tool_use"),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": "", "session_id": "s"}),
    ];
    let calls = frames("claude-code", &records, &["tool_started"]);
    let kinds: Vec<_> = calls.iter().map(|call| call["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["search", "search", "fetch"]);
    let hecate = events_of("claude-code", "hecate.v1", &records);
    let kinds: Vec<_> = data(&hecate, "type", "tool.started", "data").iter().map(|data| data["kind"].clone()).collect();
    assert_eq!(kinds, [json!("web_search"), json!("web_search"), json!("web_fetch")]);
}

/// A stream of the Responses API with two calls.
fn two_calls(events: &[Value]) -> Vec<Value> {
    let created = json!({"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress", "output": []}});
    let completed = json!({"type": "response.completed", "response": {"id": "r", "object": "response", "status": "completed",
        "output": [function(0, "a", r#"{"x":1}"#), function(1, "b", r#"{"y":2}"#)]}});
    [&[created], events, &[completed]].concat()
}

fn function(_: u64, id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "name": id,
        "arguments": arguments, "status": "completed"})
}

fn added(index: u64, id: &str) -> Value {
    let item = json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"), "name": id,
        "arguments": "", "status": "in_progress"});
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn arguments(index: u64, id: &str, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "item_id": format!("fc_{id}"), "output_index": index, "delta": delta})
}

fn whole(index: u64, id: &str, arguments: &str) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": function(index, id, arguments)})
}

#[test]
fn arguments_of_parallel_calls_are_kept_apart() {
    let orders: [Vec<Value>; 5] = [
        // The second call's arguments start before the first call's, and before it is announced.
        vec![
            added(0, "a"),
            arguments(1, "b", "{\"y\""),
            arguments(0, "a", "{\"x\""),
            arguments(1, "b", ":2}"),
            arguments(0, "a", ":1}"),
        ],
        // Both are announced; the pieces alternate.
        vec![
            added(0, "a"),
            added(1, "b"),
            arguments(1, "b", "{\"y\""),
            arguments(0, "a", "{\"x\""),
            arguments(1, "b", ":2}"),
            arguments(0, "a", ":1}"),
        ],
        // The second call is never announced, and uses the first call's index.
        vec![
            added(0, "a"),
            arguments(0, "a", "{\"x\""),
            arguments(0, "b", "{\"y\""),
            arguments(0, "a", ":1}"),
            arguments(0, "b", ":2}"),
        ],
        // The first call is announced at the index that the second call's arguments use.
        vec![
            added(1, "a"),
            arguments(0, "a", "{\"x\""),
            arguments(1, "b", "{\"y\""),
            arguments(0, "a", ":1}"),
            arguments(1, "b", ":2}"),
        ],
        // All at one index, as some servers announce them.
        vec![added(0, "a"), added(0, "b"), arguments(0, "a", "{\"x\":1}"), arguments(0, "b", "{\"y\":2}")],
    ];
    for (nth, order) in orders.into_iter().enumerate() {
        let records = two_calls(&[order, vec![whole(0, "a", r#"{"x":1}"#), whole(1, "b", r#"{"y":2}"#)]].concat());
        let calls = frames("open-responses", &records, &["tool_call_proposed"]);
        let mut actual: Vec<_> = calls.iter().map(|call| (call["name"].clone(), call["args"].clone())).collect();
        actual.sort_by_key(|(name, _)| name.to_string());
        assert_eq!(actual, [(json!("a"), json!({"x": 1})), (json!("b"), json!({"y": 2}))], "order {nth}");
        let mut pieces = std::collections::BTreeMap::<String, String>::new();
        for piece in frames("open-responses", &records, &["tool_input_delta"]) {
            pieces.entry(piece["tool_id"].to_string()).or_default().push_str(piece["delta"].as_str().unwrap());
        }
        let mut pieces: Vec<_> = pieces.into_values().collect();
        pieces.sort();
        assert_eq!(pieces, [r#"{"x":1}"#, r#"{"y":2}"#], "order {nth}");
    }
}

#[test]
fn an_mcp_error_without_a_message_has_its_type() {
    let ended = |error: Value| {
        let item = json!({"type": "mcp_call", "id": "m", "status": "failed", "server_label": "s", "name": "n",
            "arguments": "{}", "output": null, "error": error});
        let records = [
            json!({"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress"}}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": {"id": "r", "object": "response", "status": "completed"}}),
        ];
        let events = events_of("open-responses", "agent-manager.v1", &records);
        data(&events, "eventType", "tool_result", "data")[0]["error"].as_str().unwrap().to_owned()
    };
    assert_eq!(ended(json!({"type": "mcp_tool_execution_error", "content": []})), "mcp_tool_execution_error");
    assert_eq!(
        ended(json!({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": ""}]})),
        "mcp_tool_execution_error"
    );
    assert_eq!(ended(json!({"type": "http_error", "code": 404, "message": ""})), "http_error (404)");
    assert_eq!(ended(json!({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no"}]})), "no");
}

#[test]
fn questions_without_an_id_are_requested_and_resolved() {
    let event = |kind: &str, properties: Value| json!({"id": "e", "type": kind, "properties": properties});
    let asked = |id: &str, call: &str| {
        event(
            "permission.asked",
            json!({"id": id, "sessionID": "s", "permission": "bash", "patterns": ["ls"],
            "metadata": {}, "always": [], "tool": {"messageID": "m", "callID": call}}),
        )
    };
    let records = [
        event("session.status", json!({"sessionID": "s", "status": {"type": "busy"}})),
        asked("", "one"),
        asked("", "two"),
        event("permission.replied", json!({"sessionID": "s", "requestID": "", "reply": "once"})),
        event("permission.replied", json!({"sessionID": "s", "requestID": "", "reply": "reject"})),
        event("session.status", json!({"sessionID": "s", "status": {"type": "idle"}})),
    ];
    let actual = frames("opencode", &records, &["approval_requested", "approval_resolved"]);
    let ids: Vec<_> = actual.iter().map(|frame| frame["approval_id"].as_str().unwrap()).collect();
    assert!(ids.iter().all(|id| !id.is_empty()), "{ids:?}");
    assert_eq!(ids[0], ids[2]);
    assert_eq!(ids[1], ids[3]);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_stopped_task_has_a_reason() {
    let system = |subtype: &str, more: Value| {
        let mut record = json!({"type": "system", "subtype": subtype, "session_id": "s", "task_id": "b"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let begun = || {
        vec![
            json!({"type": "system", "subtype": "init", "session_id": "s"}),
            json!({"type": "assistant", "session_id": "s", "message": {"id": "m", "model": "x", "content": [
                {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "sleep 9", "description": "Endless job"}}]}}),
            system("task_started", json!({"tool_use_id": "c", "description": "Endless job", "is_backgrounded": true})),
        ]
    };
    let reason = |more: Vec<Value>| {
        let frames = events_of("claude-code", "frames.v2", &[begun(), more].concat());
        let cancelled: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_task_cancelled").collect();
        assert_eq!(cancelled.len(), 1, "{frames:#?}");
        cancelled[0]["reason"].as_str().unwrap().to_owned()
    };
    let stopped = json!({"status": "stopped", "output_file": "", "summary": "Endless job"});
    assert_eq!(reason(vec![system("task_notification", stopped.clone())]), "stopped");
    let killed = system("task_updated", json!({"patch": {"status": "killed", "error": "killed by the user"}}));
    assert_eq!(reason(vec![killed, system("task_notification", stopped.clone())]), "killed by the user");
    let mut why = stopped.clone();
    why["reason"] = json!("the session ended");
    assert_eq!(reason(vec![system("task_notification", why)]), "the session ended");
    let wanted = json!({"type": "assistant", "session_id": "s", "message": {"id": "n", "model": "x", "content": [
        {"type": "tool_use", "id": "k", "name": "TaskStop", "input": {"task_id": "b"}}]}});
    assert_eq!(reason(vec![wanted, system("task_notification", stopped)]), "the model called TaskStop");
}

#[test]
fn output_whose_beginning_arrives_last_is_in_order() {
    let command = |status: &str, output: Value| {
        json!({"type": "commandExecution", "id": "c", "command": "make", "status": status, "aggregatedOutput": output,
            "exitCode": if status == "completed" { json!(0) } else { Value::Null }})
    };
    let delta =
        |text: &str| codex("item/commandExecution/outputDelta", json!({"turnId": "u", "itemId": "c", "delta": text}));
    let turn = json!({"id": "u", "items": [], "status": "completed"});
    let records = |whole: &str| {
        vec![
            codex("turn/started", json!({"turn": turn})),
            codex("item/started", json!({"turnId": "u", "item": command("inProgress", Value::Null)})),
            delta("two\n"),
            delta("three\n"),
            codex("item/completed", json!({"turnId": "u", "item": command("completed", json!(whole))})),
            codex("turn/completed", json!({"turn": turn})),
        ]
    };
    for whole in ["one\ntwo\nthree\n", "two\nthree\n", "two\nthree\nfour\n"] {
        let v1 = events_of("codex", "frames.v1", &records(whole));
        let pieces: String = v1
            .iter()
            .filter(|frame| frame["type"] == "tool_stdout")
            .map(|frame| frame["chunk"].as_str().unwrap())
            .collect();
        assert_eq!(pieces, whole);
    }
    let hecate = events_of("codex", "hecate.v1", &records("one\ntwo\nthree\n"));
    let chunks = data(&hecate, "type", "tool.shell.output_chunk", "data");
    let front: Vec<_> = chunks.iter().filter(|chunk| chunk["position"] == "front").collect();
    assert_eq!(front.len(), 1, "{chunks:#?}");
    assert_eq!((&front[0]["data"], &front[0]["byte_offset"]), (&json!("one\n"), &json!(0)));
    assert_eq!(data(&hecate, "type", "tool.shell.exited", "data")[0]["stdout_bytes"], 14);
}
