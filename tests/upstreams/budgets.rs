//! Budgets: runs that cost too much are reported, interrupted and refused.

use crate::client::{get, post};
use crate::proxy::Folder;
use crate::started::{Started, filled};
use serde_json::{Value, json};

/// An agent whose model has a price of its own: each call costs 0.25 US dollars. It works in the folder of the test.
fn tables(budgets: &str) -> String {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
    let prices = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/prices.toml");
    format!(
        "[prices]\nfile = \"{prices}\"\n[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n\
         directories = [\"{{folder}}\"]\ninterrupt_grace_ms = 200\nsignal_grace_ms = 200\n{budgets}"
    )
}

fn started(budgets: &str) -> Started {
    Started::with(&tables(budgets), &[])
}

fn budget(name: &str, per: &str, usd: &str, action: &str) -> String {
    format!("[[budgets.limit]]\nname = \"{name}\"\nper = [{per}]\nusd = \"{usd}\"\naction = \"{action}\"\n")
}

fn order(prompt: &str, labels: Value) -> Value {
    json!({"upstream": "fake", "prompt": prompt, "labels": labels})
}

impl Started {
    /// The lines of the proxy's log that contain a text.
    fn logged(&self, text: &str) -> Vec<String> {
        self.folder.read("log").lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

#[test]
fn an_open_run_that_spends_its_budget_is_interrupted() {
    let started = started(&budget("each", "\"run\"", "0.25", "stop"));
    let run = started.run_of(&order("dearly", json!({})));
    let status = started.wait_for_end(&run);
    assert_eq!((&status["state"], &status["error_code"]), (&json!("interrupted"), &json!("interrupted")), "{status}");
    assert!(status["message"].as_str().unwrap().starts_with("budget each interrupted the run"), "{status}");
    assert!(status["computed_cost"]["usd"].as_f64().unwrap() >= 0.25, "{status}");
    started.wait_for_no_process();
    assert_eq!(started.metric("framegate_budgets_passed_total{budget=\"each\",mark=\"limit\"}"), 1);
    assert_eq!(started.metric("framegate_budgets_passed_total{budget=\"each\",mark=\"warning\"}"), 1);
    let line = started.logged("a budget is spent").join("\n");
    assert!(line.contains("each") && line.contains(&format!("run {run}")) && line.contains("0.25"), "{line}");
    // The next run has a budget of its own.
    assert_eq!(started.start(&order("dearly", json!({}))).status, 201);
}

#[test]
fn an_open_run_without_usage_is_interrupted_with_its_account() {
    let started = started(&budget("total", "\"day\"", "0.3", "stop"));
    let waiting = started.run_of(&order("slowly", json!({})));
    for _ in 0..2 {
        let run = started.run_of(&order("go", json!({})));
        started.wait_for_end(&run);
    }
    let status = started.wait_for_end(&waiting);
    assert_eq!((&status["state"], &status["usage"]), (&json!("interrupted"), &json!({})), "{status}");
    // The run that spent the rest may also have been open still.
    started.wait_for(&waiting, "the log does not say that the run was interrupted", |_| {
        started.logged("the run was interrupted").iter().any(|line| line.contains(&waiting))
    });
}

#[test]
fn a_budget_that_warns_stops_nothing() {
    let started = started(&budget("total", "\"day\"", "0.3", "warn"));
    for expected in [(0, 1), (1, 1), (1, 1)] {
        let run = started.run_of(&order("go", json!({})));
        let status = started.wait_for_end(&run);
        assert_eq!(status["state"], "completed", "{status}");
        let passed =
            |mark: &str| started.metric(&format!("framegate_budgets_passed_total{{budget=\"total\",mark=\"{mark}\"}}"));
        // The marks are counted behind the log.
        started.wait_for(&run, "the marks are not counted", |_| (passed("limit"), passed("warning")) == expected);
    }
    assert_eq!((started.logged("almost spent").len(), started.logged("a budget is spent").len()), (1, 1));
}

#[test]
fn prompts_that_would_count_for_a_spent_budget_are_refused() {
    let started = started(
        &(budget("team", "\"label:team\", \"day\"", "0.25", "stop") + &budget("talk", "\"session\"", "0.5", "stop")),
    );
    let web = json!({"team": "web"});
    let run = started.run_of(&order("go", web.clone()));
    let status = started.wait_for_end(&run);
    let refused = |labels: &Value| {
        let answer = started.start(&order("go", labels.clone()));
        (answer.status, answer.json())
    };
    started.wait_for(&run, "the budget is not spent", |_| refused(&web).0 == 429);
    let (_, problem) = refused(&web);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("the budget \"team\" of 0.25 US dollars is spent for team:web, 20"), "{problem}");
    // Other teams, and runs without a team, go on.
    for labels in [json!({"team": "db"}), json!({})] {
        assert_eq!(refused(&labels).0, 201, "{labels}");
    }
    // The session goes on until its own budget is spent.
    let session = status["session_id"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}/messages");
    let say = || post(started.proxy.address, &path, &[], br#"{"prompt": "go"}"#);
    assert_eq!(say().status, 202);
    let talked = |runs: usize| {
        let list = get(started.proxy.address, &format!("/v1/runs?session_id={session}"), &[]).json();
        let data = list["data"].as_array().unwrap();
        data.len() == runs && data.iter().all(|run| run["ended_at_ms"].is_u64())
    };
    started.wait_for(&run, "the second run does not end", |_| talked(2));
    started.wait_for(&run, "the session goes on", |_| say().status == 429);
    let detail = say().json()["detail"].as_str().unwrap().to_owned();
    assert!(
        detail.contains(&format!("the budget \"talk\" of 0.5 US dollars is spent for session {session}")),
        "{detail}"
    );
}

#[test]
fn a_budget_remembers_what_stored_runs_cost() {
    let folder = Folder::new();
    let database = folder.path("log.db").to_str().unwrap().to_owned();
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", database.as_str())];
    let tables = tables(&budget("team", "\"label:team\"", "0.25", "stop"));
    let first = Started::with(&tables, &settings);
    let run = first.run_of(&order("go", json!({"team": "web"})));
    first.wait_for_end(&run);
    first
        .wait_for(&run, "the budget is not spent", |_| first.start(&order("go", json!({"team": "web"}))).status == 429);
    drop(first);
    let second = Started::with(&tables, &settings);
    assert_eq!(second.start(&order("go", json!({"team": "web"}))).status, 429);
    assert_eq!(second.start(&order("go", json!({"team": "db"}))).status, 201);
    assert_eq!(second.logged("team:web"), Vec::<String>::new(), "an old run is not reported again");
}

#[test]
fn a_reload_changes_what_may_be_spent() {
    let limited = |usd: &str| tables(&budget("total", "\"day\"", usd, "stop"));
    let started = Started::with(&limited("10"), &[]);
    let run = started.run_of(&order("go", json!({})));
    started.wait_for_end(&run);
    let reload = |usd: &str, times: usize| {
        started.folder.write("config.toml", &filled(&limited(usd), &started.folder));
        started.proxy.signal("HUP");
        started.wait_for(&run, "the configuration is not reloaded", |_| {
            started.logged("the configuration was reloaded").len() == times
        });
    };
    reload("0.25", 1);
    assert_eq!(started.start(&order("go", json!({}))).status, 429);
    assert_eq!(started.logged("a budget is spent"), Vec::<String>::new(), "stored runs are not reported again");
    reload("10", 2);
    let run = started.run_of(&order("dearly", json!({})));
    started.wait_for(&run, "the run reports no cost", |status| status["computed_cost"]["usd"].as_f64() >= Some(0.25));
    // An open run of an account that is beyond its new limit is interrupted at once.
    reload("0.3", 3);
    assert_eq!(started.wait_for_end(&run)["state"], "interrupted");
    assert_eq!(started.logged("a budget is spent").len(), 1);
}

/// The records of a run, and the same without its last one.
fn whole_and_cut() -> (Vec<u8>, Vec<u8>) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claude-code/bash_ok.partial.ndjson");
    let whole = std::fs::read(path).unwrap();
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let cut = lines[..lines.len() - 1].concat();
    (whole, cut)
}

#[test]
fn a_run_that_a_longer_one_replaces_is_counted_once() {
    let (whole, cut) = whole_and_cut();
    let ingested = |started: &Started, body: &[u8]| {
        let path = "/v1/ingest/claude-code?label=team:web";
        let answer = post(started.proxy.address, path, &[], body).json();
        let run = answer["runs"][0]["run_id"].as_str().unwrap().to_owned();
        get(started.proxy.address, &format!("/v1/runs/{run}"), &[]).json()
    };
    let usd = |status: &Value| status["computed_cost"]["usd"].as_f64().unwrap();
    let started_without = started("");
    let (of_cut, of_whole) = (usd(&ingested(&started_without, &cut)), usd(&ingested(&started_without, &whole)));
    // Less than both together.
    let limit = of_whole + of_cut / 2.0;
    let started = started(&budget("team", "\"label:team\"", &format!("{limit:.6}"), "stop"));
    ingested(&started, &cut);
    let status = ingested(&started, &whole);
    assert_eq!(get(started.proxy.address, "/v1/runs", &[]).json()["data"].as_array().unwrap().len(), 1);
    let metrics = get(started.proxy.address, "/metrics", &[]).text();
    let sum = |name: &str, labels: &str| -> f64 {
        let lines = metrics.lines().filter(|line| line.starts_with(name) && line.contains(labels));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    let of_recording = "upstream=\"none\"";
    let output = status["usage"]["output_tokens"].as_f64().unwrap();
    assert!((sum("framegate_tokens_total{kind=\"output\"", of_recording) - output).abs() < 0.5, "{metrics}");
    assert!((sum("framegate_computed_cost_usd_total{", of_recording) - of_whole).abs() < 1e-9, "{metrics}");
    assert_eq!(started.logged("a budget is spent"), Vec::<String>::new());
    assert_eq!(started.start(&order("go", json!({"team": "web"}))).status, 201);
}
