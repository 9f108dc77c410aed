//! `[otlp]`: runs are sent as spans to a scripted collector, which may be slow, down, or refuse.

use crate::client::{Upload, get, post};
use crate::proxy::{Folder, Proxy, another, recording, refusal, refusal_of};
use crate::scripted::{Upstream, wait_for_close, whole};
use serde_json::Value;
use std::time::{Duration, Instant};

fn endpoint(collector: &Upstream) -> String {
    format!("http://{}/v1/traces", collector.address)
}

/// The value of an attribute, as text.
fn attribute(of: &Value, key: &str) -> Option<String> {
    let found = of["attributes"].as_array()?.iter().find(|attribute| attribute["key"] == key)?;
    let value = found["value"].as_object()?.values().next()?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn spans(collector: &Upstream) -> Vec<Value> {
    let mut spans = Vec::new();
    for request in collector.requests() {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        for resource in body["resourceSpans"].as_array().unwrap() {
            assert_eq!(attribute(&resource["resource"], "service.name").as_deref(), Some("framegate"));
            for scope in resource["scopeSpans"].as_array().unwrap() {
                spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
            }
        }
    }
    spans
}

fn metric(proxy: &Proxy, sample: &str) -> u64 {
    let text = get(proxy.address, "/metrics", &[]).text();
    let line = text.lines().find_map(|line| line.strip_prefix(sample)).unwrap_or_else(|| panic!("no {sample}"));
    line.trim().parse().unwrap()
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_a_trace_at_the_collector() {
    let collector = Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", b"{}"));
    let folder = Folder::new();
    let key = folder.write("key", "Bearer of-the-file\n");
    let settings = format!(
        "[otlp]\nendpoint = \"{}\"\ninterval_ms = 50\nheader_files = {{ authorization = \"{key}\" }}\n\
         header_env = {{ x-tenant = \"COLLECTOR_TENANT\" }}\n",
        endpoint(&collector)
    );
    let config = folder.write("config.toml", &settings);
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &[("COLLECTOR_TENANT", "of the variable")]);
    let input = recording("claude-code", "subagent.partial.ndjson");
    // Sent in two pieces and without the recorded times, so that the run has a duration.
    let input = String::from_utf8(input).unwrap().replace("\"timestamp\":", "\"was\":").into_bytes();
    let (first, second) = input.split_at(input.len() / 2);
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    upload.send(first);
    wait_until("the run has started", || get(proxy.address, "/v1/runs", &[]).text().contains("run_id"));
    // A sleep takes at least as long as requested, so the run's times, in milliseconds, differ.
    std::thread::sleep(Duration::from_millis(2));
    upload.send(second);
    let answer = upload.finish().json();
    let run = answer["runs"][0]["run_id"].as_str().unwrap().replace('-', "");
    wait_until("the run's own span has arrived", || {
        spans(&collector).iter().any(|span| span["name"] == "invoke_agent claude-code")
    });
    for request in collector.requests() {
        assert_eq!((&*request.method, &*request.path), ("POST", "/v1/traces"));
        assert_eq!(request.header("content-type"), "application/json");
        assert_eq!(request.header("authorization"), "Bearer of-the-file");
        assert_eq!(request.header("x-tenant"), "of the variable");
    }
    let spans = spans(&collector);
    assert!(spans.iter().all(|span| span["traceId"] == *run), "a trace is a run: {spans:#?}");
    let root = spans.iter().find(|span| span["name"] == "invoke_agent claude-code").unwrap();
    assert!(root["parentSpanId"].as_str().is_none_or(str::is_empty), "{root:#}");
    assert!(attribute(root, "gen_ai.usage.input_tokens").is_some(), "{root:#}");
    let bash = spans.iter().find(|span| span["name"] == "execute_tool Bash").unwrap();
    assert_eq!(attribute(bash, "gen_ai.tool.name").as_deref(), Some("Bash"));
    let agent = spans.iter().find(|span| span["name"] == "execute_tool Agent").unwrap();
    assert_eq!(bash["parentSpanId"], agent["spanId"]);
    let nanos = |key: &str| root[key].as_str().unwrap().parse::<u64>().unwrap();
    assert!(nanos("startTimeUnixNano") < nanos("endTimeUnixNano"), "{root:#}");
    // The recording contains the prompt, the command and their results, but the spans do not.
    let sent: Vec<u8> = collector.requests().into_iter().flat_map(|request| request.body).collect();
    let sent = String::from_utf8(sent).unwrap();
    for payload in ["SUBTASK-ALPHA", "wc -l", "The helper says"] {
        assert!(String::from_utf8_lossy(&input).contains(payload) && !sent.contains(payload), "{payload}");
    }
    wait_until("all spans are counted", || metric(&proxy, "framegate_spans_sent_total ") == spans.len() as u64);
}

#[test]
fn environment_variables_of_other_programs_are_ignored() {
    let collector = Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", b"{}"));
    let folder = Folder::new();
    let key = folder.write("key", "Bearer 100%41\n");
    let settings = format!(
        "[otlp]\nendpoint = \"{}\"\ninterval_ms = 50\nheader_files = {{ authorization = \"{key}\" }}\n",
        endpoint(&collector)
    );
    let config = folder.write("config.toml", &settings);
    let others = [
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20of-another,x-other=secret"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "authorization=Bearer%20of-another,x-other=secret,content-type=a/b"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/v1/traces"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=another,deployment=other"),
        ("OTEL_SERVICE_NAME", "another"),
        ("OTEL_SDK_DISABLED", "true"),
    ];
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &others);
    let input = recording("codex", "exec-command-ok.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/codex", &[], &input).status, 201);
    wait_until("the run's own span has arrived", || {
        spans(&collector).iter().any(|span| span["name"] == "invoke_agent codex")
    });
    for request in collector.requests() {
        assert_eq!((&*request.path, request.header("authorization")), ("/v1/traces", "Bearer 100%41"));
        assert_eq!((request.header("content-type"), request.header("x-other")), ("application/json", ""));
        assert!(!String::from_utf8_lossy(&request.body).contains("another"));
    }
}

