//! Reading events: replay, live, cursors, negotiation.

use crate::client::{Event, Upload, get, post};
use crate::proxy::{Proxy, recording};
use framegate_translators::contracts::names_with_schemas;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Ingests a recording; returns the id of its first run, and of its session.
fn ingested(proxy: &Proxy, name: &str) -> (String, String) {
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", name)).json();
    let text = |key: &str| made["runs"][0][key].as_str().unwrap().to_owned();
    (text("run_id"), text("session_id"))
}

fn events(proxy: &Proxy, run: &str, contract: &str, headers: &[(&str, &str)]) -> Vec<Event> {
    let answer = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), headers);
    assert_eq!(answer.status, 200);
    answer.events()
}

#[test]
fn two_clients_in_different_contracts_get_each_event_of_an_open_run_once() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "parallel_tools.partial.ndjson");
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let (first, rest) = lines.split_at(lines.len() / 3);
    for line in first {
        upload.send(line);
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    let run = loop {
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        if let Some(run) = runs["data"][0]["run_id"].as_str() {
            break run.to_owned();
        }
        assert!(Instant::now() < deadline, "no run: {runs}");
        thread::sleep(Duration::from_millis(10));
    };
    let address = proxy.address;
    let whole = {
        let path = format!("/v1/runs/{run}/events?contract=frames.v2");
        thread::spawn(move || get(address, &path, &[]).events())
    };
    // The other reader reads two events at a time, disconnects, and reconnects with the last id. It reports once it has events
    // of the open run.
    let (report, reported) = mpsc::channel();
    let in_parts = {
        let path = format!("/api/v1/sessions/{}/runs/{run}/stream", session_of(&proxy, &run));
        thread::spawn(move || {
            let mut seen: Vec<Event> = Vec::new();
            loop {
                let last = seen.last().and_then(|event| event.id.clone());
                let headers: Vec<(&str, &str)> = last.iter().map(|id| ("last-event-id", id.as_str())).collect();
                let mut answer = get(address, &path, &headers);
                if answer.status == 204 {
                    return seen;
                }
                assert_eq!(answer.status, 200);
                for _ in 0..2 {
                    match answer.event() {
                        Some(event) => seen.push(event),
                        None => break,
                    }
                }
                let state = get(address, &format!("/v1/runs/{run}"), &[]).json()["state"].clone();
                if seen.len() > 4 && state == "running" {
                    let _ = report.send(());
                }
            }
        })
    };
    // The last line ends the run.
    let (last, rest) = rest.split_last().unwrap();
    for line in rest {
        upload.send(line);
    }
    reported.recv_timeout(Duration::from_secs(30)).expect("events must arrive while the run is open");
    upload.send(last);
    let made = upload.finish().json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    let whole = whole.join().unwrap();
    let in_parts = in_parts.join().unwrap();
    let numbers: Vec<u64> = whole.iter().map(|event| event.json()["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..whole.len() as u64).collect::<Vec<_>>());
    assert_eq!(whole, events(&proxy, run, "frames.v2", &[]));
    assert_eq!(in_parts, events(&proxy, run, "sse.v1", &[]));
    assert_eq!(in_parts.first().unwrap().name.as_deref(), Some("run_started"));
    assert_eq!(in_parts.last().unwrap().name.as_deref(), Some("run_completed"));
}

fn session_of(proxy: &Proxy, run: &str) -> String {
    let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
    status["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_replay_from_any_cursor_is_the_rest_of_the_stream() {
    let proxy = Proxy::start();
    let (run, _) = ingested(&proxy, "bash_ok.partial.ndjson");
    for contract in names_with_schemas() {
        let all = events(&proxy, &run, contract, &[]);
        assert!(all.len() > 5, "{contract}");
        if all.iter().any(|event| event.id.is_none()) {
            // The next test is about events without a cursor.
            continue;
        }
        for (at, event) in all.iter().enumerate() {
            let id = event.id.as_deref().unwrap();
            let by_header =
                get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), &[("last-event-id", id)]);
            if at + 1 == all.len() {
                assert_eq!(by_header.status, 204, "{contract}");
                continue;
            }
            assert_eq!(by_header.events(), all[at + 1..], "{contract} after {id}");
            let by_query = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}&after={id}"), &[]);
            assert_eq!(by_query.events(), all[at + 1..], "{contract} after {id}");
        }
    }
}

