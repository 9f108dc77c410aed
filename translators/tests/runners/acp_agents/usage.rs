//! Money and tokens that agents count from the beginning of a session.

use super::*;
use framegate_translators::frame::{Figures, Usage};
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::Memory;
use framegate_translators::pipeline::Ingest;
use std::sync::Arc;

fn cost(amount: f64) -> Value {
    update(
        "S",
        &json!({"sessionUpdate": "usage_update", "used": 1, "size": 9, "cost": {"amount": amount, "currency": "USD"}}),
    )
}

fn ends_with(id: u64, tokens: Option<u64>) -> Value {
    let usage = tokens.map(|tokens| json!({"inputTokens": tokens, "outputTokens": 1}));
    answer(id, &json!({"stopReason": "end_turn", "usage": usage}))
}

fn totals(frames: &[Frame]) -> Vec<(u64, Option<f64>)> {
    let total = |body: &&Body| match body {
        Body::UsageReported(usage) => {
            let usage: &Usage = usage;
            // Binary fractions make the differences exact.
            Some((usage.input_tokens, usage.cost_usd))
        }
        _ => None,
    };
    bodies(frames, "usage_reported").iter().filter_map(total).collect()
}

#[test]
fn the_cost_of_a_run_without_tokens_is_reported_with_the_next_run() {
    let frames = alone(&[
        says("S", "a"),
        cost(0.25),
        ends_with(3, None),
        cost(0.5),
        says("S", "b"),
        cost(1.0),
        ends_with(4, Some(10)),
        says("S", "c"),
        cost(1.25),
        ends_with(5, Some(10)),
    ]);
    assert_eq!(totals(&frames), [(10, Some(1.0)), (10, Some(0.25))]);
}

#[test]
fn the_cost_before_the_first_run_is_of_earlier_runs() {
    let frames = alone(&[cost(2.0), says("S", "a"), cost(2.5), ends_with(3, Some(10))]);
    assert_eq!(totals(&frames), [(10, Some(0.5))]);
}

#[test]
fn a_session_that_framegate_continues_is_not_new() {
    for (id, expected) in [("request-2", Some(0.5)), ("load-2", None), ("resume-2", None)] {
        let frames = told(&[
            json!({"jsonrpc": "2.0", "id": "request-1", "result": {"protocolVersion": 1}}),
            json!({"jsonrpc": "2.0", "id": id, "result": {"sessionId": "S"}}),
            says("S", "a"),
            cost(0.5),
            json!({"jsonrpc": "2.0", "id": "prompt-3",
                "result": {"stopReason": "end_turn", "usage": {"inputTokens": 10, "outputTokens": 1}}}),
        ]);
        assert_eq!(totals(&frames), [(10, expected)], "{id}");
    }
}

/// A session that spent this before.
struct Known(Figures);

impl Memory for Known {
    fn totals(&self, _: uuid::Uuid) -> Vec<Figures> {
        vec![self.0.clone()]
    }
}

#[test]
fn a_total_that_is_known_is_not_counted_again() {
    let before = Figures { input_tokens: 100, output_tokens: 20, ..Figures::default() };
    let mut ingest = Ingest::new(runner("acp").unwrap(), None, Limits::default(), crate::support::identity())
        .remembering(Arc::new(Known(before)));
    let lines: String = [
        answer(0, &json!({"protocolVersion": 1, "agentInfo": {"name": "Copilot", "version": "1"}})),
        answer(1, &json!({"sessionId": "S"})),
        says("S", "a"),
        answer(2, &json!({"stopReason": "end_turn", "usage": {"inputTokens": 240, "outputTokens": 51}})),
    ]
    .iter()
    .map(|message| format!("{message}\n"))
    .collect();
    let frames: Vec<Frame> = ingest.feed(lines.as_bytes(), 1).collect();
    assert_eq!(totals(&frames), [(140, None)]);
}
