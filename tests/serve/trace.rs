//! `GET /v1/runs/{run_id}/trace`: where each frame came from, and what came of it; and events of some types only.

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy, recording};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::runners::RUNNERS;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A page whose events keep their text.
#[derive(serde::Deserialize)]
struct Page {
    contract: String,
    data: Vec<Item>,
    has_more: bool,
    next_after: Option<u64>,
    rules_checked: bool,
}

#[derive(serde::Deserialize)]
struct Item {
    seq: u64,
    frame: Box<RawValue>,
    record: Option<u64>,
    events: Vec<Event>,
    findings: Vec<Value>,
}

#[derive(serde::Deserialize)]
struct Event {
    cursor: Option<String>,
    r#type: String,
    event: Box<RawValue>,
    withheld: bool,
    violations: Vec<Value>,
}

fn page(address: SocketAddr, run: &str, query: &str) -> Page {
    let answer = get(address, &format!("/v1/runs/{run}/trace?{query}"), &[]);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"), "{query}");
    serde_json::from_str(&answer.text()).unwrap()
}

/// All pages of a trace, of at most `limit` frames each.
fn all(address: SocketAddr, run: &str, query: &str, limit: usize) -> Vec<Item> {
    let (mut items, mut after) = (Vec::new(), -1);
    loop {
        let page = page(address, run, &format!("{query}&limit={limit}&after={after}"));
        // `raw` has no rules.
        assert!(page.data.len() <= limit && page.rules_checked != query.contains("contract=raw"));
        items.extend(page.data);
        let Some(next) = page.next_after.filter(|_| page.has_more) else { return items };
        after = i64::try_from(next).unwrap();
    }
}

fn stream(address: SocketAddr, run: &str, query: &str) -> String {
    get(address, &format!("/v1/runs/{run}/events?{query}"), &[("accept", "application/x-ndjson")]).text()
}

fn ingested(proxy: &Proxy, runner: &str, bytes: &[u8]) -> String {
    let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], bytes).json();
    made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned()
}

#[test]
fn the_events_of_all_pages_are_the_stream_in_every_contract_and_of_every_runner() {
    let proxy = Proxy::start();
    for runner in RUNNERS {
        let run = ingested(&proxy, runner.name, runner.sample.bytes);
        let frames = stream(proxy.address, &run, "contract=frames.v2");
        for contract in CONTRACTS {
            for options in ["", "&experimental=1&user_messages=1"] {
                let query = format!("contract={}{options}", contract.name);
                let items = all(proxy.address, &run, &query, 37);
                let events: String = items
                    .iter()
                    .flat_map(|item| &item.events)
                    .map(|event| format!("{}\n", event.event.get()))
                    .collect();
                assert_eq!(events, stream(proxy.address, &run, &query), "{} {query}", runner.name);
                let own: String = items.iter().map(|item| format!("{}\n", item.frame.get())).collect();
                assert_eq!(own, frames, "{} {query}", runner.name);
                assert!(items.iter().zip(0..).all(|(item, seq)| item.seq == seq));
                for event in items.iter().flat_map(|item| &item.events) {
                    assert!(!event.withheld && event.violations.is_empty(), "{:?} {}", event.violations, event.event);
                }
            }
        }
    }
}

#[test]
fn a_cursor_of_a_trace_continues_the_stream_behind_its_event() {
    let proxy = Proxy::start();
    let run = ingested(&proxy, "claude-code", &recording("claude-code", "bash_ok.partial.ndjson"));
    for contract in CONTRACTS.iter().map(|contract| contract.name) {
        let query = format!("contract={contract}");
        let items = all(proxy.address, &run, &query, 500);
        let events: Vec<&Event> = items.iter().flat_map(|item| &item.events).collect();
        for (nth, event) in events.iter().enumerate() {
            let Some(cursor) = event.cursor.as_ref().filter(|_| nth + 1 < events.len()) else { continue };
            let rest = stream(proxy.address, &run, &format!("{query}&after={cursor}"));
            assert_eq!(rest.lines().next(), Some(events[nth + 1].event.get()), "{contract} after {cursor}");
        }
        for after in 0..items.len() {
            let page = page(proxy.address, &run, &format!("{query}&after={after}&limit=3"));
            let seqs: Vec<usize> = page.data.iter().map(|item| usize::try_from(item.seq).unwrap()).collect();
            assert_eq!(seqs, (after + 1..items.len().min(after + 4)).collect::<Vec<_>>());
            assert_eq!(page.contract, contract);
            for (item, known) in page.data.iter().zip(items.iter().skip(after + 1)) {
                assert_eq!((item.frame.get(), item.record), (known.frame.get(), known.record));
                let text =
                    |item: &Item| item.events.iter().map(|event| event.event.get().to_owned()).collect::<Vec<_>>();
                assert_eq!(text(item), text(known));
            }
        }
    }
}