#[test]
fn a_cursor_is_followed_by_all_later_events_with_or_without_numbers() {
    let proxy = Proxy::start();
    let (run, _) = ingested(&proxy, "control_permission.partial.ndjson");
    let all = events(&proxy, &run, "pixir.v1", &[]);
    let path = format!("/v1/runs/{run}/events?contract=pixir.v1");
    let (mut resumed, mut unnumbered) = (0, 0);
    for (at, event) in all.iter().enumerate() {
        let Some(id) = event.id.as_deref() else {
            unnumbered += 1;
            continue;
        };
        resumed += 1;
        let rest = get(proxy.address, &path, &[("last-event-id", id)]);
        if at + 1 == all.len() {
            assert_eq!(rest.status, 204, "after {id}");
        } else {
            assert_eq!(rest.events(), all[at + 1..], "after {id}");
        }
    }
    assert!(resumed > 5 && unnumbered >= 5, "{resumed} {unnumbered}");
    // The terminal marker has no number, but its own cursor after the last numbered event.
    let [.., before, last] = &all[..] else { panic!() };
    assert_eq!(last.id.as_deref(), Some(&*format!("{}.end", before.id.as_deref().unwrap())));
    // The query takes that cursor too. Only the run's own one means that the client has everything.
    let end = last.id.as_deref().unwrap();
    assert_eq!(get(proxy.address, &format!("{path}&after={end}"), &[]).status, 204);
    let first = all.iter().position(|event| event.id.is_some()).unwrap();
    let not_the_end = format!("{}.end", all[first].id.as_deref().unwrap());
    assert_eq!(get(proxy.address, &path, &[("last-event-id", &not_the_end)]).events(), all[first + 1..]);
    let beyond = format!("{}.end", before.id.as_deref().unwrap().parse::<u64>().unwrap() + 1);
    for answer in [
        get(proxy.address, &path, &[("last-event-id", &beyond)]),
        get(proxy.address, &format!("{path}&after={beyond}"), &[]),
    ] {
        assert_eq!(answer.events(), *std::slice::from_ref(last), "{beyond}");
    }
    assert_eq!(get(proxy.address, &format!("{path}&after=x.end"), &[]).status, 400);
    // Pages end at an event with a cursor.
    let (mut by_page, mut after) = (Vec::new(), -1);
    loop {
        let page =
            get(proxy.address, &format!("{path}&limit=1&after={after}"), &[("accept", "application/json")]).json();
        by_page.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
    }
    let parsed: Vec<serde_json::Value> = all.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect();
    assert_eq!(by_page, parsed);
}

#[test]
fn cursors_outside_the_stream_are_handled() {
    let proxy = Proxy::start();
    let (run, _) = ingested(&proxy, "bash_ok.ndjson");
    let path = |query: &str| format!("/v1/runs/{run}/events?{query}");
    let all = events(&proxy, &run, "frames.v2", &[]);
    assert_eq!(get(proxy.address, &path("after=-1"), &[]).events(), all);
    assert_eq!(get(proxy.address, &path("after=0"), &[]).events(), all[1..]);
    assert_eq!(get(proxy.address, &path("after=99999"), &[]).status, 204);
    assert_eq!(get(proxy.address, &path("after=x"), &[]).status, 400);
    assert_eq!(get(proxy.address, &path("after=-2"), &[]).status, 400);
    assert_eq!(get(proxy.address, &path("afterwards=1"), &[]).status, 400);
    let named = events(&proxy, &run, "sse.v1", &[]);
    assert_eq!(get(proxy.address, &path("contract=sse.v1&after=evt_unknown"), &[]).events(), named);
}

