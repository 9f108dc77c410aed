//! Drift reports: each change in a record is reported with the right kind, path and count.

use crate::support::*;
use framegate_translators::decode::Record;
use framegate_translators::drift::{Drift, DriftFinding, DriftKind, NoDrift, PLACES, SurfaceSchemas};
use framegate_translators::frame::Body;
use framegate_translators::framing::{Framing, Limits, Reader, Unit};
use framegate_translators::pipeline::Ingest;
use framegate_translators::recognise::Window;
use framegate_translators::records::{UnitPart, read};
use framegate_translators::runners::{Modes, RUNNERS, Runner, Sample, Surface, runner};
use framegate_translators::schema::SchemaFile;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

fn drift(surface: &'static Surface, bytes: &[u8]) -> Drift {
    // Compiling takes much longer than comparing.
    static COMPILED: Mutex<BTreeMap<&str, SurfaceSchemas>> = Mutex::new(BTreeMap::new());
    let known = COMPILED
        .lock()
        .unwrap()
        .entry(surface.name)
        .or_insert_with(|| SurfaceSchemas::new(runner_of(surface), surface).unwrap())
        .clone();
    let mut drift = Drift::of(known);
    let mut index = 0;
    let mut sink = |unit: Unit<'_>| {
        read(&unit, &mut |part| {
            match part {
                UnitPart::Value { json, fields, .. } => {
                    drift.record(&Record { json, fields, event_name: unit.event_name, index, offset: unit.offset });
                }
                UnitPart::Invalid { error, .. } => drift.not_json(unit.offset, error),
                UnitPart::Rest => {}
                UnitPart::Done => drift.done(),
            }
            index += 1;
        });
    };
    let mut reader = Reader::sniffing(Limits::default());
    reader.feed(bytes, &mut sink);
    reader.finish(&mut sink);
    drift
}

fn runner_of(surface: &Surface) -> &'static Runner {
    if surface.name == FAKE_RUNNER.name { &FAKE_RUNNER } else { runner("open-responses").unwrap() }
}

/// The kind of drift, the kind of the record, the path, and the count.
fn summary(findings: &[DriftFinding]) -> Vec<(&'static str, &str, &str, u64)> {
    findings
        .iter()
        .map(|one| (one.key.kind.as_str(), one.key.record_kind.as_str(), one.key.pointer.as_str(), one.count))
        .collect()
}

