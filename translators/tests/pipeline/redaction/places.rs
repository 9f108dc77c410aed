//! Secrets in every place of a record, and in every spelling.

use super::harness::{frames_of, has, places, redacted};
use super::secrets::{SECRETS, leaks, text_after};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::frame::Body;
use framegate_translators::runners::{RUNNERS, runner};
use proptest::prelude::*;

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

#[test]
fn secrets_in_arguments_outputs_diffs_results_and_errors_are_in_no_contract() {
    for (name, before, secret) in SECRETS {
        let text = format!("{before}{secret}{}", text_after(name));
        for runner in RUNNERS {
            let (who, bytes) = (runner.name, places(runner.name, &text));
            for contract in CONTRACTS {
                let out = redacted(runner, contract, &bytes);
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
