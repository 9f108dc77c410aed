//! Feeds of many runs: replay, live, cursors, scopes, pages.

use crate::client::{Event, Upload, get, post};
use crate::proxy::{Proxy, another, recording};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn ingested(proxy: &Proxy, name: &str) -> Vec<(String, String)> {
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &another("claude-code", name)).json();
    let text = |run: &Value, key: &str| run[key].as_str().unwrap().to_owned();
    made["runs"].as_array().unwrap().iter().map(|run| (text(run, "run_id"), text(run, "session_id"))).collect()
}

/// The number of events, counted through pages.
fn count(proxy: &Proxy, path: &str) -> usize {
    let join = if path.contains('?') { '&' } else { '?' };
    let (mut seen, mut after) = (0, String::new());
    loop {
        let at = if after.is_empty() { String::new() } else { format!("&after={after}") };
        let page = get(proxy.address, &format!("{path}{join}limit=50{at}"), &[("accept", "application/json")]).json();
        seen += page["data"].as_array().unwrap_or_else(|| panic!("{page:#}")).len();
        match page["next"].as_str() {
            Some(next) => after = next.to_owned(),
            None => return seen,
        }
    }
}

fn take(proxy: &Proxy, path: &str, headers: &[(&str, &str)], events: usize) -> Vec<Event> {
    let mut answer = get(proxy.address, path, headers);
    assert_eq!(answer.status, 200, "{path}");
    (0..events).map(|_| answer.event().unwrap()).collect()
}

#[test]
fn the_feed_has_every_run_in_order_and_resumes_after_any_cursor() {
    let proxy = Proxy::start();
    for name in ["text_plain.partial.ndjson", "multi_turn_stdin.ndjson", "bash_ok.partial.ndjson"] {
        ingested(&proxy, name);
    }
    for contract in framegate_translators::contracts::names_with_schemas() {
        let path = format!("/v1/events?contract={contract}");
        let total = count(&proxy, &path);
        let all = take(&proxy, &path, &[], total);
        let ids: BTreeSet<&str> = all.iter().map(|event| event.id.as_deref().unwrap()).collect();
        assert_eq!(ids.len(), total, "{contract}: each event must have its own cursor");
        // The feed contains each run's own stream, in order.
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        for run in runs["data"].as_array().unwrap() {
            let run = run["run_id"].as_str().unwrap();
            let own = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), &[]).events();
            let own: Vec<&str> = own.iter().map(|event| &*event.data).collect();
            let mut rest = own.iter();
            let mut next = rest.next();
            for event in &all {
                if next.is_some_and(|own| **own == event.data) {
                    next = rest.next();
                }
            }
            assert!(next.is_none(), "{contract}: the feed must have all of {run} in order");
        }
        for at in (0..total - 1).step_by((total / 7).max(1)) {
            let id = all[at].id.as_deref().unwrap();
            let rest = total - at - 1;
            assert_eq!(take(&proxy, &path, &[("last-event-id", id)], rest), all[at + 1..], "{contract} after {id}");
            let by_query = take(&proxy, &format!("{path}&after={id}"), &[], rest);
            assert_eq!(by_query, all[at + 1..], "{contract} after {id}");
        }
        // A browser that reconnects repeats its original query, and sends a newer header.
        let (early, late) = (all[0].id.as_deref().unwrap(), all[total - 2].id.as_deref().unwrap());
        assert_eq!(take(&proxy, &format!("{path}&after={early}"), &[("last-event-id", late)], 1), all[total - 1..]);
    }
}

#[test]
fn a_sessions_feed_has_only_its_runs_including_later_ones() {
    let proxy = Proxy::start();
    ingested(&proxy, "text_plain.partial.ndjson");
    let session = ingested(&proxy, "multi_turn_stdin.ndjson")[0].1.clone();
    let path = format!("/v1/sessions/{session}/events?contract=hecate.v1");
    let total = count(&proxy, &path);
    let mut answer = get(proxy.address, &path, &[]);
    assert_eq!(answer.header("content-type"), "text/event-stream; contract=hecate.v1");
    assert_eq!(answer.header("cache-control"), "no-cache, no-transform");
    assert_eq!(answer.header("x-accel-buffering"), "no");
    let seen: Vec<Value> = (0..total).map(|_| answer.event().unwrap().json()).collect();
    let sessions: BTreeSet<&str> = seen.iter().map(|event| event["session_id"].as_str().unwrap()).collect();
    assert_eq!(sessions.len(), 1);
    assert_eq!(seen.iter().filter(|event| event["type"] == "run.started").count(), 3);
    // The session continues while the reader waits.
    let more = ingested(&proxy, "multi_turn_stdin.ndjson");
    let next = answer.event().unwrap().json();
    assert_eq!(next["type"], "run.started");
    let status = get(proxy.address, &format!("/v1/runs/{}", more[0].0), &[]).json();
    assert_eq!(status["session_id"], session);
    assert_eq!(get(proxy.address, "/v1/sessions/nonsense/events", &[]).status, 400);
    let unknown = "00000000-0000-4000-8000-000000000000";
    assert_eq!(get(proxy.address, &format!("/v1/sessions/{unknown}/events"), &[]).status, 404);
}

