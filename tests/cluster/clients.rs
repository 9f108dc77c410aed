//! Clients from npm read a live run through a relay that leads to another proxy each time: `eventsource`, and `openai`.

use crate::client::{Event, get};
use crate::proxies::{Live, three_with};
use crate::proxy::Proxy;
use crate::reading::{events_path, wait_for, wait_until_alike};
use crate::relay::Relay;
use crate::servers::Servers;
use framegate_translators::contracts::{SseStyle, contract, names_with_schemas};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

const RECORDING: &str = "parallel_tools.partial.ndjson";

/// How often the client is moved.
const MOVES: usize = 4;

/// A client, and what it says.
struct Client {
    child: Child,
    reports: Arc<Mutex<Vec<Value>>>,
}

impl Client {
    /// Starts a script of `tests/clients` with its plan.
    fn start(script: &str, plan: &Value) -> Self {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script);
        let mut command = Command::new("node");
        command.arg(script).arg(plan.to_string()).stdout(Stdio::piped()).stdin(Stdio::null());
        let mut child = command.spawn().unwrap();
        let reports = Arc::new(Mutex::new(Vec::new()));
        let (lines, heard) = (BufReader::new(child.stdout.take().unwrap()).lines(), reports.clone());
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let report = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                heard.lock().unwrap().push(report);
            }
        });
        Self { child, reports }
    }

    /// What it has said so far.
    fn reports(&self) -> Vec<Value> {
        self.reports.lock().unwrap().clone()
    }

    /// What it has said of a contract.
    fn reports_of(&self, contract: &str) -> Vec<Value> {
        self.reports().into_iter().filter(|report| report["contract"] == contract).collect()
    }

    /// How many connections it has opened.
    fn opened(&self) -> usize {
        self.reports().iter().filter(|report| report.get("open").is_some()).count()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the rest of a run piece by piece, and moves the client to another proxy in the middle of each. `streams` is how many
/// streams the client reads at the same time.
fn move_while_sending(live: &mut Live, proxies: &[Proxy], relay: &Relay, client: &Client, streams: usize) {
    // Each connection that was cut is opened again. A cut waits for the next data, so there may be none in a piece of the run.
    let wait = || {
        wait_for("the client does not connect", || {
            (client.opened() >= streams + relay.cut_connections()).then_some(())
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
    wait_until_alike(proxies);
    assert!(relay.cut_connections() > streams, "{} connections were cut", relay.cut_connections());
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER), node and tests/clients/node_modules"]
fn npm_eventsource_sees_each_event_once_although_it_is_moved() {
    let servers = Servers::three();
    let proxies = three_with(&servers, &[("FRAMEGATE__SERVER__SSE_RETRY_MS", "100")]);
    let mut live = Live::streaming(&proxies[0], RECORDING);
    let contracts: Vec<&'static str> = names_with_schemas().collect();
    let relay = Relay::to(proxies[1].address);
    let plan: Vec<Value> = contracts
        .iter()
        .map(|name| {
            // EventSource must know the names of events in advance. It calls its own failures `error`.
            let of_contract = contract(name).unwrap();
            let names = of_contract.schemas.iter().map(|file| file.kind).filter(|kind| *kind != "error");
            let names: BTreeSet<&str> =
                if of_contract.sse == SseStyle::Named { names.collect() } else { BTreeSet::new() };
            let url = format!("http://{}{}", relay.address, events_path(&live.run, name));
            json!({"contract": name, "url": url, "names": names})
        })
        .collect();
    let client = Client::start("eventsource.mjs", &json!(plan));
    move_while_sending(&mut live, &proxies, &relay, &client, contracts.len());
    for contract in &contracts {
        wait_for(&format!("{contract}: the client does not end"), || {
            client.reports_of(contract).iter().any(|report| report.get("end").is_some()).then_some(())
        });
        let reports = client.reports_of(contract);
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

#[test]
#[ignore = "needs nats-server (NATS_SERVER), node and tests/clients/node_modules"]
fn npm_openai_sees_each_event_of_a_response_once_although_it_is_moved() {
    let servers = Servers::three();
    let proxies = three_with(&servers, &[]);
    let mut live = Live::streaming(&proxies[0], RECORDING);
    let relay = Relay::to(proxies[1].address);
    let id = format!("resp_{}", live.run.replace('-', ""));
    let base_url = format!("http://{}/v1", relay.address);
    let client = Client::start("openai_moving.mjs", &json!({"base_url": base_url, "id": id}));
    move_while_sending(&mut live, &proxies, &relay, &client, 1);
    let end = wait_for("the client does not end", || {
        client.reports().into_iter().find(|report| report.get("status").is_some())
    });
    let read: Vec<Value> = client.reports().iter().filter_map(|report| report.get("event").cloned()).collect();
    let whole = get(proxies[2].address, &format!("/v1/responses/{id}?stream=true"), &[]).events();
    // The package takes the end of the stream for itself.
    let (end_of_stream, whole) = whole.split_last().unwrap();
    assert_eq!(end_of_stream.data, "[DONE]");
    let whole: Vec<Value> = whole.iter().map(Event::json).collect();
    assert_eq!(read, whole, "no gap, no repeat");
    let numbers: Vec<u64> = read.iter().map(|event| event["sequence_number"].as_u64().unwrap()).collect();
    assert!(numbers.len() > 20 && numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    let text: String = read
        .iter()
        .filter(|event| event["type"] == "response.output_text.delta")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!((&end["status"], end["text"].as_str().unwrap()), (&json!("completed"), &*text));
}
