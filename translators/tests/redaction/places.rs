//! Secrets in every place of a record, and in every spelling.

use crate::harness::{frames_of, has, redacted};
use crate::secrets::{SECRETS, leaks, text_after};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::frame::Body;
use framegate_translators::runners::{RUNNERS, runner};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn escaped_secrets_are_found() {
    let claude = runner("claude-code").unwrap();
    let secret = "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX";
    let escaped = secret.replace('g', "\\u0067");
    let nested = secret.replace('g', "\\\\u0067");
    for text in [
        format!(r#"{{"type":"user","message":{{"role":"user","content":"{escaped}"}},"session_id":"s"}}"#),
        format!(r#"{{"type":"new","{escaped}":{{"{secret}":1}},"session_id":"s"}}"#),
        format!(r#"{{"type":"new","arguments":"{{\"a\":\"{nested}\"}}","session_id":"s"}}"#),
        format!(r#"{{"type":"new","arguments":"{{\"a\":\"x\\n{secret}\"}}","session_id":"s"}}"#),
        format!("no json {secret} at all"),
        format!(r#"{{"type":"new","text":"\u001b[32m{secret}\u001b[0m"}}"#),
        format!(r#"{{"type":"new","text":"\u001b[3\u0032m{secret}\u001b[0m"}}"#),
        format!(r#"{{"type":"new","text":"\\u001b[01;31m{secret} \\x1b[0m{secret} \\033[1m{secret} \\e[K{secret}"}}"#),
        format!("no json \u{1b}[32m{secret} at all"),
        format!(r#"{{"type":"cut","text":"{secret}"#),
        format!(r#"{{"type":"two"}} {{"text":"{secret}"}}"#),
        r#"{"url":"https:\/\/anna:q7ZkVx2mPtWj8RbYn4Lc@example.com"}"#.to_owned(),
        r#"{"text":"cfg {\"password\": [\"q7ZkVx2m\"], \"token\": 712843516, \"secret\": {\"v\": \"RbYn4Lc\"}} ok"}"#
            .to_owned(),
        r#"{"partial_json":"{\"env\":{\"password\":[\"q7ZkVx2m\"],\"token\":712843516}}"}"#.to_owned(),
        r#"{"tool_input":{"ApiKey":["q7ZkVx2mPtWj8RbYn4Lc"],"DB-PASSWORD":712843516}}"#.to_owned(),
        r#"{"text":"{\"password\":\"q7ZkVx2mPtWj8\\\"RbYn4Lc\"}"}"#.to_owned(),
    ] {
        for contract in CONTRACTS {
            let out = redacted(claude, contract, text.as_bytes());
            for part in ["ZkVx2m", "RbYn4Lc", "712843516"] {
                assert!(!has(&out, part), "{}: {text}\n{}", contract.name, String::from_utf8_lossy(&out));
            }
        }
        let raw = redacted(claude, framegate_translators::contracts::RECORDS, text.as_bytes());
        let is_json = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).is_ok();
        assert_eq!(is_json(text.as_bytes()), is_json(&raw), "{}", String::from_utf8_lossy(&raw));
        assert!(has(&raw, "[REDACTED:"), "{}", String::from_utf8_lossy(&raw));
    }
}

#[test]
fn the_frame_lists_the_redacted_paths() {
    let claude = runner("claude-code").unwrap();
    let line =
        r#"{"type":"x","a":{"b/c":["é","ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"]},"password":712843516,"n":1.50}"#;
    let frames = frames_of(claude, line.as_bytes());
    let Some(Body::ProviderEvent(record)) =
        frames.iter().map(|frame| &frame.body).find(|body| matches!(body, Body::ProviderEvent(_)))
    else {
        panic!("no record");
    };
    assert_eq!(record.redacted_paths, ["/data/a/b~1c/1", "/data/password"]);
    let data = record.data.as_deref().unwrap();
    assert_eq!(
        data,
        r#"{"type":"x","a":{"b/c":["é","[REDACTED:github-token]"]},"password":"[REDACTED:key]","n":1.50}"#
    );
}

/// A run of each runner with the text in a tool's arguments, its output, a diff, search results and an error.
fn places(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let json = |value: serde_json::Value| value.to_string();
    let claude = [
        json(json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "tools": [], "cwd": "/"})),
        json(
            json!({"type": "assistant", "session_id": "s", "message": {"id": "m1", "role": "assistant", "model": "m", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": text}},
            {"type": "tool_use", "id": "t2", "name": "Edit", "input": {"file_path": "a", "old_string": "x", "new_string": text}},
            {"type": "tool_use", "id": "t3", "name": "WebSearch", "input": {"query": "q"}}]}}),
        ),
        json(json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": text}]},
            "tool_use_result": {"stdout": text, "stderr": text, "interrupted": false}})),
        json(json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t2", "content": "ok"}]},
            "tool_use_result": {"filePath": "a", "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                "lines": ["-x", format!("+{text}")]}]}})),
        json(json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t3", "is_error": true, "content": [{"type": "text", "text": text}]}]},
            "tool_use_result": {"query": "q", "results": [{"content": [{"title": text, "url": "https://a.example"}]}]}})),
        json(
            json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": "s", "result": text,
            "errors": [text]}),
        ),
    ];
    let codex = [
        json(json!({"type": "thread.started", "thread_id": "t"})),
        json(json!({"type": "turn.started"})),
        json(json!({"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": text,
            "aggregated_output": text, "exit_code": 1, "status": "failed"}})),
        json(
            json!({"type": "item.completed", "item": {"id": "i2", "type": "mcp_tool_call", "server": "s", "tool": "t",
            "arguments": {"a": text}, "error": {"message": text}, "status": "failed"}}),
        ),
        json(json!({"type": "item.completed", "item": {"id": "i3", "type": "web_search", "query": text}})),
        json(json!({"type": "item.completed", "item": {"id": "i4", "type": "error", "message": text}})),
        json(json!({"type": "turn.failed", "error": {"message": text}})),
    ];
    let state = |status: &str| {
        json!({"type": "tool_use", "sessionID": "s", "part": {"id": status, "sessionID": "s", "messageID": "m", "type": "tool",
            "callID": status, "tool": "bash", "state": {"status": status, "input": {"command": text}, "output": text,
            "error": text, "title": text, "metadata": {"output": text, "diff": text}, "time": {"start": 1, "end": 2}}}})
    };
    let opencode = [
        json(state("completed")),
        json(state("error")),
        json(json!({"type": "error", "sessionID": "s", "error": {"name": "UnknownError", "data": {"message": text}}})),
    ];
    let responses = [
        json(json!({"type": "response.created", "sequence_number": 0, "response": {"id": "r", "object": "response",
            "status": "in_progress", "output": []}})),
        json(json!({"type": "response.output_item.done", "sequence_number": 1, "output_index": 0, "item": {"id": "i",
            "type": "function_call", "call_id": "c", "name": "f", "arguments": json!({"a": text}).to_string(), "status": "completed"}})),
        json(json!({"type": "response.failed", "sequence_number": 2, "response": {"id": "r", "object": "response",
            "status": "failed", "output": [], "error": {"code": "server_error", "message": text}}})),
    ];
    let lines = |lines: &[String]| lines.join("\n").into_bytes();
    let blocks =
        |lines: &[String]| lines.iter().map(|line| format!("data: {line}\n\n")).collect::<String>().into_bytes();
    vec![
        ("claude-code", lines(&claude)),
        ("codex", lines(&codex)),
        ("opencode", lines(&opencode)),
        ("open-responses", blocks(&responses)),
    ]
}

#[test]
fn secrets_in_arguments_outputs_diffs_results_and_errors_are_in_no_contract() {
    for (name, before, secret) in SECRETS {
        let text = format!("{before}{secret}{}", text_after(name));
        for (who, bytes) in places(&text) {
            for contract in CONTRACTS {
                let out = redacted(runner(who).unwrap(), contract, &bytes);
                assert_eq!(leaks(&out, secret), None, "{who} {} {name}", contract.name);
                let marks = memchr::memmem::find_iter(&out, &format!("[REDACTED:{name}]")).count();
                assert!(marks > 0, "{who} {} {name}: {}", contract.name, String::from_utf8_lossy(&out));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn hostile_bytes_do_not_panic(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(b'{'), Just(b'g')], 0..200)) {
        let mut line = b"{\"password\":\"ghp_-----BEGIN PRIVATE KEY-----eyJhb.eyJ https://a:b\\u00".to_vec();
        line.extend(bytes);
        for runner in RUNNERS {
            frames_of(runner, &line);
        }
    }
}
