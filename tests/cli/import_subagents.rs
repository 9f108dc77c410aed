//! `framegate import`: sessions whose subagents have files of their own.

use crate::import::{Machine, wait_until};
use crate::kept;
use crate::proxy::Proxy;
use framegate_translators::runners::runner;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A recorded session, the file of its subagent, and the stream of the same run.
struct Recorded {
    session: PathBuf,
    subagent: PathBuf,
    stream: PathBuf,
}

fn recorded() -> Recorded {
    let folder = kept::recorded(runner("claude-code").unwrap())[0].0.parent().unwrap().to_owned();
    let file = |name: &str| folder.join(name);
    Recorded {
        session: file("subagent.transcript.jsonl"),
        subagent: file("subagent.sub1.transcript.jsonl"),
        stream: file("subagent.ndjson"),
    }
}

/// A field of the first line that has it.
fn named(file: &Path, field: &str) -> String {
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.find_map(|line| line[field].as_str().map(str::to_owned)).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

/// Puts the session where its runner keeps it, and returns its folder and its id.
fn furnish(machine: &Machine, recorded: &Recorded) -> (PathBuf, String) {
    let id = named(&recorded.session, "sessionId");
    let folder = machine.path("home/.claude/projects/-w");
    copy(&recorded.session, &folder.join(format!("{id}.jsonl")));
    (folder, id)
}

/// What the only run of a database used, and how many tools it called.
fn figures(machine: &Machine, database: &str) -> (Value, Value) {
    let runs = machine.runs(database);
    assert_eq!(runs.len(), 1, "{runs:#?}");
    let tokens = ["input_tokens", "output_tokens"].map(|name| runs[0]["usage"][name].clone());
    (Value::from(tokens.to_vec()), runs[0]["tool_calls"].clone())
}

#[test]
fn the_files_of_subagents_are_part_of_their_session() {
    let recorded = recorded();
    let machine = Machine::new("import-subagents");
    let (folder, id) = furnish(&machine, &recorded);
    let stream = recorded.stream.to_str().unwrap();
    assert_eq!(machine.counted("stream.db", &[stream]), (1, 0));
    let expected = figures(&machine, "stream.db");
    assert_eq!(machine.counted("main.db", &[]), (1, 0));
    assert_ne!(figures(&machine, "main.db").1, expected.1);

    // In a folder of the session, and, as in older versions, beside its file.
    let places = [folder.join(&id).join("subagents/agent-1.jsonl"), folder.join("agent-1.jsonl")];
    for (nth, place) in places.iter().enumerate() {
        copy(&recorded.subagent, place);
        // A file of a session that is not here.
        let other =
            fs::read_to_string(&recorded.subagent).unwrap().replace(&id, "11111111-2222-4333-8444-555555555555");
        fs::write(folder.join("agent-2.jsonl"), other).unwrap();
        let database = format!("{nth}.db");
        let listed = machine.import(&["--dry-run", "--format", "json"]).exits(0).json();
        let bytes = [&recorded.session, &recorded.subagent].map(|file| fs::metadata(file).unwrap().len());
        assert_eq!((&listed["bytes"], &listed["subagent_files"]), (&bytes.iter().sum::<u64>().into(), &1.into()));
        assert_eq!(machine.counted(&database, &[]), (1, 0));
        assert_eq!(figures(&machine, &database), expected);
        assert_eq!(machine.counted(&database, &[]), (0, 1), "again");
        assert_eq!(machine.counted(&database, &[stream]), (0, 1), "the stream of the same run");
        fs::remove_file(folder.join("agent-2.jsonl")).unwrap();
        // A folder that is named, and a file.
        for what in [folder.clone(), folder.join(format!("{id}.jsonl"))] {
            let database = format!("{nth}-{}.db", what.is_dir());
            assert_eq!(machine.counted(&database, &[what.to_str().unwrap()]), (1, 0));
            assert_eq!(figures(&machine, &database), expected);
        }
        fs::remove_file(place).unwrap();
    }
}

#[test]
fn a_run_that_was_stored_without_its_subagents_is_replaced() {
    let recorded = recorded();
    let machine = Machine::new("import-subagents-later");
    let (folder, id) = furnish(&machine, &recorded);
    assert_eq!(machine.counted("log.db", &["--label", "laptop:old"]), (1, 0));
    copy(&recorded.subagent, &folder.join(&id).join("subagents/agent-1.jsonl"));
    let summary = machine.import(&["--db", "log.db", "--format", "json"]).exits(0).json();
    assert_eq!((&summary["total"]["new_runs"], &summary["total"]["replaced_runs"]), (&0.into(), &1.into()));
    assert_eq!(figures(&machine, "log.db").1, 2);
    assert_eq!(machine.runs("log.db")[0]["labels"]["laptop"], "old");
    assert_eq!(machine.counted("log.db", &[]), (0, 1));
}

#[test]
fn a_bad_line_is_named_by_the_file_that_it_is_in() {
    let recorded = recorded();
    let machine = Machine::new("import-subagents-bad");
    let (folder, id) = furnish(&machine, &recorded);
    let mut text = fs::read_to_string(&recorded.subagent).unwrap();
    let lines = text.lines().count();
    text.push_str("{\"type\":\n");
    let place = folder.join(&id).join("subagents/agent-1.jsonl");
    copy(&recorded.subagent, &place);
    fs::write(&place, text).unwrap();
    let ran = machine.import(&["--db", "log.db"]).exits(0);
    let expected = format!("agent-1.jsonl:{}: a record cannot be read", lines + 1);
    assert!(ran.err.contains(&expected), "{}", ran.err);
}

#[test]
fn a_subagent_that_appears_while_its_session_is_watched_is_part_of_it() {
    let recorded = recorded();
    let machine = Machine::new("import-subagents-watch");
    let id = named(&recorded.session, "sessionId");
    let folder = machine.path("home/.claude/projects/-w");
    let text = fs::read_to_string(&recorded.session).unwrap();
    // The session until the subagent is called, and what follows.
    let returned =
        text.lines().find(|line| line.contains("\"tool_result\"") && line.contains("\"toolUseResult\"")).unwrap();
    let (front, rest) = text.split_at(text.find(returned).unwrap());
    fs::create_dir_all(&folder).unwrap();
    let append = |text: &str| {
        let mut file = OpenOptions::new().create(true).append(true).open(folder.join(format!("{id}.jsonl"))).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    let proxy = Proxy::start();
    let url = format!("http://{}", proxy.address);
    let watching = machine.watch(&["--url", &url, "--watch"]);
    let run = || {
        let listed = crate::client::get(proxy.address, "/v1/runs", &[]).json();
        let runs = listed["data"].as_array().unwrap().clone();
        assert!(runs.len() <= 1, "{runs:#?}");
        runs.first().cloned().unwrap_or_default()
    };
    append(front);
    wait_until("the session", || run()["tool_calls"] == 1);
    copy(&recorded.subagent, &folder.join(&id).join("subagents/agent-1.jsonl"));
    wait_until("the subagent's call", || run()["tool_calls"] == 2);
    append(rest);
    watching.stop();
    wait_until("the end", || run()["state"] == "completed");
    assert_eq!(machine.counted("stream.db", &[recorded.stream.to_str().unwrap()]), (1, 0));
    let (tokens, calls) = figures(&machine, "stream.db");
    let run = run();
    let used = ["input_tokens", "output_tokens"].map(|name| run["usage"][name].clone());
    assert_eq!((Value::from(used.to_vec()), &run["tool_calls"]), (tokens, &calls), "{run:#?}");
    // The files are imported again in the order of their lines.
    machine.import(&["--url", &url]).exits(0).prints(&["0 runs imported"]);
}
