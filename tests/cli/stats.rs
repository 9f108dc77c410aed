//! `framegate stats`, and the statuses that `framegate run` writes for it.

use crate::program::{Scratch, run};
use serde_json::{Value, json};

/// The configuration with the fake agent as the upstream `agent`.
fn config(scratch: &Scratch) -> String {
    let agent = format!("{}/tests/upstreams/fake/agent.sh", env!("CARGO_MANIFEST_DIR"));
    let table =
        format!("[[upstream]]\nname = \"agent\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = {agent:?}\n");
    scratch.file("config.toml", format!("{table}directories = [{:?}]\n", env!("CARGO_TARGET_TMPDIR")))
}

/// A status as another program may have written it.
fn status(nth: u64, more: &Value) -> Value {
    let mut status = json!({
        "run_id": format!("01890000-0000-7000-8000-{nth:012x}"), "session_id": "01890000-0000-7000-8000-00000000000a",
        "runner": "codex", "state": "completed", "started_at_ms": 1_795_564_800_000_u64 + nth, "updated_at_ms": 1_795_564_900_000_u64,
        "ended_at_ms": 1_795_564_900_000_u64, "frames": 1, "records": 1, "invalid_records": 0, "records_with_errors": 0,
        "tool_calls": 0, "usage": {"input_tokens": 10, "output_tokens": 2}, "warnings": {}, "validation_failures": {},
        "pending_approvals": [], "turns": 1, "failed_tool_calls": 0, "tools": [],
    });
    status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    status
}

#[test]
fn a_run_with_labels_is_counted_from_its_status_file() {
    let scratch = Scratch::new("stats-run");
    let (config, file) = (config(&scratch), scratch.file("status.json", ""));
    let args = ["run", "--config", &config, "agent", "say hello", "--label", "team:web", "--label", "ticket:ABC-7"];
    run(&[&args[..], &["--status-file", &file]].concat(), "").exits(0);
    let status: Value = serde_json::from_str(std::fs::read_to_string(&file).unwrap().trim_end()).unwrap();
    assert_eq!(
        (&status["labels"], &status["state"]),
        (&json!({"team": "web", "ticket": "ABC-7"}), &json!("completed"))
    );
    let report = run(&["stats", "--from", &file, "--by", "label", "--format", "json"], "").exits(0).json();
    let labels: Vec<&str> =
        report["data"].as_array().unwrap().iter().map(|row| row["label"].as_str().unwrap()).collect();
    assert_eq!((labels, &report["total"]["runs"]), (vec!["team:web", "ticket:ABC-7"], &json!(1)));
    assert_eq!(report["total"]["input_tokens"], status["usage"]["input_tokens"]);
    let none = run(&["stats", "--from", &file, "--label", "team:db", "--format", "json"], "").exits(0).json();
    assert_eq!(none["total"]["runs"], 0);

    let unwritable = format!("{}/no/such/folder", scratch.missing());
    run(&[&args[..], &["--status-file", &unwritable]].concat(), "").exits(2).says(&["cannot write", &unwritable]);
    run(&[&args[..], &["--label", "team:db"]].concat(), "").exits(2).says(&["the label \"team\" is given twice"]);
    run(&["run", "--config", &config, "agent", "x", "--label", "team"], "").exits(2).says(&["write it as key:value"]);
}

#[test]
fn each_form_has_the_same_rows() {
    let lines: String = [json!({}), json!({"runner": "opencode", "usage": {}}), json!({"state": "failed"})]
        .iter()
        .zip(1..)
        .map(|(more, nth)| format!("{}\n", status(nth, more)))
        .collect();
    let stats = |args: &[&str]| run(&[&["stats", "--from", "-", "--by", "day,runner"], args].concat(), &lines).exits(0);
    let report = stats(&["--format", "json"]).json();
    let rows: Vec<_> =
        report["data"].as_array().unwrap().iter().map(|row| (&row["day"], &row["runner"], &row["runs"])).collect();
    let day = json!("2026-11-25");
    assert_eq!(rows, [(&day, &json!("codex"), &json!(2)), (&day, &json!("opencode"), &json!(1))]);
    assert!(report["data"][1].get("input_tokens").is_none());
    // Standard output is no terminal here.
    let text = stats(&[]).out;
    let table: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    let csv = stats(&["--format", "csv"]).out;
    let cells: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(table, cells);
    let at = |name: &str| table[0].iter().position(|head| *head == name).unwrap();
    assert_eq!((table[1][at("input_tokens")], table[2][at("input_tokens")], table[1][at("failed")]), ("20", "", "1"));
    assert_eq!(stats(&["--tz", "-10:00", "--format", "json"]).json()["data"][0]["day"], "2026-11-24");
    assert_eq!(stats(&["--since", "2026-11-26", "--format", "json"]).json()["total"]["runs"], 0);
    assert_eq!(stats(&["--until", "2026-11-25T00:00:00.002Z", "--format", "json"]).json()["total"]["runs"], 1);
    assert_eq!(
        stats(&["--runner", "codex", "--since", "1795564800002", "--format", "json"]).json()["total"]["runs"],
        1
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let scratch = Scratch::new("stats-errors");
    let broken = format!("{}\n\n{{\"run_id\": 1}}\n", status(1, &json!({})));
    run(&["stats", "--from", "-"], &broken).exits(2).says(&["line 3 of standard input is not a run's status"]);
    run(&["stats", "--from", &scratch.missing()], "").exits(2).says(&["cannot read", "missing"]);
    run(&["stats", "--db", &scratch.missing()], "").exits(2).says(&["there is no frame log at"]);
    let other = scratch.file("other.db", "no database");
    run(&["stats", "--db", &other], "").exits(2).says(&["other.db"]);
    run(&["stats", "--url", "127.0.0.1:1"], "").exits(2).says(&["invalid URL"]);
    run(&["stats", "--url", "http://127.0.0.1:9"], "").exits(2).says(&["the proxy does not answer"]);
    for (args, says) in [
        (&["--by", "week"][..], "unknown group \"week\""),
        (&["--by", "day,day"], "by names \"day\" twice"),
        (&["--since", "yesterday"], "--since: \"yesterday\" is not a time: use 2026-11-25"),
        (&["--since", "1d", "--until", "2d"], "--since is after --until"),
        (&["--tz", "CET"], "an offset from UTC such as +02:00"),
        (&["--label", "team"], "write it as key:value"),
        (&["--label", "a:1", "--label", "a:2"], "the label \"a\" is given twice"),
        (&["--runner", "cursor"], "[possible values:"),
        (&["--session", "x"], "invalid value 'x'"),
    ] {
        run(&[&["stats", "--from", "-"], args].concat(), "").exits(2).says(&[says]);
    }
}
