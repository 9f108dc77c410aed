//! What the format of Open Responses describes and no recording shows: small streams, written by hand.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

fn frames_of(events: &[Value]) -> Vec<Frame> {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    support::frames(runner("open-responses").unwrap(), lines.join("\n").as_bytes())
}

/// The frames in few words, without those that every run has. `~` marks what is on the thread.
fn told(events: &[Value]) -> Vec<String> {
    frames_of(events).iter().filter_map(line).collect()
}

fn line(frame: &Frame) -> Option<String> {
    let text = match &frame.body {
        Body::OutputTextDelta(block) => format!("text {}/{} +{}", block.message_id, block.block_index, block.delta),
        Body::OutputTextCompleted(block) => format!("text {}/{} ={}", block.message_id, block.block_index, block.text),
        Body::ReasoningDelta(block) => format!("think {}/{} +{}", block.message_id, block.block_index, block.delta),
        Body::ReasoningCompleted { block, opaque } => {
            let opaque = if opaque.is_some() { " opaque" } else { "" };
            format!("think {}/{} ={}{opaque}", block.message_id, block.block_index, block.text)
        }
        Body::ToolInputDelta { tool, name, delta } => format!("input {} {name} {delta}", tool.call_id),
        Body::ToolCallProposed(call) => {
            format!("propose {} {} {} {}", call.tool.call_id, call.name, call.kind.as_str(), call.args)
        }
        Body::ToolStarted { call, .. } => format!("start {} {}", call.tool.call_id, call.args),
        Body::ToolStdout { tool, chunk } => format!("out {} {chunk}", tool.call_id),
        Body::ToolStderr { tool, chunk } => format!("err {} {chunk}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("ended {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error}", tool.call_id),
        Body::ApprovalRequested(ask) => format!("ask {} {} {}", ask.approval_id, ask.tool_name, ask.args),
        Body::ApprovalResolved(answer) => format!("answer {} {}", answer.approval_id, answer.decision.as_str()),
        Body::ErrorReported(error) => {
            format!("error {} {} {} {}", error.scope.as_str(), error.code, error.message, error.retryable)
        }
        Body::UsageReported(usage) => format!(
            "usage {} {} {:?} {:?} {:?} {:?}",
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_creation_tokens,
            usage.reasoning_tokens,
            usage.cost_usd
        ),
        Body::UserMessage(message) => format!("user {}", message.text),
        Body::HistoryCompacted { .. } => "compacted".to_owned(),
        Body::LogEmitted { message, .. } => format!("log {message}"),
        Body::SessionEnded(end) => match &end.error_code {
            Some(code) => format!("end {} {code} {:?}", end.reason.as_str(), end.final_text),
            None => format!("end {} {:?}", end.reason.as_str(), end.final_text),
        },
        Body::ProviderEvent(_) if frame.stream.kind == StreamKind::Thread => "record".to_owned(),
        _ => return None,
    };
    Some(if frame.stream.kind == StreamKind::Thread { format!("~{text}") } else { text })
}

fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "r", "model": "m", "status": "in_progress"}})
}

fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": output}})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// The events of one response that puts out these items, each whole at once.
fn items(items: &[Value]) -> Vec<String> {
    let mut events = vec![created()];
    events.extend(items.iter().enumerate().map(|(index, item)| done(index as u64, item.clone())));
    events.push(completed(json!(items)));
    told(&events)
}

// --- text ------------------------------------------------------------------------------------------------------------

