//! What a restart of a proxy keeps, whatever kind of log it has: everything that was sent before is sent again, byte for byte.
//!
//! Input: the settings of a log that outlives the process. Output: the runs and events before a kill, and after it. Never: a test that
//! knows which kind of log it has.
//!
//! [`after_restarts!`] makes the tests for one kind.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, another, recording};
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::runners::RUNNERS;
use framegate_translators::schema::Schemas;
use framegate_translators::verify::{Checker, Located, Severity};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// The maximum time until another proxy has closed an open run.
const PATIENCE: Duration = Duration::from_secs(60);

/// A log, and proxies on it, one at a time.
pub struct Service {
    /// The settings that name the log, as environment variables.
    pub settings: Vec<(&'static str, String)>,
    /// The error code of runs that were open at a kill.
    pub error_code: &'static str,
    /// What must live as long as the log.
    pub home: Box<dyn Any>,
}

impl Service {
    pub fn start(&self, more: &[(&str, &str)]) -> Proxy {
        let settings = self.settings.iter().map(|(name, value)| (*name, value.as_str()));
        Proxy::with(&settings.chain(more.iter().copied()).collect::<Vec<_>>())
    }

    /// Runs framegate on the log, without a proxy; returns what it prints on stdout and on stderr.
    fn framegate(&self, args: &[&str]) -> (String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
        command.args(args).envs(self.settings.iter().map(|(name, value)| (name, value))).env_remove("FRAMEGATE_LOG");
        let output = command.current_dir(std::env::temp_dir()).output().unwrap();
        let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert!(output.status.success(), "{said}");
        (printed, said)
    }
}

/// The tests of one kind of log. `$service` makes a service without runs; `$attribute` is an attribute of each test.
macro_rules! after_restarts {
    ($service:expr, $attribute:meta) => {
        crate::restarts::after_restarts! { $service, $attribute:
            every_run_and_event_is_the_same,
            a_run_that_was_open_at_a_kill_is_closed_and_its_sent_events_stay,
            a_session_that_another_ingest_continues_has_one_thread_without_gaps,
            validation_counts_of_a_run_survive_a_shutdown,
            a_feed_cursor_is_valid_and_runs_that_were_dropped_meanwhile_are_reported,
            usage_totals_of_a_resumed_session_continue,
            figures_and_labels_are_the_same_as_without_the_proxy,
            a_run_that_was_open_keeps_its_labels_and_its_open_call_fails,
            artifacts_survive_a_kill,
        }
    };
    ($service:expr, $attribute:meta: $($test:ident,)*) => {
        $(
            #[test]
            #[$attribute]
            fn $test() {
                crate::restarts::$test(&$service);
            }
        )*
    };
}
pub(crate) use after_restarts;

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

pub fn without_counters(mut status: Value) -> Value {
    // Each process counts these from zero.
    for counted in ["validation_failures", "events_checked", "events_withheld"] {
        status.as_object_mut().unwrap().remove(counted);
    }
    status
}

/// The violations in the events of a run.
pub fn violations(contract: &'static Contract, text: &str) -> Vec<Located> {
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

pub fn every_run_and_event_is_the_same(service: &Service) {
    let proxy = service.start(&[]);
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
    let proxy = service.start(&[]);
    let again: Vec<Value> = runs(&proxy);
    assert_eq!(
        again.into_iter().map(without_counters).collect::<Vec<_>>(),
        listed.into_iter().map(without_counters).collect::<Vec<_>>()
    );
    for (id, before) in ids.iter().zip(before) {
        assert!(events_in_every_contract(&proxy, id) == before, "{id}");
    }
}

/// Waits until the newest run is over.
fn closed(proxy: &Proxy) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let run = runs(proxy).remove(0);
        if run["ended_at_ms"].is_u64() {
            return run;
        }
        assert!(Instant::now() < deadline, "{run:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn a_run_that_was_open_at_a_kill_is_closed_and_its_sent_events_stay(service: &Service) {
    let count = recording("claude-code", "parallel_tools.partial.ndjson").split(|&byte| byte == b'\n').count() - 1;
    for cut in [1, count / 4, count / 2, count * 3 / 4, count - 1] {
        let bytes = another("claude-code", "parallel_tools.partial.ndjson");
        let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
        let proxy = service.start(&[]);
        let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
        let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &accept);
        lines[..cut].iter().for_each(|line| upload.send(line));
        let mut answer = upload.answer();
        // At least one event for each record.
        let seen: Vec<String> = (0..cut).map_while(|_| answer.line()).filter(|line| !line.is_empty()).collect();
        assert!(!seen.is_empty());
        drop(proxy);

        let proxy = service.start(&[]);
        let run = closed(&proxy);
        assert_eq!(run["state"], "interrupted", "cut at {cut}: {run:#}");
        assert_eq!(run["error_code"], service.error_code);
        assert_eq!(run["pending_approvals"], json!([]));
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
        let proxy = service.start(&[]);
        assert_eq!(runs(&proxy)[0]["frames"], run["frames"]);
    }
}

pub fn a_session_that_another_ingest_continues_has_one_thread_without_gaps(service: &Service) {
    // A record that belongs to no run goes to its session's thread.
    let body = b"{\"type\":\"nobody_knows\",\"session_id\":\"0b2a3d4e-0000-4000-8000-000000000001\"}\n";
    for _ in 0..2 {
        let proxy = service.start(&[]);
        for _ in 0..2 {
            assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], body).status, 422);
            let text = another("claude-code", "text_plain.partial.ndjson");
            assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &[&text[..], body].concat()).status, 201);
        }
    }
    let proxy = service.start(&[]);
    let page = get(proxy.address, "/v1/events?contract=frames.v2&limit=1000", &[("accept", "application/json")]).json();
    let mut threads: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for event in page["data"].as_array().unwrap().iter().filter(|event| event["stream_kind"] == "thread") {
        threads.entry(event["stream_id"].as_str().unwrap()).or_default().push(event["seq"].as_u64().unwrap());
    }
    assert!(threads.values().any(|numbers| numbers.len() >= 4), "{threads:?}");
    for numbers in threads.values() {
        assert_eq!(*numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    }
}