#[test]
fn every_form_has_the_same_events() {
    let proxy = Proxy::start();
    let (run, _) = ingested(&proxy, "write_file.partial.ndjson");
    let path = format!("/v1/runs/{run}/events?contract=agent-manager.v1");
    let by_sse: Vec<String> = get(proxy.address, &path, &[]).events().into_iter().map(|event| event.data).collect();
    let by_line = get(proxy.address, &path, &[("accept", "application/x-ndjson")]);
    assert_eq!(by_line.header("content-type"), "application/x-ndjson; contract=agent-manager.v1");
    assert_eq!(by_line.text().lines().map(str::to_owned).collect::<Vec<_>>(), by_sse);
    let mut by_page = Vec::new();
    let mut after = -1;
    loop {
        let answer = get(proxy.address, &format!("{path}&limit=2&after={after}"), &[("accept", "application/json")]);
        assert_eq!(answer.header("content-type"), "application/json; contract=agent-manager.v1");
        let page = answer.json();
        let data = page["data"].as_array().unwrap();
        assert!(data.len() <= 2);
        by_page.extend(data.iter().cloned());
        assert_eq!(page["ended"], page["next"].is_null());
        match page["next"].as_i64() {
            Some(next) => after = next,
            None => break,
        }
    }
    let parsed: Vec<serde_json::Value> = by_sse.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(by_page, parsed);
}

#[test]
fn raw_is_the_output_of_the_runner() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let (run, _) = ingested(&proxy, "text_plain.partial.ndjson");
    let answer = get(proxy.address, &format!("/v1/runs/{run}/events"), &[("accept", "application/octet-stream")]);
    assert_eq!(answer.text().as_bytes(), bytes);
}

#[test]
fn a_406_names_what_is_acceptable() {
    let proxy = Proxy::start();
    let (run, session) = ingested(&proxy, "text_plain.ndjson");
    for (path, headers) in [
        (format!("/v1/runs/{run}/events?contract=hecate.v9"), vec![]),
        (format!("/v1/runs/{run}/events"), vec![("accept", "text/html")]),
    ] {
        let answer = get(proxy.address, &path, &headers);
        assert_eq!(answer.status, 406, "{path}");
        assert!(answer.json()["detail"].as_str().unwrap().contains("sse.v1"), "{path}");
    }
    let native = get(proxy.address, &format!("/api/v1/sessions/{session}/runs/{run}/stream?contract=raw"), &[]);
    let (status, error) = (native.status, native.json()["error"].clone());
    assert_eq!((status, error["code"].as_str()), (406, Some("NOT_ACCEPTABLE")));
    assert!(error["message"].as_str().unwrap().contains("sse.v1"), "{error}");
    let unknown = "00000000-0000-7000-8000-000000000000";
    assert_eq!(get(proxy.address, &format!("/v1/runs/{unknown}/events"), &[]).status, 404);
    assert_eq!(get(proxy.address, "/v1/runs/run_1/events", &[]).status, 400);
    let native = get(proxy.address, &format!("/api/v1/sessions/{session}/runs/{unknown}/stream"), &[]);
    assert_eq!((native.status, native.json()["error"]["code"].as_str()), (404, Some("RUN_NOT_FOUND")));
    let native = get(proxy.address, &format!("/api/v1/sessions/{unknown}/runs/{run}/stream"), &[]);
    assert_eq!((native.status, native.json()["error"]["code"].as_str()), (404, Some("SESSION_NOT_FOUND")));
}

#[test]
fn a_silent_stream_sends_heartbeats_with_headers_against_buffering() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__HEARTBEAT_MS", "100")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[("accept", "text/event-stream")]);
    upload.send(&bytes[..bytes.len() / 2]);
    let mut answer = upload.answer();
    for (name, value) in [("cache-control", "no-cache, no-transform"), ("x-accel-buffering", "no")] {
        assert_eq!(answer.header(name), value);
    }
    let mut heartbeats = 0;
    while heartbeats < 3 {
        heartbeats += u32::from(answer.line().unwrap() == ": heartbeat");
    }
}

