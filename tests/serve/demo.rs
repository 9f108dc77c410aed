//! `serve --demo`, in an empty folder.

use crate::client::get;
use crate::proxy::Folder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn the_demo_plays_a_recording_of_each_runner_with_approvals_and_without_long_silence() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["serve", "--demo", "--listen", "0"])
        .current_dir(folder.path(""))
        .env_remove("FRAMEGATE_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("/events?contract=hecate.v1'\n") {
        assert_ne!(out.read_line(&mut text).unwrap(), 0, "{text}");
    }
    let address = text.split("http://").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    assert!(text.contains("Its log is in memory"), "{text}");
    // The printed command for the feed of all runs.
    assert!(text.contains("/v1/events?contract=sse.v1'"), "{text}");
    let mut feed = get(address, "/v1/events?contract=frames.v2", &[("accept", "text/event-stream")]);
    let (mut providers, mut ended, mut asked, mut answered) = (BTreeSet::new(), 0, 0, 0);
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    while ended < 4 {
        let event: Value = feed.event().unwrap().json();
        longest = longest.max(last.elapsed());
        last = Instant::now();
        if let Some(provider) = event["provider"].as_str() {
            providers.insert(provider.to_owned());
        }
        match event["type"].as_str().unwrap() {
            "session_ended" => {
                ended += 1;
                assert_eq!(event["reason"], "completed", "{event}");
            }
            "approval_requested" => asked += 1,
            "approval_resolved" => answered += 1,
            _ => {}
        }
    }
    assert_eq!(providers.len(), 4, "{providers:?}");
    assert!(asked >= 3 && asked == answered, "{asked} {answered}");
    // Half of this limit allows for a busy machine.
    assert!(longest < Duration::from_secs(6), "{longest:?} of silence");
    for run in get(address, "/v1/runs", &[]).json()["data"].as_array().unwrap() {
        let took = run["ended_at_ms"].as_u64().unwrap() - run["started_at_ms"].as_u64().unwrap();
        assert!(took < 120_000, "its times must be of one clock: {run:#}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    drop(feed);
    let (mut rest, mut err) = (String::new(), String::new());
    out.read_to_string(&mut rest).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    child.wait().unwrap();
    assert!(!err.contains(" INFO "), "{err}");
    for runner in ["claude-code:", "codex:", "opencode:", "open-responses:"] {
        assert!((text.clone() + &rest).contains(runner), "{text}{rest}");
    }
}
