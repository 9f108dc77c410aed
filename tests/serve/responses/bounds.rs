//! Limits of size and number, and metrics.

use super::*;
use crate::client::{Answer, connect};
use crate::scripted::{Upstream, stream_head, wait_for_close};
use serde_json::json;
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_gigabyte_in_one_event_passes_in_bounded_memory() {
    const MIB: usize = 1 << 20;
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let (first, last) = (pieces[0].clone(), pieces[pieces.len() - 1].clone());
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(first.as_bytes());
        let _ = stream.write_all(b"event: response.output_text.delta\ndata: {\"delta\":\"");
        let piece = vec![b'x'; MIB];
        for _ in 0..1024 {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
        let _ = stream.write_all(b"\"}\n\n");
        let _ = stream.write_all(last.as_bytes());
    });
    let settings = [("FRAMEGATE__INGEST__MAX_RECORD_BYTES", "1048576")];
    let gate = Gate::with(&upstream, "", &settings);
    let own = gate.ask("/v1/responses", &[]);
    let (mut reader, _) = own.into_raw();
    let mut buffer = vec![0; MIB];
    let mut read = 0;
    while let Ok(more @ 1..) = reader.read(&mut buffer) {
        read += more;
    }
    assert!(read > 1024 * MIB, "{read}");
    let run = gate.wait_for_end();
    assert_eq!((&run["state"], &run["records"], &run["invalid_records"]), (&json!("completed"), &json!(3), &json!(1)));
    let status = std::fs::read_to_string(format!("/proc/{}/status", gate.proxy.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 256 * 1024, "the peak is {peak} KiB");
}

#[test]
fn a_request_at_the_size_limit_passes_and_one_over_it_is_refused() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let limit = REQUEST.len();
    for (limit, status) in [(limit, 200), (limit - 1, 413)] {
        let gate = Gate::new(&upstream, &format!("max_request_bytes = {limit}"));
        let answer = gate.ask("/v1/responses", &[]);
        assert_eq!(answer.status, status);
        // The same body without a content length.
        let mut stream = connect(gate.proxy.address);
        let head = format!("POST /v1/responses HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked", gate.proxy.address);
        let body = String::from_utf8(REQUEST.to_vec()).unwrap();
        write!(stream, "{head}\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).unwrap();
        assert_eq!(Answer::read(stream).status, status);
    }
}

#[test]
fn many_concurrent_requests_are_answered_with_default_settings() {
    let bytes = recorded("scripted__text-valid.sse");
    let answer = bytes.clone();
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        // So that the requests overlap.
        thread::sleep(Duration::from_millis(100));
        let _ = stream.write_all(&answer);
    });
    let gate = Gate::new(&upstream, "");
    thread::scope(|scope| {
        let asking: Vec<_> =
            (0..160).map(|_| scope.spawn(|| (gate.ask("/v1/responses", &[]).bytes() == bytes).then_some(()))).collect();
        assert!(asking.into_iter().all(|asked| asked.join().unwrap().is_some()));
    });
}

#[test]
fn a_request_waits_for_a_connection_in_a_bounded_queue() {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(30));
        let _ = stream.write_all(&recorded("scripted__text-valid.sse"));
    });
    let gate = Gate::new(&upstream, "max_connections = 1\nmax_queued = 1\nqueue_timeout_ms = 60000");
    thread::scope(|scope| {
        let first = scope.spawn(|| gate.ask("/v1/responses", &[]).bytes());
        let deadline = Instant::now() + Duration::from_secs(30);
        while upstream.requests().is_empty() {
            assert!(Instant::now() < deadline, "the upstream gets no request");
            thread::sleep(Duration::from_millis(5));
        }
        let second = scope.spawn(|| gate.ask("/v1/responses", &[]).bytes());
        // One of the two requests waits. As soon as both are in, a third one is refused.
        let refused = loop {
            let mut stream = connect(gate.proxy.address);
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            let body = String::from_utf8(REQUEST.to_vec()).unwrap();
            let address = gate.proxy.address;
            write!(stream, "POST /v1/responses HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
            let mut begin = [0; 12];
            if stream.peek(&mut begin).is_ok_and(|read| read > 0) {
                break Answer::read(stream);
            }
        };
        assert!(!refused.header("retry-after").is_empty());
        let error = refused.json()["error"].clone();
        assert!(error["message"].as_str().unwrap().contains("max_queued"), "{error}");
        drop(go);
        assert!(!first.join().unwrap().is_empty() && !second.join().unwrap().is_empty());
    });
}

#[test]
fn a_request_that_waits_too_long_gets_retry_after() {
    let upstream = Upstream::start(|_, stream| {
        stream_head(stream);
        wait_for_close(stream);
    });
    let gate = Gate::new(&upstream, "max_runs = 2\nqueue_timeout_ms = 50\nidle_timeout_ms = 3000");
    let open = [gate.ask("/v1/responses", &[]), gate.ask("/v1/responses", &[])];
    let refused = gate.ask("/v1/responses", &[]);
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(code(refused), (503, "limit".to_owned()));
    assert_eq!(gate.metric("framegate_upstream_requests_total{outcome=\"no_connection\",upstream=\"lab\"}"), "1");
    drop(open);
    // The connections are released at the end.
    upstream.wait_until_quiet();
    let deadline = Instant::now() + Duration::from_secs(30);
    while gate.ask("/v1/responses", &[]).status != 200 {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn requests_are_counted_by_upstream_and_outcome() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let gate = Gate::new(&upstream, "");
    drop(gate.ask("/v1/responses", &[]).bytes());
    let line = "framegate_upstream_requests_total{outcome=\"finished\",upstream=\"lab\"}";
    let deadline = Instant::now() + Duration::from_secs(30);
    while gate.metric(line) != "1" {
        assert!(Instant::now() < deadline, "{}", gate.metric(line));
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(gate.metric("framegate_ingests_open{runner=\"open-responses\"}"), "0");
    assert_eq!(gate.metric("framegate_ingests_ended_total{reason=\"finished\",runner=\"open-responses\"}"), "1");
}
