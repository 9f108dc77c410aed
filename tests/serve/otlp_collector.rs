//! Real readers of spans: a collector that forwards them, and OpenTelemetry's own definitions of OTLP for Python.

use crate::client::post;
use crate::proxy::{Folder, Proxy, recording};
use crate::scripted::{Upstream, whole};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a span may take from the proxy through a collector.
const PATIENCE: Duration = Duration::from_secs(60);

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/otlp")
}

/// A receiver of protobuf and JSON.
fn receiver() -> Upstream {
    Upstream::start(|_, stream| whole(stream, "200 OK", "", b""))
}

/// The spans that a receiver has, as Python reads them.
fn decoded(receiver: &Upstream) -> Vec<Value> {
    let folder = Folder::new();
    let mut command = Command::new("python3");
    command.arg(self::folder().join("decode.py")).env("PYTHONPATH", self::folder().join("python_modules"));
    for (at, request) in receiver.requests().iter().enumerate() {
        let ending = if request.header("content-type") == "application/json" { "json" } else { "pb" };
        let body = if request.header("content-encoding") == "gzip" {
            let mut plain = Vec::new();
            GzDecoder::new(&*request.body).read_to_end(&mut plain).unwrap();
            plain
        } else {
            request.body.clone()
        };
        let path = folder.path(&format!("{at:06}.{ending}"));
        std::fs::write(&path, body).unwrap();
        command.arg(path);
    }
    let read = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    String::from_utf8(read.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A database with runs of several runners.
fn database(folder: &Folder) -> String {
    let db = folder.path("log.db").display().to_string();
    let mut proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    for (runner, name) in [
        ("claude-code", "subagent.partial.ndjson"),
        ("claude-code", "api_429_then_ok.partial.ndjson"),
        ("claude-code", "bash_fail.ndjson"),
        ("codex", "exec-command-ok.ndjson"),
    ] {
        assert_eq!(post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name)).status, 201);
    }
    assert!(proxy.terminate().success());
    db
}

/// Sends the runs of a database, with content.
fn export(db: &str, endpoint: &str, protocol: &str, compression: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.args([
        "log",
        "--db",
        db,
        "--config",
        "/dev/null",
        "export",
        "--all",
        "--to",
        "otlp",
        "--endpoint",
        endpoint,
    ]);
    command.env("FRAMEGATE__OTLP__PROTOCOL", protocol).env("FRAMEGATE__OTLP__COMPRESSION", compression);
    command.env("FRAMEGATE__OTLP__CONTENT", "messages").env("FRAMEGATE__OTLP__BATCH_SPANS", "5");
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

const WIRES: [(&str, &str); 4] =
    [("http/protobuf", "none"), ("http/protobuf", "gzip"), ("http/json", "none"), ("http/json", "gzip")];

fn url(address: SocketAddr) -> String {
    format!("http://{address}/v1/traces")
}

#[test]
#[ignore = "needs python3 and tests/otlp/python_modules: ./test.sh runs it"]
fn opentelemetry_s_definitions_read_the_same_spans_in_every_encoding() {
    let folder = Folder::new();
    let db = database(&folder);
    let mut first = None;
    for (protocol, compression) in WIRES {
        let receiver = receiver();
        export(&db, &url(receiver.address), protocol, compression);
        let spans = decoded(&receiver);
        assert!(spans.len() > 10, "{} spans", spans.len());
        let expected = first.get_or_insert_with(|| spans.clone());
        assert!(spans == *expected, "{protocol} {compression}: {spans:#?}");
    }
    let spans = first.unwrap();
    let find = |name: &str| spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    let bash = find("execute_tool Bash");
    assert!(bash["attributes"]["gen_ai.tool.call.arguments"].as_str().unwrap().contains("\"command\""), "{bash:#}");
    assert_eq!(bash["kind"], 1, "internal");
    assert!(spans.iter().any(|span| span["status"][0] == 2), "a tool has failed");
    assert!(spans.iter().any(|span| span["events"][0][0] == "framegate.error"));
    for span in &spans {
        assert_eq!(span["resource"]["service.name"], "framegate");
        assert!(span["attributes"]["session.id"].is_string(), "{span:#}");
        for key in ["gen_ai.input.messages", "gen_ai.output.messages"] {
            if let Some(messages) = span["attributes"][key].as_str() {
                assert!(serde_json::from_str::<Value>(messages).unwrap().is_array(), "{span:#}");
            }
        }
    }
}

/// A collector that forwards to a receiver.
struct Rotel {
    child: Child,
    http: SocketAddr,
    grpc: SocketAddr,
}

impl Rotel {
    fn start(to: SocketAddr) -> Self {
        let [http, grpc] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap()).map(|listener| {
            let address = listener.local_addr().unwrap();
            drop(listener);
            address
        });
        let program = folder().join("python_modules/rotel/rotel-agent");
        let mut command = Command::new(program);
        command.args(["start", "--exporter", "otlp", "--otlp-exporter-protocol", "http"]);
        command.args(["--traces-batch-timeout", "100ms", "--otlp-exporter-endpoint", &format!("http://{to}")]);
        command.args(["--otlp-http-endpoint", &http.to_string(), "--otlp-grpc-endpoint", &grpc.to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let rotel = Self { child, http, grpc };
        let deadline = Instant::now() + PATIENCE;
        while [http, grpc].iter().any(|address| TcpStream::connect(address).is_err()) {
            assert!(Instant::now() < deadline, "rotel does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        rotel
    }
}

impl Drop for Rotel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The spans of a receiver behind a collector, once there are as many as expected.
fn forwarded(receiver: &Upstream, expected: usize) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let spans = decoded(receiver);
        if spans.len() >= expected {
            return spans;
        }
        assert!(Instant::now() < deadline, "{} of {expected} spans have arrived", spans.len());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "needs python3 and tests/otlp/python_modules: ./test.sh runs it"]
fn a_collector_takes_and_forwards_every_encoding() {
    let folder = Folder::new();
    let db = database(&folder);
    let direct = receiver();
    export(&db, &url(direct.address), "http/protobuf", "none");
    let expected = decoded(&direct);
    for (protocol, compression) in WIRES.into_iter().chain([("grpc", "none"), ("grpc", "gzip")]) {
        let behind = receiver();
        let rotel = Rotel::start(behind.address);
        let endpoint = if protocol == "grpc" { format!("http://{}", rotel.grpc) } else { url(rotel.http) };
        export(&db, &endpoint, protocol, compression);
        let spans = forwarded(&behind, expected.len());
        assert!(spans == expected, "{protocol} {compression}: {spans:#?}");
    }
}

#[test]
#[ignore = "needs python3 and tests/otlp/python_modules: ./test.sh runs it"]
fn a_collector_that_standard_variables_name_takes_the_spans_of_a_proxy() {
    for protocol in ["http/protobuf", "grpc"] {
        let behind = receiver();
        let rotel = Rotel::start(behind.address);
        let address = if protocol == "grpc" { rotel.grpc } else { rotel.http };
        let proxy = Proxy::with(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://{address}")),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_SERVICE_NAME", "gate"),
            ("OTEL_BSP_SCHEDULE_DELAY", "20"),
        ]);
        let input = recording("claude-code", "bash_ok.ndjson");
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &input).status, 201);
        let spans = forwarded(&behind, 4);
        assert!(spans.iter().any(|span| span["name"] == "invoke_agent claude-code"), "{protocol}: {spans:#?}");
        assert!(spans.iter().all(|span| span["resource"]["service.name"] == "gate"), "{protocol}: {spans:#?}");
    }
}
