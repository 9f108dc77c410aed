//! Turns, and the usage of turns and runs.

use super::case::*;
use crate::support::frames;
use framegate_translators::frame::{Body, Figures, Usage, UsageScope};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Input outside the cache, output with reasoning, cached tokens.
type Tokens = (u64, u64, u64);

fn add(sum: &mut Tokens, usage: &Usage) {
    sum.0 += usage.input_tokens;
    sum.1 += usage.output_tokens;
    sum.2 += usage.cache_read_tokens.unwrap_or_default();
}

/// The facts give reasoning beside the output, and writes to the cache beside the input. The runner has them in it.
fn of_fact(fact: &Value) -> Tokens {
    let figure = |key: &str| fact[key].as_u64().unwrap();
    (figure("input") + figure("cache_write"), figure("output") + figure("reasoning"), figure("cache_read"))
}

#[test]
fn the_calls_of_the_main_thread_add_up_to_the_script() {
    each(|case| {
        let (mut ours, mut by_model): (Tokens, BTreeMap<String, Tokens>) = Default::default();
        for (_, usage) in case.usages(UsageScope::Turn).iter().filter(|(frame, _)| frame.parent_tool_id.is_none()) {
            add(&mut ours, usage);
            add(by_model.entry(usage.model.as_deref().unwrap().to_owned()).or_default(), usage);
        }
        // Attempts without an answer are in no record; only the total has them.
        if case.facts["usage_of_messages_equals_scripted"] == false {
            return same("less", &(ours.0 < of_fact(&case.facts["usage_sum"]).0), &true);
        }
        same("sum", &ours, &of_fact(&case.facts["usage_sum"]))?;
        // By model, the facts have subagents and helpers as well.
        let alone = case.facts["usage_others"].is_null();
        if let Some(facts) = case.facts["usage_by_model"].as_object().filter(|_| alone) {
            let named = facts.iter().map(|(model, fact)| (model.clone(), of_fact(fact)));
            same("by model", &by_model, &named.filter(|(_, tokens)| *tokens != (0, 0, 0)).collect())?;
        }
        Ok(())
    });
}

#[test]
fn a_run_has_the_total_that_the_runner_reported() {
    each(|case| {
        let mut ours = Tokens::default();
        let runs = case.usages(UsageScope::Run);
        runs.iter().for_each(|(_, usage)| add(&mut ours, usage));
        let reported = &case.facts["usage_reported"];
        if reported["total_tokens"].is_null() {
            // No result, or a result without figures: the total is the sum of the calls, if there are any.
            let mut calls = Tokens::default();
            case.usages(UsageScope::Turn).iter().for_each(|(_, usage)| add(&mut calls, usage));
            same("runs with figures", &runs.is_empty(), &(calls == Tokens::default()))?;
            return same("total", &ours, &calls);
        }
        let figure = |key: &str| reported[key].as_u64().unwrap();
        let cached = figure("cache_read_input_tokens");
        same("total", &ours, &(figure("input_tokens") - cached, figure("output_tokens"), cached))?;
        for (_, usage) in runs {
            same("part of the main thread", &usage.main_thread.is_some(), &!usages_of_calls(case).is_empty())?;
            same("cost and writes", &(usage.cost_usd, usage.cache_creation_tokens), &(None, None))?;
        }
        Ok(())
    });
}

fn usages_of_calls(case: &Case) -> Vec<&Usage> {
    case.usages(UsageScope::Turn).into_iter().map(|(_, usage)| usage).collect()
}

#[test]
fn subagents_and_helpers_are_the_difference() {
    each(|case| {
        let others = &case.facts["usage_others"];
        if others.is_null() {
            return Ok(());
        }
        let [(_, total)] = case.usages(UsageScope::Run)[..] else { return Err("one run".to_owned()) };
        let mut rest = total.figures();
        rest.subtract(total.main_thread.as_deref().unwrap());
        same("others", &(rest.input_tokens, rest.output_tokens), &(of_fact(others).0, of_fact(others).1))
    });
}

#[test]
fn session_files_have_reasoning_tokens_and_the_usage_of_subagents() {
    let cases = cases();
    let sum = |name: &str| {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let mut sum = Figures::default();
        case.usages(UsageScope::Run).iter().for_each(|(_, usage)| sum.add(&usage.figures()));
        sum
    };
    assert_eq!(sum("thought-tool.session.jsonl").reasoning_tokens, Some(23));
    assert_eq!(sum("json-tools.json").reasoning_tokens, Some(7));
    assert_eq!(sum("thought-tool.jsonl").reasoning_tokens, None, "the stream does not give them");
    for name in ["subagent", "subagent-background"] {
        let (file, stream) = (sum(&format!("{name}.session.jsonl")), sum(&format!("{name}.jsonl")));
        assert_eq!((file.input_tokens, file.output_tokens), (stream.input_tokens, stream.output_tokens), "{name}");
    }
}

#[test]
fn a_resumed_run_has_its_own_part_of_the_sessions_total() {
    let totals = |names: &[&str]| -> Vec<(u64, u64)> {
        let bytes: Vec<u8> = names.iter().flat_map(|name| bytes_of(name)).collect();
        let all = frames(qwen(), &bytes);
        let usages = all.iter().filter_map(|frame| match &frame.body {
            Body::UsageReported(usage) if usage.scope == UsageScope::Run => Some(usage),
            _ => None,
        });
        usages.map(|usage| (usage.input_tokens, usage.main_thread.as_ref().unwrap().input_tokens)).collect()
    };
    assert_eq!(totals(&["resume.1.jsonl", "resume.2.jsonl", "resume.3.jsonl"]), [(90, 90), (300, 300), (180, 180)]);
    // Alone, the earlier part cannot be known. The part of the main thread is its own all the same.
    assert_eq!(totals(&["resume.2.jsonl"]), [(390, 300)]);
}

#[test]
fn turns() {
    each(|case| {
        let started = |case: &Case| {
            case.own_frames().iter().filter(|frame| matches!(frame.body, Body::TurnStarted { .. })).count() as u64
        };
        if case.is_session_file() || case.records.iter().any(|record| record["subtype"] == "retry") {
            return Ok(());
        }
        let steps = case.facts["steps"].as_u64().unwrap();
        let failed = list(&case.facts["error_texts"]).len() as u64;
        // The answer of the program itself, and an error without a model's answer, arrive as messages.
        let extra = match list(&case.facts["texts_of_the_cli"]).len() as u64 {
            0 if started(case) > steps => failed,
            own => own,
        };
        // A turn that was cut off is no step of the script.
        let is_cut = case.facts["terminal"] == "interrupted";
        same("turns", &started(case), &(steps + extra).max(u64::from(is_cut)))?;
        let stops: Vec<Value> = case
            .own_frames()
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::TurnEnded { stop_reason, .. } => Some(json!(stop_reason.as_deref())),
                _ => None,
            })
            .collect();
        // The runner says only whether the model asked for calls.
        let theirs = list(&case.facts["finish_reasons"]).iter();
        let theirs: Vec<Value> =
            theirs.map(|reason| if reason == "tool_calls" { json!("tool_use") } else { Value::Null }).collect();
        let equal = stops.iter().zip(&theirs).all(|(ours, theirs)| ours == theirs);
        same(&format!("stop reasons {stops:?} and {theirs:?}"), &equal, &true)
    });
}
