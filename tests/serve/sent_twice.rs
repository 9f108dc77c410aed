//! Input that is sent again does not create a run twice.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, expected, recording};
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

const PATH: &str = "/v1/ingest/claude-code";

fn run_ids(answer: &Value) -> Vec<&str> {
    answer["runs"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap()).collect()
}

fn run_count(address: SocketAddr) -> usize {
    get(address, "/v1/runs?limit=500", &[]).json()["data"].as_array().unwrap().len()
}

/// The names of a runner's recordings.
fn recordings(runner: &str) -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner);
    let files = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let files = files.filter(|file| file.file_type().unwrap().is_file());
    let mut names: Vec<String> = files.map(|file| file.file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "MANIFEST.json");
    names.sort();
    names
}

#[test]
fn every_recording_sent_again_is_answered_with_the_first_runs() {
    for runner in RUNNERS.iter().map(|runner| runner.name) {
        // Runs that cannot be distinguished from other runs, because nothing in them is theirs alone.
        let anonymous = expected(runner, "without_identity");
        let proxy = Proxy::start();
        let path = format!("/v1/ingest/{runner}");
        let (mut known, mut again) = (0, BTreeSet::new());
        let names = recordings(runner);
        for name in names.iter().cloned() {
            let body = recording(runner, &name);
            let first = post(proxy.address, &path, &[], &body);
            if first.status == 422 {
                continue;
            }
            let first = first.json();
            let second = post(proxy.address, &path, &[], &body);
            let (status, second) = (second.status, second.json());
            // Runs of several sessions may be recognised in a different order than they were created in.
            let sorted = |answer: &Value| {
                let mut runs = answer["runs"].as_array().unwrap().clone();
                runs.sort_by_key(|run| run["run_id"].to_string());
                runs
            };
            let is_known = sorted(&first) == sorted(&second);
            assert_eq!(status, if is_known && !run_ids(&first).is_empty() { 200 } else { 201 }, "{name}: {second:#}");
            if is_known {
                known += 1;
                assert_eq!(second["repeated_runs"], run_ids(&first).len(), "{name}");
            } else {
                again.insert(name);
            }
        }
        assert!(known > 20 || names.len() <= 20, "{runner}: {known} of {}", names.len());
        assert_eq!(again, anonymous, "`expected.without_identity` in tests/fixtures/{runner}/MANIFEST.json");
    }
}

#[test]
fn a_longer_input_replaces_an_interrupted_run() {
    let proxy = Proxy::start();
    let body = recording("claude-code", "parallel_tools.partial.ndjson");
    let half = body.len() / 2;
    let cut = post(proxy.address, &format!("{PATH}?label=team:web"), &[], &body[..half]).json();
    assert_eq!(cut["runs"][0]["state"], "interrupted");
    assert_eq!(post(proxy.address, PATH, &[], &body[..half]).json()["repeated_runs"], 1);
    let whole = post(proxy.address, PATH, &[], &body);
    assert_eq!(whole.status, 201);
    let whole = whole.json();
    assert_eq!((&whole["repeated_runs"], &whole["runs"][0]["state"]), (&json!(0), &json!("completed")));
    assert_ne!(run_ids(&cut), run_ids(&whole));
    let status = get(proxy.address, &format!("/v1/runs/{}", run_ids(&whole)[0]), &[]).json();
    assert_eq!(status["labels"], json!({"team": "web"}), "what the client said of the run is kept");
    assert_eq!(run_count(proxy.address), 1);
    // A prefix of a stored run is a new run: nothing shows that it was meant to be the same.
    assert_eq!(post(proxy.address, PATH, &[], &body[..half]).status, 201);
    assert_eq!(run_count(proxy.address), 2);
}

#[test]
fn a_run_larger_than_the_comparison_buffer_is_stored_again() {
    let proxy = Proxy::start();
    // 16 MiB of frames are held back; the text is in more than one of them.
    for (megabytes, is_known) in [(3, true), (17, false)] {
        let text = "x".repeat(megabytes << 20);
        let records = [
            json!({"type": "system", "subtype": "init", "session_id": "s", "uuid": format!("00000000-0000-4000-8000-{megabytes:012}")}),
            json!({"type": "assistant", "session_id": "s", "parent_tool_use_id": null,
                "message": {"id": "msg", "role": "assistant", "content": [{"type": "text", "text": text}]}}),
            json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s", "result": "done"}),
        ];
        let body: String = records.iter().map(|record| format!("{record}\n")).collect();
        assert_eq!(post(proxy.address, PATH, &[], body.as_bytes()).status, 201);
        let again = post(proxy.address, PATH, &[], body.as_bytes());
        assert_eq!(again.status, if is_known { 200 } else { 201 }, "{megabytes} MiB");
    }
}

