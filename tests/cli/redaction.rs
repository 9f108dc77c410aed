//! `framegate translate` and secrets, the built binary.

use crate::program::run;

const SECRET: &str = "ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX";

fn input() -> String {
    format!("{{\"type\":\"{SECRET}\",\"session_id\":\"s\"}}\nno json: {SECRET}\n")
}

fn translate(args: &[&str]) -> crate::program::Ran {
    run(&[&["translate", "--from", "claude-code", "--log", "trace"], args].concat(), input()).exits(2)
}

#[test]
fn a_secret_is_neither_in_the_output_nor_in_the_log() {
    for contract in framegate_translators::contracts::names_with_schemas() {
        let ran = translate(&["--to", contract]);
        assert!(!ran.out.contains("q7ZkVx2m") && !ran.err.contains("q7ZkVx2m"), "{ran:#?}");
    }
    let ran = translate(&["--to", "frames.v2"]);
    let paths: Vec<_> = ran.events().into_iter().filter_map(|event| event.get("redacted_paths").cloned()).collect();
    assert_eq!(paths, [serde_json::json!(["/data/type"]), serde_json::json!(["/raw"])]);
}

#[test]
fn raw_returns_every_byte_unless_redaction_is_requested() {
    assert_eq!(translate(&["--to", "raw"]).out, input());
    assert_eq!(translate(&["--to", "raw", "--redact"]).out, input().replace(SECRET, "[REDACTED:github-token]"));
    assert!(translate(&["--to", "frames.v2", "--no-redact"]).out.contains(SECRET));
}
