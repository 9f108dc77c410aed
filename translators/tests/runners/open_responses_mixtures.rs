//! A response is emitted once, whatever mixture of deltas, ends and snapshots the server sends.
//!
//! Each recording is replayed many times without some of its event types, and without ids, indices or sequence numbers. As long
//! as any event contains a text or a call, the frames contain it once and unchanged.

use crate::support::fixtures_dir;
use framegate_translators::frame::{Body, Frame};
use framegate_translators::runners::runner;
use serde_json::Value;

/// The event types that may be missing, in groups.
const GROUPS: [&[&str]; 6] = [
    &[".delta"],
    &[
        "output_text.done",
        "refusal.done",
        "reasoning.done",
        "reasoning_summary_text.done",
        "arguments.done",
        "input.done",
    ],
    &["content_part.added", "reasoning_summary_part.added"],
    &["content_part.done", "reasoning_summary_part.done"],
    &["output_item.added"],
    &["output_item.done"],
];

/// The keys that may be missing from the remaining events.
const NAMES: [&[&str]; 7] = [
    &[],
    &["sequence_number"],
    &["item_id"],
    &["output_index"],
    &["content_index", "summary_index"],
    &["output_index", "content_index", "summary_index", "sequence_number"],
    &["item_id", "output_index", "content_index", "summary_index", "sequence_number"],
];

const RECORDINGS: [&str; 9] = [
    "scripted__text-valid",
    "scripted__two-parts",
    "scripted__phase-two-messages",
    "scripted__refusal",
    "scripted__reasoning-summary",
    "scripted__reasoning-raw-spec",
    "scripted__parallel-interleaved",
    "scripted__custom-tool",
    "fastresponses__text",
];

fn events(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixtures_dir("open-responses").join(format!("{name}.sse"))).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The contents of the frames: texts, reasoning, calls.
fn contents(frames: &[Frame]) -> (String, String, Vec<String>) {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    let (mut text_deltas, mut reasoning_deltas) = (String::new(), String::new());
    for frame in frames {
        match &frame.body {
            Body::OutputTextDelta(block) => text_deltas.push_str(&block.delta),
            Body::ReasoningDelta(block) => reasoning_deltas.push_str(&block.delta),
            Body::OutputTextCompleted(block) => text.push_str(&block.text),
            Body::ReasoningCompleted { block, .. } => reasoning.push_str(&block.text),
            Body::ToolCallProposed(call) => calls.push(format!("{} {} {}", call.tool.call_id, call.name, call.args)),
            Body::LogEmitted { message, .. } => panic!("{message}"),
            _ => {}
        }
    }
    assert_eq!((text.len(), reasoning.len()), (text_deltas.len(), reasoning_deltas.len()));
    calls.sort();
    (text, reasoning, calls)
}

fn frames_of(events: &[Value]) -> Vec<Frame> {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    crate::support::frames(runner("open-responses").unwrap(), lines.join("\n").as_bytes())
}

/// The events without those of the groups, which are given as bits.
fn without(events: &[Value], groups: usize) -> Vec<Value> {
    let missing: Vec<&str> = GROUPS
        .iter()
        .enumerate()
        .filter(|(at, _)| groups >> at & 1 == 1)
        .flat_map(|(_, names)| *names)
        .copied()
        .collect();
    let kept = |event: &&Value| !missing.iter().any(|name| event["type"].as_str().unwrap().ends_with(name));
    events.iter().filter(kept).cloned().collect()
}

#[test]
fn every_mixture_of_events_gives_the_same_text_once() {
    let mut mixtures = 0;
    for name in RECORDINGS {
        let whole = events(name);
        let expected = contents(&frames_of(&whole));
        for groups in 0..1 << GROUPS.len() {
            for names in NAMES {
                // With neither names nor item events, two items cannot be distinguished from two parts, and two calls not from
                // each other.
                let blind = names.contains(&"item_id") && names.contains(&"output_index");
                if blind && (groups >> 4 == 0b11 || name == "scripted__parallel-interleaved") {
                    continue;
                }
                let mut mixture = without(&whole, groups);
                for event in &mut mixture {
                    for name in names {
                        event.as_object_mut().unwrap().remove(*name);
                    }
                }
                let ours = std::panic::catch_unwind(|| contents(&frames_of(&mixture)));
                assert!(
                    ours.as_ref().is_ok_and(|ours| *ours == expected),
                    "{name} without {names:?} and groups {groups:06b}: {ours:?} instead of {expected:?}"
                );
                mixtures += 1;
            }
        }
    }
    assert_eq!(mixtures, 9 * 6 * 64 + 8 * 48);
}

#[test]
fn text_repeated_at_the_end_of_a_part_is_emitted_once() {
    for name in RECORDINGS {
        let whole = events(name);
        let expected = contents(&frames_of(&whole));
        let repeated: Vec<Value> = whole
            .iter()
            .flat_map(|event| {
                let again = event["type"].as_str().unwrap().ends_with(".done") || event["type"] == "response.completed";
                std::iter::repeat_n(event.clone(), if again { 3 } else { 1 })
            })
            .collect();
        assert_eq!(contents(&frames_of(&repeated)), expected, "{name}");
    }
}