/// A recording that matches all schemas, one event on each line.
fn clean_events() -> Vec<Value> {
    let bytes = std::fs::read(fixtures_dir("open-responses").join("fastresponses__text.sse")).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

fn ndjson(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// Changes the events of one type; returns the findings for all events.
fn changed(kind: &str, change: impl Fn(&mut Value)) -> Vec<DriftFinding> {
    let mut events = clean_events();
    let mut count = 0;
    for event in events.iter_mut().filter(|event| event["type"] == kind) {
        change(event);
        count += 1;
    }
    assert!(count > 0, "the recording has {kind}");
    drift(event_surface(), ndjson(&events).as_bytes()).findings()
}

fn event_surface() -> &'static Surface {
    &runner("open-responses").unwrap().surfaces[0]
}

#[test]
fn recordings_have_no_drift() {
    let events = clean_events();
    assert!(events.len() > 5);
    let drift = drift(event_surface(), ndjson(&events).as_bytes());
    assert_eq!((drift.findings(), drift.records()), (vec![], events.len() as u64));
}

#[test]
fn recordings_of_agents_have_no_unknown_fields() {
    let acp = runner("acp").unwrap();
    let mut files = 0;
    for file in std::fs::read_dir(fixtures_dir("acp")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = file.file_name().unwrap().to_str().unwrap();
        // The agent that was written for the recordings sends fields that no schema has.
        if !name.ends_with(".jsonl") || name.contains(".fake.") {
            continue;
        }
        let found = drift(&acp.surfaces[0], &std::fs::read(&file).unwrap()).findings();
        let unknown: Vec<_> = summary(&found).into_iter().filter(|one| one.0 == "unknown_field").collect();
        assert_eq!(unknown, [], "{name}");
        files += 1;
    }
    assert!(files > 100, "{files}");
}

#[test]
fn a_new_field_is_reported() {
    let found = changed("response.output_text.delta", |event| event["mood"] = json!("SECRET"));
    let deltas = clean_events().iter().filter(|event| event["type"] == "response.output_text.delta").count() as u64;
    assert!(deltas > 1);
    assert_eq!(summary(&found), [("unknown_field", "response.output_text.delta", "/mood", deltas)]);
    assert!(!format!("{found:?}").contains("SECRET"));
    let deep = changed("response.completed", |event| event["response"]["output"][0]["content"][0]["mood"] = json!(1));
    assert_eq!(summary(&deep), [("unknown_field", "response.completed", "/response/output/*/content/*/mood", 1)]);
}

#[test]
fn a_renamed_field_is_reported_under_both_names() {
    let found = changed("response.output_text.delta", |event| {
        let id = event.as_object_mut().unwrap().remove("item_id").unwrap();
        event["itemId"] = id;
    });
    let places: Vec<(&str, &str)> = summary(&found).iter().map(|one| (one.0, one.2)).collect();
    assert_eq!(places, [("unknown_field", "/itemId"), ("missing_field", "/item_id")]);
    assert!(found[0].suggestion.contains("\"item_id\""), "{found:?}");
    assert!(found[1].suggestion.contains("\"itemId\""), "{found:?}");
}

#[test]
fn a_missing_field_is_reported() {
    let found = changed("response.completed", |event| {
        event["response"].as_object_mut().unwrap().remove("status");
    });
    assert_eq!(summary(&found), [("missing_field", "response.completed", "/response/status", 1)]);
}

#[test]
fn a_changed_type_is_reported_with_both_types() {
    let found = changed("response.output_text.done", |event| event["sequence_number"] = json!("SECRET"));
    assert_eq!(summary(&found), [("changed_type", "response.output_text.done", "/sequence_number", 1)]);
    assert_eq!(found[0].message, "string instead of integer");
    let found = changed("response.completed", |event| event["response"]["output"] = json!({"0": 1}));
    assert_eq!(summary(&found), [("changed_type", "response.completed", "/response/output", 1)]);
    assert_eq!(found[0].message, "object instead of array");
}

#[test]
fn new_types_of_records_and_of_parts_are_reported() {
    let found = changed("response.output_text.done", |event| event["type"] = json!("response.output_text.finished"));
    assert_eq!(summary(&found), [("unknown_type", "response.output_text.finished", "", 1)]);
    assert!(found[0].suggestion.contains("not translated"), "{found:?}");
    let found = changed("response.output_item.done", |event| event["item"] = json!({"type": "hologram", "id": "x"}));
    assert_eq!(summary(&found), [("unknown_type", "response.output_item.done", "/item/type", 1)]);
    assert_eq!(found[0].key.word.as_deref(), Some("hologram"));
    let search = json!({"type": "web_search_call", "id": "x", "status": "completed"});
    let found = changed("response.output_item.done", |event| event["item"] = search.clone());
    assert_eq!(found[0].key.word.as_deref(), Some("web_search_call"));
    assert!(!found[0].suggestion.contains("not translated"), "the decoder reads it: {found:?}");
    let found = changed("response.output_text.done", |event| {
        event.as_object_mut().unwrap().remove("type");
    });
    assert_eq!(summary(&found), [("unknown_type", "", "", 1)]);
    // Extension types may be added by anyone.
    assert!(changed("response.output_text.done", |event| *event = json!({"type": "acme:trace", "a": 1})).is_empty());
}

#[test]
fn a_new_word_is_reported_but_no_text() {
    let state = |word: &'static str| {
        changed("response.completed", move |event| event["response"]["output"][0]["status"] = json!(word))
    };
    let found = state("paused");
    assert_eq!(summary(&found), [("unknown_value", "response.completed", "/response/output/*/status", 1)]);
    assert!(found[0].message.starts_with("unknown value \"paused\"; known values: \"in_progress\""), "{found:?}");
    assert!(!format!("{:?}", state("MY SECRET")).contains("SECRET"));
}