#[test]
fn text_without_any_id_or_index_is_one_block_a_part() {
    assert_eq!(
        told(&[
            created(),
            json!({"type": "response.output_text.delta", "delta": "a"}),
            json!({"type": "response.output_text.delta", "delta": ""}),
            json!({"type": "response.output_text.delta", "delta": "b"}),
            json!({"type": "response.output_text.done", "text": "ab"}),
            json!({"type": "response.content_part.done", "part": {"type": "output_text", "text": "ab"}}),
            json!({"type": "response.output_text.delta", "delta": "c"}),
            completed(json!([{"type": "message", "content": [
                {"type": "output_text", "text": "ab"}, {"type": "output_text", "text": "c"}]}])),
        ]),
        [
            "text r/0/0 +a",
            "text r/0/0 +b",
            "text r/0/0 =ab",
            "text r/0/1 +c",
            "text r/0/1 =c",
            "end completed Some(\"abc\")"
        ]
    );
}

#[test]
fn ids_that_change_with_every_event_do_not_matter() {
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "r1", "status": "in_progress"}}),
        json!({"type": "response.in_progress", "response": {"id": "r2", "status": "in_progress"}}),
        added(0, json!({"type": "message", "id": "i1", "role": "assistant"})),
    ];
    for (nth, delta) in ["a", "b", "c"].iter().enumerate() {
        events.push(json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0,
            "item_id": format!("x{nth}"), "delta": delta}));
    }
    events.push(json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "item_id": "y", "text": "abc"}));
    let message =
        json!({"type": "message", "id": "z", "role": "assistant", "content": [{"type": "output_text", "text": "abc"}]});
    events.push(done(0, message.clone()));
    events.push(
        json!({"type": "response.completed", "response": {"id": "r9", "status": "completed", "output": [message]}}),
    );
    assert_eq!(
        told(&events),
        ["text i1/0 +a", "text i1/0 +b", "text i1/0 +c", "text i1/0 =abc", "end completed Some(\"abc\")"]
    );
}

#[test]
fn a_snapshot_says_what_was_not_streamed() {
    let message = |text: &str| json!({"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    // Only at the end; only in the item; the rest of what was streamed.
    assert_eq!(told(&[created(), completed(json!([message("ab")]))])[..2], ["text m/0 +ab", "text m/0 =ab"]);
    assert_eq!(items(&[message("ab")]), ["text m/0 +ab", "text m/0 =ab", "end completed Some(\"ab\")"]);
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "a"});
    assert_eq!(
        told(&[created(), delta, completed(json!([message("ab")]))]),
        ["text m/0 +a", "text m/0 +b", "text m/0 =ab", "end completed Some(\"ab\")"]
    );
}

#[test]
fn a_message_that_was_streamed_is_not_taken_for_its_neighbour() {
    let delta = |id: &str, text: &str| json!({"type": "response.output_text.delta", "item_id": id, "output_index": 0, "delta": text});
    let message = |id: &str, text: &str| json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    assert_eq!(
        told(&[created(), delta("b", "second"), completed(json!([message("a", "first"), message("b", "second")]))]),
        [
            "text b/0 +second",
            "text a/0 +first",
            "text a/0 =first",
            "text b/0 =second",
            "end completed Some(\"second\")"
        ]
    );
}

