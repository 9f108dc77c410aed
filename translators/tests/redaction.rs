//! What redaction keeps out of every contract's output, and what it leaves alone.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "test code")]

mod support;

use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::{EncoderOptions, EventRef};
use framegate_translators::frame::{Body, Frame};
use framegate_translators::framing::{Limits, write_ndjson, write_raw};
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::redact::{Rules, Settings, SettingsError, rule_names};
use framegate_translators::runners::{RUNNERS, Runner, runner};
use proptest::prelude::*;
use serde_json::json;
use std::sync::{Arc, LazyLock};
use support::{EPOCH_MS, identity, recordings, translate};

static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::new(Settings::default()).unwrap()));

const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAt8Q1Zk9zVn3fYb5cXw2pLr7mJd0sGh4TqEuIoAvN6KxBiCyW\nq1w2e3r4t5y6u7i8o9p0Zk9zVn3fYb5cXw2pLr7mJd0s\n-----END RSA PRIVATE KEY-----";

/// A name, what stands before the secret in its text, and the secret.
const SECRETS: &[(&str, &str, &str)] = &[
    ("aws-access-key-id", "id ", "AKIAQ7ZK2MVXP4TWJ8RB"),
    ("aws-secret-key", "AWS_SECRET_ACCESS_KEY=", "wJq7rXUtnFEMIK7MDENGbPxRfiCYzT3vLm9pQs2d"),
    ("github-token", "use ", "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("github-token", "use ", "github_pat_11ABCDEFG0q7ZkVx2mPtWj_8RbYn4LcGs6HdFu1AeKi3QoXz9Tw"),
    ("gitlab-token", "use ", "glpat-q7ZkVx2mPtWj8RbYn4Lc"),
    ("slack-token", "use ", "xoxb-2847561093-5729184630-q7ZkVx2mPtWj8RbY"),
    ("stripe-key", "use ", "sk_live_q7ZkVx2mPtWj8RbYn4LcGs6H"),
    ("google-api-key", "use ", "AIzaq7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3Qo"),
    ("anthropic-key", "use ", "sk-ant-api03-q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX-z9Tw"),
    ("openai-key", "use ", "sk-proj-q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("openai-key", "use ", "sk-q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoXz9TwVb5Nm0Jh"),
    ("npm-token", "use ", "npm_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("npm-token", "//registry.npmjs.org/:_authToken=", "q7ZkVx2m-PtWj8RbYn4Lc"),
    ("pypi-token", "use ", "pypi-AgEIcHlwaS5vcmcq7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoXz9TwVb5Nm0Jh"),
    ("jwt", "use ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"),
    ("private-key", "key:\n", PEM),
    ("authorization", "curl -H 'Authorization: Bearer ", "q7ZkVx2mPtWj8RbYn4Lc"),
    ("authorization", "Authorization: Basic ", "dXNlcjpxN1prVngybVB0V2o4UmJZ"),
    ("url-password", "git clone https://anna:", "q7ZkVx2mPtWj8"),
    ("key", "{\"api_key\": \"", "q7ZkVx2mPtWj8RbY"),
    ("assignment", "run DB_PASSWORD=", "q7ZkVx2mPtWj8RbYn4Lc"),
    ("assignment", "\n  export API_TOKEN=\"", "q7ZkVx2mPtWj8RbYn4Lc"),
    ("assignment", "this:\n- password: ", "q7ZkVx2mPtWj8RbYn4Lc"),
];

/// What must stand behind a secret for it to be one.
fn behind(name: &str) -> &'static str {
    match name {
        "url-password" => "@example.com/x.git",
        "key" => "\"}",
        "authorization" => "' x",
        "assignment" => "\"\nand more",
        _ => " and more",
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// The text as JSON in JSON spells it: the inside of a string, in a string, so many times.
fn escaped(text: &str, levels: usize) -> String {
    (0..levels).fold(text.to_owned(), |text, _| {
        let string = quoted(&text);
        string[1..string.len() - 1].to_owned()
    })
}

/// How often texts are escaped beyond what their records do.
const LEVELS: std::ops::RangeInclusive<usize> = 0..=2;

fn redacting(runner: &Runner, rules: &Arc<Rules>) -> Ingest {
    Ingest::new(runner, None, Limits::default(), identity()).redacting(rules.clone())
}

fn run(ingest: Ingest, contract: &'static Contract, chunks: &[&[u8]], flushes: bool) -> Vec<u8> {
    let mut translator =
        Translator::new(ingest, contract, EncoderOptions { experimental: true, ..EncoderOptions::default() });
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            if contract.name == "raw" { write_raw(event, &mut out) } else { write_ndjson(event, &mut out) }
        }
    };
    for chunk in chunks {
        translator.feed(chunk, EPOCH_MS, &mut sink);
        if flushes {
            translator.flush(u64::MAX, &mut sink);
        }
    }
    translator.finish(EPOCH_MS, &mut sink);
    out
}

fn redacted(runner: &Runner, contract: &'static Contract, bytes: &[u8]) -> Vec<u8> {
    run(redacting(runner, &RULES), contract, &[bytes], false)
}

fn has(text: &[u8], what: &str) -> bool {
    memchr::memmem::find(text, what.as_bytes()).is_some()
}

/// The longest run of a secret's last two thirds that an output may show: less than anybody can use.
fn leaks(out: &[u8], secret: &str) -> Option<String> {
    let body: Vec<char> = secret.chars().collect();
    let size = 8.min(body.len());
    let from = if body.len() > 24 { body.len() / 3 } else { 8.min(body.len() / 2) };
    let is_armour =
        |run: &str| ["BEGIN", "END"].iter().any(|word| format!("-----{word} RSA PRIVATE KEY-----").contains(run));
    let runs = body[from..].windows(size).map(|run| run.iter().collect::<String>());
    runs.into_iter().find(|run| !is_armour(run) && !run.contains('\n') && has(out, run))
}

/// A stream of one runner, with these pieces of one text, as records; the text is told again at the end.
fn stream(name: &str, pieces: &[&str]) -> Vec<String> {
    let whole = quoted(&pieces.concat());
    let mut lines: Vec<String> = Vec::new();
    match name {
        "claude-code" => {
            lines.push(
                r#"{"type":"system","subtype":"init","session_id":"s","cwd":"/","tools":[],"model":"m","uuid":"u"}"#
                    .into(),
            );
            let event = |event: &str| {
                format!(
                    r#"{{"type":"stream_event","event":{event},"session_id":"s","parent_tool_use_id":null,"uuid":"u"}}"#
                )
            };
            lines.push(event(r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#));
            lines.push(event(r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#));
            for piece in pieces {
                let piece = quoted(piece);
                lines.push(event(&format!(
                    r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":{piece}}}}}"#
                )));
            }
            lines.push(format!(r#"{{"type":"assistant","message":{{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{{"type":"text","text":{whole}}}],"usage":{{"input_tokens":1,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s","uuid":"u"}}"#));
            lines.push(event(r#"{"type":"content_block_stop","index":0}"#));
            lines.push(event(r#"{"type":"message_stop"}"#));
            lines.push(format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":{whole},"session_id":"s","uuid":"u","usage":{{"input_tokens":1,"output_tokens":1}}}}"#));
        }
        "codex" => {
            lines.push(r#"{"method":"thread/started","params":{"thread":{"id":"t"}}}"#.into());
            lines.push(r#"{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress","items":[]}}}"#.into());
            for piece in pieces {
                let piece = quoted(piece);
                lines.push(format!(r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"t","turnId":"u","itemId":"i","delta":{piece}}}}}"#));
            }
            lines.push(format!(r#"{{"method":"item/completed","params":{{"threadId":"t","turnId":"u","item":{{"type":"agentMessage","id":"i","text":{whole}}}}}}}"#));
            lines.push(r#"{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed","items":[]}}}"#.into());
        }
        "opencode" => {
            let data = |data: &str| format!("data: {data}\n");
            lines.push(data(r#"{"type":"server.connected","properties":{}}"#));
            lines.push(data(r#"{"type":"message.updated","properties":{"info":{"id":"m0","sessionID":"s","role":"user","time":{"created":1}}}}"#));
            lines.push(data(r#"{"type":"message.updated","properties":{"info":{"id":"m1","sessionID":"s","role":"assistant","parentID":"m0","time":{"created":2}}}}"#));
            lines.push(data(r#"{"type":"message.part.updated","properties":{"part":{"id":"p","sessionID":"s","messageID":"m1","type":"text","text":""}}}"#));
            for piece in pieces {
                let piece = quoted(piece);
                lines.push(data(&format!(r#"{{"type":"message.part.delta","properties":{{"sessionID":"s","messageID":"m1","partID":"p","field":"text","delta":{piece}}}}}"#)));
            }
            lines.push(data(&format!(r#"{{"type":"message.part.updated","properties":{{"part":{{"id":"p","sessionID":"s","messageID":"m1","type":"text","text":{whole},"time":{{"start":1,"end":2}}}}}}}}"#)));
            lines.push(data(r#"{"type":"session.idle","properties":{"sessionID":"s"}}"#));
        }
        _ => {
            let data = |data: &str| format!("data: {data}\n");
            lines.push(data(r#"{"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","status":"in_progress","output":[]}}"#));
            lines.push(data(r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"id":"i","type":"message","role":"assistant","status":"in_progress","content":[]}}"#));
            for (at, piece) in pieces.iter().enumerate() {
                let (piece, number) = (quoted(piece), at + 2);
                lines.push(data(&format!(r#"{{"type":"response.output_text.delta","sequence_number":{number},"item_id":"i","output_index":0,"content_index":0,"delta":{piece},"logprobs":[{{"token":{piece},"logprob":-0.1,"bytes":[1]}}]}}"#)));
            }
            lines.push(data(&format!(r#"{{"type":"response.output_text.done","sequence_number":90,"item_id":"i","output_index":0,"content_index":0,"text":{whole}}}"#)));
            lines.push(data(&format!(r#"{{"type":"response.completed","sequence_number":91,"response":{{"id":"r","object":"response","status":"completed","output":[{{"id":"i","type":"message","role":"assistant","status":"completed","content":[{{"type":"output_text","text":{whole},"annotations":[]}}]}}]}}}}"#)));
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn input(name: &str, pieces: &[&str]) -> Vec<u8> {
    stream(name, pieces).concat().into_bytes()
}

/// The text that the deltas of a run say.
fn said(frames: &[Frame]) -> String {
    frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextDelta(block) => Some(block.delta.as_str()),
            _ => None,
        })
        .collect()
}

fn frames_of(runner: &Runner, bytes: &[u8]) -> Vec<Frame> {
    let mut ingest = redacting(runner, &RULES);
    let mut frames: Vec<Frame> = ingest.feed(bytes, EPOCH_MS).collect();
    frames.extend(ingest.finish(EPOCH_MS));
    frames
}

#[test]
fn every_rule_has_a_secret_here() {
    for (name, _) in rule_names() {
        assert!(SECRETS.iter().any(|(of, _, _)| *of == name), "{name}");
    }
}

#[test]
fn recordings_without_secrets_are_the_same_with_redaction() {
    for recording in recordings() {
        for contract in CONTRACTS.iter().filter(|contract| ["raw", "frames.v2"].contains(&contract.name)) {
            let plain = translate(recording.runner, contract, &recording.bytes);
            let out = run(redacting(recording.runner, &RULES), contract, &[&recording.bytes], false);
            let differs = plain.split(|&b| b == b'\n').zip(out.split(|&b| b == b'\n')).find(|(a, b)| a != b);
            if let Some((before, after)) = differs {
                let at = before.iter().zip(after).position(|(a, b)| a != b).unwrap_or_default();
                let show = |line: &[u8]| {
                    String::from_utf8_lossy(&line[at.saturating_sub(60)..line.len().min(at + 80)]).into_owned()
                };
                eprintln!(
                    "DIFF {}/{} {}:\n  {}\n  {}",
                    recording.runner.name,
                    recording.name,
                    contract.name,
                    show(before),
                    show(after)
                );
            }
            assert!(
                plain == out || EXCEPTIONS.contains(&recording.name.as_str()),
                "{}: {}",
                recording.name,
                contract.name
            );
        }
    }
}

/// Recordings that do hold what a rule is for.
const EXCEPTIONS: &[&str] = &[];

#[test]
fn a_secret_is_in_no_contracts_output_wherever_it_is_cut() {
    for runner in RUNNERS {
        for ((name, before, secret), levels) in
            SECRETS.iter().flat_map(|secret| LEVELS.map(move |level| (secret, level)))
        {
            let text = escaped(&format!("Well: \n{before}{secret}{}", behind(name)), levels);
            let expected = escaped(&format!("Well: \n{before}[REDACTED:{name}]{}", behind(name)), levels);
            let (first, last) = ("Well: ".len(), text.len() - escaped(behind(name), levels).len());
            for cut in first..=last + 1 {
                let bytes = input(runner.name, &[&text[..cut], &text[cut..]]);
                let frames = frames_of(runner, &bytes);
                let what = format!("{} {name}, {levels} levels, cut at {cut}", runner.name);
                assert_eq!(said(&frames), expected, "{what}");
                // The other contracts are functions of these frames; one cut in sixteen is looked at in all of them.
                for contract in CONTRACTS.iter().filter(|contract| cut % 16 == 0 || contract.name == "frames.v2") {
                    let out = redacted(runner, contract, &bytes);
                    assert_eq!(leaks(&out, secret), None, "{} {what}", contract.name);
                }
            }
        }
    }
}

/// Places in a recording where a word of prose begins, within a string of a record: evenly spread, a few of them.
fn places_in(bytes: &[u8]) -> Vec<usize> {
    let is_prose = |at: &usize| {
        let around = bytes.get(at - 6..at + 6).unwrap_or_default();
        bytes[at - 1] == b' ' && around.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b' ')
    };
    let places: Vec<usize> = (6..bytes.len().saturating_sub(6)).filter(is_prose).collect();
    places.iter().step_by((places.len() / 6).max(1)).copied().collect()
}

#[test]
fn a_secret_planted_in_a_recording_is_in_no_contracts_output_however_the_bytes_are_cut() {
    let mut planted = 0;
    for recording in recordings().filter(|recording| recording.bytes.len() < 30_000) {
        for (nth, place) in places_in(&recording.bytes).into_iter().enumerate() {
            let (name, _, secret) = SECRETS[[2, 8, 9, 4][nth % 4]];
            let (front, back) = recording.bytes.split_at(place);
            let bytes = [front, secret.as_bytes(), b" ", back].concat();
            // A cut within the secret, wherever else the others are.
            let chunks: Vec<&[u8]> = bytes.chunks(secret.len() / 2 + nth % 3).collect();
            for contract in CONTRACTS {
                let out = run(redacting(recording.runner, &RULES), contract, &chunks, false);
                let what = format!("{name} at {place} of {} in {}", recording.name, contract.name);
                assert_eq!(leaks(&out, secret), None, "{what}");
                // `raw` alone tells comments too.
                let tells_all = contract.name == "raw";
                assert!(!tells_all || has(&out, &format!("[REDACTED:{name}]")), "{what} is not there at all");
            }
            planted += 1;
        }
    }
    assert!(planted > 100, "only {planted} planted");
}

#[test]
fn nothing_usable_gets_out_when_the_next_piece_comes_too_late() {
    for runner in RUNNERS {
        for (name, before, secret) in SECRETS {
            let levels = name.len() % 3;
            let text = escaped(&format!("Well: \n{before}{secret}{}", behind(name)), levels);
            let from = text.find(&escaped(secret, levels)).unwrap();
            for cut in from - 2..=from + escaped(secret, levels).len() {
                let lines = stream(runner.name, &[&text[..cut], &text[cut..]]);
                let chunks: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
                for contract in CONTRACTS.iter().filter(|contract| ["raw", "frames.v2"].contains(&contract.name)) {
                    let out = run(redacting(runner, &RULES), contract, &chunks, true);
                    assert_eq!(leaks(&out, secret), None, "{} {} {name} cut at {cut}", runner.name, contract.name);
                }
            }
        }
    }
}

#[test]
fn an_escaped_spelling_is_no_way_round() {
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
        let raw = redacted(claude, CONTRACTS.iter().find(|contract| contract.name == "raw").unwrap(), text.as_bytes());
        let is_json = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).is_ok();
        assert_eq!(is_json(text.as_bytes()), is_json(&raw), "{}", String::from_utf8_lossy(&raw));
        assert!(has(&raw, "[REDACTED:"), "{}", String::from_utf8_lossy(&raw));
    }
}

#[test]
fn the_frame_says_where_something_was_redacted() {
    let claude = runner("claude-code").unwrap();
    let line = r#"{"type":"x","a":{"b/c":["é","ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"]},"password":7,"n":1.50}"#;
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

#[test]
fn what_is_signed_or_no_secret_stays() {
    let claude = runner("claude-code").unwrap();
    let raw = CONTRACTS.iter().find(|contract| contract.name == "raw").unwrap();
    for line in [
        r#"{"type":"x","signature":"ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX"}"#,
        r#"{"type":"x","usage":{"input_tokens":12,"max_tokens":5,"token_count":3,"cache_read_input_tokens":"7"}}"#,
        r#"{"type":"x","logprobs":[{"token":"secret","logprob":-1}]}"#,
        r#"{"type":"x","text":"risk-averse sk-learn task-sk-1 AKIA ghp_ http://localhost:8080/x https://a.b:443/@x"}"#,
        r#"{"type":"x","text":"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----"}"#,
        r#"{"type":"x","password":null,"secret":"","token":true}"#,
        r#"{"type":"x","properties":{"password":{"type":"string"},"token":{"type":"array","items":{"type":"string"}}}}"#,
        r#"{"type":"x","text":"set \"password\": {\"type\": \"string\"} and Authorization: required"}"#,
        r#"{"type":"x","text":"Open http://localhost:3000."}"#,
        r#"{"type":"x","text":"**Open http://localhost:3000**","a":"(http://localhost:5173,","b":"http://localhost:80"}"#,
        r#"{"type":"x","text":"打开 http://localhost:3000，","a":"http://localhost:8080。然后"}"#,
    ] {
        assert_eq!(String::from_utf8_lossy(&redacted(claude, raw, line.as_bytes())).trim_end(), line);
    }
}

#[test]
fn a_port_is_no_password_until_it_turns_out_to_be_one() {
    for who in RUNNERS {
        for behind in [".", "**", ",", "，", "!", "。然后"] {
            let text = format!("Open http://localhost:3000{behind}");
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let told = said(&frames_of(who, &input(who.name, &[&text[..cut], &text[cut..]])));
                assert_eq!(told, text, "{} cut at {cut}", who.name);
            }
            let text = format!("Open http://joe:3000{behind}q7Zk@host/ x");
            for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
                let told = said(&frames_of(who, &input(who.name, &[&text[..cut], &text[cut..]])));
                assert_eq!(told, "Open http://joe:[REDACTED:url-password]@host/ x", "{} cut at {cut}", who.name);
            }
        }
    }
    // What no port looks like is taken for a password where the text stops.
    for password in ["q7Zk", "3000a", "3000_", "3000-q", "300000.", "."] {
        let told = said(&frames_of(&RUNNERS[0], &input(RUNNERS[0].name, &[&format!("at http://joe:{password}")])));
        let is_port = password == ".";
        assert_eq!(told == "at http://joe:[REDACTED:url-password]", !is_port, "{told}");
    }
}

/// A tool's arguments that break off in a secret, and the next block of the same number.
#[test]
fn a_value_that_is_never_closed_is_over_with_its_text() {
    let claude = runner("claude-code").unwrap();
    let raw = CONTRACTS.iter().find(|contract| contract.name == "raw").unwrap();
    let lines = stream("claude-code", &["{\"password\": [\"q7Zk", "Vx2m9pp"]);
    let is_of_block = |line: &&String| line.contains("content_block_");
    let next = stream("claude-code", &["Then: \"fine\", 12", " it says"]);
    let other = r#"{"type":"system","subtype":"status","status":null,"session_id":"s","uuid":"z"}"#.to_owned() + "\n";
    let mut all: Vec<String> =
        lines.iter().take_while(|line| !line.contains("\"assistant\",\"message\"")).cloned().collect();
    let stop = lines.iter().find(|line| line.contains("content_block_stop")).unwrap();
    // What has nothing to do with the text does not end it.
    all.insert(all.len() - 1, other);
    all.push(stop.clone());
    all.extend(next.iter().filter(is_of_block).cloned());
    let out = redacted(claude, raw, all.concat().as_bytes());
    assert!(!has(&out, "q7Zk") && !has(&out, "Vx2m"), "{}", String::from_utf8_lossy(&out));
    for piece in ["Then: \\\"fine\\\", 12", " it says"] {
        assert!(has(&out, &format!("\"text\":\"{piece}\"")), "{piece}: {}", String::from_utf8_lossy(&out));
    }
}

/// A run of each runner that tells a text where a tool's arguments, its output, a diff, a search's results and an error stand.
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
        let text = format!("{before}{secret}{}", behind(name));
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

/// A runner that tells the whole text again with each piece: what was told of a secret's front was the mark already.
#[test]
fn snapshots_that_grow_within_a_secret_say_the_mark_once() {
    for (name, before, secret) in SECRETS {
        let text = format!("Well: {before}{secret}{}", behind(name));
        let mut lines = stream("opencode", &[]);
        let at = lines.iter().position(|line| line.contains("message.part.updated")).unwrap();
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)).rev() {
            let front = quoted(&text[..end]);
            lines.insert(at + 1, format!(
                "data: {{\"type\":\"message.part.updated\",\"properties\":{{\"part\":{{\"id\":\"p\",\"sessionID\":\"s\",\"messageID\":\"m1\",\"type\":\"text\",\"text\":{front}}}}}}}\n\n"
            ));
        }
        let bytes = lines.concat().replace(r#""text":"","time""#, &format!(r#""text":{},"time""#, quoted(&text)));
        for contract in CONTRACTS {
            let out = redacted(runner("opencode").unwrap(), contract, bytes.as_bytes());
            assert_eq!(leaks(&out, secret), None, "{} {name}", contract.name);
        }
        let told = said(&frames_of(runner("opencode").unwrap(), bytes.as_bytes()));
        assert!(told.matches("[REDACTED").count() <= 1, "{name}: {told}");
        assert!(told.starts_with("Well: "), "{name}: {told}");
    }
}

#[test]
fn a_pattern_of_ones_own_is_found_in_two_pieces() {
    let settings = Settings { patterns: vec![("badge".to_owned(), "BDG-[0-9]{8}".to_owned())], ..Settings::default() };
    let rules = Arc::new(Rules::new(settings).unwrap());
    let text = "it is BDG-71284351, yes";
    for who in RUNNERS {
        for cut in 1..text.len() {
            let bytes = input(who.name, &[&text[..cut], &text[cut..]]);
            let mut ingest = redacting(who, &rules);
            let mut frames: Vec<Frame> = ingest.feed(&bytes, EPOCH_MS).collect();
            frames.extend(ingest.finish(EPOCH_MS));
            assert_eq!(said(&frames), "it is [REDACTED:badge], yes", "{} cut at {cut}", who.name);
        }
    }
}

#[test]
fn hashes_ids_images_and_prose_stay() {
    let claude = runner("claude-code").unwrap();
    let image = data_encoding::BASE64
        .encode(&(0..6000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect::<Vec<_>>());
    for text in [
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8\nindex e69de29bb2d1..d95f3ad14dee",
        "id 550e8400-e29b-41d4-a716-446655440000, sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "Lorem ipsum dolor sit amet, consectetur adipiscing elit; the token: a word. The password must have 8 characters.",
        "fn token(&self) -> Token2 { self.tokens[0].token1 }\nlet password = read_password2(\"x\");\ntoken: Token2,\n",
        "TOKEN=\nPASSWORD=changeme\nSECRET=${SECRET_V2}\nAPI_KEY=<your api key 1>\n",
        &image,
    ] {
        let line = json!({"type": "x", "text": text, "source": {"type": "base64", "data": text}}).to_string();
        let raw = CONTRACTS.iter().find(|contract| contract.name == "raw").unwrap();
        assert_eq!(String::from_utf8_lossy(&redacted(claude, raw, line.as_bytes())).trim_end(), line);
    }
}

#[test]
fn patterns_and_disabled_rules_are_as_configured() {
    let claude = runner("claude-code").unwrap();
    let raw = CONTRACTS.iter().find(|contract| contract.name == "raw").unwrap();
    let settings = Settings {
        patterns: vec![("ticket".to_owned(), "TCK-[0-9]{6}".to_owned())],
        disabled: vec!["github-token".to_owned()],
        keys: vec!["badge".to_owned()],
        ..Settings::default()
    };
    let rules = Arc::new(Rules::new(settings).unwrap());
    let line = br#"{"a":"TCK-123456","b":"ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX","badge":"x","password":"y"}"#;
    let out = run(redacting(claude, &rules), raw, &[line], false);
    assert_eq!(
        String::from_utf8_lossy(&out).trim_end(),
        r#"{"a":"[REDACTED:ticket]","b":"ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX","badge":"[REDACTED:key]","password":"y"}"#
    );
    let refused = |settings: Settings| Rules::new(settings).unwrap_err();
    let bad = Settings { patterns: vec![("x".to_owned(), "(".to_owned())], ..Settings::default() };
    assert!(matches!(refused(bad), SettingsError::Pattern(name, _) if name == "x"));
    let bad = Settings { disabled: vec!["nope".to_owned()], ..Settings::default() };
    assert_eq!(refused(bad), SettingsError::Rule("nope".to_owned()));
}

#[test]
fn what_waits_is_bounded() {
    let claude = runner("claude-code").unwrap();
    let rules = Arc::new(Rules::new(Settings { hold_bytes: 4096, ..Settings::default() }).unwrap());
    let mut ingest = redacting(claude, &rules);
    let lines = stream("claude-code", &["it is ghp_q7"]);
    let mut fed = 0;
    for line in &lines[..4] {
        fed += ingest.feed(line.as_bytes(), EPOCH_MS).len();
    }
    assert_eq!(ingest.deadline(), Some(EPOCH_MS + 50));
    assert_eq!(ingest.flush(EPOCH_MS + 49).len(), 0);
    // Pieces of another text do not decide; they wait behind it, up to the bound.
    let other = lines[3].replace("\"index\":0", "\"index\":1").replace("ghp_q7", "fine");
    let mut waiting = 0;
    while ingest.deadline().is_some() {
        waiting += 1;
        assert!(waiting < 40);
        fed += ingest.feed(other.as_bytes(), EPOCH_MS).len();
    }
    assert!(waiting > 3 && fed > waiting);
}

#[test]
fn what_waits_waits_no_longer_where_the_clock_is_set_back() {
    let claude = runner("claude-code").unwrap();
    let mut ingest = redacting(claude, &RULES);
    let lines = stream("claude-code", &["it is ghp_q7"]);
    lines[..4].iter().for_each(|line| drop(ingest.feed(line.as_bytes(), EPOCH_MS)));
    let held = ingest.deadline().unwrap();
    let set_back = EPOCH_MS - 86_400_000;
    let other = lines[3].replace("\"index\":0", "\"index\":1").replace("ghp_q7", "fine");
    assert_eq!(ingest.feed(other.as_bytes(), set_back).len(), 0);
    assert_eq!((held, ingest.deadline()), (EPOCH_MS + 50, Some(set_back + 50)));
    assert!(ingest.flush(set_back + 50).len() > 1);
    assert_eq!(ingest.deadline(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_secret_cut_anywhere_in_three_is_found(
        at in 0..SECRETS.len(), who in 0..RUNNERS.len(), levels in LEVELS, front in "[a-z .,\n]{0,20} ", one in 0.0..1.0f64, two in 0.0..1.0f64,
    ) {
        let (name, before, secret) = SECRETS[at];
        let text = escaped(&format!("{front}{before}{secret}{}", behind(name)), levels);
        let cut = |part: f64| (text.len() as f64 * part) as usize;
        let (first, second) = (cut(one.min(two)), cut(one.max(two)));
        let bytes = input(RUNNERS[who].name, &[&text[..first], &text[first..second], &text[second..]]);
        let frames = frames_of(&RUNNERS[who], &bytes);
        let expected = escaped(&format!("{front}{before}[REDACTED:{name}]{}", behind(name)), levels);
        prop_assert_eq!(said(&frames), expected);
        let v2 = CONTRACTS.iter().find(|contract| contract.name == "frames.v2").unwrap();
        let out = redacted(&RUNNERS[who], v2, &bytes);
        prop_assert_eq!(leaks(&out, secret), None);
        // However the bytes come.
        let chunks: Vec<&[u8]> = bytes.chunks(7).collect();
        prop_assert_eq!(run(redacting(&RUNNERS[who], &RULES), v2, &chunks, false), out);
    }

    #[test]
    fn hostile_bytes_do_no_harm(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'"'), Just(b'\\'), Just(b'{'), Just(b'g')], 0..200)) {
        let mut line = b"{\"password\":\"ghp_-----BEGIN PRIVATE KEY-----eyJhb.eyJ https://a:b\\u00".to_vec();
        line.extend(bytes);
        for runner in RUNNERS {
            frames_of(runner, &line);
        }
    }
}
