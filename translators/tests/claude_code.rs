//! What the Claude Code recordings do not have, but its format does: small records written by hand.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::frame::{Body, Frame, StreamKind, TaskEvent};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

fn frames(records: &[Value]) -> Vec<Frame> {
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    support::frames(runner("claude-code").unwrap(), lines.concat().as_bytes())
}

/// The frames besides the records, one line each.
fn told(records: &[Value]) -> Vec<String> {
    frames(records).iter().filter_map(line).collect()
}

fn line(frame: &Frame) -> Option<String> {
    let indent = if frame.parent_tool_id.is_some() { "  " } else { "" };
    let stream = match frame.stream.kind {
        StreamKind::Session => "",
        StreamKind::Thread => "thread ",
        StreamKind::Task => "task ",
        StreamKind::Artifact => "artifact ",
    };
    let text = match &frame.body {
        Body::ProviderEvent(record) if record.errors.is_empty() => return None,
        Body::ProviderEvent(record) => format!("fault {}", record.errors.join("; ")),
        Body::OutputTextDelta(_) | Body::ReasoningDelta(_) | Body::ToolCallProposed(_) => return None,
        Body::SessionStarted { input } => format!("start {input:?}"),
        Body::SessionEnded(end) => format!(
            "end {} {} {:?}",
            end.reason.as_str(),
            end.error_code.as_deref().unwrap_or("-"),
            end.final_text.as_deref().unwrap_or("-")
        ),
        Body::TurnStarted { .. } => "turn".to_owned(),
        Body::TurnEnded { stop_reason, .. } => format!("turn over {}", stop_reason.as_deref().unwrap_or("-")),
        Body::UserMessage(message) => format!("user {:?} {}", message.text, message.attachments.len()),
        Body::OutputTextCompleted(block) => format!("text {} {:?}", block.block_index, block.text),
        Body::ReasoningCompleted { block, .. } => format!("thought {} {:?}", block.block_index, block.text),
        Body::ToolStarted { call, .. } => format!("call {} {} {}", call.tool.call_id, call.name, call.args.get()),
        Body::ToolStdout { tool, chunk } => format!("output {} {chunk:?}", tool.call_id),
        Body::ToolEnded { tool, exit_code, .. } => format!("returned {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::UsageReported(usage) => format!(
            "usage {} {}/{} {:?}",
            usage.scope.as_str(),
            usage.input_tokens,
            usage.output_tokens,
            usage.cost_usd
        ),
        Body::ApprovalRequested(ask) => format!("ask {}", ask.approval_id),
        Body::ApprovalResolved(answer) => format!("answer {} {}", answer.approval_id, answer.decision.as_str()),
        Body::PlanUpdated { entries } => {
            let entries: Vec<_> = entries.iter().map(|entry| format!("{} {}", entry.status, entry.content)).collect();
            format!("plan {}", entries.join(", "))
        }
        Body::LogEmitted { level, message } => format!("{} {message}", level.as_str()),
        Body::ErrorReported(error) => format!("error {} {} {}", error.scope.as_str(), error.code, error.message),
        Body::SubagentStarted { subagent_id, depth, .. } => format!("agent {subagent_id} at {depth}"),
        Body::SubagentEnded { subagent_id, status, .. } => format!("agent {subagent_id} {status}"),
        Body::HistoryCompacted { summary, .. } => format!("compacted {}", summary.as_deref().unwrap_or("-")),
        Body::Task(event) => match &**event {
            TaskEvent::Spawned { tool_name, .. } => format!("spawned {tool_name}"),
            TaskEvent::Status { status, .. } => status.as_str().to_owned(),
            _ => frame.body.kind().to_owned(),
        },
        body => body.kind().to_owned(),
    };
    Some(format!("{stream}{indent}{text}"))
}

fn with_session(mut record: Value) -> Value {
    record["session_id"] = json!(SESSION);
    record
}

fn init() -> Value {
    with_session(json!({"type": "system", "subtype": "init", "model": "m"}))
}

fn said(id: &str, block: Value, parent: Option<&str>) -> Value {
    let message = json!({"id": id, "model": "m", "content": [block], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}});
    with_session(json!({"type": "assistant", "message": message, "parent_tool_use_id": parent}))
}

fn text(id: &str, text: &str) -> Value {
    said(id, json!({"type": "text", "text": text}), None)
}

fn call(id: &str, call_id: &str, name: &str, input: Value) -> Value {
    said(id, json!({"type": "tool_use", "id": call_id, "name": name, "input": input}), None)
}