#[test]
fn each_frame_names_the_record_that_it_came_from() {
    let proxy = Proxy::start();
    for runner in RUNNERS {
        let run = ingested(&proxy, runner.name, runner.sample.bytes);
        let raw = stream(proxy.address, &run, "contract=raw");
        let raw: Vec<Value> = raw.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut last = None;
        for item in all(proxy.address, &run, "contract=raw", 500) {
            let frame: Value = serde_json::from_str(item.frame.get()).unwrap();
            if frame["type"] == "provider_event" {
                let number = usize::try_from(item.record.unwrap()).unwrap();
                assert_eq!((&raw[number]["record"], &raw[number]["data"]), (&json!(number), &frame["data"]));
                assert_eq!(item.events[0].r#type, "record");
                last = item.record;
            } else if item.seq > 0 {
                assert_eq!(item.record, last, "{} {frame}", runner.name);
            }
        }
        assert_eq!(last, Some(raw.len() as u64 - 1), "{}", runner.name);
    }
}

/// The findings of a run as kind, code and path.
fn findings(proxy: &Proxy, run: &str) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = all(proxy.address, run, "contract=sse.v1", 500);
    let found = items.iter().flat_map(|item| &item.findings);
    found.map(|finding| (text(&finding["kind"]), text(&finding["code"]), text(&finding["path"]))).collect()
}

#[test]
fn a_trace_shows_redacted_places_and_records_that_cannot_be_read() {
    let proxy =
        Proxy::with(&[("FRAMEGATE__INGEST__MAX_RECORD_BYTES", "4096"), ("FRAMEGATE__INGEST__PREVIEW_BYTES", "64")]);
    let plain = String::from_utf8(recording("claude-code", "text_plain.ndjson")).unwrap();
    let (first, rest) = plain.split_once('\n').unwrap();
    let session = serde_json::from_str::<Value>(first).unwrap()["session_id"].clone();
    let secret = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0".repeat(2).get(..36).unwrap());
    let odd = [
        json!({"type": "assistant", "session_id": session, "message": {"id": "m", "role": "assistant",
            "content": [{"type": "text", "text": format!("the token is {secret} ")}]}})
        .to_string(),
        "this is not JSON".to_owned(),
        json!({"type": "assistant", "session_id": session, "padding": "x".repeat(8192)}).to_string(),
        json!({"type": "a type that is not known", "session_id": session}).to_string(),
    ];
    let input = format!("{first}\n{}\n{rest}", odd.join("\n"));
    let run = ingested(&proxy, "claude-code", input.as_bytes());
    let found = findings(&proxy, &run);
    let has = |kind: &str, code: &str| found.iter().any(|(of, name, _)| of == kind && name == code);
    assert!(has("invalid_record", "not_json") && has("oversized_record", "oversized"), "{found:?}");
    assert!(has("unknown_record", "unknown_type"), "{found:?}");
    let redacted = found.iter().find(|(kind, ..)| kind == "redaction").unwrap_or_else(|| panic!("{found:?}"));
    assert!(redacted.2.starts_with("/data/message/content/0/text"), "{redacted:?}");
    let answer = get(proxy.address, &format!("/v1/runs/{run}/trace?contract=raw&limit=500"), &[]).text();
    assert!(!answer.contains(&secret) && answer.contains("[REDACTED:"), "the secret is not in the trace");
}

