//! Updates that describe a later state than their position in the feed: the content that they announce follows them, and is not
//! lost.

use super::records::*;
use crate::support::{fixtures_dir, frames, recordings_of};
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::runners::runner;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The recordings of event feeds, as records. The one with halves of surrogate pairs is excluded, because strict parsers refuse
/// it.
static FEEDS: LazyLock<Vec<(String, Vec<Value>)>> = LazyLock::new(|| {
    let feeds = recordings_of(runner("opencode").unwrap()).into_iter();
    feeds
        .filter(|recording| recording.name.starts_with("event-") && recording.name != "event-split-surrogate.sse")
        .map(|recording| {
            let text = String::from_utf8(recording.bytes).unwrap();
            let records = text.split("\n\n").filter_map(|block| block.strip_prefix("data: "));
            (recording.name, records.map(|record| serde_json::from_str(record).unwrap()).collect())
        })
        .collect()
});

fn frames_of(records: &[Value]) -> Vec<Frame> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    frames(runner("opencode").unwrap(), lines.as_bytes())
}

fn properties(record: &Value) -> &Value {
    let event = record.get("payload").unwrap_or(record);
    event.get("syncEvent").map_or(&event["properties"], |sync| &sync["data"])
}

/// The positions of the updates of each assistant message, in order.
fn updates(records: &[Value]) -> HashMap<String, Vec<usize>> {
    let mut updates: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        let info = &properties(record)["info"];
        let is_update = record.get("payload").unwrap_or(record)["type"] == "message.updated";
        if is_update && info["role"] == "assistant" {
            updates.entry(info["id"].as_str().unwrap().to_owned()).or_default().push(at);
        }
    }
    updates
}

/// The frames of runs, without records.
fn run_bodies(frames: &[Frame]) -> Vec<String> {
    let of_run = |frame: &&Frame| frame.stream.kind == StreamKind::Session;
    let record = |frame: &&Frame| matches!(frame.body, Body::ProviderEvent(_));
    frames.iter().filter(of_run).filter(|frame| !record(frame)).map(|frame| format!("{:?}", frame.body)).collect()
}

fn record_errors(frames: &[Frame]) -> Vec<String> {
    let errors = |frame: &Frame| match &frame.body {
        Body::ProviderEvent(record) => record.errors.to_vec(),
        _ => Vec::new(),
    };
    frames.iter().flat_map(errors).collect()
}

/// Makes the update at `at` describe the state of the update at `from`.
fn copy_info(records: &mut [Value], at: usize, from: usize) {
    let info = properties(&records[from])["info"].clone();
    let record = &mut records[at];
    let event = if record.get("payload").is_some() { &mut record["payload"] } else { record };
    event["properties"]["info"] = info;
}

#[test]
fn the_first_event_of_a_message_may_report_its_end() {
    let mut messages = 0;
    for (name, records) in FEEDS.iter() {
        let mut late = records.clone();
        for updates in updates(records).into_values() {
            for &at in &updates {
                copy_info(&mut late, at, *updates.last().unwrap());
            }
            messages += 1;
        }
        let (expected, found) = (frames_of(records), frames_of(&late));
        assert_eq!(run_bodies(&found), run_bodies(&expected), "{name}");
        assert_eq!(record_errors(&found), record_errors(&expected), "{name}");
    }
    assert!(messages > 30, "{messages}");
}

#[test]
fn an_early_end_does_not_change_the_events_of_a_recording() {
    let feed = |file: &str| &FEEDS.iter().find(|(name, _)| name == file).unwrap().1;
    let bodies = |file| run_bodies(&frames_of(feed(file)));
    assert_ne!(feed("event-updated-early.sse"), feed("event-permission-once.sse"));
    assert_eq!(bodies("event-updated-early.sse"), bodies("event-permission-once.sse"));
    assert!(fixtures_dir("opencode").join("event-updated-early.sse").is_file());
}

/// The ids of messages that are the user's, a summary, or removed: their texts are not answers.
fn ids_without_answers(records: &[Value]) -> HashSet<String> {
    let mut ids = HashSet::new();
    for properties in records.iter().map(properties) {
        let info = &properties["info"];
        let id = if info["role"] == "user" || info["summary"] == true { &info["id"] } else { &Value::Null };
        let removed = properties.get("messageID").filter(|_| properties.get("partID").is_none());
        ids.extend([Some(id), removed].into_iter().flatten().filter_map(|id| id.as_str().map(str::to_owned)));
    }
    ids
}