#[test]
fn a_collector_that_never_answers_delays_no_ingest_and_dropped_spans_are_counted() {
    let collector = Upstream::start(|_, stream| wait_for_close(stream));
    let proxy = Proxy::with(&[
        ("FRAMEGATE__OTLP__ENDPOINT", &endpoint(&collector)),
        ("FRAMEGATE__OTLP__TIMEOUT_MS", "60000"),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "1"),
        ("FRAMEGATE__OTLP__QUEUE_SPANS", "4"),
        ("FRAMEGATE__OTLP__BATCH_SPANS", "1"),
    ]);
    let begun = Instant::now();
    for _ in 0..10 {
        let input = another("claude-code", "parallel_tools.partial.ndjson");
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &input).status, 201);
    }
    // A single answer would have taken twice as long.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(metric(&proxy, "framegate_spans_dropped_total{reason=\"queue_full\"} ") >= 10);
    assert_eq!(metric(&proxy, "framegate_spans_sent_total "), 0);
    wait_until("a request has arrived", || collector.requests().len() == 1);
}

#[test]
fn spans_that_a_collector_refuses_are_retried_and_then_dropped() {
    let collector = Upstream::start(|_, stream| whole(stream, "503 Service Unavailable", "", b""));
    let proxy =
        Proxy::with(&[("FRAMEGATE__OTLP__ENDPOINT", &endpoint(&collector)), ("FRAMEGATE__OTLP__INTERVAL_MS", "10")]);
    let input = recording("claude-code", "bash_ok.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &input).status, 201);
    wait_until("spans are dropped", || metric(&proxy, "framegate_spans_dropped_total{reason=\"not_taken\"} ") > 0);
    assert!(collector.requests().len() >= 3, "{} requests", collector.requests().len());
}

#[test]
fn queued_spans_are_sent_before_the_proxy_stops() {
    let collector = Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", b"{}"));
    let mut proxy = Proxy::with(&[
        ("FRAMEGATE__OTLP__ENDPOINT", &endpoint(&collector)),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "600000"),
    ]);
    let input = recording("codex", "exec-command-ok.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/codex", &[], &input).status, 201);
    assert!(collector.requests().is_empty(), "the spans must be queued");
    assert!(proxy.terminate().success());
    assert!(spans(&collector).iter().any(|span| span["name"] == "invoke_agent codex"));
}

#[test]
fn invalid_settings_are_refused_at_the_start() {
    let folder = Folder::new();
    let refused = |lines: &str| {
        let text = format!("[otlp]\nendpoint = \"http://127.0.0.1:4318/v1/traces\"\n{lines}\n");
        refusal_of(&folder.write("config.toml", &text), &[("TWO_LINES", "a\nb")])
    };
    let said = refused("header_files = { authorization = \"/no/such/file\" }");
    assert!(said.contains("the header \"authorization\": cannot read /no/such/file"), "{said}");
    let said = refused("header_env = { x-key = \"NO_SUCH_VARIABLE\" }");
    assert!(said.contains("there is no environment variable \"NO_SUCH_VARIABLE\""), "{said}");
    let said = refused("header_env = { x-key = \"TWO_LINES\" }");
    assert!(said.contains("the value cannot be sent in a header") && !said.contains("a\nb"), "{said}");
    let roots = folder.write("roots.pem", "none");
    let with_tls = ("FRAMEGATE__OTLP__ENDPOINT", "https://127.0.0.1:4318/v1/traces");
    let said = refusal(&[with_tls, ("FRAMEGATE__OTLP__CA_FILE", &roots)]);
    assert!(said.contains("roots.pem"), "{said}");
}
