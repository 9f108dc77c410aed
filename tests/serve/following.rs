//! A proxy that follows another proxy has the same runs with the same events, whatever happens to the connection or to either
//! of them.

use crate::auth::{bearer, token};
use crate::client::{Upload, get, post};
use crate::proxy::{Folder, Proxy, another, recording};
use crate::recorded_runs::ingest_all;
use crate::relay::Relay;
use framegate_translators::contracts::CONTRACTS;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

/// The proxy that follows.
struct Centre {
    proxy: Proxy,
    folder: Folder,
    config: String,
    settings: Vec<(String, String)>,
}

impl Centre {
    /// Follows the proxy at that address, with more settings of the upstream.
    fn of(address: SocketAddr, more: &str) -> Self {
        Self::with(address, more, &[])
    }

    /// The same, with a log on disk.
    fn durable(address: SocketAddr, more: &str) -> Self {
        Self::with(address, more, &[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", "log.sqlite")])
    }

    fn with(address: SocketAddr, more: &str, settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let table = format!(
            "[[upstream]]\nname = \"edge\"\nkind = \"sse\"\ncontract = \"frames.v2\"\nurl = \"http://{address}/v1/events\"\n\
             reconnect_min_ms = 20\nreconnect_max_ms = 50\n{more}\n"
        );
        let config = folder.write("config.toml", &table);
        let settings = settings.iter().map(|(key, value)| {
            let is_path = key.ends_with("PATH");
            let value = if is_path { folder.path(value).to_str().unwrap().to_owned() } else { (*value).to_owned() };
            ((*key).to_owned(), value)
        });
        let settings: Vec<(String, String)> = settings.collect();
        let proxy = started(&config, &folder, &settings);
        Self { proxy, folder, config, settings }
    }

    fn restart(&mut self) {
        assert!(self.proxy.terminate().success());
        self.proxy = started(&self.config, &self.folder, &self.settings);
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&HashMap<String, Value>) -> bool) -> HashMap<String, Value> {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let runs = runs(&self.proxy);
            if is_so(&runs) {
                return runs;
            }
            assert!(Instant::now() < deadline, "{what}: {} runs\n{}", runs.len(), self.folder.read("log"));
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until it has as many frames of each run as the edge.
    fn catch_up(&self, edge: &Proxy) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            // The edge may still be reading.
            let (wanted, found) = (frames_of(&runs(edge)), frames_of(&runs(&self.proxy)));
            if found == wanted {
                return;
            }
            let is_other = |(id, frames): &(&String, &(Value, Value))| found.get(*id) != Some(*frames);
            let first = wanted.iter().find(is_other);
            assert!(
                Instant::now() < deadline,
                "{} runs instead of {}; first: {first:?} {:?}",
                found.len(),
                wanted.len(),
                first.and_then(|(id, _)| found.get(id))
            );
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Whether each run of the edge has the same events here, in these contracts.
    fn compare(&self, edge: &Proxy, contracts: impl Fn(usize) -> Vec<&'static str>) {
        let mut ids: Vec<String> = runs(edge).into_keys().collect();
        ids.sort();
        for (at, id) in ids.iter().enumerate() {
            for contract in contracts(at) {
                let path = format!("/v1/runs/{id}/events?contract={contract}");
                let (there, here) =
                    (get(edge.address, &path, &[]).bytes(), get(self.proxy.address, &path, &[]).bytes());
                assert!(
                    there == here,
                    "{path}:\n{}\n\n{}",
                    String::from_utf8_lossy(&there),
                    String::from_utf8_lossy(&here)
                );
            }
        }
    }
}

fn started(config: &str, folder: &Folder, settings: &[(String, String)]) -> Proxy {
    let settings: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    Proxy::configured_with(config, &folder.path("log"), &settings)
}

/// All runs, by their ids.
fn runs(proxy: &Proxy) -> HashMap<String, Value> {
    let mut all = HashMap::new();
    for page in 0.. {
        let path = format!("/v1/runs?limit=500&skip={}", page * 500);
        let found = get(proxy.address, &path, &[]).json()["data"].as_array().unwrap().clone();
        let is_last = found.len() < 500;
        all.extend(found.into_iter().map(|run| (run["run_id"].as_str().unwrap().to_owned(), run)));
        if is_last {
            break;
        }
    }
    all
}

fn frames_of(runs: &HashMap<String, Value>) -> HashMap<String, (Value, Value)> {
    runs.iter().map(|(id, run)| (id.clone(), (run["frames"].clone(), run["ended_at_ms"].clone()))).collect()
}

fn all(_: usize) -> Vec<&'static str> {
    CONTRACTS.iter().map(|contract| contract.name).collect()
}

fn ended(runs: &HashMap<String, Value>, code: &str) -> bool {
    runs.values().any(|run| run["error_code"] == code)
}

/// A run at the edge that is half way.
struct Halfway {
    upload: Upload,
    rest: Vec<u8>,
}

impl Halfway {
    fn at(edge: &Proxy) -> Self {
        let whole = another("claude-code", "parallel_tools.partial.ndjson");
        let half = whole.len() / 2;
        let mut upload = Upload::start(edge.address, "/v1/ingest/claude-code", &[]);
        upload.send(&whole[..half]);
        let deadline = Instant::now() + Duration::from_secs(30);
        while runs(edge).values().all(|run| run["ended_at_ms"].is_u64()) {
            assert!(Instant::now() < deadline, "the edge has no open run");
            thread::sleep(Duration::from_millis(10));
        }
        Self { upload, rest: whole[half..].to_vec() }
    }

