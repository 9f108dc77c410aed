//! Usage: the session's total, and the part of each run.

use super::records::*;
use framegate_translators::frame::{Body, Figures, Usage, UsageScope};
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::Memory;
use framegate_translators::pipeline::Ingest;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

fn totals(records: &[Value]) -> Vec<(u64, u64)> {
    let of = |body: &Body| match body {
        Body::UsageReported(usage) if usage.scope == UsageScope::Run => Some((usage.input_tokens, usage.output_tokens)),
        _ => None,
    };
    frames(records).iter().filter_map(|frame| of(&frame.body)).collect()
}

fn used(id: &str, input: u64, output: u64) -> Value {
    assistant(id, json!({"type": "text", "text": "x"}), usage(input, output), None)
}

#[test]
fn a_result_counts_the_session_and_a_run_its_increase() {
    let records = [
        init(),
        used("a", 90, 4),
        result("x", usage(90, 4)),
        init(),
        used("b", 120, 4),
        result("x", usage(230, 9)),
        init(),
        used("c", 10, 1),
        result("x", usage(240, 10)),
    ];
    assert_eq!(totals(&records), [(90, 4), (140, 5), (10, 1)], "the second one has a helper's 20 and 1");
}

#[test]
fn what_an_interrupted_run_used_is_not_counted_again() {
    let records = [
        init(),
        used("a", 90, 4),
        result("x", usage(90, 4)),
        init(),
        used("b", 100, 5),
        init(),
        used("c", 50, 2),
        result("x", usage(240, 11)),
    ];
    assert_eq!(totals(&records), [(90, 4), (100, 5), (50, 2)]);
}

#[test]
fn a_total_that_begins_again_is_the_runs_own() {
    let records =
        [init(), used("a", 90, 4), result("x", usage(90, 4)), init(), used("b", 30, 2), result("x", usage(30, 2))];
    assert_eq!(totals(&records), [(90, 4), (30, 2)]);
}

#[derive(Debug)]
struct Known(Vec<Figures>);

impl Memory for Known {
    fn totals(&self, _session: Uuid) -> Vec<Figures> {
        self.0.clone()
    }
}

/// The usage of the only run of an input, if these totals are known from earlier inputs.
fn remembering(known: Vec<Figures>, records: &[Value]) -> Usage {
    let mut ingest =
        Ingest::new(qwen(), None, Limits::default(), crate::support::identity()).remembering(Arc::new(Known(known)));
    let mut all: Vec<_> = ingest.feed(&lines_of(records), crate::support::EPOCH_MS).collect();
    all.extend(ingest.finish(crate::support::EPOCH_MS));
    let usages = all.into_iter().filter_map(|frame| match frame.body {
        Body::UsageReported(usage) if usage.scope == UsageScope::Run => Some(*usage),
        _ => None,
    });
    usages.last().unwrap()
}

#[test]
fn a_resumed_run_starts_from_the_total_of_an_earlier_input() {
    let first = [init(), used("a", 90, 6), result("x", usage(90, 6))];
    let kept = *remembering(Vec::new(), &first).running.unwrap();
    let second = [init(), used("b", 300, 22), result("x", usage(390, 28))];
    let of_second = remembering(vec![kept.clone()], &second);
    assert_eq!((of_second.input_tokens, of_second.output_tokens), (300, 22));
    // The same input again gives the same figures.
    let again = remembering(vec![kept, *of_second.running.unwrap()], &second);
    assert_eq!((again.input_tokens, again.output_tokens), (300, 22));
}

#[test]
fn figures_that_the_server_did_not_give_are_absent() {
    let zeros = json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0});
    assert_eq!(totals(&[init(), text("a", "x"), result("x", zeros)]), []);
    let without_cache = json!({"input_tokens": 5, "output_tokens": 1, "total_tokens": 6});
    let all = frames(&[init(), assistant("a", json!({"type": "text", "text": "x"}), without_cache, None)]);
    let usage = all.iter().find_map(|frame| match &frame.body {
        Body::UsageReported(usage) => Some(usage),
        _ => None,
    });
    let usage = usage.unwrap();
    assert_eq!((usage.cache_read_tokens, usage.reasoning_tokens, usage.cost_usd), (None, None, None));
}
