//! The schemas of Claude Code's records, compared with its real output.

use framegate_translators::decode::Record;
use framegate_translators::json::{self, Json};
use framegate_translators::runners::{Surface, runner};
use framegate_translators::schema::Schemas;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

struct CompiledSchema {
    schema: Value,
    validator: Validator,
}

/// The schemas by surface and kind.
static KNOWN: LazyLock<HashMap<String, CompiledSchema>> = LazyLock::new(|| {
    let mut known = HashMap::new();
    for surface in surfaces() {
        for file in surface.schemas {
            let schema: Value = serde_json::from_str(file.text()).unwrap();
            let validator = jsonschema::draft202012::options()
                .should_validate_formats(false)
                .build(&schema)
                .unwrap_or_else(|error| panic!("{} {}: {error}", surface.name, file.kind));
            let before = known.insert(format!("{}/{}", surface.name, file.kind), CompiledSchema { schema, validator });
            assert!(before.is_none(), "{} {} occurs twice", surface.name, file.kind);
        }
    }
    known
});

fn surfaces() -> &'static [Surface] {
    runner("claude-code").unwrap().surfaces
}

fn surface(name: &str) -> &'static Surface {
    surfaces().iter().find(|surface| surface.name == name).unwrap()
}

fn compiled_schema(surface: &str, kind: &str) -> &'static CompiledSchema {
    let path = format!("{surface}/{kind}");
    KNOWN.get(&path).unwrap_or_else(|| panic!("no schema for {path}"))
}

/// The kind of a record, according to the surface.
fn kind_of(surface: &Surface, text: &str) -> Option<String> {
    let json = Json::parse(text).unwrap();
    let fields = json.object().unwrap_or_default();
    let record = Record { json, fields, event_name: None, index: 0, offset: 0 };
    (surface.kind_of)(&record).map(String::from)
}

/// The violations in a record, one line each.
fn violations_of(surface: &str, kind: &str, record: &Value) -> Vec<String> {
    let errors = compiled_schema(surface, kind).validator.iter_errors(record);
    errors.map(|error| format!("{} {}", error.instance_path(), error.masked())).collect()
}

fn example(surface: &str, kind: &str) -> Value {
    compiled_schema(surface, kind).schema["examples"][0].clone()
}

/// Every record of every recording, with the recording's name and surface.
fn recorded() -> impl Iterator<Item = (String, &'static Surface, String)> {
    crate::support::recordings_of(runner("claude-code").unwrap()).into_iter().flat_map(|recording| {
        let name = match &recording.name {
            name if name.ends_with(".transcript.jsonl") => "transcript",
            name if name.ends_with(".json") => "json",
            _ => "stream-json",
        };
        let text = String::from_utf8(recording.bytes).unwrap();
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        lines.into_iter().map(move |line| (recording.name.clone(), surface(name), line))
    })
}

#[test]
fn every_recorded_record_is_valid_for_the_schema_of_its_kind() {
    let mut kinds = BTreeSet::new();
    let mut violations = Vec::new();
    for (name, surface, line) in recorded() {
        let kind = kind_of(surface, &line).unwrap_or_else(|| panic!("{name}: a record without a kind"));
        let record = json::value(line.as_bytes()).unwrap();
        violations.extend(
            violations_of(surface.name, &kind, &record)
                .into_iter()
                .map(|violation| format!("{name} {kind}: {violation}")),
        );
        kinds.insert((surface.name, kind));
    }
    assert_eq!(violations, Vec::<String>::new());
    for surface in surfaces() {
        assert!(kinds.iter().any(|(name, _)| *name == surface.name), "no recording of {}", surface.name);
    }
    assert!(kinds.len() > 40, "only {} kinds met", kinds.len());
}

