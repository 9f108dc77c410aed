//! Upstreams that stall or break off, clients that leave or do not read, and a proxy that stops.

use super::*;
use crate::scripted::{Upstream, stream_head, wait_for_close};
use crate::verdicts::assert_reported_as_failed;
use serde_json::json;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

#[test]
fn a_stalled_upstream_is_abandoned_in_time() {
    let bytes = recorded("scripted__text-valid.sse");
    let begun = events(&bytes)[..4].concat();
    let script = begun.clone();
    let upstream = Upstream::start(move |request, stream| {
        if request.header("x-client-request-id") == "body" {
            stream_head(stream);
            let _ = stream.write_all(script.as_bytes());
        } else if request.header("x-client-request-id") == "head" {
            stream_head(stream);
        }
        wait_for_close(stream);
    });
    let gate = Gate::new(&upstream, "answer_timeout_ms = 300\nidle_timeout_ms = 300");
    for path in ["/v1/responses", "/v1/responses?contract=sse.v1"] {
        assert_eq!(code(gate.ask(path, &[])), (504, "upstream_timeout".to_owned()));
    }
    assert!(gate.runs().is_empty());
    // Only the head arrives: the client sees an incomplete body, or an error if there is no run yet.
    let (body, is_whole) = read_body(gate.ask("/v1/responses", &[("x-client-request-id", "head")]));
    assert_eq!((&*body, is_whole), (&b""[..], false));
    let translated = gate.ask("/v1/responses?contract=sse.v1", &[("x-client-request-id", "head")]);
    assert_eq!(code(translated), (502, "upstream_lost".to_owned()));
    // In the middle: the run ends with the reason.
    let (body, is_whole) = read_body(gate.ask("/v1/responses", &[("x-client-request-id", "body")]));
    assert_eq!((String::from_utf8(body).unwrap(), is_whole), (begun, false));
    let run = gate.wait_for_end();
    assert_reported_as_failed(gate.proxy.address, &run, "upstream_silent");
    let translated = gate.ask("/v1/responses?contract=frames.v2", &[("x-client-request-id", "body")]).events();
    assert!(translated.last().unwrap().data.contains("upstream_silent"), "{:?}", translated.last());
    upstream.wait_until_quiet();
}

#[test]
fn a_break_in_an_event_leaves_nothing_open_and_loses_nothing() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let half = pieces[..5].concat() + &pieces[5][..pieces[5].len() / 2];
    let script = half.clone();
    let upstream = Upstream::start(move |_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let _ = stream.write_all(format!("{head}{:x}\r\n{script}\r\n", script.len()).as_bytes());
    });
    let gate = Gate::new(&upstream, "");
    let (body, is_whole) = read_body(gate.ask("/v1/responses", &[]));
    assert_eq!((String::from_utf8(body).unwrap(), is_whole), (half.clone(), false));
    let run = gate.wait_for_end();
    assert_reported_as_failed(gate.proxy.address, &run, "upstream_lost");
    // The incomplete record is kept too.
    assert_eq!((&run["records"], &run["invalid_records"]), (&json!(6), &json!(1)));
    let raw = gate.get("/v1/responses/resp_lab?stream=true").text();
    assert_eq!(raw.trim_end(), half.trim_end());
    upstream.wait_until_quiet();
}

#[test]
fn a_response_continues_after_its_client_disconnects() {
    let bytes = recorded("scripted__text-valid.sse");
    let (left, has_left) = mpsc::channel::<()>();
    let (pieces, has_left) = (events(&bytes), Mutex::new(has_left));
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(pieces[..3].concat().as_bytes());
        let _ = has_left.lock().unwrap().recv_timeout(Duration::from_secs(30));
        for piece in &pieces[3..] {
            let _ = stream.write_all(piece.as_bytes());
            thread::sleep(Duration::from_millis(5));
        }
    });
    let gate = Gate::new(&upstream, "");
    let before = gate.resources();
    for path in ["/v1/responses", "/v1/responses?contract=frames.v2"] {
        let before = gate.runs().len();
        let mut answer = gate.ask(path, &[]);
        assert!(answer.line().is_some());
        drop(answer);
        left.send(()).unwrap();
        let run = gate.wait_for("the end of another run", |run| run["ended_at_ms"].is_u64());
        assert!(gate.runs().len() > before);
        assert_eq!(run["state"], "completed");
        assert!(gate.get("/v1/responses/resp_lab?stream=true").bytes() == bytes);
    }
    upstream.wait_until_quiet();
    gate.wait_until_released(before);
}

#[test]
fn a_response_can_be_configured_to_end_with_its_client() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(pieces[..3].concat().as_bytes());
        // Comments, until the connection is closed.
        while stream.write_all(b": still here\n\n").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    // The proxy notices a disconnected client when it writes to it. In a contract, the heartbeat is the latest such write.
    let gate = Gate::with(&upstream, "cancel_on_disconnect = true", &[("FRAMEGATE__SERVER__HEARTBEAT_MS", "100")]);
    for path in ["/v1/responses", "/v1/responses?contract=frames.v2"] {
        let mut answer = gate.ask(path, &[]);
        assert!(answer.line().is_some());
        drop(answer);
        let run = gate.wait_for_end();
        assert_eq!((&run["state"], &run["error_code"]), (&json!("interrupted"), &json!("client_left")));
        upstream.wait_until_quiet();
    }
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_the_run_continues() {
    let created = events(&recorded("scripted__text-valid.sse"))[0].clone();
    let last = events(&recorded("scripted__text-valid.sse")).pop().unwrap();
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(created.as_bytes());
        let delta = json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "sequence_number": 2, "delta": "x".repeat(60_000), "logprobs": []});
        for _ in 0..400 {
            if write!(stream, "event: response.output_text.delta\ndata: {delta}\n\n").is_err() {
                return;
            }
        }
        let _ = stream.write_all(last.as_bytes());
    });
    let gate = Gate::new(&upstream, "client_buffer_bytes = 65536\nslow_client_ms = 300");
    let answer = gate.ask("/v1/responses", &[]);
    let run = gate.wait_for_end();
    assert_eq!(run["state"], "completed");
    assert_eq!(run["records"], 402);
    let (body, is_whole) = read_body(answer);
    assert!(!is_whole && body.len() < 24_000_000, "{} bytes", body.len());
    assert!(gate.log().contains("read too slowly"), "{}", gate.log());
    upstream.wait_until_quiet();
}

#[test]
fn a_shutdown_lets_a_response_end_within_the_grace_period_and_then_cuts_it() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    for (grace, outcome) in [("20000", true), ("100", false)] {
        let (go, wait) = mpsc::channel::<()>();
        let upstream = two_part_upstream(&pieces, 3, wait);
        let mut gate = Gate::with(&upstream, "", &[("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", grace)]);
        let answer = gate.ask("/v1/responses", &[]);
        gate.wait_for("the run", |run| run["records"].as_u64() >= Some(3));
        gate.proxy.signal("TERM");
        if outcome {
            gate.proxy.wait_until_stopping();
            go.send(()).unwrap();
            assert!(answer.text().contains("response.completed"));
        } else {
            let (body, is_whole) = read_body(answer);
            assert!(!is_whole);
            assert!(String::from_utf8(body).unwrap().contains(": framegate is stopping"));
        }
        assert!(gate.proxy.terminate().success());
    }
}
