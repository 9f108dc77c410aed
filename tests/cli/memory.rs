//! `framegate translate`, the built binary: it uses no more memory for a long input than for a short one.
//!
//! The test compares the peak memory of the process, as reported by Linux, after a fifth of the input and after all of it. The
//! input is sent through a pipe, which holds 64 KiB: when a write completes, the input up to 64 KiB before it has been read.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

/// The number of steps in an input. The records of a step end whatever they open.
const STEPS: usize = 30_000;
/// The tolerated difference. Memory that every step leaves behind would have to be less than a hundred bytes.
const BOUND: u64 = 2 << 20;

const SESSION: &str = r#""parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"c7d5a290-d430-47ed-b1d9-2e878fc115f2""#;

/// The growth of the peak memory between a fifth of the input and all of it, in bytes.
fn growth(runner: &str, contract: &str, before: &str, step: impl Fn(usize) -> String) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["translate", "--from", runner, "--to", contract, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut buffer, mut bytes) = (vec![0; 65_536], 0);
        while let Ok(read @ 1..) = out.read(&mut buffer) {
            bytes += read;
        }
        bytes
    });
    let status = format!("/proc/{}/status", child.id());
    let most = || {
        let status = std::fs::read_to_string(&status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
    };
    let mut input = child.stdin.take().unwrap();
    input.write_all(before.as_bytes()).unwrap();
    let mut early = 0;
    for nth in 0..STEPS {
        input.write_all(step(nth).as_bytes()).unwrap();
        if nth == STEPS / 5 {
            early = most();
        }
    }
    let late = most();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert!(reader.join().unwrap() > STEPS * 100, "each step must produce output");
    // The kernel's count is inexact by some pages.
    late.saturating_sub(early)
}

fn assert_bounded(runner: &str, contract: &str, before: &str, step: impl Fn(usize) -> String) {
    let grown = growth(runner, contract, before, step);
    assert!(grown < BOUND, "{runner} to {contract}: {grown} bytes more for {STEPS} steps");
}

/// A message, and a tool call with its result.
fn claude_code(nth: usize) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"msg_{nth}\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[\
         {{\"type\":\"text\",\"text\":\"word {nth}\"}},\
         {{\"type\":\"tool_use\",\"id\":\"toolu_{nth}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"/{nth}\"}}}}]}},{SESSION}}}\n\
         {{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[\
         {{\"tool_use_id\":\"toolu_{nth}\",\"type\":\"tool_result\",\"content\":\"{nth}\",\"is_error\":false}}]}},{SESSION}}}\n"
    )
}

#[test]
fn memory_stays_bounded_for_tool_calls_of_claude_code() {
    let init = format!("{{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"m\",\"tools\":[],{SESSION}}}\n");
    assert_bounded("claude-code", "frames.v2", &init, claude_code);
    assert_bounded("claude-code", "hecate.v1", &init, claude_code);
}

#[test]
fn memory_stays_bounded_for_text() {
    let init = format!("{{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"m\",\"tools\":[],{SESSION}}}\n");
    // A step of text is shorter than one of events.
    assert_bounded("claude-code", "text", &init, |nth| claude_code(nth).replace("word", &"word ".repeat(20)));
}

#[test]
fn memory_stays_bounded_for_runs_of_claude_code() {
    let run = |nth| {
        format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"m\",\"tools\":[],{SESSION}}}\n{}\
             {{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",{SESSION}}}\n",
            claude_code(nth)
        )
    };
    assert_bounded("claude-code", "sse.v1", "", run);
}

#[test]
fn memory_stays_bounded_for_commands_of_codex() {
    let before = r#"{"method":"turn/started","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"inProgress","error":null}},"emittedAtMs":1770000000000}"#;
    let step = |nth| {
        [("started", "inProgress", "null"), ("completed", "completed", "\"word\"")]
            .map(|(method, status, output)| {
                format!(
                    "{{\"method\":\"item/{method}\",\"params\":{{\"item\":{{\"type\":\"commandExecution\",\"id\":\"call_{nth}\",\
                     \"command\":\"seq 1 9\",\"status\":\"{status}\",\"aggregatedOutput\":{output},\"exitCode\":0}},\
                     \"threadId\":\"0199-thread-0001\",\"turnId\":\"0199-turn-0001\"}},\"emittedAtMs\":1770000000050}}\n"
                )
            })
            .concat()
    };
    assert_bounded("codex", "pixir.v1", &format!("{before}\n"), step);
}

#[test]
fn memory_stays_bounded_for_tools_of_opencode() {
    let before = concat!(
        r#"data: {"id":"evt_1","type":"session.status","properties":{"sessionID":"ses_0001","status":{"type":"busy"}}}"#,
        "\n\n",
        r#"data: {"id":"evt_2","type":"message.updated","properties":{"sessionID":"ses_0001","info":{"id":"msg_0001","role":"assistant","modelID":"m","time":{"created":1770000000000},"sessionID":"ses_0001"}}}"#,
        "\n\n"
    );
    let step = |nth| {
        ["\"running\"", "\"completed\",\"output\":\"word\""]
            .map(|status| {
                format!(
                    "data: {{\"id\":\"evt_3\",\"type\":\"message.part.updated\",\"properties\":{{\"sessionID\":\"ses_0001\",\
                     \"part\":{{\"type\":\"tool\",\"tool\":\"glob\",\"callID\":\"call_{nth}\",\"state\":{{\"status\":{status},\
                     \"input\":{{\"pattern\":\"*.md\"}},\"time\":{{\"start\":1770000000060}}}},\"id\":\"prt_{nth}\",\
                     \"sessionID\":\"ses_0001\",\"messageID\":\"msg_0001\"}}}}}}\n\n"
                )
            })
            .concat()
    };
    assert_bounded("opencode", "agent-manager.v1", before, step);
}

#[test]
fn memory_stays_bounded_for_responses_of_open_responses() {
    let step = |nth| {
        let response = |kind: &str, status: &str| {
            format!(
                "data: {{\"type\":\"response.{kind}\",\"sequence_number\":0,\"response\":{{\"id\":\"resp_{nth}\",\
                 \"object\":\"response\",\"created_at\":1760000000,\"status\":\"{status}\",\"model\":\"m\",\"output\":[]}}}}\n\n"
            )
        };
        let item = |kind: &str, status: &str| {
            format!(
                "data: {{\"type\":\"response.output_item.{kind}\",\"sequence_number\":2,\"output_index\":0,\"item\":\
                 {{\"type\":\"function_call\",\"id\":\"fc_{nth}\",\"call_id\":\"call_{nth}\",\"name\":\"f\",\
                 \"arguments\":\"{{}}\",\"status\":\"{status}\"}}}}\n\n"
            )
        };
        [
            response("created", "in_progress"),
            item("added", "in_progress"),
            item("done", "completed"),
            response("completed", "completed"),
        ]
        .concat()
    };
    assert_bounded("open-responses", "frames.v1", "", step);
}

/// The test can detect growth: an incomplete message must be held as a whole.
#[test]
fn memory_grows_with_an_incomplete_text() {
    let event = |event: &str| format!("{{\"type\":\"stream_event\",\"event\":{event},{SESSION}}}\n");
    let before = event(r#"{"type":"message_start","message":{"id":"m1","role":"assistant"}}"#)
        + &event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#);
    let text = "a word of many ".repeat(20);
    let step = |nth| {
        event(&format!(
            r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{nth} {text}"}}}}"#
        ))
    };
    assert!(growth("claude-code", "frames.v2", &before, step) > BOUND, "the text is 9 MB");
}
