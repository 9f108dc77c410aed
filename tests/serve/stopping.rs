//! The shutdown of the proxy, and what probes report during it.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording};
use std::process::Command;
use std::time::{Duration, Instant};

fn send_term(proxy: &Proxy) {
    assert!(Command::new("kill").args(["-TERM", &proxy.pid().to_string()]).status().unwrap().success());
}

/// An ingest with an open run, and the run's id.
fn open_ingest(proxy: &Proxy, bytes: &[u8]) -> (Upload, String) {
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    upload.send(bytes);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        if let Some(run) = runs["data"][0]["run_id"].as_str() {
            return (upload, run.to_owned());
        }
        assert!(Instant::now() < deadline, "no run: {runs}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The first half of a recording, up to the end of a line, and the rest.
fn split_in_half(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes[..bytes.len() / 2].iter().rposition(|&byte| byte == b'\n').unwrap() + 1)
}

#[test]
fn an_open_ingest_can_finish_while_new_work_is_refused() {
    let mut proxy = Proxy::with(&[("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "30000")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let (front, rest) = split_in_half(&bytes);
    assert_eq!(get(proxy.address, "/readyz", &[]).json()["status"], "ready");
    let (mut upload, run) = open_ingest(&proxy, front);
    let mut reader = get(proxy.address, &format!("/v1/runs/{run}/events?contract=agent-manager.v1"), &[]);
    assert!(reader.event().is_some());
    send_term(&proxy);
    proxy.wait_until_stopping();
    let refused = get(proxy.address, "/v1/runs", &[]);
    assert_eq!((refused.status, refused.header("connection"), refused.header("retry-after")), (503, "close", "1"));
    let refused = post(proxy.address, "/v1/ingest/claude-code", &[], &bytes);
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
    assert_eq!(get(proxy.address, "/metrics", &[]).status, 200);
    upload.send(rest);
    let made = upload.finish();
    assert_eq!(made.status, 201);
    assert_eq!(made.json()["runs"][0]["state"], "completed");
    let mut last = None;
    while let Some(event) = reader.event() {
        last = Some(event);
    }
    let last = last.unwrap().json();
    assert_eq!(last["eventType"], "status", "{last:#}");
    assert_eq!(last["data"]["newStatus"], "complete", "{last:#}");
    assert!(proxy.terminate().success());
}

#[test]
fn runs_that_are_open_after_the_grace_period_are_interrupted_by_the_proxy() {
    let mut proxy = Proxy::with(&[("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "300")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let (upload, run) = open_ingest(&proxy, split_in_half(&bytes).0);
    let mut reader = get(proxy.address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]);
    let mut feed = get(proxy.address, "/v1/events?contract=frames.v2", &[]);
    send_term(&proxy);
    let mut frames = Vec::new();
    while let Some(event) = reader.event() {
        frames.push(event.json());
    }
    let last = frames.last().unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&"session_ended".into(), &"interrupted".into()), "{last:#}");
    assert_eq!(last["error_code"], "proxy_stopping");
    for (at, frame) in frames.iter().enumerate() {
        assert_eq!(frame["seq"], at, "no gap and no repeat");
    }
    // The feed contains the run's end too, and then the reason why the feed ends.
    let (mut lines, mut ended) = (Vec::new(), false);
    while let Some(line) = feed.line() {
        ended |= line.contains("proxy_stopping");
        lines.push(line);
    }
    assert!(ended);
    let tail: Vec<&str> = lines.iter().rev().take(2).rev().map(String::as_str).collect();
    assert!(tail[0].starts_with(": the proxy is stopping"), "{tail:?}");
    assert_eq!(tail[1..], [""]);
    let answer = upload.answer();
    assert_eq!((answer.status, answer.header("retry-after")), (503, "1"));
    assert!(answer.json()["detail"].as_str().unwrap().contains("the proxy is stopping"));
    assert!(proxy.terminate().success());
}

#[test]
fn a_second_signal_ends_the_grace_period() {
    let mut proxy = Proxy::with(&[("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "600000")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let (_upload, _run) = open_ingest(&proxy, split_in_half(&bytes).0);
    send_term(&proxy);
    proxy.wait_until_stopping();
    assert!(proxy.terminate().success());
}

#[test]
fn a_client_that_does_not_read_delays_the_shutdown_only_up_to_the_setting() {
    let mut proxy = Proxy::with(&[("FRAMEGATE__SERVER__SHUTDOWN_FLUSH_MS", "200")]);
    let line = format!("{{\"type\":\"system\",\"subtype\":\"x\",\"pad\":\"{}\"}}\n", "x".repeat(20_000));
    let first = recording("claude-code", "text_plain.ndjson");
    let first_line = first.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let (mut upload, run) = open_ingest(&proxy, &first[..first_line]);
    let _client = get(proxy.address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]);
    for _ in 0..1500 {
        upload.send(line.as_bytes());
    }
    upload.finish();
    assert!(proxy.terminate().success());
}

#[test]
fn the_health_command_reports_the_state_of_a_proxy() {
    let proxy = Proxy::start();
    let health = |url: &str| {
        Command::new(env!("CARGO_BIN_EXE_framegate")).args(["health", url, "--timeout-ms", "5000"]).output().unwrap()
    };
    let good = health(&format!("http://{}", proxy.address));
    assert_eq!(good.status.code(), Some(0));
    assert!(String::from_utf8(good.stdout).unwrap().contains("\"ok\""));
    assert_eq!(health(&format!("http://{}/readyz", proxy.address)).status.code(), Some(0));
    assert_eq!(health(&format!("http://{}/nothing", proxy.address)).status.code(), Some(1));
    assert_eq!(health("ftp://nowhere").status.code(), Some(2));
    let address = proxy.address;
    drop(proxy);
    assert_eq!(health(&format!("http://{address}")).status.code(), Some(1));
}