fn returned(call_id: &str, content: Value, is_error: bool, parent: Option<&str>) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error});
    with_session(json!({"type": "user", "message": {"role": "user", "content": [block]}, "parent_tool_use_id": parent}))
}

fn event(event: Value) -> Value {
    with_session(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}))
}

fn system(mut fields: Value) -> Value {
    fields["type"] = json!("system");
    with_session(fields)
}

fn result(text: &str) -> Value {
    with_session(json!({"type": "result", "subtype": "success", "is_error": false, "result": text}))
}

#[test]
fn nested_and_parallel_children_are_told_apart() {
    let agent = |id: &str, call_id: &str, parent| {
        let block = json!({"type": "tool_use", "id": call_id, "name": "Agent", "input": {"prompt": "p"}});
        said(id, block, parent)
    };
    let say = |id: &str, parent: &str| said(id, json!({"type": "text", "text": id}), Some(parent));
    let records = [
        init(),
        agent("m1", "a", None),
        agent("m1", "b", None),
        say("ma", "a"),
        agent("mb", "c", Some("b")),
        say("mc", "c"),
        say("ma2", "a"),
        returned("c", json!("c done"), false, Some("b")),
        returned("a", json!("a done"), false, None),
        returned("b", json!("b broke"), true, None),
        text("m2", "both"),
        result("both"),
    ];
    let lines = told(&records);
    let agents: Vec<_> = lines.iter().filter(|line| line.contains("agent ")).map(|line| line.trim()).collect();
    assert_eq!(
        agents,
        ["agent a at 1", "agent b at 1", "agent c at 2", "agent c completed", "agent a completed", "agent b failed"]
    );
    let frames = frames(&records);
    let parent_of = |message: &str| {
        let at = frames
            .iter()
            .find(|frame| matches!(&frame.body, Body::OutputTextCompleted(block) if *block.message_id == *message));
        at.unwrap().parent_tool_id
    };
    let tool = |call_id: &str| {
        let at = frames.iter().find_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } if *call.tool.call_id == *call_id => {
                Some((call.tool.id, frame.parent_tool_id))
            }
            _ => None,
        });
        at.unwrap()
    };
    assert_eq!(parent_of("ma2"), Some(tool("a").0));
    assert_eq!(parent_of("mc"), Some(tool("c").0));
    assert_eq!(tool("c").1, Some(tool("b").0));
    assert_eq!(lines.iter().filter(|line| line.starts_with("turn") && !line.contains("over")).count(), 2);
}

#[test]
fn a_question_can_be_withdrawn_or_answered_in_the_stream() {
    let ask = |id: &str, call_id: &str| json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": call_id}});
    let lines = told(&[
        init(),
        call("m", "t1", "Bash", json!({"command": "a"})),
        ask("q1", "t1"),
        json!({"type": "control_cancel_request", "request_id": "q1"}),
        call("m", "t2", "Bash", json!({"command": "b"})),
        ask("q2", "t2"),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "q2", "response": {"behavior": "deny", "message": "no"}}}),
        call("m", "t3", "Bash", json!({"command": "c"})),
        ask("q3", "t3"),
        result(""),
    ]);
    let asked: Vec<_> = lines.iter().filter(|line| line.contains("ask") || line.contains("answer")).collect();
    assert_eq!(
        asked,
        ["ask q1", "answer q1 cancelled", "ask q2", "answer q2 rejected", "ask q3", "answer q3 cancelled"]
    );
    assert!(lines.contains(&"failed t3 \"the run ended before the tool did\"".to_owned()), "{lines:#?}");
}

#[test]
fn a_start_that_fails_is_a_run() {
    let record = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": SESSION,
        "errors": ["No conversation found"], "usage": {"input_tokens": 0, "output_tokens": 0}, "total_cost_usd": 0});
    let lines = told(&[record]);
    assert_eq!(
        lines,
        [
            "start \"\"",
            "error run error_during_execution No conversation found",
            "end failed error_during_execution \"-\""
        ]
    );
}

#[test]
fn all_frames_in_one_array_are_one_record() {
    let array = Value::Array(vec![init(), text("m", "hi"), result("hi")]);
    let all = frames(std::slice::from_ref(&array));
    assert_eq!(all.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count(), 1);
    let lines = told(&[array]);
    assert!(
        lines.ends_with(&["text 0 \"hi\"".into(), "turn over -".into(), "end completed - \"hi\"".into()]),
        "{lines:?}"
    );
}

