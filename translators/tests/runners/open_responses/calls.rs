//! Calls of client tools and of server tools.

use super::{added, completed, created, done, frame_lines, items, line};
use crate::support;
use framegate_translators::runners::runner;
use serde_json::{Value, json};

#[test]
fn a_split_character_in_arguments_is_joined() {
    let delta = |text: &str| -> String {
        format!(r#"{{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{text}"}}"#)
    };
    let lines = [
        created().to_string(),
        added(0, json!({"type": "function_call", "id": "f", "call_id": "c", "name": "say", "arguments": ""})).to_string(),
        delta(r#"{\"t\":\"\ud83d"#),
        delta(r#"\ude00\"}"#),
        done(0, json!({"type": "function_call", "id": "f", "call_id": "c", "name": "say", "arguments": "{\"t\":\"\u{1F600}\"}"})).to_string(),
    ];
    let frames = support::frames(runner("open-responses").unwrap(), lines.join("\n").as_bytes());
    let actual: Vec<String> = frames.iter().filter_map(line).collect();
    assert_eq!(
        actual[..3],
        ["input c say {\"t\":\"", "input c say \u{1F600}\"}", "propose c say other {\"t\":\"\u{1F600}\"}"]
    );
}

#[test]
fn arguments_may_be_empty_an_object_or_invalid_json() {
    let call = |n: u32, arguments: Value| json!({"type": "function_call", "id": format!("f{n}"), "call_id": format!("c{n}"), "name": "f", "arguments": arguments});
    assert_eq!(
        items(&[call(0, json!("")), call(1, json!({"a": 1})), call(2, json!("{\n\"a\": 1}")), call(3, json!("[1]"))]),
        [
            "propose c0 f other {}",
            "propose c1 f other {\"a\":1}",
            "propose c2 f other {\"a\":1}",
            "propose c3 f other \"[1]\"",
            "end completed None"
        ]
    );
}

#[test]
fn a_call_that_starts_complete_is_proposed_once() {
    let call = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": "{\"a\":1}", "status": "completed"});
    assert_eq!(
        frame_lines(&[created(), added(0, call.clone()), completed(json!([]))])[0],
        "propose c g other {\"a\":1}"
    );
    assert_eq!(
        frame_lines(&[created(), added(0, call.clone()), done(0, call.clone()), completed(json!([call]))]).len(),
        2
    );
}

#[test]
fn an_incomplete_call_of_a_failed_response_is_not_proposed() {
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": {"code": "x", "message": "y"},
        "output": [{"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": "{\"a\"", "status": "in_progress"}]}});
    let begun = added(0, json!({"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": ""}));
    assert_eq!(
        frame_lines(&[created(), begun, failed]),
        ["log a call of g was cut off and is not proposed", "error run x y false", "end failed x None"]
    );
}

#[test]
fn client_side_calls_are_only_proposed() {
    assert_eq!(
        items(&[
            json!({"type": "local_shell_call", "id": "a", "call_id": "c1", "status": "completed", "action": {"type": "exec", "command": ["ls"]}}),
            json!({"type": "shell_call", "id": "b", "call_id": "c2", "status": "completed", "action": {"commands": ["ls"]}, "environment": {"type": "local"}}),
            json!({"type": "apply_patch_call", "id": "c", "call_id": "c3", "status": "completed", "operation": {"type": "delete_file", "path": "x"}}),
            json!({"type": "computer_call", "id": "d", "call_id": "c4", "status": "completed", "action": {"type": "click", "x": 1, "y": 2}}),
            json!({"type": "tool_search_call", "id": "e", "call_id": "c5", "execution": "client", "arguments": {"q": 1}}),
            json!({"type": "custom_tool_call", "id": "f", "call_id": "c6", "name": "sql", "input": "{}"}),
        ]),
        [
            "propose c1 local_shell shell {\"command\":[\"ls\"],\"type\":\"exec\"}",
            "propose c2 shell shell {\"commands\":[\"ls\"]}",
            "propose c3 apply_patch edit {\"path\":\"x\",\"type\":\"delete_file\"}",
            "propose c4 computer other {\"type\":\"click\",\"x\":1,\"y\":2}",
            "propose c5 tool_search search {\"q\":1}",
            "propose c6 sql other \"{}\"",
            "end completed None"
        ]
    );
}

#[test]
fn an_mcp_call_runs_once_its_arguments_are_known() {
    let item = json!({"type": "mcp_call", "id": "m", "server_label": "docs", "name": "find", "arguments": "", "status": "in_progress"});
    let end = json!({"type": "mcp_call", "id": "m", "server_label": "docs", "name": "find", "arguments": "{\"q\":1}",
        "output": "found", "error": null, "status": "completed"});
    assert_eq!(
        frame_lines(&[
            created(),
            added(0, item),
            json!({"type": "response.mcp_call.in_progress", "item_id": "m", "output_index": 0}),
            json!({"type": "response.mcp_call_arguments.delta", "item_id": "m", "output_index": 0, "delta": "{\"q\":1}"}),
            json!({"type": "response.mcp_call_arguments.done", "item_id": "m", "output_index": 0, "arguments": "{\"q\":1}"}),
            json!({"type": "response.mcp_call.completed", "item_id": "m", "output_index": 0}),
            done(0, end.clone()),
            completed(json!([end])),
        ]),
        [
            "input m mcp__docs__find {\"q\":1}",
            "propose m mcp__docs__find mcp {\"q\":1}",
            "start m {\"q\":1}",
            "out m found",
            "ended m 0",
            "end completed None"
        ]
    );
}

