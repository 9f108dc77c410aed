//! The schemas of GitHub Copilot CLI's records, compared with the recordings.

use super::upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use super::upstream_schemas::*;
use serde_json::json;
use std::sync::LazyLock;

static COPILOT: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("copilot"));

fn recorded() -> Vec<Line> {
    lines(&fixtures_dir("copilot"), |file| match file {
        file if file.ends_with(".session.jsonl") => Some("session"),
        file if file.ends_with(".jsonl") => Some("json"),
        _ => None,
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = COPILOT.assert_all_valid(&recorded());
    let of = |surface: &str| met.iter().filter(|(of, _)| *of == surface).count();
    assert!(of("json") >= 35 && of("session") >= 18, "{met:?}");
}

#[test]
fn the_schemas_are_complete() {
    COPILOT.every_file_is_listed();
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("json", "result", "/exitCode", Gone),
        ("json", "result", "/sessionId", Is(json!(1))),
        ("json", "result", "/usage", Wider),
        ("json", "result", "", Wider),
        ("json", "user.message", "/data/content", Renamed),
        ("json", "user.message", "/parentId", Gone),
        ("json", "assistant.turn_start", "/data/turnId", Is(json!(0))),
        ("json", "assistant.message", "/data/toolRequests", Is(json!("x"))),
        ("json", "assistant.message", "/data", Wider),
        ("json", "assistant.message_delta", "/data/deltaContent", Gone),
        ("json", "assistant.message_delta", "/ephemeral", Is(json!(false))),
        ("json", "assistant.reasoning_delta", "/data/reasoningId", Renamed),
        ("json", "assistant.tool_call_delta", "/data/inputDelta", Is(json!({}))),
        ("json", "tool.execution_start", "/data/toolName", Gone),
        ("json", "tool.execution_complete", "/data/success", Is(json!("true"))),
        ("json", "tool.execution_complete", "/data", Wider),
        ("json", "tool.shell_output", "/data/stream", Gone),
        ("json", "session.error", "/data/message", Renamed),
        ("json", "session.error", "/data/errorType", Gone),
        ("json", "subagent.started", "/data/toolCallId", Gone),
        ("session", "session.start", "/data/copilotVersion", Gone),
        ("session", "session.usage_record", "/data/usage/inputTokens", Is(json!("1"))),
        ("session", "session.usage_record", "/data/usage", Wider),
        ("session", "session.shutdown", "/data/modelMetrics", Renamed),
        ("session", "permission.completed", "/data/result", Gone),
        ("session", "abort", "/data/reason", Is(json!(1))),
    ];
    COPILOT.changes_are_seen(&recorded(), &changes);
}
