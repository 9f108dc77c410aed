//! Other readers of a response's run, during the response and later.

use super::*;
use crate::client::{Answer, get};
use crate::proxy::Folder;
use crate::scripted::Upstream;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::mpsc;

#[test]
fn a_restricted_token_creates_only_runs_within_its_restriction() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let folder = Folder::new();
    let mut tokens = String::new();
    for (name, more) in [
        ("all", ""),
        ("reads", ""),
        ("chats", "sessions = [\"chat-1\"]\n"),
        ("claude", "runners = [\"claude-code\"]\n"),
        ("responses", "runners = [\"open-responses\"]\n"),
    ] {
        folder.write(name, &format!("{name}-0123456789abcdef"));
        let scopes = if name == "reads" { "\"read\"" } else { "\"read\", \"control\"" };
        tokens += &format!("[[token]]\nname = \"{name}\"\nfile = \"{name}\"\nscopes = [{scopes}]\n{more}");
    }
    let tokens = folder.write("tokens.toml", &tokens);
    let gate = Gate::with(&upstream, "", &[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let bearer = |name: &str| format!("Bearer {name}-0123456789abcdef");
    for (name, status) in [("all", 200), ("reads", 403), ("chats", 403), ("claude", 403), ("responses", 200)] {
        let answer = gate.ask("/v1/responses", &[("authorization", &bearer(name))]);
        assert_eq!(answer.status, status, "{name}");
        // Reads to the end, after which the response is kept.
        drop(answer.bytes());
    }
    assert_eq!(upstream.requests().len(), 2);
    // A kept response is visible to the tokens that may see its run, and the upstream is also asked for it on their behalf. For
    // a response that is not kept, the upstream is only asked for tokens that see all runs.
    let ask = |name: &str, path: &str| get(gate.proxy.address, path, &[("authorization", &bearer(name))]).status;
    for (name, kept) in [("all", 200), ("reads", 200), ("chats", 404), ("claude", 404), ("responses", 200)] {
        assert_eq!(ask(name, "/v1/responses/resp_lab?stream=true"), kept, "{name}");
    }
    assert_eq!((ask("responses", "/v1/responses/resp_other"), upstream.requests().len()), (404, 2));
    assert_eq!((ask("chats", "/v1/responses/resp_lab"), upstream.requests().len()), (404, 2));
    assert_eq!((ask("responses", "/v1/responses/resp_lab"), upstream.requests().len()), (200, 3));
    assert_eq!((ask("all", "/v1/responses/resp_other"), upstream.requests().len()), (200, 4));
}

#[test]
fn other_clients_read_an_open_response_in_other_contracts() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let (go, wait) = mpsc::channel::<()>();
    let upstream = two_part_upstream(&pieces, pieces.len() / 2, wait);
    let gate = Gate::new(&upstream, "");
    let own = gate.ask("/v1/responses", &[]);
    let run = gate.wait_for("the run", |run| run["response_id"].is_string());
    let id = run["run_id"].as_str().unwrap();
    let response = run["response_id"].as_str().unwrap().to_owned();
    // During the response: three contracts by the run, one by the response, and the raw records.
    let live: Vec<(&str, Answer)> = ["hecate.v1", "sse.v1", "agent-manager.v1"]
        .into_iter()
        .map(|contract| (contract, gate.get(&format!("/v1/runs/{id}/events?contract={contract}"))))
        .collect();
    let by_response = gate.get(&format!("/v1/responses/{response}?contract=hecate.v1"));
    let raw = gate.get(&format!("/v1/responses/{response}?stream=true"));
    go.send(()).unwrap();
    assert!(own.bytes() == bytes);
    assert_eq!(raw.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(String::from_utf8(raw.bytes()).unwrap(), String::from_utf8(bytes).unwrap());
    let mut reads = HashMap::new();
    for (contract, answer) in live {
        let read = answer.events();
        let again = gate.get(&format!("/v1/runs/{id}/events?contract={contract}")).events();
        assert!(read.len() > 2, "{contract}: {} events", read.len());
        assert_eq!(read, again, "{contract}");
        reads.insert(contract, read);
    }
    assert_eq!(by_response.events(), reads["hecate.v1"]);
}

#[test]
fn a_requested_contract_is_answered_with_the_translation_of_the_run() {
    let upstream = Upstream::streaming(recorded("scripted__parallel-interleaved.sse"));
    let gate = Gate::new(&upstream, "");
    for (path, accept, media) in [
        ("/v1/responses?contract=hecate.v1", "application/json", "text/event-stream; contract=hecate.v1"),
        ("/v1/responses", "text/event-stream; contract=sse.v1", "text/event-stream; contract=sse.v1"),
        ("/v1/responses?contract=frames.v2", "application/x-ndjson", "application/x-ndjson; contract=frames.v2"),
    ] {
        let answer = gate.ask(path, &[("accept", accept)]);
        assert_eq!((answer.status, answer.header("content-type")), (200, media));
        assert_eq!(answer.header("x-request-id"), "req_1");
        let text = answer.text();
        let run = gate.wait_for_end();
        let id = run["run_id"].as_str().unwrap();
        let contract = media.rsplit('=').next().unwrap();
        let again = get(
            gate.proxy.address,
            &format!("/v1/runs/{id}/events?contract={contract}"),
            &[("accept", media.split(';').next().unwrap())],
        );
        assert_eq!(text, again.text());
        assert_eq!(upstream.requests().last().unwrap().header("accept"), "text/event-stream, application/json");
        assert_eq!(upstream.requests().last().unwrap().path, "/v1/responses");
    }
    assert_eq!(code(gate.ask("/v1/responses?contract=sse.v9", &[])), (406, "not_acceptable".to_owned()));
    assert_eq!(code(gate.ask("/v1/responses?upstream=other", &[])), (404, "not_found".to_owned()));
}

#[test]
fn a_replay_starts_after_any_event() {
    let bytes = recorded("scripted__text-valid.sse");
    let upstream = Upstream::streaming(bytes.clone());
    let gate = Gate::new(&upstream, "retrieve = \"kept\"");
    drop(gate.ask("/v1/responses", &[]).bytes());
    let all = events(&bytes);
    for (at, event) in all.iter().enumerate() {
        let after = number(event);
        let rest = gate.get(&format!("/v1/responses/resp_lab?stream=true&starting_after={after}")).text();
        assert_eq!(rest, all[at + 1..].concat(), "{after}");
    }
    assert_eq!(gate.get("/v1/responses/resp_lab?stream=true&starting_after=99999").text(), "");
    assert_eq!(code(gate.get("/v1/responses/resp_lab?stream=true&starting_after=x")).0, 400);
    // The last state of the response.
    let last: Value = {
        let data = all.last().unwrap().lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(data).unwrap()
    };
    assert_eq!(gate.get("/v1/responses/resp_lab").json(), last["response"]);
    assert_eq!(upstream.requests().len(), 1, "the upstream must not be asked");
}

#[test]
fn a_response_survives_a_restart() {
    let bytes = recorded("scripted__text-valid.sse");
    let upstream = Upstream::streaming(bytes.clone());
    let folder = Folder::new();
    let log = folder.path("framegate.db");
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", log.to_str().unwrap())];
    let kept = "retrieve = \"kept\"";
    let mut gate = Gate::with(&upstream, kept, &settings);
    drop(gate.ask("/v1/responses", &[]).bytes());
    assert!(gate.proxy.terminate().success());
    let gate = Gate::with(&upstream, kept, &settings);
    assert!(gate.get("/v1/responses/resp_lab?stream=true").bytes() == bytes);
    assert_eq!(gate.get("/v1/responses/resp_lab").json()["status"], "completed");
}
