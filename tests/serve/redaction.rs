//! Secrets never leave the proxy, and readers do not wait for further records.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording, refusal};
use std::time::Duration;

const FRONT: &str = "ghp_q7ZkVx2mPt";
const BACK: &str = "Wj8RbYn4LcGs6HdFu1AeKi3QoX";

/// The records of a recorded run with a secret in two pieces of its text. The second piece is in the second part.
fn parts() -> (String, String) {
    let text = String::from_utf8(recording("claude-code", "text_plain.partial.ndjson")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("text_delta")).unwrap();
    let piece = |said: &str| {
        let mut record: serde_json::Value = serde_json::from_str(lines[at]).unwrap();
        record["event"]["delta"]["text"] = said.into();
        record.to_string()
    };
    let first = [&lines[..at], &[piece(&format!("The key is {FRONT}")).as_str()]].concat().join("\n") + "\n";
    let second = [&[piece(&format!("{BACK}, keep it. ")).as_str()], &lines[at..]].concat().join("\n") + "\n";
    (first, second)
}

fn is_clean(text: &str) -> bool {
    !text.contains("q7ZkVx2m") && !text.contains("Wj8RbYn4") && !text.contains("Fu1AeKi3")
}

#[test]
fn a_secret_split_across_two_pieces_is_redacted_everywhere() {
    let proxy = Proxy::start();
    let (first, second) = parts();
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], (first + &second).as_bytes());
    assert_eq!(made.status, 201);
    let made = made.text();
    assert!(is_clean(&made), "{made}");
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    for contract in framegate_translators::contracts::names() {
        let all = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), &[]).text();
        assert!(is_clean(&all), "{contract}: {all}");
        assert!(all.contains("The key is [REDACTED:github-token]"), "{contract}: {all}");
    }
    let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).text();
    assert!(is_clean(&status), "{status}");
}

#[test]
fn a_held_piece_is_released_in_time_and_the_rest_of_the_secret_is_redacted() {
    let proxy = Proxy::with(&[("FRAMEGATE__REDACTION__HOLD_MS", "50")]);
    let (first, second) = parts();
    let accept = [("accept", "text/event-stream; contract=sse.v1")];
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &accept);
    upload.send(first.as_bytes());
    let mut answer = upload.answer();
    let mut said = String::new();
    // Nothing more is sent: held text must arrive after the timeout.
    while !said.contains("[REDACTED:github-token]") {
        said.push_str(&answer.line().unwrap());
    }
    // The redactor must still know the secret's beginning after another `hold_ms`.
    std::thread::sleep(Duration::from_millis(100));
    upload.send(second.as_bytes());
    upload.end();
    said.push_str(&answer.text());
    assert!(is_clean(&said), "{said}");
    assert!(said.contains(", keep it. "), "{said}");
}

#[test]
fn redaction_can_be_disabled_and_reports_invalid_settings() {
    let proxy = Proxy::with(&[("FRAMEGATE__REDACTION__ENABLED", "false")]);
    let (first, second) = parts();
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], (first + &second).as_bytes()).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let all = get(proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[]).text();
    assert!(all.contains(FRONT) && all.contains(BACK));
    let said = refusal(&[("FRAMEGATE__REDACTION__DISABLED_RULES", "nothing-such")]);
    assert!(said.contains("FRAMEGATE__REDACTION__DISABLED_RULES: there is no rule \"nothing-such\""), "{said}");
}

/// A run whose tool output is too large for a frame, with a secret in its middle.
fn large_output() -> String {
    let session = "5d3c1a6e-0d0e-4d47-9d0c-222222222222";
    let output = format!("{}token {FRONT}{BACK} end{}", "a line of output\\n".repeat(6_000), "\\nmore".repeat(6_000));
    [
        format!(r#"{{"type":"system","subtype":"init","session_id":"{session}","model":"m","tools":[]}}"#),
        format!(
            r#"{{"type":"assistant","session_id":"{session}","message":{{"id":"m1","role":"assistant","content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"env","api_key":"{BACK}"}}}}]}}}}"#
        ),
        format!(
            r#"{{"type":"user","session_id":"{session}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":"{output}"}}]}}}}"#
        ),
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"done {FRONT}{BACK}","session_id":"{session}"}}"#
        ),
        format!("not JSON at all: {FRONT}{BACK}"),
    ]
    .join("\n")
}

#[test]
fn no_secret_reaches_the_database_or_an_artifact() {
    let folder = std::env::temp_dir().join(format!("framegate-redaction-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("log.db");
    let mut proxy =
        Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", path.to_str().unwrap())]);
    let (first, second) = parts();
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], (first + &second).as_bytes()).status, 201);
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], large_output().as_bytes());
    assert_eq!(made.status, 201);
    let run = made.json()["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let frames = get(proxy.address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]).text();
    let id = frames.split("\"artifact_id\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let id = id.unwrap_or_else(|| panic!("no artifact in {frames}"));
    let whole = get(proxy.address, &format!("/v1/artifacts/{id}"), &[]).text();
    assert!(is_clean(&whole) && whole.contains("[REDACTED:github-token]") && whole.len() > 100_000, "{}", whole.len());
    let bytes = |folder: &std::path::Path| -> Vec<u8> {
        std::fs::read_dir(folder).unwrap().flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
    };
    let holds = |all: &[u8], part: &str| all.windows(part.len()).any(|window| window == part.as_bytes());
    // The files while the database is open, including the write-ahead log, and after shutdown.
    let open = bytes(&folder);
    assert!(proxy.terminate().success());
    for all in [open, bytes(&folder)] {
        assert!(holds(&all, "[REDACTED:github-token]"), "the run must be stored");
        for part in ["q7ZkVx2m", "Wj8RbYn4", "Fu1AeKi3"] {
            assert!(!holds(&all, part), "{part} is in the database");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
