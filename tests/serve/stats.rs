//! `GET /v1/stats`: labels, what a token may see, CSV, days and filters; `tests/stats_facts` compares all recordings with their facts.

use crate::auth::{bearer, token};
use crate::client::{Answer, get, post};
use crate::proxy::{Folder, Proxy, another, recording};
use serde_json::{Value, json};

fn stats(proxy: &Proxy, query: &str) -> Value {
    let answer = get(proxy.address, &format!("/v1/stats{query}"), &[]);
    assert_eq!(answer.status, 200, "{query}");
    answer.json()
}

fn detail(answer: Answer, status: u16) -> String {
    assert_eq!(answer.status, status);
    answer.json()["detail"].as_str().unwrap().to_owned()
}

#[test]
fn a_token_gets_the_figures_of_the_runs_that_it_sees() {
    let folder = Folder::new();
    let tokens = [
        token(&folder, "all", "scopes = [\"read\", \"ingest\"]"),
        token(&folder, "codex", "scopes = [\"read\"]\nrunners = [\"codex\"]"),
        token(&folder, "session", "scopes = [\"read\"]\nsessions = [\"01a1ffc9-a7ba-71e1-812f-99bdc3be8fd3\"]"),
        token(&folder, "nothing", "scopes = [\"read\"]\nruns = [\"01890000-0000-7000-8000-000000000000\"]"),
        token(&folder, "sender", "scopes = [\"ingest\"]"),
    ];
    let proxy = Proxy::with(&[("FRAMEGATE__AUTH__TOKENS_FILE", &folder.write("tokens.toml", &tokens.concat()))]);
    let ask =
        |name: &str, query: &str| get(proxy.address, &format!("/v1/stats{query}"), &[("authorization", &bearer(name))]);
    for (runner, name) in
        [("codex", "exec-command-ok.ndjson"), ("codex", "exec-text-plain.ndjson"), ("claude-code", "bash_ok.ndjson")]
    {
        let path = format!("/v1/ingest/{runner}?label=secret:{name}");
        let answer = post(proxy.address, &path, &[("authorization", &bearer("all"))], &recording(runner, name));
        assert_eq!(answer.status, 201);
    }
    let of = |name: &str| {
        let report = ask(name, "?by=runner,label").json();
        let tools: Vec<Value> = report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        (report["total"]["runs"].as_u64().unwrap(), report["data"].as_array().unwrap().len(), tools)
    };
    assert_eq!(of("all"), (3, 3, vec![json!("Bash"), json!("bash")]));
    assert_eq!(of("codex"), (2, 2, vec![json!("bash")]));
    assert_eq!(of("session"), (1, 1, vec![json!("bash")]));
    assert_eq!(of("nothing"), (0, 0, vec![]));
    // A filter does not lead around a restriction, and CSV has the same runs.
    assert_eq!(ask("codex", "?runner=claude-code").json()["total"]["runs"], 0);
    let text =
        get(proxy.address, "/v1/stats?by=label", &[("authorization", &bearer("codex")), ("accept", "text/csv")]).text();
    assert!(text.contains("secret:exec-text-plain.ndjson") && !text.contains("bash_ok"), "{text}");
    assert_eq!(ask("sender", "").status, 403);
    assert_eq!(get(proxy.address, "/v1/stats", &[]).status, 401);
}

#[test]
fn labels_come_with_a_body_or_a_request_and_select_runs() {
    let proxy = Proxy::start();
    let send = |query: &str, number: &str| {
        let lines = String::from_utf8(recording("codex", "exec-text-plain.ndjson")).unwrap();
        let lines =
            lines.replace("01a1ffc9-90a9-7072-b240-f837ac957f3f", &format!("01a1ffc9-90a9-7072-b240-{number:0>12}"));
        post(proxy.address, &format!("/v1/ingest/codex{query}"), &[], lines.as_bytes())
    };
    let made = send("?label=team:web&label=url:http%3A%2F%2Fx%2F%3Fa%3D1", "1").json();
    assert_eq!(made["runs"][0]["labels"], json!({"team": "web", "url": "http://x/?a=1"}));
    let made = send("?label=team:db", "2").json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    assert!(send("", "3").json()["runs"][0].get("labels").is_none());
    let list =
        |query: &str| get(proxy.address, &format!("/v1/runs?{query}"), &[]).json()["data"].as_array().unwrap().clone();
    assert_eq!(list("label=team:db")[0]["run_id"], run);
    assert_eq!((list("label=team:db").len(), list("label=team:web&label=team2:x").len(), list("").len()), (1, 0, 3));
    assert_eq!(stats(&proxy, "?label=team:web")["total"]["runs"], 1);
    // A run that was kept before keeps its labels.
    let again = send("?label=team:other", "2");
    assert_eq!((again.status, &again.json()["runs"][0]["labels"]), (200, &json!({"team": "db"})));
    // The bounds, and one beyond each.
    let most: Vec<String> = (0..16).map(|nth| format!("label=k{nth}:{}", "v".repeat(256))).collect();
    let made = send(&format!("?{}", most.join("&")), "4");
    assert_eq!((made.status, made.json()["runs"][0]["labels"].as_object().unwrap().len()), (201, 16));
    for (query, says) in [
        (format!("{}&label=one:more", most.join("&")), "more than 16 labels"),
        (format!("label={}:v", "k".repeat(65)), "a key has 1 to 64 of the characters"),
        (format!("label=k:{}", "v".repeat(257)), "a value has 1 to 256 bytes"),
        ("label=k".to_owned(), "write it as key:value, for example team:web"),
        ("label=k:a%E2%80%AEb".to_owned(), "no control or invisible characters"),
        ("label=k:%00".to_owned(), "no control or invisible characters"),
        ("label=k:1&label=k:2".to_owned(), "the label \"k\" is given twice"),
    ] {
        let said = detail(send(&format!("?{query}"), "5"), 400);
        assert!(said.contains(says), "{query}: {said}");
    }
    assert_eq!(list("").len(), 4, "a body with an invalid label is not read");
}