#[test]
fn invalid_json_is_reported_with_its_position() {
    let mut text = ndjson(&clean_events());
    let before = text.len() as u64;
    let records = clean_events().len() as u64;
    text.push_str("warning: something\n42\n[1,{}]\n");
    let found = drift(event_surface(), text.as_bytes()).findings();
    assert_eq!(
        summary(&found),
        [("not_json", "", "", 1), ("changed_type", "", "", 2), ("unknown_type", "", "", 1)],
        "{found:?}"
    );
    assert_eq!((found[0].first.record, found[0].first.offset), (records + 1, before));
    assert_eq!((found[1].first.record, found[1].first.offset), (records + 2, before + 19));
}

#[test]
fn the_first_occurrence_is_reported() {
    let events = clean_events();
    let text = ndjson(&events);
    let at = events.iter().position(|event| event["type"] == "response.output_text.delta").unwrap();
    let offset = ndjson(&events[..at]).len() as u64;
    let changed = text.replace("\"delta\":", "\"piece\":");
    let found = drift(event_surface(), changed.as_bytes()).findings();
    assert!(found.iter().all(|one| (one.first.record, one.first.offset) == (at as u64 + 1, offset)), "{found:?}");
    assert_eq!(found.len(), 2);
}

fn list_of_two(record: &Record<'_>) -> Option<Cow<'static, str>> {
    (record.json.items().len() == 2).then_some(Cow::Borrowed("two"))
}

/// A fictitious surface, with the schema keywords that runners' schemas use.
const FAKE: Surface = Surface {
    name: "fake",
    source: "a test",
    recognise: |_| None,
    kind_of: |record| match record.fields.str("type").or_else(|| list_of_two(record))? {
        kind if kind == "system" => Some(Cow::Owned(format!("system.{}", record.fields.str("subtype")?))),
        kind => Some(kind),
    },
    schemas: &[
        SchemaFile::new(
            "message",
            r##"{
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "https://framegate.dev/schemas/runners/fake/fake/message.schema.json",
                "type": "object", "required": ["type", "parts"], "additionalProperties": false,
                "properties": {
                    "type": {"const": "message"},
                    "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
                    "by_model": {"type": "object", "additionalProperties": {"$ref": "#/$defs/usage"}},
                    "either": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/text"}]},
                    "args": {"type": "object"}
                },
                "$defs": {
                    "part": {
                        "type": "object", "required": ["type"],
                        "properties": {"type": {"enum": ["text", "tool"]}},
                        "allOf": [
                            {"if": {"properties": {"type": {"const": "text"}}}, "then": {"$ref": "#/$defs/text"}},
                            {"if": {"properties": {"type": {"const": "tool"}}}, "then": {"$ref": "#/$defs/tool"}}
                        ]
                    },
                    "text": {
                        "type": "object", "required": ["type", "text"], "additionalProperties": false,
                        "properties": {"type": {"const": "text"}, "text": {"type": "string"}}
                    },
                    "tool": {
                        "type": "object", "required": ["type", "input"], "additionalProperties": false,
                        "properties": {"type": {"const": "tool"}, "input": {"type": ["object", "string"]}, "n": {"type": "integer", "minimum": 0}}
                    },
                    "usage": {
                        "type": "object", "required": ["tokens"], "additionalProperties": false,
                        "properties": {"tokens": {"type": "integer"}}
                    }
                }
            }"##,
        ),
        SchemaFile::new("two", r#"{"type": "array", "items": {"type": "object"}}"#),
        SchemaFile::new(
            "system.init",
            r#"{"type": "object", "required": ["type", "subtype"], "properties": {"type": {}, "subtype": {}, "0": {"type": "null"}}, "additionalProperties": true}"#,
        ),
    ],
};

static FAKE_SURFACE: Surface = FAKE;

static FAKE_RUNNER: Runner = Runner {
    name: "fake",
    provider: framegate_translators::frame::Provider { name: "fake", title: "Fake" },
    genai_provider: "fake",
    about: "a test",
    extensible: false,
    is_of_frames: false,
    surfaces: &[],
    pieces: &[],
    time: |_| None,
    decoder: || runner("codex").map(|runner| (runner.decoder)()).unwrap(),
    dialogue: None,
    modes: Modes::NONE,
    presets: &[],
    demo: None,
    response_id: None,
    workspace: None,
    history: &[],
    sample: Sample { file: "", bytes: b"", framing: Framing::Ndjson },
};

#[test]
fn pointers_follow_the_schema() {
    let tell = |record: Value| {
        let found = drift(&FAKE_SURFACE, format!("{record}\n").as_bytes()).findings();
        summary(&found).iter().map(|one| format!("{} {}", one.0, one.2)).collect::<Vec<_>>()
    };
    let clean = json!({"type": "message", "parts": [{"type": "text", "text": "a"}, {"type": "tool", "input": {"x": 1}, "n": 0}],
        "by_model": {"m": {"tokens": 1}}, "either": {"type": "text", "text": ""}, "args": {"any": [{"type": "thing"}]}});
    assert!(tell(clean).is_empty());
    assert!(tell(json!({"type": "system", "subtype": "init", "more": 1})).is_empty());
    assert_eq!(
        tell(json!({"type": "message", "parts": [
            {"type": "text", "text": 1}, {"type": "text"}, {"type": "tool", "input": [], "n": -1},
            {"type": "video", "x": 1}, {"text": "?"}, 7
        ]})),
        [
            "unknown_type /parts/*/type",
            "missing_field /parts/*/text",
            "missing_field /parts/*/type",
            "changed_type /parts/*",
            "changed_type /parts/*/input",
            "changed_type /parts/*/text",
            "unknown_value /parts/*/n",
        ]
    );
    assert_eq!(
        tell(json!({"type": "message", "parts": [], "by_model": {"some/model": {"tokens": "1", "cost": 1}}})),
        ["unknown_field /by_model/*/cost", "changed_type /by_model/*/tokens"]
    );
    assert_eq!(tell(json!({"type": "message", "parts": [], "either": 1})), ["changed_type /either"]);
    assert_eq!(
        tell(json!({"type": "message", "parts": [], "either": {"type": "text"}})),
        ["missing_field /either/text"]
    );
    assert_eq!(tell(json!({"type": "system", "subtype": "init", "0": 1})), ["changed_type /0"]);
    assert_eq!(tell(json!({"type": "system", "subtype": "other"})), ["unknown_type "]);
    // A list may have its own kind; otherwise its items are compared one by one.
    assert!(tell(json!([{"type": "none"}, {}])).is_empty());
    assert_eq!(tell(json!([{}, 1])), ["changed_type /*"]);
    assert_eq!(tell(json!([{"type": "none"}])), ["unknown_type "]);
    assert_eq!(tell(json!({"type": "message", "parts": [], "a/b~c": 1})), ["unknown_field /a~1b~0c"]);
}

#[test]
fn the_number_of_reported_places_is_bounded() {
    let record = |at: usize| format!("{{\"type\":\"message\",\"parts\":[],\"field{at}\":1}}\n");
    let fits: String = (0..PLACES).map(record).collect();
    let at_the_limit = drift(&FAKE_SURFACE, fits.as_bytes());
    assert_eq!((at_the_limit.findings().len(), at_the_limit.more()), (PLACES, 0));
    let beyond = drift(&FAKE_SURFACE, (fits + &record(PLACES) + &record(0)).as_bytes());
    assert_eq!((beyond.findings().len(), beyond.more()), (PLACES, 1));
    assert_eq!(beyond.findings()[0].count, 2, "known places are still counted");
    let many: Value = (0..10_000).map(|at| (format!("f{at}"), json!(1))).collect::<serde_json::Map<_, _>>().into();
    let mut one = json!({"type": "message", "parts": []});
    one.as_object_mut().unwrap().extend(many.as_object().unwrap().clone());
    let found = drift(&FAKE_SURFACE, format!("{one}\n").as_bytes());
    assert_eq!((found.findings().len(), found.more()), (100, 0), "so many of one record");
    let long = format!("{{\"type\":\"{}\"}}\n", "x".repeat(1000));
    assert_eq!(drift(&FAKE_SURFACE, long.as_bytes()).findings()[0].key.record_kind.len(), 64);
}

#[test]
fn a_surface_without_schemas_is_an_error() {
    static UNKNOWN: Surface =
        Surface { name: "new", source: "a test", recognise: |_| None, kind_of: |_| None, schemas: &[] };
    static BROKEN: Surface = Surface {
        name: "broken",
        source: "a test",
        recognise: |_| None,
        kind_of: |_| None,
        schemas: &[SchemaFile::new("a", r##"{"$ref": "#/$defs/none"}"##)],
    };
    assert_eq!(Drift::new(&FAKE_RUNNER, &UNKNOWN).err(), Some(NoDrift::NothingKnown));
    assert!(
        matches!(Drift::new(&FAKE_RUNNER, &BROKEN).err(), Some(NoDrift::Schema(error)) if error.contains("schema of a"))
    );
}

#[test]
fn the_schemas_of_every_surface_compile() {
    let mut known = 0;
    for runner in RUNNERS {
        for surface in runner.surfaces.iter().filter(|surface| !surface.schemas.is_empty()) {
            known += 1;
            if let Err(error) = Drift::new(runner, surface) {
                panic!("{} ({}): {error}", runner.name, surface.name);
            }
        }
    }
    assert!(known >= 3, "{known}");
}

#[test]
fn no_record_panics_on_any_surface() {
    let mut kinds = BTreeSet::new();
    for recording in recordings() {
        for one in drift(event_surface(), &recording.bytes).findings() {
            assert!(one.count > 0 && one.first.record > 0);
            kinds.insert(one.key.kind);
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), DriftKind::ALL);
}

#[test]
fn live_drift_is_reported_once() {
    let mut lines = clean_events();
    let runner = runner("open-responses").unwrap();
    let plain = Ingest::new(runner, None, Limits::default(), identity());
    let watching = Ingest::new(runner, None, Limits::default(), identity()).watching_drift();
    let auto = Ingest::auto(None, Limits::default(), identity(), Window::default()).watching_drift();
    let deltas = lines.iter_mut().filter(|event| event["type"] == "response.output_text.delta");
    let count = deltas.map(|event| event["mood"] = json!(1)).count();
    let text = ndjson(&lines) + "nonsense\n";
    for (mut ingest, expected) in [(plain, 0), (watching, count), (auto, count)] {
        let drift: Vec<DriftKind> = ingest
            .feed(text.as_bytes(), EPOCH_MS)
            .filter_map(|frame| match frame.body {
                Body::ProviderEvent(record) => Some(record.drift),
                _ => None,
            })
            .flatten()
            .collect();
        let mut kinds = vec![DriftKind::UnknownField; expected];
        kinds.extend((expected > 0).then_some(DriftKind::NotJson));
        assert_eq!(drift, kinds);
        let news = ingest.take_drift();
        let places: Vec<&str> = news.iter().map(|(key, _)| key.pointer.as_str()).collect();
        assert_eq!(places, if expected > 0 { vec!["/mood"] } else { vec![] });
        assert!(ingest.take_drift().is_empty());
    }
}

#[test]
fn comparing_does_not_change_frames() {
    for recording in recordings() {
        let runner = recording.runner;
        let mut ingest = Ingest::new(runner, None, Limits::default(), identity()).watching_drift();
        let mut found: Vec<_> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
        found.extend(ingest.finish(EPOCH_MS));
        for frame in &mut found {
            if let Body::ProviderEvent(record) = &mut frame.body {
                record.drift.clear();
            }
        }
        assert_eq!(format!("{found:?}"), format!("{:?}", frames(runner, &recording.bytes)), "{}", recording.name);
    }
}
