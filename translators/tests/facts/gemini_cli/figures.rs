//! Turns, and the usage of runs.

use super::case::*;
use framegate_translators::frame::{Body, UsageScope};

#[test]
fn the_usage_of_a_run_is_what_the_runner_counted() {
    each(|case| {
        let totals = case.usages(UsageScope::Run);
        let facts = &case.facts["usage_reported"];
        let figure = |key: &str| facts[key].as_u64().unwrap_or_default();
        if !case.is_stream() {
            return Ok(());
        }
        if figure("total_tokens") == 0 {
            return same("no figures", &totals.len(), &0);
        }
        let [total] = totals.as_slice() else { return Err(format!("{} totals", totals.len())) };
        let thoughts = figure("total_tokens") - figure("input_tokens") - figure("output_tokens");
        same("input", &total.input_tokens, &figure("input"))?;
        same("output", &total.output_tokens, &(figure("output_tokens") + thoughts))?;
        same("cached", &total.cache_read_tokens, &Some(figure("cached")))?;
        same("reasoning", &total.reasoning_tokens, &Some(thoughts))?;
        same("not given", &(total.cache_creation_tokens, total.cost_usd), &(None, None))
    });
}

#[test]
fn the_scripted_tokens_are_those_of_documents_and_chat_files() {
    each(|case| {
        let totals = case.usages(UsageScope::Run);
        let sum = totals.iter().fold((0, 0, 0, 0), |sum, usage| {
            (
                sum.0 + usage.input_tokens,
                sum.1 + usage.output_tokens,
                sum.2 + usage.cache_read_tokens.unwrap_or_default(),
                sum.3 + usage.reasoning_tokens.unwrap_or_default(),
            )
        });
        let of = |fact: &serde_json::Value, key: &str| fact[key].as_u64().unwrap_or_default();
        if let fact @ serde_json::Value::Object(_) = &case.facts["tokens_sum"] {
            let (cached, thoughts) = (of(fact, "cached"), of(fact, "thoughts"));
            let theirs = (of(fact, "input") - cached, of(fact, "output") + thoughts, cached, thoughts);
            same("tokens", &sum, &theirs)?;
        }
        if case.surface == "json" {
            let fact = &case.facts["usage_sum"];
            let thoughts = of(fact, "reasoning");
            let theirs = (of(fact, "input"), of(fact, "output") + thoughts, of(fact, "cache_read"), thoughts);
            same("tokens", &sum, &theirs)?;
        }
        Ok(())
    });
}

#[test]
fn the_usage_of_a_run_is_what_the_model_was_given_and_gave() {
    each(|case| {
        let fact = &case.facts["usage_sum"];
        if case.facts["usage_reported_equals_scripted"] != true || fact["input"] == 0 {
            return Ok(());
        }
        let of = |key: &str| fact[key].as_u64().unwrap();
        let totals = case.usages(UsageScope::Run);
        let [total] = totals.as_slice() else { return Err(format!("{} totals", totals.len())) };
        same("input", &total.input_tokens, &of("input"))?;
        same("output", &total.output_tokens, &(of("output") + of("reasoning")))?;
        same("reasoning", &total.reasoning_tokens, &Some(of("reasoning")))?;
        same("cache", &total.cache_read_tokens, &Some(of("cache_read")))
    });
    let compared = cases().iter().filter(|case| case.facts["usage_reported_equals_scripted"] == true).count();
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_total_names_its_model_if_there_is_only_one() {
    each(|case| {
        let Some(models) = case.facts["usage_by_model"].as_object() else { return Ok(()) };
        let used: Vec<&String> = models.iter().filter(|(_, used)| used["input"] != 0).map(|(name, _)| name).collect();
        let theirs = if let [name] = used.as_slice() { Some(name.as_str()) } else { None };
        case.usages(UsageScope::Run).iter().try_for_each(|total| {
            let is_alone = case.facts["aux_requests"].is_null() || used.len() > 1;
            if is_alone { same("model", &total.model.as_deref(), &theirs) } else { Ok(()) }
        })
    });
}

#[test]
fn every_call_that_the_runner_counts_has_an_end() {
    each(|case| {
        let Some(counted) = case.facts["tool_calls_reported"].as_u64() else { return Ok(()) };
        let frames = case.own_frames();
        let over = |frame: &&&framegate_translators::frame::Frame| {
            matches!(frame.body, Body::ToolEnded { .. } | Body::ToolFailed { .. })
        };
        let ended = frames.iter().filter(over).count() as u64;
        let has_children = frames.iter().any(|frame| matches!(frame.body, Body::SubagentStarted { .. }));
        // The calls of subagents are counted too, and are not on the stream.
        if has_children { same("more", &(ended < counted), &true) } else { same("calls", &ended, &counted) }
    });
}

#[test]
fn no_record_says_why_the_model_stopped() {
    each(|case| {
        for frame in case.own_frames() {
            if let Body::TurnEnded { stop_reason, .. } = &frame.body {
                same("stop reason", &stop_reason.as_deref(), &None)?;
            }
        }
        Ok(())
    });
}

#[test]
fn the_main_threads_part_of_a_document_leaves_subagents_out() {
    let case = cases().into_iter().find(|case| case.name == "json-subagent.json").unwrap();
    let totals = case.usages(UsageScope::Run);
    let total = totals[0];
    let main = total.main_thread.as_ref().unwrap();
    let fact = &case.facts["usage_sum"];
    assert_eq!(total.input_tokens, fact["input"].as_u64().unwrap());
    assert!(main.input_tokens > 0 && main.input_tokens < total.input_tokens);
}

/// Recordings of which some replies leave no record, because the runner rejected them without a text.
const WITH_EMPTY_REPLIES: &[&str] = &[
    "empty-answer.jsonl",
    "empty-answer.session.jsonl",
    "empty-then-ok.jsonl",
    "thought-only.jsonl",
    "max-tokens-empty.jsonl",
    "safety.jsonl",
    "malformed-call.jsonl",
    "prompt-blocked.jsonl",
];

#[test]
fn a_turn_is_a_reply() {
    each(|case| {
        let frames = case.own_frames();
        let turns = frames.iter().filter(|frame| matches!(frame.body, Body::TurnStarted { .. })).count() as u64;
        let ended = frames.iter().filter(|frame| matches!(frame.body, Body::TurnEnded { .. })).count() as u64;
        same("ends", &ended, &turns)?;
        if case.surface == "json" {
            return same("one", &(turns <= 1), &true);
        }
        let steps = case.facts["steps"].as_u64().unwrap();
        if WITH_EMPTY_REPLIES.contains(&&*case.name) {
            return same("fewer", &(turns < steps), &true);
        }
        // Text of a reply that broke off or was stopped is a turn too.
        let texts_of = |key: &str| list(&case.facts[key]).len() as u64;
        let more = u64::from(texts_of("texts") > 0 && steps == 0) + texts_of("texts_in_broken_replies");
        if turns == steps || (turns > steps && turns <= steps + more) {
            Ok(())
        } else {
            Err(format!("{turns} turns, {steps} steps"))
        }
    });
}
