//! Runs and their ends, records and sessions.

use super::calls::{CallFacts, calls};
use super::case::*;
use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, EndReason, Frame, StreamKind};
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_result_ends_a_run() {
    each(|case| {
        let ends = case.ends();
        let results = list(&case.facts["results"]);
        same("results", &(results.len() as u64), &case.facts["n_results"].as_u64().unwrap())?;
        if case.facts["has_terminal_result"] == false {
            same("runs", &ends.len(), &(results.len() + 1))?;
            let end = ends.last().unwrap().1;
            return same(
                "end",
                &(end.reason, end.error_code.as_deref()),
                &(EndReason::Interrupted, Some("stream_ended")),
            );
        }
        same("runs", &ends.len(), &results.len())?;
        for ((_, end), result) in ends.iter().zip(results) {
            let aborted = result["terminal_reason"].as_str().is_some_and(|reason| reason.starts_with("aborted"));
            let reason = match result["is_error"].as_bool().unwrap() {
                false => EndReason::Completed,
                true if aborted => EndReason::Interrupted,
                true => EndReason::Failed,
            };
            same("reason", &end.reason, &reason)?;
            same("error code", &end.error_code.is_some(), &(reason != EndReason::Completed))?;
            if reason == EndReason::Failed {
                if result["subtype"] == "success" {
                    same("message", &end.message.as_deref(), &result["result"]["text"].as_str())?;
                } else {
                    same("error code", &end.error_code.as_deref(), &result["subtype"].as_str())?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn every_record_is_kept_and_every_session_has_a_name() {
    each(|case| {
        let kept = case.frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
        same("records", &kept, &case.records.len())?;
        same("records", &(kept as u64), &case.facts["frames"].as_u64().unwrap())?;
        let runs = case.frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        let ours: BTreeSet<&str> = runs.map(|frame| &*frame.stream.session.name).collect();
        let theirs: BTreeSet<&str> = list(&case.facts["session_ids"]).iter().map(|id| id.as_str().unwrap()).collect();
        same("sessions", &ours, &theirs)
    });
}

#[test]
fn no_record_is_unknown() {
    each(|case| {
        let errors = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::ProviderEvent(record) => record.errors.first(),
            _ => None,
        });
        same("errors", &errors.collect::<Vec<_>>(), &Vec::new())
    });
}

#[test]
fn errors() {
    each(|case| {
        let reported: Vec<_> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => Some(error),
                _ => None,
            })
            .collect();
        let retries: Vec<_> = case.records.iter().filter(|record| record["subtype"] == "api_retry").collect();
        let ours: Vec<_> = reported.iter().filter_map(|error| error.attempt.zip(error.max_attempts)).collect();
        let small = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
        same("retries", &ours, &retries.iter().map(|r| (small(&r["attempt"]), small(&r["max_retries"]))).collect())?;
        for result in list(&case.facts["results"]) {
            let Some(status) = result["api_error_status"].as_u64() else { continue };
            let said = reported
                .iter()
                .any(|error| error.attempt.is_none() && error.http_status.map(u64::from) == Some(status));
            same("status", &said, &true)?;
        }
        // The text of an error appears once, and not as the assistant's text.
        for error in case.records.iter().filter(|record| record["is_api_error_message"] == true) {
            let text = error["message"]["content"][0]["text"].as_str().unwrap();
            same("times said", &reported.iter().filter(|error| error.message == text).count(), &1)?;
            same(
                "as text",
                &case
                    .frames
                    .iter()
                    .any(|frame| matches!(&frame.body, Body::OutputTextCompleted(block) if block.text == text)),
                &false,
            )?;
        }
        Ok(())
    });
}

#[test]
fn transcripts_give_the_same_facts_as_their_streams() {
    let mut compared = 0;
    for (name, entry) in manifest() {
        for transcript in list(&entry["transcripts"]) {
            let file = transcript["file"].as_str().unwrap();
            let (_, frames) = read(file);
            let (records, stream) = read(&name);
            let streamed = Case { name: name.clone(), facts: entry["facts"].clone(), records, frames: stream };
            let facts = list(&streamed.facts["tool_calls"]);
            let (ours, theirs) = (calls(&frames), calls(&streamed.frames));
            let is_child = file.contains(".sub1.");
            // A side chain has its own file. The file of a resumed session starts with the earlier run.
            let resumed = name.starts_with("resume.") || name.starts_with("continue_fork.");
            for fact in facts.iter().filter(|fact| fact["parent_tool_use_id"].is_string() == is_child) {
                let id = fact["id"].as_str().unwrap();
                let Some(ours) = ours.get(id) else { panic!("{file}: no call {id}") };
                let theirs = &theirs[id];
                let of = |call: &CallFacts<'_>| {
                    (call.name.to_owned(), call.args.clone(), call.tool_id, call.exit_code, call.output.clone())
                };
                assert_eq!(of(ours), of(theirs), "{file}");
                assert_eq!(ours.error, theirs.error, "{file}");
            }
            let texts: Vec<&str> = frames
                .iter()
                .filter_map(|frame| match &frame.body {
                    Body::OutputTextCompleted(block) => Some(block.text.as_str()),
                    _ => None,
                })
                .collect();
            let expected: Vec<&str> = if is_child {
                list(&streamed.facts["subagent_texts"])
                    .iter()
                    .map(|fact| fact["text"]["text"].as_str().or(fact["text"].as_str()).unwrap())
                    .collect()
            } else {
                streamed.texts()
            };
            if resumed {
                assert!(texts.ends_with(&expected) && texts.len() > expected.len(), "{file}: {texts:?}");
            } else {
                assert_eq!(texts, expected, "{file}");
            }
            let unknown = frames.iter().filter_map(|frame| match &frame.body {
                Body::ProviderEvent(record) => record.errors.first(),
                _ => None,
            });
            assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&String>::new(), "{file}");
            let ends: Vec<_> = frames
                .iter()
                .filter_map(|frame| match &frame.body {
                    Body::SessionEnded(end) => Some(end.reason),
                    _ => None,
                })
                .collect();
            assert!(!ends.is_empty(), "{file}");
            let went_well = list(&streamed.facts["results"]).iter().all(|result| result["is_error"] == false);
            if went_well {
                assert!(ends.iter().all(|end| *end == EndReason::Completed), "{file}: {ends:?}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 30, "{compared}");
}

/// The final texts of the runs, grouped by session.
fn answers(frames: &[Frame]) -> Vec<(String, EndReason, Option<String>)> {
    let mut answers: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::SessionEnded(end) => {
                Some((frame.stream.session.name.to_string(), end.reason, end.final_text.clone()))
            }
            _ => None,
        })
        .collect();
    // The sort is stable: the runs of one session keep their order.
    answers.sort_by(|a, b| a.0.cmp(&b.0));
    answers
}

#[test]
fn one_input_can_hold_many_sessions() {
    let read_lines = |name: &str| {
        let bytes = std::fs::read(fixtures_dir("claude-code").join(name)).unwrap();
        let lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines
    };
    let names: Vec<String> = manifest().keys().filter(|name| name.ends_with(".ndjson")).cloned().collect();
    let (mut one_by_one, mut together) = (Vec::new(), Vec::new());
    for name in &names {
        let mut lines = read_lines(name);
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        one_by_one.extend(answers(&frames(claude(), &lines.concat())));
        together.extend(lines.concat());
    }
    one_by_one.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(answers(&frames(claude(), &together)), one_by_one);

    // Records in turns, as from a gateway in front of several runners. Control records are excluded because they name no
    // session.
    let whole = names
        .iter()
        .filter(|name| !name.starts_with("control_") && !name.contains("continue_") && !name.contains("resume"));
    let mut inputs: Vec<_> = whole.map(|name| read_lines(name).into_iter()).collect();
    let mut mixed = Vec::new();
    loop {
        let round: Vec<Vec<u8>> = inputs.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        for mut line in round {
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            mixed.extend(line);
        }
    }
    let expected: Vec<_> = one_by_one
        .into_iter()
        .filter(|(session, ..)| mixed.windows(session.len()).any(|window| window == session.as_bytes()))
        .collect();
    assert_eq!(answers(&frames(claude(), &mixed)), expected);
}
