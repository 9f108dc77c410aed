//! Text that redaction leaves unchanged.

use super::harness::{RULES, redacted, redacting, run};
use crate::support::{recordings, translate};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::runners::runner;
use serde_json::json;

#[test]
fn redaction_does_not_change_recordings_without_secrets() {
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

/// Recordings that do contain text that matches a rule.
const EXCEPTIONS: &[&str] = &[];

#[test]
fn signed_values_and_lookalikes_are_kept() {
    let claude = runner("claude-code").unwrap();
    let raw = framegate_translators::contracts::RECORDS;
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
fn hashes_ids_images_and_prose_are_kept() {
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
        let raw = framegate_translators::contracts::RECORDS;
        assert_eq!(String::from_utf8_lossy(&redacted(claude, raw, line.as_bytes())).trim_end(), line);
    }
}
