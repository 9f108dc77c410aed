//! Input that no version of the runner writes: cut, changed, mixed and endless.

use super::records::*;
use crate::support::{fixtures_dir, recordings, recordings_of, well_formed};
use framegate_translators::frame::{Body, Frame};
use framegate_translators::framing::Limits;
use serde_json::{Value, json};

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Replaces one value of a record by another one, at each place in turn.
fn mutations(record: &Value, with: &Value) -> Vec<Value> {
    fn paths(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| {
                let path = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                found.push(path.clone());
                paths(value, &path, found);
            }),
            Value::Array(items) => items.iter().take(2).enumerate().for_each(|(index, value)| {
                paths(value, &format!("{at}/{index}"), found);
            }),
            _ => {}
        }
    }
    let mut found = Vec::new();
    paths(record, "", &mut found);
    let changed = |path: &String| {
        let mut record = record.clone();
        *record.pointer_mut(path).unwrap() = with.clone();
        record
    };
    found.iter().map(changed).collect()
}

#[test]
fn a_value_of_another_type_is_tolerated_anywhere() {
    let mut tried = 0;
    for name in
        ["in-allow.partial.jsonl", "subagent-background.jsonl", "edit.session.jsonl", "stream-error.partial.jsonl"]
    {
        let bytes = std::fs::read(fixtures_dir("qwen-code").join(name)).unwrap();
        let records: Vec<Value> = lines(&bytes).iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
        for at in 0..records.len() {
            for with in [json!(null), json!(-1.5), json!("x"), json!([1, {"a": []}]), json!({"type": {"b": null}})] {
                for changed in mutations(&records[at], &with) {
                    let mut all = records.clone();
                    all[at] = changed;
                    well_formed(&frames(&all), &format!("{name} {at}: {}", all[at]));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 3000, "{tried}");
}

#[test]
fn records_that_are_lost_repeated_or_swapped_are_tolerated() {
    for recording in recordings_of(qwen()) {
        let all = lines(&recording.bytes);
        for at in 0..all.len() {
            let mut without = all.clone();
            without.remove(at);
            let mut twice = all.clone();
            twice.insert(at, all[at].clone());
            let mut swapped = all.clone();
            swapped.swap(at, (at + 1) % all.len());
            for input in [without, twice, swapped, all[at..].to_vec()] {
                let frames = crate::support::frames(qwen(), &input.concat());
                well_formed(&frames, &format!("{} {at}", recording.name));
            }
        }
    }
}

#[test]
fn records_of_other_runners_are_tolerated_between() {
    let others: Vec<Vec<u8>> = recordings()
        .filter(|other| other.runner.name != "qwen-code")
        .filter_map(|other| lines(&other.bytes).into_iter().find(|line| line.starts_with(b"{")))
        .collect();
    assert!(others.len() > 100, "{}", others.len());
    for name in ["in-two-prompts.partial.jsonl", "subagent.jsonl", "parallel.session.jsonl"] {
        let own = lines(&std::fs::read(fixtures_dir("qwen-code").join(name)).unwrap());
        let mut mixed = Vec::new();
        for (at, other) in others.iter().enumerate() {
            mixed.extend_from_slice(&own[at % own.len()]);
            mixed.extend_from_slice(other);
        }
        well_formed(&crate::support::frames(qwen(), &mixed), name);
    }
}

#[test]
fn what_an_input_leaves_open_is_bounded_and_closed() {
    let mut records = vec![init()];
    for nth in 0..300 {
        let (id, parent) = (format!("r{nth}"), format!("p{nth}"));
        let agent = json!({"type": "tool_use", "id": format!("a{nth}"), "name": "agent", "input": {"prompt": "x"}});
        let ask = json!({"type": "control_request", "request_id": format!("q{nth}"), "request": {
            "subtype": "can_use_tool", "tool_name": "edit", "tool_use_id": format!("a{nth}"), "input": {}}});
        let (mut start, mut delta) = (text_start(), text_delta("x"));
        start["parent_tool_use_id"] = json!(parent);
        delta["parent_tool_use_id"] = json!(parent);
        let task = system("task_started", json!({"task_id": format!("k{nth}"), "tool_use_id": format!("a{nth}")}));
        records.extend([assistant(&id, agent, no_usage(), None), ask, start, delta, task]);
    }
    for nth in 0..300 {
        let mut other = init();
        other["session_id"] = json!(format!("s{nth}"));
        records.push(other);
    }
    let mut ingest = crate::support::ingest(qwen(), Limits::default()).with_open_tools(20);
    let mut all: Vec<_> = ingest.feed(&lines_of(&records), crate::support::EPOCH_MS).collect();
    let ended = |all: &[Frame]| all.iter().filter(|frame| matches!(frame.body, Body::SessionEnded(_))).count();
    assert!(ended(&all) >= 40, "runs beyond the bound end before the input does: {}", ended(&all));
    all.extend(ingest.finish(crate::support::EPOCH_MS));
    well_formed(&all, "open");
    let (mut open, mut most) = (0_i64, 0);
    for frame in &all {
        match &frame.body {
            Body::ToolStarted { .. } => open += 1,
            Body::ToolEnded { .. } | Body::ToolFailed { .. } => open -= 1,
            _ => {}
        }
        most = most.max(open);
    }
    assert_eq!((open, most), (0, 21));
}
