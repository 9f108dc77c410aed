//! The frames of representative recordings, as snapshots.

use super::records::{gemini, line};
use crate::support::{fixtures_dir, frames};

#[test]
fn representative_recordings() {
    for name in [
        "parallel.jsonl",
        "subagent.jsonl",
        "stream-error.jsonl",
        "sigint-tool.jsonl",
        "edit.session.jsonl",
        "json-loop.json",
    ] {
        let bytes = std::fs::read(fixtures_dir("gemini-cli").join(name)).unwrap();
        let lines: Vec<String> = frames(gemini(), &bytes).iter().filter_map(line).collect();
        insta::assert_snapshot!(name, lines.join("\n"));
    }
}
