//! The frames of a few recordings: an edit, a retry, a question, a session file, version 0.73.

use crate::support::{events, fixtures_dir};
use framegate_translators::contracts::contract;
use framegate_translators::runners::runner;

#[test]
fn frames_of_recordings() {
    for file in [
        "edit.jsonl",
        "stream-reset-then-ok.jsonl",
        "rpc-ui-deny.jsonl",
        "bash-fail.session.jsonl",
        "old-thought-tool.jsonl",
    ] {
        let bytes = std::fs::read(fixtures_dir("pi").join(file)).unwrap();
        let frames = events(runner("pi").unwrap(), contract("frames.v2").unwrap(), &bytes);
        // The records are in the recording.
        let lines = frames.iter().filter(|frame| frame["type"] != "provider_event").map(ToString::to_string);
        insta::assert_snapshot!(file, lines.collect::<Vec<_>>().join("\n"));
    }
}