    fn finish(mut self) -> String {
        self.upload.send(&self.rest);
        let answer = self.upload.finish().json();
        answer["runs"][0]["run_id"].as_str().unwrap().to_owned()
    }
}

fn durable_edge(folder: &Folder) -> Proxy {
    let path = folder.path("edge.sqlite");
    Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", path.to_str().unwrap())])
}

#[test]
fn every_recording_has_the_same_events_behind_two_proxies() {
    let edge = Proxy::start();
    let centre = Centre::of(edge.address, "");
    let count = ingest_all(&edge).len();
    assert_eq!(runs(&edge).len(), count);
    centre.catch_up(&edge);
    // The translators' tests compare each recording in every contract.
    let names = all(0);
    centre.compare(&edge, |at| vec!["frames.v2", names[at % names.len()]]);
}

#[test]
fn a_live_run_goes_on_after_a_cut_connection() {
    let edge = Proxy::start();
    let relay = Relay::to(edge.address);
    let centre = Centre::of(relay.address, "");
    let halfway = Halfway::at(&edge);
    centre.catch_up(&edge);
    relay.cut();
    let run = halfway.finish();
    centre.catch_up(&edge);
    assert!(relay.cut_connections() > 0);
    centre.compare(&edge, all);
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    assert!(!get(centre.proxy.address, &path, &[]).text().contains("gap_detected"), "nothing is missing");
}

#[test]
fn a_run_that_was_given_up_is_replaced_by_the_whole_run() {
    let edge = Proxy::start();
    post(edge.address, "/v1/ingest/codex", &[], &recording("codex", "exec-command-ok.ndjson"));
    let relay = Relay::to(edge.address);
    let centre = Centre::of(relay.address, "lost_after_ms = 200");
    let halfway = Halfway::at(&edge);
    centre.catch_up(&edge);
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    relay.retarget(nowhere);
    relay.cut();
    let mut halfway = halfway;
    // The cut happens with the next data.
    let (more, rest) = halfway.rest.split_at(halfway.rest.len() / 2);
    halfway.upload.send(more);
    halfway.rest = rest.to_vec();
    centre.wait_for("the run is not given up", |runs| ended(runs, "feed_lost"));
    relay.retarget(edge.address);
    halfway.finish();
    centre.catch_up(&edge);
    centre.compare(&edge, all);
}

#[test]
fn a_centre_that_restarts_has_each_run_once_and_the_open_one_whole() {
    let edge = Proxy::start();
    for (runner, name) in [("codex", "exec-command-ok.ndjson"), ("opencode", "event-tools.sse")] {
        post(edge.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name));
    }
    let mut centre = Centre::durable(edge.address, "");
    let halfway = Halfway::at(&edge);
    centre.catch_up(&edge);
    centre.restart();
    centre.catch_up(&edge);
    let run = halfway.finish();
    centre.catch_up(&edge);
    centre.compare(&edge, all);
    assert_eq!(runs(&centre.proxy)[&run]["error_code"], Value::Null);
    centre.restart();
    thread::sleep(Duration::from_millis(300));
    centre.catch_up(&edge);
    centre.compare(&edge, all);
}

