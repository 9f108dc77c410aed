//! Configured patterns, keys and rules.

use super::harness::{input, redacting, run, run_text};
use crate::support::EPOCH_MS;
use framegate_translators::frame::Frame;
use framegate_translators::redact::{Rules, Settings, SettingsError};
use framegate_translators::runners::{RUNNERS, runner};
use std::sync::Arc;

#[test]
fn a_configured_pattern_is_found_in_two_pieces() {
    let settings = Settings { patterns: vec![("badge".to_owned(), "BDG-[0-9]{8}".to_owned())], ..Settings::default() };
    let rules = Arc::new(Rules::new(settings).unwrap());
    let text = "it is BDG-71284351, yes";
    for who in RUNNERS {
        for cut in 1..text.len() {
            let bytes = input(who.name, &[&text[..cut], &text[cut..]]);
            let mut ingest = redacting(who, &rules);
            let mut frames: Vec<Frame> = ingest.feed(&bytes, EPOCH_MS).collect();
            frames.extend(ingest.finish(EPOCH_MS));
            assert_eq!(run_text(&frames), "it is [REDACTED:badge], yes", "{} cut at {cut}", who.name);
        }
    }
}

#[test]
fn patterns_and_disabled_rules_are_as_configured() {
    let claude = runner("claude-code").unwrap();
    let raw = framegate_translators::contracts::RECORDS;
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
