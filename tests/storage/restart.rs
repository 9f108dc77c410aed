//! The proxy is restarted on its log: everything that was sent before is sent again, byte for byte.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, another, recording, refusal};
use crate::scratch::{Scratch, frames, frames_at, run_of, wait};
use framegate::clock::Clock;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, SqliteLog, StreamId, stream_id};
use framegate::runs::Runs;
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::frame::Frame;
use framegate_translators::runners::RUNNERS;
use framegate_translators::schema::Schemas;
use framegate_translators::verify::{Checker, Located, Severity};
use serde_json::Value;
use std::sync::Arc;

pub fn start(scratch: &Scratch, more: &[(&str, &str)]) -> Proxy {
    let path = scratch.path().to_str().unwrap().to_owned();
    let mut settings = vec![("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &path)];
    settings.extend_from_slice(more);
    Proxy::with(&settings)
}

pub fn runs(proxy: &Proxy) -> Vec<Value> {
    get(proxy.address, "/v1/runs?limit=500", &[]).json()["data"].as_array().unwrap().clone()
}

/// The events of an ended stream, in every contract that has events for it.
pub fn events_in_every_contract(proxy: &Proxy, id: &str) -> Vec<(&'static str, String)> {
    CONTRACTS
        .iter()
        .map(|contract| {
            let path = format!("/v1/runs/{id}/events?contract={}", contract.name);
            let answer = get(proxy.address, &path, &[("accept", "text/event-stream")]);
            assert_eq!(answer.status, 200, "{path}");
            (contract.name, answer.text())
        })
        .collect()
}

/// The violations in the events of a run.
fn violations(contract: &'static Contract, text: &str) -> Vec<Located> {
    let schemas = Schemas::compile(contract.schemas).unwrap();
    let mut checker = Checker::new(contract, &schemas);
    let mut found = Vec::new();
    let mut sink = |located: Located| {
        if located.finding.severity == Severity::Error {
            found.push(located);
        }
    };
    text.lines().for_each(|line| checker.event(line.as_bytes(), &mut sink));
    checker.end(&mut sink);
    found
}

pub fn without_counters(mut status: Value) -> Value {
    // Each process counts these from zero.
    for counted in ["validation_failures", "events_checked", "events_withheld"] {
        status.as_object_mut().unwrap().remove(counted);
    }
    status
}

#[test]
fn after_a_kill_every_run_and_event_is_the_same() {
    let scratch = Scratch::new("restart");
    let proxy = start(&scratch, &[]);
    let several = [("claude-code", "multi_turn_stdin.ndjson"), ("claude-code", "parallel_tools.partial.ndjson")];
    // The sample of frames has the run of another sample.
    let samples = RUNNERS.iter().filter(|runner| !runner.is_of_frames).map(|runner| (runner.name, runner.sample.file));
    for (runner, name) in several.into_iter().chain(samples) {
        assert_eq!(post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name)).status, 201);
    }
    let listed = runs(&proxy);
    assert!(listed.len() >= 7, "{}", listed.len());
    let ids: Vec<String> = listed.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
    let before: Vec<_> = ids.iter().map(|id| events_in_every_contract(&proxy, id)).collect();
    // Killed without a shutdown.
    drop(proxy);
    let proxy = start(&scratch, &[]);
    let again: Vec<Value> = runs(&proxy);
    assert_eq!(
        again.into_iter().map(without_counters).collect::<Vec<_>>(),
        listed.into_iter().map(without_counters).collect::<Vec<_>>()
    );
    for (id, before) in ids.iter().zip(before) {
        assert!(events_in_every_contract(&proxy, id) == before, "{id}");
    }
}

#[test]
fn a_run_that_was_open_at_a_kill_is_closed_and_its_sent_events_stay() {
    let scratch = Scratch::new("open");
    let bytes = recording("claude-code", "parallel_tools.partial.ndjson");
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    for cut in [1, lines.len() / 4, lines.len() / 2, lines.len() * 3 / 4, lines.len() - 1] {
        let _ = std::fs::remove_file(scratch.path());
        let proxy = start(&scratch, &[]);
        let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
        let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &accept);
        lines[..cut].iter().for_each(|line| upload.send(line));
        let mut answer = upload.answer();
        // At least one event for each record.
        let seen: Vec<String> = (0..cut).map_while(|_| answer.line()).filter(|line| !line.is_empty()).collect();
        assert!(!seen.is_empty());
        drop(proxy);

        let proxy = start(&scratch, &[]);
        let run = runs(&proxy).remove(0);
        assert_eq!(run["state"], "interrupted", "cut at {cut}: {run:#}");
        assert_eq!(run["error_code"], "proxy_restarted");
        assert_eq!(run["pending_approvals"], serde_json::json!([]));
        let id = run["run_id"].as_str().unwrap().to_owned();
        let read = |contract: &str| {
            let path = format!("/v1/runs/{id}/events?contract={contract}");
            get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text()
        };
        for known in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
            let found = violations(known, &read(known.name));
            assert!(found.is_empty(), "cut at {cut}, {}: {found:#?}", known.name);
        }
        let text = read("frames.v2");
        let replay: Vec<&str> = text.lines().collect();
        let mine: Vec<&String> = seen.iter().filter(|line| line.contains(&id)).collect();
        assert!(!mine.is_empty() && replay.len() > mine.len());
        assert!(mine.iter().zip(&replay).all(|(seen, again)| seen == again), "cut at {cut}");
        let text = read("hecate.v1");
        assert!(text.contains("gap.run_disconnected"), "{text}");
        // The run ends only once: another restart adds nothing.
        drop(proxy);
        let proxy = start(&scratch, &[]);
        assert_eq!(runs(&proxy)[0]["frames"], run["frames"]);
    }
}

