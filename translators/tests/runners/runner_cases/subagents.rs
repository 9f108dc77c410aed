//! OpenCode's child sessions: every frame of a child is attributed to the `task` call that started it, whenever the call names
//! its child. Covers the event formats of the first release and of the current one.

use super::frames;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An event of the first release: it has no id, and the session id is inside the object that it is about.
fn old(kind: &str, properties: Value) -> Value {
    json!({"type": kind, "properties": properties})
}

fn created(id: &str, parent: Option<&str>, title: &str) -> Value {
    let mut info = json!({"id": id, "projectID": "p", "directory": "/w", "title": title, "version": "1.0.185",
        "time": {"created": 1, "updated": 1}});
    if let Some(parent) = parent {
        info["parentID"] = json!(parent);
    }
    old("session.created", json!({"info": info}))
}

fn message(session: &str, id: &str, completed: bool) -> Value {
    let mut info = json!({"id": id, "sessionID": session, "role": "assistant", "modelID": "x", "time": {"created": 2}});
    if completed {
        info["time"]["completed"] = json!(9);
    }
    old("message.updated", json!({"info": info}))
}

fn part(session: &str, message: &str, id: &str, more: Value) -> Value {
    let mut part = json!({"id": id, "sessionID": session, "messageID": message});
    part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    old("message.part.updated", json!({"part": part}))
}

fn task(call: &str, status: &str, description: &str, child: Option<&str>) -> Value {
    let input = json!({"description": description, "prompt": format!("Do {description}."), "subagent_type": "general"});
    let mut state =
        json!({"status": status, "input": if status == "pending" { json!({}) } else { input }, "time": {"start": 3}});
    if let Some(child) = child {
        state["metadata"] = json!({"sessionId": child});
    }
    if status == "completed" {
        (state["output"], state["title"], state["time"]["end"]) = (json!("done"), json!(description), json!(8));
    }
    part("root", "m", &format!("p-{call}"), json!({"type": "tool", "tool": "task", "callID": call, "state": state}))
}

/// The activity of a child session: a text and a tool.
fn works(child: &str) -> Vec<Value> {
    let id = format!("m-{child}");
    let bash = json!({"type": "tool", "tool": "bash", "callID": format!("bash-{child}"), "state": {"status": "completed",
        "input": {"command": "ls"}, "output": "a", "title": "ls", "metadata": {"exit": 0}, "time": {"start": 4, "end": 5}}});
    vec![
        message(child, &id, false),
        part(child, &id, &format!("s-{child}"), json!({"type": "step-start"})),
        part(child, &id, &format!("b-{child}"), bash),
        part(child, &id, &format!("t-{child}"), json!({"type": "text", "text": child, "time": {"start": 5, "end": 6}})),
        message(child, &id, true),
        old("session.idle", json!({"sessionID": child})),
    ]
}

fn begin() -> Vec<Value> {
    vec![
        created("root", None, "Root"),
        old("session.status", json!({"sessionID": "root", "status": {"type": "busy"}})),
        message("root", "m", false),
        part("root", "m", "step", json!({"type": "step-start"})),
    ]
}

fn end() -> Vec<Value> {
    vec![message("root", "m", true), old("session.idle", json!({"sessionID": "root"}))]
}

/// For each child session, the call id of the tool that its text and its tool are attributed to.
fn attributed(records: &[Value]) -> BTreeMap<String, String> {
    let all =
        frames("opencode", records, &["tool_started", "output_text_completed", "subagent_started", "subagent_ended"]);
    let calls: BTreeMap<_, _> = all
        .iter()
        .filter(|frame| frame["type"] == "tool_started")
        .map(|frame| (frame["tool_id"].as_str().unwrap(), frame["call_id"].as_str().unwrap()))
        .collect();
    let mut by_child = BTreeMap::new();
    for frame in &all {
        let child = match frame["type"].as_str().unwrap() {
            "output_text_completed" => frame["text"].as_str().unwrap(),
            "tool_started" if frame["name"] == "bash" => {
                frame["call_id"].as_str().unwrap().strip_prefix("bash-").unwrap()
            }
            _ => continue,
        };
        let parent = frame["parent_tool_id"].as_str().unwrap_or_else(|| panic!("on the main thread: {frame:#?}"));
        let call = calls.get(parent).unwrap_or_else(|| panic!("in the name of no tool: {frame:#?}\n{all:#?}"));
        let before = by_child.insert(child.to_owned(), (*call).to_owned());
        assert!(before.is_none_or(|before| before == *call), "{child} has two names");
    }
    for kind in ["subagent_started", "subagent_ended"] {
        let actual: Vec<_> =
            all.iter().filter(|frame| frame["type"] == kind).map(|frame| &frame["subagent_id"]).collect();
        assert_eq!(actual.len(), by_child.len(), "{kind}: {actual:?}");
    }
    by_child
}

fn one(child: &str, call: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(child.to_owned(), call.to_owned())])
}

fn both() -> BTreeMap<String, String> {
    BTreeMap::from([("kid-a".to_owned(), "call-a".to_owned()), ("kid-b".to_owned(), "call-b".to_owned())])
}

#[test]
fn a_childs_output_is_attributed_to_a_call_that_names_it_at_its_end() {
    let records = [
        begin(),
        vec![task("call-a", "pending", "Alpha", None), task("call-a", "running", "Alpha", None)],
        vec![created("kid-a", Some("root"), "Alpha (@general subagent)")],
        works("kid-a"),
        vec![task("call-a", "completed", "Alpha", Some("kid-a"))],
        end(),
    ];
    assert_eq!(attributed(&records.concat()), one("kid-a", "call-a"));
}

