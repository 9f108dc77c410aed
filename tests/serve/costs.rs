//! What runs cost: in statuses, in figures, in metrics, with prices of the program and of a file, and across a reload.

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy, recording, refusal};
use serde_json::{Value, json};

/// A price for the scripted model of OpenCode's recordings.
const BIG: &str = "[[price]]\nmodels = [\"big\"]\ninput = 3\noutput = 15\n";

fn send(proxy: &Proxy, runner: &str, name: &str) -> Value {
    let answer = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, name));
    assert_eq!(answer.status, 201, "{name}");
    answer.json()["runs"][0].clone()
}

fn status(proxy: &Proxy, run: &Value) -> Value {
    get(proxy.address, &format!("/v1/runs/{}", run["run_id"].as_str().unwrap()), &[]).json()
}

#[test]
fn a_run_has_both_costs_or_says_why_it_has_none() {
    let proxy = Proxy::start();
    let claude = send(&proxy, "claude-code", "bash_ok.ndjson");
    // The runner adds up floating-point numbers.
    assert_eq!(claude["usage"]["cost_usd"], json!(0.0019199999999999998));
    assert_eq!(claude["computed_cost"], json!({"usd": 0.00192}));
    assert_eq!(claude["usage"]["model"], "claude-opus-5-5", "{claude}");
    let codex = send(&proxy, "codex", "exec-text-plain.ndjson");
    assert_eq!(codex["computed_cost"], json!({"unpriced": "no_model", "message": "no model named"}));
    let opencode = send(&proxy, "opencode", "event-compaction.sse");
    let day = jiff_day(opencode["started_at_ms"].as_u64().unwrap());
    let message = format!("no price for big on {day}");
    assert_eq!(opencode["computed_cost"], json!({"unpriced": "no_price", "message": message, "models": ["big"]}));
    assert!(opencode["usage"].get("cost_usd").is_some(), "a reported cost stays apart: {opencode}");
    for run in [&claude, &codex, &opencode] {
        assert_eq!(status(&proxy, run)["computed_cost"], run["computed_cost"]);
    }
    let list = get(proxy.address, "/v1/runs", &[]).json();
    let costs: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|run| &run["computed_cost"]).collect();
    assert_eq!(costs, [&opencode, &codex, &claude].map(|run| &run["computed_cost"]));

    let stats = get(proxy.address, "/v1/stats?by=runner", &[]).json();
    let total = &stats["total"];
    assert_eq!(total["computed_cost_usd"], json!(0.00192));
    assert_eq!((&total["runs_with_computed_cost"], &total["unpriced_runs"]), (&json!(1), &json!(2)));
    assert_eq!(
        stats["unpriced"],
        json!([{"reason": "no_model", "runs": 1}, {"reason": "no_price", "model": "big", "runs": 1}])
    );
    let csv = get(proxy.address, "/v1/stats?by=runner", &[("accept", "text/csv")]).text();
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = header.iter().position(|name| *name == "computed_cost_usd").unwrap();
    let cells: Vec<&str> = csv.lines().skip(1).map(|line| line.split(',').nth(at).unwrap()).collect();
    assert_eq!(cells, ["0.00192", "", ""]);

    let metrics = get(proxy.address, "/metrics", &[]).text();
    let usage = &claude["usage"];
    let labels = "runner=\"claude-code\",upstream=\"none\"";
    let model = "model=\"claude-opus-5-5\"";
    for line in [
        format!("framegate_tokens_total{{kind=\"output\",{model},{labels}}} {}", usage["output_tokens"]),
        format!("framegate_reported_cost_usd_total{{{model},{labels}}} {}", usage["cost_usd"]),
        format!("framegate_computed_cost_usd_total{{{model},{labels}}} 0.00192"),
        "framegate_unpriced_runs_total{model=\"other\",runner=\"opencode\",upstream=\"none\"} 1".to_owned(),
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} is not in\n{metrics}");
    }
    assert!(!metrics.contains("\"big\""), "a model without a price has no label of its own");
}

/// The day of a time in UTC.
fn jiff_day(unix_ms: u64) -> String {
    jiff::Timestamp::from_millisecond(i64::try_from(unix_ms).unwrap()).unwrap().to_string()[..10].to_owned()
}