#[test]
fn clearing_the_conversation_does_not_end_the_turn() {
    let other = "22222222-2222-4222-8222-222222222222";
    let mut init2 = init();
    init2["session_id"] = json!(other);
    let mut end = result("");
    end["session_id"] = json!(other);
    let lines =
        told(&[init(), with_session(json!({"type": "conversation_reset", "new_conversation_id": other})), init2, end]);
    assert_eq!(lines, ["start \"\"", "end completed - \"-\""]);
}

#[test]
fn running_totals_become_differences() {
    let turn = |total: f64| {
        let mut end = result("x");
        end["total_cost_usd"] = json!(total);
        end["usage"] = json!({"input_tokens": 1, "output_tokens": 2});
        [init(), end]
    };
    let lines = told(&[turn(0.5), turn(0.75), turn(0.25)].concat());
    let usages: Vec<_> = lines.iter().filter(|line| line.starts_with("usage")).collect();
    assert_eq!(usages, ["usage run 1/2 Some(0.5)", "usage run 1/2 Some(0.25)", "usage run 1/2 Some(0.25)"]);
}

#[test]
fn an_old_log_has_whole_messages_and_no_ids_of_records() {
    let message = json!({"id": "m", "model": "claude-3", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Planning"},
        {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": [{"content": "a", "status": "pending"}]}},
    ], "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}});
    let lines = told(&[
        with_session(json!({"type": "user", "message": {"role": "user", "content": "Do it"}})),
        with_session(json!({"type": "assistant", "message": message})),
        returned("t", json!("ok"), false, None),
        text("m2", "Done"),
        with_session(
            json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done", "total_cost": 0.5,
            "usage": {"input_tokens": 3, "output_tokens": 9}}),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "start \"Do it\"",
            "user \"Do it\" 0",
            "turn",
            "thought 0 \"hm\"",
            "text 1 \"Planning\"",
            "call t TodoWrite {\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}",
            "plan pending a",
            "output t \"ok\"",
            "returned t 0",
            "turn over -",
            "turn",
            "text 0 \"Done\"",
            "turn over -",
            "usage run 3/9 Some(0.5)",
            "end completed - \"Done\"",
        ]
    );
}

#[test]
fn a_command_that_goes_to_the_background_is_a_task() {
    let mut moved = returned("t", json!("moved to the background"), false, None);
    moved["tool_use_result"] = json!({"stdout": "", "backgroundTaskId": "b1"});
    let lines = told(&[
        init(),
        call("m", "t", "Bash", json!({"command": "long"})),
        system(
            json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "task_type": "local_bash", "is_backgrounded": false}),
        ),
        moved,
        text("m2", "later"),
        result("later"),
        system(json!({"subtype": "task_updated", "task_id": "b1", "patch": {"status": "failed", "end_time": 5}})),
        system(
            json!({"subtype": "task_notification", "task_id": "b1", "tool_use_id": "t", "status": "failed", "summary": "failed with exit code 3"}),
        ),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": true})),
    ]);
    let tasks: Vec<_> = lines.iter().filter(|line| line.starts_with("task")).collect();
    assert_eq!(tasks, ["task spawned Bash", "task running", "task failed"]);
}

#[test]
fn a_long_call_can_be_sent_to_the_background() {
    let lines = told(&[
        init(),
        call("m", "t", "Bash", json!({"command": "long"})),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": false})),
        system(json!({"subtype": "task_updated", "task_id": "b1", "patch": {"is_backgrounded": true}})),
        call("m2", "s", "TaskStop", json!({"task_id": "b1"})),
        system(
            json!({"subtype": "task_notification", "task_id": "b1", "tool_use_id": "t", "status": "stopped", "summary": "long"}),
        ),
    ]);
    let tasks: Vec<_> = lines.iter().filter(|line| line.starts_with("task")).collect();
    assert_eq!(
        tasks,
        [
            "task spawned Bash",
            "task running",
            "task tool_task_cancel_requested",
            "task tool_task_cancelled",
            "task cancelled"
        ]
    );
}

#[test]
fn a_task_whose_end_was_told_but_not_announced_ends_so() {
    let lines = told(&[
        init(),
        call("m", "t", "Bash", json!({"command": "long"})),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": true})),
        system(json!({"subtype": "task_updated", "task_id": "b1", "patch": {"status": "completed"}})),
    ]);
    assert!(lines.contains(&"task exited".to_owned()), "{lines:?}");
}

