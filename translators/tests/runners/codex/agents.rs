//! Subagents of `codex app-server`.

use super::{A, B, begin, end, frames_of, item, refs};
use serde_json::Value;

#[test]
fn a_child_may_speak_before_the_call_names_it() {
    let spawn = |status: &str, receivers: &str| {
        format!(
            r#"{{"type":"collabAgentToolCall","id":"s","tool":"spawnAgent","status":"{status}","receiverThreadIds":[{receivers}],"prompt":"p","agentsStates":{{}}}}"#
        )
    };
    let child = r#"{"type":"agentMessage","id":"m","text":"pong"}"#;
    let lines = [
        begin(A, "ta", "ta"),
        item("started", A, &spawn("inProgress", "")),
        begin(B, "tb", "ta"),
        item("completed", B, child),
        item("completed", A, &spawn("completed", r#""01a1ffca-0000-7000-8000-00000000000b""#)),
        end(B, "tb", "completed"),
        end(A, "ta", "completed"),
    ];
    let frames = frames_of(&refs(&lines));
    let pong = frames.iter().find(|frame| frame["text"] == "pong").unwrap();
    let spawned = frames.iter().find(|frame| frame["type"] == "tool_started").unwrap();
    assert_eq!(pong["parent_tool_id"], spawned["tool_id"]);
    assert_eq!(pong["stream_id"], spawned["stream_id"]);
    let count = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).count();
    assert_eq!((count("subagent_started"), count("subagent_ended"), count("session_ended")), (1, 1, 1));
    assert_eq!(frames.last().unwrap()["final_text"], Value::Null);
}

#[test]
fn parallel_spawns_have_their_own_children_and_tasks() {
    let thread = |name: char| format!("01a1ffca-0000-7000-8000-00000000000{name}");
    let of = |name: char, turn: &str| format!(r#""threadId":"{}","turnId":"{turn}""#, thread(name));
    let spawn = |id: &str, status: &str, receivers: &str| {
        format!(
            r#"{{"type":"collabAgentToolCall","id":"{id}","tool":"spawnAgent","status":"{status}","receiverThreadIds":[{receivers}],"prompt":"task of {id}","agentsStates":{{}}}}"#
        )
    };
    let says = |text: &str| format!(r#"{{"type":"agentMessage","id":"m{text}","text":"{text}"}}"#);
    let named = |name: char| format!("\"{}\"", thread(name));
    let (b, c, d) = (of('b', "tb"), of('c', "tc"), of('d', "td"));
    let lines = [
        begin(A, "ta", "ta"),
        item("started", A, &spawn("s1", "inProgress", "")),
        item("started", A, &spawn("s2", "inProgress", "")),
        // The third call names its child at its start, and the child speaks first.
        item("started", A, &spawn("s3", "inProgress", &named('d'))),
        begin(&d, "td", "ta"),
        item("completed", &d, &says("three")),
        begin(&b, "tb", "ta"),
        item("completed", A, &spawn("s1", "completed", &named('b'))),
        begin(&c, "tc", "ta"),
        item("completed", &c, &says("two")),
        item("completed", &b, &says("one")),
        item("completed", A, &spawn("s2", "completed", &named('c'))),
        item("completed", A, &spawn("s3", "completed", &named('d'))),
        end(A, "ta", "completed"),
    ];
    let frames = frames_of(&refs(&lines));
    let calls: Vec<_> = frames.iter().filter(|frame| frame["type"] == "tool_started").collect();
    assert_eq!(calls.len(), 3);
    for ((name, text), call) in [('b', "one"), ('c', "two"), ('d', "three")].into_iter().zip(calls) {
        let said = frames.iter().find(|frame| frame["text"] == text).unwrap();
        assert_eq!(said["parent_tool_id"], call["tool_id"], "{text}");
        let is_start = |frame: &&Value| frame["type"] == "subagent_started" && frame["subagent_id"] == *thread(name);
        let starts: Vec<_> = frames.iter().filter(is_start).collect();
        assert_eq!(starts.len(), 1, "{text}");
        assert_eq!(starts[0]["tool_id"], call["tool_id"], "{text}");
        assert_eq!(starts[0]["task"], call["args"]["prompt"], "{text}");
    }
}
