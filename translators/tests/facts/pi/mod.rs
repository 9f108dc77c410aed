//! Every fact in the manifest about a recording of pi, checked against the frames.

mod frame_facts;

use crate::support::*;
use frame_facts::{FrameFacts, Outcome, collect};
use framegate_translators::frame::{EndReason, Figures};
use serde_json::{Map, Value};

#[test]
fn every_fact_of_every_recording_is_in_the_frames() {
    let runner = framegate_translators::runners::runner("pi").unwrap();
    let read = |file: &str| std::fs::read(fixtures_dir("pi").join(file)).unwrap();
    let manifest: Value = serde_json::from_slice(&read("MANIFEST.json")).unwrap();
    let recordings = manifest["recordings"].as_array().unwrap();
    assert_eq!(recordings.len(), recordings_of(runner).len());
    for recording in recordings {
        let file = recording["file"].as_str().unwrap();
        let facts = recording["facts"].as_object().unwrap();
        let note = facts.get("note").and_then(Value::as_str).unwrap_or_default();
        // A session file holds the whole session, and these facts are those of its last prompt.
        let only_last = note.starts_with("facts of the last prompt only");
        let bytes = read(file);
        let seen = collect(&frames(runner, &bytes), only_last);
        assert!(seen.errors.is_empty(), "{file}: {:?}", seen.errors);
        assert!(seen.unknown.is_empty(), "{file}: {:?}", seen.unknown);
        for (key, fact) in facts {
            match (key.as_str(), fact) {
                // Without the first line of a stream, only an answer to `get_state` names the session.
                ("session_id", Value::Null) => check(key, &state_of(&bytes)["sessionId"], facts, &seen, file),
                _ => check(key, fact, facts, &seen, file),
            }
        }
    }
}

/// The data of the first answer to `get_state`.
fn state_of(recording: &[u8]) -> Value {
    let records = recording.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let is_state = |record: &Value| record["type"] == "response" && record["command"] == "get_state";
    records.into_iter().find(is_state).map_or(Value::Null, |record| record["data"].clone())
}