/// Claude Code uses a small model for titles and the like. Its result has the tokens of each model, and its records only the calls of the main one.
#[test]
fn a_total_of_several_models_has_the_price_of_each() {
    let proxy = Proxy::start();
    let text = String::from_utf8(recording("claude-code", "bash_ok.ndjson")).unwrap();
    let small = "\"claude-haiku-4-5-20251001\":{\"inputTokens\":1000,\"outputTokens\":100,\"costUSD\":0.0015},";
    let with = |text: &str, table: &str| text.replace(table, &format!("{table}{small}"));
    let both = with(&with(&text, "\"modelUsage\":{"), "\"model_usage_since_last_result\":{");
    let run = post(proxy.address, "/v1/ingest/claude-code", &[], both.as_bytes()).json()["runs"][0].clone();
    assert_eq!(run["computed_cost"], json!({"usd": 0.00342}), "{run}");
    assert_eq!((&run["usage"]["output_tokens"], run["usage"].get("model")), (&json!(152), None));
    let parts: Vec<&Value> = run["usage"]["by_model"].as_array().unwrap().iter().map(|part| &part["model"]).collect();
    assert_eq!(parts, ["claude-haiku-4-5-20251001", "claude-opus-5-5"]);
    // After a restart too.
    let folder = Folder::new();
    let log = folder.path("prices.db").display().to_string();
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &log)]);
    let run = post(proxy.address, "/v1/ingest/claude-code", &[], both.as_bytes()).json()["runs"][0].clone();
    drop(proxy);
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &log)]);
    assert_eq!(status(&proxy, &run)["computed_cost"], json!({"usd": 0.00342}), "what is stored is enough");
}

#[test]
fn prices_of_a_file_go_before_those_of_the_program_and_a_reload_changes_old_runs() {
    let folder = Folder::new();
    let prices = folder.write("prices.toml", "[[price]]\nmodels = [\"claude-*\"]\ninput = 0\noutput = 0\n");
    let config = folder.write("config.toml", &format!("[prices]\nfile = {prices:?}\n"));
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    let claude = send(&proxy, "claude-code", "bash_ok.ndjson");
    let opencode = send(&proxy, "opencode", "event-compaction.sse");
    assert_eq!(claude["computed_cost"], json!({"usd": 0.0}));
    assert_eq!(opencode["computed_cost"]["unpriced"], "no_price");
    folder.write("prices.toml", BIG);
    proxy.signal("HUP");
    folder.wait_for("log", "the configuration was reloaded");
    assert_eq!(status(&proxy, &claude)["computed_cost"]["usd"], json!(0.00192));
    let usage = &opencode["usage"];
    let tokens = |key: &str| usage[key].as_u64().unwrap_or_default();
    let input = tokens("input_tokens") + tokens("cache_read_tokens") + tokens("cache_creation_tokens");
    let expected = (input * 3 + tokens("output_tokens") * 15) as f64 / 1e6;
    assert_eq!(status(&proxy, &opencode)["computed_cost"]["usd"], expected);
    // A file that cannot be used changes nothing.
    folder.write("prices.toml", &BIG.replace('3', "-3"));
    proxy.signal("HUP");
    let log = folder.wait_for("log", "was not reloaded");
    assert!(log.contains("price 1 (big): input: -3 is not a price"), "{log}");
    assert_eq!(status(&proxy, &opencode)["computed_cost"]["usd"], expected);
}

#[test]
fn a_proxy_does_not_start_with_prices_that_cannot_be_used() {
    let folder = Folder::new();
    let prices =
        folder.write("prices.toml", "[[price]]\nmodels = [\"x\"]\ninput = 1\noutput = 2\nvalid_from = \"soon\"\n");
    let said = refusal(&[("FRAMEGATE__PRICES__FILE", &prices)]);
    for part in ["prices.file, ", &prices, "price 1 (x): valid_from: \"soon\" is not a day such as"] {
        assert!(said.contains(part), "{said}");
    }
    let missing = folder.path("missing.toml").display().to_string();
    assert!(refusal(&[("FRAMEGATE__PRICES__FILE", &missing)]).contains("missing.toml: cannot be read"));
}