#[test]
fn a_shutdown_ends_open_streams() {
    let mut proxy = Proxy::with(&[("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "300")]);
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[("accept", "text/event-stream")]);
    upload.send(&bytes[..bytes.len() / 2]);
    let mut answer = upload.answer();
    assert!(answer.event().is_some());
    assert!(proxy.pid() > 0);
    assert!(proxy.terminate().success());
}

#[test]
fn an_enforcing_gate_passes_valid_events_and_counts_them_once() {
    let enforcing = Proxy::with(&[("FRAMEGATE__GATE__MODE", "enforce")]);
    let off = Proxy::with(&[("FRAMEGATE__GATE__MODE", "off")]);
    let status = |proxy: &Proxy, run: &str| get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
    let (checked, _) = ingested(&enforcing, "bash_ok.ndjson");
    let (unchecked, _) = ingested(&off, "bash_ok.ndjson");
    let kinds = |events: &[Event]| events.iter().map(|event| event.name.clone()).collect::<Vec<_>>();
    let events_of = |proxy: &Proxy, run: &str| events(proxy, run, "sse.v1", &[]);
    let passed = events_of(&enforcing, &checked);
    assert_eq!(kinds(&passed), kinds(&events_of(&off, &unchecked)));
    // A second reader does not cause another check.
    assert_eq!(events_of(&enforcing, &checked), passed);
    let status_of = status(&enforcing, &checked);
    assert_eq!(status_of["events_checked"], serde_json::json!({"sse.v1": passed.len()}));
    assert_eq!(status_of["validation_failures"], serde_json::json!({}));
    assert!(status_of.get("events_withheld").is_none());
    assert!(status(&off, &unchecked).get("events_checked").is_none());
}

#[test]
fn buffered_output_is_sent_when_the_tool_falls_silent() {
    let proxy = Proxy::start();
    let bytes = recording("codex", "appserver-long-stream.ndjson");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let is_output = |line: &&&[u8]| String::from_utf8_lossy(line).contains("commandExecution/outputDelta");
    let at = lines.iter().position(|line| is_output(&line)).unwrap();
    let piece = |said: &str| {
        let mut record: serde_json::Value = serde_json::from_slice(lines[at]).unwrap();
        record["params"]["delta"] = said.into();
        format!("{record}\n")
    };
    let accept = [("accept", "text/event-stream; contract=hecate.v1")];
    let mut upload = Upload::start(proxy.address, "/v1/ingest/codex", &accept);
    upload.send(&lines[..at].concat());
    // Both pieces are in one chunk of the body, so the second one may still continue.
    upload.send((piece("one ") + &piece("two ")).as_bytes());
    let mut answer = upload.answer();
    let mut seen: Vec<Event> = Vec::new();
    let mut said = String::new();
    // Nothing more is sent until the second piece has been read.
    while said != "one two " {
        let event = answer.event().unwrap();
        if event.json()["type"] == "tool.shell.output_chunk" {
            said.push_str(event.json()["data"]["data"].as_str().unwrap());
        }
        seen.push(event);
    }
    let rest: Vec<&[u8]> = lines[at..].iter().filter(|line| !is_output(line)).copied().collect();
    upload.send(&rest.concat());
    upload.end();
    seen.extend(answer.events());
    let run = get(proxy.address, "/v1/runs", &[]).json()["data"][0]["run_id"].as_str().unwrap().to_owned();
    assert_eq!(events(&proxy, &run, "hecate.v1", &[]), seen, "a replay must equal what the live client got");
    let frames = events(&proxy, &run, "frames.v2", &[]);
    assert!(frames.iter().all(|frame| frame.json()["chunk"] != ""), "the pause adds no frame");
}