/// The complete text in a record of an assistant's message.
fn complete_text(data: &Value, no_answers: &HashSet<String>) -> Option<String> {
    let part = &properties(data)["part"];
    let injected = part["synthetic"] == true || part["ignored"] == true;
    let is_answer = part["type"] == "text" && !injected && !no_answers.contains(part["messageID"].as_str()?);
    let text = part["text"].as_str().filter(|text| !text.is_empty())?;
    (is_answer && !part["time"]["end"].is_null()).then(|| text.to_owned())
}

proptest! {
    #[test]
    fn an_update_may_describe_any_later_state(which in any::<Index>(), picks in prop::collection::vec(any::<Index>(), 1..40)) {
        let (name, records) = &FEEDS[which.index(FEEDS.len())];
        let mut late = records.clone();
        let mut picks = picks.iter().cycle();
        for updates in updates(records).into_values() {
            // Time does not run backwards: no update describes an earlier state than the previous one.
            let mut from = 0;
            for (nth, &at) in updates.iter().enumerate() {
                let least = nth.max(from);
                from = least + picks.next().unwrap().index(updates.len() - least);
                copy_info(&mut late, at, updates[from]);
            }
        }
        prop_assert_eq!(run_bodies(&frames_of(&late)), run_bodies(&frames_of(records)), "{}", name);
    }

    #[test]
    fn a_whole_text_is_emitted_or_its_loss_reported(which in any::<Index>(), order in prop::collection::vec(any::<Index>(), 1..80), sorted in any::<bool>()) {
        let (name, records) = &FEEDS[which.index(FEEDS.len())];
        let mut order: Vec<usize> = order.iter().map(|at| at.index(records.len())).collect();
        if sorted {
            // Records are missing and repeated, but in their original order.
            order.sort_unstable();
        }
        let records: Vec<Value> = order.iter().map(|&at| records[at].clone()).collect();
        let no_answers = ids_without_answers(&FEEDS[which.index(FEEDS.len())].1);
        let frames = frames_of(&records);
        let actual: HashSet<_> = frames.iter().filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some(block.text.trim_end().to_owned()),
            _ => None,
        }).collect();
        let mut lost = HashSet::new();
        // Records after a run's end are kept with it but emit nothing. Only the run's last frame follows them.
        let mut works_until = std::collections::HashMap::new();
        for frame in frames.iter().filter(|frame| {
            !matches!(frame.body, Body::ProviderEvent(_) | Body::LogEmitted { .. } | Body::SessionEnded(_))
        }) {
            works_until.insert(frame.stream.id, frame.seq);
        }
        for frame in &frames {
            let Body::ProviderEvent(record) = &frame.body else { continue };
            let is_late = works_until.get(&frame.stream.id).is_none_or(|last| *last < frame.seq);
            let data = framegate_translators::json::value(record.data.as_ref().unwrap().as_bytes()).unwrap();
            let Some(text) = complete_text(&data, &no_answers) else { continue };
            // A repeated text may have been emitted, or lost, before.
            if !record.errors.is_empty() {
                lost.insert(text);
            } else if frame.stream.kind == StreamKind::Session && !is_late {
                prop_assert!(actual.contains(text.trim_end()) || lost.contains(&text), "{}: {:?}", name, text);
            }
        }
    }
}

#[test]
fn a_message_known_only_by_its_end_does_not_block() {
    let begun = || list([user_message("s", "u", "Go"), vec![status("s", "busy")]]);
    // This update is the first event of the message, and no other update follows.
    let late = list([
        begun(),
        vec![completed("s", "a")],
        idle("s"),
        user_message("s", "u2", "Again"),
        vec![status("s", "busy")],
    ]);
    let ended = ["run \"Go\"", "user \"Go\"", "end completed - \"\"", "run \"Again\"", "user \"Again\""];
    assert_eq!(frame_lines(&late)[..5], ended);
    // The message's last text arrives, but no other update.
    let piece = json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": "One."});
    let announced = part("s", "a", "t", json!({"type": "text", "text": "", "time": {"start": 1}}));
    let words = [announced, event("message.part.delta", piece)];
    let lines_of =
        |more: Vec<Value>| frame_lines(&list([begun(), vec![completed("s", "a")], words.to_vec(), more]))[2..].to_vec();
    assert_eq!(lines_of(idle("s")), ["delta \"One.\"", "text \"One.\"", "end completed - \"One.\""]);
    // The next message of the session ends it too.
    let next = vec![message("s", "b", json!({})), text_part("s", "b", "t2", "Two.")];
    assert_eq!(
        lines_of(list([next, vec![completed("s", "b")], idle("s")])),
        ["delta \"One.\"", "text \"One.\"", "delta \"Two.\"", "text \"Two.\"", "end completed - \"Two.\""]
    );
}

