//! `framegate prices`, and costs on the command line.

use crate::program::{Scratch, run};
use serde_json::{Value, json};

#[test]
fn a_file_is_checked_with_all_its_problems() {
    let scratch = Scratch::new("prices-check");
    let good = scratch.file("good.toml", "[[price]]\nmodels = [\"local/*\"]\ninput = 0\noutput = 0\n");
    run(&["prices", "check", &good], "").exits(0).prints(&["1 prices, no problems"]);
    let text = "[[price]]\nmodels = [\"a\"]\ninput = -1\noutput = 2\n[[price]]\nmodels = []\ninput = 1\noutput = 2\n";
    let bad = scratch.file("bad.toml", text);
    run(&["prices", "check", &bad], "").exits(1).prints(&[
        &bad,
        "price 1 (a): input: -1 is not a price",
        "price 2: models is empty",
    ]);
    run(&["prices", "check", &scratch.missing()], "").exits(1).prints(&["cannot be read"]);
}

#[test]
fn prices_are_listed_by_model_and_day() {
    let scratch = Scratch::new("prices-list");
    let prices = scratch.file("prices.toml", "[[price]]\nmodels = [\"local/*\"]\ninput = 0.5\noutput = 1\n");
    let config = scratch.file("config.toml", format!("[prices]\nfile = {prices:?}\n"));
    let list = |more: &[&str]| run(&[&["prices", "list", "--config", &config], more].concat(), "");
    let all = list(&["--json"]).exits(0).json();
    assert!(all.as_array().unwrap().len() > 80 && all[0]["models"] == json!(["local/*"]), "{all}");
    let one = list(&["--model", "us.anthropic.claude-opus-4-5-20251101-v1:0", "--at", "2026-11-25", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        (&one[0]["vendor"], &one[0]["input"], &one[0]["output"]),
        (&json!("Anthropic"), &json!(5.0), &json!(25.0))
    );
    let text = list(&["--model", "local/qwen"]).exits(0).out;
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["0.5", "1", "0.5", "0.5", "0.5", "1", "-", "-", "(file)", "local/*"], "{text}");
    let before = list(&["--at", "2024-01-01", "--json"]).exits(0).json();
    assert_eq!(before.as_array().unwrap().len(), 1, "only a price without a beginning is that old");
    list(&["--model", "claude-opus-5-5", "--at", "2026-09-21"])
        .exits(1)
        .says(&["no price for claude-opus-5-5 on 2026-09-21"]);
    list(&["--at", "today"]).exits(2).says(&["must be a day such as 2026-11-25"]);
    let broken = scratch.file("broken.toml", "[prices]\nfile = \"not-there.toml\"\n");
    run(&["prices", "list", "--config", &broken], "").exits(2).says(&["prices.file, not-there.toml: cannot be read"]);
}

/// A status with the tokens of one call.
fn status(nth: u64, model: Value, cost_usd: Value) -> String {
    json!({
        "run_id": format!("01890000-0000-7000-8000-{nth:012x}"), "session_id": "01890000-0000-7000-8000-00000000000a",
        "runner": "codex", "state": "completed", "started_at_ms": 1_795_564_800_000_u64 + nth, "updated_at_ms": 1_795_564_900_000_u64,
        "ended_at_ms": 1_795_564_900_000_u64, "frames": 1, "records": 1, "invalid_records": 0, "records_with_errors": 0, "tool_calls": 0,
        "usage": {"input_tokens": 1000, "output_tokens": 10, "model": model, "cost_usd": cost_usd}, "model": model, "warnings": {},
        "validation_failures": {}, "pending_approvals": [], "turns": 1, "failed_tool_calls": 0, "tools": [], "models": [],
        // A cost that an earlier proxy computed counts no more.
        "computed_cost": {"usd": 99},
    })
    .to_string()
        + "\n"
}

#[test]
fn figures_have_both_costs_and_name_the_models_without_a_price() {
    let scratch = Scratch::new("prices-stats");
    let lines = [
        status(1, json!("gpt-5.5"), json!(0.5)),
        status(2, json!("gpt-5.5"), Value::Null),
        status(3, json!("big\u{1b}[2J"), Value::Null),
        status(4, Value::Null, Value::Null),
    ];
    let file = scratch.file("statuses.json", lines.concat());
    let stats = |more: &[&str]| run(&[&["stats", "--from", &file], more].concat(), "");
    let report = stats(&["--by", "model", "--format", "json"]).exits(0).json();
    let total = &report["total"];
    assert_eq!((&total["cost_usd"], &total["computed_cost_usd"]), (&json!(0.5), &json!(0.0106)));
    assert_eq!((&total["runs_with_computed_cost"], &total["unpriced_runs"]), (&json!(2), &json!(2)));
    stats(&[]).exits(0).says(&["note: 2 runs have no computed cost: no model named (1), no price for big␛[2J (1)"]);
    let prices = scratch.file("prices.toml", "[[price]]\nmodels = [\"big*\"]\ninput = 1\noutput = 1\n");
    let config = scratch.file("config.toml", format!("[prices]\nfile = {prices:?}\n"));
    let report = stats(&["--format", "json", "--config", &config]).exits(0).json();
    assert_eq!(report["total"]["computed_cost_usd"], json!(0.01161));
}

#[test]
fn the_status_of_a_run_has_its_cost_by_the_prices_of_the_configuration() {
    let scratch = Scratch::new("prices-run");
    let agent = format!("{}/tests/upstreams/fake/agent.sh", env!("CARGO_MANIFEST_DIR"));
    let prices = scratch.file("prices.toml", "[[price]]\nmodels = [\"*\"]\ninput = 1\noutput = 1\n");
    let table =
        format!("[[upstream]]\nname = \"agent\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = {agent:?}\n");
    let table = format!("[prices]\nfile = {prices:?}\n{table}directories = [{:?}]\n", env!("CARGO_TARGET_TMPDIR"));
    let (config, file) = (scratch.file("config.toml", &table), scratch.file("status.json", ""));
    run(&["run", "--config", &config, "agent", "say hello", "--status-file", &file], "").exits(0);
    let status: Value = serde_json::from_str(std::fs::read_to_string(&file).unwrap().trim_end()).unwrap();
    let billed = ["input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"];
    let tokens: u64 = billed.iter().map(|figure| status["usage"][figure].as_u64().unwrap_or_default()).sum();
    assert!(tokens > 0);
    assert_eq!(status["computed_cost"], json!({"usd": tokens as f64 / 1e6}));
}
