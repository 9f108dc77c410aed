//! `[otlp]`: runs are sent as spans to a scripted collector, which may be slow, down, or refuse. Spans are read as JSON here;
//! `otlp_collector` has real programs, which read protobuf.

use crate::client::{Upload, get, post};
use crate::proxy::{Folder, Proxy, another, recording, refusal, refusal_of};
use crate::scripted::{ReceivedRequest, Upstream, wait_for_close, whole};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const JSON: (&str, &str) = ("FRAMEGATE__OTLP__PROTOCOL", "http/json");

/// A collector that accepts everything.
fn accepting() -> Upstream {
    Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", b"{}"))
}

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
        let body: Value = serde_json::from_slice(&plain(&request)).unwrap();
        for resource in body["resourceSpans"].as_array().unwrap() {
            assert_eq!(attribute(&resource["resource"], "service.name").as_deref(), Some("framegate"));
            for scope in resource["scopeSpans"].as_array().unwrap() {
                spans.extend(scope["spans"].as_array().unwrap().iter().cloned());
            }
        }
    }
    spans
}

/// The body of a request, decompressed.
fn plain(request: &ReceivedRequest) -> Vec<u8> {
    if request.header("content-encoding") != "gzip" {
        return request.body.clone();
    }
    let mut plain = Vec::new();
    GzDecoder::new(&*request.body).read_to_end(&mut plain).unwrap();
    plain
}

fn ingest(proxy: &Proxy, runner: &str, name: &str) {
    assert_eq!(post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name)).status, 201);
}

fn wait_for_run(collector: &Upstream, name: &str) -> Value {
    let find = || spans(collector).into_iter().find(|span| span["name"] == name);
    wait_until("the run's own span has arrived", || find().is_some());
    find().unwrap()
}

/// The value of a metric.
pub fn metric(proxy: &Proxy, sample: &str) -> u64 {
    let text = get(proxy.address, "/metrics", &[]).text();
    let line = text.lines().find_map(|line| line.strip_prefix(sample)).unwrap_or_else(|| panic!("no {sample}"));
    line.trim().parse().unwrap()
}

/// Waits until something is the case.
pub fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_is_a_trace_at_the_collector() {
    let collector = accepting();
    let folder = Folder::new();
    let key = folder.write("key", "Bearer of-the-file\n");
    let settings = format!(
        "[otlp]\nendpoint = \"{}\"\nprotocol = \"http/json\"\ninterval_ms = 50\n\
         header_files = {{ authorization = \"{key}\" }}\nheader_env = {{ x-tenant = \"COLLECTOR_TENANT\" }}\n",
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
fn standard_variables_alone_name_a_collector() {
    let collector = accepting();
    let proxy = Proxy::with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{}/base/", collector.address)),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc%3D,x-tenant=a"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_SERVICE_NAME", "gate"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=other"),
        ("OTEL_BSP_SCHEDULE_DELAY", "20"),
    ]);
    ingest(&proxy, "codex", "exec-command-ok.ndjson");
    wait_until("a request has arrived", || !collector.requests().is_empty());
    let request = &collector.requests()[0];
    assert_eq!(request.path, "/base/v1/traces");
    assert_eq!((request.header("authorization"), request.header("x-tenant")), ("Basic abc=", "a"));
    assert_eq!(request.header("content-type"), "application/json");
    let body: Value = serde_json::from_slice(&plain(request)).unwrap();
    let resource = &body["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name").as_deref(), Some("gate"));
    assert_eq!(attribute(resource, "deployment.environment.name").as_deref(), Some("test"));
}

#[test]
fn variables_for_another_collector_are_not_used_for_framegate_s_own() {
    let collector = accepting();
    let folder = Folder::new();
    let key = folder.write("key", "Bearer 100%41\n");
    let settings = format!(
        "[otlp]\nendpoint = \"{}\"\nprotocol = \"http/json\"\ninterval_ms = 50\nservice_name = \"framegate\"\n\
         header_files = {{ authorization = \"{key}\" }}\n",
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
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_SDK_DISABLED", "true"),
        ("OTEL_RESOURCE_ATTRIBUTES", "team=shared"),
    ];
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &others);
    ingest(&proxy, "codex", "exec-command-ok.ndjson");
    wait_for_run(&collector, "invoke_agent codex");
    for request in collector.requests() {
        assert_eq!((&*request.path, request.header("authorization")), ("/v1/traces", "Bearer 100%41"));
        assert_eq!((request.header("content-type"), request.header("x-other")), ("application/json", ""));
        assert_eq!(request.header("content-encoding"), "");
        let body = String::from_utf8(request.body).unwrap();
        assert!(!body.contains("of-another") && body.contains("shared"), "{body}");
    }
}

