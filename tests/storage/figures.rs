//! The figures and labels of runs in the database: after a kill, in a database of an older version, beside damage.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording};
use crate::restart::{runs, start, without_counters};
use crate::scratch::Scratch;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// Recordings with tools, with a failed call, and without either.
const RECORDINGS: [(&str, &str); 4] = [
    ("claude-code", "bash_fail.ndjson"),
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "text_plain.ndjson"),
    ("codex", "exec-command-ok.ndjson"),
];

fn filled(scratch: &Scratch) -> Proxy {
    let proxy = start(scratch, &[]);
    for (runner, name) in RECORDINGS {
        let path = format!("/v1/ingest/{runner}?label=team:web&label=file:{name}");
        assert_eq!(post(proxy.address, &path, &[], &recording(runner, name)).status, 201, "{name}");
    }
    proxy
}

fn statuses(proxy: &Proxy) -> Vec<Value> {
    runs(proxy).into_iter().map(without_counters).collect()
}

fn stats(proxy: &Proxy, query: &str) -> Value {
    let answer = get(proxy.address, &format!("/v1/stats{query}"), &[]);
    assert_eq!(answer.status, 200, "{query}");
    answer.json()
}

/// Runs `framegate stats` on the database; returns the report and what was said on stderr.
fn printed(scratch: &Scratch, args: &[&str]) -> (Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.args(["stats", "--format", "json", "--db"]).arg(scratch.path()).args(args);
    let output = command.env_remove("FRAMEGATE_LOG").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

/// Makes the stored statuses those of a version without these figures.
fn forget_figures(scratch: &Scratch) -> usize {
    let database = Connection::open(scratch.path()).unwrap();
    let sql = "UPDATE streams SET status = json_remove(status, '$.turns', '$.tools', '$.failed_tool_calls', '$.title', '$.model')";
    database.execute(sql, []).unwrap()
}

#[test]
fn figures_and_labels_outlive_a_kill_and_are_the_same_without_the_proxy() {
    let scratch = Scratch::new("figures-kill");
    let proxy = filled(&scratch);
    let (before, figures) = (statuses(&proxy), stats(&proxy, "?by=label,tool"));
    assert_eq!(figures["total"]["runs"], json!(RECORDINGS.len()));
    assert!(figures["total"]["failed_tool_calls"].as_u64().unwrap() > 0, "{figures:#}");
    assert!(before.iter().all(|run| run["labels"]["team"] == "web" && run["tools"].is_array()));
    drop(proxy);
    assert_eq!(printed(&scratch, &["--by", "label,tool"]), (figures.clone(), String::new()));
    let proxy = start(&scratch, &[]);
    assert_eq!((statuses(&proxy), stats(&proxy, "?by=label,tool")), (before, figures));
}

#[test]
fn runs_of_an_older_version_get_what_their_frames_tell() {
    let scratch = Scratch::new("figures-old");
    let proxy = filled(&scratch);
    let (before, figures) = (statuses(&proxy), stats(&proxy, "?by=tool"));
    drop(proxy);
    assert!(forget_figures(&scratch) >= RECORDINGS.len());
    // Without the proxy, what is not known is absent, and a note says so.
    let (report, said) = printed(&scratch, &["--by", "tool"]);
    assert_eq!(report["runs_without_tools"], json!(RECORDINGS.len()));
    assert_eq!(report["total"]["tool_calls"], figures["total"]["tool_calls"]);
    assert!(report["total"].get("failed_tool_calls").is_none() && report["tools"] == json!([]), "{report:#}");
    assert!(said.contains("the tools and failed tool calls of 4 runs are not known"), "{said}");
    let proxy = start(&scratch, &[]);
    let deadline = Instant::now() + Duration::from_secs(30);
    while stats(&proxy, "").get("runs_without_tools").is_some() {
        assert!(Instant::now() < deadline, "the runs are not completed");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!((statuses(&proxy), stats(&proxy, "?by=tool")), (before, figures.clone()));
    // They are stored, so that the next start has nothing to compute.
    drop(proxy);
    assert_eq!(printed(&scratch, &["--by", "tool"]), (figures, String::new()));
}

#[test]
fn a_damaged_status_is_left_out_with_a_note_and_computed_again_by_the_proxy() {
    let scratch = Scratch::new("figures-damaged");
    let proxy = filled(&scratch);
    let figures = stats(&proxy, "?by=runner");
    drop(proxy);
    let database = Connection::open(scratch.path()).unwrap();
    let sql = "UPDATE streams SET status = ?1 WHERE key = (SELECT min(key) FROM streams WHERE kind = 'session')";
    assert_eq!(database.execute(sql, ["{\"run_id\":"]).unwrap(), 1);
    drop(database);
    let (report, said) = printed(&scratch, &[]);
    assert_eq!(report["total"]["runs"], json!(RECORDINGS.len() - 1));
    assert!(said.contains("1 runs have no readable status and do not count"), "{said}");
    let proxy = start(&scratch, &[]);
    assert_eq!(stats(&proxy, "?by=runner"), figures);
}

#[test]
fn a_run_that_is_open_at_a_kill_keeps_its_labels_and_its_open_call_fails() {
    let scratch = Scratch::new("figures-open");
    // The call begins in frames that are no longer stored at the kill.
    let proxy = start(&scratch, &[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "40")]);
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
    while runs(&proxy).first().is_none_or(|run| run["records"] != json!(lines.len()) || run["pruned_frames"].is_null())
    {
        assert!(Instant::now() < deadline, "{:#?}", runs(&proxy));
        std::thread::sleep(Duration::from_millis(20));
    }
    let before = runs(&proxy).remove(0);
    assert!(before["pruned_frames"].as_u64().unwrap() > 10, "{before:#}");
    let tool = &before["tools"][0];
    assert_eq!((&tool["calls"], &tool["failed"], &before["failed_tool_calls"]), (&json!(1), &json!(0), &json!(0)));
    drop(proxy);
    let proxy = start(&scratch, &[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "40")]);
    let after = runs(&proxy).remove(0);
    assert_eq!((&after["state"], &after["labels"]), (&json!("interrupted"), &json!({"ticket": "ABC-7"})));
    let tool = &after["tools"][0];
    assert_eq!((&tool["calls"], &tool["failed"], &after["failed_tool_calls"]), (&json!(1), &json!(1), &json!(1)));
    let stored: String = Connection::open(scratch.path())
        .unwrap()
        .query_row("SELECT status FROM streams WHERE kind = 'session'", [], |row| row.get(0))
        .unwrap();
    assert!(!stored.contains("kept_calls"), "the call is over: {stored}");
}