fn check(key: &str, fact: &Value, facts: &Map<String, Value>, seen: &FrameFacts, file: &str) {
    let what = format!("{file}: {key}");
    let list = || fact.as_array().unwrap_or_else(|| panic!("{what}"));
    let is_stream = facts.contains_key("stop_reasons");
    match key {
        "texts" => texts_are(&seen.texts, fact, facts.get("texts_incomplete"), &what),
        "reasoning" => texts_are(&seen.reasoning, fact, facts.get("reasoning_incomplete"), &what),
        "tools" => {
            assert_eq!(seen.calls.len(), list().len(), "{what}");
            list().iter().for_each(|call| call_is(seen, call, &what));
        }
        "tools_incomplete" => {
            for call in list() {
                let id = call["callID"].as_str().unwrap();
                assert!(seen.calls.iter().all(|run| run.id != id), "{what}: {id} never ran");
                assert!(seen.proposed.iter().filter(|known| *known == id).count() <= 1, "{what}");
            }
        }
        "usage_sum" => {
            figures_are(&seen.replies, fact, &what);
            figures_are(&seen.main, fact, &what);
            let is_known = ["input", "output", "cache_read", "cache_write"].iter().any(|key| fact[key] != 0);
            assert_eq!(seen.reply_usages > 0, is_known, "{what}: figures that nobody gave are absent");
        }
        "usage_reported" => {
            let output = fact["output"].as_u64().unwrap_or_default();
            assert_eq!(seen.replies.output_tokens, output, "{what}: with the reasoning");
        }
        "usage_by_model" => {
            let models = fact.as_object().unwrap();
            for (model, fact) in models {
                figures_are(&seen.by_model.get(model).cloned().unwrap_or_default(), fact, &what);
            }
            assert!(seen.by_model.keys().all(|model| models.contains_key(model)), "{what}: {:?}", seen.by_model.keys());
        }
        "usage_compaction" => {
            // A summary between two prompts is in no run.
            let in_run = seen.ends.len() == 1;
            let mut beside = seen.total.clone();
            beside.subtract(&seen.main);
            let expected = |key: &str| if in_run { fact[key].as_u64().unwrap() } else { 0 };
            assert_eq!((beside.input_tokens, beside.output_tokens), (expected("input"), expected("output")), "{what}");
        }
        "cost" => {
            let cost = seen.replies.cost_usd.unwrap_or_default();
            assert!((cost - fact.as_f64().unwrap()).abs() < 6e-5, "{what}: {cost}");
        }
        "terminal" => {
            let reason = match fact.as_str().unwrap() {
                "completed" => EndReason::Completed,
                "error" => EndReason::Failed,
                _ => EndReason::Interrupted,
            };
            assert_eq!(seen.ends.last().unwrap().reason, reason, "{what}: {:?}", seen.ends);
            let failures = usize::from(reason == EndReason::Failed);
            assert_eq!(seen.run_errors.len(), failures, "{what}: {:?}", seen.run_errors);
        }
        "error_contains" => {
            let (message, part) = (seen.ends.last().unwrap().message.clone().unwrap(), fact.as_str().unwrap());
            assert!(message.contains(part) && seen.run_errors[0].contains(part), "{what}: {message}");
        }
        "final_text" => {
            // The partial answer that a filter or an abort left is the last text; the rule is the same for all runners.
            let end = seen.ends.last().unwrap();
            if end.reason == EndReason::Completed {
                assert_eq!(end.final_text.is_some(), !fact.is_null(), "{what}");
                if !fact.is_null() {
                    text_is(end.final_text.as_deref().unwrap(), fact, &what);
                }
            }
        }
        "session_id" => {
            let expected = fact.as_str().unwrap_or_default();
            assert!(!seen.sessions.is_empty() && seen.sessions.iter().all(|name| name == expected), "{what}: {seen:?}");
        }
        "settled" => {
            // Version 0.73 has no record for it.
            let runs = if fact == 0 { 1 } else { fact.as_u64().unwrap() };
            assert_eq!(seen.ends.len() as u64, runs, "{what}");
        }
        "retries" => assert_eq!(seen.retries as u64, fact.as_u64().unwrap(), "{what}"),
        "compactions" => assert_eq!(seen.compactions as u64, fact.as_u64().unwrap(), "{what}"),
        "stop_reasons" => {
            let good = |stop: &&String| !matches!(stop.as_str(), "error" | "aborted");
            let stops: Vec<&String> = seen.stops.iter().filter(good).collect();
            // A killed process does not say how its last turn ended.
            let cut =
                if facts.get("exit").is_some_and(|exit| exit == "no end record") { stops.len() } else { usize::MAX };
            let expected: Vec<&Value> = list().iter().take(cut).collect();
            assert_eq!(stops, expected, "{what}");
        }
        "last_stop_reason" => {
            if !facts.get("exit").is_some_and(|exit| exit == "no end record") || file.starts_with("old-") {
                assert_eq!(seen.stops.last().map(String::as_str), fact.as_str(), "{what}");
            }
        }
        "steps" => {
            let good = |stop: &&String| !matches!(stop.as_str(), "error" | "aborted");
            if !facts.contains_key("exit") {
                assert_eq!(seen.stops.iter().filter(good).count() as u64, fact.as_u64().unwrap(), "{what}");
            }
        }
        "prompts" => {
            let prompts = fact.as_array().cloned().unwrap_or_else(|| vec![fact.clone()]);
            let prompts = prompts.iter().filter_map(Value::as_str);
            // The runner replaces names of files and of templates by their contents.
            for prompt in prompts.filter(|prompt| !prompt.starts_with(['@', '/'])) {
                assert!(seen.prompts.iter().any(|said| said.contains(prompt)), "{what}: {:?}", seen.prompts);
            }
        }
        "failed_requests" => {
            let all = seen.retries + seen.run_errors.len();
            // Here the same failure is first one that is retried, and then the run's, because the client stopped the retry.
            let twice = usize::from(file == "rpc-abort-retry.jsonl");
            assert_eq!(all, list().len() + twice, "{what}");
        }
        "open_at_end" => assert_eq!(seen.ends.last().unwrap().reason, EndReason::Interrupted, "{what}"),
        // Checked with the facts that they qualify, or about the recording and not its contents.
        "texts_incomplete"
        | "reasoning_incomplete"
        | "note"
        | "exit"
        | "agent_runs"
        | "aux_requests"
        | "cumulative_updates" => {}
        other => panic!("{file}: the fact {other} is not checked; is it of a stream: {is_stream}"),
    }
}

