//! The table of the program, patterns and days together, and costs.

use super::*;
use proptest::prelude::*;

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// Prices of which only a file's entries count.
fn prices(text: &str) -> Table {
    Table::new(file::parse(text, "test.toml", false).unwrap())
}

const TABLE: &str = r#"
[[price]]
models = ["*"]
input = 100
output = 100
[[price]]
models = ["gpt-5*"]
valid_from = "2026-01-10"
input = 1
output = 1
[[price]]
models = ["gpt-5.1"]
valid_from = "2026-03-01"
input = 2
output = 2
[[price]]
models = ["gpt-5.1"]
valid_from = "2026-04-01"
input = 3
output = 3
[[price]]
models = ["vendor/gpt-5.1"]
input = 9
output = 9
"#;

#[test]
fn the_table_of_the_program_has_no_problems_and_says_what_it_knows_since_when() {
    let entries = file::parse(BUILT_IN, "prices.toml", true).unwrap();
    assert!(entries.len() > 80, "{}", entries.len());
    for entry in &entries {
        let Entry { vendor, valid_from, known_on, rates, models, .. } = entry;
        assert!(vendor.is_some() && valid_from.is_some(), "{models:?}");
        assert!(known_on.is_some_and(|known| known >= valid_from.unwrap()), "{models:?}");
        assert!(rates.input > Price::default() && rates.output >= rates.input, "{models:?}");
        assert!(rates.cache_read <= rates.input, "{models:?}");
        assert!(entry.tiers.iter().all(|tier| tier.rates.input > rates.input), "{models:?}");
        assert!(models.iter().all(|model| !model.contains('*') && *model == model.to_lowercase()), "{models:?}");
    }
}

/// The vendors' price lists, and what runners report of their own calls.
#[test]
fn known_models_have_the_prices_that_their_vendors_list() {
    let prices = Prices::default();
    for (model, at, expected) in [
        ("claude-opus-5-5", "2026-11-25", Some("4 20 0.2 5")),
        ("claude-opus-5-5[1m]", "2026-11-25", Some("4 20 0.2 5")),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "2026-11-25", Some("5 25 0.5 6.25")),
        ("anthropic/claude-opus-4.1", "2026-11-25", Some("15 75 1.5 18.75")),
        ("claude-sonnet-5-5", "2026-10-06", Some("2 10 0.2 2.5")),
        ("claude-sonnet-5-5", "2026-10-07", Some("2 10 0.1 2.5")),
        ("claude-opus-5-5", "2026-09-21", None),
        ("gpt-5.5", "2026-11-25", Some("5 30 0.5 5")),
        ("gpt-6.1-sol[xhigh]", "2026-11-25", Some("2 10 0.1 2.5")),
        ("openai/gpt-5-2025-08-07", "2026-11-25", Some("1.25 10 0.125 1.25")),
        ("gemini-2.5-pro", "2026-11-25", Some("1.25 10 0.125 1.25")),
        ("qwen3-coder-plus", "2026-11-25", Some("1 5 0.2 1.25")),
        ("qwen/qwen3-coder:free", "2026-11-25", None),
        ("big", "2026-11-25", None),
        ("", "2026-11-25", None),
    ] {
        let found = prices.find(model, day(at), |found| {
            found.map(|found| {
                let Rates { input, output, cache_read, cache_write, .. } = found.entry.rates;
                [input, output, cache_read, cache_write].map(|price| price.to_string()).join(" ")
            })
        });
        assert_eq!(found.as_deref(), expected, "{model} on {at}");
    }
}

#[test]
fn the_most_specific_pattern_that_is_valid_applies() {
    let table = prices(TABLE);
    for (model, at, input) in [
        ("gpt-5.1", "2026-01-09", "100"),
        ("gpt-5.1", "2026-01-10", "1"),
        ("gpt-5.1", "2026-02-28", "1"),
        ("gpt-5.1", "2026-03-01", "2"),
        ("GPT-5.1", "2026-04-01", "3"),
        ("gpt-5.1-codex", "2026-04-01", "1"),
        ("other", "2026-04-01", "100"),
        ("vendor/gpt-5.1", "2026-04-01", "9"),
        // A pattern that matches the name as it is goes before one that matches a shorter form.
        ("elsewhere/gpt-5.1", "2026-04-01", "100"),
    ] {
        assert_eq!(table.find(model, day(at)).unwrap().entry.rates.input.to_string(), input, "{model} on {at}");
    }
    assert_eq!(table.find("gpt-5.2", day("2026-04-01")).unwrap().pattern, "gpt-5*");
}