#[test]
fn an_announced_failure_is_reported_if_nothing_else_reports_it() {
    let failed = json!({"time": {"created": 1, "completed": 2}, "error": {"name": "APIError", "data": {"message": "no", "statusCode": 400}}});
    let begun = || list([user_message("s", "u", "Go"), vec![status("s", "busy"), message("s", "a", failed.clone())]]);
    let ended = ["error invalid_request \"no\"", "end failed invalid_request \"\""];
    assert_eq!(frame_lines(&list([begun(), idle("s")]))[2..], ended, "idle");
    assert_eq!(frame_lines(&begun())[2..], ended, "the end of the input");
}

#[test]
fn an_old_message_neither_starts_nor_blocks_a_run() {
    assert_eq!(frame_lines(&[completed("s", "old")]), Vec::<String>::new());
    let records = list([
        user_message("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a", json!({})),
            completed("s", "old"),
            text_part("s", "a", "t", "New."),
        ],
        vec![completed("s", "a")],
        idle("s"),
        vec![completed("s", "old"), completed("s", "a")],
    ]);
    assert_eq!(frame_lines(&records)[2..], ["delta \"New.\"", "text \"New.\"", "end completed - \"New.\""]);
}

/// An assistant message that was complete before anything in [`begun_later`] began.
fn old_message(session: &str, id: &str, more: Value) -> Value {
    let mut info = json!({"time": {"created": 10, "completed": 20}});
    info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message(session, id, info)
}

/// A run whose prompt is later than all old messages, with one message.
fn later_run() -> Vec<Value> {
    let mut asked = user_message("s", "u", "Go");
    asked[0]["properties"]["info"]["time"]["created"] = json!(100);
    list([asked, vec![status("s", "busy"), message("s", "a", json!({"time": {"created": 101}}))]])
}

#[test]
fn an_old_message_does_not_affect_a_later_run() {
    let failure = json!({"error": {"name": "APIError", "data": {"message": "no", "statusCode": 400}}});
    let ends = || vec![text_part("s", "a", "t", "All well."), completed("s", "a")];
    let lines_of = |more: Vec<Value>| frame_lines(&list([later_run(), ends(), more, idle("s")]))[2..].to_vec();
    let well = ["delta \"All well.\"", "text \"All well.\"", "end completed - \"All well.\""];
    // An old message's error, summary, texts, calls and usage.
    assert_eq!(lines_of(vec![old_message("s", "old", failure.clone())]), well);
    let summary = [old_message("s", "old", json!({"summary": true})), text_part("s", "old", "o", "The summary.")];
    assert_eq!(lines_of(summary.to_vec()), well);
    let step = json!({"type": "step-finish", "reason": "stop", "cost": 1, "tokens": {"input": 7, "output": 7}});
    let call = tool("s", "old", "c", "call", "bash", completed_state(json!({}), "out", json!({"exit": 0})));
    let parts = [
        old_message("s", "old", json!({})),
        text_part("s", "old", "o", "Old."),
        part("s", "old", "f", step),
        call.clone(),
    ];
    assert_eq!(lines_of(parts.to_vec()), well);
    // Parts have their own times, which show that they are old.
    assert_eq!(lines_of(vec![text_part("s", "old", "o", "Old."), call]), well);
    // An old successful message does not change the result of a failed run.
    let failed = list([
        later_run(),
        vec![error("s", "UnknownError", "boom"), old_message("s", "old", json!({}))],
        idle("s"),
        idle("s"),
    ]);
    assert_eq!(frame_lines(&failed)[2..], ["error execution_error \"boom\"", "end failed execution_error \"\""]);
    // Neither does an old message of the user.
    let mut asked = user_message("s", "old", "Old words");
    asked[0]["properties"]["info"]["time"]["created"] = json!(10);
    assert_eq!(lines_of(asked), well);
    // The old message may belong to a child: the session of a continued task.
    let child = event("session.created", json!({"sessionID": "k", "info": {"id": "k", "parentID": "s"}}));
    assert_eq!(lines_of(vec![child, old_message("k", "old", failure.clone())]), well);
    // If the prompt was not seen, the first message that is written shows when the run began.
    let joined = |more| list([later_run()[2..].to_vec(), ends(), more, idle("s")]);
    assert_eq!(frame_lines(&joined(vec![old_message("s", "old", failure.clone())]))[1..], well);
    // A message that began later and is first seen at its end belongs to the run.
    let own = json!({"time": {"created": 102, "completed": 103}, "error": failure["error"]});
    let of_own = lines_of(vec![message("s", "b", own)]);
    assert_eq!(of_own[2..], ["error invalid_request \"no\"", "end failed invalid_request \"All well.\""]);
}