fn text_is(text: &str, fact: &Value, what: &str) {
    assert!(is_text(text, fact), "{what}: {text:?}, not {fact}");
}

/// Long texts are given by their length and their ends.
fn is_text(text: &str, fact: &Value) -> bool {
    match fact.as_str() {
        Some(fact) => text == fact,
        None => {
            text.encode_utf16().count() as u64 == fact["length_utf16"].as_u64().unwrap()
                && text.starts_with(fact["starts"].as_str().unwrap())
                && text.ends_with(fact["ends"].as_str().unwrap())
        }
    }
}

/// The texts that were cut off are there, and the others are these, in this order.
fn texts_are(texts: &[String], whole: &Value, cut: Option<&Value>, what: &str) {
    let mut rest: Vec<&String> = texts.iter().collect();
    for fact in cut.and_then(Value::as_array).into_iter().flatten() {
        let at = rest.iter().position(|text| is_text(text, fact));
        rest.remove(at.unwrap_or_else(|| panic!("{what}: {fact} in {texts:?}")));
    }
    let whole = whole.as_array().unwrap();
    assert_eq!(rest.len(), whole.len(), "{what}: {texts:?}");
    rest.iter().zip(whole).for_each(|(text, fact)| text_is(text, fact, what));
}

fn figures_are(figures: &Figures, fact: &Value, what: &str) {
    let of = |key: &str| fact[key].as_u64().unwrap();
    let reasoning = of("reasoning");
    assert_eq!(figures.input_tokens, of("input"), "{what}: input");
    assert_eq!(figures.output_tokens, of("output") + reasoning, "{what}: output, with reasoning");
    if !what.starts_with("old-") {
        assert_eq!(figures.reasoning_tokens.unwrap_or_default(), reasoning, "{what}: reasoning");
    } else {
        assert_eq!(figures.reasoning_tokens, None, "{what}: version 0.73 does not say it");
    }
    assert_eq!(figures.cache_read_tokens.unwrap_or_default(), of("cache_read"), "{what}: cache_read");
    assert_eq!(figures.cache_creation_tokens.unwrap_or_default(), of("cache_write"), "{what}: cache_write");
}

fn call_is(seen: &FrameFacts, fact: &Value, what: &str) {
    let what = format!("{what}: {fact}");
    let mut calls = seen.calls.iter().filter(|call| fact["callID"] == *call.id);
    let (Some(call), None) = (calls.next(), calls.next()) else { panic!("{what}: not once") };
    assert_eq!(call.name, fact["tool"].as_str().unwrap(), "{what}");
    if let Some(input) = fact.get("input") {
        assert_eq!(&call.args, input, "{what}");
    }
    let end = call.end.as_ref().unwrap_or_else(|| panic!("{what}: no end"));
    let is_as_told = match fact["status"].as_str().unwrap() {
        "success" => *end == Outcome::Exit(0),
        "error" => !matches!(end, Outcome::Exit(0)),
        "none" => matches!(end, Outcome::Failed(_)),
        other => panic!("{what}: {other}"),
    };
    assert!(is_as_told, "{what}: {end:?}");
    let error = if let Outcome::Failed(error) = end { error.as_str() } else { "" };
    let all = format!("{}{error}", call.output);
    for key in ["output_contains", "error_contains"] {
        if let Some(part) = fact[key].as_str() {
            assert!(all.contains(part), "{what}: {all}");
        }
    }
    if fact["has_diff"] == true {
        assert_eq!(call.diffs, 1, "{what}");
    }
}
