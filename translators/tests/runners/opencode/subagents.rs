//! Exported sessions with those of their subagents, as framegate reads them from the database.

use super::records::*;
use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, StreamKind, Usage, UsageScope};
use framegate_translators::runners::runner;
use serde_json::{Map, Value, json};

/// What a recorded feed says in the end of the sessions in it, as the document of the first one.
fn document_of(file: &str) -> Value {
    let feed = std::fs::read_to_string(fixtures_dir("opencode").join(file)).unwrap();
    let mut sessions: Vec<(String, Value)> = Vec::new();
    for data in feed.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let event: Value = serde_json::from_str(data).unwrap();
        let properties = &event["properties"];
        let Some(id) = properties["sessionID"].as_str() else { continue };
        let at = sessions.iter().position(|(known, _)| known == id).unwrap_or(sessions.len());
        if at == sessions.len() {
            sessions.push((id.to_owned(), json!({"info": null, "messages": []})));
        }
        let session = &mut sessions[at].1;
        let (info, part) = (&properties["info"], &properties["part"]);
        match event["type"].as_str().unwrap() {
            "session.created" | "session.updated" => session["info"] = info.clone(),
            "message.updated" => {
                let message = place(&mut session["messages"], |message| message["info"]["id"] == info["id"]);
                message["info"] = info.clone();
                message.as_object_mut().unwrap().entry("parts").or_insert_with(|| json!([]));
            }
            "message.part.updated" => {
                let of = |message: &Value| message["info"]["id"] == part["messageID"];
                let parts = &mut place(&mut session["messages"], of)["parts"];
                *place(parts, |known| known["id"] == part["id"]) = part.clone();
            }
            _ => {}
        }
    }
    let mut sessions = sessions.into_iter().map(|(_, session)| session);
    let mut document = sessions.next().unwrap();
    document["children"] = sessions.collect();
    document
}

/// The item of a list that meets the condition; a new one at its end, if none does.
fn place(list: &mut Value, is_meant: impl Fn(&Value) -> bool) -> &mut Value {
    let list = list.as_array_mut().unwrap();
    let at = list.iter().position(is_meant).unwrap_or(list.len());
    if at == list.len() {
        list.push(Value::Object(Map::new()));
    }
    &mut list[at]
}

fn decoded(document: &Value) -> Vec<Frame> {
    frames(runner("opencode").unwrap(), document.to_string().as_bytes())
}

/// The frames of runs, without pieces of texts.
fn lines(frames: &[Frame]) -> Vec<String> {
    let of_runs = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
    of_runs.filter(|frame| !matches!(frame.body, Body::OutputTextDelta(_))).filter_map(line).collect()
}

/// The total of the only run.
fn total(frames: &[Frame]) -> &Usage {
    let totals = frames.iter().filter_map(|frame| match &frame.body {
        Body::UsageReported(usage) if usage.scope == UsageScope::Run => Some(&**usage),
        _ => None,
    });
    let totals: Vec<&Usage> = totals.collect();
    assert_eq!(totals.len(), 1);
    totals[0]
}

#[test]
fn a_document_with_its_children_says_what_the_feed_said() {
    for file in ["event-subagent.sse", "event-abort-subagent.sse"] {
        let feed = frames(runner("opencode").unwrap(), &std::fs::read(fixtures_dir("opencode").join(file)).unwrap());
        let exported = decoded(&document_of(file));
        let (mut of_feed, mut of_document) = (lines(&feed), lines(&exported));
        // What sessions say at the same time has another order in the feed.
        of_feed.sort();
        of_document.sort();
        assert_eq!(of_document, of_feed, "{file}");
    }
}

