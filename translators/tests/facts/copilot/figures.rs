//! Turns, and the usage of turns and runs.

use super::case::*;
use framegate_translators::frame::{Body, Figures, Usage, UsageScope};
use serde_json::Value;

fn sum<'u>(usages: impl Iterator<Item = &'u Usage>) -> Figures {
    let mut sum = Figures::default();
    usages.for_each(|usage| sum.add(&usage.figures()));
    sum
}

#[test]
fn the_stream_has_no_usage() {
    each(|case| {
        let count = case.usages(UsageScope::Turn).len() + case.usages(UsageScope::Run).len();
        same("usages", &(count > 0 && !case.is_session_file()), &false)
    });
}

#[test]
fn session_files_have_the_usage_of_each_call() {
    each(|case| {
        if !case.is_session_file() {
            return Ok(());
        }
        let fact = |key: &str| case.facts["usage_sum"][key].as_u64().unwrap();
        for scope in [UsageScope::Turn, UsageScope::Run] {
            let ours = sum(case.usages(scope).iter().map(|(_, usage)| *usage));
            let ours = (
                ours.input_tokens,
                ours.output_tokens,
                ours.cache_read_tokens.unwrap_or_default(),
                ours.cache_creation_tokens.unwrap_or_default(),
                ours.reasoning_tokens.unwrap_or_default(),
            );
            let output = fact("output") + fact("reasoning");
            let theirs = (fact("input"), output, fact("cache_read"), fact("cache_write"), fact("reasoning"));
            same(&format!("{scope:?}"), &ours, &theirs)?;
        }
        same("costs", &case.usages(UsageScope::Run).iter().any(|(_, usage)| usage.cost_usd.is_some()), &false)
    });
}

#[test]
fn the_usage_of_a_run_is_what_the_runner_reported_at_its_end() {
    each(|case| {
        let reported = &case.facts["usage_reported"];
        let Some(input) = reported["inputTokens"].as_u64() else { return Ok(()) };
        let [(_, total)] = case.usages(UsageScope::Run)[..] else { return Err("one total".to_owned()) };
        let cached = total.cache_read_tokens.unwrap_or_default() + total.cache_creation_tokens.unwrap_or_default();
        same("input", &(total.input_tokens + cached), &input)?;
        same("output", &Some(total.output_tokens), &reported["outputTokens"].as_u64())?;
        same("reasoning", &total.reasoning_tokens, &reported["reasoningTokens"].as_u64())
    });
}

#[test]
fn turns() {
    each(|case| {
        let own = case.own_frames();
        let started = own.iter().filter(|frame| matches!(frame.body, Body::TurnStarted { .. })).count();
        let records = case
            .records
            .iter()
            .filter(|record| record["type"] == "assistant.turn_start" && record["agentId"].is_null());
        if !case.has_earlier_prompts() {
            same("turns", &started, &records.count())?;
        }
        let named = own.iter().all(|frame| match &frame.body {
            Body::TurnStarted { model, .. } => model.is_some(),
            _ => true,
        });
        same("named models", &named, &true)?;
        // Only session files say why the model stopped.
        let has_reason = own.iter().any(|frame| match &frame.body {
            Body::TurnEnded { stop_reason, .. } => stop_reason.is_some(),
            _ => false,
        });
        let asked = case.records.iter().any(|record| record["data"]["usage"]["finishReason"] != Value::Null);
        same("stop reasons", &has_reason, &asked)
    });
}