#[test]
fn an_old_part_starts_no_run() {
    let over = || list([later_run(), vec![completed("s", "a")], idle("s")]);
    let ended = frame_lines(&over());
    // The runner removes the output of old calls, even in messages that are long forgotten.
    let mut state = completed_state(json!({}), "out", json!({"exit": 0}));
    let call = |state: &Value| tool("s", "old", "c", "call", "bash", state.clone());
    let later = list([over(), vec![call(&state), text_part("s", "old", "o", "Old.")]]);
    assert_eq!(frame_lines(&later), ended);
    let frames = frames_of(&later);
    let kinds: Vec<&str> = frames.iter().rev().take(3).map(|frame| frame.body.kind()).collect();
    assert_eq!(kinds, ["session_ended", "provider_event", "provider_event"], "records of the run that is over");
    state["time"]["compacted"] = json!(200);
    assert_eq!(frame_lines(&[call(&state)]), Vec::<String>::new());
}

#[test]
fn late_parts_of_a_complete_message_are_emitted() {
    let call = |state| tool("s", "a", "p", "c", "bash", state);
    let records = list([
        user_message("s", "u", "Go"),
        vec![status("s", "busy"), message("s", "a", json!({})), text_part("s", "a", "t1", "One."), completed("s", "a")],
        vec![text_part("s", "a", "t1", "One."), text_part("s", "a", "t2", "Two."), text_part("s", "a", "t2", "Two.")],
        vec![
            call(running(json!({"command": "x"}))),
            call(completed_state(json!({"command": "x"}), "out", json!({"exit": 0}))),
        ],
        vec![call(completed_state(json!({"command": "x"}), "out", json!({"exit": 0})))],
        idle("s"),
    ]);
    assert_eq!(
        frame_lines(&records)[2..],
        [
            "delta \"One.\"",
            "text \"One.\"",
            "delta \"Two.\"",
            "text \"Two.\"",
            "started c bash shell {\"command\":\"x\"}",
            "out \"out\"",
            "ended c 0",
            "end completed - \"Two.\""
        ]
    );
}

