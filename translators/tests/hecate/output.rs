//! Shell output: joined within 50 ms, cut by size and by every other event, counted in bytes.

use crate::stage::*;
use framegate_translators::frame::{Body, LogLevel, ToolKind};
use serde_json::{Value, json};

const JOINED: usize = 8 << 10;

fn shell() -> Run {
    let mut run = Run::core().in_turn();
    let kinds = run.kinds(started(call("c", "bash", ToolKind::Shell, &json!({"command": "make"}))));
    assert_eq!(kinds, ["tool.invoked", "tool.started", "tool.shell.command"]);
    run
}

fn chunks(run: &mut Run, body: Body) -> Vec<(u64, String)> {
    run.say(body)
        .into_iter()
        .filter(|(kind, _)| kind == "tool.shell.output_chunk")
        .map(|(_, data)| (data["byte_offset"].as_u64().unwrap(), data["data"].as_str().unwrap().to_owned()))
        .collect()
}

fn one(offset: u64, text: &str) -> Vec<(u64, String)> {
    vec![(offset, text.to_owned())]
}

#[test]
fn the_first_piece_goes_at_once_and_what_follows_at_once_is_joined() {
    let mut run = shell();
    assert_eq!(chunks(&mut run, stdout("c", "ä")), one(0, "ä"));
    assert_eq!(chunks(&mut run, stdout("c", "b")), []);
    run.now_ms += 49;
    assert_eq!(chunks(&mut run, stdout("c", "c")), []);
    // A frame that says nothing here shows that time has passed.
    run.now_ms += 1;
    let log = Body::LogEmitted { level: LogLevel::Info, message: String::new() };
    assert_eq!(chunks(&mut run, log), one(2, "bc"));
    run.now_ms += 48;
    assert_eq!(chunks(&mut run, stdout("c", "d")), [], "1 ms too early");
    run.now_ms += 50;
    assert_eq!(chunks(&mut run, stdout("c", "e")), [(4, "d".to_owned()), (5, "e".to_owned())], "quiet again");
    assert_eq!(chunks(&mut run, exited("c", 0)), []);
}

#[test]
fn joined_output_is_cut_by_size() {
    for (length, expected) in [(JOINED - 1, 0), (JOINED, 1)] {
        let mut run = shell();
        assert_eq!(chunks(&mut run, stdout("c", "a")).len(), 1);
        assert_eq!(chunks(&mut run, stdout("c", &"x".repeat(length))).len(), expected, "{length}");
    }
    let mut run = shell();
    chunks(&mut run, stdout("c", "a"));
    assert_eq!(chunks(&mut run, stdout("c", "bb")), []);
    // What would grow too large is not joined.
    let large = "x".repeat(JOINED - 1);
    assert_eq!(chunks(&mut run, stdout("c", &large)), one(1, "bb"));
    assert_eq!(chunks(&mut run, exited("c", 0)), one(3, &large));
}

#[test]
fn every_other_event_lets_it_go_first() {
    let mut run = shell();
    chunks(&mut run, stdout("c", "a"));
    chunks(&mut run, stdout("c", "b"));
    let error = Body::ToolStderr { tool: tool("c"), chunk: "no".to_owned() };
    assert_eq!(chunks(&mut run, error), one(1, "b"), "the other stream");
    let other = started(call("d", "bash", ToolKind::Shell, &json!({"command": "ls"})));
    let kinds = run.kinds(other);
    assert_eq!(kinds, ["tool.shell.output_chunk", "tool.invoked", "tool.started", "tool.shell.command"]);
    assert_eq!(chunks(&mut run, stdout("d", "x")), []);
    assert_eq!(chunks(&mut run, stdout("c", "c")), one(0, "x"));
    let events = run.say(exited("c", 3));
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["tool.shell.output_chunk", "tool.shell.exited", "tool.failed"]);
    assert_eq!(events[0].1["byte_offset"], 2);
    assert_eq!(
        events[1].1,
        json!({"tool_call_id": "c", "tool_name": "bash", "exit_code": 3, "signal": null, "stdout_bytes": 3,
            "stderr_bytes": 2, "truncated": false})
    );
    assert_eq!((&events[2].1["summary"], &events[2].1["message"]), (&json!("exited with status 3"), &json!("no")));
}

#[test]
fn a_beginning_that_comes_late_goes_on_counting() {
    let mut run = shell();
    chunks(&mut run, stdout("c", "behind"));
    let front = Body::ToolStdoutFront { tool: tool("c"), chunk: "front".to_owned() };
    assert_eq!(run.say(front), []);
    let events = run.say(exited("c", 0));
    assert_eq!(events[0].1["byte_offset"], 6);
    assert_eq!(events[0].1["position"], "front");
}

#[test]
fn ids_and_times_go_up_also_behind_held_output() {
    let mut run = shell();
    let mut all: Vec<Value> = run.events(stdout("c", "a"));
    all.extend(run.events(stdout("c", "b")));
    run.now_ms += 20;
    all.extend(run.events(exited("c", 0)));
    let sequences: Vec<u64> = all.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, [5, 6, 7, 8]);
    assert!(all.windows(2).all(|pair| pair[0]["event_id"].as_str() < pair[1]["event_id"].as_str()));
    assert_eq!(all[1]["occurred_at"], "2026-02-02T02:40:00.000Z", "the held piece has its own time");
    assert_eq!(all[2]["occurred_at"], "2026-02-02T02:40:00.020Z");
    let ids: Vec<&str> = ["run_id", "session_id", "task_id"].iter().map(|key| all[0][*key].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        ["run_00000000000000000000000001", "chat_00000000000000000000000002", "task_00000000000000000000000002"]
    );
}
