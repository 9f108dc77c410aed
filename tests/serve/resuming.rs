//! A browser's EventSource reads a run to its end and reconnects with the last id that it saw. The answer is 204 in every
//! contract, so that the browser stops and gets no event twice.

use crate::client::{Event, get, post};
use crate::proxy::Proxy;
use framegate_translators::contracts::CONTRACTS;
use std::fs;

/// Runs that end in many ways, with and without text, calls and a prompt.
const FIXTURES: &[(&str, &str)] = &[
    ("claude-code", "text_plain.ndjson"),
    ("claude-code", "bash_ok.partial.ndjson"),
    ("claude-code", "killed_sigkill.partial.ndjson"),
    ("claude-code", "api_401.ndjson"),
    ("claude-code", "max_turns.ndjson"),
    ("codex", "exec-text-plain.ndjson"),
    ("codex", "exec-400-fatal.ndjson"),
    ("codex", "exec-empty-response.ndjson"),
    ("codex", "exec-sigint-command.ndjson"),
    ("opencode", "run-text.ndjson"),
    ("opencode", "run-no-text.ndjson"),
    ("opencode", "run-sigint-text.ndjson"),
    ("open-responses", "scripted__text-valid.sse"),
    ("open-responses", "scripted__empty-output.sse"),
    ("open-responses", "scripted__failed.sse"),
];

#[test]
fn a_finished_run_reaches_204_in_every_contract() {
    let proxy = Proxy::start();
    for (runner, name) in FIXTURES {
        let path = format!("{}/tests/fixtures/{runner}/{name}", env!("CARGO_MANIFEST_DIR"));
        let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &fs::read(path).unwrap()).json();
        let run = made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{name}: {made}")).to_owned();
        for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
            let what = format!("{name} in {}", contract.name);
            let path = format!("/v1/runs/{run}/events?contract={}", contract.name);
            let all = get(proxy.address, &path, &[]).events();
            let last = all.iter().rev().find_map(|event| event.id.clone());
            let last = last.unwrap_or_else(|| panic!("{what}: no event has an id: {all:?}"));
            let again = get(proxy.address, &path, &[("last-event-id", &last)]);
            assert_eq!(again.status, 204, "{what}, after {last}");
            if last.parse::<u64>().is_ok() {
                assert_eq!(get(proxy.address, &format!("{path}&after={last}"), &[]).status, 204, "{what}");
            }
            // A client that disconnected earlier gets the rest, once.
            let with_ids: Vec<usize> = (0..all.len()).filter(|at| all[*at].id.is_some()).collect();
            let [.., earlier, _] = with_ids[..] else { continue };
            let rest = get(proxy.address, &path, &[("last-event-id", all[earlier].id.as_deref().unwrap())]).events();
            assert_eq!(rest, all[earlier + 1..], "{what}");
        }
        let path = format!("/v1/runs/{run}/events?contract=pixir.v1");
        let is_end = |event: &&Event| {
            let event = event.json();
            let status = event["data"]["status"].as_str().unwrap_or_default();
            event["type"] == "status" && ["done", "error", "interrupted"].contains(&status)
        };
        assert_eq!(get(proxy.address, &path, &[]).events().iter().filter(is_end).count(), 1, "{name}");
    }
}