#[test]
fn artifacts_are_copied() {
    let edge =
        Proxy::with(&[("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "64"), ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "16")]);
    let centre = Centre::of(edge.address, "");
    for (runner, name) in [("codex", "exec-mixed-session.ndjson"), ("opencode", "event-tools.sse")] {
        post(edge.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name));
    }
    centre.catch_up(&edge);
    let feed = get(edge.address, "/v1/events?contract=frames.v2&limit=5000", &[("accept", "application/json")]).json();
    let written = feed["data"].as_array().unwrap().iter().map(|event| event.get("event").unwrap_or(event).clone());
    let written: Vec<Value> = written.filter(|event| event["type"] == "artifact_written").collect();
    assert!(written.iter().any(|event| event["kind"] == "command_output"), "{written:?}");
    assert!(written.iter().any(|event| event["kind"] == "patch"));
    for event in written {
        let path = format!("/v1/artifacts/{}", event["artifact_id"].as_str().unwrap());
        let there = get(edge.address, &path, &[]);
        let media_type = there.header("content-type").to_owned();
        let (content, deadline) = (there.bytes(), Instant::now() + Duration::from_secs(30));
        let here = loop {
            let here = get(centre.proxy.address, &path, &[]);
            if here.status == 200 {
                break here;
            }
            assert!(Instant::now() < deadline, "{path} is not copied");
            thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(here.header("content-type"), media_type);
        assert!(here.bytes() == content, "{path}");
    }
}

#[test]
fn an_artifact_of_two_runs_belongs_to_both() {
    let edge =
        Proxy::with(&[("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "64"), ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "16")]);
    let text = String::from_utf8(recording("codex", "exec-mixed-session.ndjson")).unwrap();
    let sessions = ["0199aaaa-0000-7000-8000-000000000001", "0199aaaa-0000-7000-8000-000000000002"];
    let id = text.split("\"thread_id\":\"").nth(1).unwrap().split('"').next().unwrap();
    for session in sessions {
        let answer = post(edge.address, "/v1/ingest/codex", &[], text.replace(id, session).as_bytes());
        assert_eq!(answer.status, 201);
    }
    let feed = get(edge.address, "/v1/events?contract=frames.v2&limit=5000", &[("accept", "application/json")]).json();
    let events = feed["data"].as_array().unwrap().iter().map(|event| event.get("event").unwrap_or(event));
    let written = events.filter(|event| event["type"] == "artifact_written");
    let ids: BTreeSet<String> = written.map(|event| event["artifact_id"].as_str().unwrap().to_owned()).collect();
    assert!(!ids.is_empty());
    let folder = Folder::new();
    let reader = |nth: usize| {
        token(&folder, ["one", "two"][nth], &format!("scopes = [\"read\"]\nsessions = [{:?}]", sessions[nth]))
    };
    let tokens = folder.write("tokens.toml", &[reader(0), reader(1)].concat());
    let centre = Centre::with(edge.address, "", &[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    for (name, artifact) in ["one", "two"].into_iter().flat_map(|name| ids.iter().map(move |id| (name, id))) {
        let deadline = Instant::now() + Duration::from_secs(30);
        let path = format!("/v1/artifacts/{artifact}");
        while get(centre.proxy.address, &path, &[("authorization", &bearer(name))]).status != 200 {
            assert!(Instant::now() < deadline, "{name} does not see {artifact}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn an_edge_that_restarts_with_its_log_goes_on_where_it_was() {
    let folder = Folder::new();
    let mut edge = durable_edge(&folder);
    let relay = Relay::to(edge.address);
    let centre = Centre::of(relay.address, "");
    let halfway = Halfway::at(&edge);
    centre.catch_up(&edge);
    edge.signal("KILL");
    edge.wait();
    drop(halfway);
    let edge = durable_edge(&folder);
    relay.retarget(edge.address);
    post(edge.address, "/v1/ingest/codex", &[], &recording("codex", "exec-command-ok.ndjson"));
    centre.catch_up(&edge);
    centre.compare(&edge, all);
    assert!(ended(&runs(&centre.proxy), "proxy_restarted"));
}

#[test]
fn a_run_that_broke_off_at_the_edge_is_not_stored_again_after_a_restart() {
    let edge = Proxy::start();
    let whole = recording("claude-code", "parallel_tools.partial.ndjson");
    post(edge.address, "/v1/ingest/claude-code", &[], &whole[..whole.len() / 2]);
    assert!(ended(&runs(&edge), "stream_ended"));
    let mut centre = Centre::durable(edge.address, "");
    centre.catch_up(&edge);
    for restart in 1..=2 {
        centre.restart();
        // The feed has been read up to here when this run is there.
        let name = format!("exec-{}.ndjson", ["command-ok", "text-plain"][restart - 1]);
        post(edge.address, "/v1/ingest/codex", &[], &another("codex", &name));
        centre.catch_up(&edge);
        centre.compare(&edge, all);
        let metrics = get(centre.proxy.address, "/metrics", &[]).text();
        let began = metrics.lines().filter(|line| line.starts_with("framegate_runs_started_total"));
        let began: Vec<&str> = began.filter_map(|line| line.rsplit(' ').next()).filter(|count| *count != "0").collect();
        assert_eq!(began, ["1"], "only the new run begins");
    }
}

#[test]
fn an_edge_that_lost_its_log_leaves_its_open_runs_interrupted() {
    let mut edge = Proxy::start();
    let relay = Relay::to(edge.address);
    let centre = Centre::of(relay.address, "lost_after_ms = 200");
    let halfway = Halfway::at(&edge);
    centre.catch_up(&edge);
    edge.signal("KILL");
    edge.wait();
    drop(halfway);
    // Runs are silent for longer than that before the edge is back, so this time they have to be found by its notice.
    let edge = Proxy::start();
    relay.retarget(edge.address);
    post(edge.address, "/v1/ingest/codex", &[], &recording("codex", "exec-command-ok.ndjson"));
    let seen = centre.wait_for("the runs do not end", |runs| {
        runs.len() == 2 && runs.values().all(|run| run["ended_at_ms"].is_u64())
    });
    assert!(ended(&seen, "feed_lost"));
    centre.compare(&edge, all);
}

#[test]
fn frames_that_are_sent_twice_are_stored_once() {
    let (edge, centre) = (Proxy::start(), Proxy::start());
    let made = post(edge.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "subagent.partial.ndjson"));
    let run = made.json()["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let events =
        |version: &str| get(edge.address, &format!("/v1/runs/{run}/events?contract=frames.{version}"), &[]).bytes();
    let first = post(centre.address, "/v1/ingest/frames", &[], &events("v2"));
    assert_eq!(first.status, 201);
    assert_eq!(first.json()["runs"][0]["run_id"], *run);
    for version in ["v2", "v1"] {
        for runner in ["frames", "auto"] {
            let again = post(centre.address, &format!("/v1/ingest/{runner}"), &[], &events(version));
            assert_eq!(again.status, 200, "{version}");
            let again = again.json();
            assert_eq!((&again["repeated_runs"], &again["runs"][0]["run_id"]), (&Value::from(1), &Value::from(&*run)));
        }
    }
    assert_eq!(runs(&centre).len(), 1);
}

#[test]
fn a_longer_stream_of_frames_replaces_one_that_broke_off() {
    let (edge, centre) = (Proxy::start(), Proxy::start());
    let made = post(edge.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "subagent.partial.ndjson"));
    let run = made.json()["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    let whole = get(edge.address, &path, &[]).text();
    let events: Vec<&str> = whole.split_inclusive("\n\n").collect();
    let status = || runs(&centre)[&run].clone();
    let mut frames = 0;
    for share in [2, 3, 6, 5, 4] {
        let part = events[..events.len() * share / 6].concat();
        post(centre.address, "/v1/ingest/frames", &[], part.as_bytes());
        let status = status();
        assert!(status["frames"].as_u64().unwrap() >= frames, "a shorter stream must not replace a longer one");
        frames = status["frames"].as_u64().unwrap();
        assert_eq!(status["error_code"] == "stream_ended", share < 6 && frames < events.len() as u64);
    }
    assert_eq!(get(centre.address, &path, &[]).text(), whole);
}

#[test]
fn a_token_of_one_session_takes_no_frames_of_another() {
    let folder = Folder::new();
    let edge = Proxy::start();
    let made = post(edge.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "bash_ok.partial.ndjson"));
    let run = made.json()["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let frames = get(edge.address, &format!("/v1/runs/{run}/events?contract=frames.v2"), &[]).bytes();
    let tokens = [
        token(&folder, "other", "scopes = [\"ingest\"]\nsessions = [\"another\"]"),
        token(&folder, "reader", "scopes = [\"read\"]"),
    ];
    let tokens = folder.write("tokens.toml", &tokens.concat());
    let centre = Proxy::with(&[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let refused = post(centre.address, "/v1/ingest/frames", &[("authorization", &bearer("other"))], &frames);
    assert_eq!(refused.status, 403);
    let stored = get(centre.address, "/v1/runs", &[("authorization", &bearer("reader"))]).json();
    assert_eq!(stored["data"], serde_json::json!([]));
}

#[test]
fn what_only_the_followed_proxy_can_do_is_refused_with_the_reason() {
    let edge = Proxy::start();
    let centre = Centre::of(edge.address, "");
    let _halfway = Halfway::at(&edge);
    let seen = centre.wait_for("no run is open", |runs| runs.values().any(|run| run["ended_at_ms"].is_null()));
    let (id, run) = seen.iter().find(|(_, run)| run["ended_at_ms"].is_null()).unwrap();
    let session = run["session_id"].as_str().unwrap();
    let json = [("content-type", "application/json")];
    for (path, body) in [
        (format!("/v1/runs/{id}/interrupt"), "{}"),
        (format!("/v1/sessions/{session}/messages"), "{\"prompt\": \"go on\"}"),
    ] {
        let answer = post(centre.proxy.address, &path, &json, body.as_bytes());
        assert_eq!(answer.status, 422, "{path}");
        let detail = answer.json()["detail"].to_string();
        assert!(detail.contains("the proxy that has its runner does"), "{path}: {detail}");
    }
}
