//! The frames of representative recordings, as snapshots.

use super::records::{line, qwen};
use crate::support::{fixtures_dir, frames};

#[test]
fn representative_recordings() {
    for name in [
        "thought-tool.partial.jsonl",
        "subagent-background.partial.jsonl",
        "stream-error.partial.jsonl",
        "in-deny.jsonl",
        "edit.session.jsonl",
    ] {
        let bytes = std::fs::read(fixtures_dir("qwen-code").join(name)).unwrap();
        let lines: Vec<String> = frames(qwen(), &bytes).iter().filter_map(line).collect();
        insta::assert_snapshot!(name, lines.join("\n"));
    }
}
