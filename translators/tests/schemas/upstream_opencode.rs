//! The schemas of OpenCode's records, compared with the recordings.

use super::upstream_schemas::Change::{Gone, Is, Renamed, Wider};
use super::upstream_schemas::*;
use serde_json::json;
use std::sync::LazyLock;

static OPENCODE: LazyLock<Upstream> = LazyLock::new(|| Upstream::compile("opencode"));

/// The records of the release that the schemas describe, or of the old one.
fn recorded(old: bool) -> Vec<Line> {
    lines(&fixtures_dir("opencode"), |file| {
        if file.contains("-old-") != old {
            return None;
        }
        match file.split('-').next()? {
            "run" => Some("run"),
            "export" => Some("export"),
            "event" if file.ends_with(".global.sse") => Some("global-event"),
            "event" if file.ends_with(".api.sse") => Some("next-event"),
            "event" => Some("event"),
            _ => None,
        }
    })
}

#[test]
fn every_record_is_valid_for_the_schema_of_its_kind() {
    let met = OPENCODE.assert_all_valid(&recorded(false));
    let of = |surface: &str| met.iter().filter(|(of, _)| *of == surface).count();
    let least = [("run", 6), ("event", 39), ("global-event", 15), ("next-event", 20), ("export", 1)];
    assert!(least.iter().all(|(surface, kinds)| of(surface) >= *kinds), "{met:?}");
}

#[test]
fn the_schemas_are_complete() {
    OPENCODE.every_file_is_listed();
    OPENCODE.examples_are_strict();
}

#[test]
fn the_old_release_is_distinguished_from_the_current_one() {
    let old = recorded(true);
    assert!(old.iter().any(|line| line.surface == "run") && old.iter().any(|line| line.surface == "event"));
    for Line { file, surface, text } in &old {
        let kind = OPENCODE.kind_of(surface, text).unwrap();
        let violations = OPENCODE.violations(surface, &kind, text);
        // The old release's events have no ids; its `run` lines are unchanged.
        assert_eq!(violations.is_empty(), *surface == "run", "{file}: {violations:?}");
    }
}

#[test]
fn a_changed_record_violates_its_schema() {
    let changes = [
        ("run", "step_start", "/timestamp", Is(json!("now"))),
        ("run", "step_start", "/sessionID", Renamed),
        ("run", "text", "/part/text", Renamed),
        ("run", "text", "/part/time/end", Gone),
        ("run", "text", "/part", Wider),
        ("run", "tool_use", "/part/state/status", Is(json!("running"))),
        ("run", "tool_use", "/part/state/output", Renamed),
        ("run", "tool_use", "/part/state/input", Is(json!("{}"))),
        ("run", "tool_use", "/part/callID", Gone),
        ("run", "step_finish", "/part/tokens/cache/read", Is(json!("0"))),
        ("run", "step_finish", "/part/cost", Is(json!("0.1"))),
        ("run", "step_finish", "/part/type", Is(json!("step_finish"))),
        ("run", "error", "/error/data/isRetryable", Gone),
        ("run", "error", "/error/name", Renamed),
        ("event", "server.connected", "/id", Gone),
        ("event", "session.created", "/properties/info/slug", Renamed),
        ("event", "session.updated", "/properties/info/time/updated", Is(json!("2026"))),
        ("event", "session.status", "/properties/status/type", Is(json!("paused"))),
        ("event", "session.status", "/properties/status/attempt", Renamed),
        ("event", "session.idle", "/properties", Wider),
        ("event", "session.error", "/properties/error/name", Is(json!("NewError"))),
        ("event", "message.updated", "/properties/info/role", Is(json!("system"))),
        ("event", "message.updated", "/properties/info/parentID", Renamed),
        ("event", "message.updated", "/properties/info/tokens/input", Is(json!(null))),
        ("event", "message.part.updated", "/properties/part/type", Is(json!("tool-call"))),
        ("event", "message.part.updated", "/properties/part/state/status", Is(json!("queued"))),
        ("event", "message.part.updated", "/properties/time", Gone),
        ("event", "message.part.delta", "/properties/delta", Is(json!(["a"]))),
        ("event", "message.part.delta", "/properties/partID", Renamed),
        ("event", "permission.asked", "/properties/patterns", Is(json!("ls"))),
        ("event", "permission.replied", "/properties/reply", Is(json!("maybe"))),
        ("event", "question.asked", "/properties/questions/0/options/0/label", Renamed),
        ("event", "session.next.text.delta", "/properties/timestamp", Is(json!(1))),
        ("global-event", "session.created", "/directory", Gone),
        ("global-event", "session.created", "/payload/properties", Renamed),
        ("global-event", "sync", "/payload/syncEvent/type", Is(json!("message.updated.2"))),
        ("global-event", "sync", "/payload/syncEvent/seq", Is(json!("1"))),
        ("global-event", "sync", "/payload/syncEvent/data/info/title", Renamed),
        ("next-event", "session.next.text.delta", "/data/timestamp", Is(json!("2026-02-02T03:04:05.678Z"))),
        ("next-event", "session.next.step.ended", "/data/tokens/output", Renamed),
        ("next-event", "session.next.tool.success", "/data/content/0/type", Is(json!("table"))),
        ("next-event", "session.next.prompted", "/durable/seq", Gone),
        ("export", "export", "/messages/0/parts/0/type", Is(json!("markdown"))),
        ("export", "export", "/messages/1/info/mode", Gone),
        ("export", "export", "/info/version", Renamed),
    ];
    OPENCODE.changes_are_seen(&recorded(false), &changes);
}

#[test]
fn a_renamed_field_is_found_except_in_open_objects() {
    let open = [
        ("run", "tool_use", "/state/input/**"),
        ("run", "", "/metadata/**"),
        ("run", "error", "/responseHeaders"),
        ("event", "message.part.updated", "/state/input/**"),
        ("event", "", "/metadata/**"),
        ("event", "", "/responseHeaders"),
        ("event", "session.next.tool.called", "/input/**"),
        ("event", "session.next.tool.success", "/structured/**"),
        ("next-event", "session.next.tool.called", "/input/**"),
        ("next-event", "session.next.tool.success", "/structured/**"),
        ("export", "export", "/state/input/**"),
        ("export", "export", "/state/metadata/**"),
    ];
    OPENCODE.renamed_fields_are_seen(&recorded(false), &open);
}

#[test]
fn a_record_of_a_new_type_has_no_schema() {
    for (surface, record, kind) in [
        ("run", json!({ "type": "tool_start" }), Some("tool_start")),
        ("event", json!({ "type": "session.moved", "properties": {} }), Some("session.moved")),
        ("event", json!({ "properties": {} }), None),
        ("global-event", json!({ "payload": { "type": "x" } }), Some("x")),
        ("global-event", json!({ "type": "session.idle" }), None),
        ("next-event", json!({ "type": "server.heartbeat", "data": {} }), Some("server.heartbeat")),
    ] {
        let found = OPENCODE.kind_of(surface, &record.to_string());
        assert_eq!(found.as_deref(), kind, "{record}");
        let known = OPENCODE.runner.surfaces.iter().filter(|of| of.name == surface).flat_map(|of| of.schemas);
        assert!(known.into_iter().all(|file| Some(file.kind) != kind), "{record}");
    }
}
