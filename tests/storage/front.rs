//! Runs whose oldest frames are pruned while they are open: what readers receive, over real sockets and across restarts.

use crate::client::{Upload, get};
use crate::proxy::Proxy;
use crate::scratch::{Scratch, log, log_of};
use framegate_translators::contracts::{CONTRACTS, Contract, contract};
use framegate_translators::schema::Schemas;
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

const SESSION: &str = "5d3c1a6e-0d0e-4d47-9d0c-222222222222";

/// How many frames of a run are kept.
const MOST: u64 = 1200;

fn event(event: &str) -> Vec<u8> {
    format!("{{\"type\":\"stream_event\",\"session_id\":\"{SESSION}\",\"event\":{event}}}\n").into_bytes()
}

/// The records of a run that calls a tool which never ends, followed by `messages` messages.
fn records(messages: usize) -> Vec<Vec<u8>> {
    let line = |text: String| format!("{text}\n").into_bytes();
    let mut out = vec![
        line(format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{SESSION}\",\"model\":\"m\",\"tools\":[]}}"
        )),
        line(format!(
            "{{\"type\":\"assistant\",\"session_id\":\"{SESSION}\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":\
             [{{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Bash\",\"input\":{{\"command\":\"wait\"}}}}]}}}}"
        )),
    ];
    for nth in 0..messages {
        out.push(event(&format!(
            "{{\"type\":\"message_start\",\"message\":{{\"id\":\"m{nth}\",\"role\":\"assistant\"}}}}"
        )));
        let block =
            "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}";
        out.push(event(block));
        for delta in 0..5 {
            let delta = format!("{{\"type\":\"text_delta\",\"text\":\"{nth}.{delta} \"}}");
            out.push(event(&format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}")));
        }
        out.push(event("{\"type\":\"content_block_stop\",\"index\":0}"));
        out.push(event("{\"type\":\"message_stop\"}"));
    }
    out
}

/// The number of messages that fit into the limit, and the total number.
const MESSAGES: (usize, usize) = (65, 105);

/// Starts a proxy that keeps `most` frames of a run; `None` means no limit.
fn start(kind: &str, scratch: &Scratch, most: Option<u64>) -> Proxy {
    let (path, most) = (scratch.path().to_str().unwrap().to_owned(), most.map(|most| most.to_string()));
    let mut settings = vec![
        ("FRAMEGATE__LOG__KIND", kind),
        ("FRAMEGATE__LOG__PATH", &*path),
        ("FRAMEGATE__LOG__FSYNC", "never"),
        ("FRAMEGATE__SERVER__PAGE_LIMIT_MAX", "10000"),
    ];
    settings.extend(most.as_deref().map(|most| ("FRAMEGATE__LOG__RUN_MAX_FRAMES", most)));
    Proxy::with(&settings)
}

/// The number of frames of a run that have not been pruned.
fn frames_kept(run: &Value) -> u64 {
    run["frames"].as_u64().unwrap() - run["pruned_frames"].as_u64().unwrap_or(0)
}

/// Waits until the run has `records` records and its front has been pruned accordingly. Records are counted before the pruning.
fn wait_for(proxy: &Proxy, records: u64) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        let run = &runs["data"][0];
        if run["records"].as_u64().is_some_and(|count| count >= records) && frames_kept(run) <= MOST {
            return run.clone();
        }
        assert!(Instant::now() < deadline, "{runs:#}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// All events in one page, as they appear on the wire.
fn page(proxy: &Proxy, run: &str, contract: &str, after: Option<&str>) -> Vec<String> {
    let after = after.map_or_else(String::new, |after| format!("&after={after}"));
    let path = format!("/v1/runs/{run}/events?contract={contract}&limit=10000{after}");
    let answer = get(proxy.address, &path, &[("accept", "application/json")]);
    assert_eq!(answer.status, 200, "{path}");
    #[derive(serde::Deserialize)]
    struct Page {
        data: Vec<Box<serde_json::value::RawValue>>,
    }
    let page: Page = serde_json::from_str(&answer.text()).unwrap();
    page.data.iter().map(|event| event.get().to_owned()).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The cursor of an event.
fn cursor(event: &str) -> Option<String> {
    let event = json(event);
    let number = ["seq", "sequence"].into_iter().find_map(|key| event[key].as_u64().map(|number| number.to_string()));
    number.or_else(|| event["event_id"].as_str().map(str::to_owned))
}

/// Whether an event is the contract's notice of pruned events.
fn is_gap(contract: &str, event: &str) -> bool {
    let event = json(event);
    match contract {
        "frames.v1" => event["event_name"] == "framegate.events_pruned" && event["data"]["first_seq"] == 0,
        "frames.v2" => event["type"] == "gap_detected" && event["last_seq"] == event["seq"],
        "agent-manager.v1" => event["eventType"] == "log" && event["data"]["level"] == "warn",
        "pixir.v1" => event["data"]["status"] == "gap" && event["seq"].is_null(),
        "hecate.v1" => {
            event["type"] == "gap.events_pruned" && event["data"]["last_pruned_sequence"] == event["sequence"]
        }
        _ => false,
    }
}

const WITH_GAP_EVENT: [&str; 5] = ["frames.v1", "frames.v2", "agent-manager.v1", "pixir.v1", "hecate.v1"];

/// Checks a run that lost its front against its events from before. Returns its current events.
fn check_events(proxy: &Proxy, run: &str, before: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (name, before) in WITH_GAP_EVENT.iter().zip(before) {
        let now = page(proxy, run, name, None);
        assert!(is_gap(name, &now[0]), "{name}: {}", now[0]);
        let known = contract(name).unwrap();
        let schemas = Schemas::compile(known.schemas).unwrap();
        let kind = json(&now[0])[known.type_key].as_str().unwrap().to_owned();
        assert_eq!(schemas.check_value(&kind, &json(&now[0])), Ok(()), "{name}: {}", now[0]);
        // The remaining events are unchanged, byte for byte.
        let overlap = before.iter().position(|event| *event == now[1]).unwrap_or_else(|| panic!("{name}: {}", now[1]));
        assert!(overlap > 20 && before.len() - overlap > 20, "{name}: {overlap} of {}", before.len());
        assert!(now[1..].starts_with(&before[overlap..]), "{name}");
        // A reader with a pruned cursor gets the gap and then the rest. With the last pruned cursor it gets only the rest.
        let gone = before[..overlap].iter().filter_map(|event| cursor(event)).collect::<Vec<_>>();
        if let [_, .., last] = &gone[..] {
            assert_eq!(page(proxy, run, name, Some(&gone[0])), now, "{name}");
            // If events without a cursor followed the last one, they are pruned too, and the gap is reported.
            let is_all = cursor(&before[overlap - 1]).as_ref() == Some(last);
            assert_eq!(page(proxy, run, name, Some(last)), now[usize::from(is_all)..], "{name}");
        }
        // The same as server-sent events, with the cursor in `Last-Event-ID`.
        let seen = gone.first().cloned().unwrap_or_default();
        let accept = [("accept", "text/event-stream"), ("last-event-id", &*seen)];
        let mut stream = get(proxy.address, &format!("/v1/runs/{run}/events?contract={name}"), &accept);
        assert_eq!(stream.event().unwrap().data, now[0], "{name}");
        assert_eq!(stream.event().unwrap().data, now[1], "{name}");
        // The same in the feed of all runs.
        let mut feed = get(proxy.address, &format!("/v1/events?contract={name}"), &[("accept", "text/event-stream")]);
        let gap = feed.event().unwrap();
        assert_eq!(gap.data, now[0], "{name}: in the feed");
        assert_eq!(feed.event().unwrap().data, now[1], "{name}: in the feed");
        let accept = [("accept", "text/event-stream"), ("last-event-id", gap.id.as_deref().unwrap())];
        let mut feed = get(proxy.address, &format!("/v1/events?contract={name}"), &accept);
        assert_eq!(feed.event().unwrap().data, now[1], "{name}: after the gap in the feed");
        found.push(now);
    }
    found
}

/// Checks the answers for contracts that have no event for a gap. Returns the current events.
fn check_refusals(proxy: &Proxy, run: &str, before: &[String]) -> Vec<String> {
    let first = cursor(&before[0]).unwrap();
    let native = format!("/api/v1/sessions/{SESSION}/runs/{run}/stream");
    for after in [None, Some(&first)] {
        let header: Vec<(&str, &str)> = after.iter().map(|id| ("last-event-id", id.as_str())).collect();
        let answer = get(proxy.address, &native, &header);
        assert_eq!(answer.status, 410);
        let error = answer.json();
        assert_eq!(error["error"]["code"], "REPLAY_UNAVAILABLE", "{error:#}");
        let refusing = CONTRACTS.iter().filter(|contract| !contract.announces_pruning && !contract.schemas.is_empty());
        for Contract { name, .. } in refusing {
            let answer = get(proxy.address, &format!("/v1/runs/{run}/events?contract={name}"), &header);
            assert_eq!((answer.status, answer.header("content-type")), (410, "application/problem+json"), "{name}");
        }
    }
    // The status endpoint, which the document refers clients to.
    assert_eq!(get(proxy.address, &format!("/api/v1/runs/{run}"), &[]).status, 200);
    let detail = get(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), &[]).json();
    let detail = detail["detail"].as_str().unwrap();
    let last = detail.split_once("events after ").unwrap().1.split(' ').next().unwrap();
    let now = page(proxy, run, "sse.v1", Some(last));
    let overlap = before.iter().position(|event| *event == now[0]).unwrap();
    assert!(overlap > 100 && now.starts_with(&before[overlap..]));
    assert_eq!(cursor(&before[overlap - 1]).as_deref(), Some(last));

    let raw = get(proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[("accept", "application/x-ndjson")]);
    assert_eq!(raw.status, 410);
    let detail = raw.json()["detail"].as_str().unwrap().to_owned();
    let last: usize = detail.split_once("events after ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    let path = format!("/v1/runs/{run}/events?contract=raw&after={last}");
    let mut raw = get(proxy.address, &path, &[("accept", "application/octet-stream")]);
    assert_eq!(raw.line().unwrap().as_bytes(), records(MESSAGES.1)[last + 1].trim_ascii_end());
    now
}

/// An open run of about 1,800 frames, of which more than 500 are pruned; with its earlier events, and the proxy.
fn pruned_run(kind: &str, scratch: &Scratch) -> (Proxy, Upload, String, Vec<Vec<String>>, Vec<String>) {
    let proxy = start(kind, scratch, Some(MOST));
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    let (first, records) = (records(MESSAGES.0).len(), records(MESSAGES.1));
    records[..first].iter().for_each(|record| upload.send(record));
    let run = wait_for(&proxy, first as u64);
    assert_eq!(run.get("pruned_frames"), None, "{run:#}");
    let id = run["run_id"].as_str().unwrap().to_owned();
    let before: Vec<_> = WITH_GAP_EVENT.iter().map(|name| page(&proxy, &id, name, None)).collect();
    let before_sse = page(&proxy, &id, "sse.v1", None);
    records[first..].iter().for_each(|record| upload.send(record));
    let run = wait_for(&proxy, records.len() as u64);
    assert!(run["pruned_frames"].as_u64() > Some(300) && frames_kept(&run) > MOST * 3 / 4, "{run:#}");
    (proxy, upload, id, before, before_sse)
}

#[test]
fn a_run_in_memory_reports_that_its_front_was_pruned() {
    let scratch = Scratch::new("front-memory");
    let (proxy, upload, run, before, before_sse) = pruned_run("memory", &scratch);
    check_events(&proxy, &run, &before);
    check_refusals(&proxy, &run, &before_sse);
    drop(upload);
}

#[test]
fn a_pruned_run_on_disk_is_served_unchanged_after_restarts() {
    let scratch = Scratch::new("front-disk");
    let (proxy, upload, run, before, before_sse) = pruned_run("sqlite", &scratch);
    let cut = check_events(&proxy, &run, &before);
    let cut_sse = check_refusals(&proxy, &run, &before_sse);
    // The proxy is killed while the run is open: the run is closed, and nothing else changes.
    drop(proxy);
    drop(upload);
    // The limit leaves room for the closing frames, so that they do not prune the front again.
    let proxy = start("sqlite", &scratch, Some(MOST + 100));
    let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
    assert_eq!(
        (status["state"].as_str(), status["records"].as_u64()),
        (Some("interrupted"), Some(records(MESSAGES.1).len() as u64)),
        "{status:#}"
    );
    let again = check_events(&proxy, &run, &before);
    for (again, cut) in again.iter().zip(&cut) {
        assert!(again.starts_with(cut) && again.len() > cut.len());
    }
    let again_sse = check_refusals(&proxy, &run, &before_sse);
    assert!(again_sse.starts_with(&cut_sse) && again_sse.last().unwrap().contains("run_interrupted"));
    // The frames of the tool's call were pruned, but the tool still ends.
    let failed = again[1].iter().map(|event| json(event)).find(|event| event["type"] == "tool_failed");
    assert_eq!(failed.unwrap()["call_id"], "toolu_1");
    assert!(again[4].iter().any(|event| event.contains("\"tool.failed\"") && event.contains("\"tool_name\":\"Bash\"")));
    drop(proxy);

    // The command line exports the same events and finds no error.
    for (name, again) in WITH_GAP_EVENT.iter().zip(&again) {
        let file = scratch.dir().join(name);
        std::fs::write(&file, again.join("\n")).unwrap();
        let check = ["check", "--contract", name, file.to_str().unwrap()];
        let output = Command::new(env!("CARGO_BIN_EXE_framegate")).args(check).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        let (ok, text) = log(&scratch, &["export", &run, "--to", name]);
        assert!(ok, "{text}");
        assert!(text.lines().eq(again.iter().map(String::as_str)), "{name}");
    }
    assert!(log(&scratch, &["show", &run]).1.contains("\"pruned_frames\""));
    let (ok, text) = log(&scratch, &["verify"]);
    assert!(ok && text.contains(" 0 findings"), "{text}");
    let (_, stored) = log(&scratch, &["export", &run, "--to", "stored"]);
    std::fs::write(scratch.dir().join("stored"), stored).unwrap();
    let (ok, text) = log_of("other.db", &scratch, &["import", "stored"]);
    assert!(!ok && text.contains("framegate log backup"), "{text}");

    // Prune further while no proxy runs; then start without a limit.
    let (ok, text) = log(&scratch, &["prune", "--keep-frames", "300"]);
    assert!(ok && text.contains("the first frames of 1 streams"), "{text}");
    assert!(log(&scratch, &["verify"]).1.contains(" 0 findings"));
    let proxy = start("sqlite", &scratch, None);
    for (name, again) in WITH_GAP_EVENT.iter().zip(&again) {
        let now = page(&proxy, &run, name, None);
        assert!(is_gap(name, &now[0]) && now.len() < again.len(), "{name}");
        assert!(again.ends_with(&now[1..]), "{name}");
    }
    let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
    assert_eq!(frames_kept(&status), 300);
    drop(proxy);

    // A mark that cannot be decoded: requests that need it are refused, and all others are served.
    let database = rusqlite::Connection::open(scratch.path()).unwrap();
    database.execute("UPDATE marks SET state = x'7b7d' WHERE view LIKE 'hecate.v1%'", []).unwrap();
    drop(database);
    let proxy = start("sqlite", &scratch, None);
    let answer = get(proxy.address, &format!("/v1/runs/{run}/events?contract=hecate.v1"), &[]);
    assert_eq!(answer.status, 410);
    assert!(answer.text().contains("hecate.v1 cannot continue without them"));
    assert!(is_gap("pixir.v1", &page(&proxy, &run, "pixir.v1", None)[0]));
    let (ok, text) = log(&scratch, &["export", &run, "--to", "hecate.v1"]);
    assert!(!ok && text.contains("cannot continue without them"), "{text}");
    let announcing = CONTRACTS.iter().filter(|contract| contract.announces_pruning).map(|contract| contract.name);
    assert_eq!(announcing.collect::<Vec<_>>(), WITH_GAP_EVENT, "add the contract, and its notice to `is_gap`");
}
