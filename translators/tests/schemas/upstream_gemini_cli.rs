//! The schemas of Gemini CLI's records, compared with the recordings.

use super::upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use super::upstream_schemas::*;
use serde_json::json;
use std::sync::LazyLock;

static GEMINI: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("gemini-cli"));

fn recorded() -> Vec<Line> {
    lines(&fixtures_dir("gemini-cli"), |file| match file {
        file if file.ends_with(".session.jsonl") || file.ends_with(".subagent1.jsonl") => Some("chat"),
        file if file.ends_with(".jsonl") => Some("stream-json"),
        _ => None,
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = GEMINI.assert_all_valid(&recorded());
    let of = |surface: &str| met.iter().filter(|(of, _)| *of == surface).count();
    assert!(of("stream-json") == 7 && of("chat") >= 4, "{met:?}");
}

#[test]
fn the_schemas_are_complete() {
    GEMINI.every_file_is_listed();
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("stream-json", "init", "/session_id", Gone),
        ("stream-json", "init", "/model", Renamed),
        ("stream-json", "init", "", Wider),
        ("stream-json", "message.assistant", "/delta", Is(json!(false))),
        ("stream-json", "message.assistant", "/content", Is(json!([]))),
        ("stream-json", "message.user", "/content", Gone),
        ("stream-json", "tool_use", "/parameters", Is(json!("{}"))),
        ("stream-json", "tool_use", "/tool_id", Renamed),
        ("stream-json", "tool_result", "/status", Is(json!("maybe"))),
        ("stream-json", "tool_result", "", Wider),
        ("stream-json", "error", "/severity", Is(json!("fatal"))),
        ("stream-json", "result", "/stats/cached", Gone),
        ("stream-json", "result", "/stats/input_tokens", Is(json!("1"))),
        ("stream-json", "result", "/stats", Wider),
        ("chat", "head", "/projectHash", Is(json!(1))),
        ("chat", "user", "/content", Is(json!(1))),
        ("chat", "gemini", "/tokens/input", Is(json!("1"))),
        ("chat", "gemini", "/thoughts", Is(json!("x"))),
        ("chat", "gemini", "", Wider),
    ];
    GEMINI.changes_are_seen(&recorded(), &changes);
}
