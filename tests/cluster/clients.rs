//! The npm package `eventsource` reads a live run through a relay that leads to another proxy each time.

use crate::client::{Event, get};
use crate::proxies::{Live, three_with};
use crate::reading::{events_path, wait_for, wait_until_alike};
use crate::relay::Relay;
use crate::servers::Servers;
use framegate_translators::contracts::{SseStyle, contract, names_with_schemas};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

const RECORDING: &str = "parallel_tools.partial.ndjson";

/// How often the client is moved.
const MOVES: usize = 4;

/// A client, and what it says of each contract.
struct Client {
    child: Child,
    reports: Arc<Mutex<HashMap<String, Vec<Value>>>>,
}

impl Client {
    /// Reads a run in these contracts, through the relay.
    fn start(run: &str, contracts: &[&'static str], relay: &Relay) -> Self {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients/eventsource.mjs");
        let plan: Vec<Value> = contracts
            .iter()
            .map(|name| {
                // EventSource must know the names of events in advance. It calls its own failures `error`.
                let of_contract = contract(name).unwrap();
                let names = of_contract.schemas.iter().map(|file| file.kind).filter(|kind| *kind != "error");
                let names: BTreeSet<&str> =
                    if of_contract.sse == SseStyle::Named { names.collect() } else { BTreeSet::new() };
                let url = format!("http://{}{}", relay.address, events_path(run, name));
                json!({"contract": name, "url": url, "names": names})
            })
            .collect();
        let mut command = Command::new("node");
        command.arg(script).arg(json!(plan).to_string()).stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let reports = Arc::new(Mutex::new(HashMap::<String, Vec<Value>>::new()));
        let (lines, heard) = (BufReader::new(child.stdout.take().unwrap()).lines(), reports.clone());
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let report: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                let contract = report["contract"].as_str().unwrap().to_owned();
                heard.lock().unwrap().entry(contract).or_default().push(report);
            }
        });
        Self { child, reports }
    }

    fn reports(&self, contract: &str) -> Vec<Value> {
        self.reports.lock().unwrap().get(contract).cloned().unwrap_or_default()
    }

    fn opened(&self, contract: &str) -> usize {
        self.reports(contract).iter().filter(|report| report.get("open").is_some()).count()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER), node and tests/clients/node_modules"]
fn npm_eventsource_sees_each_event_once_although_it_is_moved() {
    let servers = Servers::three();
    let proxies = three_with(&servers, &[("FRAMEGATE__SERVER__SSE_RETRY_MS", "100")]);
    let mut live = Live::streaming(&proxies[0], RECORDING);
    let contracts: Vec<&'static str> = names_with_schemas().collect();
    let relay = Relay::to(proxies[1].address);
    let client = Client::start(&live.run, &contracts, &relay);
    // Each connection that was cut is opened again. A cut waits for the next data, so there may be none in a piece of the run.
    let wait = || {
        wait_for("the client does not connect", || {
            let opened: usize = contracts.iter().map(|contract| client.opened(contract)).sum();
            (opened >= contracts.len() + relay.cut_connections()).then_some(())
        });
    };
    wait();
    let piece = live.left() / (MOVES + 1);
    for moves in 1..=MOVES {
        live.send(piece / 2);
        relay.retarget(proxies[(moves + 1) % proxies.len()].address);
        relay.cut();
        // The connections are cut in the middle of the next data.
        live.send(piece - piece / 2);
        wait();
    }
    live.finish();
    wait_until_alike(&proxies);
    assert!(relay.cut_connections() > contracts.len(), "{} connections were cut", relay.cut_connections());
    for contract in &contracts {
        wait_for(&format!("{contract}: the client does not end"), || {
            client.reports(contract).iter().any(|report| report.get("end").is_some()).then_some(())
        });
        let reports = client.reports(contract);
        assert_eq!(reports.last().unwrap()["end"], 204, "{contract}");
        let read: Vec<&Value> = reports.iter().filter(|report| report.get("data").is_some()).collect();
        let whole = get(proxies[2].address, &events_path(&live.run, contract), &[]).events();
        // Events without an id are sent again after the last one that has an id.
        let with_id = |event: &&Event| event.id.is_some();
        let ids: Vec<(&str, &str)> =
            whole.iter().filter(with_id).map(|event| (event.id.as_deref().unwrap(), event.data.as_str())).collect();
        let seen: BTreeSet<&str> = ids.iter().map(|(_, data)| *data).collect();
        let read: Vec<(&str, &str)> = read
            .iter()
            .map(|report| (report["id"].as_str().unwrap(), report["data"].as_str().unwrap()))
            .filter(|(_, data)| seen.contains(data))
            .collect();
        assert_eq!(read, ids, "{contract}: no gap, no repeat");
    }
}