#[test]
fn protobuf_is_the_default() {
    let collector =
        Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/x-protobuf\r\n", b""));
    let endpoint = endpoint(&collector);
    let proxy = Proxy::with(&[("FRAMEGATE__OTLP__ENDPOINT", &endpoint), ("FRAMEGATE__OTLP__INTERVAL_MS", "10")]);
    ingest(&proxy, "codex", "exec-command-ok.ndjson");
    wait_until("spans are counted", || metric(&proxy, "framegate_spans_sent_total ") > 2);
    let request = &collector.requests()[0];
    assert_eq!(request.header("content-type"), "application/x-protobuf");
    // Field 1 of the request is a message with all its spans.
    assert_eq!(request.body[0], 0x0a);
}

#[test]
fn spans_have_content_if_it_is_asked_for() {
    let collector = accepting();
    let proxy = Proxy::with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{}", collector.address)),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY"),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "10"),
        ("FRAMEGATE__OTLP__CONTENT_BYTES", "400"),
        JSON,
    ]);
    ingest(&proxy, "claude-code", "bash_ok.partial.ndjson");
    let run = wait_for_run(&collector, "invoke_agent claude-code");
    let messages: Value = serde_json::from_str(&attribute(&run, "gen_ai.output.messages").unwrap()).unwrap();
    assert_eq!(messages[0]["role"], "assistant");
    let spans = spans(&collector);
    let bash = spans.iter().find(|span| span["name"] == "execute_tool Bash").unwrap();
    assert!(attribute(bash, "gen_ai.tool.call.arguments").unwrap().contains("\"command\""), "{bash:#}");
    assert!(attribute(bash, "gen_ai.tool.call.result").is_some(), "{bash:#}");
}

#[test]
fn content_is_redacted_before_it_is_sent() {
    let collector = accepting();
    let proxy = Proxy::with(&[
        ("FRAMEGATE__OTLP__ENDPOINT", &endpoint(&collector)),
        ("FRAMEGATE__OTLP__CONTENT", "messages"),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "10"),
        JSON,
    ]);
    let secret = format!("sk-ant-api03-{}", "Ab1".repeat(31));
    let input = String::from_utf8(recording("claude-code", "text_plain.ndjson")).unwrap();
    let answer = input.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = answer.filter_map(|record| record["result"].as_str().map(str::to_owned)).next().unwrap();
    let written = serde_json::to_string(&answer).unwrap();
    let inner = written.trim_matches('"');
    assert!(input.contains(inner));
    let input = input.replace(inner, &format!("The key is {secret} here."));
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], input.as_bytes()).status, 201);
    let run = wait_for_run(&collector, "invoke_agent claude-code");
    assert!(attribute(&run, "gen_ai.output.messages").unwrap().contains("The key is "), "{run:#}");
    for request in collector.requests() {
        assert!(!String::from_utf8(request.body).unwrap().contains(&secret));
    }
}

#[test]
fn rejected_spans_are_counted_and_refused_requests_are_not_repeated() {
    let partial = br#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}"#;
    let collector = Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", partial));
    let settings = |collector: &Upstream| {
        Proxy::with(&[
            ("FRAMEGATE__OTLP__ENDPOINT", &endpoint(collector)),
            ("FRAMEGATE__OTLP__INTERVAL_MS", "10"),
            JSON,
        ])
    };
    let proxy = settings(&collector);
    ingest(&proxy, "claude-code", "bash_ok.ndjson");
    wait_until("spans are counted", || metric(&proxy, "framegate_spans_sent_total ") > 0);
    assert_eq!(metric(&proxy, "framegate_spans_dropped_total{reason=\"not_taken\"} "), 2);
    let collector = Upstream::start(|_, stream| whole(stream, "401 Unauthorized", "", b"who are you"));
    let proxy = settings(&collector);
    ingest(&proxy, "claude-code", "bash_ok.ndjson");
    wait_until("spans are dropped", || metric(&proxy, "framegate_spans_dropped_total{reason=\"not_taken\"} ") > 2);
    let requests = collector.requests().len() as u64;
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(collector.requests().len() as u64, requests, "a refused request was repeated");
}

/// Runs `framegate log export --to otlp` with all variables of the collector.
fn export(db: &str, collector: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.args(["log", "--db", db, "--config", "/dev/null", "export", "--to", "otlp"]).args(arguments);
    command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector).env(JSON.0, JSON.1);
    command.env("FRAMEGATE__OTLP__BATCH_SPANS", "3").output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Spans in an order that does not depend on the requests.
fn sorted(mut spans: Vec<Value>) -> Vec<Value> {
    spans.sort_by_key(Value::to_string);
    spans
}

