//! Transcripts whose subagents have files of their own, merged by the times of their lines.

use super::calls::calls;
use super::case::*;
use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, EndReason, Frame, Usage, UsageScope};
use serde_json::{Value, json};

/// The lines of a transcript and of its subagent. A line without a time follows the one before it.
fn merged(transcript: &str) -> Vec<Value> {
    let child = transcript.replace(".transcript.", ".sub1.transcript.");
    let mut lines: Vec<(String, Value)> = Vec::new();
    for name in [transcript, &child] {
        let text = std::fs::read_to_string(fixtures_dir("claude-code").join(name)).unwrap();
        let mut time = String::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(own) = line["timestamp"].as_str() {
                time = own.to_owned();
            }
            lines.push((time.clone(), line));
        }
    }
    lines.sort_by(|one, other| one.0.cmp(&other.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

fn decoded(lines: &[Value]) -> Vec<Frame> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    frames(claude(), text.as_bytes())
}

fn total(frames: &[Frame]) -> &Usage {
    let totals: Vec<&Usage> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::UsageReported(usage) if usage.scope == UsageScope::Run => Some(&**usage),
            _ => None,
        })
        .collect();
    assert_eq!(totals.len(), 1);
    totals[0]
}

fn texts(frames: &[Frame], is_child: bool) -> Vec<&str> {
    let of = frames.iter().filter(|frame| frame.parent_tool_id.is_some() == is_child);
    of.filter_map(|frame| match &frame.body {
        Body::OutputTextCompleted(block) => Some(block.text.as_str()),
        _ => None,
    })
    .collect()
}

fn ends(frames: &[Frame]) -> Vec<EndReason> {
    frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::SessionEnded(end) => Some(end.reason),
            _ => None,
        })
        .collect()
}

/// The transcripts that have a file of a subagent, with the facts of their streams.
fn transcripts() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, entry) in manifest() {
        let files = list(&entry["transcripts"]).iter().filter_map(|transcript| transcript["file"].as_str());
        if files.clone().any(|file| file.contains(".sub1.")) {
            let whole = files.clone().find(|file| !file.contains(".sub1.")).unwrap();
            found.push((whole.to_owned(), json!({"name": name, "facts": entry["facts"]})));
        }
    }
    assert!(found.len() >= 2);
    found
}

#[test]
fn the_lines_of_a_subagent_are_the_work_of_its_call() {
    for (transcript, entry) in transcripts() {
        let frames = decoded(&merged(&transcript));
        let facts = &entry["facts"];
        let ours = calls(&frames);
        let expected = list(&facts["tool_calls"]);
        assert_eq!(ours.len(), expected.len(), "{transcript}");
        for fact in expected {
            let call = &ours[fact["id"].as_str().unwrap()];
            let parent = fact["parent_tool_use_id"].as_str().map(|id| ours[id].tool_id);
            assert_eq!((call.name, &call.args, call.parent), (fact["name"].as_str().unwrap(), &fact["input"], parent));
            assert_eq!(call.error, None);
        }
        let text = |fact: &Value| fact["text"].as_str().unwrap().to_owned();
        assert_eq!(texts(&frames, false), list(&facts["texts"]).iter().map(text).collect::<Vec<_>>());
        assert_eq!(texts(&frames, true), list(&facts["subagent_texts"]).iter().map(text).collect::<Vec<_>>());
        assert_eq!(ends(&frames), [EndReason::Completed], "{transcript}");
        let (_, streamed) = read(entry["name"].as_str().unwrap());
        let (total, theirs) = (total(&frames), total(&streamed));
        assert_eq!((total.input_tokens, total.output_tokens), (theirs.input_tokens, theirs.output_tokens));
        assert_eq!(total.main_thread, theirs.main_thread, "{transcript}");
    }
}

#[test]
fn what_subagents_used_is_in_the_total_although_the_runner_states_none() {
    for (transcript, _) in transcripts() {
        let mut lines = merged(&transcript);
        let stated = decoded(&lines);
        lines.retain(|line| line["type"] != "cost-state");
        let summed = decoded(&lines);
        let (stated, summed) = (total(&stated), total(&summed));
        assert_eq!((stated.input_tokens, stated.output_tokens), (summed.input_tokens, summed.output_tokens));
        let main = summed.main_thread.as_ref().unwrap();
        assert!(main.input_tokens < summed.input_tokens && main.output_tokens < summed.output_tokens);
    }
}

#[test]
fn a_side_chain_without_a_call_is_no_text_of_the_main_thread_and_is_counted() {
    for (transcript, entry) in transcripts() {
        let mut lines = merged(&transcript);
        let is_of_agent = |line: &Value| line["isSidechain"] == true;
        let (mut children, main): (Vec<Value>, Vec<Value>) = lines.drain(..).partition(is_of_agent);
        children.iter_mut().for_each(|line| line["agentId"] = json!("acompact-1"));
        // Its lines come when all calls have returned.
        let last = main.iter().rposition(|line| line["type"] == "assistant").unwrap();
        let (before, after) = main.split_at(last);
        let after = after.iter().filter(|line| line["type"] != "cost-state").cloned().collect::<Vec<_>>();
        let frames = decoded(&[before, &children, &after].concat());
        let text = |fact: &Value| fact["text"].as_str().unwrap().to_owned();
        let facts = &entry["facts"];
        assert_eq!(texts(&frames, false), list(&facts["texts"]).iter().map(text).collect::<Vec<_>>());
        assert_eq!(texts(&frames, true), list(&facts["subagent_texts"]).iter().map(text).collect::<Vec<_>>());
        assert_eq!(ends(&frames), [EndReason::Completed], "{transcript}");
        let merged = decoded(&merged(&transcript));
        assert_eq!(total(&frames).input_tokens, total(&merged).input_tokens, "{transcript}");
        let (began, ended) = frames.iter().fold((0, 0), |(began, ended), frame| match &frame.body {
            Body::SubagentStarted { .. } => (began + 1, ended),
            Body::SubagentEnded { .. } => (began, ended + 1),
            _ => (began, ended),
        });
        // The call's own subagent has no lines here.
        assert_eq!((began, ended), (2, 2), "{transcript}");
    }
}

#[test]
fn a_late_line_belongs_to_the_subagent_whose_call_has_returned() {
    for (transcript, _) in transcripts() {
        let lines = merged(&transcript);
        let is_last = |line: &&Value| line["isSidechain"] == true && line["type"] == "assistant";
        let late = lines.iter().rfind(is_last).unwrap().clone();
        let mut lines: Vec<Value> = lines.into_iter().filter(|line| line["uuid"] != late["uuid"]).collect();
        let returned = lines.iter().rposition(|line| line["type"] == "user" && line["isSidechain"] != true).unwrap();
        lines.insert(returned + 1, late.clone());
        let frames = decoded(&lines);
        let text = late["message"]["content"][0]["text"].as_str().unwrap();
        let said =
            frames.iter().find(|frame| matches!(&frame.body, Body::OutputTextCompleted(block) if block.text == text));
        let ours = calls(&frames);
        let agent = ours.values().find(|call| call.name == "Agent").unwrap();
        assert_eq!(said.unwrap().parent_tool_id, Some(agent.tool_id), "{transcript}");
        assert_eq!(ends(&frames), [EndReason::Completed]);
    }
}
