//! Runs, their ends and their usage.

use super::case::*;
use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, EndReason, Frame, ProviderStatus};
use serde_json::Value;

#[test]
fn usage_is_counted_once() {
    check(&[CUT_EVENT], |case| {
        let ours = case.usage();
        let usage = &case.facts["usage"];
        if usage.is_null() {
            return same(ours.len(), 0);
        }
        let either =
            |name: &str, chat: &str| usage.get(name).or_else(|| usage.get(chat)).and_then(Value::as_u64).unwrap();
        let cached = usage["input_tokens_details"]["cached_tokens"].as_u64();
        let expected = (
            1,
            either("input_tokens", "prompt_tokens"),
            either("output_tokens", "completion_tokens"),
            cached,
            usage["output_tokens_details"]["reasoning_tokens"].as_u64(),
        );
        let Some(actual) = ours.first() else { return Some("no usage".to_owned()) };
        let input = actual.input_tokens + actual.cache_read_tokens.unwrap_or_default();
        same((ours.len(), input, actual.output_tokens, actual.cache_read_tokens, actual.reasoning_tokens), expected)
    });
}

#[test]
fn each_recording_is_one_run_with_the_expected_end() {
    let except = [CUT_EVENT];
    check(&except, |case| {
        let ends = case.ends();
        let records = case.records().count();
        let no_response = case.name == "scripted__chat-chunks" || records == 0;
        if no_response {
            return same(ends.len(), 0);
        }
        if ends.len() != 1 {
            return Some(format!("{} runs", ends.len()));
        }
        let error = case.facts["error_events"].as_array().is_some() || case.name == "scripted__http-error-json";
        let expected = match case.facts["terminal_status"].as_str() {
            Some("completed") => EndReason::Completed,
            Some("failed") => EndReason::Failed,
            Some("incomplete") => match case.facts["incomplete_details"]["reason"].as_str() {
                Some("content_filter") => EndReason::Failed,
                _ => EndReason::Completed,
            },
            None if error => EndReason::Failed,
            None => EndReason::Interrupted,
            Some(other) => panic!("{other}"),
        };
        same(ends[0].reason, expected)
    });
}

#[test]
fn the_reason_of_a_runs_end_is_reported() {
    check(&[], |case| {
        let end = case.ends().first().copied();
        let stop = case.bodies().find_map(|body| match body {
            Body::TurnEnded { stop_reason, .. } => stop_reason.as_deref(),
            _ => None,
        });
        if let Some(reason) = case.facts["incomplete_details"]["reason"].as_str() {
            // The same code for all upstreams.
            let word = if reason == "length" { "max_output_tokens" } else { reason };
            return same((end?.error_code.as_deref(), stop), (Some(word), Some(word)));
        }
        let error_fact = case.facts.get("response_error").or_else(|| {
            case.facts["error_events"].get(0).map(|event| event["body"].get("error").unwrap_or(&event["body"]))
        });
        let error_fact = error_fact?;
        let errors: Vec<_> = case
            .bodies()
            .filter_map(|body| match body {
                Body::ErrorReported(error) => Some((&*error.code, &*error.message)),
                _ => None,
            })
            .collect();
        let expected = (error_fact["code"].as_str().unwrap(), error_fact["message"].as_str().unwrap());
        let ended = (end?.error_code.as_deref().unwrap_or_default(), end?.message.as_deref().unwrap_or_default());
        same((errors, ended), (vec![expected], expected))
    });
}

#[test]
fn records_after_the_end_are_kept_before_the_last_frame() {
    check(&[], |case| {
        let mut ended = false;
        let mut after_end: Vec<String> = Vec::new();
        for body in case.bodies() {
            match body {
                // The end is emitted up to this frame; the last frame waits for late records.
                Body::TurnEnded { .. } => ended = true,
                Body::ProviderEvent(record) if ended => after_end.push(match record.status {
                    ProviderStatus::Done => "[DONE]".to_owned(),
                    _ => record.event_name.as_deref().unwrap_or_default().to_owned(),
                }),
                _ => {}
            }
        }
        match case.facts.get("events_after_terminal") {
            Some(facts) => {
                let facts: Vec<&str> = facts.as_array().unwrap().iter().map(|event| event.as_str().unwrap()).collect();
                same(after_end.iter().map(String::as_str).collect(), facts)
            }
            None => (after_end.iter().any(|event| event != "[DONE]")).then(|| format!("{after_end:?}")),
        }
    });
}

/// One connection may carry many responses: each becomes the same run as it would alone.
#[test]
fn concatenated_recordings_give_the_same_runs() {
    let ended = |case: &&Case| case.facts["terminal_event"].is_string() && !case.name.starts_with("scripted__bom");
    let said = |frames: &[Frame]| -> Vec<String> {
        let mut all = Vec::new();
        for frame in frames {
            match &frame.body {
                Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => all.push(block.delta.clone()),
                Body::ToolCallProposed(call) => all.push(format!("{} {}", call.name, call.args)),
                Body::SessionEnded(end) => {
                    all.push(format!("{:?} {:?} {:?}", end.reason, end.final_text, end.error_code))
                }
                _ => {}
            }
        }
        all
    };
    let mut bytes = Vec::new();
    let mut expected = Vec::new();
    for case in CASES.iter().filter(ended) {
        bytes.extend(std::fs::read(fixtures_dir("open-responses").join(case.whole["file"].as_str().unwrap())).unwrap());
        bytes.extend_from_slice(b"\n\n");
        expected.extend(said(&case.frames));
    }
    assert_eq!(said(&frames(open_responses(), &bytes)), expected);
}

#[test]
fn a_recording_as_frames() {
    let bytes = std::fs::read(fixtures_dir("open-responses").join("scripted__web-search.sse")).unwrap();
    let v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    let lines = String::from_utf8(crate::support::translate(open_responses(), v2, &bytes)).unwrap();
    // The records themselves are the recording; only the derived frames are compared.
    let derived: Vec<&str> = lines.lines().filter(|line| !line.contains("\"type\":\"provider_event\"")).collect();
    insta::assert_snapshot!(derived.join("\n"));
}
