//! Requests and settings that the proxy refuses.

use crate::client::{Answer, connect, get, post};
use crate::proxy::{Folder, Proxy, recording, refusal};
use std::io::{Read, Write};

#[test]
fn other_hosts_and_origins_are_refused() {
    let proxy = Proxy::start();
    let ask = |host: &str, more: &str| {
        let mut stream = connect(proxy.address);
        write!(stream, "GET /v1/runs HTTP/1.1\r\nhost: {host}\r\n{more}\r\n").unwrap();
        Answer::read(stream).status
    };
    assert_eq!(ask("localhost", ""), 200);
    assert_eq!(ask("evil.example", ""), 421);
    assert_eq!(ask("localhost", "origin: https://evil.example\r\n"), 403);
    assert_eq!(ask("localhost", "origin: http://localhost:1234\r\n"), 403, "another program on this machine");
    assert_eq!(ask("localhost:1234", "origin: http://localhost:1234\r\n"), 200);
}

#[test]
fn a_request_of_http_1_1_needs_a_host() {
    let proxy = Proxy::start();
    let ask = |head: &str| {
        let mut stream = connect(proxy.address);
        write!(stream, "{head}\r\n\r\n").unwrap();
        Answer::read(stream).status
    };
    assert_eq!(ask("GET /healthz HTTP/1.1"), 400);
    assert_eq!(ask("GET /healthz HTTP/1.1\r\nhost:"), 421);
    assert_eq!(ask("GET /healthz HTTP/1.0"), 200);
    assert_eq!(ask("GET /healthz HTTP/1.1\r\nhost: localhost"), 200);
}

#[test]
fn an_open_address_without_a_token_is_refused() {
    let said = refusal(&[("FRAMEGATE__SERVER__LISTEN", "0.0.0.0:0")]);
    assert!(said.contains("token_file") && said.contains("0.0.0.0:0"), "{said}");
}

#[test]
fn an_unavailable_address_is_reported_with_a_remedy() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = refusal(&[("FRAMEGATE__SERVER__LISTEN", &address)]);
    assert!(said.contains("server.listen") && said.contains(&address) && said.contains("another port"), "{said}");
    assert_eq!(said.matches("in use").count(), 1, "{said}");
    // The first listener still owns the address.
    drop(std::net::TcpStream::connect(&address).unwrap());
    taken.accept().unwrap();
    let folder = Folder::new();
    let file = folder.write("token", "s3cret\n");
    let token_file = ("FRAMEGATE__SERVER__TOKEN_FILE", file.as_str());
    let said = refusal(&[("FRAMEGATE__SERVER__LISTEN", "203.0.113.1:0"), token_file]);
    assert!(said.contains("203.0.113.1:0") && said.contains("an address of this machine"), "{said}");
}

#[test]
fn a_configured_token_is_required() {
    let file = std::env::temp_dir().join(format!("framegate-token-{}", std::process::id()));
    std::fs::write(&file, "s3cret\n").unwrap();
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__TOKEN_FILE", file.to_str().unwrap())]);
    assert_eq!(get(proxy.address, "/v1/runs", &[]).status, 401);
    assert_eq!(get(proxy.address, "/v1/runs", &[("authorization", "Bearer s3cre")]).status, 401);
    assert_eq!(get(proxy.address, "/v1/runs", &[("authorization", "Bearer s3cret")]).status, 200);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn an_endless_header_is_cut_off() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__HEADER_READ_TIMEOUT_MS", "200")]);
    let mut stream = connect(proxy.address);
    stream.write_all(b"GET /v1/runs HTTP/1.1\r\nhost: local").unwrap();
    let mut rest = Vec::new();
    // The connection is closed, with or without a 408. Only its release matters.
    let _ = stream.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    assert_eq!(get(proxy.address, "/v1/runs", &[]).status, 200);
}

#[test]
fn a_record_over_the_limit_does_not_end_the_run() {
    let proxy = Proxy::with(&[("FRAMEGATE__INGEST__MAX_RECORD_BYTES", "65536")]);
    let mut bytes = recording("claude-code", "text_plain.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let huge = format!("{{\"type\":\"{}\"}}\n", "x".repeat(100_000));
    bytes.splice(line_end..line_end, huge.into_bytes());
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &bytes).json();
    assert_eq!(made["runs"][0]["state"], "completed", "{made:#}");
    assert_eq!(made["runs"][0]["invalid_records"], 1);
}

#[test]
fn a_full_log_ends_the_ingest_with_507() {
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__MAX_BYTES", "1048576")]);
    let mut bytes = recording("claude-code", "text_plain.ndjson");
    let line_end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let huge = format!("{{\"type\":\"{}\"}}\n", "x".repeat(2_000_000));
    // Two records, so that the one that does not fit is not appended together with the run's end.
    bytes.splice(line_end..line_end, huge.repeat(2).into_bytes());
    let answer = post(proxy.address, "/v1/ingest/claude-code", &[], &bytes);
    assert_eq!(answer.status, 507);
    let runs = get(proxy.address, "/v1/runs", &[]).json();
    assert_eq!(runs["data"][0]["state"], "interrupted", "{runs:#}");
}

#[test]
fn a_body_at_the_limit_is_read_and_one_over_it_is_not() {
    let bytes = recording("claude-code", "text_plain.ndjson");
    for (limit, status) in [(bytes.len(), 201), (bytes.len() - 1, 413)] {
        let proxy = Proxy::with(&[("FRAMEGATE__SERVER__MAX_BODY_BYTES", &limit.to_string())]);
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &bytes).status, status);
    }
}

#[test]
fn unknown_paths_and_methods_are_refused() {
    let proxy = Proxy::start();
    assert_eq!(get(proxy.address, "/nothing", &[]).status, 404);
    let wrong = post(proxy.address, "/v1/contracts", &[], b"");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(get(proxy.address, "/healthz", &[]).json()["status"], "ok");
    let contracts = get(proxy.address, "/v1/contracts", &[]).json();
    assert!(contracts["contracts"].as_array().unwrap().iter().any(|contract| contract["name"] == "frames.v2"));
}
