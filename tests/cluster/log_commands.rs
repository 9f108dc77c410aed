//! `framegate log`, `framegate stats` and `framegate export` on a log at NATS servers.
//!
//! Input: a log that proxies have written, or still write. Output: what each command prints, drops, or moves to another log. Never: a
//! difference from what a proxy serves, or from the same log in a file; a write by a command that only reads.

use crate::cli::{Ran, Scratch, binary};
use crate::client::{get, post};
use crate::harness::request;
use crate::proxies::{Live, proxy};
use crate::proxy::{Proxy, another, recording};
use crate::reading::{ids, opened, runs, status, wait_for, wait_until_alike};
use crate::recorded_runs::recordings;
use crate::servers::Servers;
use framegate_translators::contracts::{RECORDS, names};
use serde_json::{Value, json};
use std::process::Stdio;
use std::slice::from_ref;

/// Artifacts are also made of short outputs.
const SMALL_ARTIFACTS: &[(&str, &str)] =
    &[("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "64"), ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "16")];

/// A log, as the settings of a command name it.
struct Log(Vec<(&'static str, String)>);

impl Log {
    /// The log of the proxies at these servers.
    fn at(servers: &Servers) -> Self {
        Self(vec![
            ("FRAMEGATE__LOG__KIND", "jetstream".to_owned()),
            ("FRAMEGATE__LOG__SERVERS", servers.urls().join(", ")),
            ("FRAMEGATE__LOG__REPLICAS", servers.count().to_string()),
            ("FRAMEGATE__LOG__MAX_BYTES", "268435456".to_owned()),
        ])
    }

    /// Another log at the same servers.
    fn named(servers: &Servers, prefix: &str) -> Self {
        let mut log = Self::at(servers);
        log.0.push(("FRAMEGATE__LOG__PREFIX", prefix.to_owned()));
        log
    }

    /// A database that does not exist yet.
    fn file(scratch: &Scratch, name: &str) -> Self {
        let path = format!("{}-{name}.db", scratch.missing());
        Self(vec![("FRAMEGATE__LOG__KIND", "sqlite".to_owned()), ("FRAMEGATE__LOG__PATH", path)])
    }

    /// Runs a command of `framegate`.
    fn framegate(&self, args: &[&str]) -> Ran {
        let mut command = binary();
        command.args(args).envs(self.0.iter().map(|(name, value)| (name, value)));
        let output = command.current_dir(std::env::temp_dir()).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Runs a command of `framegate log`.
    fn log(&self, args: &[&str]) -> Ran {
        self.framegate(&[&["log"], args].concat())
    }

    /// Every frame, as `import` reads it.
    fn stored(&self) -> String {
        self.log(&["export", "--all", "--to", "stored"]).exits(0).out
    }

    fn list(&self) -> Vec<Value> {
        self.log(&["list", "--json", "--limit", "100000"]).exits(0).events()
    }
}

/// Ingests recordings of two runners, with tasks, artifacts and several runs of one session. Returns the runs, newest first.
fn ingest(proxy: &Proxy) -> Vec<String> {
    for (runner, name) in [
        ("claude-code", "multi_turn_stdin.ndjson"),
        ("claude-code", "parallel_tools.partial.ndjson"),
        ("claude-code", "bash_background.partial.ndjson"),
        ("codex", "exec-mixed-session.ndjson"),
        ("claude-code", "bash_large.ndjson"),
    ] {
        let path = format!("/v1/ingest/{runner}?label=of:{runner}");
        assert_eq!(post(proxy.address, &path, &[], &recording(runner, name)).status, 201, "{name}");
    }
    ids(&wait_until_alike(from_ref(proxy)))
}

/// Messages, last sequence and subjects of each stream of a log.
fn states(servers: &Servers, prefix: &str) -> Vec<[u64; 3]> {
    let state = |stream| {
        let info = request(servers.addresses()[0], &format!("$JS.API.STREAM.INFO.{prefix}_{stream}"), "", "").unwrap();
        ["messages", "last_seq", "num_subjects"].map(|name| info["state"][name].as_u64().unwrap_or_default())
    };
    ["frames", "artifacts", "leases"].map(state).to_vec()
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_read_what_a_proxy_serves_and_write_nothing() {
    let servers = Servers::three();
    let mut proxy = proxy(&servers, "proxy", SMALL_ARTIFACTS);
    let (log, all) = (Log::at(&servers), ingest(&proxy));
    assert_eq!(all.len(), 8);
    let listed = log.list();
    assert_eq!(ids(&listed), all);
    let table =
        log.log(&["list", "--limit", "2"]).exits(0).prints(&["RUN", "claude-code", "completed", &all[0], &all[1]]);
    assert_eq!(table.out.lines().count(), 3);
    table.says(&["2 of 8 runs are shown, newest first; --limit 8 shows all of them"]);
    log.log(&["list", "--json", "--limit", "1"]).exits(0).says(&["1 of 8 runs are shown"]);
    for (run, listed) in all.iter().zip(&listed) {
        let (shown, served) = (log.log(&["show", run]).exits(0).json(), status(&proxy, run));
        assert_eq!(shown, *listed);
        for field in ["state", "frames", "usage", "labels", "started_at_ms", "tools", "model"] {
            assert_eq!(shown[field], served[field], "{field} of {run}");
        }
        for contract in names() {
            let is_raw = contract == RECORDS.name;
            let accept = if is_raw { "application/octet-stream" } else { "application/x-ndjson" };
            let path = format!("/v1/runs/{run}/events?contract={contract}");
            let served = get(proxy.address, &path, &[("accept", accept)]).text();
            let exported = log.log(&["export", run, "--to", contract]).exits(0);
            assert!(exported.out == served && !served.is_empty(), "{contract} {run}");
        }
    }
    log.log(&["show", &all[0], "--to", "text"]).exits(0).prints(&["$ for i in", "completed"]);
    assert_eq!(log.log(&["list"]).exits(0).err, "");
    log.log(&["show", "ffffffff"]).exits(2).says(&["there is no run ffffffff in framegate_frames at nats://"]);
    let by = ["stats", "--by", "runner,label", "--format", "json"];
    let (here, there) = (log.framegate(&by).exits(0).json(), format!("http://{}", proxy.address));
    assert_eq!(here, log.framegate(&[&by[..], &["--url", &there]].concat()).exits(0).json());
    assert_eq!(here["data"].as_array().map(Vec::len), Some(2), "{here:#}");
    assert!(proxy.terminate().success());

    // From here on, a change can only come from a command. The proxy has stored what its readers counted.
    let before = states(&servers, "framegate");
    let listed = log.list();
    assert_eq!(ids(&listed), all);
    assert!(before[0][0] > 20 && before[1][0] > 2 && before[2][0] == 0, "{before:?}");
    let stored = log.stored();
    log.log(&["verify"]).exits(0).prints(&[&format!(" streams, {} frames, 0 findings", stored.lines().count())]);
    let exported =
        log.framegate(&[&["export", "--html", "-"], &*all.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    exported.exits(0).prints(&["framegate.export.v1", "\"sha256:", "\"left_out_artifacts\":[]"]);
    assert_eq!(log.list(), listed);
    log.framegate(&by).exits(0);
    log.log(&["backup", "copy.db"])
        .exits(2)
        .says(&["the log is at NATS servers", "framegate log export --all --to stored"]);
    assert_eq!(states(&servers, "framegate"), before);
    // A file that is named comes first.
    log.log(&["--db", "no-such.db", "list"]).exits(2).says(&["there is no frame log at no-such.db"]);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_create_no_log() {
    let servers = Servers::one();
    let log = Log::named(&servers, "other");
    let commands: [&[&str]; 8] = [
        &["log", "list"],
        &["log", "show", "01a2"],
        &["log", "export", "--all", "--to", "stored"],
        &["log", "verify"],
        &["log", "prune", "--keep", "1"],
        &["log", "prune", "--keep-frames", "1"],
        &["stats"],
        &["export", "01a2", "--md", "-"],
    ];
    for command in commands {
        log.framegate(command).exits(2).says(&["there is no log with the prefix \"other\" at these servers (nats://"]);
    }
    let streams = request(servers.addresses()[0], "$JS.API.STREAM.NAMES", "", "").unwrap();
    assert_eq!(streams["total"], 0, "{streams}");
    // A log that a proxy has created, and in which it has stored nothing, is an empty one.
    let mut proxy = proxy(&servers, "proxy", &[]);
    for _ in 0..2 {
        let log = Log::at(&servers);
        assert_eq!((log.stored(), log.list()), (String::new(), Vec::new()));
        log.log(&["verify"]).exits(0).prints(&["0 streams, 0 frames, 0 findings"]);
        if proxy.left().is_none() {
            proxy.terminate();
        }
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_move_a_log_to_a_file_and_back_and_can_be_repeated() {
    let (servers, scratch) = (Servers::one(), Scratch::new("cluster-move"));
    let mut first = proxy(&servers, "proxy", &[]);
    for (runner, file) in recordings() {
        post(first.address, &format!("/v1/ingest/{runner}"), &[], &std::fs::read(file).unwrap());
    }
    let all = ids(&wait_until_alike(from_ref(&first)));
    assert!(all.len() > 200, "{}", all.len());
    let log = Log::at(&servers);
    let stored = log.stored();
    let frames = stored.lines().count();
    let moved = scratch.file("stored.ndjson", &stored);
    let file = Log::file(&scratch, "moved");
    let imported = |new: usize, known: usize| format!("{new} frames imported, {known} were already in the log");
    file.log(&["import", &moved]).exits(0).prints(&[&imported(frames, 0)]);
    assert!(file.stored() == stored, "the file has other frames");
    assert_eq!(file.list(), log.list());
    file.log(&["verify"]).exits(0).prints(&["0 findings"]);

    // The first part has whole streams: an import that broke off.
    let lines: Vec<&str> = stored.split_inclusive('\n').collect();
    let stream = |line: &str| serde_json::from_str::<Value>(line).unwrap()["stream"].clone();
    let begins = |at: &usize| stream(lines[*at]) != stream(lines[*at - 1]);
    let part = (frames / 2..frames).find(begins).unwrap();
    let half = scratch.file("half.ndjson", lines[..part].concat());
    let other = Log::named(&servers, "other");
    other.log(&["import", &half]).exits(0).prints(&[&imported(part, 0)]);
    other.log(&["import", &moved]).exits(0).prints(&[&imported(frames - part, part)]);
    other.log(&["import", &moved]).exits(0).prints(&[&imported(0, frames)]);
    assert!(other.stored() == stored, "the log at the servers has other frames");
    assert_eq!(other.list(), log.list());
    other.log(&["verify"]).exits(0).prints(&["0 findings"]);
    assert_eq!(states(&servers, "other")[2][0], 0, "an import gives its lease up");
    let changed = scratch.file("changed.ndjson", stored.replacen("\"input\":\"", "\"input\":\"x", 1));
    other.log(&["import", &changed]).exits(2).says(&["line ", "differs from the one in the log"]);
    let gap = scratch.file("gap.ndjson", lines[1..].concat());
    Log::named(&servers, "third").log(&["import", &gap]).exits(2).says(&["line 1", "the log has 0 frames"]);
    assert_eq!(states(&servers, "third")[2][0], 0, "an import that fails gives its lease up too");

    // A proxy serves what was imported, and takes the runs for its own.
    let second = proxy(&servers, "moved", &[("FRAMEGATE__LOG__PREFIX", "other")]);
    assert_eq!(ids(&wait_until_alike(from_ref(&second))), all);
    for run in &all {
        let path = format!("/v1/runs/{run}/events?contract=frames.v2");
        let served = [&first, &second].map(|proxy| get(proxy.address, &path, &[]).bytes());
        assert!(served[0] == served[1], "{run}");
    }
    let (runner, path) = recordings().remove(0);
    let again = post(second.address, &format!("/v1/ingest/{runner}"), &[], &std::fs::read(path).unwrap());
    assert_eq!(again.status, 200, "the recording is known");
    // An import beside running proxies is heard by them.
    let more = Log::file(&scratch, "more");
    let (frames, run) = one_more(&more);
    let line = scratch.file("more.ndjson", &frames);
    other.log(&["import", &line]).exits(0);
    assert_eq!(opened(&second, &format!("/v1/runs/{run}"), &[]).json()["state"], "completed");
    first.terminate();
}

/// A run in a log of its own: its frames and its id.
fn one_more(log: &Log) -> (String, String) {
    let settings: Vec<(&str, &str)> = log.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut proxy = Proxy::with(&settings);
    let body = another("codex", "exec-text-plain.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/codex", &[], &body).status, 201);
    proxy.terminate();
    (log.stored(), ids(&log.list()).remove(0))
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_import_an_open_run_which_a_proxy_then_ends() {
    let (servers, scratch) = (Servers::one(), Scratch::new("cluster-open"));
    let (frames, run) = one_more(&Log::file(&scratch, "whole"));
    let cut: Vec<&str> = frames.split_inclusive('\n').take(6).collect();
    let open = scratch.file("open.ndjson", cut.concat());
    let log = Log::at(&servers);
    log.log(&["import", &open]).exits(0);
    assert_eq!(log.list()[0]["state"], "running");
    // A command that reads leaves it open.
    log.log(&["verify"]).exits(0).prints(&["0 findings"]);
    assert_eq!(log.list()[0]["frames"], cut.len());
    let proxy = proxy(&servers, "proxy", &[("FRAMEGATE__LOG__LEASE_MS", "5000")]);
    wait_for("the run does not end", || (status(&proxy, &run)["error_code"] == "proxy_lost").then_some(()));
    assert_eq!(log.list()[0]["state"], "interrupted");
}

/// A run of Claude Code with these records between its first and its last one.
fn run_with(records: &[Value], result: &str) -> String {
    let session = "5d3c1a6e-0d0e-4d47-9d0c-444444444444";
    let first =
        json!({"type": "system", "subtype": "init", "session_id": session, "model": "m", "tools": [], "cwd": "/"});
    let last = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": session,
        "errors": [result]});
    let text = |content: &Value| {
        json!({"type": "assistant", "session_id": session, "message": {"id": "m1", "role": "assistant", "model": "m",
            "content": [content]}})
    };
    let records = records.iter().map(text);
    [first].into_iter().chain(records).chain([last]).map(|record| format!("{record}\n")).collect()
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_read_what_is_too_long_for_a_header_or_a_message() {
    let (servers, scratch) = (Servers::one(), Scratch::new("cluster-long"));
    let mut proxy = proxy(&servers, "proxy", &[]);
    let why = "why ".repeat(10_000);
    let text = json!({"type": "text", "text": "0123456789".repeat(200_000)});
    for body in [run_with(&[], &why), run_with(&[text], "none")] {
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code?label=team:web", &[], body.as_bytes()).status, 201);
    }
    let mut other = crate::proxies::proxy(&servers, "other", &[]);
    let all = wait_until_alike(from_ref(&proxy));
    assert_eq!(wait_until_alike(from_ref(&other)), all);
    assert!(all.iter().all(|run| run["labels"] == json!({"team": "web"})), "{all:#?}");
    proxy.terminate();
    other.terminate();
    let log = Log::at(&servers);
    let listed = log.list();
    assert_eq!(ids(&listed), ids(&all));
    assert_eq!(listed[1]["message"], why);
    for (listed, served) in listed.iter().zip(&all) {
        assert_eq!(log.log(&["show", listed["run_id"].as_str().unwrap()]).exits(0).json(), *listed);
        for field in ["state", "frames", "usage", "message", "error_code", "started_at_ms", "ended_at_ms", "labels"] {
            assert_eq!(listed[field], served[field], "{field}");
        }
    }
    log.log(&["list"]).exits(0).prints(&["failed"]);
    assert_eq!(log.framegate(&["stats", "--format", "json"]).exits(0).json()["total"]["runs"], 2);
    log.log(&["verify"]).exits(0).prints(&["0 findings"]);
    let (file, stored) = (Log::file(&scratch, "moved"), log.stored());
    file.log(&["import", &scratch.file("stored.ndjson", &stored)]).exits(0);
    assert!(file.stored() == stored);
    assert_eq!(file.list()[1]["message"], why);

    // A part of the large append is missing.
    let messages = messages_of(&servers, listed[0]["run_id"].as_str().unwrap());
    let sizes: Vec<usize> = messages.iter().map(|seq| size_of(&servers, *seq)).collect();
    let at = sizes.iter().position(|size| *size == 512 << 10).unwrap();
    assert!(sizes.len() > at + 4, "{sizes:?}");
    delete(&servers, messages[at + 1]);
    let name = format!("session {}: ", listed[0]["run_id"].as_str().unwrap());
    log.log(&["verify"]).exits(1).prints(&[&name, "cannot be read", "2 streams", "1 findings"]);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_find_no_damage_while_proxies_write_and_drop() {
    let servers = Servers::three();
    let settings = [
        ("FRAMEGATE__LOG__LEASE_MS", "5000"),
        ("FRAMEGATE__LOG__MAX_RUNS", "4"),
        ("FRAMEGATE__LOG__RUN_MAX_FRAMES", "40"),
    ];
    let proxies = ["one", "two"].map(|name| proxy(&servers, name, &settings));
    let log = Log::at(&servers);
    std::thread::scope(|scope| {
        let writing: Vec<_> = proxies.iter().map(|proxy| scope.spawn(|| write_for_a_while(proxy))).collect();
        let mut looks = 0;
        while writing.iter().any(|writing| !writing.is_finished()) {
            let found = log.log(&["verify"]).exits(0);
            assert!(found.out.contains(" 0 findings"), "{}", found.out);
            log.list();
            looks += 1;
        }
        assert!(looks > 5, "{looks}");
    });
    wait_for("the proxies drop nothing", || (log.list().len() == 4).then_some(()));
    log.log(&["verify"]).exits(0).prints(&["0 findings"]);
}

/// Ingests recordings for longer than an elected proxy needs to drop something several times.
fn write_for_a_while(proxy: &Proxy) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(15);
    while std::time::Instant::now() < end {
        let body = another("claude-code", "parallel_tools.partial.ndjson");
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &body).status, 201);
    }
}

fn size_of(servers: &Servers, seq: u64) -> usize {
    let which = json!({"seq": seq}).to_string();
    let answer = request(servers.addresses()[0], "$JS.API.STREAM.MSG.GET.framegate_frames", "", &which).unwrap();
    // Base64.
    let data = answer["message"]["data"].as_str().unwrap_or_default();
    data.len() / 4 * 3 - data.bytes().rev().take_while(|byte| *byte == b'=').count()
}

/// Removes a message of the frames.
fn delete(servers: &Servers, seq: u64) {
    let which = json!({"seq": seq}).to_string();
    let done = request(servers.addresses()[0], "$JS.API.STREAM.MSG.DELETE.framegate_frames", "", &which).unwrap();
    assert_eq!(done["success"], true, "{done}");
}

/// The sequences of the messages of a run.
fn messages_of(servers: &Servers, run: &str) -> Vec<u64> {
    let subject = format!("framegate.f.session.{}", run.replace('-', ""));
    let (mut found, mut from) = (Vec::new(), 1);
    loop {
        let which = json!({"seq": from, "next_by_subj": subject}).to_string();
        let address = servers.addresses()[0];
        let answer = request(address, "$JS.API.STREAM.MSG.GET.framegate_frames", "", &which).unwrap();
        let Some(seq) = answer["message"]["seq"].as_u64() else { return found };
        found.push(seq);
        from = seq + 1;
    }
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_find_messages_that_are_missing() {
    let servers = Servers::one();
    let mut proxy = proxy(&servers, "proxy", &[]);
    let mut lives: Vec<Live> = (0..3).map(|_| Live::streaming(&proxy, "text_plain.partial.ndjson")).collect();
    lives.iter_mut().for_each(Live::finish);
    let log = Log::at(&servers);
    wait_until_alike(from_ref(&proxy));
    proxy.terminate();
    log.log(&["verify"]).exits(0).prints(&["3 streams", "0 findings"]);
    let of = |live: &Live| messages_of(&servers, &live.run);
    assert!(of(&lives[0]).len() > 6, "the run has only {:?}", of(&lives[0]));
    // Two gaps in the middle of a stream, and the beginning of another one.
    delete(&servers, of(&lives[0])[4]);
    delete(&servers, of(&lives[0])[2]);
    let found = log.log(&["verify"]).exits(1);
    let gaps = found.out.matches(&format!("session {}: frame ", lives[0].run)).count();
    assert!(gaps == 2 && found.out.contains(" follows after "), "{}", found.out);
    found.prints(&["3 streams", "2 findings"]);
    delete(&servers, of(&lives[1])[0]);
    log.log(&["verify"]).exits(1).prints(&[
        &format!("session {}: frame ", lives[1].run),
        "follows after 0 frames",
        "3 findings",
    ]);
    for live in &lives[..2] {
        let refused = log.log(&["export", &live.run, "--to", "stored"]).exits(2);
        refused.says(&["is missing from the frame log"]);
    }
    log.log(&["export", &lives[2].run, "--to", "stored"]).exits(0);
    // The other runs can still be listed.
    assert_eq!(log.list().len(), 3);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn log_commands_prune_what_is_over_while_proxies_go_on() {
    let servers = Servers::one();
    let proxies = ["one", "two"].map(|name| proxy(&servers, name, &[]));
    let mut live = Live::streaming(&proxies[0], "parallel_tools.partial.ndjson");
    live.send(10);
    for name in ["multi_turn_stdin.ndjson", "bash_ok.partial.ndjson", "bash_fail.partial.ndjson"] {
        assert_eq!(
            post(proxies[1].address, "/v1/ingest/claude-code", &[], &recording("claude-code", name)).status,
            201
        );
    }
    let log = Log::at(&servers);
    let before = ids(&log.list());
    assert_eq!(before.len(), 6);
    log.log(&["prune", "--older-than", "1h"])
        .exits(0)
        .prints(&["dropped 0 runs, tasks and threads, 0 frames in total"]);
    log.log(&["prune", "--keep", "2"]).exits(0).prints(&["dropped 3 runs, tasks and threads, "]);
    // The open run is the oldest.
    let left: Vec<String> = [&before[..2], &before[5..]].concat();
    assert_eq!(ids(&log.list()), left);
    assert!(left[2] == live.run);
    for proxy in &proxies {
        wait_for("a proxy does not hear of the drops", || (ids(&runs(proxy)) == left).then_some(()));
    }
    log.log(&["prune"]).exits(2).says(&["--older-than"]);
    let pruned = log.log(&["prune", "--keep-frames", "5"]).exits(0);
    pruned.prints(&["dropped the first frames of 2 streams, ", "1 streams are longer and keep their first frames"]);
    live.finish();
    wait_until_alike(&proxies);
    log.log(&["verify"]).exits(0).prints(&["3 streams, ", "0 findings"]);
    for run in &left[..2] {
        let (kept, frames) = (log.log(&["export", run, "--to", "stored"]).exits(0).out, status(&proxies[0], run));
        assert_eq!(kept.lines().count(), 5);
        assert_eq!(frames["pruned_frames"].as_u64(), frames["frames"].as_u64().map(|frames| frames - 5));
        for contract in ["frames.v2", "hecate.v1", "pixir.v1"] {
            let path = format!("/v1/runs/{run}/events?contract={contract}");
            let served = get(proxies[1].address, &path, &[("accept", "application/x-ndjson")]).text();
            assert!(log.log(&["export", run, "--to", contract]).exits(0).out == served, "{contract} {run}");
        }
    }
    log.log(&["export", &live.run, "--to", "frames.v2"]).exits(0);
    log.log(&["prune", "--older-than", "0m"]).exits(0);
    assert_eq!(log.list(), Vec::<Value>::new());
}
