//! Cases from the reference of Codex's format that no recording covers: small records, written by hand.

mod agents;
mod models;
mod rollouts;

use crate::support::*;
use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;
use serde_json::Value;

/// The frames of these lines, without their envelopes; records and deltas are left out.
fn frames_of(lines: &[&str]) -> Vec<Value> {
    events(runner("codex").unwrap(), contract("frames.v2").unwrap(), lines.join("\n").as_bytes())
        .into_iter()
        .filter(|frame| !matches!(frame["type"].as_str().unwrap(), "provider_event" | "tool_call_proposed"))
        .filter(|frame| !frame["type"].as_str().unwrap().ends_with("_delta"))
        .collect()
}

/// A short form of each frame.
fn brief(frames: &[Value]) -> Vec<String> {
    let of = |frame: &Value| {
        let kind = frame["type"].as_str().unwrap();
        let keys: &[&str] = match kind {
            "session_ended" => &["reason", "error_code"],
            "output_text_completed" | "reasoning_completed" | "user_message" => &["text"],
            "tool_started" => &["name", "args"],
            "tool_stdout" | "tool_stderr" => &["chunk"],
            "tool_ended" => &["exit_code"],
            "tool_failed" => &["error"],
            "error_reported" => &["code", "retryable"],
            "approval_requested" => &["approval_id", "tool_name"],
            "approval_resolved" => &["approval_id", "decision", "scope"],
            "subagent_started" => &["subagent_id", "depth"],
            "subagent_ended" => &["subagent_id", "status"],
            "usage_reported" => &["scope", "input_tokens", "output_tokens"],
            "log_emitted" => &["level", "message"],
            "plan_updated" => &["entries"],
            "session_started" => &["input"],
            "file_changed" => &["path", "kind"],
            _ => &[],
        };
        let mut text = kind.to_owned();
        for key in keys.iter().filter(|key| !frame[**key].is_null()) {
            text.push(' ');
            match &frame[*key] {
                Value::String(word) => text.push_str(word),
                value => text.push_str(&value.to_string()),
            }
        }
        text
    };
    frames.iter().map(of).filter(|text| !text.starts_with("turn_")).collect()
}

fn check(lines: &[&str], expected: &[&str]) {
    let actual = brief(&frames_of(lines));
    assert_eq!(actual, expected, "\n{actual:#?}");
}

/// The errors on records.
fn record_errors(lines: &[&str]) -> Vec<String> {
    let frames = events(runner("codex").unwrap(), contract("frames.v2").unwrap(), lines.join("\n").as_bytes());
    let errors = |frame: &Value| frame["errors"].as_array().cloned().unwrap_or_default();
    frames.iter().flat_map(errors).map(|error| error.as_str().unwrap().to_owned()).collect()
}

#[test]
fn older_item_names_of_exec_are_read() {
    check(
        &[
            r#"{"type":"session.created","session_id":"s1"}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","item_type":"assistant_message","text":"Hi"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_1","item_type":"command_execution","command":"bash -lc 'ls'","aggregated_output":"a\n","exit_code":0,"status":"completed"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":2,"output_tokens":1}}"#,
        ],
        &[
            "session_started ",
            "output_text_completed Hi",
            r#"tool_started bash {"command":"ls"}"#,
            "tool_stdout a\n",
            "tool_ended 0",
            "usage_reported run 3 1",
            "session_ended completed",
        ],
    );
}