#[test]
fn an_error_in_mid_turn_is_not_the_end() {
    let error = with_session(
        json!({"type": "assistant", "error": "server_error", "is_api_error_message": true, "parent_tool_use_id": null,
        "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}], "stop_reason": "tool_use"}}),
    );
    let lines = told(&[
        init(),
        call("m", "t", "Bash", json!({"command": "a"})),
        error,
        returned("t", json!("Exit code 2\nbad"), true, None),
        text("m2", "went on"),
        result("went on"),
    ]);
    assert_eq!(
        lines,
        [
            "start \"\"",
            "turn",
            "call t Bash {\"command\":\"a\"}",
            "error turn server_error API Error",
            "output t \"Exit code 2\\nbad\"",
            "returned t 2",
            "turn over -",
            "turn",
            "text 0 \"went on\"",
            "turn over -",
            "end completed - \"went on\"",
        ]
    );
}

#[test]
fn arguments_that_are_no_object_stay_text() {
    let input = json!({"__unparsedToolInput": {"raw": "{\"a\":", "len": 5}});
    let lines = told(&[init(), call("m", "t", "Bash", input)]);
    assert!(lines.contains(&"call t Bash \"{\\\"a\\\":\"".to_owned()), "{lines:?}");
}

fn streamed(id: &str) -> Vec<Value> {
    vec![
        event(
            json!({"type": "message_start", "message": {"id": id, "model": "m", "usage": {"input_tokens": 4, "output_tokens": 1}}}),
        ),
        event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hel"}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}})),
    ]
}

fn stopped(reason: Value) -> Vec<Value> {
    vec![
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}})),
        event(json!({"type": "message_stop"})),
    ]
}

#[test]
fn a_whole_frame_behind_its_block_does_not_say_it_again() {
    let lines = told(
        &[vec![init()], streamed("m"), stopped(json!("end_turn")), vec![text("m", "hello"), result("hello")]].concat(),
    );
    assert_eq!(
        lines,
        [
            "start \"\"",
            "turn",
            "usage turn 4/7 None",
            "turn over end_turn",
            "text 0 \"hello\"",
            "end completed - \"hello\"",
        ]
    );
}

#[test]
fn a_finished_block_without_a_whole_frame_is_still_told() {
    let lines = told(&[vec![init()], streamed("m"), stopped(json!("end_turn")), vec![result("hello")]].concat());
    assert!(lines.contains(&"text 0 \"hello\"".to_owned()), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "end completed - \"hello\"");
}

#[test]
fn made_up_closing_events_finish_nothing() {
    let lines = told(&[vec![init()], streamed("m"), stopped(Value::Null), vec![result("")]].concat());
    assert_eq!(lines, ["start \"\"", "turn", "text 0 \"hello\"", "turn over -", "end completed - \"-\""]);
}

#[test]
fn late_events_begin_no_run() {
    let lines = told(&[vec![init(), text("m", "x"), result("x")], stopped(json!("end_turn"))].concat());
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1);
}

#[test]
fn results_that_were_held_back_end_their_own_runs() {
    let numbered = |index: u64, text: &str| {
        let mut end = result(text);
        end["result_index"] = json!(index);
        end
    };
    let records = [
        init(),
        call("m0", "t", "Bash", json!({"command": "long"})),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": true})),
        returned("t", json!("started"), false, None),
        text("m1", "first"),
        init(),
        text("m2", "second"),
        init(),
        text("m3", "third"),
        numbered(1, "second"),
        numbered(0, "first"),
        numbered(2, "third"),
    ];
    let all = frames(&records);
    let mut ends = Vec::new();
    let mut starts = Vec::new();
    for frame in &all {
        match &frame.body {
            Body::SessionStarted { .. } => starts.push(frame.stream.id),
            Body::SessionEnded(end) => ends.push((frame.stream.id, end.final_text.clone().unwrap())),
            _ => {}
        }
    }
    let expected = [(starts[1], "second"), (starts[0], "first"), (starts[2], "third")];
    assert_eq!(ends, expected.map(|(id, text)| (id, text.to_owned())));
}

#[test]
fn a_prompt_before_its_turn_opens_the_run_and_has_no_base64() {
    let content = json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAECAw=="}},
    ]);
    let prompt = with_session(
        json!({"type": "user", "isReplay": true, "uuid": "u1", "message": {"role": "user", "content": content}}),
    );
    let all = frames(&[prompt.clone(), init(), text("m", "x"), result("x")]);
    let attached = all.iter().find_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message.attachments[0].clone()),
        _ => None,
    });
    let attached = attached.unwrap();
    assert_eq!((attached.mime.as_deref(), attached.bytes), (Some("image/png"), Some(4)));
    let lines = told(&[prompt, init(), text("m", "x"), result("x")]);
    assert_eq!(lines[..2], ["start \"Look\"", "user \"Look\" 1"]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1);
}

