//! The proxy is restarted on its log in a file.

use crate::client::{get, post};
use crate::proxy::{Proxy, another, recording, refusal};
use crate::restarts::{Service, after_restarts, events_in_every_contract, runs, violations};
use crate::scratch::{Scratch, frames, frames_at, run_of, wait};
use framegate::clock::Clock;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, SqliteLog, StreamId, stream_id};
use framegate::runs::Runs;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::frame::Frame;
use serde_json::Value;
use std::sync::Arc;

pub fn start(scratch: &Scratch, more: &[(&str, &str)]) -> Proxy {
    let path = scratch.path().to_str().unwrap().to_owned();
    let mut settings = vec![("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &path)];
    settings.extend_from_slice(more);
    Proxy::with(&settings)
}

#[test]
fn a_stop_leaves_no_write_ahead_log_whatever_was_read() {
    let scratch = Scratch::new("closed");
    for search in ["false", "true"] {
        let mut proxy = start(&scratch, &[("FRAMEGATE__SEARCH__ENABLED", search)]);
        post(proxy.address, "/v1/ingest/claude-code", &[], &another("claude-code", "text_plain.ndjson"));
        let run = runs(&proxy)[0]["run_id"].as_str().unwrap().to_owned();
        assert!(!events_in_every_contract(&proxy, &run).is_empty());
        let found = get(proxy.address, "/v1/search?q=hello", &[]);
        assert_eq!(found.status, if search == "true" { 200 } else { 404 });
        assert!(proxy.terminate().success());
        let files =
            std::fs::read_dir(scratch.dir()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = files.filter(|name| name.ends_with("-wal") || name.ends_with("-shm")).collect();
        assert!(left.is_empty(), "search {search}: {left:?}");
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

/// A log in a file of its own.
fn in_a_file() -> Service {
    let scratch = Scratch::new(&format!("restarts-{:?}", std::thread::current().id()));
    let path = scratch.path().to_str().unwrap().to_owned();
    let settings = vec![("FRAMEGATE__LOG__KIND", "sqlite".to_owned()), ("FRAMEGATE__LOG__PATH", path)];
    Service { settings, error_code: "proxy_restarted", home: Box::new(scratch) }
}

after_restarts!(in_a_file(), doc = "In a file.");
