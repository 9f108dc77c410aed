//! The schemas of pi's records, compared with the recordings.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod upstream_schemas;

use serde_json::json;
use std::sync::LazyLock;
use upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use upstream_schemas::*;

static PI: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("pi"));

fn recorded() -> Vec<Line> {
    lines(&fixtures_dir("pi"), |file| match file {
        "MANIFEST.json" => None,
        file if file.ends_with(".session.jsonl") => Some("session"),
        _ => Some("stream"),
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = PI.assert_all_valid(&recorded());
    let of = |surface: &str| met.iter().filter(|(of, _)| *of == surface).count();
    assert!(of("stream") >= 20 && of("session") >= 6, "{met:?}");
}

#[test]
fn every_schema_is_listed() {
    PI.every_file_is_listed();
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("stream", "session", "/version", Is(json!(4))),
        ("stream", "session", "/cwd", Renamed),
        ("stream", "agent_start", "", Wider),
        ("stream", "agent_settled", "", Wider),
        ("stream", "turn_start", "", Wider),
        ("stream", "message_start", "/message/role", Is(json!("robot"))),
        ("stream", "message_start", "/message/timestamp", Is(json!("now"))),
        ("stream", "message_end", "/message/content", Renamed),
        ("stream", "message_end", "/message/content/0/text", Renamed),
        ("stream", "message_end", "/message/content/0/type", Is(json!("rich_text"))),
        ("stream", "message_end", "/message/stopReason", Is(json!("tired"))),
        ("stream", "message_end", "/message/usage/input", Is(json!("12"))),
        ("stream", "message_end", "/message/usage/output", Renamed),
        ("stream", "message_end", "/message/usage/cost/total", Gone),
        ("stream", "message_end", "/message/isError", Is(json!("no"))),
        ("stream", "message_update", "/assistantMessageEvent", Renamed),
        ("stream", "message_update", "/assistantMessageEvent/type", Is(json!("text_piece"))),
        ("stream", "message_update", "/assistantMessageEvent/delta", Is(json!(7))),
        ("stream", "message_update", "/assistantMessageEvent/contentIndex", Gone),
        ("stream", "message_update", "/assistantMessageEvent/toolCall/arguments", Is(json!("{}"))),
        ("stream", "message_update", "/usage", Wider),
        ("stream", "tool_execution_start", "/toolCallId", Renamed),
        ("stream", "tool_execution_start", "/args", Is(json!("ls"))),
        ("stream", "tool_execution_update", "/partialResult/content", Renamed),
        ("stream", "tool_execution_end", "/isError", Gone),
        ("stream", "tool_execution_end", "/result/content/0/text", Is(json!(["a"]))),
        ("stream", "turn_end", "/toolResults", Gone),
        ("stream", "agent_end", "/messages", Is(json!({}))),
        ("stream", "agent_end", "/willRetry", Is(json!("yes"))),
        ("stream", "auto_retry_start", "/maxAttempts", Renamed),
        ("stream", "auto_retry_end", "/success", Gone),
        ("stream", "compaction_start", "/reason", Is(json!("whim"))),
        ("stream", "compaction_end", "/result/summary", Renamed),
        ("stream", "compaction_end", "/result/tokensBefore", Is(json!("9"))),
        ("stream", "queue_update", "/followUp", Renamed),
        ("stream", "thinking_level_changed", "/level", Is(json!(3))),
        ("stream", "response", "/success", Is(json!("true"))),
        ("stream", "response", "/command", Renamed),
        ("stream", "extension_ui_request", "/method", Is(json!("ask"))),
        ("stream", "extension_ui_request", "/options", Gone),
        ("stream", "extension_ui_request", "/title", Renamed),
        ("stream", "entry_appended", "/entry/id", Gone),
        ("session", "session", "/id", Renamed),
        ("session", "message", "/parentId", Gone),
        ("session", "message", "/timestamp", Is(json!(1_770_000_000))),
        ("session", "message", "/message/toolCallId", Renamed),
        ("session", "message", "/message/stopReason", Is(json!("tired"))),
        ("session", "model_change", "/modelId", Renamed),
        ("session", "thinking_level_change", "/thinkingLevel", Gone),
        ("session", "compaction", "/summary", Is(json!(null))),
        ("session", "context_edit", "/targetId", Renamed),
        ("session", "session_info", "/name", Is(json!(1))),
    ];
    PI.changes_are_seen(&recorded(), &changes);
}

#[test]
fn a_renamed_field_is_found_except_in_open_objects() {
    let open = [
        // Arguments from the model, and what tools say about their results.
        ("stream", "message_", "/arguments/**"),
        ("stream", "turn_end", "/arguments/**"),
        ("stream", "agent_end", "/arguments/**"),
        ("stream", "tool_execution_", "/args/**"),
        ("stream", "", "/details/**"),
        ("session", "message", "/arguments/**"),
        ("session", "", "/details/**"),
        // The result of a tool may have more fields.
        ("stream", "tool_execution_", "result"),
        ("stream", "tool_execution_", "partialResult"),
        // A response does not name its request.
        ("stream", "response", "/data/**"),
        ("stream", "entry_appended", "/entry"),
    ];
    // The runner's own prompt has sections and declarations of tools, and is open.
    let mut lines = recorded();
    lines.retain(|line| !line.text.contains(r#""role":"system""#));
    PI.renamed_fields_are_seen(&lines, &open);
}