#[test]
fn parts_that_arrive_too_late_are_errors() {
    let begun = |words: Vec<Value>| {
        list([user_message("s", "u", "Go"), vec![status("s", "busy"), message("s", "a", json!({}))], words])
    };
    let open = |text: &str| part("s", "a", "t", json!({"type": "text", "text": text, "time": {"start": 1}}));
    // The message was complete before its text: no more text can be emitted, but it is the run's final text.
    let lines_of = |records: Vec<Vec<Value>>| frame_lines(&list([begun(list(records)), idle("s")]))[2..].to_vec();
    let half = |late: Vec<Value>| lines_of(vec![vec![open("Half"), completed("s", "a")], late]);
    let expected = "record error a text came whole after it was closed, and is not what was said of it";
    let corrected = ["delta \"Half\"", "text \"Half\"", expected, "end completed - \"Half an answer\""];
    assert_eq!(half(vec![text_part("s", "a", "t", "Half an answer")]), corrected);
    let said = ["delta \"Half\"", "text \"Half\"", "end completed - \"Half\""];
    assert_eq!(half(vec![text_part("s", "a", "t", "Half")]), said, "it says nothing new");
    let spaced = lines_of(vec![vec![open("Half \n"), completed("s", "a"), text_part("s", "a", "t", "Half")]]);
    assert_eq!(spaced, ["delta \"Half \\n\"", "text \"Half \\n\"", "end completed - \"Half \\n\""], "nor here");
    let piece = json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": " an answer"});
    let piece = half(vec![event("message.part.delta", piece)]);
    assert_eq!(piece[2], "record error a piece of a text came after the text was closed");
    // A newer text is the answer, whatever happens to an older one.
    let newer = vec![message("s", "b", json!({})), text_part("s", "b", "t2", "Whole."), completed("s", "b")];
    let newer = lines_of(vec![
        vec![open("Half"), completed("s", "a")],
        newer,
        vec![text_part("s", "a", "t", "Half an answer")],
    ]);
    assert_eq!(newer[4..], [expected, "end completed - \"Whole.\""]);
    // A retry cuts off the text of the previous attempt, which may turn out to be complete.
    let again = |late: &str| {
        lines_of(vec![
            vec![open("Half"), status("s", "retry"), status("s", "busy")],
            vec![text_part("s", "a", "t", late), completed("s", "a")],
        ])
    };
    let retried = ["delta \"Half\"", "text \"Half\"", "error retry \"the model request is made again\""];
    assert_eq!(again("Half an answer")[..3], retried);
    assert_eq!(again("Half an answer")[3..], [expected, "end completed - \"Half an answer\""]);
    assert_eq!(again("Half")[3..], ["end completed - \"Half\""]);
    // A failed message has no answer.
    let broken =
        json!({"time": {"created": 1, "completed": 2}, "error": {"name": "APIError", "data": {"message": "no"}}});
    let broken = [
        open("Half"),
        message("s", "a", broken),
        text_part("s", "a", "t", "Half an answer"),
        text_part("s", "a", "t2", "B."),
    ];
    let actual_failed = lines_of(vec![broken.to_vec()]);
    assert_eq!(actual_failed[3..], [expected, "delta \"B.\"", "text \"B.\"", "end failed api_error \"\""]);
    // The run was already over.
    let over = |late: Value| {
        frame_lines(&list([begun(vec![text_part("s", "a", "t", "Said."), completed("s", "a")]), idle("s"), vec![late]]))
    };
    let late = ["record error a part of a message whose run is over", "end completed - \"Said.\""];
    assert!(over(text_part("s", "a", "t2", "More.")).ends_with(&late.map(str::to_owned)));
    let ended = tool("s", "a", "p", "c", "bash", completed_state(json!({}), "", json!({})));
    assert!(over(ended).ends_with(&late.map(str::to_owned)));
    assert_eq!(over(text_part("s", "a", "t", "Said.")).last().unwrap(), "end completed - \"Said.\"");
}

#[test]
fn deltas_after_the_end_of_a_message_are_part_of_the_answer() {
    let announced = part("s", "a", "t", json!({"type": "text", "text": "", "time": {"start": 1}}));
    let piece = json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": "Late."});
    let records = |failure: Vec<Value>| {
        let begun = vec![status("s", "busy"), message("s", "a", json!({})), announced.clone(), completed("s", "a")];
        list([begun, vec![event("message.part.delta", piece.clone())], failure, idle("s")])
    };
    assert_eq!(frame_lines(&records(vec![]))[1..], ["delta \"Late.\"", "text \"Late.\"", "end completed - \"Late.\""]);
    let failed = frame_lines(&records(vec![error("s", "UnknownError", "boom")]));
    assert_eq!(failed[2..], ["error execution_error \"boom\"", "text \"Late.\"", "end failed execution_error \"\""]);
}

#[test]
fn a_whole_text_that_contradicts_its_deltas_is_an_error_and_the_final_text() {
    let piece = |text: &str| {
        let delta = json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": text});
        event("message.part.delta", delta)
    };
    let of = |pieces: &[&str], whole: &str| {
        let announced = part("s", "a", "t", json!({"type": "text", "text": "", "time": {"start": 1}}));
        let pieces = pieces.iter().map(|text| piece(text)).collect();
        let records = [vec![status("s", "busy"), message("s", "a", json!({})), announced], pieces];
        frame_lines(&list([list(records), vec![text_part("s", "a", "t", whole), completed("s", "a")], idle("s")]))[1..]
            .to_vec()
    };
    assert_eq!(
        of(&["It ", "written."], "It is written."),
        [
            "delta \"It \"",
            "delta \"written.\"",
            "record error the whole text differs from the pieces that came before it; the pieces stand",
            "text \"It written.\"",
            "end completed - \"It is written.\""
        ]
    );
    // A text that only lacks the trailing space contradicts nothing.
    assert_eq!(
        of(&["Done. \n"], "Done."),
        ["delta \"Done. \\n\"", "text \"Done. \\n\"", "end completed - \"Done. \\n\""]
    );
}