#[test]
fn a_run_that_a_request_starts_has_the_labels_of_the_request() {
    let folder = Folder::new();
    let agent = format!("{}/tests/upstreams/fake/agent.sh", env!("CARGO_MANIFEST_DIR"));
    let config = format!(
        "[[upstream]]\nname = \"agent\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = {agent:?}\ndirectories = [{:?}]\n",
        folder.path("").canonicalize().unwrap()
    );
    let proxy = Proxy::configured_by(&folder.write("config.toml", &config), &folder.path("log"));
    let start = |labels: Value, key: &str| {
        let order = json!({"upstream": "agent", "prompt": "say hello", "labels": labels}).to_string();
        post(proxy.address, "/v1/runs", &[("idempotency-key", key)], order.as_bytes())
    };
    let made = start(json!({"team": "web"}), "\"one\"");
    assert_eq!(made.status, 201);
    let run = made.json();
    assert_eq!(run["labels"], json!({"team": "web"}));
    // The run goes on, and keeps them.
    let path = format!("/v1/runs/{}", run["run_id"].as_str().unwrap());
    assert_eq!(get(proxy.address, &format!("{path}/events?contract=sse.v1"), &[]).status, 200);
    let ended = get(proxy.address, &format!("{path}/events?contract=sse.v1"), &[]).events();
    assert_eq!(ended.last().unwrap().json()["type"], "run_completed");
    assert_eq!(get(proxy.address, &path, &[]).json()["labels"], json!({"team": "web"}));
    // Another label is another request.
    assert_eq!(start(json!({"team": "web"}), "\"one\"").status, 200);
    assert_eq!(start(json!({"team": "db"}), "\"one\"").status, 422);
    assert!(detail(start(json!({"a b": "x"}), "\"two\""), 400).contains("label key \"a b\" is invalid"));
    assert!(detail(start(json!({"a": 1}), "\"three\""), 400).contains("expected a string"));
}

#[test]
fn csv_quotes_texts_and_neutralises_formulas() {
    let proxy = Proxy::start();
    let lines = String::from_utf8(recording("claude-code", "bash_ok.ndjson")).unwrap();
    let evil = lines.replace("\"name\":\"Bash\"", "\"name\":\"=HYPERLINK(\\\"http://x\\\",\\\"a,b\\\")\"");
    assert_ne!(evil, lines);
    let answer = post(proxy.address, "/v1/ingest/claude-code?label=sum:%3D1%2B1,2", &[], evil.as_bytes());
    assert_eq!(answer.status, 201);
    let csv = |by: &str| {
        let answer = get(proxy.address, &format!("/v1/stats?by={by}"), &[("accept", "text/csv")]);
        let kind = (answer.header("content-type").to_owned(), answer.header("vary").to_owned());
        assert_eq!(kind, ("text/csv; charset=utf-8; header=present".to_owned(), "accept".to_owned()));
        answer.text()
    };
    let text = csv("tool");
    let lines: Vec<&str> = text.split("\r\n").collect();
    assert!(lines[0].starts_with("tool,rest,runs,completed,failed,interrupted,open,duration_ms"), "{text}");
    assert!(lines[1].starts_with("\"'=HYPERLINK(\"\"http://x\"\",\"\"a,b\"\")\",,1,1,0,0,0,,,1,"), "{text}");
    assert_eq!((lines.len(), lines[2]), (3, ""));
    assert!(csv("label").contains("\r\n\"sum:=1+1,2\",,1,"), "{}", csv("label"));
    assert_eq!(get(proxy.address, "/v1/stats", &[("accept", "text/html")]).status, 406);
    assert_eq!(get(proxy.address, "/v1/stats", &[("accept", "text/csv")]).text().lines().count(), 2);
}