#[test]
fn runs_logged_while_the_clock_was_ahead_survive_its_correction() {
    // The clock is some decades ahead.
    let ahead_ms = 4_000_000_000_000;
    let scratch = Scratch::new("clock");
    let log = SqliteLog::open(Options { clock: Clock::Fixed(ahead_ms), ..Options::new(scratch.path()) }).unwrap();
    let runs_then = Runs::new(Arc::new(log), Gate::new(GateMode::Enforce).unwrap());
    let frames = |run| frames_at("claude-code", "parallel_tools.partial.ndjson", run, ahead_ms);
    let (whole, broken) = (frames(1), frames(2));
    let half = &broken[..broken.len() / 2];
    wait(async {
        runs_then.append(&whole).await.unwrap();
        runs_then.append(half).await.unwrap();
    });
    drop(runs_then);

    let aged = [("FRAMEGATE__LOG__MAX_AGE_HOURS", "1"), ("FRAMEGATE__LOG__RUN_MAX_AGE_HOURS", "1")];
    let proxy = start(&scratch, &aged);
    let status = |proxy: &Proxy, run: StreamId| get(proxy.address, &format!("/v1/runs/{}", run.1), &[]).json();
    let (ended, open) = (status(&proxy, run_of(&whole)), status(&proxy, run_of(&broken)));
    let mine = |frames: &[Arc<Frame>]| frames.iter().filter(|frame| stream_id(frame) == run_of(frames)).count() as u64;
    assert_eq!((ended["state"].as_str(), ended["frames"].as_u64()), (Some("completed"), Some(mine(&whole))));
    assert_eq!((open["state"].as_str(), open["error_code"].as_str()), (Some("interrupted"), Some("proxy_restarted")));
    assert!(open["frames"].as_u64() > Some(mine(half)), "{open:#}");
    let ids = [run_of(&whole), run_of(&broken)].map(|run| run.1.to_string());
    let before: Vec<_> = ids.iter().map(|id| events_in_every_contract(&proxy, id)).collect();
    for (id, known) in ids.iter().flat_map(|id| CONTRACTS.iter().map(move |known| (id, known))) {
        let path = format!("/v1/runs/{id}/events?contract={}", known.name);
        let text = get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text();
        assert!(!text.is_empty() && (known.schemas.is_empty() || violations(known, &text).is_empty()), "{path}");
    }
    // New runs have the present time and are listed next to those.
    let made =
        post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "text_plain.ndjson")).json();
    assert_eq!(made["runs"][0]["state"], "completed", "{made:#}");
    assert_eq!(runs(&proxy).len(), 3);
    drop(proxy);
    let proxy = start(&scratch, &aged);
    assert_eq!(runs(&proxy).len(), 3);
    for (id, before) in ids.iter().zip(before) {
        assert!(events_in_every_contract(&proxy, id) == before, "{id}");
    }
}

#[test]
fn a_session_continued_by_another_ingest_has_one_thread_without_gaps() {
    let scratch = Scratch::new("thread");
    // A record that belongs to no run goes to its session's thread.
    let body = b"{\"type\":\"nobody_knows\",\"session_id\":\"0b2a3d4e-0000-4000-8000-000000000001\"}\n";
    for _ in 0..2 {
        let proxy = start(&scratch, &[]);
        for _ in 0..2 {
            assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], body).status, 422);
            let text = another("claude-code", "text_plain.partial.ndjson");
            assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &[&text[..], body].concat()).status, 201);
        }
        drop(proxy);
    }
    let database = rusqlite::Connection::open(scratch.path()).unwrap();
    let mut statement = database
        .prepare("SELECT count(*), max(seq), min(f.stream) FROM frames f JOIN streams s ON s.key = f.stream WHERE kind = 'thread' GROUP BY f.stream")
        .unwrap();
    let counts: Vec<(i64, i64)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    assert!(counts.iter().any(|(count, _)| *count >= 4), "{counts:?}");
    for (count, last) in counts {
        assert_eq!(count, last + 1);
    }
}