#[test]
fn a_typed_command_is_told_as_it_was_typed() {
    let user = |text: &str| {
        with_session(json!({"type": "user", "isReplay": true, "message": {"role": "user", "content": text}}))
    };
    let lines = told(&[
        user(
            "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>keep it</command-args>",
        ),
        init(),
        system(json!({"subtype": "status", "status": "compacting"})),
        system(json!({"subtype": "status", "status": null, "compact_result": "success"})),
        system(json!({"subtype": "compact_boundary", "compact_metadata": {"trigger": "manual"}})),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        result(""),
    ]);
    assert_eq!(
        lines,
        [
            "start \"/compact keep it\"",
            "user \"/compact keep it\" 0",
            "status_changed",
            "status_changed",
            "compacted -",
            "info Compacted",
            "end completed - \"-\"",
        ]
    );
}

#[test]
fn an_interruption_without_a_terminal_reason_is_one() {
    let end = with_session(json!({"type": "result", "subtype": "error_during_execution", "is_error": true}));
    let stop = with_session(
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}),
    );
    let lines = told(&[init(), text("m", "half"), stop, end]);
    assert_eq!(lines.last().unwrap(), "end interrupted interrupted \"half\"");
}

#[test]
fn what_is_unknown_is_kept_with_a_note() {
    let lines = told(&[
        with_session(json!({"type": "telepathy"})),
        system(json!({"subtype": "aura"})),
        init(),
        said("m", json!({"type": "hologram"}), None),
        text("m", "x"),
    ]);
    assert_eq!(lines[..2], ["thread fault unknown type \"telepathy\"", "thread fault unknown system subtype \"aura\""]);
    assert!(lines.contains(&"text 1 \"x\"".to_owned()), "{lines:?}");
}

#[test]
fn a_child_that_outlives_the_run_speaks_on_the_thread() {
    let mut launched = returned("a", json!("launched"), false, None);
    launched["tool_use_result"] = json!({"isAsync": true, "status": "async_launched", "agentId": "x"});
    let lines = told(&[
        init(),
        call("m", "a", "Agent", json!({"prompt": "p"})),
        launched,
        text("m2", "off it goes"),
        result("off it goes"),
        said("c", json!({"type": "text", "text": "report"}), Some("a")),
        system(
            json!({"subtype": "task_notification", "task_id": "x", "tool_use_id": "a", "status": "completed", "summary": "report"}),
        ),
    ]);
    assert!(lines.contains(&"thread   text 0 \"report\"".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"task exited".to_owned()), "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1);
}

fn entry(kind: &str, message: Value, sidechain: bool) -> Value {
    json!({"type": kind, "message": message, "isSidechain": sidechain, "sessionId": SESSION, "uuid": "u", "timestamp": "2026-01-01T00:00:00Z"})
}

#[test]
fn a_side_chain_inside_an_old_transcript_is_the_childs() {
    let block = |block: Value, stop: &str| json!({"id": stop, "model": "m", "content": [block], "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 2}});
    let lines = told(&[
        json!({"type": "summary", "summary": "old", "leafUuid": "x"}),
        entry("user", json!({"role": "user", "content": "Go"}), false),
        entry(
            "assistant",
            block(json!({"type": "tool_use", "id": "a", "name": "Task", "input": {"prompt": "p"}}), "tool_use"),
            false,
        ),
        entry("user", json!({"role": "user", "content": "p"}), true),
        entry("assistant", block(json!({"type": "text", "text": "child"}), "end_turn"), true),
        entry(
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "child"}]}),
            false,
        ),
        entry("user", json!({"role": "user", "content": "Stop there"}), false),
    ]);
    assert_eq!(
        lines,
        [
            "start \"Go\"",
            "user \"Go\" 0",
            "turn",
            "usage turn 1/2 None",
            "call a Task {\"prompt\":\"p\"}",
            "agent a at 1",
            "  usage turn 1/2 None",
            "  text 0 \"child\"",
            "agent a completed",
            "output a \"child\"",
            "returned a 0",
            "start \"Stop there\"",
            "turn over tool_use",
            "end interrupted stream_ended \"-\"",
            "user \"Stop there\" 0",
            "end interrupted stream_ended \"-\"",
        ]
    );
}

