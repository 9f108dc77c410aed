//! Each setting that is a limit: requests within it work, and requests beyond it get the answer that config.toml describes.

use crate::client::{Answer, Upload, connect, get, post};
use crate::proxy::{Folder, Proxy, another, recording, refusal};
use std::io::Write;
use std::time::{Duration, Instant};

const INGEST: &str = "/v1/ingest/claude-code";

#[test]
fn a_connection_over_the_limit_serves_only_probes_and_gets_retry_after() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__MAX_CONNECTIONS", "2")]);
    // These are answered and stay open.
    let mut open: Vec<Answer> = (0..2).map(|_| get(proxy.address, "/healthz", &[])).collect();
    assert!(open.iter().all(|answer| answer.status == 200));
    for probe in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(get(proxy.address, probe, &[]).status, 200, "{probe}");
    }
    let refused = get(proxy.address, "/v1/runs", &[]);
    assert_eq!((refused.status, refused.header("retry-after"), refused.header("connection")), (503, "1", "close"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("server.max_connections"));
    open.pop();
    let deadline = Instant::now() + Duration::from_secs(20);
    while get(proxy.address, "/v1/runs", &[]).status != 200 {
        assert!(Instant::now() < deadline, "the slot of a closed connection is not free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a request with a head of this length; returns the status.
fn with_head_of(proxy: &Proxy, bytes: usize) -> u16 {
    let mut head = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nx-filler: ", proxy.address);
    head.push_str(&"x".repeat(bytes - head.len() - 4));
    head.push_str("\r\n\r\n");
    assert_eq!(head.len(), bytes);
    let mut stream = connect(proxy.address);
    // A proxy that has read enough may refuse before everything is written.
    let _ = stream.write_all(head.as_bytes());
    Answer::read(stream).status
}

#[test]
fn a_head_at_the_limit_is_read_and_one_over_it_is_refused() {
    // The minimum, and values that are not a multiple of a buffer's size.
    for limit in [8192, 10_000, 65_536] {
        let proxy = Proxy::with(&[("FRAMEGATE__SERVER__MAX_HEADER_BYTES", &limit.to_string())]);
        assert_eq!(with_head_of(&proxy, limit), 200, "{limit}");
        for over in [limit + 1, limit * 3 / 2, limit * 3] {
            assert_eq!(with_head_of(&proxy, over), 431, "{over} of {limit}");
        }
        assert_eq!(get(proxy.address, "/healthz", &[]).status, 200, "the proxy must keep running");
    }
}

#[test]
fn an_ingest_over_the_limit_is_refused_until_another_ends() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__MAX_OPEN", "2")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut open: Vec<Upload> = (0..2)
        .map(|_| {
            let mut upload = Upload::start(proxy.address, INGEST, &[("accept", "text/event-stream")]);
            upload.send(&bytes[..line_end]);
            // The first event shows that the ingest is open.
            assert!(upload.answer().event().is_some());
            upload
        })
        .collect();
    let refused = post(proxy.address, INGEST, &[], &bytes);
    assert_eq!((refused.status, refused.header("content-type")), (503, "application/problem+json"));
    assert!(refused.json()["detail"].as_str().unwrap().starts_with("2 ingests are open, which is the limit"));
    open.pop();
    let deadline = Instant::now() + Duration::from_secs(20);
    while post(proxy.address, INGEST, &[], &bytes).status != 201 {
        assert!(Instant::now() < deadline, "the slot of a broken ingest is not free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_page_never_exceeds_the_limit() {
    let proxy =
        Proxy::with(&[("FRAMEGATE__SERVER__PAGE_LIMIT_MAX", "3"), ("FRAMEGATE__SERVER__PAGE_LIMIT_DEFAULT", "2")]);
    let bytes = recording("claude-code", "text_plain.ndjson");
    let run = post(proxy.address, INGEST, &[], &bytes).json()["runs"][0]["run_id"].as_str().unwrap().to_owned();
    for _ in 0..4 {
        assert_eq!(post(proxy.address, INGEST, &[], &another("claude-code", "text_plain.ndjson")).status, 201);
    }
    for path in [format!("/v1/runs/{run}/events"), "/v1/runs".to_owned()] {
        for (query, count) in [("", 2), ("?limit=1", 1), ("?limit=3", 3), ("?limit=4", 3), ("?limit=100000", 3)] {
            let page = get(proxy.address, &format!("{path}{query}"), &[("accept", "application/json")]).json();
            assert_eq!(page["data"].as_array().unwrap().len(), count, "{path}{query}");
            assert!(!page[if path == "/v1/runs" { "next_skip" } else { "next" }].is_null(), "there is more: {page}");
        }
    }
}

#[test]
fn an_ingest_that_is_silent_for_too_long_is_ended() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__IDLE_TIMEOUT_MS", "2000")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    // Each pause is within the limit, but together they exceed it.
    let mut upload = Upload::start(proxy.address, INGEST, &[]);
    for piece in bytes.chunks(bytes.len().div_ceil(6)) {
        upload.send(piece);
        std::thread::sleep(Duration::from_millis(450));
    }
    let whole = upload.finish();
    assert_eq!(whole.status, 201);
    assert_eq!(whole.json()["runs"][0]["state"], "completed");
    let mut upload = Upload::start(proxy.address, INGEST, &[]);
    upload.send(&bytes[..bytes.len() / 2]);
    let cut = upload.answer();
    assert_eq!((cut.status, cut.header("content-type")), (408, "application/problem+json"));
    let detail = cut.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("silent for too long (ingest.idle_timeout_ms)"), "{detail}");
    let newest = get(proxy.address, "/v1/runs?limit=1", &[]).json()["data"][0].clone();
    assert_eq!((newest["state"].as_str(), newest["error_code"].as_str()), (Some("interrupted"), Some("stream_ended")));
}

#[test]
fn the_oldest_finished_run_is_evicted_over_the_limit() {
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__MAX_RUNS", "2")]);
    let mut made: Vec<String> = Vec::new();
    for count in 1..=4_usize {
        let bytes = another("claude-code", "text_plain.ndjson");
        let run = post(proxy.address, INGEST, &[], &bytes).json()["runs"][0]["run_id"].as_str().unwrap().to_owned();
        made.push(run);
        let (gone, kept) = made.split_at(count.saturating_sub(2));
        let listed = get(proxy.address, "/v1/runs", &[]).json();
        assert_eq!(listed["data"].as_array().unwrap().len(), kept.len(), "after {count} runs");
        for run in kept {
            assert_eq!(get(proxy.address, &format!("/v1/runs/{run}"), &[]).status, 200);
            let events = get(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), &[]).events();
            assert_eq!(events.last().unwrap().name.as_deref(), Some("run_completed"));
        }
        for run in gone {
            assert_eq!(get(proxy.address, &format!("/v1/runs/{run}"), &[]).status, 404);
            assert_eq!(get(proxy.address, &format!("/v1/runs/{run}/events"), &[]).status, 404);
        }
    }
}

#[test]
fn cache_and_read_ahead_sizes_do_not_change_what_is_served() {
    let input = recording("claude-code", "parallel_tools.partial.ndjson");
    let mut given: Option<Vec<u8>> = None;
    for (recent, ahead) in [("0", "0"), ("1", "1"), ("1099511627776", "1073741824")] {
        let folder = Folder::new();
        let path = folder.path("log.db").to_str().unwrap().to_owned();
        let proxy = Proxy::with(&[
            ("FRAMEGATE__LOG__KIND", "sqlite"),
            ("FRAMEGATE__LOG__PATH", &path),
            ("FRAMEGATE__LOG__FSYNC", "never"),
            ("FRAMEGATE__LOG__RECENT_BYTES", recent),
            ("FRAMEGATE__INGEST__AHEAD_BYTES", ahead),
        ]);
        let answer = post(proxy.address, INGEST, &[], &input).json();
        let run = answer["runs"][0]["run_id"].as_str().unwrap();
        let raw = get(proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[]).bytes();
        assert!(raw.len() > 10_000, "{answer}");
        assert!(
            given.get_or_insert_with(|| raw.clone()) == &raw,
            "log.recent_bytes {recent}, ingest.ahead_bytes {ahead}"
        );
    }
    for (key, value, message) in [
        ("FRAMEGATE__LOG__RECENT_BYTES", "1099511627777", "RECENT_BYTES: 1099511627777 is out of range"),
        ("FRAMEGATE__INGEST__AHEAD_BYTES", "1073741825", "AHEAD_BYTES: 1073741825 is out of range"),
    ] {
        let said = refusal(&[(key, value)]);
        assert!(said.contains(message), "{said}");
    }
}