#[test]
fn ingests_into_a_full_log_get_507_until_there_is_room() {
    let scratch = Scratch::new("507");
    let proxy = start(&scratch, &[("FRAMEGATE__LOG__MAX_FILE_BYTES", "400000")]);
    let mut acknowledged = 0;
    for _ in 0..40 {
        // Ended runs are evicted to make room for new ones.
        let body = another("claude-code", "parallel_tools.partial.ndjson");
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &body).status, 201);
        acknowledged += 1;
    }
    let known = |proxy: &Proxy| runs(proxy).iter().filter(|run| run["state"] == "completed").count();
    assert!((1..acknowledged).contains(&known(&proxy)));
    // An open run cannot be evicted.
    let large = format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"cwd\":\"{}\"}}\n",
        "x".repeat(2_000_000)
    );
    let refused = post(proxy.address, "/v1/ingest/claude-code", &[], large.as_bytes());
    assert_eq!((refused.status, refused.header("content-type")), (507, "application/problem+json"));
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("no room on disk for the frame log"), "{detail}");
    let left = known(&proxy);
    drop(proxy);
    let proxy = start(&scratch, &[]);
    assert_eq!(known(&proxy), left);
    let body = another("claude-code", "parallel_tools.partial.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &body).status, 201);
}

#[test]
fn the_status_of_a_run_reports_that_its_last_frames_were_not_stored() {
    let scratch = Scratch::new("not-kept");
    let all = frames("claude-code", "text_plain.partial.ndjson", 1);
    let run = run_of(&all);
    let mine: Vec<_> = all.into_iter().filter(|frame| stream_id(frame) == run).collect();
    // A log with just enough room for the run's beginning.
    let log = SqliteLog::open(Options::new(scratch.dir().join("measured.db"))).unwrap();
    wait(log.append(&mine[..2], Vec::new())).unwrap();
    let (bytes, _) = wait(FrameLog::usage(&log)).unwrap();
    // Open runs may use seven eighths.
    let max_bytes = bytes * 8 / 7 + 1;
    let log = SqliteLog::open(Options { max_bytes, ..Options::new(scratch.path()) }).unwrap();
    let runs = Runs::new(Arc::new(log), Gate::new(GateMode::Off).unwrap());
    let not_kept = || serde_json::to_value(&*runs.find(run).unwrap().status()).unwrap()["not_kept"].clone();
    let (last, open) = mine.split_last().unwrap();
    wait(runs.append(&open[..2])).unwrap();
    assert_eq!(not_kept(), Value::Null);
    assert!(wait(runs.append(&open[2..])).unwrap_err().is_full());
    assert_eq!(not_kept(), "log_full");
    // Frames that do not follow are not stored either, but the reason is different.
    assert!(!wait(runs.append(std::slice::from_ref(last))).unwrap_err().is_full());
    assert_eq!(not_kept(), "log_failed");
    // The bound also applies to the end of the run.
    assert!(wait(runs.append(&mine[2..])).unwrap_err().is_full());
    assert_eq!(not_kept(), "log_full");
}

#[test]
fn a_second_proxy_on_the_same_file_does_not_start() {
    let scratch = Scratch::new("second");
    let _proxy = start(&scratch, &[]);
    let path = scratch.path().to_str().unwrap().to_owned();
    let said = refusal(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &path)]);
    assert!(said.contains(&path) && said.contains("in use by another framegate"), "{said}");
}

