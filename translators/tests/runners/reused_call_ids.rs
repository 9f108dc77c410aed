//! A model's provider may give all calls the same id.
//!
//! Every recording whose calls follow each other is read a second time with one id for all of them: nothing may be lost.

use crate::support::*;
use framegate_translators::frame::{Body, Frame, Tool};
use framegate_translators::runners::RUNNERS;
use serde_json::json;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The id that every call gets.
const SAME: &str = "call_of_every_reply";

/// The call that a frame is about, and what it reports of it. Some agents tell the tool's name only by the call's id, so it is left out.
fn of_call(frame: &Frame) -> Option<(&Tool, serde_json::Value)> {
    Some(match &frame.body {
        Body::ToolCallProposed(call) => (&call.tool, json!(["proposed", call.args.get()])),
        Body::ToolStarted { call, timeout_ms } => (&call.tool, json!(["started", timeout_ms])),
        Body::ToolInputDelta { tool, delta, .. } => (tool, json!(["input", delta])),
        Body::ToolStdout { tool, chunk } | Body::ToolStdoutTail { tool, chunk } => (tool, json!(["output", chunk])),
        Body::ToolStderr { tool, chunk } => (tool, json!(["stderr", chunk])),
        Body::ToolEnded { tool, exit_code, .. } => (tool, json!(["ended", exit_code])),
        Body::ToolFailed { tool, error } => (tool, json!(["failed", error])),
        _ => return None,
    })
}

/// What each frame reports of a call, with the call's position among the calls of its run.
fn reports(frames: &[Frame]) -> Vec<(usize, serde_json::Value)> {
    let mut positions = HashMap::new();
    let mut counts: HashMap<_, usize> = HashMap::new();
    let mut reports = Vec::new();
    for frame in frames {
        let Some((tool, report)) = of_call(frame) else { continue };
        let count = counts.entry(frame.stream.id).or_default();
        let position = positions.entry((frame.stream.id, tool.id)).or_insert_with(|| {
            *count += 1;
            *count
        });
        reports.push((*position, report));
    }
    reports
}

/// The ids of the calls of a recording; `None` if one call begins before another one ended, or in the same record.
fn consecutive_calls(frames: &[Frame]) -> Option<BTreeSet<String>> {
    let mut calls = BTreeSet::new();
    let mut over = HashSet::new();
    let mut running = None;
    let mut is_in_record = false;
    for frame in frames {
        is_in_record &= !matches!(frame.body, Body::ProviderEvent(_));
        let Some((tool, _)) = of_call(frame) else { continue };
        match &frame.body {
            Body::ToolEnded { .. } | Body::ToolFailed { .. } => {
                over.insert(tool.id);
                running = running.take_if(|id| *id != tool.id);
            }
            _ if over.contains(&tool.id) || running.is_some_and(|id| id != tool.id) => return None,
            // A search of the provider is one record, so a second one is taken for a repetition.
            Body::ToolCallProposed(call) if &*call.name == "web_search" => return None,
            _ if running.is_none() && std::mem::replace(&mut is_in_record, true) => return None,
            _ => running = Some(tool.id),
        }
        calls.insert(tool.call_id.to_string());
    }
    Some(calls)
}

#[test]
fn calls_with_one_id_are_told_apart() {
    let mut runners = HashSet::new();
    let mut lost = Vec::new();
    for recording in recordings().filter(|recording| !recording.runner.is_of_frames) {
        let expected = frames(recording.runner, &recording.bytes);
        let Some(calls) = consecutive_calls(&expected) else { continue };
        // Short ids are the runner's own, which it counts itself.
        if calls.len() < 2 || calls.iter().any(|id| id.len() < 8 || id.contains('#')) {
            continue;
        }
        let Ok(mut text) = String::from_utf8(recording.bytes) else { continue };
        // No id may be replaced within a longer one.
        let mut calls = Vec::from_iter(calls);
        calls.sort_by_key(|id| std::cmp::Reverse(id.len()));
        for id in &calls {
            text = text.replace(id.as_str(), SAME);
        }
        let actual = frames(recording.runner, text.as_bytes());
        if reports(&actual) != reports(&expected) {
            lost.push(format!("{} {}", recording.runner.name, recording.name));
            continue;
        }
        well_formed(&actual, &recording.name);
        runners.insert(recording.runner.name);
    }
    assert_eq!(lost, Vec::<String>::new());
    assert!(runners.len() > RUNNERS.len() / 2, "recordings of most runners have several calls: {runners:?}");
}

/// The call of a subagent runs within a call of its caller.
#[test]
fn a_subagent_may_use_the_ids_of_its_caller() {
    let runner = framegate_translators::runners::runner("codex").unwrap();
    let recording =
        recordings_of(runner).into_iter().find(|recording| recording.name == "appserver-subagent.ndjson").unwrap();
    let text = String::from_utf8(recording.bytes.clone()).unwrap();
    let same = ["call_resp_0000_0", "call_resp_0001_0", "call_resp_0002_0"];
    let reused = same.iter().fold(text, |text, id| text.replace(id, SAME));
    let actual = frames(runner, reused.as_bytes());
    assert_eq!(reports(&actual), reports(&frames(runner, &recording.bytes)));
    well_formed(&actual, &recording.name);
}
