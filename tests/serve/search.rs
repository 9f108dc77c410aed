//! `GET /v1/search`: words, filters and pages over HTTP, what a token may see, and the index across a restart.

use crate::auth::{bearer, token};
use crate::client::{Answer, get, post};
use crate::proxy::{Folder, Proxy, recording};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The setting that turns the search on.
const ON: (&str, &str) = ("FRAMEGATE__SEARCH__ENABLED", "true");

/// The answer once the proxy has indexed everything.
fn search(proxy: &Proxy, query: &str, headers: &[(&str, &str)]) -> Value {
    let begin = Instant::now();
    loop {
        let answer = get(proxy.address, &format!("/v1/search?{query}"), headers);
        assert_eq!(answer.status, 200, "{query}");
        let page = answer.json();
        if page["is_complete"] == true {
            return page;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{page}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn send(proxy: &Proxy, runner: &str, name: &str, headers: &[(&str, &str)]) -> Value {
    let answer = post(proxy.address, &format!("/v1/ingest/{runner}"), headers, &recording(runner, name));
    assert_eq!(answer.status, 201, "{name}");
    answer.json()["runs"][0].clone()
}

fn data(page: &Value) -> &Vec<Value> {
    page["data"].as_array().unwrap()
}

fn shown(hit: &Value) -> String {
    let segment = |segment: &Value| match segment["is_match"].as_bool().unwrap() {
        true => format!("[{}]", segment["text"].as_str().unwrap()),
        false => segment["text"].as_str().unwrap().to_owned(),
    };
    hit["excerpt"].as_array().unwrap().iter().map(segment).collect()
}

#[test]
fn texts_are_found_as_they_are_ingested() {
    let proxy = Proxy::with(&[ON]);
    let record = |value: Value| value.to_string() + "\n";
    let lines = [
        record(json!({"type": "system", "subtype": "init", "session_id": "s"})),
        record(
            json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": "Why does the Parser fail on 空のファイル?"}}),
        ),
        record(json!({"type": "assistant", "session_id": "s", "message": {"id": "m1", "model": "x", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "grep -rn needle_one src/"}}]}})),
        record(json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "src/parser.rs:7: the haystack line"}]}})),
        record(json!({"type": "assistant", "session_id": "s", "message": {"id": "m2", "model": "x", "content": [
            {"type": "text", "text": "The parser stops at an empty résumé."}]}})),
        record(
            json!({"type": "result", "subtype": "success", "session_id": "s", "is_error": false, "result": "The parser stops at an empty résumé."}),
        ),
    ];
    let answer = post(proxy.address, "/v1/ingest/claude-code", &[], lines.concat().as_bytes());
    let run = answer.json()["runs"][0].clone();
    let found = |query: &str| -> Vec<(String, String)> {
        let page = search(&proxy, query, &[]);
        data(&page).iter().map(|hit| (hit["kind"].as_str().unwrap().to_owned(), shown(hit))).collect()
    };
    let one = |kind: &str, text: &str| vec![(kind.to_owned(), text.to_owned())];
    assert_eq!(found("q=needle_one"), one("tool_input", "Bash\ngrep -rn [needle_one] src/"));
    assert_eq!(found("q=haystack"), one("tool_output", "src/parser.rs:7: the [haystack] line"));
    assert_eq!(found("q=RESUME"), one("answer", "The parser stops at an empty [résumé]."));
    assert_eq!(
        found("q=%E3%83%95%E3%82%A1%E3%82%A4%E3%83%AB"),
        one("prompt", "Why does the Parser fail on 空の[ファイル]?")
    );
    assert_eq!(found("q=parser&kind=prompt,answer").len(), 2);
    assert_eq!(found("q=%22parser+fail%22"), one("prompt", "Why does the [Parser fail] on 空のファイル?"));
    assert_eq!(found("q=pars*+-fail&kind=answer,prompt").len(), 1);
    assert!(found("q=missing").is_empty() && found("q=parser&runner=codex").is_empty());
    let hit = &search(&proxy, "q=haystack", &[])["data"][0].clone();
    assert_eq!(
        (&hit["run_id"], &hit["stream_id"], &hit["runner"]),
        (&run["run_id"], &run["run_id"], &json!("claude-code"))
    );
    assert_eq!((&hit["title"], &hit["stream_kind"]), (&run["title"], &json!("session")));
    // The numbers are those of the frames.
    let path = format!("/v1/runs/{}/events?contract=frames.v2", run["run_id"].as_str().unwrap());
    let frames = get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text();
    let first = frames
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .find(|frame| frame["seq"] == hit["first_frame"]);
    assert_eq!(first.unwrap()["chunk"], "src/parser.rs:7: the haystack line");
}

