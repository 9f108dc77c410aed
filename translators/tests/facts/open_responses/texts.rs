//! Texts, reasoning and calls.

use super::case::*;
use framegate_translators::frame::{Body, EndReason};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn the_text_is_emitted_once() {
    let except = [
        (
            "scripted__out-of-order",
            "two deltas are swapped on the wire: frames tell them as they came, the final text is right",
        ),
        ("scripted__no-final-blank-line", "no exception of the text"),
    ];
    check(&except[..1], |case| {
        let deltas: String = case
            .bodies()
            .filter_map(|body| if let Body::OutputTextDelta(block) = body { Some(&*block.delta) } else { None })
            .collect();
        let whole = case.texts().concat();
        let expected = format!("{}{}", case.fact("final_text"), case.fact("refusal"));
        same((&*deltas, &*whole), (&*expected, &*expected))
    });
}

#[test]
fn the_final_text_is_the_last_messages() {
    check(&[], |case| {
        let ends = case.ends();
        let Some(end) = ends.first() else { return same(case.fact("final_text"), "") };
        let all = format!("{}{}", case.fact("final_text"), case.fact("refusal"));
        let ours = end.final_text.as_deref().unwrap_or_default();
        match case.name.as_str() {
            "scripted__phase-two-messages" => same(ours, "Final."),
            _ if end.reason == EndReason::Completed || end.error_code.as_deref() == Some("max_output_tokens") => {
                same(ours, &*all)
            }
            // A response that broke off has the text that was complete by then.
            _ => (!ours.is_empty() && ours != all).then(|| format!("{ours:?} is not {all:?}")),
        }
    });
}

#[test]
fn reasoning_is_emitted_once() {
    check(&[], |case| {
        let (text, summary) = (case.fact("reasoning_text"), case.fact("reasoning_summary"));
        // The gateway streams its reasoning as a summary and repeats it as content.
        let expected = if case.name == "litellm__reasoning" { text.to_owned() } else { format!("{text}{summary}") };
        same(case.reasoning(), expected)
    });
}

#[test]
fn function_calls_are_proposed_and_never_started() {
    let except = [("scripted__incomplete-toolcall", "a call whose arguments were cut off is not proposed")];
    check(&except, |case| {
        let facts = case.facts.get("function_calls_from_terminal").unwrap_or(&case.facts["function_calls"]);
        let mut expected: Vec<(String, String, Value)> = facts
            .as_array()
            .unwrap()
            .iter()
            .map(|call| {
                let text = call["arguments"].as_str().unwrap();
                let parsed = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
                // A call without arguments has an empty object.
                let empty = text.is_empty().then(|| Value::Object(serde_json::Map::new()));
                let args = parsed.or(empty).unwrap_or_else(|| Value::String(text.to_owned()));
                (call["call_id"].as_str().unwrap().to_owned(), call["name"].as_str().unwrap().to_owned(), args)
            })
            .collect();
        let hosted = case.bodies().filter_map(|body| match body {
            Body::ToolStarted { call, .. } => Some(&*call.tool.call_id),
            _ => None,
        });
        let hosted: BTreeSet<&str> = hosted.collect();
        let mut ours: Vec<(String, String, Value)> = case
            .bodies()
            .filter_map(|body| match body {
                Body::ToolCallProposed(call) if !hosted.contains(&*call.tool.call_id) => Some((
                    call.tool.call_id.to_string(),
                    call.name.to_string(),
                    serde_json::from_str(call.args.get()).unwrap(),
                )),
                _ => None,
            })
            .collect();
        // Proposals are in the order in which calls become complete, the facts in the order of the output.
        ours.sort_by(|a, b| a.0.cmp(&b.0));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        same(ours, expected)
    });
}

#[test]
fn hosted_tools_start_and_end() {
    let mut hosted = 0;
    for case in CASES.iter() {
        let mut expected: BTreeSet<String> = BTreeSet::new();
        let mut secrets: Vec<String> = Vec::new();
        for record in case.records() {
            let Some(data) = &record.data else { continue };
            let data: Value = serde_json::from_str(data).unwrap();
            let item = &data["item"];
            let kind = item["type"].as_str().unwrap_or_default();
            let hosted = ["web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call"];
            if data["type"] == "response.output_item.done" && hosted.contains(&kind) {
                expected.insert(format!("{} {}", item["id"].as_str().unwrap(), kind.trim_end_matches("_call")));
            }
            secrets.extend(item["result"].as_str().map(str::to_owned));
            secrets.extend(data["partial_image_b64"].as_str().map(str::to_owned));
        }
        let started: BTreeSet<String> = case
            .bodies()
            .filter_map(|body| match body {
                Body::ToolStarted { call, .. } => Some(format!("{} {}", call.tool.call_id, call.name)),
                _ => None,
            })
            .collect();
        let ended = case.bodies().filter(|body| matches!(body, Body::ToolEnded { exit_code: 0, .. })).count();
        assert_eq!(started, expected, "{}", case.name);
        assert_eq!(ended, expected.len(), "{}", case.name);
        hosted += ended;
        for body in case.bodies().filter(|body| !matches!(body, Body::ProviderEvent(_))) {
            let shown = format!("{body:?}");
            assert!(!secrets.iter().any(|secret| shown.contains(secret)), "{}: an image in a frame", case.name);
        }
    }
    assert!(hosted >= 3, "{hosted} hosted calls");
}

#[test]
fn streamed_arguments_equal_the_proposed_ones() {
    check(&[], |case| {
        let mut streamed: BTreeMap<&str, String> = BTreeMap::new();
        for body in case.bodies() {
            match body {
                Body::ToolInputDelta { tool, delta, .. } => streamed.entry(&tool.call_id).or_default().push_str(delta),
                Body::ToolCallProposed(call) => {
                    let Some(text) = streamed.get(&*call.tool.call_id) else { continue };
                    let args: Value = serde_json::from_str(call.args.get()).unwrap();
                    let agrees = match &args {
                        Value::String(args) => args == text,
                        object => serde_json::from_str::<Value>(text).is_ok_and(|streamed| streamed == *object),
                    };
                    if !agrees {
                        return Some(format!("{text:?} was streamed, {args} proposed"));
                    }
                }
                _ => {}
            }
        }
        None
    });
}
