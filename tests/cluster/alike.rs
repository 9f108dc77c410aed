//! Every proxy serves the same, whichever of them took it in.

use crate::client::{get, post};
use crate::proxies::{Live, proxy, three, three_with};
use crate::proxy::{Proxy, another, recording};
use crate::reading::{
    JSON, NDJSON, SSE, events_path, has_records, ids, runs, same, same_feed, same_in_every_form, same_run, status,
    wait_for, wait_until_alike,
};
use crate::recorded_runs::recordings;
use crate::servers::Servers;
use framegate_translators::contracts::{CONTRACTS, names_with_schemas};
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// What an answer to an ingest says about each run, except its ids and times.
fn outcomes(answer: &Value) -> Vec<Value> {
    let runs = answer["runs"].as_array().into_iter().flatten();
    runs.map(|run| json!([run["runner"], run["state"], run["error_code"], run["frames"], run["final_text"]])).collect()
}

/// Of how many recordings of a runner one is looked at, unless `CLUSTER_EVERY_RECORDING` is set.
const SAMPLE: usize = 20;

/// The recordings that are looked at: the first one of each runner, and some more.
fn sample() -> Vec<(&'static str, PathBuf)> {
    let step = if std::env::var_os("CLUSTER_EVERY_RECORDING").is_some() { 1 } else { SAMPLE };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut found = recordings();
    found.retain(|(runner, _)| {
        let nth = seen.entry(*runner).or_default();
        *nth += 1;
        (*nth - 1).is_multiple_of(step)
    });
    found
}

