//! Third-party clients: each reads a run live in every contract, loses its connection or the whole proxy in the middle, and
//! resumes without help.
//!
//! The clients are programs in tests/clients, with libraries at pinned versions. Their events are compared with a replay.

use crate::client::{Event, Upload, get, post};
use crate::proxy::{Folder, Proxy, another, recording};
use crate::relay::Relay;
use framegate_translators::contracts::{SseStyle, contract, names_with_schemas};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const RECORDING: &str = "parallel_tools.partial.ndjson";
const INGEST: &str = "/v1/ingest/claude-code";

/// How often the proxy is killed, each time at a different point of the run.
const KILLS: usize = 5;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

/// A running client, and its reports for each contract.
struct Client {
    child: Child,
    contracts: Vec<&'static str>,
    reports: Arc<Mutex<HashMap<String, Vec<Value>>>>,
    listener: Option<thread::JoinHandle<()>>,
}

impl Client {
    fn start(mut command: Command, contracts: Vec<&'static str>, plan: &Value) -> Self {
        let mut child = command.arg(plan.to_string()).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let reports = Arc::new(Mutex::new(HashMap::<String, Vec<Value>>::new()));
        let (lines, heard) = (BufReader::new(child.stdout.take().unwrap()).lines(), reports.clone());
        let listener = thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let report: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                let contract = report["contract"].as_str().unwrap().to_owned();
                heard.lock().unwrap().entry(contract).or_default().push(report);
            }
        });
        Self { child, contracts, reports, listener: Some(listener) }
    }

    fn reports(&self, contract: &str) -> Vec<Value> {
        self.reports.lock().unwrap().get(contract).cloned().unwrap_or_default()
    }

    fn events(&self, contract: &str) -> Vec<Value> {
        self.reports(contract).into_iter().filter(|report| report.get("data").is_some()).collect()
    }

    fn wait(&self, what: &str, mut is_so: impl FnMut(&str) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        for contract in &self.contracts {
            while !is_so(contract) {
                let reports = self.reports(contract);
                assert!(
                    Instant::now() < deadline,
                    "{contract}: {what}: {} reports, {:?}",
                    reports.len(),
                    reports.last()
                );
                thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

fn every_contract() -> Vec<&'static str> {
    names_with_schemas().collect()
}

/// The interval between the lines of a run.
const PACE: Duration = Duration::from_millis(5);

fn path(run: &str, contract: &str) -> String {
    format!("/v1/runs/{run}/events?contract={contract}")
}

/// A client that reads a run from its beginning in several contracts, through a relay.
struct Reading {
    client: Client,
    run: String,
    /// Sends the runner's output.
    upload: Upload,
}

impl Reading {
    fn begin(command: Command, contracts: &[&'static str], proxy: &Proxy, relay: &Relay, lines: &[&[u8]]) -> Self {
        // EventSource must know the names of events in advance. It calls its own failures `error`.
        let names_of = |name: &str| -> BTreeSet<&'static str> {
            let contract = contract(name).unwrap();
            let names = contract.schemas.iter().map(|file| file.kind).filter(|kind| *kind != "error");
            if contract.sse == SseStyle::Named { names.collect() } else { BTreeSet::new() }
        };
        let played = post(proxy.address, INGEST, &[], &another("claude-code", RECORDING)).json();
        let before = played["runs"][0]["run_id"].as_str().unwrap();

        let mut upload = Upload::start(proxy.address, INGEST, &[]);
        upload.send(lines[0]);
        let deadline = Instant::now() + Duration::from_secs(30);
        let run = loop {
            let newest = get(proxy.address, "/v1/runs", &[]).json()["data"][0]["run_id"].as_str().unwrap().to_owned();
            if newest != before {
                break newest;
            }
            assert!(Instant::now() < deadline, "the ingest has no run");
            thread::sleep(Duration::from_millis(5));
        };
        let plan: Vec<Value> = contracts
            .iter()
            .map(|name| {
                let url = format!("http://{}{}", relay.address, path(&run, name));
                json!({"contract": name, "url": url, "names": names_of(name)})
            })
            .collect();
        let client = Client::start(command, contracts.to_vec(), &json!(plan));
        client.wait("it does not connect", |contract| !client.reports(contract).is_empty());
        Self { client, run, upload }
    }

    fn send(&mut self, lines: &[&[u8]]) {
        for line in lines {
            self.upload.send(line);
            thread::sleep(PACE);
        }
    }

    /// Waits until the client has all events of the open run, at least one of them; returns their number in each contract.
    fn wait_until_caught_up(&self, proxy: &Proxy) -> HashMap<&'static str, usize> {
        let accept = [("accept", "application/json")];
        self.client.wait("it does not have the events so far", |contract| {
            let page = get(proxy.address, &format!("{}&limit=500", path(&self.run, contract)), &accept).json();
            assert_eq!(page["ended"], false);
            // The proxy may not have read the first lines yet, and then both have no event.
            let had = self.client.events(contract).len();
            had > 0 && had == page["data"].as_array().unwrap().len()
        });
        self.client.contracts.iter().map(|contract| (*contract, self.client.events(contract).len())).collect()
    }

    /// Waits until the client has ended, and compares its events with a replay. `ends` is how it reports the end.
    fn check_end(&self, proxy: &Proxy, had: &HashMap<&str, usize>, ends: &Value) {
        let client = &self.client;
        client.wait("it does not end", |contract| {
            client.reports(contract).iter().any(|report| report.get("end").is_some())
        });
        for contract in &client.contracts {
            let reports = client.reports(contract);
            assert!(reports.iter().all(|report| report.get("error").is_none()), "{contract}: {reports:?}");
            let opened = reports.iter().filter(|report| report.get("open").is_some()).count();
            // The connection was cut once. After a 204, no new connection is opened.
            assert_eq!(opened, 2, "{contract}: {reports:?}");
            assert_eq!(&reports.last().unwrap()["end"], ends, "{contract}: the client must stop at the end");
            let whole = get(proxy.address, &path(&self.run, contract), &[]).events();
            compare_with_replay(contract, &client.events(contract), &whole, had[*contract]);
        }
    }
}

fn follow_a_run_across_a_cut(command: Command, contracts: &[&'static str], ends: &Value) {
    let proxy = Proxy::start();
    let relay = Relay::to(proxy.address);
    let bytes = recording("claude-code", RECORDING);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let mut reading = Reading::begin(command, contracts, &proxy, &relay, &lines);
    let (first, rest) = lines.split_at(lines.len() / 2);
    reading.send(&first[1..]);
    let had = reading.wait_until_caught_up(&proxy);
    relay.cut();
    reading.send(rest);
    reading.upload.end();
    assert_eq!(reading.upload.answer().status, 201);
    reading.check_end(&proxy, &had, ends);
    assert_eq!(relay.cut_connections(), contracts.len(), "each stream must be cut once");
}

/// The proxy is killed during a run, and another proxy opens its log. That proxy ends the run, and the client resumes there.
fn resume_after_a_kill(command: impl Fn() -> Command, ends: &Value) {
    let bytes = recording("claude-code", RECORDING);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    for round in 1..=KILLS {
        let folder = Folder::new();
        let log = folder.path("log.sqlite");
        let settings = [
            ("FRAMEGATE__LOG__KIND", "sqlite"),
            ("FRAMEGATE__LOG__PATH", log.to_str().unwrap()),
            ("FRAMEGATE__SERVER__SSE_RETRY_MS", "100"),
        ];
        let proxy = Proxy::with(&settings);
        let relay = Relay::to(proxy.address);
        let mut reading = Reading::begin(command(), &every_contract(), &proxy, &relay, &lines);
        let (first, rest) = lines.split_at(lines.len() * round / (KILLS + 1));
        reading.send(&first[1..]);
        let had = reading.wait_until_caught_up(&proxy);
        // The kill happens while records are in transit.
        let in_flight = &rest[..rest.len().min(5)];
        in_flight.iter().for_each(|line| reading.upload.send(line));
        drop(proxy);
        let proxy = Proxy::with(&settings);
        relay.retarget(proxy.address);
        reading.check_end(&proxy, &had, ends);
    }
}

/// The events before the cut are a prefix of the run. The later ones follow the last event with an id, which is the only
/// position that a client can resume from.
fn compare_with_replay(contract: &str, read: &[Value], whole: &[Event], had: usize) {
    // More events may have arrived between the counting and the cut, so the longest prefix counts.
    let same = |read: &Value, event: &Event| {
        let id = event.id.as_deref();
        read["data"] == event.data.as_str()
            && read["name"] == event.name.as_deref().unwrap_or("message")
            && id.is_none_or(|id| read["id"] == id)
    };
    let begun = read.iter().zip(whole).take_while(|(read, event)| same(read, event)).count();
    assert!(begun >= had && had > 0, "{contract}: {begun} of {had}");
    let fits = (had..=begun).any(|cut| {
        let from = whole[..cut].iter().rposition(|event| event.id.is_some()).map_or(0, |at| at + 1);
        let (again, rest) = (&read[cut..], &whole[from..]);
        again.len() == rest.len() && again.iter().zip(rest).all(|(read, event)| same(read, event))
    });
    assert!(fits, "{contract}: {} read of {}, {had} before the cut, {begun} in order", read.len(), whole.len());
    if whole.iter().all(|event| event.id.is_some()) {
        assert_eq!((read.len(), begun), (whole.len(), whole.len()), "{contract}: no gap, no repeat");
    }
}

fn node(script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(folder().join(script));
    command
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_eventsource_follows_a_run_across_a_cut() {
    follow_a_run_across_a_cut(node("eventsource.mjs"), &every_contract(), &json!(204));
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_eventsource_resumes_after_the_proxy_was_killed() {
    resume_after_a_kill(|| node("eventsource.mjs"), &json!(204));
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_eventsource_parser_follows_a_run_across_a_cut() {
    follow_a_run_across_a_cut(node("eventsource-parser.mjs"), &every_contract(), &json!(204));
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_httpx_sse_follows_a_run_across_a_cut() {
    let mut command = Command::new("python3");
    command.arg(folder().join("httpx_sse_client.py")).env("PYTHONPATH", folder().join("python_modules"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    follow_a_run_across_a_cut(command, &every_contract(), &json!(204));
}

#[test]
#[ignore = "needs node, tests/clients/node_modules and a browser in CHROMIUM: ./test.sh runs it"]
fn a_browsers_event_source_follows_a_run_across_a_cut() {
    assert!(std::env::var_os("CHROMIUM").is_some(), "CHROMIUM must be the path of a Chromium");
    // A browser opens at most six connections to one host over HTTP/1.1.
    for contracts in every_contract().chunks(6) {
        follow_a_run_across_a_cut(node("browser.mjs"), contracts, &json!("closed"));
    }
}