#[test]
fn invalid_requests_are_refused_with_what_is_right() {
    let proxy = Proxy::start();
    let run = ingested(&proxy, "codex", &recording("codex", "exec-text-plain.ndjson"));
    for (path, status, part) in [
        (format!("/v1/runs/{run}/trace?contract=sse.v9"), 406, "sse.v1"),
        (format!("/v1/runs/{run}/trace?after=x"), 400, "the seq of the last received frame"),
        (format!("/v1/runs/{run}/trace?after=-2"), 400, "-1 for none"),
        (format!("/v1/runs/{run}/trace?limit=0"), 400, "1 or more"),
        (format!("/v1/runs/{run}/trace?event_type=x"), 400, "unknown parameter"),
        // Paths without parameters ignore none either.
        ("/v1/upstreams?zz=1".to_owned(), 400, "unknown parameter \"zz\": this path has no parameters"),
        ("/v1/contracts?a".to_owned(), 400, "this path has no parameters"),
        ("/v1/runs/0/trace".to_owned(), 400, "must be a UUID"),
        ("/v1/runs/01980000-0000-7000-8000-000000000000/trace".to_owned(), 404, "there is no run"),
        (format!("/v1/runs/{run}/events?event_type=nothing"), 400, "event_type of frames.v2"),
    ] {
        let answer = get(proxy.address, &path, &[]);
        assert_eq!(answer.status, status, "{path}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(part), "{path}: {detail}");
    }
    let behind = page(proxy.address, &run, "after=100000");
    assert_eq!((behind.data.len(), behind.has_more, behind.next_after), (0, false, Some(100_000)));
}

#[test]
fn a_token_with_a_restriction_sees_only_its_runs() {
    let folder = Folder::new();
    let (all, few) =
        (folder.write("all", "the-token-for-everything\n"), folder.write("few", "the-token-for-codex-runs\n"));
    let tokens = format!(
        "[[token]]\nname = \"all\"\nscopes = [\"ingest\", \"read\"]\nfile = {all:?}\n\
         [[token]]\nname = \"few\"\nscopes = [\"read\"]\nrunners = [\"codex\"]\nfile = {few:?}\n"
    );
    let tokens = folder.write("tokens.toml", &tokens);
    let proxy = Proxy::with(&[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let with = |token: &str| [("authorization", format!("Bearer {token}"))];
    let all = with("the-token-for-everything");
    let all: Vec<(&str, &str)> = all.iter().map(|(name, value)| (*name, &**value)).collect();
    let few = with("the-token-for-codex-runs");
    let few: Vec<(&str, &str)> = few.iter().map(|(name, value)| (*name, &**value)).collect();
    for (runner, name, status) in [("codex", "exec-text-plain.ndjson", 200), ("claude-code", "text_plain.ndjson", 404)]
    {
        let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &all, &recording(runner, name)).json();
        let path = format!("/v1/runs/{}/trace", made["runs"][0]["run_id"].as_str().unwrap());
        assert_eq!(get(proxy.address, &path, &all).status, 200);
        assert_eq!(get(proxy.address, &path, &few).status, status, "{runner}");
        assert_eq!(get(proxy.address, &path, &[]).status, 401);
    }
}

#[test]
fn a_status_has_the_first_prompt_and_the_model() {
    let proxy = Proxy::start();
    let status = |runner: &str, name: &str| {
        let run = ingested(&proxy, runner, &recording(runner, name));
        get(proxy.address, &format!("/v1/runs/{run}"), &[]).json()
    };
    let status = status("claude-code", "bash_ok.partial.ndjson");
    assert!(status["model"].as_str().is_some_and(|model| model.starts_with("claude-")), "{status:#}");
    let records = json!({"type": "user", "session_id": "5d3c1a6e-0d0e-4d47-9d0c-111111111119",
        "message": {"role": "user", "content": "  Fix\n\tthe   test  "}});
    let init = json!({"type": "system", "subtype": "init", "session_id": "5d3c1a6e-0d0e-4d47-9d0c-111111111119",
        "model": "m", "tools": []});
    let run = ingested(&proxy, "claude-code", format!("{init}\n{records}\n").as_bytes());
    let listed = get(proxy.address, "/v1/runs", &[]).json();
    let found = listed["data"].as_array().unwrap().iter().find(|status| status["run_id"] == *run).unwrap();
    assert_eq!(found["title"], "Fix the test", "{found:#}");
}

#[test]
fn a_stream_of_some_types_is_the_stream_without_the_others() {
    let proxy = Proxy::start();
    let run = ingested(&proxy, "claude-code", &recording("claude-code", "bash_ok.partial.ndjson"));
    for (contract, key, types) in [
        ("frames.v2", "type", &["session_started", "output_text_delta", "tool_started", "session_ended"][..]),
        ("sse.v1", "type", &["assistant_delta"]),
        ("hecate.v1", "type", &["run.started", "run.finished"]),
    ] {
        let list = types.join(",");
        let path = format!("/v1/runs/{run}/events?contract={contract}");
        let is_wanted = |line: &&str| {
            let event: Value = serde_json::from_str(line).unwrap();
            event[key].as_str().is_some_and(|kind| types.contains(&kind))
        };
        let whole = stream(proxy.address, &run, &format!("contract={contract}"));
        let expected: Vec<&str> = whole.lines().filter(is_wanted).collect();
        assert!(!expected.is_empty() && expected.len() < whole.lines().count(), "{contract}");
        let filtered = stream(proxy.address, &run, &format!("contract={contract}&event_type={list}"));
        assert_eq!(filtered.lines().collect::<Vec<_>>(), expected, "{contract}");
        // Server-sent events keep the cursors of the contract.
        let all = get(proxy.address, &path, &[]).events();
        let some = get(proxy.address, &format!("{path}&event_type={list}"), &[]).events();
        let wanted: Vec<_> = all.into_iter().filter(|event| is_wanted(&&*event.data)).collect();
        assert_eq!(some, wanted, "{contract}");
        // A browser stops reconnecting when nothing is left that it wants.
        let last = some.iter().rev().find_map(|event| event.id.clone()).unwrap();
        let again = get(proxy.address, &format!("{path}&event_type={list}"), &[("last-event-id", &last)]);
        assert_eq!(again.status, 204, "{contract}");
        for limit in [1, 2, 500] {
            let (mut read, mut after) = (Vec::new(), String::new());
            loop {
                let page = get(proxy.address, &format!("{path}&event_type={list}&limit={limit}{after}"), &[]).json();
                let data = page["data"].as_array().unwrap().clone();
                assert!(!data.is_empty(), "{contract}: a page without events although there should be more");
                read.extend(data);
                match &page["next"] {
                    Value::Null => break,
                    Value::String(cursor) => after = format!("&after={cursor}"),
                    cursor => after = format!("&after={cursor}"),
                }
            }
            let expected: Vec<Value> = expected.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(read, expected, "{contract} {limit}");
        }
    }
}
