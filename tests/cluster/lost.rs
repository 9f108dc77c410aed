//! Proxies that are lost with an open run: killed, or stopped for longer than their lease.

use crate::client::{Event, post};
use crate::proxies::{Live, kill, pause, proxy, resume, three_with};
use crate::proxy::{Proxy, another};
use crate::reading::{SSE, ends, events_path, opened, same, same_run, status, wait_for, wait_until_alike};
use crate::servers::Servers;
use serde_json::json;

const RECORDING: &str = "parallel_tools.partial.ndjson";
const LEASE: (&str, &str) = ("FRAMEGATE__LOG__LEASE_MS", "5000");

/// A run that its proxy could not end has one end, by another proxy, and is the same at each of these.
#[track_caller]
fn is_ended_once(proxies: &[Proxy], run: &str) {
    for proxy in proxies {
        let ends = ends(proxy, run);
        assert_eq!(ends.len(), 1, "{ends:#?}");
        assert_eq!((&ends[0]["reason"], &ends[0]["error_code"]), (&json!("interrupted"), &json!("proxy_lost")));
        let status = status(proxy, run);
        assert_eq!((&status["state"], &status["error_code"]), (&json!("interrupted"), &json!("proxy_lost")));
    }
    same_run(proxies, run);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn the_open_run_of_a_killed_proxy_is_ended_once_by_another() {
    let servers = Servers::three();
    let mut proxies = three_with(&servers, &[LEASE]);
    let mut live = Live::streaming(&proxies[0], RECORDING);
    live.send(live.left() / 2);
    let path = events_path(&live.run, "frames.v2");
    let readers = [1, 2].map(|nth: usize| opened(&proxies[nth], &path, &[]));
    kill(&mut proxies[0]);
    // Both were connected before the kill, and their streams end in order.
    let seen = readers.map(|reader| reader.events().into_iter().map(|event| event.data).collect::<Vec<_>>());
    assert_eq!(seen[0], seen[1]);
    assert!(seen[0].len() > live.events.len(), "{:#?}", seen[0]);
    assert_eq!(seen[0][..live.events.len()], live.events, "what the client received must be in the log");
    let listed = wait_until_alike(&proxies[1..]);
    assert_eq!(listed.len(), 1);
    is_ended_once(&proxies[1..], &live.run);
    // A proxy that starts later finds the same.
    proxies[0] = proxy(&servers, "proxy-0-again", &[LEASE]);
    assert_eq!(wait_until_alike(&proxies), listed);
    is_ended_once(&proxies, &live.run);
    // The client sends the same input again, whole: it replaces what was cut off.
    let again = post(proxies[2].address, "/v1/ingest/claude-code", &[], &live.body());
    assert_eq!(again.status, 201);
    let listed = wait_until_alike(&proxies);
    assert_eq!((listed.len(), &listed[0]["state"]), (1, &json!("completed")), "{listed:#?}");
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_proxy_that_was_stopped_for_longer_than_its_lease_does_not_write_on() {
    let servers = Servers::three();
    let proxies = three_with(&servers, &[LEASE]);
    let mut live = Live::waiting(&proxies[0], RECORDING);
    live.send(live.left() / 2);
    let frames = opened(&proxies[1], &events_path(&live.run, "frames.v2"), &[]);
    pause(&proxies[0]);
    let frames = frames.events();
    let last = frames.last().map(Event::json).unwrap();
    assert_eq!((&last["type"], &last["error_code"]), (&json!("session_ended"), &json!("proxy_lost")), "{last:#}");
    let ended = same(&proxies[1..], &events_path(&live.run, "frames.v2"), SSE);
    // The stopped proxy finds the rest as soon as it goes on.
    live.send_at_once(live.left());
    resume(&proxies[0]);
    let answer = live.upload.answer();
    let (status, kind) = (answer.status, answer.header("content-type").to_owned());
    let problem = answer.json();
    assert!((400..600).contains(&status) && kind == "application/problem+json", "{status} {problem:#}");
    assert_eq!(wait_until_alike(&proxies).len(), 1);
    is_ended_once(&proxies, &live.run);
    let now = same(&proxies, &events_path(&live.run, "frames.v2"), SSE);
    assert!(now == ended, "the proxy wrote on:\n{}", String::from_utf8_lossy(&now));
    // It takes new runs.
    wait_for("the proxy that was stopped takes no runs", || {
        let answer = post(proxies[0].address, "/v1/ingest/claude-code", &[], &another("claude-code", RECORDING));
        (answer.status == 201).then_some(())
    });
    let listed = wait_until_alike(&proxies);
    assert!(listed.iter().any(|run| run["state"] == "completed"), "{listed:#?}");
}