#[test]
fn every_schema_is_described_and_its_example_is_valid() {
    for surface in surfaces() {
        for file in surface.schemas {
            let schema = &compiled_schema(surface.name, file.kind).schema;
            let id =
                format!("https://framegate.dev/schemas/runners/claude-code/{}/{}.schema.json", surface.name, file.kind);
            assert_eq!(schema["$id"], id);
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            for word in ["title", "description"] {
                assert!(schema[word].as_str().is_some_and(|text| !text.is_empty()), "{id} has no {word}");
            }
            assert_eq!(schema["examples"].as_array().map(Vec::len), Some(1), "{id}");
            let example = example(surface.name, file.kind);
            assert_eq!(violations_of(surface.name, file.kind, &example), Vec::<String>::new(), "{id}");
            assert_eq!(kind_of(surface, &example.to_string()).as_deref(), Some(file.kind), "{id}");
        }
    }
}

#[test]
fn exactly_the_schema_files_are_listed() {
    let root = crate::support::fixtures_dir("../../schemas/runners/claude-code");
    for surface in surfaces() {
        let files: BTreeSet<String> = std::fs::read_dir(root.join(surface.name))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let listed: BTreeSet<String> =
            surface.schemas.iter().map(|file| format!("{}.schema.json", file.kind)).collect();
        assert_eq!(files, listed, "{}", surface.name);
    }
}

#[test]
fn a_missing_required_field_is_found() {
    let mut tried = 0;
    for (path, known) in KNOWN.iter() {
        let (surface, kind) = path.split_once('/').unwrap();
        for field in known.schema["required"].as_array().into_iter().flatten() {
            let mut record = example(surface, kind);
            record.as_object_mut().unwrap().remove(field.as_str().unwrap()).unwrap();
            assert_ne!(violations_of(surface, kind, &record), Vec::<String>::new(), "{path} without {field}");
            tried += 1;
        }
    }
    assert!(tried > 500, "only {tried} tried");
}

#[test]
fn the_crates_own_validator_agrees() {
    for surface in surfaces() {
        let schemas = Schemas::compile(surface.schemas).unwrap();
        for file in surface.schemas {
            let mut record = example(surface.name, file.kind);
            assert_eq!(schemas.check_text(file.kind, &record.to_string()), Ok(()), "{}", file.kind);
            if let Some(fields) = record.as_object_mut() {
                fields.remove("type").unwrap();
            }
            let is_list = record.is_array();
            assert_eq!(schemas.check_text(file.kind, &record.to_string()).is_ok(), is_list, "{}", file.kind);
        }
    }
    let schemas: HashMap<_, _> =
        surfaces().iter().map(|surface| (surface.name, Schemas::compile(surface.schemas).unwrap())).collect();
    for (name, surface, line) in recorded() {
        let kind = kind_of(surface, &line).unwrap();
        assert_eq!(schemas[surface.name].check_text(&kind, &line), Ok(()), "{name} {kind}");
    }
}

#[test]
fn a_new_field_is_found_in_every_recorded_record() {
    let mut open = BTreeSet::new();
    for (_, surface, line) in recorded().filter(|(_, surface, _)| surface.name != "transcript") {
        let kind = kind_of(surface, &line).unwrap();
        let mut record = json::value(line.as_bytes()).unwrap();
        record["surprise"] = json!(1);
        if violations_of(surface.name, &kind, &record).is_empty() {
            open.insert(kind);
        }
    }
    assert_eq!(open, BTreeSet::new());
}

/// Replaces the value at a pointer; `None` removes it.
fn change(record: &mut Value, pointer: &str, value: Option<Value>) -> Value {
    let (parent, field) = pointer.rsplit_once('/').unwrap();
    let parent = record.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    let before = parent.remove(field).unwrap_or_default();
    if let Some(value) = value {
        parent.insert(field.to_owned(), value);
    }
    before
}