#[test]
fn a_token_finds_only_texts_of_runs_that_it_sees() {
    let folder = Folder::new();
    let tokens = [
        token(&folder, "all", "scopes = [\"read\", \"ingest\"]"),
        token(&folder, "codex", "scopes = [\"read\"]\nrunners = [\"codex\"]"),
        token(&folder, "sender", "scopes = [\"ingest\"]"),
    ];
    let proxy = Proxy::with(&[ON, ("FRAMEGATE__AUTH__TOKENS_FILE", &folder.write("tokens.toml", &tokens.concat()))]);
    let all = bearer("all");
    send(&proxy, "claude-code", "bash_ok.ndjson", &[("authorization", &all)]);
    send(&proxy, "codex", "exec-command-ok.ndjson", &[("authorization", &all)]);
    let runners = |name: &str, query: &str| -> Vec<String> {
        let page = search(&proxy, query, &[("authorization", &bearer(name))]);
        let mut runners: Vec<String> =
            data(&page).iter().map(|hit| hit["runner"].as_str().unwrap().to_owned()).collect();
        runners.dedup();
        runners
    };
    assert_eq!(runners("all", "q=b*&kind=tool_input").len(), 2, "each has a command");
    assert_eq!(runners("codex", "q=b*&kind=tool_input"), ["codex"]);
    assert!(runners("codex", "q=b*&runner=claude-code").is_empty());
    let refused = |name: &str| get(proxy.address, "/v1/search?q=a", &[("authorization", &bearer(name))]).status;
    assert_eq!((refused("sender"), get(proxy.address, "/v1/search?q=a", &[]).status), (403, 401));
}

#[test]
fn a_wrong_request_says_what_would_be_right() {
    let detail = |answer: Answer, status: u16| {
        assert_eq!(answer.status, status);
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    let proxy = Proxy::with(&[ON]);
    for (query, wanted) in [
        ("", "q is missing"),
        ("?q=", "the query has no word"),
        ("?q=-a", "name one that must occur"),
        ("?q=a&kind=question", "unknown kind \"question\" (known: prompt, answer,"),
        ("?q=a&after=zz", "after must be the `next` of the page before"),
        ("?q=a&run_id=7", "run_id must be a UUID"),
        ("?q=a&limit=0", "limit must be a whole number, 1 or more"),
        ("?words=a", "unknown parameter \"words\""),
    ] {
        let said = detail(get(proxy.address, &format!("/v1/search{query}"), &[]), 400);
        assert!(said.contains(wanted), "{query}: {said}");
    }
    let off = Proxy::start();
    assert!(detail(get(off.address, "/v1/search?q=a", &[]), 404).contains("search.enabled"));
}

#[test]
fn pages_follow_each_other_and_the_index_outlives_the_proxy() {
    let folder = Folder::new();
    let database = folder.path("log.db").to_str().unwrap().to_owned();
    let settings = [ON, ("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", database.as_str())];
    let proxy = Proxy::with(&settings);
    for name in ["parallel_tools.partial.ndjson", "bash_ok.ndjson", "text_plain.partial.ndjson", "usage_cache.ndjson"] {
        send(&proxy, "claude-code", name, &[]);
    }
    let whole = search(&proxy, "q=t*&limit=100", &[]);
    assert!(data(&whole).len() > 5 && whole["next"].is_null());
    let (mut paged, mut after) = (Vec::new(), String::new());
    loop {
        let page = search(&proxy, &format!("q=t*&limit=3{after}"), &[]);
        paged.extend(data(&page).clone());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(&paged, data(&whole));
    drop(proxy);
    let proxy = Proxy::with(&settings);
    assert_eq!(search(&proxy, "q=t*&limit=100", &[]), whole);
    // Without the file, the proxy makes it again.
    drop(proxy);
    std::fs::remove_file(format!("{database}-search")).unwrap();
    let proxy = Proxy::with(&settings);
    assert_eq!(search(&proxy, "q=t*&limit=100", &[])["data"], whole["data"]);
}

#[test]
fn a_page_is_bounded() {
    let proxy = Proxy::with(&[ON]);
    let record = |value: Value| value.to_string() + "\n";
    let mut lines = vec![record(json!({"type": "system", "subtype": "init", "session_id": "s"}))];
    lines.extend((0..101).map(|nth| {
        record(json!({"type": "assistant", "session_id": "s", "message": {"id": format!("m{nth}"), "model": "x",
            "content": [{"type": "text", "text": format!("answer number {nth}")}]}}))
    }));
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], lines.concat().as_bytes()).status, 201);
    let count = |query: &str| {
        let page = search(&proxy, &format!("q=number{query}"), &[]);
        (data(&page).len(), page["next"].is_string())
    };
    assert_eq!(count(""), (20, true));
    assert_eq!(count("&limit=100"), (100, true));
    assert_eq!(count("&limit=101"), (100, true), "the most");
    let next = search(&proxy, "q=number&limit=100", &[])["next"].as_str().unwrap().to_owned();
    assert_eq!(count(&format!("&limit=100&after={next}")), (1, false));
}