#[test]
fn the_oldest_line_format_is_read() {
    check(
        &[
            r#"{"prompt":"do it"}"#,
            r#"{"id":"","msg":{"type":"session_configured","session_id":"01a1ffca-0000-7000-8000-000000000001","model":"m"}}"#,
            r#"{"id":"0","msg":{"type":"task_started"}}"#,
            r#"{"id":"0","msg":{"type":"agent_reasoning","text":"thinking"}}"#,
            r#"{"id":"0","msg":{"type":"agent_message_delta","delta":"Do"}}"#,
            r#"{"id":"0","msg":{"type":"agent_message_delta","delta":"ne"}}"#,
            r#"{"id":"0","msg":{"type":"agent_message","message":"Done"}}"#,
            r#"{"id":"0","msg":{"type":"exec_approval_request","call_id":"c1","command":["bash","-lc","ls x"],"cwd":"/w","reason":"why"}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_begin","call_id":"c1","command":["bash","-lc","ls x"],"cwd":"/w"}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_output_delta","call_id":"c1","stream":"stdout","chunk":"eA=="}}"#,
            r#"{"id":"0","msg":{"type":"exec_command_end","call_id":"c1","stdout":"x","stderr":"bad","exit_code":2,"duration":{"secs":1,"nanos":5000000}}}"#,
            r#"{"id":"0","msg":{"type":"patch_apply_begin","call_id":"c2","changes":{"/w/a":{"add":{"content":"x"}}}}}"#,
            r#"{"id":"0","msg":{"type":"patch_apply_end","call_id":"c2","stdout":"ok","stderr":"","success":true}}"#,
            r#"{"id":"0","msg":{"type":"mcp_tool_call_begin","call_id":"c3","invocation":{"server":"s","tool":"t","arguments":{"a":1}}}}"#,
            r#"{"id":"0","msg":{"type":"mcp_tool_call_end","call_id":"c3","invocation":{"server":"s","tool":"t","arguments":{"a":1}},"result":{"Err":"no"}}}"#,
            r#"{"id":"0","msg":{"type":"plan_update","plan":[{"step":"s","status":"in_progress"}]}}"#,
            r#"{"id":"0","msg":{"type":"stream_error","message":"Reconnecting... 1/5"}}"#,
            r#"{"id":"0","msg":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2},"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}}}"#,
            r#"{"id":"0","msg":{"type":"task_complete","last_agent_message":"Done"}}"#,
        ],
        &[
            "session_started do it",
            "reasoning_completed thinking",
            "output_text_completed Done",
            "approval_requested c1 bash",
            "approval_resolved c1 approved",
            r#"tool_started bash {"command":"ls x"}"#,
            "tool_stdout x",
            "tool_stderr bad",
            "tool_ended 2",
            r#"tool_started file_change {"files":[{"kind":"add","path":"/w/a"}],"status":"in_progress"}"#,
            "file_changed /w/a add",
            "tool_stdout ok",
            "tool_ended 0",
            r#"tool_started mcp__s__t {"a":1}"#,
            "tool_stderr no",
            "tool_ended 1",
            r#"plan_updated [{"content":"s","priority":null,"status":"in_progress"}]"#,
            "error_reported execution_error true",
            "usage_reported turn 6 2",
            "usage_reported run 6 2",
            "session_ended completed",
        ],
    );
}

#[test]
fn a_run_of_a_lost_process_ends_when_the_next_one_starts() {
    check(
        &[
            r#"{"type":"thread.started","thread_id":"t"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"sh -c x","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
            r#"{"type":"thread.started","thread_id":"t"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"sh -c y","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
            r#"{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"sh -c y","aggregated_output":"","exit_code":null,"status":"declined"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":0,"cached_input_tokens":0,"output_tokens":0}}"#,
        ],
        &[
            "session_started ",
            r#"tool_started bash {"command":"x"}"#,
            "session_started ",
            "tool_failed the run ended before the tool did",
            "session_ended interrupted stream_ended",
            r#"tool_started bash {"command":"y"}"#,
            "tool_failed declined",
            "session_ended completed",
        ],
    );
}

#[test]
fn an_unfinished_search_is_emitted_at_the_end() {
    check(
        &[
            r#"{"type":"thread.started","thread_id":"t"}"#,
            r#"{"type":"item.started","item":{"id":"item_0","type":"web_search","id":"ws_1","query":"","action":{"type":"other"}}}"#,
        ],
        &[
            "session_started ",
            "tool_started web_search {}",
            "tool_failed the run ended before the tool did",
            "session_ended interrupted stream_ended",
        ],
    );
}

