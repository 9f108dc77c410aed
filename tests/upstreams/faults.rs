//! Misbehaving runners: each run ends in a definite state, and no process or resource is left.

use crate::proxy::Folder;
use crate::started::{Started, table};
use crate::verdicts::assert_reported_as_failed;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Short timeouts, so that tests of timeouts are fast.
const SHORT: &str = "interrupt_grace_ms = 200\nsignal_grace_ms = 300\nexit_grace_ms = 300";

fn run_to_end(script: &str, more: &str) -> (Started, Value) {
    let started = Started::fake(script, &format!("{SHORT}\n{more}"));
    let resources = started.resources();
    let run = started.run();
    let status = started.wait_for_end(&run);
    started.wait_for_no_process();
    started.wait_until_released(resources);
    if status["state"] != "completed" {
        assert_reported_as_failed(started.proxy.address, &status, status["error_code"].as_str().unwrap_or_default());
    }
    let frames = started.events(&run, "frames.v2");
    let ended: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == json!("session_ended")).collect();
    assert_eq!(ended.len(), 1, "{script}");
    assert_eq!(frames.last(), ended.first().copied(), "{script}");
    (started, status)
}

fn outcome(status: &Value) -> (&str, &str, &str) {
    let text = |key: &str| status[key].as_str().unwrap_or_default();
    (text("state"), text("error_code"), text("message"))
}

#[test]
fn an_exit_before_the_end_of_the_run_is_reported_with_its_status() {
    let (_started, status) = run_to_end("early", "");
    let message = "the runner exited with status 3 before it said how the run ended";
    assert_eq!(outcome(&status), ("failed", "runner_exited", message));
}

#[test]
fn the_result_that_a_runner_reports_takes_precedence_over_its_exit_status() {
    let (started, status) = run_to_end("badly", "");
    assert_eq!(status["state"], json!("completed"));
    started.folder.wait_for("log", "exited with status 7");
    let run = status["run_id"].as_str().unwrap();
    let status = started.wait_for(run, "its exit is not reported", |status| status["exit"].is_object());
    assert_eq!((&status["exit"], &status["state"]), (&json!({"status": 7}), &json!("completed")));
}

#[test]
fn the_exit_status_of_a_runner_is_known_after_a_restart() {
    let folder = Folder::new();
    let log = folder.path("framegate.db");
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", log.to_str().unwrap())];
    let mut started = Started::with(&table("badly", ""), &settings);
    let run = started.run();
    started.wait_for(&run, "its exit is not reported", |status| status["exit"] == json!({"status": 7}));
    assert!(started.proxy.terminate().success());
    let again = Started::with(&table("half", SHORT), &settings);
    let status = again.status(&run);
    assert_eq!((&status["exit"], &status["state"]), (&json!({"status": 7}), &json!("completed")), "{status}");
    let killed = again.run();
    let status = again.wait_for(&killed, "its exit is not reported", |status| status["exit"].is_object());
    assert_eq!((&status["exit"], &status["state"]), (&json!({"signal": 9}), &json!("failed")), "{status}");
}

#[test]
fn an_incomplete_last_line_is_kept() {
    let (started, status) = run_to_end("half", "");
    assert_eq!(outcome(&status).1, "runner_exited");
    assert!(outcome(&status).2.contains("ended by signal 9"), "{status}");
    assert_eq!(status["invalid_records"], json!(1));
    let run = status["run_id"].as_str().unwrap();
    let raw = started.events(run, "frames.v2");
    assert!(raw.iter().any(|frame| frame.to_string().contains("agent_")), "the incomplete line is missing");
}

#[test]
fn a_child_process_that_keeps_the_output_open_is_not_waited_for() {
    let (_started, status) = run_to_end("child", "");
    assert_eq!(status["state"], json!("completed"));
}

#[test]
fn a_runner_that_closes_its_output_is_terminated() {
    let (_started, status) = run_to_end("closes", "");
    assert_eq!(outcome(&status).1, "runner_exited");
    assert!(outcome(&status).2.contains("signal 15"), "{status}");
}

#[test]
fn a_runner_that_hangs_is_terminated() {
    let (_started, status) = run_to_end("hang", "idle_timeout_ms = 500");
    assert_eq!(outcome(&status).1, "runner_idle");
    let (_started, status) = run_to_end("flood", "run_timeout_ms = 1500");
    assert_eq!(outcome(&status).1, "run_timeout");
    assert!(status["records"].as_u64().unwrap() > 100, "{status}");
}

