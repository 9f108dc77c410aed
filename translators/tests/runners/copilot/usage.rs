//! Tokens, which the stream has only for models of an account.

use super::records::*;
use framegate_translators::frame::{Body, Usage, UsageScope};
use serde_json::{Value, json};

fn usages(records: &[Value], scope: UsageScope) -> Vec<Usage> {
    let frames = frames_of(records);
    let usages = frames.into_iter().filter_map(|frame| match frame.body {
        Body::UsageReported(usage) if usage.scope == scope => Some(*usage),
        _ => None,
    });
    usages.collect()
}

fn used(input: u64, interaction: &str) -> Value {
    let usage = json!({"model": "gpt-5", "inputTokens": input, "outputTokens": 7, "cacheReadTokens": 4,
        "reasoningTokens": 2, "cost": 1.0, "interactionType": interaction});
    passing("assistant.usage", usage)
}

#[test]
fn figures_of_the_stream_are_added_up() {
    let records = [prompt("x"), used(10, "conversation-agent"), message("m", "Yes", json!([])), result(0)];
    let [call] = &usages(&records, UsageScope::Turn)[..] else { panic!("one call") };
    let ours = (call.input_tokens, call.output_tokens, call.cache_read_tokens, call.reasoning_tokens);
    assert_eq!(ours, (6, 7, Some(4), Some(2)));
    // The runner's cost counts premium requests.
    assert_eq!((call.cost_usd, call.cache_creation_tokens), (None, None));
    let records = [prompt("x"), used(10, "conversation-agent"), used(20, "conversation-agent"), result(0)];
    let [run] = &usages(&records, UsageScope::Run)[..] else { panic!("one total") };
    assert_eq!((run.input_tokens, run.output_tokens), (22, 14));
}

#[test]
fn a_summary_is_no_turn_and_its_stop_reason_does_not_end_the_run() {
    let mut summary = used(10, "conversation-compaction");
    summary["data"]["finishReason"] = json!("length");
    let records = [prompt("x"), message("m", "Yes", json!([])), summary, result(0)];
    assert_eq!(usages(&records, UsageScope::Run).len(), 1);
    let turns = frames_of(&records).iter().filter(|frame| matches!(frame.body, Body::TurnStarted { .. })).count();
    assert_eq!(turns, 1);
    assert_eq!(lines(&records), ["text \"Yes\"", "end completed -"]);
}

#[test]
fn a_run_without_figures_has_no_usage() {
    let records = [prompt("x"), message("m", "Yes", json!([])), result(0)];
    assert!(usages(&records, UsageScope::Turn).is_empty() && usages(&records, UsageScope::Run).is_empty());
}