#[test]
fn an_mcp_failure_is_attributed_to_the_tool_or_the_server() {
    let call = |error: Value| {
        items(&[json!({"type": "mcp_call", "id": "m", "server_label": "d", "name": "f", "arguments": "{}", "error": error, "status": "failed"})])[2..].to_vec()
    };
    let execution = json!({"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no such page"}]});
    assert_eq!(call(execution), ["err m no such page", "ended m 1", "end completed None"]);
    assert_eq!(
        call(json!({"type": "http_error", "code": 502, "message": "bad gateway"})),
        ["failed m bad gateway", "end completed None"]
    );
    assert_eq!(call(json!("broken")), ["err m broken", "ended m 1", "end completed None"]);
}

#[test]
fn a_question_is_opened_and_resolved() {
    assert_eq!(
        items(&[
            json!({"type": "mcp_approval_request", "id": "q", "server_label": "d", "name": "rm", "arguments": "{\"p\":1}"})
        ]),
        ["ask q mcp__d__rm {\"p\":1}", "answer q cancelled", "end completed None"]
    );
}

#[test]
fn hosted_tools_are_started() {
    assert_eq!(
        items(&[
            json!({"type": "code_interpreter_call", "id": "a", "status": "completed", "container_id": "k", "code": "1+1",
                "outputs": [{"type": "logs", "logs": "2"}, {"type": "image", "url": "data:image/png;base64,AAAA"}]}),
            json!({"type": "file_search_call", "id": "b", "status": "completed", "queries": ["q"], "results": [{"text": "t"}]}),
            json!({"type": "web_search_call", "id": "c", "status": "failed", "action": {"type": "search", "query": "q"}}),
            json!({"type": "image_generation_call", "id": "d", "status": "generating", "result": "AAAA", "revised_prompt": "a cat"}),
            json!({"type": "web_search_call", "id": "e", "status": "incomplete"}),
        ]),
        [
            "propose a code_interpreter other {\"code\":\"1+1\"}",
            "start a {\"code\":\"1+1\"}",
            "out a 2",
            "ended a 0",
            "propose b file_search search {\"queries\":[\"q\"]}",
            "start b {\"queries\":[\"q\"]}",
            "out b [{\"text\":\"t\"}]",
            "ended b 0",
            "propose c web_search search {\"query\":\"q\",\"type\":\"search\"}",
            "start c {\"query\":\"q\",\"type\":\"search\"}",
            "ended c 1",
            "propose d image_generation other {}",
            "start d {}",
            "out d a cat",
            "ended d 0",
            "log a call of web_search was cut off and is not proposed",
            "end completed None"
        ]
    );
}

#[test]
fn a_tool_without_an_item_ends_with_its_last_progress_event() {
    let stage = |stage: &str| json!({"type": format!("response.image_generation_call.{stage}"), "item_id": "i", "output_index": 0});
    assert_eq!(
        frame_lines(&[
            created(),
            added(0, json!({"type": "image_generation_call", "id": "i", "status": "in_progress"})),
            stage("generating"),
            stage("completed"),
            completed(json!([])),
        ]),
        ["propose i image_generation other {}", "start i {}", "ended i 0", "end completed None"]
    );
}

#[test]
fn a_server_side_shell_streams_its_output() {
    let call = json!({"type": "shell_call", "id": "s", "call_id": "c", "status": "completed", "action": {"commands": ["x"]},
        "environment": {"type": "container_reference", "container_id": "k"}});
    let output = json!({"type": "shell_call_output", "id": "o", "call_id": "c", "status": "completed",
        "output": [{"stdout": "one two", "stderr": "oh", "outcome": {"type": "exit", "exit_code": 3}}]});
    let begun = json!({"type": "shell_call_output", "id": "o", "call_id": "c", "status": "in_progress", "output": []});
    let piece = |text: &str| {
        json!({"type": "response.shell_call_output_content.delta", "item_id": "o", "output_index": 1,
        "command_index": 0, "delta": {"stdout": text}})
    };
    assert_eq!(
        frame_lines(&[
            created(),
            done(0, call.clone()),
            added(1, begun),
            piece("one "),
            done(1, output.clone()),
            completed(json!([call, output]))
        ]),
        [
            "propose c shell shell {\"commands\":[\"x\"]}",
            "start c {\"commands\":[\"x\"]}",
            "out c one ",
            "out c two",
            "err c oh",
            "ended c 3",
            "end completed None"
        ]
    );
    let late = json!({"type": "shell_call_output", "id": "o", "call_id": "c", "output": [{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}]});
    let call = json!({"type": "shell_call", "id": "s", "call_id": "c", "action": {"commands": ["x"]}});
    assert_eq!(
        items(&[call, late])[1..],
        ["start c {\"commands\":[\"x\"]}", "failed c the command took too long", "end completed None"]
    );
}

#[test]
fn an_output_in_the_response_means_that_the_server_ran_the_call() {
    assert_eq!(
        items(&[
            json!({"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": "{}"}),
            json!({"type": "function_call_output", "id": "o", "call_id": "c", "output": [{"type": "input_text", "text": "yes"}], "status": "completed"}),
            json!({"type": "tool_search_call", "id": "t", "call_id": null, "execution": "server", "arguments": {"q": 1}}),
            json!({"type": "tool_search_output", "id": "u", "call_id": null, "execution": "server", "tools": []}),
        ]),
        [
            "propose c g other {}",
            "start c {}",
            "out c yes",
            "ended c 0",
            "propose t tool_search search {\"q\":1}",
            "start t {\"q\":1}",
            "out t []",
            "ended t 0",
            "end completed None"
        ]
    );
}