#[test]
fn a_file_goes_before_the_program_and_can_be_replaced() {
    let folder = std::env::temp_dir().join(format!("framegate-prices-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("prices.toml");
    std::fs::write(&file, "[[price]]\nmodels = [\"claude-*\"]\ninput = 0\noutput = 0\n").unwrap();
    let shared = Prices::default();
    let clone = shared.clone();
    let input = |model: &str| {
        clone.find(model, day("2026-11-25"), |found| found.map(|found| found.entry.rates.input.to_string()))
    };
    assert_eq!(input("claude-opus-5-5").as_deref(), Some("4"));
    shared.replace(&Prices::load(&file).unwrap());
    assert_eq!((input("claude-opus-5-5").as_deref(), input("gpt-5.5").as_deref()), (Some("0"), Some("5")));
    assert!(!shared.entries()[0].is_built_in && shared.entries()[1].is_built_in);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(Prices::load(&file).is_err());
}

/// 2026-11-25T00:00:00Z.
const NOW: u64 = 1_795_564_800_000;

const COSTS: &str = r#"
[[price]]
models = ["big"]
input = 10
output = 100
cache_read = 1
cache_write = 12.5
cache_write_1h = 20
tiers = [{ above_input_tokens = 200_000, input = 20, output = 150, cache_read = 2, cache_write = 25, cache_write_1h = 40 }]
[[price]]
models = ["small"]
input = 1
output = 4
cache_write_1h = 2
reasoning = 8
[[price]]
models = ["later"]
valid_from = "2026-11-26"
input = 1
output = 1
"#;

fn tokens(input: u64, output: u64) -> Tokens {
    Tokens { input, output, ..Tokens::default() }
}

fn calls(model: Option<&str>, tokens: Tokens) -> Calls<'_> {
    Calls { model, above_input_tokens: tokens.size_limit(), tokens }
}

/// The cost in US dollars with the reasons for which it is not exact, or why there is none.
fn cost(spent: Spent<'_>) -> String {
    let table = prices(COSTS);
    match cost::of(&Spent { started_at_ms: NOW, ..spent }, &[&table]) {
        ComputedCost::Known { usd, approximate } => {
            let reasons = approximate.iter().map(|reason| format!(" {}", reason.as_str()));
            format!("{usd}{}", reasons.collect::<String>())
        }
        ComputedCost::Unpriced(reason) => reason.to_string(),
    }
}

#[test]
fn each_kind_of_token_has_its_price_and_cached_tokens_are_billed_once() {
    let total = Tokens {
        input: 1_000_000,
        output: 10_000,
        cache_read: 100_000,
        cache_creation: 4_000,
        cache_creation_1h: 0,
        reasoning: 9_000,
    };
    let spent =
        |model: &'static str| Spent { total: Some(total), total_by_model: vec![(model, total)], ..Spent::default() };
    assert_eq!(cost(spent("small")), "1.18");
    let call = Tokens { input: 150_000, ..total };
    let large = Tokens { cache_read: 100_001, ..call };
    assert_eq!(call.size_limit(), 200_000, "cached tokens are part of the size");
    let of =
        |call: Tokens| cost(Spent { total: Some(call), calls: vec![calls(Some("big"), call)], ..Spent::default() });
    assert_eq!(of(Tokens { cache_read: 10, ..call }), "2.55001");
    assert_eq!(of(large), "4.800002");
}

#[test]
fn writes_of_one_hour_have_their_own_price_also_if_only_the_calls_report_them() {
    let call = Tokens { cache_creation: 1_000, cache_creation_1h: 400, ..tokens(100, 10) };
    let table = prices(COSTS);
    let rates = &table.find("small", day("2026-11-25")).unwrap().entry.rates;
    let expected =
        [rates.input.times(100), rates.output.times(10), rates.cache_write.times(600), rates.cache_write_1h.times(400)];
    let expected = expected.into_iter().fold(Usd::default(), Usd::plus).to_string();
    assert_ne!(rates.cache_write, rates.cache_write_1h);
    let whole = Tokens { cache_creation_1h: 0, ..call };
    for total in [call, whole] {
        for (total_by_model, spelled) in
            [(Vec::new(), "small"), (vec![("small", total)], "small"), (vec![("small", total)], "x/small")]
        {
            let calls = vec![calls(Some(spelled), call)];
            assert_eq!(cost(Spent { total: Some(total), total_by_model, calls, ..Spent::default() }), expected);
        }
    }
    let of_other = Tokens { cache_creation: 50, ..tokens(1, 1) };
    let total_by_model = vec![("small", whole), ("big", of_other)];
    let all = Tokens { input: 101, output: 11, cache_creation: 1_050, ..Tokens::default() };
    let both = cost(Spent {
        total: Some(all),
        total_by_model: total_by_model.clone(),
        calls: vec![calls(Some("small"), call), calls(Some("big"), of_other)],
        ..Spent::default()
    });
    let without = cost(Spent { total: Some(all), total_by_model, ..Spent::default() });
    assert_ne!(both, without);
}

#[test]
fn a_run_without_a_cost_says_why() {
    let total = Some(tokens(1, 1));
    assert_eq!(cost(Spent::default()), "no usage reported");
    assert_eq!(cost(Spent { model: Some("big"), ..Spent::default() }), "no usage reported");
    assert_eq!(cost(Spent { total, ..Spent::default() }), "no model named");
    assert_eq!(cost(Spent { total, model: Some("tiny"), ..Spent::default() }), "no price for tiny on 2026-11-25");
    assert_eq!(cost(Spent { total, model: Some("later"), ..Spent::default() }), "no price for later on 2026-11-25");
    let several =
        vec![calls(Some("big"), tokens(1, 1)), calls(Some("a"), tokens(1, 1)), calls(Some("b"), tokens(1, 1))];
    assert_eq!(
        cost(Spent { total: Some(tokens(3, 3)), calls: several, ..Spent::default() }),
        "no price for a, b on 2026-11-25"
    );
    assert_eq!(cost(Spent { calls: vec![calls(None, tokens(1, 1))], ..Spent::default() }), "no model named");
}

#[test]
fn calls_of_several_models_have_the_price_of_each() {
    let two = vec![calls(Some("big"), tokens(1_000, 10)), calls(Some("small"), tokens(1_000, 10))];
    let spent = |total| Spent { total, calls: two.clone(), model: Some("big"), ..Spent::default() };
    assert_eq!(cost(spent(Some(tokens(2_000, 20)))), "0.01204");
    assert_eq!(cost(spent(None)), "0.01204", "a run that goes on has no total yet");
    // What the total has beyond the calls is of a model that is not known.
    assert_eq!(cost(spent(Some(tokens(2_100, 20)))), "0.01304 models_not_reported");
    let unnamed = vec![calls(None, tokens(1_000, 10))];
    assert_eq!(
        cost(Spent { total: Some(tokens(1_000, 10)), calls: unnamed, model: Some("small"), ..Spent::default() }),
        "0.00104 models_not_reported"
    );
}

#[test]
fn a_total_by_model_is_exact_also_beyond_the_calls() {
    let total = Some(tokens(2_000, 20));
    let by_model = vec![("big", tokens(1_000, 10)), ("small", tokens(1_000, 10))];
    assert_eq!(cost(Spent { total, total_by_model: by_model.clone(), ..Spent::default() }), "0.01204");
    // The runner does not report the calls to the small model one by one.
    let calls_of_big = vec![calls(Some("big"), tokens(1_000, 10))];
    assert_eq!(cost(Spent { total, total_by_model: by_model, calls: calls_of_big, ..Spent::default() }), "0.01204");
    // Other spellings of the same model.
    let spelled = vec![("big[1m]", tokens(300_000, 0))];
    let spent =
        |calls| Spent { total: Some(tokens(300_000, 0)), total_by_model: spelled.clone(), calls, ..Spent::default() };
    assert_eq!(cost(spent(vec![calls(Some("x/big"), tokens(300_000, 0))])), "6");
    assert_eq!(cost(spent(Vec::new())), "3 call_sizes_not_reported");
}

#[test]
fn sizes_matter_only_if_a_call_can_be_large() {
    let of = |input| {
        let total = tokens(input, 0);
        cost(Spent { total: Some(total), total_by_model: vec![("big", total)], ..Spent::default() })
    };
    assert_eq!((of(200_000), of(200_001)), ("2".to_owned(), "2.00001 call_sizes_not_reported".to_owned()));
}

#[test]
fn calls_with_more_than_their_total_do_not_cost_more_than_it() {
    let spent = |total: Tokens| Spent {
        total: Some(total),
        calls: vec![calls(Some("small"), tokens(1_000, 10))],
        model: Some("small"),
        ..Spent::default()
    };
    assert_eq!(cost(spent(tokens(500, 10))), "0.00054 models_not_reported");
    assert_eq!(cost(spent(tokens(0, 0))), "0 models_not_reported");
}

#[test]
fn a_cost_says_in_json_what_it_is() {
    let known = |approximate| ComputedCost::Known { usd: Price::per_million("5300").unwrap().times(1), approximate };
    let json = |cost: &ComputedCost| serde_json::to_string(cost).unwrap();
    assert_eq!(json(&known(Vec::new())), r#"{"usd":0.0053}"#);
    let both = Approximation::ALL.to_vec();
    assert_eq!(json(&known(both)), r#"{"usd":0.0053,"approximate":["models_not_reported","call_sizes_not_reported"]}"#);
    let unpriced = ComputedCost::Unpriced(Unpriced::NoPrice { models: vec!["big".to_owned()], day: day("2026-11-25") });
    assert_eq!(
        json(&unpriced),
        r#"{"unpriced":"no_price","message":"no price for big on 2026-11-25","models":["big"]}"#
    );
    for reason in Approximation::ALL {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
    }
}

fn any_tokens() -> impl Strategy<Value = Tokens> {
    let count = || 0..300_000_u64;
    (count(), count(), count(), count(), count(), count()).prop_map(
        |(input, output, cache_read, cache_creation, hour, reasoning)| Tokens {
            input,
            output,
            cache_read,
            cache_creation,
            cache_creation_1h: hour.min(cache_creation),
            reasoning: reasoning.min(output),
        },
    )
}

proptest! {
    /// The calls of a run, in any grouping, cost what each of them costs.
    #[test]
    fn the_cost_of_a_run_is_the_sum_of_its_calls(all in prop::collection::vec((any_tokens(), any::<bool>()), 1..8)) {
        let model = |is_big: bool| if is_big { "big" } else { "small" };
        let table = prices(COSTS);
        let usd = |calls: Vec<Calls<'_>>, total_by_model: Vec<(&str, Tokens)>, total: Option<Tokens>| {
            let spent = Spent { total, total_by_model, calls, model: Some("big"), started_at_ms: NOW };
            match cost::of(&spent, &[&table]) {
                ComputedCost::Known { usd, approximate } => (usd, approximate),
                ComputedCost::Unpriced(reason) => panic!("{reason}"),
            }
        };
        let each = all.iter().map(|(tokens, is_big)| usd(vec![calls(Some(model(*is_big)), *tokens)], Vec::new(), None).0);
        let expected = each.fold(Usd::default(), Usd::plus);
        let together = || all.iter().map(|(tokens, is_big)| calls(Some(model(*is_big)), *tokens)).collect::<Vec<_>>();
        let sum = |wanted: Option<bool>| {
            let mut sum = Tokens::default();
            for (tokens, _) in all.iter().filter(|(_, is_big)| wanted.is_none_or(|wanted| wanted == *is_big)) {
                sum.input += tokens.input;
                sum.output += tokens.output;
                sum.cache_read += tokens.cache_read;
                sum.cache_creation += tokens.cache_creation;
                sum.reasoning += tokens.reasoning;
            }
            sum
        };
        prop_assert_eq!(usd(together(), Vec::new(), None), (expected, Vec::new()));
        prop_assert_eq!(usd(together(), Vec::new(), Some(sum(None))), (expected, Vec::new()));
        let by_model = vec![("big", sum(Some(true))), ("small", sum(Some(false)))];
        prop_assert_eq!(usd(together(), by_model, Some(sum(None))), (expected, Vec::new()));
    }
}