#[test]
fn concurrent_runs_are_interleaved_in_the_feed() {
    let proxy = Proxy::start();
    let mut answer = get(proxy.address, "/v1/events?contract=sse.v1", &[]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let mut uploads: Vec<Upload> =
        (0..2).map(|_| Upload::start(proxy.address, "/v1/ingest/claude-code", &[])).collect();
    for upload in &mut uploads {
        upload.send(lines[0]);
        assert_eq!(answer.event().unwrap().name.as_deref(), Some("run_started"));
    }
    for line in &lines[1..] {
        for upload in &mut uploads {
            upload.send(line);
        }
    }
    for upload in uploads {
        assert_eq!(upload.finish().status, 201);
    }
    let (mut completed, mut runs) = (0, BTreeSet::new());
    while completed < 2 {
        let event = answer.event().unwrap();
        runs.insert(event.json()["run_id"].as_str().unwrap().to_owned());
        completed += usize::from(event.name.as_deref() == Some("run_completed"));
    }
    assert_eq!(runs.len(), 2);
}

#[test]
fn cursors_of_another_log_are_reported_and_invalid_ones_refused() {
    let proxy = Proxy::start();
    ingested(&proxy, "text_plain.partial.ndjson");
    let path = "/v1/events?contract=frames.v2";
    let first = take(&proxy, path, &[], 2);
    assert_eq!(take(&proxy, path, &[("last-event-id", "nonsense")], 2), first);
    let other = Proxy::start();
    ingested(&other, "text_plain.partial.ndjson");
    let of_another = take(&other, path, &[], 5)[4].id.clone().unwrap();
    for contract in framegate_translators::contracts::names_with_schemas() {
        let path = format!("/v1/events?contract={contract}");
        let all = take(&proxy, &path, &[], 2);
        let schemas = framegate_translators::contracts::contract(contract).unwrap();
        let schemas = framegate_translators::schema::Schemas::compile(schemas.schemas).unwrap();
        // Also a cursor in the format of earlier versions.
        for cursor in [&*of_another, "0123456789ab-5-0"] {
            for told in [
                take(&proxy, &path, &[("last-event-id", cursor)], 3),
                take(&proxy, &format!("{path}&after={cursor}"), &[], 3),
            ] {
                // The first event reports the invalid cursor, and has a cursor after which the rest follows.
                assert!(told[0].data.contains("this cursor is not one of this log"), "{contract}: {told:?}");
                let event = told[0].json();
                let type_key = framegate_translators::contracts::contract(contract).unwrap().type_key;
                let kind = framegate_translators::event_kind::kind_of(type_key, &event).unwrap();
                assert_eq!(schemas.check_value(kind, &event), Ok(()), "{event}");
                assert_eq!(told[1..], all, "{contract}");
                assert_eq!(take(&proxy, &path, &[("last-event-id", told[0].id.as_deref().unwrap())], 2), all);
            }
        }
    }
    let refused = get(proxy.address, &format!("{path}&after=nonsense"), &[]);
    assert_eq!((refused.status, refused.header("content-type")), (400, "application/problem+json"));
    let page =
        |after: &str| get(proxy.address, &format!("{path}&after={after}"), &[("accept", "application/json")]).json();
    let latest = page("latest");
    let cursor = latest["cursor"].as_str().unwrap();
    assert_eq!(latest, json!({"object": "list", "data": [], "cursor": cursor, "next": null}));
    // The cursor of an empty page continues exactly there.
    assert_eq!(page(cursor), latest);
    let before = count(&proxy, path);
    ingested(&proxy, "text_plain.partial.ndjson");
    let new = page(&format!("{cursor}&limit=1000"));
    assert_eq!(new["data"].as_array().unwrap().len(), count(&proxy, path) - before);
    let raw = get(proxy.address, "/v1/events?contract=raw", &[]);
    assert_eq!(raw.status, 406);
    let detail = raw.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("to which run a record belongs") && detail.contains("frames.v2"), "{detail}");
    let wrong = post(proxy.address, "/v1/events", &[], b"");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
}

#[test]
fn a_silent_feed_sends_heartbeats_and_ends_with_the_proxy() {
    let mut proxy = Proxy::with(&[
        ("FRAMEGATE__SERVER__HEARTBEAT_MS", "100"),
        // Longer than a test may take, because the shutdown must not wait for the reader.
        ("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "600000"),
    ]);
    let mut answer = get(proxy.address, "/v1/events", &[]);
    assert_eq!(answer.line().as_deref(), Some("retry: 2000"));
    assert_eq!(answer.line().as_deref(), Some(": heartbeat"));
    assert!(proxy.terminate().success());
}

#[test]
fn the_feed_can_be_filtered_by_type() {
    let proxy = Proxy::start();
    ingested(&proxy, "multi_turn_stdin.ndjson");
    let path = "/v1/events?contract=hecate.v1&event_type=run.started,run.finished";
    assert_eq!(count(&proxy, path), 6);
    let kinds: BTreeSet<String> =
        take(&proxy, path, &[], 6).iter().map(|event| event.json()["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["run.finished", "run.started"]);
}

#[test]
fn a_cursor_does_not_reveal_the_activity_of_others() {
    let proxy = Proxy::start();
    let path = "/v1/events?contract=frames.v2";
    ingested(&proxy, "text_plain.partial.ndjson");
    let before = take(&proxy, path, &[], 3);
    ingested(&proxy, "multi_turn_stdin.ndjson");
    for event in &before {
        let id = event.id.as_deref().unwrap();
        assert!(id.len() == 40 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
    }
    let ids: BTreeSet<&str> = before.iter().map(|event| event.id.as_deref().unwrap()).collect();
    // Adjacent cursors have no common prefix that would reveal their order.
    assert!(ids.iter().all(|id| ids.iter().filter(|other| other[..4] == id[..4]).count() == 1), "{ids:?}");
}
