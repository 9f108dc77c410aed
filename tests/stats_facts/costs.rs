//! The costs of every recording: the tokens that its manifest has, times prices that are written down here once more; and, of runners that
//! compute their cost from list prices, the cost that they report.

use super::{Facts, READERS, fixtures, report, runs_of};
use framegate::prices::{Prices, Unpriced, Usd};
use framegate::runs::{ModelTotal, RunStatus};
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The prices of the models in the recordings, in picodollars for a token: input, output, read from the cache, written to it. No call in a recording is so large
/// that it has another price.
const PRICES: &[(&str, [u64; 4])] = &[
    ("claude-haiku-5-5", [100_000, 500_000, 10_000, 125_000]),
    ("claude-opus-5-5", [4_000_000, 20_000_000, 200_000, 5_000_000]),
    ("claude-sonnet-4", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-sonnet-4-5", [3_000_000, 15_000_000, 300_000, 3_750_000]),
    ("claude-sonnet-5-5", [2_000_000, 10_000_000, 100_000, 2_500_000]),
    ("gemini-2.5-flash", [300_000, 2_500_000, 30_000, 300_000]),
    ("gemini-2.5-pro", [1_250_000, 10_000_000, 125_000, 1_250_000]),
    ("gemini-3-flash-preview", [500_000, 3_000_000, 50_000, 500_000]),
    ("gemini-3-pro-preview", [2_000_000, 12_000_000, 200_000, 2_000_000]),
    ("gpt-4.1", [2_000_000, 8_000_000, 500_000, 2_000_000]),
    ("gpt-5", [1_250_000, 10_000_000, 125_000, 1_250_000]),
    ("gpt-5-mini", [250_000, 2_000_000, 25_000, 250_000]),
    ("gpt-5.1", [1_250_000, 10_000_000, 125_000, 1_250_000]),
    ("gpt-5.5", [5_000_000, 30_000_000, 500_000, 5_000_000]),
    ("gpt-6.1-sol", [2_000_000, 10_000_000, 100_000, 2_500_000]),
    ("qwen3-coder-plus", [1_000_000, 5_000_000, 200_000, 1_250_000]),
    ("qwen3-max", [1_200_000, 6_000_000, 240_000, 1_500_000]),
];

/// The figures that are billed, in the order of the prices.
const BILLED: [&str; 4] = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"];

/// The price of a model of the recordings. Some runners write more than its name.
fn price(model: &str) -> Option<[u64; 4]> {
    let name = model.rsplit(['|', '/']).next().unwrap();
    let name = name.split(['(', '[']).next().unwrap();
    PRICES.iter().find(|(known, _)| *known == name).map(|(_, price)| *price)
}

/// Tokens times prices, in picodollars.
fn times(tokens: [u64; 4], price: [u64; 4]) -> i128 {
    tokens.iter().zip(price).map(|(tokens, price)| i128::from(*tokens) * i128::from(price)).sum()
}

/// What tokens cost more that are written to the cache for one hour: twice the price of input in the place of that of writes.
fn hour_writes(tokens: u64, price: [u64; 4]) -> i128 {
    let [input, _, _, written] = price.map(i128::from);
    i128::from(tokens) * (2 * input - written)
}

/// The cost of a run by its own status. `None`: it has none.
fn cost(run: &RunStatus) -> Option<i128> {
    let usage = &run.usage;
    usage.input_tokens.or(usage.output_tokens)?;
    if !usage.by_model.is_empty() {
        let part = |part: &ModelTotal| {
            let tokens = [part.input_tokens, part.output_tokens, part.cache_read_tokens, part.cache_creation_tokens];
            let price = price(&part.model)?;
            Some(times(tokens, price) + hour_writes(part.cache_creation_1h_tokens, price))
        };
        return usage.by_model.iter().map(part).sum();
    }
    let tokens = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_creation_tokens];
    let price = price(run.model.as_deref()?)?;
    let hour = usage.cache_creation_1h_tokens.unwrap_or_default();
    Some(times(tokens.map(Option::unwrap_or_default), price) + hour_writes(hour, price))
}

/// The cost of a recording by its manifest, if that has its tokens, and all of its runs used the same model.
fn cost_by_facts(facts: &Facts, runs: &[RunStatus]) -> Option<i128> {
    let model = runs.iter().find_map(|run| run.model.as_deref())?;
    let is_same = runs.iter().all(|run| {
        run.model.as_deref() == Some(model) && run.usage.input_tokens.is_some() && run.usage.by_model.is_empty()
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "facts are whole numbers of tokens")]
    let tokens = |figure: &str| facts.get(figure).copied().flatten().map(|tokens| tokens as u64);
    let (input, output) = (tokens("input_tokens")?, tokens("output_tokens")?);
    let [_, _, read, written] = BILLED.map(|figure| tokens(figure).unwrap_or_default());
    let hour = runs.iter().filter_map(|run| run.usage.cache_creation_1h_tokens).sum();
    let cost = |price| times([input, output, read, written], price) + hour_writes(hour, price);
    price(model).filter(|_| is_same).map(cost)
}

fn picos(figures: &Value) -> i128 {
    let usd: Option<Usd> = figures.get("computed_cost_usd").map(|usd| serde_json::from_value(usd.clone()).unwrap());
    usd.unwrap_or_default().picos()
}

