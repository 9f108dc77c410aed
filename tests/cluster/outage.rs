//! Servers that do not answer: for a moment, and for longer than a proxy waits.

use crate::client::{Answer, get, post};
use crate::harness::request;
use crate::proxies::{Live, three_with};
use crate::proxy::{Proxy, another};
use crate::reading::{events_path, has_records, opened, runs, same_feed, same_run, wait_for, wait_until_alike};
use crate::servers::Servers;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::thread;
use std::time::Duration;

const RECORDING: &str = "parallel_tools.partial.ndjson";
const INGEST: &str = "/v1/ingest/claude-code";

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn an_ingest_goes_on_after_all_servers_were_silent() {
    for start in [Servers::one, Servers::three] {
        let mut servers = start();
        let settings = [("FRAMEGATE__LOG__PATIENCE_MS", "20000"), ("FRAMEGATE__LOG__LEASE_MS", "30000")];
        let proxies = three_with(&servers, &settings);
        let mut live = Live::waiting(&proxies[0], RECORDING);
        let reader = opened(&proxies[1], &events_path(&live.run, "frames.v2"), &[]);
        live.send(live.left() / 3);
        servers.pause_all();
        live.send(live.left() / 2);
        // The time of the outage.
        thread::sleep(Duration::from_secs(3));
        servers.resume_all();
        live.finish();
        let answer = live.upload.answer();
        let (status, made) = (answer.status, answer.json());
        assert_eq!((status, &made["runs"][0]["run_id"]), (201, &json!(live.run)), "{made:#}");
        assert_eq!(made["runs"].as_array().unwrap().len(), 1, "{made:#}");
        let listed = wait_until_alike(&proxies);
        assert_eq!((listed.len(), &listed[0]["state"]), (1, &json!("completed")));
        has_records(&proxies, &live.run, &live.body());
        same_run(&proxies, &live.run);
        let frames = reader.events();
        let numbers: Vec<Value> = frames.iter().map(|event| event.json()["seq"].clone()).collect();
        assert_eq!(numbers, (0..frames.len()).map(Value::from).collect::<Vec<_>>(), "no gap and no repeat");
        assert_eq!(json!(frames.len()), listed[0]["frames"]);
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn proxies_say_that_one_server_is_gone_and_go_on_when_it_is_back() {
    gone_and_back(Servers::one());
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn proxies_say_that_three_servers_are_gone_and_go_on_when_they_are_back() {
    gone_and_back(Servers::three());
}

fn gone_and_back(mut servers: Servers) {
    // The lease outlasts the outage, so that the open run stays its proxy's.
    let settings = [("FRAMEGATE__LOG__PATIENCE_MS", "5000"), ("FRAMEGATE__LOG__LEASE_MS", "60000")];
    let proxies = three_with(&servers, &settings);
    let mut live = Live::streaming(&proxies[0], RECORDING);
    live.send(live.left() / 2);
    let mut reader = opened(&proxies[1], &events_path(&live.run, "frames.v2"), &[]);
    let mut feed = opened(&proxies[2], "/v1/events?contract=frames.v2", &[]);
    for event in &live.events {
        assert_eq!((reader.event().unwrap().data, feed.event().unwrap().data), (event.clone(), event.clone()));
    }
    servers.kill_all();
    // A proxy may hold what it cannot store for as long as its patience lasts; then it refuses.
    let refused: Vec<Vec<u8>> = proxies.iter().map(|_| another("claude-code", RECORDING)).collect();
    for (proxy, body) in proxies.iter().zip(&refused) {
        let answer = post(proxy.address, INGEST, &[], body);
        let (status, kind) = (answer.status, answer.header("content-type").to_owned());
        let problem = answer.json();
        assert_eq!((status, &*kind), (503, "application/problem+json"), "{problem:#}");
        names_the_servers(&problem["detail"]);
        is_not_ready(proxy);
    }
    assert!(proxies.iter().all(|proxy| get(proxy.address, "/healthz", &[]).status == 200));
    servers.start_all();
    servers.wait_ready();
    for proxy in &proxies {
        wait_for("the proxy is not ready again", || (get(proxy.address, "/readyz", &[]).status == 200).then_some(()));
    }
    let before = live.events.len();
    live.finish();
    let rest: Vec<String> = reader.events().into_iter().map(|event| event.data).collect();
    assert_eq!(rest, live.events[before..]);
    let first = live.events[..before].iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let mut stored = HashMap::from([(live.run.clone(), first)]);
    read_feed_to_end_of(&live.run, &mut feed, &mut stored);
    for (proxy, body) in proxies.iter().zip(&refused) {
        let answer = post(proxy.address, INGEST, &[], body);
        let (status, made) = (answer.status, answer.json());
        // 200: what was refused reached the servers after all.
        assert!([200, 201].contains(&status), "{status} {made:#}");
        let run = made["runs"][0]["run_id"].as_str().unwrap().to_owned();
        read_feed_to_end_of(&run, &mut feed, &mut stored);
        wait_until_alike(&proxies);
        has_records(&proxies, &run, body);
    }
    for (stream, frames) in &stored {
        let seqs: Vec<&Value> = frames.iter().map(|frame| &frame["seq"]).collect();
        assert!((0..).zip(&seqs).all(|(at, seq)| **seq == at), "the feed has each frame of {stream} once: {seqs:?}");
    }
    has_records(&proxies, &live.run, &live.body());
    let completed = runs(&proxies[0]).into_iter().filter(|run| run["state"] == "completed");
    assert_eq!(completed.count(), 1 + refused.len());
    same_run(&proxies, &live.run);
    same_feed(&proxies, "frames.v2");
}

/// Reads a feed until a run is over, and notes the frames of all runs.
#[track_caller]
fn read_feed_to_end_of(run: &str, feed: &mut Answer, stored: &mut HashMap<String, Vec<Value>>) {
    while !stored.get(run).is_some_and(|frames| frames.iter().any(|frame| frame["type"] == "session_ended")) {
        let frame = feed.event().unwrap().json();
        let frames = stored.entry(frame["stream_id"].as_str().unwrap().to_owned()).or_default();
        frames.push(frame);
    }
}

/// `/readyz` answers 503 and says why.
#[track_caller]
fn is_not_ready(proxy: &Proxy) {
    let answer = get(proxy.address, "/readyz", &[]);
    let (status, told) = (answer.status, answer.json());
    assert_eq!((status, &told["reasons"][0]["code"]), (503, &json!("log_not_writable")), "{told:#}");
    names_the_servers(&told["reasons"][0]["detail"]);
}

/// A message says that the reason is NATS, and not only that the log failed.
#[track_caller]
fn names_the_servers(detail: &Value) {
    let text = detail.as_str().unwrap_or_default();
    assert!(text.contains("NATS") || text.contains("JetStream") || text.contains("nats://"), "{detail}");
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn servers_without_a_majority_are_not_ready_although_they_answer() {
    let mut servers = Servers::three();
    // A proxy waits for servers that have just started, and its lease outlasts the outage.
    let proxies = three_with(&servers, &[("FRAMEGATE__LOG__LEASE_MS", "60000")]);
    let body = another("claude-code", RECORDING);
    let made = post(proxies[0].address, INGEST, &[], &body).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap().to_owned();
    wait_until_alike(&proxies);
    servers.kill(0);
    // Two of three are a majority.
    for proxy in &proxies {
        wait_for("the proxy is not ready with two servers", || {
            (get(proxy.address, "/readyz", &[]).status == 200).then_some(())
        });
    }
    servers.kill(1);
    for proxy in &proxies {
        wait_for("the proxy is ready with one server of three", || {
            (get(proxy.address, "/readyz", &[]).status == 503).then_some(())
        });
        is_not_ready(proxy);
        // What is stored can still be read, at a proxy that is connected to the server that is left.
        let listed = get(proxy.address, "/v1/runs", &[]).json();
        assert_eq!(listed["data"][0]["run_id"], json!(run), "{listed:#}");
    }
    let refused = post(proxies[0].address, INGEST, &[], &another("claude-code", RECORDING));
    let (status, problem) = (refused.status, refused.text());
    assert_eq!(status, 503, "{problem}");
    servers.start(0);
    servers.wait_ready();
    for proxy in &proxies {
        wait_for("the proxy is not ready again", || (get(proxy.address, "/readyz", &[]).status == 200).then_some(()));
    }
    assert_eq!(post(proxies[2].address, INGEST, &[], &another("claude-code", RECORDING)).status, 201);
    wait_until_alike(&proxies);
    has_records(&proxies, &run, &body);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_deleted_stream_is_reported_and_no_client_waits_for_ever() {
    let servers = Servers::one();
    let mut proxies = Vec::from(three_with(&servers, &[]));
    let body = another("claude-code", RECORDING);
    assert_eq!(post(proxies[0].address, INGEST, &[], &body).status, 201);
    wait_until_alike(&proxies);
    let deleted = request(servers.addresses()[0], "$JS.API.STREAM.DELETE.framegate_frames", "", "").unwrap();
    assert_eq!(deleted["success"], true, "{deleted}");
    for proxy in &proxies {
        let reasons = wait_for("the proxy does not say that the stream is gone", || {
            let answer = get(proxy.address, "/readyz", &[]);
            (answer.status == 503).then(|| answer.json()["reasons"].to_string())
        });
        assert!(reasons.contains("framegate_frames"), "{reasons}");
        let refused = post(proxy.address, INGEST, &[], &another("claude-code", RECORDING));
        let (status, problem) = (refused.status, refused.text());
        assert_eq!(status, 503, "{problem}");
        assert!(problem.contains("framegate_frames"), "{problem}");
    }
    // A new proxy makes the stream anew. The others know that it is not the one they followed.
    let new = crate::proxies::proxy(&servers, "proxy-new", &[]);
    wait_for("the new proxy takes no runs", || {
        (post(new.address, INGEST, &[], &another("claude-code", RECORDING)).status == 201).then_some(())
    });
    for proxy in &proxies {
        let reasons = wait_for("the proxy does not say that the stream was made anew", || {
            let reasons = get(proxy.address, "/readyz", &[]).json()["reasons"].to_string();
            reasons.contains("restart").then_some(reasons)
        });
        assert!(reasons.contains("made anew"), "{reasons}");
    }
    proxies = vec![new, crate::proxies::proxy(&servers, "proxy-again", &[])];
    assert_eq!(wait_until_alike(&proxies).len(), 1);
}