#[test]
fn a_streamed_answer_has_the_events_of_the_stored_run() {
    let proxy = Proxy::start();
    let body = recording("claude-code", "multi_turn_stdin.ndjson");
    for contract in ["frames.v2", "sse.v1", "hecate.v1"] {
        let accept = format!("text/event-stream; contract={contract}");
        let first = post(proxy.address, PATH, &[("accept", &accept)], &body);
        assert_eq!(first.status, 200);
        let (first, second) = (first.text(), post(proxy.address, PATH, &[("accept", &accept)], &body).text());
        assert!(first.lines().filter(|line| line.starts_with("data: ")).count() >= 9, "{contract}: {first}");
        assert_eq!(first, second, "{contract}");
        assert_eq!(run_count(proxy.address), 3);
    }
}

#[test]
fn a_run_is_recognised_after_a_restart() {
    let scratch = crate::proxy::Folder::new();
    let path = scratch.path("log.db").to_str().unwrap().to_owned();
    let start = || Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &path)]);
    let body = recording("opencode", &recordings("opencode")[0]);
    let proxy = start();
    let first = post(proxy.address, "/v1/ingest/opencode", &[], &body).json();
    drop(proxy);
    let proxy = start();
    let second = post(proxy.address, "/v1/ingest/opencode", &[], &body);
    assert_eq!(second.status, 200);
    assert_eq!(run_ids(&first), run_ids(&second.json()));
}

#[test]
fn without_recognition_every_ingest_is_stored() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__RECOGNISE_REPEATS", "false")]);
    let body = recording("claude-code", "text_plain.partial.ndjson");
    for _ in 0..2 {
        assert_eq!(post(proxy.address, PATH, &[], &body).status, 201);
    }
    assert_eq!(run_count(proxy.address), 2);
}

#[test]
fn an_idempotency_key_is_answered_with_the_runs_of_the_first_request() {
    let proxy = Proxy::start();
    let exec = recordings("codex").into_iter().find(|name| name.contains("exec")).unwrap();
    let (path, body) = ("/v1/ingest/codex", recording("codex", &exec));
    let key = [("idempotency-key", "upload-7")];
    let first = post(proxy.address, path, &key, &body);
    assert_eq!((first.status, first.header("idempotency-replayed")), (201, ""));
    let first = first.json();
    let second = post(proxy.address, path, &key, &body);
    assert_eq!((second.status, second.header("idempotency-replayed")), (200, "true"));
    let second = second.json();
    assert_eq!(first["runs"], second["runs"]);
    assert_eq!(second["repeated_runs"], run_ids(&first).len());
    assert_eq!(second["records"], first["records"]);
    let runs = run_count(proxy.address);
    // Also as a stream.
    let accept = [("accept", "application/x-ndjson; contract=sse.v1"), ("idempotency-key", "upload-7")];
    let live = post(proxy.address, path, &accept, &body);
    assert_eq!((live.status, live.header("idempotency-replayed")), (200, "true"));
    assert!(live.text().contains("run_started"));
    // A different body, then a different key.
    let other = post(proxy.address, path, &key, b"{\"type\":\"turn.started\"}\n");
    assert_eq!(other.status, 422);
    assert!(other.json()["detail"].as_str().unwrap().contains("another body"));
    assert_eq!(run_count(proxy.address), runs);
    assert_eq!(post(proxy.address, path, &[("idempotency-key", "upload-8")], &body).status, 201);
    assert_eq!(post(proxy.address, path, &[("idempotency-key", "no key")], &body).status, 400);
}

#[test]
fn a_key_conflicts_while_its_ingest_runs_and_is_free_after_a_failure() {
    let proxy = Proxy::start();
    let body = recording("claude-code", "text_plain.partial.ndjson");
    let key = [("idempotency-key", "one")];
    let mut upload = Upload::start(proxy.address, PATH, &key);
    upload.send(&body[..100]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    let is_open =
        || get(proxy.address, "/metrics", &[]).text().contains("framegate_ingests_open{runner=\"claude-code\"} 1");
    while !is_open() {
        assert!(std::time::Instant::now() < deadline, "the ingest does not begin");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let conflict = post(proxy.address, PATH, &key, &body);
    assert_eq!(conflict.status, 409);
    assert!(!conflict.header("retry-after").is_empty());
    drop(upload);
    let answer = loop {
        let answer = post(proxy.address, PATH, &key, &body);
        if answer.status != 409 {
            break answer;
        }
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(answer.status, 201);
}
