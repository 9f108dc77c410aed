//! The schemas of pi's records, compared with the recordings.

use super::upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use super::upstream_schemas::*;
use serde_json::json;
use std::sync::LazyLock;

static PI: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("pi"));

fn recorded() -> Vec<Line> {
    lines(&fixtures_dir("pi"), |file| match file {
        "MANIFEST.json" => None,
        _ => Some("records"),
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = PI.assert_all_valid(&recorded());
    assert!(met.len() >= 27, "{met:?}");
}

#[test]
fn every_schema_is_listed() {
    PI.every_file_is_listed();
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("records", "session", "/version", Is(json!(4))),
        ("records", "session", "/cwd", Renamed),
        ("records", "agent_start", "", Wider),
        ("records", "agent_settled", "", Wider),
        ("records", "turn_start", "", Wider),
        ("records", "message_start", "/message/role", Is(json!("robot"))),
        ("records", "message_start", "/message/timestamp", Is(json!("now"))),
        ("records", "message_end", "/message/content", Renamed),
        ("records", "message_end", "/message/content/0/text", Renamed),
        ("records", "message_end", "/message/content/0/type", Is(json!("rich_text"))),
        ("records", "message_end", "/message/stopReason", Is(json!("tired"))),
        ("records", "message_end", "/message/usage/input", Is(json!("12"))),
        ("records", "message_end", "/message/usage/output", Renamed),
        ("records", "message_end", "/message/usage/cost/total", Gone),
        ("records", "message_end", "/message/isError", Is(json!("no"))),
        ("records", "message_update", "/assistantMessageEvent", Renamed),
        ("records", "message_update", "/assistantMessageEvent/type", Is(json!("text_piece"))),
        ("records", "message_update", "/assistantMessageEvent/delta", Is(json!(7))),
        ("records", "message_update", "/assistantMessageEvent/contentIndex", Gone),
        ("records", "message_update", "/assistantMessageEvent/toolCall/arguments", Is(json!("{}"))),
        ("records", "message_update", "/usage", Wider),
        ("records", "tool_execution_start", "/toolCallId", Renamed),
        ("records", "tool_execution_start", "/args", Is(json!("ls"))),
        ("records", "tool_execution_update", "/partialResult/content", Renamed),
        ("records", "tool_execution_end", "/isError", Gone),
        ("records", "tool_execution_end", "/result/content/0/text", Is(json!(["a"]))),
        ("records", "turn_end", "/toolResults", Gone),
        ("records", "agent_end", "/messages", Is(json!({}))),
        ("records", "agent_end", "/willRetry", Is(json!("yes"))),
        ("records", "auto_retry_start", "/maxAttempts", Renamed),
        ("records", "auto_retry_end", "/success", Gone),
        ("records", "compaction_start", "/reason", Is(json!("whim"))),
        ("records", "compaction_end", "/result/summary", Renamed),
        ("records", "compaction_end", "/result/tokensBefore", Is(json!("9"))),
        ("records", "queue_update", "/followUp", Renamed),
        ("records", "thinking_level_changed", "/level", Is(json!(3))),
        ("records", "response", "/success", Is(json!("true"))),
        ("records", "response", "/command", Renamed),
        ("records", "extension_ui_request", "/method", Is(json!("ask"))),
        ("records", "extension_ui_request", "/options", Gone),
        ("records", "extension_ui_request", "/title", Renamed),
        ("records", "entry_appended", "/entry/id", Gone),
        ("records", "message", "/parentId", Gone),
        ("records", "message", "/timestamp", Is(json!(1_770_000_000))),
        ("records", "message", "/message/toolCallId", Renamed),
        ("records", "message", "/message/stopReason", Is(json!("tired"))),
        ("records", "model_change", "/modelId", Renamed),
        ("records", "thinking_level_change", "/thinkingLevel", Gone),
        ("records", "compaction", "/summary", Is(json!(null))),
        ("records", "context_edit", "/targetId", Renamed),
        ("records", "session_info", "/name", Is(json!(1))),
    ];
    PI.changes_are_seen(&recorded(), &changes);
}

#[test]
fn a_renamed_field_is_found_except_in_open_objects() {
    let open = [
        // Arguments from the model, and what tools say about their results.
        ("records", "turn_end", "/arguments/**"),
        ("records", "agent_end", "/arguments/**"),
        ("records", "tool_execution_", "/args/**"),
        ("records", "", "/details/**"),
        ("records", "message", "/arguments/**"),
        // The result of a tool may have more fields.
        ("records", "tool_execution_", "result"),
        ("records", "tool_execution_", "partialResult"),
        // A response does not name its request.
        ("records", "response", "/data/**"),
        ("records", "entry_appended", "/entry"),
    ];
    // The runner's own prompt has sections and declarations of tools, and is open.
    let mut lines = recorded();
    lines.retain(|line| !line.text.contains(r#""role":"system""#));
    PI.renamed_fields_are_seen(&lines, &open);
}