#[test]
fn a_runner_that_ignores_signals_is_killed() {
    let (_started, status) = run_to_end("deaf", "run_timeout_ms = 500");
    assert_eq!(outcome(&status).1, "run_timeout");
    assert!(outcome(&status).2.contains("ended by signal 9"), "{status}");
}

#[test]
fn a_flood_on_standard_error_does_not_block_the_run() {
    let (started, status) = run_to_end("flood-errors", "run_timeout_ms = 1500\nstderr_bytes = 2000");
    assert_eq!(outcome(&status).1, "run_timeout");
    let log = started.folder.wait_for("log", "the rest of the standard error is not logged");
    let lines = log.matches("this goes wrong").count();
    assert!((100..=200).contains(&lines), "{lines} lines of 15 bytes are logged; the limit is 2000 bytes");
}

#[test]
fn the_output_of_a_runner_that_ignores_its_input_is_read() {
    let started = Started::fake("reads-nothing", SHORT);
    let order = json!({"upstream": "fake", "prompt": "p".repeat(500_000)});
    let run = started.run_of(&order);
    assert_eq!(started.wait_for_end(&run)["state"], json!("completed"));
    started.wait_for_no_process();
}

#[test]
fn a_runner_that_reports_no_run_creates_none() {
    for (script, more, expected) in [
        ("nothing", "", "exited with status 4 before it began a run"),
        ("errors", "", "standard error has"),
        ("mute", "start_timeout_ms = 500", "upstream.start_timeout_ms"),
    ] {
        let started = Started::fake(script, &format!("{SHORT}\n{more}"));
        let answer = started.start(&json!({"upstream": "fake", "prompt": "x"}));
        assert_eq!(answer.status, 502, "{script}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(expected), "{script}: {detail}");
        started.wait_for_no_process();
    }
    let started = Started::fake("well", "");
    let missing = Started::with(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\nprogram = \"no-such-program\"\nrunner = \"codex\"",
        &[],
    );
    let answer = missing.start(&json!({"upstream": "fake", "prompt": "x"}));
    assert_eq!(answer.status, 502);
    assert!(answer.json()["detail"].as_str().unwrap().contains("\"no-such-program\" cannot be started"));
    drop(started);
}

#[test]
fn a_run_continues_when_its_client_disconnects() {
    use std::io::Write;
    let started = Started::fake("well", "");
    let order = json!({"upstream": "fake", "prompt": "go"}).to_string();
    let mut stream = crate::client::connect(started.proxy.address);
    write!(stream, "POST /v1/runs HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n").unwrap();
    drop(stream);
    let mut stream = crate::client::connect(started.proxy.address);
    let address = started.proxy.address;
    write!(stream, "POST /v1/runs HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n{order}", order.len())
        .unwrap();
    drop(stream);
    let begin = Instant::now();
    loop {
        let runs = crate::client::get(address, "/v1/runs", &[]).json()["data"].clone();
        if let Some(run) = runs[0]["run_id"].as_str() {
            assert_eq!(started.wait_for_end(run)["state"], json!("completed"));
            break;
        }
        assert!(begin.elapsed() < crate::started::PATIENCE, "the run was not started");
        std::thread::sleep(Duration::from_millis(20));
    }
    started.wait_for_no_process();
}

#[test]
fn a_shutdown_ends_the_runners_and_is_reported_in_their_runs() {
    let settings = [("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "300")];
    let mut started = Started::with(&crate::started::table("deaf", SHORT), &settings);
    let run = started.run();
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    let reader = crate::client::get(started.proxy.address, &path, &[("accept", "application/x-ndjson")]);
    assert!(started.proxy.terminate().success());
    let events = reader.text();
    assert!(events.lines().last().unwrap().contains("\"error_code\":\"proxy_stopping\""), "{events}");
    started.wait_for_no_process();
}

#[test]
fn a_second_termination_signal_leaves_no_runner() {
    let mut started = Started::fake("deaf", SHORT);
    started.run();
    started.proxy.signal("TERM");
    started.proxy.wait_until_stopping();
    assert!(started.proxy.terminate().success());
    started.wait_for_no_process();
}

#[test]
fn many_runs_leak_no_resources() {
    let started = Started::fake("well", "");
    started.wait_for_end(&started.run());
    started.wait_for_no_process();
    let before = started.resources();
    for _ in 0..20 {
        started.wait_for_end(&started.run());
    }
    started.wait_for_no_process();
    started.wait_until_released(before);
    let ended = "framegate_upstream_runs_ended_total{reason=\"completed\",upstream=\"fake\"}";
    assert_eq!((started.metric(ended), started.metric("framegate_upstream_runs_open{upstream=\"fake\"}")), (21, 0));
}
