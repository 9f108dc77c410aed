//! The framing around events on the wire, so that they survive proxies and old or careless clients.

use crate::client::{Answer, Upload, connect, get, post};
use crate::proxy::{Proxy, recording};
use std::io::{Read, Write};

fn ingested(proxy: &Proxy) -> String {
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "bash_ok.ndjson")).json();
    made["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

/// All bytes until the connection is closed.
fn all(proxy: &Proxy, head: &str) -> String {
    let mut stream = connect(proxy.address);
    stream.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_stream_starts_with_the_reconnect_delay() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__SSE_RETRY_MS", "750")]);
    let run = ingested(&proxy);
    for contract in framegate_translators::contracts::names() {
        let mut answer = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), &[]);
        assert_eq!(answer.line().as_deref(), Some("retry: 750"), "{contract}");
        // `retry` is in the block of the first event. Some clients treat a separate block as an event without data.
        assert!(answer.event().is_some(), "{contract}");
    }
    // The runner's own bytes are not preceded by anything, and neither is NDJSON.
    let raw = get(proxy.address, &format!("/v1/runs/{run}/events"), &[("accept", "application/octet-stream")]);
    assert!(!raw.text().contains("retry:"));
    let lines = get(proxy.address, &format!("/v1/runs/{run}/events"), &[("accept", "application/x-ndjson")]);
    assert!(lines.text().starts_with('{'));
}

#[test]
fn intermediaries_may_not_buffer_or_change_a_stream() {
    let proxy = Proxy::start();
    let run = ingested(&proxy);
    let compressing = [("accept-encoding", "gzip, br, zstd"), ("accept", "text/event-stream")];
    for path in [format!("/v1/runs/{run}/events"), "/v1/events".to_owned(), "/hecate/v1/events/stream".to_owned()] {
        let answer = get(proxy.address, &path, &compressing);
        assert_eq!(answer.header("cache-control"), "no-cache, no-transform", "{path}");
        assert_eq!(answer.header("x-accel-buffering"), "no", "{path}");
        assert_eq!(answer.header("content-encoding"), "", "{path}");
    }
}

#[test]
fn a_browser_can_resume_in_every_contract() {
    let proxy = Proxy::start();
    let run = ingested(&proxy);
    for contract in framegate_translators::contracts::names() {
        let path = format!("/v1/runs/{run}/events?contract={contract}");
        let all = get(proxy.address, &path, &[]).events();
        // The last id that a browser has seen. It sends this id, whatever followed it.
        for cut in 1..all.len() {
            let Some(at) = all[..cut].iter().rposition(|event| event.id.is_some()) else { continue };
            let id = all[at].id.clone().unwrap();
            let answer = get(proxy.address, &path, &[("last-event-id", &id)]);
            let rest = if answer.status == 204 { Vec::new() } else { answer.events() };
            // Events without an id after the last event with one are only for live readers.
            let is_left = all[at + 1..].iter().any(|event| event.id.is_some());
            assert_eq!(rest, if is_left { &all[at + 1..] } else { &[] }, "{contract} after {id}");
        }
    }
}

#[test]
fn head_answers_like_get_without_a_body() {
    let proxy = Proxy::start();
    let run = ingested(&proxy);
    let paths = [
        "/v1/runs".to_owned(),
        format!("/v1/runs/{run}/events?contract=sse.v1"),
        "/v1/events".to_owned(),
        "/healthz".to_owned(),
        "/nothing".to_owned(),
        "/schemas/sse.v1.json".to_owned(),
    ];
    for path in paths {
        let address = proxy.address;
        let text = all(&proxy, &format!("HEAD {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"));
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "", "{path}");
        let get = get(proxy.address, &path, &[]);
        assert!(head.starts_with(&format!("HTTP/1.1 {}", get.status)), "{path}: {head}");
        assert!(head.contains(get.header("content-type")), "{path}: {head}");
    }
    let address = proxy.address;
    let refused =
        all(&proxy, &format!("HEAD /v1/ingest/codex HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"));
    assert!(refused.starts_with("HTTP/1.1 405") && refused.contains("allow: POST, OPTIONS"), "{refused}");
}

#[test]
fn options_lists_the_methods() {
    let proxy = Proxy::start();
    let ask = |path: &str| {
        let mut stream = connect(proxy.address);
        write!(stream, "OPTIONS {path} HTTP/1.1\r\nhost: {}\r\n\r\n", proxy.address).unwrap();
        let answer = Answer::read(stream);
        (answer.status, answer.header("allow").to_owned())
    };
    assert_eq!(ask("/v1/runs"), (204, "GET, HEAD, POST, OPTIONS".to_owned()));
    assert_eq!(ask("/v1/ingest/auto"), (204, "POST, OPTIONS".to_owned()));
    assert_eq!(ask("*"), (204, "DELETE, GET, HEAD, OPTIONS, POST".to_owned()));
    assert_eq!(ask("/nothing").0, 404);
}

#[test]
fn an_http_1_0_client_gets_an_unchunked_stream_that_ends_with_its_connection() {
    let proxy = Proxy::start();
    let run = ingested(&proxy);
    let path = format!("/v1/runs/{run}/events?contract=sse.v1");
    let text = all(&proxy, &format!("GET {path} HTTP/1.0\r\n\r\n"));
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(" 200 ") && !head.to_lowercase().contains("transfer-encoding"), "{head}");
    assert!(body.starts_with("retry: 2000\nid: ") && body.ends_with("\n\n"), "{body}");
    let new = get(proxy.address, &path, &[]).text();
    assert_eq!(body, new);
}

#[test]
fn connection_close_is_honoured_after_the_answer() {
    let proxy = Proxy::start();
    let run = ingested(&proxy);
    let address = proxy.address;
    for path in ["/v1/runs".to_owned(), format!("/v1/runs/{run}/events?contract=sse.v1")] {
        let text = all(&proxy, &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"));
        assert!(text.to_lowercase().contains("\r\nconnection: close\r\n"), "{text}");
    }
}

#[test]
fn the_streamed_answer_of_an_ingest_starts_before_the_first_event() {
    let proxy = Proxy::start();
    let upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[("accept", "text/event-stream")]);
    let mut answer = upload.answer();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.line().as_deref(), Some("retry: 2000"));
}
