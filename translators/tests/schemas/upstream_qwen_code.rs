//! The schemas of Qwen Code's records, compared with the recordings.

use super::upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use super::upstream_schemas::*;
use serde_json::json;
use std::sync::LazyLock;

static QWEN: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("qwen-code"));

fn recorded() -> Vec<Line> {
    lines(&fixtures_dir("qwen-code"), |file| match file {
        file if file.ends_with(".session.jsonl") => Some("session"),
        file if file.ends_with(".jsonl") => Some("stream-json"),
        _ => None,
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = QWEN.assert_all_valid(&recorded());
    let of = |surface: &str| met.iter().filter(|(of, _)| *of == surface).count();
    assert!(of("stream-json") >= 16 && of("session") >= 5, "{met:?}");
}

#[test]
fn the_schemas_are_complete() {
    QWEN.every_file_is_listed();
}

#[test]
fn a_renamed_field_is_found_except_in_open_objects() {
    let open = [
        // Arguments of calls, structured output, and answers of the runner.
        ("stream-json", "assistant", "/input/**"),
        ("stream-json", "control_request", "/input/**"),
        ("stream-json", "control_response", "/response/response/**"),
        ("stream-json", "result.success", "/tool_input/**"),
        ("stream-json", "result.success", "/structured_result/**"),
        // What tools, the interface and measurements say.
        ("session", "assistant", "/args/**"),
        ("session", "tool_result", "/response/**"),
        ("session", "tool_result", "/parts/0/functionResponse/parts/**"),
        ("session", "tool_result", "/toolCallResult/resultDisplay/**"),
        ("session", "tool_result", "/toolCallResult"),
        ("session", "user", "/systemPayload/**"),
        ("session", "system.", "/uiEvent/**"),
        ("session", "system.", "/snapshot/**"),
    ];
    QWEN.renamed_fields_are_seen(&recorded(), &open);
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("stream-json", "system.init", "/qwen_code_version", Gone),
        ("stream-json", "system.init", "/permission_mode", Is(json!("wild"))),
        ("stream-json", "system.init", "/tools", Is(json!("a"))),
        ("stream-json", "system.init", "", Wider),
        ("stream-json", "system.retry", "/data/preserveText", Gone),
        ("stream-json", "system.retry", "/data", Wider),
        ("stream-json", "system.task_started", "/data/task_id", Renamed),
        ("stream-json", "system.task_notification", "/data/status", Gone),
        ("stream-json", "assistant", "/message/id", Gone),
        ("stream-json", "assistant", "/message/content/0/type", Is(json!("image"))),
        ("stream-json", "assistant", "/message/usage/input_tokens", Is(json!("1"))),
        ("stream-json", "assistant", "/message/usage", Wider),
        ("stream-json", "assistant", "/message/stop_reason", Is(json!("end_turn"))),
        ("stream-json", "user", "/message/content/0/is_error", Gone),
        ("stream-json", "user", "/message/content/0/content", Is(json!([]))),
        ("stream-json", "user", "/parent_tool_use_id", Gone),
        ("stream-json", "stream_event.message_start", "/event/message/model", Renamed),
        ("stream-json", "stream_event.content_block_start", "/event/content_block/type", Is(json!("image"))),
        ("stream-json", "stream_event.content_block_delta", "/event/delta/type", Is(json!("smell_delta"))),
        ("stream-json", "stream_event.content_block_delta", "/event/index", Is(json!("0"))),
        ("stream-json", "stream_event.goal_state", "/event/goal_state/activity", Gone),
        ("stream-json", "result.success", "/usage/output_tokens", Gone),
        ("stream-json", "result.success", "/is_error", Is(json!(true))),
        ("stream-json", "result.success", "", Wider),
        ("stream-json", "result.error_during_execution", "/error/message", Renamed),
        ("stream-json", "control_request", "/request/tool_name", Gone),
        ("stream-json", "control_request", "/request/permission_suggestions/0/type", Is(json!("addRules"))),
        ("stream-json", "control_response", "/response/subtype", Is(json!("maybe"))),
        ("session", "user", "/message/parts", Is(json!("x"))),
        ("session", "user", "/uuid", Gone),
        ("session", "assistant", "/message/parts/0", Wider),
        ("session", "assistant", "/usageMetadata/promptTokenCount", Is(json!("1"))),
        ("session", "tool_result", "/toolCallResult/status", Is(json!("lost"))),
        ("session", "tool_result", "/toolCallResult/callId", Renamed),
        ("session", "system.ui_telemetry", "/systemPayload/uiEvent/event.name", Gone),
        ("session", "system.attribution_snapshot", "/systemPayload", Wider),
    ];
    QWEN.changes_are_seen(&recorded(), &changes);
}