/// Sends each recording to the next proxy, and to one that is alone with its log in memory: both give the same runs. Returns the ids.
fn ingest_in_turn(proxies: &[Proxy]) -> BTreeSet<String> {
    let alone = Proxy::start();
    let mut runs = BTreeSet::new();
    let recordings = sample();
    let count = recordings.len();
    for (nth, (runner, file)) in recordings.into_iter().enumerate() {
        let (path, body) = (format!("/v1/ingest/{runner}"), std::fs::read(&file).unwrap());
        let proxy = &proxies[nth % proxies.len()];
        let (here, there) = (post(proxy.address, &path, &[], &body), post(alone.address, &path, &[], &body));
        assert_eq!(here.status, there.status, "{}", file.display());
        let (here, there) = (here.json(), there.json());
        assert_eq!(outcomes(&here), outcomes(&there), "{}", file.display());
        runs.extend(
            here["runs"].as_array().into_iter().flatten().map(|run| run["run_id"].as_str().unwrap().to_owned()),
        );
        // The next proxy finds what may be the beginning of the same session.
        let first = here["runs"][0]["run_id"].as_str();
        if let Some(first) = first {
            let path = format!("/v1/runs/{first}");
            let next = &proxies[(nth + 1) % proxies.len()];
            wait_for("the next proxy does not find the run", || {
                (get(next.address, &path, &[]).status == 200).then_some(())
            });
        }
    }
    assert!(runs.len() > count / 2, "{} runs of {count} recordings", runs.len());
    runs
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn every_recording_is_the_same_at_every_proxy() {
    let servers = Servers::three();
    let proxies = three(&servers);
    let runs = ingest_in_turn(&proxies);
    let listed = wait_until_alike(&proxies);
    assert_eq!(ids(&listed).into_iter().collect::<BTreeSet<_>>(), runs);
    let names: Vec<&str> = CONTRACTS.iter().map(|contract| contract.name).collect();
    for (at, run) in runs.iter().enumerate() {
        let first = status(&proxies[0], run);
        assert!(proxies.iter().all(|proxy| status(proxy, run) == first), "{first:#}");
        for contract in &names {
            assert!(!same(&proxies, &events_path(run, contract), SSE).is_empty(), "{run} in {contract}");
        }
        // The other forms have the same events, so each run is looked at in one contract, and each contract in many runs.
        same_in_every_form(&proxies, run, names[at % names.len()]);
    }
    let sessions: BTreeSet<&str> = listed.iter().filter_map(|run| run["session_id"].as_str()).collect();
    assert!(sessions.len() > RUNNERS.len() / 2, "{}", sessions.len());
    // A feed cannot have raw records.
    let in_feeds: Vec<&str> = names_with_schemas().collect();
    for (at, session) in sessions.iter().enumerate() {
        for contract in ["frames.v2", in_feeds[at % in_feeds.len()]] {
            let path = format!("/v1/sessions/{session}/events?contract={contract}&limit=100000");
            assert!(!same(&proxies, &path, JSON).is_empty());
        }
    }
    in_feeds.into_iter().for_each(|contract| same_feed(&proxies, contract));
    same(&proxies, "/v1/stats?by=runner", JSON);
}

/// The artifacts of a run.
fn artifacts(proxies: &[Proxy], run: &str) -> BTreeSet<String> {
    let frames = same(proxies, &events_path(run, "frames.v2"), NDJSON);
    let frames = frames.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let frames = frames.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    let written = frames.filter(|frame| frame["type"] == "artifact_written");
    written.map(|frame| frame["artifact_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn artifacts_of_runs_at_two_proxies_are_served_by_every_proxy() {
    let servers = Servers::three();
    let settings = [("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "64"), ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "16")];
    let proxies = three_with(&servers, &settings);
    // Both runs have the same artifacts.
    for proxy in &proxies[..2] {
        let body = another("codex", "exec-mixed-session.ndjson");
        assert_eq!(post(proxy.address, "/v1/ingest/codex", &[], &body).status, 201);
    }
    let listed = wait_until_alike(&proxies);
    let found: Vec<BTreeSet<String>> = ids(&listed).iter().map(|run| artifacts(&proxies, run)).collect();
    assert!(found.len() == 2 && found[0] == found[1] && !found[0].is_empty(), "{found:?}");
    for artifact in &found[0] {
        assert!(!same(&proxies, &format!("/v1/artifacts/{artifact}"), "*/*").is_empty(), "{artifact} is empty");
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn what_is_larger_than_a_message_of_the_servers_is_whole_at_every_proxy() {
    for start in [Servers::one, Servers::three] {
        let servers = start();
        let proxies = three(&servers);
        // The record is stored whole, and its output as an artifact.
        let output = "0123456789".repeat(300_000);
        let session = "5d3c1a6e-0d0e-4d47-9d0c-333333333333";
        let records = [
            json!({"type": "system", "subtype": "init", "session_id": session, "model": "m", "tools": [], "cwd": "/"}),
            json!({"type": "assistant", "session_id": session, "message": {"id": "m1", "role": "assistant", "model": "m",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}]}}),
            json!({"type": "user", "session_id": session, "message": {"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]}}),
            json!({"type": "result", "subtype": "success", "is_error": false, "session_id": session, "result": "done"}),
        ];
        let body: String = records.iter().map(|record| format!("{record}\n")).collect();
        let made = post(proxies[0].address, "/v1/ingest/claude-code", &[], body.as_bytes());
        assert_eq!(made.status, 201);
        let run = ids(&wait_until_alike(&proxies)).remove(0);
        has_records(&proxies, &run, body.as_bytes());
        same_run(&proxies, &run);
        let found = artifacts(&proxies, &run);
        assert_eq!(found.len(), 1);
        for artifact in found {
            assert!(same(&proxies, &format!("/v1/artifacts/{artifact}"), "*/*") == output.as_bytes(), "{artifact}");
        }
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_recording_that_is_sent_again_to_another_proxy_is_the_same_run() {
    let servers = Servers::one();
    let proxies = three(&servers);
    let body = recording("claude-code", "parallel_tools.partial.ndjson");
    let first = post(proxies[0].address, "/v1/ingest/claude-code", &[], &body).json();
    wait_until_alike(&proxies);
    for proxy in &proxies {
        let again = post(proxy.address, "/v1/ingest/claude-code", &[], &body);
        let (status, again) = (again.status, again.json());
        assert_eq!((status, &again["repeated_runs"]), (200, &json!(1)), "{again:#}");
        assert_eq!(again["runs"][0]["run_id"], first["runs"][0]["run_id"]);
    }
    assert_eq!(wait_until_alike(&proxies).len(), 1);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn a_run_without_its_front_is_the_same_at_every_proxy() {
    let servers = Servers::one();
    let settings = [("FRAMEGATE__LOG__RUN_MAX_FRAMES", "40")];
    let mut proxies = Vec::from(three_with(&servers, &settings));
    let mut live = Live::waiting(&proxies[0], "parallel_tools.partial.ndjson");
    let mut frames = 0;
    // The front is cut while the run grows, more than once, and mostly within an append.
    while live.left() > 0 {
        live.send_at_once(live.left().min(5));
        frames = wait_for("the run does not go on", || {
            let now = runs(&proxies[1])[0]["frames"].as_u64().unwrap();
            (now > frames).then_some(now)
        });
    }
    live.finish();
    let listed = wait_until_alike(&proxies);
    assert!(listed[0]["pruned_frames"].as_u64().unwrap() > 20, "{:#}", listed[0]);
    // This one has not seen what was cut.
    proxies.push(proxy(&servers, "proxy-3", &settings));
    wait_until_alike(&proxies);
    let alone = Proxy::with(&settings);
    let made = post(alone.address, "/v1/ingest/claude-code", &[], &live.body()).json();
    let statuses = |proxy: &Proxy, run: &str| -> Vec<(&str, u16)> {
        let names = CONTRACTS.iter().map(|contract| contract.name);
        names.map(|name| (name, get(proxy.address, &events_path(run, name), &[("accept", SSE)]).status)).collect()
    };
    // Contracts that cannot go on without the front say so, as they do with a log of one proxy.
    let of_contracts = statuses(&alone, made["runs"][0]["run_id"].as_str().unwrap());
    assert!(of_contracts.iter().any(|(_, status)| *status == 200), "{of_contracts:?}");
    for (name, status) in of_contracts {
        let path = events_path(&live.run, name);
        if status == 200 {
            assert!(!same(&proxies, &path, SSE).is_empty(), "{path}");
        } else {
            for proxy in &proxies {
                assert_eq!(get(proxy.address, &path, &[("accept", SSE)]).status, status, "{path}");
            }
        }
    }
    same_feed(&proxies, "frames.v2");
}