#[test]
fn reasoning_has_its_secret_once() {
    let item = |summary: Value| json!({"type": "reasoning", "id": "t", "summary": summary, "encrypted_content": "S"});
    let streamed = told(&[
        created(),
        json!({"type": "response.reasoning_summary_text.delta", "item_id": "t", "output_index": 0, "summary_index": 0, "delta": "a"}),
        json!({"type": "response.reasoning_summary_text.done", "item_id": "t", "output_index": 0, "summary_index": 0, "text": "a"}),
        done(0, item(json!([{"type": "summary_text", "text": "a"}]))),
        completed(json!([item(json!([{"type": "summary_text", "text": "a"}]))])),
    ]);
    assert_eq!(streamed, ["think t/0 +a", "think t/0 =a", "think t/1 = opaque", "end completed None"]);
    assert_eq!(
        items(&[item(json!([{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]))]),
        ["think t/0 +a", "think t/0 =a", "think t/1 +b", "think t/1 =b opaque", "end completed None"]
    );
    assert_eq!(items(&[item(json!([]))]), ["think t/0 = opaque", "end completed None"]);
}

#[test]
fn summary_and_content_of_reasoning_are_blocks_of_their_own() {
    let both = json!({"type": "reasoning", "id": "t", "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}]});
    assert_eq!(
        items(&[both]),
        ["think t/0 +short", "think t/0 =short", "think t/1 +long", "think t/1 =long", "end completed None"]
    );
}

#[test]
fn reasoning_in_a_message_is_the_message_s() {
    let message = json!({"type": "message", "id": "m", "role": "assistant", "content": [
        {"type": "reasoning_text", "text": "hm"}, {"type": "output_text", "text": "yes"}]});
    assert_eq!(
        told(&[
            created(),
            added(0, json!({"type": "message", "id": "m", "role": "assistant", "content": []})),
            json!({"type": "response.reasoning_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "hm"}),
            done(0, message),
            completed(json!([])),
        ]),
        ["think m/0 +hm", "think m/0 =hm", "text m/1 +yes", "text m/1 =yes", "end completed Some(\"yes\")"]
    );
}

#[test]
fn what_others_said_is_theirs() {
    let user = json!({"type": "message", "id": "u", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let system =
        json!({"type": "message", "id": "s", "role": "system", "content": [{"type": "input_text", "text": "be good"}]});
    let compaction = json!({"type": "compaction", "id": "c", "encrypted_content": "S"});
    assert_eq!(items(&[user, system, compaction]), ["user hi", "compacted", "end completed None"]);
}

// --- calls -----------------------------------------------------------------------------------------------------------

#[test]
fn a_split_character_in_arguments_is_one() {
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
    let told: Vec<String> = frames.iter().filter_map(line).collect();
    assert_eq!(
        told[..3],
        ["input c say {\"t\":\"", "input c say \u{1F600}\"}", "propose c say other {\"t\":\"\u{1F600}\"}"]
    );
}

#[test]
fn arguments_may_be_nothing_an_object_or_no_json() {
    let call = |n: u32, arguments: Value| json!({"type": "function_call", "id": format!("f{n}"), "call_id": format!("c{n}"), "name": "f", "arguments": arguments});
    assert_eq!(
        items(&[call(0, json!("")), call(1, json!({"a": 1})), call(2, json!("{\n\"a\": 1}")), call(3, json!("[1]"))]),
        [
            "propose c0 f other {}",
            "propose c1 f other {\"a\":1}",
            "propose c2 f other { \"a\": 1}",
            "propose c3 f other \"[1]\"",
            "end completed None"
        ]
    );
}

#[test]
fn a_call_that_is_whole_when_it_begins_is_proposed_once() {
    let call = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": "{\"a\":1}", "status": "completed"});
    assert_eq!(told(&[created(), added(0, call.clone()), completed(json!([]))])[0], "propose c g other {\"a\":1}");
    assert_eq!(told(&[created(), added(0, call.clone()), done(0, call.clone()), completed(json!([call]))]).len(), 2);
}

#[test]
fn a_call_that_was_under_way_when_the_response_failed_is_not_proposed() {
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": {"code": "x", "message": "y"},
        "output": [{"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": "{\"a\"", "status": "in_progress"}]}});
    let begun = added(0, json!({"type": "function_call", "id": "f", "call_id": "c", "name": "g", "arguments": ""}));
    assert_eq!(
        told(&[created(), begun, failed]),
        ["log a call of g was cut off and is not proposed", "error run x y false", "end failed x None"]
    );
}

#[test]
fn what_the_client_runs_is_proposed_only() {
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
        told(&[
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
fn an_mcp_failure_is_the_tool_s_or_the_server_s() {
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
fn a_question_is_asked_and_closed() {
    assert_eq!(
        items(&[
            json!({"type": "mcp_approval_request", "id": "q", "server_label": "d", "name": "rm", "arguments": "{\"p\":1}"})
        ]),
        ["ask q mcp__d__rm {\"p\":1}", "answer q cancelled", "end completed None"]
    );
}

#[test]
fn hosted_tools_run() {
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
fn a_tool_whose_item_never_came_ends_by_its_last_stage() {
    let stage = |stage: &str| json!({"type": format!("response.image_generation_call.{stage}"), "item_id": "i", "output_index": 0});
    assert_eq!(
        told(&[
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
fn a_shell_of_the_server_streams_its_output() {
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
        told(&[
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
fn an_output_in_the_response_says_that_the_server_ran_the_call() {
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

// --- errors and ends -------------------------------------------------------------------------------------------------

#[test]
fn an_error_is_told_once_and_the_end_decides() {
    let error =
        json!({"type": "error", "error": {"type": "server_error", "code": "boom", "message": "m", "param": null}});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "status": "failed", "error": {"code": "boom", "message": "m"}}});
    assert_eq!(told(&[created(), error.clone(), failed]), ["error provider boom m false", "end failed boom None"]);
    assert_eq!(told(&[created(), error.clone()]), ["error provider boom m false", "end failed boom None"]);
    assert_eq!(told(&[created(), error, completed(json!([]))]), ["error provider boom m false", "end completed None"]);
    let flat = json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null});
    assert_eq!(
        told(&[flat]),
        ["error provider rate_limit_exceeded slow down true", "end failed rate_limit_exceeded None"]
    );
    let bare = json!({"error": {"message": "gone", "type": "api_error", "code": 502}});
    assert_eq!(
        told(&[created(), bare, completed(json!([]))]),
        ["error provider 502 gone true", "end failed 502 None", "~record"]
    );
    assert_eq!(told(&[json!({"error": "no"})]), ["error provider error no false", "end failed error None"]);
}

#[test]
fn everything_is_closed_before_the_turn_is() {
    let running = json!({"type": "image_generation_call", "id": "i", "status": "in_progress"});
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 1, "delta": "a"});
    let failed = json!({"type": "response.failed", "response": {"id": "r", "error": {"code": "x", "message": "y"}}});
    let frames = frames_of(&[created(), added(0, running), delta, failed]);
    let kinds: Vec<&str> =
        frames.iter().map(|frame| frame.body.kind()).filter(|kind| *kind != "provider_event").collect();
    assert_eq!(kinds[5..], ["tool_failed", "output_text_completed", "error_reported", "turn_ended", "session_ended"]);
}

#[test]
fn a_proxy_s_completed_may_be_incomplete_or_cancelled() {
    let end = |status: &str, details: Value| {
        told(&[
            created(),
            json!({"type": "response.completed", "response": {"id": "r", "status": status, "incomplete_details": details}}),
        ])
    };
    assert_eq!(end("incomplete", Value::Null), ["end interrupted incomplete None"]);
    assert_eq!(end("incomplete", json!({"reason": "content_filter"})), ["end interrupted content_filter None"]);
    assert_eq!(end("cancelled", Value::Null), ["end interrupted cancelled None"]);
    assert_eq!(end("failed", Value::Null), ["end failed failed None"]);
    assert_eq!(end("strange", Value::Null), ["end completed None"]);
}

#[test]
fn usage_is_split_into_what_the_cache_gave_and_took() {
    let usage = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}, "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 109, "cost": 0.5});
    let end = json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "usage": usage}});
    assert_eq!(
        told(&[created(), end.clone(), end]),
        ["usage 10 9 Some(60) Some(30) Some(4) Some(0.5)", "end completed None", "~record"]
    );
}

#[test]
fn a_new_response_is_a_new_run_and_what_follows_an_end_is_none() {
    let delta = |text: &str| json!({"type": "response.output_text.delta", "item_id": "m", "delta": text});
    assert_eq!(
        told(&[
            created(),
            delta("a"),
            completed(json!([])),
            delta("stray"),
            created(),
            delta("b"),
            completed(json!([]))
        ]),
        [
            "text m/0 +a",
            "text m/0 =a",
            "end completed Some(\"a\")",
            "~record",
            "text m/0 +b",
            "text m/0 =b",
            "end completed Some(\"b\")"
        ]
    );
}

#[test]
fn responses_side_by_side_are_told_apart() {
    let made = |id: &str| json!({"type": "response.created", "response": {"id": id, "status": "in_progress"}});
    let delta = |id: &str, item: &str| json!({"type": "response.output_text.delta", "response_id": id, "item_id": item, "delta": item});
    let end = |id: &str| json!({"type": "response.completed", "response": {"id": id, "status": "completed"}});
    let events =
        [made("r1"), made("r2"), delta("r1", "a"), delta("r2", "b"), delta("", "a"), end("r1"), end("r1"), end("r2")];
    assert_eq!(
        told(&events),
        [
            "text a/0 +a",
            "text b/0 +b",
            "text a/0 +a",
            "text a/0 =aa",
            "end completed Some(\"aa\")",
            "~record",
            "text b/0 =b",
            "end completed Some(\"b\")"
        ]
    );
}

#[test]
fn a_whole_response_object_is_a_run() {
    let response = json!({"object": "response", "id": "r", "status": "completed", "conversation": {"id": "conv_1"},
        "output": [{"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}]});
    let frames = frames_of(std::slice::from_ref(&response));
    assert_eq!(told(&[response]), ["text m/0 +hi", "text m/0 =hi", "end completed Some(\"hi\")"]);
    assert_eq!(&*frames[0].stream.session.name, "conv_1");
}

#[test]
fn an_event_name_does_for_a_type() {
    let stream = "event: response.created\ndata: {\"object\":\"response\",\"id\":\"r\"}\n\n\
        event: error\ndata: {\"error\":{\"code\":\"x\",\"message\":\"y\"}}\n\n\
        event: response.failed\ndata: {\"response\":{\"id\":\"r\",\"error\":{\"code\":\"x\",\"message\":\"y\"}}}\n\n";
    let frames = support::frames(runner("open-responses").unwrap(), stream.as_bytes());
    let told: Vec<String> = frames.iter().filter_map(line).collect();
    assert_eq!(told, ["error provider x y false", "end failed x None"]);
}

#[test]
fn what_is_no_part_of_a_response_begins_no_run() {
    for event in [
        json!({"type": "keepalive", "sequence_number": 1}),
        json!({"type": "acme:telemetry", "sequence_number": 1}),
        json!({"type": "image_generation.completed", "b64_json": "AAAA"}),
        json!({"object": "chat.completion.chunk"}),
    ] {
        assert_eq!(told(&[event]), ["~record"]);
    }
}

#[test]
fn faults_say_what_and_where() {
    let fault = |event: Value| {
        let frames = frames_of(&[event]);
        let record = frames
            .iter()
            .find_map(|frame| if let Body::ProviderEvent(record) = &frame.body { Some(record) } else { None });
        record.unwrap().errors.clone()
    };
    assert_eq!(fault(json!({"type": "ping"})), ["unknown event type"]);
    assert_eq!(fault(json!({"type": "acme:ping"})), Vec::<String>::new());
    assert_eq!(fault(json!({"a": 1})), ["the event does not say its type"]);
    assert_eq!(
        fault(
            json!({"type": "response.output_text.delta", "sequence_number": 1, "item_id": "m", "output_index": 0, "content_index": "0", "delta": "x"})
        ),
        ["/content_index: value is not of type \"integer\""]
    );
    let item = json!({"type": "message", "id": "m", "status": "ready", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]});
    let mut event = done(0, item);
    event["sequence_number"] = json!(1);
    assert_eq!(
        fault(event),
        [
            "/item/content/0: \"annotations\" is a required property",
            "/item/status: value is not one of \"in_progress\", \"completed\" or \"incomplete\""
        ]
    );
}
