//! `framegate search`: over a database, and over a running proxy.

use crate::program::{Scratch, run};
use crate::proxy::{Proxy, recording};
use serde_json::Value;

#[test]
fn a_database_and_a_proxy_give_the_same_texts() {
    let scratch = Scratch::new("search");
    let database = scratch.missing();
    let file = format!("{}/tests/fixtures/claude-code/bash_ok.ndjson", env!("CARGO_MANIFEST_DIR"));
    run(&["import", "--db", &database, &file], "").exits(0);
    let here = run(&["search", "--db", &database, "--json", "--kind", "tool_input", "e*"], "").exits(0).json();
    let proxy = Proxy::with(&[("FRAMEGATE__SEARCH__ENABLED", "true")]);
    crate::client::post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "bash_ok.ndjson"));
    let url = format!("http://{}", proxy.address);
    let there = (0..200).find_map(|_| {
        let page = run(&["search", "--url", &url, "--json", "--kind", "tool_input", "e*"], "").json();
        (page["is_complete"] == true && page["data"] != Value::Array(Vec::new())).then_some(page)
    });
    let excerpts = |page: &Value| -> Vec<Value> {
        page["data"].as_array().unwrap().iter().map(|hit| hit["excerpt"].clone()).collect()
    };
    assert!(!excerpts(&here).is_empty());
    assert_eq!(excerpts(&here), excerpts(&there.unwrap()));
    // For people: a line about the run, and the text on one line.
    let text = run(&["search", "--db", &database, "--limit", "1", "--kind", "tool_input", "e*"], "").exits(0).out;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("claude-code  tool_input") && lines[1].starts_with("  "), "{text}");
    run(&["search", "--db", &database, "certainly-not-there"], "").exits(1);
}

#[test]
fn a_wrong_call_says_what_would_be_right() {
    let scratch = Scratch::new("search-wrong");
    let missing = scratch.missing();
    run(&["search", "--db", &missing, "a"], "").exits(2).says(&["there is no database", "--url names a proxy"]);
    assert!(!std::path::Path::new(&missing).exists());
    run(&["search", "--kind", "question", "a"], "").exits(2).says(&["unknown kind", "prompt, answer"]);
    run(&["search", "--limit", "0", "a"], "").exits(2).says(&["use 1 to 100"]);
    run(&["search"], "").exits(2);
    run(&["search", "a", "--limit", "3"], "").exits(2).says(&["--limit follows the words", "put options before them"]);
    run(&["search", "--run", "01a2", "a"], "").exits(2).says(&["not a whole UUID", "framegate log list --json"]);
    let refused = run(&["search", "--url", "http://127.0.0.1:1", "a"], "").exits(2);
    assert_eq!(refused.err.matches("cannot connect").count(), 1, "{}", refused.err);
}