#[test]
fn a_child_that_speaks_before_its_call_determines_the_calls_id() {
    let records = [
        begin(),
        vec![created("kid-a", Some("root"), "Alpha (@general subagent)")],
        works("kid-a"),
        vec![task("call-a", "running", "Alpha", None), task("call-a", "completed", "Alpha", Some("kid-a"))],
        end(),
    ];
    assert_eq!(attributed(&records.concat()), one("kid-a", "call-a"));
    let records = [
        begin(),
        vec![created("kid-a", Some("root"), "Alpha (@general subagent)")],
        works("kid-a"),
        vec![task("call-a", "completed", "Alpha", Some("kid-a"))],
        end(),
    ];
    assert_eq!(attributed(&records.concat()), one("kid-a", "call-a"), "a call known only by its end");
}

#[test]
fn parallel_children_are_distinguished_by_title() {
    // The children are created in a different order than the calls.
    let records = [
        begin(),
        vec![task("call-a", "running", "Alpha", None), task("call-b", "running", "Beta", None)],
        vec![
            created("kid-b", Some("root"), "Beta (@general subagent)"),
            created("kid-a", Some("root"), "Alpha (@general subagent)"),
        ],
        works("kid-b"),
        works("kid-a"),
        vec![task("call-b", "completed", "Beta", Some("kid-b")), task("call-a", "completed", "Alpha", Some("kid-a"))],
        end(),
    ];
    assert_eq!(attributed(&records.concat()), both());
    // The children's events precede their calls.
    let records = [
        begin(),
        vec![
            created("kid-b", Some("root"), "Beta (@general subagent)"),
            created("kid-a", Some("root"), "Alpha (@general subagent)"),
        ],
        works("kid-b"),
        works("kid-a"),
        vec![task("call-a", "running", "Alpha", None), task("call-b", "running", "Beta", None)],
        vec![task("call-b", "completed", "Beta", Some("kid-b")), task("call-a", "completed", "Alpha", Some("kid-a"))],
        end(),
    ];
    assert_eq!(attributed(&records.concat()), both());
}

#[test]
fn parallel_children_without_titles_are_distinguished_by_order() {
    let records = [
        begin(),
        vec![task("call-a", "running", "Same", None), task("call-b", "running", "Same", None)],
        vec![created("kid-a", Some("root"), ""), created("kid-b", Some("root"), "")],
        works("kid-a"),
        works("kid-b"),
        vec![task("call-a", "completed", "Same", Some("kid-a")), task("call-b", "completed", "Same", Some("kid-b"))],
        end(),
    ];
    assert_eq!(attributed(&records.concat()), both());
}

#[test]
fn current_events_give_the_same_frames() {
    let today = |record: Value| {
        let mut record = record;
        record["id"] = json!("evt");
        let properties = record["properties"].clone();
        let session = ["part", "info"].iter().find_map(|key| {
            let about = properties.get(*key)?;
            about.get("sessionID").or_else(|| about.get("id")).cloned()
        });
        if let Some(session) = session {
            record["properties"]["sessionID"] = session;
        }
        record
    };
    let records = [
        begin(),
        vec![task("call-a", "pending", "Alpha", None), task("call-a", "running", "Alpha", Some("kid-a"))],
        vec![created("kid-a", Some("root"), "Alpha (@general subagent)")],
        works("kid-a"),
        vec![task("call-a", "completed", "Alpha", Some("kid-a"))],
        end(),
    ];
    let records: Vec<_> = records.concat().into_iter().map(today).collect();
    assert_eq!(attributed(&records), one("kid-a", "call-a"));
}

fn codex(method: &str, thread: &str, params: Value) -> Value {
    let mut params = params;
    params["threadId"] = json!(thread);
    json!({"method": method, "params": params, "emittedAtMs": 1})
}

#[test]
fn a_codex_child_that_outlives_its_parents_turn_is_not_interrupted() {
    let turn = |id: &str, status: &str| json!({"turn": {"id": id, "rootTurnId": "u", "items": [], "status": status}});
    let spawn = |status: &str, receivers: Value| {
        json!({"turnId": "u", "item": {"type": "collabAgentToolCall", "id": "c", "tool": "spawnAgent", "status": status,
            "receiverThreadIds": receivers, "prompt": "p", "agentsStates": {}}})
    };
    let begin = [
        codex("turn/started", "t", turn("u", "inProgress")),
        codex("item/started", "t", spawn("inProgress", json!([]))),
        codex("item/completed", "t", spawn("completed", json!(["kid"]))),
        codex("turn/started", "kid", turn("k", "inProgress")),
        codex("turn/completed", "t", turn("u", "completed")),
    ];
    let statuses = |more: &[Value]| {
        let actual = frames("codex", &[&begin[..], more].concat(), &["subagent_ended"]);
        actual.iter().map(|end| end["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let answer = json!({"turnId": "k", "item": {"type": "agentMessage", "id": "m", "text": "pong"}});
    assert_eq!(
        statuses(&[codex("item/completed", "kid", answer), codex("turn/completed", "kid", turn("k", "completed"))]),
        ["completed"]
    );
    let next = json!({"turn": {"id": "v", "items": [], "status": "inProgress"}});
    assert_eq!(
        statuses(&[codex("turn/started", "t", next), codex("turn/completed", "kid", turn("k", "completed"))]),
        ["detached"],
        "the next run began"
    );
    assert_eq!(statuses(&[]), ["detached"]);
}