#[tokio::test]
async fn the_cost_of_every_recording_is_its_tokens_times_the_prices() {
    let prices = Prices::default();
    let (mut differing, mut all) = (Vec::new(), Vec::new());
    let mut reported = 0;
    for reader in READERS {
        let mut compared = 0;
        let manifest: Value =
            serde_json::from_slice(&std::fs::read(fixtures(reader.runner).join("MANIFEST.json")).unwrap()).unwrap();
        for (name, facts) in (reader.read)(&manifest) {
            let runs = runs_of(runner(reader.runner).unwrap(), &name).await;
            if let Some(expected) = cost_by_facts(&facts, &runs) {
                compared += 1;
                let ours = picos(&report("", &runs)["total"]);
                if ours != expected {
                    differing.push(format!("{name}: the cost is {ours} picodollars instead of {expected}"));
                }
            }
            for run in &runs {
                let (ours, expected) = (run.cost(&prices).usd().map(Usd::picos), cost(run));
                if ours != expected {
                    differing.push(format!("{name}, run {}: {ours:?} instead of {expected:?}", run.run_id));
                }
                // The runner's own price list.
                if let (Some(theirs), Some(ours)) = (run.usage.cost_usd, ours)
                    && (reader.is_by_list)(&name)
                {
                    reported += 1;
                    #[expect(clippy::cast_precision_loss, reason = "the amounts are small")]
                    if (theirs - ours as f64 / 1e12).abs() > 1e-9 {
                        differing.push(format!("{name}: the runner reports {theirs}, computed are {ours} picodollars"));
                    }
                }
            }
            all.extend(runs);
        }
        assert!(compared >= reader.least_costs, "{}: {compared}", reader.runner);
    }
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
    assert!(reported > 80, "{reported}");
    sums(&all, &prices);
    unpriced(&all, &prices);
}

/// Rows have the costs of their runs, and the total that of the rows.
fn sums(runs: &[RunStatus], prices: &Prices) {
    for by in ["day", "model", "runner", "session", "runner,day,model"] {
        let report = report(by, runs);
        let rows = report["data"].as_array().unwrap();
        assert_eq!(rows.iter().map(picos).sum::<i128>(), picos(&report["total"]), "{by}");
        for row in rows {
            let is_in = |run: &&RunStatus| {
                let day = jiff::Timestamp::from_millisecond(i64::try_from(run.started_at_ms).unwrap()).unwrap();
                let day = day.to_string();
                let (session, model) = (run.session_id.to_string(), run.model.as_deref());
                by.split(',').all(|key| match key {
                    "day" => row["day"].as_str() == Some(&day[..10]),
                    "model" => row.get("model").and_then(Value::as_str) == model,
                    "runner" => row["runner"] == run.runner,
                    _ => row["session"] == session.as_str(),
                })
            };
            let own: i128 = runs.iter().filter(is_in).filter_map(|run| run.cost(prices).usd()).map(Usd::picos).sum();
            assert_eq!(picos(row), own, "{by}: {row}");
        }
    }
}

/// Each run has a cost or a reason, and the models without a price are scripted ones.
fn unpriced(runs: &[RunStatus], prices: &Prices) {
    let report = report("", runs);
    let total = &report["total"];
    let number = |key: &str| total[key].as_u64().unwrap();
    assert_eq!(number("runs_with_computed_cost") + number("unpriced_runs"), number("runs"));
    let mut reasons: BTreeMap<(&str, Option<String>), u64> = BTreeMap::new();
    for run in runs {
        let cost = run.cost(prices);
        match cost.unpriced() {
            None => {}
            Some(reason @ Unpriced::NoPrice { models, .. }) => {
                for model in models {
                    *reasons.entry((reason.as_str(), Some(model.clone()))).or_default() += 1;
                }
            }
            Some(reason) => *reasons.entry((reason.as_str(), None)).or_default() += 1,
        }
        if let Some(Unpriced::NoUsage) = cost.unpriced() {
            assert_eq!((run.usage.input_tokens, run.usage.output_tokens), (None, None), "{}", run.run_id);
        }
    }
    let listed = report["unpriced"].as_array().unwrap().iter();
    let listed: BTreeMap<_, _> = listed
        .map(|one| {
            ((one["reason"].as_str().unwrap(), one["model"].as_str().map(str::to_owned)), one["runs"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(listed, reasons);
    let models: BTreeSet<&str> = reasons.keys().filter_map(|(_, model)| model.as_deref()).collect();
    assert!(models.contains("big") && models.contains("lab-model"), "{models:?}");
    let vendors = ["claude-", "gpt-", "gemini-", "qwen3"];
    let known: Vec<_> = models.iter().filter(|model| vendors.iter().any(|vendor| model.starts_with(vendor))).collect();
    assert_eq!(known, SCRIPTED.iter().collect::<Vec<_>>(), "models with the names of vendors have prices");
}

/// Models without a price whose names begin like those of a vendor: one that does not exist, and a preview that is not sold any more.
const SCRIPTED: [&str; 2] = ["claude-x", "gemini-2.5-pro-preview-06-05"];