#[test]
fn unknown_types_are_reported_and_the_stream_continues() {
    let lines = [
        r#"{"type":"thread.started","thread_id":"t"}"#,
        r#"{"type":"turn.paused"}"#,
        r#"{"type":"item.completed","item":{"id":"item_0","type":"hologram"}}"#,
        r#"{"method":"moon/phase","params":{}}"#,
        r#"{"type":"event_msg","payload":{"type":"telepathy"}}"#,
        r#"{"type":"response_item","payload":{"type":"telepathy"}}"#,
        r#"{"type":"mystery","payload":{}}"#,
        r#"{"hello":1}"#,
        r#"{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"on"}}"#,
    ];
    assert_eq!(
        record_errors(&lines),
        [
            "unknown event type \"turn.paused\"",
            "unknown item type \"hologram\"",
            "unknown notification \"moon/phase\"",
            "unknown event \"telepathy\"",
            "unknown item of the API \"telepathy\"",
            "unknown line type \"mystery\"",
            "unknown record",
        ]
    );
    assert!(brief(&frames_of(&lines)).contains(&"output_text_completed on".to_owned()));
}

const A: &str = r#""threadId":"01a1ffca-0000-7000-8000-00000000000a","turnId":"ta""#;
const B: &str = r#""threadId":"01a1ffca-0000-7000-8000-00000000000b","turnId":"tb""#;

