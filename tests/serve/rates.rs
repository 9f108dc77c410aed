//! The limits for each client: at the limit, and beyond it.

use crate::auth::{bearer, token};
use crate::client::{Answer, Upload, get, post};
use crate::proxy::{Folder, Proxy, another, recording};
use std::time::{Duration, Instant};

const INGEST: &str = "/v1/ingest/claude-code";

fn two_clients(folder: &Folder) -> String {
    let scopes = "scopes = [\"ingest\", \"read\"]";
    folder.write("tokens.toml", &[token(folder, "one", scopes), token(folder, "two", scopes)].concat())
}

#[test]
fn requests_over_the_rate_get_retry_after() {
    let folder = Folder::new();
    let proxy = Proxy::with(&[
        ("FRAMEGATE__AUTH__TOKENS_FILE", &two_clients(&folder)),
        ("FRAMEGATE__LIMITS__REQUESTS_PER_SECOND", "1"),
        ("FRAMEGATE__LIMITS__REQUEST_BURST", "3"),
    ]);
    let ask = |name: &str| get(proxy.address, "/v1/runs", &[("authorization", &bearer(name))]);
    let start = Instant::now();
    let answers: Vec<Answer> = (0..8).map(|_| ask("one")).collect();
    let passed = answers.iter().filter(|answer| answer.status == 200).count();
    // The burst, and the allowance that accrues in the meantime.
    let most = 3 + usize::try_from(start.elapsed().as_secs()).unwrap() + 1;
    assert!((3..=most).contains(&passed), "{passed} of {most}");
    let refused = answers.into_iter().find(|answer| answer.status == 429).unwrap();
    assert_eq!(refused.header("retry-after"), "1");
    assert!(refused.json()["detail"].as_str().unwrap().contains("limits.requests_per_second"));
    assert_eq!(ask("two").status, 200, "another client must have its own rate");
    // Requests with invalid tokens count as one client.
    let guesses: Vec<u16> =
        (0..8).map(|_| get(proxy.address, "/v1/runs", &[("authorization", "Bearer guess")]).status).collect();
    assert!(guesses.starts_with(&[401, 401, 401]) && guesses.contains(&429), "{guesses:?}");
    assert!((0..8).all(|_| get(proxy.address, "/healthz", &[]).status == 200), "probes must not be counted");
    // As long as `retry-after` asked for.
    std::thread::sleep(Duration::from_millis(1100));
    assert_eq!(ask("one").status, 200);
}

#[test]
fn an_ingest_over_the_rate_is_delayed_without_loss() {
    let bytes = recording("claude-code", "bash_large.ndjson");
    let send = |proxy: &Proxy| {
        let start = Instant::now();
        let made = post(proxy.address, INGEST, &[], &bytes).json();
        assert_eq!(made["runs"][0]["state"], "completed");
        (made["records"].clone(), start.elapsed())
    };
    // The burst covers a tenth of the body, the rest takes two seconds.
    let burst = bytes.len() / 10;
    let rate = (bytes.len() - burst) / 2;
    let slow = Proxy::with(&[
        ("FRAMEGATE__LIMITS__INGEST_BYTES_PER_SECOND", &rate.to_string()),
        ("FRAMEGATE__LIMITS__INGEST_BURST_BYTES", &burst.to_string()),
        // Time that the proxy waits does not count toward the idle timeout.
        ("FRAMEGATE__INGEST__IDLE_TIMEOUT_MS", "1000"),
    ]);
    let (records, took) = send(&slow);
    assert!(took > Duration::from_millis(1000), "{took:?}");
    assert_eq!(records, send(&Proxy::start()).0);
}

#[test]
fn event_streams_are_limited_per_client_and_in_total() {
    let folder = Folder::new();
    let proxy = Proxy::with(&[
        ("FRAMEGATE__AUTH__TOKENS_FILE", &two_clients(&folder)),
        ("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS", "3"),
        ("FRAMEGATE__LIMITS__MAX_EVENT_STREAMS_PER_CLIENT", "2"),
        // The proxy notices a disconnected client when it writes to it.
        ("FRAMEGATE__SERVER__HEARTBEAT_MS", "100"),
    ]);
    let stream = |name: &str| get(proxy.address, "/v1/events", &[("authorization", &bearer(name))]);
    let mut open = vec![stream("one"), stream("one")];
    assert!(open.iter().all(|answer| answer.status == 200));
    let third = stream("one");
    assert_eq!((third.status, third.header("retry-after")), (429, "1"));
    open.push(stream("two"));
    assert_eq!(open[2].status, 200);
    let hecate = get(proxy.address, "/hecate/v1/events/stream", &[("authorization", &bearer("two"))]);
    assert_eq!((hecate.status, hecate.header("retry-after")), (503, "1"), "every kind of stream must count");
    let page = [("authorization", &*bearer("two")), ("accept", "application/json")];
    assert_eq!(get(proxy.address, "/v1/events?limit=1", &page).status, 200, "a page must not count as a stream");
    // A client's slot is freed when the client disconnects.
    open.clear();
    let deadline = Instant::now() + Duration::from_secs(30);
    while stream("one").status != 200 {
        assert!(Instant::now() < deadline, "the slots are not free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_over_the_limit_of_open_runs_gets_retry_after() {
    let proxy = Proxy::with(&[("FRAMEGATE__LIMITS__MAX_OPEN_RUNS", "1")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut first = Upload::start(proxy.address, INGEST, &[("accept", "text/event-stream")]);
    first.send(&bytes[..line_end]);
    let mut events = first.answer();
    assert!(events.event().is_some(), "the first run must be open");
    let mut second = Upload::start(proxy.address, INGEST, &[]);
    second.send(&bytes[..line_end]);
    let refused = second.answer();
    assert_eq!((refused.status, refused.header("retry-after")), (503, "1"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("limits.max_open_runs"));
    first.send(&bytes[line_end..]);
    first.end();
    while events.event().is_some() {}
    let other = another("claude-code", "text_plain.partial.ndjson");
    assert_eq!(post(proxy.address, INGEST, &[], &other).status, 201, "its slot must be free again");
}

#[test]
fn a_run_at_the_limit_of_records_is_read_and_one_over_it_is_refused() {
    let bytes = recording("claude-code", "text_plain.ndjson");
    let records = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count();
    for (limit, status) in [(records, 201), (records - 1, 413)] {
        let proxy = Proxy::with(&[("FRAMEGATE__LIMITS__MAX_RECORDS_PER_RUN", &limit.to_string())]);
        assert_eq!(post(proxy.address, INGEST, &[], &bytes).status, status, "{limit}");
    }
}