#[test]
fn the_total_of_a_run_has_its_childrens_usage_once() {
    let manifest = std::fs::read_to_string(fixtures_dir("opencode").join("MANIFEST.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let recording = |entry: &&Value| entry["file"] == "event-subagent.sse";
    let facts = &manifest["recordings"].as_array().unwrap().iter().find(recording).unwrap()["facts"];
    let sum = |key: &str| {
        let of = |facts: &Value| facts["usage_sum"][key].as_u64().unwrap();
        (of(facts) + of(&facts["child"]), of(facts))
    };
    let mut document = document_of("event-subagent.sse");
    let cost = |document: &mut Value, cost: f64| {
        for part in document["messages"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|message| message["parts"].as_array_mut().unwrap())
        {
            if part["type"] == "step-finish" {
                part["cost"] = json!(cost);
            }
        }
    };
    cost(&mut document, 0.25);
    cost(&mut document["children"][0], 0.5);
    let exported = decoded(&document);
    let usage = total(&exported);
    let main = usage.main_thread.as_ref().unwrap();
    assert_eq!((usage.input_tokens, main.input_tokens), sum("input"));
    assert_eq!((usage.output_tokens, main.output_tokens), sum("output"));
    assert_eq!(usage.cost_usd, Some(2.0 * 0.25 + 2.0 * 0.5));
    // Without the member, the document is that of the runner's own export.
    document.as_object_mut().unwrap().remove("children");
    assert_eq!(total(&decoded(&document)).input_tokens, sum("input").1);
}

fn asked(id: &str, at: u64, text: &str) -> Value {
    json!({"info": {"id": id, "role": "user", "time": {"created": at}},
        "parts": [{"id": format!("{id}-p"), "type": "text", "text": text}]})
}

/// A message of one step that took `at` to `end`, with 10 tokens in and 1 out.
fn step(id: &str, (at, end): (u64, u64), reason: &str, part: Value) -> Value {
    let tokens = json!({"total": 11, "input": 10, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    json!({
        "info": {"id": id, "role": "assistant", "finish": reason, "time": {"created": at, "completed": end}},
        "parts": [
            {"id": format!("{id}-1"), "type": "step-start"},
            part,
            {"id": format!("{id}-3"), "type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0},
        ],
    })
}

fn saying(id: &str, (at, end): (u64, u64), text: &str) -> Value {
    let part = json!({"id": format!("{id}-2"), "type": "text", "text": text, "time": {"start": at, "end": end}});
    step(id, (at, end), "stop", part)
}

/// A message that calls a subagent, for which `child` works.
fn calling(id: &str, (at, end): (u64, u64), child: Option<&str>) -> Value {
    let state = json!({"status": "completed", "input": {"description": id, "prompt": "Do", "subagent_type": "general"}, "output": "Report.",
        "metadata": {"sessionId": child}, "time": {"start": at, "end": end}});
    let part = json!({"id": format!("{id}-2"), "type": "tool", "tool": "task", "callID": id, "state": state});
    step(id, (at, end), "tool-calls", part)
}

fn child(id: &str, parent: &str, title: &str, messages: Value) -> Value {
    json!({"info": {"id": id, "parentID": parent, "title": title}, "messages": messages})
}

fn document(messages: Value, children: Value) -> Value {
    json!({"info": {"id": "s", "version": "1.18.33"}, "messages": messages, "children": children})
}

/// The lines that say who worked and when, without turns and usage of each step.
fn work(document: &Value) -> Vec<String> {
    let is_work = |line: &String| {
        ["subagent", "text", "started", "ended", "run", "end ", "user"]
            .iter()
            .any(|kind| line.trim_start().starts_with(kind))
    };
    lines(&decoded(document)).into_iter().filter(is_work).collect()
}

#[test]
fn a_childs_children_work_for_its_calls() {
    let nested = document(
        json!([asked("u", 1, "Go"), calling("a", (2, 20), Some("k")), saying("b", (21, 22), "Done.")]),
        json!([
            child(
                "k",
                "s",
                "a",
                json!([asked("ku", 3, "Do"), calling("ka", (4, 10), Some("g")), saying("kb", (11, 12), "Child.")])
            ),
            child("g", "k", "ka", json!([asked("gu", 5, "Dig"), saying("ga", (6, 7), "Grandchild.")])),
        ]),
    );
    let expected = [
        "run \"Go\"",
        "user \"Go\"",
        "started a task subagent {\"description\":\"a\",\"prompt\":\"Do\",\"subagent_type\":\"general\"}",
        "subagent k of a call",
        "  user \"Do\"",
        "  started ka task subagent {\"description\":\"ka\",\"prompt\":\"Do\",\"subagent_type\":\"general\"}",
        "  subagent g of a call",
        "  user \"Dig\"",
        "  text \"Grandchild.\"",
        "  subagent completed \"Report.\"",
        "  ended ka 0",
        "  text \"Child.\"",
        "subagent completed \"Report.\"",
        "ended a 0",
        "text \"Done.\"",
        "end completed - \"Done.\"",
    ];
    assert_eq!(work(&nested), expected);
    let exported = decoded(&nested);
    let usage = total(&exported);
    assert_eq!((usage.input_tokens, usage.main_thread.as_ref().unwrap().input_tokens), (50, 20));
    let depths: Vec<u32> = exported
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::SubagentStarted { depth, .. } => Some(*depth),
            _ => None,
        })
        .collect();
    assert_eq!(depths, [1, 2]);
}

#[test]
fn a_child_that_is_called_again_works_for_each_call_in_turn() {
    let again = document(
        json!([
            asked("u", 1, "One"),
            calling("a", (2, 5), Some("k")),
            saying("b", (6, 7), "Done."),
            asked("v", 10, "Two"),
            calling("c", (11, 15), Some("k")),
            saying("d", (16, 17), "Again."),
        ]),
        json!([child(
            "k",
            "s",
            "a",
            json!([
                asked("ku", 3, "Do"),
                saying("ka", (4, 5), "First."),
                asked("kv", 12, "Do"),
                saying("kb", (13, 14), "Second."),
            ])
        )]),
    );
    let lines: Vec<String> =
        work(&again).into_iter().filter(|line| !line.contains("user") && !line.contains("start")).collect();
    let expected = [
        "run \"One\"",
        "subagent k of a call",
        "  text \"First.\"",
        "subagent completed \"Report.\"",
        "ended a 0",
        "text \"Done.\"",
        "end completed - \"Done.\"",
        "run \"Two\"",
        "subagent k of a call",
        "  text \"Second.\"",
        "subagent completed \"Report.\"",
        "ended c 0",
        "text \"Again.\"",
        "end completed - \"Again.\"",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_child_that_no_call_names_belongs_to_the_run_of_its_time() {
    let unnamed = document(
        json!([
            asked("u", 1, "One"),
            calling("a", (2, 5), None),
            saying("b", (6, 7), "Done."),
            asked("v", 10, "Two"),
            saying("d", (16, 17), "Again."),
        ]),
        json!([
            // The description of the call is the title of the first one.
            child("k", "s", "a (@general subagent)", json!([asked("ku", 3, "Do"), saying("ka", (4, 5), "Titled.")])),
            child("l", "s", "Else", json!([saying("la", (3, 4), "Early."), saying("lb", (12, 13), "Late.")])),
        ]),
    );
    let lines: Vec<String> =
        work(&unnamed).into_iter().filter(|line| !line.contains("user") && !line.contains("start")).collect();
    let expected = [
        "run \"One\"",
        "subagent k of a call",
        "  text \"Titled.\"",
        "ended a 0",
        "subagent completed \"\"",
        "text \"Done.\"",
        "subagent l of a call",
        "  text \"Early.\"",
        "subagent completed \"\"",
        "end completed - \"Done.\"",
        "run \"Two\"",
        "text \"Again.\"",
        "subagent l of a call",
        "  text \"Late.\"",
        "subagent completed \"\"",
        "end completed - \"Again.\"",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn sessions_that_name_each_other_are_read_once() {
    let circle = document(
        json!([asked("u", 1, "Go"), calling("a", (2, 20), Some("k")), saying("b", (21, 22), "Done.")]),
        json!([
            child("k", "l", "a", json!([calling("ka", (4, 10), Some("l")), calling("kb", (11, 12), Some("k"))])),
            child("l", "k", "b", json!([calling("la", (5, 7), Some("k")), calling("lb", (8, 9), Some("s"))])),
        ]),
    );
    assert_eq!(total(&decoded(&circle)).input_tokens, 60);
}