#[test]
fn a_changed_field_type_is_found() {
    let cases = [
        ("stream-json", "assistant", "/message/usage/input_tokens", json!("11")),
        ("stream-json", "assistant", "/message/content", json!("All tests pass.")),
        ("stream-json", "assistant", "/message/content/0/text", json!({ "value": "All tests pass." })),
        ("stream-json", "assistant", "/message/stop_reason", json!({ "kind": "end_turn" })),
        ("stream-json", "assistant", "/parent_tool_use_id", json!(["toolu_01"])),
        ("stream-json", "assistant", "/aborted", json!("yes")),
        ("stream-json", "user", "/message/content/0/is_error", json!("false")),
        ("stream-json", "user", "/tool_result_meta", json!({})),
        ("stream-json", "result.success", "/total_cost_usd", json!("0.0003")),
        ("stream-json", "result.success", "/num_turns", json!(1.5)),
        ("stream-json", "result.success", "/modelUsage/claude-opus-5-5/costUSD", json!("0.0003")),
        ("stream-json", "result.error_max_turns", "/errors", json!("It could not go on.")),
        ("stream-json", "stream_event.content_block_delta", "/event/index", json!("0")),
        ("stream-json", "stream_event.content_block_delta", "/event/delta/text", json!(null)),
        ("stream-json", "system.api_retry", "/attempt", json!("1")),
        ("stream-json", "system.init", "/tools", json!({ "Bash": {} })),
        ("stream-json", "control_request", "/request/input", json!("make")),
        ("json", "result.success", "/is_error", json!("false")),
        ("transcript", "assistant", "/message/usage/output_tokens", json!("14")),
        ("transcript", "user", "/timestamp", json!(1_795_293_648)),
        ("transcript", "cost-state", "/totalCostUSD", json!("1")),
    ];
    for (surface, kind, pointer, value) in cases {
        let mut record = example(surface, kind);
        change(&mut record, pointer, Some(value));
        assert_ne!(violations_of(surface, kind, &record), Vec::<String>::new(), "{kind} {pointer}");
    }
}

#[test]
fn a_renamed_field_is_found() {
    let cases = [
        ("stream-json", "assistant", "/message/usage/cache_read_tokens", "/message/usage/output_tokens"),
        ("stream-json", "assistant", "/message/content/0/content", "/message/content/0/text"),
        ("stream-json", "assistant", "/requestId", "/request_id"),
        ("stream-json", "user", "/message/content/0/call_id", "/message/content/0/tool_use_id"),
        ("stream-json", "user", "/message/content/0/isError", "/message/content/0/is_error"),
        ("stream-json", "result.success", "/total_cost", "/total_cost_usd"),
        ("stream-json", "result.success", "/terminalReason", "/terminal_reason"),
        ("stream-json", "stream_event.content_block_delta", "/event/delta/delta", "/event/delta/text"),
        ("stream-json", "system.task_updated", "/patch/state", "/patch/status"),
        ("stream-json", "system.hook_response", "/exitCode", "/exit_code"),
        ("stream-json", "rate_limit_event", "/rate_limit_info/resets_at", "/rate_limit_info/resetsAt"),
        ("json", "result.success", "/text", "/result"),
        ("transcript", "assistant", "/session_id", "/sessionId"),
        ("transcript", "system.compact_boundary", "/compactMetadata/pre", "/compactMetadata/preTokens"),
    ];
    for (surface, kind, new, old) in cases {
        let mut record = example(surface, kind);
        let value = change(&mut record, old, None);
        assert!(!value.is_null(), "{kind} has {old}");
        change(&mut record, new, Some(value));
        assert_ne!(violations_of(surface, kind, &record), Vec::<String>::new(), "{kind} {new}");
    }
}