#[test]
fn validation_counts_of_a_run_survive_a_shutdown() {
    let scratch = Scratch::new("counted");
    let mut proxy = start(&scratch, &[]);
    let body = recording("claude-code", "parallel_tools.partial.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &body).status, 201);
    let id = runs(&proxy)[0]["run_id"].as_str().unwrap().to_owned();
    let read = |proxy: &Proxy| {
        for contract in ["frames.v2", "hecate.v1"] {
            let path = format!("/v1/runs/{id}/events?contract={contract}");
            assert_eq!(get(proxy.address, &path, &[("accept", "application/x-ndjson")]).status, 200);
            assert!(!get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text().is_empty());
        }
        runs(proxy)[0]["events_checked"].clone()
    };
    let counted = read(&proxy);
    assert!(counted["frames.v2"].as_u64().unwrap() > 20 && counted["hecate.v1"].as_u64().unwrap() > 20, "{counted}");
    proxy.terminate();
    let proxy = start(&scratch, &[]);
    assert_eq!(runs(&proxy)[0]["events_checked"], counted);
    // Events that were already counted are not counted again.
    assert_eq!(read(&proxy), counted);
}

#[test]
fn a_feed_cursor_survives_a_restart_and_reports_runs_that_were_dropped_meanwhile() {
    let scratch = Scratch::new("feed-cursor");
    let proxy = start(&scratch, &[]);
    let bytes = recording("claude-code", "parallel_tools.partial.ndjson");
    let ingested = |proxy: &Proxy| {
        let bytes = another("claude-code", "parallel_tools.partial.ndjson");
        let made = post(proxy.address, "/v1/ingest/claude-code", &[], &bytes).json();
        made["runs"][0]["run_id"].as_str().unwrap().to_owned()
    };
    // Two runs whose frames are interleaved.
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let mut uploads: Vec<Upload> =
        (0..2).map(|_| Upload::start(proxy.address, "/v1/ingest/claude-code", &[])).collect();
    for line in lines {
        uploads.iter_mut().for_each(|upload| upload.send(line));
    }
    uploads.into_iter().for_each(|upload| assert_eq!(upload.finish().status, 201));
    ingested(&proxy);
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let path = format!("/v1/events?contract={}&limit=500", contract.name);
        let page = get(proxy.address, &path, &[("accept", "application/json")]).json();
        assert!(page["data"].as_array().unwrap().len() > 20, "{page:#}");
    }
    // The events with their cursors, as they appear on the wire.
    let seen = |proxy: &Proxy, after: &str, events: usize| {
        let mut feed = get(proxy.address, "/v1/events?contract=frames.v2", &[("last-event-id", after)]);
        (0..events).map(|_| feed.event().unwrap()).collect::<Vec<_>>()
    };
    let all: u64 = runs(&proxy).iter().map(|run| run["frames"].as_u64().unwrap()).sum();
    let before = seen(&proxy, "", usize::try_from(all).unwrap());
    drop(proxy);
    let proxy = start(&scratch, &[]);
    assert_eq!(seen(&proxy, "", before.len()), before);
    for at in (0..before.len() - 1).step_by(before.len() / 9) {
        let rest = before.len() - at - 1;
        assert_eq!(seen(&proxy, before[at].id.as_deref().unwrap(), rest), before[at + 1..], "after {at}");
    }
    // Only new events follow the last cursor.
    let last = before.last().unwrap().id.clone().unwrap();
    let new = ingested(&proxy);
    assert_eq!(seen(&proxy, &last, 1)[0].json()["stream_id"], new);
    drop(proxy);

    // The first run is dropped while there is no reader. A reader with a cursor in it is informed, also after another restart.
    let (is_well, said) = crate::scratch::log(&scratch, &["prune", "--keep", "1"]);
    assert!(is_well, "{said}");
    for _ in 0..2 {
        let proxy = start(&scratch, &[]);
        let told = seen(&proxy, before[3].id.as_deref().unwrap(), 4);
        let notices: Vec<_> = told.iter().filter(|event| event.data.contains("this run is no longer kept")).collect();
        assert_eq!(notices.len(), 3, "{told:?}");
        assert_eq!(told[3].json()["stream_id"], new);
        // A new reader misses nothing, so it gets no notice.
        assert_eq!(seen(&proxy, "", 1)[0].json()["stream_id"], new);
    }
}

#[test]
fn usage_totals_of_a_resumed_session_continue_across_ingests_and_a_restart() {
    let turn = |thread: &str, input: u64, output: u64| {
        let usage = serde_json::json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": output});
        [
            serde_json::json!({"type": "thread.started", "thread_id": thread}),
            serde_json::json!({"type": "turn.started"}),
            serde_json::json!({"type": "turn.completed", "usage": usage}),
        ]
        .map(|record| record.to_string())
        .join("\n")
        .into_bytes()
    };
    let used = |proxy: &Proxy, body: &[u8]| {
        let answer = post(proxy.address, "/v1/ingest/codex", &[], body);
        assert_eq!(answer.status, 201);
        let newest = runs(proxy).into_iter().max_by_key(|run| run["started_at_ms"].as_u64()).unwrap();
        (newest["usage"]["input_tokens"].as_u64().unwrap(), newest["usage"]["output_tokens"].as_u64().unwrap())
    };
    let scratch = Scratch::new("totals");
    let proxy = start(&scratch, &[]);
    assert_eq!(used(&proxy, &turn("t", 100, 10)), (100, 10));
    assert_eq!(used(&proxy, &turn("other", 50, 5)), (50, 5), "another thread");
    assert_eq!(used(&proxy, &turn("t", 710, 71)), (610, 61));
    drop(proxy);
    let proxy = start(&scratch, &[]);
    assert_eq!(used(&proxy, &turn("t", 720, 72)), (10, 1), "after a restart");
    assert_eq!(used(&proxy, &turn("other", 80, 8)), (30, 3));
    let kept = runs(&proxy);
    assert!(kept.iter().all(|run| run.get("running").is_none()), "totals kept for later inputs are exposed: {kept:#?}");
}
