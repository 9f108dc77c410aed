//! The schemas of Codex's records, compared with the recordings.

use super::upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use super::upstream_schemas::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static CODEX: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("codex"));

fn recorded() -> Vec<Line> {
    lines(&fixtures_dir("codex"), |file| match file.split('-').next()? {
        "exec" => Some("exec"),
        "appserver" => Some("app-server"),
        "rollout" => Some("rollout"),
        _ => None,
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = CODEX.assert_all_valid(&recorded());
    let of = |surface: &str| met.iter().filter(|(of, _)| *of == surface).count();
    assert!(of("exec") >= 8 && of("app-server") >= 28 && of("rollout") >= 27, "{met:?}");
}

#[test]
fn client_messages_are_valid_for_their_schemas() {
    let met = CODEX.assert_all_valid(&lines(&fixtures_dir("codex").join("client"), |_| Some("app-server")));
    let said = ["initialize", "initialized", "response", "thread/start", "turn/interrupt", "turn/start", "turn/steer"];
    assert_eq!(met, said.map(|kind| ("app-server", kind.to_owned())).into_iter().collect::<BTreeSet<_>>());
}

#[test]
fn the_schemas_are_complete() {
    CODEX.every_file_is_listed();
    CODEX.examples_are_strict();
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("exec", "thread.started", "/thread_id", Renamed),
        ("exec", "thread.started", "/thread_id", Is(json!(7))),
        ("exec", "turn.started", "", Wider),
        ("exec", "item.started", "/item/type", Is(json!("shell_call"))),
        ("exec", "item.started", "/item/status", Is(json!("queued"))),
        ("exec", "item.completed", "/item/exit_code", Is(json!("0"))),
        ("exec", "item.completed", "/item/aggregated_output", Renamed),
        ("exec", "item.completed", "/item/changes/0/kind", Is(json!("rename"))),
        ("exec", "item.completed", "/item/action/query", Renamed),
        ("exec", "item.completed", "/item/text", Gone),
        ("exec", "item.completed", "/item/server", Is(json!(null))),
        ("exec", "item.updated", "/item/items/0/completed", Renamed),
        ("exec", "turn.completed", "/usage/cached_input_tokens", Gone),
        ("exec", "turn.completed", "/usage/input_tokens", Is(json!("12"))),
        ("exec", "turn.completed", "/usage", Wider),
        ("exec", "turn.failed", "/error/message", Renamed),
        ("exec", "error", "/message", Is(json!({ "text": "x" }))),
        ("app-server", "thread/started", "/params/thread/cliVersion", Renamed),
        ("app-server", "thread/started", "/params/thread", Wider),
        ("app-server", "thread/status/changed", "/params/status/type", Is(json!("asleep"))),
        ("app-server", "turn/completed", "/params/turn/status", Is(json!("abandoned"))),
        ("app-server", "turn/completed", "/params/turn/items/0/text", Renamed),
        ("app-server", "turn/started", "/emittedAtMs", Gone),
        ("app-server", "item/started", "/params/item/type", Is(json!("shell"))),
        ("app-server", "item/started", "/params/item/commandActions/0/type", Is(json!("write"))),
        ("app-server", "item/completed", "/params/item/aggregatedOutput", Renamed),
        ("app-server", "item/completed", "/params/item/changes/0/kind/type", Is(json!("chmod"))),
        ("app-server", "item/completed", "/params/item/durationMs", Is(json!("12"))),
        ("app-server", "item/agentMessage/delta", "/params/delta", Is(json!({ "text": "x" }))),
        ("app-server", "item/commandExecution/requestApproval", "/params/itemId", Gone),
        ("app-server", "item/commandExecution/requestApproval", "/id", Is(json!(1.5))),
        ("app-server", "thread/tokenUsage/updated", "/params/tokenUsage/total/inputTokens", Renamed),
        ("app-server", "error", "/params/error/codexErrorInfo", Is(json!(3))),
        ("app-server", "response", "/result/thread/sessionId", Renamed),
        ("app-server", "response", "/result/turn/status", Is(json!(1))),
        ("app-server", "response", "/result", Gone),
        ("rollout", "session_meta", "/payload/cli_version", Renamed),
        ("rollout", "session_meta", "/timestamp", Is(json!(1_770_000_000))),
        ("rollout", "turn_context", "/payload/model", Gone),
        ("rollout", "token_usage_record", "/payload/turn_token_usage/input_tokens", Is(json!("1"))),
        ("rollout", "event_msg.item_completed", "/payload/item/type", Is(json!("ShellCall"))),
        ("rollout", "event_msg.item_completed", "/payload/item/command", Is(json!("ls"))),
        ("rollout", "event_msg.item_completed", "/payload/item/exit_code", Renamed),
        ("rollout", "event_msg.task_complete", "/payload/last_agent_message", Gone),
        ("rollout", "event_msg.token_count", "/payload/info/total_token_usage/total_tokens", Renamed),
        ("rollout", "response_item.function_call", "/payload/arguments", Is(json!({}))),
        ("rollout", "response_item.message", "/payload/content/0/type", Is(json!("rich_text"))),
        ("rollout", "response_item.message", "/ordinal", Is(json!("4"))),
        ("rollout", "compacted", "/payload/message", Gone),
    ];
    CODEX.changes_are_seen(&recorded(), &changes);
}

#[test]
fn a_renamed_field_is_found_except_in_open_objects() {
    let open = [
        // Arguments from the model and content from servers.
        ("exec", "item.", "/arguments/**"),
        ("exec", "item.", "/structured_content/**"),
        ("exec", "item.", "/result/content/**"),
        ("app-server", "item/", "/arguments/**"),
        ("app-server", "item/", "/structuredContent/**"),
        ("app-server", "item/", "/result/content/**"),
        ("rollout", "event_msg.", "/arguments/**"),
        ("rollout", "event_msg.", "/result/content/**"),
        ("rollout", "event_msg.", "/Ok/content/**"),
        // Keyed by thread, or by path.
        ("exec", "item.", "/agents_states"),
        ("app-server", "item/", "/agentsStates"),
        ("rollout", "event_msg.", "/agents_states"),
        ("rollout", "event_msg.", "/changes"),
        // A response does not name its request.
        ("app-server", "response", "/result"),
        ("app-server", "error", "/codexErrorInfo/**"),
        // Settings and bookkeeping.
        ("rollout", "session_meta", "/payload"),
        ("rollout", "session_meta", "/source/subagent/**"),
        ("rollout", "session_meta", "/provenance"),
        ("rollout", "turn_context", "/payload"),
        ("rollout", "turn_context", "/permission_profile/**"),
        ("rollout", "world_state", "/state/**"),
        ("rollout", "compacted", "/payload"),
        ("rollout", "compacted", "/replacement_history/**"),
        ("rollout", "compacted", "/replacement_history_metadata/**"),
        ("rollout", "compacted", "/retained_context/**"),
        ("rollout", "compacted", "/resume_metadata/**"),
        ("rollout", "event_msg.thread_settings_applied", "/thread_settings"),
        ("rollout", "event_msg.thread_settings_applied", "/permission_profile/**"),
        ("rollout", "response_item.", "/metadata/**"),
        ("rollout", "response_item.", "/internal_chat_message_metadata_passthrough/**"),
        ("rollout", "response_item.additional_tools", "/tools/**"),
    ];
    let lines = recorded();
    CODEX.renamed_fields_are_seen(&lines, &open);
}

#[test]
fn a_record_of_a_new_type_has_no_schema() {
    for (surface, record, kind) in [
        ("exec", json!({ "type": "item.cancelled" }), Some("item.cancelled")),
        ("exec", json!({ "method": "x" }), None),
        ("app-server", json!({ "method": "thread/moved", "params": {} }), Some("thread/moved")),
        ("app-server", json!({ "params": {} }), None),
        ("rollout", json!({ "type": "event_msg", "payload": { "type": "x" } }), Some("event_msg.x")),
        ("rollout", json!({ "type": "event_msg", "payload": {} }), None),
        ("rollout", json!({ "type": "snapshot", "payload": {} }), Some("snapshot")),
    ] {
        let found = CODEX.kind_of(surface, &record.to_string());
        assert_eq!(found.as_deref(), kind, "{record}");
        let known = CODEX.runner.surfaces.iter().filter(|of| of.name == surface).flat_map(|of| of.schemas);
        assert!(known.into_iter().all(|file| Some(file.kind) != kind), "{record}");
    }
    for answer in [json!({ "id": 0, "result": null }), json!({ "id": "a", "error": { "code": 1, "message": "x" } })] {
        assert_eq!(CODEX.kind_of("app-server", &answer.to_string()).as_deref(), Some("response"));
        assert_eq!(CODEX.violations("app-server", "response", &answer.to_string()), Vec::<String>::new());
    }
}
