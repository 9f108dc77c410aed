//! Kills the proxy at random moments under load: nothing that was acknowledged is lost, and nothing is duplicated.
//!
//! `FRAMEGATE_CRASHES` is the number of kills (default 15).

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording};
use crate::scratch::Scratch;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const CONTRACT: &str = "frames.v2";

/// What clients received: the events of each run in order; and for runs whose ingest was acknowledged as complete, the number
/// of frames.
#[derive(Default)]
struct Received {
    events: HashMap<String, Vec<String>>,
    whole: HashMap<String, u64>,
}

/// A client that uploads and reads until the proxy is killed.
fn load(address: std::net::SocketAddr, streaming: bool, body: &[u8], received: &Mutex<Received>) {
    if !streaming {
        let answer = post(address, "/v1/ingest/claude-code", &[], body);
        if answer.status == 201 {
            for run in answer.json()["runs"].as_array().unwrap() {
                let id = run["run_id"].as_str().unwrap().to_owned();
                received.lock().unwrap().whole.insert(id, run["frames"].as_u64().unwrap());
            }
        }
        return;
    }
    let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
    let mut upload = Upload::start(address, "/v1/ingest/claude-code", &accept);
    let mut lines = body.split_inclusive(|&byte| byte == b'\n');
    upload.send(lines.next().unwrap());
    let mut answer = upload.answer();
    for line in lines.by_ref() {
        upload.send(line);
        // Each record yields at least one event.
        let Some(event) = answer.line() else { return };
        let parsed: serde_json::Value = serde_json::from_str(&event).unwrap();
        let id = parsed["stream_id"].as_str().unwrap().to_owned();
        received.lock().unwrap().events.entry(id).or_default().push(event);
    }
}

#[test]
fn acknowledged_frames_survive_crashes_exactly_once() {
    let times: u32 = std::env::var("FRAMEGATE_CRASHES").ok().and_then(|text| text.parse().ok()).unwrap_or(15);
    let scratch = Scratch::new("crash");
    let path = scratch.path().to_str().unwrap().to_owned();
    // The log is not limited here, so that runs from before many crashes are still there.
    let settings = [
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__PATH", path.as_str()),
        ("FRAMEGATE__LOG__MAX_RUNS", "10000000"),
        ("FRAMEGATE__LOG__MAX_BYTES", "100000000000"),
        // Every ingest adds to the log.
        ("FRAMEGATE__INGEST__RECOGNISE_REPEATS", "false"),
    ];
    let body = recording("claude-code", "parallel_tools.partial.ndjson");
    let received = Arc::new(Mutex::new(Received::default()));
    let mut random = u32::from_be_bytes(*framegate::clock::Clock::System.new_id().as_bytes().last_chunk().unwrap()) | 1;
    eprintln!("seed {random}");
    for _ in 0..times {
        let proxy = Proxy::with(&settings);
        let address = proxy.address;
        // xorshift: the moment of the kill need not be repeatable, only spread out.
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let clients: Vec<_> = (0..4)
            .map(|nth| {
                let (body, received) = (body.clone(), received.clone());
                // A client panics when its connection breaks, at any point of its work.
                std::thread::spawn(move || {
                    while catch_unwind(AssertUnwindSafe(|| load(address, nth % 2 == 0, &body, &received))).is_ok()
                        && std::net::TcpStream::connect(address).is_ok()
                    {}
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(u64::from(random % 400)));
        drop(proxy);
        clients.into_iter().for_each(|client| client.join().unwrap());
    }
    let proxy = Proxy::with(&settings);
    let received = received.lock().unwrap();
    assert!(!received.whole.is_empty() || !received.events.is_empty(), "the load did nothing");
    eprintln!("{} runs were acknowledged as complete, {} in part", received.whole.len(), received.events.len());
    let database = rusqlite::Connection::open(&path).unwrap();
    for (run, frames) in &received.whole {
        let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
        assert_eq!(status["frames"], *frames, "{status:#}");
        assert_ne!(status["error_code"], "proxy_restarted");
    }
    for (stream, seen) in &received.events {
        let path = format!("/v1/runs/{stream}/events?contract={CONTRACT}");
        let kind: String =
            database.query_row("SELECT kind FROM streams WHERE id = ?1", [stream], |row| row.get(0)).unwrap();
        if kind != "session" {
            continue;
        }
        let replay = get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text();
        let replay: Vec<&str> = replay.lines().collect();
        assert!(replay.len() >= seen.len());
        for (seen, again) in seen.iter().zip(&replay) {
            assert_eq!(seen, again);
        }
    }
    // No stream has a gap, each run has ended, and the counters are correct.
    let wrong: i64 = database
        .query_row(
            "SELECT count(*) FROM streams s WHERE s.frames <> (SELECT count(*) FROM frames f WHERE f.stream = s.key) \
             OR s.frames <> (SELECT max(seq) + 1 FROM frames f WHERE f.stream = s.key) \
             OR (s.kind = 'session' AND (s.ended = 0 OR 1 <> (SELECT count(*) FROM frames f WHERE f.stream = s.key \
             AND f.type = 'session_ended')))",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(wrong, 0);
    let counts: (i64, i64) = database
        .query_row(
            "SELECT count(*), sum(status ->> '$.error_code' = 'proxy_restarted') FROM streams WHERE kind = 'session'",
            [],
            |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.unwrap_or(0))),
        )
        .unwrap();
    eprintln!(
        "{times} kills, {} runs, {} of them interrupted, {} acknowledged as complete",
        counts.0,
        counts.1,
        received.whole.len()
    );
}
