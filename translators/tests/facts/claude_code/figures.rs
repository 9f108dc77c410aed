//! Turns, and the usage and cost of turns and runs.

use super::case::*;
use framegate_translators::frame::{Body, Usage, UsageScope};
use serde_json::Value;

#[test]
fn turns() {
    each(|case| {
        if case.is_result_alone() {
            return Ok(());
        }
        let messages = case.main_messages();
        let models: Vec<&str> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::TurnStarted { model, .. } => model.as_deref(),
                _ => None,
            })
            .collect();
        same("turns", &models, &messages.iter().map(|message| message["model"].as_str().unwrap()).collect())?;
        // Only partial messages contain the stop reason.
        let streamed = case.name.contains(".partial.");
        let stops = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::TurnEnded { stop_reason, .. } => Some(stop_reason.as_deref()),
            _ => None,
        });
        for (ours, message) in stops.zip(&messages) {
            let known = message["stop_reason"].as_str();
            if ours.is_some() || (streamed && message["broken"].is_null()) {
                same("stop reason", &ours, &known)?;
            }
        }
        Ok(())
    });
}

fn tokens(usage: &Usage) -> [Option<u64>; 4] {
    [Some(usage.input_tokens), Some(usage.output_tokens), usage.cache_read_tokens, usage.cache_creation_tokens]
}

fn fact_tokens(usage: &Value) -> [Option<u64>; 4] {
    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
        .map(|key| usage[key].as_u64())
}

#[test]
fn usage_of_turns() {
    each(|case| {
        let ours: Vec<_> = case.usages(UsageScope::Turn).into_iter().map(tokens).collect();
        let known = |message: &&&Value| {
            message["broken"].is_null()
                && (message["in_stream_events"] == true || message["streamed"] == false)
                && !case.incomplete().iter().any(|(id, _)| message["message_id"] == **id)
        };
        let messages = case.main_messages();
        let theirs: Vec<_> = messages.iter().filter(known).map(|message| fact_tokens(&message["usage"])).collect();
        same("usage", &ours, &theirs)
    });
}

#[test]
fn usage_of_runs() {
    each(|case| {
        let mut ours = case.usages(UsageScope::Run).into_iter();
        let raw = case.records.iter().filter(|record| record["type"] == "result");
        let mut before: Option<f64> = None;
        for (result, raw) in list(&case.facts["results"]).iter().zip(raw) {
            let total = result["total_cost_usd"].as_f64().unwrap();
            // The single result of `--output-format json` only has totals, and they are those of the run.
            let grown = raw.get("model_usage_since_last_result").unwrap_or(&raw["modelUsage"]).as_object().unwrap();
            let grown_cost: f64 = grown.values().map(|figures| figures["costUSD"].as_f64().unwrap()).sum();
            // The total of a resumed session starts at the earlier process's total.
            if let Some(before) = before {
                same("growth of the total", &((total - before - grown_cost).abs() < 1e-9), &true)?;
            }
            before = Some(total);
            let reported = fact_tokens(&result["usage"]);
            let sum = |key| Some(grown.values().map(|figures| figures[key].as_u64().unwrap()).sum::<u64>());
            let all = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"].map(sum);
            // The run's total is the usage of all models: the main loop's figures include replies that broke off. The usage that another
            // run of the session reported in the meantime is not included. Only partial messages report it.
            let has_table = raw.get("model_usage_since_last_result").is_some();
            let mut theirs = if has_table { all } else { [0, 1, 2, 3].map(|at| all[at].max(reported[at])) };
            if case.name == "subagent_background.partial.ndjson" {
                let is_first = theirs[0] == Some(610);
                (theirs[0], theirs[1]) =
                    if is_first { (Some(610 - 230), Some(143 - 12)) } else { (Some(230), Some(12)) };
            }
            if theirs.iter().flatten().all(|figure| *figure == 0) && grown_cost == 0.0 {
                continue;
            }
            let Some(usage) = ours.next() else { return Err("no usage".to_owned()) };
            same("tokens", &tokens(usage), &theirs)?;
            if reported.iter().flatten().any(|figure| *figure > 0) {
                let part = usage.main_thread.as_deref().ok_or("no part of the main thread")?;
                let part = [
                    Some(part.input_tokens),
                    Some(part.output_tokens),
                    part.cache_read_tokens,
                    part.cache_creation_tokens,
                ];
                same("main thread", &part, &[0, 1, 2, 3].map(|at| reported[at].min(theirs[at])))?;
            }
            same("cost", &usage.cost_usd.is_some_and(|cost| (cost - grown_cost).abs() < 1e-9), &true)?;
        }
        // A run without a result has the sum of its calls.
        same("further usages", &(ours.count() <= usize::from(case.name.starts_with("killed_"))), &true)
    });
}
