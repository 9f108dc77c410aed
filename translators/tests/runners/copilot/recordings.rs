//! Whole recordings as frames.

use crate::support::{events, fixtures_dir};
use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;

#[test]
fn recordings_as_frames() {
    let v2 = contract("frames.v2").unwrap();
    for file in ["task-explore.jsonl", "stream-reset-then-ok.jsonl", "sql-todo.jsonl", "deny-shell.session.jsonl"] {
        let bytes = std::fs::read(fixtures_dir("copilot").join(file)).unwrap();
        let frames: String = events(runner("copilot").unwrap(), v2, &bytes)
            .iter()
            .filter(|event| event["type"] != "provider_event")
            .map(|event| format!("{event}\n"))
            .collect();
        insta::assert_snapshot!(file, frames);
    }
}
