//! `GET /metrics`: parsed strictly as text format 0.0.4, and compared with a known recording.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording};
use std::collections::{BTreeMap, HashMap};

type Labels = BTreeMap<String, String>;

/// One scrape: the samples by name and labels.
struct Scrape {
    types: HashMap<String, String>,
    samples: HashMap<(String, Labels), f64>,
}

impl Scrape {
    fn of(proxy: &Proxy) -> Self {
        let answer = get(proxy.address, "/metrics", &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, "text/plain; version=0.0.4"));
        Self::parse(&answer.text())
    }

    fn parse(text: &str) -> Self {
        assert!(text.ends_with('\n'), "the last line has no line end");
        let mut scrape = Self { types: HashMap::new(), samples: HashMap::new() };
        let (mut family, mut helped): (String, Vec<String>) = (String::new(), Vec::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(!help.trim().is_empty() && !helped.contains(&name.to_owned()), "{line}");
                helped.push(name.to_owned());
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert_eq!(helped.last().map(String::as_str), Some(name), "HELP must precede TYPE: {line}");
                assert!(scrape.types.insert(name.to_owned(), kind.to_owned()).is_none(), "twice: {line}");
                family = name.to_owned();
            } else {
                let (name, labels, value) = sample(line);
                let suffixes = ["", "_bucket", "_sum", "_count"];
                let is_histogram = scrape.types[&family] == "histogram";
                let fits = suffixes
                    .iter()
                    .any(|suffix| name == format!("{family}{suffix}") && is_histogram != suffix.is_empty());
                assert!(fits, "{name} does not belong to {family}");
                assert!(value >= 0.0, "{line}");
                assert!(scrape.types[&family] != "counter" || name.ends_with("_total"), "{line}");
                assert!(scrape.samples.insert((name, labels), value).is_none(), "twice: {line}");
            }
        }
        scrape
    }

    fn get(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels: Labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let found = self.samples.get(&(name.to_owned(), labels.clone()));
        *found.unwrap_or_else(|| panic!("no sample {name} {labels:?}"))
    }

    /// The sum over all samples that have these labels among theirs.
    fn sum(&self, name: &str, with: &[(&str, &str)]) -> f64 {
        let fits = |labels: &Labels| with.iter().all(|(name, value)| labels.get(*name).is_some_and(|own| own == value));
        self.samples.iter().filter(|((own, labels), _)| own == name && fits(labels)).map(|(_, value)| value).sum()
    }
}

/// Parses `name{label="value",…} value`, strictly.
fn sample(line: &str) -> (String, Labels, f64) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("{line}"));
    let (name, rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = Labels::new();
    let value = match rest.strip_prefix('{') {
        None => rest.strip_prefix(' ').unwrap(),
        Some(mut rest) => loop {
            let (label, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(is_name(label) && !label.contains(':'), "{line}");
            let close = after.find('"').unwrap_or_else(|| panic!("{line}"));
            let value = &after[..close];
            assert!(!value.contains(['\\', '\n']), "no label should need an escape: {line}");
            assert!(labels.insert(label.to_owned(), value.to_owned()).is_none(), "{line}");
            let after = &after[close + 1..];
            if let Some(value) = after.strip_prefix("} ") {
                break value;
            }
            rest = after.strip_prefix(',').unwrap_or_else(|| panic!("{line}"));
        },
    };
    (name.to_owned(), labels, value.parse().unwrap_or_else(|_| panic!("{line}")))
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':')
}

#[test]
fn metrics_match_the_recording() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "bash_ok.ndjson");
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &bytes).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let events = get(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), &[]).events();
    let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
    let scrape = Scrape::of(&proxy);
    let claude = [("runner", "claude-code")];
    let records = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).count() as f64;
    assert_eq!(scrape.get("framegate_records_total", &claude), records);
    assert_eq!(scrape.get("framegate_ingest_bytes_total", &claude), bytes.len() as f64);
    assert_eq!(scrape.get("framegate_invalid_records_total", &claude), 0.0);
    assert_eq!(scrape.get("framegate_ingests_open", &claude), 0.0);
    let finished = [("runner", "claude-code"), ("reason", "finished")];
    assert_eq!(scrape.get("framegate_ingests_ended_total", &finished), 1.0);
    assert_eq!(scrape.get("framegate_runs_started_total", &claude), 1.0);
    let completed = [("runner", "claude-code"), ("reason", "completed")];
    assert_eq!(scrape.get("framegate_runs_ended_total", &completed), 1.0);
    assert_eq!(scrape.sum("framegate_frames_total", &claude), status["frames"].as_f64().unwrap());
    let tools = [("runner", "claude-code"), ("type", "tool_started")];
    assert_eq!(scrape.get("framegate_frames_total", &tools), status["tool_calls"].as_f64().unwrap());
    let contract = [("contract", "sse.v1")];
    assert_eq!(scrape.get("framegate_events_checked_total", &contract), events.len() as f64);
    assert_eq!(scrape.get("framegate_validation_failures_total", &contract), 0.0);
    let client = [("contract", "sse.v1"), ("wire", "sse")];
    assert_eq!(scrape.get("framegate_events_sent_total", &client), events.len() as f64);
    assert_eq!(scrape.get("framegate_clients", &client), 0.0);
    assert_eq!(scrape.get("framegate_client_lag_frames", &client), 0.0);
    assert!(scrape.get("framegate_log_append_seconds_count", &[]) >= 1.0);
    assert!(scrape.get("framegate_log_bytes", &[]) >= bytes.len() as f64);
    assert!(scrape.get("framegate_log_streams", &[]) >= 1.0);
    let version = [("version", env!("CARGO_PKG_VERSION"))];
    assert_eq!(scrape.get("framegate_build_info", &version), 1.0);
    // No label contains an id from a request path.
    let request = [("method", "GET"), ("route", "/v1/runs/{run_id}/events"), ("status", "200")];
    assert_eq!(scrape.get("framegate_http_requests_total", &request), 1.0);
    assert!(!scrape.samples.keys().any(|(_, labels)| labels.values().any(|value| value.contains(&run))));
}