pub fn validation_counts_of_a_run_survive_a_shutdown(service: &Service) {
    let mut proxy = service.start(&[]);
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
    let proxy = service.start(&[]);
    assert_eq!(runs(&proxy)[0]["events_checked"], counted);
    // Events that were already counted are not counted again.
    assert_eq!(read(&proxy), counted);
}

pub fn a_feed_cursor_is_valid_and_runs_that_were_dropped_meanwhile_are_reported(service: &Service) {
    let proxy = service.start(&[]);
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
    let proxy = service.start(&[]);
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
    service.framegate(&["log", "prune", "--keep", "1"]);
    for _ in 0..2 {
        let proxy = service.start(&[]);
        let told = seen(&proxy, before[3].id.as_deref().unwrap(), 4);
        let notices: Vec<_> = told.iter().filter(|event| event.data.contains("this run is no longer kept")).collect();
        assert_eq!(notices.len(), 3, "{told:?}");
        assert_eq!(told[3].json()["stream_id"], new);
        // A new reader misses nothing, so it gets no notice.
        assert_eq!(seen(&proxy, "", 1)[0].json()["stream_id"], new);
    }
}

pub fn usage_totals_of_a_resumed_session_continue(service: &Service) {
    let turn = |thread: &str, input: u64, output: u64| {
        let usage = json!({"input_tokens": input, "cached_input_tokens": 0, "output_tokens": output});
        [
            json!({"type": "thread.started", "thread_id": thread}),
            json!({"type": "turn.started"}),
            json!({"type": "turn.completed", "usage": usage}),
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
    let proxy = service.start(&[]);
    assert_eq!(used(&proxy, &turn("t", 100, 10)), (100, 10));
    assert_eq!(used(&proxy, &turn("other", 50, 5)), (50, 5), "another thread");
    assert_eq!(used(&proxy, &turn("t", 710, 71)), (610, 61));
    drop(proxy);
    let proxy = service.start(&[]);
    assert_eq!(used(&proxy, &turn("t", 720, 72)), (10, 1), "after a restart");
    assert_eq!(used(&proxy, &turn("other", 80, 8)), (30, 3));
    let kept = runs(&proxy);
    assert!(kept.iter().all(|run| run.get("running").is_none()), "totals kept for later inputs are exposed: {kept:#?}");
}
/// Recordings with tools, with a failed call, and without either.
pub const FIGURES: [(&str, &str); 4] = [
    ("claude-code", "bash_fail.ndjson"),
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "text_plain.ndjson"),
    ("codex", "exec-command-ok.ndjson"),
];

/// Ingests recordings that have figures, with labels.
pub fn fill(proxy: &Proxy) {
    for (runner, name) in FIGURES {
        let path = format!("/v1/ingest/{runner}?label=team:web&label=file:{name}");
        assert_eq!(post(proxy.address, &path, &[], &recording(runner, name)).status, 201, "{name}");
    }
}

pub fn statuses(proxy: &Proxy) -> Vec<Value> {
    runs(proxy).into_iter().map(without_counters).collect()
}

pub fn stats(proxy: &Proxy, query: &str) -> Value {
    let answer = get(proxy.address, &format!("/v1/stats{query}"), &[]);
    assert_eq!(answer.status, 200, "{query}");
    answer.json()
}

/// What `framegate stats` notes about [`FIGURES`].
pub const UNPRICED: &str = "note: 1 run has no computed cost: no model named (1)\n";

pub fn figures_and_labels_are_the_same_as_without_the_proxy(service: &Service) {
    let proxy = service.start(&[]);
    fill(&proxy);
    let (before, figures) = (statuses(&proxy), stats(&proxy, "?by=label,tool"));
    assert_eq!(figures["total"]["runs"], json!(FIGURES.len()));
    assert!(figures["total"]["failed_tool_calls"].as_u64().unwrap() > 0, "{figures:#}");
    assert!(before.iter().all(|run| run["labels"]["team"] == "web" && run["tools"].is_array()));
    drop(proxy);
    let (printed, said) = service.framegate(&["stats", "--format", "json", "--by", "label,tool"]);
    assert_eq!((serde_json::from_str::<Value>(&printed).unwrap(), said.as_str()), (figures.clone(), UNPRICED));
    let proxy = service.start(&[]);
    assert_eq!((statuses(&proxy), stats(&proxy, "?by=label,tool")), (before, figures));
}

pub fn a_run_that_was_open_keeps_its_labels_and_its_open_call_fails(service: &Service) {
    // The call begins in frames that are no longer stored at the kill.
    let proxy = service.start(&[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "40")]);
    let mut upload = Upload::start(proxy.address, "/v1/ingest/codex?label=ticket:ABC-7", &[]);
    let mut lines = vec![
        json!({"type": "thread.started", "thread_id": "01a1ffc9-a7ba-71e1-812f-99bdc3be8fd3"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.started", "item": {"id": "item_0", "type": "command_execution", "command": "sleep 100",
            "aggregated_output": "", "exit_code": null, "status": "in_progress"}}),
    ];
    lines.extend((1..60).map(|nth| {
        json!({"type": "item.completed", "item": {"id": format!("item_{nth}"), "type": "agent_message", "text": "still waiting"}})
    }));
    for line in &lines {
        upload.send(format!("{line}\n").as_bytes());
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    // The writer removes frames in batches, after a run's status has its records.
    let before = loop {
        let runs = runs(&proxy);
        let reached = |run: &&Value| {
            run["records"] == json!(lines.len()) && run["pruned_frames"].as_u64().is_some_and(|pruned| pruned > 10)
        };
        if let Some(run) = runs.first().filter(reached) {
            break run.clone();
        }
        assert!(Instant::now() < deadline, "{runs:#?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let tool = &before["tools"][0];
    assert_eq!((&tool["calls"], &tool["failed"], &before["failed_tool_calls"]), (&json!(1), &json!(0), &json!(0)));
    drop(proxy);
    let proxy = service.start(&[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "40")]);
    let after = closed(&proxy);
    assert_eq!((&after["state"], &after["labels"]), (&json!("interrupted"), &json!({"ticket": "ABC-7"})));
    let tool = &after["tools"][0];
    assert_eq!((&tool["calls"], &tool["failed"], &after["failed_tool_calls"]), (&json!(1), &json!(1), &json!(1)));
}
pub fn artifacts_survive_a_kill(service: &Service) {
    let settings = [("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "1000"), ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "10")];
    let output = "0123456789".repeat(300);
    let records = [
        json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "tools": [], "cwd": "/"}),
        json!({"type": "assistant", "session_id": "s-1", "message": {"id": "m1", "role": "assistant", "model": "m",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}]}}),
        json!({"type": "user", "session_id": "s-1", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]}}),
        json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s-1", "result": "done"}),
    ];
    let body: String = records.iter().map(|record| format!("{record}\n")).collect();
    let proxy = service.start(&settings);
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], body.as_bytes()).json();
    let events = format!("/v1/runs/{}/events?contract=frames.v2", made["runs"][0]["run_id"].as_str().unwrap());
    let before_the_kill = get(proxy.address, &events, &[("accept", "application/x-ndjson")]).text();
    drop(proxy);
    let proxy = service.start(&settings);
    assert_eq!(get(proxy.address, &events, &[("accept", "application/x-ndjson")]).text(), before_the_kill);
    let frames = before_the_kill.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let written: Vec<Value> = frames.filter(|frame| frame["type"] == "artifact_written").collect();
    assert_eq!(written.len(), 1);
    let id = written[0]["artifact_id"].as_str().unwrap();
    let answer = get(proxy.address, &format!("/v1/artifacts/{id}"), &[]);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text(), output);
}