#[test]
fn a_new_word_is_found_where_the_words_are_known() {
    let cases = [
        ("assistant", "/message/content/0/type", "poem"),
        ("user", "/message/content/0/type", "tool_outcome"),
        ("user", "/tool_result_meta/0/permission_decision/decision", "perhaps"),
        ("control_request", "/request/subtype", "may_use_tool"),
        ("control_response", "/response/subtype", "maybe"),
        ("command_lifecycle", "/state", "lost"),
        ("stream_event.content_block_delta", "/event/delta/type", "audio_delta"),
        ("system.status", "/status", "sleeping"),
        ("system.task_updated", "/patch/status", "vanished"),
        ("system.task_notification", "/status", "vanished"),
        ("system.hook_response", "/outcome", "odd"),
        ("system.session_state_changed", "/state", "asleep"),
    ];
    for (kind, pointer, word) in cases {
        let mut record = example("stream-json", kind);
        change(&mut record, pointer, Some(json!(word)));
        assert_ne!(violations_of("stream-json", kind, &record), Vec::<String>::new(), "{kind} {pointer}");
    }
    // A new word in an open set is valid.
    for (kind, pointer, word) in [
        ("assistant", "/error", "moon_phase"),
        ("result.success", "/terminal_reason", "bored"),
        ("system.init", "/permissionMode", "careful"),
        ("rate_limit_event", "/rate_limit_info/rateLimitType", "one_year"),
    ] {
        let mut record = example("stream-json", kind);
        change(&mut record, pointer, Some(json!(word)));
        assert_eq!(violations_of("stream-json", kind, &record), Vec::<String>::new(), "{kind} {pointer}");
    }
}

#[test]
fn tool_results_and_structured_output_may_have_any_form() {
    let fits = |surface, kind, pointer: &str, value: Value| {
        let mut record = example(surface, kind);
        change(&mut record, pointer, Some(value));
        assert_eq!(violations_of(surface, kind, &record), Vec::<String>::new(), "{kind} {pointer}");
    };
    let own = json!({ "anything": [1, null, { "deep": true }] });
    fits("stream-json", "user", "/tool_use_result", own.clone());
    fits("stream-json", "user", "/tool_use_result", json!("Error: no"));
    fits("stream-json", "user", "/message/content/0/content", json!([{ "type": "text", "text": "42", "_meta": {} }]));
    fits("stream-json", "result.success", "/structured_output", own.clone());
    fits("stream-json", "control_request", "/request/input", own.clone());
    fits("stream-json", "control_response", "/response/response", own.clone());
    fits("transcript", "user", "/toolUseResult", own);
    let call = json!([{ "type": "tool_use", "id": "toolu_01", "name": "mcp__x__y", "input": { "q": [1] } }]);
    fits("stream-json", "assistant", "/message/content", call);
    fits("transcript", "attachment", "/attachment", json!({ "type": "something_new", "x": 1 }));
    let usage = example("stream-json", "result.success")["modelUsage"]["claude-opus-5-5"].clone();
    fits("stream-json", "result.success", "/modelUsage", json!({ "a-model-of-tomorrow": usage }));
}

#[test]
fn the_kind_of_a_record_is_its_type_and_discriminator() {
    let kind = |name, text| kind_of(surface(name), text);
    assert_eq!(kind("stream-json", r#"{"type":"user","subtype":"x"}"#).as_deref(), Some("user"));
    assert_eq!(kind("stream-json", r#"{"subtype":"init","type":"system"}"#).as_deref(), Some("system.init"));
    assert_eq!(kind("stream-json", r#"{"type":"system"}"#).as_deref(), Some("system"));
    assert_eq!(kind("stream-json", r#"{"type":"system","subtype":7}"#).as_deref(), Some("system"));
    assert_eq!(
        kind("stream-json", r#"{"type":"stream_event","event":{"type":"ping"}}"#).as_deref(),
        Some("stream_event.ping")
    );
    assert_eq!(kind("stream-json", r#"{"type":"stream_event","event":[]}"#).as_deref(), Some("stream_event"));
    assert_eq!(kind("stream-json", r#"{"kind":"user"}"#), None);
    assert_eq!(kind("stream-json", r#"{"type":""}"#), None);
    assert_eq!(kind("stream-json", "[]"), None);
    assert_eq!(kind("json", r#"[{"type":"system"}]"#).as_deref(), Some("frames"));
    assert_eq!(kind("json", r#"{"type":"result","subtype":"success"}"#).as_deref(), Some("result.success"));
    assert_eq!(kind("transcript", r#"{"type":"queue-operation"}"#).as_deref(), Some("queue-operation"));
    for unknown in ["system", "stream_event", "stream_event.ping", "system.tomorrow"] {
        assert!(!KNOWN.contains_key(&format!("stream-json/{unknown}")));
    }
}