fn begin(thread: &str, turn: &str, root: &str) -> String {
    format!(r#"{{"method":"turn/started","params":{{{thread},"turn":{{"id":"{turn}","rootTurnId":"{root}"}}}}}}"#)
}

fn end(thread: &str, turn: &str, status: &str) -> String {
    format!(r#"{{"method":"turn/completed","params":{{{thread},"turn":{{"id":"{turn}","status":"{status}"}}}}}}"#)
}

fn item(phase: &str, thread: &str, item: &str) -> String {
    format!(r#"{{"method":"item/{phase}","params":{{{thread},"item":{item}}}}}"#)
}

fn refs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

#[test]
fn a_sleep_says_how_long_it_is_meant_to_take() {
    let sleep = r#"{"type":"sleep","id":"call_1","durationMs":1500}"#;
    let lines =
        [begin(A, "ta", "ta"), item("started", A, sleep), item("completed", A, sleep), end(A, "ta", "completed")];
    let frames = frames_of(&refs(&lines));
    let started = frames.iter().find(|frame| frame["type"] == "tool_started").unwrap();
    assert_eq!(
        (&started["name"], &started["args"]),
        (&serde_json::json!("sleep"), &serde_json::json!({"duration_ms": 1500}))
    );
}

#[test]
fn interleaved_threads_are_separate_runs() {
    let delta = |thread: &str, text: &str| {
        format!(r#"{{"method":"item/agentMessage/delta","params":{{{thread},"itemId":"m","delta":"{text}"}}}}"#)
    };
    let lines = [
        begin(A, "ta", "ta"),
        begin(B, "tb", "tb"),
        delta(A, "a1"),
        delta(B, "b1"),
        delta(A, "a2"),
        delta(B, "b2"),
        end(B, "tb", "completed"),
        end(A, "ta", "completed"),
    ];
    let frames = frames_of(&refs(&lines));
    let of = |text: &str| frames.iter().find(|frame| frame["text"] == text).unwrap()["stream_id"].clone();
    assert_ne!(of("a1a2"), of("b1b2"));
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "session_ended").count(), 2);
}

#[test]
fn a_question_and_a_response_may_share_an_id() {
    let command = r#"{"type":"commandExecution","id":"c","command":"sh -c x","status":"STATUS"}"#;
    let ask = |id: &str| {
        format!(
            r#"{{"method":"item/commandExecution/requestApproval","id":{id},"params":{{{A},"itemId":"c","command":"sh -c x"}}}}"#
        )
    };
    let lines = [
        begin(A, "ta", "ta"),
        item("started", A, &command.replace("STATUS", "inProgress")),
        ask("0"),
        ask("\"0\""),
        r#"{"id":0,"result":{"turn":{}}}"#.to_owned(),
        r#"{"id":"0","result":{"decision":{"acceptWithExecpolicyAmendment":{}}}}"#.to_owned(),
        r#"{"id":0,"result":{"decision":"cancel"}}"#.to_owned(),
        item("completed", A, &command.replace("STATUS", "declined")),
        end(A, "ta", "interrupted"),
    ];
    check(
        &refs(&lines),
        &[
            "session_started ",
            r#"tool_started bash {"command":"x"}"#,
            "approval_requested request-0 bash",
            "approval_requested request-text-0 bash",
            "approval_resolved request-text-0 approved always",
            "approval_resolved request-0 cancelled",
            "tool_failed declined",
            "session_ended interrupted interrupted",
        ],
    );
}

#[test]
fn a_review_ends_with_the_outer_turn() {
    let lines = [
        begin(A, "inner", "outer"),
        item("completed", A, r#"{"type":"enteredReviewMode","id":"r","review":"changes"}"#),
        item("started", A, r#"{"type":"agentMessage","id":"m","text":""}"#),
        item("completed", A, r#"{"type":"exitedReviewMode","id":"r","review":"One bug."}"#),
        end(A, "outer", "completed"),
    ];
    check(
        &refs(&lines),
        &[
            "session_started ",
            "log_emitted info review started: changes",
            "log_emitted info review ended",
            "session_ended completed",
        ],
    );
}

#[test]
fn late_records_belong_to_no_run() {
    let done = r#"{"type":"commandExecution","id":"c","command":"sh -c x","status":"completed","exitCode":0}"#;
    let lines = [begin(A, "ta", "ta"), end(A, "ta", "completed"), item("completed", A, done)];
    check(&refs(&lines), &["session_started ", "session_ended completed"]);
}

#[test]
fn frames_of_a_subagent_recording() {
    let bytes = std::fs::read(fixtures_dir("codex").join("appserver-subagent.ndjson")).unwrap();
    let frames = events(runner("codex").unwrap(), contract("frames.v2").unwrap(), &bytes);
    // The records are the input; only the derived frames are compared.
    let lines: Vec<String> =
        frames.into_iter().filter(|frame| frame["type"] != "provider_event").map(|frame| frame.to_string()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// A command whose first output arrives with its end. `frames.v1` has the output in order, `frames.v2` says where the piece
/// belongs, and the offset in `hecate.v1` is that of the beginning.
#[test]
fn an_output_whose_beginning_arrives_last_is_in_order() {
    let started =
        r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress","items":[]}}}"#;
    let item = |method: &str, rest: &str| {
        format!(
            r#"{{"method":"item/{method}","params":{{"threadId":"t","turnId":"u","item":{{"type":"commandExecution","id":"c","command":"make","cwd":"/","commandActions":[],{rest}}}}}}}"#
        )
    };
    let delta = |text: &str| {
        format!(
            r#"{{"method":"item/commandExecution/outputDelta","params":{{"threadId":"t","turnId":"u","itemId":"c","delta":"{text}"}}}}"#
        )
    };
    let completed =
        r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed","items":[]}}}"#;
    let output = |pieces: &[&str], whole: &str| {
        let mut lines = vec![started.to_owned(), item("started", r#""status":"inProgress""#)];
        lines.extend(pieces.iter().map(|piece| delta(piece)));
        let ended = format!(r#""status":"completed","exitCode":0,"durationMs":1,"aggregatedOutput":"{whole}""#);
        lines.extend([item("completed", &ended), completed.to_owned()]);
        lines.join("\n")
    };
    let chunks = |text: &str, name: &str, kind: &str| -> Vec<Value> {
        let contract = contract(name).unwrap();
        let all = translate(runner("codex").unwrap(), contract, text.as_bytes());
        assert_clean(contract, &all, name);
        let all = events(runner("codex").unwrap(), contract, text.as_bytes());
        all.into_iter().filter(|event| event["type"] == kind).collect()
    };
    let text = output(&["b", "c"], "abc");
    let v1 = chunks(&text, "frames.v1", "tool_stdout");
    assert_eq!(v1.iter().map(|event| event["chunk"].as_str().unwrap()).collect::<String>(), "abc");
    let v2 = chunks(&text, "frames.v2", "tool_stdout");
    assert_eq!((&v2[2]["chunk"], &v2[2]["position"]), (&"a".into(), &"front".into()));
    let hecate = chunks(&text, "hecate.v1", "tool.shell.output_chunk");
    let last = &hecate.last().unwrap()["data"];
    assert_eq!((&last["data"], &last["byte_offset"], &last["position"]), (&"a".into(), &0.into(), &"front".into()));
    // Output larger than the hold limit is passed on as it arrives, in order.
    let (large, more) = ("x".repeat(200 << 10), "y".repeat(100 << 10));
    let v1 = chunks(&output(&[&large, &more, "z"], &format!("{large}{more}z")), "frames.v1", "tool_stdout");
    assert!(v1.len() > 1);
    assert_eq!(v1.iter().map(|event| event["chunk"].as_str().unwrap()).collect::<String>(), format!("{large}{more}z"));
}

fn older(conversation: char, message: &str) -> String {
    let kind = message.split('"').nth(3).unwrap();
    format!(
        r#"{{"method":"codex/event/{kind}","params":{{"id":"0","msg":{message},"conversationId":"01a1ffca-0000-7000-8000-00000000000{conversation}"}}}}"#
    )
}

#[test]
fn events_of_older_app_servers_are_read_for_each_conversation() {
    let turn = |name: char| {
        [
            older(name, r#"{"type":"task_started","model_context_window":1000}"#),
            older(name, r#"{"type":"agent_message_delta","delta":"Hello "}"#),
            older(name, r#"{"type":"agent_message_delta","delta":"there"}"#),
            older(
                name,
                r#"{"type":"item_completed","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"Hello there"}]}}"#,
            ),
            older(name, r#"{"type":"agent_message","message":"Hello there"}"#),
            older(name, r#"{"type":"exec_command_begin","call_id":"c","command":["bash","-lc","ls"]}"#),
            older(name, r#"{"type":"exec_command_end","call_id":"c","aggregated_output":"x","exit_code":0}"#),
            older(name, r#"{"type":"task_complete","last_agent_message":"Hello there"}"#),
        ]
    };
    let expected = [
        "session_started ",
        "output_text_completed Hello there",
        r#"tool_started bash {"command":"ls"}"#,
        "tool_stdout x",
        "tool_ended 0",
        "session_ended completed",
    ];
    // Some of the versions send a part of the newer form too.
    let mut lines = turn('a').to_vec();
    lines.insert(5, item("completed", A, r#"{"type":"agentMessage","id":"m","text":"Hello there"}"#));
    lines.push(end(A, "ta", "completed"));
    check(&refs(&lines), &expected);
    // Two conversations at once.
    let both: Vec<_> = turn('a').into_iter().zip(turn('b')).flat_map(|(a, b)| [a, b]).collect();
    let frames = frames_of(&refs(&both));
    let mut streams: Vec<_> = frames.iter().filter_map(|frame| frame["stream_id"].as_str()).collect();
    streams.sort_unstable();
    streams.dedup();
    assert_eq!(streams.len(), 2);
    for stream in streams {
        let own: Vec<_> = frames.iter().filter(|frame| frame["stream_id"] == stream).cloned().collect();
        assert_eq!(brief(&own), expected);
    }
}

#[test]
fn older_events_beside_the_newer_form_are_not_repeated() {
    let thread = r#"{"method":"thread/started","params":{"thread":{"id":"01a1ffca-0000-7000-8000-00000000000a"}}}"#;
    let lines = [
        thread.to_owned(),
        older('a', r#"{"type":"task_started"}"#),
        begin(A, "ta", "ta"),
        older('a', r#"{"type":"agent_message","message":"Hi"}"#),
        item("completed", A, r#"{"type":"agentMessage","id":"m","text":"Hi"}"#),
        older('a', r#"{"type":"task_complete","last_agent_message":"Hi"}"#),
        end(A, "ta", "completed"),
    ];
    check(&refs(&lines), &["session_started ", "output_text_completed Hi", "session_ended completed"]);
}