#[test]
fn stored_runs_are_sent_later_as_the_same_spans() {
    let folder = Folder::new();
    let db = folder.path("log.db").display().to_string();
    let live = accepting();
    let mut proxy = Proxy::with(&[
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__PATH", &db),
        ("FRAMEGATE__OTLP__ENDPOINT", &endpoint(&live)),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "10"),
        JSON,
    ]);
    ingest(&proxy, "claude-code", "subagent.partial.ndjson");
    ingest(&proxy, "codex", "exec-command-ok.ndjson");
    // An open run: its turn is sent when it has ended.
    let input = recording("claude-code", "bash_ok.ndjson");
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    upload.send(input.split_inclusive(|byte| *byte == b'\n').next().unwrap());
    wait_until("the run has started", || get(proxy.address, "/v1/runs", &[]).text().matches("run_id").count() == 3);
    wait_for_run(&live, "invoke_agent claude-code");
    wait_for_run(&live, "invoke_agent codex");
    let expected = sorted(spans(&live));
    // The first request finds the collector overloaded.
    let asked = AtomicUsize::new(0);
    let collector = Upstream::start(move |_, stream| {
        let status = if asked.fetch_add(1, Ordering::SeqCst) == 0 { "503 Service Unavailable" } else { "200 OK" };
        whole(stream, status, "content-type: application/json\r\n", b"{}");
    });
    let ran = export(&db, &endpoint(&collector), &["--all"]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran.stderr));
    assert!(
        said(&ran.stderr).contains("waiting for the collector: the collector answered 503"),
        "{}",
        said(&ran.stderr)
    );
    let summary = format!("{} spans of 3 runs sent\n1 runs have not ended", expected.len());
    assert!(said(&ran.stdout).starts_with(&summary), "{}", said(&ran.stdout));
    let mut sent = spans(&collector);
    // The refused request was repeated.
    let repeated = sent.drain(..3).collect::<Vec<_>>();
    assert_eq!(repeated, sent[..3]);
    assert_eq!(sorted(sent.clone()), expected);
    assert!(collector.requests().len() > expected.len() / 3, "requests have at most three spans");
    // A second export sends the same. A single run can be selected.
    let again = accepting();
    assert_eq!(export(&db, &endpoint(&again), &["--all"]).status.code(), Some(0));
    assert_eq!(spans(&again), sent);
    let run = expected[0]["traceId"].as_str().unwrap();
    let one = accepting();
    assert_eq!(export(&db, "http://127.0.0.1:1/", &[run, "--endpoint", &endpoint(&one)]).status.code(), Some(0));
    assert!(!spans(&one).is_empty() && spans(&one).iter().all(|span| span["traceId"] == *run));
    drop(upload);
    assert!(proxy.terminate().success());
}

#[test]
fn an_export_says_whether_all_spans_were_taken() {
    let folder = Folder::new();
    let db = folder.path("log.db").display().to_string();
    let mut proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    ingest(&proxy, "codex", "exec-command-ok.ndjson");
    assert!(proxy.terminate().success());
    let partial = br#"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}"#;
    let collector = Upstream::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", partial));
    let ran = export(&db, &endpoint(&collector), &["--all"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(said(&ran.stderr).contains("the collector rejected 1 spans: too old"), "{}", said(&ran.stderr));
    assert!(said(&ran.stdout).contains("spans were rejected by the collector"), "{}", said(&ran.stdout));
    let collector = Upstream::start(|_, stream| whole(stream, "404 Not Found", "", b"no such path"));
    let ran = export(&db, &endpoint(&collector), &["--all"]);
    assert_eq!(ran.status.code(), Some(2));
    let expected = format!("{}: the collector answered 404 Not Found: no such path", endpoint(&collector));
    assert!(said(&ran.stderr).contains(&expected), "{}", said(&ran.stderr));
    // Nothing listens on this port.
    let ran = export(&db, "http://127.0.0.1:1/v1/traces", &["--all", "--wait", "1"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(said(&ran.stderr).contains("it took nothing for 1 s"), "{}", said(&ran.stderr));
    let ran = export(&db, "", &["--all"]);
    assert!(said(&ran.stderr).contains("no collector is named: use --endpoint"), "{}", said(&ran.stderr));
    let ran = export(&db, "", &["--all", "--experimental"]);
    assert!(said(&ran.stderr).contains("otlp.content decides"), "{}", said(&ran.stderr));
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
    let collector = accepting();
    let mut proxy = Proxy::with(&[
        ("FRAMEGATE__OTLP__ENDPOINT", &endpoint(&collector)),
        ("FRAMEGATE__OTLP__INTERVAL_MS", "600000"),
        JSON,
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
    let standard =
        |variable, value| refusal(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"), (variable, value)]);
    let said = standard("OTEL_EXPORTER_OTLP_PROTOCOL", "thrift");
    assert!(said.contains("OTEL_EXPORTER_OTLP_PROTOCOL: unknown value \"thrift\" (known: http/protobuf"), "{said}");
    let said = standard("OTEL_EXPORTER_OTLP_TIMEOUT", "soon");
    assert!(said.contains("OTEL_EXPORTER_OTLP_TIMEOUT: \"soon\" is not a whole number"), "{said}");
    let said = standard("OTEL_EXPORTER_OTLP_HEADERS", "content-length=5");
    assert!(
        said.contains("OTEL_EXPORTER_OTLP_HEADERS") || said.contains("not a header name that can be added"),
        "{said}"
    );
    let roots = folder.write("roots.pem", "none");
    let with_tls = ("FRAMEGATE__OTLP__ENDPOINT", "https://127.0.0.1:4318/v1/traces");
    let said = refusal(&[with_tls, ("FRAMEGATE__OTLP__CA_FILE", &roots)]);
    assert!(said.contains("roots.pem"), "{said}");
}