#[test]
fn invalid_and_unknown_records_are_counted() {
    let proxy = Proxy::start();
    let mut bytes = recording("claude-code", "text_plain.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    bytes.splice(line_end..line_end, b"{not json\n{\"type\":\"never_heard_of\"}\n".iter().copied());
    post(proxy.address, "/v1/ingest/claude-code", &[], &bytes);
    let scrape = Scrape::of(&proxy);
    assert_eq!(scrape.get("framegate_invalid_records_total", &[("runner", "claude-code")]), 1.0);
    assert!(scrape.sum("framegate_drift_total", &[("runner", "claude-code"), ("kind", "unknown_type")]) >= 1.0);
}

#[test]
fn unknown_paths_share_one_series() {
    let proxy = Proxy::start();
    for path in ["/nothing", "/nothing/else", "/v1/runs/x/y/z"] {
        assert_eq!(get(proxy.address, path, &[]).status, 404);
    }
    let scrape = Scrape::of(&proxy);
    let none = [("method", "GET"), ("route", "none"), ("status", "404")];
    assert_eq!(scrape.get("framegate_http_requests_total", &none), 3.0);
}

#[test]
fn a_live_client_is_counted_with_its_added_latency() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let headers = [("accept", "text/event-stream; contract=agent-manager.v1")];
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &headers);
    let half = bytes[..bytes.len() / 2].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    upload.send(&bytes[..half]);
    let mut answer = upload.answer();
    assert!(answer.event().is_some());
    let client = [("contract", "agent-manager.v1"), ("wire", "sse")];
    let scrape = Scrape::of(&proxy);
    assert_eq!(scrape.get("framegate_clients", &client), 1.0);
    assert_eq!(scrape.get("framegate_ingests_open", &[("runner", "claude-code")]), 1.0);
    upload.send(&bytes[half..]);
    upload.end();
    while answer.event().is_some() {}
    let scrape = Scrape::of(&proxy);
    let waited = scrape.get("framegate_added_latency_seconds_count", &[("contract", "agent-manager.v1")]);
    let longest = [("contract", "agent-manager.v1"), ("le", "+Inf")];
    assert!(waited >= 1.0);
    assert_eq!(scrape.get("framegate_added_latency_seconds_bucket", &longest), waited);
}

#[test]
fn a_client_that_does_not_read_has_a_lag() {
    let proxy = Proxy::start();
    let line = format!("{{\"type\":\"system\",\"subtype\":\"x\",\"pad\":\"{}\"}}\n", "x".repeat(20_000));
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    let first = recording("claude-code", "text_plain.ndjson");
    let first_line = first.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    upload.send(&first[..first_line]);
    let run = loop {
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        if let Some(run) = runs["data"][0]["run_id"].as_str() {
            break run.to_owned();
        }
    };
    // A client that never reads. The kernel and the proxy buffer far less for it than is sent.
    let _client = get(proxy.address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]);
    for _ in 0..1500 {
        upload.send(line.as_bytes());
    }
    upload.finish();
    let scrape = Scrape::of(&proxy);
    let lag = scrape.get("framegate_client_lag_frames", &[("contract", "frames.v2"), ("wire", "sse")]);
    assert!((1.0..=1600.0).contains(&lag), "{lag}");
}

#[test]
fn redactions_are_counted_by_rule_and_marks_written_by_a_runner_are_not() {
    let proxy = Proxy::start();
    let text = String::from_utf8(recording("claude-code", "text_plain.ndjson")).unwrap();
    let secret =
        "{\"type\":\"system\",\"subtype\":\"x\",\"a\":\"ghp_q7ZkVx2mPtWj8RbYn4LcGs6HdFu1AeKi3QoX [REDACTED:mine]\"}\n";
    post(proxy.address, "/v1/ingest/claude-code", &[], (text + secret).as_bytes());
    let scrape = Scrape::of(&proxy);
    let rule = [("runner", "claude-code"), ("rule", "github-token")];
    assert_eq!(scrape.get("framegate_redactions_total", &rule), 1.0);
    assert_eq!(scrape.sum("framegate_redactions_total", &[]), 1.0);
}