#[test]
fn recordings_as_frames() {
    let v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    for name in ["subagent.ndjson", "api_stream_error_midway.partial.ndjson"] {
        let bytes = std::fs::read(support::fixtures_dir("claude-code").join(name)).unwrap();
        let frames = support::translate(runner("claude-code").unwrap(), v2, &bytes);
        insta::assert_snapshot!(name, String::from_utf8(frames).unwrap());
    }
}

#[test]
fn parallel_side_chains_inside_an_old_transcript_are_told_apart() {
    let at = |uuid: &str, parent: Value, kind: &str, message: Value, sidechain: bool| {
        let mut line = entry(kind, message, sidechain);
        line["uuid"] = json!(uuid);
        line["parentUuid"] = parent;
        line
    };
    let call = |id: &str, prompt: &str| json!({"id": "m", "model": "m", "stop_reason": null, "content": [{"type": "tool_use", "id": id, "name": "Task", "input": {"prompt": prompt}}]});
    let says =
        |id: &str| json!({"id": id, "model": "m", "stop_reason": null, "content": [{"type": "text", "text": id}]});
    let records = [
        at("1", Value::Null, "user", json!({"role": "user", "content": "Go"}), false),
        at("2", json!("1"), "assistant", call("a", "left"), false),
        at("3", json!("2"), "assistant", call("b", "right"), false),
        at("l1", Value::Null, "user", json!({"role": "user", "content": "left"}), true),
        at("r1", Value::Null, "user", json!({"role": "user", "content": "right"}), true),
        at("r2", json!("r1"), "assistant", says("from right"), true),
        at("l2", json!("l1"), "assistant", says("from left"), true),
        at("r3", json!("r2"), "assistant", says("right again"), true),
    ];
    let all = frames(&records);
    let tool = |call_id: &str| {
        let found = all.iter().find_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } if *call.tool.call_id == *call_id => Some(call.tool.id),
            _ => None,
        });
        found.unwrap()
    };
    let texts: Vec<_> = all
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some((block.text.as_str(), frame.parent_tool_id.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [("from right", tool("b")), ("from left", tool("a")), ("right again", tool("b"))]);
}

#[test]
fn a_transcript_names_the_child_and_says_why_a_call_did_not_run() {
    let says =
        |id: &str| json!({"id": id, "model": "m", "stop_reason": null, "content": [{"type": "text", "text": id}]});
    let call = |id: &str| json!({"id": "m", "model": "m", "stop_reason": null, "content": [{"type": "tool_use", "id": id, "name": "Task", "input": {}}]});
    let child = |agent: &str, text: &str| {
        let mut line = entry("assistant", says(text), true);
        line["agentId"] = json!(agent);
        line["attributionAgent"] = json!("Explore");
        line
    };
    let mut denied = entry(
        "user",
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true}]}),
        false,
    );
    denied["toolDenialKind"] = json!("user-rejected");
    let lines = told(&[
        entry("user", json!({"role": "user", "content": "Go"}), false),
        entry("assistant", call("a"), false),
        child("a1b2", "one"),
        entry("assistant", call("b"), false),
        child("c3d4", "two"),
        child("a1b2", "three"),
        denied,
    ]);
    for line in ["agent a1b2 at 1", "agent c3d4 at 1", "agent c3d4 failed", "failed b \"no\""] {
        assert!(lines.iter().any(|told| told == line), "{line}: {lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| line.ends_with("at 1")).count(), 2, "{lines:#?}");
}

#[test]
fn so_many_runs_are_open_at_once_and_no_more() {
    let said = |session: usize| {
        let mut record = text(&format!("m{session}"), "half");
        record["session_id"] = json!(format!("{session}"));
        record
    };
    // The first session speaks again: in its run, unless that one was ended.
    let runs = |count: usize| {
        let records: Vec<_> = (0..count).chain([0]).map(said).collect();
        told(&records).iter().filter(|line| line.starts_with("start ")).count()
    };
    assert_eq!(runs(256), 256);
    assert_eq!(runs(257), 258);
    let lines = told(&(0..300).map(said).collect::<Vec<_>>());
    let first_end = lines.iter().position(|line| line.starts_with("end ")).unwrap();
    let last_start = lines.iter().rposition(|line| line.starts_with("start ")).unwrap();
    assert!(first_end < last_start, "the oldest ends while others begin");
}