#[test]
fn days_begin_where_the_zone_says_and_filters_are_exact() {
    let proxy = Proxy::start();
    // The records of a session file have times of their own.
    let made = post(proxy.address, "/v1/ingest/codex", &[], &another("codex", "rollout-exec-text-plain.jsonl")).json();
    let run = &made["runs"][0];
    let (began, day_ms) = (run["started_at_ms"].as_u64().unwrap(), 86_400_000);
    // The offsets around which the run changes its day, and the ends of the range.
    let to_midnight = i64::try_from((day_ms - began % day_ms).div_ceil(60_000)).unwrap();
    let around = [to_midnight, to_midnight - 1, to_midnight - 24 * 60, to_midnight - 24 * 60 - 1, 0, 14 * 60, -14 * 60];
    let mut days = std::collections::BTreeSet::new();
    for minutes in around.into_iter().filter(|minutes| minutes.abs() <= 14 * 60) {
        let (sign, distance) = if minutes < 0 { ("-", -minutes) } else { ("%2B", minutes) };
        let report = stats(&proxy, &format!("?by=day&tz={sign}{:02}:{:02}", distance / 60, distance % 60));
        let expected = civil((i64::try_from(began).unwrap() + minutes * 60_000).div_euclid(86_400_000));
        assert_eq!(report["data"][0]["day"], expected, "{minutes}");
        days.insert(expected);
    }
    assert!(days.len() >= 2, "{days:?}");
    assert_eq!(stats(&proxy, &format!("?since={began}"))["total"]["runs"], 1);
    assert_eq!(stats(&proxy, &format!("?since={}", began + 1))["total"]["runs"], 0);
    assert_eq!(stats(&proxy, &format!("?until={began}"))["total"]["runs"], 0);
    assert_eq!(stats(&proxy, &format!("?until={}", began + 1))["total"]["runs"], 1);
    let session = run["session_id"].as_str().unwrap();
    assert_eq!(stats(&proxy, &format!("?session_id={session}&runner=codex"))["total"]["runs"], 1);
    assert_eq!(stats(&proxy, &format!("?session_id={session}&runner=opencode"))["total"]["runs"], 0);
    for (query, says) in [
        (
            "?by=week",
            "unknown group \"week\" (known: day, runner, model, session, label, directory, repository, branch, tool)",
        ),
        ("?tz=CET", "an offset from UTC such as +02:00, from -14:00 to +14:00"),
        ("?since=yesterday", "since must be a time in Unix epoch milliseconds"),
        ("?since=2&until=1", "since (2) is after until (1)"),
        (
            "?state=failed",
            "known: by, tz, since, until, runner, session_id, model, directory, repository, branch, label",
        ),
    ] {
        let said = detail(get(proxy.address, &format!("/v1/stats{query}"), &[]), 400);
        assert!(said.contains(says), "{query}: {said}");
    }
}

/// The date of a day, counted from 1970-01-01.
fn civil(day: i64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}")
}

#[test]
fn runs_are_grouped_and_selected_by_where_they_work() {
    let proxy = Proxy::start();
    // The rollout of a repository with a remote, whose address has a secret.
    let lines = String::from_utf8(recording("codex", "rollout-exec-mixed-session.jsonl")).unwrap();
    let remote = "\"branch\":\"main\",\"repository_url\":\"https://me:hunter2hunter2@GitHub.com/acme/parser.git\"";
    assert!(lines.contains("\"branch\":\"main\""));
    let lines = lines.replacen("\"branch\":\"main\"", remote, 1);
    let made = post(proxy.address, "/v1/ingest/codex", &[], lines.as_bytes());
    assert_eq!(made.status, 201);
    let made = made.json();
    let first = &made["runs"][0];
    let expected = json!({"directory": "/workspace", "repository": "github.com/acme/parser", "branch": "main"});
    assert_eq!(first["workspace"], expected);
    assert_eq!(
        post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "bash_ok.ndjson")).status,
        201
    );

    let rows = stats(&proxy, "?by=repository,model")["data"].clone();
    let (model, tokens) = (&first["model"], &first["usage"]["output_tokens"]);
    assert!(model.is_string() && tokens.is_u64(), "{first}");
    assert_eq!((&rows[0]["repository"], &rows[0]["model"]), (&expected["repository"], model));
    assert_eq!((&rows[0]["runs"], &rows[0]["output_tokens"]), (&json!(1), tokens));
    assert!(rows[1].get("repository").is_none(), "{rows}");
    let select = |query: &str| -> (u64, usize) {
        let list = get(proxy.address, &format!("/v1/runs?{query}"), &[]).json()["data"].as_array().unwrap().len();
        (stats(&proxy, &format!("?{query}"))["total"]["runs"].as_u64().unwrap(), list)
    };
    let all = made["runs"].as_array().unwrap().len() + 1;
    assert_eq!(select("directory=/workspace"), (all as u64, all));
    assert_eq!(select("repository=github.com%2Facme%2Fparser&branch=main"), (1, 1));
    for nothing in
        ["repository=github.com/acme", "branch=next", "directory=/workspace/", "model=m", "branch=main&model=m"]
    {
        assert_eq!(select(nothing), (0, 0), "{nothing}");
    }
    let csv = get(proxy.address, "/v1/stats?by=directory,branch", &[("accept", "text/csv")]).text();
    assert!(csv.starts_with("directory,branch,rest,runs,") && csv.contains("/workspace,main,"), "{csv}");
}
